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

// ---- memory whose accesses cannot be seen: what a copy reads of it is compared when the copy is over ----

/// Registered memory that ends within a page, all 0.
class PartOfAPage {
 public:
  explicit PartOfAPage(std::size_t bytes) {
    if (::posix_memalign(&memory_, kBytes, 2 * kBytes) != 0) std::abort();
    std::memset(memory_, 0, 2 * kBytes);
    Register(memory_, bytes);
  }
  ~PartOfAPage() {
    OK(aclrtHostUnregister(memory_));
    std::free(memory_);
  }
  PartOfAPage(const PartOfAPage&) = delete;
  PartOfAPage& operator=(const PartOfAPage&) = delete;
  char* bytes() const { return static_cast<char*>(memory_); }

 private:
  void* memory_ = nullptr;
};

CASE(registered_part_of_a_page_overwritten) {
  const PartOfAPage memory(kBytes + 100);
  char *block = s.Device(2 * kBytes), *staging = memory.bytes();
  aclrtStream a = s.Stream();
  H2D(block, staging, kBytes + 100, a);  //! 1 host-write-in-flight
  if (right) SYNC(a);
  WRITE(staging + kBytes + 99);
  SYNC(a);  //! 2 host-write-in-flight
}

CASE(bytes_of_a_page_beside_those_of_the_copy) {
  const PartOfAPage memory(300);
  char *block = s.Device(), *staging = memory.bytes();
  aclrtStream a = s.Stream();
  H2D(block, staging + 67, 128, a);  //! 1 host-write-in-flight
  WRITE(staging + (right ? 66 : 67));
  WRITE(staging + 195);
  READ(staging + 100);
  SYNC(a);  //! 2 host-write-in-flight
}

CASE(rows_in_a_part_of_a_page) {
  const PartOfAPage memory(1000);
  char *block = s.Device(), *staging = memory.bytes();
  aclrtStream a = s.Stream();
  OK(aclrtMemcpy2dAsync(block, 40, staging, 100, 40, 10, ACL_MEMCPY_HOST_TO_DEVICE,
                        a));  //! 1 host-write-in-flight
  WRITE(staging + (right ? 340 : 339));
  SYNC(a);  //! 2 host-write-in-flight
}

CASE(part_of_a_page_refilled_between_two_copies) {
  const PartOfAPage memory(256);
  char *block = s.Device(), *staging = memory.bytes();
  aclrtStream a = s.Stream();
  H2D(block, staging, 256, a);  //! 1 host-write-in-flight
  if (right) SYNC(a);
  std::memset(staging, 7, 256);
  H2D(block + 256, staging, 256, a);
  SYNC(a);  //! 2 host-write-in-flight
}

CASE(part_of_a_page_written_by_work_of_the_device) {
  const PartOfAPage memory(512);
  char *block = s.Device(), *ring = memory.bytes();
  aclrtStream a = s.Stream(), b = s.Stream();
  H2D(block + 512, ring, 512, a);
  D2H(ring, block, 512, a);
  H2D(block + 1024, ring, 512, a);
  After(b, a, s.Event());
  D2H(ring, block + 1024, 512, b);
  SYNC(b);
  std::memset(ring, 8, 512);
  D2H(ring, block, 512, a);
  H2D(block + 2048, ring, 512, a);
  SYNC(a);
  H2D(block, ring, 100, a);  //! 1 host-write-in-flight
  if (right) SYNC(a);
  WRITE(ring);
  SYNC(a);  //! 2 host-write-in-flight
}

CASE(part_of_a_page_filled_behind_a_gate) {
  const PartOfAPage memory(512);
  char *block = s.Device(), *staging = memory.bytes();
  aclrtStream a = s.Stream(), gate_opener = s.Stream();
  std::uint64_t* const gate = s.Word();
  if (right) OK(aclrtValueWait(gate, 1, 0, a));
  H2D(block, staging, 512, a);  //! 1 host-write-in-flight
  std::memset(staging, 9, 512);
  if (right) OK(aclrtValueWrite(gate, 1, 0, gate_opener));
  SYNC(a);  //! 2 host-write-in-flight
  SYNC(gate_opener);
}

CASE(part_of_a_page_filled_by_a_call_of_the_system) {
  const PartOfAPage memory(512);
  int ends[2] = {-1, -1};
  if (::pipe(ends) != 0 || ::write(ends[1], "sampan", 6) != 6) std::abort();
  char *block = s.Device(), *staging = memory.bytes();
  aclrtStream a = s.Stream();
  H2D(block, staging, 512, a);  //! 1 host-write-in-flight
  if (right) SYNC(a);
  if (::read(ends[0], staging + 40, 6) != 6) std::abort();  //! 2 host-write-in-flight
  SYNC(a);
  ::close(ends[0]);
  ::close(ends[1]);
}

CASE(source_in_a_private_mapping_of_a_file_overwritten) {
  std::FILE* const file = std::tmpfile();
  if (file == nullptr || ::ftruncate(::fileno(file), 4 * kBytes) != 0) std::abort();
  void* const memory = ::mmap(nullptr, 4 * kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE, ::fileno(file), 0);
  if (memory == MAP_FAILED) std::abort();
  Register(memory, 4 * kBytes);
  char *block = s.Device(4 * kBytes), *staging = static_cast<char*>(memory);
  aclrtStream a = s.Stream();
  H2D(block, staging, 4 * kBytes, a);  //! 1 host-write-in-flight
  if (right) SYNC(a);
  std::memset(staging + kBytes, 5, 2 * kBytes);
  SYNC(a);  //! 2 host-write-in-flight
  OK(aclrtHostUnregister(memory));
  ::munmap(memory, 4 * kBytes);
  std::fclose(file);
}

CASE(part_of_a_page_overwritten_by_a_host_function) {
  const PartOfAPage memory(512);
  char *block = s.Device(), *staging = memory.bytes();
  aclrtStream a = s.Stream(), b = s.Stream();
  const auto fill = [](void* bytes) { std::memset(bytes, 3, 512); };
  H2D(block, staging, 512, a);  //! 1 host-write-in-flight
  OK(aclrtLaunchHostFunc(right ? a : b, fill, staging));
  SYNC(b);
  SYNC(a);  //! 2 host-write-in-flight
}

}  // namespace
}  // namespace sampan::check_cases
