// Threads and processes.
#include "launch.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <deque>
#include <exception>
#include <thread>
#include <utility>

#include "check.h"

namespace collectives {
namespace {

/// Empty when the body came to its end.
std::string FailureOf(const std::function<void(const Seat&)>& body, const Seat& seat) {
  try {
    body(seat);
    return "";
  } catch (const std::exception& failure) {
    const std::string what = failure.what();
    return what.empty() ? "failed without a message" : what;
  }
}

std::string ReadToEnd(int pipe) {
  std::string text;
  char piece[4096];
  for (ssize_t length; (length = ::read(pipe, piece, sizeof(piece))) > 0;)
    text.append(piece, static_cast<std::size_t>(length));
  ::close(pipe);
  return text;
}

/// A rank in a process of its own, which ends with this one. Its failure comes back through a pipe.
class Child {
 public:
  Child(const Seat& seat, const std::function<void(const Seat&)>& body) : rank_(seat.rank) {
    int ends[2];
    if (::pipe(ends) != 0) throw Failure(std::string("pipe: ") + std::strerror(errno));
    std::fflush(nullptr);  // or the child would write it once more
    const pid_t parent = ::getpid();
    process_ = ::fork();
    if (process_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (::getppid() != parent) ::_exit(1);
      ::close(ends[0]);
      const std::string failure = FailureOf(body, seat);
      std::fflush(nullptr);
      const bool told =
          ::write(ends[1], failure.data(), failure.size()) == static_cast<ssize_t>(failure.size());
      ::_exit(failure.empty() && told ? 0 : 1);
    }
    const int error = errno;
    ::close(ends[1]);
    from_child_ = ends[0];
    if (process_ > 0) return;
    ::close(from_child_);
    throw Failure(std::string("fork: ") + std::strerror(error));
  }

  ~Child() {
    if (process_ <= 0) return;
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
    ::close(from_child_);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  Ending Wait() {
    std::string failure = ReadToEnd(from_child_);
    int status = 0;
    ::waitpid(std::exchange(process_, -1), &status, 0);
    if (failure.empty() && WIFSIGNALED(status))
      failure = "ended by signal " + std::to_string(WTERMSIG(status));
    if (failure.empty() && status != 0) failure = "ended with status " + std::to_string(WEXITSTATUS(status));
    return {rank_, failure};
  }

 private:
  u32 rank_;
  pid_t process_ = -1;
  int from_child_ = -1;
};

}  // namespace

std::vector<Ending> RunRanks(const Launch& launch, const std::function<void(const Seat& seat)>& body) {
  static std::atomic<int> groups{0};
  Seat seat;
  seat.group = "collectives." + std::to_string(::getpid()) + "." + std::to_string(groups++);
  seat.token = hccl::RankGroup::MakeToken();
  seat.size = launch.size;
  seat.timeout_seconds = launch.timeout_seconds;
  std::vector<Ending> endings(launch.size);
  if (launch.form == Form::kThreads) {
    std::vector<std::thread> threads;
    for (seat.rank = 0; seat.rank < launch.size; ++seat.rank)
      threads.emplace_back([&body, &ending = endings[seat.rank], seat] {
        ending = {seat.rank, FailureOf(body, seat)};
      });
    for (std::thread& thread : threads)
      thread.join();
  } else {
    std::deque<Child> children;
    for (seat.rank = 0; seat.rank < launch.size; ++seat.rank)
      children.emplace_back(seat, body);
    for (u32 rank = 0; rank < launch.size; ++rank)
      endings[rank] = children[rank].Wait();
  }
  std::vector<Ending> failed;
  for (const Ending& ending : endings) {
    if (!ending.failure.empty()) failed.push_back(ending);
  }
  return failed;
}

}  // namespace collectives
