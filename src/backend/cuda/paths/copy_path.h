// Which way a request takes to move its bytes: the choice, with its reason.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "backend/api/direction.h"
#include "backend/cuda/paths/batch_parts.h"
#include "backend/cuda/paths/copy_table.h"

namespace sampan::cuda {

enum class CopyPath {
  kEngine,     ///< the driver's copies, adjacent entries joined; rows by its 2D copy
  kBatchCall,  ///< the driver's batch call, where it has one
  kKernel,     ///< our gather/scatter or row kernel
  kBlocking,   ///< pageable memory: the driver's blocking copy
  kStaged,     ///< pageable memory: through pinned buffers, from where the paths above go on
};
std::string_view Describe(CopyPath path);

std::string_view Describe(Direction direction);

struct PathChoice {
  CopyPath path;
  const char* why;
};

/// What a program can set: SAMPAN_COPY_PATH, SAMPAN_COPY_BLOCKS and SAMPAN_COPY_TABLE.
struct PathSettings {
  std::optional<CopyPath> path;         ///< kBlocking and kStaged for linear copies of pageable memory alone
  unsigned blocks = 0;                  ///< 0: as the table says
  std::vector<PathLimits> tables = {};  ///< before the shipped ones
};

/// How a 2D copy lies in memory.
struct RowsShape {
  std::size_t width;
  std::size_t unit;   ///< the widest access that every row permits
  bool dense;         ///< the destination has no gaps
  bool engine_takes;  ///< false where the driver's 2D copy refuses the pitch
};

/// Immutable.
class CopyPaths {
 public:
  CopyPaths(std::string_view gpu_name, unsigned multiprocessors, const PathSettings& settings);

  /// Entries that continue one another count as one.
  PathChoice ForBatch(Direction direction, std::size_t entries, std::size_t bytes) const;
  /// True if SAMPAN_COPY_PATH names the path of copies on the GPU.
  bool is_forced() const { return ForcedPath().has_value(); }
  /// More entries than these go by kernel, unless it cannot reach them.
  std::size_t MaxJoined(std::size_t bytes) const;
  /// Whether the driver's batch call takes at least one entry, of so many bytes in all, in parts.
  bool BatchCallInParts(std::size_t entries, std::size_t bytes) const {
    return entries >= limits_.batch_parts_from && bytes / entries >= BatchParts::kMinEntryBytes;
  }
  /// A linear copy within one device.
  PathChoice ForDeviceCopy(std::size_t bytes) const;
  PathChoice ForRows(Direction direction, const RowsShape& rows) const;
  /// How many threads stage a copy that is as much work as copying so many bytes.
  std::size_t ThreadsForStaging(std::size_t work, std::size_t cores) const;
  /// A linear copy of pageable memory, by so many threads if it is staged.
  PathChoice ForPageable(Direction direction, std::size_t bytes, std::size_t threads) const;
  /// Any other, which is always staged.
  static PathChoice Staged(std::size_t threads);
  /// How many blocks a kernel gets; `most` is the number that could have something to do.
  unsigned BlocksForPieces(std::size_t most) const;
  unsigned BlocksForRows(Direction direction, std::size_t most) const;
  unsigned BlocksForPacking(Direction direction, std::size_t most) const;
  unsigned BlocksForBytes(std::size_t bytes) const;

 private:
  /// What SAMPAN_COPY_PATH says about copies on the GPU.
  std::optional<CopyPath> ForcedPath() const;
  /// The mean length below which a kernel takes the entries of a batch of so many bytes.
  std::size_t KernelBelow(std::size_t bytes) const;
  unsigned LimitBlocks(std::size_t wanted, std::size_t most) const;

  const PathLimits limits_;
  const unsigned multiprocessors_;
  const PathSettings settings_;
};

}  // namespace sampan::cuda
