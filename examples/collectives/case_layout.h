// Which elements a rank has before an operator, and which it has afterwards.
#pragma once

#include <vector>

#include "operator_case.h"

namespace collectives {

class CaseLayout {
 public:
  static constexpr u32 kAllRanks = UINT32_MAX;
  /// `count` elements at `at` of the output come from `first` of a rank's input, or of all combined.
  struct Part {
    u64 at;
    u32 from;
    u64 first;
    u64 count;
  };

  CaseLayout(const OperatorCase& what, u32 rank, u32 ranks);

  u64 send_elements() const { return send_elements_; }
  u64 receive_elements() const { return receive_elements_; }
  const std::vector<Part>& result() const { return result_; }

  /// Of the operators with blocks of different sizes: elements from one rank to another, and where they lie
  /// in the input and in the output.
  static u64 BlockCount(const OperatorCase& what, u32 from, u32 to);
  static u64 SendOffset(const OperatorCase& what, u32 from, u32 to);
  static u64 ReceiveOffset(const OperatorCase& what, u32 from, u32 to, u32 ranks);

 private:
  void AddBlocks(const OperatorCase& what, u32 rank, u32 ranks);

  u64 send_elements_ = 0, receive_elements_ = 0;
  std::vector<Part> result_;
};

}  // namespace collectives
