// What the runtime knows of the calling thread.
#pragma once

#include <memory>
#include <string>

#include "base/error/status.h"
#include "core/memory/memory_pool.h"
#include "core/objects/context.h"
#include "core/objects/recent_objects.h"
#include "core/objects/runtime.h"

namespace sampan::process {

/// One per thread; nothing is inherited by new ones.
struct ThreadState {
  std::shared_ptr<Context> explicit_context;  ///< set or created by the thread
  std::shared_ptr<Context> primary_context;   ///< of the device that the thread set last
  Code last_error = Code::kOk;
  RecentObjects<Stream> recent_streams;
  RecentObjects<MemoryPool> recent_pools;
  std::string recent_messages;  ///< newest first
  std::string shown_messages;   ///< what the program was last given a pointer to

  /// The context that calls of this thread use, or null.
  Context* Current() const {
    Context* const context = explicit_context != nullptr ? explicit_context.get() : primary_context.get();
    return context != nullptr && context->alive() ? context : nullptr;
  }
  /// The living stream that a handle names, kept until the thread's next call; null when there is none.
  Stream* FindStream(const Runtime& runtime, void* handle) {
    return recent_streams.Get(handle, runtime.streams_removed(),
                              [&](void* each) { return runtime.FindStream(each); });
  }
};

/// The state is behind a plain pointer and the main thread's is never destroyed. Programs also call from
/// static destructors and exit handlers, when thread_local objects are gone.
[[gnu::tls_model("initial-exec")]] extern constinit thread_local ThreadState* this_thread;
ThreadState& MakeThreadState();

inline ThreadState& ThisThread() {
  return this_thread != nullptr ? *this_thread : MakeThreadState();
}

}  // namespace sampan::process
