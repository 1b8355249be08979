// The Python module `acl`: its parts, and what happens at the interpreter's exit.
#include "callbacks.h"
#include "tables.h"

namespace sampan::python {
namespace {

PyObject* Close(PyObject*, PyObject*) {
  PythonCalls::The().Close();
  return Py_BuildValue("");
}

/// What acl.mdl and the like give for each name: a function that says that it is not there.
PyObject* RefuseCall(PyObject* name, PyObject*) {
  PyErr_Format(PyExc_NotImplementedError, "%U: Sampan moves data; it has no models, operators or media",
               name);
  return nullptr;
}

/// __getattr__ of acl.mdl and the like: scripts put such names into tables when they are imported.
PyObject* RefusingFunction(PyObject* module, PyObject* arguments) {
  static PyMethodDef refuse = {"refuse", RefuseCall, METH_VARARGS, nullptr};
  const Object name = Object::Share(PyTuple_Size(arguments) == 1 ? PyTuple_GetItem(arguments, 0) : nullptr);
  if (!name || !PyUnicode_Check(name.get())) return Py_BuildValue("");
  const Object whole(PyUnicode_FromFormat("%U.%U", module, name.get()));
  if (!whole) return nullptr;
  if (PyUnicode_Tailmatch(name.get(), Object(PyUnicode_FromString("_")).get(), 0, 1, -1) == 1) {
    PyErr_Format(PyExc_AttributeError, "%U", whole.get());
    return nullptr;
  }
  return PyCFunction_NewEx(&refuse, whole.get(), nullptr);
}

/// Adds the rows of a part; CPython keeps the array.
bool AddRows(PyObject* module, const std::vector<Rows (*)()>& parts) {
  auto* const rows = new Rows;
  for (const auto part : parts) {
    const Rows more = part();
    rows->insert(rows->end(), more.begin(), more.end());
  }
  rows->push_back({nullptr, nullptr, 0, nullptr});
  return PyModule_AddFunctions(module, rows->data()) == 0;
}

/// An attribute of `acl` and an entry of sys.modules: `import acl.rt` and `from acl.rt import memcpy` both
/// work.
PyObject* AddPart(PyObject* module, const char* name, const char* document) {
  const std::string whole = std::string("acl.") + name;
  PyObject* const part = PyImport_AddModule(whole.c_str());  // borrowed: sys.modules owns it
  if (part == nullptr || PyModule_SetDocString(part, document) != 0) return nullptr;
  return PyObject_SetAttrString(module, name, part) == 0 ? part : nullptr;
}

bool AddRefusingPart(PyObject* module, const char* name) {
  static PyMethodDef lookup = {"__getattr__", RefusingFunction, METH_VARARGS, nullptr};
  PyObject* const part = AddPart(module, name, "Each function raises NotImplementedError.");
  const Object whole(PyUnicode_FromFormat("acl.%s", name));
  const Object function(part != nullptr && whole ? PyCFunction_NewEx(&lookup, whole.get(), nullptr)
                                                 : nullptr);
  return function && PyObject_SetAttrString(part, "__getattr__", function.get()) == 0;
}

/// The hook runs before the interpreter is taken apart.
bool RegisterClose() {
  static PyMethodDef close = {"close", Close, METH_NOARGS, nullptr};
  const Object hook(PyCFunction_NewEx(&close, nullptr, nullptr));
  const Object atexit(PyImport_ImportModule("atexit"));
  return hook && atexit && Object(PyObject_CallMethod(atexit.get(), "register", "O", hook.get()));
}

bool Fill(PyObject* module) {
  if (!AddRows(module, {BasicRows, FigureRows, TensorRows})) return false;
  PyObject* const runtime = AddPart(module, "rt", "Devices, streams, memory and copies.");
  if (runtime == nullptr || !AddRows(runtime, {DeviceRows, StreamRows, MemoryRows, CopyRows, CallbackRows,
                                               SettingRows, KernelRows, AllocatorRows})) {
    return false;
  }
  PyObject* const util = AddPart(module, "util", "Addresses of bytes and numpy arrays, threads.");
  if (util == nullptr || !AddRows(util, {AclUtilRows})) return false;
  for (const char* const name : {"mdl", "op", "media", "blas", "prof", "himpi", "fv"}) {
    if (!AddRefusingPart(module, name)) return false;
  }
  return RegisterClose();
}

}  // namespace
}  // namespace sampan::python

PyMODINIT_FUNC PyInit_acl() {
  static PyModuleDef definition = {PyModuleDef_HEAD_INIT,
                                   "acl",
                                   "AscendCL's runtime: pyACL's calls, on Sampan.",
                                   -1,
                                   nullptr,
                                   nullptr,
                                   nullptr,
                                   nullptr,
                                   nullptr};
  sampan::python::Object module(PyModule_Create(&definition));
  if (!module || !sampan::python::Fill(module.get())) return nullptr;
  return module.Release();
}
