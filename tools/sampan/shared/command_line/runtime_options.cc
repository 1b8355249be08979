// The options that set the runtime's environment variables.
#include "tools/sampan/shared/command_line/runtime_options.h"

#include <filesystem>

namespace sampan::tool {
namespace {

struct RuntimeOption {
  OptionDescription description;
  std::string_view variable;
  bool records = false;  ///< records a program; does not set the runtime
};

/// The runtime alone checks the values, so that there is one place that knows them.
const std::vector<RuntimeOption>& RuntimeOptions() {
  static const std::vector<RuntimeOption> options = {
      {{.name = "--backend",
        .value = "NAME",
        .meaning = "what makes devices real: emulated (needs no hardware) or cuda (an NVIDIA GPU)",
        .choices = {"emulated", "cuda"},
        .only_choices = false},
       "SAMPAN_BACKEND"},
      {{.name = "--devices", .value = "N", .meaning = "how many devices the machine has"}, "SAMPAN_DEVICES"},
      {{.name = "--profile",
        .value = "NAMES",
        .meaning = "which chip and which CANN release is imitated, such as ascend910b,cann9",
        .choices = {"ascend910b", "ascend910c", "ascend310-rc", "cann8", "cann9"},
        .only_choices = false},
       "SAMPAN_PROFILE"},
      {{.name = "--schedule",
        .value = "ORDER",
        .meaning = "in which order work runs where the rules leave it open: parallel, early, late or seed:N",
        .choices = {"parallel", "early", "late", "seed:"},
        .only_choices = false},
       "SAMPAN_SCHEDULE"},
      {{.name = "--trace",
        .value = "FILE",
        .meaning =
            "write a timeline of calls and copies there, for Perfetto and 'sampan report'; compressed if "
            "the name ends in .gz; %p in it is the number of the process"},
       "SAMPAN_TRACE",
       true},
      {{.name = "--summary",
        .value = "",
        .meaning =
            "say on standard error, when the program ends, what was copied, how fast, and what is slow"},
       "SAMPAN_SUMMARY",
       true},
  };
  return options;
}

std::vector<OptionDescription> With(bool recording, const std::vector<OptionDescription>& own) {
  std::vector<OptionDescription> all;
  for (const RuntimeOption& option : RuntimeOptions()) {
    if (recording || !option.records) all.push_back(option.description);
  }
  all.insert(all.end(), own.begin(), own.end());
  return all;
}

/// The value of the variable. File names become absolute, because a program may change its folder.
std::string ValueOf(const OptionDescription& option, const std::string& given) {
  if (!option.takes_value()) return "1";
  return option.takes_file() ? std::filesystem::absolute(given).string() : given;
}

}  // namespace

std::vector<OptionDescription> WithRuntimeOptions(std::vector<OptionDescription> own) {
  return With(false, own);
}

std::vector<OptionDescription> WithProgramOptions(std::vector<OptionDescription> own) {
  return With(true, own);
}

std::vector<Variable> RuntimeVariables(const Arguments& arguments) {
  std::vector<Variable> variables;
  for (const RuntimeOption& option : RuntimeOptions()) {
    if (arguments.Has(option.description.name))
      variables.push_back({std::string(option.variable),
                           ValueOf(option.description, arguments.ValueOr(option.description.name, ""))});
  }
  return variables;
}

}  // namespace sampan::tool
