// What fuzzed calls share and signal with: pools, notifies, words, reserved addresses, physical memory, keys.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "acl/acl.h"
#include "acl/acl_rt_memory_soma.h"
#include "tests/fuzz/fuzz_input.h"

namespace sampan::fuzz {

class World;

/// Belongs to a world. One thread.
class Sharing {
 public:
  /// Gives back what is still held; for the end of the world, as long as there are devices.
  void End();

  /// An address from a pool, of a mapping or of an import, live or not any more; null as long as there was
  /// none.
  void* PickAddress(Input& input) const;

  void UsePool(World& world, Input& input);
  void UseNotify(World& world, Input& input);
  void UseWord(World& world, Input& input);
  void UseAddresses(World& world, Input& input);
  void UsePhysical(Input& input);
  void UseKey(World& world, Input& input);

 private:
  static constexpr std::size_t kSlots = 4;
  static constexpr std::size_t kKeyBytes = 65;

  /// A handle or address that a call made, and whether it is still good.
  template <typename Handle>
  struct Thing {
    Handle handle{};
    bool live = false;

    void Take(aclError code) { live = live || code == ACL_SUCCESS; }
    void Drop(aclError code) { live = live && code != ACL_SUCCESS; }
  };
  template <typename Handle>
  using Things = std::array<Thing<Handle>, kSlots>;

  aclrtStream Signals();

  Things<aclrtMemPool> pools_;
  Things<void*> pooled_;
  Things<aclrtNotify> notifies_;
  Things<void*> reserved_;
  Things<aclrtDrvMemHandle> physical_;
  Things<void*> mapped_;
  struct Key {
    std::array<char, kKeyBytes> text{};
    bool of_notify = false;
    void* imported = nullptr;
    bool live = false;
  };
  std::array<Key, kSlots> keys_;
  aclrtStream signals_ = nullptr;
};

}  // namespace sampan::fuzz
