/* How the ranks of a host meet and get links to one another. Sampan's own: in the original this belongs to
 * the framework above the platform. */
#ifndef SAMPAN_HCCL_PLATFORM_RANK_GROUP_H
#define SAMPAN_HCCL_PLATFORM_RANK_GROUP_H

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "transport_pub.h"

namespace hccl {

/* Ranks are threads of one process, processes of one user, or any mixture. All of them give the same name,
 * the same token and the same size; or the same file, which holds the token. */
struct RankGroupConfig {
  std::string name;  /* 1 to 64 characters */
  std::string token; /* of RankGroup::MakeToken; the program that starts the ranks gives it to them */
  std::string file;  /* instead of name and token: a file that RankGroup::MakeFile wrote */
  u32 rank = INVALID_VALUE_RANKID;
  u32 rankSize = 0;
  std::chrono::milliseconds timeout = std::chrono::seconds(120); /* of joining and of each call that waits */
};

/* A rank's membership. Thread-safe. The rank leaves the group when this object and its links are destroyed.
 */
class HCCL_PLF_VISIBILITY RankGroup {
 public:
  ~RankGroup();
  RankGroup(const RankGroup&) = delete;
  RankGroup& operator=(const RankGroup&) = delete;

  /* 128 random bits in hexadecimal. */
  static std::string MakeToken();
  /* Writes a new token into a new file that the user alone can read. The file is the caller's to remove. */
  static HcclResult MakeFile(const std::string& path);

  /* Returns when all ranks have joined. The calling thread has a current device. */
  static HcclResult Join(const RankGroupConfig& config, std::shared_ptr<RankGroup>& group);

  u32 Rank() const;
  u32 RankSize() const;

  /* A link to each rank that is named in `peers`; null at the places of the others. Collective: every rank
   * calls it, and ranks that are to have a link name each other. The memory and the notifies of the links end
   * with them; inputMem and outputMem must stay until then. */
  HcclResult Connect(HcclDispatcher dispatcher, const MachinePara& machinePara, const std::vector<u32>& peers,
                     std::vector<LINK>& links);
  /* The same with links to all other ranks. */
  HcclResult Connect(HcclDispatcher dispatcher, const MachinePara& machinePara, std::vector<LINK>& links);

  /* Returns when all ranks have called it. */
  HcclResult Barrier();
  /* What each rank gave, by rank. Collective; at most 32 MiB from all together. */
  HcclResult Exchange(const std::vector<u8>& mine, std::vector<std::vector<u8>>& all);

  /* HCCL_SUCCESS while the group is not broken. HCCL_E_REMOTE after a rank exited without leaving,
   * HCCL_E_TIMEOUT after a wait of any rank reached its limit, HCCL_E_MEMORY after a rank or the hub ran out
   * of memory. From then on all links fail; `reason` says why. */
  HcclResult Status(std::string* reason = nullptr) const;

 private:
  struct Membership;
  explicit RankGroup(std::shared_ptr<Membership> membership);

  std::shared_ptr<Membership> membership_;
};

}  // namespace hccl

#endif /* SAMPAN_HCCL_PLATFORM_RANK_GROUP_H */
