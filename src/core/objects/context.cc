// A context: the streams and events of one device, which are destroyed together.
#include "core/objects/context.h"

#include <utility>

#include "base/error/assert.h"
#include "base/error/text.h"
#include "core/objects/device.h"
#include "observe/hooks.h"

namespace sampan::core {

Result<std::shared_ptr<Context>> Context::Create(Device& device, bool primary) {
  std::shared_ptr<Context> context(new Context(device, primary));
  auto stream = device.CreateStream(context->failure_, {.of_context = true});
  if (!stream.ok()) return stream.TakeStatus();
  context->default_stream_ = std::move(*stream);
  SAMPAN_ASSERT(context->Owns(*context->default_stream_));
  return context;
}

Status Context::OfOtherContext(const Stream& stream) {
  return {Code::kStreamContext,
          Text("stream ", stream.id(), " belongs to another context than the calling thread's")};
}

bool Context::AddStream(void* handle, std::shared_ptr<Stream> stream) {
  SAMPAN_ASSERT(handle != nullptr && Owns(*stream));
  const std::lock_guard lock(mutex_);
  if (!alive()) return false;
  owned_.streams.emplace(handle, std::move(stream));
  return true;
}

void Context::RemoveStream(void* handle) {
  const std::lock_guard lock(mutex_);
  owned_.streams.erase(handle);
}

bool Context::AddEvent(void* handle) {
  const std::lock_guard lock(mutex_);
  if (!alive()) return false;
  owned_.events.insert(handle);
  return true;
}

void Context::RemoveEvent(void* handle) {
  const std::lock_guard lock(mutex_);
  owned_.events.erase(handle);
}

std::vector<std::shared_ptr<Stream>> Context::Streams() const {
  std::vector<std::shared_ptr<Stream>> streams;
  const std::lock_guard lock(mutex_);
  streams.reserve(owned_.streams.size() + 1);
  for (const auto& entry : owned_.streams) {
    if (entry.second != default_stream_) streams.push_back(entry.second);
  }
  streams.push_back(default_stream_);
  return streams;
}

Status Context::Synchronize(Deadline deadline) {
  Status first;
  auto streams = Streams();
  std::erase_if(streams, [](const auto& stream) { return stream->SkipsDeviceSynchronize(); });
  for (const auto& stream : streams) {
    Status waited = stream->Await(deadline);
    if (!waited.ok() && first.ok()) first = std::move(waited);
  }
  if (observe::On()) observe::TellAwaited({.kind = observe::Awaited::kDevice, .device = device_.id()});
  for (const auto& stream : streams) {
    if (Status failure = stream->TakeFailure(); !failure.ok()) return failure;
  }
  return first;
}

Context::Remains Context::Kill() noexcept {
  const std::lock_guard lock(mutex_);
  SAMPAN_ASSERT(alive());  // one thread closes it
  alive_.store(false, std::memory_order_release);
  return std::move(owned_);
}

}  // namespace sampan::core
