// Facts about a program before it runs.
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
    kOther,    ///< a script, or a program for another machine
  };

  std::filesystem::path path;
  Kind kind = Kind::kOther;
  std::string loader;          ///< of a dynamic program
  bool is_privileged = false;  ///< its file gives it rights, so the loader ignores our variables
};

/// Finds the program as a shell does. If it is missing or not executable, throws with the shells' exit
/// statuses.
ProgramFile FindProgram(const std::string& name, const Environment& environment);

/// Where the references of the program and its libraries to AscendCL lead.
struct AclReferences {
  bool any = false;        ///< it is linked with AscendCL
  bool elsewhere = false;  ///< a reference leads to another library
};

/// Asks the program's loader, with the program's environment.
AclReferences FindAclReferences(const ProgramFile& program, const Installation& installation,
                                const Environment& environment);

}  // namespace sampan::tool
