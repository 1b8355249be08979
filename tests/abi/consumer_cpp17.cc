// A strict C++17 program that holds the public headers to the layouts, values and types of the interface.
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "all_headers.h"

#define TYPE(type, size, alignment)                        \
  static_assert(sizeof(type) == (size), "size of " #type); \
  static_assert(alignof(type) == (alignment), "alignment of " #type);
#define FIELD(type, member, offset, size)                                        \
  static_assert(offsetof(type, member) == (offset), "offset of " #type #member); \
  static_assert(sizeof(static_cast<type*>(nullptr)->member) == (size), "size of " #type #member);
#include "layout_facts.inc"

#define CODE(name, value) static_assert((name) == (value), #name);
#define VALUE(name, value) static_assert((name) == (value), #name);
#include "code_facts.inc"
#include "constant_facts.inc"

extern "C" {
#include "prototype_facts.inc"
}

namespace {

template <typename... Handles>
constexpr bool kAllPointers = (std::is_same_v<Handles, void*> && ...);

static_assert(kAllPointers<aclrtStream, aclrtEvent, aclrtContext, aclrtNotify, aclrtCntNotify, aclrtLabel,
                           aclrtLabelList, aclrtMbuf, aclrtAllocatorDesc, aclrtAllocator, aclrtAllocatorBlock,
                           aclrtAllocatorAddr, aclrtTaskGrp, aclmdlRITask, aclmdlRI, aclmdlRICondHandle,
                           aclrtDrvMemHandle, aclrtMemPool, aclrtBinary, aclrtBinHandle, aclrtFuncHandle,
                           aclrtArgsHandle, aclrtParamHandle>);
static_assert(std::is_same_v<aclError, int> && std::is_same_v<aclFloat16, std::uint16_t>);
static_assert(std::is_same_v<aclrtExceptionInfo, struct rtExceptionInfo>);
static_assert(std::is_same_v<aclrtGroupInfo, struct tagRtGroupInfo>);

static_assert(std::is_same_v<decltype(ACL_SUCCESS), const int>);
static_assert(std::is_same_v<decltype(ACL_ERROR_INVALID_PARAM), const int>);
static_assert(std::is_same_v<decltype(ACL_ERROR_GE_PARAM_INVALID), const std::uint32_t>);
static_assert(std::is_same_v<decltype(ACL_ERROR_RT_PARAM_INVALID), int>);

static_assert(std::is_same_v<aclrtCallback, void (*)(void*)>);
static_assert(std::is_same_v<aclrtHostFunc, void (*)(void*)>);
static_assert(std::is_same_v<aclrtExceptionInfoCallback, void (*)(aclrtExceptionInfo*)>);
static_assert(std::is_same_v<aclrtOpExceptionCallback, void (*)(aclrtExceptionInfo*, void*)>);
static_assert(std::is_same_v<aclrtDeviceStateCallback, void (*)(std::int32_t, aclrtDeviceState, void*)>);
static_assert(std::is_same_v<aclrtStreamStateCallback, void (*)(aclrtStream, aclrtStreamState, void*)>);
static_assert(
    std::is_same_v<aclrtDeviceTaskAbortCallback,
                   std::int32_t (*)(std::int32_t, aclrtDeviceTaskAbortStage, std::uint32_t, void*)>);
static_assert(std::is_same_v<aclrtSnapShotCallBack, std::uint32_t (*)(std::int32_t, void*)>);
static_assert(std::is_same_v<aclInitCallbackFunc, aclError (*)(const char*, std::size_t, void*)>);
static_assert(std::is_same_v<aclFinalizeCallbackFunc, aclError (*)(void*)>);

constexpr dim3 kBlock(4);
static_assert(kBlock.x == 4 && kBlock.y == 1 && kBlock.z == 1);

}  // namespace

int main() {
  ACL_APP_LOG(ACL_INFO, "one argument");
  ACL_APP_LOG(ACL_INFO, "%s and %d", "more", 2);
  return 0;
}
