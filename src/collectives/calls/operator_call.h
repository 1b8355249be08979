// A call of an operator while its arguments are checked: the first failure is the call's.
#pragma once

#include <initializer_list>
#include <memory>

#include "collectives/operators/call_checks.h"
#include "collectives/operators/submit.h"
#include "hccl/report.h"

namespace sampan::collectives {

using hccl::Fail;
using hccl::Guard;

/// Each step does nothing after a failure. Not thread-safe; lives as long as the call.
class OperatorCall {
 public:
  /// `place` is where the program calls the public function, from whose frame the default comes.
  explicit OperatorCall(OperatorKind kind, const void* place = __builtin_return_address(0))
      : row_(RowOf(kind)) {
    call_.facts.kind = static_cast<u32>(kind);
    call_.facts.place = reinterpret_cast<std::uintptr_t>(place) - 1;  // in the call, not behind it
  }

  const char* function() const { return row_.function; }
  bool ok() const { return result_ == HCCL_SUCCESS; }
  HcclResult result() const { return result_; }
  const Communicator& communicator() const { return *communicator_; }
  const std::shared_ptr<Communicator>& shared() const { return communicator_; }
  u32 rank() const { return communicator_->rank(); }
  u32 size() const { return communicator_->size(); }

  /// A step of one check, as `check()`.
  template <typename Check>
  void Step(Check check) {
    if (ok()) result_ = check();
  }
  void Refuse(const std::string& text) {
    Step([&] { return Fail(function(), HCCL_E_PARA, "EI0003: " + text); });
  }
  void Need(std::initializer_list<NamedPointer> pointers) {
    Step([&] { return CheckPointers(function(), pointers); });
  }
  void Find(HcclComm comm) {
    Step([&] { return FindForOperator(function(), comm, communicator_); });
  }
  void Count(const char* name, u64 count) {
    Step([&] { return CheckCount(function(), name, count); });
    call_.facts.count = count;
  }
  void Type(HcclDataType type);
  void Operation(HcclDataType type, HcclReduceOp operation);
  void Root(u32 root);
  /// Array elements that are the same on all ranks.
  void Digest(const std::uint64_t* numbers, u64 count);
  /// Each count and displacement is within the limit. Returns the elements that the buffer needs.
  u64 Extent(const char* counts_name, const std::uint64_t* counts, const std::uint64_t* displacements,
             u32 ranks);

  void Send(const char* name, const void* buffer, u64 elements);
  void Receive(const char* name, const void* buffer, u64 elements);
  CollectiveCall& call() { return call_; }

  HcclResult Queue(void* stream);

 private:
  const OperatorRow& row_;
  HcclResult result_ = HCCL_SUCCESS;
  std::shared_ptr<Communicator> communicator_;
  CollectiveCall call_;
  const void* send_buffer_ = nullptr;
  const void* receive_buffer_ = nullptr;
};

/// The blocks of all ranks, one after the other or as told.
std::vector<Piece> PiecesOf(const std::uint64_t* counts, const std::uint64_t* displacements, u32 ranks);

inline bool AllZero(const std::uint64_t* counts, u32 ranks) {
  for (u32 rank = 0; rank < ranks; ++rank) {
    if (counts[rank] != 0) return false;
  }
  return true;
}

}  // namespace sampan::collectives
