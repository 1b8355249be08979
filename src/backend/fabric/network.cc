// The network of peers: one thread that serves what this process lends and sends what it copies.
#include "backend/fabric/network.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <condition_variable>
#include <utility>

#include "backend/fabric/network_turn.h"
#include "base/error/system_error.h"
#include "base/error/text.h"
#include "base/threads/spin.h"

namespace sampan::fabric {
namespace {

constexpr std::size_t kCompletionsAtOnce = 16;
/// A helper waits so long for the turn, and then so long for a short request's answer. What takes longer is
/// left to the network's thread.
constexpr std::chrono::microseconds kHelpSpin{20}, kHelp{1000};

/// The caller sends at most this much itself. More would hold up the other half of the bytes, which another
/// network sends, and the thread of this one.
constexpr std::uint64_t kMaxOwnBytes = std::uint64_t{64} << 10;

bool IsShort(const PeerTransfer& transfer) {
  std::uint64_t bytes = 0;
  return std::all_of(transfer.pieces.begin(), transfer.pieces.end(),
                     [&](const PeerPiece& piece) { return (bytes += piece.bytes) <= kMaxOwnBytes; });
}

/// The end of something that the network's thread does, for the thread that waits for it.
struct Opening {
  std::mutex mutex;
  std::condition_variable changed;
  std::optional<Status> result;

  void Tell(Status told) {
    const std::lock_guard lock(mutex);
    result.emplace(std::move(told));
    changed.notify_all();
  }
  Status Wait() {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return result.has_value(); });
    return std::move(*result);
  }
};

}  // namespace

/// The program's end of an import.
class Network::Imported final : public PeerMemory {
 public:
  Imported(Network& network, std::uint64_t number, const PeerName& name, const PeerMemoryFacts& facts)
      : network_(network), number_(number), name_(name), facts_(facts) {}
  ~Imported() override {
    network_.Post([network = &network_, number = number_] { network->Drop(number); });
  }
  const PeerMemoryFacts& facts() const override { return facts_; }
  void Start(PeerTransfer transfer, std::function<void(Status)> done) noexcept override {
    const By by = IsShort(transfer) ? By::kAny : By::kOwnThread;
    network_.Post(
        [network = &network_, number = number_, transfer = std::move(transfer),
         done = std::move(done)]() mutable {
          network->ExpectAnswer();
          network->imports_.at(number)->Start(std::move(transfer), std::move(done));
        },
        by);
  }
  void Help(const std::function<bool()>& enough) noexcept override { network_.Help(enough); }
  std::string Describe() const override {
    return Text("process ", name_.process, " on host ", sampan::Describe(name_.address));
  }

 private:
  Network& network_;
  const std::uint64_t number_;
  const PeerName name_;
  const PeerMemoryFacts facts_;
};

Network::~Network() {
  if (!thread_.joinable()) return;
  stopping_.store(true);
  Wake();
  thread_.Join();
  for (auto& [key, link] : served_)  // bytes may be moving
    link->Close();
}

Status Network::Start() {
  if (thread_.joinable()) return {};
  if (port_ == nullptr) {
    auto library = LoadLibrary();
    if (!library.ok()) return library.TakeStatus();
    library_ = *library;
    auto port = Port::Open(*library_);
    if (!port.ok()) return port.TakeStatus();
    wake_ = Descriptor(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (wake_.get() < 0) return {Code::kResourceAllocFail, Text("eventfd: ", SystemError(errno))};
    if (Status woken = (*port)->WakeBy(wake_.get(), Port::kCommands); !woken.ok()) return woken;
    port_ = std::move(*port);
  }
  thread_ = StartThread("sampan-peers", [this] { Loop(); });
  return {};
}

Result<PeerAddress> Network::Listen() {
  const std::lock_guard lock(starting_mutex_);
  if (address_) return *address_;
  auto address = ChooseInterface(options_.interface, UsableInterfaces());
  if (!address.ok()) return address;
  if (Status started = Start(); !started.ok()) return started;
  const auto opening = std::make_shared<Opening>();
  Post([&] { opening->Tell(OpenGate(*address)); });
  if (Status opened = opening->Wait(); !opened.ok()) return opened;
  Wake();  // the thread sleeps on the gate from now on
  address_ = *address;
  return *address_;
}

Result<std::shared_ptr<PeerMemory>> Network::Import(const PeerName& name) {
  {
    const std::lock_guard lock(starting_mutex_);
    if (Status started = Start(); !started.ok()) return started;
  }
  const std::string peer = Text("process ", name.process, " on host ", sampan::Describe(name.address));
  auto admission = AskForAdmission(name, options_.limit, peer);
  if (!admission.ok()) return admission.TakeStatus();
  const PeerMemoryFacts facts = admission->welcome.facts;
  const std::uint64_t number = next_import_.fetch_add(1);
  const auto opening = std::make_shared<Opening>();
  Post([this, number, &name, &admission, opening] {
    auto link = std::make_unique<ImportLink>(*port_, closed_, name, std::move(*admission), options_.limit,
                                             [opening](Status told) { opening->Tell(std::move(told)); });
    ExpectAnswer();
    imports_.emplace(number, std::move(link)).first->second->Begin();
  });
  if (Status opened = opening->Wait(); !opened.ok()) {
    Post([this, number] { Drop(number); });
    return opened;
  }
  return std::shared_ptr<PeerMemory>(std::make_shared<Imported>(*this, number, name, facts));
}

void Network::Post(std::function<void()> command, By by) {
  {
    const std::lock_guard lock(commands_mutex_);
    commands_.push_back(std::move(command));
    if (HasTurn()) return;  // it reads them before it sleeps
  }
  // At once, if the turn is free: that saves waking the network's thread.
  if (by == By::kOwnThread) return Wake();
  if (std::unique_lock turn(turn_, std::try_to_lock); turn.owns_lock()) {
    const Turn own(*this, std::move(turn));
    RunCommands();
    // A peer that was sent something now has to answer within the limit.
    if (sleeps_until_.load() <= overdue_at_) return;
  }
  Wake();
}

void Network::Wake() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(wake_.get(), &one, sizeof(one));
}

bool Network::RunCommands() {
  for (bool ran = false;; ran = true) {
    std::vector<std::function<void()>> commands;
    {
      const std::lock_guard lock(commands_mutex_);
      commands.swap(commands_);
    }
    if (commands.empty()) return ran;
    for (auto& command : commands)
      command();
  }
}

bool Network::Work(std::uint32_t signs) {
  if ((signs & Port::kCommands) != 0) {
    std::uint64_t count = 0;
    [[maybe_unused]] const ssize_t length = ::read(wake_.get(), &count, sizeof(count));
  }
  RunCommands();
  for (ConnectionEvent event; (signs & Port::kEvents) != 0 && port_->ReadEvent(event);) {
    if (event.kind == ConnectionEvent::Kind::kRequest) {
      OnRequest(*event.info, event.data);
    } else {
      Endpoint::Tell(event);
    }
  }
  if (gate_ && ((signs & Port::kCallers) != 0 || callers_at_ <= Clock::now())) ServeCallers();
  do {
    const ClosedEndpoints ended = std::exchange(closed_, {});
    ReadCompletions();
    if (overdue_at_ <= Clock::now()) FailOverdue();
    BuryBroken();
    // A transfer that ended may have started the next one, which wakes no thread.
  } while (RunCommands() || !closed_.empty());
  return port_->MaySleep(signs);
}

void Network::ReadCompletions() {
  std::array<Completion, kCompletionsAtOnce> completions;
  while (const std::size_t count = port_->ReadCompletions(completions)) {
    for (std::size_t i = 0; i < count; ++i)
      Endpoint::Complete(completions[i]);
  }
}

void Network::Loop() noexcept {
  std::uint32_t signs = Port::kAll;
  while (!stopping_.load()) {
    Deadline next{};
    {
      const Turn turn(*this);
      // With the turn: a Post that takes it next has to know that this thread does not look before `next`.
      if (Work(signs)) sleeps_until_.store(next = std::min(overdue_at_, callers_at_));
    }
    signs = next != Deadline{} ? port_->Wait(next) : std::uint32_t{Port::kAll};
    sleeps_until_.store({});
  }
}

void Network::Help(const std::function<bool()>& enough) noexcept {
  SpinFor(kHelpSpin, [&] { return enough() || TryHelp(enough); });
}

bool Network::TryHelp(const std::function<bool()>& enough) noexcept {
  std::unique_lock lock(turn_, std::try_to_lock);
  if (!lock.owns_lock()) return false;
  const Turn turn(*this, std::move(lock));
  const Deadline until = Clock::now() + kHelp;
  port_->MuteCompletions(true);
  RunCommands();
  while (!enough() && Clock::now() < until) {
    port_->WaitMuted(kHelp);
    do {
      ReadCompletions();
    } while (RunCommands());
    // What was read must not wake the network's thread too, nor end the next wait.
    if (!port_->MaySleep(Port::kCompletions)) Wake();
  }
  port_->MuteCompletions(false);
  return true;
}

void Network::Drop(std::uint64_t import) {
  const auto found = imports_.find(import);
  found->second->Close();
  imports_.erase(found);
}

void Network::FailOverdue() {
  const Deadline now = Clock::now();
  overdue_at_ = kNever;
  for (auto& [number, link] : imports_) {
    if (link->deadline() <= now) link->OnTimeOver();
    overdue_at_ = std::min(overdue_at_, link->deadline());
  }
}

}  // namespace sampan::fabric
