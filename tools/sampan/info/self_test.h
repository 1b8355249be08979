// Copies once on every path. Checks that the right bytes arrived and no others changed.
#pragma once

#include <string>
#include <vector>

#include "bench/copies/copy_case.h"
#include "bench/copies/session.h"

namespace sampan::tool {

enum class Outcome {
  kVerified,
  kNotOffered,  ///< the imitated chip has no such copy
  kFailed,
};

std::string_view NameOf(Outcome outcome);

struct PathResult {
  std::string call;
  std::string path;  ///< source and destination
  Outcome outcome = Outcome::kFailed;
  std::string detail;  ///< what is wrong
};

struct SelfTest {
  std::vector<PathResult> paths;
  double seconds = 0;

  std::size_t Count(Outcome outcome) const;
  bool passed() const { return Count(Outcome::kFailed) == 0 && Count(Outcome::kVerified) > 0; }
};

SelfTest RunSelfTest(const bench::Session& session);

}  // namespace sampan::tool
