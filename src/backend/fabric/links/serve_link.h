// The owner's side of a connection: serves requests on one piece of memory.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "backend/fabric/links/endpoint.h"
#include "backend/fabric/links/offer.h"
#include "base/error/assert.h"

namespace sampan::fabric {

/// Used by the thread that has the network's turn. Every request is checked against the offer as it is then.
class ServeLink final : public Endpoint::Owner {
 public:
  using Broken = std::vector<const ServeLink*>;
  /// Adds itself to `broken` when the connection is of no use any more. Its endpoint moves to `closed`.
  ServeLink(std::shared_ptr<Offer> offer, Broken& broken, ClosedEndpoints& closed)
      : offer_(std::move(offer)), broken_(broken), closed_(closed) {}
  ~ServeLink() override { SAMPAN_ASSERT(pins_ == 0); }

  Status Accept(Port& port, fi_info& info);
  const Offer* offer() const { return offer_.get(); }
  void Break();
  /// Closes the connection: the offer's memory is not touched any more.
  void Close();

  void OnFrame(std::span<const std::byte> frame) override;
  void OnBytes(std::size_t count) override;
  void OnSent() override;
  void OnBytesSent() override { Unpin(); }
  void OnBroken(int) override { Break(); }
  void OnRefused(int) override { Break(); }
  void OnShutDown() override { Break(); }

 private:
  /// Answers the request, or begins to. Returns false if the importer does not keep to the rules of frames.
  bool Serve(std::span<const std::byte> frame);
  bool ReceiveDirect(const Request& request);
  bool SendDirect(const Request& request);
  /// Moves the bytes of a request that is not direct. `reply` has room for those of a read.
  Code Move(const Request& request, std::byte* reply);
  /// The memory of a direct request's pieces, pinned.
  Result<std::span<const iovec>> Pin(const Request& request);
  void Unpin();
  bool Answer(FrameKind kind, Code code, std::uint64_t payload_bytes, bool payload_in_slot);

  const std::shared_ptr<Offer> offer_;
  Broken& broken_;
  ClosedEndpoints& closed_;
  std::unique_ptr<Endpoint> endpoint_;
  std::span<const std::byte> waiting_;  // a frame, until a slot for its answer is free
  std::array<iovec, kMaxDirectPieces> parts_{};
  std::uint64_t last_request_ = 0, direct_bytes_ = 0;
  Code direct_code_ = Code::kOk;  // of the write whose bytes are being received
  bool direct_pinned_ = false;
  std::size_t pins_ = 0;
  bool is_broken_ = false;
};

}  // namespace sampan::fabric
