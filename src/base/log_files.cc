// The files that log lines go to.
#include "base/log_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <utility>

#include "base/local_time.h"
#include "base/text.h"

namespace sampan {
namespace {

/// Files have at most 20 MB; the rest is for lines that other threads write while the next one is made.
constexpr std::uint64_t kFullBytes = 19'000'000;

void MakeFolders(const std::string& path) {
  // What cannot be made is either there already, or missed when the file is opened.
  for (std::size_t slash = path.find('/', 1); slash != std::string::npos; slash = path.find('/', slash + 1))
    ::mkdir(path.substr(0, slash).c_str(), 0750);
  ::mkdir(path.c_str(), 0750);
}

/// Down to milliseconds, in digits alone.
std::string Timestamp() {
  const LocalTime now = LocalTime::Now();
  std::array<char, 80> text{};
  std::snprintf(text.data(), text.size(), "%04d%02d%02d%02d%02d%02d%03d", now.year, now.month, now.day,
                now.hour, now.minute, now.second, now.microsecond / 1000);
  return text.data();
}

}  // namespace

LogFiles::LogFiles(const std::string& root, std::size_t most_files)
    : folder_(root + "/debug/plog"), most_files_(most_files), process_(::getpid()) {
  MakeFolders(folder_);
  descriptor_ = OpenNext();
  if (descriptor_ < 0) error_ = errno;
}

void LogFiles::Write(std::string_view line) {
  // Exactly one line reaches over the limit, whichever threads write: it begins the next file.
  const std::uint64_t before = bytes_.fetch_add(line.size());
  if (before <= kFullBytes && before + line.size() > kFullBytes) {
    bytes_.store(line.size());
    BeginNext();
  }
  // One write call a line keeps lines of several threads whole.
  [[maybe_unused]] const ssize_t written = ::write(descriptor_, line.data(), line.size());
}

int LogFiles::OpenNext() {
  std::string path = Text(folder_, "/plog-", process_, "_", Timestamp(), ".log");
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640);
  if (file >= 0) paths_.push_back(std::move(path));
  return file;
}

void LogFiles::BeginNext() {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock) return;
  if (process_ != ::getpid()) {  // forked: what there is, is the parent's
    process_ = ::getpid();
    paths_.clear();
  }
  const int next = OpenNext();
  if (next < 0) return;  // the old one goes on
  ::dup3(next, descriptor_, O_CLOEXEC);
  ::close(next);
  if (paths_.size() <= most_files_) return;
  ::unlink(paths_.front().c_str());
  paths_.pop_front();
}

}  // namespace sampan
