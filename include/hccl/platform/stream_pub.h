/* A stream: an owner, or a view of a stream that has another owner. */
#ifndef SAMPAN_HCCL_PLATFORM_STREAM_PUB_H
#define SAMPAN_HCCL_PLATFORM_STREAM_PUB_H

#include <memory>

#include "hccl_common.h"
#include "task_logic_info_pub.h"

namespace hccl {

constexpr u32 HCCL_SQE_SIZE = 64;
constexpr u32 HCCL_SQE_MAX_CNT = 2048;

enum class StreamType {
  STREAM_TYPE_OFFLINE = 0,
  STREAM_TYPE_ONLINE = 1,
  STREAM_TYPE_DEVICE = 2,
  STREAM_TYPE_RESERVED = 3
};

/* Of the device side: declared only. */
struct SqCqeContext;
struct HcclSqeContext;
struct ErrCqeContext;

/* Copies are views that share the owner's state. Queries are thread-safe, assignment is not. */
class HCCL_PLF_VISIBILITY Stream {
 public:
  explicit Stream();
  Stream(const Stream& that);
  Stream(Stream&& that) noexcept;
  /* Creates a stream in the current context and owns it; empty if that fails. */
  explicit Stream(const StreamType streamType, bool isMainStream = false);
  /* Views. */
  explicit Stream(const rtStream_t rtStream, bool isMainStream = true);
  explicit Stream(const HcclComStreamInfo& streamInfo, bool isMainStream = false);
  virtual ~Stream();

  Stream& operator=(const Stream& that);
  /* Takes the stream over; returns a view. */
  Stream operator=(Stream&& that);

  operator bool() const { return stream_ != nullptr; }
  void* ptr() const { return stream_; }
  s32 id() const;
  u32 sqId() const;
  u32 cqId() const;
  u32 logicCqId() const;
  bool IsMainStream() { return isMainStream_; }
  /* Returns true if the owner has destroyed the stream. */
  bool IsInvalid() const;

  void PushTaskLogicInfo(TaskLogicInfo& taskLogicInfo);
  /* HCCL_E_NOT_FOUND if there is none. */
  HcclResult PopTaskLogicInfo(TaskLogicInfo& taskLogicInfo);

  HcclResult SetMode(const uint64_t stmMode);
  HcclResult GetMode(uint64_t* const stmMode);
  HcclResult GetStreamInfo(const HcclComStreamInfo*& streamInfo);
  const HcclComStreamInfo& GetHcclStreamInfo() const;

  /* Of the device side: HCCL_E_NOT_SUPPORT, or null. */
  HcclResult InitSqAndCqeContext(uint32_t sqHead, uint32_t sqTail, SqCqeContext* context);
  HcclResult GetNextSqeBufferAddr(uint8_t*& sqeBufferAddr, uint8_t*& sqeTypeAddr, uint8_t*& sqeDfxInfoAddr,
                                  uint16_t& taskId);
  HcclResult SetCqeContext(const ErrCqeContext& cqeContext);
  HcclResult GetCqeContext(ErrCqeContext& cqeContext);
  HcclSqeContext* GetSqeContextPtr();
  HcclResult ClearLocalBuff();

  void* stream_;

 private:
  struct State;

  void Release() noexcept;

  std::shared_ptr<State> state_;
  bool owner_;
  bool isMainStream_;
};

}  // namespace hccl

#endif /* SAMPAN_HCCL_PLATFORM_STREAM_PUB_H */
