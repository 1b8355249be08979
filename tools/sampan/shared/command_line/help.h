// Help as plain text, for a terminal.
#pragma once

#include <string>
#include <string_view>

#include "tools/sampan/shared/command_line/description.h"

namespace sampan::tool {

/// How a command is called, in one line.
std::string Usage(const CommandDescription& command);

/// All about one command.
std::string HelpOf(const CommandDescription& command);

/// What the tool is and which commands it has.
std::string Overview();

/// What holds for all commands.
extern const std::vector<std::string_view> kToolParagraphs;
extern const std::vector<ExitDescription> kToolExits;
extern const std::vector<Example> kToolExamples;
inline constexpr std::string_view kToolSummary =
    "run programs for Ascend NPUs without one, and measure copies";

}  // namespace sampan::tool
