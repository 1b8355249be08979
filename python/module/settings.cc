// The tables of `acl` and `acl.rt` for what is remembered, or answered by the profile: figures of the chip,
// limits, modes.
#include "tables.h"

namespace sampan::python {
namespace {

/// The attributes that the profile has.
aclError CannAttributes(std::vector<int>* attributes) {
  const aclCannAttr* first = nullptr;
  std::size_t count = 0;
  const aclError code = aclGetCannAttributeList(&first, &count);
  for (std::size_t i = 0; code == ACL_SUCCESS && i < count; ++i)
    attributes->push_back(static_cast<int>(first[i]));
  return code;
}

/// acl.get_cann_attribute_list() -> (list, num, ret).
PyObject* CannAttributeList(PyObject*, PyObject* arguments) {
  const Place place{"get_cann_attribute_list", "", 0};
  if (PyTuple_Size(arguments) != 0) {
    RefuseCount(place, 0, PyTuple_Size(arguments));
    return nullptr;
  }
  std::vector<int> attributes;
  const aclError code = CannAttributes(&attributes);
  Object list(PyList_New(0));
  for (const int attribute : attributes) {
    const Object item(ToPython(attribute));
    if (!list || !item || PyList_Append(list.get(), item.get()) != 0) return nullptr;
  }
  return list ? Py_BuildValue("(Nni)", list.Release(), static_cast<Py_ssize_t>(attributes.size()), code)
              : nullptr;
}

}  // namespace

Rows FigureRows() {
  return {
      Query<"get_cann_attribute", aclGetCannAttribute, "attr">(),
      {"get_cann_attribute_list", CannAttributeList, METH_VARARGS,
       "get_cann_attribute_list()\n--\n\nget_cann_attribute_list() -> tuple[list[int], int, int]\n"},
      Query<"get_device_capability", aclGetDeviceCapability, "device info">(),
  };
}

Rows SettingRows() {
  return {
      Row<"cmo_async", aclrtCmoAsync, "ptr size type stream">(),
      Query<"set_op_wait_timeout", aclrtSetOpWaitTimeout, "timeout">(),
      Query<"set_op_execute_time_out", aclrtSetOpExecuteTimeOut, "timeout">(),
      Query<"set_op_execute_timeout_v2", aclrtSetOpExecuteTimeOutV2, "timeout">(),
      Query<"get_op_timeout_interval", aclrtGetOpTimeOutInterval, "">(),
      Query<"get_op_execute_timeout", aclrtGetOpExecuteTimeout, "">(),
      Query<"set_device_sat_mode", aclrtSetDeviceSatMode, "mode">(),
      Query<"get_device_sat_mode", aclrtGetDeviceSatMode, "">(),
      Row<"set_stream_overflow_switch", aclrtSetStreamOverflowSwitch, "stream flag">(),
      Query<"get_stream_overflow_switch", aclrtGetStreamOverflowSwitch, "stream">(),
      Query<"get_device_res_limit", aclrtGetDeviceResLimit, "device type">(),
      Query<"set_device_res_limit", aclrtSetDeviceResLimit, "device type value">(),
      Query<"reset_device_res_limit", aclrtResetDeviceResLimit, "device">(),
      Query<"get_stream_res_limit", aclrtGetStreamResLimit, "stream type">(),
      Query<"set_stream_res_limit", aclrtSetStreamResLimit, "stream type value">(),
      Query<"reset_stream_res_limit", aclrtResetStreamResLimit, "stream">(),
      Query<"use_stream_res_in_current_thread", aclrtUseStreamResInCurrentThread, "stream">(),
      Query<"unuse_stream_res_in_current_thread", aclrtUnuseStreamResInCurrentThread, "stream">(),
      Query<"get_res_in_current_thread", aclrtGetResInCurrentThread, "type">(),
  };
}

}  // namespace sampan::python
