// Correct programs that do with signals, masks, pages and processes what the checker itself needs.
//
//   keeps_working NAME      runs one of them; status 0 if it works
#include <acl/acl.h>
#include <dlfcn.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <thread>
#include <vector>

namespace {

constexpr std::size_t kPage = 4096;

void Check(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "%s does not hold; %s\n", what, aclGetRecentErrMsg());
  std::_Exit(3);
}
#define CHECK(condition) Check(condition, #condition)
#define OK(call) Check((call) == ACL_SUCCESS, #call)

char* Pinned(std::size_t bytes) {
  void* memory = nullptr;
  OK(aclrtMallocHost(&memory, bytes));
  return static_cast<char*>(memory);
}

/// Three pages of pinned memory. One batch uses the outer ones, so the page between them is kept as well.
struct Ring {
  void* block = nullptr;
  char* pages = nullptr;
  aclrtStream stream = nullptr;

  Ring() {
    OK(aclrtSetDevice(0));
    OK(aclrtMalloc(&block, 2 * kPage, ACL_MEM_MALLOC_HUGE_FIRST));
    pages = Pinned(3 * kPage);
    OK(aclrtCreateStream(&stream));
  }
  void CopyOuterPages() const {
    void *dsts[] = {block, static_cast<char*>(block) + kPage}, *srcs[] = {pages, pages + 2 * kPage};
    std::size_t sizes[] = {kPage, kPage}, index = 0, failed = 0;
    aclrtMemcpyBatchAttr attribute = {};
    attribute.dstLoc.type = ACL_MEM_LOCATION_TYPE_DEVICE;
    attribute.srcLoc.type = ACL_MEM_LOCATION_TYPE_HOST;
    OK(aclrtMemcpyBatchAsync(dsts, sizes, srcs, sizes, 2, &attribute, &index, 1, &failed, stream));
  }
  /// Pages that copies read may be read; the write faults, and bytes 0 to 63 of the last page are not copied.
  void CopyAndUseTheRest() const {
    CopyOuterPages();
    pages[kPage + 7] = 1;
    OK(aclrtSynchronizeStream(stream));
    OK(aclrtMemcpyAsync(pages, 64, block, 64, ACL_MEMCPY_DEVICE_TO_HOST, stream));
    pages[100] = 2;
    CHECK(static_cast<volatile char*>(pages)[100] == 2);
    OK(aclrtSynchronizeStream(stream));
  }
  ~Ring() {
    OK(aclrtDestroyStream(stream));
    OK(aclrtFreeHost(pages));
    OK(aclrtFree(block));
    OK(aclrtResetDevice(0));
  }
};

// ---- masks ----

void SignalsBlockedBeforeTheFirstCall() {
  sigset_t all;
  ::sigfillset(&all);
  CHECK(::pthread_sigmask(SIG_BLOCK, &all, nullptr) == 0);
  Ring().CopyAndUseTheRest();
}

void SignalsBlockedInAThreadThatMakesNoCall() {
  const Ring ring;
  ring.CopyOuterPages();
  std::thread([&] {
    sigset_t all;
    ::sigfillset(&all);
    CHECK(::pthread_sigmask(SIG_BLOCK, &all, nullptr) == 0);
    ring.pages[kPage + 9] = 3;
  }).join();
  OK(aclrtSynchronizeStream(ring.stream));
}

/// A handler uses a page in use. It interrupts calls that wait and block all other signals.
void MasksOfCallsThatWait() {
  static Ring* ring = nullptr;
  ring = new Ring;
  static volatile sig_atomic_t runs = 0;
  struct sigaction action = {};
  action.sa_handler = [](int) {
    ring->pages[kPage + 13] = 6;
    runs = runs + 1;
  };
  CHECK(::sigaction(SIGUSR1, &action, nullptr) == 0);
  sigset_t usual, all_others;
  ::sigemptyset(&usual);
  ::sigaddset(&usual, SIGUSR1);
  CHECK(::pthread_sigmask(SIG_BLOCK, &usual, nullptr) == 0);
  ::sigfillset(&all_others);
  ::sigdelset(&all_others, SIGUSR1);
  const int events = ::epoll_create1(0);
  const timespec limit{20, 0};
  epoll_event event = {};
  const auto wait = [&](auto call) {
    ring->CopyOuterPages();
    CHECK(::raise(SIGUSR1) == 0);
    CHECK(call() == -1 && errno == EINTR);
    OK(aclrtSynchronizeStream(ring->stream));
  };
  wait([&] { return ::sigsuspend(&all_others); });
  wait([&] { return ::ppoll(nullptr, 0, &limit, &all_others); });
  wait([&] { return ::pselect(0, nullptr, nullptr, nullptr, &limit, &all_others); });
  wait([&] { return ::epoll_pwait(events, &event, 1, 20'000, &all_others); });
  CHECK(runs == 4);
  delete ring;
}

// ---- handlers ----

volatile sig_atomic_t handled = 0;
char* own_page = nullptr;
bool saw_mask = false;
sigjmp_buf back;

void OpenOwnPage(int, siginfo_t* info, void*) {
  sigset_t blocked;
  ::pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
  saw_mask = ::sigismember(&blocked, SIGUSR1) == 1;
  handled = handled + 1;
  if (info->si_addr != own_page) std::_Exit(4);
  ::mprotect(own_page, kPage, PROT_READ | PROT_WRITE);
}

void Leave(int) {
  handled = handled + 1;
  ::siglongjmp(back, 1);
}

void InstallOpenOwnPage(int flags) {
  own_page = static_cast<char*>(::mmap(nullptr, kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  struct sigaction action = {};
  action.sa_sigaction = &OpenOwnPage;
  action.sa_flags = SA_SIGINFO | flags;
  ::sigaddset(&action.sa_mask, SIGUSR1);
  CHECK(::sigaction(SIGSEGV, &action, nullptr) == 0);
}

void OwnHandlerBeforeTheFirstCall() {
  InstallOpenOwnPage(0);
  const Ring ring;
  ring.CopyAndUseTheRest();
  *static_cast<volatile char*>(own_page) = 1;
  CHECK(handled == 1 && saw_mask);
  ring.CopyAndUseTheRest();
}

void OwnHandlerAfterTheFirstCall() {
  const Ring ring;
  InstallOpenOwnPage(0);
  ring.CopyAndUseTheRest();
  *static_cast<volatile char*>(own_page) = 1;
  CHECK(handled == 1 && saw_mask);
  ring.CopyAndUseTheRest();
}

/// What `signal` is in programs that ask for a strict standard.
extern "C" sighandler_t __sysv_signal(int signal,
                                      sighandler_t handler);  // NOLINT(bugprone-reserved-identifier)

void HandlerOfStrictPrograms() {
  const Ring ring;
  CHECK(__sysv_signal(SIGSEGV, &Leave) != SIG_ERR);
  ring.CopyAndUseTheRest();
  CHECK(handled == 0);
  own_page = static_cast<char*>(::mmap(nullptr, kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  if (::sigsetjmp(back, 1) == 0) *static_cast<volatile char*>(own_page) = 1;
  CHECK(handled == 1);
  ring.CopyAndUseTheRest();
}

void HandlerThatServesOnce() {
  const Ring ring;
  InstallOpenOwnPage(static_cast<int>(SA_RESETHAND));
  *static_cast<volatile char*>(own_page) = 1;
  struct sigaction now = {};
  CHECK(::sigaction(SIGSEGV, nullptr, &now) == 0);
  CHECK(handled == 1 && saw_mask && now.sa_handler == SIG_DFL);
  ring.CopyAndUseTheRest();
}

void HandlerThatJumps() {
  const Ring ring;
  struct sigaction action = {};
  action.sa_handler = &Leave;
  CHECK(::sigaction(SIGSEGV, &action, nullptr) == 0);
  own_page = static_cast<char*>(::mmap(nullptr, kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  for (int i = 0; i < 3; ++i) {
    if (::sigsetjmp(back, 1) == 0) *static_cast<volatile char*>(own_page) = 1;
    ring.CopyAndUseTheRest();
  }
  CHECK(handled == 3);
}

void HandlerThatUsesPagesInUse() {
  static Ring* ring = nullptr;
  ring = new Ring;
  struct sigaction action = {};
  action.sa_handler = [](int) { ring->pages[kPage + 11] = 5; };
  ::sigfillset(&action.sa_mask);
  CHECK(::sigaction(SIGUSR2, &action, nullptr) == 0);
  ring->CopyOuterPages();
  CHECK(::raise(SIGUSR2) == 0);
  OK(aclrtSynchronizeStream(ring->stream));
  CHECK(ring->pages[kPage + 11] == 5);
  delete ring;
}

// ---- pages, calls of the system, processes ----

void ManyRoundsWithAPageBetweenCopies() {
  const Ring ring;
  for (int i = 0; i < 200; ++i) {
    ring.CopyOuterPages();
    static_cast<volatile char*>(ring.pages)[kPage + 128] = static_cast<char>(i);
    OK(aclrtSynchronizeStream(ring.stream));
  }
}

void ReceiveThatWaits() {
  const Ring ring;
  int ends[2];
  CHECK(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
  std::thread receiver([&] { CHECK(::recv(ends[0], ring.pages + kPage, kPage, 0) == 4); });
  for (int i = 0; i < 20; ++i) {
    ring.CopyOuterPages();
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  CHECK(::send(ends[1], "text", 4, 0) == 4);
  receiver.join();
  CHECK(std::memcmp(ring.pages + kPage, "text", 4) == 0);
  OK(aclrtSynchronizeStream(ring.stream));
}

void CallsThatReadIntoPagesInUse() {
  const Ring ring;
  int ends[2];
  CHECK(::pipe(ends) == 0);
  const auto read = [&](std::size_t offset, auto call) {
    ring.CopyOuterPages();
    CHECK(::write(ends[1], "text", 4) == 4);
    const iovec part{ring.pages + kPage + offset, 4};
    CHECK(call(part) == 4);
    CHECK(std::memcmp(part.iov_base, "text", 4) == 0);
    OK(aclrtSynchronizeStream(ring.stream));
  };
  read(10, [&](const iovec& part) { return ::readv(ends[0], &part, 1); });
  read(20, [&](const iovec& part) { return ::preadv2(ends[0], &part, 1, -1, 0); });
  std::FILE* const file = ::fdopen(ends[0], "r");
  read(30, [&](const iovec& part) { return ::fread_unlocked(part.iov_base, 1, 4, file); });
  ring.CopyOuterPages();
  const iovec part{ring.pages + kPage, 4};
  CHECK(::pwritev2(ends[1], &part, 1, -1, 0) == 4);
  OK(aclrtSynchronizeStream(ring.stream));
  const volatile int too_many = IOV_MAX + 1;
  CHECK(::writev(ends[1], &part, too_many) == -1 && errno == EINVAL);
}

/// A file that was loaded after the memory was made.
void CallsOfAFileLoadedLater() {
  const Ring ring;
  ring.CopyAndUseTheRest();
  void* const file = ::dlopen(LOADED_LATER, RTLD_NOW);
  CHECK(file != nullptr);
  const auto fill = reinterpret_cast<ssize_t (*)(void*, std::size_t)>(::dlsym(file, "FillBySystem"));
  CHECK(fill != nullptr);
  ring.CopyOuterPages();
  CHECK(fill(ring.pages + kPage, 64) == 64);
  OK(aclrtSynchronizeStream(ring.stream));
}

/// A page that is kept lies between others, so opening it splits a mapping. The system refuses that.
void AsManyMappingsAsThereMayBe() {
  const Ring ring;
  ring.CopyAndUseTheRest();
  std::size_t limit = 0;
  std::FILE* const file = std::fopen("/proc/sys/vm/max_map_count", "r");
  CHECK(file != nullptr && std::fscanf(file, "%zu", &limit) == 1);
  constexpr std::size_t kMaxLimit = 100'000;
  if (limit > kMaxLimit) return;  // would take long
  ring.CopyOuterPages();
  OK(aclrtSynchronizeStream(ring.stream));
  std::vector<void*> mappings;
  for (std::size_t i = 0;; ++i) {  // neighbours with other rights are mappings of their own
    const int rights = i % 2 == 0 ? PROT_NONE : PROT_READ;
    void* const one = ::mmap(nullptr, kPage, rights, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (one == MAP_FAILED) break;
    mappings.push_back(one);
  }
  for (std::size_t room = 0; room < 5; ++room) {
    ring.CopyOuterPages();
    ring.pages[kPage + 15] = 7;
    CHECK(static_cast<volatile char*>(ring.pages)[kPage + 15] == 7);
    OK(aclrtMemcpyAsync(ring.pages + kPage, 64, ring.block, 64, ACL_MEMCPY_DEVICE_TO_HOST, ring.stream));
    ring.pages[kPage + 90] = 8;
    CHECK(static_cast<volatile char*>(ring.pages)[kPage + 90] == 8);
    OK(aclrtSynchronizeStream(ring.stream));
    ring.pages[0] = 9;
    ::munmap(mappings.back(), kPage);
    mappings.pop_back();
  }
  for (void* const one : mappings)
    ::munmap(one, kPage);
}

/// Registered memory of which little was ever written.
void SparseRegistration() {
  const Ring ring;
  constexpr std::size_t kBytes = std::size_t{128} << 20, kLast = kBytes - 5;
  void* const mapped =
      ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  CHECK(mapped != MAP_FAILED);
  char* const sparse = static_cast<char*>(mapped);
  sparse[kLast] = 9;
  void* seen_by_device = nullptr;
  OK(aclrtHostRegister(sparse, kBytes, ACL_HOST_REGISTER_MAPPED, &seen_by_device));
  std::FILE* const status = std::fopen("/proc/self/status", "r");
  CHECK(status != nullptr);
  char line[256];
  std::size_t shared_kib = 0;
  while (std::fgets(line, sizeof line, status) != nullptr &&
         std::sscanf(line, "RssShmem: %zu", &shared_kib) != 1) {
  }
  CHECK(shared_kib < kBytes / 2048);
  CHECK(sparse[kLast] == 9 && sparse[kBytes / 2] == 0);
  OK(aclrtHostUnregister(sparse));
  CHECK(sparse[kLast] == 9 && sparse[kBytes / 2] == 0);
}

void ForkedChild() {
  const Ring ring;
  char* const own =
      static_cast<char*>(::mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  void* seen_by_device = nullptr;
  OK(aclrtHostRegister(own, kPage, ACL_HOST_REGISTER_MAPPED, &seen_by_device));
  own[0] = 1;
  OK(aclrtMemcpyAsync(ring.block, kPage, own, kPage, ACL_MEMCPY_HOST_TO_DEVICE, ring.stream));
  const pid_t child = ::fork();
  if (child == 0) {
    own[0] = 2;
    std::_Exit(static_cast<volatile char*>(own)[0] == 2 ? 0 : 5);
  }
  int status = -1;
  CHECK(::waitpid(child, &status, 0) == child && status == 0);
  CHECK(static_cast<volatile char*>(own)[0] == 1);
  ring.CopyAndUseTheRest();
  OK(aclrtHostUnregister(own));
}

/// The handler interrupts calls of the runtime too, and the checker within them.
void HandlerOfATimerThatUsesPagesInUse() {
  const Ring ring;
  ring.CopyAndUseTheRest();
  static std::atomic<char*> counter;
  counter = ring.pages + 80;  // no copy uses it
  struct sigaction action = {};
  action.sa_handler = [](int) { ++*counter; };
  action.sa_flags = SA_RESTART;
  ::sigaction(SIGALRM, &action, nullptr);
  itimerval often{{0, 300}, {0, 300}};
  ::setitimer(ITIMER_REAL, &often, nullptr);
  for (int round = 0; round < 400; ++round) {
    OK(aclrtMemcpyAsync(ring.pages, 64, ring.block, 64, ACL_MEMCPY_DEVICE_TO_HOST, ring.stream));
    ring.pages[100] = 2;
    OK(aclrtSynchronizeStream(ring.stream));
  }
  often = {};
  ::setitimer(ITIMER_REAL, &often, nullptr);
  CHECK(*counter != 0);
}

struct Program {
  std::string_view name;
  void (*run)();
};
constexpr Program kPrograms[] = {
    {"signals_blocked_before_the_first_call", &SignalsBlockedBeforeTheFirstCall},
    {"signals_blocked_in_a_thread_that_makes_no_call", &SignalsBlockedInAThreadThatMakesNoCall},
    {"masks_of_calls_that_wait", &MasksOfCallsThatWait},
    {"own_handler_before_the_first_call", &OwnHandlerBeforeTheFirstCall},
    {"own_handler_after_the_first_call", &OwnHandlerAfterTheFirstCall},
    {"handler_of_strict_programs", &HandlerOfStrictPrograms},
    {"handler_that_serves_once", &HandlerThatServesOnce},
    {"handler_that_jumps", &HandlerThatJumps},
    {"handler_that_uses_pages_in_use", &HandlerThatUsesPagesInUse},
    {"handler_of_a_timer_that_uses_pages_in_use", &HandlerOfATimerThatUsesPagesInUse},
    {"many_rounds_with_a_page_between_copies", &ManyRoundsWithAPageBetweenCopies},
    {"receive_that_waits", &ReceiveThatWaits},
    {"calls_that_read_into_pages_in_use", &CallsThatReadIntoPagesInUse},
    {"calls_of_a_file_loaded_later", &CallsOfAFileLoadedLater},
    {"as_many_mappings_as_there_may_be", &AsManyMappingsAsThereMayBe},
    {"sparse_registration", &SparseRegistration},
    {"forked_child", &ForkedChild},
};

}  // namespace

int main(int count, char** words) {
  for (const Program& program : kPrograms) {
    if (count == 2 && program.name == words[1]) {
      program.run();
      return 0;
    }
  }
  for (const Program& program : kPrograms)
    std::printf("%.*s\n", static_cast<int>(program.name.size()), program.name.data());
  return 2;
}
