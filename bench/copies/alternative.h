// What a program would do without the runtime: the alternative that a copy is measured against.
#pragma once

#include <memory>
#include <string_view>

#include "bench/copies/copy_case.h"

namespace bench {

/// The name of the alternative where an NVIDIA GPU makes the devices.
inline constexpr std::string_view kDriver = "driver";

/// The same copy over memory of its own. Used by one thread.
class Alternative {
 public:
  virtual ~Alternative() = default;
  /// Returns when all bytes have arrived.
  virtual void Run() = 0;
};

/// In one word, as tables name it: memcpy or driver.
std::string_view AlternativeName(std::string_view backend);

/// In half a sentence, of that name.
std::string_view AlternativeMeaning(std::string_view name);

/// Of that name. Throws a Failure where the driver refuses something.
std::unique_ptr<Alternative> MakeAlternative(std::string_view name, const CopyPlan& plan,
                                             const CopyCase& copy);

}  // namespace bench
