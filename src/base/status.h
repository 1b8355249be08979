// The outcome of an operation: one word when it succeeded, an owned Error otherwise.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>

#include "base/code.h"

namespace sampan {

/// What went wrong, written by the place that decided it. Plain data.
struct Error {
  static constexpr std::size_t kNoItem = SIZE_MAX;

  Code code = Code::kInternalError;
  std::string message;
  std::size_t item = kNoItem;  ///< The batch entry at fault.
  bool unrecorded = false;     ///< A runtime code that must not become the thread's last error.
};

/// Success or an Error. Move-only; not thread-safe.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Error error) : error_(std::make_unique<Error>(std::move(error))) {}
  Status(Code code, std::string message) : Status(Error{code, std::move(message)}) {}

  bool ok() const { return error_ == nullptr; }
  Code code() const { return ok() ? Code::kOk : error_->code; }
  const Error& error() const { return *error_; }
  Error& error() { return *error_; }

 private:
  std::unique_ptr<Error> error_;
};

/// A value, or the Error that kept it from being made. Move-only; not thread-safe.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Status status) : state_(std::in_place_index<1>, std::move(status)) {}
  Result(Error error) : Result(Status(std::move(error))) {}

  bool ok() const { return state_.index() == 0; }
  T& value() { return std::get<0>(state_); }
  const T& value() const { return std::get<0>(state_); }
  T& operator*() { return value(); }
  T* operator->() { return &value(); }
  Code code() const { return ok() ? Code::kOk : std::get<1>(state_).code(); }
  /// The failure, handed on; only after ok() was false.
  Status TakeStatus() { return std::move(std::get<1>(state_)); }

 private:
  std::variant<T, Status> state_;
};

}  // namespace sampan
