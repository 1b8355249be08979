// Checks at compile time that the inner codes are those of the public headers.
#include "acl/acl_rt.h"
#include "base/error/code.h"

namespace sampan {
namespace {

constexpr bool Same(Code inside, int outside) {
  return static_cast<int>(inside) == outside;
}

static_assert(Same(Code::kInvalidParam, ACL_ERROR_INVALID_PARAM));
static_assert(Same(Code::kUninitialize, ACL_ERROR_UNINITIALIZE));
static_assert(Same(Code::kInvalidDumpConfig, ACL_ERROR_INVALID_DUMP_CONFIG));
static_assert(Same(Code::kDumpNotRun, ACL_ERROR_DUMP_NOT_RUN));
static_assert(Same(Code::kRepeatInitialize, ACL_ERROR_REPEAT_INITIALIZE));
static_assert(Same(Code::kInvalidFile, ACL_ERROR_INVALID_FILE));
static_assert(Same(Code::kParseFile, ACL_ERROR_PARSE_FILE));
static_assert(Same(Code::kRepeatFinalize, ACL_ERROR_REPEAT_FINALIZE));
static_assert(Same(Code::kBadAlloc, ACL_ERROR_BAD_ALLOC));
static_assert(Same(Code::kFeatureUnsupported, ACL_ERROR_FEATURE_UNSUPPORTED));
static_assert(Same(Code::kInternalAcl, ACL_ERROR_INTERNAL_ERROR));
static_assert(Same(Code::kParamInvalid, ACL_ERROR_RT_PARAM_INVALID));
static_assert(Same(Code::kInvalidDevice, ACL_ERROR_RT_INVALID_DEVICEID));
static_assert(Same(Code::kContextNull, ACL_ERROR_RT_CONTEXT_NULL));
static_assert(Same(Code::kStreamContext, ACL_ERROR_RT_STREAM_CONTEXT));
static_assert(Same(Code::kEventTimestampInvalid, ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID));
static_assert(Same(Code::kStreamSubscribe, ACL_ERROR_RT_STREAM_SUBSCRIBE));
static_assert(Same(Code::kThreadSubscribe, ACL_ERROR_RT_THREAD_SUBSCRIBE));
static_assert(Same(Code::kStreamNoCallbackRegistered, ACL_ERROR_RT_STREAM_NO_CB_REG));
static_assert(Same(Code::kInvalidMemoryType, ACL_ERROR_RT_INVALID_MEMORY_TYPE));
static_assert(Same(Code::kInvalidHandle, ACL_ERROR_RT_INVALID_HANDLE));
static_assert(Same(Code::kTaskTimeout, ACL_ERROR_RT_TASK_TIMEOUT));
static_assert(Same(Code::kStreamAbort, ACL_ERROR_RT_STREAM_ABORT));
static_assert(Same(Code::kStreamNotCaptured, ACL_ERROR_RT_STREAM_NOT_CAPTURED));
static_assert(Same(Code::kFeatureNotSupport, ACL_ERROR_RT_FEATURE_NOT_SUPPORT));
static_assert(Same(Code::kMemoryAllocation, ACL_ERROR_RT_MEMORY_ALLOCATION));
static_assert(Same(Code::kNoDevice, ACL_ERROR_RT_NO_DEVICE));
static_assert(Same(Code::kResourceAllocFail, ACL_ERROR_RT_RESOURCE_ALLOC_FAIL));
static_assert(Same(Code::kNoPermission, ACL_ERROR_RT_NO_PERMISSION));
static_assert(Same(Code::kNoNotifyResource, ACL_ERROR_RT_NO_NOTIFY_RESOURCE));
static_assert(Same(Code::kNoEventResource, ACL_ERROR_RT_NO_EVENT_RESOURCE));
static_assert(Same(Code::kNoStreamResource, ACL_ERROR_RT_NO_STREAM_RESOURCE));
static_assert(Same(Code::kInternalError, ACL_ERROR_RT_INTERNAL_ERROR));
static_assert(Same(Code::kContextReleaseError, ACL_ERROR_RT_CONTEXT_RELEASE_ERROR));
static_assert(Same(Code::kLostHeartbeat, ACL_ERROR_RT_LOST_HEARTBEAT));
static_assert(Same(Code::kDeviceMemoryError, ACL_ERROR_RT_DEVICE_MEM_ERROR));
static_assert(Same(Code::kHbmMultiBitEcc, ACL_ERROR_RT_HBM_MULTI_BIT_ECC_ERROR));
static_assert(Same(Code::kDriverInternalError, ACL_ERROR_RT_DRV_INTERNAL_ERROR));
static_assert(Same(Code::kReportTimeout, ACL_ERROR_RT_REPORT_TIMEOUT));
static_assert(Same(Code::kSdmaCopyError, ACL_ERROR_RT_SYS_DMA));
static_assert(Same(Code::kDeviceSetupError, ACL_ERROR_RT_DEV_SETUP_ERROR));
static_assert(Same(Code::kStreamSyncTimeout, ACL_ERROR_RT_STREAM_SYNC_TIMEOUT));
static_assert(Same(Code::kEventSyncTimeout, ACL_ERROR_RT_EVENT_SYNC_TIMEOUT));
static_assert(Same(Code::kHostMemoryAlreadyRegistered, ACL_ERROR_HOST_MEMORY_ALREADY_REGISTERED));
static_assert(Same(Code::kHostMemoryNotRegistered, ACL_ERROR_HOST_MEMORY_NOT_REGISTERED));

}  // namespace
}  // namespace sampan
