// The options that choose how the runtime behaves, which it reads from environment variables.
#include "runtime_options.h"

#include <array>

namespace sampan::tool {
namespace {

struct RuntimeOption {
  OptionDescription description;
  std::string_view variable;
};

/// The runtime itself decides which values it takes, so that there is one place that knows.
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
  };
  return options;
}

}  // namespace

std::vector<OptionDescription> WithRuntimeOptions(std::vector<OptionDescription> own) {
  std::vector<OptionDescription> all;
  for (const RuntimeOption& option : RuntimeOptions())
    all.push_back(option.description);
  all.insert(all.end(), own.begin(), own.end());
  return all;
}

std::vector<Variable> RuntimeVariables(const Arguments& arguments) {
  std::vector<Variable> variables;
  for (const RuntimeOption& option : RuntimeOptions()) {
    if (arguments.Has(option.description.name))
      variables.push_back({std::string(option.variable), arguments.ValueOr(option.description.name, "")});
  }
  return variables;
}

}  // namespace sampan::tool
