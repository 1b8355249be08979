// Starts a program on this installation: its environment, its libraries, and whether it used them.
#include "tools/sampan/run/program_start.h"

#include "tools/sampan/info/binary_needs.h"
#include "tools/sampan/shared/command_line/failure.h"
#include "tools/sampan/shared/output/terminal.h"

namespace sampan::tool {
namespace {

/// Puts our libraries first, for references that the search path leads elsewhere.
void Preload(const Installation& installation, Environment& environment) {
  std::string list;
  for (const std::filesystem::path& library : installation.acl_libraries())
    list += (list.empty() ? "" : ":") + library.string();
  if (list.find(' ') != std::string::npos) {
    throw Failure(kRunFailed, "this program needs LD_PRELOAD, which cannot name " +
                                  installation.libraries().string() +
                                  " because of its blanks; install Sampan elsewhere");
  }
  std::string& preload = environment["LD_PRELOAD"];
  preload = preload.empty() ? list : list + ":" + preload;
}

/// Why the program cannot have used Sampan, from its file.
std::string Reason(const ProgramFile& program) {
  if (program.kind == ProgramFile::Kind::kStatic) return "it is linked statically and loads no libraries";
  if (program.is_privileged)
    return "it has rights of its own (setuid, setgid or capabilities), for which the loader ignores search "
           "paths";
  return "neither libascendcl.so nor libacl_rt.so of Sampan was loaded; if plug-ins of it lead to the "
         "vendor's "
         "library, try --preload";
}

/// Says which functions of AscendCL the program needs and no library has: it may not start, or stop in its
/// midst.
void NoteAbsentFunctions(const ProgramFile& program, const Installation& installation,
                         const Environment& environment) try {
  const auto library_path = environment.find("LD_LIBRARY_PATH");
  const BinaryNeeds needs = ReadBinaryNeeds(
      program.path, library_path == environment.end() ? "" : library_path->second, installation.libraries());
  if (needs.absent.empty()) return;
  Note(
      program.path.string() + " needs " + needs.absent.front() +
      (needs.absent.size() > 1 ? " and " + std::to_string(needs.absent.size() - 1) + " more functions" : "") +
      " that Sampan does not have; 'sampan info --binary " + program.path.string() + "' lists them");
} catch (const Failure&) {
  // Without a table of symbols there is nothing to say.
}

Environment EnvironmentFor(const Installation& installation, const Arguments& arguments) {
  Environment environment = CurrentEnvironment();
  for (Variable& change : ChangesFor(installation, arguments, environment))
    environment[change.name] = std::move(change.value);
  return environment;
}

}  // namespace

OptionDescription PreloadOption() {
  return {.name = "--preload",
          .value = "",
          .meaning =
              "load Sampan before anything else, for programs whose plug-ins have search paths "
              "of their own that lead to the vendor's library"};
}

ProgramStart::ProgramStart(const Arguments& arguments)
    : words_(arguments.program),
      installation_(FindInstallation()),
      environment_(EnvironmentFor(installation_, arguments)),
      program_(FindProgram(words_.front(), environment_)) {
  CheckSettings(arguments, environment_);
  references_ = FindAclReferences(program_, installation_, environment_);
  preloads_ = references_.elsewhere || arguments.Has("--preload");
  if (preloads_) Preload(installation_, environment_);
  if (references_.any) NoteAbsentFunctions(program_, installation_, environment_);
  watch_.emplace(installation_.acl_libraries());
}

Ending ProgramStart::Run(const ChildWatch& watch) const {
  return RunProgram(program_.path, words_, environment_, watch);
}

void ProgramStart::NoteIfUnused() const {
  // A preloaded library is always loaded, so the watch tells nothing.
  if (!references_.any && !preloads_ && !watch_->MayHaveBeenOpened())
    Note(words_.front() + " did not use AscendCL: " + Reason(program_));
}

}  // namespace sampan::tool
