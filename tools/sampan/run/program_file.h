// What can be told about a program before it runs.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tools/sampan/shared/process/environment.h"
#include "tools/sampan/shared/process/installation.h"

namespace sampan::tool {

struct ProgramFile {
  enum class Kind {
    kDynamic,  ///< the dynamic loader will start it
    kStatic,   ///< uses no shared libraries at all
    kOther,    ///< a script, or something made for another machine
  };

  std::filesystem::path path;
  Kind kind = Kind::kOther;
  std::string loader;          ///< of a dynamic program
  bool is_privileged = false;  ///< gets rights from its file, so that the loader ignores our variables
};

/// Finds it as a shell would. Throws with the shells' exit statuses when it is not there or not executable.
ProgramFile FindProgram(const std::string& name, const Environment& environment);

/// Where the program's references to AscendCL lead, itself and through its libraries.
struct AclReferences {
  bool any = false;        ///< it is linked with AscendCL
  bool elsewhere = false;  ///< and not all of it leads to our libraries
};

/// Asks the program's own loader, with the environment that the program will have.
AclReferences FindAclReferences(const ProgramFile& program, const Installation& installation,
                                const Environment& environment);

}  // namespace sampan::tool
