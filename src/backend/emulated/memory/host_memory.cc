// What memory the host has for the emulated devices: its own figures, and the limits of control groups.
#include "backend/emulated/memory/host_memory.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

namespace sampan::emulated {
namespace {

constexpr std::size_t kNoLimit = std::numeric_limits<std::size_t>::max();
constexpr std::size_t kMaxReserveBytes = std::size_t{1} << 30;
/// Part of all memory that other programs keep.
constexpr std::size_t kReservePart = 16;

/// The file names and words of one version of control groups.
struct GroupWords {
  const char *limit, *used, *inactive, *active;
};
constexpr GroupWords kVersion2 = {"memory.max", "memory.current", "inactive_file", "active_file"};
constexpr GroupWords kVersion1 = {"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file",
                                  "total_active_file"};

/// A figure of a file with lines of a name and a number.
std::optional<std::size_t> FigureIn(const std::string& path, std::string_view figure) {
  std::ifstream file(path);
  std::string name;
  std::size_t value = 0;
  std::string rest;
  while (file >> name >> value && std::getline(file, rest)) {
    if (name == figure) return value;
  }
  return std::nullopt;
}

std::optional<std::size_t> NumberIn(const std::string& path) {
  std::size_t number = 0;
  if (!(std::ifstream(path) >> number)) return std::nullopt;  // no such file, or "max"
  return number;
}

std::size_t FigureOfMachine(const std::string& root, std::string_view figure) {
  constexpr std::size_t kAssumedKibibytes = std::size_t{1} << 20;
  return FigureIn(root + "/proc/meminfo", figure).value_or(kAssumedKibibytes) * 1024;
}

std::size_t LimitOf(const std::string& group) {
  for (const GroupWords& words : {kVersion2, kVersion1}) {
    if (const auto limit = NumberIn(group + words.limit)) return *limit;
  }
  return kNoLimit;
}

/// The usage includes the page cache. The kernel gives that back when the group needs memory.
std::size_t AvailableIn(const std::string& group) {
  for (const GroupWords& words : {kVersion2, kVersion1}) {
    const auto limit = NumberIn(group + words.limit);
    if (!limit) continue;
    const std::size_t used = NumberIn(group + words.used).value_or(0);
    const std::string statistics = group + "memory.stat";
    const std::size_t cache =
        FigureIn(statistics, words.inactive).value_or(0) + FigureIn(statistics, words.active).value_or(0);
    return *limit - std::min(*limit, used - std::min(used, cache));
  }
  return kNoLimit;
}

/// The folders of the group and of all above it. In a container the path may name a folder that only the
/// host sees; the container's limit is then in the first folder.
void AddGroups(const std::string& base, std::string path, std::vector<std::string>& groups) {
  groups.push_back(base + "/");
  for (; path.size() > 1 && path.front() == '/'; path.erase(path.rfind('/')))
    groups.push_back(base + path + "/");
}

}  // namespace

HostMemory::HostMemory(std::string root) : root_(std::move(root)) {
  const std::string base = root_ + "/sys/fs/cgroup";
  std::ifstream file(root_ + "/proc/self/cgroup");
  // NUMBER:CONTROLLERS:PATH; version 2 names no controllers.
  for (std::string number, controllers, path;
       std::getline(file, number, ':') && std::getline(file, controllers, ':') && std::getline(file, path);) {
    if (controllers.empty()) AddGroups(base, path, groups_);
    if (("," + controllers + ",").find(",memory,") != std::string::npos)
      AddGroups(base + "/memory", path, groups_);
  }
}

std::size_t HostMemory::AllBytes() const {
  std::size_t all = FigureOfMachine(root_, "MemTotal:");
  for (const std::string& group : groups_)
    all = std::min(all, LimitOf(group));
  return all;
}

std::size_t HostMemory::AvailableBytes() const {
  std::size_t available = FigureOfMachine(root_, "MemAvailable:");
  for (const std::string& group : groups_)
    available = std::min(available, AvailableIn(group));
  return available;
}

std::size_t HostMemory::ReserveBytes() const {
  return std::min(AllBytes() / kReservePart, kMaxReserveBytes);
}

std::size_t HostMemory::SpareBytes() const {
  const std::size_t available = AvailableBytes();
  return available - std::min(available, ReserveBytes());
}

}  // namespace sampan::emulated
