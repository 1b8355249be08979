// What the program has called when communicators change.
#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "hccl/hccl_comm.h"

namespace sampan::collectives {

/// Thread-safe. Those of the process, for all communicators.
class StateCallbacks {
 public:
  /// Replaces the one with that name.
  void Set(const std::string& name, HcclCommStateCallback callback, void* args);
  /// Calls them in the order of their names, each name since it was first set. Returns the code of the first
  /// that fails, with a message; the others are not called. No lock is held meanwhile.
  HcclResult Call(const char* function, HcclComm comm, HcclCommStatePhase phase) const;

 private:
  struct Entry {
    std::string name;
    HcclCommStateCallback callback;
    void* args;
  };

  mutable std::mutex mutex_;
  std::vector<Entry> entries_;
};

}  // namespace sampan::collectives
