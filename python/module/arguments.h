// From Python's arguments to those of the C functions.
#pragma once

#include "python_api.h"

#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include <acl/acl.h>

namespace sampan::python {

/// Which argument is read, for messages: "memcpy args parse failed: argument 2 (dest_max) must be int, not
/// str".
struct Place {
  const char* function;
  const char* parameters;  ///< the names, separated by spaces
  int index;
};

// Each sets an exception and returns false if the argument is of the wrong kind: TypeError for a type,
// ValueError for an int that does not fit, KeyError for a dict that lacks a key.
/// As pyACL's format "K" does: an int and nothing else, which wraps.
bool ReadUnsigned(PyObject* object, const Place& place, std::uint64_t* value);
/// As pyACL's formats "i" and "I" do: also what says that it is an int (__index__), such as a number of
/// numpy.
bool ReadSigned(PyObject* object, const Place& place, std::int64_t lowest, std::int64_t highest,
                std::int64_t* value);
bool ReadDouble(PyObject* object, const Place& place, double* value);
bool ReadText(PyObject* object, const Place& place, std::string* value);
bool ReadList(PyObject* object, const Place& place, std::vector<std::int32_t>* value);
bool ReadList(PyObject* object, const Place& place, std::vector<std::size_t>* value);
bool ReadList(PyObject* object, const Place& place, std::vector<void*>* value);
bool ReadList(PyObject* object, const Place& place, std::vector<aclrtMemcpyBatchAttr>* value);
bool ReadDict(PyObject* object, const Place& place, aclrtPhysicalMemProp* value);
bool ReadDict(PyObject* object, const Place& place, std::vector<aclrtMallocAttribute>* value);

/// The fields of a stream attribute; which of them counts depends on the attribute.
struct StreamAttribute {
  aclrtStreamAttrValue value = {};
  std::uint64_t failure_mode = 0, overflow_switch = 0, custom_tag = 0;
};
bool ReadDict(PyObject* object, const Place& place, StreamAttribute* value);

/// Sets TypeError: the function takes another number of arguments.
void RefuseCount(const Place& place, Py_ssize_t expected, Py_ssize_t given);
void RefuseType(const Place& place, const char* expected, PyObject* object);

/// How a parameter of type P is read: where it is stored, its type in a stub, and what the C function gets.
template <typename P>
struct Input;

template <typename P>
requires(std::is_enum_v<P> || std::is_integral_v<P>) struct Input<P> {
  using Storage = P;
  static constexpr const char* kType = "int";
  static bool Read(PyObject* object, const Place& place, P* value) {
    if constexpr (std::is_same_v<P, std::uint64_t> || std::is_same_v<P, std::size_t>) {
      return ReadUnsigned(object, place, value);
    } else {
      // As C's conversion does, an unsigned parameter also takes the negative number with the same bits.
      const std::int64_t lowest = sizeof(P) == 8 ? INT64_MIN : sizeof(P) == 4 ? INT32_MIN : 0;
      const std::int64_t highest = sizeof(P) == 8                             ? INT64_MAX
                                   : sizeof(P) == 2                           ? UINT16_MAX
                                   : std::is_enum_v<P> || std::is_signed_v<P> ? INT32_MAX
                                                                              : std::int64_t{UINT32_MAX};
      std::int64_t wide = 0;
      if (!ReadSigned(object, place, lowest, highest, &wide)) return false;
      *value = static_cast<P>(wide);
      return true;
    }
  }
  static P Pass(Storage& value) { return value; }
};

/// Addresses and handles: any int.
template <typename T>
struct Input<T*> {
  using Storage = T*;
  static constexpr const char* kType = "int";
  static bool Read(PyObject* object, const Place& place, T** value) {
    std::uint64_t address = 0;
    if (!ReadUnsigned(object, place, &address)) return false;
    *value = reinterpret_cast<T*>(address);
    return true;
  }
  static T* Pass(Storage& value) { return value; }
};

template <>
struct Input<float> {
  using Storage = float;
  static constexpr const char* kType = "float";
  static bool Read(PyObject* object, const Place& place, float* value) {
    double wide = 0;
    if (!ReadDouble(object, place, &wide)) return false;
    *value = static_cast<float>(wide);
    return true;
  }
  static float Pass(Storage& value) { return value; }
};

template <>
struct Input<const char*> {
  using Storage = std::string;
  static constexpr const char* kType = "str";
  static bool Read(PyObject* object, const Place& place, std::string* value) {
    return ReadText(object, place, value);
  }
  static const char* Pass(Storage& value) { return value.c_str(); }
};

template <typename T>
struct Input<std::vector<T>&> {
  using Storage = std::vector<T>;
  static constexpr const char* kType = std::is_same_v<T, aclrtMallocAttribute>   ? "dict"
                                       : std::is_same_v<T, aclrtMemcpyBatchAttr> ? "list[dict]"
                                                                                 : "list[int]";
  static bool Read(PyObject* object, const Place& place, Storage* value) {
    if constexpr (std::is_same_v<T, aclrtMallocAttribute>) {
      return ReadDict(object, place, value);
    } else {
      return ReadList(object, place, value);
    }
  }
  static Storage& Pass(Storage& value) { return value; }
};

template <typename T>
requires(std::is_same_v<T, aclrtPhysicalMemProp> || std::is_same_v<T, StreamAttribute>) struct Input<T&> {
  using Storage = T;
  static constexpr const char* kType = "dict";
  static bool Read(PyObject* object, const Place& place, T* value) { return ReadDict(object, place, value); }
  static T& Pass(Storage& value) { return value; }
};

}  // namespace sampan::python
