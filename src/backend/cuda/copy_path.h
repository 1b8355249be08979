// Which way a request takes to move its bytes: the table, and the choice with its reason.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace sampan::cuda {

enum class CopyPath {
  kEngine,     ///< the driver's copies, adjacent entries joined; rows by its 2D copy
  kBatchCall,  ///< the driver's batch call, where it has one
  kKernel,     ///< our gather/scatter or row kernel
};
std::string_view Describe(CopyPath path);

enum class Direction { kHostToDevice, kDeviceToHost, kDeviceToDevice, kHostToHost };
std::string_view Describe(Direction direction);

struct PathChoice {
  CopyPath path;
  const char* why;
};

/// What a program can set: SAMPAN_COPY_PATH and SAMPAN_COPY_BLOCKS.
struct PathSettings {
  std::optional<CopyPath> path;
  unsigned blocks = 0;  ///< 0: as the table says
};

/// How a 2D copy lies in memory.
struct RowsShape {
  std::size_t width;
  std::size_t unit;   ///< the widest access that every row permits
  bool dense;         ///< the destination has no gaps
  bool engine_takes;  ///< false where the driver's 2D copy refuses the pitch
};

struct RowLimits {
  std::size_t even_to, odd_to, odd_dense_to;
};

/// The measured limits of one GPU, as a row of the table.
struct PathLimits {
  std::string_view gpu;  ///< part of its name; empty matches every GPU
  /// Batches go by kernel when their entries are shorter than this on average...
  std::size_t batch_kernel_below;
  /// ... and there are at least so many: of entries that are shorter than kShortEntry, and of others.
  /// Otherwise by the driver's batch call...
  std::size_t batch_h2d_short_from, batch_h2d_from;
  std::size_t batch_d2h_short_from, batch_d2h_from;
  /// ... in two halves at once from so many bytes on.
  std::size_t batch_halves_from;
  /// Rows up to this width go by kernel: where all of them permit accesses of 4 or 16 bytes, where not, and
  /// where not but without gaps at the destination.
  RowLimits rows_h2d, rows_d2h, rows_d2d;
  /// Blocks of a kernel that the link to the host limits: a few saturate it, the rest of the GPU stays free.
  unsigned link_blocks;
  /// Blocks for each multiprocessor, of a row kernel that only memory limits; and of the one that packs.
  unsigned memory_blocks, packing_blocks;
  /// What a block of a linear kernel copies: so many blocks sweep memory in order, which is fastest.
  std::size_t bytes_per_block;
};

/// Immutable.
class CopyPaths {
 public:
  CopyPaths(std::string_view gpu_name, unsigned multiprocessors, const PathSettings& settings);

  /// Entries below this count as short.
  static constexpr std::size_t kShortEntry = 2048;

  PathChoice ForBatch(Direction direction, std::size_t entries, std::size_t bytes) const;
  /// Whether the driver's batch call is made twice, on two streams.
  bool BatchCallTwice(std::size_t entries, std::size_t bytes) const {
    return entries > 1 && bytes >= limits_.batch_halves_from;
  }
  PathChoice ForRows(Direction direction, const RowsShape& rows) const;
  /// How many blocks a kernel gets; `most` is the number that could have something to do.
  unsigned BlocksForPieces(std::size_t most) const;
  unsigned BlocksForRows(Direction direction, std::size_t most) const;
  unsigned BlocksForPacking(Direction direction, std::size_t most) const;
  unsigned BlocksForBytes(std::size_t bytes) const;

 private:
  unsigned Within(std::size_t wanted, std::size_t most) const;

  const PathLimits& limits_;
  const unsigned multiprocessors_;
  const PathSettings settings_;
};

}  // namespace sampan::cuda
