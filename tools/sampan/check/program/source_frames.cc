// Resolves return addresses of a program to functions, files and lines.
#include "tools/sampan/check/program/source_frames.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "tools/sampan/check/program/function_name.h"

namespace sampan::tool {
namespace {

std::string AbsolutePath(const char* file, const char* folder) {
  const std::filesystem::path path = file;
  if (path.is_absolute() || folder == nullptr) return path.lexically_normal().string();
  return (std::filesystem::path(folder) / path).lexically_normal().string();
}

/// An attribute that may stand in the declaration of what the entry is an instance of.
const char* AttributeText(Dwarf_Die& entry, unsigned attribute) {
  Dwarf_Attribute found;
  return ::dwarf_formstring(::dwarf_attr_integrate(&entry, attribute, &found));
}

std::string FunctionOf(Dwarf_Die& entry) {
  for (const unsigned attribute : {DW_AT_linkage_name, DW_AT_MIPS_linkage_name, DW_AT_name}) {
    if (const char* const name = AttributeText(entry, attribute)) return FunctionName(name);
  }
  return {};
}

/// Where an inlined function was called.
struct CallSite {
  std::string file;
  int line = 0;
};

CallSite CallSiteOf(Dwarf_Die& unit, Dwarf_Die& inlined) {
  CallSite site;
  Dwarf_Attribute attribute;
  Dwarf_Word number = 0;
  Dwarf_Files* files = nullptr;
  std::size_t count = 0;
  if (::dwarf_formudata(::dwarf_attr(&inlined, DW_AT_call_line, &attribute), &number) == 0)
    site.line = static_cast<int>(number);
  if (::dwarf_formudata(::dwarf_attr(&inlined, DW_AT_call_file, &attribute), &number) != 0 ||
      ::dwarf_getsrcfiles(&unit, &files, &count) != 0)
    return site;
  if (const char* const file = ::dwarf_filesrc(files, number, nullptr, nullptr))
    site.file = AbsolutePath(file, AttributeText(unit, DW_AT_comp_dir));
  return site;
}

/// Memory that libdw hands over.
struct FreeScopes {
  void operator()(Dwarf_Die* entries) const { std::free(entries); }
};
using Scopes = std::unique_ptr<Dwarf_Die, FreeScopes>;

bool IsFunction(Dwarf_Die& entry) {
  const int tag = ::dwarf_tag(&entry);
  return tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine || tag == DW_TAG_entry_point;
}

}  // namespace

/// One file of the program with its debug information.
class SourceFrames::Module {
 public:
  Module(const std::string& path, const std::string& build_id) : path_(path) {
    session_ = ::dwfl_begin(&callbacks_);
    if (session_ == nullptr) return;
    ::dwfl_report_begin(session_);
    module_ = ::dwfl_report_elf(session_, path.c_str(), path.c_str(), -1, 0, false);
    ::dwfl_report_end(session_, nullptr, nullptr);
    if (module_ != nullptr && (::dwfl_module_getelf(module_, &bias_) == nullptr || !Fits(build_id)))
      module_ = nullptr;
  }
  ~Module() {
    if (session_ != nullptr) ::dwfl_end(session_);
  }
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  Stack At(std::uint64_t offset) const {
    const Frame unknown{.module = path_, .offset = offset};
    if (module_ == nullptr) return {unknown};
    const Dwarf_Addr address = offset + bias_;
    Frame innermost = unknown;
    if (const char* const name = ::dwfl_module_addrname(module_, address))
      innermost.function = FunctionName(name);
    Dwarf_Addr of_line = address;
    if (Dwfl_Line* const line = ::dwfl_module_getsrc(module_, address)) {
      const char* const file = ::dwfl_lineinfo(line, &of_line, &innermost.line, nullptr, nullptr, nullptr);
      if (file != nullptr) innermost.file = AbsolutePath(file, ::dwfl_line_comp_dir(line));
    }
    return WithInlined(innermost, address);
  }

 private:
  bool Fits(const std::string& expected) const {
    const unsigned char* bytes = nullptr;
    GElf_Addr address = 0;
    const int count = ::dwfl_module_build_id(module_, &bytes, &address);
    if (expected.empty() || count <= 0) return true;
    std::string found;
    for (int i = 0; i < count; ++i) {
      std::array<char, 4> digits{};
      std::snprintf(digits.data(), digits.size(), "%02x", bytes[i]);
      found += digits.data();
    }
    return found == expected;
  }

  /// The frame, split into the functions that the compiler put into one another at `address`.
  Stack WithInlined(Frame frame, Dwarf_Addr address) const {
    Dwarf_Addr bias = 0;
    Dwarf_Die* const unit = ::dwfl_module_addrdie(module_, address, &bias);
    Dwarf_Die* found = nullptr;
    const int count = unit == nullptr ? 0 : ::dwarf_getscopes(unit, address - bias, &found);
    const Scopes scopes(found);
    Dwarf_Die* innermost = nullptr;
    for (int i = 0; i < count && innermost == nullptr; ++i) {
      if (IsFunction(found[i])) innermost = &found[i];
    }
    if (innermost == nullptr) return {std::move(frame)};
    Dwarf_Die* parents = nullptr;
    const int depth = ::dwarf_getscopes_die(innermost, &parents);
    const Scopes nested(parents);
    Stack calls;
    for (int i = 0; i < depth; ++i) {
      if (!IsFunction(parents[i])) continue;
      // The table of symbols also names functions of assembly language, which have no entry.
      if (std::string name = FunctionOf(parents[i]); !name.empty()) frame.function = std::move(name);
      calls.push_back(frame);
      if (::dwarf_tag(&parents[i]) != DW_TAG_inlined_subroutine) break;
      CallSite site = CallSiteOf(*unit, parents[i]);
      frame.file = std::move(site.file);
      frame.line = site.line;
    }
    return calls;
  }

  std::string path_;
  char* debuginfo_path_ = nullptr;  // libdw's default: beside the program and below /usr/lib/debug
  Dwfl_Callbacks callbacks_{.find_elf = ::dwfl_build_id_find_elf,
                            .find_debuginfo = ::dwfl_standard_find_debuginfo,
                            .section_address = ::dwfl_offline_section_address,
                            .debuginfo_path = &debuginfo_path_};
  Dwfl* session_ = nullptr;
  Dwfl_Module* module_ = nullptr;
  Dwarf_Addr bias_ = 0;
};

SourceFrames::SourceFrames() {
  // libdw would also ask the servers of this list.
  ::unsetenv("DEBUGINFOD_URLS");
}

SourceFrames::~SourceFrames() = default;

SourceFrames::Module& SourceFrames::Open(const std::string& path, const std::string& build_id) {
  std::unique_ptr<Module>& module = modules_[{path, build_id}];
  if (module == nullptr) module = std::make_unique<Module>(path, build_id);
  return *module;
}

Stack SourceFrames::At(const std::string& module, const std::string& build_id, std::uint64_t offset) {
  const Module& opened = Open(module, build_id);
  const auto [known, is_new] = known_.try_emplace({&opened, offset});
  if (is_new) known->second = opened.At(offset);
  return known->second;
}

}  // namespace sampan::tool
