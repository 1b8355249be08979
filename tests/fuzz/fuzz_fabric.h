// What a process lends to importers of other hosts while it is fuzzed: memory between guard bytes, and its
// network.
#pragma once

#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <future>
#include <memory>
#include <utility>
#include <vector>

#include "backend/fabric/network.h"
#include "tests/fuzz/fuzz_failure.h"

namespace sampan::fuzz {

/// Lent memory with guard bytes on both sides, and what must be in it.
class GuardedMemory final : public LentMemory {
 public:
  static constexpr std::size_t kBytes = (std::size_t{1} << 20) + 12'345, kGuardBytes = std::size_t{64} << 10;

  explicit GuardedMemory(bool read_only)
      : bytes_(kBytes + 2 * kGuardBytes, std::byte{0xA5}), expected_(bytes_) {
    facts_.bytes = kBytes;
    facts_.read_only = read_only ? 1 : 0;
  }
  const PeerMemoryFacts& facts() const override { return facts_; }
  bool Admits(const PeerProcess&) const override { return true; }
  Result<std::byte*> Map() override { return bytes_.data() + kGuardBytes; }

  /// Where the expected byte of an offset is.
  std::byte* expected(std::size_t offset) { return expected_.data() + kGuardBytes + offset; }
  void Check() const {
    if (std::memcmp(bytes_.data(), expected_.data(), bytes_.size()) != 0)
      FailInput("bytes are wrong, or some beside the memory");
  }

 private:
  std::vector<std::byte> bytes_, expected_;
  PeerMemoryFacts facts_;
};

/// A process that lends, and an honest importer. Made once.
class FuzzedOwner {
 public:
  static constexpr std::uint32_t kCell = 3, kReadOnlyCell = 4;

  FuzzedOwner() {
    auto listening = owner_.Listen();
    if (!listening.ok()) FailInput(listening.error().message.c_str());
    name_ = {*listening, ::getpid(), kCell, {0x1234567890ABCDEF, 0xFEDCBA0987654321}};
    read_only_name_ = name_;
    read_only_name_.cell = kReadOnlyCell;
    owner_.Lend(kCell, name_.secret, memory_);
    owner_.Lend(kReadOnlyCell, name_.secret, read_only_);
  }
  const PeerName& name(bool read_only) const { return read_only ? read_only_name_ : name_; }
  GuardedMemory& memory(bool read_only) { return read_only ? *read_only_ : *memory_; }

  /// An import and a read by the rules, which must work at any time.
  void UseHonestly() {
    auto imported = importer_.Import(name_);
    if (!imported.ok()) FailInput(imported.error().message.c_str());
    std::vector<std::byte> seen(GuardedMemory::kBytes);
    std::promise<Code> ended;
    (*imported)->Start({PeerTransfer::Kind::kRead, {{seen.data(), 0, seen.size()}}},
                       [&](Status status) { ended.set_value(status.code()); });
    if (ended.get_future().get() != Code::kOk) FailInput("an honest read fails");
    if (std::memcmp(seen.data(), memory_->expected(0), seen.size()) != 0)
      FailInput("an honest read is wrong");
  }

 private:
  static fabric::NetworkOptions Options() {
    fabric::NetworkOptions options;
    options.interface.names = "=lo";
    options.interface.family = "AF_INET";
    options.limit = std::chrono::seconds(20);  // of honest use, on a busy machine
    return options;
  }

  std::shared_ptr<GuardedMemory> memory_ = std::make_shared<GuardedMemory>(false);
  std::shared_ptr<GuardedMemory> read_only_ = std::make_shared<GuardedMemory>(true);
  fabric::Network owner_{Options()}, importer_{Options()};
  PeerName name_, read_only_name_;
};

}  // namespace sampan::fuzz
