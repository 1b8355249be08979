// Advice about slow copies, with the figures that show it.
#include <algorithm>

#include "base/error/text.h"
#include "summary/activity_words.h"
#include "summary/quantity_text.h"
#include "summary/summary.h"

namespace sampan::summary {
namespace {

/// Below these counts, bytes and times there is no advice.
constexpr std::uint64_t kManyCopies = 200;
constexpr std::uint64_t kManyBytes = std::uint64_t{1} << 20;
constexpr std::int64_t kLongNs = 1'000'000;

}  // namespace

void Summary::AdviseBatch(Report& report) const {
  for (const auto& [key, facts] : streams_) {
    StreamFacts closed = facts;
    CloseRun(closed);
    for (const auto operation : {Operation::kHostToDevice, Operation::kDeviceToHost}) {
      const Runs& runs = operation == Operation::kHostToDevice ? closed.runs_in : closed.runs_out;
      if (runs.copies < kManyCopies) continue;
      const auto bytes = static_cast<double>(runs.bytes);
      report.advice.push_back(
          Text("Stream ", key.second, " of device ", key.first, " got ", runs.copies, " copies ",
               WordOf(operation), " of ", BytesText(bytes / static_cast<double>(runs.copies)),
               " on average right after one another (up to ", runs.longest, " in a row): ", BytesText(bytes),
               " in ", TimeText(runs.time_ns), ", ", RateText(runs.bytes, runs.time_ns),
               ". aclrtMemcpyBatchAsync hands such a row over in one call."));
    }
  }
}

void Summary::AdvisePinned(Report& report) const {
  const std::int64_t cost_ns = pageable_.time_ns + report.pageable_wait_ns;
  const bool much = pageable_.bytes >= kManyBytes || pageable_.copies >= kManyCopies;
  if (!much || cost_ns < kLongNs || cost_ns < report.span_ns / 50) return;
  std::string text = Text(pageable_.copies, " copies between host and device used pageable memory: ",
                          BytesText(static_cast<double>(pageable_.bytes)), " in ",
                          TimeText(pageable_.time_ns), ", ", RateText(pageable_.bytes, pageable_.time_ns));
  if (report.pageable_copies_blocked != 0) {
    text += Text("; ", report.pageable_copies_blocked,
                 " asynchronous calls had to copy before they returned, after waiting ",
                 TimeText(report.pageable_wait_ns), " for their stream");
  }
  text += ".";
  const bool pinned_is_faster =
      static_cast<double>(pinned_.bytes) * static_cast<double>(pageable_.time_ns) >
      1.1 * static_cast<double>(pageable_.bytes) * static_cast<double>(pinned_.time_ns);
  if (pinned_.bytes >= kManyBytes && pinned_is_faster)
    text += Text(" Pinned memory reached ", RateText(pinned_.bytes, pinned_.time_ns), ".");
  report.advice.push_back(text + " Memory of aclrtMallocHost is copied without the host.");
}

void Summary::AdviseSecondStream(Report& report) const {
  for (const auto& [key, stream] : streams_) {
    const std::int64_t span_ns = stream.end_ns - stream.begin_ns;
    const std::int64_t busy_ns = stream.in_ns + stream.out_ns;
    const std::int64_t shorter_ns = std::min(stream.in_ns, stream.out_ns);
    if (shorter_ns < kLongNs || shorter_ns < busy_ns / 5 || busy_ns < span_ns / 2) continue;
    std::int64_t others_ns = 0;
    for (const auto& [other_key, other] : streams_) {
      if (other_key.first == key.first && other_key != key) others_ns += other.in_ns + other.out_ns;
    }
    if (others_ns > busy_ns / 10) continue;
    report.advice.push_back(Text(
        "Stream ", key.second, " of device ", key.first, " copied ", TimeText(stream.in_ns),
        " to the device and ", TimeText(stream.out_ns), " back, one after the other, in ", TimeText(span_ns),
        ". On two streams the directions can run at the same time: up to ", TimeText(shorter_ns), " less."));
  }
}

}  // namespace sampan::summary
