// Memory of another host against a plain program with sockets, between two network namespaces.
//
//   bench_hosts [SECONDS]   a table of ratios; each case is measured in turn with its alternative
//   bench_hosts group       what 2 to 16 hosts cost, and many imports
#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "acl/acl.h"
#include "bench/hosts/many_hosts.h"
#include "bench/hosts/plain_sockets.h"
#include "bench/hosts/two_networks.h"
#include "bench/measure/acl_call.h"
#include "bench/measure/contents.h"
#include "bench/measure/failure.h"
#include "bench/measure/timing.h"

namespace {

constexpr std::size_t kBytes = std::size_t{64} << 20;
constexpr std::size_t kShort = 4096;
constexpr std::size_t kEntries = 8192;
constexpr std::size_t kRow = 1024, kRows = 16384;
constexpr int kShortInARow = 200;

/// Of the plain program's memory: as malloc gives it, or asked for with madvise. Memory of emulated devices
/// is a file in memory, whose pages are small unless the system's settings allow large ones.
enum Pages : std::size_t { kUsual, kLarge };

/// What the other host tells at the beginning.
struct Invitation {
  aclrtMemFabricHandle handle;
  std::uint16_t ports[2];  // of the plain program, by Pages
};

aclrtDrvMemHandle MakePhysical() {
  aclrtPhysicalMemProp prop = {};
  prop.memAttr = ACL_HBM_MEM_HUGE;
  prop.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
  aclrtDrvMemHandle physical = nullptr;
  BENCH_ACL(aclrtMallocPhysical(&physical, kBytes, &prop, 0));
  return physical;
}

std::byte* Map(aclrtDrvMemHandle physical) {
  void* reserved = nullptr;
  BENCH_ACL(aclrtReserveMemAddress(&reserved, kBytes, 0, nullptr, 1));
  BENCH_ACL(aclrtMapMem(reserved, kBytes, 0, physical, 0));
  return static_cast<std::byte*>(reserved);
}

std::byte* PlainMemory(Pages pages) {
  void* const memory = ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw bench::Failure("mmap failed");
  ::madvise(memory, kBytes, pages == kLarge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
  auto* const bytes = static_cast<std::byte*>(memory);
  bench::FillRandom({bytes, kBytes}, 3);
  return bytes;
}

/// The owner: exports its memory and serves the plain program. Ends when the other side is gone.
void BeOwner(int socket) {
  BENCH_ACL(aclrtSetDevice(0));
  const aclrtDrvMemHandle physical = MakePhysical();
  BENCH_ACL(aclrtMemset(Map(physical), kBytes, 0x5A, kBytes));
  Invitation invitation = {};
  BENCH_ACL(aclrtMemExportToShareableHandleV2(physical, ACL_RT_VMM_EXPORT_FLAG_DISABLE_PID_VALIDATION,
                                              ACL_MEM_SHARE_HANDLE_TYPE_FABRIC, &invitation.handle));
  const bench::PlainServer usual(bench::OtherHost::kThere, PlainMemory(kUsual), kBytes);
  const bench::PlainServer large(bench::OtherHost::kThere, PlainMemory(kLarge), kBytes);
  invitation.ports[kUsual] = usual.port();
  invitation.ports[kLarge] = large.port();
  bench::SendAll(socket, &invitation, sizeof(invitation));
  char end = 0;
  bench::ReceiveAll(socket, &end, 1);
}

/// Copies to and from the other host, each complete on return.
class Copies {
 public:
  explicit Copies(Invitation& invitation) {
    BENCH_ACL(aclrtSetDevice(0));
    BENCH_ACL(aclrtCreateStream(&stream_));
    aclrtDrvMemHandle imported = nullptr;
    BENCH_ACL(aclrtMemImportFromShareableHandleV2(&invitation.handle, ACL_MEM_SHARE_HANDLE_TYPE_FABRIC, 0,
                                                  &imported));
    there_ = Map(imported);
    void* host = nullptr;
    BENCH_ACL(aclrtMallocHost(&host, kBytes));
    here_ = static_cast<std::byte*>(host);
    bench::FillRandom({here_, kBytes}, 1);
    const std::vector<std::size_t> order = bench::ShuffledApart(kEntries, 2);
    for (std::size_t i = 0; i < kEntries; ++i) {
      far_.push_back(there_ + order[i] * 2 * kShort);
      near_.push_back(here_ + i * 2 * kShort);
    }
  }

  void Linear(bool write, std::size_t bytes) {
    BENCH_ACL(
        aclrtMemcpyAsync(write ? there_ : here_, bytes, write ? here_ : there_, bytes, Kind(write), stream_));
    BENCH_ACL(aclrtSynchronizeStream(stream_));
  }
  void Batch(bool write) {
    aclrtMemcpyBatchAttr attribute = {};
    attribute.dstLoc.type = write ? ACL_MEM_LOCATION_TYPE_DEVICE : ACL_MEM_LOCATION_TYPE_HOST;
    attribute.srcLoc.type = write ? ACL_MEM_LOCATION_TYPE_HOST : ACL_MEM_LOCATION_TYPE_DEVICE;
    std::size_t first = 0, failed = 0;
    BENCH_ACL(aclrtMemcpyBatchAsync((write ? far_ : near_).data(), sizes_.data(),
                                    (write ? near_ : far_).data(), sizes_.data(), kEntries, &attribute,
                                    &first, 1, &failed, stream_));
    BENCH_ACL(aclrtSynchronizeStream(stream_));
  }
  void Rows(bool write) {
    BENCH_ACL(aclrtMemcpy2dAsync(write ? there_ : here_, 2 * kRow, write ? here_ : there_, 3 * kRow, kRow,
                                 kRows, Kind(write), stream_));
    BENCH_ACL(aclrtSynchronizeStream(stream_));
  }
  /// Throws a Failure if what was written does not come back.
  void Prove() {
    Linear(true, kBytes);
    const bench::Bytes sent(here_, here_ + kBytes);
    bench::FillRandom({here_, kBytes}, 4);
    Linear(false, kBytes);
    if (const auto at = bench::FirstDifference({here_, kBytes}, sent))
      throw bench::Failure("byte " + std::to_string(*at) + " is wrong");
  }
  std::byte* here() const { return here_; }

 private:
  static aclrtMemcpyKind Kind(bool write) {
    return write ? ACL_MEMCPY_HOST_TO_DEVICE : ACL_MEMCPY_DEVICE_TO_HOST;
  }

  aclrtStream stream_ = nullptr;
  std::byte *there_ = nullptr, *here_ = nullptr;
  std::vector<void*> far_, near_;
  std::vector<std::size_t> sizes_ = std::vector<std::size_t>(kEntries, kShort);
};

/// `text`, both sides, their ratio, and the bar that it should reach.
void PrintRates(const char* text, double ours, double other, const char* other_text, double bar) {
  std::printf("%-34s %7.2f GB/s  %7.2f GB/s, %-18s %6.2f  %s %.2f\n", text, ours, other, other_text,
              ours / other, ours / other >= bar ? "reaches" : "MISSES ", bar);
}

void PrintTimes(const char* text, double ours, double other, double bar) {
  std::printf("%-34s %7.1f us    %7.1f us,   %-18s %6.2f  %s %.2f\n", text, ours * 1e6, other * 1e6,
              "TCP ping-pong", ours / other, ours / other <= bar ? "within " : "EXCEEDS", bar);
}

void Measure(Copies& copies, bench::PlainClient& plain, bench::PlainClient& plain_large, double seconds) {
  std::byte* const memory = PlainMemory(kUsual);
  std::byte* const large = PlainMemory(kLarge);
  std::byte message[kShort] = {};
  const auto repeated = [](const std::function<void()>& work) -> bench::TimedWork {
    return [work] {
      for (int i = 0; i < 20; ++i)
        work();  // the first ones wake the machine up
      return bench::SecondsOf([&] {
               for (int i = 0; i < kShortInARow; ++i)
                 work();
             }) /
             kShortInARow;
    };
  };
  const std::vector<bench::TimedWork> works = {
      bench::Timed([&] { copies.Linear(true, kBytes); }),
      bench::Timed([&] { plain.Write(memory, kBytes); }),
      bench::Timed([&] { copies.Linear(false, kBytes); }),
      bench::Timed([&] { plain.Read(memory, kBytes); }),
      bench::Timed([&] { copies.Batch(true); }),
      bench::Timed([&] { copies.Batch(false); }),
      bench::Timed([&] { copies.Rows(true); }),
      bench::Timed([&] { copies.Rows(false); }),
      repeated([&] { copies.Linear(true, kShort); }),
      repeated([&] { copies.Linear(false, kShort); }),
      repeated([&] { plain.PingPong(message, kShort); }),
      bench::Timed([&] { plain_large.Write(large, kBytes); }),
      bench::Timed([&] { plain_large.Read(large, kBytes); }),
  };
  const auto times = bench::TakeTurns(works, bench::Until({.seconds = seconds}));
  const auto median = [&](std::size_t work) { return bench::Median(times[work]); };
  const auto rate = [&](std::size_t work, std::size_t bytes) { return bench::Rate(bytes, median(work)); };
  const double write = rate(0, kBytes), read = rate(2, kBytes);
  std::printf("%zu turns\n", times[0].size());
  PrintRates("write 64 MiB", write, rate(1, kBytes), "4 plain sockets", 0.95);
  PrintRates("read 64 MiB", read, rate(3, kBytes), "4 plain sockets", 0.95);
  PrintRates("write 64 MiB", write, rate(11, kBytes), "with large pages", 0.95);
  PrintRates("read 64 MiB", read, rate(12, kBytes), "with large pages", 0.95);
  PrintRates("write 8192 x 4 KiB, one batch", rate(4, kEntries * kShort), write, "64 MiB", 0.8);
  PrintRates("read 8192 x 4 KiB, one batch", rate(5, kEntries * kShort), read, "64 MiB", 0.8);
  PrintRates("write 16384 rows of 1 KiB", rate(6, kRows * kRow), write, "64 MiB", 0.7);
  PrintRates("read 16384 rows of 1 KiB", rate(7, kRows * kRow), read, "64 MiB", 0.7);
  PrintTimes("write 4 KiB and wait", median(8), median(10), 1.3);
  PrintTimes("read 4 KiB and wait", median(9), median(10), 1.3);
}

}  // namespace

int main(int count, char** arguments) {
  ::setenv("SAMPAN_PROFILE", "ascend910c", 1);
  ::setenv("SAMPAN_DEVICES", "1", 0);
  try {
    if (count > 1 && std::string_view(arguments[1]) == "group") {
      bench::MeasureManyHosts();
      return 0;
    }
    const bench::OtherHost other(BeOwner);
    Invitation invitation;
    bench::ReceiveAll(other.socket(), &invitation, sizeof(invitation));
    Copies copies(invitation);
    bench::PlainClient plain(bench::OtherHost::kThere, invitation.ports[kUsual]);
    bench::PlainClient plain_large(bench::OtherHost::kThere, invitation.ports[kLarge]);
    copies.Prove();
    Measure(copies, plain, plain_large, count > 1 ? std::atof(arguments[1]) : 20);
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "bench_hosts: %s\n", failure.what());
    return 1;
  }
  return 0;
}
