// Which path the runtime takes for a copy, and why. The trace of a process of its own says it.
#include "tools/sampan/bench/taken_path.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "bench/copies/session.h"
#include "bench/measure/acl_call.h"
#include "bench/measure/timing.h"
#include "tools/sampan/shared/command_line/failure.h"
#include "tools/sampan/shared/process/environment.h"
#include "tools/sampan/shared/trace/trace_reader.h"

namespace sampan::tool {
namespace {

constexpr char kBetween = '\n';  ///< a path's name and its reason in a reply

/// The path of call number `number` of this name, if the trace has it already.
std::optional<TakenPath> FindPath(const std::filesystem::path& trace, const std::string& call,
                                  std::size_t number) {
  std::vector<std::pair<std::int64_t, std::int64_t>> calls;  // when, and the connection
  std::map<std::int64_t, TakenPath> paths;                   // by connection
  ReadTrace(trace, [&](const TraceEvent& event) {
    const std::int64_t connection = event.Number("connection_id", -1);
    if (event.phase != 'X' || connection < 0) return;
    if (event.name == call) calls.emplace_back(event.begin_ns, connection);
    if (event.Find("path") == nullptr) return;
    // A call may have several tasks. One with a reason says more.
    TakenPath& path = paths[connection];
    if (path.reason.empty()) path = {std::string(event.Text("path")), std::string(event.Text("reason"))};
  });
  if (calls.size() <= number) return std::nullopt;
  std::sort(calls.begin(), calls.end());
  const auto found = paths.find(calls[number].second);
  return found == paths.end() ? std::nullopt : std::optional(found->second);
}

/// The copies of the child.
class TracedCopies {
 public:
  explicit TracedCopies(std::filesystem::path trace) : trace_(std::move(trace)) {}

  /// Copies once. Returns the text of the path, or nothing if there is no such copy.
  std::string Copy(const bench::CopyPlan& plan) {
    const std::string name(CallOf(plan.form));
    bench::CopyCase copy(plan);
    const std::size_t number = calls_[name]++;
    const aclError code = copy.Issue(session_.stream());
    if (code == ACL_ERROR_RT_FEATURE_NOT_SUPPORT) return "";
    bench::Require(code, name.c_str());
    bench::Require(session_.Synchronize(), name.c_str());
    const TakenPath path = Await("AscendCL@" + name, number);
    return path.name + kBetween + path.reason;
  }

 private:
  /// The runtime writes its trace every 50 ms. What is read meanwhile may be half of a line, so an error
  /// counts only at the end.
  TakenPath Await(const std::string& call, std::size_t number) const {
    constexpr double kMaxSeconds = 10;
    std::string problem =
        "the trace of the paths has no call number " + std::to_string(number + 1) + " of " + call;
    for (const bench::Stopwatch watch; watch.Seconds() < kMaxSeconds;) {
      try {
        if (auto path = FindPath(trace_, call, number)) return *std::move(path);
      } catch (const Failure& failure) {
        problem = failure.what();
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    throw Failure(kBadTrace, problem);
  }

  const std::filesystem::path trace_;
  const bench::Session session_;
  std::map<std::string, std::size_t> calls_;
};

}  // namespace

TakenPaths::TakenPaths(const Arguments& arguments)
    : folder_("sampan-bench", kCheckFailed, "the trace of the paths"),
      process_("the process of the paths", [&]() -> WorkerProcess::Reply {
        ApplySettings(arguments);
        const std::filesystem::path trace = folder_.path() / "trace.json";
        ::setenv("SAMPAN_TRACE", trace.c_str(), 1);
        ::unsetenv("SAMPAN_SUMMARY");
        // The first request starts the runtime, so a failure is its reply.
        return [trace, copies = std::shared_ptr<TracedCopies>()](std::string_view asked) mutable {
          if (copies == nullptr) copies = std::make_shared<TracedCopies>(trace);
          return copies->Copy(FromBytes<bench::CopyPlan>(asked));
        };
      }) {}

std::optional<TakenPath> TakenPaths::Of(const bench::CopyPlan& plan) {
  const auto answer = process_.Ask(BytesOf(plan));
  if (!answer || answer->empty()) return std::nullopt;
  const std::size_t between = answer->find(kBetween);
  return TakenPath{answer->substr(0, between), answer->substr(between + 1)};
}

}  // namespace sampan::tool
