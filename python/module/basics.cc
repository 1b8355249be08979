// The table of `acl`: initialisation, versions, data buffers, numbers.
#include "tables.h"

namespace sampan::python {
namespace {

OptionalText SocName() {
  return {aclrtGetSocName()};
}

OptionalText RecentMessage() {
  return {aclGetRecentErrMsg()};
}

aclError VersionOf(const char* package, Text* version) {
  char text[ACL_PKG_VERSION_MAX_SIZE] = {};
  std::string name = package;
  const aclError code = aclsysGetVersionStr(name.data(), text);
  if (code == ACL_SUCCESS) version->value = text;
  return code;
}

void AppLog(aclLogLevel level, const char* message) {
  aclAppLog(level, "python", "python", 0, "%s", message);
}

/// acl.init([config_path]).
PyObject* Init(PyObject*, PyObject* arguments) {
  const Place place{"init", "config_path", 0};
  const Py_ssize_t given = PyTuple_Size(arguments);
  std::string path;
  if (given > 1) {
    RefuseCount(place, 1, given);
    return nullptr;
  }
  if (given == 1 && !ReadText(PyTuple_GetItem(arguments, 0), place, &path)) return nullptr;
  PyThreadState* const state = PyEval_SaveThread();
  const aclError code = aclInit(given == 1 ? path.c_str() : nullptr);
  PyEval_RestoreThread(state);
  return ToPython(code);
}

}  // namespace

Rows BasicRows() {
  return {
      {"init", Init, METH_VARARGS,
       "init(config_path=..., /)\n--\n\ninit(config_path: str = ..., /) -> int\nThe path is optional."},
      Row<"finalize", aclFinalize, "">(),
      Row<"finalize_reference", aclFinalizeReference, "">(),
      Query<"get_version", aclrtGetVersion, "">(),
      Query<"get_soc_name", SocName, "">(),
      Query<"get_recent_err_msg", RecentMessage, "">(),
      Query<"get_cann_version", aclsysGetCANNVersion, "pkg">(),
      Query<"get_version_str", VersionOf, "pkg_name">(),
      Query<"create_data_buffer", aclCreateDataBuffer, "ptr size">(),
      Query<"destroy_data_buffer", aclDestroyDataBuffer, "buf">(),
      Query<"update_data_buffer", aclUpdateDataBuffer, "buf ptr size">(),
      Query<"get_data_buffer_addr", aclGetDataBufferAddr, "buf">(),
      Query<"get_data_buffer_size", aclGetDataBufferSize, "buf">(),
      Query<"get_data_buffer_size_v2", aclGetDataBufferSizeV2, "buf">(),
      Query<"data_type_size", aclDataTypeSize, "dtype">(),
      Query<"float16_to_float", aclFloat16ToFloat, "h">(),
      Query<"float_to_float16", aclFloatToFloat16, "f">(),
      Query<"app_log", AppLog, "level msg">(),
  };
}

}  // namespace sampan::python
