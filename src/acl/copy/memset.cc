// aclrtMemset and aclrtMemsetD32 with their asynchronous forms.
#include "acl/acl_rt.h"
#include "acl/caller.h"
#include "acl/guard.h"
#include "core/copy/copy_plan.h"

namespace sampan::acl {
namespace {

enum class Wait { kYes, kNo };

/// Uses only the low byte.
std::uint32_t BytePattern(std::int32_t value) {
  return (static_cast<std::uint32_t>(value) & 0xFF) * 0x01010101U;
}

Status Fill(const core::FillRequest& request, Wait wait, aclrtStream stream_handle) {
  auto caller = ThisCaller();
  if (!caller.ok()) return caller.TakeStatus();
  auto stream = FindStream(*caller, stream_handle);
  if (!stream.ok()) return stream.TakeStatus();
  if (request.bytes > request.dst_max) {
    return {Code::kParamInvalid, Text("count ", request.bytes, " is more than maxCount ", request.dst_max,
                                      " of ", request.name, " ", Hex(request.dst))};
  }
  if (Status with_context = RequireContext(*caller); !with_context.ok()) return with_context;
  if (wait == Wait::kYes) {
    if (Status working = caller->device().CheckNotAborting(); !working.ok()) return working;
  }
  core::Plan plan;
  if (Status planned = PlanFill(request, caller->runtime.PlanContextOf(*caller->context), plan);
      !planned.ok())
    return planned;
  if (wait == Wait::kYes) return RunPlan(caller->device(), std::move(plan));
  return SubmitPlan({caller->context, *stream}, std::move(plan));
}

Status FillBytes(void* address, size_t max_bytes, int32_t value, size_t count, Wait wait,
                 aclrtStream stream) {
  if (count == 0) return {};
  if (Status present = RequireNonNull("devPtr", address); !present.ok()) return present;
  return Fill({"devPtr", address, max_bytes, BytePattern(value), count}, wait, stream);
}

Status FillWords(void* address, size_t bytes, uint32_t value, size_t words, Wait wait, aclrtStream stream) {
  constexpr std::size_t kWord = sizeof(value);
  if (words == 0) return {};
  if (Status present = RequireNonNull("ptr", address); !present.ok()) return present;
  if (reinterpret_cast<std::uintptr_t>(address) % kWord != 0) {
    return InvalidArgument(Text("ptr ", Hex(address), " must be aligned to ", kWord, " bytes"));
  }
  if (words > bytes / kWord)
    return InvalidArgument(
        Text("N ", words, " words are more than memSize ", bytes, " of ptr ", Hex(address)));
  auto caller = ThisCaller();
  if (!caller.ok()) return caller.TakeStatus();
  if (!caller->runtime.memory().Find(reinterpret_cast<std::uintptr_t>(address))) {
    return InvalidArgument(Text("ptr ", Hex(address), " is neither device nor pinned host memory"));
  }
  return Fill({"ptr", address, bytes, value, words * kWord}, wait, stream);
}

}  // namespace
}  // namespace sampan::acl

using namespace sampan::acl;

aclError aclrtMemset(void* devPtr, size_t maxCount, int32_t value, size_t count) {
  return Guard("aclrtMemset", [&] { return FillBytes(devPtr, maxCount, value, count, Wait::kYes, nullptr); });
}

aclError aclrtMemsetAsync(void* devPtr, size_t maxCount, int32_t value, size_t count, aclrtStream stream) {
  return Guard("aclrtMemsetAsync",
               [&] { return FillBytes(devPtr, maxCount, value, count, Wait::kNo, stream); });
}

aclError aclrtMemsetD32(void* ptr, size_t memSize, uint32_t value, size_t N) {
  return Guard("aclrtMemsetD32", [&] { return FillWords(ptr, memSize, value, N, Wait::kYes, nullptr); });
}

aclError aclrtMemsetD32Async(void* ptr, size_t memSize, uint32_t value, size_t N, aclrtStream stream) {
  return Guard("aclrtMemsetD32Async", [&] { return FillWords(ptr, memSize, value, N, Wait::kNo, stream); });
}
