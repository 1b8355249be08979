// A child process that answers requests, so that something runs with settings of its own.
#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace sampan::tool {

/// Made before this process starts the runtime. Ends with this process. Used by one thread.
class AnsweringProcess {
 public:
  /// Longer answers and reasons are cut.
  static constexpr std::size_t kMostAnswer = 64 * 1024;
  using Answer = std::function<std::string(std::string_view request)>;

  /// The child calls `begin` once, and what it gave for each request; an exception of that is the answer's
  /// failure, one of `begin` ends the child. `name` is what messages call it.
  AnsweringProcess(std::string name, const std::function<Answer()>& begin);
  ~AnsweringProcess();
  AnsweringProcess(const AnsweringProcess&) = delete;
  AnsweringProcess& operator=(const AnsweringProcess&) = delete;

  /// Nothing after an interrupt. Throws a Failure with the reason when there is no answer, and when the
  /// process is gone.
  std::optional<std::string> Ask(std::string_view request);

 private:
  bool AwaitAnswer() const;
  std::string WhyGone();

  const std::string name_;
  int connection_ = -1;
  pid_t process_ = -1;
};

}  // namespace sampan::tool
