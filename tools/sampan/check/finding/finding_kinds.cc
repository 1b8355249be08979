// The kinds of findings.
#include "tools/sampan/check/finding/finding_kinds.h"

#include <algorithm>
#include <array>

namespace sampan::tool {
namespace {

constexpr bool kError = true;
constexpr bool kWarning = false;

constexpr std::array kKinds = {
    FindingKind{
        "race", kError,
        "Two accesses of device work touch the same bytes, one of them writes, and nothing orders them."},
    FindingKind{"host-read-before-sync", kError,
                "The host reads what a copy writes, before anything told it that the copy is over."},
    FindingKind{"host-write-in-flight", kError,
                "The host writes what a copy uses, before anything told it that the copy is over."},
    FindingKind{"freed-in-flight", kError,
                "Memory is freed, unregistered or unmapped while work that uses it may not be over."},
    FindingKind{"stale-descriptor", kError,
                "A descriptor or offset cell that queued work reads is changed without an order."},
    FindingKind{"pageable-async", kWarning,
                "An asynchronous call was given pageable memory and ran synchronously."},
    FindingKind{"deadlock", kError,
                "Threads and streams wait for one another, or for a signal that cannot come."},
    FindingKind{"lost-signal", kError,
                "A notify is recorded again before its wait: the first signal is gone."},
    FindingKind{"wait-without-record", kWarning,
                "A stream waits for an event that was never recorded: it waits for nothing."},
    FindingKind{"out-of-bounds", kError, "A copy leaves its allocation, or its piece of a pool."},
    FindingKind{"use-after-free", kError, "Memory is used after it was freed."},
    FindingKind{"uninitialised-read", kError, "A copy reads device memory that nothing ever wrote."},
    FindingKind{"wrong-kind", kWarning, "The kind of a copy contradicts where its memory is."},
    FindingKind{"failed-task", kError, "A queued task failed and the program never saw the code."},
    FindingKind{"leak", kWarning, "Something was left at the end of the program."}};

}  // namespace

std::span<const FindingKind> FindingKinds() {
  return kKinds;
}

const FindingKind* FindKind(std::string_view name) {
  const auto found =
      std::find_if(kKinds.begin(), kKinds.end(), [&](const FindingKind& kind) { return kind.name == name; });
  return found == kKinds.end() ? nullptr : &*found;
}

}  // namespace sampan::tool
