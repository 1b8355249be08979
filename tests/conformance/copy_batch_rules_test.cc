// The argument checks of the batch copies, in their order, with what each leaves in failIndex.
// Rules of docs/BEHAVIOUR.md: batch-4, batch-5, batch-6, batch-7.
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <sstream>
#include <string>
#include <utility>

#include "acl/acl.h"
#include "tests/support/batch_request.h"
#include "tests/support/copy_fixture.h"

namespace sampan::test::copy_batch_rules_test {
namespace {

constexpr std::size_t kEntryBytes = 64, kEntries = 4;

std::string Name(const ::testing::TestParamInfo<BatchForm>& given) {
  std::ostringstream name;
  name << given.param;
  return name.str();
}

class AttachedBatchRules : public CopyTest, public ::testing::WithParamInterface<BatchForm> {
 protected:
  void SetUp() override {
    CopyTest::SetUp();
    if (HasFatalFailure()) return;
    host_.emplace(kEntries * kEntryBytes);
    device_.emplace(Place::kDevice, kEntries * kEntryBytes);
  }
  void TearDown() override {
    Synchronize();
    EXPECT_TRUE(device_->Untouched()) << "a refused batch moved something";
    device_.reset();
    host_.reset();
    CopyTest::TearDown();
  }

  static BatchForm form() { return GetParam(); }

  /// A batch that would be accepted.
  BatchRequest Valid() const {
    BatchRequest request;
    for (std::size_t i = 0; i < kEntries; ++i)
      request.Add(device_->at(i * kEntryBytes), host_->at(i * kEntryBytes), kEntryBytes);
    request.UseAttr(HostToDevice());
    return request;
  }

  static void ExpectFailIndex(const BatchRequest& request, std::size_t expected) {
    if (!HasFailIndex(form()) || request.null_fail_index) return;
    EXPECT_EQ(request.fail_index, expected);
  }
  /// Refused by the argument checks that come before failIndex is touched.
  void ExpectRefusedUnwritten(BatchRequest& request, aclError code, const char* named, aclrtStream on) const {
    SCOPED_TRACE(named);
    EXPECT_ACL(code, request.Submit(form(), on));
    EXPECT_TRUE(MessageHas(named));
    ExpectFailIndex(request, BatchRequest::kUnwritten);
  }
  void ExpectInvalid(BatchRequest& request, const char* named) const {
    ExpectRefusedUnwritten(request, ACL_ERROR_INVALID_PARAM, named, stream());
  }
  /// Refused as a whole by the runtime: no entry is to blame.
  void ExpectRefusedWhole(BatchRequest& request, const char* named) const {
    SCOPED_TRACE(named);
    EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, request.Submit(form(), stream()));
    EXPECT_TRUE(MessageHas(named));
    ExpectFailIndex(request, SIZE_MAX);
  }

  std::optional<PinnedBuffer> host_;
  std::optional<GuardedBuffer> device_;
};

class AttachedIndexedBatchRules : public AttachedBatchRules {};
class AttachedQueuedBatchRules : public AttachedBatchRules {};
class AttachedBlockingBatchRules : public AttachedBatchRules {};

INSTANTIATE_TEST_SUITE_P(Forms, AttachedBatchRules,
                         ::testing::Values(BatchForm::kSync, BatchForm::kSyncV2, BatchForm::kAsync,
                                           BatchForm::kAsyncV2),
                         Name);
INSTANTIATE_TEST_SUITE_P(Forms, AttachedIndexedBatchRules,
                         ::testing::Values(BatchForm::kSync, BatchForm::kAsync), Name);
INSTANTIATE_TEST_SUITE_P(Forms, AttachedQueuedBatchRules,
                         ::testing::Values(BatchForm::kAsync, BatchForm::kAsyncV2), Name);
INSTANTIATE_TEST_SUITE_P(Forms, AttachedBlockingBatchRules,
                         ::testing::Values(BatchForm::kSync, BatchForm::kSyncV2), Name);

TEST_P(AttachedIndexedBatchRules, FailIndexComesFirst) {
  BatchRequest request = Valid();
  request.null_fail_index = request.null_sizes = true;
  request.num_batches = 0;
  ExpectInvalid(request, "failIndex");
}

TEST_P(AttachedBatchRules, SizesComeBeforeNumBatches) {
  BatchRequest request = Valid();
  request.null_sizes = request.null_dsts = true;
  request.num_batches = 0;
  ExpectInvalid(request, "sizes");
}

TEST_P(AttachedBatchRules, NumBatchesComesBeforeTheOtherArrays) {
  BatchRequest request = Valid();
  request.num_batches = 0;
  request.null_dsts = request.null_attrs = true;
  ExpectInvalid(request, "numBatches");
}

TEST_P(AttachedBatchRules, AllSizesZeroSucceedsWhateverElseIsWrong) {
  BatchRequest request = Valid();
  request.sizes.assign(kEntries, 0);
  request.null_dsts = request.null_srcs = request.null_dest_maxs = true;
  request.null_attrs = request.null_attrs_indexes = true;
  request.num_attrs = 0;
  const aclrtStream dead = DeadStream();
  EXPECT_ACL(ACL_SUCCESS, request.Submit(form(), dead));
  ExpectFailIndex(request, SIZE_MAX);
  OnNewThread([&] {
    EXPECT_ACL(ACL_SUCCESS, request.Submit(form(), nullptr));
    ExpectFailIndex(request, SIZE_MAX);
  });
}

/// Rule batch-11.
TEST_P(AttachedIndexedBatchRules, NullFailIndexAlone) {
  BatchRequest request = Valid();
  request.null_fail_index = true;
  ExpectInvalid(request, "failIndex");
}

TEST_P(AttachedIndexedBatchRules, AllSizesZeroStillNeedsFailIndex) {
  BatchRequest request = Valid();
  request.sizes.assign(kEntries, 0);
  request.null_fail_index = true;
  ExpectInvalid(request, "failIndex");
}

TEST_P(AttachedBatchRules, EachNullArrayAlone) {
  for (const auto& [is_null, named] : {std::pair{&BatchRequest::null_dsts, "dsts"},
                                       {&BatchRequest::null_dest_maxs, "destMaxs"},
                                       {&BatchRequest::null_srcs, "srcs"},
                                       {&BatchRequest::null_sizes, "sizes"},
                                       {&BatchRequest::null_attrs, "attrs"},
                                       {&BatchRequest::null_attrs_indexes, "attrsIndexes"}}) {
    BatchRequest request = Valid();
    request.*is_null = true;
    ExpectInvalid(request, named);
  }
}

TEST_P(AttachedBatchRules, NullArraysInTheirOrder) {
  BatchRequest request = Valid();
  request.null_dsts = request.null_dest_maxs = request.null_srcs = true;
  request.null_attrs = request.null_attrs_indexes = true;
  ExpectInvalid(request, "dsts");
  request.null_dsts = false;
  ExpectInvalid(request, "destMaxs");
  request.null_dest_maxs = false;
  ExpectInvalid(request, "srcs");
  request.null_srcs = false;
  ExpectInvalid(request, "attrs");
  request.null_attrs = false;
  ExpectInvalid(request, "attrsIndexes");
}

TEST_P(AttachedBatchRules, NullArraysWinOverTheStream) {
  BatchRequest request = Valid();
  request.null_attrs_indexes = true;
  ExpectRefusedUnwritten(request, ACL_ERROR_INVALID_PARAM, "attrsIndexes", DeadStream());
}

TEST_P(AttachedBatchRules, NullArraysWinOverDestMaxs) {
  BatchRequest request = Valid();
  request.null_attrs_indexes = true;
  request.dest_maxs[1] = 0;
  ExpectInvalid(request, "attrsIndexes");
}

TEST_P(AttachedBatchRules, DestMaxsBelowSizes) {
  BatchRequest request = Valid();
  request.dest_maxs[kEntries - 1] = kEntryBytes - 1;
  request.attrs[0].rsv[3] = 1;
  ExpectInvalid(request, "destMax");
  EXPECT_TRUE(MessageHas("63"));
  ExpectRefusedUnwritten(request, ACL_ERROR_INVALID_PARAM, "destMax", DeadStream());
}

/// With nothing else wrong: few entries may take a shorter way than many.
TEST_P(AttachedBatchRules, EachDestMaxBelowItsSizeAlone) {
  for (std::size_t i = 0; i < kEntries; ++i) {
    SCOPED_TRACE(i);
    BatchRequest request = Valid();
    request.dest_maxs[i] = kEntryBytes - 1;
    ExpectInvalid(request, "destMax");
    EXPECT_TRUE(MessageHas("entry " + std::to_string(i)));
    request = Valid();
    request.sizes[i] = SIZE_MAX;
    ExpectInvalid(request, "destMax");
  }
}

TEST_P(AttachedBatchRules, DestMaxsAboveSizesAreFine) {
  BatchRequest request = Valid();
  request.dest_maxs.assign(kEntries, SIZE_MAX);
  const Bytes background(kEntries * kEntryBytes, GuardedBuffer::kBackground);
  host_->Write(0, background);  // so that TearDown still finds what it looks for
  EXPECT_ACL(ACL_SUCCESS, request.Submit(form(), stream()));
  ExpectFailIndex(request, SIZE_MAX);
}

TEST_P(AttachedBatchRules, ReservedBytesMustBeZero) {
  for (std::size_t byte = 0; byte < sizeof(aclrtMemcpyBatchAttr::rsv); ++byte) {
    BatchRequest request = Valid();
    request.attrs[0].rsv[byte] = 0x80;
    ExpectInvalid(request, "rsv");
  }
  BatchRequest request = Valid();
  request.UseAttr(HostToDevice(), 2);
  request.attrs[1].rsv[15] = 1;
  ExpectRefusedUnwritten(request, ACL_ERROR_INVALID_PARAM, "rsv", DeadStream());
}

TEST_P(AttachedQueuedBatchRules, StreamWinsOverAttributes) {
  BatchRequest request = Valid();
  request.num_attrs = 0;
  ExpectRefusedUnwritten(request, ACL_ERROR_RT_INVALID_HANDLE, "stream", DeadStream());
  OnNewThread([&] { ExpectRefusedUnwritten(request, ACL_ERROR_RT_INVALID_HANDLE, "stream", host_->data()); });
}

TEST_P(AttachedBatchRules, NumAttrsZero) {
  BatchRequest request = Valid();
  request.num_attrs = 0;
  ExpectRefusedWhole(request, "numAttrs");
}

TEST_P(AttachedBatchRules, MoreAttributesThanEntries) {
  BatchRequest request = Valid();
  for (std::size_t i = 1; i <= kEntries; ++i)
    request.UseAttr(HostToDevice(), i);
  ExpectRefusedWhole(request, "numAttrs");
}

TEST_P(AttachedBatchRules, FirstIndexMustBeZero) {
  BatchRequest request = Valid();
  request.attrs_indexes[0] = 1;
  ExpectRefusedWhole(request, "attrsIndexes");
}

TEST_P(AttachedBatchRules, IndexesMustRise) {
  for (const std::size_t second : {std::size_t{2}, std::size_t{1}, std::size_t{0}}) {
    BatchRequest request = Valid();
    request.UseAttr(HostToDevice(), 2);
    request.UseAttr(HostToDevice(), second);
    ExpectRefusedWhole(request, "attrsIndexes");
  }
}

TEST_P(AttachedBatchRules, IndexesMustNameEntries) {
  for (const std::size_t beyond : {kEntries, kEntries + 1, SIZE_MAX}) {
    BatchRequest request = Valid();
    request.UseAttr(HostToDevice(), beyond);
    ExpectRefusedWhole(request, "attrsIndexes");
  }
}

TEST_P(AttachedBatchRules, AttributeArraysWinOverEntriesAndContext) {
  BatchRequest request = Valid();
  request.dsts[0] = nullptr;
  request.attrs_indexes[0] = 1;
  ExpectRefusedWhole(request, "attrsIndexes");
  OnNewThread([&] {
    EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, request.Submit(form(), nullptr));
    ExpectFailIndex(request, SIZE_MAX);
  });
}

TEST_P(AttachedQueuedBatchRules, NeedsAContext) {
  BatchRequest request = Valid();
  OnNewThread([&] {
    EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, request.Submit(form(), nullptr));
    ExpectFailIndex(request, SIZE_MAX);
  });
}

TEST_P(AttachedBlockingBatchRules, EntriesAreCheckedWithoutAContext) {
  OnNewThread([&] {
    BatchRequest request = Valid();
    request.attrs[0] = HostToDevice(7777);
    EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, request.Submit(form(), nullptr));
    ExpectFailIndex(request, 0);
    request = Valid();
    request.UseAttr(DeviceToHost(), 2);
    EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, request.Submit(form(), nullptr));
    ExpectFailIndex(request, 2);
  });
}

TEST_P(AttachedBlockingBatchRules, NeedsNoContext) {
  GuardedBuffer device(Place::kDevice, kEntries * kEntryBytes),
      back(Place::kPageable, kEntries * kEntryBytes);
  const Bytes contents = random().Fill(kEntries * kEntryBytes);
  host_->Write(0, contents);
  BatchRequest up, down;
  for (std::size_t i = 0; i < kEntries; ++i) {
    up.Add(device.at(i * kEntryBytes), host_->at(i * kEntryBytes), kEntryBytes);
    down.Add(back.at(i * kEntryBytes), device.at(i * kEntryBytes), kEntryBytes);
  }
  up.UseAttr(HostToDevice());
  down.UseAttr(DeviceToHost());
  OnNewThread([&] {
    EXPECT_ACL(ACL_SUCCESS, up.Submit(form(), nullptr));
    ExpectFailIndex(up, SIZE_MAX);
    EXPECT_ACL(ACL_SUCCESS, down.Submit(form(), nullptr));
    ExpectFailIndex(down, SIZE_MAX);
    aclrtContext context = nullptr;
    EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtGetCurrentContext(&context)) << "it makes none either";
  });
  EXPECT_TRUE(device.Holds(contents));
  EXPECT_TRUE(back.Holds(contents));
}

TEST_P(AttachedQueuedBatchRules, ContextWinsOverEntries) {
  BatchRequest request = Valid();
  request.srcs[1] = nullptr;
  OnNewThread([&] {
    EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, request.Submit(form(), nullptr));
    ExpectFailIndex(request, SIZE_MAX);
  });
}

TEST_P(AttachedQueuedBatchRules, ForeignStreamBlamesNoEntry) {
  ForeignStream foreign;
  BatchRequest request = Valid();
  EXPECT_ACL(ACL_ERROR_RT_STREAM_CONTEXT, request.Submit(form(), foreign));
  ExpectFailIndex(request, SIZE_MAX);
}

TEST_P(AttachedQueuedBatchRules, ForeignStreamIsTakenForPageableEntries) {
  constexpr std::size_t kBytes = 100;
  ForeignStream foreign;
  GuardedBuffer device(Place::kDevice, kBytes);
  PageableBuffer host(kBytes);
  const Bytes contents = random().Fill(kBytes);
  host.Write(0, contents);
  BatchRequest request;
  request.Add(device.at(0), host.at(0), kBytes);
  request.UseAttr(HostToDevice());
  EXPECT_ACL(ACL_SUCCESS, request.Submit(form(), foreign));
  EXPECT_TRUE(device.Holds(contents));
}

TEST_P(AttachedBatchRules, OnlyTheSyncFormsHaveALimitOfEntries) {
  constexpr std::size_t kLimit = 4096;
  PinnedBuffer host(kLimit + 1);
  GuardedBuffer device(Place::kDevice, kLimit + 1);
  const Bytes contents = random().Fill(kLimit + 1);
  host.Write(0, contents);
  BatchRequest request;
  for (std::size_t i = 0; i <= kLimit; ++i)
    request.Add(device.at(i), host.at(i), 1);
  request.UseAttr(HostToDevice());
  if (IsAsync(form())) {
    EXPECT_ACL(ACL_SUCCESS, request.Submit(form(), stream()));
    Synchronize();
    EXPECT_TRUE(device.Holds(contents));
    return;
  }
  ExpectRefusedWhole(request, "numBatches");
  EXPECT_TRUE(MessageHas("4096"));
  EXPECT_TRUE(device.Untouched());
  request.num_batches = kLimit;
  EXPECT_ACL(ACL_SUCCESS, request.Submit(form(), stream()));
  Bytes expected = contents;
  expected.back() = GuardedBuffer::kBackground;
  EXPECT_TRUE(device.Holds(expected));
}

}  // namespace
}  // namespace sampan::test::copy_batch_rules_test
