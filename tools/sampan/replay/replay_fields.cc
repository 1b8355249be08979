// Reads numbers, addresses and places from the events of a trace.
#include "tools/sampan/replay/replay_fields.h"

#include <charconv>
#include <string>

namespace sampan::tool {

std::uint64_t ToUnsigned(const TraceJson& value) {
  return value.is_number_unsigned() ? value.get<std::uint64_t>() : 0;
}

std::uint64_t UnsignedField(const TraceJson& object, const char* name, std::uint64_t otherwise) {
  const auto found = object.find(name);
  return found != object.end() && found->is_number_unsigned() ? found->get<std::uint64_t>() : otherwise;
}

std::uint64_t ToAddress(const TraceJson& value) {
  if (!value.is_string()) return 0;
  const std::string& text = value.get_ref<const std::string&>();
  std::uint64_t address = 0;
  if (text.starts_with("0x")) std::from_chars(text.data() + 2, text.data() + text.size(), address, 16);
  return address;
}

bool ReadPlace(const TraceEvent& event, const char* name, ReplayPlace& place, std::int32_t& device) {
  const TraceJson* const end = event.Find(name);
  if (end == nullptr || !end->is_object()) return false;
  device = -1;
  if (end->contains("device")) {
    const std::uint64_t number = UnsignedField(*end, "device", kMaxDevices);
    if (number >= kMaxDevices) return false;
    device = static_cast<std::int32_t>(number);
  }
  if (const auto allocation = end->find("allocation"); allocation != end->end())
    place = {ToUnsigned(*allocation), UnsignedField(*end, "offset", 0)};
  else if (const auto address = end->find("address"); address != end->end())
    place = {0, ToAddress(*address)};
  return (place.allocation != 0 || place.offset != 0) && place.offset < kMaxOffset;
}

}  // namespace sampan::tool
