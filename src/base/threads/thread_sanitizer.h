// Tells ThreadSanitizer, in programs that are built with it, what the runtime does for them.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace sampan::races {

/// True if the program looks for races. Set when the library is loaded. Everything below does nothing while
/// it is false.
inline constinit std::atomic<bool> watched{false};
inline bool Watched() {
  return watched.load(std::memory_order_relaxed);
}

/// Finds ThreadSanitizer. Not for an instrumented library: its accesses and atomics are visible as they are.
void Start() noexcept;
/// For backends that tell nothing. Before the first task.
void Stop() noexcept;

/// Begins and ends the runtime's own code on the calling thread. Enter returns false if it had begun before;
/// Leave returns false if the program's code runs there.
bool Enter() noexcept;
bool Leave() noexcept;

/// While it lives, the calling thread executes code of the runtime. Its accesses are not the program's, and
/// its locks order nothing for the program. Scopes nest.
class RuntimeCode {
 public:
  RuntimeCode() : entered_(Watched() && Enter()) {}
  ~RuntimeCode() {
    if (entered_) [[unlikely]]
      Leave();
  }
  RuntimeCode(const RuntimeCode&) = delete;
  RuntimeCode& operator=(const RuntimeCode&) = delete;

 private:
  const bool entered_;
};

/// While it lives, the runtime lets the calling thread execute a function of the program.
class CalledProgram {
 public:
  CalledProgram() : left_(Watched() && Leave()) {}
  ~CalledProgram() {
    if (left_) [[unlikely]]
      Enter();
  }
  CalledProgram(const CalledProgram&) = delete;
  CalledProgram& operator=(const CalledProgram&) = delete;

 private:
  const bool left_;
};

/// What was before a release of a key is before what follows an acquire of it. Only the key's address counts.
/// Keys live as long as the process, or lie in memory of operator new, which forgets them when freed.
void TellRelease(const void* key) noexcept;
void TellAcquire(const void* key) noexcept;
inline void Release(const void* key) noexcept {
  if (Watched()) [[unlikely]]
    TellRelease(key);
}
inline void Acquire(const void* key) noexcept {
  if (Watched()) [[unlikely]]
    TellAcquire(key);
}

/// A key by itself.
struct Key {
  alignas(8) char place = 0;  // ThreadSanitizer tells apart words of 8 bytes
};
/// Everything that completed. A wait for a word in device memory follows it, because any copy can write the
/// word. A race may be missed there, none is invented.
inline constexpr Key device_memory;
/// The same for signals between processes: what another process did between two of them is unknown.
inline constexpr Key other_processes;

/// Where in the program a call of ours came from: the public function first, then its callers.
class CallStack {
 public:
  void Capture() noexcept;
  /// Forgets all but the public function and its caller: ThreadSanitizer knows the others of the calling
  /// thread.
  void KeepCall() { count_ = count_ < 2 ? count_ : 2; }
  std::size_t count() const { return count_; }
  void* frame(std::size_t index) const { return frames_[index]; }

 private:
  std::array<void*, 12> frames_{};
  std::size_t count_ = 0;
};

/// While it lives, accesses are told as the calling thread's, or as those of the fiber that it executes. With
/// a stack, as made there.
class Accesses {
 public:
  explicit Accesses(const CallStack* stack = nullptr) noexcept;
  ~Accesses();
  Accesses(const Accesses&) = delete;
  Accesses& operator=(const Accesses&) = delete;

  /// Addresses are those that the program uses.
  void Read(std::uintptr_t address, std::size_t bytes) noexcept;
  void Write(std::uintptr_t address, std::size_t bytes) noexcept;

 private:
  void* Instruction() const;

  const CallStack* const stack_;
  const bool left_;
};

/// What ThreadSanitizer takes for a thread, though no thread of the system is. One thread executes it at a
/// time.
class Fiber {
 public:
  explicit Fiber(const char* name) noexcept;
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  /// While it lives, the calling thread executes the runtime's code as the fiber. This orders nothing.
  class Scope {
   public:
    explicit Scope(const Fiber& fiber) noexcept;
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    const RuntimeCode runtime_code_;
    void* const before_;
  };

 private:
  void* const fiber_;
};

}  // namespace sampan::races
