// Measures ranks in a process of its own, whose devices have the engines that ranks need.
#include "ranks_process.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "alternative.h"
#include "environment.h"
#include "failure.h"
#include "interrupt.h"
#include "rank_measurement.h"
#include "ranks_together.h"

namespace sampan::tool {
namespace {

using nlohmann::json;

constexpr std::size_t kMostAnswer = 64 * 1024;

json JsonOf(const Timing& timing) {
  return {timing.median_seconds, timing.lower_seconds, timing.upper_seconds};
}

Timing TimingOf(const json& told) {
  return {.median_seconds = told.at(0), .lower_seconds = told.at(1), .upper_seconds = told.at(2)};
}

json JsonOf(const Measurement& measured) {
  return {{"offered", measured.offered},
          {"rounds", measured.rounds},
          {"sampan", JsonOf(measured.sampan)},
          {"alternative", JsonOf(measured.alternative)},
          {"fault", measured.fault.value_or("")}};
}

Measurement MeasurementOf(const json& told) {
  Measurement measured{.offered = told.at("offered"), .rounds = told.at("rounds")};
  measured.sampan = TimingOf(told.at("sampan"));
  measured.alternative = TimingOf(told.at("alternative"));
  if (const std::string fault = told.at("fault"); !fault.empty()) measured.fault = fault;
  return measured;
}

/// What is to be measured; travels as it is, because both ends are the same program.
struct Request {
  RankPlan plan;
  double seconds;
};

std::string AnswerTo(const Request& request) {
  json answer;
  try {
    const char* const backend = std::getenv("SAMPAN_BACKEND");
    answer = JsonOf(
        MeasureRanks(request.plan, request.seconds, AlternativeName(backend != nullptr ? backend : "")));
  } catch (const std::bad_alloc&) {
    answer = {{"error", "there is not enough memory for this size"}};
  } catch (const std::exception& failure) {
    answer = {{"error", failure.what()}};
  }
  return answer.dump(-1, ' ', false, json::error_handler_t::replace).substr(0, kMostAnswer);
}

/// The child's life. What fails in its beginning fails in the parent too, which says so.
[[noreturn]] void Serve(int connection, const Arguments& arguments) {
  try {
    ApplySettings(arguments);
  } catch (const Failure&) {
    ::_exit(kCheckFailed);
  }
  rank_timing::ShareCores(RankPlan::kRanks);
  Request request;
  while (::recv(connection, &request, sizeof(request), 0) == static_cast<ssize_t>(sizeof(request))) {
    const std::string answer = AnswerTo(request);
    if (::send(connection, answer.data(), answer.size(), MSG_NOSIGNAL) < 0) break;
  }
  ::_exit(kSuccess);
}

}  // namespace

RanksProcess::RanksProcess(const Arguments& arguments) {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0)
    throw SystemError("socketpair");
  const pid_t parent = ::getpid();
  process_ = ::fork();
  if (process_ == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(kCheckFailed);
    ::close(ends[0]);
    Serve(ends[1], arguments);
  }
  ::close(ends[1]);
  connection_ = ends[0];
  if (process_ > 0) return;
  const Failure failure = SystemError("fork");
  ::close(connection_);
  throw failure;
}

RanksProcess::~RanksProcess() {
  ::close(connection_);
  if (process_ <= 0) return;
  ::kill(process_, SIGKILL);  // it has nothing that would have to be kept
  ::waitpid(process_, nullptr, 0);
}

/// False after an interrupt.
bool RanksProcess::AwaitAnswer() const {
  constexpr int kLookAgainMilliseconds = 50;
  pollfd waiting{connection_, POLLIN, 0};
  while (Interrupted() == 0) {
    if (::poll(&waiting, 1, kLookAgainMilliseconds) > 0) return true;
  }
  return false;
}

std::string RanksProcess::WhyGone() {
  if (process_ <= 0) return "the process of the ranks has ended";
  int status = 0;
  ::waitpid(std::exchange(process_, -1), &status, 0);
  return WIFSIGNALED(status)
             ? "signal " + std::to_string(WTERMSIG(status)) + " ended the process of the ranks"
             : "the process of the ranks ended with status " + std::to_string(WEXITSTATUS(status));
}

Measurement RanksProcess::Measure(const RankPlan& plan, double seconds) {
  const Request request{plan, seconds};
  std::vector<char> answer(kMostAnswer);
  ssize_t got = ::send(connection_, &request, sizeof(request), MSG_NOSIGNAL);
  if (got > 0) {
    if (!AwaitAnswer()) return {};
    got = ::recv(connection_, answer.data(), answer.size(), 0);
  }
  if (got <= 0) throw Failure(kCheckFailed, WhyGone());
  const json told = json::parse(answer.begin(), answer.begin() + got);
  if (told.contains("error")) throw Failure(kCheckFailed, told.at("error"));
  return MeasurementOf(told);
}

}  // namespace sampan::tool
