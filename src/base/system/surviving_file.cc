// Memory in a file, so that another process can read it when this one is gone.
#include "base/system/surviving_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace sampan {
namespace {

struct flock WholeFile() {
  struct flock all {};
  all.l_type = F_WRLCK;
  return all;
}

/// Only the owner of the lock empties the file: another process may have it mapped. The pages are allocated
/// now: with a full disk, a later write to them would be a SIGBUS.
void* Map(int file, std::size_t bytes) {
  struct flock all = WholeFile();
  if (::fcntl(file, F_SETLK, &all) != 0 || ::ftruncate(file, 0) != 0) return MAP_FAILED;
  if (::posix_fallocate(file, 0, static_cast<off_t>(bytes)) != 0) return MAP_FAILED;
  return ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
}

}  // namespace

std::span<std::byte> MapSurvivingFile(const std::string& path, std::size_t bytes) noexcept {
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (file < 0) return {};
  void* const begin = Map(file, bytes);
  if (begin != MAP_FAILED) return {static_cast<std::byte*>(begin), bytes};  // the open file holds the lock
  ::close(file);
  return {};
}

bool IsLocked(int file) noexcept {
  struct flock all = WholeFile();
  return ::fcntl(file, F_GETLK, &all) == 0 && all.l_type != F_UNLCK;
}

}  // namespace sampan
