// Which copies `sampan bench` measures.
#include "bench_matrix.h"

#include <algorithm>

namespace sampan::tool {
namespace {

struct Path {
  std::string_view group;
  Form form;
  Place src;
  Place dst;
};

std::vector<Path> AllPaths() {
  using enum Form;
  using enum Place;
  return {{"linear", kQueued, kPinned, kDevice},     {"linear", kQueued, kDevice, kPinned},
          {"linear", kQueued, kPageable, kDevice},   {"linear", kQueued, kDevice, kPageable},
          {"linear", kQueued, kDevice, kDevice},     {"linear", kQueued, kDevice, kPeer},
          {"2d", kRowsQueued, kPinned, kDevice},     {"2d", kRowsQueued, kDevice, kPinned},
          {"batch", kBatchQueued, kPinned, kDevice}, {"batch", kBatchQueued, kDevice, kPinned},
          {"desc", kDescriptor, kDevice, kDevice}};
}

/// Rows of 1 KiB at twice their width, pieces of 4 KiB: what caches of attention keys and values look like.
Shape ShapeOf(std::string_view group, std::size_t bytes) {
  if (group == "2d") {
    const std::size_t width = std::min<std::size_t>(bytes, 1024);
    return {.bytes = width, .count = bytes / width, .pitch = 2 * width};
  }
  if (group == "batch") {
    const std::size_t piece = std::min<std::size_t>(bytes, 4096);
    return {.bytes = piece, .count = bytes / piece};
  }
  return {.bytes = bytes};
}

}  // namespace

std::vector<BenchCase> BenchMatrix(std::string_view group, const std::vector<std::size_t>& sizes,
                                   bool with_peer) {
  std::vector<BenchCase> cases;
  for (const Path& path : AllPaths()) {
    if ((group != "all" && group != path.group) || (path.dst == Place::kPeer && !with_peer)) continue;
    for (const std::size_t bytes : sizes)
      cases.push_back({path.group, {path.form, path.src, path.dst, ShapeOf(path.group, bytes)}});
  }
  return cases;
}

}  // namespace sampan::tool
