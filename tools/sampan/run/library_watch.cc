// Detects whether a program opens our library.
#include "tools/sampan/run/library_watch.h"

#include <poll.h>
#include <sys/inotify.h>
#include <unistd.h>

namespace sampan::tool {

LibraryWatch::LibraryWatch(const std::vector<std::filesystem::path>& files)
    : queue_(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK)) {
  for (const std::filesystem::path& file : files)
    complete_ = ::inotify_add_watch(queue_, file.c_str(), IN_OPEN) >= 0 && complete_;
}

LibraryWatch::~LibraryWatch() {
  if (queue_ >= 0) ::close(queue_);
}

bool LibraryWatch::MayHaveBeenOpened() const {
  if (!complete_) return true;
  pollfd waiting{queue_, POLLIN, 0};
  return ::poll(&waiting, 1, 0) != 0;
}

}  // namespace sampan::tool
