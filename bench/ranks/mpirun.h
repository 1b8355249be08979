// Ranks that mpirun starts: who this process is, and how a program starts itself so.
#pragma once

#include <optional>

#include "launch.h"

namespace bench {

/// The rank of this process if mpirun started it (Open MPI's or MPICH's). As it is, ranks of one host meet.
std::optional<collectives::Seat> SeatUnderMpirun();

/// How many of `ranks` mpirun started on this host: all of them if it does not say.
u32 RanksOfThisHost(u32 ranks);

/// Replaces the process by mpirun that runs the same command line on so many ranks. Throws a Failure if there
/// is no mpirun.
[[noreturn]] void StartUnderMpirun(u32 ranks, char** argv);

}  // namespace bench
