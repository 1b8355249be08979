// Measures how much of the machine other processes use during a measurement.
#include "tools/sampan/bench/busy_watch.h"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <string>

namespace sampan::tool {
namespace {

std::vector<int> UsableCores() {
  cpu_set_t usable;
  CPU_ZERO(&usable);
  std::vector<int> cores;
  if (::sched_getaffinity(0, sizeof usable, &usable) != 0) return cores;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &usable)) cores.push_back(core);
  }
  return cores;
}

/// Processor seconds of this process and of its children that have exited.
double OwnSeconds() {
  double seconds = 0;
  for (const int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage usage{};
    ::getrusage(who, &usage);
    for (const timeval& time : {usage.ru_utime, usage.ru_stime})
      seconds += static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  }
  return seconds;
}

}  // namespace

BusyWatch::BusyWatch() : cores_(UsableCores()), begin_(ReadCores()), own_begin_(OwnSeconds()) {}

BusyWatch::Ticks BusyWatch::ReadCores() const {
  Ticks ticks;
  std::ifstream file("/proc/stat");
  for (std::string line; std::getline(file, line);) {
    int core = 0;
    std::array<unsigned long long, 8>
        times{};  // user, nice, system, idle, waiting for disks, irq, softirq, stolen
    if (std::sscanf(line.c_str(), "cpu%d %llu %llu %llu %llu %llu %llu %llu %llu", &core, &times[0],
                    &times[1], &times[2], &times[3], &times[4], &times[5], &times[6], &times[7]) != 9 ||
        !std::binary_search(cores_.begin(), cores_.end(), core))
      continue;
    const double second = static_cast<double>(::sysconf(_SC_CLK_TCK));
    for (std::size_t i = 0; i < times.size(); ++i) {
      const double time = static_cast<double>(times[i]) / second;
      ticks.all += time;
      if (i != 3 && i != 4) ticks.busy += time;
    }
    ticks.known = true;
  }
  return ticks;
}

std::optional<double> BusyWatch::ShareOfOthers() const {
  constexpr double kMinSeconds = 0.2;  // the kernel counts in steps of 10 ms
  const Ticks end = ReadCores();
  const double all = end.all - begin_.all;
  if (!begin_.known || !end.known || all < kMinSeconds) return std::nullopt;
  const double others = end.busy - begin_.busy - (OwnSeconds() - own_begin_);
  return std::clamp(others / all, 0.0, 1.0);
}

}  // namespace sampan::tool
