// A word that ranks as processes share.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <new>

namespace sampan::test {

/// Made before the ranks. Zero at the beginning.
template <typename Word>
class SharedWord {
 public:
  SharedWord()
      : word_(new (::mmap(nullptr, sizeof(std::atomic<Word>), PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_ANONYMOUS, -1, 0)) std::atomic<Word>(0)) {}
  ~SharedWord() { ::munmap(word_, sizeof(std::atomic<Word>)); }
  SharedWord(const SharedWord&) = delete;
  SharedWord& operator=(const SharedWord&) = delete;

  std::atomic<Word>* operator->() const { return word_; }
  void Await() const {
    while (word_->load() == 0)
      ::usleep(500);
  }

 private:
  std::atomic<Word>* word_;
};

}  // namespace sampan::test
