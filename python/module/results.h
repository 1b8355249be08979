// From what the C functions answer to Python's objects.
#pragma once

#include "python_api.h"

#include <cstdint>
#include <string>
#include <type_traits>

#include <acl/acl.h>

namespace sampan::python {

/// Text of a key or a version that a C function wrote.
struct Text {
  std::string value;
};

/// A string of the library's, which may be NULL: then None.
struct OptionalText {
  const char* value = nullptr;
};

// Each returns a new reference, or NULL with an exception set.
PyObject* ToPython(const Text& value);
PyObject* ToPython(OptionalText value);
PyObject* ToPython(const aclrtUuid& value);
PyObject* ToPython(const aclrtUtilizationInfo& value);
PyObject* ToPython(const aclrtPtrAttributes& value);
PyObject* ToPython(const aclrtStreamAttrValue& value);
PyObject* ToPython(const aclCANNPackageVersion& value);

template <typename T>
requires(std::is_integral_v<T> || std::is_enum_v<T>) PyObject* ToPython(T value) {
  if constexpr (std::is_unsigned_v<T>) {
    return PyLong_FromUnsignedLongLong(value);
  } else {
    return PyLong_FromLongLong(static_cast<long long>(value));
  }
}

inline PyObject* ToPython(const void* value) {
  return PyLong_FromUnsignedLongLong(reinterpret_cast<std::uintptr_t>(value));
}

inline PyObject* ToPython(float value) {
  return PyFloat_FromDouble(static_cast<double>(value));
}

/// The type of the Python object in a stub.
template <typename T>
constexpr const char* StubType() {
  if constexpr (std::is_same_v<T, Text>)
    return "str";
  else if constexpr (std::is_same_v<T, OptionalText>)
    return "str | None";
  else if constexpr (std::is_same_v<T, float>)
    return "float";
  else if constexpr (std::is_class_v<T> || std::is_union_v<T>)
    return "dict";
  else
    return "int";
}

}  // namespace sampan::python
