// Which bytes an instruction of the program accesses, from its code and the registers.
#include "check/host/instruction_access.h"

#if defined(__x86_64__)

#include <array>
#include <cstring>

namespace sampan::check {
namespace {

/// The parts of an instruction before its operands.
struct Decoded {
  bool operand_16 = false, repeat_f2 = false, repeat_f3 = false, segment = false, address_32 = false;
  bool wide = false;  // REX.W, or W of VEX and EVEX
  unsigned reg_high = 0, index_high = 0, base_high = 0;
  unsigned map = 0;  // 0: one byte; 1: 0F; 2: 0F 38; 3: 0F 3A
  unsigned opcode = 0;
  unsigned vector_bytes = 16;
  bool vector = false;  // VEX or EVEX
  bool masked = false, broadcast = false;
  unsigned vector_scale = 1;  // of an EVEX displacement of one byte
  bool evex = false;
  const std::uint8_t* modrm = nullptr;

  unsigned reg() const { return modrm[0] >> 3 & 7; }
  unsigned operand_bytes() const { return wide ? 8 : operand_16 ? 2 : 4; }
  unsigned word_bytes() const { return wide ? 8 : 4; }
  /// Packed data, or one element with the prefixes F3 and F2.
  unsigned by_prefix() const { return repeat_f3 ? 4 : repeat_f2 ? 8 : vector_bytes; }
  unsigned integer_vector() const {
    return operand_16 || repeat_f3 || repeat_f2 || vector ? vector_bytes : 8;
  }
};

void SetSimdPrefix(Decoded& in, unsigned code) {
  in.operand_16 = code == 1;
  in.repeat_f3 = code == 2;
  in.repeat_f2 = code == 3;
}

/// Returns the code behind the prefixes and the opcode.
const std::uint8_t* DecodeHead(const std::uint8_t* code, Decoded& in) {
  for (;; ++code) {
    if (*code == 0x66)
      in.operand_16 = true;
    else if (*code == 0xF2)
      in.repeat_f2 = true;
    else if (*code == 0xF3)
      in.repeat_f3 = true;
    else if (*code == 0x64 || *code == 0x65)
      in.segment = true;
    else if (*code == 0x67)
      in.address_32 = true;
    else if (*code != 0xF0 && *code != 0x2E && *code != 0x36 && *code != 0x3E && *code != 0x26)
      break;
  }
  if (*code == 0xC5) {
    in.vector = true;
    in.reg_high = (code[1] & 0x80) == 0 ? 8 : 0;
    in.vector_bytes = (code[1] & 4) != 0 ? 32 : 16;
    SetSimdPrefix(in, code[1] & 3U);
    in.map = 1;
    in.opcode = code[2];
    return code + 3;
  }
  if (*code == 0xC4 || *code == 0x62) {
    in.vector = true;
    in.evex = *code == 0x62;
    in.reg_high = (code[1] & 0x80) == 0 ? 8 : 0;
    in.index_high = (code[1] & 0x40) == 0 ? 8 : 0;
    in.base_high = (code[1] & 0x20) == 0 ? 8 : 0;
    in.map = code[1] & (in.evex ? 7U : 31U);
    in.wide = (code[2] & 0x80) != 0;
    SetSimdPrefix(in, code[2] & 3U);
    if (!in.evex) {
      in.vector_bytes = (code[2] & 4) != 0 ? 32 : 16;
      in.opcode = code[3];
      return code + 4;
    }
    in.vector_bytes = 16U << (code[3] >> 5 & 3);
    in.broadcast = (code[3] & 0x10) != 0;
    in.masked = (code[3] & 7) != 0;
    in.opcode = code[4];
    return code + 5;
  }
  if ((*code & 0xF0) == 0x40) {
    in.wide = (*code & 8) != 0;
    in.reg_high = (*code & 4) != 0 ? 8 : 0;
    in.index_high = (*code & 2) != 0 ? 8 : 0;
    in.base_high = (*code & 1) != 0 ? 8 : 0;
    ++code;
  }
  if (*code != 0x0F) {
    in.opcode = *code;
    return code + 1;
  }
  ++code;
  in.map = *code == 0x38 ? 2 : *code == 0x3A ? 3 : 1;
  if (in.map != 1) ++code;
  in.opcode = *code;
  return code + 1;
}

/// Bytes of the memory operand of instructions with one byte of opcode; 0: unknown.
unsigned BytesOfMap0(const Decoded& in) {
  const unsigned op = in.opcode;
  const unsigned by_lowest_bit = (op & 1) == 0 ? 1 : in.operand_bytes();
  if (op < 0x40 && (op & 7) < 4) return by_lowest_bit;
  if (op >= 0x50 && op < 0x60) return 8;
  if (op == 0x63) return 4;
  if (op == 0x69 || op == 0x6B || op == 0x81 || op == 0x83) return in.operand_bytes();
  if (op == 0x8C || op == 0x8E) return 2;
  if (op == 0x8F) return 8;
  if (op == 0x80 || (op >= 0x84 && op < 0x8C) || (op >= 0xA0 && op < 0xA8) || (op >= 0xAA && op < 0xB0) ||
      op == 0xC0 || op == 0xC1 || op == 0xC6 || op == 0xC7 || (op >= 0xD0 && op < 0xD4) || op == 0xF6 ||
      op == 0xF7 || op == 0xFE)
    return by_lowest_bit;
  if (op == 0xFF) return in.reg() == 2 || in.reg() == 4 || in.reg() == 6 ? 8 : in.operand_bytes();
  switch (op) {
    case 0xD8:
    case 0xDA:
      return 4;
    case 0xD9:
      return in.reg() == 5 || in.reg() == 7 ? 2 : in.reg() == 4 || in.reg() == 6 ? 28 : 4;
    case 0xDB:
      return in.reg() == 5 || in.reg() == 7 ? 10 : 4;
    case 0xDC:
      return 8;
    case 0xDD:
      return in.reg() < 4 ? 8 : 2;
    case 0xDE:
      return 2;
    case 0xDF:
      return in.reg() == 5 || in.reg() == 7 ? 8 : in.reg() == 4 || in.reg() == 6 ? 10 : 2;
    default:
      return 0;
  }
}

unsigned BytesOfMap1(const Decoded& in) {
  const unsigned op = in.opcode;
  if (op == 0x10 || op == 0x11 || op == 0x51 || (op >= 0x58 && op < 0x60 && op != 0x5A && op != 0x5B) ||
      op == 0xC2)
    return in.by_prefix();
  if (op == 0x12 || op == 0x13 || op == 0x16 || op == 0x17)
    return in.repeat_f3 || (in.repeat_f2 && in.vector_bytes > 16) ? in.vector_bytes : 8;
  if (op == 0x2E || op == 0x2F) return in.operand_16 ? 8 : 4;
  if (op == 0x2A) return in.repeat_f2 || in.repeat_f3 ? in.word_bytes() : 8;
  if (op == 0x2C || op == 0x2D) return in.repeat_f3 ? 4 : in.repeat_f2 ? 8 : in.operand_16 ? 16 : 8;
  if (op == 0x5A)
    return in.repeat_f3 ? 4 : in.repeat_f2 ? 8 : in.operand_16 ? in.vector_bytes : in.vector_bytes / 2;
  if (op == 0x6E) return in.word_bytes();
  if (op == 0x7E) return in.repeat_f3 ? 8 : in.word_bytes();
  if (op == 0xD6) return 8;
  if (op == 0xE6) return in.repeat_f3 ? in.vector_bytes / 2 : in.vector_bytes;
  if (op == 0xF0) return in.vector_bytes;
  if (op == 0x14 || op == 0x15 || (op >= 0x28 && op < 0x30) || (op >= 0x52 && op < 0x5C) || op == 0xC6)
    return in.vector_bytes;
  if ((op >= 0x60 && op < 0x80) || (op >= 0xD0 && op < 0xFF)) return in.integer_vector();
  if (op >= 0x90 && op < 0xA0) return 1;
  if (op == 0xB0 || op == 0xC0 || op == 0xB6 || op == 0xBE) return 1;
  if (op == 0xB7 || op == 0xBF || op == 0xC4) return 2;
  if (op == 0xC3) return in.word_bytes();
  if (op == 0xC7) return in.wide ? 16 : 8;
  if (op == 0xAE) return 4;
  if ((op >= 0x40 && op < 0x50) || (op >= 0xA3 && op < 0xC2)) return in.operand_bytes();
  return 0;
}

/// Instructions that widen elements, at 20 to 25 and 30 to 35.
unsigned BytesOfWidening(const Decoded& in) {
  constexpr std::array<unsigned, 6> kShare = {2, 4, 8, 2, 4, 2};
  return in.vector_bytes / kShare[in.opcode & 7];
}

unsigned BytesOfMap2(const Decoded& in) {
  const unsigned op = in.opcode;
  if (((op & 0xF0) == 0x20 || (op & 0xF0) == 0x30) && (op & 15) < 6) return BytesOfWidening(in);
  if (op == 0xF0 && in.repeat_f2) return 1;
  if (op >= 0xF0) return op < 0xF2 ? in.operand_bytes() : in.word_bytes();
  if (!in.vector) return in.integer_vector();
  if (op == 0x18 || op == 0x58) return 4;
  if (op == 0x19 || op == 0x59) return 8;
  if (op == 0x1A || op == 0x5A) return 16;
  if (op == 0x78) return 1;
  if (op == 0x79) return 2;
  if ((op >= 0x2C && op < 0x30) || op == 0x8C || op == 0x8E || (op >= 0x90 && op < 0x94)) return 0;  // masked
  if (op >= 0x96 && op < 0xC0 && (op & 1) != 0 && (op & 15) >= 9) return in.word_bytes();  // one element
  return in.vector_bytes;
}

unsigned BytesOfMap3(const Decoded& in) {
  const unsigned op = in.opcode;
  if (op == 0x14 || op == 0x20) return 1;
  if (op == 0x15) return 2;
  if (op == 0x16 || op == 0x22) return in.word_bytes();
  if (op == 0x17 || op == 0x21 || op == 0x0A) return 4;
  if (op == 0x0B) return 8;
  if (op == 0x18 || op == 0x19 || op == 0x38 || op == 0x39) return 16;
  if (op == 0xF0) return in.word_bytes();
  return in.integer_vector();
}

unsigned OperandBytes(const Decoded& in) {
  if (in.masked) return 0;
  if (in.broadcast && in.evex) return in.word_bytes();
  switch (in.map) {
    case 0:
      return BytesOfMap0(in);
    case 1:
      return BytesOfMap1(in);
    case 2:
      return BytesOfMap2(in);
    case 3:
      return BytesOfMap3(in);
    default:
      return 0;
  }
}

/// The registers by their numbers in instructions.
constexpr std::array<int, 16> kRegisters = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
                                            REG_RSI, REG_RDI, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                            REG_R12, REG_R13, REG_R14, REG_R15};

std::uintptr_t Register(const ucontext_t& context, unsigned number) {
  return static_cast<std::uintptr_t>(context.uc_mcontext.gregs[kRegisters[number]]);
}

std::int64_t Displacement(const std::uint8_t* at, unsigned bytes) {
  if (bytes == 1) return static_cast<std::int8_t>(*at);
  std::int32_t value = 0;
  std::memcpy(&value, at, sizeof value);
  return value;
}

/// The address of the memory operand; 0 if it depends on what is not decoded: a segment, or the length of the
/// instruction.
std::uintptr_t OperandAddress(const ucontext_t& context, const Decoded& in, unsigned bytes) {
  const std::uint8_t* at = in.modrm;
  const unsigned mode = *at >> 6, low = *at & 7;
  if (mode == 3 || in.segment || in.address_32) return 0;
  ++at;
  std::uintptr_t address = 0;
  bool no_base = mode == 0 && low == 5;
  if (no_base && low == 5) return 0;  // relative to the instruction
  if (low == 4) {
    const unsigned base = *at & 7, index = (*at >> 3 & 7U) | in.index_high, scale = *at >> 6;
    ++at;
    no_base = mode == 0 && base == 5;
    if (!no_base) address = Register(context, base | in.base_high);
    if (index != 4) address += Register(context, index) << scale;
  } else {
    address = Register(context, low | in.base_high);
  }
  if (mode == 1) {
    const std::int64_t scale = in.evex ? static_cast<std::int64_t>(bytes) : 1;
    address += static_cast<std::uintptr_t>(Displacement(at, 1) * scale);
  } else if (mode == 2 || no_base) {
    address += static_cast<std::uintptr_t>(Displacement(at, 4));
  }
  return address;
}

/// Accesses by fixed registers: strings, and the stack.
bool HasImpliedAddress(const Decoded& in) {
  return in.map == 0 && ((in.opcode >= 0xA0 && in.opcode < 0xA8) || (in.opcode >= 0xAA && in.opcode < 0xB0) ||
                         (in.opcode >= 0x50 && in.opcode < 0x60));
}

}  // namespace

InstructionAccess AccessOfInstruction(const ucontext_t& context, std::uintptr_t faulted) noexcept {
  const auto instruction = static_cast<std::uintptr_t>(context.uc_mcontext.gregs[REG_RIP]);
  Decoded in;
  in.modrm = DecodeHead(reinterpret_cast<const std::uint8_t*>(instruction), in);
  const unsigned bytes = OperandBytes(in);
  if (bytes == 0) return {faulted, 1};
  if (HasImpliedAddress(in)) return {faulted, bytes};
  const std::uintptr_t address = OperandAddress(context, in, bytes);
  if (faulted - address < bytes) return {address, bytes};
  constexpr std::uintptr_t kPage = 4096;
  return {faulted, address == 0 && faulted % kPage != 0 ? bytes : 1};
}

}  // namespace sampan::check

#else

namespace sampan::check {

InstructionAccess AccessOfInstruction(const ucontext_t&, std::uintptr_t faulted) noexcept {
  return {faulted, 1};
}

}  // namespace sampan::check

#endif
