// libFuzzer target: bytes become a rank table, the file of HcclCommInitClusterInfo.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <set>
#include <string>
#include <utility>

#include "base/error/text.h"
#include "collectives/comm/rank_table.h"
#include "tests/fuzz/fuzz_failure.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sampan;
  static const int file = ::memfd_create("rank table", MFD_CLOEXEC);
  if (::ftruncate(file, 0) != 0 || ::pwrite(file, data, size, 0) != static_cast<ssize_t>(size))
    fuzz::FailInput("the file cannot be written", errno);
  collectives::RankTable table;
  const HcclResult result =
      collectives::ReadRankTable("fuzz_rank_table_file", Text("/proc/self/fd/", file).c_str(), table);
  if (result == HCCL_E_PARA) return 0;
  if (result != HCCL_SUCCESS) fuzz::FailInput("a refusal with another code", result);
  if (table.servers == 0 || table.ranks.size() < table.servers) fuzz::FailInput("a server without ranks");
  std::set<std::pair<u32, u32>> places;
  u32 server = 0;
  for (const collectives::TableRank& rank : table.ranks) {
    if (rank.server >= table.servers || rank.server < server) fuzz::FailInput("a wrong server", rank.server);
    server = rank.server;
    if (!places.insert({rank.server, rank.device}).second)
      fuzz::FailInput("two ranks of a device", rank.device);
  }
  return 0;
}
