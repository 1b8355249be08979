// The data of a report as its page reads it (report/data.js).
#pragma once

#include <string>

#include "tools/sampan/report/report_model.h"

namespace sampan::tool {

/// `file` is what the page calls the trace, `command` what makes this report again.
std::string ReportJson(const ReportModel& model, const std::string& file, const std::string& command);

}  // namespace sampan::tool
