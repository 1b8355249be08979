/* How ranks of one host find each other, and get links to one another. Sampan's own: the original keeps this
 * in its framework, above the platform. */
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
  std::string token; /* RankGroup::MakeToken, handed to the ranks by whoever starts them */
  std::string file;  /* instead of name and token: a file that RankGroup::MakeFile wrote */
  u32 rank = INVALID_VALUE_RANKID;
  u32 rankSize = 0;
  std::chrono::milliseconds timeout = std::chrono::seconds(120); /* of joining and of each call that waits */
};

/* A rank's membership. Thread-safe; ends when it and its links are gone. */
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
  /* The same with links to everybody. */
  HcclResult Connect(HcclDispatcher dispatcher, const MachinePara& machinePara, std::vector<LINK>& links);

  /* Returns when all ranks are here. */
  HcclResult Barrier();
  /* What each rank gave, by rank. Collective; at most 32 MiB from all together. */
  HcclResult Exchange(const std::vector<u8>& mine, std::vector<std::vector<u8>>& all);

  /* HCCL_SUCCESS while the group is whole. HCCL_E_REMOTE once a rank has ended without leaving,
   * HCCL_E_TIMEOUT once a wait ran past its limit anywhere: then no link is of use any more, and the reason
   * says why. */
  HcclResult Status(std::string* reason = nullptr) const;

 private:
  struct Membership;
  explicit RankGroup(std::shared_ptr<Membership> membership);

  std::shared_ptr<Membership> membership_;
};

}  // namespace hccl

#endif /* SAMPAN_HCCL_PLATFORM_RANK_GROUP_H */
