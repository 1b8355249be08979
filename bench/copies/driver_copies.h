// Copies by calls of the CUDA driver, on memory of the driver.
#pragma once

#include "backend/cuda/driver.h"
#include "bench/copies/alternative.h"

namespace bench {

/// A linear copy is one call, rows are one 2D call. A batch is one call if the driver has it (12.8), else one
/// call per piece.
class DriverCopies final : public Alternative {
 public:
  DriverCopies(const CopyPlan& plan, const CopyCase& copy);
  ~DriverCopies() override;
  DriverCopies(const DriverCopies&) = delete;
  DriverCopies& operator=(const DriverCopies&) = delete;

  void Run() override;

 private:
  struct Block {
    sampan::cuda::CuAddress address = 0;
    Place place = Place::kPageable;
    Bytes host;  ///< of pageable and pinned memory
  };

  void Allocate(Block& block, Place place, std::size_t bytes);
  void Free(Block& block);
  void CopyRows();
  void CopyBatch();

  const CopyPlan plan_;
  const std::vector<Piece>& pieces_;
  const sampan::cuda::Driver& driver_;
  const sampan::cuda::CuContext context_;
  sampan::cuda::CuStream stream_ = nullptr;
  Block src_;
  Block dst_;
  std::vector<sampan::cuda::CuAddress> dsts_, srcs_;
  std::vector<std::size_t> sizes_;
};

}  // namespace bench
