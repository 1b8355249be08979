// A context: the streams and events made on one device, and their common fate.
#include "core/context.h"

#include <utility>

#include "core/device.h"

namespace sampan {

Result<std::shared_ptr<Context>> Context::Create(Device& device, bool primary) {
  std::shared_ptr<Context> context(new Context(device, primary));
  auto stream = device.CreateStream(context->failure_, {});
  if (!stream.ok()) return stream.TakeStatus();
  context->default_stream_ = std::move(*stream);
  return context;
}

bool Context::AddStream(void* handle, std::shared_ptr<Stream> stream) {
  const std::lock_guard lock(mutex_);
  if (!alive()) return false;
  streams_.emplace(handle, std::move(stream));
  return true;
}

void Context::RemoveStream(void* handle) {
  const std::lock_guard lock(mutex_);
  streams_.erase(handle);
}

bool Context::AddEvent(void* handle) {
  const std::lock_guard lock(mutex_);
  if (!alive()) return false;
  events_.insert(handle);
  return true;
}

void Context::RemoveEvent(void* handle) {
  const std::lock_guard lock(mutex_);
  events_.erase(handle);
}

std::vector<std::shared_ptr<Stream>> Context::Streams() const {
  std::vector<std::shared_ptr<Stream>> streams;
  const std::lock_guard lock(mutex_);
  streams.reserve(streams_.size() + 1);
  for (const auto& entry : streams_) {
    if (entry.second != default_stream_) streams.push_back(entry.second);
  }
  streams.push_back(default_stream_);
  return streams;
}

Status Context::Synchronize(Deadline deadline) {
  Status first;
  for (const auto& stream : Streams()) {
    if (stream->SkipsSynchronize()) continue;
    Status status = stream->Synchronize(deadline);
    if (!status.ok() && first.ok()) first = std::move(status);
  }
  return first;
}

Context::Handles Context::Kill() {
  Handles handles;
  const std::lock_guard lock(mutex_);
  handles.streams.reserve(streams_.size());
  handles.events.reserve(events_.size());
  for (const auto& entry : streams_)
    handles.streams.push_back(entry.first);
  for (void* event : events_)
    handles.events.push_back(event);
  alive_.store(false, std::memory_order_release);
  return handles;
}

void Context::Finish(bool wait) {
  const auto streams = Streams();
  for (const auto& stream : streams) {
    if (wait) stream->Last().Wait(kNever);
    stream->Close();
  }
  const std::lock_guard lock(mutex_);
  streams_.clear();
  events_.clear();
}

}  // namespace sampan
