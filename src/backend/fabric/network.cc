// The network of peers: one thread that serves what this process lends and sends what it copies.
#include "backend/fabric/network.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <condition_variable>
#include <exception>
#include <utility>

#include "base/error/system_error.h"
#include "base/error/text.h"
#include "base/log/log.h"

namespace sampan::fabric {
namespace {

constexpr std::size_t kCompletionsAtOnce = 16;

/// The result of an import, for the thread that waits for it.
struct Opening {
  std::mutex mutex;
  std::condition_variable changed;
  std::optional<Result<PeerMemoryFacts>> result;

  void Tell(Result<PeerMemoryFacts> told) {
    const std::lock_guard lock(mutex);
    result.emplace(std::move(told));
    changed.notify_all();
  }
  Result<PeerMemoryFacts> Wait() {
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
    network_.Post([network = &network_, number = number_, transfer = std::move(transfer),
                   done = std::move(done)]() mutable {
      network->imports_.at(number)->Start(std::move(transfer), std::move(done));
    });
  }
  std::string Describe() const override {
    return Text("process ", name_.process, " on host ", sampan::fabric::Describe(name_.address));
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
  Post([] {});
  thread_.Join();
}

Status Network::Start() {
  if (thread_.joinable()) return {};
  if (port_ == nullptr) {
    auto library = LoadLibrary();
    if (!library.ok()) return library.TakeStatus();
    library_ = *library;
    auto port = Port::Open(*library_);
    if (!port.ok()) return port.TakeStatus();
    auto cookies = CookieJar::Make();
    if (!cookies.ok()) return cookies.TakeStatus();
    wake_ = Descriptor(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (wake_.get() < 0) return {Code::kResourceAllocFail, Text("eventfd: ", SystemError(errno))};
    cookies_.emplace(std::move(*cookies));
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
  std::mutex mutex;
  std::condition_variable changed;
  std::optional<Status> listening;
  Post([&] {  // on the thread, because the port is the thread's
    Status told = port_->Listen(*address);
    const std::lock_guard told_lock(mutex);
    listening.emplace(std::move(told));
    changed.notify_all();
  });
  std::unique_lock waiting(mutex);
  changed.wait(waiting, [&] { return listening.has_value(); });
  if (!listening->ok()) return std::move(*listening);
  address_ = *address;
  return *address_;
}

void Network::Lend(std::uint32_t cell, const std::array<std::uint64_t, 2>& secret,
                   std::shared_ptr<LentMemory> memory) {
  auto offer = std::make_shared<Offer>(secret, std::move(memory));
  const std::lock_guard lock(offers_mutex_);
  offers_[cell] = std::move(offer);
}

void Network::TakeBack(std::uint32_t cell) noexcept {
  std::shared_ptr<Offer> offer;
  {
    const std::lock_guard lock(offers_mutex_);
    const auto found = offers_.find(cell);
    if (found == offers_.end()) return;
    offer = std::move(found->second);
    offers_.erase(found);
  }
  std::shared_ptr<LentMemory> ended;  // destroyed after the lock is released
  const std::lock_guard lock(offer->mutex);
  ended = std::move(offer->memory);
  offer->begin = nullptr;
}

Result<std::shared_ptr<PeerMemory>> Network::Import(const PeerName& name) {
  {
    const std::lock_guard lock(starting_mutex_);
    if (Status started = Start(); !started.ok()) return started;
  }
  const std::uint64_t number = next_import_.fetch_add(1);
  const auto opening = std::make_shared<Opening>();
  Post([this, number, name, opening] {
    auto link = std::make_unique<ImportLink>(
        *port_, name, options_.limit,
        [opening](Result<PeerMemoryFacts> told) { opening->Tell(std::move(told)); });
    imports_.emplace(number, std::move(link)).first->second->Begin();
  });
  auto facts = opening->Wait();
  if (!facts.ok()) {
    Post([this, number] { Drop(number); });
    return facts.TakeStatus();
  }
  return std::shared_ptr<PeerMemory>(std::make_shared<Imported>(*this, number, name, *facts));
}

void Network::Post(std::function<void()> command) {
  {
    const std::lock_guard lock(commands_mutex_);
    commands_.push_back(std::move(command));
    if (commands_.size() > 1) return;  // the thread is being woken already
  }
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(wake_.get(), &one, sizeof(one));
}

void Network::RunCommands() {
  std::uint64_t count = 0;
  [[maybe_unused]] const ssize_t length = ::read(wake_.get(), &count, sizeof(count));
  std::vector<std::function<void()>> commands;
  {
    const std::lock_guard lock(commands_mutex_);
    commands.swap(commands_);
  }
  for (auto& command : commands)
    command();
}

void Network::Loop() noexcept {
  while (!stopping_.load()) {
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
    const Deadline next = FailOverdue();
    BuryBroken();
    if (!worked) port_->Sleep(wake_.get(), next);
  }
}

void Network::Drop(std::uint64_t import) {
  const auto found = imports_.find(import);
  found->second->Close();
  found->second->MoveClosed(closed_);
  imports_.erase(found);
}

void Network::BuryBroken() {
  for (auto& [number, link] : imports_) {
    link->MoveClosed(closed_);
  }
  for (auto& link : served_) {
    if (!link->is_broken()) continue;
    auto endpoint = link->TakeEndpoint();
    if (endpoint == nullptr) continue;
    endpoint->Close();
    closed_.push_back(std::move(endpoint));
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
    if (event.kind == ConnectionEvent::Kind::kConnected) return link->OnConnected(event.data);
    if (event.kind == ConnectionEvent::Kind::kRefused) return link->OnRefused(event.error, event.data);
    return link->OnShutDown();
  }
  if (event.kind == ConnectionEvent::Kind::kConnected) return;
  for (auto& link : served_) {
    if (link->id() == event.endpoint) link->Break();
  }
}

Code Network::Admit(const Hello& hello, std::shared_ptr<Offer>& offer, PeerMemoryFacts& facts) {
  if (!cookies_->Take(hello)) return Code::kParamInvalid;
  {
    const std::lock_guard lock(offers_mutex_);
    const auto found = offers_.find(hello.cell);
    if (found == offers_.end()) return Code::kParamInvalid;
    offer = found->second;
  }
  if (!SameDigest(hello.proof, ProofOfImporter(offer->secret, hello))) return Code::kParamInvalid;
  const std::lock_guard lock(offer->mutex);
  if (offer->memory == nullptr) return Code::kParamInvalid;
  if (!offer->memory->Admits({hello.server, hello.process})) return Code::kNoPermission;
  if (served_.size() >= kMaxServed) return Code::kResourceAllocFail;
  if (offer->begin == nullptr) {
    auto mapped = offer->memory->Map();
    if (!mapped.ok()) return mapped.code();
    offer->begin = *mapped;
  }
  facts = offer->memory->facts();
  return Code::kOk;
}

void Network::OnRequest(fi_info& info, std::span<const std::byte> data) {
  const auto refuse = [&](const Refusal& refusal) {
    port_->Refuse(info, std::as_bytes(std::span(&refusal, 1)));
  };
  Hello hello;
  if (!ReadPlain(data, hello)) return port_->Refuse(info, {});
  if (hello.with_proof == 0) return refuse({.cookie = cookies_->Bake(hello)});
  std::shared_ptr<Offer> offer;
  Welcome welcome;
  if (const Code code = Admit(hello, offer, welcome.facts); code != Code::kOk)
    return refuse({.code = static_cast<std::int32_t>(code), .cookie = {}});
  welcome.proof = ProofOfOwner(offer->secret, hello);
  auto link = std::make_unique<ServeLink>(std::move(offer));
  Status accepted = link->Accept(*port_, info, std::as_bytes(std::span(&welcome, 1)));
  if (!accepted.ok()) Log(LogLevel::kWarning, "RUNTIME", accepted.error().message);
  if (!accepted.ok()) link->Break();
  served_.push_back(std::move(link));
}

}  // namespace sampan::fabric
