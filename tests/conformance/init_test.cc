// Initialising and finalising the process: reference counts, the configuration file, the default device.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdint>
#include <ostream>
#include <string>
#include <thread>

#include "acl/acl.h"
#include "tests/support/acl_expect.h"
#include "tests/support/child_process.h"
#include "tests/support/temporary_folder.h"

// aclInit acts on the whole process, so every test here has a process of its own.
namespace sampan::test::init_test {
namespace {

constexpr std::uint64_t kUntouched = 77;

TEST(Init, SecondCallIsRefusedButCounted) {
  if (DoneInChild()) return;
  EXPECT_ACL(ACL_SUCCESS, aclInit(nullptr));
  EXPECT_ACL(ACL_ERROR_REPEAT_INITIALIZE, aclInit(nullptr));
  std::uint64_t count = kUntouched;
  EXPECT_ACL(ACL_SUCCESS, aclFinalizeReference(&count));
  EXPECT_EQ(count, 1u);
  EXPECT_ACL(ACL_SUCCESS, aclFinalizeReference(&count));
  EXPECT_EQ(count, 0u);
  count = kUntouched;
  EXPECT_ACL(ACL_ERROR_REPEAT_FINALIZE, aclFinalizeReference(&count));
  EXPECT_EQ(count, 0u);
}

TEST(Init, FinalizeReferenceTakesNoPointer) {
  if (DoneInChild()) return;
  EXPECT_ACL(ACL_SUCCESS, aclInit(nullptr));
  EXPECT_ACL(ACL_SUCCESS, aclFinalizeReference(nullptr));
  EXPECT_ACL(ACL_ERROR_REPEAT_FINALIZE, aclFinalizeReference(nullptr));
}

TEST(Init, FinalizeUndoesAnyNumberOfInits) {
  if (DoneInChild()) return;
  EXPECT_ACL(ACL_SUCCESS, aclInit(nullptr));
  EXPECT_ACL(ACL_ERROR_REPEAT_INITIALIZE, aclInit(nullptr));
  EXPECT_ACL(ACL_ERROR_REPEAT_INITIALIZE, aclInit(nullptr));
  EXPECT_ACL(ACL_SUCCESS, aclFinalize());
  std::uint64_t count = kUntouched;
  EXPECT_ACL(ACL_ERROR_REPEAT_FINALIZE, aclFinalizeReference(&count));
  EXPECT_EQ(count, 0u);
  EXPECT_ACL(ACL_ERROR_REPEAT_FINALIZE, aclFinalize());
}

TEST(Init, FinalizeWithoutInitIsAllowedOnce) {
  if (DoneInChild()) return;
  EXPECT_ACL(ACL_SUCCESS, aclFinalize());
  EXPECT_ACL(ACL_ERROR_REPEAT_FINALIZE, aclFinalize());
}

TEST(Init, CanBeDoneAgainAfterFinalize) {
  if (DoneInChild()) return;
  EXPECT_ACL(ACL_SUCCESS, aclInit(nullptr));
  EXPECT_ACL(ACL_SUCCESS, aclFinalize());
  EXPECT_ACL(ACL_SUCCESS, aclInit(nullptr));
  std::uint64_t count = kUntouched;
  EXPECT_ACL(ACL_SUCCESS, aclFinalizeReference(&count));
  EXPECT_EQ(count, 0u);
}

TEST(Init, CopiesDoNotNeedIt) {
  if (DoneInChild()) return;
  EXPECT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
  void* memory = nullptr;
  EXPECT_ACL(ACL_SUCCESS, aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST));
  const std::string sent = "no aclInit";
  std::string received(sent.size(), '?');
  EXPECT_ACL(ACL_SUCCESS, aclrtMemcpy(memory, 64, sent.data(), sent.size(), ACL_MEMCPY_HOST_TO_DEVICE));
  EXPECT_ACL(ACL_SUCCESS,
             aclrtMemcpy(received.data(), received.size(), memory, sent.size(), ACL_MEMCPY_DEVICE_TO_HOST));
  EXPECT_EQ(received, sent);
  EXPECT_ACL(ACL_SUCCESS, aclrtFree(memory));
  EXPECT_ACL(ACL_SUCCESS, aclrtResetDevice(0));
}

TEST(Init, FinalizeLeavesDevicesAlone) {
  if (DoneInChild()) return;
  EXPECT_ACL(ACL_SUCCESS, aclInit(nullptr));
  EXPECT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
  void* memory = nullptr;
  EXPECT_ACL(ACL_SUCCESS, aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST));
  EXPECT_ACL(ACL_SUCCESS, aclFinalize());
  EXPECT_ACL(ACL_SUCCESS, aclrtMemset(memory, 64, 1, 64));
  EXPECT_ACL(ACL_SUCCESS, aclrtFree(memory));
  EXPECT_ACL(ACL_SUCCESS, aclrtResetDevice(0));
}

// ---- the configuration file ----

TEST(InitConfiguration, EmptyPathMeansNone) {
  if (DoneInChild()) return;
  EXPECT_ACL(ACL_SUCCESS, aclInit(""));
}

struct Configuration {
  const char* name;
  const char* text;
};

std::ostream& operator<<(std::ostream& out, const Configuration& instance) {
  return out << instance.name;
}

class AcceptedConfiguration : public ::testing::TestWithParam<Configuration> {};

TEST_P(AcceptedConfiguration, Initialises) {
  if (DoneInChild()) return;
  const TemporaryFolder folder;
  EXPECT_ACL(ACL_SUCCESS, aclInit(folder.Write("acl.json", GetParam().text).c_str()));
}

INSTANTIATE_TEST_SUITE_P(
    Init, AcceptedConfiguration,
    ::testing::Values(
        Configuration{"empty", "{}"}, Configuration{"spaces", " \n{\n\t}\n"},
        Configuration{"unknown_keys", R"({"future": {"list": [1, -2.5e3, true, null, "a\"b\u0041"]}})"},
        Configuration{"messages_of_process", R"({"err_msg_mode": "0"})"},
        Configuration{"messages_of_thread", R"({"err_msg_mode": "1"})"},
        Configuration{"dump_and_profiler", R"({"dump": {}, "profiler": {}, "max_opqueue_num": "10000"})"},
        Configuration{"stack_size", R"({"StackSize": {"aicore_stack_size": 32768}})"},
        Configuration{"ten_objects_deep", R"({"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{}}}}}}}}}})"},
        Configuration{"ten_arrays_deep", R"({"a":[[[[[[[[[[1]]]]]]]]]]})"}),
    [](const auto& instance) { return instance.param.name; });

class RefusedConfiguration : public ::testing::TestWithParam<Configuration> {};

TEST_P(RefusedConfiguration, LeavesTheProcessUninitialised) {
  if (DoneInChild()) return;
  const TemporaryFolder folder;
  const aclError refusal = aclInit(folder.Write("acl.json", GetParam().text).c_str());
  EXPECT_NE(refusal, ACL_SUCCESS);
  EXPECT_LT(refusal, 107000) << "a wrong file is the caller's mistake";
  EXPECT_NE(RecentMessage(), "");
  EXPECT_ACL(ACL_ERROR_REPEAT_FINALIZE, aclFinalizeReference(nullptr));
}

INSTANTIATE_TEST_SUITE_P(
    Init, RefusedConfiguration,
    ::testing::Values(Configuration{"nothing", ""}, Configuration{"no_object", "acl"},
                      Configuration{"string", R"("acl")"}, Configuration{"array", "[]"},
                      Configuration{"unfinished", R"({"dump": {)"},
                      Configuration{"no_value", R"({"dump": })"}, Configuration{"text_behind", "{} {}"},
                      Configuration{"wrong_message_mode", R"({"err_msg_mode": "2"})"},
                      Configuration{"eleven_objects_deep",
                                    R"({"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{}}}}}}}}}}})"},
                      Configuration{"eleven_arrays_deep", R"({"a":[[[[[[[[[[[1]]]]]]]]]]]})"}),
    [](const auto& instance) { return instance.param.name; });

class UnknownMessageMode : public ::testing::TestWithParam<Configuration> {};

TEST_P(UnknownMessageMode, IsRefused) {
  if (DoneInChild()) return;
  const TemporaryFolder folder;
  const std::string text = std::string(R"({"err_msg_mode": )") + GetParam().text + "}";
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclInit(folder.Write("acl.json", text).c_str()));
  EXPECT_TRUE(MessageHas("err_msg_mode"));
}

INSTANTIATE_TEST_SUITE_P(Init, UnknownMessageMode,
                         ::testing::Values(Configuration{"other", R"("2")"}, Configuration{"number", "1"},
                                           Configuration{"object", "{}"}, Configuration{"array", R"(["7"])"},
                                           Configuration{"array_of_a_known_one", R"(["1"])"}),
                         [](const auto& instance) { return instance.param.name; });

class WrongDefaultDevice : public ::testing::TestWithParam<Configuration> {};

TEST_P(WrongDefaultDevice, IsRefused) {
  if (DoneInChild()) return;
  const TemporaryFolder folder;
  const std::string text = std::string(R"({"defaultDevice": {"default_device": )") + GetParam().text + "}}";
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclInit(folder.Write("acl.json", text).c_str()));
  EXPECT_TRUE(MessageHas("default_device"));
}

INSTANTIATE_TEST_SUITE_P(Init, WrongDefaultDevice,
                         ::testing::Values(Configuration{"word", R"("one")"}, Configuration{"number", "1"},
                                           Configuration{"object", "{}"}, Configuration{"array", "[]"},
                                           Configuration{"array_of_one", R"(["1"])"}),
                         [](const auto& instance) { return instance.param.name; });

TEST(InitConfiguration, MissingFileIsNamed) {
  if (DoneInChild()) return;
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/missing.json";
  EXPECT_ACL(ACL_ERROR_INVALID_FILE, aclInit(path.c_str()));
  EXPECT_NE(RecentMessage().find(path), std::string::npos) << RecentMessage();
  EXPECT_ACL(ACL_SUCCESS, aclInit(nullptr)) << "the refused call does not count";
}

TEST(InitConfiguration, FolderIsNoFile) {
  if (DoneInChild()) return;
  const TemporaryFolder folder;
  EXPECT_ACL(ACL_ERROR_INVALID_FILE, aclInit(folder.path().c_str()));
}

TEST(InitConfiguration, FifoIsNoFile) {
  if (DoneInChild()) return;
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/fifo";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_ACL(ACL_ERROR_INVALID_FILE, aclInit(path.c_str()));
  EXPECT_TRUE(MessageHas(path));
}

TEST(InitConfiguration, ContentMustNotChangeInOneProcess) {
  if (DoneInChild()) return;
  const TemporaryFolder folder;
  EXPECT_ACL(ACL_SUCCESS, aclInit(folder.Write("first.json", R"({"err_msg_mode": "0"})").c_str()));
  EXPECT_ACL(ACL_ERROR_REPEAT_INITIALIZE, aclInit(folder.Write("other.json", "{}").c_str()))
      << "only counted";
  EXPECT_ACL(ACL_SUCCESS, aclFinalize());
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclInit((folder.path() + "/other.json").c_str()));
  EXPECT_ACL(ACL_SUCCESS, aclInit(folder.Write("copy.json", R"({"err_msg_mode": "0"})").c_str()))
      << "the content counts, not the path";
}

TEST(InitConfiguration, FileMayFollowAnInitWithoutOne) {
  if (DoneInChild()) return;
  const TemporaryFolder folder;
  EXPECT_ACL(ACL_SUCCESS, aclInit(nullptr));
  EXPECT_ACL(ACL_SUCCESS, aclFinalize());
  EXPECT_ACL(ACL_SUCCESS, aclInit(folder.Write("acl.json", "{}").c_str()));
}

TEST(InitConfiguration, DefaultDeviceServesThreadsThatSetNone) {
  if (DoneInChild()) return;
  const TemporaryFolder folder;
  const std::string path = folder.Write("acl.json", R"({"defaultDevice": {"default_device": "1"}})");
  EXPECT_ACL(ACL_SUCCESS, aclInit(path.c_str()));
  const auto use_it = [] {
    std::int32_t device = -1;
    EXPECT_ACL(ACL_SUCCESS, aclrtGetDevice(&device));
    EXPECT_EQ(device, 1);
    void* memory = nullptr;
    EXPECT_ACL(ACL_SUCCESS, aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    aclrtPtrAttributes attributes{};
    EXPECT_ACL(ACL_SUCCESS, aclrtPointerGetAttributes(memory, &attributes));
    EXPECT_EQ(attributes.location.id, 1u);
    EXPECT_ACL(ACL_SUCCESS, aclrtFree(memory));
  };
  use_it();
  std::thread(use_it).join();

  // Calls that would do without a context count too.
  aclrtStream stream = nullptr;
  EXPECT_ACL(ACL_SUCCESS, aclrtCreateStream(&stream));
  std::thread([stream] { EXPECT_ACL(ACL_SUCCESS, aclrtDestroyStream(stream)); }).join();
  std::thread([] {
    EXPECT_ACL(ACL_SUCCESS, aclrtSetStreamFailureMode(nullptr, ACL_CONTINUE_ON_FAILURE));
  }).join();
}

TEST(InitConfiguration, DefaultDeviceIsSetOnceByAThread) {
  if (DoneInChild()) return;
  const TemporaryFolder folder;
  const std::string path = folder.Write("acl.json", R"({"defaultDevice": {"default_device": "1"}})");
  EXPECT_ACL(ACL_SUCCESS, aclInit(path.c_str()));
  aclrtContext context = nullptr;
  EXPECT_ACL(ACL_SUCCESS, aclrtCreateContext(&context, 0));
  std::thread([context] { EXPECT_ACL(ACL_SUCCESS, aclrtDestroyContext(context)); }).join();
  for (int i = 0; i < 3; ++i)
    EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(nullptr));
  EXPECT_ACL(ACL_SUCCESS, aclrtResetDevice(1));
  EXPECT_ACL(ACL_ERROR_RT_CONTEXT_RELEASE_ERROR, aclrtResetDevice(1)) << "set once, whatever was called";
}

TEST(InitConfiguration, DefaultDeviceYieldsToAnotherOne) {
  if (DoneInChild()) return;
  const TemporaryFolder folder;
  const std::string path = folder.Write("acl.json", R"({"defaultDevice": {"default_device": "1"}})");
  EXPECT_ACL(ACL_SUCCESS, aclInit(path.c_str()));
  EXPECT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
  std::int32_t device = -1;
  EXPECT_ACL(ACL_SUCCESS, aclrtGetDevice(&device));
  EXPECT_EQ(device, 0);
}

}  // namespace
}  // namespace sampan::test::init_test
