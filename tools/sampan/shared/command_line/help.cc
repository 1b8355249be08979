// Help as plain text, for a terminal.
#include "tools/sampan/shared/command_line/help.h"

#include <algorithm>
#include <sstream>

#include "tools/sampan/shared/command_line/command.h"

namespace sampan::tool {

const std::vector<std::string_view> kToolParagraphs = {
    "Sampan is an implementation of AscendCL's copy runtime that needs no Ascend hardware. This command puts "
    "it under an existing program, shows whether it works here, what a program does on it, and measures it.",
    "Colours are used on a terminal only, and never when NO_COLOR is set."};

const std::vector<ExitDescription> kToolExits = {
    {"0", "all is well"},
    {"1", "a check failed: wrong bytes, a failed self-test, or a runtime that does not start"},
    {"2", "the arguments could not be understood"},
    {"3", "the results could not be written, for example because a disk is full"},
    {"4", "a trace cannot be read, or cannot be replayed here"},
    {"130", "ended by Ctrl-C (in truth by the signal, which a shell shows as 128 and its number)"}};

const std::vector<Example> kToolExamples = {
    {"sampan info", "does it work here?"},
    {"sampan run -- ./app --verbose", "an unmodified program on Sampan"},
    {"sampan bench linear", "how fast are plain copies?"},
    {"sampan report app.json.gz", "what did a program do? (recorded with 'sampan run --trace app.json.gz')"}};

namespace {

constexpr std::size_t kLineWidth = 88;

/// The words of a text, broken into lines that begin with `indent` blanks.
std::string Wrapped(std::string_view text, std::size_t indent) {
  std::istringstream words{std::string(text)};
  std::string all;
  std::string line(indent, ' ');
  bool empty = true;
  for (std::string word; words >> word;) {
    if (!empty && line.size() + 1 + word.size() > kLineWidth) {
      all += line + "\n";
      line.assign(indent, ' ');
      empty = true;
    }
    line += (empty ? "" : " ") + word;
    empty = false;
  }
  return all + line + "\n";
}

/// `name` at the left, its meaning in a column of its own.
std::string Entry(const std::string& name, std::string_view meaning, std::size_t column) {
  std::string text = Wrapped(meaning, column);
  const std::string left = "  " + name;
  if (left.size() + 2 > column) return left + "\n" + text;
  return text.replace(0, left.size(), left);
}

std::string Section(std::string_view title) {
  return "\n" + std::string(title) + ":\n";
}

std::string Examples(const std::vector<Example>& examples) {
  std::string text = Section("Examples");
  for (const Example& example : examples)
    text += "  " + std::string(example.command) + "\n" + Wrapped(example.shows, 6);
  return text;
}

std::string Exits(const std::vector<ExitDescription>& exits) {
  std::string text = Section("Exit status");
  for (const ExitDescription& exit : exits)
    text += Entry(std::string(exit.status), exit.meaning, 8);
  return text;
}

std::string Spelling(const OptionDescription& option) {
  const std::string letter = option.letter.empty() ? "" : std::string(option.letter) + ", ";
  return letter + std::string(option.name) + (option.takes_value() ? " " + std::string(option.value) : "");
}

}  // namespace

std::string Usage(const CommandDescription& command) {
  std::string text = "sampan " + std::string(command.name);
  if (!command.options.empty()) text += " [OPTIONS]";
  for (const OperandDescription& operand : command.operands) {
    const std::string name = std::string(operand.name) + (operand.is_repeated ? "..." : "");
    text += operand.is_program ? " [--] " + name : operand.is_required ? " " + name : " [" + name + "]";
  }
  return text;
}

std::string HelpOf(const CommandDescription& command) {
  constexpr std::size_t kColumn = 24;
  std::string text = "Usage: " + Usage(command) + "\n";
  for (const std::string_view paragraph : command.paragraphs)
    text += "\n" + Wrapped(paragraph, 0);
  if (!command.operands.empty()) text += Section("Arguments");
  for (const OperandDescription& operand : command.operands)
    text += Entry(std::string(operand.name), operand.meaning, kColumn);
  text += Section("Options");
  for (const OptionDescription& option : command.options)
    text += Entry(Spelling(option), option.meaning, kColumn);
  text += Entry("--help", "show this text", kColumn);
  return text + Examples(command.examples) + Exits(command.exits);
}

std::string Overview() {
  std::string text = "Usage: sampan COMMAND [OPTIONS]\n       sampan --help | --version\n";
  for (const std::string_view paragraph : kToolParagraphs)
    text += "\n" + Wrapped(paragraph, 0);
  text += Section("Commands");
  for (const Command* command : AllCommands())
    text += Entry(std::string(command->description.name), command->description.summary, 16);
  text += "\n'sampan COMMAND --help' tells all about one, with examples.\n";
  return text + Examples(kToolExamples) + Exits(kToolExits);
}

}  // namespace sampan::tool
