// How the bytes of operators travel where the host does not reach device memory: the rank's device moves
// them.
#include "collectives/operators/device_moves.h"

#include <algorithm>

#include "base/error/text.h"
#include "base/platform_bridge.h"

namespace sampan::collectives {
namespace {

constexpr u64 kRoomBytes = u64{32} << 20;

/// The threads that execute streams have no context of their own.
std::shared_ptr<void> Entered(aclrtContext context) {
  std::shared_ptr<void> scope;
  sampanEnterContext(context, scope);
  return scope;
}

Status Checked(const char* what, int code) {
  if (code == ACL_SUCCESS) return {};
  const char* const message = aclGetRecentErrMsg();
  return {Code::kInternalError,
          Text(std::string(what), " answered ", code, ": ", std::string(message != nullptr ? message : ""))};
}

Status Copy(void* to, const void* from, u64 bytes) {
  return Checked("a copy on the device", sampanCopyAtOnce(to, bytes, from, bytes));
}

}  // namespace

Status DeviceMoves::Make(std::unique_ptr<DeviceMoves>& made) {
  made.reset(new DeviceMoves);
  Status status = Checked("aclrtGetCurrentContext", aclrtGetCurrentContext(&made->context_));
  const auto here = Entered(made->context_);
  if (status.ok()) status = Checked("aclrtCreateStream", aclrtCreateStream(&made->stream_));
  if (status.ok())
    status = Checked("aclrtMalloc", aclrtMalloc(&made->room_, kRoomBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  if (!status.ok()) made.reset();
  return status;
}

DeviceMoves::~DeviceMoves() {
  const auto here = Entered(context_);
  if (here == nullptr) return;  // both went with the context
  if (room_ != nullptr) aclrtFree(room_);
  if (stream_ != nullptr) aclrtDestroyStream(stream_);
}

Status DeviceMoves::CombinePart(ConstPlaces inputs, u64 offset, u64 count, Combination how) {
  Status status = Copy(room_, inputs[0] + offset, count * ElementBytes(how.element));
  for (const std::byte* const input : inputs.subspan(1)) {
    if (!status.ok()) return status;
    status = Checked("a reduction on the device",
                     sampanReduceVector(room_, input + offset, count, how.operation, how.element, stream_));
  }
  if (!status.ok()) return status;
  return Checked("aclrtSynchronizeStream", aclrtSynchronizeStream(stream_));
}

Status DeviceMoves::Combine(ConstPlaces inputs, Places outputs, u64 count, Combination how) {
  const auto here = Entered(context_);
  const std::lock_guard lock(mutex_);
  const u64 unit = ElementBytes(how.element), part = kRoomBytes / unit;
  for (u64 begin = 0; begin < count; begin += part) {
    const u64 elements = std::min(part, count - begin);
    Status status = CombinePart(inputs, begin * unit, elements, how);
    for (std::byte* const output : outputs) {
      if (status.ok()) status = Copy(output + begin * unit, room_, elements * unit);
    }
    if (!status.ok()) return status;
  }
  return {};
}

Status DeviceMoves::CopyToAll(const std::byte* source, Places places, u64 bytes) {
  const auto here = Entered(context_);
  for (std::byte* const place : places) {
    if (place == source || bytes == 0) continue;
    if (Status copied = Copy(place, source, bytes); !copied.ok()) return copied;
  }
  return {};
}

}  // namespace sampan::collectives
