// Making communicators, what is known about them, and rank tables.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>

#include "tests/support/acl_expect.h"
#include "tests/support/environment_variable.h"
#include "world.h"

namespace sampan::test {

using namespace ::collectives;

namespace {

void ExpectCode(HcclResult expected, const std::string& message, HcclResult answer) {
  EXPECT_EQ(expected, answer) << RecentMessage();
  if (expected != HCCL_SUCCESS) {
    EXPECT_NE(RecentMessage().find(message), std::string::npos) << RecentMessage();
  }
}

class Communicators : public testing::Test {
 protected:
  void SetUp() override {
    Check(aclrtSetDevice(0));
    Check(HcclGetRootInfo(&info_));
    HcclCommConfigInit(&config_);
  }
  HcclRootInfo info_{};
  HcclCommConfig config_{};
  HcclComm comm_ = nullptr;
};

TEST_F(Communicators, RefuseWrongArgumentsInOrder) {
  ExpectCode(HCCL_E_PTR, "rootInfo is NULL", HcclGetRootInfo(nullptr));
  ExpectCode(HCCL_E_PARA, "nRanks is 0", HcclCommInitRootInfo(0, nullptr, 0, nullptr));
  ExpectCode(HCCL_E_PARA, "rank is 2", HcclCommInitRootInfo(2, nullptr, 2, nullptr));
  ExpectCode(HCCL_E_PTR, "comm is NULL", HcclCommInitRootInfo(1, nullptr, 0, nullptr));
  ExpectCode(HCCL_E_PTR, "rootInfo is NULL", HcclCommInitRootInfo(1, nullptr, 0, &comm_));
  ExpectCode(HCCL_E_PTR, "config is NULL", HcclCommInitRootInfoConfig(1, &info_, 0, nullptr, &comm_));
  HcclRootInfo other{};
  ExpectCode(HCCL_E_PARA, "rootInfo does not have the bytes", HcclCommInitRootInfo(1, &other, 0, &comm_));
  other = info_;
  constexpr std::size_t kHostAt = 16 + 3 * 64;  // behind the mark, the name, the token and the address
  other.internal[kHostAt] = static_cast<char>(other.internal[kHostAt] ^ 1);
  ExpectCode(HCCL_E_NOT_SUPPORT, "rank 1 and rank 0 run on different hosts",
             HcclCommInitRootInfo(2, &other, 1, &comm_));
  ExpectCode(HCCL_E_NOT_SUPPORT, "200 ranks", HcclCommInitRootInfo(200, &info_, 0, &comm_));
  std::thread([&] {
    ExpectCode(HCCL_E_RUNTIME, "no current device", HcclGetRootInfo(&other));
    ExpectCode(HCCL_E_RUNTIME, "no current device", HcclCommInitRootInfo(0, nullptr, 0, nullptr));
    ExpectCode(HCCL_E_RUNTIME, "no current device", HcclSetConfig(HCCL_DETERMINISTIC, {1}));
    ExpectCode(HCCL_E_RUNTIME, "no current device", HcclCommGetHandleWithName("name", &comm_));
  }).join();
  EXPECT_EQ(comm_, nullptr);
}

TEST_F(Communicators, AcceptConfigurationsOfEverySize) {
  // The size, and what the field that is newest in that size does.
  for (const std::size_t size :
       {std::size_t{32}, std::size_t{2232}, std::size_t{2240}, sizeof(config_), std::size_t{4000}}) {
    HcclCommConfigInit(&config_);
    std::memcpy(config_.reserved, &size, sizeof(size));
    std::vector<char> larger(std::max(size, sizeof(config_)));
    std::memcpy(larger.data(), &config_, sizeof(config_));
    HcclRootInfo info;
    Check(HcclGetRootInfo(&info));
    ExpectCode(
        HCCL_SUCCESS, "",
        HcclCommInitRootInfoConfig(1, &info, 0, reinterpret_cast<HcclCommConfig*>(larger.data()), &comm_));
    ExpectCode(HCCL_SUCCESS, "", HcclCommDestroy(comm_));
  }
}

/// What a newer version means is not known. What an older one does not have is not read.
TEST_F(Communicators, AcceptConfigurationsOfEveryVersion) {
  for (const uint32_t version : {1U, 10U, 11U, 99U}) {
    HcclCommConfigInit(&config_);
    std::memcpy(config_.reserved + 12, &version, sizeof(version));
    config_.hcclExecTimeOut = version == 1 ? -5 : 60;
    HcclRootInfo info;
    Check(HcclGetRootInfo(&info));
    ExpectCode(HCCL_SUCCESS, "", HcclCommInitRootInfoConfig(1, &info, 0, &config_, &comm_));
    ExpectCode(HCCL_SUCCESS, "", HcclCommDestroy(comm_));
  }
}

TEST_F(Communicators, RefuseWrongConfigurations) {
  const auto init = [&] { return HcclCommInitRootInfoConfig(1, &info_, 0, &config_, &comm_); };
  config_.hcclBufferSize = 0;
  ExpectCode(HCCL_E_PARA, "hcclBufferSize is 0", init());
  HcclCommConfigInit(&config_);
  config_.hcclDeterministic = 3;
  ExpectCode(HCCL_E_PARA, "hcclDeterministic is 3", init());
  HcclCommConfigInit(&config_);
  config_.hcclExecTimeOut = -2;
  ExpectCode(HCCL_E_PARA, "hcclExecTimeOut is -2", init());
  HcclCommConfigInit(&config_);
  std::memset(config_.hcclCommName, 'x', sizeof(config_.hcclCommName));
  ExpectCode(HCCL_E_PARA, "hcclCommName has no NUL", init());
  HcclCommConfigInit(&config_);
  config_.reserved[8] = 0;
  ExpectCode(HCCL_E_PARA, "magic word", init());
}

TEST_F(Communicators, RefuseWrongVariables) {
  const std::pair<const char*, const char*> wrong[] = {
      {"HCCL_CONNECT_TIMEOUT", "119"},
      {"HCCL_CONNECT_TIMEOUT", "7201"},
      {"HCCL_EXEC_TIMEOUT", "soon"},
      {"HCCL_BUFFSIZE", "0"},
      {"HCCL_DETERMINISTIC", "yes"},
      {"HCCL_SOCKET_FAMILY", "AF_UNIX"},
      {"HCCL_IF_BASE_PORT", "80"},
      {"HCCL_IF_BASE_PORT", "65521"},
      {"HCCL_EXEC_TIMEOUT", "2147483648"},
      {"HCCL_IF_IP", "localhost"},
      {"HCCL_IF_IP", "10.0.0.256"},
      {"HCCL_HOST_SOCKET_PORT_RANGE", ""},
      {"HCCL_HOST_SOCKET_PORT_RANGE", "60050-60000"},
      {"HCCL_NPU_SOCKET_PORT_RANGE", "60000-65536"},
      {"HCCL_DFS_CONFIG", "cluster_heartbeat"},
      {"HCCL_DFS_CONFIG", "cluster_heartbeat:on,inconsistent_check:maybe"},
      {"SAMPAN_HCCL_CONNECT_TIMEOUT", "0"}};
  for (const auto& [name, value] : wrong) {
    const EnvironmentVariable variable(name, value);
    ExpectCode(HCCL_E_PARA, std::string("EI0001: ") + name + " is '" + value + "'",
               HcclCommInitRootInfo(1, &info_, 0, &comm_));
  }
}

TEST_F(Communicators, AcceptTheDocumentedVariables) {
  const std::pair<const char*, const char*> right[] = {
      {"HCCL_CONNECT_TIMEOUT", "120"},
      {"HCCL_EXEC_TIMEOUT", "0"},
      {"HCCL_BUFFSIZE", "1"},
      {"HCCL_DETERMINISTIC", "strict"},
      {"HCCL_SOCKET_FAMILY", "AF_INET6"},
      {"HCCL_SOCKET_IFNAME", "^=eth0"},
      {"HCCL_IF_IP", "fe80::1"},
      {"HCCL_IF_BASE_PORT", "65520"},
      {"HCCL_HOST_SOCKET_PORT_RANGE", "60000-60050,60100"},
      {"HCCL_NPU_SOCKET_PORT_RANGE", "auto"},
      {"HCCL_DFS_CONFIG", "cluster_heartbeat:on,stuck_detection:off,inconsistent_check:first"},
      {"HCCL_OP_EXPANSION_MODE", "AIV"},
      {"HCCL_ALGO", "level0:NA;level1:ring"},
      {"HCCL_OP_RETRY_ENABLE", "L1:0,L2:0"}};
  for (const auto& [name, value] : right) {
    SCOPED_TRACE(name);
    const EnvironmentVariable variable(name, value);
    HcclRootInfo info;
    Check(HcclGetRootInfo(&info));
    ExpectCode(HCCL_SUCCESS, "", HcclCommInitRootInfo(1, &info, 0, &comm_));
    ExpectCode(HCCL_SUCCESS, "", HcclCommDestroy(comm_));
  }
}

/// collective-15
TEST_F(Communicators, KnowTheirNamesAndRanks) {
  std::strcpy(config_.hcclCommName, "the name");
  ExpectCode(HCCL_SUCCESS, "", HcclCommInitRootInfoConfig(1, &info_, 0, &config_, &comm_));
  char name[128];
  ExpectCode(HCCL_SUCCESS, "", HcclGetCommName(comm_, name));
  EXPECT_STREQ(name, "the name");
  HcclComm found = nullptr;
  ExpectCode(HCCL_SUCCESS, "", HcclCommGetHandleWithName("the name", &found));
  EXPECT_EQ(found, comm_);
  ExpectCode(HCCL_E_PARA, "'no name'", HcclCommGetHandleWithName("no name", &found));
  HcclRootInfo second;
  Check(HcclGetRootInfo(&second));
  ExpectCode(HCCL_E_PARA, "has a communicator 'the name' already",
             HcclCommInitRootInfoConfig(1, &second, 0, &config_, &found));
  uint32_t number = 9;
  ExpectCode(HCCL_SUCCESS, "", HcclGetRankId(comm_, &number));
  EXPECT_EQ(number, 0U);
  ExpectCode(HCCL_SUCCESS, "", HcclGetRankSize(comm_, &number));
  EXPECT_EQ(number, 1U);
  ExpectCode(HCCL_E_PTR, "rank is NULL", HcclGetRankId(comm_, nullptr));
  ExpectCode(HCCL_E_PTR, "comm is NULL", HcclGetRankId(nullptr, &number));
  ExpectCode(HCCL_E_PTR, "rankSize is NULL", HcclGetRankSize(comm_, nullptr));
  ExpectCode(HCCL_E_PTR, "comm is NULL", HcclGetRankSize(nullptr, &number));
  ExpectCode(HCCL_E_PTR, "commName is NULL", HcclGetCommName(comm_, nullptr));
  ExpectCode(HCCL_E_PTR, "comm is NULL", HcclGetCommName(nullptr, name));
  ExpectCode(HCCL_E_PTR, "commName is NULL", HcclCommGetHandleWithName(nullptr, &found));
  ExpectCode(HCCL_E_PTR, "comm is NULL", HcclCommGetHandleWithName("the name", nullptr));
  ExpectCode(HCCL_E_PTR, "asyncError is NULL", HcclGetCommAsyncError(comm_, nullptr));
  ExpectCode(HCCL_E_PTR, "comm is NULL", HcclCommSuspend(nullptr));
  ExpectCode(HCCL_E_PTR, "comm is NULL", HcclCommResume(nullptr));
  HcclResult error = HCCL_E_INTERNAL;
  ExpectCode(HCCL_SUCCESS, "", HcclGetCommAsyncError(comm_, &error));
  EXPECT_EQ(error, HCCL_SUCCESS);
  ExpectCode(HCCL_SUCCESS, "", HcclCommDestroy(comm_));
  ExpectCode(HCCL_E_PARA, "it was destroyed", HcclCommDestroy(comm_));
  ExpectCode(HCCL_E_PARA, "it was destroyed", HcclGetRankId(comm_, &number));
  ExpectCode(HCCL_SUCCESS, "", HcclCommDestroy(nullptr));
}

/// collective-14
TEST_F(Communicators, AreNotDestroyedWhileOperatorsRun) {
  ExpectCode(HCCL_SUCCESS, "", HcclCommInitRootInfo(1, &info_, 0, &comm_));
  aclrtStream stream = nullptr;
  aclrtNotify notify = nullptr;
  Check(aclrtCreateStream(&stream));
  Check(aclrtCreateNotify(&notify, 0));
  Check(aclrtWaitAndResetNotify(notify, stream, 0));
  Check(HcclBarrier(comm_, stream));
  ExpectCode(HCCL_E_AGAIN, "1 operators that are not over", HcclCommDestroy(comm_));
  aclrtStream other = nullptr;
  Check(aclrtCreateStream(&other));
  Check(aclrtRecordNotify(notify, other));
  Check(aclrtSynchronizeStream(stream));
  ExpectCode(HCCL_SUCCESS, "", HcclCommDestroy(comm_));
  Check(aclrtDestroyNotify(notify));
  Check(aclrtDestroyStream(stream));
  Check(aclrtDestroyStream(other));
}

TEST_F(Communicators, OfAllDevicesRefuseWrongLists) {
  HcclComm comms[2];
  int32_t twice[] = {1, 1}, none[] = {0, 99};
  ExpectCode(HCCL_E_PARA, "ndev is 0", HcclCommInitAll(0, nullptr, nullptr));
  ExpectCode(HCCL_E_PTR, "devices is NULL", HcclCommInitAll(2, nullptr, comms));
  ExpectCode(HCCL_E_PTR, "comms is NULL", HcclCommInitAll(2, twice, nullptr));
  ExpectCode(HCCL_E_PARA, "device 1 twice", HcclCommInitAll(2, twice, comms));
  const EnvironmentVariable limit("SAMPAN_HCCL_CONNECT_TIMEOUT", "1");
  EXPECT_NE(HcclCommInitAll(2, none, comms), HCCL_SUCCESS);
}

TEST_F(Communicators, NameMissingRanks) {
  const EnvironmentVariable limit("SAMPAN_HCCL_CONNECT_TIMEOUT", "1");
  ExpectCode(HCCL_E_TIMEOUT, "1, 2", HcclCommInitRootInfo(3, &info_, 0, &comm_));
}

/// Calls HcclCommInitRootInfo at the same time, once for each pair of a number of ranks and a rank.
std::vector<std::pair<HcclResult, std::string>> JoinAtOnce(
    const HcclRootInfo& info, const std::vector<std::pair<uint32_t, uint32_t>>& joins) {
  std::vector<std::pair<HcclResult, std::string>> answers(joins.size());
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < joins.size(); ++i) {
    threads.emplace_back([&, i] {
      HcclComm comm = nullptr;
      Check(aclrtSetDevice(static_cast<int32_t>(i)));
      answers[i].first = HcclCommInitRootInfo(joins[i].first, &info, joins[i].second, &comm);
      answers[i].second = RecentMessage();
      EXPECT_EQ(comm, nullptr);
    });
  }
  for (std::thread& thread : threads)
    thread.join();
  return answers;
}

TEST_F(Communicators, NameMissingRanksOnAllThatJoined) {
  const EnvironmentVariable limit("SAMPAN_HCCL_CONNECT_TIMEOUT", "2");
  for (const auto& [code, message] : JoinAtOnce(info_, {{4, 0}, {4, 2}})) {
    EXPECT_EQ(code, HCCL_E_TIMEOUT) << message;
    EXPECT_NE(message.find("EI0015"), std::string::npos) << message;
    EXPECT_NE(message.find("1, 3"), std::string::npos) << message;
  }
}

TEST_F(Communicators, RefuseRanksThatDoNotAgreeOnTheirNumber) {
  const EnvironmentVariable limit("SAMPAN_HCCL_CONNECT_TIMEOUT", "2");
  const auto answers = JoinAtOnce(info_, {{2, 0}, {3, 1}});
  EXPECT_EQ(answers[1].first, HCCL_E_PARA) << answers[1].second;
  EXPECT_NE(answers[0].first, HCCL_SUCCESS) << answers[0].second;
}

TEST_F(Communicators, RefuseTwoRanksWithOneNumber) {
  const EnvironmentVariable limit("SAMPAN_HCCL_CONNECT_TIMEOUT", "2");
  const auto answers = JoinAtOnce(info_, {{3, 0}, {3, 1}, {3, 1}});
  EXPECT_TRUE(answers[1].first == HCCL_E_PARA || answers[2].first == HCCL_E_PARA)
      << answers[1].second << answers[2].second;
  EXPECT_NE(answers[0].first, HCCL_SUCCESS) << answers[0].second;
}

/// Its first communicator exists, or is gone.
TEST_F(Communicators, MayUseARootInfoAgain) {
  ExpectCode(HCCL_SUCCESS, "", HcclCommInitRootInfo(1, &info_, 0, &comm_));
  HcclComm second = nullptr;
  ExpectCode(HCCL_E_PARA, "already", HcclCommInitRootInfo(1, &info_, 0, &second));
  ExpectCode(HCCL_SUCCESS, "", HcclCommDestroy(comm_));
  ExpectCode(HCCL_SUCCESS, "", HcclCommInitRootInfo(1, &info_, 0, &second));
  ExpectCode(HCCL_SUCCESS, "", HcclCommDestroy(second));
}

/// A watchdog asks while operators run. It asks often, and each answer is cheap.
TEST_F(Communicators, TellTheirErrorToAnotherThread) {
  ExpectCode(HCCL_SUCCESS, "", HcclCommInitRootInfo(1, &info_, 0, &comm_));
  aclrtStream stream = nullptr;
  Check(aclrtCreateStream(&stream));
  const DeviceBlock block(4096);
  std::atomic<bool> over{false};
  std::atomic<int> asked{0};
  std::thread watchdog([&] {
    while (!over.load()) {
      HcclResult error = HCCL_E_INTERNAL;
      if (HcclGetCommAsyncError(comm_, &error) != HCCL_SUCCESS || error != HCCL_SUCCESS) return;
      ++asked;
    }
  });
  for (int call = 0; call < 300 || asked.load() < 300; ++call) {
    Check(
        HcclAllReduce(block.at(), block.at(2048), 100, HCCL_DATA_TYPE_INT32, HCCL_REDUCE_SUM, comm_, stream));
    Check(aclrtSynchronizeStream(stream));
  }
  over.store(true);
  watchdog.join();
  ExpectCode(HCCL_SUCCESS, "", HcclCommDestroy(comm_));
  Check(aclrtDestroyStream(stream));
}

/// The order of values of HCCL_DETERMINISTIC and of types differs between chips.
TEST_F(Communicators, KnowTheChipOfTheProfile) {
  const char* const profile = std::getenv("SAMPAN_PROFILE");
  const std::string chip = profile != nullptr ? profile : "ascend910b";
  const bool is_910b = chip == "ascend910b";
  if (chip == "ascend310-rc") {
    ExpectCode(HCCL_E_NOT_SUPPORT, "ascend310-rc has no collectives",
               HcclCommInitRootInfo(1, &info_, 0, &comm_));
    return;
  }
  ExpectCode(is_910b ? HCCL_SUCCESS : HCCL_E_NOT_SUPPORT, "no strict order",
             HcclSetConfig(HCCL_DETERMINISTIC, {2}));
  ExpectCode(HCCL_SUCCESS, "", HcclSetConfig(HCCL_CONFIG_RESERVED, {7}));
  ExpectCode(HCCL_SUCCESS, "", HcclCommInitRootInfo(1, &info_, 0, &comm_));
  const DeviceBlock block(64);
  aclrtStream stream = nullptr;
  Check(aclrtCreateStream(&stream));
  const uint64_t count[] = {1}, place[] = {0};
  ExpectCode(is_910b ? HCCL_E_NOT_SUPPORT : HCCL_SUCCESS, "type is int64",
             HcclReduceScatterV(block.at(), count, place, block.at(8), 1, HCCL_DATA_TYPE_INT64,
                                HCCL_REDUCE_SUM, comm_, stream));
  Check(aclrtSynchronizeStream(stream));
  ExpectCode(HCCL_SUCCESS, "", HcclCommDestroy(comm_));
  Check(aclrtDestroyStream(stream));
}

TEST_F(Communicators, AnswerQuestionsAboutSettings) {
  EXPECT_EQ(HcclGetCommConfigCapability(), 12U);
  union HcclConfigValue value = {1};
  ExpectCode(HCCL_SUCCESS, "", HcclSetConfig(HCCL_DETERMINISTIC, value));
  value.value = 7;
  ExpectCode(HCCL_SUCCESS, "", HcclGetConfig(HCCL_DETERMINISTIC, &value));
  EXPECT_EQ(value.value, 1);
  value.value = 3;
  ExpectCode(HCCL_E_PARA, "the value is 3", HcclSetConfig(HCCL_DETERMINISTIC, value));
  ExpectCode(HCCL_E_PTR, "configValue is NULL", HcclGetConfig(HCCL_DETERMINISTIC, nullptr));
  const EnvironmentVariable set("HCCL_DETERMINISTIC", "false");
  value.value = 0;
  ExpectCode(HCCL_SUCCESS, "", HcclSetConfig(HCCL_DETERMINISTIC, value));
  ExpectCode(HCCL_SUCCESS, "", HcclGetConfig(HCCL_DETERMINISTIC, &value));
  EXPECT_EQ(value.value, 1) << "the variable wins, and the call changes nothing";
}

TEST(ErrorStrings, ExistForAllCodes) {
  EXPECT_STREQ(HcclGetErrorString(HCCL_SUCCESS), "no error");
  EXPECT_STREQ(HcclGetErrorString(HCCL_E_PARA), "parameter error");
  EXPECT_STREQ(HcclGetErrorString(HCCL_E_OOM), "out of memory");
  EXPECT_STREQ(HcclGetErrorString(HCCL_E_IN_STATUS), "unknown err");
  EXPECT_STREQ(HcclGetErrorString(HCCL_E_RESERVED), "unknown error");
}

/// torch_npu looks a function up in libhcomm.so.
TEST(Libraries, TheSecondNameHasTheSameFunctions) {
  Dl_info first = {};  // by its folder: under AddressSanitizer dlopen does not know the program's run path
  ASSERT_NE(::dladdr(reinterpret_cast<void*>(&HcclAllReduce), &first), 0);
  const auto path = std::filesystem::canonical(first.dli_fname).replace_filename("libhcomm.so");
  void* const library = ::dlopen(path.c_str(), RTLD_NOW);
  ASSERT_NE(library, nullptr) << ::dlerror();
  for (const char* name : {"HcclAllReduce", "HcclCommInitRootInfo", "HcclGetErrorString"})
    EXPECT_EQ(::dlsym(library, name), ::dlsym(RTLD_DEFAULT, name)) << name;
  EXPECT_EQ(::dlsym(library, "HcclAllReduce"), reinterpret_cast<void*>(&HcclAllReduce));
}

/// A rank table in a file.
class Table {
 public:
  explicit Table(const std::string& text)
      : path_(testing::TempDir() + "rank_table." + std::to_string(::getpid())) {
    std::ofstream(path_) << text;
  }
  ~Table() { ::unlink(path_.c_str()); }
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;
  const char* path() const { return path_.c_str(); }

 private:
  const std::string path_;
};

std::string TableText(const std::string& devices, const std::string& version = "1.0",
                      const std::string& rest = R"("status":"completed","server_count":"1")") {
  return R"({"version":")" + version + R"(",)" + rest + R"(,"server_list":[{"server_id":"one","device":[)" +
         devices + "]}]}";
}
const std::string kOne = R"({"device_id":"0","rank_id":"0")";
const std::string kTwo =
    R"({"device_id":"0","rank_id":"0","device_ip":"10.0.0.1"},{"device_id":"1","rank_id":"1","device_ip":"10.0.0.2"})";

TEST_F(Communicators, OfARankTable) {
  for (const char* version : {"1.0", "1.2"}) {
    const Table table(TableText(kTwo, version));
    HcclComm comms[2] = {};
    std::vector<std::thread> threads;
    for (uint32_t rank = 0; rank < 2; ++rank) {
      threads.emplace_back([&, rank] {
        Check(aclrtSetDevice(static_cast<int32_t>(rank)));
        ExpectCode(HCCL_SUCCESS, "", HcclCommInitClusterInfo(table.path(), rank, &comms[rank]));
      });
    }
    for (std::thread& thread : threads)
      thread.join();
    HcclComm second = nullptr;
    ExpectCode(HCCL_E_UNAVAIL, "already", HcclCommInitClusterInfo(table.path(), 0, &second));
    for (HcclComm comm : comms) {
      char name[128];
      ExpectCode(HCCL_SUCCESS, "", HcclGetCommName(comm, name));
      EXPECT_STREQ(name, "hccl_world_group");
      ExpectCode(HCCL_SUCCESS, "", HcclCommDestroy(comm));
    }
  }
}

TEST_F(Communicators, OfWrongRankTablesAreRefused) {
  ExpectCode(HCCL_E_PTR, "clusterInfo is NULL", HcclCommInitClusterInfo(nullptr, 0, &comm_));
  ExpectCode(HCCL_E_PARA, "EI0004", HcclCommInitClusterInfo("/no/such/table", 0, &comm_));
  const std::string complete = R"("status":"completed","server_count":"1")";
  const std::tuple<std::string, HcclResult, std::string> wrong[] = {
      {"{", HCCL_E_PARA, "EI0004"},
      {"[]", HCCL_E_PARA, "EI0014"},
      {TableText(kTwo, "3.0"), HCCL_E_PARA, "version is '3.0'"},
      {TableText(kTwo, "1.0", R"("status":"initializing","server_count":"1")"), HCCL_E_PARA,
       "status is 'initializing'"},
      {TableText(kTwo, "1.0", R"("status":"completed","server_count":"2")"), HCCL_E_PARA,
       "server_count is 2"},
      {TableText(kTwo, "1.0", R"("status":"completed")"), HCCL_E_PARA, "has no server_count"},
      {TableText(""), HCCL_E_PARA, "server_list[0].device is no list, or empty"},
      {TableText(R"({"device_id":"0","rank_id":"1"})"), HCCL_E_PARA, "rank_id 0 is missing"},
      {TableText(R"({"device_id":0,"rank_id":"0"})"), HCCL_E_PARA, "device_id is no string"},
      {TableText(R"({"device_id":"zero","rank_id":"0"})"), HCCL_E_PARA, "device_id is 'zero'"},
      {TableText(R"({"device_id":"0","rank_id":"0"},{"device_id":"0","rank_id":"1"})"), HCCL_E_PARA,
       "device_id is 0"},
      {TableText(R"({"device_id":"0","rank_id":"0"},{"device_id":"1","rank_id":"0"})"), HCCL_E_PARA,
       "rank_id is 0"},
      {TableText(R"({"device_id":"3","rank_id":"0"})"), HCCL_E_UNAVAIL, "has the device_id 3"},
      {TableText(kOne + R"(,"device_ip":"ten"})"), HCCL_E_PARA, "device_ip is 'ten'"},
      {TableText(kOne + R"(,"device_ip":"::1"},{"device_id":"1","rank_id":"1","device_ip":"::1"})"),
       HCCL_E_PARA, "device_ip is '::1', as another one"},
      {TableText(kOne + R"(,"device_port":"0"})"), HCCL_E_PARA, "device_port is 0"},
      {TableText(kOne + R"(,"host_port":"65536"})"), HCCL_E_PARA, "host_port is 65536"},
      {TableText(kOne + R"(,"super_device_id":"4"},{"device_id":"1","rank_id":"1","super_device_id":"4"})",
                 "1.2"),
       HCCL_E_PARA, "super_device_id is '4', as another one"},
      {TableText(kTwo, "1.2", complete + R"(,"super_pod_list":[])"), HCCL_E_PARA,
       "super_pod_list is no list"},
      {TableText(kTwo, "1.2", complete + R"(,"super_pod_list":[{"server_list":[]}])"), HCCL_E_PARA,
       "has no super_pod_id"},
      {TableText(
           kTwo, "1.2",
           complete + R"(,"super_pod_list":[{"super_pod_id":"0","server_list":[{"server_id":"two"}]}])"),
       HCCL_E_PARA, "server_id is 'two'"},
      {R"({"version":"1.0",)" + complete + R"(,"server_list":[{"server_id":"","device":[]}]})", HCCL_E_PARA,
       "server_id is ''"},
      {R"({"version":"1.0",)" + complete +
           R"(,"server_list":[{"server_id":"a","host_ip":"::1","device":[]}]})",
       HCCL_E_PARA, "host_ip is '::1'"},
      {R"({"version":"1.0","status":"completed","server_count":"2","server_list":[)"
       R"({"server_id":"a","device":[{"device_id":"0","rank_id":"0"},{"device_id":"1","rank_id":"2"}]},)"
       R"({"server_id":"b","device":[{"device_id":"0","rank_id":"1"}]}]})",
       HCCL_E_PARA, "the ranks of servers are mixed"},
      {R"({"version":"1.0",)" + std::string(R"("status":"completed","server_count":"2")") +
           R"(,"server_list":[{"server_id":"a","device":[{"device_id":"0","rank_id":"0"}]},)"
           R"({"server_id":"b","device":[{"device_id":"0","rank_id":"1"}]}]})",
       HCCL_E_NOT_SUPPORT, "names 2 servers"},
  };
  for (const auto& [text, code, message] : wrong) {
    SCOPED_TRACE(text);
    const Table table(text);
    ExpectCode(code, message, HcclCommInitClusterInfo(table.path(), 0, &comm_));
  }
  const Table table(TableText(kTwo));
  ExpectCode(HCCL_E_UNAVAIL, "rank is 5", HcclCommInitClusterInfo(table.path(), 5, &comm_));
  ExpectCode(HCCL_E_PTR, "comm is NULL", HcclCommInitClusterInfo(table.path(), 0, nullptr));
  ExpectCode(HCCL_E_PARA, "EI0004: the path has more than 4095 bytes",
             HcclCommInitClusterInfo(std::string(4096, 'x').c_str(), 0, &comm_));
  ExpectCode(HCCL_E_PTR, "config is NULL", HcclCommInitClusterInfoConfig(table.path(), 0, nullptr, &comm_));
}

}  // namespace
}  // namespace sampan::test
