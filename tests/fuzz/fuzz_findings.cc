// libFuzzer target: bytes become the raw findings of a program, which `sampan check` reads.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tests/fuzz/fuzz_failure.h"
#include "tools/sampan/check/program/raw_findings.h"

namespace {

using namespace sampan;

/// Reports print these texts.
void CheckText(std::string_view text) {
  const bool is_safe = std::none_of(text.begin(), text.end(), [](char letter) {
    return (static_cast<unsigned char>(letter) < 0x20 && letter != '\n') || letter == 0x7f;
  });
  if (!is_safe) fuzz::FailInput("a control character in a report");
}

void CheckNews(const tool::RawNews& news) {
  if (!news.finding) return;
  if (news.finding->id.empty()) fuzz::FailInput("a finding without a number");
  for (const std::string* text :
       {&news.finding->id, &news.finding->kind, &news.finding->message, &news.finding->fix})
    CheckText(*text);
  for (const tool::FoundAccess& access : news.finding->accesses) {
    CheckText(access.call);
    CheckText(access.does);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tool::SourceFrames frames;
  tool::RawFindings findings(frames);
  std::vector<std::int64_t> processes = {0};
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    if (const auto news = findings.Understand(rest.substr(0, end))) {
      CheckNews(*news);
      processes.push_back(news->of.process);
    }
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  const std::vector<std::uint64_t> counters(64, 1);
  for (const std::int64_t process : processes) {
    for (const tool::RawNews& news : findings.Held(process, counters))
      CheckNews(news);
  }
  for (const auto& ending : findings.SilentEndings())
    CheckText(ending.name);
  static_cast<void>(findings.has_processes() || findings.was_ended());
  return 0;
}
