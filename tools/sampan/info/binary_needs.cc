// Which functions of AscendCL a program or library needs, and what becomes of them here.
#include "tools/sampan/info/binary_needs.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "tools/sampan/info/function_status.h"
#include "tools/sampan/shared/command_line/failure.h"
#include "tools/sampan/shared/output/terminal.h"

namespace sampan::tool {
namespace {

/// An ELF file in memory. Every offset in it may be wrong.
class ElfFile {
 public:
  explicit ElfFile(std::string bytes) : bytes_(std::move(bytes)) {}

  template <typename T>
  std::optional<T> At(std::uint64_t offset) const {
    if (offset > bytes_.size() || bytes_.size() - offset < sizeof(T)) return std::nullopt;
    T value;
    std::memcpy(&value, bytes_.data() + offset, sizeof(value));
    return value;
  }
  /// The text that begins there; empty if it does not end inside the file.
  std::string TextAt(std::uint64_t offset) const {
    if (offset >= bytes_.size()) return {};
    const std::size_t end = bytes_.find('\0', offset);
    return end == std::string::npos ? std::string() : bytes_.substr(offset, end - offset);
  }
  bool IsElf64() const {
    const auto header = At<Elf64_Ehdr>(0);
    return header && std::memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 &&
           header->e_ident[EI_CLASS] == ELFCLASS64 && header->e_ident[EI_DATA] == ELFDATA2LSB;
  }
  std::optional<Elf64_Shdr> Section(std::uint64_t index) const {
    const auto header = At<Elf64_Ehdr>(0);
    if (!header || index >= header->e_shnum) return std::nullopt;
    return At<Elf64_Shdr>(header->e_shoff + index * sizeof(Elf64_Shdr));
  }
  std::optional<Elf64_Shdr> SectionOfType(std::uint32_t type) const {
    for (std::uint64_t i = 0;; ++i) {
      const auto section = Section(i);
      if (!section || section->sh_type == type) return section;
    }
  }

 private:
  const std::string bytes_;
};

/// Name to "is weak", of the undefined symbols whose names begin like a function of AscendCL.
std::map<std::string, bool> UndefinedAclSymbols(const ElfFile& file, const std::string& shown) {
  const auto symbols = file.SectionOfType(SHT_DYNSYM);
  const auto texts = symbols ? file.Section(symbols->sh_link) : std::nullopt;
  if (!texts)
    throw Failure(kCheckFailed,
                  shown + " has no table of dynamic symbols: it is linked statically, or stripped");
  std::map<std::string, bool> found;
  for (std::uint64_t i = 0; i < symbols->sh_size / sizeof(Elf64_Sym); ++i) {
    const auto symbol = file.At<Elf64_Sym>(symbols->sh_offset + i * sizeof(Elf64_Sym));
    if (!symbol) break;
    if (symbol->st_shndx != SHN_UNDEF) continue;
    std::string name = file.TextAt(texts->sh_offset + symbol->st_name);
    if (name.starts_with("acl")) found.emplace(std::move(name), ELF64_ST_BIND(symbol->st_info) == STB_WEAK);
  }
  return found;
}

std::string NamesText(Colour colour, std::string_view title, const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names)
    text += "  " + Coloured(colour, title) + " " + Printable(name) + "\n";
  return text;
}

}  // namespace

BinaryNeeds ReadBinaryNeeds(const std::filesystem::path& path) {
  const std::string shown = Printable(path.string());
  std::error_code unknown;
  std::ifstream stream;
  if (std::filesystem::is_regular_file(path, unknown)) stream.open(path, std::ios::binary);
  if (!stream.is_open()) throw Failure(kNotFound, "the file " + shown + " cannot be read");
  const ElfFile file(std::string(std::istreambuf_iterator<char>(stream), {}));
  if (!file.IsElf64()) throw Failure(kCheckFailed, shown + " is no 64-bit program or library");
  const auto all = AllFunctions();
  BinaryNeeds needs;
  for (const auto& [name, is_weak] : UndefinedAclSymbols(file, shown)) {
    const auto known = std::lower_bound(
        all.begin(), all.end(), name,
        [](const FunctionStatus& each, const std::string& wanted) { return each.name < wanted; });
    const bool exported = known != all.end() && known->name == name;
    if (!exported && is_weak) continue;
    (!exported ? needs.absent : known->works ? needs.working : needs.refused).push_back(name);
  }
  return needs;
}

std::string BinaryText(const std::filesystem::path& path, const BinaryNeeds& needs) {
  std::string text = NamesText(Colour::kFaint, "works  ", needs.working) +
                     NamesText(Colour::kBad, "refused", needs.refused) +
                     NamesText(Colour::kBad, "absent ", needs.absent);
  text += Printable(path.string()) + " needs " + std::to_string(needs.count()) +
          " functions of AscendCL: " + std::to_string(needs.working.size()) + " work, " +
          std::to_string(needs.refused.size()) + " are refused, " + std::to_string(needs.absent.size()) +
          " are absent\n";
  return text;
}

std::string BinaryJson(const std::filesystem::path& path, const BinaryNeeds& needs) {
  const nlohmann::json document = {{"binary", path.string()},
                                   {"complete", needs.complete()},
                                   {"working", needs.working},
                                   {"refused", needs.refused},
                                   {"absent", needs.absent}};
  return document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace sampan::tool
