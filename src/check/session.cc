// The checker of a process.
#include "check/session.h"

#include <pthread.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "base/error/system_error.h"
#include "base/error/text.h"
#include "check/findings/findings_file.h"
#include "check/findings/lasting_file.h"
#include "check/findings/output_line.h"
#include "check/findings/report_file.h"
#include "check/host/host_aliases.h"
#include "check/host/host_faults.h"
#include "check/host/string_functions.h"
#include "check/host/system_calls.h"
#include "observe/observers.h"

namespace sampan::check {
namespace {

constinit std::atomic<Checker*> the_checker{nullptr};
constinit ReportFile* the_report = nullptr;    // made before the runtime, never destroyed
constinit HostAliases* the_aliases = nullptr;  // made before the runtime, never destroyed

/// The process's arguments as the first line wants them.
void WriteProgram(int file, const std::string& backend) {
  std::ifstream input("/proc/self/cmdline", std::ios::binary);
  const std::string arguments{std::istreambuf_iterator<char>(input), {}};
  const auto line = std::make_unique<OutputLine>();
  line->Add("{\"type\":\"program\",\"pid\":").Add(::getpid()).Add(",\"version\":").Add(kFindingsVersion);
  line->Add(",\"argv\":[");
  std::string_view rest = arguments;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\0'), rest.size());
    if (rest.size() != arguments.size()) line->Add(",");
    line->AddQuoted(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  line->Add("],\"backend\":").AddQuoted(backend).Add("}\n").Send(file);
}

void AbandonInChild() {
  if (Checker* const checker = the_checker.exchange(nullptr)) {
    observe::Detach(*checker);
    checker->Abandon();
    if (the_aliases != nullptr) the_aliases->LeaveInChild();
  }
}

}  // namespace

Result<observe::Observer*> Start(const Options& options) {
  const bool has_command = !options.findings.empty();
  if (!options.on && !has_command && options.json.empty()) return nullptr;
  LastingFile file;
  if (has_command || !options.json.empty()) {
    if (!has_command) the_report = new ReportFile(options.json);
    auto opened = has_command ? LastingFile::Open(kFindingsVariable, options.findings)
                              : LastingFile::Open("SAMPAN_CHECK_JSON", the_report->raw());
    if (!opened.ok()) return opened.TakeStatus();
    file = std::move(*opened);
    if (!has_command && ::ftruncate(file.Get(), 0) != 0) {
      return Error{Code::kDeviceSetupError, Text("SAMPAN_CHECK_JSON: '", the_report->raw(),
                                                 "' cannot be emptied: ", SystemError(errno))};
    }
  }
  if (file.is_open()) WriteProgram(file.Get(), options.backend);
  auto* const checker = new Checker;  // never destroyed: threads tell it until the process is gone
  if (!checker->Start(
          {.file = std::move(file), .text = options.on && !has_command},
          {.guards_pages = options.guards_pages && CanWatchHostFaults(),
           .sums_sources = options.guards_pages,
           .finds_unwritten = options.finds_unwritten,
           .held_counts = has_command ? HeldCountsPath(options.findings, ::getpid()) : std::string()})) {
    return Error{Code::kDeviceSetupError, "SAMPAN_CHECK: there is no memory for the checker"};
  }
  if (options.guards_pages && CanWatchHostFaults()) {
    FindStringFunctions();
    the_aliases = new HostAliases;
  }
  the_checker.store(checker);
  ::pthread_atfork(nullptr, nullptr, &AbandonInChild);
  return checker;
}

void WatchMasks() noexcept {
  if (CanWatchHostFaults()) WatchSystemCalls();
}

void WatchHost() noexcept {
  if (TheChecker() == nullptr || !CanWatchHostFaults()) return;
  WatchHostFaults();
  WatchSystemCalls();
}

HostAliases* Aliases() noexcept {
  return the_aliases;
}

Checker* TheChecker() noexcept {
  return the_checker.load(std::memory_order_acquire);
}

void Finish() noexcept {
  Checker* const checker = TheChecker();
  if (checker == nullptr) return;
  observe::Detach(*checker);
  checker->Finish();
  if (the_report != nullptr) the_report->Make();
}

void EndProcess(std::string_view reason) noexcept {
  if (Checker* const checker = TheChecker()) {
    checker->FinishAt(reason);
    if (the_report != nullptr) the_report->Make();
  }
  ::_exit(kFindingStatus);
}

}  // namespace sampan::check
