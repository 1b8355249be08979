// The findings of the process: each is written once, as soon as it is made.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "check/findings/lasting_file.h"
#include "check/findings/modules.h"
#include "check/findings/output_line.h"
#include "check/findings/stacks.h"
#include "check/order/shape.h"

namespace sampan::check {

enum class FindingKind : std::uint8_t {
  kRace,
  kHostReadBeforeSync,
  kHostWriteInFlight,
  kFreedInFlight,
  kStaleDescriptor,
  kPageableAsync,
  kDeadlock,
  kLostSignal,
  kWaitWithoutRecord,
  kOutOfBounds,
  kUseAfterFree,
  kUninitialisedRead,
  kWrongKind,
  kFailedTask,
  kLeak,
};

/// One side of a finding.
struct AccessReport {
  const char* call = nullptr;  ///< null: the program itself
  std::string_view does;       ///< read, write, free, wait, record
  std::int32_t device = -1;    ///< -1: none
  std::int64_t stream = -1;    ///< -1: none
  std::int32_t entry = -1;     ///< -1: none
  std::uint32_t thread = 0;
  Range range;  ///< by offset in the buffer
  std::uint32_t stack = 0;
};

struct BufferReport {
  std::string_view what;
  std::int32_t device = -1;
  std::uintptr_t address = 0;
  std::uint64_t bytes = 0;
  const char* call = "";
  std::uint32_t stack = 0;
};

struct Finding {
  FindingKind kind;
  std::string_view message, fix;
  const BufferReport* buffer = nullptr;
  const Range* overlap = nullptr;
  std::span<const AccessReport> accesses;
};

/// Allocates nothing after Start, so a signal handler may report. The caller holds the checker's lock.
class Findings {
 public:
  struct Options {
    LastingFile file;   ///< where lines go; not open: nowhere
    bool text = false;  ///< tell the user on standard error too
  };
  void Start(Options options, const Stacks& stacks) noexcept;
  void Report(const Finding& finding) noexcept;
  /// A leak, if the command finds the counter of that number above 0 when the process is gone.
  void WriteHeld(const Finding& leak, std::uint32_t number) noexcept;
  /// Writes the counts, and that the process is at its end.
  void Finish(std::string_view reason) noexcept;
  bool any_error() const { return errors_ != 0; }

 private:
  static constexpr std::size_t kMaxFindings = 4096;
  /// A finding that was made, by its kind and places.
  struct Made {
    std::uint64_t key = 0;
    std::uint64_t count = 0, told = 0;
    std::uint32_t number = 0;
  };

  void WriteModules(const Finding& finding) noexcept;
  void WriteStack(std::uint32_t stack) noexcept;
  void WriteLine(std::string_view type, const Finding& finding, std::uint32_t number) noexcept;
  void WriteText(const Finding& finding) noexcept;
  void WriteTextStack(std::uint32_t stack) noexcept;
  void WritePlaces(std::string_view text, const Finding& finding) noexcept;
  void WritePlace(std::uint32_t stack) noexcept;

  Options options_;
  const Stacks* stacks_ = nullptr;
  Modules modules_;
  OutputLine line_;
  std::array<Made, 2 * kMaxFindings> made_{};
  std::uint32_t numbers_ = 0;
  std::size_t errors_ = 0, warnings_ = 0;
};

std::string_view NameOf(FindingKind kind);
bool IsError(FindingKind kind);

}  // namespace sampan::check
