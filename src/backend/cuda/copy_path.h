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

/// The measured limits of one GPU, as a row of the table.
struct PathLimits {
  std::string_view gpu;  ///< part of its name; empty matches every GPU
  /// Batches between host and device go by kernel when their entries are shorter than this on average...
  std::size_t batch_kernel_below;
  /// ... and there are at least so many. Otherwise by the driver's batch call.
  std::size_t batch_kernel_from_entries;
  /// Rows up to this width go by kernel: where all of them permit accesses of 4 or 16 bytes, and where not.
  std::size_t rows_h2d_to, rows_h2d_odd_to;
  std::size_t rows_d2h_to, rows_d2h_odd_to;
  std::size_t rows_d2d_to, rows_d2d_odd_to;
  /// Blocks of a kernel that the link to the host limits: a few saturate it, the rest of the GPU stays free.
  unsigned link_blocks;
  /// Blocks for each multiprocessor, of a row kernel that only memory limits.
  unsigned memory_blocks;
  /// What a block of a linear kernel copies: so many blocks sweep memory in order, which is fastest.
  std::size_t bytes_per_block;
};

/// Immutable.
class CopyPaths {
 public:
  CopyPaths(std::string_view gpu_name, unsigned multiprocessors, const PathSettings& settings);

  PathChoice ForBatch(std::size_t entries, std::size_t bytes) const;
  /// `unit` is the widest access that every row permits; `engine_takes` is false where the driver's 2D copy
  /// refuses the pitch.
  PathChoice ForRows(Direction direction, std::size_t width, std::size_t unit, bool engine_takes) const;
  /// How many blocks a kernel gets; `most` is the number that could have something to do.
  unsigned BlocksForPieces(std::size_t most) const;
  unsigned BlocksForRows(Direction direction, std::size_t most) const;
  unsigned BlocksForBytes(std::size_t bytes) const;

 private:
  unsigned Within(std::size_t wanted, std::size_t most) const;

  const PathLimits& limits_;
  const unsigned multiprocessors_;
  const PathSettings settings_;
};

}  // namespace sampan::cuda
