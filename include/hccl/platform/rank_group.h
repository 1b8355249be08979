/* How ranks of one host or of several find each other and get links. Sampan's own: the original keeps this in
 * its framework, above the platform. */
#ifndef SAMPAN_HCCL_PLATFORM_RANK_GROUP_H
#define SAMPAN_HCCL_PLATFORM_RANK_GROUP_H

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "transport_pub.h"

namespace hccl {

/* Ranks are threads of one process, processes of one user, or both. All of them have the same name, token and
 * size; or the same file, which contains the token. With the same address they may run on several hosts. */
struct RankGroupConfig {
  std::string name;    /* 1 to 64 characters */
  std::string token;   /* RankGroup::MakeToken, given to all ranks by their launcher */
  std::string file;    /* instead of name and token: a file that RankGroup::MakeFile wrote */
  std::string address; /* where rank 0 listens: RankGroup::MakeAddress; empty: all ranks run on one host */
  u32 rank = INVALID_VALUE_RANKID;
  u32 rankSize = 0;
  std::chrono::milliseconds timeout = std::chrono::seconds(120); /* of joining and of each call that waits */
  /* With an address: this rank is on the host of rank 0 and meets it without the network. Rank 0 then meets
   * both kinds. It joins without those of other hosts if it cannot listen, with a warning. */
  bool isOnHostOfRank0 = false;
  /* Gets what other ranks Post, in the order in which each of them posted. Called on a thread of the group,
   * from before Join returns until the group is destroyed. It must not wait, or call the group. */
  std::function<void(u32 from, const std::vector<u8>& bytes)> onPosted = {};
};

/** The membership of a rank. It ends when the object and its links are destroyed.
 * @async Join, Connect, Barrier and Exchange wait for the other ranks, at most config.timeout. The others do
 *     not wait.
 * @threads Any number of threads.
 */
class HCCL_PLF_VISIBILITY RankGroup {
 public:
  ~RankGroup();
  RankGroup(const RankGroup&) = delete;
  RankGroup& operator=(const RankGroup&) = delete;

  /** 128 random bits in hexadecimal. */
  static std::string MakeToken();

  /** Writes a new token into a new file at path, which only the user can read. The caller removes the file.
   * @error HCCL_E_OPEN_FILE_FAILURE The file exists or cannot be made.
   */
  static HcclResult MakeFile(const std::string& path);

  /** Chooses where this process can listen as rank 0, as "10.0.0.1:60000": the interface by HCCL_IF_IP,
   * HCCL_SOCKET_IFNAME and HCCL_SOCKET_FAMILY, the first free port by HCCL_HOST_SOCKET_PORT_RANGE and
   * HCCL_IF_BASE_PORT. The launcher gives address to all ranks. The port is not kept until rank 0 joins.
   * @error HCCL_E_PARA A variable is malformed, or no interface fits it.
   * @error HCCL_E_UNAVAIL No port is free.
   * @error HCCL_E_NOT_FOUND No network interface is up.
   */
  static HcclResult MakeAddress(std::string& address);

  /** As MakeAddress, and keeps the port of address for a rank 0 in this process. If the variables name no
   * port and those from 60000 on are taken, it is any. A process keeps at most 16 ports, those that it
   * reserved last.
   * @error HCCL_E_PARA A variable is malformed, or no interface fits it.
   * @error HCCL_E_UNAVAIL No port is free.
   * @error HCCL_E_NOT_FOUND No network interface is up.
   */
  static HcclResult ReserveAddress(std::string& address);

  /** Joins the group that config names, and returns in group when all ranks have joined. The calling thread
   * must have a current device. config.timeout is in milliseconds. config.address may be a numeric address
   * with a port, or without one: then it is the first port of HCCL_HOST_SOCKET_PORT_RANGE, or
   * HCCL_IF_BASE_PORT, or 60000. The token never travels, but what ranks exchange is not encrypted.
   * @error HCCL_E_PARA A field of config is not accepted, or differs from that of other ranks.
   * @error HCCL_E_OPEN_FILE_FAILURE config.file cannot be opened.
   * @error HCCL_E_UNAVAIL Another process is rank 0 of a group with this name, or the port is taken.
   * @error HCCL_E_TIMEOUT Ranks are missing; the message names them.
   * @error HCCL_E_REMOTE A rank exited meanwhile.
   */
  static HcclResult Join(const RankGroupConfig& config, std::shared_ptr<RankGroup>& group);

  /** Number of this rank, from 0, and number of ranks. */
  u32 Rank() const;
  u32 RankSize() const;
  /** The numeric address of the host of rank, as rank 0 sees it; empty in a group of one host. */
  std::string HostOf(u32 rank) const;

  /** Makes links to the ranks in peers, or to all, with dispatcher and with what machinePara offers. links
   * has one entry for each rank; NULL for ranks without a link. Collective: every rank calls it, and ranks
   * that get a link name each other. inputMem and outputMem must stay valid until the links are destroyed.
   * @error HCCL_E_PTR dispatcher is NULL or destroyed, or inputMem or outputMem is empty.
   * @error HCCL_E_PARA A field of machinePara or a peer is not accepted.
   * @error HCCL_E_REMOTE A rank exited or could not make its links. No rank has links then.
   * @error HCCL_E_NOT_SUPPORT A peer runs on another host, which the chip or the backend cannot reach.
   * @error HCCL_E_TIMEOUT A rank did not call in time.
   */
  HcclResult Connect(HcclDispatcher dispatcher, const MachinePara& machinePara, const std::vector<u32>& peers,
                     std::vector<LINK>& links);
  /* The same with links to all other ranks. */
  HcclResult Connect(HcclDispatcher dispatcher, const MachinePara& machinePara, std::vector<LINK>& links);

  /** Returns when all ranks are here.
   * @error HCCL_E_REMOTE A rank has exited.
   * @error HCCL_E_TIMEOUT A rank did not call in time.
   */
  HcclResult Barrier();

  /** Sends mine to all ranks, and returns the parts of all ranks in all. Collective; at most 32 MiB from all
   * together.
   * @error HCCL_E_PARA mine is too long.
   * @error HCCL_E_REMOTE A rank has exited.
   * @error HCCL_E_TIMEOUT A rank did not call in time.
   */
  HcclResult Exchange(const std::vector<u8>& mine, std::vector<std::vector<u8>>& all);

  /** Sends bytes to the ranks in peers, for their onPosted. Does not wait.
   * @error HCCL_E_PARA A peer is not in the group, or there are more than 1 MiB.
   * @error HCCL_E_REMOTE A rank has exited.
   */
  HcclResult Post(const std::vector<u32>& peers, const std::vector<u8>& bytes);

  /** State of the group, with a text in reason (may be NULL). After a failure no link can be used.
   * @error HCCL_E_REMOTE A rank has exited without leaving, or its host cannot be reached.
   * @error HCCL_E_TIMEOUT A wait ran past its limit somewhere.
   */
  HcclResult Status(std::string* reason = nullptr) const;

 private:
  struct Membership;
  explicit RankGroup(std::shared_ptr<Membership> membership);

  std::shared_ptr<Membership> membership_;
};

}  // namespace hccl

#endif /* SAMPAN_HCCL_PLATFORM_RANK_GROUP_H */
