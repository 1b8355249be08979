// The one HTML page of a report, with everything in it.
#pragma once

#include <string>
#include <string_view>

namespace sampan::tool {

/// The page with its data, which is compressed and base64-encoded.
std::string ReportPage(std::string_view json);

}  // namespace sampan::tool
