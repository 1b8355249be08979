// Ranks that mpirun starts: who this process is, and how a program starts itself so.
#pragma once

#include <optional>

#include "launch.h"

namespace bench {

/// The rank of this process if mpirun started it (Open MPI's or MPICH's). All ranks run on one host.
std::optional<collectives::Seat> SeatUnderMpirun();

/// Replaces the process by mpirun that runs the same command line on so many ranks. Throws a Failure if there
/// is no mpirun.
[[noreturn]] void StartUnderMpirun(u32 ranks, char** argv);

}  // namespace bench
