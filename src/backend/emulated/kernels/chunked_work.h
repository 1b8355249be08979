// Work in independent chunks, so that several copy engines can share it.
#pragma once

#include <cstddef>

namespace sampan::emulated {

/// A view of work that its owner keeps alive until all chunks ran. Chunks may run at once, on any thread.
struct ChunkedWork {
  std::size_t chunks;
  const void* context;
  void (*run)(const void* context, std::size_t chunk) noexcept;

  void Run(std::size_t chunk) const { run(context, chunk); }
};

/// The work whose chunk i is `body(i)`.
template <typename Body>
ChunkedWork MakeChunkedWork(std::size_t chunks, const Body& body) {
  return {chunks, &body, [](const void* context, std::size_t chunk) noexcept {
            (*static_cast<const Body*>(context))(chunk);
          }};
}

}  // namespace sampan::emulated
