// Log files: created, written, limited in size and number.
#include "base/log/log_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <mutex>
#include <utility>

#include "base/error/text.h"
#include "base/system/file_size_signal.h"
#include "base/threads/fork_lock.h"
#include "base/time/local_time.h"

namespace sampan {
namespace {

/// As documented for the logs of CANN.
constexpr std::uint64_t kMaxFileBytes = 20'000'000;

/// Guards all files: checking, changing and writing a file is one step. Free in a forked child.
ForkLock writing(ForkLock::Rank::kLeaf);

constexpr mode_t kFolderMode = 0750, kFileMode = 0640;
/// How many names to try if files exist already. Each name is one millisecond later.
constexpr int kMaxNames = 20;

/// Creates the folder and its parents.
void MakeFolders(const std::string& path) {
  // Ignores errors: a folder exists already, or opening it fails later.
  for (std::size_t slash = path.find('/', 1); slash != std::string::npos; slash = path.find('/', slash + 1))
    ::mkdir(path.substr(0, slash).c_str(), kFolderMode);
  ::mkdir(path.c_str(), kFolderMode);
}

/// Opens the folder of the files below the user's root. The root may be a symbolic link. The folders below it
/// may not: where other users can write, a link could lead anywhere.
Descriptor OpenFolder(const std::string& root) {
  MakeFolders(root);
  Descriptor folder(::open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  for (const char* name : {"debug", "plog"}) {
    if (folder.get() < 0) return folder;
    ::mkdirat(folder.get(), name, kFolderMode);
    folder = Descriptor(::openat(folder.get(), name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  }
  return folder;
}

/// Digits only, with milliseconds.
std::string Timestamp() {
  const LocalTime now = LocalTime::Now();
  std::array<char, 80> text{};
  std::snprintf(text.data(), text.size(), "%04d%02d%02d%02d%02d%02d%03d", now.year, now.month, now.day,
                now.hour, now.minute, now.second, now.microsecond / 1000);
  return text.data();
}

}  // namespace

LogFiles::LogFiles(const std::string& root, std::size_t max_files)
    : root_(root), max_files_(max_files), process_(::getpid()) {
  if (!BeginNext()) error_ = errno;
}

void LogFiles::Write(std::string_view line) {
  const std::lock_guard lock(writing);
  // A forked child does not count what its parent writes, so it begins a file of its own. If no next file can
  // be created, the old one continues: losing a line is worse than exceeding the limit.
  if (bytes_ + line.size() > kMaxFileBytes || process_ != ::getpid()) BeginNext();
  const NoFileSizeSignal no_signal;
  const ssize_t written = ::write(file_.get(), line.data(), line.size());
  bytes_ += static_cast<std::uint64_t>(std::max<ssize_t>(written, 0));
}

bool LogFiles::BeginNext() {
  const Descriptor folder = OpenFolder(root_);
  if (folder.get() < 0) return false;
  Descriptor next;
  std::string name;
  for (int i = 0; i < kMaxNames && next.get() < 0; ++i) {
    if (i != 0) ::usleep(1000);
    name = Text("plog-", ::getpid(), "_", Timestamp(), ".log");
    // Creates a new file only: an existing file or link of that name may belong to another user.
    next = Descriptor(::openat(folder.get(), name.c_str(),
                               O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_APPEND | O_CLOEXEC, kFileMode));
    if (next.get() < 0 && errno != EEXIST) return false;
  }
  if (next.get() < 0) return false;
  if (process_ != ::getpid()) {  // in a forked child, the files so far belong to the parent
    process_ = ::getpid();
    names_.clear();
  }
  file_ = std::move(next);
  bytes_ = 0;
  names_.push_back(std::move(name));
  if (names_.size() <= max_files_) return true;
  ::unlinkat(folder.get(), names_.front().c_str(), 0);
  names_.pop_front();
  return true;
}

}  // namespace sampan
