// The SAMPAN_ settings: accepted values, refusals that explain, the list.
// Rules of docs/BEHAVIOUR.md: process-5, stream-9.
#include <gtest/gtest.h>

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "acl/acl.h"
#include "tests/support/acl_expect.h"
#include "tests/support/child_process.h"
#include "tests/support/memory_buffer.h"

// Settings are read once in a process, so every test here has a process of its own.
namespace sampan::test::settings_test {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;
constexpr const char* kSettings[] = {
    "SAMPAN_BACKEND",   "SAMPAN_DEVICES",     "SAMPAN_DEVICE_MEMORY", "SAMPAN_HOST_MEMORY", "SAMPAN_ENGINES",
    "SAMPAN_PROFILE",   "SAMPAN_SCHEDULE",    "SAMPAN_FAULT",         "SAMPAN_BACKTRACE",   "SAMPAN_HELP",
    "SAMPAN_COPY_PATH", "SAMPAN_COPY_BLOCKS", "SAMPAN_COPY_QUIET",    "SAMPAN_COPY_TABLE",  "SAMPAN_TRACE",
    "SAMPAN_SUMMARY",   "SAMPAN_FRESH_MEMORY"};

/// Removes the settings that this process was started with.
Variables Only(Variables changes) {
  for (const char* name : kSettings) {
    bool given = false;
    for (const auto& change : changes)
      given = given || change.first == name;
    if (!given) changes.emplace_back(name, std::nullopt);
  }
  return changes;
}

// ---- refusals ----

struct Wrong {
  const char* name;
  const char* setting;
  const char* value;
  const char* accepted;  ///< a part of the explanation
};

std::ostream& operator<<(std::ostream& out, const Wrong& instance) {
  return out << instance.name;
}

class WrongSetting : public ::testing::TestWithParam<Wrong> {};

TEST_P(WrongSetting, IsExplainedByEveryFirstUse) {
  if (DoneInChild(Only({{GetParam().setting, GetParam().value}}))) return;
  EXPECT_ACL(ACL_ERROR_RT_DEV_SETUP_ERROR, aclInit(nullptr));
  EXPECT_TRUE(MessageHas(GetParam().setting));
  EXPECT_TRUE(MessageHas(GetParam().value));
  EXPECT_TRUE(MessageHas(GetParam().accepted));
  EXPECT_ACL(ACL_ERROR_RT_DEV_SETUP_ERROR, aclrtSetDevice(0)) << "and again";
  EXPECT_TRUE(MessageHas(GetParam().setting));
}

INSTANTIATE_TEST_SUITE_P(
    Settings, WrongSetting,
    ::testing::Values(Wrong{"backend", "SAMPAN_BACKEND", "imaginary", "emulated"},
                      Wrong{"no_devices", "SAMPAN_DEVICES", "0", "64"},
                      Wrong{"too_many_devices", "SAMPAN_DEVICES", "65", "64"},
                      Wrong{"devices_in_words", "SAMPAN_DEVICES", "eight", "64"},
                      Wrong{"devices_with_a_tail", "SAMPAN_DEVICES", "8x", "64"},
                      Wrong{"memory_below_zero", "SAMPAN_DEVICE_MEMORY", "-1", "M"},
                      Wrong{"memory_in_queer_units", "SAMPAN_DEVICE_MEMORY", "12Q", "M"},
                      Wrong{"host_memory_in_queer_units", "SAMPAN_HOST_MEMORY", "12Q", "M"},
                      Wrong{"memory_too_large", "SAMPAN_DEVICE_MEMORY", "99999999999999999999G", "M"},
                      Wrong{"fresh_memory_in_words", "SAMPAN_FRESH_MEMORY", "zero", "0xff"},
                      Wrong{"fresh_memory_of_more_than_a_byte", "SAMPAN_FRESH_MEMORY", "0x100", "0xff"},
                      Wrong{"no_engines", "SAMPAN_ENGINES", "0", "64"},
                      Wrong{"profile", "SAMPAN_PROFILE", "ascend9000", "ascend910b"},
                      Wrong{"profile_with_unknown_release", "SAMPAN_PROFILE", "ascend910b,cann1", "cann9"},
                      Wrong{"schedule", "SAMPAN_SCHEDULE", "never", "seed:N"},
                      Wrong{"seed_without_number", "SAMPAN_SCHEDULE", "seed:", "seed:N"},
                      Wrong{"backtrace", "SAMPAN_BACKTRACE", "2", "0 or 1"},
                      Wrong{"fault_without_number", "SAMPAN_FAULT", "memory", "memory:N"},
                      Wrong{"fault_number_zero", "SAMPAN_FAULT", "queue:0", "queue:N"},
                      Wrong{"fault_of_unknown_kind", "SAMPAN_FAULT", "disk:1", "memory:N"},
                      Wrong{"copy_path", "SAMPAN_COPY_PATH", "road", "kernel"},
                      Wrong{"copy_blocks", "SAMPAN_COPY_BLOCKS", "0", "1024"},
                      Wrong{"copy_quiet", "SAMPAN_COPY_QUIET", "loud", "auto, speed or quiet"},
                      Wrong{"copy_table_without_name", "SAMPAN_COPY_TABLE", "", "docs/COPY_TABLE.md"},
                      Wrong{"copy_table_that_is_not_there", "SAMPAN_COPY_TABLE", "/nowhere/limits.txt",
                            "cannot be read: No such file"},
                      Wrong{"copy_table_that_is_a_folder", "SAMPAN_COPY_TABLE", "/", "cannot be read"},
                      Wrong{"copy_table_of_no_use", "SAMPAN_COPY_TABLE", "/dev/null",
                            ":0: there is no table"},
                      Wrong{"trace", "SAMPAN_TRACE", "", "a file name"},
                      Wrong{"summary", "SAMPAN_SUMMARY", "yes", "0 or 1"},
                      Wrong{"help", "SAMPAN_HELP", "please", "0 or 1"}),
    [](const auto& instance) { return instance.param.name; });

/// cuda-2. Settings are read before the driver is looked for, so no GPU is needed.
class SettingOfEmulatedDevices : public ::testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(SettingOfEmulatedDevices, IsRefusedOnAGpu) {
  if (DoneInChild(Only({{"SAMPAN_BACKEND", "cuda"}, {GetParam().first, GetParam().second}}))) return;
  EXPECT_ACL(ACL_ERROR_RT_DEV_SETUP_ERROR, aclInit(nullptr));
  EXPECT_TRUE(MessageHas(std::string(GetParam().first) + " is for emulated devices"));
}

INSTANTIATE_TEST_SUITE_P(Settings, SettingOfEmulatedDevices,
                         ::testing::Values(std::pair{"SAMPAN_SCHEDULE", "late"},
                                           std::pair{"SAMPAN_ENGINES", "1"}),
                         [](const auto& instance) { return std::string(instance.param.first); });

TEST(UnknownSetting, IsRefusedWithTheKnownOnes) {
  if (DoneInChild(Only({{"SAMPAN_DEVICE", "1"}}))) return;
  EXPECT_ACL(ACL_ERROR_RT_DEV_SETUP_ERROR, aclrtSetDevice(0));
  EXPECT_TRUE(MessageHas("SAMPAN_DEVICE "));
  for (const char* name : kSettings)
    EXPECT_TRUE(MessageHas(name));
}

TEST(UnknownSetting, StopsAnyFirstUse) {
  if (DoneInChild(Only({{"SAMPAN_COLOUR", "blue"}}))) return;
  std::uint32_t count = 0;
  EXPECT_ACL(ACL_ERROR_RT_DEV_SETUP_ERROR, aclrtGetDeviceCount(&count));
  EXPECT_TRUE(MessageHas("SAMPAN_COLOUR"));
}

// ---- effects ----

std::size_t TotalMemory() {
  EXPECT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
  std::size_t free = 0, total = 0;
  EXPECT_ACL(ACL_SUCCESS, aclrtGetMemInfo(ACL_HBM_MEM, &free, &total));
  return total;
}

std::uint32_t DeviceCount() {
  std::uint32_t count = 0;
  EXPECT_ACL(ACL_SUCCESS, aclrtGetDeviceCount(&count));
  return count;
}

TEST(DevicesSetting, IsEightByDefault) {
  if (DoneInChild(Only({}))) return;
  EXPECT_EQ(DeviceCount(), 8u);
}

TEST(DevicesSetting, OneIsEnough) {
  if (DoneInChild(Only({{"SAMPAN_DEVICES", "1"}}))) return;
  EXPECT_EQ(DeviceCount(), 1u);
  EXPECT_ACL(ACL_ERROR_RT_INVALID_DEVICEID, aclrtSetDevice(1));
}

TEST(DevicesSetting, AreAtMost64) {
  if (DoneInChild(Only({{"SAMPAN_DEVICES", "64"}, {"SAMPAN_DEVICE_MEMORY", "16M"}}))) return;
  EXPECT_EQ(DeviceCount(), 64u);
  EXPECT_ACL(ACL_SUCCESS, aclrtSetDevice(63));
  const DeviceBuffer buffer(64);
}

TEST(DeviceMemorySetting, TakesPlainBytes) {
  if (DoneInChild(Only({{"SAMPAN_DEVICE_MEMORY", "67108864"}}))) return;
  EXPECT_EQ(TotalMemory(), 64 * kMiB);
}

TEST(DeviceMemorySetting, TakesKibibytes) {
  if (DoneInChild(Only({{"SAMPAN_DEVICE_MEMORY", "65536K"}}))) return;
  EXPECT_EQ(TotalMemory(), 64 * kMiB);
}

TEST(DeviceMemorySetting, TakesGibibytes) {
  if (DoneInChild(Only({{"SAMPAN_DEVICE_MEMORY", "2G"}}))) return;
  EXPECT_EQ(TotalMemory(), 2048 * kMiB);
}

TEST(FreshMemorySetting, FillsNewDeviceMemory) {
  if (DoneInChild(Only({{"SAMPAN_FRESH_MEMORY", "0xCd"}}))) return;
  ASSERT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
  for (const std::size_t bytes : {std::size_t{100}, 3 * kMiB}) {
    for (int round = 0; round < 2; ++round) {  // also where freed memory comes back
      void* block = nullptr;
      ASSERT_ACL(ACL_SUCCESS, aclrtMalloc(&block, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
      std::vector<unsigned char> back(bytes);
      ASSERT_ACL(ACL_SUCCESS, aclrtMemcpy(back.data(), bytes, block, bytes, ACL_MEMCPY_DEVICE_TO_HOST));
      EXPECT_EQ(back, std::vector<unsigned char>(bytes, 0xCD));
      ASSERT_ACL(ACL_SUCCESS, aclrtMemset(block, bytes, 0, bytes));
      ASSERT_ACL(ACL_SUCCESS, aclrtFree(block));
    }
  }
}

TEST(EnginesSetting, OneStillCopies) {
  if (DoneInChild(Only({{"SAMPAN_ENGINES", "1"}}))) return;
  EXPECT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
  const DeviceBuffer dst(4 * kMiB), src(4 * kMiB);
  const Bytes sent = Random().Fill(4 * kMiB);
  src.Write(0, sent);
  EXPECT_ACL(ACL_SUCCESS, aclrtMemcpyAsync(dst.data(), 4 * kMiB, src.data(), 4 * kMiB,
                                           ACL_MEMCPY_DEVICE_TO_DEVICE, nullptr));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(nullptr));
  EXPECT_EQ(dst.Read(0, 4 * kMiB), sent);
}

TEST(FaultSetting, FailsOneAllocation) {
  if (DoneInChild(Only({{"SAMPAN_FAULT", "memory:2"}}))) return;
  EXPECT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
  void* memory[3] = {};
  EXPECT_ACL(ACL_SUCCESS, aclrtMalloc(&memory[0], 64, ACL_MEM_MALLOC_HUGE_FIRST));
  EXPECT_ACL(ACL_ERROR_RT_MEMORY_ALLOCATION, aclrtMalloc(&memory[1], 64, ACL_MEM_MALLOC_HUGE_FIRST));
  EXPECT_TRUE(MessageHas("SAMPAN_FAULT"));
  EXPECT_ACL(ACL_SUCCESS, aclrtMalloc(&memory[2], 64, ACL_MEM_MALLOC_HUGE_FIRST)) << "only once";
}

TEST(FaultSetting, FailsOneSubmission) {
  if (DoneInChild(Only({{"SAMPAN_FAULT", "queue:2"}}))) return;
  EXPECT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
  const DeviceBuffer buffer(64);
  aclError answers[3] = {};
  for (aclError& answer : answers)
    answer = aclrtMemsetAsync(buffer.data(), 64, 1, 64, nullptr);
  EXPECT_EQ(answers[0], ACL_SUCCESS);
  EXPECT_EQ(answers[1], ACL_ERROR_RT_RESOURCE_ALLOC_FAIL);
  EXPECT_EQ(answers[2], ACL_SUCCESS);
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(nullptr));
}

TEST(BacktraceSetting, MessagesSayWhereMemoryWasMade) {
  if (DoneInChild(Only({{"SAMPAN_BACKTRACE", "1"}}))) return;
  EXPECT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
  const DeviceBuffer buffer(1000);
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtMemset(buffer.data(), 5000, 0, 5000));
  EXPECT_TRUE(MessageHas(ProgramPath()));
}

TEST(BacktraceSetting, IsOffByDefault) {
  if (DoneInChild(Only({}))) return;
  EXPECT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
  const DeviceBuffer buffer(1000);
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtMemset(buffer.data(), 5000, 0, 5000));
  EXPECT_FALSE(MessageHas(ProgramPath()));
}

class Schedule : public ::testing::TestWithParam<const char*> {};

TEST_P(Schedule, IsAccepted) {
  if (DoneInChild(Only({{"SAMPAN_SCHEDULE", GetParam()}}))) return;
  EXPECT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
  const DeviceBuffer buffer(64);
  EXPECT_ACL(ACL_SUCCESS, aclrtMemsetAsync(buffer.data(), 64, 5, 64, nullptr));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(nullptr));
  EXPECT_EQ(buffer.Read(0, 64), Bytes(64, std::byte{5}));
}

INSTANTIATE_TEST_SUITE_P(Settings, Schedule,
                         ::testing::Values("parallel", "early", "late", "seed:0", "seed:123"));

TEST(ScheduleSetting, EarlyRunsBeforeTheSubmissionReturns) {
  if (DoneInChild(Only({{"SAMPAN_SCHEDULE", "early"}}))) return;
  EXPECT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
  const DeviceBuffer device(1);
  const PinnedBuffer pinned(1);
  device.Write(0, Bytes{std::byte{7}});
  *pinned.at(0) = std::byte{0};
  EXPECT_ACL(ACL_SUCCESS,
             aclrtMemcpyAsync(pinned.data(), 1, device.data(), 1, ACL_MEMCPY_DEVICE_TO_HOST, nullptr));
  EXPECT_EQ(*pinned.at(0), std::byte{7});
}

TEST(ScheduleSetting, LateRunsWhenACallWaits) {
  if (DoneInChild(Only({{"SAMPAN_SCHEDULE", "late"}}))) return;
  EXPECT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
  const DeviceBuffer device(1);
  const PinnedBuffer pinned(1);
  device.Write(0, Bytes{std::byte{7}});
  *pinned.at(0) = std::byte{0};
  EXPECT_ACL(ACL_SUCCESS,
             aclrtMemcpyAsync(pinned.data(), 1, device.data(), 1, ACL_MEMCPY_DEVICE_TO_HOST, nullptr));
  EXPECT_EQ(*pinned.at(0), std::byte{0});
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(nullptr));
  EXPECT_EQ(*pinned.at(0), std::byte{7});
}

// ---- the list ----

TEST(HelpSetting, ListsEverySetting) {
  if (InChild()) {
    EXPECT_ACL(ACL_SUCCESS, aclInit(nullptr));
    return;
  }
  const ChildResult child = RunInChild(Only({{"SAMPAN_HELP", "1"}}));
  ASSERT_TRUE(child.Passed()) << child;
  for (const char* name : kSettings) {
    EXPECT_NE(child.errors.find(name), std::string::npos) << name << "\n" << child;
  }
}

TEST(HelpSetting, IsSilentOtherwise) {
  if (InChild()) {
    EXPECT_ACL(ACL_SUCCESS, aclInit(nullptr));
    return;
  }
  const ChildResult child = RunInChild(Only({{"SAMPAN_HELP", "0"}}));
  ASSERT_TRUE(child.Passed()) << child;
  EXPECT_EQ(child.errors.find("SAMPAN_DEVICES"), std::string::npos) << child;
}

}  // namespace
}  // namespace sampan::test::settings_test
