// An importer that was let in, and sends what the test says.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <thread>

#include "backend/fabric/gate/gate.h"
#include "backend/fabric/links/endpoint.h"
#include "backend/fabric/links/frames.h"
#include "backend/fabric/provider/library.h"
#include "backend/fabric/provider/port.h"

namespace sampan::fabric::test {

/// Reads nothing unless it is asked whether the owner is gone.
class RawImporter final : public Endpoint::Owner {
 public:
  RawImporter(const PeerName& name, std::chrono::milliseconds limit) {
    library_ = *LoadLibrary();
    port_ = std::move(*Port::Open(*library_));
    auto admission = AskForAdmission(name, limit, "the owner");
    EXPECT_TRUE(admission.ok()) << admission.error().message;
    auto route = port_->Route(admission->fabric, admission->local);
    endpoint_ = std::move(*Endpoint::Make(*port_, **route, *this));
    EXPECT_EQ(endpoint_->Connect(**route, std::as_bytes(std::span(&admission->welcome.ticket, 1))), 0);
    ConnectionEvent event;
    while (!port_->ReadEvent(event) || event.kind != ConnectionEvent::Kind::kConnected)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  void Send(const FrameHeader& header, const FramePiece& piece) {
    std::byte* const frame = endpoint_->free_slot()->bytes;
    std::memcpy(frame, &header, sizeof(header));
    std::memcpy(frame + sizeof(header), &piece, sizeof(piece));
    Endpoint::Slot* used = nullptr;
    EXPECT_EQ(endpoint_->SendRequest(sizeof(header) + sizeof(piece), used), 0);
  }
  bool IsOwnerGone() {
    for (ConnectionEvent event; port_->ReadEvent(event);)
      Endpoint::Tell(event);
    std::array<Completion, 4> completions;
    const std::size_t count = port_->ReadCompletions(completions);
    for (std::size_t i = 0; i < count; ++i)
      Endpoint::Complete(completions[i]);
    return is_gone_;
  }

 private:
  void OnFrame(std::span<const std::byte>) override {}
  void OnBytes(std::size_t) override {}
  void OnSent() override {}
  void OnBytesSent() override {}
  void OnBroken(int) override { is_gone_ = true; }
  void OnShutDown() override { is_gone_ = true; }

  std::optional<Library> library_;
  std::unique_ptr<Port> port_;
  std::unique_ptr<Endpoint> endpoint_;
  bool is_gone_ = false;
};

}  // namespace sampan::fabric::test
