// A memory file of this process or of another process of the same user, mapped as a whole.
#include "collectives/board/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <string>
#include <utility>

#include "base/error/system_error.h"
#include "base/error/text.h"
#include "base/system/memory_file.h"

namespace sampan::collectives {

u64 InodeOf(int file) {
  struct stat facts {};
  return ::fstat(file, &facts) == 0 ? facts.st_ino : 0;
}

MappedFile::~MappedFile() {
  if (base_ != nullptr) ::munmap(base_, bytes_);
}

MappedFile::MappedFile(MappedFile&& that) noexcept
    : base_(std::exchange(that.base_, nullptr)), bytes_(std::exchange(that.bytes_, u64{0})) {}

MappedFile& MappedFile::operator=(MappedFile&& that) noexcept {
  std::swap(base_, that.base_);
  std::swap(bytes_, that.bytes_);
  return *this;
}

Result<MappedFile> MappedFile::Open(s64 process, s64 file, u64 inode) {
  const std::string path = Text("/proc/", process, "/fd/", file);
  const Descriptor opened(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (opened.get() < 0) {
    return Error{Code::kNoPermission,
                 Text("memory of process ", process, " cannot be opened (", path, "): ", SystemError(errno))};
  }
  if (InodeOf(opened.get()) != inode || !IsSafeToMap(opened.get(), 1))
    return Error{Code::kNoPermission, Text(path, " is not the memory that process ", process, " shares")};
  return Map(opened.get());
}

Result<MappedFile> MappedFile::Map(int file) {
  struct stat facts {};
  void* base = MAP_FAILED;
  if (::fstat(file, &facts) == 0) {
    base = ::mmap(nullptr, static_cast<std::size_t>(facts.st_size), PROT_READ | PROT_WRITE,
                  MAP_SHARED | MAP_NORESERVE, file, 0);
  }
  if (base == MAP_FAILED)
    return Error{Code::kMemoryAllocation, Text("shared memory cannot be mapped: ", SystemError(errno))};
  MappedFile mapped;
  mapped.base_ = static_cast<std::byte*>(base);
  mapped.bytes_ = static_cast<u64>(facts.st_size);
  ::madvise(base, mapped.bytes_, MADV_DONTDUMP);
  ::madvise(base, mapped.bytes_, MADV_DONTFORK);
  return mapped;
}

}  // namespace sampan::collectives
