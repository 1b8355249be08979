// Resolves return addresses of a program to functions, files and lines.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "tools/sampan/check/finding/finding.h"

namespace sampan::tool {

/// Reads symbols and debug information with elfutils' libdw, from local files alone. Not thread-safe.
class SourceFrames {
 public:
  SourceFrames();
  ~SourceFrames();
  SourceFrames(const SourceFrames&) = delete;
  SourceFrames& operator=(const SourceFrames&) = delete;

  /// The calls at an instruction: the function that contains it, after those that were inlined there. Always
  /// at least one. A file whose build id is not `build_id` was built again since, and names nothing; an empty
  /// `build_id` fits any file.
  Stack At(const std::string& module, const std::string& build_id, std::uint64_t offset);

 private:
  class Module;

  Module& Open(const std::string& path, const std::string& build_id);

  std::map<std::pair<std::string, std::string>, std::unique_ptr<Module>> modules_;
  std::map<std::pair<const Module*, std::uint64_t>, Stack> known_;
};

}  // namespace sampan::tool
