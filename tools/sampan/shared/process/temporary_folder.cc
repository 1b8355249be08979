// A folder for the files of one run, removed at its end.
#include "tools/sampan/shared/process/temporary_folder.h"

#include <stdlib.h>

#include <cerrno>
#include <system_error>

namespace sampan::tool {

TemporaryFolder::TemporaryFolder(const std::string& prefix, ExitStatus status, const std::string& purpose) {
  std::error_code unusable;
  const std::filesystem::path parent = std::filesystem::temp_directory_path(unusable);
  if (unusable)
    throw Failure(status, "no folder can be made for " + purpose + ": TMPDIR: " + unusable.message() +
                              "; set TMPDIR to another folder");
  std::string name = (parent / (prefix + "-XXXXXX")).string();
  if (::mkdtemp(name.data()) == nullptr)
    throw Failure(status, "no folder can be made in " + parent.string() + " for " + purpose + ": " +
                              std::generic_category().message(errno) + "; set TMPDIR to another folder");
  path_ = name;
}

void TemporaryFolder::Remove() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  path_.clear();
}

}  // namespace sampan::tool
