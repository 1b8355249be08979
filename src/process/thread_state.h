// What the runtime knows of the calling thread.
#pragma once

#include <memory>
#include <string>

#include "base/status.h"
#include "core/context.h"
#include "core/memory_pool.h"
#include "core/recent_objects.h"

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
};

ThreadState& ThisThread();

}  // namespace sampan::process
