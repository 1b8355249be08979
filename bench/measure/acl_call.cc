// Calls of the runtime that must succeed.
#include "bench/measure/acl_call.h"

#include "bench/measure/failure.h"

namespace bench {

std::string RecentMessage() {
  const char* recent = ::aclGetRecentErrMsg();
  std::string text = recent == nullptr ? "" : recent;
  text.erase(std::min(text.find('\n'), text.size()));
  // Removes process, time and title in front of the message.
  constexpr std::string_view kTitleEnd = "): ";
  if (const auto title = text.find(kTitleEnd); title != std::string::npos)
    text.erase(0, title + kTitleEnd.size());
  return text.empty() ? "the runtime gave no reason" : text;
}

void Require(aclError code, const char* what) {
  if (code == ACL_SUCCESS) return;
  throw Failure(std::string(what) + " failed (" + std::to_string(code) + "): " + RecentMessage());
}

}  // namespace bench
