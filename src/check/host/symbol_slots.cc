// Redirects the calls that loaded files make to functions of other libraries.
#include "check/host/symbol_slots.h"

#include <elf.h>
#include <link.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>

#include "check/host/page_guard.h"

namespace sampan::check {
namespace {

/// The tables of a loaded file that say which slots belong to which symbols.
struct SlotTables {
  const ElfW(Sym) * symbols = nullptr;
  const char* names = nullptr;
  std::array<std::span<const ElfW(Rela)>, 2> relocations;
  Range protected_after_load;  // addresses
};

std::string_view FileName(const dl_phdr_info& module) {
  std::string_view name = module.dlpi_name;
  name.remove_prefix(name.rfind('/') + 1);
  return name;
}

/// The linker, the C library and our own libraries keep their calls.
bool IsLeftAlone(std::string_view name) {
  constexpr std::array<std::string_view, 9> kNames = {"libc.so",        "ld-linux",       "libacl_rt.so",
                                                      "libascendcl.so", "libhccl_plf.so", "libhccl.so",
                                                      "linux-vdso",     "libtsan.so",     "libasan.so"};
  return std::any_of(kNames.begin(), kNames.end(),
                     [&](std::string_view each) { return name.starts_with(each); });
}

/// Addresses in the table are absolute in a loaded file; the vdso keeps offsets.
SlotTables ReadTables(const dl_phdr_info& module) {
  SlotTables tables;
  const ElfW(Dyn)* dynamic = nullptr;
  for (int i = 0; i < module.dlpi_phnum; ++i) {
    const auto& segment = module.dlpi_phdr[i];
    const std::uintptr_t begin = module.dlpi_addr + segment.p_vaddr;
    if (segment.p_type == PT_DYNAMIC) dynamic = reinterpret_cast<const ElfW(Dyn)*>(begin);
    if (segment.p_type == PT_GNU_RELRO) tables.protected_after_load = {begin, begin + segment.p_memsz};
  }
  if (dynamic == nullptr) return tables;
  std::array<const ElfW(Rela)*, 2> first{};
  std::array<std::size_t, 2> bytes{};
  for (; dynamic->d_tag != DT_NULL; ++dynamic) {
    const auto address = dynamic->d_un.d_ptr;
    switch (dynamic->d_tag) {
      case DT_SYMTAB:
        tables.symbols = reinterpret_cast<const ElfW(Sym)*>(address);
        break;
      case DT_STRTAB:
        tables.names = reinterpret_cast<const char*>(address);
        break;
      case DT_JMPREL:
        first[0] = reinterpret_cast<const ElfW(Rela)*>(address);
        break;
      case DT_PLTRELSZ:
        bytes[0] = dynamic->d_un.d_val;
        break;
      case DT_RELA:
        first[1] = reinterpret_cast<const ElfW(Rela)*>(address);
        break;
      case DT_RELASZ:
        bytes[1] = dynamic->d_un.d_val;
        break;
      default:
        break;
    }
  }
  for (std::size_t i = 0; i < first.size(); ++i) {
    if (first[i] != nullptr) tables.relocations[i] = {first[i], bytes[i] / sizeof(ElfW(Rela))};
  }
  return tables;
}

#if defined(__x86_64__)
bool IsSlot(const ElfW(Rela) & relocation) {
  const auto type = ELF64_R_TYPE(relocation.r_info);
  return type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT;
}
#elif defined(__aarch64__)
bool IsSlot(const ElfW(Rela) & relocation) {
  const auto type = ELF64_R_TYPE(relocation.r_info);
  return type == R_AARCH64_JUMP_SLOT || type == R_AARCH64_GLOB_DAT;
}
#else
bool IsSlot(const ElfW(Rela) &) {
  return false;
}
#endif

const Redirection* Find(RedirectionGroups groups, std::string_view name) {
  for (const auto& group : groups) {
    for (const Redirection& each : group) {
      if (each.name == name) return &each;
    }
  }
  return nullptr;
}

void RedirectSlots(const dl_phdr_info& module, RedirectionGroups groups) {
  const SlotTables tables = ReadTables(module);
  if (tables.symbols == nullptr || tables.names == nullptr) return;
  for (const auto& relocations : tables.relocations) {
    for (const ElfW(Rela) & relocation : relocations) {
      if (!IsSlot(relocation)) continue;
      const char* const name = tables.names + tables.symbols[ELF64_R_SYM(relocation.r_info)].st_name;
      const Redirection* const found = Find(groups, name);
      if (found == nullptr) continue;
      const std::uintptr_t address = module.dlpi_addr + relocation.r_offset;
      const Range slot{address, address + sizeof(void*)};
      const bool is_protected = PagesAround(tables.protected_after_load).Touches(slot);
      if (is_protected && !SetPages(slot, PageLevel::kAll)) continue;
      std::atomic_ref(*reinterpret_cast<void**>(address)).store(found->replacement);
      if (is_protected) SetPages(slot, PageLevel::kRead);
    }
  }
}

struct Walk {
  RedirectionGroups groups;
  unsigned long long added = 0;
};

}  // namespace

void CallRedirector::Redirect(RedirectionGroups groups) noexcept {
  Walk count;
  const auto read_count = [](dl_phdr_info* module, std::size_t, void* argument) {
    static_cast<Walk*>(argument)->added = module->dlpi_adds;
    return 1;
  };
  ::dl_iterate_phdr(read_count, &count);
  if (files_.exchange(count.added) == count.added) return;
  Walk walk{groups};
  const auto redirect = [](dl_phdr_info* module, std::size_t, void* argument) {
    if (!IsLeftAlone(FileName(*module))) RedirectSlots(*module, static_cast<Walk*>(argument)->groups);
    return 0;
  };
  ::dl_iterate_phdr(redirect, &walk);
}

}  // namespace sampan::check
