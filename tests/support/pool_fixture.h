// The fixture of tests of a pool: copies, and a pool of device 0.
#pragma once

#include <cstddef>
#include <utility>

#include "acl/acl.h"
#include "acl/acl_rt_memory_soma.h"
#include "tests/support/copy_fixture.h"

namespace sampan::test {

class PoolTest : public CopyTest {
 protected:
  /// Long enough for a copy that is not held back.
  static constexpr std::int32_t kShortWaitMs = 300;

  void SetUp() override {
    CopyTest::SetUp();
    if (HasFatalFailure()) return;
    aclrtMemPoolProps props = {};
    props.allocType = ACL_MEM_ALLOCATION_TYPE_PINNED;
    props.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
    ASSERT_ACL(ACL_SUCCESS, aclrtMemPoolCreate(&pool_, &props));
  }
  void TearDown() override {
    EndPool();
    CopyTest::TearDown();
  }

  aclrtMemPool pool() const { return pool_; }
  void EndPool() {
    if (pool_ == nullptr) return;
    EXPECT_ACL(ACL_SUCCESS, aclrtMemPoolDestroy(std::exchange(pool_, nullptr)));
  }
  void* Take(aclrtStream on, std::size_t bytes) const {
    void* memory = nullptr;
    EXPECT_ACL(ACL_SUCCESS, aclrtMemPoolMallocAsync(&memory, bytes, pool_, on));
    return memory;
  }
  static void Free(void* memory, aclrtStream on) {
    EXPECT_ACL(ACL_SUCCESS, aclrtMemPoolFreeAsync(memory, on));
  }

 private:
  aclrtMemPool pool_ = nullptr;
};

}  // namespace sampan::test
