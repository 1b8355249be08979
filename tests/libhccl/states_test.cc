// What state a communicator is in, who is told when it changes, and its settings.
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/libhccl/case_list.h"
#include "tests/support/acl_expect.h"
#include "tests/support/environment_variable.h"

namespace sampan::test::states_test {
namespace {

void ExpectCode(HcclResult expected, const std::string& message, HcclResult answer) {
  EXPECT_EQ(expected, answer) << RecentMessage();
  if (expected != HCCL_SUCCESS) {
    EXPECT_NE(RecentMessage().find(message), std::string::npos) << RecentMessage();
  }
}

TEST(Suspended, OperatorsAreRefusedUntilItIsResumed) {
  ExpectNone(RunWorlds(2, Form::kThreads, [&](World& world) {
    char name[COMM_NAME_MAX_LENGTH];
    Check(HcclGetCommName(world.comm, name));
    const auto expect = [&](HcclCommStatus wanted) {
      HcclCommStatus status = HCCL_COMM_STATUS_RESERVED;
      Check(HcclCommGetStatus(name, &status));
      if (status != wanted) throw Failure("the status is " + std::to_string(status));
    };
    expect(HCCL_COMM_STATUS_READY);
    Check(HcclCommSuspend(world.comm));
    expect(HCCL_COMM_STATUS_SUSPENDING);
    if (HcclBarrier(world.comm, world.stream) != HCCL_E_SUSPENDING)
      throw Failure("a suspended communicator accepts an operator");
    Check(HcclCommResume(world.comm));
    expect(HCCL_COMM_STATUS_READY);
    Check(HcclBarrier(world.comm, world.stream));
    world.Synchronize();
    // Counts differ: it has failed on both ranks.
    const DeviceBlock block(std::vector<u8>(64, 1));
    Check(HcclBroadcast(block.at(), 1 + world.rank, HCCL_DATA_TYPE_INT8, 0, world.comm, world.stream));
    if (aclrtSynchronizeStream(world.stream) == ACL_SUCCESS) throw Failure("ranks may disagree");
    expect(HCCL_COMM_STATUS_INVALID);
  }));
}

/// A communicator of one rank.
class States : public testing::Test {
 protected:
  void SetUp() override {
    Check(aclrtSetDevice(0));
    HcclCommConfigInit(&config_);
    std::strcpy(config_.hcclCommName, "states");
  }
  void TearDown() override {
    for (const std::string& name : names_)
      Check(HcclCommRegCommStateCallback(name.c_str(), Ignore, nullptr));
    if (comm_ != nullptr) Check(HcclCommDestroy(comm_));
  }
  void Make() {
    HcclRootInfo info;
    Check(HcclGetRootInfo(&info));
    Check(HcclCommInitRootInfoConfig(1, &info, 0, &config_, &comm_));
  }

  struct Call {
    HcclComm comm;
    HcclCommStatePhase phase;
    std::string name;
    bool operator==(const Call&) const = default;
  };
  /// What the program's function gets: where it writes, and what it answers before a change.
  struct Told {
    std::vector<Call>* calls;
    std::string name;
    HcclResult answer = HCCL_SUCCESS;
  };
  static HcclResult Ignore(HcclComm, HcclCommStatePhase, void*) { return HCCL_SUCCESS; }
  static HcclResult Note(HcclComm comm, HcclCommStatePhase phase, void* args) {
    const auto* const told = static_cast<Told*>(args);
    told->calls->push_back({comm, phase, told->name});
    return told->answer;
  }
  void Register(const char* name, Told& told) {
    names_.emplace_back(name);
    ExpectCode(HCCL_SUCCESS, "", HcclCommRegCommStateCallback(name, Note, &told));
  }

  HcclCommConfig config_{};
  HcclComm comm_ = nullptr;
  std::vector<Call> calls_;
  std::vector<std::string> names_;
};

/// collective-29
TEST_F(States, TheProgramIsToldOfEachChange) {
  Make();
  Told first{&calls_, "first"}, second{&calls_, "second"};
  Register("a", first);
  Register("b", second);
  Check(HcclCommSuspend(comm_));
  EXPECT_TRUE(calls_.empty());
  Check(HcclCommResume(comm_));
  const std::vector<Call> resumed = {{comm_, HCCL_COMM_STATE_PHASE_RESUME_PRE, "first"},
                                     {comm_, HCCL_COMM_STATE_PHASE_RESUME_PRE, "second"},
                                     {comm_, HCCL_COMM_STATE_PHASE_RESUME_POST, "first"},
                                     {comm_, HCCL_COMM_STATE_PHASE_RESUME_POST, "second"}};
  EXPECT_EQ(calls_, resumed);
  calls_.clear();
  Register("a", second);  // instead of the first
  const HcclComm gone = std::exchange(comm_, nullptr);
  ExpectCode(HCCL_SUCCESS, "", HcclCommDestroy(gone));
  const std::vector<Call> destroyed = {{gone, HCCL_COMM_STATE_PHASE_DESTROY_PRE, "second"},
                                       {gone, HCCL_COMM_STATE_PHASE_DESTROY_PRE, "second"},
                                       {gone, HCCL_COMM_STATE_PHASE_DESTROY_POST, "second"},
                                       {gone, HCCL_COMM_STATE_PHASE_DESTROY_POST, "second"}};
  EXPECT_EQ(calls_, destroyed);
  calls_.clear();
  ExpectCode(HCCL_E_PARA, "it was destroyed", HcclCommDestroy(gone));
  ExpectCode(HCCL_SUCCESS, "", HcclCommDestroy(nullptr));
  EXPECT_TRUE(calls_.empty());
}

/// collective-29: its code before a change is the call's. Afterwards it is too late.
TEST_F(States, TheProgramMayRefuseAChange) {
  Make();
  Told told{&calls_, "told", HCCL_E_AGAIN};
  Register("refuses", told);
  Check(HcclCommSuspend(comm_));
  ExpectCode(HCCL_E_AGAIN, "the state callback 'refuses' failed", HcclCommResume(comm_));
  HcclCommStatus status = HCCL_COMM_STATUS_RESERVED;
  ExpectCode(HCCL_SUCCESS, "", HcclCommGetStatus("states", &status));
  EXPECT_EQ(status, HCCL_COMM_STATUS_SUSPENDING);
  ExpectCode(HCCL_E_AGAIN, "the state callback 'refuses' failed", HcclCommDestroy(comm_));
  EXPECT_EQ(calls_.size(), 2U);
  Check(HcclCommRegCommStateCallback(
      "refuses",
      [](HcclComm, HcclCommStatePhase phase, void*) {
        return phase == HCCL_COMM_STATE_PHASE_RESUME_POST ? HCCL_E_INTERNAL : HCCL_SUCCESS;
      },
      nullptr));
  ExpectCode(HCCL_SUCCESS, "", HcclCommResume(comm_));
}

/// A function may use the communicator: no lock is held.
TEST_F(States, FunctionsMayUseTheCommunicator) {
  Make();
  names_.emplace_back("uses");
  Check(HcclCommRegCommStateCallback(
      "uses",
      [](HcclComm comm, HcclCommStatePhase phase, void*) {
        uint32_t size = 0;
        const HcclResult result = HcclGetRankSize(comm, &size);
        return phase == HCCL_COMM_STATE_PHASE_DESTROY_POST ? HCCL_SUCCESS : result;
      },
      nullptr));
  ExpectCode(HCCL_SUCCESS, "", HcclCommResume(comm_));
  ExpectCode(HCCL_SUCCESS, "", HcclCommDestroy(std::exchange(comm_, nullptr)));
}

TEST_F(States, RefuseWrongArguments) {
  Make();
  HcclCommStatus status = HCCL_COMM_STATUS_RESERVED;
  ExpectCode(HCCL_E_PTR, "commId is NULL", HcclCommGetStatus(nullptr, nullptr));
  ExpectCode(HCCL_E_PTR, "status is NULL", HcclCommGetStatus("states", nullptr));
  ExpectCode(HCCL_E_PARA, "'no name'", HcclCommGetStatus("no name", &status));
  std::thread([&] {
    ExpectCode(HCCL_E_RUNTIME, "no current device", HcclCommGetStatus("states", &status));
  }).join();
  EXPECT_EQ(status, HCCL_COMM_STATUS_RESERVED);
  ExpectCode(HCCL_E_PTR, "regName is NULL", HcclCommRegCommStateCallback(nullptr, nullptr, nullptr));
  ExpectCode(HCCL_E_PTR, "cb is NULL", HcclCommRegCommStateCallback("name", nullptr, nullptr));
  const std::string longest(160, 'x');
  ExpectCode(HCCL_SUCCESS, "", HcclCommRegCommStateCallback(longest.c_str(), Ignore, nullptr));
  ExpectCode(HCCL_E_PARA, "more than 160 bytes",
             HcclCommRegCommStateCallback((longest + "x").c_str(), Ignore, nullptr));
  HcclConfigTypeOpExpansionMode mode = HCCL_OP_EXPANSION_MODE_INVALID;
  const auto get = [&](HcclConfigType type, uint32_t bytes) {
    return HcclConfigGetInfo(comm_, type, bytes, &mode);
  };
  ExpectCode(HCCL_E_PTR, "comm is NULL",
             HcclConfigGetInfo(nullptr, HCCL_CONFIG_TYPE_OP_EXPANSION_MODE, sizeof(mode), &mode));
  ExpectCode(HCCL_E_PTR, "info is NULL",
             HcclConfigGetInfo(comm_, HCCL_CONFIG_TYPE_OP_EXPANSION_MODE, sizeof(mode), nullptr));
  ExpectCode(HCCL_E_PARA, "no communicator",
             HcclConfigGetInfo(&mode, HCCL_CONFIG_TYPE_OP_EXPANSION_MODE, sizeof(mode), &mode));
  ExpectCode(HCCL_E_PARA, "cfgType is -1", get(HCCL_CONFIG_TYPE_INVALID, sizeof(mode)));
  ExpectCode(HCCL_E_PARA, "infoLen is 3", get(HCCL_CONFIG_TYPE_OP_EXPANSION_MODE, 3));
  ExpectCode(HCCL_E_PARA, "infoLen is 5", get(HCCL_CONFIG_TYPE_OP_EXPANSION_MODE, 5));
  EXPECT_EQ(mode, HCCL_OP_EXPANSION_MODE_INVALID);
}

/// collective-30: the configuration, the variable, the chip.
TEST_F(States, ExpansionModesKnowTheChip) {
  const std::string chip = aclrtGetSocName();
  if (chip == "Ascend310") GTEST_SKIP() << "it has no communicators";
  const auto mode_of = [&](uint32_t setting, const char* variable) {
    const EnvironmentVariable word("HCCL_OP_EXPANSION_MODE", variable);
    config_.hcclOpExpansionMode = setting;
    Make();
    HcclConfigTypeOpExpansionMode mode = HCCL_OP_EXPANSION_MODE_INVALID;
    ExpectCode(HCCL_SUCCESS, "",
               HcclConfigGetInfo(comm_, HCCL_CONFIG_TYPE_OP_EXPANSION_MODE, sizeof(mode), &mode));
    Check(HcclCommDestroy(std::exchange(comm_, nullptr)));
    return mode;
  };
  const auto of_chip =
      chip.starts_with("Ascend910_93") ? HCCL_OP_EXPANSION_MODE_AI_CPU : HCCL_OP_EXPANSION_MODE_HOST;
  EXPECT_EQ(mode_of(0, ""), of_chip);
  EXPECT_EQ(mode_of(0, "another word"), of_chip);
  EXPECT_EQ(mode_of(7, ""), of_chip);
  EXPECT_EQ(mode_of(0, "AIV"), HCCL_OP_EXPANSION_MODE_AIV);
  EXPECT_EQ(mode_of(0, "HOST_TS"), HCCL_OP_EXPANSION_MODE_HOST_TS);
  EXPECT_EQ(mode_of(1, "AIV"), HCCL_OP_EXPANSION_MODE_HOST);
  EXPECT_EQ(mode_of(2, "AIV"), HCCL_OP_EXPANSION_MODE_AI_CPU);
  EXPECT_EQ(mode_of(4, ""), HCCL_OP_EXPANSION_AIV_ONLY);
  EXPECT_EQ(mode_of(6, ""), HCCL_OP_EXPANSION_MODE_CCU_SCHED);
}

}  // namespace
}  // namespace sampan::test::states_test
