// The words that a trace has for what happened.
#include "summary/happening.h"

#include <array>
#include <cstddef>

namespace sampan::summary {
namespace {

/// The words of an enumeration, in the order of its values.
template <typename Enum>
constexpr std::array<std::string_view, 0> kWords{};
template <>
constexpr std::array<std::string_view, 14> kWords<TaskType> = {
    "MEMCPY_ASYNC", "MEMCPY",     "MEMSET_ASYNC", "MEMSET",        "REDUCE_ASYNC",
    "EVENT_RECORD", "EVENT_WAIT", "EVENT_RESET",  "NOTIFY_RECORD", "NOTIFY_WAIT",
    "VALUE_WRITE",  "VALUE_WAIT", "HOST_FUNC",    "TASK"};
template <>
constexpr std::array<std::string_view, 9> kWords<Form> = {"none",   "linear",   "rows", "batch", "descriptor",
                                                          "offset", "captured", "fill", "reduce"};
template <>
constexpr std::array<std::string_view, 6> kWords<Operation> = {
    "none", "host to host", "host to device", "device to host", "device to device", "fill"};
template <>
constexpr std::array<std::string_view, 8> kWords<Path> = {"none",     "engine", "shared", "at once",
                                                          "blocking", "batch",  "kernel", "staged"};
template <>
constexpr std::array<std::string_view, 4> kWords<Memory> = {"none", "pageable", "pinned", "device"};
template <>
constexpr std::array<std::string_view, 4> kWords<Awaited> = {"nothing", "stream", "event", "device"};
template <>
constexpr std::array<std::string_view, 2> kWords<WaitReason> = {"queue full", "pageable"};

template <typename Enum>
std::string_view WordOf(Enum value) {
  return kWords<Enum>[static_cast<std::size_t>(value)];
}

}  // namespace

std::string_view Describe(TaskType type) {
  return WordOf(type);
}
std::string_view Describe(Form form) {
  return WordOf(form);
}
std::string_view Describe(Operation operation) {
  return WordOf(operation);
}
std::string_view Describe(Path path) {
  return WordOf(path);
}
std::string_view Describe(Memory memory) {
  return WordOf(memory);
}
std::string_view Describe(Awaited awaited) {
  return WordOf(awaited);
}
std::string_view Describe(WaitReason reason) {
  return WordOf(reason);
}

template <typename Enum>
std::optional<Enum> Parse(std::string_view word) {
  for (std::size_t i = 0; i < kWords<Enum>.size(); ++i) {
    if (kWords<Enum>[i] == word) return static_cast<Enum>(i);
  }
  return std::nullopt;
}
template std::optional<TaskType> Parse<TaskType>(std::string_view);
template std::optional<Form> Parse<Form>(std::string_view);
template std::optional<Operation> Parse<Operation>(std::string_view);
template std::optional<Path> Parse<Path>(std::string_view);
template std::optional<Memory> Parse<Memory>(std::string_view);
template std::optional<Awaited> Parse<Awaited>(std::string_view);
template std::optional<WaitReason> Parse<WaitReason>(std::string_view);

}  // namespace sampan::summary
