// The page's own sources (report/), put into the program when it is built.
#pragma once

#include <string_view>

namespace sampan::tool {

extern const std::string_view kReportPage;
extern const std::string_view kReportStyle;
extern const std::string_view kReportScript;

}  // namespace sampan::tool
