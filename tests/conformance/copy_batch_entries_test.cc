// What is wrong with one entry of a batch: the code, the entry that failIndex names, nothing moved.
// Rules of docs/BEHAVIOUR.md: batch-1, batch-2, batch-3, batch-5, batch-9.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <sstream>
#include <string>
#include <utility>

#include "acl/acl.h"
#include "tests/support/batch_request.h"
#include "tests/support/copy_fixture.h"

namespace sampan::test::copy_batch_entries_test {
namespace {

constexpr std::size_t kEntryBytes = 96, kEntries = 300, kBlamed = 137;

std::string Name(const ::testing::TestParamInfo<BatchForm>& given) {
  std::ostringstream name;
  name << given.param;
  return name.str();
}

/// Both directions over the same memory. A refused batch leaves all of it alone.
class AttachedBatchEntries : public CopyTest, public ::testing::WithParamInterface<BatchForm> {
 protected:
  void SetUp() override {
    CopyTest::SetUp();
    if (HasFatalFailure()) return;
    host_.emplace(Place::kPinned, kEntries * kEntryBytes);
    device_.emplace(Place::kDevice, kEntries * kEntryBytes);
  }
  void TearDown() override {
    device_.reset();
    host_.reset();
    CopyTest::TearDown();
  }

  void* host(std::size_t entry) const { return host_->at(entry * kEntryBytes); }
  void* device(std::size_t entry) const { return device_->at(entry * kEntryBytes); }

  BatchRequest Up() const {
    BatchRequest request;
    for (std::size_t i = 0; i < kEntries; ++i)
      request.Add(device(i), host(i), kEntryBytes);
    request.UseAttr(HostToDevice());
    return request;
  }
  BatchRequest Down() const {
    BatchRequest request;
    for (std::size_t i = 0; i < kEntries; ++i)
      request.Add(host(i), device(i), kEntryBytes);
    request.UseAttr(DeviceToHost());
    return request;
  }

  void ExpectBlamed(BatchRequest& request, std::size_t entry = kBlamed) {
    host_->Write(random().Fill(host_->bytes()));
    const Bytes host_before = host_->Read(), device_before = device_->Read();
    EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, request.Submit(GetParam(), stream()));
    EXPECT_TRUE(MessageHas(std::to_string(entry)));
    if (HasFailIndex(GetParam())) {
      EXPECT_EQ(request.fail_index, entry);
    }
    EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, TakeLastError());
    Synchronize();
    EXPECT_TRUE(host_->Holds(host_before));
    EXPECT_TRUE(device_->Holds(device_before));
  }

  std::optional<GuardedBuffer> host_, device_;
};

INSTANTIATE_TEST_SUITE_P(Forms, AttachedBatchEntries,
                         ::testing::Values(BatchForm::kSync, BatchForm::kSyncV2, BatchForm::kAsync,
                                           BatchForm::kAsyncV2),
                         Name);

TEST_P(AttachedBatchEntries, DestinationIsNotWhereTheAttributeSays) {
  BatchRequest request = Up();
  request.dsts[kBlamed] = host(kBlamed);
  ExpectBlamed(request);
  EXPECT_TRUE(MessageHas("dst"));
}

TEST_P(AttachedBatchEntries, SourceIsNotWhereTheAttributeSays) {
  BatchRequest request = Up();
  request.srcs[kBlamed] = device(0);
  ExpectBlamed(request);
  EXPECT_TRUE(MessageHas("src"));
}

TEST_P(AttachedBatchEntries, DestinationIsTestedBeforeSource) {
  BatchRequest request = Up();
  request.dsts[kBlamed] = host(kBlamed);
  request.srcs[kBlamed] = device(kBlamed);
  ExpectBlamed(request);
  EXPECT_TRUE(MessageHas("dst"));
}

TEST_P(AttachedBatchEntries, DeviceNumberIsNotTheRealOne) {
  for (const std::uint32_t id : {1U, 7U, kGarbageId}) {
    BatchRequest request = Up();
    request.UseAttr(HostToDevice(id), kBlamed);
    ExpectBlamed(request);
    BatchRequest down = Down();
    down.UseAttr(DeviceToHost(id), kBlamed);
    ExpectBlamed(down);
  }
}

TEST_P(AttachedBatchEntries, AttributeTypesThatMatchNothing) {
  for (const aclrtMemLocationType type :
       {ACL_MEM_LOCATION_TYPE_UNREGISTERED, ACL_MEM_LOCATION_TYPE_MANAGED, ACL_MEM_LOCATION_TYPE_DEVICE}) {
    BatchRequest request = Up();
    request.UseAttr(BatchAttr({0, ACL_MEM_LOCATION_TYPE_DEVICE}, {0, type}), kBlamed);
    ExpectBlamed(request);
  }
  for (const aclrtMemLocationType type :
       {ACL_MEM_LOCATION_TYPE_UNREGISTERED, ACL_MEM_LOCATION_TYPE_MANAGED, ACL_MEM_LOCATION_TYPE_HOST}) {
    BatchRequest request = Up();
    request.UseAttr(BatchAttr({0, type}, {0, ACL_MEM_LOCATION_TYPE_HOST}), kBlamed);
    ExpectBlamed(request);
  }
}

TEST_P(AttachedBatchEntries, UnregisteredAttributeDoesNotMatchPageableMemory) {
  PageableBuffer pageable(kEntryBytes);
  BatchRequest request = Up();
  request.srcs[kBlamed] = pageable.data();
  request.UseAttr(BatchAttr({0, ACL_MEM_LOCATION_TYPE_DEVICE}, {0, ACL_MEM_LOCATION_TYPE_UNREGISTERED}),
                  kBlamed);
  ExpectBlamed(request);
}

TEST_P(AttachedBatchEntries, SameSideOnBothEnds) {
  {
    BatchRequest request = Up();
    request.UseAttr(BatchAttr({0, ACL_MEM_LOCATION_TYPE_DEVICE}, {0, ACL_MEM_LOCATION_TYPE_DEVICE}), kBlamed);
    request.UseAttr(HostToDevice(), kBlamed + 1);
    request.srcs[kBlamed] = device(0);
    ExpectBlamed(request);
  }
  {
    BatchRequest request = Up();
    request.UseAttr(BatchAttr({0, ACL_MEM_LOCATION_TYPE_HOST}, {0, ACL_MEM_LOCATION_TYPE_HOST}), kBlamed);
    request.UseAttr(HostToDevice(), kBlamed + 1);
    request.dsts[kBlamed] = host(0);
    ExpectBlamed(request);
  }
}

TEST_P(AttachedBatchEntries, MixedDirections) {
  BatchRequest request = Up();
  request.UseAttr(DeviceToHost(), kBlamed);
  request.UseAttr(HostToDevice(), kBlamed + 1);
  std::swap(request.dsts[kBlamed], request.srcs[kBlamed]);
  ExpectBlamed(request);
  // Blamed is the one that differs from the first, even when the first is the odd one.
  BatchRequest odd_first = Up();
  std::swap(odd_first.dsts[0], odd_first.srcs[0]);
  odd_first.attrs[0] = DeviceToHost();
  odd_first.UseAttr(HostToDevice(), 1);
  ExpectBlamed(odd_first, 1);
}

TEST_P(AttachedBatchEntries, NullAddresses) {
  BatchRequest request = Up();
  request.dsts[kBlamed] = nullptr;
  ExpectBlamed(request);
  EXPECT_TRUE(MessageHas("dst"));
  request = Down();
  request.srcs[kBlamed] = nullptr;
  ExpectBlamed(request);
  EXPECT_TRUE(MessageHas("src"));
}

TEST_P(AttachedBatchEntries, FirstBadEntryIsBlamed) {
  BatchRequest request = Up();
  request.dsts[kEntries - 1] = nullptr;
  request.srcs[kBlamed] = device(3);
  request.dsts[kBlamed + 1] = nullptr;
  ExpectBlamed(request);
}

TEST_P(AttachedBatchEntries, FirstEntryAndLastEntry) {
  for (const std::size_t entry : {std::size_t{0}, kEntries - 1}) {
    BatchRequest request = Up();
    request.srcs[entry] = device(entry);
    ExpectBlamed(request, entry);
  }
}

/// Entries are looked at several at a time: each place among them, and lengths and addresses that overflow.
TEST_P(AttachedBatchEntries, WhereverTheBadEntryIs) {
  const auto wild = [](std::uintptr_t address) { return reinterpret_cast<void*>(address); };
  const auto last = reinterpret_cast<std::uintptr_t>(device(kEntries - 1));
  for (std::size_t entry = 40; entry < 50; ++entry) {
    BatchRequest request = Up();
    request.dsts[entry] = wild(last + 33 + kEntryBytes);  // ends behind the rounded end
    ExpectBlamed(request, entry);
  }
  const std::size_t far = std::size_t{1} << 63;
  for (const std::size_t bytes : {std::size_t{64} << 20, far, far - 1, SIZE_MAX, SIZE_MAX - kEntryBytes}) {
    BatchRequest request = Up();
    request.sizes[kBlamed] = request.dest_maxs[kBlamed] = bytes;
    ExpectBlamed(request);
  }
  for (const std::uintptr_t address : {last + far, last - far + 1, last + far - 1, SIZE_MAX - 8}) {
    BatchRequest request = Up();
    request.dsts[kBlamed] = wild(address);
    ExpectBlamed(request);
  }
  DeviceBuffer one(kEntryBytes);
  const auto first = reinterpret_cast<std::uintptr_t>(one.data());
  BatchRequest request = Up();
  std::fill(request.dsts.begin(), request.dsts.end(), one.data());
  request.dsts[kBlamed] = wild(first - 8);  // ends inside
  ExpectBlamed(request);
  request.dsts[kBlamed] = wild(first + far - 1);
  request.srcs[kBlamed] = host(0);
  request.sizes[kBlamed] = request.dest_maxs[kBlamed] = 10 * kEntryBytes;
  ExpectBlamed(request);
}

TEST_P(AttachedBatchEntries, BeyondTheAllocation) {
  DeviceBuffer small(100);  // 128 bytes may be touched
  BatchRequest request = Up();
  request.dsts[kBlamed] = small.at(33);
  ExpectBlamed(request);
  EXPECT_TRUE(MessageHas(Hex(small.data())));
  request.dsts[kBlamed] = small.at(128);
  ExpectBlamed(request);
}

TEST_P(AttachedBatchEntries, FreedMemory) {
  DeviceBuffer freed(kEntryBytes);
  void* const dangling = freed.data();
  freed.Free();
  BatchRequest request = Up();
  request.dsts[kBlamed] = dangling;
  ExpectBlamed(request);
}

TEST_P(AttachedBatchEntries, WildPageableMemory) {
  BatchRequest request = Up();
  request.srcs[kBlamed] = reinterpret_cast<void*>(0x1000);
  ExpectBlamed(request);
}

/// Many entries in a few mappings, of which one may not be written and one not be touched.
TEST_P(AttachedBatchEntries, PageableMemoryAmongMappingsOfManyKinds) {
  constexpr std::size_t kPage = 4096, kPages = 60, kReadOnly = 40, kForbidden = 50;
  void* const mapped =
      mmap(nullptr, kPages * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(mapped, MAP_FAILED);
  auto* const pages = static_cast<std::byte*>(mapped);
  const Bytes contents = random().Fill(kPages * kPage);
  std::memcpy(pages, contents.data(), contents.size());
  ASSERT_EQ(mprotect(pages + kReadOnly * kPage, kPage, PROT_READ), 0);
  ASSERT_EQ(mprotect(pages + kForbidden * kPage, kPage, PROT_NONE), 0);
  const DeviceBuffer memory(kPages * kPage);
  const auto batch = [&](bool up, std::size_t entries) {
    BatchRequest request;
    for (std::size_t i = 0; i < entries; ++i) {
      const std::size_t at = i * kPage + 100;  // each lies in two pages
      request.Add(up ? memory.at(at) : pages + at, up ? pages + at : memory.at(at), kPage - 50);
    }
    request.UseAttr(up ? HostToDevice() : DeviceToHost());
    return request;
  };
  BatchRequest readable = batch(true, kForbidden - 1);
  EXPECT_ACL(ACL_SUCCESS, readable.Submit(GetParam(), stream()));
  for (std::size_t i = 0; i < kForbidden - 1; ++i) {
    const auto* const entry = contents.data() + i * kPage + 100;
    EXPECT_TRUE(SameBytes({entry, kPage - 50}, memory.Read(i * kPage + 100, kPage - 50))) << "entry " << i;
  }
  BatchRequest up = batch(true, kPages - 1), down = batch(false, kPages - 1);
  ExpectBlamed(up, kForbidden - 1);
  EXPECT_TRUE(MessageHas("cannot read"));
  ExpectBlamed(down, kReadOnly - 1);
  EXPECT_TRUE(MessageHas("cannot write"));
  munmap(mapped, kPages * kPage);
}

TEST_P(AttachedBatchEntries, NumaNodesCountAsHost) {
  BatchRequest request = Up();
  request.attrs[0] =
      BatchAttr({0, ACL_MEM_LOCATION_TYPE_DEVICE}, {kGarbageId, ACL_MEM_LOCATION_TYPE_HOST_NUMA});
  const Bytes contents = random().Fill(host_->bytes());
  host_->Write(contents);
  EXPECT_ACL(ACL_SUCCESS, request.Submit(GetParam(), stream()));
  if (HasFailIndex(GetParam())) {
    EXPECT_EQ(request.fail_index, SIZE_MAX);
  }
  Synchronize();
  EXPECT_TRUE(device_->Holds(contents));
}

/// As short as some streams take at once, of which the last is wrong.
TEST_P(AttachedBatchEntries, InAShortBatch) {
  const auto shortened = [](BatchRequest request) {
    request.dsts.resize(3);
    request.srcs.resize(3);
    request.sizes.resize(3);
    request.dest_maxs.resize(3);
    return request;
  };
  DeviceBuffer small(100);  // 128 bytes may be touched
  for (const std::size_t offset : {33, 128}) {
    BatchRequest up = shortened(Up()), down = shortened(Down());
    for (std::size_t i = 0; i < 2; ++i)
      up.dsts[i] = down.srcs[i] = small.at(0);
    up.dsts[2] = down.srcs[2] = small.at(offset);
    ExpectBlamed(up, 2);
    ExpectBlamed(down, 2);
  }
  BatchRequest mixed = shortened(Up());
  mixed.dsts[2] = host(10);
  ExpectBlamed(mixed, 2);
  mixed = shortened(Up());
  mixed.srcs[2] = device(10);
  ExpectBlamed(mixed, 2);
  BatchRequest elsewhere = shortened(Up());
  elsewhere.attrs[0] = DeviceToHost();
  ExpectBlamed(elsewhere, 0);
  elsewhere.attrs[0] = HostToDevice(1);
  ExpectBlamed(elsewhere, 0);
  // The attribute is right, but both ends are on one side.
  BatchRequest within = shortened(Up());
  for (std::size_t i = 0; i < 3; ++i)
    within.srcs[i] = device(i + 10);
  within.attrs[0] = BatchAttr({0, ACL_MEM_LOCATION_TYPE_DEVICE}, {0, ACL_MEM_LOCATION_TYPE_DEVICE});
  ExpectBlamed(within, 0);
  BatchRequest late = shortened(Up());
  late.attrs_indexes[0] = 1;
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, late.Submit(GetParam(), stream()));
  if (IsAsync(GetParam())) {
    BatchRequest empty = shortened(Up());
    empty.sizes[2] = 0;
    ExpectBlamed(empty, 2);
  }
}

class AttachedQueuedBatchEntries : public AttachedBatchEntries {};
INSTANTIATE_TEST_SUITE_P(Forms, AttachedQueuedBatchEntries,
                         ::testing::Values(BatchForm::kAsync, BatchForm::kAsyncV2), Name);

TEST_P(AttachedQueuedBatchEntries, ZeroSizeIsRefused) {
  BatchRequest request = Up();
  request.sizes[kBlamed] = 0;
  ExpectBlamed(request);
}

TEST_P(AttachedQueuedBatchEntries, BadEntryWinsOverForeignStream) {
  ForeignStream foreign;
  BatchRequest request = Up();
  request.dsts[0] = host(0);
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, request.Submit(GetParam(), foreign));
  if (HasFailIndex(GetParam())) {
    EXPECT_EQ(request.fail_index, 0U);
  }
}

class AttachedSyncBatchEntries : public AttachedBatchEntries {};
INSTANTIATE_TEST_SUITE_P(Forms, AttachedSyncBatchEntries,
                         ::testing::Values(BatchForm::kSync, BatchForm::kSyncV2), Name);

TEST_P(AttachedSyncBatchEntries, ZeroSizeMovesNothing) {
  BatchRequest request = Up();
  request.sizes[kBlamed] = 0;
  const Bytes contents = random().Fill(host_->bytes());
  host_->Write(contents);
  EXPECT_ACL(ACL_SUCCESS, request.Submit(GetParam(), stream()));
  if (HasFailIndex(GetParam())) {
    EXPECT_EQ(request.fail_index, SIZE_MAX);
  }
  Bytes expected = contents;
  std::fill_n(expected.begin() + kBlamed * kEntryBytes, kEntryBytes, GuardedBuffer::kBackground);
  EXPECT_TRUE(device_->Holds(expected));
}

}  // namespace
}  // namespace sampan::test::copy_batch_entries_test
