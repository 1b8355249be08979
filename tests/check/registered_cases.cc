// The host reads, writes and gives up memory that it has registered, while copies are in flight.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tests/check/scene.h"

namespace sampan::check_cases {
namespace {

char* MapShared(std::size_t bytes) {
  void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) std::abort();
  return static_cast<char*>(memory);
}

void Register(void* memory, std::size_t bytes) {
  void* seen_by_device = nullptr;
  OK(aclrtHostRegister(memory, bytes, ACL_HOST_REGISTER_MAPPED, &seen_by_device));
}

CASE(registered_destination_read_early) {
  char *block = s.Device(), *back = s.Registered();
  aclrtStream a = s.Stream();
  D2H(back, block, kBytes, a);  //! 1 host-read-before-sync
  if (right) SYNC(a);
  const char first = *static_cast<volatile char*>(back + 9);  //! 2 host-read-before-sync
  if (right) Expect(first == 0x5a ? ACL_SUCCESS : ACL_ERROR_FAILURE, "the bytes of the copy");
}

CASE(registered_source_overwritten) {
  char *block = s.Device(), *staging = s.Registered();
  aclrtStream a = s.Stream();
  H2D(block, staging, kBytes, a);  //! 1 host-write-in-flight
  if (right) SYNC(a);
  WRITE(staging + kBytes - 1);  //! 2 host-write-in-flight
}

CASE(registered_source_may_be_read) {
  char *block = s.Device(), *staging = s.Registered();
  aclrtStream a = s.Stream();
  H2D(block, staging, kBytes, a);  //! 1 host-write-in-flight
  READ(staging + 5);
  if (!right) WRITE(staging + 5);  //! 2 host-write-in-flight
}

CASE(registered_shared_memory_read_early) {
  char *block = s.Device(), *back = MapShared(2 * kBytes);
  aclrtStream a = s.Stream();
  Register(back, 2 * kBytes);
  D2H(back + kBytes, block, kBytes, a);  //! 1 host-read-before-sync
  READ(back);
  if (right) SYNC(a);
  READ(back + kBytes);  //! 2 host-read-before-sync
  SYNC(a);
  OK(aclrtHostUnregister(back));
  ::munmap(back, 2 * kBytes);
}

CASE(registered_heap_memory_and_what_lies_behind_it) {
  constexpr std::size_t kPart = kBytes + 100;
  void* memory = nullptr;
  if (::posix_memalign(&memory, kBytes, 2 * kBytes) != 0) std::abort();
  char *block = s.Device(2 * kBytes), *staging = static_cast<char*>(memory);
  staging[kPart] = 3;
  aclrtStream a = s.Stream();
  Register(staging, kPart);
  H2D(block, staging, kPart, a);  //! 1 host-write-in-flight
  WRITE(staging + kPart);
  if (right) SYNC(a);
  WRITE(staging + 70);  //! 2 host-write-in-flight
  SYNC(a);
  OK(aclrtHostUnregister(staging));
  std::free(staging);
}

CASE(one_copy_into_two_registrations) {
  char *block = s.Device(2 * kBytes), *back = MapShared(2 * kBytes);
  aclrtStream a = s.Stream();
  Register(back, kBytes);
  Register(back + kBytes, kBytes);
  D2H(back, block, 2 * kBytes, a);  //! 1 host-read-before-sync
  if (right) SYNC(a);
  READ(back + kBytes + 1);  //! 2 host-read-before-sync
  SYNC(a);
  OK(aclrtHostUnregister(back));
  OK(aclrtHostUnregister(back + kBytes));
  ::munmap(back, 2 * kBytes);
}

CASE(registered_memory_unmapped_in_flight) {
  char *block = s.Device(), *staging = MapShared(kBytes);
  aclrtStream a = s.Stream();
  Register(staging, kBytes);
  H2D(block, staging, kBytes, a);  //! 1 freed-in-flight
  if (right) SYNC(a);
  ::munmap(staging, kBytes);  //! 2 freed-in-flight
  SYNC(a);
  OK(aclrtHostUnregister(staging));
}

CASE(registered_memory_freed_in_flight) {
  void* memory = nullptr;
  if (::posix_memalign(&memory, kBytes, 64 * kBytes) != 0) std::abort();
  char* block = s.Device();
  aclrtStream a = s.Stream();
  Register(memory, kBytes);
  D2H(memory, block, kBytes, a);  //! 1 freed-in-flight
  if (right) SYNC(a);
  std::free(memory);  //! 2 freed-in-flight
  SYNC(a);
  OK(aclrtHostUnregister(memory));
}

CASE(registered_memory_grown_in_flight) {
  void* memory = nullptr;
  if (::posix_memalign(&memory, kBytes, 4 * kBytes) != 0) std::abort();
  char *block = s.Device(), *bytes = static_cast<char*>(memory);
  bytes[1] = 7;
  aclrtStream a = s.Stream();
  Register(memory, kBytes);
  H2D(block, memory, kBytes, a);  //! 1 freed-in-flight
  if (right) SYNC(a);
  char* const grown = static_cast<char*>(std::realloc(memory, 64 * kBytes));  //! 2 freed-in-flight
  Expect(grown != nullptr && grown[1] == 7 ? ACL_SUCCESS : ACL_ERROR_FAILURE, "the bytes that moved");
  SYNC(a);
  OK(aclrtHostUnregister(memory));
  std::free(grown);
}

CASE(registered_memory_stays_what_it_was) {
  char *block = s.Device(), *memory = s.Registered(3 * kBytes);
  aclrtStream a = s.Stream();
  D2H(memory + kBytes, block, kBytes, a);  //! 1 host-write-in-flight
  if (right) SYNC(a);
  WRITE(memory + kBytes + 1);  //! 2 host-write-in-flight
  SYNC(a);
  s.Forget(memory);
  OK(aclrtHostUnregister(memory));
  const bool kept = memory[0] == 0x44 && memory[kBytes] == 0x5a && memory[3 * kBytes - 1] == 0x44;
  Expect(kept ? ACL_SUCCESS : ACL_ERROR_FAILURE, "the bytes after the registration");
  ::munmap(memory, 3 * kBytes);
}

CASE(registered_memory_of_a_forked_child_is_its_own) {
  char *block = s.Device(), *memory = s.Registered(2 * kBytes);
  aclrtStream a = s.Stream();
  H2D(block, memory, kBytes, a);  //! 1 host-write-in-flight
  if (right) SYNC(a);
  const pid_t child = ::fork();
  if (child == 0) {
    const bool kept = memory[0] == 0x44 && memory[2 * kBytes - 1] == 0x44;
    memory[0] = 1;
    ::_exit(kept ? 0 : 1);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  Expect(status == 0 ? ACL_SUCCESS : ACL_ERROR_FAILURE, "the bytes of the child");
  Expect(memory[0] == 0x44 ? ACL_SUCCESS : ACL_ERROR_FAILURE, "the bytes of the parent");
  WRITE(memory + 3);  //! 2 host-write-in-flight
}

}  // namespace
}  // namespace sampan::check_cases
