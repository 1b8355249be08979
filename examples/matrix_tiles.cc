// Two-dimensional copies: tiles leave a pitched matrix on the device, others are put in, gaps stay untouched.
#include "check.h"

#include <vector>

namespace {

// 700 rows of 3000 bytes. On the device a row begins every 4096 bytes: 1096 bytes of gap follow each row.
constexpr std::size_t kRows = 700;
constexpr std::size_t kWidth = 3000;
constexpr std::size_t kPitch = 4096;
constexpr unsigned char kGap = 0xA5;
constexpr int kTiles = 64;

struct Tile {
  std::size_t row, column, width, height;
  std::size_t bytes() const { return width * height; }
  std::size_t offset(std::size_t pitch) const { return row * pitch + column; }
};

/// One tile for each cell of a grid, so that no two overlap.
std::vector<Tile> RandomTiles(std::mt19937_64& random) {
  constexpr std::size_t kGrid = 8;
  constexpr std::size_t kCellRows = kRows / kGrid;
  constexpr std::size_t kCellWidth = kWidth / kGrid;
  std::vector<Tile> tiles;
  for (int i = 0; i < kTiles; ++i) {
    const std::size_t height = 1 + random() % kCellRows;
    const std::size_t width = 1 + random() % kCellWidth;
    const std::size_t row = i / kGrid * kCellRows + random() % (kCellRows - height + 1);
    const std::size_t column = i % kGrid * kCellWidth + random() % (kCellWidth - width + 1);
    tiles.push_back({row, column, width, height});
  }
  return tiles;
}

}  // namespace

int main(int argc, char** argv) {
  std::mt19937_64 random(example::Seed(argc, argv));
  CHECK_ACL(aclInit(nullptr));
  CHECK_ACL(aclrtSetDevice(0));
  aclrtStream stream = nullptr;
  CHECK_ACL(aclrtCreateStream(&stream));

  // What the device's memory must hold, gaps included, kept up to date by plain C++.
  std::vector<unsigned char> expected(kRows * kPitch, kGap);
  auto* matrix = static_cast<unsigned char*>(example::PinnedMemory(kRows * kWidth));
  example::FillRandom(matrix, kRows * kWidth, random);
  for (std::size_t row = 0; row < kRows; ++row) {
    std::memcpy(&expected[row * kPitch], &matrix[row * kWidth], kWidth);
  }

  // The packed matrix becomes a pitched one.
  void* device = example::DeviceMemory(kRows * kPitch);
  CHECK_ACL(aclrtMemset(device, kRows * kPitch, kGap, kRows * kPitch));
  CHECK_ACL(
      aclrtMemcpy2dAsync(device, kPitch, matrix, kWidth, kWidth, kRows, ACL_MEMCPY_HOST_TO_DEVICE, stream));

  // Tiles out: each into its own packed buffer. All are queued first, one synchronisation ends them.
  const std::vector<Tile> out = RandomTiles(random);
  std::vector<void*> cut;
  for (const Tile& tile : out) {
    cut.push_back(example::PinnedMemory(tile.bytes()));
    CHECK_ACL(aclrtMemcpy2dAsync(cut.back(), tile.width, example::At(device, tile.offset(kPitch)), kPitch,
                                 tile.width, tile.height, ACL_MEMCPY_DEVICE_TO_HOST, stream));
  }
  CHECK_ACL(aclrtSynchronizeStream(stream));
  for (std::size_t i = 0; i < out.size(); ++i) {
    for (std::size_t row = 0; row < out[i].height; ++row) {
      example::ExpectSameBytes(example::At(cut[i], row * out[i].width),
                               &expected[out[i].offset(kPitch) + row * kPitch], out[i].width,
                               "a tile cut out");
    }
  }

  // Tiles in: new bytes at new places.
  const std::vector<Tile> in = RandomTiles(random);
  std::vector<void*> patches;
  for (const Tile& tile : in) {
    patches.push_back(example::PinnedMemory(tile.bytes()));
    example::FillRandom(patches.back(), tile.bytes(), random);
    CHECK_ACL(aclrtMemcpy2dAsync(example::At(device, tile.offset(kPitch)), kPitch, patches.back(), tile.width,
                                 tile.width, tile.height, ACL_MEMCPY_HOST_TO_DEVICE, stream));
    for (std::size_t row = 0; row < tile.height; ++row) {
      std::memcpy(&expected[tile.offset(kPitch) + row * kPitch],
                  example::At(patches.back(), row * tile.width), tile.width);
    }
  }
  CHECK_ACL(aclrtSynchronizeStream(stream));

  // The whole allocation, gaps included.
  std::vector<unsigned char> actual(kRows * kPitch);
  CHECK_ACL(aclrtMemcpy(actual.data(), actual.size(), device, actual.size(), ACL_MEMCPY_DEVICE_TO_HOST));
  example::ExpectSameBytes(actual.data(), expected.data(), expected.size(), "the matrix and its gaps");

  for (void* tile : cut)
    CHECK_ACL(aclrtFreeHost(tile));
  for (void* patch : patches)
    CHECK_ACL(aclrtFreeHost(patch));
  CHECK_ACL(aclrtFreeHost(matrix));
  CHECK_ACL(aclrtFree(device));
  CHECK_ACL(aclrtDestroyStream(stream));
  CHECK_ACL(aclrtResetDevice(0));
  CHECK_ACL(aclFinalize());
  return example::Done("64 tiles out of and 64 into a pitched matrix, gaps untouched");
}
