// Says which allocation it was when the host touches device memory, before the process dies of it.
#include "process/fault_report.h"

#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <charconv>
#include <cstring>
#include <string_view>

namespace sampan::process {
namespace {

std::atomic<const MemoryRegistry*> watched{nullptr};
struct sigaction previous_action;

/// A line put together without allocating: this runs in a signal handler.
class SignalSafeLine {
 public:
  SignalSafeLine& Add(std::string_view text) {
    const std::size_t fits = std::min(text.size(), text_.size() - length_);
    std::memcpy(text_.data() + length_, text.data(), fits);
    length_ += fits;
    return *this;
  }
  SignalSafeLine& Add(std::uint64_t number, int base = 10) {
    std::array<char, 24> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number, base).ptr;
    return Add({digits.data(), static_cast<std::size_t>(end - digits.data())});
  }
  void Write() const {
    [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text_.data(), length_);
  }

 private:
  std::array<char, 4096> text_{};
  std::size_t length_ = 0;
};

void Explain(std::uintptr_t address) {
  const MemoryRegistry* memory = watched.load(std::memory_order_acquire);
  if (memory == nullptr || !memory->InSource(address)) return;
  SignalSafeLine line;
  const AllocationUse use = memory->Find(address);
  if (use && !use->facts.place.on_device()) {
    line.Add("Sampan: a forked child accessed pinned memory of its parent at 0x").Add(address, 16);
    line.Add(": a child does not inherit it\n").Write();
    return;
  }
  line.Add("Sampan: the host accessed device memory at 0x").Add(address, 16);
  if (use) {
    const AllocationFacts& facts = use->facts;
    line.Add(", byte ").Add(address - facts.address).Add(" of allocation #").Add(facts.serial).Add(" [0x");
    line.Add(facts.address, 16).Add(", +").Add(facts.bytes).Add(" bytes, memory of device ");
    line.Add(static_cast<std::uint64_t>(facts.place.device)).Add(", made by ").Add(facts.made_by).Add("]\n");
    line.Add(facts.backtrace);
  } else {
    line.Add(", which is not allocated: freed already, or past the end of an allocation\n");
  }
  line.Add("Sampan: a host program reaches device memory only through copies\n").Write();
}

void OnFault(int signal, siginfo_t* info, void* context) {
  const bool sent = info->si_code <= 0;  // by a program, not by an access
  if (!sent) Explain(reinterpret_cast<std::uintptr_t>(info->si_addr));
  if ((previous_action.sa_flags & SA_SIGINFO) != 0 && previous_action.sa_sigaction != nullptr) {
    return previous_action.sa_sigaction(signal, info, context);
  }
  if (previous_action.sa_handler != SIG_DFL && previous_action.sa_handler != SIG_IGN) {
    return previous_action.sa_handler(signal);
  }
  if (sent && previous_action.sa_handler == SIG_IGN) return;
  // The access faults again after this returns, and the default action ends the process. A sent one has to be
  // sent again.
  ::signal(signal, SIG_DFL);
  if (sent) ::raise(signal);
}

}  // namespace

void ReportHostFaults(const MemoryRegistry& memory) {
  if (watched.exchange(&memory) != nullptr) return;
  ::sigaction(SIGSEGV, nullptr, &previous_action);
  const bool has_handler = (previous_action.sa_flags & SA_SIGINFO) != 0 ||
                           (previous_action.sa_handler != SIG_DFL && previous_action.sa_handler != SIG_IGN);
  // Our handler calls the program's handler, so it takes over its flags and mask. The system then uses the
  // stack and blocks the signals that the program asked for.
  struct sigaction action = {};
  if (has_handler) action = previous_action;
  action.sa_sigaction = OnFault;
  action.sa_flags |= SA_SIGINFO | (has_handler ? 0 : SA_ONSTACK);
  ::sigaction(SIGSEGV, &action, nullptr);
}

}  // namespace sampan::process
