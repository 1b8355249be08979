// The file in which a program under check writes what is found.
#include "tools/sampan/check/raw_file.h"

#include <fcntl.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <system_error>

#include "tools/sampan/shared/command_line/failure.h"

namespace sampan::tool {

RawFile::RawFile() {
  std::error_code no_folder;
  std::filesystem::path folder = std::filesystem::temp_directory_path(no_folder);
  if (no_folder) folder = "/tmp";
  std::string name = (folder / "sampan-check-XXXXXX").string();
  file_ = ::mkostemp(name.data(), O_CLOEXEC);
  if (file_ < 0)
    throw Failure(kRunFailed, "check: no file can be made in " + folder.string() + " for what is found: " +
                                  std::generic_category().message(errno) + "; set TMPDIR to another folder");
  path_ = name;
  changes_ = ::inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
  if (changes_ >= 0 && ::inotify_add_watch(changes_, name.c_str(), IN_MODIFY) < 0) {
    ::close(changes_);
    changes_ = -1;
  }
}

RawFile::~RawFile() {
  if (changes_ >= 0) ::close(changes_);
  ::close(file_);
  ::unlink(path_.c_str());
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

}  // namespace sampan::tool
