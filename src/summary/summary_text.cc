// The summary as text, for a terminal.
#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "base/error/text.h"
#include "summary/activity_words.h"
#include "summary/quantity_text.h"
#include "summary/summary.h"

namespace sampan::summary {
namespace {

constexpr std::size_t kColumns = 6;
using Cells = std::array<std::string, kColumns>;

/// Aligns words to the left and numbers to the right.
std::string Table(const std::vector<Cells>& lines) {
  std::array<std::size_t, kColumns> widths{};
  for (const Cells& line : lines) {
    for (std::size_t i = 0; i < kColumns; ++i)
      widths[i] = std::max(widths[i], line[i].size());
  }
  std::string text;
  for (const Cells& line : lines) {
    text += ' ';
    for (std::size_t i = 0; i < kColumns; ++i) {
      const std::string blanks(widths[i] - line[i].size(), ' ');
      text += Text(" ", i < 2 ? line[i] : blanks, i < 2 ? blanks : line[i], i + 1 < kColumns ? " " : "");
    }
    text += '\n';
  }
  return text;
}

/// Milliseconds with one decimal.
std::string MultiprocessorText(double nanoseconds) {
  const auto tenths = std::llround(nanoseconds / 1e5);
  return Text(tenths / 10, ".", tenths % 10);
}

std::string PlatformText(const Report& report) {
  std::string text = Text("  HCCL: ", report.platform_calls, " calls");
  if (report.failed_platform_calls != 0) text += Text(", ", report.failed_platform_calls, " of them failed");
  for (const LinkRow& row : report.links) {
    text += Text("; over ", row.link, " ", row.copies, " copies, ", BytesText(static_cast<double>(row.bytes)),
                 " in ", TimeText(row.time_ns), " (", RateText(row.bytes, row.time_ns), "), and ",
                 row.signals, " signals");
  }
  return text + "\n";
}

std::string PeersText(const Report& report) {
  std::string text;
  for (const PeerRow& row : report.peers) {
    text += Text("  ", row.peer, ": ", row.transfers, row.transfers == 1 ? " transfer, " : " transfers, ",
                 BytesText(static_cast<double>(row.bytes)), " in ", TimeText(row.time_ns), " (",
                 RateText(row.bytes, row.time_ns), "), ", BytesText(static_cast<double>(row.wire_bytes)),
                 " on the wire");
    if (row.failed != 0) text += Text(", and ", row.failed, " failed");
    text += '\n';
  }
  return text;
}

/// "failed: 50 tasks, among them 50 copies of together 50 MiB (50 with 507013); in no rate"
std::string LostText(std::string_view what, const LostWork& lost) {
  if (lost.tasks == 0) return {};
  std::string text = Text("  ", what, ": ", lost.tasks, lost.tasks == 1 ? " task" : " tasks");
  if (lost.copies != 0)
    text += Text(", among them ", lost.copies, lost.copies == 1 ? " copy of " : " copies of together ",
                 BytesText(static_cast<double>(lost.bytes)));
  std::string codes;
  for (const auto& [code, tasks] : lost.codes)
    codes += Text(codes.empty() ? " (" : ", ", tasks, " with ", code);
  if (!codes.empty()) codes += ")";
  return text + codes + "; in no rate\n";
}

std::string UnfinishedText(const Report& report) {
  std::string text;
  for (const std::string& each : report.unfinished)
    text += Text("  unfinished: ", each, "\n");
  const std::uint64_t rest = report.unfinished_count - report.unfinished.size();
  if (rest != 0) text += Text("  unfinished: ", rest, " more\n");
  return text;
}

}  // namespace

std::string TerminalText(const Report& report) {
  std::string text = Text("Sampan summary: ", report.calls, " calls in ", TimeText(report.span_ns));
  if (report.failed_calls != 0) text += Text(", ", report.failed_calls, " of them failed");
  text += '\n';
  const std::string lost =
      LostText("failed", report.failed) + LostText("dropped", report.dropped) + UnfinishedText(report);
  if (report.rows.empty()) return text + "  nothing was copied\n" + lost + PeersText(report);
  std::vector<Cells> lines = {{"operation", "path", "copies", "bytes", "time", "bandwidth"}};
  for (const Row& row : report.rows) {
    lines.push_back({std::string(WordOf(row.operation)), std::string(WordOf(row.path)), Text(row.calls),
                     BytesText(static_cast<double>(row.bytes)), row.timed ? TimeText(row.time_ns) : "-",
                     row.timed ? RateText(row.bytes, row.time_ns) : "-"});
  }
  text += Table(lines) + lost;
  if (report.kernel_copies != 0) {
    text += Text("  kernels of ", report.kernel_copies, report.kernel_copies == 1 ? " copy" : " copies",
                 " took at most ", MultiprocessorText(report.multiprocessor_ns),
                 " multiprocessor-milliseconds of GPUs\n");
  }
  if (report.platform_calls != 0 || !report.links.empty()) text += PlatformText(report);
  text += PeersText(report);
  if (report.pageable_copies != 0) {
    text += Text("  asynchronous copies with pageable memory: ", report.pageable_copies, ", of which ",
                 report.pageable_copies_blocked, " (",
                 PercentText(static_cast<double>(report.pageable_copies_blocked),
                             static_cast<double>(report.pageable_copies)),
                 ") blocked the host\n");
  }
  if (report.deepest_queue != 0) {
    text += Text("  deepest queue: ", report.deepest_queue, " tasks (device ", report.deepest_queue_device,
                 ", stream ", report.deepest_queue_stream, ")\n");
  }
  text += Text("  the host waited ", TimeText(report.host_wait_ns), ": ", TimeText(report.synchronize_ns),
               " synchronising, ", TimeText(report.queue_full_ns), " for room in full queues, ",
               TimeText(report.pageable_wait_ns), " before copies with pageable memory\n");
  for (const std::string& advice : report.advice)
    text += Text("  advice: ", advice, "\n");
  return text;
}

}  // namespace sampan::summary
