// The calls of the C library that change how signals are handled.
#pragma once

#include <signal.h>

#include <span>

#include "check/host/symbol_slots.h"

namespace sampan::check {

/// What takes their place: the program can set handlers of our signals, and cannot block these.
std::span<const Redirection> SignalCalls() noexcept;

/// The C library's own, whatever the program's calls are redirected to.
int SystemSigaction(int signal, const struct sigaction* action, struct sigaction* before) noexcept;

}  // namespace sampan::check
