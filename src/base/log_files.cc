// The files that log lines go to.
#include "base/log_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <mutex>
#include <utility>

#include "base/file_size_signal.h"
#include "base/fork_lock.h"
#include "base/local_time.h"
#include "base/text.h"

namespace sampan {
namespace {

/// As documented for the logs of CANN.
constexpr std::uint64_t kMaxFileBytes = 20'000'000;

/// Of all files: a file is looked at, changed and written in one step. A child of fork finds it free.
ForkLock writing(ForkLock::Rank::kLeaf);

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

LogFiles::LogFiles(const std::string& root, std::size_t max_files)
    : folder_(root + "/debug/plog"), max_files_(max_files), process_(::getpid()) {
  MakeFolders(folder_);
  if (!BeginNext()) error_ = errno;
}

void LogFiles::Write(std::string_view line) {
  const std::lock_guard lock(writing);
  // If there is no next file, the old one goes on: a line more is worth more than the limit.
  if (bytes_ + line.size() > kMaxFileBytes) BeginNext();
  const NoFileSizeSignal no_signal;
  const ssize_t written = ::write(file_.get(), line.data(), line.size());
  bytes_ += static_cast<std::uint64_t>(std::max<ssize_t>(written, 0));
}

bool LogFiles::BeginNext() {
  std::string path = Text(folder_, "/plog-", ::getpid(), "_", Timestamp(), ".log");
  Descriptor next(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640));
  if (next.get() < 0) return false;
  if (process_ != ::getpid()) {  // forked: the files so far are the parent's
    process_ = ::getpid();
    paths_.clear();
  }
  file_ = std::move(next);
  bytes_ = 0;
  paths_.push_back(std::move(path));
  if (paths_.size() <= max_files_) return true;
  ::unlink(paths_.front().c_str());
  paths_.pop_front();
  return true;
}

}  // namespace sampan
