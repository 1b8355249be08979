// Explains a fault before the process dies: the host accessed device memory, or a copy accessed freed
// registered memory.
#include "process/fault_report.h"

#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <charconv>
#include <cstring>
#include <string_view>
#include <variant>

#include "backend/api/running_task.h"
#include "process/signal_report.h"

namespace sampan::process {
namespace {

std::atomic<const core::MemoryRegistry*> watched{nullptr};

/// A signal of a failed access, and the program's handler for it.
struct FaultSignal {
  int number;
  struct sigaction before {};
};
std::array<FaultSignal, 2> fault_signals = {{{SIGSEGV}, {SIGBUS}}};

/// Builds a line without allocating, because it runs in a signal handler.
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

/// The program's address of a copy's end. Engines access registered memory at the program's address, device
/// memory at another.
std::uintptr_t ProgramAddress(const std::byte* engine, const AllocationUse& use) {
  return use ? use->ProgramView(engine) : reinterpret_cast<std::uintptr_t>(engine);
}

void AddEnds(SignalSafeLine& line, std::size_t bytes, std::uintptr_t dst, std::uintptr_t src) {
  line.Add(bytes).Add(" bytes from 0x").Add(src, 16).Add(" to 0x").Add(dst, 16);
}

/// Text of the task. For a batch: of the segment that contains the address.
void AddTask(SignalSafeLine& line, const Task& task, std::uintptr_t address) {
  const auto touches = [address](const std::byte* begin, std::size_t bytes) {
    return address - reinterpret_cast<std::uintptr_t>(begin) < bytes;
  };
  if (const auto* copy = std::get_if<CopyTask>(&task)) {
    AddEnds(line, copy->segment.bytes, ProgramAddress(copy->segment.dst, copy->dst),
            ProgramAddress(copy->segment.src, copy->src));
  } else if (const auto* rows_task = std::get_if<RowsTask>(&task)) {
    const Rows& rows = rows_task->rows;
    line.Add(rows.height).Add(" rows of ");
    AddEnds(line, rows.width, ProgramAddress(rows.dst, rows_task->dst),
            ProgramAddress(rows.src, rows_task->src));
  } else if (const auto* batch = std::get_if<BatchTask>(&task)) {
    line.Add("a batch of ").Add(batch->bytes).Add(" bytes");
    for (const Segment& segment : batch->segments.all()) {
      const bool writes = touches(segment.dst, segment.bytes);
      if (!writes && !touches(segment.src, segment.bytes)) continue;
      line.Add(", of which it ").Add(writes ? "writes " : "reads ").Add(segment.bytes).Add(" bytes at 0x");
      line.Add(reinterpret_cast<std::uintptr_t>(writes ? segment.dst : segment.src), 16);
      break;
    }
  } else if (const auto* fill = std::get_if<FillTask>(&task)) {
    line.Add("a fill of ")
        .Add(fill->bytes)
        .Add(" bytes at 0x")
        .Add(ProgramAddress(fill->dst, fill->memory), 16);
  } else if (const auto* reduce = std::get_if<ReduceTask>(&task)) {
    line.Add("a reduction of ");
    AddEnds(line, reduce->segment.bytes, ProgramAddress(reduce->segment.dst, reduce->dst),
            ProgramAddress(reduce->segment.src, reduce->src));
  } else if (const auto* span = std::get_if<MultiAllocationTask>(&task)) {
    AddTask(line, span->content->task, address);
  } else {
    line.Add("a copy with operands in device memory");
  }
}

/// Explains an access to registered memory that the program has since freed, unmapped or protected.
void ExplainRegistered(std::uintptr_t address, const AllocationFacts& facts) {
  const RunningTask* const running = ThisThreadsTask();
  SignalSafeLine line;
  line.Add("Sampan: ").Add(running != nullptr ? "a queued copy" : "this thread");
  line.Add(" accessed registered memory that is no longer accessible, at 0x").Add(address, 16);
  line.Add(", byte ").Add(address - facts.address).Add(" of registration #").Add(facts.serial).Add(" [0x");
  line.Add(facts.address, 16).Add(", +").Add(facts.bytes).Add(" bytes, made by ").Add(facts.made_by);
  line.Add("]\n").Add(facts.backtrace);
  if (running != nullptr) {
    line.Add("Sampan: the copy is ");
    if (running->queue.number != 0) {
      line.Add("task ").Add(running->number).Add(" of stream ").Add(running->queue.stream).Add(" on device ");
      line.Add(static_cast<std::uint64_t>(running->queue.device)).Add(": ");
    } else {
      line.Add("that of a blocking call: ");
    }
    AddTask(line, *running->task, address);
    line.Add("\n");
  }
  line.Add(
      "Sampan: synchronise its streams and call aclrtHostUnregister before memory is freed or unmapped\n");
  line.Write();
}

void Explain(std::uintptr_t address) {
  const core::MemoryRegistry* memory = watched.load(std::memory_order_acquire);
  if (memory == nullptr) return;
  const AllocationUse use = memory->Find(address);
  if (use && memory->OriginOf(*use.get()) == core::MemoryOrigin::kRegistered)
    return ExplainRegistered(address, use->facts);
  if (!memory->InSource(address)) return;
  SignalSafeLine line;
  if (use && !use->facts.place.on_device() && !use->facts.open_to_peers) {
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
  const struct sigaction& previous_action = fault_signals[signal == fault_signals[0].number ? 0 : 1].before;
  const bool sent = info->si_code <= 0;  // a process sent it; no access raised it
  if (!sent) Explain(reinterpret_cast<std::uintptr_t>(info->si_addr));
  if ((previous_action.sa_flags & SA_SIGINFO) != 0 && previous_action.sa_sigaction != nullptr) {
    return previous_action.sa_sigaction(signal, info, context);
  }
  if (previous_action.sa_handler != SIG_DFL && previous_action.sa_handler != SIG_IGN) {
    return previous_action.sa_handler(signal);
  }
  if (sent && previous_action.sa_handler == SIG_IGN) return;
  FinishBeforeEnd();
  // After this returns, the access faults again, and the default action kills the process. A sent signal must
  // be sent again.
  ::signal(signal, SIG_DFL);
  if (sent) ::raise(signal);
}

void Watch(FaultSignal& fault) {
  ::sigaction(fault.number, nullptr, &fault.before);
  const bool has_handler = (fault.before.sa_flags & SA_SIGINFO) != 0 ||
                           (fault.before.sa_handler != SIG_DFL && fault.before.sa_handler != SIG_IGN);
  // Our handler calls the program's, so it takes over the flags and the mask. The system then uses the stack
  // and blocks the signals that the program asked for.
  struct sigaction action = {};
  if (has_handler) action = fault.before;
  action.sa_sigaction = OnFault;
  action.sa_flags |= SA_SIGINFO | (has_handler ? 0 : SA_ONSTACK);
  ::sigaction(fault.number, &action, nullptr);
}

}  // namespace

void ReportHostFaults(const core::MemoryRegistry& memory) {
  if (watched.exchange(&memory) != nullptr) return;
  for (FaultSignal& fault : fault_signals)
    Watch(fault);
}

}  // namespace sampan::process
