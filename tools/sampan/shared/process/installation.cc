// The paths of this installation of Sampan.
#include "tools/sampan/shared/process/installation.h"

#include "tools/sampan/shared/command_line/failure.h"

namespace sampan::tool {

Installation FindInstallation() {
  const Installation installation{
      std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path()};
  for (const std::filesystem::path& library : installation.acl_libraries()) {
    if (!std::filesystem::exists(library)) {
      throw Failure(kRunFailed, library.string() + " is missing; install Sampan again, or build all of it");
    }
  }
  if (installation.root.string().find_first_of(":;") != std::string::npos) {
    throw Failure(kRunFailed,
                  "Sampan is in " + installation.root.string() +
                      ", which no search path can name because of its ':' or ';'; move it elsewhere");
  }
  return installation;
}

}  // namespace sampan::tool
