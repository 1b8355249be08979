// Prepares the path of a trace that a program will write.
#include "tools/sampan/shared/trace/trace_place.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "tools/sampan/shared/command_line/failure.h"

namespace sampan::tool {
namespace {

/// An empty file may be replaced too.
bool IsTraceOrEmpty(const std::filesystem::path& path) {
  if (!std::filesystem::is_regular_file(path)) return false;
  std::array<char, kTraceHeadBytes> beginning{};
  std::ifstream file(path, std::ios::binary);
  file.read(beginning.data(), beginning.size());
  const std::string_view text(beginning.data(), static_cast<std::size_t>(file.gcount()));
  return text.empty() || IsTraceHead(text);
}

}  // namespace

bool IsTraceHead(std::string_view beginning) {
  return beginning.substr(0, kTraceHeadBytes).find("sampan_trace") != std::string_view::npos;
}

void MakeRoomForTrace(const std::string& path) {
  const bool numbered = path.find("%p") != std::string::npos;
  if (!numbered && std::filesystem::exists(path)) {
    if (!IsTraceOrEmpty(path))
      throw Failure(kRunFailed, path + " is there and is no trace; choose another name for the trace");
    std::filesystem::remove(path);
  }
  const int made = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (made < 0)
    throw Failure(kRunFailed, "the trace " + path + " cannot be made: " + std::strerror(errno) +
                                  "; name a file in a folder that you may write to");
  ::close(made);
  std::filesystem::remove(path);
}

}  // namespace sampan::tool
