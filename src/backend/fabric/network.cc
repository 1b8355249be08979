// The network of peers: one thread that serves what this process lends and sends what it copies.
#include "backend/fabric/network.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <utility>

#include "base/error/system_error.h"
#include "base/error/text.h"
#include "base/log/log.h"
#include "base/threads/spin.h"

namespace sampan::fabric {
namespace {

constexpr std::size_t kCompletionsAtOnce = 16;
/// How long a thread polls after the last message, before it sleeps: about the time of a short request's way
/// there and back (bench_hosts).
constexpr std::chrono::microseconds kSpin{30};
/// A helper waits so long for the turn, and then so long for a short request's answer. What takes longer is
/// left to the network's thread.
constexpr std::chrono::microseconds kHelpSpin{20}, kHelp{1000};

bool MaySpin() {
  static const bool several = std::thread::hardware_concurrency() > 1;
  return several;
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

/// Waits for the turn.
class Network::Turn {
 public:
  explicit Turn(Network& network) : Turn(network, std::unique_lock(network.turn_)) {}
  Turn(Network& network, std::unique_lock<std::mutex> lock) : network_(network), lock_(std::move(lock)) {
    network_.turn_owner_.store(std::this_thread::get_id());
  }
  ~Turn() { network_.turn_owner_.store({}); }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  Network& network_;
  const std::unique_lock<std::mutex> lock_;
};

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
    network_.Post([network = &network_, number = number_, transfer = std::move(transfer),
                   done = std::move(done)]() mutable {
      network->imports_.at(number)->Start(std::move(transfer), std::move(done));
    });
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
  for (auto& link : served_) {  // bytes may be moving
    if (auto endpoint = link->Close()) closed_.push_back(std::move(endpoint));
  }
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
    if (Status woken = (*port)->WakeBy(wake_.get()); !woken.ok()) return woken;
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

Status Network::OpenGate(PeerAddress& address) {
  PeerAddress behind = address;
  if (Status listening = port_->Listen(behind, options_.limit); !listening.ok()) return listening;
  auto gate = Gate::Open(address);
  if (!gate.ok()) return gate.TakeStatus();
  if (Status woken = port_->WakeBy(gate->descriptor()); !woken.ok()) return woken;
  gate_.emplace(std::move(*gate));
  fabric_port_ = behind.port;
  return {};
}

void Network::Lend(std::uint32_t cell, const std::array<std::uint64_t, 2>& secret,
                   std::shared_ptr<LentMemory> memory) {
  auto offer = std::make_shared<Offer>(secret, std::move(memory));
  const std::lock_guard lock(offers_mutex_);
  offers_[cell] = std::move(offer);
}

void Network::TakeBack(std::uint32_t cell, Deadline patience) noexcept {
  std::shared_ptr<Offer> offer;
  {
    const std::lock_guard lock(offers_mutex_);
    const auto found = offers_.find(cell);
    if (found == offers_.end()) return;
    offer = std::move(found->second);
    offers_.erase(found);
  }
  std::shared_ptr<LentMemory> ended;  // destroyed after the lock is released
  std::unique_lock lock(offer->mutex);
  ended = std::move(offer->memory);
  const auto unpinned = [&] { return offer->pins == 0; };
  if (unpinned()) return;
  // The thread that moves the bytes cannot wait for itself, nor hold up one network for another.
  const bool may_wait = patience != Deadline{};
  if (may_wait && offer->unpinned.wait_until(lock, patience, unpinned)) return;
  lock.unlock();
  if (HasTurn()) return BreakPinned(*offer);
  // The memory stays mapped until its connections are closed.
  if (!may_wait) return Post([this, offer, ended] { BreakPinned(*offer); });
  const Turn turn(*this);
  BreakPinned(*offer);
}

void Network::BreakPinned(const Offer& offer) {
  for (auto& link : served_) {
    if (link->offer() != &offer) continue;
    if (auto endpoint = link->Close()) closed_.push_back(std::move(endpoint));
  }
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
    auto link = std::make_unique<ImportLink>(*port_, name, std::move(*admission), options_.limit,
                                             [opening](Status told) { opening->Tell(std::move(told)); });
    imports_.emplace(number, std::move(link)).first->second->Begin();
  });
  if (Status opened = opening->Wait(); !opened.ok()) {
    Post([this, number] { Drop(number); });
    return opened;
  }
  return std::shared_ptr<PeerMemory>(std::make_shared<Imported>(*this, number, name, facts));
}

void Network::Post(std::function<void()> command) {
  {
    const std::lock_guard lock(commands_mutex_);
    commands_.push_back(std::move(command));
    if (HasTurn()) return;  // it reads them before it sleeps
  }
  // At once, if the turn is free: that saves waking the network's thread.
  if (std::unique_lock turn(turn_, std::try_to_lock); turn.owns_lock()) {
    const Turn own(*this, std::move(turn));
    RunCommands();
    // A peer that was sent something now has to answer within the limit.
    if (closed_.empty() && sleeps_until_.load() <= Clock::now() + options_.limit) return;
  }
  Wake();
}

void Network::Wake() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(wake_.get(), &one, sizeof(one));
}

void Network::RunCommands() {
  for (;;) {
    std::vector<std::function<void()>> commands;
    {
      const std::lock_guard lock(commands_mutex_);
      commands.swap(commands_);
    }
    if (commands.empty()) return;
    for (auto& command : commands)
      command();
  }
}

bool Network::Work() {
  RunCommands();
  bool worked = false;
  for (ConnectionEvent event; port_->ReadEvent(event); worked = true)
    OnEvent(event);
  std::vector<std::unique_ptr<Endpoint>> ended = std::move(closed_);
  closed_.clear();
  std::array<Completion, kCompletionsAtOnce> completions;
  while (const std::size_t count = port_->ReadCompletions(completions)) {
    worked = true;
    for (std::size_t i = 0; i < count; ++i)
      Endpoint::Complete(completions[i]);
  }
  ended.clear();
  next_overdue_ = FailOverdue();
  BuryBroken();
  const std::lock_guard lock(commands_mutex_);
  return worked || !commands_.empty() || !closed_.empty();
}

void Network::Loop() noexcept {
  Deadline last = Clock::now();
  while (!stopping_.load()) {
    Deadline next{};
    bool sleeps = false;
    {
      const Turn turn(*this);
      std::uint64_t count = 0;
      [[maybe_unused]] const ssize_t length = ::read(wake_.get(), &count, sizeof(count));
      const bool worked = Work();
      next = next_overdue_;
      if (gate_) {
        next = std::min(next, gate_->Serve([this](const auto&... told) { return Judge(told...); }));
        ForgetLate();
        for (const Expected& each : expected_)
          next = std::min(next, each.until);
      }
      const Deadline now = Clock::now();
      if (worked) last = now;
      const bool spins = MaySpin() && helpers_.load() == 0 && now - last <= kSpin;
      sleeps = !worked && port_->MaySleep() && !spins;
      // With the turn: a Post that takes it next has to know that this thread does not look before `next`.
      if (sleeps) sleeps_until_.store(next);
    }
    if (!sleeps) continue;
    port_->Sleep(next);
    sleeps_until_.store({});
  }
}

void Network::Help(const std::function<bool()>& enough) noexcept {
  helpers_.fetch_add(1);
  SpinFor(kHelpSpin, [&] { return enough() || TryHelp(enough); });
  helpers_.fetch_sub(1);
}

bool Network::TryHelp(const std::function<bool()>& enough) noexcept {
  std::unique_lock lock(turn_, std::try_to_lock);
  if (!lock.owns_lock()) return false;
  const Turn turn(*this, std::move(lock));
  const Deadline patience = Clock::now() + kHelp;
  port_->MuteCompletions(true);
  while (!enough() && Clock::now() < patience) {
    if (!Work() && !enough() && port_->MaySleep()) port_->SleepMuted(kHelp);
  }
  RunCommands();
  port_->MuteCompletions(false);
  return true;
}

void Network::Drop(std::uint64_t import) {
  const auto found = imports_.find(import);
  found->second->Close();
  found->second->MoveClosed(closed_);
  imports_.erase(found);
}

void Network::BuryBroken() {
  for (auto& [number, link] : imports_)
    link->MoveClosed(closed_);
  for (auto& link : served_) {
    if (!link->is_broken()) continue;
    if (auto endpoint = link->Close()) closed_.push_back(std::move(endpoint));
  }
  std::erase_if(served_, [](const auto& link) { return link->is_broken(); });
}

Deadline Network::FailOverdue() {
  Deadline next = kNever;
  const Deadline now = Clock::now();
  for (auto& [number, link] : imports_) {
    if (link->deadline() <= now) link->OnTimeOver();
    next = std::min(next, link->deadline());
  }
  return next;
}

ImportLink* Network::ImportOf(fid_t endpoint) {
  for (auto& [number, link] : imports_) {
    if (link->id() == endpoint && endpoint != nullptr) return link.get();
  }
  return nullptr;
}

void Network::OnEvent(ConnectionEvent& event) {
  if (event.kind == ConnectionEvent::Kind::kRequest) return OnRequest(*event.info, event.data);
  if (ImportLink* const link = ImportOf(event.endpoint)) {
    if (event.kind == ConnectionEvent::Kind::kConnected) return link->OnConnected();
    if (event.kind == ConnectionEvent::Kind::kRefused) return link->OnRefused(event.error);
    return link->OnShutDown();
  }
  if (event.kind == ConnectionEvent::Kind::kConnected) return;
  for (auto& link : served_) {
    if (link->id() == event.endpoint) link->Break();
  }
}

Code Network::Check(const Hello& hello, const Challenge& challenge, const Proof& proof,
                    std::shared_ptr<Offer>& offer, PeerMemoryFacts& facts) {
  {
    const std::lock_guard lock(offers_mutex_);
    const auto found = offers_.find(hello.cell);
    if (found == offers_.end()) return Code::kParamInvalid;
    offer = found->second;
  }
  if (!SameDigest(proof.digest, ProofOfImporter(offer->secret, hello, challenge))) return Code::kParamInvalid;
  const std::lock_guard lock(offer->mutex);
  if (offer->memory == nullptr) return Code::kParamInvalid;
  if (!offer->memory->Admits({hello.server, hello.process})) return Code::kNoPermission;
  if (served_.size() + expected_.size() >= kMaxServed || expected_.size() >= kMaxExpected)
    return Code::kResourceAllocFail;
  if (offer->begin == nullptr) {
    auto mapped = offer->memory->Map();
    if (!mapped.ok()) return mapped.code();
    offer->begin = *mapped;
  }
  facts = offer->memory->facts();
  return Code::kOk;
}

Welcome Network::Judge(const Hello& hello, const Challenge& challenge, const Proof& proof,
                       const PeerAddress& from) {
  const auto refusal = [](Code code) {
    Welcome welcome;
    welcome.code = static_cast<std::int32_t>(code);
    return welcome;
  };
  std::shared_ptr<Offer> offer;
  Welcome welcome;
  if (const Code code = Check(hello, challenge, proof, offer, welcome.facts); code != Code::kOk)
    return refusal(code);
  auto ticket = RandomKey();
  if (!ticket.ok()) return refusal(Code::kResourceAllocFail);
  welcome.proof = ProofOfOwner(offer->secret, hello, challenge);
  welcome.ticket = *ticket;
  welcome.port = fabric_port_;
  expected_.push_back({*ticket, from, std::move(offer), Clock::now() + options_.limit});
  if (AdmitExpected()) return welcome;
  expected_.pop_back();
  return refusal(Code::kResourceAllocFail);
}

bool Network::AdmitExpected() {
  std::vector<PeerAddress> importers;
  for (const Expected& each : expected_)
    importers.push_back(each.from);
  return port_->Admit(importers).ok();
}

void Network::ForgetLate() {
  const Deadline now = Clock::now();
  if (std::erase_if(expected_, [&](const Expected& each) { return each.until <= now; }) != 0) AdmitExpected();
}

void Network::OnRequest(fi_info& info, std::span<const std::byte> data) {
  port_->KeepAccepted();
  Key ticket{};
  if (data.size() >= sizeof(ticket)) std::memcpy(&ticket, data.data(), sizeof(ticket));
  const auto expected = std::find_if(expected_.begin(), expected_.end(), [&](const Expected& each) {
    return data.size() >= sizeof(ticket) && SameDigest(each.ticket, ticket);
  });
  if (expected == expected_.end()) return port_->Refuse(info);
  auto link = std::make_unique<ServeLink>(std::move(expected->offer));
  expected_.erase(expected);
  AdmitExpected();
  Status accepted = link->Accept(*port_, info);
  if (!accepted.ok()) Log(LogLevel::kWarning, "RUNTIME", accepted.error().message);
  if (!accepted.ok()) link->Break();
  served_.push_back(std::move(link));
}

}  // namespace sampan::fabric
