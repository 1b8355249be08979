// The data of a report as its page reads it (report/data.js).
#pragma once

#include <string>

#include "tools/sampan/report/report_model.h"

namespace sampan::tool {

/// `file` is the trace's name.
std::string ReportJson(const ReportModel& model, const std::string& file);

}  // namespace sampan::tool
