// Where this process sees the device memory of the other ranks.
#pragma once

#include <map>
#include <mutex>
#include <utility>

#include "base/error/status.h"
#include "collectives/board/mapped_file.h"
#include "collectives/board/region.h"

namespace sampan::collectives {

/// Thread-safe. Maps each memory file of another process once, as a whole: a file is the memory of a device.
/// The owner keeps the memory of an operator until all ranks have ended it, so nothing has to be imported.
class PeerMemory {
 public:
  PeerMemory();
  /// The engines' address, here, of a range of the process. The range is what the other rank says: it is
  /// checked against the memory that there is.
  Result<std::byte*> Resolve(s64 process, const SharedRange& range);

 private:
  const s64 own_process_;
  std::mutex mutex_;
  std::map<std::pair<s64, u64>, MappedFile> files_;  // by process and inode
};

}  // namespace sampan::collectives
