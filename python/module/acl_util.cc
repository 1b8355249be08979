// The table of `acl.util`: addresses of bytes and numpy arrays, threads.
#include "tables.h"

#include <csignal>
#include <cstring>
#include <limits>

namespace sampan::python {
namespace {

/// The exception of a function of acl.util: "<function>: <what is wrong>".
PyObject* RefuseValue(const Place& place, const std::string& what) {
  PyErr_SetString(PyExc_ValueError, (std::string(place.function) + ": " + what).c_str());
  return nullptr;
}

bool CheckCount(PyObject* arguments, Py_ssize_t expected, const Place& place) {
  if (PyTuple_Size(arguments) == expected) return true;
  RefuseCount(place, expected, PyTuple_Size(arguments));
  return false;
}

/// Sets ValueError unless the program may read `bytes` from `address`: memory of a device is no host memory.
bool CheckHostMemory(const Place& place, std::uint64_t address, std::uint64_t bytes) {
  if (bytes == 0) return true;
  if (address == 0 || bytes > static_cast<std::uint64_t>(PY_SSIZE_T_MAX)) {
    RefuseValue(place,
                "no memory of " + std::to_string(bytes) + " bytes at address " + std::to_string(address));
    return false;
  }
  aclrtRunMode mode = ACL_HOST;
  aclrtPtrAttributes attributes = {};
  if (aclrtGetRunMode(&mode) != ACL_SUCCESS || mode == ACL_DEVICE) return true;
  if (aclrtPointerGetAttributes(reinterpret_cast<void*>(address), &attributes) != ACL_SUCCESS ||
      attributes.location.type != ACL_MEM_LOCATION_TYPE_DEVICE) {
    return true;
  }
  RefuseValue(place, "address " + std::to_string(address) + " is memory of device " +
                         std::to_string(attributes.location.id) + ": copy it to the host first");
  return false;
}

PyObject* BytesToPtr(PyObject*, PyObject* arguments) {
  const Place place{"bytes_to_ptr", "bytes", 0};
  if (!CheckCount(arguments, 1, place)) return nullptr;
  PyObject* const bytes = PyTuple_GetItem(arguments, 0);
  if (!PyBytes_Check(bytes))
    return RefuseValue(place, "the argument must be bytes: only they have a fixed address");
  return ToPython(static_cast<const void*>(PyBytes_AsString(bytes)));
}

PyObject* PtrToBytes(PyObject*, PyObject* arguments) {
  Place place{"ptr_to_bytes", "ptr size", 0};
  if (!CheckCount(arguments, 2, place)) return nullptr;
  std::uint64_t address = 0, bytes = 0;
  if (!ReadUnsigned(PyTuple_GetItem(arguments, 0), place, &address)) return nullptr;
  place.index = 1;
  if (!ReadUnsigned(PyTuple_GetItem(arguments, 1), place, &bytes)) return nullptr;
  if (!CheckHostMemory(place, address, bytes)) return nullptr;
  return PyBytes_FromStringAndSize(reinterpret_cast<const char*>(address), static_cast<Py_ssize_t>(bytes));
}

/// The module numpy, if `array` is one of its arrays.
Object NumpyOf(PyObject* array, const Place& place) {
  Object numpy(PyImport_ImportModule("numpy"));
  if (!numpy) return numpy;
  const Object type(PyObject_GetAttrString(numpy.get(), "ndarray"));
  if (!type) return {};
  const int matches = PyObject_IsInstance(array, type.get());
  if (matches == 1) return numpy;
  if (matches == 0) RefuseValue(place, "the argument must be a numpy array");
  return {};
}

/// The address of the first element.
PyObject* AddressOf(PyObject* array) {
  const Object interface(PyObject_GetAttrString(array, "__array_interface__"));
  PyObject* const data = interface ? PyDict_GetItemString(interface.get(), "data") : nullptr;
  if (data == nullptr || !PyTuple_Check(data)) return nullptr;
  return Object::Share(PyTuple_GetItem(data, 0)).Release();
}

/// Each of the three functions for arrays is deprecated in pyACL.
bool WarnOfAge(const char* replacement) {
  return PyErr_WarnEx(PyExc_DeprecationWarning, replacement, 1) == 0;
}

PyObject* NumpyToPtr(PyObject*, PyObject* arguments) {
  const Place place{"numpy_to_ptr", "array", 0};
  if (!CheckCount(arguments, 1, place)) return nullptr;
  PyObject* const array = PyTuple_GetItem(arguments, 0);
  const Object numpy = NumpyOf(array, place);
  if (!numpy || !WarnOfAge("numpy_to_ptr is deprecated: use array.ctypes.data")) return nullptr;
  const Object flags(PyObject_GetAttrString(array, "flags"));
  const Object contiguous(flags ? PyObject_GetAttrString(flags.get(), "c_contiguous") : nullptr);
  if (!contiguous) return nullptr;
  if (PyObject_IsTrue(contiguous.get()) == 0 &&
      PyErr_WarnEx(PyExc_UserWarning, "numpy_to_ptr: the array is not contiguous; this is where it begins",
                   1) != 0) {
    return nullptr;
  }
  return AddressOf(array);
}

PyObject* NumpyContiguousToPtr(PyObject*, PyObject* arguments) {
  const Place place{"numpy_contiguous_to_ptr", "array", 0};
  if (!CheckCount(arguments, 1, place)) return nullptr;
  PyObject* const array = PyTuple_GetItem(arguments, 0);
  const Object numpy = NumpyOf(array, place);
  if (!numpy ||
      !WarnOfAge("numpy_contiguous_to_ptr is deprecated: use numpy.ascontiguousarray(array).ctypes.data"))
    return nullptr;
  Object whole(PyObject_CallMethod(numpy.get(), "ascontiguousarray", "O", array));
  Object address(whole ? AddressOf(whole.get()) : nullptr);
  return address ? Py_BuildValue("(NN)", address.Release(), whole.Release()) : nullptr;
}

/// numpy's type numbers and the letters that it knows them by.
const char* TypeLetter(std::int64_t number) {
  static constexpr const char* kLetters[] = {"?", "b", "B", "h", "H", "i", "I", "l", "L",
                                             "q", "Q", "f", "d", "g", "F", "D", "G"};
  if (number == 23) return "e";
  return number >= 0 && number < 17 ? kLetters[number] : nullptr;
}

/// How many bytes an array has; nothing, with ValueError set, if the shape is none.
bool ArrayBytes(PyObject* shape, std::uint64_t item_bytes, const Place& place, std::uint64_t* bytes) {
  *bytes = item_bytes;
  for (Py_ssize_t i = 0; i < PyTuple_Size(shape); ++i) {
    PyObject* const item = PyTuple_GetItem(shape, i);
    const long long size = PyLong_Check(item) ? PyLong_AsLongLong(item) : -1;
    PyErr_Clear();
    if (size < 0 || (size > 0 && *bytes > static_cast<std::uint64_t>(PY_SSIZE_T_MAX / size))) {
      RefuseValue(place, "shape must be a tuple of sizes that memory can have");
      return false;
    }
    *bytes *= static_cast<std::uint64_t>(size);
  }
  return true;
}

PyObject* PtrToNumpy(PyObject*, PyObject* arguments) {
  Place place{"ptr_to_numpy", "ptr shape npy_type", 0};
  if (!CheckCount(arguments, 3, place)) return nullptr;
  std::uint64_t address = 0, bytes = 0;
  std::int64_t number = 0;
  if (!ReadUnsigned(PyTuple_GetItem(arguments, 0), place, &address)) return nullptr;
  PyObject* const shape = PyTuple_GetItem(arguments, 1);
  if (!PyTuple_Check(shape)) return RefuseValue(place, "shape must be a tuple");
  place.index = 2;
  if (!ReadSigned(PyTuple_GetItem(arguments, 2), place, INT32_MIN, INT32_MAX, &number)) return nullptr;
  const char* const letter = TypeLetter(number);
  if (letter == nullptr)
    return RefuseValue(place, "npy_type " + std::to_string(number) + " is no number type of numpy");
  const Object numpy(PyImport_ImportModule("numpy"));
  const Object type(numpy ? PyObject_CallMethod(numpy.get(), "dtype", "s", letter) : nullptr);
  const Object item_bytes(type ? PyObject_GetAttrString(type.get(), "itemsize") : nullptr);
  if (!item_bytes || !WarnOfAge("ptr_to_numpy is deprecated: use numpy.frombuffer(ptr_to_bytes(...))"))
    return nullptr;
  if (!ArrayBytes(shape, PyLong_AsUnsignedLongLongMask(item_bytes.get()), place, &bytes) ||
      !CheckHostMemory(place, address, bytes)) {
    return nullptr;
  }
  constexpr int kWritable = 0x200;  // PyBUF_WRITE, which the stable interface has without its name
  static char nothing = 0;          // an empty array lies somewhere too
  char* const memory = bytes > 0 ? reinterpret_cast<char*>(address) : &nothing;
  const Object view(PyMemoryView_FromMemory(memory, static_cast<Py_ssize_t>(bytes), kWritable));
  if (!view) return nullptr;
  return PyObject_CallMethod(numpy.get(), "ndarray", "OOO", shape, type.get(), view.get());
}

/// The threads of start_thread: ident -> (Thread, [fn, args, exception]). Guarded by the GIL.
PyObject* Threads() {
  static PyObject* const threads = PyDict_New();
  return threads;
}

/// Runs in the thread: fn(args), or fn() if args is None. `record` is the list of Threads.
PyObject* RunThread(PyObject* record, PyObject*) {
  const Object none(Py_BuildValue(""));
  PyObject* const function = PyList_GetItem(record, 0);
  PyObject* const argument = PyList_GetItem(record, 1);
  const Object result(
      PyObject_CallFunctionObjArgs(function, argument == none.get() ? nullptr : argument, nullptr));
  if (!result) {
    PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    PyList_SetItem(record, 2, value);
    Py_XDECREF(type);
    Py_XDECREF(trace);
  }
  return Py_BuildValue("");
}

PyObject* StartThread(PyObject*, PyObject* arguments) {
  static PyMethodDef body = {"thread", RunThread, METH_NOARGS, nullptr};
  const Place place{"start_thread", "fn args", 0};
  if (!CheckCount(arguments, 2, place)) return nullptr;
  if (PyCallable_Check(PyTuple_GetItem(arguments, 0)) == 0) {
    RefuseType(place, "callable", PyTuple_GetItem(arguments, 0));
    return nullptr;
  }
  const Object record(Py_BuildValue("[OOO]", PyTuple_GetItem(arguments, 0), PyTuple_GetItem(arguments, 1),
                                    Object(Py_BuildValue("")).get()));
  const Object target(record ? PyCFunction_NewEx(&body, record.get(), nullptr) : nullptr);
  const Object threading(PyImport_ImportModule("threading"));
  const Object type(threading ? PyObject_GetAttrString(threading.get(), "Thread") : nullptr);
  const Object nothing(PyTuple_New(0));
  const Object words(target ? Py_BuildValue("{s:O,s:i}", "target", target.get(), "daemon", 1) : nullptr);
  if (!type || !words) return nullptr;
  // As pyACL does: Ctrl+C ends a program whose threads wait in C.
  std::signal(SIGINT, SIG_DFL);
  const Object thread(PyObject_Call(type.get(), nothing.get(), words.get()));
  const Object started(thread ? PyObject_CallMethod(thread.get(), "start", nullptr) : nullptr);
  const Object number(started ? PyObject_GetAttrString(thread.get(), "ident") : nullptr);
  const Object entry(number ? Py_BuildValue("(OO)", thread.get(), record.get()) : nullptr);
  if (!entry || PyDict_SetItem(Threads(), number.get(), entry.get()) != 0) return nullptr;
  return Py_BuildValue("(Oi)", number.get(), ACL_SUCCESS);
}

PyObject* StopThread(PyObject*, PyObject* arguments) {
  const Place place{"stop_thread", "thread_id", 0};
  if (!CheckCount(arguments, 1, place)) return nullptr;
  PyObject* const number = PyTuple_GetItem(arguments, 0);
  if (!PyLong_Check(number)) {
    RefuseType(place, "int", number);
    return nullptr;
  }
  const Object entry = Object::Share(PyDict_GetItem(Threads(), number));
  if (!entry) return ToPython(ACL_ERROR_INVALID_PARAM);
  const Object joined(PyObject_CallMethod(PyTuple_GetItem(entry.get(), 0), "join", nullptr));
  if (!joined) return nullptr;
  if (PyDict_DelItem(Threads(), number) != 0) PyErr_Clear();  // another thread stopped it too
  PyObject* const failure = PyList_GetItem(PyTuple_GetItem(entry.get(), 1), 2);
  if (Object(Py_BuildValue("")).get() == failure) return ToPython(ACL_SUCCESS);
  PyErr_Format(PyExc_RuntimeError, "%S", failure);
  return nullptr;
}

}  // namespace

Rows AclUtilRows() {
  return {
      {"bytes_to_ptr", BytesToPtr, METH_VARARGS,
       "bytes_to_ptr(bytes, /)\n--\n\nbytes_to_ptr(bytes: bytes, /) -> int\n"
       "The address of the object's own bytes, which must outlive the use."},
      {"ptr_to_bytes", PtrToBytes, METH_VARARGS,
       "ptr_to_bytes(ptr, size, /)\n--\n\nptr_to_bytes(ptr: int, size: int, /) -> bytes\nA copy of host "
       "memory."},
      {"numpy_to_ptr", NumpyToPtr, METH_VARARGS,
       "numpy_to_ptr(array, /)\n--\n\nnumpy_to_ptr(array: ndarray, /) -> int\nThe address of an array. "
       "Deprecated."},
      {"numpy_contiguous_to_ptr", NumpyContiguousToPtr, METH_VARARGS,
       "numpy_contiguous_to_ptr(array, /)\n--\n\n"
       "numpy_contiguous_to_ptr(array: ndarray, /) -> tuple[int, ndarray]\n"
       "The address of a contiguous array, and that array, to be kept. Deprecated."},
      {"ptr_to_numpy", PtrToNumpy, METH_VARARGS,
       "ptr_to_numpy(ptr, shape, npy_type, /)\n--\n\n"
       "ptr_to_numpy(ptr: int, shape: tuple[int, ...], npy_type: int, /) -> ndarray\n"
       "An array that is a view of host memory. Deprecated."},
      {"start_thread", StartThread, METH_VARARGS,
       "start_thread(fn, args, /)\n--\n\n"
       "start_thread(fn: Callable[..., Any], args: list | None, /) -> tuple[int, int]\n"
       "A thread that calls fn(args), or fn() for None. SIGINT gets its default action."},
      {"stop_thread", StopThread, METH_VARARGS,
       "stop_thread(thread_id, /)\n--\n\nstop_thread(thread_id: int, /) -> int\n"
       "Waits for the thread. Raises RuntimeError with the text of its exception."},
  };
}

}  // namespace sampan::python
