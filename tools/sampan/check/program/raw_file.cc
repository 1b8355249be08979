// The files in which a program under check writes what is found, and what it holds.
#include "tools/sampan/check/program/raw_file.h"

#include <fcntl.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

#include "base/system/descriptor.h"
#include "base/system/surviving_file.h"
#include "check/findings/findings_file.h"
#include "tools/sampan/shared/command_line/failure.h"

namespace sampan::tool {

RawFile::RawFile(const std::filesystem::path& written)
    : path_(written), file_(::open(written.c_str(), O_RDONLY | O_CLOEXEC)) {
  if (file_ < 0)
    throw Failure(kRunFailed,
                  "check: --read " + written.string() + ": " + std::generic_category().message(errno));
}

RawFile::RawFile() {
  folder_.emplace("sampan-check", kRunFailed, "what is found");
  path_ = folder_->path() / "findings";
  file_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file_ < 0)
    throw Failure(kRunFailed, path_.string() + " cannot be made: " + std::generic_category().message(errno));
  changes_ = ::inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
  if (changes_ >= 0 && ::inotify_add_watch(changes_, path_.c_str(), IN_MODIFY) < 0) {
    ::close(changes_);
    changes_ = -1;
  }
}

RawFile::~RawFile() {
  if (changes_ >= 0) ::close(changes_);
  ::close(file_);
}

std::vector<std::string> RawFile::TakeLines() {
  std::array<char, 65536> part;
  while (changes_ >= 0 && ::read(changes_, part.data(), part.size()) > 0) {
  }
  std::vector<std::string> lines;
  for (ssize_t got; (got = ::read(file_, part.data(), part.size())) != 0;) {
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) break;
    rest_.append(part.data(), static_cast<std::size_t>(got));
  }
  std::size_t begin = 0;
  for (std::size_t end; (end = rest_.find('\n', begin)) != std::string::npos; begin = end + 1)
    lines.push_back(rest_.substr(begin, end - begin));
  rest_.erase(0, begin);
  return lines;
}

std::variant<std::vector<std::uint64_t>, RawFile::NoCounters> RawFile::Counters(std::int64_t process) const {
  const std::string path = check::HeldCountsPath(path_.string(), process);
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (file.get() < 0) return NoCounters::kNone;
  if (IsLocked(file.get())) return NoCounters::kStillRuns;
  std::vector<std::uint64_t> counters(check::kHeldCounters);
  const std::size_t bytes = counters.size() * sizeof(counters.front());
  if (::pread(file.get(), counters.data(), bytes, 0) != static_cast<ssize_t>(bytes)) return NoCounters::kNone;
  return counters;
}

}  // namespace sampan::tool
