// Half-precision numbers, sizes of data types, and data buffers.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <memory>

#include "acl/acl_base.h"
#include "acl/guard.h"

/// An address and a size. Does not own the memory.
struct aclDataBuffer {
  void* data;
  size_t size;
};

using namespace sampan;
using namespace sampan::acl;

float aclFloat16ToFloat(aclFloat16 value) {
  const int exponent = (value >> 10) & 0x1F;
  const int fraction = value & 0x3FF;
  // Exponent 31 has no special meaning here: infinities become 65536, NaNs larger numbers.
  const float magnitude = exponent == 0 ? std::ldexp(static_cast<float>(fraction), -24)
                                        : std::ldexp(static_cast<float>(fraction | 0x400), exponent - 25);
  return (value & 0x8000) != 0 ? -magnitude : magnitude;
}

aclFloat16 aclFloatToFloat16(float value) {
  constexpr std::uint32_t kLargest = 0x7BFF;
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (bits >> 16) & 0x8000;
  if (std::isnan(value)) return kLargest;
  const float magnitude = std::fabs(value);
  if (magnitude >= 65504.0F) return static_cast<aclFloat16>(sign | kLargest);
  // Counts in units of the half's last place. nearbyint rounds to nearest, ties to even.
  const int exponent = std::max(magnitude == 0.0F ? -14 : std::ilogb(magnitude), -14);
  auto units = static_cast<std::uint32_t>(std::nearbyint(std::ldexp(magnitude, 10 - exponent)));
  // A carry out of the fraction increments the exponent. Subnormals have exponent field 0.
  const std::uint32_t half = (static_cast<std::uint32_t>(exponent + 14) << 10) + units;
  return static_cast<aclFloat16>(sign | std::min(half, kLargest));
}

size_t aclDataTypeSize(aclDataType dataType) {
  switch (dataType) {
    case ACL_DT_UNDEFINED:
    case ACL_STRING:
      return 0;
    case ACL_UINT1:
    case ACL_INT4:
    case ACL_INT8:
    case ACL_UINT8:
    case ACL_BOOL:
      return 1;
    case ACL_FLOAT16:
    case ACL_BF16:
    case ACL_INT16:
    case ACL_UINT16:
      return 2;
    case ACL_FLOAT:
    case ACL_INT32:
    case ACL_UINT32:
    case ACL_COMPLEX32:
      return 4;
    case ACL_COMPLEX128:
      return 16;
    default:
      return 8;
  }
}

aclDataBuffer* aclCreateDataBuffer(void* data, size_t size) {
  std::unique_ptr<aclDataBuffer> buffer;
  static_cast<void>(Guard("aclCreateDataBuffer", [&]() -> Status {
    buffer = std::unique_ptr<aclDataBuffer>(new aclDataBuffer{data, size});
    return {};
  }));
  return buffer.release();
}

aclError aclDestroyDataBuffer(const aclDataBuffer* dataBuffer) {
  return Guard("aclDestroyDataBuffer", [&]() -> Status {
    if (Status present = RequireNonNull("dataBuffer", dataBuffer); !present.ok()) return present;
    delete dataBuffer;
    return {};
  });
}

aclError aclUpdateDataBuffer(aclDataBuffer* dataBuffer, void* data, size_t size) {
  return Guard("aclUpdateDataBuffer", [&]() -> Status {
    if (Status present = RequireNonNull("dataBuffer", dataBuffer); !present.ok()) return present;
    *dataBuffer = {data, size};
    return {};
  });
}

void* aclGetDataBufferAddr(const aclDataBuffer* dataBuffer) {
  return dataBuffer != nullptr ? dataBuffer->data : nullptr;
}

uint32_t aclGetDataBufferSize(const aclDataBuffer* dataBuffer) {
  return dataBuffer != nullptr ? static_cast<uint32_t>(dataBuffer->size) : 0;
}

size_t aclGetDataBufferSizeV2(const aclDataBuffer* dataBuffer) {
  return dataBuffer != nullptr ? dataBuffer->size : 0;
}
