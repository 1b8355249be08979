// Python functions that threads of the runtime call.
#pragma once

#include "python_api.h"

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

#include <sys/types.h>

#include <acl/acl.h>

namespace sampan::python {

/// The Python functions that streams have still to call, by number. Also the gate between the runtime's
/// threads and the interpreter: after Close no thread enters Python. One for the process, never destroyed.
/// Thread-safe. No thread asks for the GIL while it holds the lock.
class PythonCalls {
 public:
  static PythonCalls& The();

  /// Keeps `function` and `argument` until the call was made or dropped. Needs the GIL.
  std::uint64_t Add(PyObject* function, PyObject* argument, aclrtStream stream);
  /// The calls that a stream has still to make.
  std::vector<std::uint64_t> Of(aclrtStream stream);
  /// Gives calls back that will never be made. Takes the GIL.
  void Drop(const std::vector<std::uint64_t>& calls);

  /// For aclrtLaunchCallback and aclrtLaunchHostFunc; the argument is the number of the call. An exception
  /// goes to sys.unraisablehook, and the stream goes on.
  static void Run(void* number);

  /// What aclrtSetExceptionInfoCallback is given.
  static void OnException(aclrtExceptionInfo* info);
  /// Replaces the function for failed tasks; NULL for none. Needs the GIL. Returns the one before.
  Object SetExceptionFunction(PyObject* function);

  /// At the interpreter's exit: waits for the functions that run. What has not begun is never called, and one
  /// line in the log says how many. Needs the GIL, and lets go of it while waiting.
  void Close();

 private:
  struct Pending {
    PyObject* function;
    PyObject* argument;
    aclrtStream stream;
  };
  PythonCalls();
  /// Returns false if the interpreter exits: then nothing of Python may be touched.
  bool Enter();
  void Leave();
  /// Removes a call. Returns false if it was dropped.
  bool Take(std::uint64_t number, Pending* call);

  const pid_t process_;
  std::mutex mutex_;
  std::condition_variable left_;
  bool closed_ = false;
  std::size_t running_ = 0;
  std::uint64_t last_ = 0;
  std::map<std::uint64_t, Pending> pending_;
  PyObject* exception_function_ = nullptr;  // guarded by the GIL
};

}  // namespace sampan::python
