// The process's mappings, read to check host memory before a copy accesses it.
#include "core/memory/host_mappings.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <string>
#include <string_view>

namespace sampan::core {
namespace {

/// Linux's struct procmap_query and its constants, which headers before 6.11 lack.
struct MappingQuery {
  std::uint64_t bytes = sizeof(MappingQuery);
  std::uint64_t flags = 0;  // 0: the mapping that covers the address
  std::uint64_t address = 0;
  std::uint64_t begin = 0, end = 0, rights = 0, page_bytes = 0, offset = 0, inode = 0;
  std::uint32_t device_major = 0, device_minor = 0, name_bytes = 0, build_id_bytes = 0;
  std::uint64_t name = 0, build_id = 0;
};
constexpr std::uint64_t kReadable = 1, kWritable = 2;
constexpr unsigned long kQueryMapping = _IOWR('f', 17, MappingQuery);

/// The inode in a line of /proc/self/maps: the fifth field; 0 for memory without a file.
bool HasFile(std::string_view line) {
  for (int field = 1; field < 5; ++field)
    line.remove_prefix(std::min(line.size(), line.find(' ') + 1));
  return !line.starts_with("0");
}

}  // namespace

HostMappings::~HostMappings() {
  if (file_ >= 0) ::close(file_);
}

bool HostMappings::Ask(std::uintptr_t address) {
  if (file_ < 0) file_ = ::open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  if (file_ < 0) return false;
  MappingQuery query;
  query.address = address;
  if (::ioctl(file_, kQueryMapping, &query) != 0 || query.inode != 0) return false;
  begin_ = query.begin;
  end_ = query.end;
  readable_ = (query.rights & kReadable) != 0;
  writable_ = (query.rights & kWritable) != 0;
  return true;
}

bool HostMappings::Anonymous(std::uintptr_t first, std::uintptr_t last, HostAccess access) {
  while (!Remembered(first, last, access)) {
    if (!Ask(first) || !Permits(access)) return false;
    if (last >= end_) first = end_;
  }
  return true;
}

bool HostMappings::TextShows(std::uintptr_t first, std::uintptr_t last, HostAccess access, Kind kind) {
  std::ifstream maps("/proc/self/maps");
  if (!maps) return kind == Kind::kAny;  // cannot be decided
  for (std::string line; std::getline(maps, line);) {
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
    const char* const text_end = line.data() + line.size();
    const auto dash = std::from_chars(line.data(), text_end, begin, 16);
    const auto space = std::from_chars(dash.ptr + 1, text_end, end, 16);
    if (first < begin) return false;  // a hole
    if (first >= end) continue;
    const char* const permissions = space.ptr + 1;
    if (permissions[access == HostAccess::kRead ? 0 : 1] == '-') return false;
    if (kind == Kind::kAnonymous && HasFile(line)) return false;
    if (last < end) return true;
    first = end;
  }
  return false;
}

}  // namespace sampan::core
