// Memory that grows without moving: addresses are reserved once, physical memory is mapped as it is needed.
#include <vector>

#include "check.h"

namespace {

/// An allocator of the kind that frameworks build on virtual memory: pointers into it stay good while it
/// grows.
class GrowingArena {
 public:
  GrowingArena(std::size_t max_bytes, int device) {
    prop_.handleType = ACL_MEM_HANDLE_TYPE_NONE;
    prop_.allocationType = ACL_MEM_ALLOCATION_TYPE_PINNED;
    prop_.memAttr = ACL_HBM_MEM_HUGE;
    prop_.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
    prop_.location.id = static_cast<std::uint32_t>(device);
    CHECK_ACL(aclrtMemGetAllocationGranularity(&prop_, ACL_RT_MEM_ALLOC_GRANULARITY_RECOMMENDED, &piece_));
    CHECK_ACL(aclrtReserveMemAddress(&base_, max_bytes, 0, nullptr, 0));
  }
  ~GrowingArena() {
    ShrinkTo(0);
    CHECK_ACL(aclrtReleaseMemAddress(base_));
  }
  GrowingArena(const GrowingArena&) = delete;
  GrowingArena& operator=(const GrowingArena&) = delete;

  void* base() const { return base_; }
  std::size_t bytes() const { return pieces_.size() * piece_; }

  void GrowTo(std::size_t bytes) {
    while (this->bytes() < bytes) {
      aclrtDrvMemHandle memory = nullptr;
      CHECK_ACL(aclrtMallocPhysical(&memory, piece_, &prop_, 0));
      CHECK_ACL(aclrtMapMem(example::At(base_, this->bytes()), piece_, 0, memory, 0));
      pieces_.push_back(memory);
    }
  }
  /// Gives back whole pieces behind that many bytes.
  void ShrinkTo(std::size_t bytes) {
    while (!pieces_.empty() && this->bytes() - piece_ >= bytes) {
      CHECK_ACL(aclrtUnmapMem(example::At(base_, this->bytes() - piece_)));
      CHECK_ACL(aclrtFreePhysical(pieces_.back()));
      pieces_.pop_back();
    }
  }

 private:
  aclrtPhysicalMemProp prop_ = {};
  std::size_t piece_ = 0;
  void* base_ = nullptr;
  std::vector<aclrtDrvMemHandle> pieces_;
};

std::size_t FreeBytes() {
  std::size_t free = 0, total = 0;
  CHECK_ACL(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total));
  return free;
}

}  // namespace

int main(int argc, char** argv) {
  std::mt19937_64 random(example::Seed(argc, argv));
  CHECK_ACL(aclrtSetDevice(0));
  const std::size_t free_before = FreeBytes();
  constexpr std::size_t kStep = std::size_t{3} << 20;
  constexpr int kSteps = 8;
  {
    GrowingArena arena(kSteps * kStep * 2, 0);
    std::vector<unsigned char> expected, seen;
    for (int step = 1; step <= kSteps; ++step) {
      const std::size_t before = expected.size();
      arena.GrowTo(static_cast<std::size_t>(step) * kStep);
      expected.resize(static_cast<std::size_t>(step) * kStep);
      example::FillRandom(expected.data() + before, kStep, random);
      CHECK_ACL(aclrtMemcpy(example::At(arena.base(), before), kStep, expected.data() + before, kStep,
                            ACL_MEMCPY_HOST_TO_DEVICE));
      // One copy over all pieces: what was there before growing is there still, at the same address.
      seen.resize(expected.size());
      CHECK_ACL(aclrtMemcpy(seen.data(), seen.size(), arena.base(), seen.size(), ACL_MEMCPY_DEVICE_TO_HOST));
      example::ExpectSameBytes(seen.data(), expected.data(), expected.size(), "the arena");
      std::printf("  %2zu MiB mapped, first byte still at %p\n", arena.bytes() >> 20, arena.base());
    }
    arena.ShrinkTo(kStep);
    CHECK_ACL(aclrtMemcpy(seen.data(), kStep, arena.base(), kStep, ACL_MEMCPY_DEVICE_TO_HOST));
    example::ExpectSameBytes(seen.data(), expected.data(), kStep, "the arena after shrinking");
  }
  CHECK_TRUE(FreeBytes() == free_before);
  CHECK_ACL(aclrtResetDevice(0));
  return example::Done("an arena grew eight times and shrank, and its first byte never moved");
}
