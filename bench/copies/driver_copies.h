// The CUDA driver's own calls for a copy, over memory of the driver's own.
#pragma once

#include "backend/cuda/driver.h"
#include "bench/copies/alternative.h"

namespace bench {

/// Linear copies are one call, rows are one 2D call, and a batch is one call where the driver has such a call
/// (12.8), else a call for each piece.
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
