// Signals between processes of two hosts: notifies, words of memory, and memory by key.
// Rules of docs/BEHAVIOUR.md: share-15, share-16, share-17, share-18, share-19.
#include <gtest/gtest.h>
#include <signal.h>

#include <string>
#include <vector>

#include "acl/acl.h"
#include "tests/hosts/hosts_fixture.h"
#include "tests/hosts/key_bytes.h"
#include "tests/process/contents.h"
#include "tests/process/peer.h"
#include "tests/support/acl_expect.h"
#include "tests/support/memory_buffer.h"
#include "tests/support/random_bytes.h"
#include "tests/support/stream.h"

namespace sampan::test::signals_test {
namespace {

constexpr std::uint64_t kForAllNotify = ACL_RT_NOTIFY_EXPORT_FLAG_DISABLE_PID_VALIDATION;
constexpr std::uint64_t kForAllMemory = ACL_RT_IPC_MEM_EXPORT_FLAG_DISABLE_PID_VALIDATION;
constexpr std::size_t kBytes = 300'000;  // ends within a page

std::int64_t Attribute(aclrtDevAttr attribute) {
  std::int64_t value = -1;
  EXPECT_ACL(ACL_SUCCESS, aclrtGetDeviceInfo(0, attribute, &value));
  return value;
}

class HostSignals : public HostsFixture {
 protected:
  void SetUp() override {
    HostsFixture::SetUp();
    if (!IsSkipped() && !PathOfA().empty()) {
      EXPECT_EQ(owner.Do("enter_network", PathOfA()).code, 0);
    }
  }
  /// A key of the owner's, as this host sees it.
  std::string Seen(const std::string& key) const {
    return GetParam() == Way::kLoopback ? NameAnotherHost(key) : key;
  }
  aclError ImportNotify(const std::string& key, aclrtNotify& notify) const {
    return aclrtNotifyImportByKey(&notify, Seen(key).c_str(), 0);
  }
  aclError ImportMemory(const std::string& key, void*& memory) const {
    return aclrtIpcMemImportByKey(&memory, Seen(key).c_str(), 0);
  }

  Peer owner;
};

INSTANTIATE_TEST_SUITE_P(By, HostSignals, ::testing::Values(Way::kCable, Way::kLoopback),
                         [](const auto& way) { return NameOf(way.param); });

TEST_P(HostSignals, ARecordOpensTheOwnersWaitAfterTheCopiesBeforeIt) {
  const std::string memory = owner.Get("alloc", kBytes), copy = owner.Get("alloc", kBytes);
  const std::string memory_key = owner.Get("export", memory, kBytes, kForAllMemory);
  const std::string full = owner.Get("notify"), empty = owner.Get("notify");
  const std::string full_key = owner.Get("export_notify", full, kForAllNotify);
  void* theirs = nullptr;
  aclrtNotify notify = nullptr, own = nullptr;
  ASSERT_ACL(ACL_SUCCESS, ImportMemory(memory_key, theirs));
  ASSERT_ACL(ACL_SUCCESS, ImportNotify(full_key, notify));
  // Back: the owner tells this process that the bytes were taken.
  ASSERT_ACL(ACL_SUCCESS, aclrtCreateNotify(&own, 0));
  char own_key[65] = {};
  ASSERT_ACL(ACL_SUCCESS, aclrtNotifyGetExportKey(own, own_key, sizeof(own_key), kForAllNotify));
  const std::string back = owner.Get(
      "import_notify", GetParam() == Way::kLoopback ? NameAnotherHost(own_key) : std::string(own_key));
  DeviceBuffer source(kBytes);
  Stream stream;
  for (std::uint64_t round = 0; round < 20; ++round) {
    owner.Get("wait", full, 20);  // before the record
    owner.Get("copy", copy, memory, kBytes);
    owner.Get("record", back);
    WriteDevice(source.data(), Contents(round, kBytes));
    EXPECT_ACL(ACL_SUCCESS,
               aclrtMemcpyAsync(theirs, kBytes, source.data(), kBytes, ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
    EXPECT_ACL(ACL_SUCCESS, aclrtRecordNotify(notify, stream));
    EXPECT_ACL(ACL_SUCCESS, aclrtWaitAndResetNotify(own, stream, 20));
    EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream));
    EXPECT_EQ(owner.Get("check", copy, kBytes, round), "same") << round;
    owner.Get("sync");
  }
  std::uint32_t id = 0;
  EXPECT_ACL(ACL_SUCCESS, aclrtGetNotifyId(notify, &id));
  EXPECT_EQ(std::to_string(id), owner.Get("notify_id", full));
  EXPECT_ACL(ACL_SUCCESS, aclrtDestroyNotify(notify));
  EXPECT_ACL(ACL_SUCCESS, aclrtDestroyNotify(own));
  EXPECT_ACL(ACL_SUCCESS, aclrtIpcMemClose(Seen(memory_key).c_str()));
}

TEST_P(HostSignals, OnlyNamedProcessesOfNamedServersMayImport) {
  const std::string notify = owner.Get("notify"), memory = owner.Get("alloc", kBytes);
  const std::string key = owner.Get("export_notify", notify, 0);
  const std::string memory_key = owner.Get("export", memory, kBytes, 0);
  aclrtNotify imported = nullptr;
  void* mapped = nullptr;
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, ImportNotify(key, imported)) << "the owner named no server";
  const auto here = static_cast<std::uint32_t>(Attribute(ACL_DEV_ATTR_SUPER_POD_DEVICE_ID));
  EXPECT_EQ(here >> 10, static_cast<std::uint32_t>(Attribute(ACL_DEV_ATTR_SUPER_POD_SERVER_ID)));
  EXPECT_EQ(Attribute(ACL_DEV_ATTR_SUPER_POD_ID), 0);
  const std::uint32_t elsewhere = here ^ 1U << 20;
  owner.Get("admit_notify_server", notify, elsewhere, ::getpid());
  owner.Get("admit_server", memory_key, here, ::getpid() + 1);
  EXPECT_ACL(ACL_ERROR_RT_NO_PERMISSION, ImportNotify(key, imported));
  EXPECT_TRUE(MessageHas(std::to_string(::getpid())));
  EXPECT_ACL(ACL_ERROR_RT_NO_PERMISSION, ImportMemory(memory_key, mapped));
  owner.Get("admit_notify_server", notify, here, ::getpid());
  owner.Get("admit_server", memory_key, here, ::getpid());
  ASSERT_ACL(ACL_SUCCESS, ImportNotify(key, imported));
  EXPECT_ACL(ACL_SUCCESS, ImportMemory(memory_key, mapped));
  Stream stream;
  owner.Get("wait", notify, 20);
  EXPECT_ACL(ACL_SUCCESS, aclrtRecordNotify(imported, stream));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream));
  owner.Get("sync");
  EXPECT_ACL(ACL_SUCCESS, aclrtDestroyNotify(imported));
  EXPECT_ACL(ACL_SUCCESS, aclrtIpcMemClose(Seen(memory_key).c_str()));
}

TEST_P(HostSignals, BytesByKeyGoBothWaysAndStayInside) {
  const std::string memory = owner.Get("alloc", kBytes);
  owner.Get("fill", memory, kBytes, 5);
  const std::string key = owner.Get("export", memory, kBytes, kForAllMemory);
  void* theirs = nullptr;
  ASSERT_ACL(ACL_SUCCESS, ImportMemory(key, theirs));
  EXPECT_EQ(ReadDevice(theirs, kBytes), Contents(5, kBytes));
  WriteDevice(theirs, Contents(6, kBytes));
  EXPECT_EQ(owner.Get("check", memory, kBytes, 6), "same");
  std::byte byte{};
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID,
             aclrtMemcpy(static_cast<std::byte*>(theirs) + kBytes, 1, &byte, 1, ACL_MEMCPY_HOST_TO_DEVICE));
  owner.Get("free", memory);
  const std::string next = owner.Get("alloc", kBytes);  // likely at the same place
  owner.Get("fill", next, kBytes, 7);
  EXPECT_ACL(ACL_ERROR_RT_SYS_DMA, aclrtMemcpy(theirs, 1, &byte, 1, ACL_MEMCPY_HOST_TO_DEVICE));
  EXPECT_TRUE(MessageHas("freed"));
  EXPECT_EQ(owner.Get("check", next, kBytes, 7), "same");
  EXPECT_ACL(ACL_SUCCESS, aclrtIpcMemClose(Seen(key).c_str()));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, ImportMemory(key, theirs)) << "stale";
}

TEST_P(HostSignals, AReductionTakesItsSourceFromTheOtherHost) {
  constexpr std::size_t kCount = 1'100'000;  // more than goes through this side at a time
  const std::size_t bytes = kCount * sizeof(std::int32_t);
  const std::string key = owner.Get("export", owner.Get("alloc", bytes + 64), bytes + 64, kForAllMemory);
  void* imported = nullptr;
  ASSERT_ACL(ACL_SUCCESS, ImportMemory(key, imported));
  void* const source = static_cast<std::byte*>(imported) + 64;
  Random random;
  std::vector<std::int32_t> mine(kCount), theirs(kCount), expected(kCount);
  for (std::size_t i = 0; i < kCount; ++i) {
    mine[i] = static_cast<std::int32_t>(random.Next());
    theirs[i] = static_cast<std::int32_t>(random.Next());
    expected[i] = std::max(mine[i], theirs[i]);
  }
  DeviceBuffer local(bytes);
  EXPECT_ACL(ACL_SUCCESS, aclrtMemcpy(local.data(), bytes, mine.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE));
  EXPECT_ACL(ACL_SUCCESS, aclrtMemcpy(source, bytes, theirs.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE));
  Stream stream;
  EXPECT_ACL(ACL_SUCCESS, aclrtReduceAsync(local.data(), source, bytes, ACL_RT_MEMCPY_SDMA_AUTOMATIC_MAX,
                                           ACL_INT32, stream, nullptr));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream));
  std::vector<std::int32_t> result(kCount);
  EXPECT_ACL(ACL_SUCCESS, aclrtMemcpy(result.data(), bytes, local.data(), bytes, ACL_MEMCPY_DEVICE_TO_HOST));
  EXPECT_EQ(result, expected);
  EXPECT_ACL(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
             aclrtReduceAsync(source, local.data(), bytes, ACL_RT_MEMCPY_SDMA_AUTOMATIC_MAX, ACL_INT32,
                              stream, nullptr));
  EXPECT_ACL(ACL_SUCCESS, aclrtIpcMemClose(Seen(key).c_str()));
}

TEST_P(HostSignals, AWordWrittenThereOpensTheOwnersWait) {
  const std::string memory = owner.Get("alloc", 4096);
  const std::string key = owner.Get("export", memory, 4096, kForAllMemory);
  void* theirs = nullptr;
  ASSERT_ACL(ACL_SUCCESS, ImportMemory(key, theirs));
  EXPECT_ACL(ACL_SUCCESS, aclrtMemset(theirs, 4096, 0, 4096));
  Stream stream;
  for (std::uint64_t value = 1; value < 20; ++value) {
    owner.Get("wait_word", memory, value);
    EXPECT_ACL(ACL_SUCCESS, aclrtValueWrite(theirs, value, 0, stream));
    EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream));
    owner.Get("sync");
  }
  EXPECT_ACL(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtValueWait(theirs, 1, 0, stream));
  EXPECT_ACL(ACL_SUCCESS, aclrtIpcMemClose(Seen(key).c_str()));
}

TEST_P(HostSignals, WhatOnlyTheOwnerCanDoIsRefused) {
  const std::string notify = owner.Get("notify");
  aclrtNotify imported = nullptr;
  ASSERT_ACL(ACL_SUCCESS, ImportNotify(owner.Get("export_notify", notify, kForAllNotify), imported));
  Stream stream;
  EXPECT_ACL(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtWaitAndResetNotify(imported, stream, 1));
  EXPECT_TRUE(MessageHas("only its owner"));
  EXPECT_ACL(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtNotifyBatchReset(&imported, 1));
  aclrtServerPid unnamed = {0, nullptr, 1};
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtNotifySetImportPidInterServer(imported, &unnamed, 1));
  // The API has no form of events between servers.
  if (GetParam() == Way::kCable) {
    const std::string key = owner.Get("export_event", owner.Get("event"));
    aclrtIpcEventHandle handle = {};
    std::copy(key.begin(), key.end(), handle.reserved);
    aclrtEvent event = nullptr;
    EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtIpcOpenEventHandle(handle, &event));
    EXPECT_TRUE(MessageHas("another network namespace"));
  }
  EXPECT_ACL(ACL_SUCCESS, aclrtDestroyNotify(imported));
}

TEST_P(HostSignals, DamagedKeysAreRefusedWithoutAConnection) {
  const std::string key = Seen(owner.Get("export_notify", owner.Get("notify"), kForAllNotify));
  ASSERT_EQ(key.size(), 64u);
  owner.Kill();  // no process would answer
  aclrtNotify notify = nullptr;
  for (std::size_t i = 0; i < key.size(); ++i) {
    std::string damaged = key;
    damaged[i] = damaged[i] == 'A' ? 'B' : 'A';
    EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtNotifyImportByKey(&notify, damaged.c_str(), 0)) << damaged;
  }
  EXPECT_ACL(ACL_ERROR_RT_LOST_HEARTBEAT, aclrtNotifyImportByKey(&notify, key.c_str(), 0));
}

TEST_P(HostSignals, AKeyOfAnotherKindIsRefused) {
  const std::string memory = owner.Get("alloc", kBytes);
  KeyBytes notify_key(Seen(owner.Get("export_notify", owner.Get("notify"), kForAllNotify)));
  KeyBytes memory_key(Seen(owner.Get("export", memory, kBytes, kForAllMemory)));
  notify_key.Name('m');
  memory_key.Name('n');
  void* mapped = nullptr;
  aclrtNotify notify = nullptr;
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtIpcMemImportByKey(&mapped, notify_key.Key().c_str(), 0));
  EXPECT_TRUE(MessageHas("a notify"));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtNotifyImportByKey(&notify, memory_key.Key().c_str(), 0));
  EXPECT_TRUE(MessageHas("memory"));
}

TEST_P(HostSignals, ARecordFailsIfTheOwnerIsGone) {
  const std::string one = owner.Get("notify"), other = owner.Get("notify");
  aclrtNotify destroyed = nullptr, lost = nullptr;
  ASSERT_ACL(ACL_SUCCESS, ImportNotify(owner.Get("export_notify", one, kForAllNotify), destroyed));
  ASSERT_ACL(ACL_SUCCESS, ImportNotify(owner.Get("export_notify", other, kForAllNotify), lost));
  Stream stream;
  owner.Get("destroy_notify", one);
  EXPECT_ACL(ACL_SUCCESS, aclrtRecordNotify(destroyed, stream));
  EXPECT_ACL(ACL_ERROR_RT_SYS_DMA, aclrtSynchronizeStream(stream));
  const pid_t process = owner.process();
  owner.Kill();
  EXPECT_ACL(ACL_SUCCESS, aclrtRecordNotify(lost, stream));
  EXPECT_ACL(ACL_ERROR_RT_LOST_HEARTBEAT, aclrtSynchronizeStream(stream));
  EXPECT_TRUE(MessageHas("process " + std::to_string(process) + " on host "));
  EXPECT_ACL(ACL_SUCCESS, aclrtDestroyNotify(destroyed));
  EXPECT_ACL(ACL_SUCCESS, aclrtDestroyNotify(lost));
}

}  // namespace
}  // namespace sampan::test::signals_test
