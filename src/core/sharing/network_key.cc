// A key that processes of other hosts can use: 64 characters with the owner's address.
#include "core/sharing/network_key.h"

#include <array>
#include <cstring>

#include "base/error/text.h"
#include "base/system/host_identity.h"

namespace sampan::core {
namespace {

constexpr std::string_view kStart = "smp";  // then the kind's letter, then the bytes, 6 bits a character
constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
constexpr unsigned kBitsPerDigit = 6;
constexpr std::size_t kKeyBytes = 45;
static_assert(kStart.size() + 1 + kKeyBytes * 8 / kBitsPerDigit == NetworkKey::kCharacters);

constexpr unsigned kCellBits = 17;
static_assert(ShareBoard::kCells == 1U << kCellBits);

using Bytes = std::array<std::uint8_t, kKeyBytes>;

/// Puts values into the bytes, or takes them out, in one order.
class Cursor {
 public:
  explicit Cursor(Bytes& bytes) : bytes_(bytes) {}
  void Put(const void* from, std::size_t count) {
    std::memcpy(bytes_.data() + at_, from, count);
    at_ += count;
  }
  void Take(void* to, std::size_t count) {
    std::memcpy(to, bytes_.data() + at_, count);
    at_ += count;
  }

 private:
  Bytes& bytes_;
  std::size_t at_ = 0;
};

constexpr std::size_t kSumBytes = 2;
constexpr std::size_t kPlaceBytes = 5;  // of the process, which has at most 22 bits on Linux, and the cell

/// FNV-1a over all bytes before the sum, folded to 16 bits.
std::uint16_t ChecksumOf(const Bytes& bytes, SharedKind kind) {
  std::uint64_t sum = 0xcbf29ce484222325 ^ static_cast<std::uint64_t>(kind);
  for (std::size_t i = 0; i + kSumBytes < bytes.size(); ++i)
    sum = (sum ^ bytes[i]) * 0x100000001b3;
  return static_cast<std::uint16_t>(sum ^ sum >> 16 ^ sum >> 32 ^ sum >> 48);
}

}  // namespace

std::string NetworkKey::Encode(SharedKind kind) const {
  // Version of the address in one bit, then the cell and the process.
  const std::uint64_t place = static_cast<std::uint64_t>(cell.process) << (kCellBits + 1) |
                              std::uint64_t{cell.index} << 1 | (address.version == 6 ? 1U : 0U);
  Bytes bytes{};
  Cursor cursor(bytes);
  cursor.Put(cell.secret.data(), sizeof(cell.secret));
  cursor.Put(address.host.data(), address.host.size());
  cursor.Put(&address.port, sizeof(address.port));
  cursor.Put(&place, kPlaceBytes);
  cursor.Put(&host, sizeof(host));
  const std::uint16_t sum = ChecksumOf(bytes, kind);
  cursor.Put(&sum, kSumBytes);
  std::string key(kStart);
  key += LetterOf(kind);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const unsigned three = bytes[i] | bytes[i + 1] << 8 | bytes[i + 2] << 16;
    for (unsigned digit = 0; digit < 4; ++digit)
      key += kDigits[three >> (kBitsPerDigit * digit) & 63];
  }
  return key;
}

bool NetworkKey::IsOne(std::string_view key) {
  return key.size() == kCharacters && key.starts_with(kStart);
}

Result<NetworkKey> NetworkKey::Decode(std::string_view key, SharedKind kind) {
  const Error malformed{Code::kParamInvalid, Text("'", key, "' is no key of ", Describe(kind))};
  if (!IsOne(key) || key[kStart.size()] != LetterOf(kind)) return malformed;
  Bytes bytes{};
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::size_t three = 0;
    for (unsigned digit = 0; digit < 4; ++digit) {
      const std::size_t value = kDigits.find(key[kStart.size() + 1 + i / 3 * 4 + digit]);
      if (value == std::string_view::npos) return malformed;
      three |= value << (kBitsPerDigit * digit);
    }
    for (unsigned part = 0; part < 3; ++part)
      bytes[i + part] = static_cast<std::uint8_t>(three >> (8 * part));
  }
  NetworkKey decoded;
  std::uint64_t place = 0;
  std::uint16_t sum = 0;
  Cursor cursor(bytes);
  cursor.Take(decoded.cell.secret.data(), sizeof(decoded.cell.secret));
  cursor.Take(decoded.address.host.data(), decoded.address.host.size());
  cursor.Take(&decoded.address.port, sizeof(decoded.address.port));
  cursor.Take(&place, kPlaceBytes);
  cursor.Take(&decoded.host, sizeof(decoded.host));
  cursor.Take(&sum, kSumBytes);
  if (sum != ChecksumOf(bytes, kind))
    return Error{Code::kParamInvalid, "the key is damaged: its checksum does not fit its characters"};
  decoded.address.version = (place & 1) != 0 ? 6 : 4;
  decoded.cell.index = static_cast<std::uint32_t>(place >> 1) & (ShareBoard::kCells - 1);
  decoded.cell.process = static_cast<std::int32_t>(place >> (kCellBits + 1));
  if (decoded.cell.process == 0) return malformed;
  return decoded;
}

Result<std::uint32_t> HostMark() {
  auto host = ThisHost();
  if (!host.ok()) return host.TakeStatus();
  return static_cast<std::uint32_t>(HashOf(*host));
}

}  // namespace sampan::core
