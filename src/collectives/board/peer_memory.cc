// Where this process sees the device memory of the other ranks.
#include "collectives/board/peer_memory.h"

#include <unistd.h>

#include "base/error/text.h"
#include "collectives/board/own_range.h"

namespace sampan::collectives {

PeerMemory::PeerMemory() : own_process_(::getpid()) {}

Result<std::byte*> PeerMemory::Resolve(s64 process, const SharedRange& range) {
  if (range.bytes == 0) return nullptr;
  if (process == own_process_) {
    auto* const engine = reinterpret_cast<std::byte*>(range.engine);
    if (OwnRange::IsKnown(engine, range.bytes)) return engine;
    return Error{Code::kInternalError, Text("no rank of this process shares ", range.bytes, " bytes at ",
                                            Hex(std::uintptr_t{range.engine}))};
  }
  if (range.file < 0) {
    return Error{Code::kFeatureNotSupport,
                 Text("memory of process ", process,
                      " that was mapped in parts or imported cannot be read by other processes: use "
                      "aclrtMalloc, or ranks that are threads")};
  }
  const std::lock_guard lock(mutex_);
  auto found = files_.find({process, range.inode});
  if (found == files_.end()) {
    auto opened = MappedFile::Open(process, range.file, range.inode);
    if (!opened.ok()) return opened.TakeStatus();
    found = files_.emplace(std::pair{process, range.inode}, std::move(*opened)).first;
  }
  const MappedFile& file = found->second;
  if (range.file_offset > file.bytes() || range.bytes > file.bytes() - range.file_offset) {
    return Error{Code::kInternalError,
                 Text("process ", process, " names ", range.bytes, " bytes at ", range.file_offset,
                      " of a memory file of ", file.bytes(), " bytes")};
  }
  return file.base() + range.file_offset;
}

}  // namespace sampan::collectives
