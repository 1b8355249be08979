// Two processes find out whether their hosts can copy to each other: one exports, the other one imports and
// measures.
#include "tools/sampan/hosts/host_check.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstring>
#include <thread>
#include <vector>

#include "bench/measure/acl_call.h"
#include "bench/measure/contents.h"
#include "bench/measure/timing.h"
#include "tools/sampan/shared/command_line/failure.h"
#include "tools/sampan/shared/output/quantities.h"
#include "tools/sampan/shared/process/interrupt.h"

namespace sampan::tool {
namespace {

constexpr std::size_t kBytes = std::size_t{64} << 20;
constexpr std::size_t kShort = 4096;
constexpr int kShortCopies = 200, kLongCopies = 3;
constexpr std::string_view kDigits = "0123456789abcdef";
/// The importer writes it into the last word when it has ended.
constexpr std::uint64_t kEndMark = 0x646E455374736F48;
constexpr std::size_t kMarkAt = kBytes - sizeof(kEndMark);

std::uint32_t ThisServer() {
  std::int64_t server = 0;
  BENCH_ACL(aclrtGetDeviceInfo(0, ACL_DEV_ATTR_SUPER_POD_SERVER_ID, &server));
  return static_cast<std::uint32_t>(server);
}

std::byte* Map(aclrtDrvMemHandle physical) {
  void* address = nullptr;
  BENCH_ACL(aclrtReserveMemAddress(&address, kBytes, 0, nullptr, 1));
  BENCH_ACL(aclrtMapMem(address, kBytes, 0, physical, 0));
  return static_cast<std::byte*>(address);
}

}  // namespace

std::string Invitation::Encode() const {
  std::size_t length = sizeof(handle.data);
  while (length > 0 && handle.data[length - 1] == 0)
    --length;
  std::string text = std::to_string(server) + "-";
  for (std::size_t i = 0; i < length; ++i) {
    const unsigned byte = static_cast<unsigned char>(handle.data[i]);
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

Invitation Invitation::Decode(const std::string& text) {
  Invitation invitation;
  const char* const end = text.data() + text.size();
  const auto [after, error] = std::from_chars(text.data(), end, invitation.server);
  std::string_view hex(after, static_cast<std::size_t>(end - after));
  const bool starts_right = error == std::errc() && hex.starts_with('-');
  if (starts_right) hex.remove_prefix(1);
  if (!starts_right || hex.empty() || hex.size() % 2 != 0 ||
      hex.size() > 2 * sizeof(invitation.handle.data) ||
      hex.find_first_not_of(kDigits) != std::string_view::npos) {
    throw Failure(kBadUsage,
                  "'" + text + "' is not what 'sampan hosts check' prints on the other host; copy all of it");
  }
  for (std::size_t i = 0; i < hex.size(); i += 2)
    invitation.handle.data[i / 2] =
        static_cast<unsigned char>(kDigits.find(hex[i]) << 4 | kDigits.find(hex[i + 1]));
  return invitation;
}

HostExport::HostExport() {
  aclrtPhysicalMemProp prop = {};
  prop.memAttr = ACL_HBM_MEM_HUGE;
  prop.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
  aclrtDrvMemHandle physical = nullptr;
  BENCH_ACL(aclrtMallocPhysical(&physical, kBytes, &prop, 0));
  memory_ = Map(physical);
  BENCH_ACL(aclrtMemset(memory_, kBytes, 0, kBytes));
  BENCH_ACL(aclrtMemExportToShareableHandleV2(physical, ACL_RT_VMM_EXPORT_FLAG_DISABLE_PID_VALIDATION,
                                              ACL_MEM_SHARE_HANDLE_TYPE_FABRIC, &invitation_.handle));
  invitation_.server = ThisServer();
}

bool HostExport::WaitForImporter(double seconds) const {
  const bench::Stopwatch watch;
  while (watch.Seconds() < seconds) {
    StopIfInterrupted();
    std::uint64_t mark = 0;
    BENCH_ACL(aclrtMemcpy(&mark, sizeof(mark), memory_ + kMarkAt, sizeof(mark), ACL_MEMCPY_DEVICE_TO_HOST));
    if (mark == kEndMark) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return false;
}

std::string HostMeasurement::Text() const {
  std::string text;
  if (same_host) text += "Both are one host: they share memory, and no network is measured.\n";
  text += "   4 KiB   write " + ShowSeconds(short_write_seconds) + ", read " +
          ShowSeconds(short_read_seconds) + "\n";
  text += "  64 MiB   write " + ShowRate(write_rate) + " GB/s, read " + ShowRate(read_rate) + " GB/s\n";
  return text + "These hosts can copy to each other: every byte was right\n";
}

HostMeasurement MeasureHost(const bench::Session& session, const Invitation& invitation) {
  Invitation asked = invitation;
  aclrtDrvMemHandle imported = nullptr;
  BENCH_ACL(
      aclrtMemImportFromShareableHandleV2(&asked.handle, ACL_MEM_SHARE_HANDLE_TYPE_FABRIC, 0, &imported));
  std::byte* const there = Map(imported);
  void* pinned = nullptr;
  BENCH_ACL(aclrtMallocHost(&pinned, kBytes));
  auto* const here = static_cast<std::byte*>(pinned);
  const auto copy = [&](bool writes, std::size_t bytes) {
    StopIfInterrupted();
    return bench::SecondsOf([&] {
      BENCH_ACL(aclrtMemcpyAsync(writes ? there : here, bytes, writes ? here : there, bytes,
                                 writes ? ACL_MEMCPY_HOST_TO_DEVICE : ACL_MEMCPY_DEVICE_TO_HOST,
                                 session.stream()));
      bench::Require(session.Synchronize(), "aclrtSynchronizeStream");
    });
  };
  bench::FillRandom({here, kMarkAt}, static_cast<std::uint64_t>(invitation.handle.data[40]));
  const bench::Bytes sent(here, here + kMarkAt);
  copy(true, kMarkAt);
  std::memset(here, 0, kMarkAt);
  copy(false, kMarkAt);
  if (const auto at = bench::FirstDifference({here, kMarkAt}, sent))
    throw Failure(kCheckFailed, "byte " + std::to_string(*at) + " of 64 MiB came back wrong");
  const auto median = [&](bool writes) {
    std::vector<double> times;
    for (int i = 0; i < kShortCopies; ++i)
      times.push_back(copy(writes, kShort));
    return bench::Quantile(std::move(times), 0.5);
  };
  const auto rate = [&](bool writes) {
    double best = 0;
    for (int i = 0; i < kLongCopies; ++i)
      best = std::max(best, static_cast<double>(kMarkAt) / copy(writes, kMarkAt) / 1e9);
    return best;
  };
  HostMeasurement measured;
  measured.same_host = invitation.server == ThisServer();
  measured.short_write_seconds = median(true);
  measured.short_read_seconds = median(false);
  measured.write_rate = rate(true);
  measured.read_rate = rate(false);
  std::memcpy(here, &kEndMark, sizeof(kEndMark));
  BENCH_ACL(
      aclrtMemcpy(there + kMarkAt, sizeof(kEndMark), here, sizeof(kEndMark), ACL_MEMCPY_HOST_TO_DEVICE));
  return measured;
}

}  // namespace sampan::tool
