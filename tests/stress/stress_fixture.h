// What the stress tests share: devices, threads, patterns, streams that are held back.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "acl/acl.h"
#include "tests/stress/stress_scale.h"
#include "tests/support/acl_expect.h"

namespace sampan::stress {

/// Both devices are set for the test's thread, device 0 is current; everything is taken back at the end.
class StressTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (int device = kDevices - 1; device >= 0; --device)
      ASSERT_ACL(ACL_SUCCESS, aclrtSetDevice(device));
  }
  void TearDown() override {
    for (int device = 0; device < kDevices; ++device)
      EXPECT_ACL(ACL_SUCCESS, aclrtResetDeviceForce(device));
  }
};

/// Runs the function on so many threads at once, each with its number, and waits for all.
inline void OnThreads(int count, const std::function<void(int)>& function) {
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i)
    threads.emplace_back([&function, i] { function(i); });
  for (std::thread& thread : threads)
    thread.join();
}

/// Bytes that tell where they belong: a stretch of an endless pattern, which begins elsewhere for every salt.
template <typename Use>  // of the bytes so far, and the next ones
void ForEachStretch(std::size_t bytes, std::uint32_t salt, const Use& use) {
  static constexpr std::size_t kPeriod = 255 * 256;
  static const std::vector<std::uint8_t> period = [] {
    std::vector<std::uint8_t> made(kPeriod);
    for (std::size_t i = 0; i < kPeriod; ++i)
      made[i] = static_cast<std::uint8_t>(i * 31 + i / 255 + 1);
    return made;
  }();
  std::size_t from = std::size_t{salt} * 977 % kPeriod;
  for (std::size_t done = 0; done < bytes;) {
    const auto stretch = std::span(period).subspan(from, std::min(kPeriod - from, bytes - done));
    if (!use(done, stretch)) return;
    done += stretch.size();
    from = 0;
  }
}
inline void WritePattern(void* where, std::size_t bytes, std::uint32_t salt) {
  ForEachStretch(bytes, salt, [&](std::size_t done, std::span<const std::uint8_t> stretch) {
    std::memcpy(static_cast<std::uint8_t*>(where) + done, stretch.data(), stretch.size());
    return true;
  });
}
inline ::testing::AssertionResult HoldsPattern(const void* where, std::size_t bytes, std::uint32_t salt) {
  ::testing::AssertionResult result = ::testing::AssertionSuccess();
  ForEachStretch(bytes, salt, [&](std::size_t done, std::span<const std::uint8_t> stretch) {
    const std::uint8_t* const got = static_cast<const std::uint8_t*>(where) + done;
    if (std::memcmp(got, stretch.data(), stretch.size()) == 0) return true;
    const auto at = std::mismatch(stretch.begin(), stretch.end(), got).first - stretch.begin();
    const auto index = static_cast<std::size_t>(at);
    result = ::testing::AssertionFailure()
             << "byte " << done + index << " is " << int{got[index]} << " instead of " << int{stretch[index]};
    return false;
  });
  return result;
}

/// Owns memory of the current device, or pinned memory. Frees from whichever thread, without a context.
class Memory {
 public:
  static Memory Device(std::size_t bytes) {
    Memory memory;
    EXPECT_ACL(ACL_SUCCESS, aclrtMalloc(&memory.address_, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
    return memory;
  }
  static Memory Pinned(std::size_t bytes) {
    Memory memory;
    memory.pinned_ = true;
    EXPECT_ACL(ACL_SUCCESS, aclrtMallocHost(&memory.address_, bytes));
    return memory;
  }
  Memory(Memory&& other) noexcept : address_(other.Release()), pinned_(other.pinned_) {}
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  Memory& operator=(Memory&&) = delete;
  ~Memory() {
    if (address_ == nullptr) return;
    EXPECT_ACL(ACL_SUCCESS, pinned_ ? aclrtFreeHost(address_) : aclrtFree(address_));
  }

  void* Release() {
    void* const address = address_;
    address_ = nullptr;
    return address;
  }
  void* get() const { return address_; }
  std::uint8_t* at(std::size_t offset) const { return static_cast<std::uint8_t*>(address_) + offset; }

 private:
  Memory() = default;
  void* address_ = nullptr;
  bool pinned_ = false;
};

/// Holds streams until it is opened, and opens when it is destroyed. Thread-safe. A stream that is destroyed
/// by force does not wait for the function that it called here. So the state is kept until the program ends.
class Barrier {
 public:
  Barrier() : state_(MakeState()) {}
  ~Barrier() { Open(); }
  Barrier(const Barrier&) = delete;
  Barrier& operator=(const Barrier&) = delete;
  aclError Hold(aclrtStream stream) { return aclrtLaunchHostFunc(stream, &Barrier::Stand, &state_); }
  void Open() {
    {
      const std::lock_guard lock(state_.mutex);
      state_.open = true;
    }
    state_.changed.notify_all();
  }

 private:
  struct State {
    std::mutex mutex;
    std::condition_variable changed;
    bool open = false;
  };
  static State& MakeState() {
    static std::mutex mutex;
    static std::deque<State>& states = *new std::deque<State>;
    const std::lock_guard lock(mutex);
    return states.emplace_back();
  }
  static void Stand(void* argument) {
    auto& state = *static_cast<State*>(argument);
    std::unique_lock lock(state.mutex);
    state.changed.wait(lock, [&] { return state.open; });
  }

  State& state_;
};

inline ::testing::AssertionResult IsOneOf(aclError code, std::initializer_list<aclError> allowed) {
  for (const aclError one : allowed) {
    if (code == one) return ::testing::AssertionSuccess();
  }
  return ::testing::AssertionFailure() << "answered " << code << ": " << sampan::test::RecentMessage();
}

}  // namespace sampan::stress
