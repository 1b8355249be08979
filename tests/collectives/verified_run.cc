// Loading, running, comparing.
#include "verified_run.h"

#include <algorithm>

#include "case_layout.h"
#include "check.h"
#include "hccl/dtype_common.h"

namespace collectives {
namespace {

constexpr u8 kUntouched = 0xA5;

std::string Hex(u8 byte) {
  const char* const digits = "0123456789abcdef";
  return std::string("0x") + digits[byte >> 4] + digits[byte & 15];
}

/// What the model says of a rank: its input, and all of its output.
struct Contents {
  std::vector<u8> input, output;
};

Contents ContentsOf(Rank& rank, const Case& what) {
  const OperatorCase model = ModelOf(what);
  const CaseMemory memory = MemoryOf(model, rank.rank(), rank.size());
  const CaseLayout layout(model, rank.rank(), rank.size());
  const u64 unit = HcclDataTypeBytes(model.type);
  const auto slice = [&](const std::vector<u8>& of, std::size_t at, u64 elements) {
    const auto begin = of.begin() + static_cast<std::ptrdiff_t>(at);
    return std::vector<u8>(begin, begin + static_cast<std::ptrdiff_t>(elements * unit));
  };
  Contents contents;
  contents.input = slice(memory.before, memory.send_at, layout.send_elements());
  contents.output = slice(memory.after, memory.receive_at, layout.receive_elements());
  // The public operator has one buffer: the root's stays as it is.
  if (model.op == Op::kBroadcast && rank.rank() == model.root) contents.output = contents.input;
  contents.output.resize(rank.output().size(), kUntouched);
  return contents;
}

/// The ring's reduce-scatter works in the output behind its result.
bool IsScratch(Rank& rank, const Case& what, u64 at) {
  const Room room = RoomFor(what, rank.size());
  return what.collective == Collective::kRingReduceScatter && at >= room.output_bytes / rank.size() &&
         at < room.output_bytes;
}

}  // namespace

void RunVerified(Rank& rank, const Case& what) {
  const Contents expected = ContentsOf(rank, what);
  const u64 bytes = rank.output().size();
  if (!expected.input.empty())
    Check(aclrtMemcpy(rank.input().ptr(), rank.input().size(), expected.input.data(), expected.input.size(),
                      ACL_MEMCPY_HOST_TO_DEVICE));
  Check(aclrtMemset(rank.output().ptr(), bytes, kUntouched, bytes));
  RunCase(rank, what);
  rank.Synchronize();
  std::vector<u8> output(bytes);
  Check(aclrtMemcpy(output.data(), bytes, rank.output().ptr(), bytes, ACL_MEMCPY_DEVICE_TO_HOST));
  for (u64 at = 0; at < bytes; ++at) {
    if (output[at] == expected.output[at] || IsScratch(rank, what, at)) continue;
    throw Mismatch(Describe(what, rank.size()) + ": byte " + std::to_string(at) + " of rank " +
                   std::to_string(rank.rank()) + "'s output is " + Hex(output[at]) + ", expected " +
                   Hex(expected.output[at]));
  }
}

}  // namespace collectives
