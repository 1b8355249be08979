// sampan report: a trace as one HTML page.
#include "tools/sampan/report/report_json.h"
#include "tools/sampan/shared/command_line/command.h"
#include "tools/sampan/shared/command_line/failure.h"
#include "tools/sampan/shared/output/output_file.h"
#include "tools/sampan/shared/output/quantities.h"
#include "tools/sampan/shared/output/terminal.h"
#include "tools/sampan/shared/page/html_page.h"
#include "tools/sampan/shared/process/interrupt.h"

namespace sampan::tool {
namespace {

/// The trace's name with another suffix.
std::filesystem::path PageFor(std::filesystem::path trace) {
  if (trace.extension() == ".gz") trace.replace_extension();
  return trace.replace_extension(".html");
}

ReportRequest RequestOf(const Arguments& arguments) {
  ReportRequest request{.traces = {arguments.operands.begin(), arguments.operands.end()}};
  if (arguments.Has("--from")) request.from_ns = ParseTime("--from", arguments.ValueOr("--from", ""));
  if (arguments.Has("--to")) request.to_ns = ParseTime("--to", arguments.ValueOr("--to", ""));
  if (request.from_ns >= request.to_ns)
    throw Failure(kBadUsage, "report: --from " + arguments.ValueOr("--from", "0s") + " is not before --to " +
                                 arguments.ValueOr("--to", "") + "; exchange them");
  return request;
}

/// Names joined by `between`.
std::string Joined(const ReportRequest& request, const char* between, bool only_names) {
  std::string text;
  for (const std::filesystem::path& trace : request.traces)
    text += (text.empty() ? "" : between) + (only_names ? trace.filename() : trace).string();
  return text;
}

/// Refuses a page that would replace a trace.
void CheckIsNoTrace(const std::filesystem::path& page, const ReportRequest& request) {
  for (const std::filesystem::path& trace : request.traces) {
    std::error_code missing;
    if (std::filesystem::equivalent(page, trace, missing))
      throw Failure(kBadUsage, "report: the page would replace the trace " + trace.string() +
                                   "; name another file with -o");
  }
}

int Execute(const Arguments& arguments) {
  const ReportRequest request = RequestOf(arguments);
  const std::filesystem::path page = arguments.ValueOr("--output", PageFor(request.traces.front()).string());
  CheckIsNoTrace(page, request);
  WatchForInterrupt();
  OutputFile output(page);
  std::string html;
  std::vector<std::string> notes;
  {
    constexpr std::size_t kSteps = 100;
    const ProgressBar progress(kSteps);
    const ReportModel model = GatherReport(request, [&](const std::string& doing, double share) {
      progress.Show(static_cast<std::size_t>(share * kSteps), Printable(doing));
    });
    html = HtmlPage(kReportPage, ReportJson(model, Joined(request, ", ", true),
                                            "sampan report " + Joined(request, " ", false)));
    notes = model.facts.notes;
  }
  for (const std::string& note : notes)
    Note(note);
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
                "count every one. A trace that breaks off is shown as far as it goes.",
                "Of several traces the areas stand below one another over one time, which is the clock of "
                "the machine that recorded them. --from and --to make a page of a part: fewer slices, so "
                "that groups become single slices again. The page names the command for a group."},
           .operands = {{.name = "TRACE",
                         .meaning = "files of 'sampan run --trace', compressed or not",
                         .is_file = true,
                         .is_required = true,
                         .is_repeated = true}},
           .options =
               {{.name = "--from",
                 .value = "TIME",
                 .meaning =
                     "show and count only what lies behind this time of the trace, such as 1.5s or 200ms"},
                {.name = "--to", .value = "TIME", .meaning = "... before this time"},
                {.name = "--output",
                 .letter = "-o",
                 .value = "FILE.html",
                 .meaning = "where to write the page, - for standard output (default: beside the "
                            "trace, with the ending .html)"}},
           .examples = {{"sampan report app.json.gz",
                         "make app.html from what 'sampan run --trace app.json.gz' recorded"},
                        {"sampan report rank0.json rank1.json -o ranks.html",
                         "several processes over one time"},
                        {"sampan report app.json.gz --from 1.5s --to 1.6s", "a part, each slice of it"}},
           .exits = {{"0", "the page is written"},
                     {"2", "the arguments could not be understood"},
                     {"3", "the page could not be written, for example because a disk is full"},
                     {"4", "the trace cannot be read; the message names file and line"},
                     {"130", "ended by Ctrl-C"}}},
      .execute = Execute};
  return command;
}

}  // namespace sampan::tool
