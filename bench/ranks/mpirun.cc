// Ranks that mpirun starts: who this process is, and how a program starts itself so.
#include "bench/ranks/mpirun.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "base/error/text.h"
#include "bench/measure/failure.h"

namespace bench {
namespace {

/// The variables of a launcher: a process's rank, the number of ranks, how many this host has, the job's
/// name.
struct Launcher {
  const char *rank, *size, *size_here, *job;
};
constexpr Launcher kLaunchers[] = {
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE", "PMIX_NAMESPACE"},
    {"PMI_RANK", "PMI_SIZE", "MPI_LOCALNRANKS", "PMI_JOBID"}};

std::string Variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

u32 NumberIn(const std::string& text) {
  return static_cast<u32>(std::strtoul(text.c_str(), nullptr, 10));
}

}  // namespace

std::optional<collectives::Seat> SeatUnderMpirun() {
  for (const Launcher& launcher : kLaunchers) {
    const std::string rank = Variable(launcher.rank), size = Variable(launcher.size);
    if (rank.empty() || size.empty()) continue;
    collectives::Seat seat;
    // All ranks have the job's name, or else the parent. Only processes of this user can join.
    const std::string job = Variable(launcher.job);
    seat.group = ("mpirun." + (job.empty() ? std::to_string(::getppid()) : job)).substr(0, 64);
    seat.token = seat.group + "; the ranks of one job of one user";
    seat.rank = NumberIn(rank);
    seat.size = NumberIn(size);
    return seat;
  }
  return std::nullopt;
}

u32 RanksOfThisHost(u32 ranks) {
  for (const Launcher& launcher : kLaunchers) {
    const u32 here = NumberIn(Variable(launcher.size_here));
    if (here != 0 && here <= ranks) return here;
  }
  return ranks;
}

void StartUnderMpirun(u32 ranks, char** argv) {
  std::vector<std::string> words = {"mpirun", "-n", std::to_string(ranks), "--oversubscribe"};
  if (::geteuid() == 0) words.emplace_back("--allow-run-as-root");
  words.emplace_back("/proc/self/exe");
  std::string self(4096, '\0');
  const ssize_t length = ::readlink("/proc/self/exe", self.data(), self.size());
  if (length > 0) words.back() = self.substr(0, static_cast<std::size_t>(length));
  std::vector<char*> pointers;
  for (std::string& word : words)
    pointers.push_back(word.data());
  for (char** word = argv + 1; *word != nullptr; ++word)
    pointers.push_back(*word);
  pointers.push_back(nullptr);
  ::execvp("mpirun", pointers.data());
  throw Failure(sampan::Text("mpirun cannot be started (openmpi-bin): ", std::strerror(errno)));
}

}  // namespace bench
