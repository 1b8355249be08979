// A handle of physical memory for processes of any host: 128 bytes that a program may store and send.
#include "core/sharing/fabric_handle.h"

#include <cstring>

#include "base/error/text.h"

namespace sampan::core {
namespace {

/// The bytes of a handle. The last digit of the mark is the version of the layout.
struct Layout {
  std::array<char, 8> mark{'s', 'a', 'm', 'p', 'a', 'n', 'F', '1'};
  std::uint64_t checksum = 0;  ///< of all bytes behind it
  std::array<std::uint8_t, 16> boot{};
  std::uint64_t network = 0;
  std::int32_t process = 0;
  std::uint32_t cell = 0;
  std::array<std::uint64_t, 2> secret{};
  std::uint64_t memory_bytes = 0;
  PeerAddress address;
  std::array<std::uint8_t, 32> unused{};
};
static_assert(sizeof(PeerAddress) == 24);
static_assert(sizeof(Layout) == FabricHandle::kBytes);

/// FNV-1a. Each step is reversible, so one changed byte always changes the result.
std::uint64_t ChecksumOf(const Layout& layout) {
  constexpr std::size_t kBegin = offsetof(Layout, checksum) + sizeof(Layout::checksum);
  std::array<std::uint8_t, sizeof(Layout)> bytes;
  std::memcpy(bytes.data(), &layout, sizeof(layout));
  std::uint64_t sum = 0xcbf29ce484222325;
  for (std::size_t i = kBegin; i < bytes.size(); ++i)
    sum = (sum ^ bytes[i]) * 0x100000001b3;
  return sum;
}

}  // namespace

FabricHandle::Bytes FabricHandle::Encode() const {
  Layout layout;
  layout.boot = host.boot;
  layout.network = host.network;
  layout.process = cell.process;
  layout.cell = cell.index;
  layout.secret = cell.secret;
  layout.memory_bytes = memory_bytes;
  layout.address = address;
  layout.checksum = ChecksumOf(layout);
  Bytes bytes;
  std::memcpy(bytes.data(), &layout, sizeof(layout));
  return bytes;
}

Result<FabricHandle> FabricHandle::Decode(std::span<const std::byte, kBytes> bytes) {
  Layout layout;
  std::memcpy(&layout, bytes.data(), sizeof(layout));
  if (layout.mark != Layout().mark)
    return Error{Code::kParamInvalid, "shareableHandle is no fabric handle of this version"};
  if (layout.checksum != ChecksumOf(layout))
    return Error{Code::kParamInvalid, "shareableHandle is damaged: its checksum does not fit its bytes"};
  if (layout.process <= 0 || layout.cell >= ShareBoard::kCells) {
    return Error{Code::kParamInvalid, Text("shareableHandle names process ", layout.process, " and object ",
                                           layout.cell, ", which cannot be")};
  }
  return FabricHandle{{layout.boot, layout.network},
                      {layout.process, layout.cell, layout.secret},
                      layout.memory_bytes,
                      layout.address};
}

}  // namespace sampan::core
