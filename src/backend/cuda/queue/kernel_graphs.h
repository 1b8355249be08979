// Graphs of one kernel each for a stream: the driver launches them in half the time of a plain launch.
#pragma once

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
  explicit KernelGraphs(const Driver& driver) : driver_(driver) {}
  ~KernelGraphs();
  KernelGraphs(const KernelGraphs&) = delete;
  KernelGraphs& operator=(const KernelGraphs&) = delete;

  /// A graph that is ready to launch this kernel with these arguments. Earlier launches keep theirs. Null for
  /// a plain launch: the first launches of a kernel, or the driver cannot.
  CuGraphExec ReadyFor(const CuKernelNode& node);
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
  std::vector<Graph> graphs_;  // one for each kernel that was launched
};

}  // namespace sampan::cuda
