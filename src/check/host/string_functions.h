// Functions of the C library that read more bytes than they were asked for.
#pragma once

#include <cstdint>

#include "check/order/shape.h"

namespace sampan::check {

/// Finds them. Call it once.
void FindStringFunctions() noexcept;

/// True if the instruction is one of a function that looks for an end in the bytes, for example strlen. It
/// reads whole vectors, and so bytes before the beginning and behind the end. Async-signal-safe.
bool MayReadTooMuch(std::uintptr_t instruction) noexcept;

/// The vectors that such a function reads with this one. At least one of their bytes is asked for.
Range VectorsAround(std::uintptr_t address, std::uint64_t bytes) noexcept;

}  // namespace sampan::check
