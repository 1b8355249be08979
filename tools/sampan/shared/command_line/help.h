// Help as plain text, for a terminal.
#pragma once

#include <string>
#include <string_view>

#include "tools/sampan/shared/command_line/description.h"

namespace sampan::tool {

/// How a command is called, in one line.
std::string Usage(const CommandDescription& command);

/// The full help of one command.
std::string HelpOf(const CommandDescription& command);

/// What the tool does, and its commands.
std::string Overview();

/// What applies to all commands.
extern const std::vector<std::string_view> kToolParagraphs;
extern const std::vector<ExitDescription> kToolExits;
extern const std::vector<Example> kToolExamples;
inline constexpr std::string_view kToolSummary =
    "run programs for Ascend NPUs without one, and measure copies";

}  // namespace sampan::tool
