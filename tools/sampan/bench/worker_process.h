// A child process that serves requests, so that work runs with settings of its own.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstring>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

namespace sampan::tool {

/// Objects are sent as bytes, because both ends are the same program.
template <typename Object>
std::string_view BytesOf(const Object& object) {
  static_assert(std::is_trivially_copyable_v<Object>);
  return {reinterpret_cast<const char*>(&object), sizeof(object)};
}
template <typename Object>
Object FromBytes(std::string_view bytes) {
  static_assert(std::is_trivially_copyable_v<Object>);
  if (bytes.size() != sizeof(Object)) throw std::length_error("a message between processes is cut");
  Object object;
  std::memcpy(&object, bytes.data(), sizeof(object));
  return object;
}

/// Create it before this process starts the runtime. The child exits with this process. Not thread-safe.
class WorkerProcess {
 public:
  static constexpr std::size_t kMaxRequestBytes = 4096;
  /// Longer replies and reasons are cut.
  static constexpr std::size_t kMaxReplyBytes = 64 * 1024;
  using Reply = std::function<std::string(std::string_view request)>;

  /// The child calls `begin` once, and the returned function for each request. If that function throws, its
  /// request fails. If `begin` throws, the child exits. Messages call the child `name`.
  WorkerProcess(std::string name, const std::function<Reply()>& begin);
  ~WorkerProcess();
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  /// A request has at least one byte. Returns nothing after an interrupt. Throws a Failure if there is no
  /// reply or the process is gone.
  std::optional<std::string> Ask(std::string_view request);

 private:
  bool AwaitReply() const;
  std::string WhyGone();

  const std::string name_;
  int connection_ = -1;
  pid_t process_ = -1;
};

}  // namespace sampan::tool
