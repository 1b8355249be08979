// The bytes that the root gives to all ranks of a future communicator.
#include "collectives/comm/root_info.h"

#include <unistd.h>

#include <array>
#include <cstring>

#include "base/error/text.h"
#include "hccl/platform/rank_group.h"

namespace sampan::collectives {
namespace {

constexpr std::array<char, 16> kMagic = {'s', 'a', 'm', 'p', 'a', 'n', ' ', 'r',
                                         'o', 'o', 't', ' ', 'i', 'n', 'f', '3'};
/// With its NUL. A communicator's name has at most 127 characters, a meeting point's 64.
constexpr std::size_t kTextBytes = 64;

struct Layout {
  std::array<char, 16> magic;
  std::array<char, kTextBytes> name, token, address;
  HostIdentity host;
};
static_assert(sizeof(Layout) <= sizeof(HcclRootInfo));

std::string TextIn(const std::array<char, kTextBytes>& field) {
  return {field.data(), ::strnlen(field.data(), field.size())};
}

}  // namespace

Result<RootInfo> MakeRootInfo() {
  auto host = ThisHost();
  if (!host.ok()) return host.TakeStatus();
  const std::string token = ::hccl::RankGroup::MakeToken();
  return RootInfo{Text("sampan%", ::getpid(), "_", token.substr(0, 12)), token, *host, {}};
}

HcclRootInfo Encode(const RootInfo& info) {
  Layout layout{.magic = kMagic, .name = {}, .token = {}, .address = {}, .host = info.host};
  info.name.copy(layout.name.data(), kTextBytes - 1);
  info.token.copy(layout.token.data(), kTextBytes - 1);
  info.address.copy(layout.address.data(), kTextBytes - 1);
  HcclRootInfo bytes{};
  std::memcpy(bytes.internal, &layout, sizeof(layout));
  return bytes;
}

std::optional<RootInfo> Decode(const HcclRootInfo& bytes) {
  Layout layout;
  std::memcpy(&layout, bytes.internal, sizeof(layout));
  RootInfo info{TextIn(layout.name), TextIn(layout.token), layout.host, TextIn(layout.address)};
  if (layout.magic != kMagic || info.name.empty() || info.token.empty()) return std::nullopt;
  return info;
}

}  // namespace sampan::collectives
