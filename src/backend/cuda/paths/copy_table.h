// The measured limits between the paths of copies: shipped tables, and tables from files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error/status.h"

namespace sampan::cuda {

/// No limit; "any" in a file.
inline constexpr std::size_t kAny = SIZE_MAX;

/// A kernel copies rows up to this width. Vectors: all rows permit accesses of 16 bytes. `even_to`: of 4
/// bytes. `odd_to`: not all. Dense: the destination has no gaps; `odd_dense_to` is for all but vectors.
struct RowLimits {
  std::size_t vectors_dense_to, vectors_to, even_to, odd_to, odd_dense_to;
  bool operator==(const RowLimits&) const = default;
};

/// The limits of one GPU. docs/COPY_TABLE.md explains each of them.
struct PathLimits {
  std::string gpu;
  std::size_t linear_d2d_to;
  std::size_t batch_kernel_below, batch_h2d_kernel_below, batch_d2h_kernel_below;
  std::size_t dense_below, dense_from;
  std::size_t batch_h2d_short_from, batch_h2d_from;
  std::size_t batch_d2h_short_from, batch_d2h_from;
  std::size_t batch_parts_from;
  RowLimits rows_h2d, rows_d2h, rows_d2d;
  std::size_t rows_pitch_to;
  std::size_t link_h2d_blocks, link_d2h_blocks, speed_blocks, gather_blocks;
  std::size_t memory_blocks, packing_blocks;
  std::size_t bytes_per_block;
  // These depend more on the processor than on the GPU. Measured beside an H200, used for all GPUs.
  std::size_t pageable_h2d_from = std::size_t{1} << 20, pageable_d2h_from = 0;
  std::size_t staging_several_from = std::size_t{1} << 20, staging_bytes_per_thread = std::size_t{8} << 20,
              staging_threads = 16;
  bool operator==(const PathLimits&) const = default;
};

/// Entries below kShortEntry are short. Batches from kLongBatch on are long.
inline constexpr std::size_t kShortEntry = 2048, kLongBatch = std::size_t{8} << 20;

/// A limit by its name in files.
struct LimitField {
  std::string_view name;
  std::size_t min, max;  ///< max kAny: "any" is accepted too
  std::size_t& (*of)(PathLimits& limits);
};
std::span<const LimitField> limit_fields();

/// Tables of measured GPUs, and the last one for all others. A table applies to GPUs whose name contains its
/// `gpu`.
const std::vector<PathLimits>& ShippedTables();
const PathLimits& FindTable(std::span<const PathLimits> tables, std::string_view gpu_name);

/// Reads a file: lines of a name and a value, in tables that begin with `gpu NAME`. A missing limit is taken
/// from the shipped table of such a GPU. Limits of earlier versions are ignored, so that files stay valid.
/// Empty lines and text after a # are ignored. A failure names file, line and value.
Result<std::vector<PathLimits>> ReadCopyTables(const std::string& file);
Result<std::vector<PathLimits>> ParseCopyTables(std::string_view text, std::string_view file);

}  // namespace sampan::cuda
