// Completes a trace of a program that was killed during a write.
#include "tools/sampan/run/trace_end.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

#include "base/system/surviving_file.h"
#include "tools/sampan/shared/output/terminal.h"
#include "tools/sampan/shared/trace/trace_place.h"
#include "trace/gzip_members.h"
#include "trace/trace_file.h"

namespace sampan::tool {
namespace {

constexpr std::string_view kBracket = "]\n";
/// Larger than one write of the runtime.
constexpr std::size_t kLastBytes = std::size_t{8} << 20;
constexpr std::size_t kMinUnpackBytes = std::size_t{64} << 10;

/// A position in the file, and the text that replaces the rest from there on.
struct NewEnd {
  std::size_t from;
  std::string text;
};

std::string_view WholeLines(std::string_view text) {
  return text.substr(0, text.rfind('\n') + 1);
}

/// `last`: the last bytes of the file, from a page boundary. A cut write ends at a page boundary, after whole
/// events.
NewEnd EndOfText(std::string_view last) {
  const std::size_t behind = last.find_last_not_of(" \n") + 1;
  if (last.substr(0, behind).ends_with(']')) return {.from = last.size(), .text = {}};
  const bool is_whole = last.size() % trace::TraceFile::kPageBytes == 0;
  return {.from = is_whole ? last.size() : WholeLines(last).size(), .text = std::string(kBracket)};
}

/// The available text of the first member. If the member is complete, `used` is its length.
std::string Unpacked(std::string_view packed, std::size_t& used) {
  z_stream stream{};
  if (::inflateInit2(&stream, 15 + 16) != Z_OK) throw std::bad_alloc();
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  std::string text;
  int code = Z_OK;
  while (code == Z_OK) {
    const std::size_t before = text.size();
    const std::size_t more = std::clamp(before, kMinUnpackBytes, kLastBytes);  // clearing it takes time
    text.resize(before + more);
    stream.next_out = reinterpret_cast<Bytef*>(text.data() + before);
    stream.avail_out = static_cast<uInt>(more);
    code = ::inflate(&stream, Z_NO_FLUSH);
    text.resize(text.size() - stream.avail_out);
  }
  used = code == Z_STREAM_END ? packed.size() - stream.avail_in : 0;
  ::inflateEnd(&stream);
  return text;
}

/// `last`: the last bytes of the file, in which a member begins.
NewEnd EndOfMembers(std::string_view last) {
  trace::GzipMembers members;
  const std::string_view tail = members.tail();
  if (last.ends_with(tail)) return {.from = last.size(), .text = {}};
  // All members begin with the same ten bytes, which have no time.
  const std::size_t begin = last.rfind(tail.substr(0, 10));
  if (begin == std::string_view::npos) return {.from = last.size(), .text = {}};
  std::size_t used = 0;
  const std::string text = Unpacked(last.substr(begin), used);
  if (used != 0) return {.from = begin + used, .text = std::string(tail)};
  NewEnd end{.from = begin, .text = {}};
  // A cut write has left bytes of the tail that it should replace.
  if (last.size() - begin > tail.size()) members.Append(WholeLines(text), end.text);
  end.text += tail;
  return end;
}

/// Only a trace of this user is edited, because the program may have put anything else at this path.
bool IsOwnTrace(int file, const struct stat& facts) {
  if (!S_ISREG(facts.st_mode) || facts.st_uid != ::geteuid()) return false;
  std::array<char, kTraceHeadBytes> beginning{};
  const ssize_t got = ::pread(file, beginning.data(), beginning.size(), 0);
  return got > 0 && IsTraceHead({beginning.data(), static_cast<std::size_t>(got)});
}

/// Returns false and sets errno if a system call fails.
bool Complete(int file, bool is_packed) {
  struct stat facts {};
  if (::fstat(file, &facts) != 0) return false;
  if (!IsOwnTrace(file, facts)) return true;
  const auto size = static_cast<std::size_t>(facts.st_size);
  std::size_t begin = size - std::min(size, kLastBytes);
  begin -= begin % trace::TraceFile::kPageBytes;
  std::string last(size - begin, ' ');
  if (::pread(file, last.data(), last.size(), static_cast<off_t>(begin)) != static_cast<ssize_t>(last.size()))
    return false;
  const NewEnd end = is_packed ? EndOfMembers(last) : EndOfText(last);
  if (end.text.empty()) return true;
  const auto from = static_cast<off_t>(begin + end.from);
  return ::ftruncate(file, from) == 0 &&
         ::pwrite(file, end.text.data(), end.text.size(), from) == static_cast<ssize_t>(end.text.size());
}

}  // namespace

void CompleteTrace(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (file < 0) return;
  errno = 0;
  if (!IsLocked(file) && !Complete(file, path.ends_with(".gz")))
    Note("the trace " + path +
         " has no closing bracket, which most readers do without: " + std::generic_category().message(errno));
  ::close(file);
}

}  // namespace sampan::tool
