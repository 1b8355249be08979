// A file that a program loads late: its calls of the system fill memory of the program.
#include <fcntl.h>
#include <unistd.h>

#include <cstddef>

extern "C" [[gnu::visibility("default")]] ssize_t FillBySystem(void* memory, std::size_t bytes) {
  const int file = ::open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  const ssize_t filled = ::read(file, memory, bytes);
  ::close(file);
  return filled;
}
