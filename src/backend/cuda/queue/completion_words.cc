// Words in pinned memory that the GPU sets to the sequence number of completed tasks.
#include "backend/cuda/queue/completion_words.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <span>
#include <thread>

#include "base/threads/spin.h"

namespace sampan::cuda {
namespace {

/// A thread first polls without yielding, then yields. A wait by the driver costs two microseconds more.
/// Polling continues until that cost is one in a thousand.
constexpr std::chrono::microseconds kPollFor{200}, kPollAndYieldFor{2000};
/// The stream's word follows the words of the blocks.
constexpr unsigned kStreamWord = CompletionWords::kMaxBlocks;
constexpr std::size_t kAllWords = kStreamWord + 1;

}  // namespace

bool Completion::IsDone() const {
  const std::span all(words, count);
  return std::all_of(all.begin(), all.end(), [&](const std::uint64_t& word) {
    return std::atomic_ref(const_cast<std::uint64_t&>(word)).load(std::memory_order_acquire) >= sequence;
  });
}

bool Completion::SpinUntilDone(Deadline deadline) const {
  if (count == 0) return false;
  const auto done = [this] { return IsDone(); };
  const Deadline now = Clock::now();
  deadline = std::min(deadline, now + kPollAndYieldFor);
  if (SpinFor<1>(std::min<Clock::duration>(deadline - now, kPollFor), done)) return true;
  while (Clock::now() < deadline) {
    std::this_thread::yield();
    if (done()) return true;
  }
  return false;
}

CompletionWords::~CompletionWords() {
  if (block_.bytes != 0) pinned_.Free(block_);
}

std::uint64_t* CompletionWords::Words() noexcept {
  if (block_.bytes == 0) {
    try {
      auto block = pinned_.Allocate(kAllWords * sizeof(std::uint64_t), Pages::kBySize);
      if (!block.ok()) return nullptr;
      block_ = *block;
    } catch (...) {
      return nullptr;
    }
    std::fill_n(reinterpret_cast<std::uint64_t*>(block_.address), kAllWords, 0);
  }
  return reinterpret_cast<std::uint64_t*>(block_.address);
}

Completion CompletionWords::ForKernel(std::uint64_t sequence, unsigned blocks) {
  std::uint64_t* const words = blocks <= kMaxBlocks ? Words() : nullptr;
  return words != nullptr ? Completion{words, blocks, sequence} : Completion{};
}

Completion CompletionWords::ForStream(std::uint64_t sequence) {
  std::uint64_t* const words = Words();
  return words != nullptr ? Completion{words + kStreamWord, 1, sequence} : Completion{};
}

}  // namespace sampan::cuda
