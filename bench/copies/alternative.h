// The alternative to the runtime that a copy is compared with.
#pragma once

#include <memory>
#include <string_view>

#include "bench/copies/copy_case.h"

namespace bench {

/// The name of the alternative if the devices are NVIDIA GPUs.
inline constexpr std::string_view kDriver = "driver";

/// The same copy on memory of its own. Not thread-safe.
class Alternative {
 public:
  virtual ~Alternative() = default;
  /// Returns when all bytes have arrived.
  virtual void Run() = 0;
};

/// Its name in tables: memcpy or driver.
std::string_view AlternativeName(std::string_view backend);

/// The meaning of the name, in half a sentence.
std::string_view AlternativeMeaning(std::string_view name);

/// Creates the alternative of this name. Throws a Failure if a call of the driver fails.
std::unique_ptr<Alternative> MakeAlternative(std::string_view name, const CopyPlan& plan,
                                             const CopyCase& copy);

}  // namespace bench
