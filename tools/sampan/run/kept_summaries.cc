// The summaries of processes that ended without a word.
#include "tools/sampan/run/kept_summaries.h"

#include <iostream>

#include "summary/kept_summary.h"
#include "tools/sampan/shared/command_line/failure.h"
#include "tools/sampan/shared/output/terminal.h"

namespace sampan::tool {

KeptSummaries::KeptSummaries(Environment& environment) {
  const auto asked = environment.find("SAMPAN_SUMMARY");
  if (asked == environment.end() || asked->second != "1") return;
  folder_ = std::make_unique<TemporaryFolder>("sampan-run", kRunFailed, "the summary");
  environment[std::string(summary::kKeptVariable)] = folder_->path().string();
}

void KeptSummaries::Tell() const {
  if (folder_ == nullptr) return;
  for (const summary::KeptText& kept : summary::ReadKeptSummaries(folder_->path().string())) {
    Note(kept.program + " (process " + std::to_string(kept.process) +
         ") could not tell its summary at its end; this is what was known then, at most 50 ms before:");
    std::cerr << Printable(kept.text) << std::flush;
  }
}

}  // namespace sampan::tool
