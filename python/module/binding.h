// One row of a table binds one C function: Row<"free", aclrtFree, "ptr">().
//
// The function's type says the rest. A pointer to a value that ToPython knows (`void**`, `int32_t*`,
// `size_t*`) is an output; everything else is an input, named by the row. The outputs come first in the
// result, the C function's own result last; a single one is no tuple. So `aclError aclrtMalloc(void**,
// size_t, aclrtMemMallocPolicy)` becomes `malloc(size, policy) -> (ptr, ret)`.
#pragma once

#include "arguments.h"
#include "results.h"

#include <concepts>
#include <cstddef>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace sampan::python {

/// A string literal as a template argument.
template <std::size_t size>
struct Words {
  char text[size];
  // NOLINTNEXTLINE(google-explicit-constructor): a literal is what it is made of
  constexpr Words(const char (&literal)[size]) {
    for (std::size_t i = 0; i < size; ++i)
      text[i] = literal[i];
  }
  constexpr std::size_t count() const {
    std::size_t found = size > 1 ? 1 : 0;
    for (const char letter : text)
      found += letter == ' ' ? 1 : 0;
    return found;
  }
};

/// A call that may wait for the device, for a lock or for a callback releases the GIL. Only plain queries
/// keep it.
enum class Gil : bool { kReleased, kKept };

/// What ToPython knows.
template <typename T>
concept Answer = requires(const T& value) {
  { ToPython(value) } -> std::same_as<PyObject*>;
};

template <typename P>
inline constexpr bool kIsOutput = false;
template <Answer T>
inline constexpr bool kIsOutput<T*> = !std::is_const_v<T>;
template <>
inline constexpr bool kIsOutput<char*> = false;

/// Where a parameter lives during the call.
template <typename P, bool output = kIsOutput<P>>
struct Slot {
  static constexpr bool kOutput = false;
  static constexpr const char* kType = Input<P>::kType;
  typename Input<P>::Storage value = {};
  decltype(auto) Pass() { return Input<P>::Pass(value); }
  bool Read(PyObject* object, const Place& place) { return Input<P>::Read(object, place, &value); }
};

template <typename P>
struct Slot<P, true> {
  static constexpr bool kOutput = true;
  static constexpr const char* kType = StubType<std::remove_pointer_t<P>>();
  std::remove_pointer_t<P> value = {};
  P Pass() { return &value; }
};

template <auto function, typename Signature = decltype(function)>
struct Function;

template <auto function, typename R, typename... P>
struct Function<function, R (*)(P...)> {
  using Slots = std::tuple<Slot<P>...>;
  static constexpr int kInputs = (0 + ... + (Slot<P>::kOutput ? 0 : 1));
  static constexpr int kOutputs = static_cast<int>(sizeof...(P)) - kInputs;

  static bool Read(PyObject* arguments, Place place, Slots* slots) {
    return std::apply([&](auto&... slot) { return (ReadNext(arguments, &place, &slot) && ...); }, *slots);
  }

  static R Invoke(Slots* slots) {
    return std::apply([](auto&... slot) { return function(slot.Pass()...); }, *slots);
  }

  /// The outputs, then `last` if there is one.
  static PyObject* Result(const Slots& slots, PyObject* last) {
    if constexpr (kOutputs == 0) {
      return last != nullptr ? last : Py_BuildValue("");
    } else {
      Object tuple(PyTuple_New(kOutputs + (last != nullptr ? 1 : 0)));
      if (!tuple) {
        Py_XDECREF(last);
        return nullptr;
      }
      Py_ssize_t next = 0;
      bool whole = true;
      const auto append = [&](PyObject* item) {
        if (item == nullptr) whole = false;
        PyTuple_SetItem(tuple.get(), next++, item);
      };
      std::apply([&](const auto&... slot) { (AppendOutput(slot, append), ...); }, slots);
      if (last != nullptr) append(last);
      return whole ? tuple.Release() : nullptr;
    }
  }

  /// As in a stub: "(dst: int, count: int, /) -> tuple[int, int]".
  static std::string Types(const char* names) {
    std::string inputs, outputs;
    std::string rest = names;
    const auto add = [&]<typename S>(const S&) {
      if constexpr (S::kOutput) {
        outputs += (outputs.empty() ? "" : ", ") + std::string(S::kType);
      } else {
        const std::size_t end = std::min(rest.find(' '), rest.size());
        inputs += rest.substr(0, end) + ": " + S::kType + ", ";
        rest.erase(0, end + 1);
      }
    };
    Slots slots;
    std::apply([&](const auto&... slot) { (add(slot), ...); }, slots);
    if constexpr (std::is_same_v<R, void>) return "(" + inputs + "/) -> None";
    std::string last = "None";
    if constexpr (!std::is_same_v<R, void>) last = StubType<R>();
    if (kOutputs > 0) last = "tuple[" + outputs + ", " + last + "]";
    return "(" + inputs + (inputs.empty() ? "" : "/") + ") -> " + last;
  }

 private:
  template <typename S>
  static bool ReadNext(PyObject* arguments, Place* place, S* slot) {
    if constexpr (S::kOutput) {
      return true;
    } else {
      if (!slot->Read(PyTuple_GetItem(arguments, place->index), *place)) return false;
      ++place->index;
      return true;
    }
  }
  template <typename S, typename Append>
  static void AppendOutput(const S& slot, const Append& append) {
    if constexpr (S::kOutput) append(ToPython(slot.value));
  }
};

/// No destructor takes the GIL back: at the interpreter's exit CPython ends a thread that asks for it, by
/// unwinding.
template <Words name, auto function, Words parameters, Gil gil>
PyObject* Call(PyObject*, PyObject* arguments) {
  using Bound = Function<function>;
  static_assert(parameters.count() == Bound::kInputs, "a row names each input of its function");
  const Place place{name.text, parameters.text, 0};
  const Py_ssize_t given = PyTuple_Size(arguments);
  if (given != Bound::kInputs) {
    RefuseCount(place, Bound::kInputs, given);
    return nullptr;
  }
  typename Bound::Slots slots;
  if (!Bound::Read(arguments, place, &slots)) return nullptr;
  using R = decltype(Bound::Invoke(&slots));
  PyThreadState* const state = gil == Gil::kReleased ? PyEval_SaveThread() : nullptr;
  if constexpr (std::is_void_v<R>) {
    Bound::Invoke(&slots);
    if (state != nullptr) PyEval_RestoreThread(state);
    return Bound::Result(slots, nullptr);
  } else {
    const R result = Bound::Invoke(&slots);
    if (state != nullptr) PyEval_RestoreThread(state);
    PyObject* const last = ToPython(result);
    return last != nullptr ? Bound::Result(slots, last) : nullptr;
  }
}

/// The text of help(), whose first line CPython takes for the signature.
inline std::string DocumentOf(const std::string& name, std::string parameters, const std::string& types,
                              const std::string& about) {
  std::string names;
  for (std::size_t end = 0; !parameters.empty(); parameters.erase(0, end + 1)) {
    end = std::min(parameters.find(' '), parameters.size());
    names += parameters.substr(0, end) + ", ";
  }
  return name + "(" + names + (names.empty() ? "" : "/") + ")\n--\n\n" + name + types + "\n" + about;
}

template <Words name, auto function, Words parameters, Gil gil = Gil::kReleased>
PyMethodDef Row() {
  static const std::string document =
      DocumentOf(name.text, parameters.text, Function<function>::Types(parameters.text), "");
  return {name.text, Call<name, function, parameters, gil>, METH_VARARGS, document.c_str()};
}

/// A plain query.
template <Words name, auto function, Words parameters>
PyMethodDef Query() {
  return Row<name, function, parameters, Gil::kKept>();
}

/// The rows of one part of the module. Lives until the process exits, because CPython keeps the array.
using Rows = std::vector<PyMethodDef>;

}  // namespace sampan::python
