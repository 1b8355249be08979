// Compares what the library did with all worlds that are possible, and keeps those that fit.
#include "tests/model/model.h"

namespace sampan::model {
std::vector<ImageBytes> Model::Images(int slot) const {
  std::vector<ImageBytes> images;
  for (const World& world : history_.worlds())
    images.push_back(world.image[slot]);
  return images;
}

void Model::Keep(const std::vector<bool>& fits) {
  history_.Keep([&](std::size_t world) { return fits[world]; });
}

std::string Model::FitsAnswer(const Verdict& verdict, aclError answer, std::vector<bool>& fits) {
  std::set<aclError> codes;
  for (std::size_t world = 0; world < fits.size(); ++world) {
    if (!fits[world]) continue;
    const aclError code = verdict.codes.empty() ? verdict.code : verdict.codes[world];
    codes.insert(code);
    fits[world] = code == answer;
  }
  if (codes.contains(answer)) return {};
  std::string expected;
  for (const aclError code : codes)
    expected += (expected.empty() ? "" : " or ") + std::to_string(code);
  return "answered " + std::to_string(answer) + " instead of " + expected;
}

std::string Model::FitsBytes(const std::vector<ImageBytes>& images, std::span<const std::uint8_t> bytes,
                             std::vector<bool>& fits) {
  std::size_t at = 0, possible = 0;
  std::uint16_t expected = kAnyByte;
  bool any = false;
  for (std::size_t world = 0; world < fits.size(); ++world) {
    if (!fits[world]) continue;
    const std::size_t differs = DiffersAt(images[world], bytes);
    fits[world] = differs == bytes.size();
    any = any || fits[world];
    if (++possible == 1 || (differs > at && !fits[world])) {
      at = differs;
      if (!fits[world]) expected = images[world][differs];
    }
  }
  if (any) return {};
  return "byte " + std::to_string(at) + " is " + std::to_string(bytes[at]) + " instead of " +
         std::to_string(expected) +
         (possible == 1 ? "" : ", and none of " + std::to_string(possible) + " outcomes fits");
}

std::string Model::Observe(const Verdict& verdict, aclError answer) {
  std::vector<bool> fits(worlds(), true);
  std::string what = FitsAnswer(verdict, answer, fits);
  if (what.empty()) Keep(fits);
  return what;
}

std::string Model::ObserveBytes(int slot, std::span<const std::uint8_t> bytes) {
  std::vector<bool> fits(worlds(), true);
  std::string what = FitsBytes(Images(slot), bytes, fits);
  if (what.empty()) Keep(fits);
  return what;
}

}  // namespace sampan::model
