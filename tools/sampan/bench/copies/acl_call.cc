// Calls of the runtime that have to succeed.
#include "tools/sampan/bench/copies/acl_call.h"

#include "tools/sampan/shared/command_line/failure.h"

namespace sampan::tool {

std::string RecentMessage() {
  const char* recent = ::aclGetRecentErrMsg();
  std::string text = recent == nullptr ? "" : recent;
  text.erase(std::min(text.find('\n'), text.size()));
  // Process, time and title stand in front; the reader knows them.
  constexpr std::string_view kTitleEnd = "): ";
  if (const auto title = text.find(kTitleEnd); title != std::string::npos)
    text.erase(0, title + kTitleEnd.size());
  return text.empty() ? "the runtime gave no reason" : text;
}

void Require(aclError code, const char* what) {
  if (code == ACL_SUCCESS) return;
  throw Failure(kCheckFailed,
                std::string(what) + " failed (" + std::to_string(code) + "): " + RecentMessage());
}

}  // namespace sampan::tool
