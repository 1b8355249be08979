// The bytes of a key that names a host, for tests that change them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sampan::test {

/// The 45 bytes of a key, and back.
class KeyBytes {
 public:
  explicit KeyBytes(const std::string& key) : start_(key.substr(0, 4)) {
    for (std::size_t i = 4; i < key.size(); i += 4) {
      std::size_t three = 0;
      for (std::size_t digit = 0; digit < 4; ++digit)
        three |= kDigits.find(key[i + digit]) << (6 * digit);
      for (unsigned part = 0; part < 3; ++part)
        bytes += static_cast<char>(three >> (8 * part));
    }
  }
  std::string Key() const {
    std::string key = start_;
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
      std::size_t three = 0;
      for (unsigned part = 0; part < 3; ++part)
        three |= std::size_t{static_cast<unsigned char>(bytes[i + part])} << (8 * part);
      for (unsigned digit = 0; digit < 4; ++digit)
        key += kDigits[three >> (6 * digit) & 63];
    }
    return key;
  }
  /// Corrects the checksum: FNV-1a, which begins with the number of the key's kind, folded.
  void Mend() {
    std::uint64_t sum = 0xcbf29ce484222325 ^ (start_.back() == 'n' ? 1U : 3U);
    for (std::size_t i = 0; i + 2 < bytes.size(); ++i)
      sum = (sum ^ static_cast<unsigned char>(bytes[i])) * 0x100000001b3;
    const auto folded = static_cast<std::uint16_t>(sum ^ sum >> 16 ^ sum >> 32 ^ sum >> 48);
    bytes[bytes.size() - 2] = static_cast<char>(folded);
    bytes[bytes.size() - 1] = static_cast<char>(folded >> 8);
  }

  /// Says that it is of another kind: 'n' is a notify's, 'm' memory's.
  void Name(char kind) {
    start_.back() = kind;
    Mend();
  }

  std::string bytes;

 private:
  static constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  std::string start_;
};

/// Changes which host the key names.
inline std::string NameAnotherHost(const std::string& key) {
  constexpr std::size_t kHostAt = 39;
  KeyBytes bytes(key);
  bytes.bytes[kHostAt] = static_cast<char>(bytes.bytes[kHostAt] ^ 1);
  bytes.Mend();
  return bytes.Key();
}

}  // namespace sampan::test
