// Where this installation of Sampan is.
#pragma once

#include <filesystem>
#include <vector>

namespace sampan::tool {

struct Installation {
  std::filesystem::path root;

  std::filesystem::path libraries() const { return root / "lib64"; }
  /// The library under both names that programs know it by.
  std::vector<std::filesystem::path> acl_libraries() const {
    return {libraries() / "libacl_rt.so", libraries() / "libascendcl.so"};
  }
};

/// The one that this program belongs to. Throws when its libraries are not there.
Installation FindInstallation();

}  // namespace sampan::tool
