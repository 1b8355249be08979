// The settings of a communicator: HcclCommConfig, then the environment, then the defaults.
#pragma once

#include <chrono>
#include <string>

#include "hccl/base.h"
#include "hccl/hccl_comm.h"

namespace sampan::collectives {

struct CommOptions {
  std::string name;       ///< empty: made from the root info
  std::string free_text;  ///< hcclUdi, shown in messages
  u32 buffer_mb = HCCL_COMM_DEFAULT_BUFFSIZE;
  u32 deterministic = 0;
  HcclOpExpansionMode expansion_mode = HCCL_OP_EXPANSION_MODE_INVALID;  ///< INVALID: the chip's own
  u64 max_window_gb = 16;                                               ///< of a symmetric window
  std::chrono::seconds connect_limit{120};
  std::chrono::seconds exec_limit{1836};  ///< 0: none
};

/// Reads the HCCL_* variables. HCCL_E_PARA, with a message, if one has a wrong value.
HcclResult ReadEnvironment(const char* function, CommOptions& options);
/// Applies a configuration of any size and version.
HcclResult ApplyConfig(const char* function, const HcclCommConfig* config, CommOptions& options);
/// Whether HCCL_DETERMINISTIC is set, which HcclSetConfig does not override.
bool EnvironmentSetsDeterminism();

}  // namespace sampan::collectives
