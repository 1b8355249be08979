// A finding as text for a terminal.
#include "tools/sampan/check/reports/findings_text.h"

#include "tools/sampan/check/finding/frame_words.h"

namespace sampan::tool {
namespace {

std::string StackText(const Stack& stack) {
  std::string text;
  for (const Frame& frame : stack)
    text += "         " + DescribeFrame(frame) + "\n";
  return text;
}

std::string BufferText(const Finding& finding) {
  const std::string bytes =
      finding.overlap ? DescribeBytes(finding.overlap->begin, finding.overlap->end) + " of " : "";
  return "    on " + bytes + DescribeBuffer(*finding.buffer) + "\n" + StackText(finding.buffer->stack);
}

}  // namespace

std::string FindingText(const Finding& finding) {
  std::string text = std::string("sampan: ") + (finding.is_error ? "error: " : "warning: ") + finding.kind +
                     " " + finding.id + ": " + finding.message + "\n";
  for (std::size_t i = 0; i < finding.accesses.size(); ++i) {
    text += "    " + std::to_string(i + 1) + "  " + DescribeAccess(finding.accesses[i]) + "\n" +
            StackText(finding.accesses[i].stack);
  }
  if (finding.buffer) text += BufferText(finding);
  if (!finding.fix.empty()) text += "    fix: " + finding.fix + "\n";
  return text;
}

std::string SummaryText(const CheckedRun& run) {
  std::string text;
  for (const Finding& finding : run.findings) {
    if (finding.count > 1)
      text += "sampan: " + finding.kind + " " + finding.id + " was made " + std::to_string(finding.count) +
              " times\n";
  }
  return text + std::to_string(run.CountErrors()) + " errors, " + std::to_string(run.CountWarnings()) +
         " warnings\n";
}

}  // namespace sampan::tool
