// An all-reduce around a ring of ranks, on links of the platform layer. Alone, the program forks four ranks.
// Under mpirun each process is a rank, also on several hosts:
//
//     mpirun -n 4 -host a:2,b:2 -x SAMPAN_PROFILE=ascend910c ring_of_ranks 10.0.0.1 /home/me/ring.token
//
// The address is that of the host of rank 0, and the file holds a token. docs/HCCL.md says how to make it.
#include <hccl/platform/rank_group.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <vector>

#include "check.h"

#define CHECK_HCCL(call)                                                                         \
  do {                                                                                           \
    const HcclResult code_ = (call);                                                             \
    if (code_ != HCCL_SUCCESS) {                                                                 \
      const char* text_ = aclGetRecentErrMsg();                                                  \
      std::fprintf(stderr, "%s:%d: %s returned %d\n%s\n", __FILE__, __LINE__, #call, int(code_), \
                   text_ != nullptr ? text_ : "(no message)");                                   \
      std::exit(1);                                                                              \
    }                                                                                            \
  } while (false)

namespace {

using hccl::Transport;
using hccl::UserMemType;

constexpr u64 kChunk = 500'000;  // values
constexpr u64 kChunkBytes = kChunk * sizeof(std::int32_t);
constexpr int kRounds = 5;

/// What a rank adds in a round: all know it, so that each can tell what the sum must be.
std::vector<std::int32_t> ValuesOf(u32 rank, int round, u64 count) {
  std::vector<std::int32_t> values(count);
  for (u64 i = 0; i < count; ++i)
    values[i] = static_cast<std::int32_t>((i * 7 + rank * 1000 + static_cast<u64>(round)) % 100'003);
  return values;
}

/// One rank of the ring, in its stream.
class Rank {
 public:
  explicit Rank(const hccl::RankGroupConfig& config) : rank_(config.rank), size_(config.rankSize) {
    uint32_t devices = 0;
    CHECK_ACL(aclrtGetDeviceCount(&devices));
    CHECK_ACL(aclrtSetDevice(static_cast<int32_t>(rank_ % devices)));
    CHECK_HCCL(HcclDispatcherInit(DispatcherType::DISPATCHER_NORMAL, -1, &dispatcher_));
    stream_ = hccl::Stream(hccl::StreamType::STREAM_TYPE_ONLINE, true);
    sum_ = hccl::DeviceMem::alloc(size_ * kChunkBytes);
    CHECK_TRUE(stream_ && sum_);
    CHECK_HCCL(hccl::RankGroup::Join(config, group_));
    hccl::MachinePara mine;
    mine.inputMem = mine.outputMem = sum_;
    std::vector<u32> neighbours = {(rank_ + 1) % size_};
    if (size_ > 2) neighbours.push_back((rank_ + size_ - 1) % size_);
    if (size_ > 1) CHECK_HCCL(group_->Connect(dispatcher_, mine, neighbours, links_));
  }
  ~Rank() {
    links_.clear();
    group_.reset();
    stream_ = hccl::Stream();
    HcclDispatcherDestroy(dispatcher_);
  }
  Rank(const Rank&) = delete;
  Rank& operator=(const Rank&) = delete;

  /// Returns the seconds of the sum, after all bytes were compared.
  double AddUp(int round) {
    const std::vector<std::int32_t> own = ValuesOf(rank_, round, size_ * kChunk);
    std::vector<std::int32_t> expected(own.size()), result(own.size());
    for (u32 rank = 0; rank < size_; ++rank) {
      const std::vector<std::int32_t> part = ValuesOf(rank, round, own.size());
      for (std::size_t i = 0; i < part.size(); ++i)
        expected[i] += part[i];
    }
    CHECK_ACL(aclrtMemcpy(sum_.ptr(), sum_.size(), own.data(), sum_.size(), ACL_MEMCPY_HOST_TO_DEVICE));
    CHECK_HCCL(group_->Barrier());
    const auto begin = std::chrono::steady_clock::now();
    for (u32 step = 0; step + 1 < 2 * size_ - 1; ++step)
      Step(step);
    CHECK_ACL(aclrtSynchronizeStream(stream_.ptr()));
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    CHECK_HCCL(group_->Barrier());  // the next rank has read the last chunk
    CHECK_ACL(aclrtMemcpy(result.data(), sum_.size(), sum_.ptr(), sum_.size(), ACL_MEMCPY_DEVICE_TO_HOST));
    example::ExpectSameBytes(result.data(), expected.data(), sum_.size(), "the sum");
    return seconds.count();
  }

 private:
  /// Once around the ring chunks are combined, then once around they are copied.
  void Step(u32 step) {
    Transport& before = *links_[(rank_ + size_ - 1) % size_];
    Transport& next = *links_[(rank_ + 1) % size_];
    const u64 at = (rank_ + 2 * size_ - 1 - step) % size_ * kChunkBytes;
    void* theirs = nullptr;
    CHECK_HCCL(before.GetRemoteMem(UserMemType::OUTPUT_MEM, &theirs));
    Transport::Buffer from(example::At(theirs, at), kChunkBytes),
        to(example::At(sum_.ptr(), at), kChunkBytes);
    // The rank before has its chunk ready, and this one tells the next rank the same.
    CHECK_HCCL(before.TxAck(stream_));
    CHECK_HCCL(next.RxAck(stream_));
    CHECK_HCCL(next.TxDataSignal(stream_));
    CHECK_HCCL(before.RxDataSignal(stream_));
    if (step + 1 < size_)
      CHECK_HCCL(before.ReadReduceSync(to, from, HCCL_DATA_TYPE_INT32, HCCL_REDUCE_SUM, stream_));
    else
      CHECK_HCCL(before.ReadAsync(to, from, stream_));
  }

  const u32 rank_, size_;
  HcclDispatcher dispatcher_ = nullptr;
  hccl::Stream stream_{};
  hccl::DeviceMem sum_{};
  std::shared_ptr<hccl::RankGroup> group_;
  std::vector<LINK> links_;
};

int Run(const hccl::RankGroupConfig& config) {
  Rank rank(config);
  double best = 1e9;
  for (int round = 0; round < kRounds; ++round)
    best = std::min(best, rank.AddUp(round));
  if (config.rank != 0) return 0;
  std::printf("%u ranks add up %llu bytes in %.2f ms\n", config.rankSize, config.rankSize * kChunkBytes,
              best * 1e3);
  return example::Done("a sum around a ring of ranks");
}

u32 Number(const char* text) {
  return static_cast<u32>(std::strtoul(text, nullptr, 10));
}

}  // namespace

int main(int argc, char** argv) {
  hccl::RankGroupConfig config;
  config.timeout = std::chrono::seconds(60);
  const char* const rank = std::getenv("OMPI_COMM_WORLD_RANK");
  if (rank != nullptr) {
    CHECK_TRUE(argc == 3);  // ADDRESS TOKEN_FILE
    config.address = argv[1];
    config.file = argv[2];
    config.rank = Number(rank);
    config.rankSize = Number(std::getenv("OMPI_COMM_WORLD_SIZE"));
    return Run(config);
  }
  config.name = "ring_of_ranks";
  config.token = hccl::RankGroup::MakeToken();
  config.rankSize = 4;
  for (config.rank = 1; config.rank < config.rankSize; ++config.rank) {
    if (::fork() == 0) return Run(config);
  }
  config.rank = 0;
  const int failed = Run(config);
  for (u32 other = 1; other < config.rankSize; ++other) {
    int status = 0;
    CHECK_TRUE(::wait(&status) > 0 && status == 0);
  }
  return failed;
}
