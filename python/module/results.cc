// From what the C functions answer to Python's objects.
#include "results.h"

#include <algorithm>
#include <cstring>

namespace sampan::python {
namespace {

PyObject* FromBytes(const char* text, std::size_t length) {
  return PyUnicode_DecodeUTF8(text, static_cast<Py_ssize_t>(length), "replace");
}

template <std::size_t size>
PyObject* FromArray(const char (&text)[size]) {
  return FromBytes(text, ::strnlen(text, size));
}

template <typename T, std::size_t count>
PyObject* ListOf(const T (&numbers)[count]) {
  Object list(PyList_New(0));
  for (const T number : numbers) {
    const Object item(PyLong_FromLong(static_cast<long>(number)));
    if (!list || !item || PyList_Append(list.get(), item.get()) != 0) return nullptr;
  }
  return list.Release();
}

}  // namespace

PyObject* ToPython(const Text& value) {
  return FromBytes(value.value.data(), value.value.size());
}

PyObject* ToPython(OptionalText value) {
  if (value.value == nullptr) return Py_BuildValue("");
  return FromBytes(value.value, std::strlen(value.value));
}

PyObject* ToPython(const aclrtUuid& value) {
  unsigned char bytes[sizeof value.bytes];
  std::memcpy(bytes, value.bytes, sizeof bytes);
  return Py_BuildValue("{s:N}", "bytes", ListOf(bytes));
}

PyObject* ToPython(const aclrtUtilizationInfo& value) {
  return Py_BuildValue("{s:i,s:i,s:i,s:i,s:N}", "cube_utilization", value.cubeUtilization,
                       "vector_utilization", value.vectorUtilization, "aicpu_utilization",
                       value.aicpuUtilization, "memory_utilization", value.memoryUtilization,
                       "utilization_extend", PyLong_FromVoidPtr(value.utilizationExtend));
}

PyObject* ToPython(const aclrtPtrAttributes& value) {
  return Py_BuildValue("{s:{s:I,s:i},s:I,s:N}", "location", "id", value.location.id, "type",
                       static_cast<int>(value.location.type), "page_size", value.pageSize, "rsv",
                       ListOf(value.rsv));
}

PyObject* ToPython(const aclrtStreamAttrValue& value) {
  return Py_BuildValue("{s:K,s:I,s:I,s:N}", "failureMode", static_cast<unsigned long long>(value.failureMode),
                       "overflowSwitch", value.overflowSwitch, "userCustomTag", value.userCustomTag,
                       "reserved", ListOf(value.reserve));
}

PyObject* ToPython(const aclCANNPackageVersion& value) {
  return Py_BuildValue("{s:N,s:N,s:N,s:N,s:N,s:N}", "version", FromArray(value.version), "major_version",
                       FromArray(value.majorVersion), "minor_version", FromArray(value.minorVersion),
                       "release_version", FromArray(value.releaseVersion), "patch_version",
                       FromArray(value.patchVersion), "reserved", FromArray(value.reserved));
}

}  // namespace sampan::python
