// Collectives: their memory is accessed in stream order, and ranks that wait for one another in a circle.
#include <hccl/hccl.h>

#include "tests/check/scene.h"

namespace sampan::check_cases {
namespace {

constexpr std::uint64_t kCount = kBytes;
constexpr HcclDataType kType = HCCL_DATA_TYPE_INT8;

#define HCCL_OK(call) Expect((call) == HCCL_SUCCESS ? ACL_SUCCESS : ACL_ERROR_FAILURE, #call)

/// Two communicators of the same two ranks, which are threads that take turns: this one calls for both.
class Pair {
 public:
  Pair() {
    int32_t devices[2] = {0, 1};
    HCCL_OK(HcclCommInitAll(2, devices, one));
    HCCL_OK(HcclCommInitAll(2, devices, other));
    for (int rank = 0; rank < 2; ++rank) {
      OK(aclrtSetDevice(rank));
      OK(aclrtCreateStream(&stream[rank]));
      OK(aclrtMalloc(&memory[rank], kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
      OK(aclrtMemset(memory[rank], kBytes, 1, kBytes));
    }
    OK(aclrtSetDevice(0));
  }
  ~Pair() {
    for (int rank = 0; rank < 2; ++rank) {
      OK(aclrtSetDevice(rank));
      OK(aclrtSynchronizeStream(stream[rank]));
      HCCL_OK(HcclCommDestroy(one[rank]));
      HCCL_OK(HcclCommDestroy(other[rank]));
      if (memory[rank] != nullptr) OK(aclrtFree(memory[rank]));
      OK(aclrtDestroyStream(stream[rank]));
    }
    OK(aclrtSetDevice(0));
  }
  Pair(const Pair&) = delete;
  Pair& operator=(const Pair&) = delete;

  HcclComm one[2], other[2];
  aclrtStream stream[2];
  void* memory[2];
};

#define REDUCE(pair, rank, comm)                                                                      \
  HCCL_OK(HcclAllReduce(pair.memory[rank], pair.memory[rank], kCount, kType, HCCL_REDUCE_SUM, (comm), \
                        pair.stream[rank]))

CASE(result_of_a_collective_is_read_early) {
  Pair pair;
  char* back = s.Pinned();
  aclrtStream side = s.Stream();
  OK(aclrtSetDevice(1));
  REDUCE(pair, 1, pair.one[1]);
  OK(aclrtSetDevice(0));
  REDUCE(pair, 0, pair.one[0]);  //! 1 race
  if (right) After(side, pair.stream[0], s.Event());
  D2H(back, pair.memory[0], kBytes, side);  //! 2 race
  SYNC(side);
}

CASE(input_of_a_collective_is_written_again_early) {
  Pair pair;
  char* next = s.Pinned();
  aclrtStream side = s.Stream();
  OK(aclrtSetDevice(1));
  HCCL_OK(HcclBroadcast(pair.memory[1], kCount, kType, 0, pair.one[1], pair.stream[1]));
  OK(aclrtSetDevice(0));
  HCCL_OK(HcclBroadcast(pair.memory[0], kCount, kType, 0, pair.one[0], pair.stream[0]));  //! 1 race
  if (right) After(side, pair.stream[0], s.Event());
  H2D(pair.memory[0], next, kBytes, side);  //! 2 race
  SYNC(side);
}

CASE_ALONE(two_communicators_in_another_order) {
  Pair pair;
  OK(aclrtSetDevice(1));
  if (right) REDUCE(pair, 1, pair.one[1]);
  REDUCE(pair, 1, pair.other[1]);  //! 2 deadlock
  if (!right) REDUCE(pair, 1, pair.one[1]);
  OK(aclrtSetDevice(0));
  REDUCE(pair, 0, pair.one[0]);  //! 1 deadlock
  REDUCE(pair, 0, pair.other[0]);
  SYNC(pair.stream[0]);  //! 3 deadlock
}

CASE_ALONE(both_ranks_send_first) {
  Pair pair;
  char* back[2] = {nullptr, nullptr};
  for (int rank = 0; rank < 2; ++rank) {
    OK(aclrtSetDevice(rank));
    back[rank] = s.Device();
    if (right) HCCL_OK(HcclGroupStart());
    HCCL_OK(HcclSend(pair.memory[rank], kCount, kType, 1 - rank, pair.one[rank],
                     pair.stream[rank]));  //! 1+2 deadlock
    HCCL_OK(HcclRecv(back[rank], kCount, kType, 1 - rank, pair.one[rank], pair.stream[rank]));
    if (right) HCCL_OK(HcclGroupEnd());
  }
  SYNC(pair.stream[1]);  //! 3 deadlock
}

CASE_ALONE(rank_that_never_comes) {
  Pair pair;
  OK(aclrtSetDevice(1));
  if (right) REDUCE(pair, 1, pair.one[1]);
  OK(aclrtSetDevice(0));
  REDUCE(pair, 0, pair.one[0]);  //! 1 deadlock
  SYNC(pair.stream[0]);          //! 2 deadlock
}

}  // namespace
}  // namespace sampan::check_cases
