// What lies at the addresses that a program passes.
#include "core/memory_location.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

#include "base/text.h"

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#define MADV_POPULATE_WRITE 23
#endif

namespace sampan {

Result<Location> Locate(const MemoryRegistry& registry, const MemoryArgument& argument) {
  const auto address = reinterpret_cast<std::uintptr_t>(argument.address);
  AllocationUse use = registry.Find(address);
  if (!use) {
    if (registry.InSource(address)) {
      return Error{Code::kParamInvalid,
                   Text(argument.name, " ", Hex(address), " is an address of the runtime's that is ",
                        "not allocated: freed already, or past the end of its allocation")};
    }
    return Location{{}, {}, reinterpret_cast<std::byte*>(address)};
  }
  if (argument.bytes > use->BytesFrom(address)) {
    return Error{
        Code::kParamInvalid,
        Text(argument.name, " ", Hex(address), " + ", argument.bytes, " bytes leaves its allocation by ",
             argument.bytes - use->BytesFrom(address), " bytes: ", Describe(*use.get()))};
  }
  std::byte* const engine = use->EngineView(address);
  return Location{use->facts.place, std::move(use), engine};
}

Status ProbeHostMemory(const MemoryArgument& argument, HostAccess access) {
  static const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto address = reinterpret_cast<std::uintptr_t>(argument.address);
  const std::uintptr_t first = address / page * page;
  const std::uintptr_t last = address + argument.bytes - 1;
  const int saved_errno = errno;
  const int advice = access == HostAccess::kRead ? MADV_POPULATE_READ : MADV_POPULATE_WRITE;
  const bool wraps = last < address;
  // EINVAL comes from kernels before 5.14 and from memory of devices: neither says that the range is bad.
  const bool bad = wraps || (::madvise(reinterpret_cast<void*>(first), last - first + 1, advice) != 0 &&
                             errno != EINVAL && errno != EAGAIN && errno != EINTR);
  errno = saved_errno;
  if (!bad) return {};
  return {Code::kParamInvalid,
          Text(argument.name, " ", Hex(address), " + ", argument.bytes, " bytes is host memory that ",
               "the process cannot ", access == HostAccess::kRead ? "read" : "write")};
}

}  // namespace sampan
