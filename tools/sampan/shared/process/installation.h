// The paths of this installation of Sampan.
#pragma once

#include <filesystem>
#include <vector>

namespace sampan::tool {

struct Installation {
  std::filesystem::path root;

  std::filesystem::path libraries() const { return root / "lib64"; }
  /// The library under its two names.
  std::vector<std::filesystem::path> acl_libraries() const {
    return {libraries() / "libacl_rt.so", libraries() / "libascendcl.so"};
  }
};

/// The installation of this program. Throws if its libraries are missing.
Installation FindInstallation();

}  // namespace sampan::tool
