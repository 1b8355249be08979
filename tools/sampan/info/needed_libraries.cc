// The libraries that a program loads, found as the dynamic loader finds them.
#include "tools/sampan/info/needed_libraries.h"

#include <elf.h>

#include <optional>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>

#include "tools/sampan/shared/command_line/failure.h"
#include "tools/sampan/shared/output/terminal.h"

namespace sampan::tool {
namespace {

namespace fs = std::filesystem;
using Folders = std::vector<fs::path>;

void Replace(std::string& text, std::string_view word, const std::string& with) {
  for (auto at = text.find(word); at != std::string::npos; at = text.find(word, at + with.size()))
    text.replace(at, word.size(), with);
}

/// The folders of a search path of the file. An empty entry is the current folder.
Folders FoldersOf(const std::string& path, const fs::path& file) {
  Folders folders;
  if (path.empty()) return folders;
  const std::string origin = fs::absolute(file).parent_path().string();
  std::istringstream entries(path);
  for (std::string entry; std::getline(entries, entry, ':');) {
    Replace(entry, "${ORIGIN}", origin);
    Replace(entry, "$ORIGIN", origin);
    folders.emplace_back(entry.empty() ? "." : entry);
  }
  return folders;
}

/// Debian's and Red Hat's.
Folders SystemFolders(std::uint16_t machine) {
  Folders folders{"/usr/local/lib64", "/usr/local/lib", "/lib64", "/usr/lib64", "/lib", "/usr/lib"};
  for (const auto& [of_machine, name] :
       {std::pair{EM_X86_64, "x86_64-linux-gnu"}, {EM_AARCH64, "aarch64-linux-gnu"}}) {
    if (machine != of_machine) continue;
    for (const char* parent : {"/usr/local/lib/", "/lib/", "/usr/lib/"})
      folders.push_back(std::string(parent) + name);
  }
  return folders;
}

class Search {
 public:
  Search(const fs::path& program, const std::string& library_path)
      : program_folder_(fs::absolute(program).parent_path()),
        library_path_(FoldersOf(library_path, program)) {}

  /// `inherited`: the RPATHs of the files through which the file was loaded.
  std::optional<LoadedFile> Find(const std::string& name, const LoadedFile& from,
                                 const Folders& inherited) const {
    if (name.find('/') != std::string::npos) {
      const Folders itself = FoldersOf(name, from.path);
      return itself.empty() ? std::nullopt : Read(itself.front(), from.facts.machine);
    }
    const Folders own = FoldersOf(from.facts.search_path, from.path);
    const Folders none, program{program_folder_}, system = SystemFolders(from.facts.machine);
    const bool is_runpath = from.facts.is_runpath;
    for (const Folders* folders : {is_runpath ? &none : &own, is_runpath ? &none : &inherited, &library_path_,
                                   is_runpath ? &own : &none, &program, &system}) {
      for (const fs::path& folder : *folders) {
        if (auto found = Read(folder / name, from.facts.machine)) return found;
      }
    }
    return std::nullopt;
  }

 private:
  /// As the loader, passes over files of other machines.
  static std::optional<LoadedFile> Read(const fs::path& path, std::uint16_t machine) try {
    std::error_code unknown;
    if (!fs::is_regular_file(path, unknown)) return std::nullopt;
    auto facts = ReadElfFacts(path);
    if (!facts || facts->machine != machine) return std::nullopt;
    return LoadedFile{path, std::move(*facts)};
  } catch (const Failure&) {
    return std::nullopt;
  }

  const fs::path program_folder_;
  const Folders library_path_;
};

}  // namespace

LoadedFiles FindLoadedFiles(const fs::path& program, const std::string& library_path, const fs::path& ours) {
  const std::string shown = Printable(program.string());
  auto facts = ReadElfFacts(program);
  if (!facts) throw Failure(kCheckFailed, shown + " is no 64-bit program or library");
  if (!facts->has_symbols)
    throw Failure(kCheckFailed,
                  shown + " has no table of dynamic symbols: it is linked statically, or stripped");
  const Search search(program, library_path);
  LoadedFiles loaded;
  loaded.files.push_back({program, std::move(*facts)});
  std::vector<Folders> inherited{{}};
  std::set<std::string> known;
  for (std::size_t i = 0; i < loaded.files.size(); ++i) {
    const LoadedFile from = loaded.files[i];
    Folders rpaths = inherited[i];
    for (const std::string& name : from.facts.libraries) {
      std::error_code unknown;
      const std::string file_name = fs::path(name).filename().string();
      if (!known.insert(file_name).second || fs::exists(ours / file_name, unknown)) continue;
      auto found = search.Find(name, from, rpaths);
      if (!found) {
        loaded.missing.push_back(name);
        continue;
      }
      loaded.files.push_back(std::move(*found));
      inherited.push_back(rpaths);
      if (from.facts.is_runpath) continue;
      for (fs::path& folder : FoldersOf(from.facts.search_path, from.path))
        inherited.back().insert(inherited.back().begin(), std::move(folder));
    }
  }
  return loaded;
}

}  // namespace sampan::tool
