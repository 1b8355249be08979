// The place of a trace that a program is about to write.
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

/// Plain or compressed, a trace has its name near the beginning.
bool IsTrace(const std::filesystem::path& path) {
  if (!std::filesystem::is_regular_file(path)) return false;
  std::array<char, 128> beginning{};
  std::ifstream file(path, std::ios::binary);
  file.read(beginning.data(), beginning.size());
  const std::string_view text(beginning.data(), static_cast<std::size_t>(file.gcount()));
  return text.empty() || text.find("sampan_trace") != std::string_view::npos;
}

}  // namespace

void MakeRoomForTrace(const std::string& path) {
  const bool numbered = path.find("%p") != std::string::npos;
  if (!numbered && std::filesystem::exists(path)) {
    if (!IsTrace(path)) throw Failure(kRunFailed, path + " is there and is no trace: choose another name");
    std::filesystem::remove(path);
  }
  const int made = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (made < 0) throw Failure(kRunFailed, "the trace " + path + " cannot be made: " + std::strerror(errno));
  ::close(made);
  std::filesystem::remove(path);
}

}  // namespace sampan::tool
