// Words in pinned memory by which the GPU says how far a stream is.
#include "backend/cuda/queue/end_words.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <span>
#include <thread>

#include "base/spin.h"

namespace sampan::cuda {
namespace {

/// How long a thread looks: at first without letting others run. Who goes on to wait by the driver has lost
/// two microseconds by looking, so it is for long enough that they do not count.
constexpr std::chrono::microseconds kAlone{200}, kSoon{2000};
/// Behind the words of the blocks.
constexpr unsigned kStreamWord = EndWords::kMaxBlocks;
constexpr std::size_t kAllWords = kStreamWord + 1;

}  // namespace

bool EndSign::Seen() const {
  const std::span all(words, count);
  return std::all_of(all.begin(), all.end(), [&](const std::uint64_t& word) {
    return std::atomic_ref(const_cast<std::uint64_t&>(word)).load(std::memory_order_acquire) >= value;
  });
}

bool EndSign::SeenSoon(Deadline deadline) const {
  if (count == 0) return false;
  const auto seen = [this] { return Seen(); };
  const Deadline now = Clock::now();
  deadline = std::min(deadline, now + kSoon);
  if (SpinFor<1>(std::min<Clock::duration>(deadline - now, kAlone), seen)) return true;
  while (Clock::now() < deadline) {
    std::this_thread::yield();
    if (seen()) return true;
  }
  return false;
}

EndWords::~EndWords() {
  if (block_.bytes != 0) pinned_.Free(block_);
}

std::uint64_t* EndWords::Words() noexcept {
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

EndSign EndWords::ForKernel(std::uint64_t value, unsigned blocks) {
  std::uint64_t* const words = blocks <= kMaxBlocks ? Words() : nullptr;
  return words != nullptr ? EndSign{words, blocks, value} : EndSign{};
}

EndSign EndWords::ForStream(std::uint64_t value) {
  std::uint64_t* const words = Words();
  return words != nullptr ? EndSign{words + kStreamWord, 1, value} : EndSign{};
}

}  // namespace sampan::cuda
