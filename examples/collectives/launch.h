// Runs the ranks of a group, as threads of this process or as processes of their own.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "rank.h"

namespace collectives {

enum class Form { kThreads, kProcesses };

/// How a rank ended: with nothing to say, or with what went wrong.
struct Ending {
  u32 rank;
  std::string failure;
};

/// What is to be run. As a process, a rank is forked from this one, which must not have used the runtime
/// before.
struct Launch {
  u32 size;
  Form form;
  s32 timeout_seconds = 60;
};

/// Runs `body` once for each rank and waits for all of them. A body fails by throwing. Answers the ranks that
/// failed.
std::vector<Ending> RunRanks(const Launch& launch, const std::function<void(const Seat& seat)>& body);

}  // namespace collectives
