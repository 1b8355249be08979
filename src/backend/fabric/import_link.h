// The importer's side of a connection: transfers in frames.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "backend/fabric/endpoint.h"
#include "backend/fabric/gate.h"
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
  /// `opened` is called once: when it is connected, or when that fails.
  ImportLink(Port& port, const PeerName& name, Admission admission, std::chrono::milliseconds limit,
             Opened opened);

  /// Connects. A failure is told to `opened`.
  void Begin();
  void Start(PeerTransfer transfer, std::function<void(Status)> done);
  bool is_open() const { return is_open_; }

  fid_t id() const { return endpoint_ != nullptr ? endpoint_->id() : nullptr; }
  void OnConnected();
  void OnRefused(int error) { Fail(port_.ErrorText(error)); }
  void OnShutDown() { Fail("the process has exited, or closed the connection"); }
  /// When the peer must have answered.
  Deadline deadline() const;
  void OnTimeOver();
  /// Gives the connection up. No transfer may be pending.
  void Close();
  /// Moves endpoints that were given up to `closed`. They may be destroyed after the completions were read
  /// once more.
  void MoveClosed(std::vector<std::unique_ptr<Endpoint>>& closed);

  void OnFrame(std::span<const std::byte> frame) override;
  void OnBytes(std::size_t count) override;
  void OnBytesSent() override { heard_ = Clock::now(); }  // the other side takes bytes
  void OnSent() override { SendFrames(); }
  void OnBroken(int error) override { Fail(port_.ErrorText(error)); }

 private:
  struct InFlight {
    std::shared_ptr<PendingTransfer> transfer;
    std::vector<PeerPiece> pieces;  // of a read
    std::uint64_t bytes;
    bool direct;
  };

  Status Connect();
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
  const PeerName name_;
  Admission admission_;
  const std::chrono::milliseconds limit_;
  Opened opened_;
  std::unique_ptr<Endpoint> endpoint_;
  std::vector<std::unique_ptr<Endpoint>> closed_;
  bool is_open_ = false;
  std::string broken_;  // why; empty: it is not
  Deadline heard_{};    // the last sign of the peer, or when the oldest request was sent
  std::deque<std::shared_ptr<PendingTransfer>> waiting_;
  std::deque<InFlight> in_flight_;
  std::uint64_t next_request_ = 1, next_answer_ = 1;
};

}  // namespace sampan::fabric
