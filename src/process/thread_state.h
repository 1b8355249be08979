// The state of the calling thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/error/status.h"
#include "core/memory/pools/memory_pool.h"
#include "core/objects/context.h"
#include "core/objects/recent_objects.h"
#include "core/objects/runtime.h"

namespace sampan::process {

/// One per thread. New threads inherit nothing.
struct ThreadState {
  std::shared_ptr<core::Context> explicit_context;  ///< set or created by the thread
  std::shared_ptr<core::Context> primary_context;   ///< of the device that the thread set last
  Code last_error = Code::kOk;
  core::RecentObjects<core::Stream> recent_streams;
  core::RecentObjects<core::MemoryPool> recent_pools;
  std::weak_ptr<core::Stream> cores_of;  ///< the stream whose limits of cores the thread uses
  std::int32_t capture_mode = 0;         ///< of the public enumeration: GLOBAL at first
  std::string recent_messages;           ///< newest first
  std::string shown_messages;            ///< the text that the program last got a pointer to

  /// The context that calls of this thread use, or null.
  core::Context* Current() const {
    core::Context* const context =
        explicit_context != nullptr ? explicit_context.get() : primary_context.get();
    return context != nullptr && context->alive() ? context : nullptr;
  }
  /// The stream of a handle, kept alive until the thread's next call. Null if there is none.
  core::Stream* FindStream(const core::Runtime& runtime, void* handle) {
    return recent_streams.Get(handle, runtime.streams_removed(),
                              [&](void* each) { return runtime.FindStream(each); });
  }
};

/// A plain pointer, and the main thread's state is never destroyed. Programs also call from static
/// destructors and exit handlers, after thread_local objects are destroyed.
[[gnu::tls_model("initial-exec")]] extern constinit thread_local ThreadState* this_thread;
ThreadState& MakeThreadState();

inline ThreadState& ThisThread() {
  return this_thread != nullptr ? *this_thread : MakeThreadState();
}

}  // namespace sampan::process
