// ASCEND_RT_VISIBLE_DEVICES: which devices a process sees, and under which numbers.
#include <gtest/gtest.h>

#include <cstdint>
#include <ostream>
#include <string>

#include "acl/acl.h"
#include "tests/support/acl_expect.h"
#include "tests/support/child_process.h"

// The list is read once in a process, so every test here has a process of its own.
namespace sampan::test::visible_devices_test {
namespace {

Variables Visible(const std::string& list) {
  return {{"ASCEND_RT_VISIBLE_DEVICES", list}, {"SAMPAN_DEVICES", "8"}};
}

std::uint32_t DeviceCount() {
  std::uint32_t count = 0;
  EXPECT_ACL(ACL_SUCCESS, aclrtGetDeviceCount(&count));
  return count;
}

TEST(VisibleDevices, AreAllWithoutAList) {
  if (DoneInChild({{"ASCEND_RT_VISIBLE_DEVICES", std::nullopt}, {"SAMPAN_DEVICES", "5"}})) return;
  EXPECT_EQ(DeviceCount(), 5u);
}

TEST(VisibleDevices, AreCountedFromZero) {
  if (DoneInChild(Visible("2,5"))) return;
  EXPECT_EQ(DeviceCount(), 2u);
  std::int32_t number = -1;
  EXPECT_ACL(ACL_SUCCESS, aclrtGetPhyDevIdByUserDevId(0, &number));
  EXPECT_EQ(number, 2);
  EXPECT_ACL(ACL_SUCCESS, aclrtGetPhyDevIdByUserDevId(1, &number));
  EXPECT_EQ(number, 5);
  EXPECT_ACL(ACL_SUCCESS, aclrtGetUserDevIdByPhyDevId(5, &number));
  EXPECT_EQ(number, 1);
  EXPECT_ACL(ACL_ERROR_RT_INVALID_DEVICEID, aclrtGetUserDevIdByPhyDevId(3, &number)) << "hidden";
}

TEST(VisibleDevices, NumbersConvertBothWays) {
  if (DoneInChild(Visible("2,5"))) return;
  for (std::int32_t user = 0; user < 2; ++user) {
    std::int32_t logic = -1, physical = -1, back = -1;
    EXPECT_ACL(ACL_SUCCESS, aclrtGetLogicDevIdByUserDevId(user, &logic));
    EXPECT_ACL(ACL_SUCCESS, aclrtGetPhyDevIdByLogicDevId(logic, &physical));
    EXPECT_EQ(physical, user == 0 ? 2 : 5);
    EXPECT_ACL(ACL_SUCCESS, aclrtGetLogicDevIdByPhyDevId(physical, &back));
    EXPECT_EQ(back, logic);
    EXPECT_ACL(ACL_SUCCESS, aclrtGetUserDevIdByLogicDevId(logic, &back));
    EXPECT_EQ(back, user);
  }
}

TEST(VisibleDevices, AreTheOnlyOnesThatCanBeSet) {
  if (DoneInChild(Visible("2,5"))) return;
  EXPECT_ACL(ACL_SUCCESS, aclrtSetDevice(1));
  EXPECT_ACL(ACL_ERROR_RT_INVALID_DEVICEID, aclrtSetDevice(2));
  EXPECT_ACL(ACL_ERROR_RT_INVALID_DEVICEID, aclrtSetDevice(5));
  std::int32_t device = -1;
  EXPECT_ACL(ACL_SUCCESS, aclrtGetDevice(&device));
  EXPECT_EQ(device, 1);
}

TEST(VisibleDevices, NumberTheMemory) {
  if (DoneInChild(Visible("2,5"))) return;
  EXPECT_ACL(ACL_SUCCESS, aclrtSetDevice(1));
  void* memory = nullptr;
  EXPECT_ACL(ACL_SUCCESS, aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST));
  aclrtPtrAttributes attributes{};
  EXPECT_ACL(ACL_SUCCESS, aclrtPointerGetAttributes(memory, &attributes));
  EXPECT_EQ(attributes.location.type, ACL_MEM_LOCATION_TYPE_DEVICE);
  EXPECT_EQ(attributes.location.id, 1u);
}

TEST(VisibleDevices, AreDifferentChips) {
  if (DoneInChild(Visible("2,5"))) return;
  std::int64_t first = -1, second = -1;
  EXPECT_ACL(ACL_SUCCESS, aclrtGetDeviceInfo(0, ACL_DEV_ATTR_PHY_CHIP_ID, &first));
  EXPECT_ACL(ACL_SUCCESS, aclrtGetDeviceInfo(1, ACL_DEV_ATTR_PHY_CHIP_ID, &second));
  EXPECT_NE(first, second);
}

struct List {
  const char* name;
  const char* text;
  std::uint32_t count;
};

std::ostream& operator<<(std::ostream& out, const List& instance) {
  return out << instance.name;
}

class CutList : public ::testing::TestWithParam<List> {};

TEST_P(CutList, EndsAtTheFirstInvalidToken) {
  if (DoneInChild(Visible(GetParam().text))) return;
  EXPECT_EQ(DeviceCount(), GetParam().count);
}

INSTANTIATE_TEST_SUITE_P(VisibleDevices, CutList,
                         ::testing::Values(List{"word", "0,x,2", 1}, List{"too_large", "0,1,8,9", 2},
                                           List{"negative", "3,4,-1", 2},
                                           List{"all_valid", "0,1,2,3,4,5,6,7", 8}),
                         [](const auto& instance) { return instance.param.name; });

class RefusedList : public ::testing::TestWithParam<List> {};

TEST_P(RefusedList, LeavesNoDevice) {
  if (DoneInChild(Visible(GetParam().text))) return;
  std::uint32_t count = 4711;
  EXPECT_ACL(ACL_ERROR_RT_NO_DEVICE, aclrtGetDeviceCount(&count));
  EXPECT_TRUE(MessageHas("EE2002"));
  EXPECT_TRUE(MessageHas("ASCEND_RT_VISIBLE_DEVICES"));
  EXPECT_TRUE(MessageHas(GetParam().text));
  EXPECT_NE(aclrtSetDevice(0), ACL_SUCCESS);
  EXPECT_TRUE(MessageHas("aclrtSetDevice"));
  EXPECT_TRUE(MessageHas(std::string("ASCEND_RT_VISIBLE_DEVICES='") + GetParam().text + "'"));
}

INSTANTIATE_TEST_SUITE_P(VisibleDevices, RefusedList,
                         ::testing::Values(List{"first_is_a_word", "x,1", 0},
                                           List{"first_is_too_large", "8,1", 0},
                                           List{"first_is_negative", "-1", 0}, List{"falling", "3,1", 0},
                                           List{"twice", "1,1", 0}, List{"twice_later", "0,2,2", 0}),
                         [](const auto& instance) { return instance.param.name; });

}  // namespace
}  // namespace sampan::test::visible_devices_test
