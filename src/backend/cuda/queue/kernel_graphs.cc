// Graphs of one kernel each for a stream: the driver launches them in half the time of a plain launch.
#include "backend/cuda/queue/kernel_graphs.h"

#include <algorithm>
#include <climits>

namespace sampan::cuda {
namespace {

/// Making a graph takes as long as dozens of launches, so short-lived streams use none.
constexpr unsigned kPlainLaunches = 4;
/// The driver has refused to make a graph.
constexpr unsigned kAlwaysPlain = UINT_MAX;

}  // namespace

KernelGraphs::~KernelGraphs() {
  for (Graph& graph : graphs_)
    Destroy(graph);
}

CuGraphExec KernelGraphs::ReadyFor(const CuKernelNode& node) {
  Graph& graph = GraphOf(node.function);
  if (graph.executable != nullptr) {
    const CuResult set = driver_.GraphSetKernel(graph.executable, graph.node, &node);
    return set == cu::kSuccess ? graph.executable : nullptr;
  }
  if (graph.plain_launches == 0) {
    if (Make(graph, node)) return graph.executable;
    graph.plain_launches = kAlwaysPlain;
  }
  if (graph.plain_launches != kAlwaysPlain) --graph.plain_launches;
  return nullptr;
}

KernelGraphs::Graph& KernelGraphs::GraphOf(CuFunction kernel) {
  const auto found = std::find_if(graphs_.begin(), graphs_.end(),
                                  [&](const Graph& graph) { return graph.kernel == kernel; });
  if (found != graphs_.end()) return *found;
  return graphs_.emplace_back(Graph{.kernel = kernel, .plain_launches = kPlainLaunches});
}

bool KernelGraphs::Make(Graph& graph, const CuKernelNode& node) const {
  if (driver_.GraphCreate(&graph.graph, 0) == cu::kSuccess &&
      driver_.GraphAddKernel(&graph.node, graph.graph, nullptr, 0, &node) == cu::kSuccess &&
      driver_.GraphInstantiate(&graph.executable, graph.graph, 0) == cu::kSuccess) {
    return true;
  }
  Destroy(graph);
  return false;
}

void KernelGraphs::Destroy(Graph& graph) const {
  if (graph.executable != nullptr) driver_.GraphDestroyExecutable(graph.executable);
  if (graph.graph != nullptr) driver_.GraphDestroy(graph.graph);
  graph.executable = nullptr;
  graph.graph = nullptr;
}

}  // namespace sampan::cuda
