// Copies by calls of the CUDA driver, on memory of the driver.
#include "bench/copies/driver_copies.h"

#include "bench/copies/driver_calls.h"

namespace bench {

DriverCopies::DriverCopies(const CopyPlan& plan, const CopyCase& copy)
    : plan_(plan), pieces_(copy.pieces()), driver_(TheDriver()), context_(ContextOf(0)) {
  const CurrentContext current(context_);
  RequireOfDriver(driver_.StreamCreate(&stream_, sampan::cuda::cu::kStreamNonBlocking, 0),
                  "cuStreamCreateWithPriority");
  Allocate(src_, plan.src, copy.src_bytes());
  Allocate(dst_, plan.dst, copy.dst_bytes());
  for (const Piece& piece : pieces_) {
    dsts_.push_back(dst_.address + piece.dst);
    srcs_.push_back(src_.address + piece.src);
    sizes_.push_back(piece.bytes);
  }
}

DriverCopies::~DriverCopies() {
  const CurrentContext current(context_);
  Free(src_);
  Free(dst_);
  driver_.StreamDestroy(stream_);
}

void DriverCopies::Allocate(Block& block, Place place, std::size_t bytes) {
  block.place = place;
  if (!IsHost(place)) {
    RequireOfDriver(driver_.MemAlloc(&block.address, bytes), "cuMemAlloc");
    return;
  }
  block.host = Bytes(bytes, std::byte{1});
  block.address = reinterpret_cast<sampan::cuda::CuAddress>(block.host.data());
  if (place == Place::kPinned)
    RequireOfDriver(driver_.HostRegister(block.host.data(), bytes, sampan::cuda::cu::kRegisterPortable),
                    "cuMemHostRegister");
}

void DriverCopies::Free(Block& block) {
  if (!IsHost(block.place))
    driver_.MemFree(block.address);
  else if (block.place == Place::kPinned)
    driver_.HostUnregister(block.host.data());
}

void DriverCopies::CopyRows() {
  sampan::cuda::CuCopy2d copy{};
  const auto side = [](const Block& block) {
    return IsHost(block.place) ? sampan::cuda::cu::kMemoryHost : sampan::cuda::cu::kMemoryDevice;
  };
  copy.src_type = side(src_);
  copy.dst_type = side(dst_);
  copy.src_host = reinterpret_cast<const void*>(srcs_.front());
  copy.dst_host = reinterpret_cast<void*>(dsts_.front());
  copy.src_device = srcs_.front();
  copy.dst_device = dsts_.front();
  copy.src_pitch = plan_.shape.pitch;
  copy.dst_pitch = copy.width = plan_.shape.bytes;
  copy.height = plan_.shape.count;
  RequireOfDriver(driver_.Copy2d(&copy, stream_), "cuMemcpy2DAsync");
}

void DriverCopies::CopyBatch() {
  sampan::cuda::CuBatchAttributes attributes;
  std::size_t first = 0;
  std::size_t failed = 0;
  RequireOfDriver(driver_.CopyBatch(dsts_.data(), srcs_.data(), sizes_.data(), sizes_.size(), &attributes,
                                    &first, 1, &failed, stream_),
                  "cuMemcpyBatchAsync");
}

void DriverCopies::Run() {
  const CurrentContext current(context_);
  if (plan_.form == Form::kRowsQueued) {
    CopyRows();
  } else if (plan_.form == Form::kBatchQueued && driver_.CopyBatch != nullptr) {
    CopyBatch();
  } else {
    for (std::size_t i = 0; i < sizes_.size(); ++i)
      RequireOfDriver(driver_.CopyAny(dsts_[i], srcs_[i], sizes_[i], stream_), "cuMemcpyAsync");
  }
  RequireOfDriver(driver_.StreamSynchronize(stream_), "cuStreamSynchronize");
}

}  // namespace bench
