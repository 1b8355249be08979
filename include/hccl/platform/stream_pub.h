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

/* Of the device side; nothing here has a definition. */
struct SqCqeContext;
struct HcclSqeContext;
struct ErrCqeContext;

/** A stream: an owner, or a view of a stream that another object owns. Copies are views that share the
 * state of the owner.
 * @async Synchronous. An owner that is destroyed waits for the work of its stream.
 * @threads Queries from any thread. Assigning needs one thread at a time.
 */
class HCCL_PLF_VISIBILITY Stream {
 public:
  /** An empty object, or a copy of that, which is a view. Moving takes ownership. */
  explicit Stream();
  Stream(const Stream& that);
  Stream(Stream&& that) noexcept;

  /** Creates a stream of streamType in the current context and owns it. If all streams are in use, the object
   * is empty. IsMainStream returns isMainStream.
   */
  explicit Stream(const StreamType streamType, bool isMainStream = false);

  /** Views of the stream rtStream, or of the one that streamInfo names. IsMainStream returns isMainStream. */
  explicit Stream(const rtStream_t rtStream, bool isMainStream = true);
  explicit Stream(const HcclComStreamInfo& streamInfo, bool isMainStream = false);
  virtual ~Stream();

  /** A view of that stream. A stream that was owned before is destroyed. */
  Stream& operator=(const Stream& that);

  /** Takes over what that owns, and returns a view. */
  Stream operator=(Stream&& that);

  /** Whether there is a stream, its handle and its number. There are no queue entries: sqId, cqId and
   * logicCqId give the number of the stream.
   */
  operator bool() const { return stream_ != nullptr; }
  void* ptr() const { return stream_; }
  s32 id() const;
  u32 sqId() const;
  u32 cqId() const;
  u32 logicCqId() const;

  /** Whether it was made as a main stream. */
  bool IsMainStream() { return isMainStream_; }

  /** Whether the owner has destroyed the stream. */
  bool IsInvalid() const;

  /** Stores the record taskLogicInfo, as virtual dispatchers do. */
  void PushTaskLogicInfo(TaskLogicInfo& taskLogicInfo);

  /** Takes the oldest record into taskLogicInfo.
   * @error HCCL_E_NOT_FOUND There is none.
   */
  HcclResult PopTaskLogicInfo(TaskLogicInfo& taskLogicInfo);

  /** Stores or gets stmMode. It has no effect.
   * @error HCCL_E_PTR stmMode is NULL.
   */
  HcclResult SetMode(const uint64_t stmMode);
  HcclResult GetMode(uint64_t* const stmMode);

  /** The numbers of the stream, in streamInfo or as the result. */
  HcclResult GetStreamInfo(const HcclComStreamInfo*& streamInfo);
  const HcclComStreamInfo& GetHcclStreamInfo() const;

  /** Of the device side: HCCL_E_NOT_SUPPORT, or NULL. */
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
