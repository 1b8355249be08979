// An owner that knows the secret, but answers with frames of a test, when the test says.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "backend/fabric/gate/gate.h"
#include "backend/fabric/links/endpoint.h"
#include "backend/fabric/links/frames.h"
#include "backend/fabric/provider/library.h"
#include "backend/fabric/provider/port.h"

namespace sampan::fabric::test {

/// Has a thread of its own. One connection at a time.
class ScriptedOwner final : public Endpoint::Owner {
 public:
  /// The answer's header to a request. Its payload are bytes of any value.
  using Answer = std::function<FrameHeader(const FrameHeader& request)>;

  /// With `ahead` it answers so many requests after the first one before they come, and receives no more.
  ScriptedOwner(const PeerName& name, PeerMemoryFacts facts, Answer answer, std::uint64_t ahead = 0)
      : name_(name), facts_(facts), answer_(std::move(answer)), ahead_(ahead) {
    auto library = LoadLibrary();
    library_ = *library;
    port_ = std::move(*Port::Open(*library_));
    behind_ = name_.address;
    behind_.port = 0;
    EXPECT_TRUE(port_->Listen(behind_, std::chrono::seconds(3)).ok());
    name_.address.port = 0;
    gate_.emplace(std::move(*Gate::Open(name_.address)));
    thread_ = std::thread([this] { Loop(); });
  }
  ~ScriptedOwner() override {
    stopping_.store(true);
    thread_.join();
  }
  const PeerName& name() const { return name_; }

 private:
  void Loop() {
    while (!stopping_.load()) {
      gate_->Serve([this](const auto&... told) { return Judge(told...); });
      for (ConnectionEvent event; port_->ReadEvent(event);) {
        if (event.kind != ConnectionEvent::Kind::kRequest) continue;
        endpoint_ = std::move(*Endpoint::Make(*port_, *event.info, *this));
        EXPECT_EQ(endpoint_->Accept({}), 0);
      }
      std::array<Completion, 4> completions;
      const std::size_t count = port_->ReadCompletions(completions);
      for (std::size_t i = 0; i < count; ++i)
        Endpoint::Complete(completions[i]);
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
    endpoint_.reset();
  }
  Welcome Judge(const Hello& hello, const Challenge& challenge, const Proof&, const PeerAddress& from) {
    Welcome welcome;
    welcome.proof = ProofOfOwner(name_.secret, hello, challenge);
    welcome.facts = facts_;
    welcome.port = behind_.port;
    EXPECT_TRUE(port_->Admit({&from, 1}).ok());
    return welcome;
  }
  void OnFrame(std::span<const std::byte> frame) override {
    FrameHeader request;
    std::memcpy(&request, frame.data(), sizeof(request));
    const std::uint64_t last = request.request + ahead_;
    for (; request.request <= last; ++request.request) {
      const FrameHeader answer = answer_(request);
      std::memcpy(endpoint_->free_slot()->bytes, &answer, sizeof(answer));
      EXPECT_EQ(endpoint_->SendAnswer(sizeof(answer) + answer.payload_bytes), 0);
    }
    if (ahead_ == 0) {
      EXPECT_EQ(endpoint_->ReceiveFrame(), 0);
    }
  }
  void OnBytes(std::size_t) override {}
  void OnBytesSent() override {}
  void OnSent() override {}
  void OnBroken(int) override {}

  PeerName name_;
  const PeerMemoryFacts facts_;
  const Answer answer_;
  const std::uint64_t ahead_;
  std::optional<Library> library_;
  std::unique_ptr<Port> port_;
  std::optional<Gate> gate_;
  PeerAddress behind_;  // where libfabric listens
  std::unique_ptr<Endpoint> endpoint_;
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace sampan::fabric::test
