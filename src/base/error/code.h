// The result codes of the public API for the inner layers. src/acl checks that the values agree.
#pragma once

namespace sampan {

enum class Code : int {
  kOk = 0,

  // Codes of the argument checks in the outermost layer. They do not become a thread's last error.
  kInvalidParam = 100000,
  kUninitialize = 100001,
  kRepeatInitialize = 100002,
  kInvalidFile = 100003,
  kParseFile = 100006,
  kInvalidDumpConfig = 100009,
  kRepeatFinalize = 100037,
  kDumpNotRun = 100045,
  kBadAlloc = 200000,
  kFeatureUnsupported = 200006,
  kInternalAcl = 500000,

  // Codes of the runtime.
  kParamInvalid = 107000,
  kInvalidDevice = 107001,
  kContextNull = 107002,
  kStreamContext = 107003,
  kEventTimestampInvalid = 107006,
  kStreamSubscribe = 107011,
  kThreadSubscribe = 107012,
  kStreamNoCallbackRegistered = 107015,
  kInvalidMemoryType = 107016,
  kInvalidHandle = 107017,
  kTaskTimeout = 107020,
  kDeviceTaskAbort = 107022,
  kStreamAbort = 107023,
  kStreamNotCaptured = 107029,
  kFeatureNotSupport = 207000,
  kMemoryAllocation = 207001,
  kNoDevice = 207004,
  kResourceAllocFail = 207005,
  kNoPermission = 207006,
  kNoEventResource = 207007,
  kNoStreamResource = 207008,
  kNoNotifyResource = 207009,
  kInternalError = 507000,
  kContextReleaseError = 507007,
  kLostHeartbeat = 507010,
  kReportTimeout = 507012,
  kSdmaCopyError = 507013,
  kDeviceSetupError = 507033,
  kStreamSyncTimeout = 507046,
  kEventSyncTimeout = 507047,
  kDeviceMemoryError = 507053,
  kHbmMultiBitEcc = 507054,
  kDriverInternalError = 507899,
  kHostMemoryAlreadyRegistered = 507910,
  kHostMemoryNotRegistered = 507911,
};

/// True for the codes of the outermost layer's argument checks.
constexpr bool IsArgumentCheckCode(Code code) {
  const int value = static_cast<int>(code);
  return (value >= 100000 && value < 107000) || (value >= 200000 && value < 207000) ||
         (value >= 500000 && value < 507000);
}

}  // namespace sampan
