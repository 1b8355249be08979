// Where in the program a call came from.
#include "core/memory/backtrace.h"

#include <execinfo.h>

#include <array>
#include <cstdlib>
#include <memory>
#include <span>

#include "base/text.h"

namespace sampan {

std::string CurrentBacktrace() {
  constexpr int kOwnFrames = 2;
  std::array<void*, 24> frames{};
  const int count = ::backtrace(frames.data(), static_cast<int>(frames.size()));
  struct Free {
    void operator()(char** names) const { std::free(names); }
  };
  const std::unique_ptr<char*, Free> names(::backtrace_symbols(frames.data(), count));
  if (names == nullptr) return {};
  std::string text;
  for (int i = kOwnFrames; i < count; ++i)
    text += Text("    ", std::string_view(names.get()[i]), "\n");
  return text;
}

}  // namespace sampan
