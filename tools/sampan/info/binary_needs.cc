// Which functions of AscendCL and HCCL a program or library needs, and what becomes of them here.
#include "tools/sampan/info/binary_needs.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>

#include "tools/sampan/info/function_status.h"
#include "tools/sampan/info/needed_libraries.h"
#include "tools/sampan/shared/output/terminal.h"

namespace sampan::tool {
namespace {

/// Name to "is weak", of what some file needs and no file defines.
std::map<std::string, bool> NeededNames(const LoadedFiles& loaded) {
  std::map<std::string, bool> needed;
  for (const LoadedFile& file : loaded.files) {
    for (const auto& [name, is_weak] : file.facts.undefined) {
      const auto [known, is_new] = needed.emplace(name, is_weak);
      known->second = known->second && is_weak;
    }
  }
  for (const LoadedFile& file : loaded.files) {
    for (const std::string& name : file.facts.defined)
      needed.erase(name);
  }
  return needed;
}

std::string NamesText(Colour colour, std::string_view title, const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names)
    text += "  " + Coloured(colour, title) + " " + Printable(name) + "\n";
  return text;
}

std::string Counted(std::size_t count, std::string_view one, std::string_view more) {
  return std::to_string(count) + " " + std::string(count == 1 ? one : more);
}

}  // namespace

BinaryNeeds ReadBinaryNeeds(const std::filesystem::path& path, const std::string& library_path,
                            const std::filesystem::path& ours) {
  const LoadedFiles loaded = FindLoadedFiles(path, library_path, ours);
  const auto all = AllFunctions();
  BinaryNeeds needs;
  for (const auto& [name, is_weak] : NeededNames(loaded)) {
    const auto known = std::lower_bound(
        all.begin(), all.end(), name,
        [](const FunctionStatus& each, const std::string& wanted) { return each.name < wanted; });
    const bool exported = known != all.end() && known->name == name;
    if (!exported && is_weak) continue;
    (!exported ? needs.absent : known->works ? needs.working : needs.refused).push_back(name);
  }
  for (std::size_t i = 1; i < loaded.files.size(); ++i) {
    if (!loaded.files[i].facts.undefined.empty()) needs.libraries.push_back(loaded.files[i].path.string());
  }
  needs.missing = loaded.missing;
  return needs;
}

std::string BinaryText(const std::filesystem::path& path, const BinaryNeeds& needs) {
  std::string text = NamesText(Colour::kFaint, "works  ", needs.working) +
                     NamesText(Colour::kBad, "refused", needs.refused) +
                     NamesText(Colour::kBad, "absent ", needs.absent);
  for (const std::string& name : needs.missing)
    text += "  " + Coloured(Colour::kBad, "unknown") + " " + Printable(name) +
            ": this library was not found, so its functions are not counted\n";
  text += Printable(path.string());
  for (const std::string& library : needs.libraries)
    text += " + " + Printable(library);
  text += std::string(needs.libraries.empty() ? " needs " : " need ") +
          Counted(needs.count(), "function", "functions") +
          " of AscendCL and HCCL: " + Counted(needs.working.size(), "works", "work") + ", " +
          Counted(needs.refused.size(), "is refused", "are refused") + ", " +
          Counted(needs.absent.size(), "is absent", "are absent") + "\n";
  return text;
}

std::string BinaryJson(const std::filesystem::path& path, const BinaryNeeds& needs) {
  const nlohmann::json document = {
      {"binary", path.string()},           {"complete", needs.complete()}, {"working", needs.working},
      {"refused", needs.refused},          {"absent", needs.absent},       {"libraries", needs.libraries},
      {"missing_libraries", needs.missing}};
  return document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace sampan::tool
