// The alternative to the runtime that a copy is compared with.
#include "bench/copies/alternative.h"

#include <cstring>

#include "bench/copies/driver_copies.h"

namespace bench {
namespace {

/// One thread's memcpy, piece by piece, over ordinary memory.
class MemcpyLoop final : public Alternative {
 public:
  explicit MemcpyLoop(const CopyCase& copy)
      : pieces_(copy.pieces()), src_(copy.src_bytes(), std::byte{1}), dst_(copy.dst_bytes(), std::byte{2}) {}

  void Run() override {
    for (const Piece& piece : pieces_)
      std::memcpy(dst_.data() + piece.dst, src_.data() + piece.src, piece.bytes);
    asm volatile("" : : "r"(dst_.data()) : "memory");  // the compiler must not drop the copies
  }

 private:
  const std::vector<Piece>& pieces_;
  Bytes src_;
  Bytes dst_;
};

}  // namespace

std::string_view AlternativeName(std::string_view backend) {
  return backend == "cuda" ? kDriver : "memcpy";
}

std::string_view AlternativeMeaning(std::string_view name) {
  if (name == kDriver)
    return "driver is the CUDA driver's own call for the same copy, over memory of its own";
  return "memcpy is one thread's, piece by piece, over ordinary memory of the same shape";
}

std::unique_ptr<Alternative> MakeAlternative(std::string_view name, const CopyPlan& plan,
                                             const CopyCase& copy) {
  if (name == kDriver) return std::make_unique<DriverCopies>(plan, copy);
  return std::make_unique<MemcpyLoop>(copy);
}

}  // namespace bench
