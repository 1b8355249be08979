// Rank tables: which rank is which device of which server.
#pragma once

#include <string>
#include <vector>

#include "hccl/base.h"
#include "hccl/hccl_types.h"

namespace sampan::collectives {

struct TableRank {
  u32 server = 0;  ///< index in the list of servers
  u32 device = 0;
};

struct RankTable {
  std::string version;
  u32 servers = 0;
  std::vector<TableRank> ranks;  ///< by rank_id
  std::string address{};         ///< of the first server: its host_ip, or its server_id
  u64 digest = 0;                ///< of the file: all ranks have the same one
};

/// Reads a table of version 1.0 or 1.2. HCCL_E_PARA if the file cannot be read (EI0004) or has a wrong value
/// (EI0014); the message names it.
HcclResult ReadRankTable(const char* function, const char* path, RankTable& table);

}  // namespace sampan::collectives
