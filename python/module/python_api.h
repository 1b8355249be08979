// CPython's stable interface, and the owner of a reference. Include it before all other headers.
#pragma once

// One module for every CPython from 3.8 on.
#ifndef Py_LIMITED_API
#define Py_LIMITED_API 0x03080000
#endif
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <utility>

namespace sampan::python {

/// Owns one reference, or none. Used by one thread, which holds the GIL whenever it changes.
class Object {
 public:
  Object() = default;
  /// Takes over a new reference; NULL is an exception that is set.
  explicit Object(PyObject* owned) : object_(owned) {}
  static Object Share(PyObject* borrowed) {
    Py_XINCREF(borrowed);
    return Object(borrowed);
  }
  Object(Object&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Object& operator=(Object&& other) noexcept {
    Object old(std::exchange(object_, std::exchange(other.object_, nullptr)));
    return *this;
  }
  ~Object() { Py_XDECREF(object_); }

  PyObject* get() const { return object_; }
  PyObject* Release() { return std::exchange(object_, nullptr); }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  PyObject* object_ = nullptr;
};

}  // namespace sampan::python
