// The lines of a text file that may be compressed.
#include "tools/sampan/shared/trace/trace_lines.h"

#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "tools/sampan/shared/command_line/failure.h"

namespace sampan::tool {
namespace {

/// Far longer than any line of a trace.
constexpr std::size_t kMaxLineBytes = std::size_t{1} << 20;
/// The buffer grows while the text fills it: clearing 2 MiB takes longer than reading a short trace.
constexpr std::size_t kFirstBufferBytes = std::size_t{16} << 10, kMaxBufferBytes = 2 * kMaxLineBytes;
/// The same for zlib's own buffer, which a file need not fill.
constexpr double kMinUnpackBytes = 8192, kMaxUnpackBytes = 262'144;

}  // namespace

struct TraceLines::File {
  gzFile handle = nullptr;
  ~File() {
    if (handle != nullptr) ::gzclose(handle);
  }
};

TraceLines::TraceLines(std::filesystem::path path)
    : path_(std::move(path)), file_(std::make_unique<File>()), buffer_(kFirstBufferBytes) {
  std::error_code error;
  if (std::filesystem::is_directory(path_, error))
    throw Failure(kBadTrace, path_.string() + " is a folder; name a trace file in it");
  file_->handle = ::gzopen(path_.c_str(), "rbe");
  if (file_->handle == nullptr) {
    throw Failure(kBadTrace, path_.string() + " cannot be opened: " + std::generic_category().message(errno) +
                                 "; name a file of 'sampan run --trace'");
  }
  if (const auto bytes = std::filesystem::file_size(path_, error); !error)
    file_bytes_ = static_cast<double>(bytes);
  const double unpack_bytes = file_bytes_ == 0 ? kMaxUnpackBytes  // a pipe
                                               : std::clamp(file_bytes_, kMinUnpackBytes, kMaxUnpackBytes);
  ::gzbuffer(file_->handle, static_cast<unsigned>(unpack_bytes));
}

TraceLines::~TraceLines() = default;

double TraceLines::share() const {
  return file_bytes_ > 0 ? static_cast<double>(::gzoffset(file_->handle)) / file_bytes_ : 0;
}

bool TraceLines::Refill() {
  if (is_over_) return false;
  std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
  end_ -= begin_;
  begin_ = 0;
  if (is_full_ && buffer_.size() < kMaxBufferBytes) buffer_.resize(2 * buffer_.size());
  const int got =
      ::gzread(file_->handle, buffer_.data() + end_, static_cast<unsigned>(buffer_.size() - end_));
  if (got > 0) end_ += static_cast<std::size_t>(got);
  is_full_ = end_ == buffer_.size();
  int code = Z_OK;
  const char* const message = ::gzerror(file_->handle, &code);
  if (code == Z_BUF_ERROR) {
    is_cut_ = true;
  } else if (code != Z_OK && code != Z_STREAM_END) {
    throw Failure(kBadTrace, path_.string() + ": damaged behind line " + std::to_string(number_) + ": " +
                                 (code == Z_ERRNO ? std::generic_category().message(errno) : message));
  }
  is_over_ = got <= 0;
  return got > 0;
}

bool TraceLines::Next(std::string_view& line) {
  for (;;) {
    const char* const first = buffer_.data() + begin_;
    const void* const found = std::memchr(first, '\n', end_ - begin_);
    if (found == nullptr && end_ - begin_ > kMaxLineBytes) {
      throw Failure(kBadTrace, path_.string() + ": line " + std::to_string(number_ + 1) +
                                   " is longer than any of a trace; is it a file of 'sampan run --trace'?");
    }
    if (found == nullptr && Refill()) continue;
    if (found == nullptr && begin_ == end_) return false;
    const char* const last = found == nullptr ? first + (end_ - begin_) : static_cast<const char*>(found);
    line = {first, static_cast<std::size_t>(last - first)};
    begin_ += line.size() + (found == nullptr ? 0 : 1);
    is_unfinished_ = found == nullptr;
    ++number_;
    return true;
  }
}

}  // namespace sampan::tool
