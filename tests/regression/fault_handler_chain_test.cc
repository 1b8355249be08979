// The program's handler of SIGSEGV lost its flags and its mask once the runtime had put its own before it.
#include <gtest/gtest.h>
#include <setjmp.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <cstddef>

#include "acl/acl.h"
#include "tests/support/acl_expect.h"
#include "tests/support/child_process.h"

// Signal handlers belong to a process: each test has its own.
namespace sampan::test::fault_handler_chain_test {
namespace {

sigjmp_buf back;
volatile sig_atomic_t calls = 0;
volatile sig_atomic_t user_signal_blocked = -1, own_signal_blocked = -1, on_alternative_stack = -1;

void NoteState() {
  calls = calls + 1;
  sigset_t mask;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &mask);
  user_signal_blocked = ::sigismember(&mask, SIGUSR1);
  own_signal_blocked = ::sigismember(&mask, SIGSEGV);
  stack_t stack{};
  ::sigaltstack(nullptr, &stack);
  on_alternative_stack = (stack.ss_flags & SS_ONSTACK) != 0 ? 1 : 0;
}

void Leave(int) {
  NoteState();
  ::siglongjmp(back, 1);
}

void UseAlternativeStack() {
  static std::array<std::byte, 65536> room;
  stack_t stack{};
  stack.ss_sp = room.data();
  stack.ss_size = room.size();
  ASSERT_EQ(::sigaltstack(&stack, nullptr), 0);
}

void Install(int flags, bool blocks_user_signal) {
  struct sigaction action = {};
  action.sa_handler = Leave;
  action.sa_flags = flags;
  ::sigemptyset(&action.sa_mask);
  if (blocks_user_signal) ::sigaddset(&action.sa_mask, SIGUSR1);
  ASSERT_EQ(::sigaction(SIGSEGV, &action, nullptr), 0);
}

/// A host access to device memory, which the program's handler leaves again.
void Fault() {
  ASSERT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
  static void* device = nullptr;
  ASSERT_ACL(ACL_SUCCESS, aclrtMalloc(&device, 4096, ACL_MEM_MALLOC_HUGE_FIRST));
  if (::sigsetjmp(back, 1) == 0) *static_cast<volatile char*>(device) = 1;
}

TEST(FaultHandlerChain, KeepsTheMask) {
  if (DoneInChild()) return;
  Install(0, true);
  Fault();
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(user_signal_blocked, 1);
  EXPECT_EQ(own_signal_blocked, 1);
}

TEST(FaultHandlerChain, KeepsSA_NODEFER) {
  if (DoneInChild()) return;
  Install(SA_NODEFER, false);
  Fault();
  EXPECT_EQ(own_signal_blocked, 0);
  EXPECT_EQ(user_signal_blocked, 0);
}

TEST(FaultHandlerChain, RunsOnTheStackThatTheProgramChose) {
  if (DoneInChild()) return;
  UseAlternativeStack();
  Install(0, false);
  Fault();
  EXPECT_EQ(on_alternative_stack, 0) << "the program did not ask for its alternative stack";
}

TEST(FaultHandlerChain, UsesTheAlternativeStackWhenAsked) {
  if (DoneInChild()) return;
  UseAlternativeStack();
  Install(SA_ONSTACK, false);
  Fault();
  EXPECT_EQ(on_alternative_stack, 1);
}

TEST(FaultHandlerChain, KeepsSA_RESETHAND) {
  if (InChild()) {
    Install(static_cast<int>(SA_RESETHAND), false);
    Fault();
    if (calls == 1) Fault();  // without a handler now
    return;
  }
  const ChildResult child = RunInChild({});
  EXPECT_EQ(child.signal, SIGSEGV) << child;
}

TEST(FaultHandlerChain, LeavesAnIgnoredSignalIgnored) {
  if (DoneInChild()) return;
  ::signal(SIGSEGV, SIG_IGN);
  ASSERT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
  EXPECT_EQ(::kill(::getpid(), SIGSEGV), 0);
}

}  // namespace
}  // namespace sampan::test::fault_handler_chain_test
