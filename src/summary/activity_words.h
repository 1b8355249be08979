// The names of tasks, calls and waits in traces.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

#include "base/reduce/reduce_kernels.h"
#include "summary/activity.h"

namespace sampan::summary {

/// The names of an enumeration, in the order of its values.
template <typename Enum>
inline constexpr std::array<std::string_view, 0> kWords{};
template <>
inline constexpr std::array<std::string_view, 14> kWords<TaskType> = {
    "MEMCPY_ASYNC", "MEMCPY",     "MEMSET_ASYNC", "MEMSET",        "REDUCE_ASYNC",
    "EVENT_RECORD", "EVENT_WAIT", "EVENT_RESET",  "NOTIFY_RECORD", "NOTIFY_WAIT",
    "VALUE_WRITE",  "VALUE_WAIT", "HOST_FUNC",    "TASK"};
template <>
inline constexpr std::array<std::string_view, 9> kWords<Form> = {
    "none", "linear", "rows", "batch", "descriptor", "offset", "captured", "fill", "reduce"};
template <>
inline constexpr std::array<std::string_view, 6> kWords<Operation> = {
    "none", "host to host", "host to device", "device to host", "device to device", "fill"};
template <>
inline constexpr std::array<std::string_view, 10> kWords<Path> = {
    "none", "engine", "shared", "at once", "blocking", "batch", "kernel", "staged", "dense", "network"};
template <>
inline constexpr std::array<std::string_view, 4> kWords<Memory> = {"none", "pageable", "pinned", "device"};
template <>
inline constexpr std::array<std::string_view, 4> kWords<Awaited> = {"nothing", "stream", "event", "device"};
template <>
inline constexpr std::array<std::string_view, 2> kWords<WaitReason> = {"queue full", "pageable"};
template <>
inline constexpr std::array<std::string_view, 4> kWords<Condition> = {"at least", "equal", "and", "nor"};
template <>
inline constexpr std::array<std::string_view, 4> kWords<TransferKind> = {"PEER_WRITE", "PEER_READ",
                                                                         "PEER_FILL", "PEER_SIGNAL"};
template <>
inline constexpr auto kWords<ReduceOperation> = NamesOfRows(kReduceOperationRows);
template <>
inline constexpr auto kWords<ReduceElement> = NamesOfRows(kReduceTypeRows);

template <typename Enum>
requires(!kWords<Enum>.empty()) constexpr std::string_view WordOf(Enum value) {
  return kWords<Enum>[static_cast<std::size_t>(value)];
}

/// The enumerator with this name, or nothing.
template <typename Enum>
requires(!kWords<Enum>.empty()) constexpr std::optional<Enum> Parse(std::string_view word) {
  for (std::size_t i = 0; i < kWords<Enum>.size(); ++i) {
    if (kWords<Enum>[i] == word) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

}  // namespace sampan::summary
