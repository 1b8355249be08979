// Launches kernels on one stream as graphs, which takes the driver half as long as a plain launch.
#pragma once

#include <span>
#include <vector>

#include "backend/cuda/driver.h"
#include "backend/cuda/kernels/kernel_arguments.h"

namespace sampan::cuda {

/// The blocks of a kernel, and the threads of each.
struct Grid {
  unsigned blocks;
  unsigned threads = kThreadsPerBlock;
};

/// Not thread-safe. The GPU's context must be current, also in the destructor, unless Forget was called.
class KernelGraphs {
 public:
  KernelGraphs(const Driver& driver, CuStream stream) : driver_(driver), stream_(stream) {}
  ~KernelGraphs();
  KernelGraphs(const KernelGraphs&) = delete;
  KernelGraphs& operator=(const KernelGraphs&) = delete;

  CuResult Launch(CuFunction kernel, const Grid& grid, std::span<void*> arguments);
  /// Called when the context is destroyed, which destroys all graphs.
  void Forget() { graphs_.clear(); }

 private:
  struct Graph {
    CuFunction kernel;
    unsigned plain_launches;  ///< plain launches until a graph pays
    CuGraph graph = nullptr;
    CuGraphNode node = nullptr;
    CuGraphExec executable = nullptr;
  };

  Graph& GraphOf(CuFunction kernel);
  /// Returns false if the driver cannot.
  bool Make(Graph& graph, const CuKernelNode& node) const;
  void Destroy(Graph& graph) const;

  const Driver& driver_;
  const CuStream stream_;
  std::vector<Graph> graphs_;  // one for each kernel that was launched
};

}  // namespace sampan::cuda
