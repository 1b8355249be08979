// Writes the first seeds of the corpora, with the code that writes such things in the library.
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "acl/acl.h"
#include "backend/cuda/paths/copy_table.h"
#include "base/error/text.h"
#include "hccl/group/byte_stream.h"
#include "hccl/link/link_making.h"
#include "hccl/platform/dispatcher.h"
#include "tests/fuzz/fuzz_failure.h"
#include "tests/fuzz/rank_table_keys.h"

namespace sampan::fuzz {
namespace {

using hccl::ByteReader;
using hccl::Bytes;
using hccl::Encode;
using hccl::Frame;
using hccl::FrameKind;
using hccl::FrameSocket;

constexpr u32 kRanks = 2;
constexpr std::string_view kToken = "0123456789abcdef0123456789abcdef";

class Corpus {
 public:
  explicit Corpus(std::filesystem::path folder) : folder_(std::move(folder)) {}

  std::filesystem::path PathOf(const std::string& target, const std::string& name) const {
    std::filesystem::create_directories(folder_ / target);
    return folder_ / target / name;
  }
  template <typename Content>
  void Write(const std::string& target, const std::string& name, const Content& content) const {
    std::ofstream(PathOf(target, name), std::ios::binary)
        .write(reinterpret_cast<const char*>(content.data()), static_cast<std::streamsize>(content.size()));
  }

 private:
  const std::filesystem::path folder_;
};

void Append(std::vector<u8>& bytes, const Frame& frame) {
  const auto encoded = Encode(frame);
  bytes.insert(bytes.end(), encoded->begin(), encoded->end());
}

hccl::MeetingPoint Meeting(pid_t process) {
  return {"seeds", Text("sampan-fuzz-seeds-", process, "-"), hccl::SecretOf("seeds", kToken)};
}

/// In a process of its own: rank 0 of a group, with links to rank 1, which fails.
[[noreturn]] void RunRank0(const hccl::MeetingPoint& meeting) {
  HcclDispatcher dispatcher = nullptr;
  if (aclrtSetDevice(0) != ACL_SUCCESS ||
      HcclDispatcherInit(DispatcherType::DISPATCHER_NORMAL, 0, &dispatcher) != HCCL_SUCCESS)
    FailInput("no device");
  ::hccl::MachinePara para;
  para.inputMem = ::hccl::DeviceMem::alloc(4096);
  para.outputMem = ::hccl::DeviceMem::alloc(4096);
  para.notifyNum = kNumberedNotifies;
  para.exchangeInfo = Bytes("told to the peer");
  ::hccl::RankGroupConfig config;
  config.rank = 0;
  config.rankSize = kRanks;
  config.timeout = std::chrono::seconds(30);
  {
    std::shared_ptr<hccl::Membership> joined;
    if (hccl::Membership::Join("seeds", meeting, config, joined) != HCCL_SUCCESS) FailInput("no group");
    std::vector<std::shared_ptr<::hccl::Transport::Link>> links;
    static_cast<void>(hccl::LinkMaking("seeds", joined, dispatcher, para).Make({1}, links));
  }
  ::_exit(0);
}

/// Rank 1, which keeps what the hub says.
class RecordingRank {
 public:
  explicit RecordingRank(const hccl::MeetingPoint& meeting)
      : socket_(Connect(meeting), FrameSocket::kMaxFrameBytes) {
    auto process = ThisProcess();
    if (!process.ok() || !Introduce(socket_, meeting.secret, {1, kRanks, *process}, kNever).ok())
      FailInput("the hub does not admit the rank");
  }
  void Say(const Frame& frame) { socket_.Queue(frame); }
  /// The next frame; one without a kind at the end.
  Frame Await() {
    for (;;) {
      static_cast<void>(socket_.Send());
      if (const auto frame = socket_.Next()) {
        Append(heard_, *frame);
        return *frame;
      }
      pollfd watched{socket_.descriptor(), POLLIN, 0};
      ::poll(&watched, 1, -1);
      if (!socket_.Receive()) return {};
    }
  }
  const std::vector<u8>& heard() const { return heard_; }

 private:
  static Descriptor Connect(const hccl::MeetingPoint& meeting) {
    for (;;) {
      if (hccl::FoundHub found = hccl::FindHub(meeting, kNever); found.connection.get() >= 0)
        return std::move(found.connection);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  FrameSocket socket_;
  std::vector<u8> heard_;
};

/// Replaces the keys, which are different every time, by the marks.
std::vector<u8> WithMarks(std::vector<u8> table) {
  const std::string start = "sampan:";
  auto at = table.begin();
  for (const KeyMark& mark : kMarks) {
    at = std::search(at, table.end(), start.begin(), start.end());
    if (table.end() - at < static_cast<std::ptrdiff_t>(kKeyTextBytes)) FailInput("a table with too few keys");
    at = std::fill_n(at, kKeyTextBytes, static_cast<u8>(mark.letter));
  }
  return table;
}

void WriteRankSeeds(const Corpus& corpus) {
  const hccl::MeetingPoint meeting = Meeting(::getpid());
  const pid_t child = ::fork();
  if (child == 0) RunRank0(meeting);
  RecordingRank rank(meeting);
  if (rank.Await().kind != FrameKind::kWelcome) FailInput("the hub does not welcome the rank");
  std::vector<u8> table;
  for (u64 sequence = 0; sequence < 2; ++sequence) {
    rank.Say({FrameKind::kGather, 1, 0, sequence, {0, 0, 0, 0}});
    Frame frame = rank.Await();
    while (frame.kind != FrameKind::kGathered)
      frame = rank.Await();
    if (sequence == 0) table = ByteReader(frame.content).GetBytes();
  }
  rank.Say({FrameKind::kBye, 1, 0, 0, {}});
  while (rank.Await().kind != FrameKind{}) {
  }
  ::waitpid(child, nullptr, 0);
  corpus.Write("rank", "whole", rank.heard());
  std::vector<u8> posted = rank.heard();
  Append(posted, {FrameKind::kPosted, 0, 0, 0, Bytes("a post")});
  Append(posted, {FrameKind::kPosted, kRanks + 5, 0, 0, Bytes("a post of no rank of the group")});
  corpus.Write("rank", "posts", posted);
  std::vector<u8> refused;
  Append(refused, {FrameKind::kRefused, 0, HCCL_E_PARA, 0, Bytes("the token is not the group's")});
  corpus.Write("rank", "refused", refused);
  table = WithMarks(std::move(table));
  for (const u8 where : {u8{0}, u8{7}}) {  // another process, and a thread of this one
    table.insert(table.begin(), where);
    corpus.Write("rank_table", where == 0 ? "whole" : "same_process", table);
    table.erase(table.begin());
  }
}

/// One frame in the form of the target: what to do, connection, header, and how its content is made.
void AppendFrame(std::vector<u8>& seed, u8 connection, FrameKind kind, std::initializer_list<u8> content) {
  constexpr u8 kWholeFrame = 9;
  for (const u8 byte : {kWholeFrame, connection, static_cast<u8>(kind), connection, u8{0}, u8{0}})
    seed.push_back(byte);
  seed.insert(seed.end(), content);
}

void WriteHubSeeds(const Corpus& corpus) {
  constexpr u8 kProven = 0, kUnproven = 1, kBytes = 2;
  for (const u8 in_network : {u8{0}, u8{1}}) {
    std::vector<u8> whole = {in_network}, stranger = whole, broken;
    for (u8 rank = 0; rank < kRanks; ++rank)
      AppendFrame(whole, rank, FrameKind::kHello, {kProven, rank, kRanks});
    broken = whole;
    for (u8 rank = 0; rank < kRanks; ++rank)
      AppendFrame(whole, rank, FrameKind::kGather, {kBytes, 2, 'a', 'b'});
    for (u8 rank = 0; rank < kRanks; ++rank)
      AppendFrame(whole, rank, FrameKind::kBye, {kBytes, 0});
    AppendFrame(broken, 1, FrameKind::kBroken, {kBytes, 4, 'l', 'a', 't', 'e'});
    AppendFrame(stranger, 0, FrameKind::kHello,
                {kUnproven, 1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16});
    const std::string where = in_network == 1 ? "_in_network" : "";
    corpus.Write("hub", "whole" + where, whole);
    corpus.Write("hub", "broken" + where, broken);
    corpus.Write("hub", "stranger" + where, stranger);
  }
}

/// What listens at the address of a group without its token, or with half of what it says.
void WriteIntroductionSeeds(const Corpus& corpus) {
  std::vector<u8> challenge, refused, admitted, large;
  Append(challenge, {FrameKind::kChallenge, 0, 0, 0, hccl::ContentOf(Key{1, 2})});
  refused = admitted = large = challenge;
  Append(refused, {FrameKind::kRefused, 0, HCCL_E_PARA, 0, Bytes("the token is not the group's")});
  Append(admitted, {FrameKind::kAdmitted, 0, 0, 0, hccl::ContentOf(Digest{3, 4})});
  Append(large, {FrameKind::kAdmitted, 0, 0, 0, std::vector<u8>(5000)});
  corpus.Write("introduction", "challenge", challenge);
  corpus.Write("introduction", "refused", refused);
  corpus.Write("introduction", "admitted", admitted);
  corpus.Write("introduction", "large", large);
  corpus.Write("introduction", "half", std::vector<u8>(challenge.begin(), challenge.end() - 9));
}

void WriteTableSeeds(const Corpus& corpus) {
  for (cuda::PathLimits table : cuda::ShippedTables()) {
    const std::string name = table.gpu.empty() ? "any" : table.gpu;
    std::string text = Text("# as shipped\ngpu ", name, "\n");
    for (const cuda::LimitField& field : cuda::limit_fields()) {
      const std::size_t limit = field.of(table);
      text += Text(field.name, " ", limit == cuda::kAny ? "any" : std::to_string(limit), "\n");
    }
    corpus.Write("copy_table", name, text);
  }
}

/// In a process of its own, whose trace is whole when it has exited: a bit of everything that traces know.
[[noreturn]] void RunTraced() {
  constexpr std::size_t kBytes = 4096, kRows = 4;
  void *device = nullptr, *pinned = nullptr;
  aclrtStream first = nullptr, second = nullptr;
  aclrtEvent event = nullptr;
  aclrtSetDevice(0);
  aclrtMalloc(&device, kBytes, ACL_MEM_MALLOC_HUGE_FIRST);
  aclrtMallocHost(&pinned, kBytes);
  aclrtCreateStream(&first);
  aclrtCreateStream(&second);
  aclrtCreateEvent(&event);
  aclrtMemcpyAsync(device, kBytes, pinned, kBytes, ACL_MEMCPY_HOST_TO_DEVICE, first);
  aclrtMemsetAsync(device, kBytes, 1, kBytes, first);
  aclrtRecordEvent(event, first);
  aclrtStreamWaitEvent(second, event);
  aclrtMemcpy2dAsync(pinned, kBytes / kRows, device, kBytes / kRows, 100, kRows, ACL_MEMCPY_DEVICE_TO_HOST,
                     second);
  void* dsts[] = {device, static_cast<char*>(device) + 64};
  void* srcs[] = {pinned, static_cast<char*>(pinned) + 64};
  std::size_t sizes[] = {32, 32}, index = 0, failed = 0;
  aclrtMemcpyBatchAttr attribute{};
  attribute.dstLoc = {0, ACL_MEM_LOCATION_TYPE_DEVICE};
  attribute.srcLoc = {0, ACL_MEM_LOCATION_TYPE_HOST};
  aclrtMemcpyBatchAsync(dsts, sizes, srcs, sizes, 2, &attribute, &index, 1, &failed, second);
  aclrtSynchronizeStream(second);
  std::vector<char> pageable(64);
  aclrtMemcpy(pageable.data(), pageable.size(), device, pageable.size(), ACL_MEMCPY_DEVICE_TO_HOST);
  aclrtDestroyEvent(event);
  aclrtDestroyStream(second);
  aclrtDestroyStream(first);
  aclrtFreeHost(pinned);
  aclrtFree(device);
  std::exit(0);
}

void WriteTraceSeeds(const Corpus& corpus) {
  for (const char* name : {"whole.json", "whole.json.gz"}) {
    const auto path = corpus.PathOf("trace", name);
    std::filesystem::remove(path);
    const pid_t child = ::fork();
    if (child == 0) {
      ::setenv("SAMPAN_TRACE", path.c_str(), 1);
      RunTraced();
    }
    ::waitpid(child, nullptr, 0);
    if (!std::filesystem::exists(path)) FailInput("no trace was written");
  }
}

}  // namespace
}  // namespace sampan::fuzz

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s CORPUS\n", argv[0]);
    return 2;
  }
  const sampan::fuzz::Corpus corpus(argv[1]);
  sampan::fuzz::WriteTraceSeeds(corpus);
  sampan::fuzz::WriteRankSeeds(corpus);
  sampan::fuzz::WriteHubSeeds(corpus);
  sampan::fuzz::WriteIntroductionSeeds(corpus);
  sampan::fuzz::WriteTableSeeds(corpus);
  return 0;
}
