// The refusals of every operator as a table, in the documented order.
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <string>
#include <vector>

#include "tests/libhccl/case_list.h"
#include "tests/support/acl_expect.h"

namespace sampan::test::refusal_table_test {
namespace {

constexpr uint64_t kTooMany = 0x800000000, kCount = 4;
constexpr std::array<uint64_t, 4> kCounts = {kCount, kCount, kCount, kCount}, kPlaces = {0, 100, 200, 300},
                                  kZeros = {}, kLarge = {kTooMany, kTooMany, kTooMany, kTooMany};

/// What one call gets. At first all of it is right.
struct Arguments {
  void *send, *receive;
  HcclComm comm;
  aclrtStream stream;
  uint32_t own_rank;
  uint64_t count = kCount, receive_count = kCount;
  HcclDataType type = HCCL_DATA_TYPE_INT32, receive_type = HCCL_DATA_TYPE_INT32;
  HcclReduceOp op = HCCL_REDUCE_SUM;
  uint32_t root = 0, peer = 1 - own_rank;
  const uint64_t *counts = kCounts.data(), *places = kPlaces.data(), *receive_counts = kCounts.data(),
                 *receive_places = kPlaces.data();
  std::vector<HcclSendRecvItem> items = {{HCCL_SEND, send, kCount, type, own_rank},
                                         {HCCL_RECV, receive, kCount, type, own_rank}};
  bool has_items = true;
  uint32_t item_count = 2;
};

int on_the_host[1024], also_on_the_host[1024];

/// One way to be wrong, and the answer if no earlier step of the operator is wrong.
struct Step {
  std::function<void(Arguments&)> spoil;
  HcclResult code;
  const char* text;
};
struct Row {
  const char* name;
  std::function<HcclResult(Arguments&)> call;
  std::vector<Step> steps;
};

using A = Arguments;
const Step kNoCount = {[](A& a) { a.count = a.receive_count = 0; }, HCCL_SUCCESS, ""};
const Step kNoComm = {[](A& a) { a.comm = nullptr; }, HCCL_E_PTR, "comm is NULL"};
const Step kNoStream = {[](A& a) { a.stream = nullptr; }, HCCL_E_PTR, "stream is NULL"};
const Step kNoSend = {[](A& a) { a.send = nullptr; }, HCCL_E_PTR, "sendBuf is NULL"};
const Step kNoReceive = {[](A& a) { a.receive = nullptr; }, HCCL_E_PTR, "recvBuf is NULL"};
const Step kUnknownComm = {[](A& a) { a.comm = on_the_host; }, HCCL_E_PARA, "is no communicator"};
const Step kLongCount = {[](A& a) { a.count = a.receive_count = kTooMany; }, HCCL_E_PARA,
                         "ount is 34359738368, it must be at most"};
const Step kWrongType = {[](A& a) { a.type = a.receive_type = HCCL_DATA_TYPE_INT128; }, HCCL_E_NOT_SUPPORT,
                         "the data type is type 12"};
const Step kWrongOp = {[](A& a) { a.op = HCCL_REDUCE_RESERVED; }, HCCL_E_NOT_SUPPORT, "op is 255"};
const Step kProduct = {[](A& a) {
                         a.op = HCCL_REDUCE_PROD;
                         a.type = HCCL_DATA_TYPE_INT16;
                       },
                       HCCL_E_NOT_SUPPORT, "no products of int16"};
const Step kWrongRoot = {[](A& a) { a.root = 9; }, HCCL_E_PARA, "root is 9"};
const Step kHostSend = {[](A& a) { a.send = on_the_host; }, HCCL_E_PARA, "sendBuf"};
const Step kHostReceive = {[](A& a) { a.receive = also_on_the_host; }, HCCL_E_PARA, "recvBuf"};
const Step kWrongStream = {[](A& a) { a.stream = on_the_host; }, HCCL_E_RUNTIME, "stream"};
const Step kNoCounts = {[](A& a) { a.counts = nullptr; }, HCCL_E_PTR, "ounts is NULL"};
const Step kNoPlaces = {[](A& a) { a.places = nullptr; }, HCCL_E_PTR, "ispls is NULL"};
const Step kLargeCounts = {[](A& a) { a.counts = kLarge.data(); }, HCCL_E_PARA, "ounts[0] is 34359738368"};
const Step kLargePlaces = {[](A& a) {
                             a.counts = kCounts.data();
                             a.places = kLarge.data();
                           },
                           HCCL_E_PARA, "the displacement of rank 0"};
/// An own buffer may be missing if it has no elements.
const Step kNoOwnSend = {[](A& a) {
                           a.count = kCount;
                           a.send = nullptr;
                         },
                         HCCL_E_PTR, "sendBuf is NULL"};
const Step kNoOwnReceive = {[](A& a) {
                              a.count = kCount;
                              a.receive = nullptr;
                            },
                            HCCL_E_PTR, "recvBuf is NULL"};
const Step kAllZero = {[](A& a) {
                         a.counts = kZeros.data();
                         a.count = a.receive_count = 0;
                       },
                       HCCL_SUCCESS, ""};
const Step kOtherCount = {[](A& a) { a.count = 5; }, HCCL_E_PARA, "ount is 5, "};
const Step kOneBuffer = {[](A& a) { a.send = a.receive; }, HCCL_E_PARA, "sendBuf is recvBuf"};
const Step kOtherType = {[](A& a) { a.receive_type = HCCL_DATA_TYPE_FP32; }, HCCL_E_PARA, "recvType is 4"};

template <typename Change>
Step Item(Change change, HcclResult code, const char* text) {
  return {[change](A& a) {
            a.item_count = 2;
            change(a.items[1]);
          },
          code, text};
}

std::vector<Row> Reductions() {
  return {
      {"HcclAllReduce",
       [](A& a) { return HcclAllReduce(a.send, a.receive, a.count, a.type, a.op, a.comm, a.stream); },
       {kNoCount, kNoComm, kNoSend, kNoReceive, kNoStream, kUnknownComm, kLongCount, kWrongType, kWrongOp,
        kProduct, kHostSend, kHostReceive, kWrongStream}},
      {"HcclReduce",
       [](A& a) { return HcclReduce(a.send, a.receive, a.count, a.type, a.op, a.root, a.comm, a.stream); },
       {kNoCount, kNoComm, kNoSend, kNoReceive, kNoStream, kUnknownComm, kLongCount, kWrongType, kWrongOp,
        kProduct, kWrongRoot, kHostSend, kWrongStream}},
      {"HcclReduceScatter",
       [](A& a) { return HcclReduceScatter(a.send, a.receive, a.count, a.type, a.op, a.comm, a.stream); },
       {kNoCount, kNoStream, kNoComm, kNoSend, kNoReceive, kUnknownComm, kLongCount, kWrongType, kWrongOp,
        kProduct, kHostSend, kHostReceive, kWrongStream}},
      {"HcclReduceScatterV",
       [](A& a) {
         return HcclReduceScatterV(a.send, a.counts, a.places, a.receive, a.count, a.type, a.op, a.comm,
                                   a.stream);
       },
       {kNoCounts, kNoPlaces, kNoComm, kNoStream, kNoOwnReceive, kUnknownComm, kLargeCounts, kLargePlaces,
        kLongCount, kAllZero, kNoSend, kOtherCount, kOneBuffer, kWrongType, kWrongOp, kProduct, kHostSend,
        kHostReceive, kWrongStream}},
  };
}

std::vector<Row> Copies() {
  return {
      {"HcclBroadcast",
       [](A& a) { return HcclBroadcast(a.receive, a.count, a.type, a.root, a.comm, a.stream); },
       {kNoCount,
        kNoStream,
        kNoComm,
        {[](A& a) { a.receive = nullptr; }, HCCL_E_PTR, "buf is NULL"},
        kUnknownComm,
        kLongCount,
        kWrongType,
        kWrongRoot,
        {[](A& a) { a.receive = also_on_the_host; }, HCCL_E_PARA, "buf"},
        kWrongStream}},
      {"HcclScatter",
       [](A& a) { return HcclScatter(a.send, a.receive, a.count, a.type, a.root, a.comm, a.stream); },
       {kNoCount,
        kNoComm,
        kNoReceive,
        kNoStream,
        kUnknownComm,
        {[](A& a) {
           a.send = nullptr;
           a.root = a.own_rank;
         },
         HCCL_E_PTR, "sendBuf is NULL"},
        kLongCount,
        kWrongType,
        kWrongRoot,
        kHostReceive,
        kWrongStream}},
      {"HcclAllGather",
       [](A& a) { return HcclAllGather(a.send, a.receive, a.count, a.type, a.comm, a.stream); },
       {kNoCount, kNoComm, kNoSend, kNoReceive, kNoStream, kUnknownComm, kLongCount, kWrongType, kHostSend,
        kHostReceive, kWrongStream}},
      {"HcclAllGatherV",
       [](A& a) {
         return HcclAllGatherV(a.send, a.count, a.receive, a.counts, a.places, a.type, a.comm, a.stream);
       },
       {kNoCounts, kNoPlaces, kNoComm, kNoStream, kNoOwnSend, kUnknownComm, kLargeCounts, kLargePlaces,
        kLongCount, kAllZero, kNoReceive, kOtherCount, kOneBuffer, kWrongType, kHostSend, kHostReceive,
        kWrongStream}},
      {"HcclBarrier",
       [](A& a) { return HcclBarrier(a.comm, a.stream); },
       {kNoComm, kNoStream, kUnknownComm, kWrongStream}},
  };
}

std::vector<Row> AllToAll() {
  return {
      {"HcclAlltoAll",
       [](A& a) {
         return HcclAlltoAll(a.send, a.count, a.type, a.receive, a.receive_count, a.receive_type, a.comm,
                             a.stream);
       },
       {kNoCount, kNoSend, kNoReceive, kOtherCount, kOtherType, kNoStream, kNoComm, kOneBuffer, kUnknownComm,
        kLongCount, kWrongType, kHostSend, kHostReceive, kWrongStream}},
      {"HcclAlltoAllV",
       [](A& a) {
         return HcclAlltoAllV(a.send, a.counts, a.places, a.type, a.receive, a.receive_counts,
                              a.receive_places, a.receive_type, a.comm, a.stream);
       },
       {kNoCounts,
        kNoPlaces,
        {[](A& a) { a.receive_counts = nullptr; }, HCCL_E_PTR, "recvCounts is NULL"},
        {[](A& a) { a.receive_places = nullptr; }, HCCL_E_PTR, "rdispls is NULL"},
        kNoStream,
        kNoComm,
        kOtherType,
        kUnknownComm,
        kLargeCounts,
        kLargePlaces,
        {[](A& a) { a.receive_counts = kLarge.data(); }, HCCL_E_PARA, "recvCounts[0] is 34359738368"},
        kNoSend,
        kNoReceive,
        kOneBuffer,
        kWrongType,
        kHostSend,
        kHostReceive,
        kWrongStream}},
      {"HcclAlltoAllVC",
       [](A& a) {
         return HcclAlltoAllVC(a.send, a.counts, a.type, a.receive, a.receive_type, a.comm, a.stream);
       },
       {{[](A& a) { a.counts = nullptr; }, HCCL_E_PTR, "sendCountMatrix is NULL"},
        kNoStream,
        kNoComm,
        kOtherType,
        kUnknownComm,
        {[](A& a) { a.counts = kLarge.data(); }, HCCL_E_PARA, "sendCountMatrix[0] is 34359738368"},
        kNoSend,
        kNoReceive,
        kOneBuffer,
        kWrongType,
        kHostSend,
        kHostReceive,
        kWrongStream}},
  };
}

std::vector<Row> Messages() {
  const Step own_rank = {[](A& a) { a.peer = a.own_rank; }, HCCL_E_NOT_SUPPORT, "Rank is this rank"};
  const Step no_rank = {[](A& a) { a.peer = 9; }, HCCL_E_PARA, "Rank is 9"};
  using Item_ = HcclSendRecvItem;
  return {
      {"HcclSend",
       [](A& a) { return HcclSend(a.send, a.count, a.type, a.peer, a.comm, a.stream); },
       {kNoCount, kNoComm, kNoSend, kNoStream, kUnknownComm, kLongCount, kWrongType, own_rank, no_rank,
        kHostSend, kWrongStream}},
      {"HcclRecv",
       [](A& a) { return HcclRecv(a.receive, a.count, a.type, a.peer, a.comm, a.stream); },
       {kNoCount, kNoComm, kNoReceive, kNoStream, kUnknownComm, kLongCount, kWrongType, own_rank, no_rank,
        kHostReceive, kWrongStream}},
      {"HcclBatchSendRecv",
       [](A& a) {
         return HcclBatchSendRecv(a.has_items ? a.items.data() : nullptr, a.item_count, a.comm, a.stream);
       },
       {kNoComm,
        kNoStream,
        {[](A& a) { a.has_items = false; }, HCCL_E_PTR, "sendRecvInfo is NULL"},
        {[](A& a) { a.item_count = 0; }, HCCL_SUCCESS, ""},
        kUnknownComm,
        Item([](Item_& item) { item.sendRecvType = HCCL_SEND_RECV_RESERVED; }, HCCL_E_PARA,
             "sendRecvInfo[1].sendRecvType is 2"),
        Item([](Item_& item) { item.dataType = HCCL_DATA_TYPE_INT128; }, HCCL_E_NOT_SUPPORT, "type 12"),
        Item([](Item_& item) { item.count = kTooMany; }, HCCL_E_PARA, "sendRecvInfo[1].count is 34359738368"),
        Item([](Item_& item) { item.remoteRank = 9; }, HCCL_E_PARA, "sendRecvInfo[1].remoteRank is 9"),
        Item([](Item_& item) { item.buf = nullptr; }, HCCL_E_PTR, "sendRecvInfo[1].buf is NULL"),
        Item([](Item_& item) { item.buf = on_the_host; }, HCCL_E_PARA, "sendRecvInfo[1].buf"),
        {[](A& a) { a.item_count = 1; }, HCCL_E_PARA, "sends itself 1 items and receives 0"},
        Item([](Item_& item) { item.count = 3; }, HCCL_E_PARA, "sends itself 4 int32 and receives 3 int32"),
        kWrongStream}},
  };
}

/// Spoils the call at every step and at all steps behind it: the first one is answered.
void ExpectInOrder(const Row& row, const Arguments& right) {
  for (std::size_t first = 0; first < row.steps.size(); ++first) {
    Arguments wrong = right;
    for (std::size_t step = row.steps.size(); step-- > first;)
      row.steps[step].spoil(wrong);
    const auto& [spoil, code, text] = row.steps[first];
    const HcclResult answer = row.call(wrong);
    const std::string message = answer == HCCL_SUCCESS ? "" : RecentMessage();
    if (answer != code || message.find(text) == std::string::npos)
      throw Failure(std::string(row.name) + ", step " + std::to_string(first) + " (" + text +
                    "): " + std::to_string(answer) + " " + message);
  }
}

class RefusalTable : public testing::TestWithParam<Row> {};

/// collective-4, collective-5
TEST_P(RefusalTable, IsInOrder) {
  ExpectNone(RunWorlds(2, Form::kThreads, [&](World& world) {
    const DeviceBlock block(std::vector<u8>(64 << 10, 1));
    const Arguments right{.send = block.at(),
                          .receive = block.at(32 << 10),
                          .comm = world.comm,
                          .stream = world.stream,
                          .own_rank = world.rank};
    ExpectInOrder(GetParam(), right);
    // No refused call was queued, and the right one is not refused. Messages need a partner.
    Arguments last = right;
    const std::string name = GetParam().name;
    if (name != "HcclSend" && name != "HcclRecv") Check(GetParam().call(last));
    Check(HcclBarrier(world.comm, world.stream));
    world.Synchronize();
  }));
}

std::vector<Row> AllRows() {
  std::vector<Row> all;
  for (const auto& part : {Reductions(), Copies(), AllToAll(), Messages()})
    all.insert(all.end(), part.begin(), part.end());
  return all;
}
std::string NameOfRow(const testing::TestParamInfo<Row>& row) {
  return row.param.name;
}
INSTANTIATE_TEST_SUITE_P(Operators, RefusalTable, testing::ValuesIn(AllRows()), NameOfRow);

TEST(RefusalTableRows, AreThoseOfAllOperators) {
  EXPECT_EQ(AllRows().size(), 15U);
}

}  // namespace
}  // namespace sampan::test::refusal_table_test
