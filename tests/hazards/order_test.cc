// Hazards of order: the emulated device must show them, not hide them. The ids are those of
// docs/BEHAVIOUR.md.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <string>

#include "acl/acl.h"
#include "tests/support/batch_request.h"
#include "tests/support/child_process.h"
#include "tests/support/copy_fixture.h"

namespace sampan::test::hazard_order_test {
namespace {

constexpr std::size_t kBytes = 16'384;

class HazardOrder : public CopyTest {
 protected:
  static void QueueUp(void* dst, const void* src, aclrtStream on) {
    EXPECT_ACL(ACL_SUCCESS, aclrtMemcpyAsync(dst, kBytes, src, kBytes, ACL_MEMCPY_HOST_TO_DEVICE, on));
  }
  static void QueueDown(void* dst, const void* src, aclrtStream on) {
    EXPECT_ACL(ACL_SUCCESS, aclrtMemcpyAsync(dst, kBytes, src, kBytes, ACL_MEMCPY_DEVICE_TO_HOST, on));
  }
};

// hazard-1: no event between the stream that fills a block and the one that reads it back.
TEST_F(HazardOrder, ReadBackBeforeTheFillSeesTheOldBytes) {
  DeviceBuffer block(kBytes);
  PinnedBuffer fill(kBytes);
  GuardedBuffer back(Place::kPinned, kBytes);
  const Bytes stale = random().Fill(kBytes), fresh = random().Fill(kBytes);
  block.Write(0, stale);
  fill.Write(0, fresh);
  Stream reader;
  Gate gate(stream());
  QueueUp(block.data(), fill.data(), stream());
  QueueDown(back.data(), block.data(), reader);
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(reader));
  EXPECT_TRUE(back.Holds(stale));
  gate.Open();
  Synchronize();
  EXPECT_TRUE(back.Holds(stale));
}

// hazard-2: a block is overwritten while another stream still has to read it.
TEST_F(HazardOrder, OverwritingABlockThatIsStillReadShows) {
  DeviceBuffer block(kBytes);
  PinnedBuffer next(kBytes);
  GuardedBuffer back(Place::kPinned, kBytes);
  const Bytes overwritten = random().Fill(kBytes);
  block.Write(0, random().Fill(kBytes));
  next.Write(0, overwritten);
  Stream writer;
  Gate gate(stream());
  QueueDown(back.data(), block.data(), stream());
  QueueUp(block.data(), next.data(), writer);
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(writer));
  gate.Open();
  Synchronize();
  EXPECT_TRUE(back.Holds(overwritten));
}

// hazard-3: the host reads the destination before it has synchronised.
TEST_F(HazardOrder, DestinationIsOldUntilTheStreamIsSynchronised) {
  DeviceBuffer block(kBytes);
  GuardedBuffer back(Place::kPinned, kBytes);
  const Bytes contents = random().Fill(kBytes);
  block.Write(0, contents);
  Gate gate(stream());
  QueueDown(back.data(), block.data(), stream());
  EXPECT_TRUE(back.Untouched());
  gate.Open();
  Synchronize();
  EXPECT_TRUE(back.Holds(contents));
}

// hazard-4: the host overwrites the pinned source of a copy that has not run.
TEST_F(HazardOrder, OverwrittenPinnedSourceArrives) {
  GuardedBuffer block(Place::kDevice, kBytes);
  PinnedBuffer staging(kBytes);
  const Bytes overwritten = random().Fill(kBytes);
  staging.Write(0, random().Fill(kBytes));
  Gate gate(stream());
  QueueUp(block.data(), staging.data(), stream());
  staging.Write(0, overwritten);
  gate.Open();
  Synchronize();
  EXPECT_TRUE(block.Holds(overwritten));
}

// hazard-7: one staging buffer is refilled between two copies of the same stream.
TEST_F(HazardOrder, RefilledStagingBufferArrivesTwice) {
  GuardedBuffer first(Place::kDevice, kBytes), second(Place::kDevice, kBytes);
  PinnedBuffer staging(kBytes);
  const Bytes refilled = random().Fill(kBytes);
  staging.Write(0, random().Fill(kBytes));
  Gate gate(stream());
  QueueUp(first.data(), staging.data(), stream());
  staging.Write(0, refilled);
  QueueUp(second.data(), staging.data(), stream());
  gate.Open();
  Synchronize();
  EXPECT_TRUE(first.Holds(refilled));
  EXPECT_TRUE(second.Holds(refilled));
}

// The cure for hazard-4 and hazard-7: an event per staging buffer, or kind 5.
TEST_F(HazardOrder, WaitingForTheCopyBeforeRefillingIsSafe) {
  GuardedBuffer first(Place::kDevice, kBytes), second(Place::kDevice, kBytes);
  PinnedBuffer staging(kBytes);
  Event copied;
  const Bytes one = random().Fill(kBytes), two = random().Fill(kBytes);
  staging.Write(0, one);
  QueueUp(first.data(), staging.data(), stream());
  EXPECT_ACL(ACL_SUCCESS, aclrtRecordEvent(copied, stream()));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeEvent(copied));
  staging.Write(0, two);
  QueueUp(second.data(), staging.data(), stream());
  Synchronize();
  EXPECT_TRUE(first.Holds(one));
  EXPECT_TRUE(second.Holds(two));
}

// hazard-8: two entries of a batch write the same destination. Either may win, nothing else may come out of
// it.
TEST_F(HazardOrder, AttachedTwoEntriesWithOneDestination) {
  GuardedBuffer block(Place::kDevice, kBytes);
  PinnedBuffer first(kBytes), second(kBytes);
  const Bytes one = random().Fill(kBytes), two = random().Fill(kBytes);
  first.Write(0, one);
  second.Write(0, two);
  BatchRequest request;
  request.Add(block.data(), first.data(), kBytes);
  request.Add(block.data(), second.data(), kBytes);
  request.UseAttr(HostToDevice());
  EXPECT_ACL(ACL_SUCCESS, request.Submit(BatchForm::kAsync, stream()));
  Synchronize();
  EXPECT_TRUE(block.GuardsIntact());
  const Bytes got = block.Read();
  for (std::size_t i = 0; i < kBytes; ++i)
    ASSERT_TRUE(got[i] == one[i] || got[i] == two[i]) << "byte " << i;
}

/// Copies batches whose first and last entry have one destination; says for each which of them is there.
std::string WinnersOfBatches(aclrtStream stream, Random& random) {
  constexpr int kBatches = 16;
  constexpr std::size_t kEntries = 5;
  std::string winners;
  for (int i = 0; i < kBatches; ++i) {
    const DeviceBuffer blocks(kEntries * kBytes);
    const PinnedBuffer sources(kEntries * kBytes);
    const Bytes contents = random.Fill(kEntries * kBytes);
    sources.Write(0, contents);
    BatchRequest request;
    for (std::size_t entry = 0; entry < kEntries; ++entry)
      request.Add(blocks.at(entry % (kEntries - 1) * kBytes), sources.at(entry * kBytes), kBytes);
    request.UseAttr(HostToDevice());
    EXPECT_ACL(ACL_SUCCESS, request.Submit(i % 2 == 0 ? BatchForm::kAsync : BatchForm::kSync, stream));
    EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream));
    const auto holds = [&](std::size_t block, std::size_t entry) {
      const Bytes got = blocks.Read(block * kBytes, kBytes);
      return std::equal(got.begin(), got.end(),
                        contents.begin() + static_cast<std::ptrdiff_t>(entry * kBytes));
    };
    for (std::size_t block = 1; block < kEntries - 1; ++block)
      EXPECT_TRUE(holds(block, block));
    winners += holds(0, 0) ? 'F' : holds(0, kEntries - 1) ? 'L' : '?';
  }
  return winners;
}

// hazard-8 and batch-10: entries have no order among themselves, so a chosen schedule chooses theirs too.
TEST_F(HazardOrder, AttachedSchedulesOrderTheEntriesOfABatch) {
  if (InChild()) {
    std::printf("winners=%s;\n", WinnersOfBatches(stream(), random()).c_str());
    return;
  }
  const auto winners = [](const char* schedule) {
    const ChildResult child = RunInChild({{"SAMPAN_SCHEDULE", schedule}, {"SAMPAN_BACKEND", std::nullopt}});
    EXPECT_TRUE(child.Passed()) << child.output << child.errors;
    const std::size_t begin = child.output.find("winners=");
    return begin == std::string::npos ? ""
                                      : child.output.substr(begin, child.output.find(';', begin) - begin);
  };
  EXPECT_EQ(winners("early"), "winners=LLLLLLLLLLLLLLLL");
  EXPECT_EQ(winners("late"), "winners=FFFFFFFFFFFFFFFF");
  const std::string drawn = winners("seed:1");
  EXPECT_NE(drawn.find('F'), std::string::npos) << drawn;
  EXPECT_NE(drawn.find('L'), std::string::npos) << drawn;
  EXPECT_EQ(drawn.find('?'), std::string::npos) << drawn;
  EXPECT_EQ(winners("seed:1"), drawn) << "a run repeats";
  EXPECT_NE(winners("seed:2"), drawn);
}

}  // namespace
}  // namespace sampan::test::hazard_order_test
