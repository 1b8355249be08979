// Functions that libraries have called when the process is initialised and finalised.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "acl/acl.h"
#include "tests/support/acl_expect.h"
#include "tests/support/child_process.h"
#include "tests/support/temporary_folder.h"

// Registrations and initialisation belong to the process, so every test here has a process of its own.
namespace sampan::test::init_callback_test {
namespace {

struct Calls {
  std::vector<std::string> configurations;
  int finalized = 0;
};

aclError OnInit(const char* configuration, size_t length, void* user_data) {
  static_cast<Calls*>(user_data)->configurations.emplace_back(configuration == nullptr ? "" : configuration,
                                                              length);
  return ACL_SUCCESS;
}

aclError OnFinalize(void* user_data) {
  ++static_cast<Calls*>(user_data)->finalized;
  return ACL_SUCCESS;
}

TEST(InitCallback, GetsTheConfiguration) {
  if (DoneInChild()) return;
  const TemporaryFolder folder;
  const std::string text = R"({"err_msg_mode": "1"})";
  Calls calls;
  EXPECT_ACL(ACL_SUCCESS, aclInitCallbackRegister(ACL_REG_TYPE_OTHER, &OnInit, &calls));
  EXPECT_TRUE(calls.configurations.empty());
  EXPECT_ACL(ACL_SUCCESS, aclInit(folder.Write("acl.json", text).c_str()));
  EXPECT_EQ(calls.configurations, std::vector<std::string>{text});
  EXPECT_ACL(ACL_ERROR_REPEAT_INITIALIZE, aclInit(nullptr));
  EXPECT_EQ(calls.configurations.size(), 1u) << "a counted call initialises nothing";
}

TEST(InitCallback, IsCalledWithoutAConfiguration) {
  if (DoneInChild()) return;
  Calls calls;
  EXPECT_ACL(ACL_SUCCESS, aclInitCallbackRegister(ACL_REG_TYPE_ACL_MODEL, &OnInit, &calls));
  EXPECT_ACL(ACL_SUCCESS, aclInit(nullptr));
  EXPECT_EQ(calls.configurations, std::vector<std::string>{""});
}

TEST(InitCallback, IsCalledAtOnceWhenInitIsOver) {
  if (DoneInChild()) return;
  Calls calls;
  EXPECT_ACL(ACL_SUCCESS, aclInit(nullptr));
  EXPECT_ACL(ACL_SUCCESS, aclInitCallbackRegister(ACL_REG_TYPE_OTHER, &OnInit, &calls));
  EXPECT_EQ(calls.configurations.size(), 1u);
}

aclError InitAgain(const char*, size_t, void* user_data) {
  *static_cast<aclError*>(user_data) = aclInit(nullptr);
  return ACL_SUCCESS;
}

TEST(InitCallback, FindsTheProcessInitialised) {
  if (DoneInChild()) return;
  aclError answer = ACL_SUCCESS;
  EXPECT_ACL(ACL_SUCCESS, aclInitCallbackRegister(ACL_REG_TYPE_OTHER, &InitAgain, &answer));
  EXPECT_ACL(ACL_SUCCESS, aclInit(nullptr));
  EXPECT_ACL(ACL_ERROR_REPEAT_INITIALIZE, answer);
  std::uint64_t count = 0;
  EXPECT_ACL(ACL_SUCCESS, aclFinalizeReference(&count));
  EXPECT_EQ(count, 1u) << "the call of the callback counts";
}

TEST(InitCallback, ThatFailsLeavesTheProcessUninitialised) {
  if (DoneInChild()) return;
  const TemporaryFolder folder;
  aclError answer = ACL_SUCCESS;
  const aclInitCallbackFunc fail = [](const char*, size_t, void*) -> aclError { return ACL_ERROR_FAILURE; };
  EXPECT_ACL(ACL_SUCCESS, aclInitCallbackRegister(ACL_REG_TYPE_OTHER, &InitAgain, &answer));
  EXPECT_ACL(ACL_SUCCESS, aclInitCallbackRegister(ACL_REG_TYPE_OTHER, fail, nullptr));
  const std::string path = folder.Write("acl.json", R"({"defaultDevice": {"default_device": "0"}})");
  EXPECT_ACL(ACL_ERROR_FAILURE, aclInit(path.c_str()));
  std::int32_t device = -1;
  EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtGetDevice(&device)) << "no default device either";
  EXPECT_ACL(ACL_ERROR_REPEAT_FINALIZE, aclFinalizeReference(nullptr));
  EXPECT_ACL(ACL_SUCCESS, aclInitCallbackUnRegister(ACL_REG_TYPE_OTHER, fail));
  EXPECT_ACL(ACL_SUCCESS, aclInit(folder.Write("other.json", "{}").c_str())) << "the first file was not used";
}

TEST(InitCallback, CanBeWithdrawn) {
  if (DoneInChild()) return;
  Calls calls;
  EXPECT_ACL(ACL_SUCCESS, aclInitCallbackRegister(ACL_REG_TYPE_OTHER, &OnInit, &calls));
  EXPECT_ACL(ACL_SUCCESS, aclInitCallbackUnRegister(ACL_REG_TYPE_OTHER, &OnInit));
  EXPECT_ACL(ACL_SUCCESS, aclInit(nullptr));
  EXPECT_TRUE(calls.configurations.empty());
}

TEST(InitCallback, MustBeAFunction) {
  if (DoneInChild()) return;
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclInitCallbackRegister(ACL_REG_TYPE_OTHER, nullptr, nullptr));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclInitCallbackUnRegister(ACL_REG_TYPE_OTHER, nullptr));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclFinalizeCallbackRegister(ACL_REG_TYPE_OTHER, nullptr, nullptr));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclFinalizeCallbackUnRegister(ACL_REG_TYPE_OTHER, nullptr));
}

TEST(FinalizeCallback, RunsWhenTheLastReferenceGoes) {
  if (DoneInChild()) return;
  Calls calls;
  EXPECT_ACL(ACL_SUCCESS, aclFinalizeCallbackRegister(ACL_REG_TYPE_OTHER, &OnFinalize, &calls));
  EXPECT_ACL(ACL_SUCCESS, aclInit(nullptr));
  EXPECT_ACL(ACL_ERROR_REPEAT_INITIALIZE, aclInit(nullptr));
  EXPECT_ACL(ACL_SUCCESS, aclFinalizeReference(nullptr));
  EXPECT_EQ(calls.finalized, 0);
  EXPECT_ACL(ACL_SUCCESS, aclFinalizeReference(nullptr));
  EXPECT_EQ(calls.finalized, 1);
}

TEST(FinalizeCallback, RunsOnceForAllInits) {
  if (DoneInChild()) return;
  Calls calls;
  EXPECT_ACL(ACL_SUCCESS, aclFinalizeCallbackRegister(ACL_REG_TYPE_OTHER, &OnFinalize, &calls));
  EXPECT_ACL(ACL_SUCCESS, aclInit(nullptr));
  EXPECT_ACL(ACL_ERROR_REPEAT_INITIALIZE, aclInit(nullptr));
  EXPECT_ACL(ACL_SUCCESS, aclFinalize());
  EXPECT_ACL(ACL_ERROR_REPEAT_FINALIZE, aclFinalize());
  EXPECT_EQ(calls.finalized, 1);
}

TEST(FinalizeCallback, FindsTheProcessFinalised) {
  if (DoneInChild()) return;
  aclError answer = ACL_SUCCESS;
  const aclFinalizeCallbackFunc finalize_again = [](void* user_data) -> aclError {
    *static_cast<aclError*>(user_data) = aclFinalize();
    return ACL_SUCCESS;
  };
  EXPECT_ACL(ACL_SUCCESS, aclFinalizeCallbackRegister(ACL_REG_TYPE_OTHER, finalize_again, &answer));
  EXPECT_ACL(ACL_SUCCESS, aclInit(nullptr));
  EXPECT_ACL(ACL_SUCCESS, aclFinalize());
  EXPECT_ACL(ACL_ERROR_REPEAT_FINALIZE, answer);
}

TEST(FinalizeCallback, ThatFailsLeavesTheProcessInitialised) {
  if (DoneInChild()) return;
  const aclFinalizeCallbackFunc fail = [](void*) -> aclError { return ACL_ERROR_FAILURE; };
  EXPECT_ACL(ACL_SUCCESS, aclFinalizeCallbackRegister(ACL_REG_TYPE_OTHER, fail, nullptr));
  EXPECT_ACL(ACL_SUCCESS, aclInit(nullptr));
  EXPECT_ACL(ACL_ERROR_FAILURE, aclFinalize());
  EXPECT_ACL(ACL_SUCCESS, aclFinalizeCallbackUnRegister(ACL_REG_TYPE_OTHER, fail));
  EXPECT_ACL(ACL_SUCCESS, aclFinalize());
}

TEST(FinalizeCallback, CanBeWithdrawn) {
  if (DoneInChild()) return;
  Calls calls;
  EXPECT_ACL(ACL_SUCCESS, aclFinalizeCallbackRegister(ACL_REG_TYPE_OTHER, &OnFinalize, &calls));
  EXPECT_ACL(ACL_SUCCESS, aclFinalizeCallbackUnRegister(ACL_REG_TYPE_OTHER, &OnFinalize));
  EXPECT_ACL(ACL_SUCCESS, aclInit(nullptr));
  EXPECT_ACL(ACL_SUCCESS, aclFinalize());
  EXPECT_EQ(calls.finalized, 0);
}

}  // namespace
}  // namespace sampan::test::init_callback_test
