# Writes a C++ source that holds the page of `sampan report`:
#   cmake -DFOLDER=... -DSCRIPTS=a.js;b.js -DOUTPUT=... -P EmbedReport.cmake
file(READ ${FOLDER}/page.html page)
file(READ ${FOLDER}/style.css style)
set(script "")
foreach(part IN LISTS SCRIPTS)
  file(READ ${part} text)
  string(APPEND script "${text}")
endforeach()
file(WRITE ${OUTPUT} "// Generated from the page's sources in tools/sampan/report/page.
#include \"tools/sampan/report/report_sources.h\"

namespace sampan::tool {

const std::string_view kReportPage = R\"source(${page})source\";
const std::string_view kReportStyle = R\"source(${style})source\";
const std::string_view kReportScript = R\"source(${script})source\";

}  // namespace sampan::tool
")
