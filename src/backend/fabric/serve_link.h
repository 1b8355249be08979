// The owner's side of a connection: serves requests on one piece of memory.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <utility>

#include "backend/fabric/endpoint.h"
#include "backend/fabric/keyed_hash.h"

namespace sampan::fabric {

/// Memory that this process lends. Peers' requests and taking it back exclude each other.
struct Offer {
  Offer(const Key& handle_secret, std::shared_ptr<LentMemory> lent)
      : secret(handle_secret), memory(std::move(lent)) {}

  const Key secret;
  std::mutex mutex;
  std::shared_ptr<LentMemory> memory;  // null once it was taken back
  std::byte* begin = nullptr;          // once it was mapped
};

/// Belongs to the network's thread. Every request is checked against the offer as it is then.
class ServeLink final : public Endpoint::Owner {
 public:
  explicit ServeLink(std::shared_ptr<Offer> offer) : offer_(std::move(offer)) {}

  Status Accept(Port& port, fi_info& info, std::span<const std::byte> welcome);
  fid_t id() const { return endpoint_ != nullptr ? endpoint_->id() : nullptr; }
  bool is_broken() const { return is_broken_; }
  /// To be destroyed after the completions were read once more.
  std::unique_ptr<Endpoint> TakeEndpoint() { return std::move(endpoint_); }
  void Break() { is_broken_ = true; }

  void OnFrame(Endpoint::Slot& slot, std::size_t bytes) override;
  void OnSent() override;
  void OnBroken(int) override { is_broken_ = true; }

 private:
  /// Answers the request. Returns false if the importer does not keep to the rules of frames.
  bool Serve(std::span<const std::byte> frame);
  /// Moves the bytes. Returns the code for the importer. `reply` has room for those of a read.
  Code Move(const Request& request, std::byte* reply);

  const std::shared_ptr<Offer> offer_;
  std::unique_ptr<Endpoint> endpoint_;
  std::deque<std::pair<Endpoint::Slot*, std::size_t>> waiting_;  // until a slot for the answer is free
  std::uint64_t next_request_ = 1;
  bool is_broken_ = false;
};

}  // namespace sampan::fabric
