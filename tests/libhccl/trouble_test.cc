// Ranks that disagree, are late, or give up.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "tests/libhccl/case_list.h"
#include "tests/support/child_process.h"

namespace sampan::test {
namespace {

/// The message of a stream that failed; throws if it did not.
std::string FailureOf(World& world) {
  if (const aclError code = aclrtSynchronizeStream(world.stream); code != ACL_SUCCESS)
    return std::to_string(code) + " " + aclGetRecentErrMsg();
  throw Failure("the stream did not fail");
}

/// Rank 1 waits here until rank 0 has made its call, which a broken communicator would refuse.
class FirstCall {
 public:
  void Made() { is_made_.store(true); }
  void Await() const {
    while (!is_made_.load())
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }

 private:
  std::atomic<bool> is_made_{false};
};

void ExpectPart(const std::string& text, const std::string& part) {
  if (text.find(part) == std::string::npos) throw Failure("'" + part + "' is not in: " + text);
}

/// Both calls are named: by file and line, or without debug information by module and offset.
void ExpectPlaces(const std::string& message) {
  const auto count = [&](const std::string& part) {
    int found = 0;
    for (std::size_t at = message.find(part); at != std::string::npos; at = message.find(part, at + 1))
      ++found;
    return found;
  };
  if (count("operator_calls.cc:") + count("libhccl_calls+0x") < 2)
    throw Failure("the places of the calls are not in: " + message);
}

/// Two ranks call the operator with one difference. Both are told of it.
void ExpectDisagreement(const OperatorCase& first, const OperatorCase& second, const std::string& what) {
  SCOPED_TRACE(what);
  ExpectNone(RunWorlds(2, Form::kThreads, [&](World& world) {
    const OperatorCase& mine = world.rank == 0 ? first : second;
    const DeviceBlock block(std::vector<u8>(64 << 10, 7));
    CaseMemory memory;
    memory.receive_at = 32 << 10;
    Queue(mine, {world.rank, world.size, world.comm}, world.stream, block, memory);
    const std::string message = FailureOf(world);
    ExpectPart(message, "EI0005");
    ExpectPart(message, what);
    ExpectPart(message, "rank 0 (process " + std::to_string(::getpid()) + ") called Hccl");
    ExpectPart(message, "rank 1 (process " + std::to_string(::getpid()) + ") called Hccl");
    ExpectPlaces(message);
    if (block.Read() != std::vector<u8>(64 << 10, 7)) throw Failure("memory was changed");
    HcclResult error = HCCL_SUCCESS;
    Check(HcclGetCommAsyncError(world.comm, &error));
    if (error != HCCL_E_PARA) throw Failure("async error " + std::to_string(error));
    if (HcclBarrier(world.comm, world.stream) != HCCL_E_PARA)
      throw Failure("a broken communicator accepts an operator");
  }));
}

/// collective-9, collective-11
TEST(Disagreement, OfEveryParameterIsNamed) {
  const OperatorCase base{Op::kAllReduce, HCCL_DATA_TYPE_INT32, HCCL_REDUCE_SUM, 10, 0, Placing::kApart, 1};
  OperatorCase other = base;
  other.count = 11;
  ExpectDisagreement(base, other, "the count differs");
  other = base;
  other.type = HCCL_DATA_TYPE_FP32;
  ExpectDisagreement(base, other, "the data type differs");
  other = base;
  other.operation = HCCL_REDUCE_MAX;
  ExpectDisagreement(base, other, "the reduce operation differs");
  other = base;
  other.op = Op::kBroadcast;
  ExpectDisagreement(base, other, "the operator differs");
  OperatorCase rooted = base, elsewhere = base;
  rooted.op = elsewhere.op = Op::kReduce;
  elsewhere.root = 1;
  ExpectDisagreement(rooted, elsewhere, "the root differs");
  for (const Op op : {Op::kAllGatherV, Op::kReduceScatterV, Op::kAllToAllVC}) {
    OperatorCase matrix = base, unequal = base;
    matrix.op = unequal.op = op;
    matrix.count = unequal.count = 100;
    unequal.seed = 2;
    ExpectDisagreement(matrix, unequal, "the arrays of counts differ");
  }
}

TEST(Disagreement, OfTheCountsOfAPairIsNamed) {
  ExpectNone(RunWorlds(2, Form::kThreads, [&](World& world) {
    const DeviceBlock block(std::vector<u8>(4096, 7));
    const uint64_t sent[] = {3, world.rank == 0 ? 4U : 3U}, expected[] = {3, 3}, places[] = {0, 100};
    Check(HcclAlltoAllV(block.at(), sent, places, HCCL_DATA_TYPE_INT8, block.at(1024), expected, places,
                        HCCL_DATA_TYPE_INT8, world.comm, world.stream));
    const std::string message = FailureOf(world);
    ExpectPart(message, "EI0005");
    ExpectPart(message, ") has 4 elements for rank 1");
    ExpectPart(message, ") expects 3");
  }));
}

/// collective-8
TEST(Disagreement, OfAMessageIsNamed) {
  ExpectNone(RunWorlds(2, Form::kThreads, [&](World& world) {
    const DeviceBlock block(std::vector<u8>(4096, 7));
    if (world.rank == 0)
      Check(HcclSend(block.at(), 10, HCCL_DATA_TYPE_INT32, 1, world.comm, world.stream));
    else
      Check(HcclRecv(block.at(), 12, HCCL_DATA_TYPE_INT32, 0, world.comm, world.stream));
    const std::string message = FailureOf(world);
    ExpectPart(message, ") sends 10 int32");
    ExpectPart(message, ") receives 12 int32");
  }));
}

/// collective-10: At the limit, the ranks that came name those that did not, with what they do.
TEST(LateRank, IsNamedAtTheLimit) {
  std::atomic<bool> over{false};
  ExpectNone(RunWorlds(
      3, Form::kThreads,
      [&](World& world) {
        const DeviceBlock block(std::vector<u8>(4096, 7));
        Check(HcclBroadcast(block.at(), 5, HCCL_DATA_TYPE_INT8, 0, world.comm, world.stream));
        world.Synchronize();
        if (world.rank == 1) {
          while (!over.load())
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
          return;
        }
        Check(HcclAllReduce(block.at(), block.at(), 5, HCCL_DATA_TYPE_INT8, HCCL_REDUCE_SUM, world.comm,
                            world.stream));
        const std::string message = FailureOf(world);
        over.store(true);
        ExpectPart(message, "EI0002");
        ExpectPart(message, "operator number 2 (HcclAllReduce of 5 int8 (sum)");
        ExpectPart(message, "rank 1 (process");
        ExpectPart(message, "has called 1 collective operators, its last call is HcclBroadcast of 5 int8");
        HcclResult error = HCCL_SUCCESS;
        Check(HcclGetCommAsyncError(world.comm, &error));
        if (error != HCCL_E_TIMEOUT) throw Failure("async error " + std::to_string(error));
      },
      1));
}

/// collective-10: each rank waits for what the other one does not call. The message names both calls.
TEST(LateRank, InAnotherOperatorIsNamed) {
  ExpectNone(RunWorlds(
      2, Form::kThreads,
      [](World& world) {
        const DeviceBlock block(std::vector<u8>(4096, 7));
        if (world.rank == 0)
          Check(HcclAllReduce(block.at(), block.at(), 5, HCCL_DATA_TYPE_INT8, HCCL_REDUCE_SUM, world.comm,
                              world.stream));
        else
          Check(HcclRecv(block.at(), 6, HCCL_DATA_TYPE_INT8, 0, world.comm, world.stream));
        const std::string message = FailureOf(world);
        ExpectPart(message, "EI0002");
        ExpectPart(message, "HcclAllReduce of 5 int8");
        ExpectPart(message, "HcclRecv of 6 int8");
        ExpectPart(message, "its last call is Hccl");
      },
      1));
}

TEST(LateRank, OfAMessageIsNamed) {
  ExpectNone(RunWorlds(
      2, Form::kThreads,
      [&](World& world) {
        const DeviceBlock block(std::vector<u8>(4096, 7));
        // Both send first, as the program should not.
        Check(HcclSend(block.at(), 5, HCCL_DATA_TYPE_INT8, 1 - world.rank, world.comm, world.stream));
        Check(HcclRecv(block.at(100), 5, HCCL_DATA_TYPE_INT8, 1 - world.rank, world.comm, world.stream));
        ExpectPart(FailureOf(world), "message 1 was not received by rank");
      },
      1));
}

/// A stream that is destroyed with a queued operator ends the wait of the others at once.
TEST(DroppedOperator, IsNamed) {
  FirstCall first_call;
  ExpectNone(RunWorlds(2, Form::kThreads, [&](World& world) {
    const DeviceBlock block(std::vector<u8>(4096, 7));
    const auto begin = std::chrono::steady_clock::now();
    if (world.rank == 1) {
      aclrtStream blocked = nullptr;
      Check(aclrtCreateStream(&blocked));
      aclrtNotify notify = nullptr;
      Check(aclrtCreateNotify(&notify, 0));
      Check(aclrtWaitAndResetNotify(notify, blocked, 0));
      Check(HcclAllReduce(block.at(), block.at(), 5, HCCL_DATA_TYPE_INT8, HCCL_REDUCE_SUM, world.comm,
                          blocked));
      first_call.Await();
      Check(aclrtDestroyStreamForce(blocked));
      Check(aclrtDestroyNotify(notify));
      return;
    }
    Check(HcclAllReduce(block.at(), block.at(), 5, HCCL_DATA_TYPE_INT8, HCCL_REDUCE_SUM, world.comm,
                        world.stream));
    first_call.Made();
    ExpectPart(FailureOf(world), "rank 1 dropped HcclAllReduce of 5 int8 (sum)");
    if (std::chrono::steady_clock::now() - begin > std::chrono::seconds(30))
      throw Failure("it took until the limit");
  }));
}

/// collective-19: A rank that has destroyed its communicator does not come any more: the others are told at
/// once.
TEST(DestroyedCommunicator, IsNamed) {
  ExpectNone(RunWorlds(2, Form::kThreads, [&](World& world) {
    const DeviceBlock block(std::vector<u8>(4096, 7));
    if (world.rank == 1) {
      Check(HcclCommDestroy(world.comm));
      world.comm = nullptr;
      return;
    }
    Check(HcclAllReduce(block.at(), block.at(), 5, HCCL_DATA_TYPE_INT8, HCCL_REDUCE_SUM, world.comm,
                        world.stream));
    ExpectPart(FailureOf(world), ") has destroyed its communicator");
    HcclResult error = HCCL_SUCCESS;
    Check(HcclGetCommAsyncError(world.comm, &error));
    if (error != HCCL_E_REMOTE) throw Failure("async error " + std::to_string(error));
  }));
}

/// collective-12: Memory that was freed before the operator ran is refused, on all ranks.
TEST(FreedMemory, IsNamed) {
  FirstCall first_call;
  ExpectNone(RunWorlds(2, Form::kThreads, [&](World& world) {
    void* memory = nullptr;
    Check(aclrtMalloc(&memory, 4096, ACL_MEM_MALLOC_HUGE_FIRST));
    if (world.rank == 1) {
      aclrtNotify notify = nullptr;
      Check(aclrtCreateNotify(&notify, 0));
      aclrtStream other = nullptr;
      Check(aclrtCreateStream(&other));
      Check(aclrtWaitAndResetNotify(notify, world.stream, 0));
      Check(HcclAllReduce(memory, memory, 5, HCCL_DATA_TYPE_INT8, HCCL_REDUCE_SUM, world.comm, world.stream));
      Check(aclrtFree(memory));
      first_call.Await();
      Check(aclrtRecordNotify(notify, other));
      ExpectPart(FailureOf(world), "memory was freed");
      Check(aclrtDestroyStream(other));
      Check(aclrtDestroyNotify(notify));
      return;
    }
    Check(HcclAllReduce(memory, memory, 5, HCCL_DATA_TYPE_INT8, HCCL_REDUCE_SUM, world.comm, world.stream));
    first_call.Made();
    ExpectPart(FailureOf(world), "on rank 1: memory was freed");
    Check(aclrtFree(memory));
  }));
}

/// What a rank gets of an all-gather that the host has no memory for.
void ExpectNoMemory(World& world) {
  const std::string message = FailureOf(world);
  ExpectPart(message, "207001");
  ExpectPart(message, "SAMPAN_HOST_MEMORY");
  HcclResult error = HCCL_SUCCESS;
  Check(HcclGetCommAsyncError(world.comm, &error));
  if (error != HCCL_E_OOM) throw Failure("async error " + std::to_string(error));
}

/// Ranks write each other's memory: what is more than devices may take is refused before any of them begins.
TEST(HostMemory, BoundsWhatOperatorsWrite) {
  if (DoneInChild({{"SAMPAN_HOST_MEMORY", "32M"}})) return;
  constexpr std::size_t kSent = std::size_t{128} << 20;
  std::atomic<int> queued{0};
  ExpectNone(RunWorlds(2, Form::kThreads, [&](World& world) {
    const DeviceBlock send(kSent), receive(2 * kSent);
    aclrtNotify notify = nullptr;
    aclrtStream other = nullptr;
    Check(aclrtCreateNotify(&notify, 0));
    Check(aclrtCreateStream(&other));
    Check(aclrtWaitAndResetNotify(notify, world.stream, 0));
    Check(HcclAllGather(send.at(), receive.at(), kSent, HCCL_DATA_TYPE_INT8, world.comm, world.stream));
    ++queued;
    while (queued.load() < 2)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    Check(aclrtRecordNotify(notify, other));
    ExpectNoMemory(world);
    Check(aclrtDestroyStream(other));
    Check(aclrtDestroyNotify(notify));
  }));
}

/// The same for a short one, which the calling thread would have executed.
TEST(HostMemory, BoundsShortOperators) {
  if (DoneInChild({{"SAMPAN_HOST_MEMORY", "32M"}})) return;
  constexpr std::size_t kSent = std::size_t{32} << 10, kAll = std::size_t{64} << 20;
  FirstCall first_call;
  ExpectNone(RunWorlds(2, Form::kThreads, [&](World& world) {
    const DeviceBlock taken(kAll), receive(2 * kSent);
    if (world.rank == 0) {
      std::size_t at = 0;
      while (at < kAll && aclrtMemset(taken.at(at), kSent, 1, kSent) == ACL_SUCCESS)
        at += kSent;
      if (at == kAll) throw Failure("all of the memory was given");
      Check(HcclAllGather(taken.at(), receive.at(), kSent, HCCL_DATA_TYPE_INT8, world.comm, world.stream));
      first_call.Made();
      return ExpectNoMemory(world);
    }
    first_call.Await();
    if (HcclAllGather(taken.at(), receive.at(), kSent, HCCL_DATA_TYPE_INT8, world.comm, world.stream) !=
        HCCL_E_OOM)
      throw Failure("a broken communicator accepts an operator");
  }));
}

/// The event behind a barrier is not there before the stream of another rank is at its barrier.
TEST(Barrier, HoldsTheStreamsUntilAllAreThere) {
  FirstCall first_call, seen;
  ExpectNone(RunWorlds(2, Form::kThreads, [&](World& world) {
    if (world.rank == 1) {
      aclrtNotify notify = nullptr;
      aclrtStream other = nullptr;
      Check(aclrtCreateNotify(&notify, 0));
      Check(aclrtCreateStream(&other));
      Check(aclrtWaitAndResetNotify(notify, world.stream, 0));
      Check(HcclBarrier(world.comm, world.stream));
      first_call.Made();
      seen.Await();
      Check(aclrtRecordNotify(notify, other));
      world.Synchronize();
      Check(aclrtDestroyStream(other));
      Check(aclrtDestroyNotify(notify));
      return;
    }
    aclrtEvent event = nullptr;
    aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_COMPLETE;
    Check(aclrtCreateEvent(&event));
    Check(HcclBarrier(world.comm, world.stream));
    Check(aclrtRecordEvent(event, world.stream));
    first_call.Await();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    Check(aclrtQueryEventStatus(event, &status));
    seen.Made();
    if (status != ACL_EVENT_RECORDED_STATUS_NOT_READY) throw Failure("the barrier was passed");
    world.Synchronize();
    Check(aclrtQueryEventStatus(event, &status));
    if (status != ACL_EVENT_RECORDED_STATUS_COMPLETE) throw Failure("the event is not complete");
    Check(aclrtDestroyEvent(event));
  }));
}

TEST(NetworkDevices, AreCheckedAndNotChosen) {
  ExpectNone(RunWorlds(2, Form::kThreads, [&](World& world) {
    uint32_t ranks[] = {0, 1}, wrong[] = {0, 2};
    bool backup[] = {true, false};
    const auto expect = [](HcclResult code, const std::string& part, HcclResult answer) {
      const std::string message = answer == HCCL_SUCCESS ? "" : aclGetRecentErrMsg();
      if (answer != code) throw Failure(std::to_string(answer) + " " + message);
      ExpectPart(message, part);
    };
    expect(HCCL_E_PTR, "comm is NULL", HcclCommWorkingDevNicSet(nullptr, nullptr, nullptr, 0));
    expect(HCCL_E_PTR, "ranks is NULL", HcclCommWorkingDevNicSet(world.comm, nullptr, nullptr, 0));
    expect(HCCL_E_PARA, "no communicator", HcclCommWorkingDevNicSet(world.stream, ranks, nullptr, 0));
    expect(HCCL_E_PTR, "useBackup is NULL", HcclCommWorkingDevNicSet(world.comm, ranks, nullptr, 0));
    expect(HCCL_E_PARA, "nRanks is 0", HcclCommWorkingDevNicSet(world.comm, ranks, backup, 0));
    expect(HCCL_E_PARA, "nRanks is 3", HcclCommWorkingDevNicSet(world.comm, ranks, backup, 3));
    expect(HCCL_E_PARA, "ranks[1] is 2", HcclCommWorkingDevNicSet(world.comm, wrong, backup, 2));
    expect(HCCL_SUCCESS, "", HcclCommWorkingDevNicSet(world.comm, ranks, backup, 2));
  }));
}

}  // namespace
}  // namespace sampan::test
