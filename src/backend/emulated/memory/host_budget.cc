// The limit of pinned host memory, and what the host has.
#include "backend/emulated/memory/host_budget.h"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <limits>
#include <string>
#include <string_view>

namespace sampan::emulated {
namespace {

/// A figure of /proc/meminfo, in bytes.
std::size_t FigureOfMachine(std::string_view figure) {
  std::ifstream file("/proc/meminfo");
  std::string name;
  std::size_t kibibytes = 0;
  std::string rest;
  while (file >> name >> kibibytes && std::getline(file, rest)) {
    if (name == figure) return kibibytes * 1024;
  }
  return std::size_t{1} << 30;  // no such file: assume 1 GiB
}

/// The largest number if there is no limit.
std::size_t LimitOfControlGroup() {
  std::size_t limit = 0;
  return std::ifstream("/sys/fs/cgroup/memory.max") >> limit ? limit
                                                             : std::numeric_limits<std::size_t>::max();
}

/// The limit of the control group minus its usage.
std::size_t AvailableInControlGroup() {
  const std::size_t limit = LimitOfControlGroup();
  std::size_t used = 0;
  std::ifstream("/sys/fs/cgroup/memory.current") >> used;
  return limit > used ? limit - used : 0;
}

}  // namespace

std::size_t AvailableHostBytes() {
  return std::min(FigureOfMachine("MemAvailable:"), AvailableInControlGroup());
}

std::size_t AllHostBytes() {
  return std::min(FigureOfMachine("MemTotal:"), LimitOfControlGroup());
}

}  // namespace sampan::emulated
