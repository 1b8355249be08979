// The output of `sampan info`, as text and as JSON.
#include "tools/sampan/info/info_report.h"

#include <nlohmann/json.hpp>

#include "tools/sampan/shared/output/machine.h"
#include "tools/sampan/shared/output/quantities.h"
#include "tools/sampan/shared/output/terminal.h"

namespace sampan::tool {
namespace {

std::string Padded(std::string text, std::size_t width) {
  if (text.size() < width) text.append(width - text.size(), ' ');
  return text + " ";
}

std::string FactLine(const std::string& name, const std::string& value) {
  return "  " + Padded(name, 10) + value + "\n";
}

std::string DevicesLine(const std::vector<DeviceFact>& devices) {
  std::size_t min_bytes = devices.front().total_bytes;
  std::size_t max_bytes = min_bytes;
  for (const DeviceFact& device : devices) {
    min_bytes = std::min(min_bytes, device.total_bytes);
    max_bytes = std::max(max_bytes, device.total_bytes);
  }
  return std::to_string(devices.size()) + ", each with " + ShowBytes(min_bytes) +
         (max_bytes != min_bytes ? " to " + ShowBytes(max_bytes) : "");
}

std::string SettingsText(const std::vector<SettingFact>& settings) {
  std::string text;
  for (const SettingFact& setting : settings) {
    const bool is_default = setting.source == "default";
    text += "  " + Padded(setting.name, 27) +
            Coloured(is_default ? Colour::kFaint : Colour::kTitle, Padded(setting.source, 13)) +
            setting.value + "\n";
  }
  return text;
}

Colour ColourOf(Outcome outcome) {
  return outcome == Outcome::kVerified ? Colour::kGood
         : outcome == Outcome::kFailed ? Colour::kBad
                                       : Colour::kFaint;
}

nlohmann::json SettingsJson(const std::vector<SettingFact>& settings) {
  auto list = nlohmann::json::array();
  for (const SettingFact& setting : settings) {
    nlohmann::json entry = {{"name", setting.name}, {"value", setting.value}, {"source", setting.source}};
    if (!setting.meaning.empty()) entry["meaning"] = setting.meaning;
    if (!setting.accepted.empty()) entry["accepted"] = setting.accepted;
    list.push_back(std::move(entry));
  }
  return list;
}

}  // namespace

std::string Verdict(const SelfTest& test) {
  const std::size_t verified = test.Count(Outcome::kVerified);
  const std::size_t failed = test.Count(Outcome::kFailed);
  const std::size_t missing = test.Count(Outcome::kNotOffered);
  std::string text = test.passed() ? "Sampan works here: " : "Sampan does NOT work here: ";
  text += std::to_string(verified) + " copy paths verified";
  if (failed > 0) text += ", " + std::to_string(failed) + " failed";
  if (missing > 0) text += ", " + std::to_string(missing) + " not offered by this profile";
  return text + ", in " + ShowSeconds(test.seconds);
}

std::string InfoText(const RuntimeFacts& facts, const FabricFacts& fabric, const SelfTest& test) {
  const Machine machine = ThisMachine();
  std::string text = Coloured(Colour::kTitle, "Sampan " SAMPAN_VERSION) + "\n";
  text += FactLine("library", facts.library);
  text += FactLine("interface",
                   "AscendCL " + facts.interface_version + ", CANN " +
                       (facts.cann_version.empty() ? "version unknown (not installed)" : facts.cann_version));
  text += FactLine("backend", facts.Value("SAMPAN_BACKEND"));
  text += FactLine("profile", facts.Value("SAMPAN_PROFILE") + " (" + facts.soc + ")");
  text += FactLine("devices", DevicesLine(facts.devices));
  text += FactLine("hosts", fabric.Text());
  text += FactLine("machine",
                   machine.processor + ", " + std::to_string(machine.cores) + " cores, " + machine.system);
  text += "\n" + Coloured(Colour::kTitle, "Settings") + "\n" + SettingsText(facts.settings) +
          SettingsText(facts.ascend_settings);
  text += "\n" + Coloured(Colour::kTitle, "Self-test") + "\n";
  for (const PathResult& result : test.paths) {
    text += "  " + Padded(result.call, 27) + Padded(result.path, 24) +
            Coloured(ColourOf(result.outcome), NameOf(result.outcome)) +
            (result.detail.empty() ? "" : ": " + result.detail) + "\n";
  }
  return text + "\n" + Coloured(test.passed() ? Colour::kGood : Colour::kBad, Verdict(test)) + "\n";
}

std::string InfoJson(const RuntimeFacts& facts, const FabricFacts& fabric, const SelfTest& test) {
  const Machine machine = ThisMachine();
  auto devices = nlohmann::json::array();
  for (const DeviceFact& device : facts.devices)
    devices.push_back(
        {{"id", device.id}, {"free_bytes", device.free_bytes}, {"total_bytes", device.total_bytes}});
  auto paths = nlohmann::json::array();
  for (const PathResult& result : test.paths) {
    paths.push_back({{"call", result.call},
                     {"path", result.path},
                     {"outcome", NameOf(result.outcome)},
                     {"detail", result.detail}});
  }
  const nlohmann::json all = {
      {"passed", test.passed()},
      {"verdict", Verdict(test)},
      {"versions",
       {{"sampan", SAMPAN_VERSION}, {"interface", facts.interface_version}, {"cann", facts.cann_version}}},
      {"library", facts.library},
      {"backend", facts.Value("SAMPAN_BACKEND")},
      {"profile", facts.Value("SAMPAN_PROFILE")},
      {"soc", facts.soc},
      {"devices", devices},
      {"hosts",
       {{"provider", fabric.provider},
        {"libfabric", fabric.version},
        {"address", fabric.address},
        {"reason", fabric.reason}}},
      {"machine", {{"processor", machine.processor}, {"cores", machine.cores}, {"system", machine.system}}},
      {"settings", SettingsJson(facts.settings)},
      {"ascend_settings", SettingsJson(facts.ascend_settings)},
      {"self_test", {{"seconds", test.seconds}, {"paths", paths}}},
  };
  return all.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

std::string InfoFailureJson(const std::string& error) {
  const nlohmann::json all = {{"passed", false},
                              {"verdict", "Sampan does NOT work here"},
                              {"error", error},
                              {"versions", {{"sampan", SAMPAN_VERSION}}}};
  return all.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace sampan::tool
