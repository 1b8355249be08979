// Ids of findings.
#include "tools/sampan/check/finding/finding_id.h"

#include <array>
#include <cstdint>
#include <cstdio>

#include "tools/sampan/check/finding/frame_words.h"

namespace sampan::tool {
namespace {

/// FNV-1a, because an id has to stay what it is when compilers and libraries change.
class Hash {
 public:
  void Add(std::string_view text) {
    for (const char letter : text)
      AddByte(static_cast<unsigned char>(letter));
    AddByte(0);
  }
  std::uint32_t Fold() const { return static_cast<std::uint32_t>(value_ ^ value_ >> 32); }

 private:
  void AddByte(unsigned char byte) { value_ = (value_ ^ byte) * 0x100000001b3; }

  std::uint64_t value_ = 0xcbf29ce484222325;
};

void AddPlace(Hash& hash, const Stack& stack) {
  const Frame* const place = PlaceOf(stack);
  if (place == nullptr) return hash.Add("");
  hash.Add(place->function);
  hash.Add(BaseName(place->file.empty() ? place->module : place->file));
  const bool is_vague = place->file.empty() && place->function.empty();
  hash.Add(std::to_string(is_vague ? static_cast<std::int64_t>(place->offset) : place->line));
}

}  // namespace

std::string FindingId(const Finding& finding) {
  Hash hash;
  hash.Add(finding.kind);
  for (const FoundAccess& access : finding.accesses) {
    hash.Add(access.call);
    hash.Add(access.does);
    AddPlace(hash, access.stack);
  }
  if (finding.accesses.empty() && finding.buffer) {
    hash.Add(finding.buffer->call);
    AddPlace(hash, finding.buffer->stack);
  }
  std::array<char, 12> digits{};
  std::snprintf(digits.data(), digits.size(), "%08x", hash.Fold());
  return digits.data();
}

}  // namespace sampan::tool
