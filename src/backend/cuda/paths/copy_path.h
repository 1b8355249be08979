// Chooses the path of a request, with a reason.
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
  kBatchCall,  ///< the driver's batch call, if it has one
  kKernel,     ///< our gather/scatter or row kernel, over the link
  kDense,      ///< entries adjacent on the host: a kernel within the device, and an engine over the link
  kBlocking,   ///< pageable memory: the driver's blocking copy
  kStaged,     ///< pageable memory: through pinned buffers, then by the paths above
};
std::string_view Describe(CopyPath path);

std::string_view Describe(Direction direction);

struct PathChoice {
  CopyPath path;
  const char* why;
};

/// What copies may cost the kernels beside them.
enum class Quietness {
  kAuto,   ///< kernels over the link have two or three multiprocessors
  kSpeed,  ///< they have as many as make any batch fast
  kQuiet,  ///< no kernel of ours where an engine can copy
};
std::string_view Describe(Quietness quietness);

/// The settings SAMPAN_COPY_PATH, SAMPAN_COPY_QUIET, SAMPAN_COPY_BLOCKS and SAMPAN_COPY_TABLE.
struct PathSettings {
  std::optional<CopyPath> path;  ///< kBlocking and kStaged: only for linear copies of pageable memory
  Quietness quietness = Quietness::kAuto;
  unsigned blocks = 0;                  ///< 0: from the table
  std::vector<PathLimits> tables = {};  ///< used before the shipped ones
};

/// A batch between host and device. Adjacent entries count as one.
struct BatchShape {
  Direction direction;
  std::size_t entries, bytes;
  std::size_t dense_bytes = 0;  ///< of entries in long runs that are adjacent on the host
  bool pageable = false;        ///< a part of its host memory is
  bool reachable = true;        ///< kernels may access all of its memory
  bool listed = true;           ///< a kernel can read its entries in pinned memory
  bool balanced = true;         ///< no entry is much longer than the mean
  bool has_batch_call = true;   ///< the driver has one
  bool dense_room = true;       ///< there are buffers for dense runs
};

/// The layout of a 2D copy in memory.
struct RowsShape {
  std::size_t width;
  std::size_t unit;       ///< the widest access that every row permits
  bool dense;             ///< the destination has no gaps
  bool engine_takes;      ///< false if the driver's 2D copy refuses the pitch
  std::size_t pitch = 0;  ///< the larger one
  bool reachable = true;  ///< kernels may access both sides
};

/// Immutable.
class CopyPaths {
 public:
  CopyPaths(std::string_view gpu_name, unsigned multiprocessors, const PathSettings& settings);

  PathChoice ForBatch(const BatchShape& batch) const;
  /// Returns true if ForBatch must know how many bytes are dense.
  bool AsksForDensity(const BatchShape& batch) const;
  /// The minimum length of a dense run.
  std::size_t MinDenseRun() const;
  /// A kernel copies more entries than these, if it can access them.
  std::size_t MaxJoined(Direction direction, std::size_t bytes) const;
  /// Returns true if the driver's batch call gets these entries in parts. There is at least one entry.
  bool BatchCallInParts(std::size_t entries, std::size_t bytes) const {
    return entries >= limits_.batch_parts_from && bytes / entries >= BatchParts::kMinEntryBytes;
  }
  /// A linear copy inside one device.
  PathChoice ForDeviceCopy(std::size_t bytes) const;
  PathChoice ForRows(Direction direction, const RowsShape& rows) const;
  /// How many threads stage a copy. `work` is in bytes that take as long.
  std::size_t ThreadsForStaging(std::size_t work, std::size_t cores) const;
  /// A linear copy of pageable memory. If it is staged, `threads` threads do it.
  PathChoice ForPageable(Direction direction, std::size_t bytes, std::size_t threads) const;
  /// Any other copy of pageable memory: always staged.
  static PathChoice Staged(std::size_t threads);
  /// How many blocks a kernel gets. More than `max_useful` would have no work.
  unsigned BlocksForPieces(Direction direction, std::size_t max_useful) const;
  /// For a kernel that gathers dense entries within the device.
  unsigned BlocksForGather(std::size_t max_useful) const;
  unsigned BlocksForRows(Direction direction, std::size_t max_useful) const;
  unsigned BlocksForPacking(Direction direction, std::size_t max_useful) const;
  unsigned BlocksForBytes(std::size_t bytes) const;

 private:
  /// The path that SAMPAN_COPY_PATH sets for copies on the GPU.
  std::optional<CopyPath> ForcedPath() const;
  bool is_quiet() const { return settings_.quietness == Quietness::kQuiet; }
  /// The path of a batch that any path can copy.
  PathChoice WantedForBatch(const BatchShape& batch) const;
  /// A kernel copies a batch of `bytes` if its mean entry is shorter than this.
  std::size_t KernelBelow(Direction direction, std::size_t bytes) const;
  /// A kernel copies rows of such a shape up to this width.
  std::size_t RowsByKernelTo(Direction direction, const RowsShape& rows) const;
  unsigned LimitBlocks(std::size_t wanted, std::size_t max_blocks) const;

  const PathLimits limits_;
  const unsigned multiprocessors_;
  const PathSettings settings_;
};

}  // namespace sampan::cuda
