// How places in a program are named.
#include "tools/sampan/check/finding/frame_words.h"

#include <algorithm>
#include <array>
#include <cstdio>

namespace sampan::tool {
namespace {

std::string Hexadecimal(std::uint64_t number) {
  std::array<char, 24> text{};
  std::snprintf(text.data(), text.size(), "0x%llx", static_cast<unsigned long long>(number));
  return text.data();
}

/// Libraries that a program is written in. Their frames say nothing about a mistake.
bool IsLanguageLibrary(std::string_view module) {
  constexpr std::array<std::string_view, 12> kNames = {
      "libc.so",    "libc-",    "libstdc++.so", "libc++.so",  "libm.so",  "libgcc_s.so",
      "libpthread", "ld-linux", "libtsan.so",   "libasan.so", "libubsan", "linux-vdso"};
  const std::string_view name = BaseName(module);
  return std::any_of(kNames.begin(), kNames.end(),
                     [&](std::string_view known) { return name.starts_with(known); });
}

/// Returns true for the libraries of this project.
bool IsOurLibrary(std::string_view module) {
  constexpr std::array<std::string_view, 5> kNames = {"libacl_rt.so", "libascendcl.so", "libhccl_plf.so",
                                                      "libhccl.so", "libhcomm.so"};
  const std::string_view name = BaseName(module);
  return std::any_of(kNames.begin(), kNames.end(),
                     [&](std::string_view known) { return name.starts_with(known); });
}

/// Headers of the compiler and of the system, whose functions are inlined into the program.
bool IsSystemSource(std::string_view file) {
  return file.starts_with("/usr/include/") || file.starts_with("/usr/lib/") ||
         file.find("/sysdeps/") != file.npos;
}

std::string ModulePlace(const Frame& frame) {
  return std::string(BaseName(frame.module)) + "+" + Hexadecimal(frame.offset);
}

std::string StreamName(const FoundAccess& access) {
  std::string text = ", stream " + std::to_string(*access.stream);
  if (access.device) text += " of device " + std::to_string(*access.device);
  return text;
}

}  // namespace

std::string_view BaseName(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

bool IsProgramFrame(const Frame& frame) {
  return !IsLanguageLibrary(frame.module) && !IsSystemSource(frame.file) && frame.function != "_start";
}

Stack ProgramPart(Stack stack) {
  std::erase_if(stack, [](const Frame& frame) { return IsOurLibrary(frame.module); });
  const auto first = std::find_if(stack.begin(), stack.end(), IsProgramFrame);
  if (first == stack.end()) return stack;
  const auto last = std::find_if(stack.rbegin(), stack.rend(), IsProgramFrame).base();
  return {std::make_move_iterator(first), std::make_move_iterator(last)};
}

const Frame* PlaceOf(const Stack& stack) {
  return stack.empty() ? nullptr : &stack.front();
}

std::string DescribeFrame(const Frame& frame) {
  const std::string function = frame.function.empty() ? "" : frame.function + " ";
  if (frame.file.empty()) return function + (function.empty() ? "" : "in ") + ModulePlace(frame);
  return function + "at " + frame.file + ":" + std::to_string(frame.line);
}

std::string DescribePlace(const Stack& stack) {
  const Frame* const place = PlaceOf(stack);
  if (place == nullptr) return "an unknown place";
  if (!place->file.empty())
    return "line " + std::to_string(place->line) + " of " + std::string(BaseName(place->file));
  return ModulePlace(*place) + (place->function.empty() ? "" : " (" + place->function + ")");
}

std::string ShortPlace(const Stack& stack) {
  const Frame* const place = PlaceOf(stack);
  if (place == nullptr) return "unknown place";
  if (!place->file.empty()) return std::string(BaseName(place->file)) + ":" + std::to_string(place->line);
  return place->function.empty() ? ModulePlace(*place) : place->function;
}

std::string DescribeBytes(std::uint64_t begin, std::uint64_t end) {
  if (end <= begin + 1) return "byte " + std::to_string(begin);
  return "bytes " + std::to_string(begin) + " to " + std::to_string(end - 1);
}

std::string DescribeAccess(const FoundAccess& access) {
  static constexpr std::array<std::array<std::string_view, 2>, 5> kVerbs = {
      {{"read", "reads"}, {"write", "writes"}, {"free", "frees"}, {"wait", "waits"}, {"record", "records"}}};
  const auto verb =
      std::find_if(kVerbs.begin(), kVerbs.end(), [&](const auto& each) { return each[0] == access.does; });
  std::string text = access.call.empty() ? "the host" : access.call;
  const bool has_bytes = access.begin && access.end && *access.begin < *access.end;
  const bool needs_bytes = access.does == "read" || access.does == "write";
  if (has_bytes || !needs_bytes) text += " " + (verb == kVerbs.end() ? access.does : std::string((*verb)[1]));
  if (has_bytes) text += " " + DescribeBytes(*access.begin, *access.end);
  if (access.entry) text += ", entry " + std::to_string(*access.entry) + " of the batch";
  if (access.stream) text += StreamName(access);
  if (access.thread) text += ", thread " + std::to_string(*access.thread);
  return text;
}

std::string DescribeBuffer(const FoundBuffer& buffer) {
  std::string text = buffer.what;
  if (buffer.device) text += " (device " + std::to_string(*buffer.device) + ")";
  text += ": " + std::to_string(buffer.bytes) + " bytes at " + buffer.address;
  return buffer.call.empty() ? text : text + ", made by " + buffer.call;
}

}  // namespace sampan::tool
