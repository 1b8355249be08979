// Programs that use the driver themselves: copies work whatever context their threads have, and leave it.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <thread>

#include "acl/acl.h"
#include "backend/cuda/driver.h"
#include "tests/support/batch_request.h"
#include "tests/support/copy_fixture.h"

namespace sampan::test::driver_context_test {
namespace {

class DriverContext : public CopyTest {
 protected:
  DriverContext() {
    auto loaded = cuda::LoadDriver();
    EXPECT_TRUE(loaded.ok());
    driver_ = *loaded;
  }

  const cuda::Driver& driver() const { return driver_; }
  cuda::CuContext Current() const {
    cuda::CuContext current = nullptr;
    EXPECT_EQ(driver_.ContextGetCurrent(&current), cuda::cu::kSuccess);
    return current;
  }

  /// Random bytes there and back, with guards: single copies, a batch of few and one of many, rows. Before
  /// each call `prepare()` sets the context.
  template <typename Prepare>
  void CopyThereAndBack(Prepare prepare) {
    constexpr std::size_t kEntry = 600, kMaxEntries = 100;
    for (const std::size_t entries : {std::size_t{1}, std::size_t{4}, kMaxEntries}) {
      const std::size_t bytes = 2 * entries * kEntry;
      GuardedBuffer device(Place::kDevice, bytes), there(Place::kPinned, bytes), back(Place::kPinned, bytes);
      const Bytes contents = random().Fill(bytes);
      there.Write(contents);
      device.Write(random().Fill(bytes));
      BatchRequest in;
      Bytes expected(bytes, GuardedBuffer::kBackground);
      for (std::size_t i = 0; i < entries; ++i) {
        in.Add(device.at(2 * i * kEntry), there.at(2 * i * kEntry), kEntry);
        std::memcpy(expected.data() + 2 * i * kEntry, contents.data() + 2 * i * kEntry, kEntry);
      }
      in.UseAttr(HostToDevice());
      prepare();
      EXPECT_ACL(ACL_SUCCESS, in.Submit(BatchForm::kAsync, stream()));
      prepare();
      EXPECT_ACL(ACL_SUCCESS, aclrtMemcpy2dAsync(back.at(0), 2 * kEntry, device.at(0), 2 * kEntry, kEntry,
                                                 entries, ACL_MEMCPY_DEVICE_TO_HOST, stream()));
      prepare();
      Synchronize();
      EXPECT_TRUE(back.Holds(expected)) << entries << " entries";
      prepare();
      EXPECT_ACL(ACL_SUCCESS, aclrtMemcpyAsync(device.at(1), kEntry, there.at(0), kEntry,
                                               ACL_MEMCPY_HOST_TO_DEVICE, stream()));
      prepare();
      EXPECT_ACL(ACL_SUCCESS, aclrtMemcpyAsync(back.at(0), kEntry, device.at(1), kEntry,
                                               ACL_MEMCPY_DEVICE_TO_HOST, stream()));
      prepare();
      Synchronize();
      std::memcpy(expected.data(), contents.data(), kEntry);
      EXPECT_TRUE(back.Holds(expected)) << "single copies";
    }
  }

 private:
  cuda::Driver driver_;
};

TEST_F(DriverContext, MayBeNone) {
  CopyThereAndBack([&] { EXPECT_EQ(driver().ContextSetCurrent(nullptr), cuda::cu::kSuccess); });
}

TEST_F(DriverContext, MayBeTheProgramsOwn) {
  void* const library = ::dlopen("libcuda.so.1", RTLD_NOW);
  ASSERT_NE(library, nullptr);
  const auto create =
      reinterpret_cast<int (*)(cuda::CuContext*, unsigned, int)>(::dlsym(library, "cuCtxCreate_v2"));
  const auto destroy = reinterpret_cast<int (*)(cuda::CuContext)>(::dlsym(library, "cuCtxDestroy_v2"));
  ASSERT_TRUE(create != nullptr && destroy != nullptr);
  // In a thread of its own, so that its context affects no other test.
  std::thread([&] {
    ASSERT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
    cuda::CuContext own = nullptr;
    ASSERT_EQ(create(&own, 0, 0), cuda::cu::kSuccess);
    CopyThereAndBack([&] { EXPECT_EQ(Current(), own) << "a copy left another one behind"; });
    EXPECT_EQ(destroy(own), cuda::cu::kSuccess);
  }).join();
}

}  // namespace
}  // namespace sampan::test::driver_context_test
