// The findings of the process: each is written once, as soon as it is made.
#include "check/findings/findings.h"

#include <unistd.h>

#include <utility>

namespace sampan::check {
namespace {

struct KindRow {
  std::string_view name;
  bool error;
};
constexpr std::array<KindRow, 15> kKinds = {{{"race", true},
                                             {"host-read-before-sync", true},
                                             {"host-write-in-flight", true},
                                             {"freed-in-flight", true},
                                             {"stale-descriptor", true},
                                             {"pageable-async", false},
                                             {"deadlock", true},
                                             {"lost-signal", true},
                                             {"wait-without-record", false},
                                             {"out-of-bounds", true},
                                             {"use-after-free", true},
                                             {"uninitialised-read", true},
                                             {"wrong-kind", false},
                                             {"failed-task", true},
                                             {"leak", false}}};

std::uint64_t Mixed(std::uint64_t hash, std::uint64_t value) {
  hash = (hash ^ value) * 1099511628211ULL;
  return hash ^ hash >> 31;
}

/// The same for the same mistake at the same places.
std::uint64_t KeyOf(const Finding& finding) {
  std::uint64_t key = Mixed(14695981039346656037ULL, static_cast<std::uint64_t>(finding.kind) + 1);
  for (const AccessReport& access : finding.accesses)
    key = Mixed(key, access.stack);
  if (finding.accesses.empty() && finding.buffer != nullptr) key = Mixed(key, finding.buffer->stack);
  return key == 0 ? 1 : key;
}

template <typename Number>
void AddOrNull(OutputLine& line, Number number) {
  if (number < 0) {
    line.Add("null");
  } else {
    line.Add(number);
  }
}

}  // namespace

std::string_view NameOf(FindingKind kind) {
  return kKinds[static_cast<std::size_t>(kind)].name;
}
bool IsError(FindingKind kind) {
  return kKinds[static_cast<std::size_t>(kind)].error;
}

void Findings::Start(Options options, const Stacks& stacks) noexcept {
  options_ = std::move(options);
  stacks_ = &stacks;
}

void Findings::Report(const Finding& finding) noexcept {
  const std::uint64_t key = KeyOf(finding);
  for (std::size_t slot = key % made_.size();; slot = (slot + 1) % made_.size()) {
    Made& made = made_[slot];
    if (made.key == key) {
      ++made.count;
      return;
    }
    if (made.key != 0) continue;
    if (numbers_ == kMaxFindings) return;
    made = {.key = key, .count = 1, .told = 1, .number = ++numbers_};
    break;
  }
  ++(IsError(finding.kind) ? errors_ : warnings_);
  if (options_.file.is_open()) {
    WriteModules(finding);
    WriteLine("finding", finding, numbers_);
  }
  if (options_.text) WriteText(finding);
}

void Findings::WriteHeld(const Finding& leak, std::uint32_t number) noexcept {
  if (!options_.file.is_open()) return;
  WriteModules(leak);
  WriteLine("held", leak, number);
}

void Findings::Finish(std::string_view reason) noexcept {
  const auto pid = static_cast<std::uint64_t>(::getpid());
  for (Made& made : made_) {
    if (made.count <= made.told || !options_.file.is_open()) continue;
    made.told = made.count;
    line_.Add("{\"type\":\"count\",\"pid\":").Add(pid).Add(",\"number\":").Add(made.number);
    line_.Add(",\"count\":").Add(made.count).Add("}\n").Send(options_.file.Get());
  }
  if (options_.file.is_open()) {
    line_.Add("{\"type\":\"end\",\"pid\":").Add(pid).Add(",\"reason\":").AddQuoted(reason).Add("}\n");
    line_.Send(options_.file.Get());
  }
  if (options_.text) {
    line_.Add(errors_).Add(" errors, ").Add(warnings_).Add(" warnings\n").Send(STDERR_FILENO);
  }
}

void Findings::WriteModules(const Finding& finding) noexcept {
  const auto write = [&](std::uint32_t stack) {
    for (const std::uintptr_t frame : stacks_->Frames(stack)) {
      const int index = modules_.Find(frame);
      if (index == Modules::kNone || std::exchange(modules_.At(index).written, true)) continue;
      const Module& module = modules_.At(index);
      line_.Add("{\"type\":\"module\",\"pid\":").Add(::getpid()).Add(",\"id\":").Add(index);
      line_.Add(",\"path\":").AddQuoted(module.path.data()).Add(",\"build_id\":\"");
      line_.Add(module.build_id.data()).Add("\",\"base\":\"").AddHex(module.base).Add("\"}\n");
      line_.Send(options_.file.Get());
    }
  };
  for (const AccessReport& access : finding.accesses)
    write(access.stack);
  if (finding.buffer != nullptr) write(finding.buffer->stack);
}

void Findings::WriteStack(std::uint32_t stack) noexcept {
  line_.Add("[");
  bool first = true;
  for (const std::uintptr_t frame : stacks_->Frames(stack)) {
    const int index = modules_.Find(frame);
    const std::uintptr_t base = index == Modules::kNone ? 0 : modules_.At(index).base;
    line_.Add(std::exchange(first, false) ? "[" : ",[").Add(index).Add(",").Add(frame - base).Add("]");
  }
  line_.Add("]");
}

void Findings::WriteLine(std::string_view type, const Finding& finding, std::uint32_t number) noexcept {
  const auto add_range = [&](const Range& range) {
    line_.Add("\"begin\":").Add(range.begin).Add(",\"end\":").Add(range.end);
  };
  line_.Add("{\"type\":").AddQuoted(type).Add(",\"pid\":").Add(::getpid());
  line_.Add(",\"number\":").Add(number);
  line_.Add(",\"kind\":").AddQuoted(NameOf(finding.kind)).Add(",\"severity\":");
  line_.AddQuoted(IsError(finding.kind) ? "error" : "warning");
  line_.Add(",\"message\":").AddQuoted(finding.message).Add(",\"fix\":").AddQuoted(finding.fix);
  line_.Add(",\"buffer\":");
  if (finding.buffer == nullptr) {
    line_.Add("null");
  } else {
    const BufferReport& buffer = *finding.buffer;
    line_.Add("{\"what\":").AddQuoted(buffer.what).Add(",\"device\":");
    AddOrNull(line_, buffer.device);
    line_.Add(",\"address\":\"").AddHex(buffer.address).Add("\",\"bytes\":").Add(buffer.bytes);
    line_.Add(",\"call\":").AddQuoted(buffer.call).Add(",\"stack\":");
    WriteStack(buffer.stack);
    line_.Add("}");
  }
  line_.Add(",\"overlap\":");
  if (finding.overlap == nullptr) {
    line_.Add("null");
  } else {
    line_.Add("{");
    add_range(*finding.overlap);
    line_.Add("}");
  }
  line_.Add(",\"accesses\":[");
  for (const AccessReport& access : finding.accesses) {
    if (&access != finding.accesses.data()) line_.Add(",");
    line_.Add("{\"call\":");
    if (access.call == nullptr) {
      line_.Add("null");
    } else {
      line_.AddQuoted(access.call);
    }
    line_.Add(",\"does\":").AddQuoted(access.does).Add(",\"device\":");
    AddOrNull(line_, access.device);
    line_.Add(",\"stream\":");
    AddOrNull(line_, access.stream);
    line_.Add(",\"entry\":");
    AddOrNull(line_, access.entry);
    line_.Add(",\"thread\":").Add(access.thread).Add(",");
    add_range(access.range);
    line_.Add(",\"stack\":");
    WriteStack(access.stack);
    line_.Add("}");
  }
  line_.Add("]}\n").Send(options_.file.Get());
}

// ---- for a user without the command ----

void Findings::WritePlace(std::uint32_t stack) noexcept {
  const auto frames = stacks_->Frames(stack);
  if (frames.empty()) {
    line_.Add("an unknown place");
    return;
  }
  const int index = modules_.Find(frames[0]);
  if (index == Modules::kNone) {
    line_.AddHex(frames[0]);
    return;
  }
  line_.Add(modules_.At(index).name()).Add("+").AddHex(frames[0] - modules_.At(index).base);
}

void Findings::WritePlaces(std::string_view text, const Finding& finding) noexcept {
  while (!text.empty()) {
    const std::size_t brace = std::min(text.find('{'), text.size());
    line_.Add(text.substr(0, brace));
    text.remove_prefix(brace);
    if (text.empty()) return;
    const std::size_t end = text.find('}');
    if (end == std::string_view::npos) return;
    const std::string_view name = text.substr(1, end - 1);
    text.remove_prefix(end + 1);
    if (name == "buffer") {
      WritePlace(finding.buffer == nullptr ? 0 : finding.buffer->stack);
    } else {
      const auto index = static_cast<std::size_t>(name.empty() ? 0 : name[0] - '0');
      WritePlace(index < finding.accesses.size() ? finding.accesses[index].stack : 0);
    }
  }
}

void Findings::WriteTextStack(std::uint32_t stack) noexcept {
  for (const std::uintptr_t frame : stacks_->Frames(stack)) {
    const int index = modules_.Find(frame);
    if (index == Modules::kNone) {
      line_.Add("      ").AddHex(frame).Add("\n");
      continue;
    }
    const Module& module = modules_.At(index);
    line_.Add("      ").Add(module.path.data()).Add("+").AddHex(frame - module.base).Add("\n");
  }
}

void Findings::WriteText(const Finding& finding) noexcept {
  line_.Add("sampan: ").Add(IsError(finding.kind) ? "error: " : "warning: ").Add(NameOf(finding.kind));
  line_.Add(": ");
  WritePlaces(finding.message, finding);
  line_.Add("\n");
  for (const AccessReport& access : finding.accesses) {
    line_.Add("    ").Add(access.call == nullptr ? "the program" : access.call).Add(" (");
    line_.Add(access.does).Add(")");
    if (access.stream >= 0) line_.Add(", stream ").Add(access.stream);
    if (access.device >= 0) line_.Add(", device ").Add(access.device);
    if (access.entry >= 0) line_.Add(", entry ").Add(access.entry);
    line_.Add(", thread ").Add(access.thread).Add("\n");
    WriteTextStack(access.stack);
  }
  if (finding.buffer != nullptr) {
    line_.Add("    ").Add(finding.buffer->what).Add(" of ").Add(finding.buffer->bytes).Add(" bytes at ");
    line_.AddHex(finding.buffer->address).Add(", made by ").Add(finding.buffer->call).Add("\n");
    WriteTextStack(finding.buffer->stack);
  }
  line_.Add("    ");
  WritePlaces(finding.fix, finding);
  line_.Add("\n").Send(STDERR_FILENO);
}

}  // namespace sampan::check
