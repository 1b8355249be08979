// The table of `acl.rt`: devices, contexts, options.
#include "tables.h"

namespace sampan::python {
namespace {

/// pyACL gives `active`, then flags, which the C function does not tell: it takes NULL only.
aclError PrimaryContextState(int32_t device, int32_t* active, uint32_t*) {
  return aclrtGetPrimaryCtxState(device, nullptr, active);
}

}  // namespace

Rows DeviceRows() {
  return {
      Row<"set_device", aclrtSetDevice, "device">(),
      Row<"reset_device", aclrtResetDevice, "device">(),
      Row<"reset_device_force", aclrtResetDeviceForce, "device">(),
      Query<"get_device", aclrtGetDevice, "">(),
      Query<"get_device_count", aclrtGetDeviceCount, "">(),
      Query<"get_run_mode", aclrtGetRunMode, "">(),
      Query<"get_device_info", aclrtGetDeviceInfo, "device attr">(),
      Query<"get_device_utilization_rate", aclrtGetDeviceUtilizationRate, "device">(),
      Query<"query_device_status", aclrtQueryDeviceStatus, "device">(),
      Query<"device_can_access_peer", aclrtDeviceCanAccessPeer, "device peer">(),
      Row<"device_enable_peer_access", aclrtDeviceEnablePeerAccess, "peer flags">(),
      Row<"device_disable_peer_access", aclrtDeviceDisablePeerAccess, "peer">(),
      Query<"device_peer_access_status", aclrtDevicePeerAccessStatus, "device peer">(),
      Query<"device_get_bare_tgid", aclrtDeviceGetBareTgid, "">(),
      Query<"device_get_uuid", aclrtDeviceGetUuid, "device">(),
      Query<"device_get_stream_priority_range", aclrtDeviceGetStreamPriorityRange, "">(),
      Query<"get_logic_dev_id_by_user_dev_id", aclrtGetLogicDevIdByUserDevId, "device">(),
      Query<"get_user_dev_id_by_logic_dev_id", aclrtGetUserDevIdByLogicDevId, "device">(),
      Query<"get_logic_dev_id_by_phy_dev_id", aclrtGetLogicDevIdByPhyDevId, "device">(),
      Query<"get_phy_dev_id_by_logic_dev_id", aclrtGetPhyDevIdByLogicDevId, "device">(),
      Query<"get_devices_topo", aclrtGetDevicesTopo, "device other">(),
      Row<"device_task_abort", aclrtDeviceTaskAbort, "device timeout">(),
      Row<"synchronize_device", aclrtSynchronizeDevice, "">(),
      Row<"synchronize_device_with_timeout", aclrtSynchronizeDeviceWithTimeout, "timeout">(),
      Row<"create_context", aclrtCreateContext, "device">(),
      Row<"destroy_context", aclrtDestroyContext, "ctx">(),
      Row<"set_context", aclrtSetCurrentContext, "ctx">(),
      Query<"get_context", aclrtGetCurrentContext, "">(),
      Query<"ctx_get_current_default_stream", aclrtCtxGetCurrentDefaultStream, "">(),
      Query<"get_primary_ctx_state", PrimaryContextState, "device">(),
      Query<"set_sys_param_opt", aclrtSetSysParamOpt, "opt value">(),
      Query<"get_sys_param_opt", aclrtGetSysParamOpt, "opt">(),
      Query<"ctx_set_sys_param_opt", aclrtCtxSetSysParamOpt, "opt value">(),
      Query<"ctx_get_sys_param_opt", aclrtCtxGetSysParamOpt, "opt">(),
      Query<"peek_at_last_error", aclrtPeekAtLastError, "level">(),
      Query<"get_last_error", aclrtGetLastError, "level">(),
  };
}

}  // namespace sampan::python
