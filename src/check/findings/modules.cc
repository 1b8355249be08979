// The files whose code the process runs.
#include "check/findings/modules.h"

#include <elf.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <span>

namespace sampan::check {
namespace {

void CopyText(std::string_view text, std::span<char> to) {
  const std::size_t fits = std::min(text.size(), to.size() - 1);
  std::memcpy(to.data(), text.data(), fits);
  to[fits] = 0;
}

/// The build id among the notes of a loaded file.
void ReadBuildId(const char* notes, std::size_t bytes, std::span<char> to) {
  constexpr std::size_t kAlign = 4;
  while (bytes >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) note;
    std::memcpy(&note, notes, sizeof note);
    const std::size_t name_bytes = (note.n_namesz + kAlign - 1) / kAlign * kAlign;
    const std::size_t id_bytes = (note.n_descsz + kAlign - 1) / kAlign * kAlign;
    const std::size_t all = sizeof note + name_bytes + id_bytes;
    if (all > bytes) return;
    const char* const name = notes + sizeof note;
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && std::memcmp(name, "GNU", 4) == 0) {
      constexpr std::string_view kDigits = "0123456789abcdef";
      const std::size_t count = std::min<std::size_t>(note.n_descsz, (to.size() - 1) / 2);
      for (std::size_t i = 0; i < count; ++i) {
        const auto value = static_cast<unsigned char>(name[name_bytes + i]);
        to[2 * i] = kDigits[value >> 4];
        to[2 * i + 1] = kDigits[value & 15];
      }
      to[2 * count] = 0;
      return;
    }
    notes += all;
    bytes -= all;
  }
}

void ReadPath(const dl_phdr_info& info, bool is_program, std::span<char> to) {
  if (!is_program) return CopyText(info.dlpi_name, to);
  const ssize_t length = ::readlink("/proc/self/exe", to.data(), to.size() - 1);
  to[static_cast<std::size_t>(std::max<ssize_t>(length, 0))] = 0;
}

}  // namespace

struct Modules::Search {
  Modules& modules;
  bool is_program = true;  // the first one that the linker names

  static int Add(dl_phdr_info* info, std::size_t /*bytes*/, void* argument) {
    Search& search = *static_cast<Search*>(argument);
    const bool is_program = search.is_program;
    search.is_program = false;
    Module found;
    found.base = info->dlpi_addr;
    found.begin = UINTPTR_MAX;
    for (int i = 0; i < info->dlpi_phnum; ++i) {
      const auto& segment = info->dlpi_phdr[i];
      const std::uintptr_t begin = info->dlpi_addr + segment.p_vaddr;
      if (segment.p_type == PT_NOTE)
        ReadBuildId(reinterpret_cast<const char*>(begin), segment.p_memsz, found.build_id);
      if (segment.p_type != PT_LOAD) continue;
      found.begin = std::min(found.begin, begin);
      found.end = std::max(found.end, begin + segment.p_memsz);
    }
    if (found.end == 0 || search.modules.FindKnown(found.begin) != kNone) return 0;
    if (search.modules.count_ == kMaxModules) return 1;
    ReadPath(*info, is_program, found.path);
    search.modules.modules_[search.modules.count_++] = found;
    return 0;
  }
};

int Modules::FindKnown(std::uintptr_t address) const noexcept {
  for (std::size_t i = 0; i < count_; ++i) {
    if (modules_[i].Holds(address)) return static_cast<int>(i);
  }
  return kNone;
}

void Modules::Read() noexcept {
  Search search{*this};
  ::dl_iterate_phdr(&Search::Add, &search);
}

int Modules::Find(std::uintptr_t address) noexcept {
  const int known = FindKnown(address);
  if (known != kNone) return known;
  Read();
  return FindKnown(address);
}

}  // namespace sampan::check
