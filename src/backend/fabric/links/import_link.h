// The importer's side of a connection: transfers in frames.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backend/fabric/gate/gate.h"
#include "backend/fabric/links/endpoint.h"
#include "base/time/clock.h"

namespace sampan::fabric {

/// A transfer and the caller that is told of its end.
struct PendingTransfer {
  PeerTransfer transfer;
  std::function<void(Status)> done;
  std::size_t piece = 0;       ///< the first one that is not sent completely
  std::uint64_t in_piece = 0;  ///< bytes of it that are sent
  std::size_t frames_out = 0;  ///< without an answer
  Status failure;

  bool is_sent() const { return piece == transfer.pieces.size(); }
};

/// Used by the thread that has the network's turn.
class ImportLink final : public Endpoint::Owner {
 public:
  using Opened = std::function<void(Status)>;
  /// `opened` is called once: when it is connected, or when that fails. Its endpoint moves to `closed` when
  /// it is given up.
  ImportLink(Port& port, ClosedEndpoints& closed, const PeerName& name, Admission admission,
             std::chrono::milliseconds limit, Opened opened);

  /// Connects. A failure is told to `opened`.
  void Begin();
  void Start(PeerTransfer transfer, std::function<void(Status)> done);
  bool is_open() const { return is_open_; }

  /// When the peer must have answered.
  Deadline deadline() const;
  void OnTimeOver();
  /// Gives the connection up. No transfer may be pending.
  void Close();

  void OnFrame(std::span<const std::byte> frame) override;
  void OnBytes(std::size_t count) override;
  void OnBytesSent() override;
  void OnSent() override {}  // it sends no answers
  void OnBroken(int error) override;
  void OnConnected() override;
  void OnRefused(int error) override { Fail(port_.ErrorText(error)); }
  void OnShutDown() override;

 private:
  struct InFlight {
    std::shared_ptr<PendingTransfer> transfer;
    std::vector<PeerPiece> pieces;  // of a read
    std::uint64_t bytes, wire_bytes;
    bool direct;
    Endpoint::Slot* slot;      // of the request's frame, or null
    bool is_sending;           // its bytes are read from the transfer's memory
    std::optional<Code> code;  // of an answer that came meanwhile
  };

  Status Connect();
  /// The peer has given a sign.
  void Hear();
  void SendFrames();
  /// Sends the next frame of the transfer. Returns 0 or an error.
  int SendFrame(const std::shared_ptr<PendingTransfer>& transfer);
  /// Returns false if the frame is no answer to the oldest request.
  bool Answer(std::span<const std::byte> frame);
  /// The oldest request has its answer, and a read its bytes.
  void EndOldest(Code code);
  /// Receives the next answer, and sends what waits for it.
  void GoOn();
  void EndIfDone(const std::shared_ptr<PendingTransfer>& transfer);
  void Fail(std::string why);
  void Opening(Status status);
  std::string Peer() const;

  Port& port_;
  ClosedEndpoints& closed_;
  const PeerName name_;
  Admission admission_;
  const std::chrono::milliseconds limit_;
  Opened opened_;
  std::unique_ptr<Endpoint> endpoint_;
  bool is_open_ = false;
  std::string broken_;  // why; empty: it is not
  Deadline heard_{};    // the last sign of the peer, or when the oldest request was sent
  std::deque<std::shared_ptr<PendingTransfer>> waiting_;
  std::deque<InFlight> in_flight_;
  std::uint64_t bytes_in_flight_ = 0, max_direct_bytes_ = 0;
  std::uint64_t next_request_ = 1, next_answer_ = 1;
};

}  // namespace sampan::fabric
