// Root was let into the memory that another user's process shares. No user is let into another user's, by
// any key or handle.
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "acl/acl.h"
#include "tests/support/acl_expect.h"
#include "tests/support/child_process.h"
#include "tests/support/mapped_memory.h"
#include "tests/support/second_user.h"

namespace sampan::test::other_users_memory_test {
namespace {

constexpr std::size_t kKeyBytes = 65;

/// All by which a process lets others in. Every process may come, as far as its number is concerned.
struct Keys {
  std::array<char, kKeyBytes> memory{}, notify{};
  aclrtIpcEventHandle event{};
  std::uint64_t physical = 0;
  bool made = false;
};

/// The codes of importing by each of them.
struct Codes {
  aclError memory = ACL_SUCCESS, notify = ACL_SUCCESS, event = ACL_SUCCESS, physical = ACL_SUCCESS;
};

Keys Share() {
  Keys keys;
  void* memory = nullptr;
  aclrtNotify notify = nullptr;
  aclrtEvent event = nullptr;
  aclrtDrvMemHandle physical = nullptr;
  const aclrtPhysicalMemProp properties = DeviceProperties();
  keys.made = aclrtSetDevice(0) == ACL_SUCCESS &&
              aclrtMalloc(&memory, 4096, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS &&
              aclrtIpcMemGetExportKey(memory, 4096, keys.memory.data(), kKeyBytes,
                                      ACL_RT_IPC_MEM_EXPORT_FLAG_DISABLE_PID_VALIDATION) == ACL_SUCCESS &&
              aclrtCreateNotify(&notify, 0) == ACL_SUCCESS &&
              aclrtNotifyGetExportKey(notify, keys.notify.data(), kKeyBytes,
                                      ACL_RT_NOTIFY_EXPORT_FLAG_DISABLE_PID_VALIDATION) == ACL_SUCCESS &&
              aclrtCreateEventExWithFlag(&event, ACL_EVENT_IPC) == ACL_SUCCESS &&
              aclrtIpcGetEventHandle(event, &keys.event) == ACL_SUCCESS &&
              aclrtMallocPhysical(&physical, kPiece, &properties, 0) == ACL_SUCCESS &&
              aclrtMemExportToShareableHandle(physical, ACL_MEM_HANDLE_TYPE_NONE,
                                              ACL_RT_VMM_EXPORT_FLAG_DISABLE_PID_VALIDATION,
                                              &keys.physical) == ACL_SUCCESS;
  return keys;
}

Codes TryAll(const Keys& keys) {
  Codes codes;
  void* memory = nullptr;
  aclrtNotify notify = nullptr;
  aclrtEvent event = nullptr;
  aclrtDrvMemHandle physical = nullptr;
  aclrtSetDevice(0);
  codes.memory = aclrtIpcMemImportByKey(&memory, keys.memory.data(), 0);
  codes.notify = aclrtNotifyImportByKey(&notify, keys.notify.data(), 0);
  codes.event = aclrtIpcOpenEventHandle(keys.event, &event);
  codes.physical = aclrtMemImportFromShareableHandle(keys.physical, 0, &physical);
  return codes;
}

void ExpectAll(aclError code, const Codes& codes) {
  EXPECT_EQ(codes.memory, code) << "a key of memory";
  EXPECT_EQ(codes.notify, code) << "a key of a notify";
  EXPECT_EQ(codes.event, code) << "a handle of an event";
  EXPECT_EQ(codes.physical, code) << "a handle of physical memory";
}

enum class Sharer { kThisProcess, kOtherProcess };
enum class Users { kOne, kTwo };

/// One process shares, the other one tries to come in. Both begin without a runtime.
void ExpectCodes(Sharer sharer, Users users, aclError expected) {
  const TalkingChild other([&](TalkingChild& parent) {
    if (users == Users::kTwo && !BecomeSecondUser()) ::_exit(1);
    if (sharer == Sharer::kThisProcess) return parent.Tell(TryAll(parent.Hear<Keys>()));
    parent.Tell(Share());
    static_cast<void>(parent.Hear<bool>());  // shares until it is killed
  });
  const Keys keys = sharer == Sharer::kThisProcess ? Share() : other.Hear<Keys>();
  ASSERT_TRUE(keys.made) << "nothing could be shared";
  if (sharer == Sharer::kThisProcess) other.Tell(keys);
  ExpectAll(expected, sharer == Sharer::kThisProcess ? other.Hear<Codes>() : TryAll(keys));
}

TEST(OtherUsersMemory, IsRefusedToRootToo) {
  REQUIRE_SECOND_USER();
  if (DoneInChild()) return;
  ExpectCodes(Sharer::kOtherProcess, Users::kTwo, ACL_ERROR_RT_PARAM_INVALID);
}

TEST(OtherUsersMemory, OfRootIsRefusedToOthers) {
  REQUIRE_SECOND_USER();
  if (DoneInChild()) return;
  ExpectCodes(Sharer::kThisProcess, Users::kTwo, ACL_ERROR_RT_PARAM_INVALID);
}

TEST(OtherUsersMemory, TheSameUserIsLetIn) {
  if (DoneInChild()) return;
  ExpectCodes(Sharer::kThisProcess, Users::kOne, ACL_SUCCESS);
}

}  // namespace
}  // namespace sampan::test::other_users_memory_test
