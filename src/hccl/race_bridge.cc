// What ThreadSanitizer is told in libhccl_plf goes through libacl_rt, which knows whose code the thread
// executes.
#include "base/platform_bridge.h"
#include "base/threads/thread_sanitizer.h"

namespace sampan::races {

bool Enter() noexcept {
  return sampanEnterRuntime();
}

bool Leave() noexcept {
  return sampanLeaveRuntime();
}

namespace {

[[gnu::constructor]] void LookForRaces() {
  watched.store(sampanLooksForRaces(), std::memory_order_relaxed);
}

}  // namespace

}  // namespace sampan::races
