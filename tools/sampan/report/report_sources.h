// The sources of the page (report/), embedded into the program at build time.
#pragma once

#include <string_view>

namespace sampan::tool {

extern const std::string_view kReportPage;
extern const std::string_view kReportStyle;
extern const std::string_view kReportScript;

}  // namespace sampan::tool
