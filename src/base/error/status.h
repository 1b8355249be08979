// The result of an operation: a pointer that is null on success and owns an Error otherwise.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/error/code.h"

namespace sampan {

/// What went wrong. The function that detects the error fills it.
struct Error {
  static constexpr std::size_t kNoItem = SIZE_MAX;

  Code code = Code::kInternalError;
  std::string message;
  std::size_t item = kNoItem;  ///< the batch entry that is wrong
  bool unrecorded = false;     ///< if true, the code does not become the thread's last error
  bool expected = false;       ///< programs call until it goes away: no error in the log
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

/// A value, or the Error that explains why there is none. Move-only; not thread-safe.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(const T& value) : value_(value) {}
  Result(T&& value) : value_(std::move(value)) {}
  Result(Status status) : status_(std::move(status)) {}
  /// Constructs the value in place, by its default constructor.
  explicit Result(std::in_place_t) : value_(std::in_place) {}
  Result(Error error) : Result(Status(std::move(error))) {}

  bool ok() const { return value_.has_value(); }
  T& value() { return *value_; }
  const T& value() const { return *value_; }
  T& operator*() { return value(); }
  T* operator->() { return &value(); }
  Code code() const { return status_.code(); }
  const Error& error() const { return status_.error(); }
  /// Moves the error out. Only if ok() is false.
  Status TakeStatus() { return std::move(status_); }

 private:
  std::optional<T> value_;
  Status status_;
};

}  // namespace sampan
