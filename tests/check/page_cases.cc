// Accesses of the host to pages that hold what copies use, and other bytes beside it.
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <thread>

#include "tests/check/scene.h"

namespace sampan::check_cases {
namespace {

// A receiver waits for the bytes of its place in a ring, while the places around it are copied.
CASE(receive_that_waits_beside_copies) {
  char *block = s.Device(), *ring = s.Pinned(3 * kBytes);
  aclrtStream a = s.Stream();
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return;
  std::thread receiver([&] {
    OK(aclrtSetDevice(0));
    const ssize_t got = ::recv(ends[0], ring + kBytes, kBytes, 0);  //! 2 host-write-in-flight
    Expect(got == 4 ? ACL_SUCCESS : ACL_ERROR_FAILURE, "recv into pages between two copies");
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  H2D(block, ring, kBytes, a);
  if (!right) H2D(block, ring + kBytes, kBytes, a);  //! 1 host-write-in-flight
  H2D(block, ring + 2 * kBytes, kBytes, a);
  Expect(::send(ends[1], "text", 4, 0) == 4 ? ACL_SUCCESS : ACL_ERROR_FAILURE, "send");
  receiver.join();
  ::close(ends[0]);
  ::close(ends[1]);
}

// The C library looks for the end of a text in aligned vectors, and so reads bytes behind it.
CASE(text_that_ends_before_bytes_in_flight) {
  char *block = s.Device(), *back = s.Pinned();
  aclrtStream a = s.Stream();
  constexpr std::size_t kText = 3300, kEnd = 3500;
  back[kEnd - 1] = 0;
  D2H(back + kEnd, block, kBytes - kEnd, a);  //! 1 host-read-before-sync
  char copy[kEnd - kText];
  for (std::size_t begin = kText; begin < kEnd; ++begin) {
    const char* const text = back + begin;
    const bool whole = std::strlen(text) == kEnd - 1 - begin && std::strchr(text, 'x') == nullptr &&
                       std::memchr(text, 0, kEnd - begin) == back + kEnd - 1 &&
                       std::strcmp(std::strcpy(copy, text), text) == 0 && ::strnlen(text, kBytes) < kBytes;
    Expect(whole ? ACL_SUCCESS : ACL_ERROR_FAILURE, "functions for texts");
  }
  if (right) return;
  const std::size_t early = ::strnlen(back + kEnd, kBytes - kEnd);  //! 2 host-read-before-sync
  Expect(early != 0 ? ACL_SUCCESS : ACL_ERROR_FAILURE, "a text in flight");
}

/// A part of the buffer is registered.
CASE(file_read_into_memory_that_is_registered_in_part) {
  char text[kBytes + 64], *block = s.Device();
  aclrtStream a = s.Stream();
  void* const mapped =
      ::mmap(nullptr, 2 * kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  char *const buffer = static_cast<char*>(mapped), *const registered = buffer + kBytes;
  void* seen_by_device = nullptr;
  OK(aclrtHostRegister(registered, kBytes, ACL_HOST_REGISTER_MAPPED, &seen_by_device));
  for (std::size_t i = 0; i < sizeof text; ++i)
    text[i] = static_cast<char>(i * 7);
  int ends[2];
  if (::pipe(ends) != 0 || ::write(ends[1], text, sizeof text) != sizeof text) return;
  H2D(block, registered + (right ? 64 : 0), 64, a);           //! 1 host-write-in-flight
  const ssize_t bytes = ::read(ends[0], buffer, 2 * kBytes);  //! 2 host-write-in-flight
  SYNC(a);
  const bool all = bytes == sizeof text && std::memcmp(text, buffer, sizeof text) == 0;
  Expect(all ? ACL_SUCCESS : ACL_ERROR_FAILURE, "read into memory that is registered in part");
  OK(aclrtHostUnregister(registered));
  ::munmap(mapped, 2 * kBytes);
  ::close(ends[0]);
  ::close(ends[1]);
}

#if defined(__x86_64__)
#define COPY_BY_ONE_INSTRUCTION(to, from, bytes) \
  __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory")
#else
#define COPY_BY_ONE_INSTRUCTION(to, from, bytes) std::memcpy(to, from, bytes)
#endif

/// One instruction accesses two pages in use.
CASE(bytes_copied_between_two_pages_in_use) {
  char *block = s.Device(), *one = s.Pinned(), *other = s.Pinned();
  aclrtStream a = s.Stream();
  D2H(one, block, 1024, a);  //! 1 host-read-before-sync
  D2H(other, block, 1024, a);
  char* to = other + 1024;
  const char* from = one + (right ? 1024 : 0);
  std::size_t bytes = 2048;
  COPY_BY_ONE_INSTRUCTION(to, from, bytes);  //! 2 host-read-before-sync
}

// The same chunks round after round. In the last one the host fills a chunk whose turn has not come.
CASE(chunks_of_one_buffer_in_rounds) {
  constexpr std::size_t kChunk = 64 * kBytes, kChunks = 4;
  char *block = s.Device(kChunks * kChunk), *staging = s.Pinned(kChunks * kChunk);
  aclrtStream a = s.Stream();
  for (int round = 0; round < 6; ++round) {
    std::memset(staging, round, kChunks * kChunk);
    for (std::size_t i = 0; i < kChunks; ++i) {
      char* const chunk = staging + i * kChunk;
      if (round == 5 && i == 2) chunk[kChunk - 1] = 7;
      H2D(block + i * kChunk, chunk, kChunk, a);  //! 1 host-write-in-flight
    }
    if (round == 5 && !right) WRITE(staging + 3 * kChunk - 1);  //! 2 host-write-in-flight
    SYNC(a);
  }
  char last[2] = {};
  OK(aclrtMemcpy(last, 2, block + 3 * kChunk - 2, 2, ACL_MEMCPY_DEVICE_TO_HOST));
  Expect(!right || (last[0] == 5 && last[1] == 7) ? ACL_SUCCESS : ACL_ERROR_FAILURE,
         "the bytes of the third chunk");
}

}  // namespace
}  // namespace sampan::check_cases
