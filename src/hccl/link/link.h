// The state of a transport: the peer's memory, the signals of both sides, and their group.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/platform_bridge.h"
#include "hccl/group/membership.h"
#include "hccl/platform/local_notify.h"
#include "hccl/platform/remote_notify.h"
#include "hccl/platform/transport_pub.h"

namespace sampan::hccl {

/// A signal of a link, for the streams that wait for it or post it.
class GroupSignal final : public SignalLink {
 public:
  GroupSignal(std::shared_ptr<GroupHealth> health, u32 rank, std::string description)
      : health_(std::move(health)), rank_(rank), description_(std::move(description)) {}
  Status Check() const override { return health_->Check(); }
  std::string Describe() const override { return description_; }
  void OnTimeout(const std::string& text) noexcept override { Break(HCCL_E_TIMEOUT, text); }
  void OnFailure(const std::string& text) noexcept override { Break(HCCL_E_REMOTE, text); }

 private:
  void Break(HcclResult code, const std::string& text) noexcept;

  const std::shared_ptr<GroupHealth> health_;
  const u32 rank_;
  const std::string description_;
};

/// One of a link's signals: this side waits for its own notify and posts the peer's.
struct LinkSignal {
  ::hccl::LocalNotify local;
  ::hccl::RemoteNotify remote;
  std::shared_ptr<GroupSignal> waited, posted;
};

/// Device memory of the peer, in this process's addresses. Owns the mapping, if there is one.
class RemoteMemory {
 public:
  RemoteMemory() = default;
  ~RemoteMemory();
  RemoteMemory(const RemoteMemory&) = delete;
  RemoteMemory& operator=(const RemoteMemory&) = delete;

  void PointTo(void* address, u64 bytes) {
    address_ = address;
    bytes_ = bytes;
  }
  HcclResult Import(const std::string& key, u64 bytes);

  void* address() const { return address_; }
  u64 bytes() const { return bytes_; }
  bool Contains(u64 offset, u64 bytes) const { return offset <= bytes_ && bytes <= bytes_ - offset; }

 private:
  void* address_ = nullptr;
  u64 bytes_ = 0;
  std::string key_;  // of the mapping
};

/// A process that may open keys of this one.
struct Importer {
  s32 process;
  std::optional<u32> server;  ///< on another host: its server, as a device id in the super pod
};
HcclResult AdmitToNotify(HcclRtNotify notify, Importer importer);

/// A key of this side's memory for one other process. The destructor closes the key and keeps the memory.
class ExportedMemory {
 public:
  ExportedMemory() = default;
  ~ExportedMemory();
  ExportedMemory(const ExportedMemory&) = delete;
  ExportedMemory& operator=(const ExportedMemory&) = delete;

  HcclResult Export(const ::hccl::DeviceMem& memory, Importer importer);
  const std::string& key() const { return key_; }

 private:
  std::string key_;
};

}  // namespace sampan::hccl

/// Owned by the transport. The signals behind the first two are the numbered ones.
struct hccl::Transport::Link {
  static constexpr std::size_t kDone = 0, kReady = 1, kNumbered = 2;

  std::shared_ptr<sampan::hccl::Membership> membership;
  HcclDispatcher dispatcher = nullptr;
  u32 local_rank = INVALID_VALUE_RANKID, remote_rank = INVALID_VALUE_RANKID;   // in the group
  u32 local_user = INVALID_VALUE_RANKID, remote_world = INVALID_VALUE_RANKID;  // in records
  LinkType type = LinkType::LINK_RESERVED;
  bool reads = true;
  std::vector<u8> exchange_info;
  std::array<sampan::hccl::RemoteMemory, 2> memory;  // by UserMemType
  std::array<sampan::hccl::ExportedMemory, 2> exported;
  std::vector<std::unique_ptr<sampan::hccl::LinkSignal>> signals;
};
