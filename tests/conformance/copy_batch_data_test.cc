// Batches move the bytes of every entry; their arrays are read during the call only.
// Rules of docs/BEHAVIOUR.md: batch-7, batch-8.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <ostream>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "acl/acl.h"
#include "tests/support/batch_request.h"
#include "tests/support/copy_fixture.h"

namespace sampan::test::copy_batch_data_test {
namespace {

enum class Attributes { kOne, kOnePerEntry, kRanges };

struct Setting {
  BatchForm form;
  bool up;
  Place host;
  Attributes attributes;
};

std::ostream& operator<<(std::ostream& out, const Setting& setting) {
  static constexpr const char* kAttributes[] = {"one", "each", "ranges"};
  return out << setting.form << (setting.up ? "_to_device_" : "_to_host_") << setting.host << "_"
             << kAttributes[static_cast<int>(setting.attributes)];
}

std::string Name(const ::testing::TestParamInfo<Setting>& given) {
  std::ostringstream name;
  name << given.param;
  return name.str();
}

/// Entries of different sizes, scattered over both memories in different orders with gaps between them.
class AttachedBatchData : public CopyTest, public ::testing::WithParamInterface<Setting> {
 protected:
  struct Slot {
    std::size_t offset, bytes;
  };

  /// Slots of the given sizes in a random order with random gaps, and the bytes they span.
  std::size_t Scatter(const std::vector<std::size_t>& sizes, std::vector<Slot>& slots) {
    std::vector<std::size_t> order(sizes.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    for (std::size_t i = order.size(); i > 1; --i)
      std::swap(order[i - 1], order[random().Between(0, i - 1)]);
    slots.resize(sizes.size());
    std::size_t end = random().Between(0, 50);
    for (const std::size_t entry : order) {
      slots[entry] = {end, sizes[entry]};
      end += sizes[entry] + random().Between(0, 70);
    }
    return end;
  }

  void AddAttributes(BatchRequest& request) {
    const auto attr = [](std::size_t i) {
      aclrtMemcpyBatchAttr made = GetParam().up ? HostToDevice() : DeviceToHost();
      (GetParam().up ? made.srcLoc : made.dstLoc).id = static_cast<std::uint32_t>(i * 2'654'435'761U);
      return made;
    };
    const std::size_t entries = request.sizes.size();
    switch (GetParam().attributes) {
      case Attributes::kOne:
        request.UseAttr(attr(0));
        break;
      case Attributes::kOnePerEntry:
        for (std::size_t i = 0; i < entries; ++i)
          request.UseAttr(attr(i), i);
        break;
      case Attributes::kRanges:
        for (std::size_t i = 0; i < entries; i += random().Between(1, 40))
          request.UseAttr(attr(i), i);
        break;
    }
  }

  void CopyScattered(std::size_t entries, std::size_t min_bytes, std::size_t max_bytes) {
    std::vector<std::size_t> sizes(entries);
    for (std::size_t& size : sizes)
      size = random().Between(min_bytes, max_bytes);
    std::vector<Slot> from, to;
    const std::size_t src_bytes = Scatter(sizes, from), dst_bytes = Scatter(sizes, to);
    GuardedBuffer src(GetParam().up ? GetParam().host : Place::kDevice, src_bytes, random().Between(0, 64));
    GuardedBuffer dst(GetParam().up ? Place::kDevice : GetParam().host, dst_bytes, random().Between(0, 64));
    const Bytes contents = random().Fill(src_bytes), before = random().Fill(dst_bytes);
    src.Write(contents);
    dst.Write(before);
    BatchRequest request;
    for (std::size_t i = 0; i < entries; ++i)
      request.Add(dst.at(to[i].offset), src.at(from[i].offset), sizes[i]);
    AddAttributes(request);
    EXPECT_ACL(ACL_SUCCESS, request.Submit(GetParam().form, stream()));
    if (HasFailIndex(GetParam().form)) {
      EXPECT_EQ(request.fail_index, SIZE_MAX);
    }
    if (IsAsync(GetParam().form)) Synchronize();
    Bytes expected = before;
    for (std::size_t i = 0; i < entries; ++i)
      std::memcpy(expected.data() + to[i].offset, contents.data() + from[i].offset, sizes[i]);
    EXPECT_TRUE(dst.Holds(expected));
    EXPECT_TRUE(src.Holds(contents));
  }
};

TEST_P(AttachedBatchData, OneEntry) {
  CopyScattered(1, 777, 777);
}
TEST_P(AttachedBatchData, AFewEntries) {
  for (const std::size_t entries : {2, 3, 8, 9}) {
    CopyScattered(entries, 1, 400);
    CopyScattered(entries, 1000, 9000);
  }
}
TEST_P(AttachedBatchData, TinyEntries) {
  CopyScattered(300, 1, 40);
}
TEST_P(AttachedBatchData, HundredsOfBlocks) {
  CopyScattered(160, 8192, 8192);
}
TEST_P(AttachedBatchData, SizesFarApart) {
  CopyScattered(64, 584, 74'752);
}
TEST_P(AttachedBatchData, AsManyAsTheSyncFormTakes) {
  CopyScattered(4096, 1, 600);
}

std::vector<Setting> Settings() {
  std::vector<Setting> settings;
  for (const bool up : {true, false}) {
    for (const Attributes attributes : {Attributes::kOne, Attributes::kOnePerEntry, Attributes::kRanges}) {
      settings.push_back({BatchForm::kAsync, up, Place::kPinned, attributes});
      settings.push_back({BatchForm::kSync, up, Place::kPinned, attributes});
    }
    for (const BatchForm form : {BatchForm::kSync, BatchForm::kAsync})
      settings.push_back({form, up, Place::kPageable, Attributes::kOne});
    for (const BatchForm form : {BatchForm::kSyncV2, BatchForm::kAsyncV2})
      settings.push_back({form, up, Place::kRegistered, Attributes::kRanges});
  }
  return settings;
}
INSTANTIATE_TEST_SUITE_P(Settings, AttachedBatchData, ::testing::ValuesIn(Settings()), Name);

class AttachedLargeBatchData : public AttachedBatchData {};

TEST_P(AttachedLargeBatchData, TwentyThousandEntries) {
  CopyScattered(20'000, 1, 900);
}
TEST_P(AttachedLargeBatchData, LayersOfACache) {
  CopyScattered(122, 16'384, 131'072);
}

INSTANTIATE_TEST_SUITE_P(
    Settings, AttachedLargeBatchData,
    ::testing::Values(Setting{BatchForm::kAsync, true, Place::kPinned, Attributes::kOne},
                      Setting{BatchForm::kAsync, true, Place::kPinned, Attributes::kOnePerEntry},
                      Setting{BatchForm::kAsync, false, Place::kPinned, Attributes::kRanges},
                      Setting{BatchForm::kAsync, false, Place::kPageable, Attributes::kOne}),
    Name);

class AttachedBatchArrays : public CopyTest {};

TEST_F(AttachedBatchArrays, AreReadDuringTheCallOnly) {
  constexpr std::size_t kEntries = 64, kBytes = 333;
  PinnedBuffer host(kEntries * kBytes);
  GuardedBuffer device(Place::kDevice, kEntries * kBytes);
  const Bytes contents = random().Fill(kEntries * kBytes);
  host.Write(0, contents);
  Gate gate(stream());
  {
    void* dsts[kEntries];
    void* srcs[kEntries];
    std::size_t sizes[kEntries];
    for (std::size_t i = 0; i < kEntries; ++i) {
      dsts[i] = device.at(i * kBytes);
      srcs[i] = host.at(i * kBytes);
      sizes[i] = kBytes;
    }
    aclrtMemcpyBatchAttr attr = HostToDevice();
    std::size_t index = 0, fail_index = 0;
    // The sizes are also the limits: callers pass one array twice.
    EXPECT_ACL(ACL_SUCCESS, aclrtMemcpyBatchAsync(dsts, sizes, srcs, sizes, kEntries, &attr, &index, 1,
                                                  &fail_index, stream()));
    EXPECT_EQ(fail_index, SIZE_MAX);
    std::memset(dsts, 0xEE, sizeof(dsts));
    std::memset(srcs, 0xEE, sizeof(srcs));
    std::memset(sizes, 0xEE, sizeof(sizes));
    std::memset(&attr, 0xEE, sizeof(attr));
    index = fail_index = 12345;
    EXPECT_TRUE(device.Untouched());
    gate.Open();
    Synchronize();
    EXPECT_EQ(fail_index, 12345U) << "failIndex was written after the call";
  }
  EXPECT_TRUE(device.Holds(contents));
}

TEST_F(AttachedBatchArrays, PinnedBesidePageableEntriesInOneBatch) {
  constexpr std::size_t kEntries = 40, kBytes = 1000;
  PinnedBuffer pinned(kEntries * kBytes);
  PageableBuffer pageable(kEntries * kBytes);
  GuardedBuffer device(Place::kDevice, kEntries * kBytes), back(Place::kPageable, kEntries * kBytes);
  const Bytes contents = random().Fill(kEntries * kBytes);
  pinned.Write(0, contents);
  pageable.Write(0, contents);
  BatchRequest up;
  for (std::size_t i = 0; i < kEntries; ++i) {
    up.Add(device.at(i * kBytes), i % 2 == 0 ? pinned.at(i * kBytes) : pageable.at(i * kBytes), kBytes);
  }
  up.UseAttr(HostToDevice());
  EXPECT_ACL(ACL_SUCCESS, up.Submit(BatchForm::kAsync, stream()));
  Synchronize();
  EXPECT_TRUE(device.Holds(contents));
}

TEST_F(AttachedBatchArrays, SyncBatchDoesNotWaitForStreams) {
  constexpr std::size_t kBytes = 2048;
  PinnedBuffer host(kBytes);
  GuardedBuffer device(Place::kDevice, kBytes);
  const Bytes contents = random().Fill(kBytes);
  host.Write(0, contents);
  Gate gate(stream());
  BatchRequest request;
  request.Add(device.data(), host.data(), kBytes);
  request.UseAttr(HostToDevice());
  EXPECT_ACL(ACL_SUCCESS, request.Submit(BatchForm::kSync, nullptr));
  EXPECT_FALSE(gate.passed());
  EXPECT_TRUE(device.Holds(contents));
}

TEST_F(AttachedBatchArrays, NullStreamIsTheDefaultStream) {
  constexpr std::size_t kBytes = 2048;
  PinnedBuffer host(kBytes);
  GuardedBuffer device(Place::kDevice, kBytes);
  const Bytes contents = random().Fill(kBytes);
  host.Write(0, contents);
  Gate gate(nullptr);
  BatchRequest request;
  request.Add(device.data(), host.data(), kBytes);
  request.UseAttr(HostToDevice());
  EXPECT_ACL(ACL_SUCCESS, request.Submit(BatchForm::kAsync, nullptr));
  EXPECT_TRUE(device.Untouched());
  gate.Open();
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(nullptr));
  EXPECT_TRUE(device.Holds(contents));
}

TEST_F(AttachedBatchArrays, BatchesOfAStreamKeepTheirOrder) {
  constexpr std::size_t kEntries = 100, kBytes = 700, kRounds = 10;
  DeviceBuffer device(kEntries * kBytes);
  PinnedBuffer host(kEntries * kBytes * kRounds);
  const Bytes contents = random().Fill(kEntries * kBytes * kRounds);
  host.Write(0, contents);
  for (std::size_t round = 0; round < kRounds; ++round) {
    BatchRequest request;
    for (std::size_t i = 0; i < kEntries; ++i)
      request.Add(device.at(i * kBytes), host.at((round * kEntries + i) * kBytes), kBytes);
    request.UseAttr(HostToDevice());
    EXPECT_ACL(ACL_SUCCESS, request.Submit(BatchForm::kAsync, stream()));
  }
  Synchronize();
  EXPECT_TRUE(SameBytes({contents.data() + (kRounds - 1) * kEntries * kBytes, kEntries * kBytes},
                        device.Read(0, kEntries * kBytes)));
}

}  // namespace
}  // namespace sampan::test::copy_batch_data_test
