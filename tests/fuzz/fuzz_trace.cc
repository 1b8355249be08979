// libFuzzer target: bytes become a trace file, plain or compressed, which the commands of sampan read.
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/fuzz/fuzz_failure.h"
#include "tools/sampan/replay/replay_plan.h"
#include "tools/sampan/report/report_json.h"
#include "tools/sampan/report/report_model.h"
#include "tools/sampan/run/trace_end.h"
#include "tools/sampan/shared/command_line/failure.h"
#include "tools/sampan/shared/trace/trace_reader.h"

namespace sampan::fuzz {
namespace {

/// Files in memory where the system has them: a file system that is on a disk writes each short file out when
/// it is replaced.
std::filesystem::path FolderInMemory() {
  const std::filesystem::path folder = "/dev/shm";
  return ::access(folder.c_str(), W_OK | X_OK) == 0 ? folder : std::filesystem::temp_directory_path();
}

/// The trace of one input; a folder of its own, which goes with the process.
class TraceFile {
 public:
  TraceFile() {
    std::string folder = (FolderInMemory() / "sampan_fuzz.XXXXXX").string();
    if (::mkdtemp(folder.data()) == nullptr) FailInput("mkdtemp", errno);
    folder_ = folder;
  }
  ~TraceFile() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  TraceFile(const TraceFile&) = delete;
  TraceFile& operator=(const TraceFile&) = delete;

  std::string Write(const std::uint8_t* data, std::size_t size, bool is_packed) const {
    const std::string path = folder_ / (is_packed ? "trace.json.gz" : "trace.json");
    const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0 || ::write(file, data, size) != static_cast<ssize_t>(size))
      FailInput("the trace cannot be written", errno);
    ::close(file);
    return path;
  }

 private:
  std::filesystem::path folder_;
};

bool IsPacked(const std::uint8_t* data, std::size_t size) {
  return size >= 2 && data[0] == 0x1F && data[1] == 0x8B;
}

/// Runs a reader. It answers, or refuses the trace with a message that names it. Returns true if it answered.
template <typename Read>
bool Reads(const std::string& path, const Read& read) {
  try {
    read();
    return true;
  } catch (const tool::Failure& refusal) {
    if (refusal.status() != tool::kBadTrace) FailInput("a refusal with another status", refusal.status());
    if (std::string_view(refusal.what()).find(path) == std::string_view::npos)
      FailInput("a refusal that does not name the trace");
    return false;
  }
}

void FuzzTrace(const std::uint8_t* data, std::size_t size) {
  static const TraceFile trace;
  const bool is_packed = IsPacked(data, size);
  const std::string path = trace.Write(data, size, is_packed);
  const auto report = [&](tool::ReportRequest request) {
    const tool::ReportModel model = tool::GatherReport(request, [](const std::string&, double) {});
    if (tool::ReportJson(model, "trace", "sampan report trace").empty()) FailInput("an empty report");
  };
  const bool is_reported = Reads(path, [&] { report({.traces = {path}}); });
  Reads(path, [&] { report({.traces = {path, path}, .from_ns = 1000, .to_ns = 1'000'000}); });
  const bool is_planned = Reads(path, [&] { static_cast<void>(tool::PlanReplay(path)); });
  if (is_planned && !is_reported) FailInput("a trace that is replayed and cannot be reported");
  // Completing a trace must not make it worse, and once is enough.
  tool::CompleteTrace(path);
  const auto bytes_once = std::filesystem::file_size(path);
  tool::CompleteTrace(path);
  if (std::filesystem::file_size(path) != bytes_once) FailInput("a trace that is completed twice");
  if (is_reported && !Reads(path, [&] { report({.traces = {path}}); }))
    FailInput("a trace that cannot be read once it is completed");
}

}  // namespace
}  // namespace sampan::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  sampan::fuzz::FuzzTrace(data, size);
  return 0;
}

#ifdef SAMPAN_FUZZ
extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

/// Mutates what is inside a compressed trace as often as its bytes: a checksum would stop all other changes.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed) {
  if (!sampan::fuzz::IsPacked(data, size) || seed % 4 == 0) return LLVMFuzzerMutate(data, size, max_size);
  std::vector<std::uint8_t> text(std::size_t{1} << 16);
  z_stream stream{};
  if (::inflateInit2(&stream, 15 + 16) != Z_OK) return LLVMFuzzerMutate(data, size, max_size);
  stream.next_in = data;
  stream.avail_in = static_cast<uInt>(size);
  stream.next_out = text.data();
  stream.avail_out = static_cast<uInt>(text.size());
  static_cast<void>(::inflate(&stream, Z_SYNC_FLUSH));
  const std::size_t length = LLVMFuzzerMutate(text.data(), text.size() - stream.avail_out, text.size());
  ::inflateEnd(&stream);
  stream = {};
  if (::deflateInit2(&stream, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK) return size;
  stream.next_in = text.data();
  stream.avail_in = static_cast<uInt>(length);
  stream.next_out = data;
  stream.avail_out = static_cast<uInt>(max_size);
  static_cast<void>(::deflate(&stream, Z_FINISH));
  const std::size_t packed = max_size - stream.avail_out;
  ::deflateEnd(&stream);
  return packed;
}
#endif
