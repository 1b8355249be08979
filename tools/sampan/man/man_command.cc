// sampan man: the manual page, made from the same descriptions as the help.
#include "tools/sampan/shared/command_line/command.h"
#include "tools/sampan/shared/command_line/help.h"
#include "tools/sampan/shared/output/terminal.h"

namespace sampan::tool {
namespace {

/// Escapes text for roff, so that nothing in it is a request or an escape.
std::string Escaped(std::string_view text) {
  std::string escaped;
  for (const char character : text) {
    if (character == '\\')
      escaped += "\\e";
    else if (character == '-')
      escaped += "\\-";
    else
      escaped += character;
  }
  if (escaped.starts_with('.') || escaped.starts_with('\'')) escaped.insert(0, "\\&");
  return escaped;
}

std::string Bold(std::string_view text) {
  return "\\fB" + Escaped(text) + "\\fR";
}

std::string Entry(const std::string& name, std::string_view meaning) {
  return ".TP\n" + name + "\n" + Escaped(meaning) + "\n";
}

std::string Exits(const std::vector<ExitDescription>& exits) {
  std::string text;
  for (const ExitDescription& exit : exits)
    text += Entry(Bold(exit.status), exit.meaning);
  return text;
}

std::string Examples(const std::vector<Example>& examples) {
  std::string text;
  for (const Example& example : examples)
    text += Entry(Bold(example.command), example.shows);
  return text;
}

std::string Section(const CommandDescription& command) {
  std::string text = ".SS " + Bold(Usage(command)) + "\n";
  for (const std::string_view paragraph : command.paragraphs)
    text += Escaped(paragraph) + "\n.PP\n";
  for (const OperandDescription& operand : command.operands)
    text += Entry("\\fI" + Escaped(operand.name) + "\\fR", operand.meaning);
  for (const OptionDescription& option : command.options) {
    std::string name = (option.letter.empty() ? "" : Bold(option.letter) + ", ") + Bold(option.name);
    if (option.takes_value()) name += " \\fI" + Escaped(option.value) + "\\fR";
    text += Entry(name, option.meaning);
  }
  text += ".PP\nExamples:\n" + Examples(command.examples);
  return text + ".PP\nExit status:\n" + Exits(command.exits);
}

int Execute(const Arguments&) {
  std::string page = ".TH SAMPAN 1 \"\" \"Sampan " SAMPAN_VERSION "\" \"Sampan\"\n.SH NAME\nsampan \\- " +
                     Escaped(kToolSummary) + "\n.SH SYNOPSIS\n";
  for (const Command* command : AllCommands())
    page += Bold(Usage(command->description)) + "\n.br\n";
  page += Bold("sampan --help") + " | " + Bold("--version") + "\n.SH DESCRIPTION\n";
  for (const std::string_view paragraph : kToolParagraphs)
    page += Escaped(paragraph) + "\n.PP\n";
  page += ".SH COMMANDS\n";
  for (const Command* command : AllCommands())
    page += Section(command->description);
  page += ".SH EXIT STATUS\n" + Exits(kToolExits) + ".SH EXAMPLES\n" + Examples(kToolExamples);
  Print(page);
  return 0;
}

}  // namespace

const Command& ManCommand() {
  static const Command command{
      .description = {.name = "man",
                      .summary = "print the manual page",
                      .paragraphs = {"Prints the manual page in roff, as man reads it."},
                      .examples = {{"sampan man | man -l -", "read it without installing anything"}},
                      .exits = {{"0", "printed"}, {"3", "could not be written"}}},
      .execute = Execute};
  return command;
}

}  // namespace sampan::tool
