// Loading, running, comparing.
#include "verified_run.h"

#include <algorithm>

#include "check.h"
#include "reference.h"

namespace collectives {
namespace {

constexpr u8 kUntouched = 0xA5;

std::string Hex(u8 byte) {
  const char* const digits = "0123456789abcdef";
  return std::string("0x") + digits[byte >> 4] + digits[byte & 15];
}

void Upload(const hccl::DeviceMem& to, const std::vector<u8>& bytes) {
  if (!bytes.empty())
    Check(aclrtMemcpy(to.ptr(), to.size(), bytes.data(), bytes.size(), ACL_MEMCPY_HOST_TO_DEVICE));
}

/// What the whole output must be.
std::vector<u8> WholeOutput(Rank& rank, const Case& what) {
  std::vector<u8> output(rank.output().size(), kUntouched);
  for (const ExpectedPart& part : ResultOf(what, rank.rank(), rank.size()))
    std::copy(part.bytes.begin(), part.bytes.end(),
              output.begin() + static_cast<std::ptrdiff_t>(part.offset));
  return output;
}

/// The ring's reduce-scatter works in the output behind its result.
bool IsScratch(Rank& rank, const Case& what, u64 at) {
  const Room room = RoomFor(what, rank.size());
  return what.collective == Collective::kRingReduceScatter && at >= room.output_bytes / rank.size() &&
         at < room.output_bytes;
}

}  // namespace

void LoadInput(Rank& rank, const Case& what) {
  Upload(rank.input(), InputOf(what, rank.rank(), rank.size()));
}

u64 RunVerified(Rank& rank, const Case& what) {
  LoadInput(rank, what);
  const u64 bytes = rank.output().size();
  Check(aclrtMemset(rank.output().ptr(), bytes, kUntouched, bytes));
  RunCase(rank, what);
  rank.Synchronize();
  std::vector<u8> output(bytes);
  Check(aclrtMemcpy(output.data(), bytes, rank.output().ptr(), bytes, ACL_MEMCPY_DEVICE_TO_HOST));
  const std::vector<u8> expected = WholeOutput(rank, what);
  for (u64 at = 0; at < bytes; ++at) {
    if (output[at] == expected[at] || IsScratch(rank, what, at)) continue;
    throw Mismatch(Describe(what, rank.size()) + ": byte " + std::to_string(at) + " of rank " +
                   std::to_string(rank.rank()) + "'s output is " + Hex(output[at]) + ", expected " +
                   Hex(expected[at]));
  }
  return bytes;
}

}  // namespace collectives
