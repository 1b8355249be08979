// Which bytes an instruction of the program accesses, from its code and the registers.
#pragma once

#include <ucontext.h>

#include <cstdint>

namespace sampan::check {

struct InstructionAccess {
  std::uintptr_t address = 0;
  std::uint64_t bytes = 0;
};

/// The access of the interrupted instruction that faulted at the address. For an instruction that is not
/// known the byte at the address alone. Async-signal-safe.
InstructionAccess AccessOfInstruction(const ucontext_t& context, std::uintptr_t faulted) noexcept;

}  // namespace sampan::check
