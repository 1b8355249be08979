// Parses the command line, with the commands' descriptions.
#include "tools/sampan/shared/command_line/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iterator>
#include <list>
#include <memory>

#include "tools/sampan/shared/command_line/failure.h"

namespace sampan::tool {
namespace {

const Command& FindCommand(const std::string& name) {
  std::string names;
  for (const Command* command : AllCommands()) {
    if (command->description.name == name) return *command;
    names += (names.empty() ? "" : ", ") + std::string(command->description.name);
  }
  throw Failure(kBadUsage, "'" + name + "' is not a command; there are " + names +
                               ". 'sampan --help' says what they do.");
}

/// Removes and returns the program and its arguments: the words behind `--`, or from the first word that is
/// neither an option nor an option's value. They must reach the program unchanged.
std::vector<std::string> TakeProgram(const CommandDescription& description, std::vector<std::string>& words) {
  auto word = words.begin();
  while (word != words.end() && word->starts_with("-") && *word != "--") {
    const OptionDescription* option = description.FindOption(*word);
    const bool value_follows = option != nullptr && option->takes_value();
    std::advance(word, value_follows ? std::min<std::ptrdiff_t>(2, words.end() - word) : 1);
  }
  const auto first = word != words.end() && *word == "--" ? word + 1 : word;
  std::vector<std::string> program(std::make_move_iterator(first), std::make_move_iterator(words.end()));
  words.erase(word, words.end());
  return program;
}

constexpr int kMaxRepeated = 1000;

/// A CLI11 parser for the options of one command. Stores the values in its members.
class Parser {
 public:
  explicit Parser(const CommandDescription& description) {
    app_.set_help_flag();
    app_.add_flag("-h,--help", wants_help_);
    for (const OptionDescription& option : description.options) {
      const std::string name(option.name);
      const std::string names = option.letter.empty() ? name : std::string(option.letter) + "," + name;
      if (option.takes_value()) {
        CLI::Option* added = app_.add_option(names, values_[name]);
        if (option.only_choices && !option.choices.empty()) added->check(OneOf(option.choices));
      } else {
        app_.add_flag(names, switches_[name]);
      }
    }
    for (const OperandDescription& operand : description.operands) {
      if (operand.is_program) continue;
      CLI::Option* added = app_.add_option(std::string(operand.name), given_.emplace_back());
      // Words too many are the last operand's.
      if (&operand == &description.operands.back()) {
        added->expected(0, operand.is_repeated ? kMaxRepeated : 1);
      } else {
        added->expected(1)->allow_extra_args(false);
      }
      if (!operand.choices.empty()) added->check(OneOf(operand.choices));
      if (operand.is_required) required_.emplace_back(operand.name);
    }
  }

  void Parse(std::vector<std::string> words, CommandLine& line) {
    std::reverse(words.begin(), words.end());  // the order that CLI11 expects
    app_.parse(words);
    line.wants_help = wants_help_;
    for (auto& [name, value] : values_) {
      if (app_.count(name) > 0) line.arguments.options.emplace(name, value);
    }
    for (const auto& [name, is_on] : switches_) {
      if (is_on) line.arguments.options.emplace(name, "");
    }
    std::vector<std::string>& operands = line.arguments.operands;
    for (const auto& each : given_)
      operands.insert(operands.end(), each.begin(), each.end());
    if (!wants_help_ && operands.size() < required_.size()) {
      throw Failure(kBadUsage, required_[operands.size()] + " is missing");
    }
  }

 private:
  static CLI::Validator OneOf(const std::vector<std::string_view>& choices) {
    return CLI::IsMember(std::vector<std::string>(choices.begin(), choices.end()));
  }

  CLI::App app_;
  bool wants_help_ = false;
  std::map<std::string, std::string> values_;
  std::map<std::string, bool> switches_;
  std::list<std::vector<std::string>> given_;  // of each operand
  std::vector<std::string> required_;
};

}  // namespace

CommandLine ParseCommandLine(std::vector<std::string> words) {
  CommandLine line;
  if (words.empty()) return line;
  if (words.front() == "--version") {
    line.wants_version = true;
    return line;
  }
  if (words.front() == "--help" || words.front() == "-h" || words.front() == "help") {
    line.wants_help = true;
    if (words.size() > 1) line.command = &FindCommand(words[1]);
    return line;
  }
  line.command = &FindCommand(words.front());
  words.erase(words.begin());
  const CommandDescription& description = line.command->description;
  const std::string name(description.name);
  const auto takes_program = [](const OperandDescription& operand) { return operand.is_program; };
  const bool runs_program =
      std::any_of(description.operands.begin(), description.operands.end(), takes_program);
  // The statuses below 125 belong to the program that is run.
  const ExitStatus usage_status = runs_program ? kRunFailed : kBadUsage;
  const auto refuse = [&](const std::string& message) {
    return Failure(usage_status,
                   name + ": " + message + ". 'sampan " + name + " --help' shows how it is used.");
  };
  try {
    if (runs_program) line.arguments.program = TakeProgram(description, words);
    Parser(description).Parse(std::move(words), line);
  } catch (const CLI::ParseError& error) {
    throw refuse(error.what());
  } catch (const Failure& failure) {
    throw refuse(failure.what());
  }
  if (runs_program && line.arguments.program.empty() && !line.wants_help) {
    throw refuse("there is no program to run");
  }
  return line;
}

}  // namespace sampan::tool
