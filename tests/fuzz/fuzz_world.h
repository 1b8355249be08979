// What fuzzed calls use: buffers, streams and events, some of them destroyed, and canaries that must not
// change.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "acl/acl.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/fuzz/fuzz_sharing.h"

namespace sampan::fuzz {

inline constexpr int kDevices = 2;
inline constexpr std::size_t kSlots = 8;
inline constexpr std::size_t kHandles = 4;
inline constexpr std::size_t kLargestBuffer = 20000;

/// The place of a buffer. The pageable kinds lie between inaccessible pages, so that the runtime can detect a
/// range that leaves them.
enum class Memory : std::uint8_t { kDevice, kPinned, kRegistered, kPageable, kReadOnly, kHeap };

struct Buffer {
  enum class State : std::uint8_t { kNever, kLive, kFreed } state = State::kNever;
  Memory memory = Memory::kDevice;
  void* address = nullptr;
  std::size_t bytes = 0;
};

/// A pointer that a call gets, with what may be said about it without breaking the fuzzer's own memory.
struct Argument {
  void* pointer = nullptr;
  std::size_t max_bytes =
      SIZE_MAX;  ///< sizes above are cut down: the runtime cannot know where the heap block ends
};

/// One input's world; made and taken away with it. One thread.
class World {
 public:
  World();
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  Argument PickPointer(Input& input);
  void* PickDevicePointer(Input& input);
  std::size_t PickSize(Input& input, std::size_t max_bytes = SIZE_MAX);
  aclrtStream PickStream(Input& input);
  aclrtEvent PickEvent(Input& input);
  Buffer& PickBuffer(Input& input) { return buffers[input.Below(kSlots)]; }

  void Allocate(Buffer& buffer, Memory memory, std::size_t bytes);
  void Free(Buffer& buffer, bool with_sync);
  /// Ends all work; aborts when it does not end, or when a bystander was touched.
  void Check();

  std::array<Buffer, kSlots> buffers;
  std::array<aclrtStream, kHandles> streams{};
  std::array<aclrtEvent, kHandles> events{};
  std::array<bool, kHandles> stream_live{}, event_live{};
  void* table = nullptr;  ///< descriptors and pointer cells, on device 0
  bool reset_devices = false;
  Sharing sharing;

 private:
  struct Bystander {
    void* device = nullptr;
    void* pinned = nullptr;
    std::vector<std::uint8_t> heap;
  };
  struct Mapping {
    void* base;
    std::size_t bytes;
  };

  void* MapBetweenGuards(std::size_t bytes, int protection);
  void MakeBystander(Bystander& bystander);
  void CheckBystander(const Bystander& bystander);

  std::array<Bystander, 2> bystanders_;
  std::vector<Mapping> mappings_;
  std::vector<void*> registered_;
  std::vector<std::uint8_t> heap_;
};

/// Stops the process with a reason that the fuzzer reports.
[[noreturn]] void Violation(const char* what, long long value = 0);
/// 0 is success, everything else a documented family; and there is a message to it.
void Judge(aclError code);

}  // namespace sampan::fuzz
