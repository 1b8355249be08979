// A memory file of this process or of another process of the same user, mapped as a whole.
#pragma once

#include <cstddef>

#include "base/error/status.h"
#include "base/system/descriptor.h"
#include "hccl/base.h"

namespace sampan::collectives {

/// The file behind a descriptor, or 0 if there is none.
u64 InodeOf(int file);

/// Owns the mapping. Move-only.
class MappedFile {
 public:
  MappedFile() = default;
  ~MappedFile();
  MappedFile(MappedFile&& that) noexcept;
  MappedFile& operator=(MappedFile&& that) noexcept;

  /// Opens the descriptor of another process. The file must be the one with this inode, of this user, and it
  /// must not be able to shrink.
  static Result<MappedFile> Open(s64 process, s64 file, u64 inode);
  static Result<MappedFile> Map(int file);

  std::byte* base() const { return base_; }
  u64 bytes() const { return bytes_; }

 private:
  std::byte* base_ = nullptr;
  u64 bytes_ = 0;
};

}  // namespace sampan::collectives
