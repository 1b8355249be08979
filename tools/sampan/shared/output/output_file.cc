// Writes a result to a file (completely or not at all), a device, a pipe or standard output.
#include "tools/sampan/shared/output/output_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "tools/sampan/shared/command_line/failure.h"

namespace sampan::tool {
namespace {

constexpr mode_t kPermissions = 0777;

Failure WriteFailure(const std::filesystem::path& path, const std::string& reason) {
  return Failure(kOutputFailed, path.string() + " cannot be written: " + reason);
}

Failure WriteFailure(const std::filesystem::path& path, int reason) {
  return WriteFailure(path, std::generic_category().message(reason) + "; name another file or make room");
}

mode_t ModeOfNewFiles() {
  const mode_t hidden = ::umask(0);
  ::umask(hidden);
  return 0666 & ~hidden;
}

}  // namespace

OutputFile::OutputFile(std::filesystem::path path) : path_(std::move(path)) {
  if (is_standard_output()) {
    file_ = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (file_ < 0) throw WriteFailure(path_, errno);
    return;
  }
  struct stat facts {};
  if (::lstat(path_.c_str(), &facts) != 0) {
    if (errno != ENOENT) throw WriteFailure(path_, errno);
    OpenTemporary(ModeOfNewFiles());
  } else if (S_ISREG(facts.st_mode)) {
    OpenTemporary(facts.st_mode & kPermissions);
  } else {
    OpenSpecial(facts.st_mode & S_IFMT);
  }
}

OutputFile::~OutputFile() {
  if (file_ >= 0) ::close(file_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void OutputFile::OpenTemporary(mode_t mode) {
  std::string name = path_.string() + ".XXXXXX";
  file_ = ::mkostemp(name.data(), O_CLOEXEC);
  if (file_ < 0) throw WriteFailure(path_, errno);
  temporary_ = name;
  ::fchmod(file_, mode);
}

void OutputFile::OpenSpecial(mode_t type) {
  if (type == S_IFLNK)
    throw WriteFailure(path_,
                       "it is a symbolic link; name the file that it leads to, or - for standard output");
  if (type == S_IFDIR) throw WriteFailure(path_, EISDIR);
  file_ = ::open(path_.c_str(), O_WRONLY | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC);
  if (file_ < 0) throw WriteFailure(path_, errno);
  struct stat opened {};
  if (::fstat(file_, &opened) == 0 && (opened.st_mode & S_IFMT) == type) return;
  ::close(file_);
  throw WriteFailure(path_, "it was replaced just now; try again");
}

void OutputFile::Commit(std::string_view contents) {
  while (!contents.empty()) {
    const ssize_t written = ::write(file_, contents.data(), contents.size());
    if (written < 0 && errno != EINTR) throw WriteFailure(path_, errno);
    if (written > 0) contents.remove_prefix(static_cast<std::size_t>(written));
  }
  // Some file systems report only now that they are full. Pipes and some devices have nothing to flush.
  if (::fsync(file_) != 0 && errno != EINVAL && errno != EROFS) throw WriteFailure(path_, errno);
  const int closed = ::close(file_);
  file_ = -1;
  if (closed != 0) throw WriteFailure(path_, errno);
  if (temporary_.empty()) return;
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) throw WriteFailure(path_, errno);
  temporary_.clear();
}

}  // namespace sampan::tool
