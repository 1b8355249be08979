// Which host the process runs on: one boot of a system, and one network of it. Which process it is.
#include "base/system/host_identity.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <string>

#include "base/error/system_error.h"
#include "base/error/text.h"
#include "base/system/descriptor.h"

namespace sampan {
namespace {

constexpr const char* kBootFile = "/proc/sys/kernel/random/boot_id";
constexpr const char* kNetworkFile = "/proc/self/ns/net";
constexpr const char* kProcessesFile = "/proc/self/ns/pid";

Error CannotRead(const char* file) {
  return {Code::kInternalError, Text("the host has no name: ", file, ": ", SystemError(errno))};
}

/// The number of a namespace of this process.
Status ReadNumber(const char* file, std::uint64_t& number) {
  struct stat facts = {};
  if (::stat(file, &facts) != 0) return CannotRead(file);
  number = facts.st_ino;
  return {};
}

/// Reads 32 hexadecimal digits, with dashes between some of them.
bool ReadDigits(std::string_view text, std::array<std::uint8_t, 16>& bytes) {
  std::size_t done = 0;
  for (std::size_t at = 0; done < bytes.size() && at + 1 < text.size();) {
    if (text[at] == '-') {
      ++at;
      continue;
    }
    const char* const digits = text.data() + at;
    const auto [end, error] = std::from_chars(digits, digits + 2, bytes[done], 16);
    if (error != std::errc() || end != digits + 2) return false;
    ++done;
    at += 2;
  }
  return done == bytes.size();
}

}  // namespace

std::uint64_t HashOf(const HostIdentity& host) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const std::uint8_t each : host.boot)
    hash = (hash ^ each) * 0x100000001b3;
  hash = (hash ^ host.network) * 0x9e3779b97f4a7c15;
  hash = (hash ^ (hash >> 32)) * 0x9e3779b97f4a7c15;
  return hash ^ (hash >> 29);
}

Result<HostIdentity> ThisHost() {
  HostIdentity host;
  std::array<char, 64> text{};
  const Descriptor file(::open(kBootFile, O_RDONLY | O_CLOEXEC));
  const ssize_t length = file.get() < 0 ? -1 : ::read(file.get(), text.data(), text.size());
  if (length < 0) return CannotRead(kBootFile);
  if (!ReadDigits({text.data(), static_cast<std::size_t>(length)}, host.boot)) {
    errno = EINVAL;
    return CannotRead(kBootFile);
  }
  if (Status read = ReadNumber(kNetworkFile, host.network); !read.ok()) return read;
  return host;
}

Result<ProcessIdentity> ThisProcess() {
  auto host = ThisHost();
  if (!host.ok()) return host.TakeStatus();
  ProcessIdentity identity{*host, ::getpid(), 0};
  if (Status read = ReadNumber(kProcessesFile, identity.name_space); !read.ok()) return read;
  return identity;
}

}  // namespace sampan
