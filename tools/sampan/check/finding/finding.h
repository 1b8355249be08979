// A mistake that the checker found, with its places in the program's source.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sampan::tool {

/// One call on a stack. Inlined calls share module and offset.
struct Frame {
  std::string function;  ///< empty: unknown
  std::string file;      ///< empty: the program has no debug information
  int line = 0;
  std::string module;
  std::uint64_t offset = 0;  ///< in the module's file, as its symbols count
};

/// Innermost call first.
using Stack = std::vector<Frame>;

/// The memory that a finding is about.
struct FoundBuffer {
  std::string what;  ///< such as "pinned host memory"
  std::optional<std::int64_t> device;
  std::string address;
  std::uint64_t bytes = 0;
  std::string call;  ///< empty: unknown
  Stack stack;
};

struct FoundAccess {
  std::string call;  ///< empty: the host itself
  std::string does;  ///< read, write, free, wait or record
  std::optional<std::int64_t> device;
  std::optional<std::int64_t> stream;
  std::optional<std::int64_t> entry;  ///< in a batch
  std::optional<std::int64_t> thread;
  std::optional<std::uint64_t> begin;
  std::optional<std::uint64_t> end;
  Stack stack;
};

struct FoundOverlap {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

struct Finding {
  std::string id;  ///< the same for the same mistake in every run and on every machine
  std::string kind;
  bool is_error = true;
  std::uint64_t count = 1;
  std::string message;
  std::string fix;
  std::optional<FoundBuffer> buffer;
  std::optional<FoundOverlap> overlap;
  std::vector<FoundAccess> accesses;  ///< the earlier one first
};

/// All that a report says about one run.
struct CheckedRun {
  std::vector<std::string> program;  ///< with its arguments
  std::vector<Finding> findings;

  std::size_t CountErrors() const;
  std::size_t CountWarnings() const { return findings.size() - CountErrors(); }
};

}  // namespace sampan::tool
