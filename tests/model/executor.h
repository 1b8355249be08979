// Runs a program on the library and compares every answer and every byte with the reference.
#pragma once

#include <array>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "acl/acl.h"
#include "acl/acl_rt_memory_soma.h"
#include "tests/model/model.h"
#include "tests/model/operation.h"

namespace sampan::model {

/// Where a program went wrong; `operation` is the program's size when it was its end.
struct Failure {
  std::size_t operation = 0;
  std::string what;
};

/// How to lead the executor astray, to see that it notices.
enum class Sabotage {
  kNone,
  kOmitEventWaits,
  kOmitStreamSyncs,
  kShortenCopies,
  kWaitBeforeAbort,  ///< what is to be dropped happens
  kWaitBeforeForce,  ///< the same before a forced destroy
  kWaitBeforeDeviceAbort,
  kOmitStopMode,    ///< streams go on behind a failure
  kGiveOutOfOrder,  ///< memory is given back to a pool in the order of another stream
  kOmitNotifyWaits,
  kOmitWordWaits,
  kOmitSecondThread,        ///< the second thread only allocates and frees
  kWaitBeforeSectionAbort,  ///< the same beside another thread
  kShortenLongBatches,      ///< those of 15 and more entries lose their last byte
  kShortenFloods,           ///< the last copy is left out
  kOmitUnmaps,
  kOmitRights,
};

/// A host function that stands still until it is let go. Thread-safe. Lives as long as the process: an abort
/// does not wait for a host function that runs (stream-6).
struct GateFunction {
  std::mutex mutex;
  std::condition_variable changed;
  bool open = false;

  void Open();
  static void Run(void* gate);
};

/// Runs one program, then takes everything away again. Not thread-safe. Both devices must be set.
class Executor {
 public:
  explicit Executor(Sabotage sabotage = Sabotage::kNone) : sabotage_(sabotage) {}

  /// Runs what the reference admits of the program; nothing when all of it was as predicted.
  std::optional<Failure> Run(const Program& program);

 private:
  static constexpr std::size_t kStagingBytes = 64 * 1024;
  static constexpr std::size_t kPage = 4096;

  static constexpr std::size_t kGuardBytes = 64;
  static constexpr std::uint8_t kGuard = 0xCB;

  struct RealBuffer {
    void* address = nullptr;
    std::size_t bytes = 0;  ///< that copies may touch
    Memory memory = Memory::kDevice;
    std::size_t mapped_bytes = 0;       ///< kRegistered
    std::vector<std::uint8_t> guarded;  ///< kPageable, between guards
    int device = 0;                     ///< kPool
    std::byte* range = nullptr;         ///< kMapped
    std::array<aclrtDrvMemHandle, 2> pieces{};
    bool unmapped = false;

    bool on_device() const {
      return memory == Memory::kDevice || memory == Memory::kPool || memory == Memory::kMapped;
    }
  };
  struct RealPool {
    aclrtMemPool pool = nullptr;
    aclrtStream idle = nullptr;  ///< for kGiveOutOfOrder
  };
  struct RealTable {
    void* memory = nullptr;
    std::size_t free_before = 0;
  };
  struct HostAddition {
    std::mutex mutex;
    bool cancelled = false;
    std::uint8_t* at = nullptr;
    std::size_t bytes = 0;
    std::uint8_t value = 0;
    static void Run(void* addition);
  };

  struct Answered {
    aclError code = ACL_SUCCESS;
    std::string what;  ///< another mistake than a wrong code
  };
  /// One operation of a section of two threads, and what came of it.
  struct SectionStep {
    const Operation* op;
    std::size_t at;
    Verdict expected;
    std::vector<ImageBytes> images;  ///< of the buffer to compare, by world
    Answered answered;
    std::vector<std::uint8_t> got;
    bool asked = false;
  };

  // executor.cc
  std::string Prepare();
  /// After a failure the library may be in another state than the reference: streams are aborted.
  std::string CleanUp(bool failed);
  std::string Step(const Operation& op, const Verdict& expected);
  bool Omits(const Operation& op) const;
  Answered Ask(const Operation& op, const Verdict& expected);
  aclError Perform(const Operation& op);
  void Finish(aclrtStream stream);
  GateFunction& MakeGate();
  void OpenGates();
  /// Aborts the stream while another thread submits to it without a pause.
  static aclError AbortWhileSubmitting(aclrtStream stream);
  HostAddition& KeepAddition(std::uint8_t* at, std::size_t bytes, std::uint8_t value);
  aclError CreateEvent(const Operation& op);
  Answered Query(const Operation& op, const Verdict& expected);
  /// Empty when it cannot be read.
  std::vector<std::uint8_t> Read(int slot);
  std::string CheckGuards(int slot) const;
  // executor_memory.cc
  aclError Allocate(const Operation& op);
  aclError Free(const Operation& op);
  aclError PreparePool(int device);
  /// Fills pool memory behind its allocation.
  aclError FillInOrder(const RealBuffer& made, const std::vector<std::uint8_t>& initial, aclrtStream stream);
  aclError TakeFromPool(RealBuffer& made, const Operation& op);
  aclError GiveToPool(void* address, const Operation& op);
  aclError Map(RealBuffer& made, std::size_t bytes);
  aclError MapPieces(RealBuffer& buffer);
  static aclError UnmapPieces(RealBuffer& buffer);
  aclError Unmap(RealBuffer& buffer);
  aclError SetAccess(const Operation& op);
  aclError EndPools();
  // executor_thread.cc
  /// Runs the operations from `at` to the join; leaves `at` there, or at the operation that went wrong.
  std::string RunSection(const Program& program, std::size_t& at);
  void RunSteps(std::vector<SectionStep>& steps, int thread);
  /// After an abort: earlier steps keep what they must find, for the worlds that there are now.
  static void ToNewWorlds(std::vector<SectionStep>& steps, const std::vector<std::size_t>& parents);
  std::string Judge(const std::vector<SectionStep>& steps, std::size_t& at);

  // executor_copy.cc
  aclError PerformCopy(const Operation& op);
  Answered Batch(const Operation& op, const Verdict& expected);
  aclError Flood(const Operation& op);
  aclError Fill(const Operation& op);
  aclError Indirect(const Operation& op);

  void* At(const Address& address) const;
  aclrtStream StreamAt(int slot) const;
  aclrtEvent EventAt(int slot) const;
  void* DescriptorAt(int slot) const;
  void* CellAt(int slot) const;
  void* WordAt(int slot) const;
  /// Pinned bytes that stay untouched until the program ends.
  void* Stage(const void* bytes, std::size_t count);

  Sabotage sabotage_;
  Model model_;
  std::array<RealBuffer, kBuffers> buffers_;
  std::array<aclrtStream, kStreams> streams_{};
  std::array<aclrtEvent, kEvents> events_{};
  std::array<aclrtNotify, kNotifies> notifies_{};
  aclrtContext context_ = nullptr;  ///< the program's own
  std::array<RealTable, kDevices> tables_;
  std::array<RealPool, kDevices> pools_;
  void* staging_ = nullptr;
  std::size_t staged_ = 0;
  std::mutex mutex_;             ///< of what follows
  std::vector<void*> patterns_;  ///< pinned bytes with which pool memory is filled
  std::vector<GateFunction*> gates_;
  std::vector<HostAddition*> additions_;
};

}  // namespace sampan::model
