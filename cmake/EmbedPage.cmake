# Writes a C++ source that holds an HTML page:
#   cmake -DNAME=kPage -DPAGE=page.html -DSTYLES=a.css;b.css -DSCRIPTS=a.js;b.js -DOUTPUT=... -P EmbedPage.cmake
file(READ ${PAGE} page)
foreach(kind STYLES SCRIPTS)
  set(${kind}_text "")
  foreach(part IN LISTS ${kind})
    file(READ ${part} text)
    string(APPEND ${kind}_text "${text}")
  endforeach()
endforeach()
file(WRITE ${OUTPUT} "// Generated from the sources of a page.
#include \"tools/sampan/shared/page/html_page.h\"

namespace sampan::tool {

const PageSources ${NAME} = {.page = R\"source(${page})source\",
                             .style = R\"source(${STYLES_text})source\",
                             .script = R\"source(${SCRIPTS_text})source\"};

}  // namespace sampan::tool
")
