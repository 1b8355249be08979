// Blocks that a pool hands out before the work of their earlier owners is over.
#include "core/memory/pools/memory_pool.h"

#include <gtest/gtest.h>

#include <functional>
#include <future>
#include <memory>
#include <utility>

#include "tests/unit/core/device_world.h"

namespace sampan::core::memory_pool_test {
namespace {

constexpr std::size_t kBytes = 4096;

/// Holds its queue until it is let go.
class Held final : public HostWork {
 public:
  void Start(std::function<void(Status)> resume) noexcept override { resume_.set_value(std::move(resume)); }
  void LetGo() { resume_.get_future().get()(Status()); }

 private:
  std::promise<std::function<void(Status)>> resume_;
};

// While a block is in handover, each submission of the process looks at the memory of its task.
TEST(MemoryPool, ASynchronizationEndsHandoversThatAreOver) {
  DeviceWorld world;
  MemoryRegistry& memory = world.memory;
  const std::shared_ptr<Stream> first = world.MakeStream(), second = world.MakeStream();
  const auto pool = std::make_shared<MemoryPool>(
      memory,
      MemoryPool::Options{.source = (*world.device.Open())->memory(), .place = {PlaceKind::kDevice, 0}});
  const auto free = [&](void* block, Stream& stream) {
    return MemoryPool::Free(memory, memory.Find(reinterpret_cast<std::uintptr_t>(block)), stream).ok();
  };

  void* const block = *pool->Allocate(kBytes, *first);
  const auto held = std::make_shared<Held>();
  EXPECT_TRUE(first->Enqueue(HostTask{held}).ok());
  EXPECT_TRUE(free(block, *first));
  ASSERT_EQ(*pool->Allocate(kBytes, *second), block);
  pool->TrimToThreshold();
  EXPECT_TRUE(memory.AnyHandover()) << "the first owner's work is pending";
  held->LetGo();
  EXPECT_TRUE(first->Synchronize(kNever).ok());
  EXPECT_TRUE(memory.AnyHandover());
  pool->TrimToThreshold();
  EXPECT_FALSE(memory.AnyHandover());

  EXPECT_TRUE(free(block, *second));
  first->Close();
  second->Close();
  pool->EndAtOnce();
}

}  // namespace
}  // namespace sampan::core::memory_pool_test
