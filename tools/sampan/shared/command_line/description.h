// Descriptions of commands. Parsing, help, man page and completion are made from them.
#pragma once

#include <string_view>
#include <vector>

namespace sampan::tool {

struct OptionDescription {
  std::string_view name;         ///< such as --format
  std::string_view letter = {};  ///< such as -o, if it has a short name
  std::string_view value;        ///< what follows it; empty for a switch
  std::string_view meaning;
  std::vector<std::string_view> choices = {};  ///< values for completion
  bool only_choices = true;                    ///< refuse other values; false: the runtime decides

  bool takes_value() const { return !value.empty(); }
  bool takes_file() const { return value.starts_with("FILE"); }
};

/// An argument without a name.
struct OperandDescription {
  std::string_view name;
  std::string_view meaning;
  std::vector<std::string_view> choices = {};
  bool is_program = false;  ///< a program with its arguments: everything that follows
  bool is_file = false;
  bool is_required = false;
  bool is_repeated = false;  ///< may occur several times
};

struct Example {
  std::string_view command;
  std::string_view shows;
};

struct ExitDescription {
  std::string_view status;
  std::string_view meaning;
};

struct CommandDescription {
  std::string_view name;
  std::string_view summary;  ///< half a sentence, for lists
  std::vector<std::string_view> paragraphs;
  std::vector<OperandDescription> operands = {};
  std::vector<OptionDescription> options = {};
  std::vector<Example> examples;
  std::vector<ExitDescription> exits;

  /// The option of that name; nullptr when there is none.
  const OptionDescription* FindOption(std::string_view option) const {
    for (const OptionDescription& each : options) {
      if (each.name == option) return &each;
    }
    return nullptr;
  }
};

}  // namespace sampan::tool
