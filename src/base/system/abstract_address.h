// Addresses of Unix-domain sockets with an abstract name, which leave no file when a process dies.
#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string_view>

namespace sampan {

struct AbstractAddress {
  explicit AbstractAddress(std::string_view name) {
    address.sun_family = AF_UNIX;
    const std::size_t length = std::min(name.size(), sizeof(address.sun_path) - 1);
    std::memcpy(address.sun_path + 1, name.data(), length);  // the leading zero makes the name abstract
    bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + length);
  }

  sockaddr_un address{};
  socklen_t bytes = 0;
};

}  // namespace sampan
