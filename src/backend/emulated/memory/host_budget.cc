// The limit of host memory that all emulated devices may use together.
#include "backend/emulated/memory/host_budget.h"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <limits>
#include <string>

namespace sampan::emulated {
namespace {

std::size_t AvailableOnMachine() {
  std::ifstream file("/proc/meminfo");
  std::string name;
  std::size_t kibibytes = 0;
  std::string rest;
  while (file >> name >> kibibytes && std::getline(file, rest)) {
    if (name == "MemAvailable:") return kibibytes * 1024;
  }
  return std::size_t{1} << 30;  // no such file: assume 1 GiB
}

/// The limit of the control group minus its usage; the largest number if there is no limit.
std::size_t AvailableInControlGroup() {
  std::size_t limit = 0;
  std::size_t used = 0;
  if (!(std::ifstream("/sys/fs/cgroup/memory.max") >> limit)) return std::numeric_limits<std::size_t>::max();
  std::ifstream("/sys/fs/cgroup/memory.current") >> used;
  return limit > used ? limit - used : 0;
}

}  // namespace

std::size_t AvailableHostBytes() {
  return std::min(AvailableOnMachine(), AvailableInControlGroup());
}

}  // namespace sampan::emulated
