// Write, signal, read, many times: the owner never sees torn, early or wrong bytes. HOSTS_ROUNDS sets how
// often. Rules of docs/BEHAVIOUR.md: share-15.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <iostream>
#include <string>
#include <vector>

#include "acl/acl.h"
#include "tests/hosts/fabric_owner.h"
#include "tests/hosts/hosts_fixture.h"
#include "tests/hosts/key_bytes.h"
#include "tests/process/rounds.h"
#include "tests/support/acl_expect.h"
#include "tests/support/memory_buffer.h"
#include "tests/support/stream.h"

namespace sampan::test::integrity_test {
namespace {

constexpr std::uint64_t kForAll = ACL_RT_NOTIFY_EXPORT_FLAG_DISABLE_PID_VALIDATION;
constexpr std::uint32_t kTimeout_s = 30;

std::uint64_t RoundCount() {
  const char* const wish = std::getenv("HOSTS_ROUNDS");
  return wish != nullptr ? std::strtoull(wish, nullptr, 10) : 300;
}

class HostIntegrity : public HostsFixture {
 protected:
  static std::string Seen(const std::string& key) {
    return GetParam() == Way::kLoopback ? NameAnotherHost(key) : key;
  }
  /// Submits the writes of a round from the pinned memory.
  static void Write(const Round& round, std::byte* there, std::byte* pinned, aclrtStream stream) {
    FillFrom(round.seed, pinned, round.bytes);
    if (round.is_rows()) {
      ASSERT_ACL(ACL_SUCCESS, aclrtMemcpy2dAsync(there + round.pieces.front().offset, Round::kPitch, pinned,
                                                 Round::kRowBytes, Round::kRowBytes, Round::kRows,
                                                 ACL_MEMCPY_HOST_TO_DEVICE, stream));
      return;
    }
    std::vector<void*> dsts, srcs;
    std::vector<std::size_t> sizes;
    for (const RoundPiece& piece : round.pieces) {
      dsts.push_back(there + piece.offset);
      srcs.push_back(pinned);
      sizes.push_back(piece.bytes);
      pinned += piece.bytes;
    }
    if (dsts.size() == 1) {
      ASSERT_ACL(ACL_SUCCESS,
                 aclrtMemcpyAsync(dsts[0], sizes[0], srcs[0], sizes[0], ACL_MEMCPY_HOST_TO_DEVICE, stream));
      return;
    }
    aclrtMemcpyBatchAttr attribute = {};
    attribute.dstLoc = {0, ACL_MEM_LOCATION_TYPE_DEVICE};
    attribute.srcLoc = {0, ACL_MEM_LOCATION_TYPE_HOST};
    std::size_t first = 0, fail = 0;
    ASSERT_ACL(ACL_SUCCESS, aclrtMemcpyBatchAsync(dsts.data(), sizes.data(), srcs.data(), sizes.data(),
                                                  dsts.size(), &attribute, &first, 1, &fail, stream));
  }
};

INSTANTIATE_TEST_SUITE_P(By, HostIntegrity, ::testing::Values(Way::kCable, Way::kLoopback),
                         [](const auto& way) { return NameOf(way.param); });

TEST_P(HostIntegrity, WhatASignalTellsOfIsThere) {
  const std::uint64_t count = RoundCount();
  FabricOwner owner(PathOfA(), 1);
  const ImportedMemory imported(owner);
  const std::string full = owner.peer.Get("notify");
  aclrtNotify record = nullptr, wait = nullptr;
  ASSERT_ACL(ACL_SUCCESS, aclrtNotifyImportByKey(
                              &record, Seen(owner.peer.Get("export_notify", full, kForAll)).c_str(), 0));
  ASSERT_ACL(ACL_SUCCESS, aclrtCreateNotify(&wait, 0));
  char key[65] = {};
  ASSERT_ACL(ACL_SUCCESS, aclrtNotifyGetExportKey(wait, key, sizeof(key), kForAll));
  const std::string empty = owner.peer.Get("import_notify", Seen(key));
  PinnedBuffer pinned(kPiece), back(kPiece);
  auto* const bytes = static_cast<std::byte*>(pinned.data());
  Stream stream;
  owner.peer.Send("take_rounds " + owner.mapped + ' ' + full + ' ' + empty + " 0 " + std::to_string(count));
  for (std::uint64_t number = 0; number < count && !HasFailure(); ++number) {
    const Round round(number);
    Write(round, imported.at(0), bytes, stream);
    EXPECT_ACL(ACL_SUCCESS, aclrtRecordNotify(record, stream));
    EXPECT_ACL(ACL_SUCCESS, aclrtWaitAndResetNotify(wait, stream, kTimeout_s));
    const bool reads = number % 7 == 0;
    if (reads) {
      EXPECT_ACL(ACL_SUCCESS, aclrtMemcpyAsync(back.data(), kPiece, imported.at(0), round.extent,
                                               ACL_MEMCPY_DEVICE_TO_HOST, stream));
    }
    EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream));
    EXPECT_TRUE(!reads || round.IsIn(static_cast<const std::byte*>(back.data()))) << "read back: " << number;
  }
  const Answer answer = owner.peer.Receive(std::chrono::minutes(1));
  EXPECT_EQ(answer.code, 0) << "-5: wrong bytes. " << answer.text;
  std::cout << count << " rounds" << std::endl;
  EXPECT_ACL(ACL_SUCCESS, aclrtDestroyNotify(record));
  EXPECT_ACL(ACL_SUCCESS, aclrtDestroyNotify(wait));
}

}  // namespace
}  // namespace sampan::test::integrity_test
