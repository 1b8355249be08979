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
enum class Sabotage { kNone, kOmitEventWaits, kOmitStreamSyncs, kShortenCopies };

/// A host function that stands still until it is let go. Thread-safe.
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

  struct RealBuffer {
    void* address = nullptr;
    Memory memory = Memory::kDevice;
    std::size_t mapped_bytes = 0;       ///< kRegistered
    std::vector<std::uint8_t> guarded;  ///< kPageable, between guards
    int device = 0;                     ///< kPool
    std::byte* range = nullptr;         ///< kMapped
    std::array<aclrtDrvMemHandle, 2> pieces{};
  };
  struct RealPool {
    aclrtMemPool pool = nullptr;
    aclrtStream stream = nullptr;  ///< in which its memory is taken and given back
  };
  struct RealTable {
    void* memory = nullptr;
    std::size_t free_before = 0;
  };
  struct HostAddition {
    std::uint8_t* at;
    std::size_t bytes;
    std::uint8_t value;
    static void Run(void* addition);
  };

  // executor.cc
  std::string Prepare();
  std::string CleanUp();
  std::string Step(const Operation& op, const Verdict& expected);
  aclError Perform(const Operation& op);
  aclError Allocate(const Operation& op);
  aclError Free(const Operation& op);
  // executor_memory.cc
  aclError TakeFromPool(RealBuffer& made, std::size_t bytes);
  aclError GiveToPool(const RealBuffer& buffer, void* address, bool at_once);
  aclError Map(RealBuffer& made, std::size_t bytes);
  aclError Unmap(const RealBuffer& buffer);
  aclError EndPools();
  aclError CreateEvent(const Operation& op);
  std::string Query(const Operation& op, const Verdict& expected);
  std::string Compare(int slot);

  // executor_copy.cc
  aclError PerformCopy(const Operation& op);
  std::string Batch(const Operation& op, const Verdict& expected);
  aclError Fill(const Operation& op);
  aclError Indirect(const Operation& op);

  void* At(const Address& address) const;
  aclrtStream StreamAt(int slot) const;
  aclrtEvent EventAt(int slot) const;
  void* DescriptorAt(int slot) const;
  void* CellAt(int slot) const;
  /// Pinned bytes that stay untouched until the program ends.
  void* Stage(const void* bytes, std::size_t count);

  Sabotage sabotage_;
  Model model_;
  std::array<RealBuffer, kBuffers> buffers_;
  std::array<aclrtStream, kStreams> streams_{};
  std::array<aclrtEvent, kEvents> events_{};
  std::array<RealTable, kDevices> tables_;
  std::array<RealPool, kDevices> pools_;
  void* staging_ = nullptr;
  std::size_t staged_ = 0;
  std::deque<GateFunction> gates_;
  std::deque<HostAddition> additions_;
};

}  // namespace sampan::model
