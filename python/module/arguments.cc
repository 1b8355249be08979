// From Python's arguments to those of the C functions.
#include "arguments.h"

#include <algorithm>
#include <cstring>

namespace sampan::python {
namespace {

/// "argument 2 (dest_max)" behind the words that every message begins with.
std::string Beginning(const Place& place) {
  const char* begin = place.parameters;
  for (int i = 0; i < place.index && begin != nullptr; ++i) {
    begin = std::strchr(begin, ' ');
    if (begin != nullptr) ++begin;
  }
  std::string text =
      std::string(place.function) + " args parse failed: argument " + std::to_string(place.index + 1);
  if (begin != nullptr) text += " (" + std::string(begin, std::strcspn(begin, " ")) + ")";
  return text;
}

std::string TypeName(PyObject* object) {
  const Object name(PyObject_GetAttrString(reinterpret_cast<PyObject*>(Py_TYPE(object)), "__name__"));
  const Object bytes(name ? PyUnicode_AsUTF8String(name.get()) : nullptr);
  PyErr_Clear();
  return bytes ? PyBytes_AsString(bytes.get()) : "an unnamed type";
}

/// An int, or what says that it is one, such as a number of numpy.
Object AsInt(PyObject* object, const Place& place, const char* expected) {
  if (PyLong_Check(object)) return Object::Share(object);
  Object number(PyNumber_Index(object));
  if (!number) {
    PyErr_Clear();
    RefuseType(place, expected, object);
  }
  return number;
}

bool CheckList(PyObject* object, const Place& place, const char* expected) {
  if (PyList_Check(object)) return true;
  PyErr_SetString(PyExc_ValueError,
                  (Beginning(place) + " must be " + expected + ", not " + TypeName(object)).c_str());
  return false;
}

template <typename T>
bool ReadUnsignedList(PyObject* object, const Place& place, std::vector<T>* value) {
  if (!CheckList(object, place, "a list of int")) return false;
  const Py_ssize_t count = PyList_Size(object);
  value->resize(static_cast<std::size_t>(count));
  for (Py_ssize_t i = 0; i < count; ++i) {
    const Object number = AsInt(PyList_GetItem(object, i), place, "a list of int");
    if (!number) return false;
    const std::uint64_t bits = PyLong_AsUnsignedLongLongMask(number.get());
    if constexpr (std::is_pointer_v<T>) {
      (*value)[static_cast<std::size_t>(i)] = reinterpret_cast<T>(bits);
    } else {
      (*value)[static_cast<std::size_t>(i)] = static_cast<T>(bits);
    }
  }
  return true;
}

bool CheckDict(PyObject* object, const Place& place) {
  if (PyDict_Check(object)) return true;
  RefuseType(place, "dict", object);
  return false;
}

/// A field that may be missing: then `value` stays as it is. The key is part of the message.
template <typename T>
bool ReadField(PyObject* dict, const Place& place, const char* key, T* value) {
  PyObject* const item = PyDict_GetItemString(dict, key);
  if (item == nullptr) return true;
  if (!PyLong_Check(item)) {
    RefuseType(place, (std::string("a dict whose '") + key + "' is an int").c_str(), item);
    return false;
  }
  *value = static_cast<T>(PyLong_AsUnsignedLongLongMask(item));
  return true;
}

bool ReadLocation(PyObject* dict, const Place& place, const char* key, aclrtMemLocation* value) {
  PyObject* const item = PyDict_GetItemString(dict, key);
  if (item == nullptr) return true;
  if (!CheckDict(item, place)) return false;
  std::uint32_t type = 0;
  if (!ReadField(item, place, "id", &value->id) || !ReadField(item, place, "type", &type)) return false;
  value->type = static_cast<aclrtMemLocationType>(type);
  return true;
}

/// One entry of the list 'attrs' of a malloc config: {attr, value: {moduleId | deviceId | rsv}}.
bool ReadMallocAttribute(PyObject* item, const Place& place, aclrtMallocAttribute* attribute) {
  std::uint32_t kind = 0;
  if (!CheckDict(item, place) || !ReadField(item, place, "attr", &kind)) return false;
  attribute->attr = static_cast<aclrtMallocAttrType>(kind);
  PyObject* const value = PyDict_GetItemString(item, "value");
  if (value == nullptr) return true;
  if (!CheckDict(value, place)) return false;
  switch (attribute->attr) {
    case ACL_RT_MEM_ATTR_MODULE_ID:
      return ReadField(value, place, "moduleId", &attribute->value.moduleId);
    case ACL_RT_MEM_ATTR_DEVICE_ID:
      return ReadField(value, place, "deviceId", &attribute->value.deviceId);
    case ACL_RT_MEM_ATTR_VA_FLAG:
      return ReadField(value, place, "vaFlag", &attribute->value.vaFlag);
    default:
      return true;
  }
}

}  // namespace

void RefuseCount(const Place& place, Py_ssize_t expected, Py_ssize_t given) {
  PyErr_Format(PyExc_TypeError, "%s args parse failed: it takes %zd arguments (%s), not %zd", place.function,
               expected, place.parameters, given);
}

void RefuseType(const Place& place, const char* expected, PyObject* object) {
  PyErr_SetString(PyExc_TypeError,
                  (Beginning(place) + " must be " + expected + ", not " + TypeName(object)).c_str());
}

bool ReadUnsigned(PyObject* object, const Place& place, std::uint64_t* value) {
  if (!PyLong_Check(object)) {
    RefuseType(place, "int", object);
    return false;
  }
  *value = PyLong_AsUnsignedLongLongMask(object);
  return true;
}

bool ReadSigned(PyObject* object, const Place& place, std::int64_t lowest, std::int64_t highest,
                std::int64_t* value) {
  const Object number = AsInt(object, place, "int");
  if (!number) return false;
  int overflow = 0;
  *value = PyLong_AsLongLongAndOverflow(number.get(), &overflow);
  if (overflow == 0 && *value >= lowest && *value <= highest) return true;
  PyErr_Format(PyExc_ValueError, "%s is %R, it must be from %lld to %lld", Beginning(place).c_str(), object,
               static_cast<long long>(lowest), static_cast<long long>(highest));
  return false;
}

bool ReadDouble(PyObject* object, const Place& place, double* value) {
  *value = PyFloat_AsDouble(object);
  if (*value != -1.0 || PyErr_Occurred() == nullptr) return true;
  PyErr_Clear();
  RefuseType(place, "float", object);
  return false;
}

bool ReadText(PyObject* object, const Place& place, std::string* value) {
  if (!PyUnicode_Check(object)) {
    RefuseType(place, "str", object);
    return false;
  }
  const Object bytes(PyUnicode_AsUTF8String(object));
  char* text = nullptr;
  Py_ssize_t length = 0;
  if (!bytes || PyBytes_AsStringAndSize(bytes.get(), &text, &length) != 0) return false;
  if (std::memchr(text, '\0', static_cast<std::size_t>(length)) != nullptr) {
    PyErr_SetString(PyExc_ValueError, (Beginning(place) + " holds a null character").c_str());
    return false;
  }
  value->assign(text, static_cast<std::size_t>(length));
  return true;
}

bool ReadList(PyObject* object, const Place& place, std::vector<std::int32_t>* value) {
  return ReadUnsignedList(object, place, value);
}

bool ReadList(PyObject* object, const Place& place, std::vector<std::size_t>* value) {
  return ReadUnsignedList(object, place, value);
}

bool ReadList(PyObject* object, const Place& place, std::vector<void*>* value) {
  return ReadUnsignedList(object, place, value);
}

bool ReadList(PyObject* object, const Place& place, std::vector<aclrtMemcpyBatchAttr>* value) {
  if (!CheckList(object, place, "a list of dict")) return false;
  const Py_ssize_t count = PyList_Size(object);
  value->resize(static_cast<std::size_t>(count));
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject* const item = PyList_GetItem(object, i);
    aclrtMemcpyBatchAttr* const attribute = &(*value)[static_cast<std::size_t>(i)];
    if (!CheckDict(item, place) || !ReadLocation(item, place, "dstLoc", &attribute->dstLoc) ||
        !ReadLocation(item, place, "srcLoc", &attribute->srcLoc)) {
      return false;
    }
  }
  return true;
}

bool ReadDict(PyObject* object, const Place& place, aclrtPhysicalMemProp* value) {
  if (!CheckDict(object, place)) return false;
  std::uint32_t handle_type = 0, allocation_type = 0, attribute = 0;
  if (!ReadField(object, place, "handleType", &handle_type) ||
      !ReadField(object, place, "allocationType", &allocation_type) ||
      !ReadField(object, place, "memAttr", &attribute) ||
      !ReadField(object, place, "reserve", &value->reserve)) {
    return false;
  }
  value->handleType = static_cast<aclrtMemHandleType>(handle_type);
  value->allocationType = static_cast<aclrtMemAllocationType>(allocation_type);
  value->memAttr = static_cast<aclrtMemAttr>(attribute);
  return ReadLocation(object, place, "location", &value->location);
}

bool ReadDict(PyObject* object, const Place& place, std::vector<aclrtMallocAttribute>* value) {
  if (!CheckDict(object, place)) return false;
  if (PyDict_Size(object) == 0) return true;
  PyObject* const attributes = PyDict_GetItemString(object, "attrs");
  PyObject* const count = PyDict_GetItemString(object, "numAttrs");
  if (attributes == nullptr || count == nullptr) {
    PyErr_SetString(PyExc_KeyError,
                    (Beginning(place) + " must be {} or have the keys 'attrs' and 'numAttrs'").c_str());
    return false;
  }
  std::uint64_t used = 0;
  if (!CheckList(attributes, place, "a dict whose 'attrs' is a list") ||
      !ReadField(object, place, "numAttrs", &used)) {
    return false;
  }
  if (used > static_cast<std::uint64_t>(PyList_Size(attributes))) {
    PyErr_Format(PyExc_ValueError, "%s: 'numAttrs' is %R, and 'attrs' has %zd entries",
                 Beginning(place).c_str(), count, PyList_Size(attributes));
    return false;
  }
  value->resize(used);
  for (std::size_t i = 0; i < value->size(); ++i) {
    if (!ReadMallocAttribute(PyList_GetItem(attributes, static_cast<Py_ssize_t>(i)), place, &(*value)[i]))
      return false;
  }
  return true;
}

bool ReadDict(PyObject* object, const Place& place, StreamAttribute* value) {
  return CheckDict(object, place) && ReadField(object, place, "failureMode", &value->failure_mode) &&
         ReadField(object, place, "overflowSwitch", &value->overflow_switch) &&
         ReadField(object, place, "userCustomTag", &value->custom_tag);
}

}  // namespace sampan::python
