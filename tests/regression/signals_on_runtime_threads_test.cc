// The program's signals were delivered on threads of the runtime: host functions, exception callbacks, the
// idle thread of chosen schedules.
#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <thread>

#include "acl/acl.h"
#include "tests/support/acl_expect.h"
#include "tests/support/child_process.h"
#include "tests/support/memory_buffer.h"
#include "tests/support/stream.h"

namespace sampan::test::signals_on_runtime_threads_test {
namespace {

constexpr std::uint64_t kKernelAndLibrary = std::uint64_t{1} << (SIGKILL - 1) |
                                            std::uint64_t{1} << (SIGSTOP - 1) |
                                            std::uint64_t{3} << 31;  // 32 and 33 belong to the C library
constexpr std::uint64_t BitOf(int signal) {
  return std::uint64_t{1} << (signal - 1);
}
constexpr std::uint64_t kFaults =
    BitOf(SIGSEGV) | BitOf(SIGBUS) | BitOf(SIGFPE) | BitOf(SIGILL) | BitOf(SIGTRAP);
constexpr std::uint64_t kExpected = ~kKernelAndLibrary & ~kFaults;

/// The blocked signals of each thread but the calling one, by its name.
std::multimap<std::string, std::uint64_t> BlockedByOtherThreads() {
  std::multimap<std::string, std::uint64_t> blocked;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    if (task.path().filename() == std::to_string(::gettid())) continue;
    std::ifstream status(task.path() / "status");
    std::string name;
    for (std::string line; std::getline(status, line);) {
      if (line.starts_with("Name:\t")) name = line.substr(6);
      if (line.starts_with("SigBlk:\t")) blocked.emplace(name, std::stoull(line.substr(8), nullptr, 16));
    }
  }
  return blocked;
}

std::uint64_t MaskOfThisThread() {
  sigset_t set;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &set);
  std::uint64_t mask = 0;
  for (int signal = 1; signal <= 64; ++signal) {
    if (::sigismember(&set, signal) == 1) mask |= BitOf(signal);
  }
  return mask & ~kKernelAndLibrary;
}

std::atomic<std::uint64_t> callback_mask{0};
void OnException(aclrtExceptionInfo*) {
  callback_mask.store(MaskOfThisThread());
}

/// Every kind of thread that the emulated devices start.
void StartAllThreads() {
  ASSERT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
  ASSERT_ACL(ACL_SUCCESS, aclrtExceptionInfoCallbackRegister(OnException));
  Stream stream;
  std::atomic<std::uint64_t> mask{0};
  const auto note = [](void* argument) {
    static_cast<std::atomic<std::uint64_t>*>(argument)->store(MaskOfThisThread());
  };
  ASSERT_ACL(ACL_SUCCESS, aclrtLaunchHostFunc(stream, note, &mask));
  ASSERT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream));
  EXPECT_EQ(mask.load(), kExpected) << "the documented mask of host functions";
  // A failing task: its memory is freed before it runs.
  void* device = nullptr;
  PinnedBuffer host(8192);
  ASSERT_ACL(ACL_SUCCESS, aclrtMalloc(&device, 8192, ACL_MEM_MALLOC_HUGE_FIRST));
  {
    Gate gate(stream);
    ASSERT_ACL(ACL_SUCCESS,
               aclrtMemcpyAsync(device, 8192, host.data(), 8192, ACL_MEMCPY_HOST_TO_DEVICE, stream));
    ASSERT_ACL(ACL_SUCCESS, aclrtFree(device));
  }
  EXPECT_NE(aclrtSynchronizeStream(stream), ACL_SUCCESS);
  EXPECT_EQ(callback_mask.load(), kExpected) << "exception callbacks have the mask of host functions";
  // A closed gate, so that one thread watches it.
  aclrtNotify notify = nullptr;
  Stream recorder;
  ASSERT_ACL(ACL_SUCCESS, aclrtCreateNotify(&notify, 0));
  ASSERT_ACL(ACL_SUCCESS, aclrtWaitAndResetNotify(notify, stream, 0));
  ASSERT_ACL(ACL_SUCCESS, aclrtRecordNotify(notify, recorder));
  ASSERT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(recorder));
  ASSERT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream));
}

void ExpectAllSignalsBlocked() {
  StartAllThreads();
  const auto threads = BlockedByOtherThreads();
  EXPECT_FALSE(threads.empty());
  for (const auto& [name, blocked] : threads) {
    EXPECT_EQ(blocked & kExpected, kExpected) << "thread '" << name << "' blocks " << std::hex << blocked;
  }
}

TEST(SignalsOnRuntimeThreads, AllAreBlocked) {
  if (DoneInChild()) return;
  ExpectAllSignalsBlocked();
}

TEST(SignalsOnRuntimeThreads, AllAreBlockedUnderTheEarlySchedule) {
  if (DoneInChild({{"SAMPAN_SCHEDULE", "early"}})) return;
  ExpectAllSignalsBlocked();
}

TEST(SignalsOnRuntimeThreads, AllAreBlockedUnderTheLateSchedule) {
  if (DoneInChild({{"SAMPAN_SCHEDULE", "late"}})) return;
  ExpectAllSignalsBlocked();
}

std::atomic<int> handled_by{0};
void NoteThread(int) {
  handled_by.store(::gettid());
}

TEST(SignalsOnRuntimeThreads, ASignalWaitsForAThreadOfTheProgram) {
  if (DoneInChild({{"SAMPAN_SCHEDULE", "late"}})) return;
  StartAllThreads();
  ::signal(SIGUSR1, NoteThread);
  sigset_t only, before;
  ::sigemptyset(&only);
  ::sigaddset(&only, SIGUSR1);
  ::pthread_sigmask(SIG_BLOCK, &only, &before);
  ASSERT_EQ(::kill(::getpid(), SIGUSR1), 0);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(handled_by.load(), 0) << "delivered on a thread of the runtime";
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  EXPECT_EQ(handled_by.load(), ::gettid());
}

}  // namespace
}  // namespace sampan::test::signals_on_runtime_threads_test
