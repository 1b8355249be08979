// Work divided into independent chunks that several copy engines can share.
#pragma once

#include <cstddef>

namespace sampan::emulated {

/// A view of work. Its owner keeps it alive until all chunks have run. Chunks may run in parallel, on any
/// thread.
struct ChunkedWork {
  std::size_t chunks;
  const void* context;
  void (*run)(const void* context, std::size_t chunk) noexcept;

  void Run(std::size_t chunk) const { run(context, chunk); }
};

/// Makes work that runs `body(i)` as chunk i.
template <typename Body>
ChunkedWork MakeChunkedWork(std::size_t chunks, const Body& body) {
  return {chunks, &body, [](const void* context, std::size_t chunk) noexcept {
            (*static_cast<const Body*>(context))(chunk);
          }};
}

}  // namespace sampan::emulated
