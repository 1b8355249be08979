// The summary so far. The command that started the program finds it if the program ends without a word.
#include "summary/kept_summary.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <exception>
#include <filesystem>
#include <memory>
#include <new>
#include <system_error>

#include "base/system/descriptor.h"
#include "base/system/surviving_file.h"

namespace sampan::summary {
namespace {

template <std::size_t kRoom>
std::uint32_t Store(std::string_view text, std::array<char, kRoom>& room) noexcept {
  const std::size_t bytes = std::min(text.size(), room.size());
  std::memcpy(room.data(), text.data(), bytes);
  return static_cast<std::uint32_t>(bytes);
}

template <std::size_t kRoom>
std::string Load(std::uint32_t bytes, const std::array<char, kRoom>& room) {
  return {room.data(), std::min<std::size_t>(bytes, room.size())};
}

}  // namespace

/// A process may be killed at any moment, so the texts take turns.
struct KeptSummary::File {
  static constexpr std::uint64_t kMark = 0x3154504b4d505353;
  static constexpr std::size_t kMaxText = 24576, kMaxProgram = 1024;
  struct Slot {
    std::uint32_t bytes;
    std::array<char, kMaxText> chars;
  };

  std::uint64_t mark;
  std::uint64_t process;
  std::uint32_t program_bytes;
  std::array<char, kMaxProgram> program;
  std::atomic<std::uint32_t> valid;  ///< 0: none; n: texts[n - 1]
  std::array<Slot, 2> texts;
};

KeptSummary::KeptSummary(const std::string& folder, std::string_view program) noexcept try {
  if (folder.empty()) return;
  const auto process = static_cast<std::uint64_t>(::getpid());
  // A process that executes another program begins again, and what its former program left stays.
  std::string path;
  for (int turn = 0; path.empty() || ::access(path.c_str(), F_OK) == 0; ++turn)
    path = folder + "/" + std::to_string(process) + "." + std::to_string(turn);
  const auto memory = MapSurvivingFile(path, sizeof(File));
  if (memory.empty()) return;
  file_ = new (memory.data()) File;  // of zeros, and without initialisers
  file_->process = process;
  file_->program_bytes = Store(program, file_->program);
  file_->mark = File::kMark;
} catch (const std::exception&) {
  // Without memory nothing is kept.
}

void KeptSummary::Keep(std::string_view text) noexcept {
  if (file_ == nullptr) return;
  const std::uint32_t next = file_->valid.load(std::memory_order_relaxed) == 1 ? 1 : 0;
  file_->texts[next].bytes = Store(text, file_->texts[next].chars);
  file_->valid.store(next + 1, std::memory_order_release);
}

void KeptSummary::Drop() noexcept {
  if (file_ != nullptr) file_->valid.store(0, std::memory_order_release);
}

std::optional<KeptText> ReadKeptSummary(const std::string& path) {
  using File = KeptSummary::File;
  const Descriptor descriptor(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  const auto file = std::make_unique<File>();
  if (descriptor.get() < 0 || IsLocked(descriptor.get()) ||
      ::pread(descriptor.get(), file.get(), sizeof(File), 0) != static_cast<ssize_t>(sizeof(File)) ||
      file->mark != File::kMark) {
    return std::nullopt;
  }
  const std::uint32_t valid = file->valid.load();
  if (valid == 0 || valid > file->texts.size()) return std::nullopt;
  const File::Slot& text = file->texts[valid - 1];
  return KeptText{file->process, Load(file->program_bytes, file->program), Load(text.bytes, text.chars)};
}

std::vector<KeptText> ReadKeptSummaries(const std::string& folder) {
  std::vector<KeptText> all;
  std::error_code failure;
  std::filesystem::directory_iterator entry(folder, failure);
  for (; !failure && entry != std::filesystem::directory_iterator(); entry.increment(failure)) {
    if (auto text = ReadKeptSummary(entry->path().string())) all.push_back(std::move(*text));
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const KeptText& a, const KeptText& b) { return a.process < b.process; });
  return all;
}

}  // namespace sampan::summary
