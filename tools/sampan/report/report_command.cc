// sampan report: a trace as one HTML page.
#include "tools/sampan/report/report_json.h"
#include "tools/sampan/report/report_page.h"
#include "tools/sampan/shared/command_line/command.h"
#include "tools/sampan/shared/command_line/failure.h"
#include "tools/sampan/shared/output/output_file.h"
#include "tools/sampan/shared/output/quantities.h"
#include "tools/sampan/shared/output/terminal.h"
#include "tools/sampan/shared/process/interrupt.h"

namespace sampan::tool {
namespace {

/// The trace's own name with another ending.
std::filesystem::path PageFor(std::filesystem::path trace) {
  if (trace.extension() == ".gz") trace.replace_extension();
  return trace.replace_extension(".html");
}

int Execute(const Arguments& arguments) {
  const std::filesystem::path trace = arguments.operands.front();
  const std::filesystem::path page = arguments.ValueOr("--output", PageFor(trace).string());
  WatchForInterrupt();
  OutputFile output(page);
  std::string html;
  {
    const ReportModel model = GatherReport(trace);
    for (const std::string& note : model.facts.notes)
      Note(note);
    html = ReportPage(ReportJson(model, trace.filename().string()));
  }
  StopIfInterrupted();
  output.Commit(html);
  if (!output.is_standard_output())
    Print(page.string() + ": " + ShowBytes(html.size()) + ", opens in any browser, without a network\n");
  return kSuccess;
}

}  // namespace

const Command& ReportCommand() {
  static const Command command{
      .description =
          {.name = "report",
           .summary = "show a trace as one HTML page",
           .paragraphs =
               {"Makes one HTML page from a trace of 'sampan run --trace': a timeline with zoom and "
                "search, bandwidth over size, the depth of the queues, the summary and advice. The "
                "page holds everything and loads nothing; it can be sent to others as it is.",
                "Long traces are read in bounded memory. Where there are too many slices to show "
                "each, short ones that lie close together are shown as groups; all figures still "
                "count every one. A trace that breaks off is shown as far as it goes."},
           .operands = {{.name = "TRACE",
                         .meaning = "a file of 'sampan run --trace', compressed or not",
                         .is_file = true,
                         .is_required = true}},
           .options = {{.name = "--output",
                        .letter = "-o",
                        .value = "FILE.html",
                        .meaning = "where to write the page, - for standard output (default: beside the "
                                   "trace, with the ending .html)"}},
           .examples = {{"sampan report app.json.gz",
                         "make app.html from what 'sampan run --trace app.json.gz' recorded"},
                        {"sampan report app.json.gz -o /tmp/page.html", "the same, elsewhere"}},
           .exits = {{"0", "the page is written"},
                     {"2", "the arguments could not be understood"},
                     {"3", "the page could not be written, for example because a disk is full"},
                     {"4", "the trace cannot be read; the message names file and line"},
                     {"130", "ended by Ctrl-C"}}},
      .execute = Execute};
  return command;
}

}  // namespace sampan::tool
