// A file that appears whole or not at all.
#include "tools/sampan/shared/output/output_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "tools/sampan/shared/command_line/failure.h"

namespace sampan::tool {
namespace {

Failure WriteFailure(const std::filesystem::path& path, int reason) {
  return Failure(kOutputFailed, path.string() +
                                    " cannot be written: " + std::generic_category().message(reason) +
                                    "; name another file or make room");
}

}  // namespace

OutputFile::OutputFile(std::filesystem::path path) : path_(std::move(path)) {
  if (std::filesystem::is_directory(path_)) throw WriteFailure(path_, EISDIR);
  std::string name = path_.string() + ".XXXXXX";
  file_ = ::mkostemp(name.data(), O_CLOEXEC);
  if (file_ < 0) throw WriteFailure(path_, errno);
  temporary_ = name;
  const mode_t hidden = ::umask(0);
  ::umask(hidden);
  ::fchmod(file_, 0666 & ~hidden);
}

OutputFile::~OutputFile() {
  if (file_ >= 0) ::close(file_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void OutputFile::Commit(std::string_view contents) {
  while (!contents.empty()) {
    const ssize_t written = ::write(file_, contents.data(), contents.size());
    if (written < 0 && errno != EINTR) throw WriteFailure(path_, errno);
    if (written > 0) contents.remove_prefix(static_cast<std::size_t>(written));
  }
  // Some file systems notice only now that there is no room.
  if (::fsync(file_) != 0 && errno != EINVAL && errno != EROFS) throw WriteFailure(path_, errno);
  const int closed = ::close(file_);
  file_ = -1;
  if (closed != 0) throw WriteFailure(path_, errno);
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) throw WriteFailure(path_, errno);
  temporary_.clear();
}

}  // namespace sampan::tool
