// Looks up the operands of copies that read them from device memory, when such a copy executes.
#pragma once

#include <cstdint>
#include <string>

#include "backend/api/allocation.h"
#include "backend/api/task.h"
#include "base/error/status.h"
#include "base/error/text.h"

namespace sampan {

/// Text for messages: where an operand was read from.
inline std::string DescribeOperand(const IndirectTask::Content& content, AddressResolver::Access access) {
  using Access = AddressResolver::Access;
  const std::string_view name = access == Access::kWrite ? "dst" : "src";
  const bool descriptor = content.form == IndirectTask::Content::Form::kDescriptor;
  const int cell = descriptor || access == Access::kWrite ? 0 : 1;
  const std::uintptr_t address = content.operands_memory[cell]->ProgramView(content.operands[cell]);
  if (descriptor) return Text(name, " of the descriptor ", Hex(address));
  return Text(name, " of the cell ", Hex(address), " with offset ",
              access == Access::kWrite ? content.dst_offset : content.src_offset);
}

/// The memory of an operand. An error names the operand.
inline Result<AddressResolver::Resolved> ResolveOperand(const IndirectTask::Content& content,
                                                        AddressResolver::Access access,
                                                        std::uintptr_t address, std::size_t bytes) {
  auto memory = content.resolver->ResolveDevice(address, bytes, content.device, access);
  if (memory.ok()) [[likely]]
    return memory;
  Status failure = memory.TakeStatus();
  failure.error().message = Text(DescribeOperand(content, access), ": ", failure.error().message);
  return failure;
}

}  // namespace sampan
