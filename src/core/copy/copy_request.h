// The arguments of the public copy calls, one struct for each family.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "backend/api/place.h"
#include "backend/api/task.h"

namespace sampan::core {

/// Has the values of the public header.
enum class CopyKind : int {
  kHostToHost = 0,
  kHostToDevice = 1,
  kDeviceToHost = 2,
  kDeviceToDevice = 3,
  kDefault = 4,
  kHostToBufferToDevice = 5,
  kInnerDeviceToDevice = 6,
  kInterDeviceToDevice = 7,
  kContradiction = -1,  ///< a result: the kind contradicts the addresses. No program passes it
};

struct LinearRequest {
  void* dst;
  std::size_t dst_max;
  const void* src;
  std::size_t bytes;
  CopyKind kind;
};

struct RowsRequest {
  void* dst;
  std::size_t dst_pitch;
  const void* src;
  std::size_t src_pitch;
  std::size_t width, height;
  CopyKind kind;
};

/// Where a batch attribute says that memory lies: the number of a device, or one of those below. In one word,
/// because every entry is checked against it.
struct ClaimedPlace {
  static constexpr std::int64_t kHost = -1, kNowhere = -2;  ///< nowhere: a type that matches no memory
  std::int64_t where = kHost;

  bool on_device() const { return where >= 0; }
  bool operator==(const ClaimedPlace&) const = default;
};

/// Applies to the entries from first_entry up to the next attribute's.
struct BatchAttribute {
  ClaimedPlace dst, src;
  std::size_t first_entry;
};

struct BatchRequest {
  std::span<void* const> dsts;
  std::span<void* const> srcs;
  std::span<const std::size_t> sizes;
  std::span<const BatchAttribute> attributes;
  bool zero_sizes_allowed;  ///< blocking: entries of size zero are skipped; asynchronous: refused
};

struct SetDescriptorRequest {
  void* descriptor;
  const void* src;
  void* dst;
  std::size_t bytes;
};

struct DescriptorRequest {
  void* descriptor;
};

struct OffsetRequest {
  void** dst;
  std::size_t dst_max, dst_offset;
  const void** src;
  std::size_t bytes, src_offset;
  CopyKind kind;
};

/// Fills with a repeated four-byte pattern.
struct FillRequest {
  std::string_view name;  ///< of the argument that points to the memory
  void* dst;
  std::size_t dst_max;
  std::uint32_t pattern;
  std::size_t bytes;
};

/// Combines whole elements of the source into the destination.
struct ReduceRequest {
  void* dst;
  const void* src;
  std::size_t bytes;
  ReduceOperation operation;
  ReduceElement element;
};

}  // namespace sampan::core
