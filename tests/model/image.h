// The bytes of all buffers of a program in one world, and what tasks do to them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tests/model/operation.h"

namespace sampan::model {

/// kAnyByte: nothing was written there, any value may be found.
inline constexpr std::uint16_t kAnyByte = 0x100;
using ImageBytes = std::vector<std::uint16_t>;
using Image = std::array<ImageBytes, kBuffers>;

/// What a new buffer is filled with before the program uses it.
std::uint8_t InitialByte(int slot, std::size_t offset);
std::vector<std::uint8_t> InitialBytes(int slot, std::size_t bytes);

void SetInitial(Image& image, int slot, std::size_t bytes);
void SetUnknown(Image& image, int slot, std::size_t bytes);
void MoveBytes(Image& image, const Address& dst, const Address& src, std::size_t bytes);
/// Repeats the four bytes of the pattern.
void FillBytes(Image& image, const Address& dst, std::size_t bytes, std::uint32_t pattern);
void AddToBytes(Image& image, const Address& dst, std::size_t bytes, std::uint32_t value);

/// The first byte that is not as expected; the number of bytes when all are.
std::size_t DiffersAt(const ImageBytes& expected, std::span<const std::uint8_t> bytes);

}  // namespace sampan::model
