// hccl::Stream.
#include <atomic>
#include <deque>
#include <mutex>
#include <utility>

#include "acl/acl_rt.h"
#include "hccl/platform/stream_pub.h"
#include "hccl/report.h"

namespace hccl {

using sampan::hccl::Fail;

/// What all copies of one stream object share. Thread-safe.
struct Stream::State {
  std::atomic<bool> is_destroyed{false};
  std::atomic<u64> mode{0};
  aclrtContext context = nullptr;  // in which the owner created the stream
  HcclComStreamInfo info;
  std::mutex mutex;
  std::deque<TaskLogicInfo> records;  // under the mutex
};

namespace {

uint32_t FlagsOf(StreamType type) {
  switch (type) {
    case StreamType::STREAM_TYPE_ONLINE:
      return ACL_STREAM_FAST_LAUNCH | ACL_STREAM_FAST_SYNC;
    case StreamType::STREAM_TYPE_DEVICE:
      return ACL_STREAM_DEVICE_USE_ONLY;
    default:
      return ACL_STREAM_PERSISTENT;
  }
}

HcclResult RefuseDeviceSide(const char* function) {
  return Fail(function, HCCL_E_NOT_SUPPORT, "queue entries belong to the device side, which is not there");
}

}  // namespace

Stream::Stream() : stream_(nullptr), state_(std::make_shared<State>()), owner_(false), isMainStream_(false) {}

Stream::Stream(const Stream& that)
    : stream_(that.stream_), state_(that.state_), owner_(false), isMainStream_(that.isMainStream_) {}

Stream::Stream(Stream&& that) noexcept
    : stream_(std::exchange(that.stream_, nullptr)),
      state_(that.state_),  // NOLINT(performance-move-constructor-init): both share the state
      owner_(std::exchange(that.owner_, false)),
      isMainStream_(that.isMainStream_) {}

Stream::Stream(const StreamType streamType, bool isMainStream)
    : stream_(nullptr), state_(std::make_shared<State>()), owner_(false), isMainStream_(isMainStream) {
  constexpr uint32_t kPriority = 0;
  if (streamType == StreamType::STREAM_TYPE_RESERVED) {
    Fail("Stream", HCCL_E_PARA, "streamType is STREAM_TYPE_RESERVED");
    return;
  }
  if (aclrtCreateStreamWithConfig(&stream_, kPriority, FlagsOf(streamType)) != ACL_SUCCESS) {
    stream_ = nullptr;
    return;
  }
  owner_ = true;
  static_cast<void>(aclrtGetCurrentContext(&state_->context));
}

Stream::Stream(const rtStream_t rtStream, bool isMainStream)
    : stream_(rtStream), state_(std::make_shared<State>()), owner_(false), isMainStream_(isMainStream) {}

Stream::Stream(const HcclComStreamInfo& streamInfo, bool isMainStream)
    : stream_(streamInfo.sqBaseAddr),
      state_(std::make_shared<State>()),
      owner_(false),
      isMainStream_(isMainStream) {
  state_->info = streamInfo;
}

Stream::~Stream() {
  Release();
}

void Stream::Release() noexcept {
  if (!owner_ || stream_ == nullptr) return;
  state_->is_destroyed.store(true);
  // The runtime destroys a stream only in the context that it belongs to.
  aclrtContext current = nullptr;
  const bool switched = aclrtGetCurrentContext(&current) != ACL_SUCCESS || current != state_->context;
  if (switched && aclrtSetCurrentContext(state_->context) != ACL_SUCCESS) {
    owner_ = false;  // the context was destroyed together with its streams
    return;
  }
  static_cast<void>(aclrtDestroyStream(stream_));  // queued work still completes
  if (switched && current != nullptr) static_cast<void>(aclrtSetCurrentContext(current));
  stream_ = nullptr;
  owner_ = false;
}

Stream& Stream::operator=(const Stream& that) {
  if (&that == this) return *this;
  // A view of the stream that this object owns: the object stays the owner.
  const bool same = that.stream_ == stream_;
  if (!same) {
    Release();
    owner_ = false;
  }
  stream_ = that.stream_;
  if (!owner_) state_ = that.state_;
  isMainStream_ = that.isMainStream_;
  return *this;
}

// NOLINTNEXTLINE(performance-noexcept-move-constructor): the public interface requires it.
Stream Stream::operator=(Stream&& that) {
  if (&that == this) return *this;
  if (!that.owner_) {
    *this = static_cast<const Stream&>(that);  // a view has no ownership to take over
    that.stream_ = nullptr;
  } else {
    Release();
    stream_ = std::exchange(that.stream_, nullptr);
    state_ = that.state_;
    owner_ = std::exchange(that.owner_, false);
    isMainStream_ = that.isMainStream_;
  }
  return *this;
}

s32 Stream::id() const {
  if (state_->info.actualStreamId >= 0) return state_->info.actualStreamId;
  s32 id = -1;
  if (stream_ == nullptr || IsInvalid() || aclrtStreamGetId(stream_, &id) != ACL_SUCCESS) return -1;
  return id;
}

u32 Stream::sqId() const {
  return static_cast<u32>(state_->info.sqId >= 0 ? state_->info.sqId : id());
}

u32 Stream::cqId() const {
  return logicCqId();
}

u32 Stream::logicCqId() const {
  return state_->info.actualStreamId >= 0 ? state_->info.logicCqId : static_cast<u32>(id());
}

bool Stream::IsInvalid() const {
  return state_->is_destroyed.load();
}

void Stream::PushTaskLogicInfo(TaskLogicInfo& taskLogicInfo) {
  const std::lock_guard lock(state_->mutex);
  state_->records.push_back(taskLogicInfo);
}

HcclResult Stream::PopTaskLogicInfo(TaskLogicInfo& taskLogicInfo) {
  const std::lock_guard lock(state_->mutex);
  if (state_->records.empty()) return HCCL_E_NOT_FOUND;
  taskLogicInfo = state_->records.front();
  state_->records.pop_front();
  return HCCL_SUCCESS;
}

HcclResult Stream::SetMode(const uint64_t stmMode) {
  state_->mode.store(stmMode);
  return HCCL_SUCCESS;
}

HcclResult Stream::GetMode(uint64_t* const stmMode) {
  if (stmMode == nullptr) return Fail("Stream::GetMode", HCCL_E_PTR, "stmMode is NULL");
  *stmMode = state_->mode.load();
  return HCCL_SUCCESS;
}

HcclResult Stream::GetStreamInfo(const HcclComStreamInfo*& streamInfo) {
  streamInfo = &state_->info;
  return HCCL_SUCCESS;
}

const HcclComStreamInfo& Stream::GetHcclStreamInfo() const {
  return state_->info;
}

HcclResult Stream::InitSqAndCqeContext(uint32_t, uint32_t, SqCqeContext*) {
  return RefuseDeviceSide("Stream::InitSqAndCqeContext");
}

HcclResult Stream::GetNextSqeBufferAddr(uint8_t*&, uint8_t*&, uint8_t*&, uint16_t&) {
  return RefuseDeviceSide("Stream::GetNextSqeBufferAddr");
}

HcclResult Stream::SetCqeContext(const ErrCqeContext&) {
  return RefuseDeviceSide("Stream::SetCqeContext");
}

HcclResult Stream::GetCqeContext(ErrCqeContext&) {
  return RefuseDeviceSide("Stream::GetCqeContext");
}

HcclSqeContext* Stream::GetSqeContextPtr() {
  return nullptr;
}

HcclResult Stream::ClearLocalBuff() {
  return RefuseDeviceSide("Stream::ClearLocalBuff");
}

}  // namespace hccl
