// Which way a request takes to move its bytes: the table, and the choice with its reason.
#include "backend/cuda/copy_path.h"

#include <algorithm>
#include <array>

namespace sampan::cuda {
namespace {

constexpr std::size_t kKiB = 1024;

/// The first row whose name fits. Measured with bench_gpu; the last row is for GPUs nobody has measured.
constexpr std::array kTable = {
    PathLimits{.gpu = "H200",
               .batch_h2d_below = 512 * kKiB,
               .batch_d2h_below = 512 * kKiB,
               .batch_from_entries = 2,
               .rows_h2d_to = 48,
               .rows_d2h_to = 96,
               .link_blocks = 32,
               .memory_blocks = 2},
    PathLimits{.gpu = "",
               .batch_h2d_below = 64 * kKiB,
               .batch_d2h_below = 64 * kKiB,
               .batch_from_entries = 4,
               .rows_h2d_to = 32,
               .rows_d2h_to = 32,
               .link_blocks = 32,
               .memory_blocks = 2},
};

const PathLimits& FindLimits(std::string_view gpu_name) {
  return *std::find_if(kTable.begin(), kTable.end() - 1,
                       [&](const PathLimits& row) { return gpu_name.find(row.gpu) != std::string_view::npos; });
}

}  // namespace

std::string_view Describe(CopyPath path) {
  switch (path) {
    case CopyPath::kEngine:
      return "engine";
    case CopyPath::kBatchCall:
      return "batch";
    case CopyPath::kKernel:
      return "kernel";
  }
  return "path";
}

std::string_view Describe(Direction direction) {
  switch (direction) {
    case Direction::kHostToDevice:
      return "host to device";
    case Direction::kDeviceToHost:
      return "device to host";
    case Direction::kDeviceToDevice:
      return "device to device";
    case Direction::kHostToHost:
      return "host to host";
  }
  return "direction";
}

CopyPaths::CopyPaths(std::string_view gpu_name, unsigned multiprocessors, const PathSettings& settings)
    : limits_(FindLimits(gpu_name)), multiprocessors_(multiprocessors), settings_(settings) {}

PathChoice CopyPaths::ForBatch(Direction direction, std::size_t entries, std::size_t bytes) const {
  if (settings_.path) return {*settings_.path, "SAMPAN_COPY_PATH says so"};
  if (entries < limits_.batch_from_entries) return {CopyPath::kEngine, "so few entries are as many copies"};
  const std::size_t below =
      direction == Direction::kHostToDevice ? limits_.batch_h2d_below : limits_.batch_d2h_below;
  if (bytes / entries < below) return {CopyPath::kKernel, "short entries cost an engine more to start than to copy"};
  return {CopyPath::kEngine, "an engine is faster on long entries"};
}

PathChoice CopyPaths::ForRows(Direction direction, std::size_t width, bool engine_takes) const {
  if (!engine_takes) return {CopyPath::kKernel, "the driver's 2D copy does not take this pitch"};
  if (settings_.path) {
    const bool kernel = *settings_.path == CopyPath::kKernel;
    return {kernel ? CopyPath::kKernel : CopyPath::kEngine, "SAMPAN_COPY_PATH says so"};
  }
  if (direction == Direction::kDeviceToDevice) return {CopyPath::kKernel, "a kernel is faster within a device"};
  const std::size_t to = direction == Direction::kHostToDevice ? limits_.rows_h2d_to : limits_.rows_d2h_to;
  if (width <= to) return {CopyPath::kKernel, "rows as narrow as this waste an engine's requests"};
  return {CopyPath::kEngine, "an engine is faster on wide rows"};
}

unsigned CopyPaths::BlocksFor(Direction direction) const {
  if (settings_.blocks != 0) return settings_.blocks;
  if (direction == Direction::kDeviceToDevice) return multiprocessors_ * limits_.memory_blocks;
  return std::min(limits_.link_blocks, multiprocessors_);
}

}  // namespace sampan::cuda
