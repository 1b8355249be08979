// What binary_needs reads of a 64-bit ELF file: its symbols of AscendCL and HCCL, and the libraries it names.
#include "tools/sampan/info/elf_file.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>

#include <cstring>
#include <string_view>

#include "base/system/descriptor.h"
#include "tools/sampan/shared/command_line/failure.h"
#include "tools/sampan/shared/output/terminal.h"

namespace sampan::tool {
namespace {

/// A mapped file. Every offset in it may be wrong.
class ElfFile {
 public:
  explicit ElfFile(const std::filesystem::path& path) {
    std::error_code unknown;
    if (std::filesystem::is_regular_file(path, unknown)) {
      const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
      bytes_ = std::filesystem::file_size(path, unknown);
      if (file.get() >= 0 && !unknown && bytes_ == 0) return;
      void* const mapped = ::mmap(nullptr, bytes_, PROT_READ, MAP_PRIVATE, file.get(), 0);
      if (mapped != MAP_FAILED) {
        data_ = static_cast<const char*>(mapped);
        return;
      }
    }
    throw Failure(kNotFound, "the file " + Printable(path.string()) + " cannot be read");
  }
  ~ElfFile() {
    if (data_ != nullptr) ::munmap(const_cast<char*>(data_), bytes_);
  }
  ElfFile(const ElfFile&) = delete;
  ElfFile& operator=(const ElfFile&) = delete;

  template <typename T>
  std::optional<T> At(std::uint64_t offset) const {
    if (offset > bytes_ || bytes_ - offset < sizeof(T)) return std::nullopt;
    T value;
    std::memcpy(&value, data_ + offset, sizeof(value));
    return value;
  }
  /// The text that begins there; empty if it does not end inside the file.
  std::string_view TextAt(std::uint64_t offset) const {
    if (offset >= bytes_) return {};
    const char* const begin = data_ + offset;
    const void* const end = std::memchr(begin, '\0', bytes_ - offset);
    return end == nullptr
               ? std::string_view()
               : std::string_view(begin, static_cast<std::size_t>(static_cast<const char*>(end) - begin));
  }
  std::optional<Elf64_Ehdr> Header() const {
    const auto header = At<Elf64_Ehdr>(0);
    if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
        header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB)
      return std::nullopt;
    return header;
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
  const char* data_ = nullptr;
  std::uint64_t bytes_ = 0;
};

void ReadSymbols(const ElfFile& file, ElfFacts& facts) {
  const auto symbols = file.SectionOfType(SHT_DYNSYM);
  const auto texts = symbols ? file.Section(symbols->sh_link) : std::nullopt;
  facts.has_symbols = texts.has_value();
  if (!texts) return;
  for (std::uint64_t i = 0; i < symbols->sh_size / sizeof(Elf64_Sym); ++i) {
    const auto symbol = file.At<Elf64_Sym>(symbols->sh_offset + i * sizeof(Elf64_Sym));
    if (!symbol) break;
    const std::string_view name = file.TextAt(texts->sh_offset + symbol->st_name);
    if (!name.starts_with("acl") && !name.starts_with("Hccl")) continue;
    const auto binding = ELF64_ST_BIND(symbol->st_info);
    if (symbol->st_shndx == SHN_UNDEF) {
      facts.undefined.emplace(name, binding == STB_WEAK);
    } else if (binding != STB_LOCAL) {
      facts.defined.emplace(name);
    }
  }
}

void ReadLibraries(const ElfFile& file, ElfFacts& facts) {
  const auto entries = file.SectionOfType(SHT_DYNAMIC);
  const auto texts = entries ? file.Section(entries->sh_link) : std::nullopt;
  if (!texts) return;
  for (std::uint64_t i = 0; i < entries->sh_size / sizeof(Elf64_Dyn); ++i) {
    const auto entry = file.At<Elf64_Dyn>(entries->sh_offset + i * sizeof(Elf64_Dyn));
    if (!entry || entry->d_tag == DT_NULL) break;
    const auto text = [&] { return std::string(file.TextAt(texts->sh_offset + entry->d_un.d_val)); };
    if (entry->d_tag == DT_NEEDED) facts.libraries.push_back(text());
    const bool is_runpath = entry->d_tag == DT_RUNPATH;
    if (!is_runpath && (entry->d_tag != DT_RPATH || facts.is_runpath)) continue;
    facts.search_path = text();
    facts.is_runpath = is_runpath;
  }
}

}  // namespace

std::optional<ElfFacts> ReadElfFacts(const std::filesystem::path& path) {
  const ElfFile file(path);
  const auto header = file.Header();
  if (!header) return std::nullopt;
  ElfFacts facts;
  facts.machine = header->e_machine;
  ReadSymbols(file, facts);
  ReadLibraries(file, facts);
  return facts;
}

}  // namespace sampan::tool
