// The bytes of all buffers of a program in one world, and what tasks do to them. Compiled with optimisation:
// most of the time of a random program passes here.
#include "tests/model/image.h"

#include <algorithm>

namespace sampan::model {

std::uint8_t InitialByte(int slot, std::size_t offset) {
  return static_cast<std::uint8_t>(offset * 7 + offset / 251 + static_cast<std::size_t>(slot) * 41 + 3);
}

std::vector<std::uint8_t> InitialBytes(int slot, std::size_t bytes) {
  std::vector<std::uint8_t> initial(bytes);
  for (std::size_t i = 0; i < bytes; ++i)
    initial[i] = InitialByte(slot, i);
  return initial;
}

void SetInitial(Image& image, int slot, std::size_t bytes) {
  image[slot].resize(bytes);
  std::uint16_t* const to = image[slot].data();
  for (std::size_t i = 0; i < bytes; ++i)
    to[i] = InitialByte(slot, i);
}

void SetUnknown(Image& image, int slot, std::size_t bytes) {
  image[slot].assign(bytes, kAnyByte);
}

void MoveBytes(Image& image, const Address& dst, const Address& src, std::size_t bytes) {
  std::copy_n(image[src.slot].data() + src.offset, bytes, image[dst.slot].data() + dst.offset);
}

void FillBytes(Image& image, const Address& dst, std::size_t bytes, std::uint32_t pattern) {
  std::uint16_t* const to = image[dst.slot].data() + dst.offset;
  for (std::size_t i = 0; i < bytes; ++i)
    to[i] = static_cast<std::uint8_t>(pattern >> (8 * (i % 4)));
}

void AddToBytes(Image& image, const Address& dst, std::size_t bytes, std::uint32_t value) {
  std::uint16_t* const to = image[dst.slot].data() + dst.offset;
  for (std::size_t i = 0; i < bytes; ++i) {
    if (to[i] != kAnyByte) to[i] = static_cast<std::uint8_t>(to[i] + value);
  }
}

std::size_t DiffersAt(const ImageBytes& expected, std::span<const std::uint8_t> bytes) {
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (expected[i] != bytes[i] && expected[i] != kAnyByte) return i;
  }
  return bytes.size();
}

}  // namespace sampan::model
