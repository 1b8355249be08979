// Python functions that threads of the runtime call, and the table of `acl.rt` for them.
#include "callbacks.h"

#include "tables.h"

#include <unistd.h>

namespace sampan::python {
namespace {

void* AsArgument(std::uint64_t number) {
  return reinterpret_cast<void*>(number);
}

bool CheckCallable(PyObject* object, const Place& place) {
  if (PyCallable_Check(object) != 0) return true;
  RefuseType(place, "callable", object);
  return false;
}

/// Queues a call of a Python function by one of the two C functions.
template <typename Launch>
PyObject* LaunchPython(PyObject* function, PyObject* argument, aclrtStream stream, const Launch& launch) {
  const std::uint64_t number = PythonCalls::The().Add(function, argument, stream);
  PyThreadState* const state = PyEval_SaveThread();
  const aclError code = launch(AsArgument(number));
  PyEval_RestoreThread(state);
  if (code != ACL_SUCCESS) PythonCalls::The().Drop({number});
  return ToPython(code);
}

/// launch_callback(fn, arg, block_type, stream).
PyObject* LaunchCallback(PyObject*, PyObject* arguments) {
  Place place{"launch_callback", "fn arg block_type stream", 0};
  if (PyTuple_Size(arguments) != 4) {
    RefuseCount(place, 4, PyTuple_Size(arguments));
    return nullptr;
  }
  PyObject* const function = PyTuple_GetItem(arguments, 0);
  if (!CheckCallable(function, place)) return nullptr;
  aclrtCallbackBlockType type = {};
  aclrtStream stream = nullptr;
  place.index = 2;
  if (!Input<aclrtCallbackBlockType>::Read(PyTuple_GetItem(arguments, 2), place, &type)) return nullptr;
  place.index = 3;
  if (!Input<aclrtStream>::Read(PyTuple_GetItem(arguments, 3), place, &stream)) return nullptr;
  return LaunchPython(function, PyTuple_GetItem(arguments, 1), stream, [&](void* number) {
    return aclrtLaunchCallback(PythonCalls::Run, number, type, stream);
  });
}

/// launch_host_func(stream, fn, arg): Sampan's own, pyACL has none.
PyObject* LaunchHostFunc(PyObject*, PyObject* arguments) {
  Place place{"launch_host_func", "stream fn arg", 0};
  if (PyTuple_Size(arguments) != 3) {
    RefuseCount(place, 3, PyTuple_Size(arguments));
    return nullptr;
  }
  aclrtStream stream = nullptr;
  if (!Input<aclrtStream>::Read(PyTuple_GetItem(arguments, 0), place, &stream)) return nullptr;
  PyObject* const function = PyTuple_GetItem(arguments, 1);
  place.index = 1;
  if (!CheckCallable(function, place)) return nullptr;
  return LaunchPython(function, PyTuple_GetItem(arguments, 2), stream,
                      [&](void* number) { return aclrtLaunchHostFunc(stream, PythonCalls::Run, number); });
}

/// set_exception_info_callback([fn]).
PyObject* SetExceptionInfoCallback(PyObject*, PyObject* arguments) {
  const Place place{"set_exception_info_callback", "fn", 0};
  const Py_ssize_t given = PyTuple_Size(arguments);
  if (given > 1) {
    RefuseCount(place, 1, given);
    return nullptr;
  }
  const Object none(Py_BuildValue(""));
  PyObject* function = given == 1 ? PyTuple_GetItem(arguments, 0) : nullptr;
  if (function == none.get()) function = nullptr;
  if (function != nullptr && !CheckCallable(function, place)) return nullptr;
  Object before = PythonCalls::The().SetExceptionFunction(function);
  PyThreadState* const state = PyEval_SaveThread();
  const aclError code =
      aclrtSetExceptionInfoCallback(function != nullptr ? PythonCalls::OnException : nullptr);
  PyEval_RestoreThread(state);
  if (code != ACL_SUCCESS) PythonCalls::The().SetExceptionFunction(before.get());
  return ToPython(code);
}

/// Calls a Python function; its exception is reported and forgotten.
void CallAndReport(PyObject* function, PyObject* argument) {
  const Object result(PyObject_CallFunctionObjArgs(function, argument, nullptr));
  if (!result) PyErr_WriteUnraisable(function);
}

}  // namespace

PythonCalls::PythonCalls() : process_(::getpid()) {}

PythonCalls& PythonCalls::The() {
  static auto* const the = new PythonCalls;
  return *the;
}

std::uint64_t PythonCalls::Add(PyObject* function, PyObject* argument, aclrtStream stream) {
  Py_INCREF(function);
  Py_INCREF(argument);
  const std::lock_guard lock(mutex_);
  pending_[++last_] = {function, argument, stream};
  return last_;
}

std::vector<std::uint64_t> PythonCalls::Of(aclrtStream stream) {
  std::vector<std::uint64_t> calls;
  const std::lock_guard lock(mutex_);
  for (const auto& [number, call] : pending_) {
    if (call.stream == stream) calls.push_back(number);
  }
  return calls;
}

bool PythonCalls::Take(std::uint64_t number, Pending* call) {
  const std::lock_guard lock(mutex_);
  const auto found = pending_.find(number);
  if (found == pending_.end()) return false;
  *call = found->second;
  pending_.erase(found);
  return true;
}

void PythonCalls::Drop(const std::vector<std::uint64_t>& calls) {
  if (calls.empty() || !Enter()) return;
  const PyGILState_STATE state = PyGILState_Ensure();
  for (const std::uint64_t number : calls) {
    Pending call{};
    if (!Take(number, &call)) continue;
    Py_DECREF(call.function);
    Py_DECREF(call.argument);
  }
  PyGILState_Release(state);
  Leave();
}

bool PythonCalls::Enter() {
  const std::lock_guard lock(mutex_);
  if (closed_) return false;
  ++running_;
  return true;
}

void PythonCalls::Leave() {
  const std::lock_guard lock(mutex_);
  if (--running_ == 0) left_.notify_all();
}

void PythonCalls::Run(void* number) {
  PythonCalls& calls = The();
  if (!calls.Enter()) return;
  const PyGILState_STATE state = PyGILState_Ensure();
  Pending call{};
  if (calls.Take(reinterpret_cast<std::uint64_t>(number), &call)) {
    CallAndReport(call.function, call.argument);
    Py_DECREF(call.function);
    Py_DECREF(call.argument);
  }
  PyGILState_Release(state);
  calls.Leave();
}

void PythonCalls::OnException(aclrtExceptionInfo* info) {
  PythonCalls& calls = The();
  if (!calls.Enter()) return;
  const PyGILState_STATE state = PyGILState_Ensure();
  {
    const Object function = Object::Share(calls.exception_function_);
    const Object number(ToPython(static_cast<const void*>(info)));
    if (function && number) CallAndReport(function.get(), number.get());
  }
  PyGILState_Release(state);
  calls.Leave();
}

Object PythonCalls::SetExceptionFunction(PyObject* function) {
  Object before(exception_function_);
  exception_function_ = Object::Share(function).Release();
  return before;
}

void PythonCalls::Close() {
  // A forked child has none of the threads that run something here.
  if (::getpid() != process_) return;
  PyThreadState* const state = PyEval_SaveThread();
  std::size_t left = 0;
  {
    std::unique_lock lock(mutex_);
    closed_ = true;
    left_.wait(lock, [this] { return running_ == 0; });
    left = pending_.size();
  }
  if (left > 0) {
    aclAppLog(ACL_WARNING, "PythonCalls", "python", 0,
              "the interpreter exits: %zu Python functions that streams had still to call are never called",
              left);
  }
  PyEval_RestoreThread(state);
}

Rows CallbackRows() {
  return {
      {"launch_callback", LaunchCallback, METH_VARARGS,
       "launch_callback(fn, arg, block_type, stream, /)\n--\n\n"
       "launch_callback(fn: Callable[[Any], Any], arg: Any, block_type: int, stream: int, /) -> int\n"
       "The thread that runs process_report calls fn(arg) once."},
      {"launch_host_func", LaunchHostFunc, METH_VARARGS,
       "launch_host_func(stream, fn, arg, /)\n--\n\n"
       "launch_host_func(stream: int, fn: Callable[[Any], Any], arg: Any, /) -> int\n"
       "Not in pyACL. A thread of the runtime calls fn(arg) in stream order."},
      {"set_exception_info_callback", SetExceptionInfoCallback, METH_VARARGS,
       "set_exception_info_callback(fn=..., /)\n--\n\n"
       "set_exception_info_callback(fn: Callable[[int], Any] | None = ..., /) -> int\n"
       "fn(info) is called for each task that fails; without fn, no function is."},
      Row<"subscribe_report", aclrtSubscribeReport, "thread_id stream">(),
      Row<"unsubscribe_report", aclrtUnSubscribeReport, "thread_id stream">(),
      Row<"process_report", aclrtProcessReport, "timeout">(),
      Query<"get_task_id_from_exception_info", aclrtGetTaskIdFromExceptionInfo, "info">(),
      Query<"get_stream_id_from_exception_info", aclrtGetStreamIdFromExceptionInfo, "info">(),
      Query<"get_thread_id_from_exception_info", aclrtGetThreadIdFromExceptionInfo, "info">(),
      Query<"get_device_id_from_exception_info", aclrtGetDeviceIdFromExceptionInfo, "info">(),
      Query<"get_error_code_from_exception_info", aclrtGetErrorCodeFromExceptionInfo, "info">(),
  };
}

}  // namespace sampan::python
