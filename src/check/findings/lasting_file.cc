// A file that the checker writes, although the program may close what it did not open.
#include "check/findings/lasting_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/error/system_error.h"
#include "base/error/text.h"

namespace sampan::check {
namespace {

/// Never blocks, unlike open(2) of a FIFO, and follows no link.
int OpenToAppend(const std::string& path, int more_flags) noexcept {
  return ::open(path.c_str(),
                O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | more_flags, 0666);
}

}  // namespace

Result<LastingFile> LastingFile::Open(std::string_view variable, const std::string& path) {
  const auto refuse = [&](std::string_view why) {
    return Error{Code::kDeviceSetupError, Text(variable, ": '", path, "' cannot be written: ", why)};
  };
  LastingFile opened;
  opened.file_ = OpenToAppend(path, O_CREAT);
  if (opened.file_ < 0) return refuse(SystemError(errno));
  struct stat facts = {};
  if (::fstat(opened.file_, &facts) != 0 || !S_ISREG(facts.st_mode) || facts.st_uid != ::geteuid()) {
    ::close(opened.file_);
    return refuse("it is not a file of this user");
  }
  opened.path_ = path;
  opened.device_ = facts.st_dev;
  opened.inode_ = facts.st_ino;
  return opened;
}

int LastingFile::Get() noexcept {
  const auto is_it = [this](int file) {
    struct stat facts = {};
    return file >= 0 && ::fstat(file, &facts) == 0 && facts.st_dev == device_ && facts.st_ino == inode_;
  };
  if (is_it(file_)) return file_;
  const int again = OpenToAppend(path_, 0);
  if (again >= 0 && !is_it(again)) {  // another file has the name now
    ::close(again);
    return -1;
  }
  return file_ = again;
}

}  // namespace sampan::check
