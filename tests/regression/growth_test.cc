// Allocating must not cost more the more is alive: lists were copied as a whole for each new allocation.
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <new>
#include <vector>

#include "acl/acl.h"

namespace {

thread_local bool counting = false;
thread_local std::size_t counted_bytes = 0;

void* CountedNew(std::size_t bytes) {
  if (counting) counted_bytes += bytes;
  if (void* const memory = std::malloc(bytes)) return memory;
  throw std::bad_alloc();
}

}  // namespace

[[gnu::noinline]] void* operator new(std::size_t bytes) {
  return CountedNew(bytes);
}
[[gnu::noinline]] void* operator new[](std::size_t bytes) {
  return CountedNew(bytes);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete[](void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete[](void* memory, std::size_t) noexcept {
  std::free(memory);
}

namespace sampan::test::growth_test {
namespace {

constexpr std::size_t kBytes = 4096, kStart = 1000, kMany = 16'000, kMeasured = 1000;

class Growth : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS); }
  void TearDown() override { EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS); }

  /// The runtime's own memory for the last thousand objects, at the start and with many alive. A list that
  /// doubles may do so once while it is watched.
  template <typename Make>
  static void ExpectFlat(const Make& make) {
    std::size_t made = 0;
    const auto bytes_up_to = [&](std::size_t end) {
      for (; made < end - kMeasured; ++made)
        make(made);
      counted_bytes = 0;
      counting = true;
      for (; made < end; ++made)
        make(made);
      counting = false;
      return counted_bytes;
    };
    const std::size_t with_start = bytes_up_to(2 * kStart);
    const std::size_t with_many = bytes_up_to(kMany);
    EXPECT_GT(with_start, 0U) << "nothing was counted";
    EXPECT_LT(with_many, 2 * with_start + 64 * kMany) << "at the start: " << with_start;
  }
};

TEST_F(Growth, DeviceMemory) {
  std::vector<void*> memory(kMany);
  ExpectFlat([&](std::size_t i) {
    ASSERT_EQ(aclrtMalloc(&memory[i], kBytes, ACL_MEM_MALLOC_NORMAL_ONLY), ACL_SUCCESS);
  });
  for (void* const each : memory)
    EXPECT_EQ(aclrtFree(each), ACL_SUCCESS);
}

TEST_F(Growth, PinnedMemory) {
  std::vector<void*> memory(kMany);
  ExpectFlat([&](std::size_t i) { ASSERT_EQ(aclrtMallocHost(&memory[i], kBytes), ACL_SUCCESS); });
  for (void* const each : memory)
    EXPECT_EQ(aclrtFreeHost(each), ACL_SUCCESS);
}

TEST_F(Growth, ExportedKeys) {
  void* memory = nullptr;
  ASSERT_EQ(aclrtMalloc(&memory, kBytes, ACL_MEM_MALLOC_NORMAL_ONLY), ACL_SUCCESS);
  std::array<char, 65> key{};
  ExpectFlat([&](std::size_t) {
    ASSERT_EQ(aclrtIpcMemGetExportKey(memory, kBytes, key.data(), key.size(), 0), ACL_SUCCESS);
  });
  EXPECT_EQ(aclrtFree(memory), ACL_SUCCESS);
  EXPECT_EQ(aclrtIpcMemClose(key.data()), ACL_ERROR_RT_PARAM_INVALID)
      << "the memory has taken its keys along";
}

}  // namespace
}  // namespace sampan::test::growth_test
