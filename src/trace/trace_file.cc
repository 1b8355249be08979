// The file of a trace. It is valid after every write, even if the process is killed.
#include "trace/trace_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/error/system_error.h"
#include "base/error/text.h"

namespace sampan::trace {
namespace {

constexpr std::size_t kMuchBytes = std::size_t{512} << 10;
constexpr std::string_view kPlainTail = "]\n";

}  // namespace

Result<std::unique_ptr<TraceFile>> TraceFile::Create(const std::string& path, Head head) {
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (descriptor < 0) {
    const int error = errno;
    return Error{error == EEXIST ? Code::kInvalidFile : Code::kDeviceSetupError,
                 Text("the trace ", path, " cannot be made: ", SystemError(error))};
  }
  // Tells `sampan run` that a process writes here. Without locks, `sampan run` does not ask.
  struct flock all {};
  all.l_type = F_WRLCK;
  static_cast<void>(::fcntl(descriptor, F_SETLK, &all));
  std::unique_ptr<TraceFile> file(new TraceFile(path, descriptor, std::move(head)));
  const std::string_view beginning = file->Beginning(FileState::kRunning);
  file->end_ = beginning.size();
  file->bytes_.assign(beginning).append(file->tail_);
  if (file->Write(0, file->bytes_)) return file;
  ::unlink(path.c_str());
  return Error{Code::kResourceAllocFail, Text("the trace ", path, " cannot be written: ", file->failure_)};
}

TraceFile::TraceFile(std::string path, int descriptor, Head head)
    : path_(std::move(path)),
      descriptor_(descriptor),
      head_(std::move(head)),
      gzip_(path_.ends_with(".gz") ? std::make_unique<GzipMembers>() : nullptr),
      tail_(gzip_ != nullptr ? gzip_->tail() : kPlainTail) {}

TraceFile::~TraceFile() {
  ::close(descriptor_);
}

std::string_view TraceFile::Beginning(FileState state) {
  std::string text = "[\n" + head_(state);
  text.resize(kHeadBytes + 2, ' ');
  text += '\n';
  if (gzip_ == nullptr) {
    beginning_ = std::move(text);
  } else {
    beginning_.clear();
    gzip_->AppendStored(text, beginning_);
  }
  return beginning_;
}

void TraceFile::Add(std::string_view event) {
  if (failure_.empty()) AppendLine(pending_, end_, event);
}

void TraceFile::AddOpen(std::string_view event) {
  if (failure_.empty()) AppendLine(open_, end_ + pending_.size(), event);
}

void TraceFile::AppendLine(std::string& lines, std::uint64_t offset, std::string_view event) const {
  if (gzip_ == nullptr) {
    const std::size_t used = (offset + lines.size()) % kPageBytes;
    // Counts the comma before it, and the line feed and the closing bracket behind it.
    if (used + event.size() + 2 + kPlainTail.size() > kPageBytes) lines.append(kPageBytes - used, ' ');
  }
  lines += ',';
  lines += event;
  lines += '\n';
}

void TraceFile::FlushIfMuch() {
  if (pending_.size() >= kMuchBytes) Flush();
}

void TraceFile::Flush() {
  const bool changes = !pending_.empty() || !open_.empty() || open_bytes_ != 0;
  if (!changes || !failure_.empty()) return;
  if (gzip_ != nullptr) {
    bytes_.clear();
    if (!pending_.empty()) gzip_->Append(pending_, bytes_);
  }
  std::string& bytes = gzip_ != nullptr ? bytes_ : pending_;
  const std::uint64_t events_bytes = bytes.size();
  if (gzip_ == nullptr) {
    bytes += open_;
  } else if (!open_.empty()) {
    gzip_->Append(open_, bytes);
  }
  const std::uint64_t open_bytes = bytes.size() - events_bytes;
  // Nothing may stay behind the new tail. A signal between the two calls leaves the tail out.
  if (bytes.size() < open_bytes_ && ::ftruncate(descriptor_, static_cast<off_t>(end_)) != 0)
    bytes.append(open_bytes_ - bytes.size(), '\n');
  bytes += tail_;
  open_.clear();
  std::uint64_t written = 0;
  if (!Write(end_, bytes, &written)) {
    end_ += gzip_ == nullptr ? WholeLines(bytes, written) : 0;
    return Cut();
  }
  end_ += events_bytes;
  open_bytes_ = open_bytes;
  pending_.clear();
}

void TraceFile::End(FileState state) {
  Flush();
  if (failure_.empty() && !Write(0, Beginning(state))) Cut();
}

std::uint64_t TraceFile::WholeLines(std::string_view bytes, std::uint64_t written) const {
  if (written < tail_.size()) return 0;
  const std::size_t last = bytes.substr(0, written - tail_.size()).rfind('\n');
  return last == std::string_view::npos ? 0 : last + 1;
}

bool TraceFile::Write(std::uint64_t offset, std::string_view bytes, std::uint64_t* done) {
  while (!bytes.empty()) {
    const ssize_t written = ::pwrite(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      failure_ = SystemError(written < 0 ? errno : ENOSPC);
      return false;
    }
    bytes.remove_prefix(static_cast<std::size_t>(written));
    offset += static_cast<std::uint64_t>(written);
    if (done != nullptr) *done += static_cast<std::uint64_t>(written);
  }
  return true;
}

void TraceFile::Cut() {
  const std::string why = failure_;
  pending_.clear();
  open_.clear();
  // Removes the written bytes of the failed part. The bracket and the beginning are in place already.
  [[maybe_unused]] const int truncated = ::ftruncate(descriptor_, static_cast<off_t>(end_ + tail_.size()));
  static_cast<void>(Write(end_, tail_));
  static_cast<void>(Write(0, Beginning(FileState::kCut)));
  failure_ = why;
}

}  // namespace sampan::trace
