// hccl::RankGroup: checks the arguments, finds the meeting point, and makes links.
#include "hccl/platform/rank_group.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/error/system_error.h"
#include "hccl/group/hub.h"
#include "hccl/group/membership.h"
#include "hccl/group/network_place.h"
#include "hccl/link/link_making.h"
#include "hccl/report.h"

namespace hccl {

using sampan::Descriptor;
using sampan::SystemError;
using sampan::Text;
using namespace sampan::hccl;

struct RankGroup::Membership {
  std::shared_ptr<sampan::hccl::Membership> own;
};

namespace {

constexpr std::size_t kTokenBytes = 16;
constexpr std::size_t kMaxNameBytes = 64;
constexpr std::size_t kMinTokenBytes = 16, kMaxTokenBytes = 256;
constexpr u32 kMaxRanks = 1024;
constexpr u64 kMaxExchangeBytes = u64{32} << 20;

/// A hash that keeps the names of groups apart. It does not reveal a random token.
u64 Mix(std::string_view text) {
  u64 hash = 0xCBF29CE484222325ULL;
  for (const char letter : text)
    hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001B3ULL;
  return hash ^ (hash >> 29);
}

HcclResult ReadTokenFile(const char* function, const std::string& path, std::string& token,
                         std::string& place) {
  // Without O_NONBLOCK, opening a FIFO would wait for a writer.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat facts {};
  if (file.get() < 0 || ::fstat(file.get(), &facts) != 0) {
    return Fail(function, HCCL_E_OPEN_FILE_FAILURE, Text("cannot open '", path, "': ", SystemError(errno)));
  }
  if (!S_ISREG(facts.st_mode) || facts.st_uid != ::geteuid() || (facts.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    return Fail(
        function, HCCL_E_PARA,
        Text("'", path, "' must be a regular file of this user, without rights for others (mode 0600)"));
  }
  std::array<char, kMaxTokenBytes> text{};
  const ssize_t length = ::read(file.get(), text.data(), text.size());
  if (length < 0)
    return Fail(function, HCCL_E_SYSCALL, Text("cannot read '", path, "': ", SystemError(errno)));
  token.assign(text.data(), static_cast<std::size_t>(length));
  place = Text("file ", facts.st_dev, " ", facts.st_ino);
  return HCCL_SUCCESS;
}

HcclResult CheckConfig(const char* function, const RankGroupConfig& config) {
  const auto wrong = [&](const std::string& text) { return Fail(function, HCCL_E_PARA, text); };
  if (config.rankSize == 0 || config.rankSize > kMaxRanks)
    return wrong(Text("rankSize is ", config.rankSize, ", it must be 1 to ", kMaxRanks));
  if (config.rank >= config.rankSize)
    return wrong(Text("rank is ", config.rank, ", it must be less than rankSize ", config.rankSize));
  if (config.timeout.count() <= 0) return wrong(Text("timeout is ", config.timeout.count(), " ms"));
  if (!config.file.empty()) {
    return config.name.empty() && config.token.empty()
               ? HCCL_SUCCESS
               : wrong("a file is given, and a name or a token besides");
  }
  if (config.name.empty() || config.name.size() > kMaxNameBytes)
    return wrong(Text("name has ", config.name.size(), " characters, it must have 1 to ", kMaxNameBytes));
  return HCCL_SUCCESS;
}

HcclResult FindMeeting(const char* function, const RankGroupConfig& config, MeetingPoint& meeting) {
  if (const HcclResult result = CheckConfig(function, config); result != HCCL_SUCCESS) return result;
  std::string place = config.name, token = config.token;
  if (!config.file.empty()) {
    if (const HcclResult result = ReadTokenFile(function, config.file, token, place); result != HCCL_SUCCESS)
      return result;
  }
  if (token.size() < kMinTokenBytes || token.size() > kMaxTokenBytes) {
    return Fail(function, HCCL_E_PARA,
                Text("the token has ", token.size(), " characters, it must have ", kMinTokenBytes, " to ",
                     kMaxTokenBytes, ": RankGroup::MakeToken makes one"));
  }
  meeting.group = config.file.empty() ? config.name : config.file;
  meeting.prefix = Text("sampan-hccl-", ::geteuid(), "-", Mix(place), "-", Mix(token), "-");
  meeting.secret = SecretOf(config.name, token);  // a file has another place on each host
  if (config.address.empty()) return HCCL_SUCCESS;
  return ReadPlace(function, config.address, meeting.address.emplace());
}

}  // namespace

RankGroup::RankGroup(std::shared_ptr<Membership> membership) : membership_(std::move(membership)) {}

RankGroup::~RankGroup() = default;

std::string RankGroup::MakeToken() {
  return RandomHex(kTokenBytes);
}

HcclResult RankGroup::MakeFile(const std::string& path) {
  constexpr const char* kFunction = "RankGroup::MakeFile";
  return Guard(kFunction, [&]() -> HcclResult {
    const Descriptor file(
        ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, S_IRUSR | S_IWUSR));
    const std::string token = MakeToken();
    if (file.get() < 0 ||
        ::write(file.get(), token.data(), token.size()) != static_cast<ssize_t>(token.size())) {
      return Fail(kFunction, HCCL_E_OPEN_FILE_FAILURE,
                  Text("cannot write '", path, "': ", SystemError(errno)));
    }
    return HCCL_SUCCESS;
  });
}

namespace {

/// An address where rank 0 can listen, by either of the two ways to find one.
HcclResult FindAddress(const char* function, HcclResult (*find)(const char*, sampan::PeerAddress&),
                       std::string& address) {
  return Guard(function, [&] {
    sampan::PeerAddress found;
    const HcclResult result = find(function, found);
    if (result == HCCL_SUCCESS) address = Describe(found);
    return result;
  });
}

}  // namespace

HcclResult RankGroup::MakeAddress(std::string& address) {
  return FindAddress("RankGroup::MakeAddress", &ChoosePlace, address);
}

HcclResult RankGroup::ReserveAddress(std::string& address) {
  return FindAddress("RankGroup::ReserveAddress", &ReservePlace, address);
}

HcclResult RankGroup::Join(const RankGroupConfig& config, std::shared_ptr<RankGroup>& group) {
  constexpr const char* kFunction = "RankGroup::Join";
  return Guard(kFunction, [&]() -> HcclResult {
    MeetingPoint meeting;
    if (const HcclResult result = FindMeeting(kFunction, config, meeting); result != HCCL_SUCCESS)
      return result;
    auto membership = std::make_shared<Membership>();
    if (const HcclResult result = sampan::hccl::Membership::Join(kFunction, meeting, config, membership->own);
        result != HCCL_SUCCESS)
      return result;
    group.reset(new RankGroup(std::move(membership)));
    return HCCL_SUCCESS;
  });
}

u32 RankGroup::Rank() const {
  return membership_->own->rank();
}

u32 RankGroup::RankSize() const {
  return membership_->own->rank_size();
}

std::string RankGroup::HostOf(u32 rank) const {
  return rank < RankSize() ? membership_->own->host_text(rank) : std::string();
}

HcclResult RankGroup::Connect(HcclDispatcher dispatcher, const MachinePara& machinePara,
                              const std::vector<u32>& peers, std::vector<LINK>& links) {
  constexpr const char* kFunction = "RankGroup::Connect";
  return Guard(kFunction, [&]() -> HcclResult {
    LinkMaking making(kFunction, membership_->own, dispatcher, machinePara);
    std::vector<std::shared_ptr<Transport::Link>> made;
    if (const HcclResult result = making.Make(peers, made); result != HCCL_SUCCESS) return result;
    links.assign(RankSize(), nullptr);
    for (std::size_t rank = 0; rank < made.size(); ++rank) {
      if (made[rank] != nullptr) links[rank].reset(new Transport(std::move(made[rank])));
    }
    return HCCL_SUCCESS;
  });
}

HcclResult RankGroup::Connect(HcclDispatcher dispatcher, const MachinePara& machinePara,
                              std::vector<LINK>& links) {
  std::vector<u32> peers;
  for (u32 rank = 0; rank < RankSize(); ++rank) {
    if (rank != Rank()) peers.push_back(rank);
  }
  return Connect(dispatcher, machinePara, peers, links);
}

HcclResult RankGroup::Barrier() {
  constexpr const char* kFunction = "RankGroup::Barrier";
  return Guard(kFunction, [&] {
    std::vector<std::vector<u8>> all;
    return membership_->own->Exchange(kFunction, {}, all);
  });
}

HcclResult RankGroup::Exchange(const std::vector<u8>& mine, std::vector<std::vector<u8>>& all) {
  constexpr const char* kFunction = "RankGroup::Exchange";
  return Guard(kFunction, [&]() -> HcclResult {
    const u64 max_bytes = kMaxExchangeBytes / RankSize();
    if (mine.size() > max_bytes) {
      return Fail(kFunction, HCCL_E_PARA,
                  Text(mine.size(), " bytes are more than the ", max_bytes, " that each of ", RankSize(),
                       " ranks can give"));
    }
    return membership_->own->Exchange(kFunction, mine, all);
  });
}

HcclResult RankGroup::Post(const std::vector<u32>& peers, const std::vector<u8>& bytes) {
  constexpr const char* kFunction = "RankGroup::Post";
  return Guard(kFunction, [&] { return membership_->own->Post(kFunction, peers, bytes); });
}

HcclResult RankGroup::Status(std::string* reason) const {
  const auto& health = membership_->own->health();
  if (!health->is_broken()) return HCCL_SUCCESS;
  if (reason != nullptr) *reason = health->reason();
  return health->code();
}

}  // namespace hccl
