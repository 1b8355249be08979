// The bytes that instructions access, by their code.
#include "check/host/instruction_access.h"

#include <gtest/gtest.h>

#include <vector>

#if defined(__x86_64__)

namespace sampan::check {
namespace {

struct Row {
  const char* text;
  std::vector<std::uint8_t> code;
  std::uint64_t bytes;
  std::int64_t from_rax;  // the operand's address
};

const std::vector<Row>& Rows() {
  static const std::vector<Row> rows = {
      {"mov (%rax),%eax", {0x8B, 0x00}, 4, 0},
      {"mov 8(%rax),%rcx", {0x48, 0x8B, 0x48, 0x08}, 8, 8},
      {"mov %cx,(%rax)", {0x66, 0x89, 0x08}, 2, 0},
      {"mov %cl,-1(%rax)", {0x88, 0x48, 0xFF}, 1, -1},
      {"movb $1,0x100(%rax)", {0xC6, 0x80, 0x00, 0x01, 0x00, 0x00, 0x01}, 1, 0x100},
      {"movl $1,(%rax,%rcx,4)", {0xC7, 0x04, 0x88, 0x01, 0x00, 0x00, 0x00}, 4, 12},
      {"movzbl (%rax),%ecx", {0x0F, 0xB6, 0x08}, 1, 0},
      {"movswl (%rax),%ecx", {0x0F, 0xBF, 0x08}, 2, 0},
      {"movslq (%rax),%rcx", {0x48, 0x63, 0x08}, 4, 0},
      {"addq $1,(%rax)", {0x48, 0x83, 0x00, 0x01}, 8, 0},
      {"lock cmpxchg %rdx,(%rax)", {0xF0, 0x48, 0x0F, 0xB1, 0x10}, 8, 0},
      {"movss (%rax),%xmm0", {0xF3, 0x0F, 0x10, 0x00}, 4, 0},
      {"movsd (%rax),%xmm0", {0xF2, 0x0F, 0x10, 0x00}, 8, 0},
      {"movups %xmm0,(%rax)", {0x0F, 0x11, 0x00}, 16, 0},
      {"movdqu (%rax),%xmm1", {0xF3, 0x0F, 0x6F, 0x08}, 16, 0},
      {"movq %xmm0,(%rax)", {0x66, 0x0F, 0xD6, 0x00}, 8, 0},
      {"vmovdqu (%rax),%ymm0", {0xC5, 0xFE, 0x6F, 0x00}, 32, 0},
      {"vmovdqu 32(%rax),%xmm0", {0xC5, 0xFA, 0x6F, 0x40, 0x20}, 16, 32},
      {"vmovdqu64 64(%rax),%zmm16", {0x62, 0xE1, 0xFE, 0x48, 0x6F, 0x40, 0x01}, 64, 64},
      {"vpbroadcastd (%rax),%ymm0", {0xC4, 0xE2, 0x7D, 0x58, 0x00}, 4, 0},
      {"rep movsb", {0xF3, 0xA4}, 1, 0},
      {"rep stosq", {0xF3, 0x48, 0xAB}, 8, 0},
  };
  return rows;
}

TEST(InstructionAccess, KnowsTheBytesOfCommonInstructions) {
  for (const Row& row : Rows()) {
    SCOPED_TRACE(row.text);
    std::vector<std::uint8_t> code = row.code;
    code.resize(code.size() + 8);
    ucontext_t context{};
    constexpr std::uintptr_t kRax = 0x10010;
    context.uc_mcontext.gregs[REG_RIP] = reinterpret_cast<greg_t>(code.data());
    context.uc_mcontext.gregs[REG_RAX] = kRax;
    context.uc_mcontext.gregs[REG_RCX] = 3;
    const std::uintptr_t address = kRax + static_cast<std::uintptr_t>(row.from_rax);
    for (const std::uintptr_t faulted : {address, address + row.bytes - 1}) {
      const InstructionAccess access = AccessOfInstruction(context, faulted);
      EXPECT_EQ(access.bytes, row.bytes);
      const bool is_string = row.code[0] == 0xF3 && row.code.size() <= 3;
      EXPECT_EQ(access.address, is_string ? faulted : address);
    }
  }
}

TEST(InstructionAccess, TakesOneByteOfAnUnknownInstruction) {
  const std::vector<std::uint8_t> masked = {0x62, 0xF1, 0x7E, 0x09,
                                            0x6F, 0x00, 0x00, 0x00};  // a mask decides
  ucontext_t context{};
  context.uc_mcontext.gregs[REG_RIP] = reinterpret_cast<greg_t>(masked.data());
  const InstructionAccess access = AccessOfInstruction(context, 0x4321);
  EXPECT_EQ(access.address, 0x4321U);
  EXPECT_EQ(access.bytes, 1U);
}

}  // namespace
}  // namespace sampan::check

#endif
