// Encodes values as bytes for another process, whose machine has the same order of bytes. The reader checks
// every length.
#pragma once

#include <cstring>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "hccl/base.h"

namespace sampan::hccl {

class ByteWriter {
 public:
  template <typename T>
  void Put(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    const auto* const first = reinterpret_cast<const u8*>(&value);
    bytes_.insert(bytes_.end(), first, first + sizeof(value));
  }
  template <typename Bytes>
  void PutBytes(const Bytes& bytes) {
    Put(static_cast<u64>(bytes.size()));
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }
  std::vector<u8> Take() { return std::move(bytes_); }

 private:
  std::vector<u8> bytes_;
};

/// If there are too few bytes for a value, it and all later values are empty, and ok() is false.
class ByteReader {
 public:
  explicit ByteReader(const std::vector<u8>& bytes) : bytes_(bytes) {}

  template <typename T>
  T Get() {
    static_assert(std::is_trivially_copyable_v<T>);
    T value{};
    if (Has(sizeof(value))) {
      std::memcpy(&value, bytes_.data() + at_, sizeof(value));
      at_ += sizeof(value);
    }
    return value;
  }
  std::vector<u8> GetBytes() {
    const u64 length = Get<u64>();
    if (!Has(length)) return {};
    const auto first = bytes_.begin() + static_cast<std::ptrdiff_t>(at_);
    at_ += static_cast<std::size_t>(length);
    return {first, first + static_cast<std::ptrdiff_t>(length)};
  }
  std::string GetText() {
    const std::vector<u8> bytes = GetBytes();
    return {bytes.begin(), bytes.end()};
  }
  bool ok() const { return ok_; }

 private:
  bool Has(u64 bytes) {
    ok_ = ok_ && bytes <= bytes_.size() - at_;
    return ok_;
  }

  const std::vector<u8>& bytes_;
  std::size_t at_ = 0;
  bool ok_ = true;
};

}  // namespace sampan::hccl
