// A copy into memory that was registered as read-only killed the process in an engine.
// Rules of docs/BEHAVIOUR.md: memory-6, memory-13.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

#include "acl/acl.h"
#include "tests/support/copy_fixture.h"

// Exported for libhccl_plf.so alone (base/platform_bridge.h).
extern "C" int sampanCopyAtOnce(void* dst, std::uint64_t dst_bytes, const void* src, std::uint64_t bytes);

namespace sampan::test::read_only_registration_test {
namespace {

constexpr std::size_t kPage = 4096, kBytes = 4 * kPage;

/// Pages of random contents that the process may only read, registered as such.
class ReadOnlyPages {
 public:
  explicit ReadOnlyPages(Random& random) : contents_(random.Fill(kBytes)) {
    memory_ = ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    std::memcpy(memory_, contents_.data(), kBytes);
    EXPECT_EQ(::mprotect(memory_, kBytes, PROT_READ), 0);
  }
  ~ReadOnlyPages() {
    for (void* const each : registered_)
      EXPECT_ACL(ACL_SUCCESS, aclrtHostUnregister(each));
    ::munmap(memory_, kBytes);
  }
  ReadOnlyPages(const ReadOnlyPages&) = delete;
  ReadOnlyPages& operator=(const ReadOnlyPages&) = delete;

  void Register(std::size_t from, std::size_t bytes, std::uint32_t flags) {
    EXPECT_ACL(ACL_SUCCESS, aclrtHostRegisterV2(at(from), bytes, flags));
    registered_.push_back(at(from));
  }
  void AllowWrites(std::size_t from, std::size_t bytes) const {
    EXPECT_EQ(::mprotect(at(from), bytes, PROT_READ | PROT_WRITE), 0);
  }
  char* at(std::size_t offset) const { return static_cast<char*>(memory_) + offset; }
  bool Untouched() const { return std::memcmp(memory_, contents_.data(), kBytes) == 0; }
  const Bytes& contents() const { return contents_; }

 private:
  const Bytes contents_;
  void* memory_ = nullptr;
  std::vector<void*> registered_;
};

class ReadOnlyRegistration : public CopyTest {
 protected:
  static constexpr std::uint32_t kReadOnly = ACL_HOST_REG_MAPPED | ACL_HOST_REG_READONLY;

  void SetUp() override {
    CopyTest::SetUp();
    source_.emplace(kBytes);
    source_->Write(0, random().Fill(kBytes));
    pages_.emplace(random());
  }
  void TearDown() override {
    EXPECT_TRUE(pages_->Untouched());
    pages_.reset();
    source_.reset();
    CopyTest::TearDown();
  }
  void* source() const { return source_->data(); }
  ReadOnlyPages& pages() { return *pages_; }

 private:
  std::optional<DeviceBuffer> source_;
  std::optional<ReadOnlyPages> pages_;
};

TEST_F(ReadOnlyRegistration, RefusesLinearCopies) {
  pages().Register(0, kBytes, kReadOnly);
  for (const std::size_t bytes : {std::size_t{64}, kBytes}) {
    EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID,
               aclrtMemcpyAsync(pages().at(0), bytes, source(), bytes, ACL_MEMCPY_DEVICE_TO_HOST, stream()));
    EXPECT_TRUE(MessageHas("read-only"));
    EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID,
               aclrtMemcpy(pages().at(0), bytes, source(), bytes, ACL_MEMCPY_DEVICE_TO_HOST));
  }
  Synchronize();
}

TEST_F(ReadOnlyRegistration, RefusesFills) {
  pages().Register(0, kBytes, kReadOnly);
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtMemset(pages().at(0), kBytes, 0x5a, kBytes));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtMemsetAsync(pages().at(0), kBytes, 0x5a, kBytes, stream()));
  Synchronize();
}

TEST_F(ReadOnlyRegistration, AttachedRefusesRows) {
  pages().Register(0, kBytes, kReadOnly);
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID,
             aclrtMemcpy2d(pages().at(0), kPage, source(), kPage, 100, 4, ACL_MEMCPY_DEVICE_TO_HOST));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtMemcpy2dAsync(pages().at(0), kPage, source(), kPage, 100, 4,
                                                            ACL_MEMCPY_DEVICE_TO_HOST, stream()));
  Synchronize();
}

TEST_F(ReadOnlyRegistration, AttachedRefusesBatches) {
  pages().Register(0, kBytes, kReadOnly);
  PinnedBuffer writable(kPage);
  // Few entries go the short way, many do not.
  for (const std::size_t entries : {std::size_t{2}, std::size_t{40}}) {
    std::vector<void*> dsts(entries, writable.data()), srcs(entries, source());
    std::vector<std::size_t> sizes(entries, 64);
    for (std::size_t i = 0; i < entries; ++i) {
      dsts[i] = static_cast<char*>(writable.data()) + i * 64;
      srcs[i] = static_cast<char*>(source()) + i * 64;
    }
    dsts.back() = pages().at(kPage);
    aclrtMemcpyBatchAttr attribute = {};
    attribute.dstLoc.type = ACL_MEM_LOCATION_TYPE_HOST;
    attribute.srcLoc.type = ACL_MEM_LOCATION_TYPE_DEVICE;
    std::size_t first = 0, failed = 0;
    EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID,
               aclrtMemcpyBatchAsync(dsts.data(), sizes.data(), srcs.data(), sizes.data(), entries,
                                     &attribute, &first, 1, &failed, stream()));
    EXPECT_EQ(failed, entries - 1);
    EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID,
               aclrtMemcpyBatch(dsts.data(), sizes.data(), srcs.data(), sizes.data(), entries, &attribute,
                                &first, 1, &failed));
  }
  Synchronize();
}

// A copy may go on from one registration into the next, and out of it.
TEST_F(ReadOnlyRegistration, RefusesWhatGoesOnIntoIt) {
  pages().AllowWrites(0, kPage);
  pages().Register(0, kPage, ACL_HOST_REG_MAPPED);
  pages().Register(kPage, kPage, kReadOnly);
  for (const std::size_t from : {std::size_t{0}, kPage}) {
    EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtMemcpyAsync(pages().at(from), 2 * kPage, source(), 2 * kPage,
                                                            ACL_MEMCPY_DEVICE_TO_HOST, stream()));
    EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtMemset(pages().at(from), 2 * kPage, 0x5a, 2 * kPage));
  }
  Synchronize();
}

// The same where the process may write: the right is the registration's. Before it lies other registered
// memory, or memory that was never registered.
TEST_F(ReadOnlyRegistration, RefusesWritableMemoryThatGoesOnIntoIt) {
  pages().AllowWrites(0, kBytes);
  pages().Register(kPage, kPage, ACL_HOST_REG_MAPPED);
  pages().Register(2 * kPage, kPage, kReadOnly);
  for (const std::size_t from : {std::size_t{0}, kPage, 2 * kPage - 1}) {
    const std::size_t bytes = 3 * kPage - from;
    EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtMemcpyAsync(pages().at(from), bytes, source(), bytes,
                                                            ACL_MEMCPY_DEVICE_TO_HOST, stream()));
    EXPECT_TRUE(MessageHas("read-only"));
    EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID,
               aclrtMemcpy(pages().at(from), bytes, source(), bytes, ACL_MEMCPY_DEVICE_TO_HOST));
    EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtMemset(pages().at(from), bytes, 0x5a, bytes));
    EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID,
               aclrtMemcpy2d(pages().at(from), bytes, source(), bytes, bytes, 1, ACL_MEMCPY_DEVICE_TO_HOST));
    void* dst = pages().at(from);
    void* src = source();
    std::size_t size = bytes, first = 0, failed = 0;
    aclrtMemcpyBatchAttr attribute = {};
    attribute.dstLoc.type = ACL_MEM_LOCATION_TYPE_HOST;
    attribute.srcLoc.type = ACL_MEM_LOCATION_TYPE_DEVICE;
    EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID,
               aclrtMemcpyBatch(&dst, &size, &src, &size, 1, &attribute, &first, 1, &failed));
    EXPECT_EQ(failed, 0U);
  }
  // What ends before it is written.
  DeviceBuffer same(kPage);
  same.Write(0, Bytes(pages().contents().begin(), pages().contents().begin() + kPage));
  EXPECT_ACL(ACL_SUCCESS,
             aclrtMemcpyAsync(pages().at(0), kPage, same.data(), kPage, ACL_MEMCPY_DEVICE_TO_HOST, stream()));
  Synchronize();
}

TEST_F(ReadOnlyRegistration, CanBeReadAcrossItsBorders) {
  pages().AllowWrites(0, kPage);
  pages().Register(0, kPage, ACL_HOST_REG_MAPPED);
  pages().Register(kPage, kPage, kReadOnly);
  pages().Register(2 * kPage, kPage, kReadOnly);
  DeviceBuffer device(kBytes);
  for (const std::size_t from : {std::size_t{0}, kPage}) {
    EXPECT_ACL(ACL_SUCCESS, aclrtMemcpyAsync(device.data(), kBytes, pages().at(from), 2 * kPage,
                                             ACL_MEMCPY_HOST_TO_DEVICE, stream()));
    Synchronize();
    const auto begin = pages().contents().begin() + static_cast<std::ptrdiff_t>(from);
    EXPECT_TRUE(ReadDevice(device.data(), 2 * kPage) ==
                Bytes(begin, begin + static_cast<std::ptrdiff_t>(2 * kPage)));
  }
}

// The copy of HCCL that needs no context had rules of its own: it wrote where the process may write.
TEST_F(ReadOnlyRegistration, RefusesCopiesWithoutContext) {
  pages().AllowWrites(0, kBytes);
  pages().Register(kPage, kPage, ACL_HOST_REG_MAPPED);
  pages().Register(2 * kPage, kPage, kReadOnly);
  const Bytes other = random().Fill(kBytes);
  OnNewThread([&] {
    // All of it, in other registered memory, at its end, and from memory that was never registered.
    for (const std::size_t from : {2 * kPage, 2 * kPage + 64, kPage, 2 * kPage - 1, std::size_t{0}}) {
      const std::size_t bytes = 3 * kPage - from;
      EXPECT_EQ(sampanCopyAtOnce(pages().at(from), bytes, other.data(), bytes), ACL_ERROR_RT_PARAM_INVALID);
      EXPECT_TRUE(MessageHas("registered as read-only"));
    }
    // What ends before it, or begins behind it, is written; and it can be read.
    for (const std::size_t from : {std::size_t{0}, 3 * kPage}) {
      const auto begin = pages().contents().begin() + static_cast<std::ptrdiff_t>(from);
      const Bytes same(begin, begin + kPage);
      EXPECT_EQ(sampanCopyAtOnce(pages().at(from), kPage, same.data(), kPage), ACL_SUCCESS);
    }
    Bytes read(kPage);
    EXPECT_EQ(sampanCopyAtOnce(read.data(), kPage, pages().at(2 * kPage), kPage), ACL_SUCCESS);
    EXPECT_EQ(std::memcmp(read.data(), pages().at(2 * kPage), kPage), 0);
  });
}

TEST_F(ReadOnlyRegistration, RefusesCopiesWithoutContextToPagesThatCannotBeWritten) {
  const Bytes other = random().Fill(kPage);
  OnNewThread([&] {
    EXPECT_EQ(sampanCopyAtOnce(pages().at(0), kPage, other.data(), kPage), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT_TRUE(MessageHas("the process cannot write"));
  });
}

// The right is the registration's, not the mapping's: a device that may only read does not write.
TEST_F(ReadOnlyRegistration, CountsForWritableMemoryToo) {
  pages().AllowWrites(0, kBytes);
  void* device = nullptr;
  EXPECT_ACL(ACL_SUCCESS, aclrtHostRegister(pages().at(0), kBytes, ACL_HOST_REGISTER_READONLY, &device));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID,
             aclrtMemcpyAsync(pages().at(0), kPage, source(), kPage, ACL_MEMCPY_DEVICE_TO_HOST, stream()));
  Synchronize();
  EXPECT_ACL(ACL_SUCCESS, aclrtHostUnregister(pages().at(0)));
}

}  // namespace
}  // namespace sampan::test::read_only_registration_test
