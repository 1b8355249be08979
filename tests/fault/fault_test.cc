// Fails the n-th internal operation of every public function, for n = 1, 2, 3, ... until the call gets
// through, and looks for crashes, leaks and lies.
#include <gtest/gtest.h>

#include <cctype>
#include <set>
#include <string>

#include "process/process.h"
#include "tests/fault/allocation_fault.h"
#include "tests/fault/api_call.h"
#include "tests/support/acl_expect.h"

namespace sampan::fault::fault_test {
namespace {

constexpr std::uint64_t kMaxAttempts = 2000;

enum class What { kAllocation, kMemory, kQueue };

void Arm(What what, std::uint64_t n) {
  switch (what) {
    case What::kAllocation:
      return ArmAllocation(n);
    case What::kMemory:
      return process::Faults().Arm(FaultKind::kMemory, n);
    case What::kQueue:
      return process::Faults().Arm(FaultKind::kQueue, n);
  }
}
bool Armed(What what) {
  switch (what) {
    case What::kAllocation:
      return AllocationArmed();
    case What::kMemory:
      return process::Faults().Armed(FaultKind::kMemory);
    case What::kQueue:
      return process::Faults().Armed(FaultKind::kQueue);
  }
  return false;
}

/// Codes that say that something ran out. Anything else would send the caller looking in the wrong place.
bool IsShortage(aclError code) {
  static const std::set<aclError> kCodes = {ACL_ERROR_BAD_ALLOC,
                                            ACL_ERROR_RT_MEMORY_ALLOCATION,
                                            ACL_ERROR_RT_RESOURCE_ALLOC_FAIL,
                                            ACL_ERROR_RT_NO_EVENT_RESOURCE,
                                            ACL_ERROR_RT_NO_STREAM_RESOURCE,
                                            ACL_ERROR_RT_NO_NOTIFY_RESOURCE,
                                            ACL_ERROR_RT_DEV_SETUP_ERROR};
  return kCodes.contains(code);
}

/// What a leak of the runtime's own resources would make smaller.
struct Resources {
  std::size_t memory = 0;
  std::uint32_t streams = 0, events = 0;

  static Resources Now() {
    Resources now;
    std::size_t total = 0;
    EXPECT_ACL(ACL_SUCCESS, aclrtGetMemInfo(ACL_HBM_MEM, &now.memory, &total));
    EXPECT_ACL(ACL_SUCCESS, aclrtGetStreamAvailableNum(&now.streams));
    EXPECT_ACL(ACL_SUCCESS, aclrtGetEventAvailNum(&now.events));
    return now;
  }
  bool operator==(const Resources&) const = default;
};

/// One attempt; says whether the ordered failure happened.
bool Attempt(const ApiCall& api, World& world, What what, std::uint64_t n) {
  world.results = {};
  if (api.prepare != nullptr) api.prepare(world);
  Arm(what, n);
  const aclError code = api.call(world);
  const bool happened = !Armed(what);
  Arm(what, 0);
  if (code != ACL_SUCCESS) {
    EXPECT_TRUE(happened) << "failed by itself: " << test::RecentMessage();
    EXPECT_TRUE(IsShortage(code)) << "answered " << code << ": " << test::RecentMessage();
    EXPECT_TRUE(api.claims == nullptr || !api.claims(world)) << "failed, and did it all the same";
    EXPECT_ACL(ACL_SUCCESS, api.call(world)) << "again, with nothing in the way";
  }
  EXPECT_TRUE(api.right == nullptr || api.right(world)) << "what was asked for was not done";
  if (api.undo != nullptr) api.undo(world);
  EXPECT_TRUE(world.Drained());
  return happened;
}

bool HasServers() {
  std::int64_t server = 0;
  return aclrtGetDeviceInfo(0, ACL_DEV_ATTR_SUPER_POD_SERVER_ID, &server) == ACL_SUCCESS;
}

class Faults : public ::testing::TestWithParam<ApiCall> {
 protected:
  void SetUp() override {
    if (GetParam().needs_servers && !HasServers())
      GTEST_SKIP() << "the profile's chip has no servers: fault_servers runs it";
  }
  void Sweep(What what) {
    World world;
    Attempt(GetParam(), world, what, 0);  // first uses grow tables that stay
    const Resources before = Resources::Now();
    std::uint64_t n = 1;
    while (n <= kMaxAttempts && !HasFailure()) {
      SCOPED_TRACE("failure of operation " + std::to_string(n));
      if (!Attempt(GetParam(), world, what, n)) break;
      ++n;
    }
    EXPECT_LE(n, kMaxAttempts);
    EXPECT_TRUE(Resources::Now() == before) << "device memory, streams or events leaked";
    RecordProperty("failures", static_cast<int>(n - 1));
  }
};

TEST_P(Faults, OfHostMemory) {
  Sweep(What::kAllocation);
}
TEST_P(Faults, OfDeviceMemory) {
  Sweep(What::kMemory);
}
TEST_P(Faults, OfQueues) {
  Sweep(What::kQueue);
}

std::string TestName(const ::testing::TestParamInfo<ApiCall>& info) {
  std::string name = info.param.name;
  for (char& letter : name) {
    if (std::isalnum(static_cast<unsigned char>(letter)) == 0) letter = '_';
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(Api, Faults, ::testing::ValuesIn(AllCalls()), TestName);

/// Functions that hold no table row: they only read a value that the caller passed in.
const std::set<std::string> kWithoutState = {
    "aclFloat16ToFloat",
    "aclFloatToFloat16",
    "aclDataTypeSize",
    "aclGetDataBufferAddr",
    "aclGetDataBufferSize",
    "aclGetDataBufferSizeV2",
    "aclrtGetTaskIdFromExceptionInfo",
    "aclrtGetStreamIdFromExceptionInfo",
    "aclrtGetThreadIdFromExceptionInfo",
    "aclrtGetDeviceIdFromExceptionInfo",
    "aclrtGetErrorCodeFromExceptionInfo",
    "aclrtCreateGroupInfo",
};

TEST(FaultTable, HasEveryFunctionOfTheLibrary) {
  static constexpr const char* kDefined[] = {
#include "defined_functions.inc"
  };
  std::set<std::string> covered = kWithoutState;
  for (const ApiCall& api : AllCalls()) {
    const std::string name = api.name;
    covered.insert(name.substr(0, name.find(' ')));
  }
  for (const char* const name : kDefined)
    EXPECT_TRUE(covered.contains(name)) << name << " has no row";
}

}  // namespace
}  // namespace sampan::fault::fault_test
