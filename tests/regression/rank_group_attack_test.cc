// Rank groups in hostile surroundings: a socket name taken by another user, floods of connections, and
// connections that send too much. Also a process without memory or descriptors.
#include <dirent.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <memory>
#include <new>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "acl/acl.h"
#include "hccl/group/introduction.h"
#include "hccl/platform/rank_group.h"
#include "tests/hccl/hccl_expect.h"
#include "tests/support/child_process.h"
#include "tests/support/second_user.h"
#include "tests/support/temporary_folder.h"

namespace sampan::test::rank_group_attack_test {
namespace {

/// Allocations fail on the threads of this name, from the n-th on.
std::atomic<const char*> failing_thread{nullptr};
std::atomic<int> allocations_left{0};

/// The largest allocation of the threads of this name.
std::atomic<const char*> measured_thread{nullptr};
std::atomic<std::size_t> largest_bytes{0};

bool IsNamed(const char* name) {
  if (name == nullptr) return false;
  std::array<char, 16> own{};
  ::pthread_getname_np(::pthread_self(), own.data(), own.size());
  return std::strcmp(own.data(), name) == 0;
}

bool MustFail(std::size_t bytes) {
  if (IsNamed(measured_thread.load())) largest_bytes.store(std::max(largest_bytes.load(), bytes));
  return IsNamed(failing_thread.load()) && allocations_left.fetch_sub(1) <= 0;
}

}  // namespace
}  // namespace sampan::test::rank_group_attack_test

// The libraries of the process use these too.
[[gnu::visibility("default")]] void* operator new(std::size_t bytes) {
  if (sampan::test::rank_group_attack_test::MustFail(bytes)) throw std::bad_alloc();
  if (void* const memory = std::malloc(bytes != 0 ? bytes : 1)) return memory;
  throw std::bad_alloc();
}
[[gnu::visibility("default")]] void operator delete(void* memory) noexcept {
  std::free(memory);
}
[[gnu::visibility("default")]] void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}

namespace sampan::test::rank_group_attack_test {
namespace {

using ::hccl::RankGroup;
using ::hccl::RankGroupConfig;
using std::chrono::milliseconds;

constexpr milliseconds kTimeout{20000};

RankGroupConfig GroupOf(u32 size, milliseconds timeout) {
  RankGroupConfig config;
  config.name = ::testing::UnitTest::GetInstance()->current_test_info()->name();
  config.name.resize(std::min<std::size_t>(config.name.size(), 64));
  config.token = RankGroup::MakeToken();
  config.rankSize = size;
  config.timeout = timeout;
  return config;
}

HcclResult Join(RankGroupConfig config, u32 rank, std::shared_ptr<RankGroup>& group) {
  config.rank = rank;
  return RankGroup::Join(config, group);
}

std::set<std::string> OwnSocketNumbers() {
  std::set<std::string> numbers;
  DIR* const folder = ::opendir("/proc/self/fd");
  while (const dirent* entry = ::readdir(folder)) {
    std::array<char, 64> target{};
    const std::string path = std::string("/proc/self/fd/") + entry->d_name;
    if (::readlink(path.c_str(), target.data(), target.size() - 1) <= 0) continue;
    const std::string text = target.data();
    if (text.starts_with("socket:[")) numbers.insert(text.substr(8, text.size() - 9));
  }
  ::closedir(folder);
  return numbers;
}

/// The name of the one socket of this process that listens for ranks; empty if there is none.
std::string ListeningName() {
  const std::set<std::string> own = OwnSocketNumbers();
  std::ifstream list("/proc/net/unix");
  for (std::string line; std::getline(list, line);) {
    std::istringstream words(line);
    std::string address, references, protocol, flags, type, state, number, name;
    words >> address >> references >> protocol >> flags >> type >> state >> number >> name;
    if (flags == "00010000" && name.starts_with("@sampan-hccl-") && own.contains(number))
      return name.substr(1);
  }
  return {};
}

std::string AwaitListeningName() {
  const auto deadline = std::chrono::steady_clock::now() + kTimeout;
  std::string name;
  while ((name = ListeningName()).empty() && std::chrono::steady_clock::now() < deadline)
    std::this_thread::sleep_for(milliseconds(1));
  return name;
}

std::pair<sockaddr_un, socklen_t> AddressOf(const std::string& name) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path + 1, name.data(), name.size());
  return {address, static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size())};
}

int ConnectTo(const std::string& name) {
  const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const auto [address, bytes] = AddressOf(name);
  if (::connect(socket, reinterpret_cast<const sockaddr*>(&address), bytes) != 0) {
    ::close(socket);
    return -1;
  }
  const timeval limit{10, 0};
  ::setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
  ::setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
  return socket;
}

/// As the hub and its ranks send it.
struct FrameHeader {
  u32 magic = 0x53484331;
  u32 kind = 0;
  u32 rank = 0;
  u32 number = 0;
  u64 sequence = 0;
  u64 bytes = 0;
};
constexpr u32 kHello = 1, kGather = 4;

bool SendAll(int socket, const void* data, std::size_t bytes) {
  const char* at = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t sent = ::send(socket, at, bytes, MSG_NOSIGNAL);
    if (sent <= 0) return false;
    at += sent;
    bytes -= static_cast<std::size_t>(sent);
  }
  return true;
}

/// Shows the token as a rank does. Returns false if the hub does not admit it.
bool IntroduceAs(u32 rank, const RankGroupConfig& config, int socket) {
  sampan::hccl::FrameSocket frames(Descriptor(::dup(socket)), sampan::hccl::kMaxReasonBytes);
  auto process = ThisProcess();
  return process.ok() && Introduce(frames, sampan::hccl::SecretOf(config.name, config.token),
                                   {rank, config.rankSize, *process}, Clock::now() + kTimeout)
                             .ok();
}

/// Reads until the other end closes; false if it does not within the socket's limit.
bool IsClosedByPeer(int socket) {
  std::array<char, 4096> piece;
  for (;;) {
    const ssize_t length = ::recv(socket, piece.data(), piece.size(), 0);
    if (length == 0 || (length < 0 && errno == ECONNRESET)) return true;
    if (length < 0) return false;
  }
}

TEST(RankGroupAttack, ANameThatAnotherUserTookDoesNotStopTheNextStart) {
  REQUIRE_SECOND_USER();
  const RankGroupConfig config = GroupOf(2, milliseconds(500));
  std::string name;
  std::thread alone([&] {
    std::shared_ptr<RankGroup> group;
    EXPECT_HCCL(HCCL_E_TIMEOUT, Join(config, 0, group));
  });
  name = AwaitListeningName();
  alone.join();
  ASSERT_FALSE(name.empty());
  while (!ListeningName().empty())
    std::this_thread::sleep_for(milliseconds(1));
  const SecondUser squatter([&](int ready) {
    const int socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
    const auto [address, bytes] = AddressOf(name);
    if (::bind(socket, reinterpret_cast<const sockaddr*>(&address), bytes) != 0 || ::listen(socket, 8) != 0)
      return;
    if (::write(ready, "r", 1) != 1) return;
    ::pause();
  });
  RankGroupConfig again = config;
  again.timeout = kTimeout;
  std::thread other([&] {
    std::shared_ptr<RankGroup> group;
    EXPECT_HCCL(HCCL_SUCCESS, Join(again, 1, group));
  });
  std::shared_ptr<RankGroup> group;
  EXPECT_HCCL(HCCL_SUCCESS, Join(again, 0, group));
  other.join();
}

TEST(RankGroupAttack, AnotherUserWithTheTokenIsNotLetIn) {
  REQUIRE_SECOND_USER();
  const RankGroupConfig config = GroupOf(2, kTimeout);
  std::shared_ptr<RankGroup> first, second;
  std::thread zero([&] { EXPECT_HCCL(HCCL_SUCCESS, Join(config, 0, first)); });
  const std::string name = AwaitListeningName();
  ASSERT_FALSE(name.empty());
  {
    const SecondUser thief([&](int ready) {
      const int socket = ConnectTo(name);
      if (IntroduceAs(1, config, socket)) return;
      if (IsClosedByPeer(socket) && ::write(ready, "r", 1) == 1) ::pause();
    });
  }
  EXPECT_HCCL(HCCL_SUCCESS, Join(config, 1, second));
  zero.join();
}

TEST(RankGroupAttack, ATokenFileThatIsAFifoDoesNotHang) {
  const TemporaryFolder folder;
  RankGroupConfig config = GroupOf(1, milliseconds(500));
  config.name.clear();
  config.token.clear();
  config.file = folder.path() + "/fifo";
  ASSERT_EQ(::mkfifo(config.file.c_str(), 0600), 0);
  std::shared_ptr<RankGroup> group;
  EXPECT_HCCL(HCCL_E_PARA, Join(config, 0, group));
}

TEST(RankGroupAttack, AFloodOfConnectionsDoesNotMoveTheDeadline) {
  REQUIRE_SECOND_USER();
  const RankGroupConfig config = GroupOf(2, milliseconds(1500));
  std::thread alone([&] {
    std::shared_ptr<RankGroup> group;
    EXPECT_HCCL(HCCL_E_TIMEOUT, Join(config, 0, group));
  });
  const std::string name = AwaitListeningName();
  ASSERT_FALSE(name.empty());
  const auto flood = [&](int ready) {
    const auto [address, bytes] = AddressOf(name);
    if (::write(ready, "r", 1) != 1) return;
    for (;;) {
      const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
      ::connect(socket, reinterpret_cast<const sockaddr*>(&address), bytes);
      ::close(socket);
    }
  };
  {
    const SecondUser first(flood), second(flood), third(flood), fourth(flood);
    alone.join();
    const auto limit = std::chrono::steady_clock::now() + kTimeout;
    while (!ListeningName().empty() && std::chrono::steady_clock::now() < limit)
      std::this_thread::sleep_for(milliseconds(10));
    EXPECT_EQ(ListeningName(), "") << "the hub still accepts connections, long after its deadline";
  }
}

TEST(RankGroupAttack, AConnectionWithoutTheTokenCannotFillTheMemory) {
  const RankGroupConfig config = GroupOf(2, kTimeout);
  std::shared_ptr<RankGroup> first, second;
  std::thread zero([&] { EXPECT_HCCL(HCCL_SUCCESS, Join(config, 0, first)); });
  const std::string name = AwaitListeningName();
  ASSERT_FALSE(name.empty());
  const int stranger = ConnectTo(name);
  ASSERT_GE(stranger, 0);
  FrameHeader header;
  header.kind = kHello;
  header.bytes = u64{60} << 20;
  std::vector<char> megabyte(std::size_t{1} << 20, 'x');
  bool is_taken = SendAll(stranger, &header, sizeof(header));
  for (int sent = 0; is_taken && sent < 50; ++sent)
    is_taken = SendAll(stranger, megabyte.data(), megabyte.size());
  EXPECT_FALSE(is_taken) << "50 MiB were taken from a connection that has not shown the token";
  ::close(stranger);
  EXPECT_HCCL(HCCL_SUCCESS, Join(config, 1, second)) << "the group is not disturbed";
  zero.join();
}

// The first frame is whole and short; what comes behind it has to stay with the system.
TEST(RankGroupAttack, AConnectionWithoutTheTokenCostsNoMoreThanOne) {
  const RankGroupConfig config = GroupOf(2, kTimeout);
  std::shared_ptr<RankGroup> first, second;
  std::thread zero([&] { EXPECT_HCCL(HCCL_SUCCESS, Join(config, 0, first)); });
  const std::string name = AwaitListeningName();
  ASSERT_FALSE(name.empty());
  measured_thread.store("sampan-hub");
  for (int i = 0; i < 20; ++i) {
    const int stranger = ConnectTo(name);
    ASSERT_GE(stranger, 0);
    std::vector<char> much(std::size_t{200} << 10, 'x');
    FrameHeader header;
    header.kind = kHello;
    header.bytes = 64;
    std::memcpy(much.data(), &header, sizeof(header));
    SendAll(stranger, much.data(), much.size());
    EXPECT_TRUE(IsClosedByPeer(stranger));
    ::close(stranger);
  }
  measured_thread.store(nullptr);
  EXPECT_LT(largest_bytes.load(), 16'384U) << "bytes in one piece";
  EXPECT_HCCL(HCCL_SUCCESS, Join(config, 1, second));
  zero.join();
}

TEST(RankGroupAttack, StrangersThatSayNothingDoNotKeepRanksOut) {
  const RankGroupConfig config = GroupOf(2, kTimeout);
  std::shared_ptr<RankGroup> first, second;
  std::thread zero([&] { EXPECT_HCCL(HCCL_SUCCESS, Join(config, 0, first)); });
  const std::string name = AwaitListeningName();
  ASSERT_FALSE(name.empty());
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
  if (limit.rlim_cur < 4096) {
    EXPECT_HCCL(HCCL_SUCCESS, Join(config, 1, second));
    zero.join();
    GTEST_SKIP() << "needs 4096 descriptors, the limit is " << limit.rlim_cur;
  }
  std::vector<int> strangers;
  for (int i = 0; i < 1200; ++i)
    strangers.push_back(ConnectTo(name));
  EXPECT_HCCL(HCCL_SUCCESS, Join(config, 1, second));
  zero.join();
  for (const int stranger : strangers)
    ::close(stranger);
}

TEST(RankGroupAttack, ARankCannotOpenExchangesOutOfTurn) {
  const RankGroupConfig config = GroupOf(2, kTimeout);
  std::shared_ptr<RankGroup> first;
  std::thread zero([&] { EXPECT_HCCL(HCCL_SUCCESS, Join(config, 0, first)); });
  const std::string name = AwaitListeningName();
  ASSERT_FALSE(name.empty());
  const int rank = ConnectTo(name);
  ASSERT_GE(rank, 0);
  ASSERT_TRUE(IntroduceAs(1, config, rank));
  zero.join();
  FrameHeader gather;
  gather.kind = kGather;
  gather.rank = 1;
  gather.sequence = 1000;
  gather.bytes = 8;
  const u64 content = 7;
  ASSERT_TRUE(SendAll(rank, &gather, sizeof(gather)) && SendAll(rank, &content, sizeof(content)));
  EXPECT_TRUE(IsClosedByPeer(rank)) << "the hub kept a part of an exchange that no rank has begun";
  ::close(rank);
  EXPECT_HCCL(HCCL_E_REMOTE, first->Barrier());
}

/// CPU time of the thread with a name, in clock ticks of the system; -1 if there is none.
long TicksOfThread(const std::string& name) {
  DIR* const folder = ::opendir("/proc/self/task");
  long ticks = -1;
  while (const dirent* entry = ::readdir(folder)) {
    std::ifstream file(std::string("/proc/self/task/") + entry->d_name + "/stat");
    std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    if (text.find("(" + name + ")") == std::string::npos) continue;
    std::istringstream words(text.substr(text.rfind(')') + 2));
    std::string word;
    for (int i = 0; i < 11; ++i)
      words >> word;
    long user = 0, system = 0;
    words >> user >> system;
    ticks = std::max(ticks, 0L) + user + system;
  }
  ::closedir(folder);
  return ticks;
}

TEST(RankGroupAttack, AHubWithoutDescriptorsWaitsAndGoesOn) {
  if (!InChild()) {
    const ChildResult child = RunInChild({});
    EXPECT_TRUE(child.Passed()) << child;
    return;
  }
  const RankGroupConfig config = GroupOf(2, kTimeout);
  std::shared_ptr<RankGroup> first, second;
  std::thread zero([&] { EXPECT_HCCL(HCCL_SUCCESS, Join(config, 0, first)); });
  const std::string name = AwaitListeningName();
  ASSERT_FALSE(name.empty());
  const int waiting = ConnectTo(name);  // accepted
  std::this_thread::sleep_for(milliseconds(100));
  const int stranger = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  const rlimit none{3, limit.rlim_max};  // those that are open stay so
  const std::ifstream keep_open("/dev/null");
  ::setrlimit(RLIMIT_NOFILE, &none);
  const auto [address, bytes] = AddressOf(name);
  ASSERT_EQ(::connect(stranger, reinterpret_cast<const sockaddr*>(&address), bytes), 0);
  std::this_thread::sleep_for(std::chrono::seconds(2));
  ::setrlimit(RLIMIT_NOFILE, &limit);
  const long ticks = TicksOfThread("sampan-hub");
  EXPECT_GE(ticks, 0) << "the hub is gone";
  EXPECT_LT(ticks, ::sysconf(_SC_CLK_TCK) / 2) << "the hub span while it had no descriptor";
  EXPECT_HCCL(HCCL_SUCCESS, Join(config, 1, second));
  zero.join();
  ::close(waiting);
  ::close(stranger);
}

/// All allocations of a thread of the library fail from the n-th on: the calls return, the process goes on.
void RunWithoutMemory(const char* thread) {
  for (int n = 0; n < 40; ++n) {
    const RankGroupConfig config = GroupOf(2, milliseconds(3000));
    std::shared_ptr<RankGroup> first, second;
    std::thread zero([&] { EXPECT_HCCL(HCCL_SUCCESS, Join(config, 0, first)); });
    EXPECT_HCCL(HCCL_SUCCESS, Join(config, 1, second));
    zero.join();
    ASSERT_TRUE(first != nullptr && second != nullptr);
    allocations_left.store(n);
    failing_thread.store(thread);
    std::vector<std::vector<u8>> all;
    std::thread other([&] {
      std::vector<std::vector<u8>> theirs;
      static_cast<void>(second->Exchange(std::vector<u8>(1000, 2), theirs));
    });
    const HcclResult result = first->Exchange(std::vector<u8>(1000, 1), all);
    other.join();
    failing_thread.store(nullptr);
    if (result == HCCL_SUCCESS) {
      EXPECT_EQ(all, (std::vector<std::vector<u8>>{std::vector<u8>(1000, 1), std::vector<u8>(1000, 2)}));
    } else {
      EXPECT_NE(first->Status(), HCCL_SUCCESS) << "a failed exchange breaks the group";
    }
  }
}

TEST(RankGroupAttack, AHubWithoutMemoryBreaksTheGroupOnly) {
  if (!InChild()) {
    const ChildResult child = RunInChild({});
    EXPECT_TRUE(child.Passed()) << child;
    return;
  }
  RunWithoutMemory("sampan-hub");
}

TEST(RankGroupAttack, ARankWithoutMemoryBreaksTheGroupOnly) {
  if (!InChild()) {
    const ChildResult child = RunInChild({});
    EXPECT_TRUE(child.Passed()) << child;
    return;
  }
  RunWithoutMemory("sampan-rank");
}

}  // namespace
}  // namespace sampan::test::rank_group_attack_test
