// Starts a program on this installation: its environment, its libraries, and whether it used them.
#pragma once

#include <optional>

#include "tools/sampan/run/library_watch.h"
#include "tools/sampan/run/program_file.h"
#include "tools/sampan/shared/command_line/command.h"
#include "tools/sampan/shared/process/child_process.h"
#include "tools/sampan/shared/process/environment.h"

namespace sampan::tool {

/// The option that loads Sampan before anything else.
OptionDescription PreloadOption();

/// A program of the command line that is ready to start, once or several times. Not thread-safe.
class ProgramStart {
 public:
  /// Throws a Failure if the program cannot be started or the runtime refuses the settings.
  explicit ProgramStart(const Arguments& arguments);

  Environment& environment() { return environment_; }

  /// Runs the program to its end.
  Ending Run(const ChildWatch& watch = {}) const;

  /// Says on standard error if the program cannot have used AscendCL in any run.
  void NoteIfUnused() const;

 private:
  std::vector<std::string> words_;
  Installation installation_;
  Environment environment_;
  ProgramFile program_;
  AclReferences references_;
  bool preloads_ = false;
  std::optional<LibraryWatch> watch_;  // begins when our own uses of the library are over
};

}  // namespace sampan::tool
