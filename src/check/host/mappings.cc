// What is mapped at addresses of the process.
#include "check/host/mappings.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <climits>
#include <cstdio>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/system/descriptor.h"

namespace sampan::check {
namespace {

bool IsAnonymous(std::uint64_t inode, std::string_view name) {
  return inode == 0 && (name.empty() || name == "[heap]" || name.starts_with("[anon"));
}

Range CutTo(const Range& one, const Range& other) {
  return {std::max(one.begin, other.begin), std::min(one.end, other.end)};
}

/// The request of Linux 6.11 for one mapping. Older headers lack it.
struct MappingQuery {
  std::uint64_t bytes = sizeof(MappingQuery);
  std::uint64_t flags = 0, address = 0;
  std::uint64_t begin = 0, end = 0, mapping_flags = 0, page_bytes = 0, offset = 0, inode = 0;
  std::uint32_t device_major = 0, device_minor = 0;
  std::uint32_t name_bytes = 0, build_id_bytes = 0;
  std::uint64_t name = 0, build_id = 0;
};
constexpr unsigned long kQueryMapping = _IOWR('f', 17, MappingQuery);
constexpr std::uint64_t kReadable = 1, kWritable = 2, kShared = 8, kThisOrNext = 16;

/// Asks for one mapping after the other: the list of all may be long. None: the system has no such request.
std::optional<std::vector<Mapping>> Query(const Range& wanted) {
  const Descriptor maps(::open("/proc/self/maps", O_RDONLY | O_CLOEXEC));
  std::vector<Mapping> found;
  std::string name(PATH_MAX, 0);  // a longer one would be an error
  for (std::uint64_t at = wanted.begin; at < wanted.end;) {
    MappingQuery query;
    query.flags = kThisOrNext;
    query.address = at;
    query.name = reinterpret_cast<std::uintptr_t>(name.data());
    query.name_bytes = static_cast<std::uint32_t>(name.size());
    if (::ioctl(maps.get(), kQueryMapping, &query) != 0) {
      if (errno == ENOENT) break;  // nothing is mapped behind it
      return std::nullopt;
    }
    if (query.begin >= wanted.end) break;
    found.push_back({.range = CutTo(wanted, {query.begin, query.end}),
                     .writable = (query.mapping_flags & (kReadable | kWritable)) == (kReadable | kWritable),
                     .shared = (query.mapping_flags & kShared) != 0,
                     .anonymous = IsAnonymous(query.inode, query.name_bytes == 0 ? "" : name.c_str()),
                     .device = makedev(query.device_major, query.device_minor),
                     .inode = query.inode});
    at = query.end;
  }
  return found;
}

std::vector<Mapping> ReadList(const Range& wanted) {
  std::vector<Mapping> found;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    std::uint64_t begin = 0, end = 0, offset = 0, inode = 0;
    unsigned major_number = 0, minor_number = 0;
    char rights[5] = {}, path[16] = {};
    const int fields =
        std::sscanf(line.c_str(), "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64 " %15s", &begin,
                    &end, rights, &offset, &major_number, &minor_number, &inode, path);
    if (fields < 7 || !wanted.Touches({begin, end})) continue;
    found.push_back({.range = CutTo(wanted, {begin, end}),
                     .writable = rights[0] == 'r' && rights[1] == 'w',
                     .shared = rights[3] == 's',
                     .anonymous = IsAnonymous(inode, path),
                     .device = makedev(major_number, minor_number),
                     .inode = inode});
  }
  return found;
}

}  // namespace

std::vector<Mapping> MappingsIn(const Range& wanted) {
  if (auto found = Query(wanted)) return std::move(*found);
  return ReadList(wanted);
}

}  // namespace sampan::check
