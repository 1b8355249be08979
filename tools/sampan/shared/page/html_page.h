// One HTML page with everything in it, for the commands that make one.
#pragma once

#include <string>
#include <string_view>

namespace sampan::tool {

/// The sources of a page, embedded into the program at build time (cmake/EmbedPage.cmake).
struct PageSources {
  std::string_view page;
  std::string_view style;
  std::string_view script;
};

extern const PageSources kReportPage;
extern const PageSources kCheckPage;

/// The page with its data, which is compressed and base64-encoded.
std::string HtmlPage(const PageSources& sources, std::string_view json);

}  // namespace sampan::tool
