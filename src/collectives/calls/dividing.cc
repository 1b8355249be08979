// Communicators of some ranks of another one.
#include <algorithm>
#include <span>

#include "collectives/comm/registry.h"
#include "hccl/hccl_comm.h"
#include "hccl/report.h"

using namespace sampan::collectives;
using sampan::Text;
using sampan::hccl::Fail;
using sampan::hccl::Guard;

namespace {

constexpr uint64_t kNoSubCommunicator = 0xFFFFFFFF;

/// What a member says of the new communicator.
struct Division {
  std::span<const uint32_t> ranks;  ///< of the parent
  uint64_t id;
  uint32_t own;  ///< this rank's place among them
};

HcclResult CheckRanks(const char* function, const Division& division, const Communicator& parent) {
  const auto wrong = [&](const std::string& text) { return Fail(function, HCCL_E_PARA, "EI0003: " + text); };
  for (std::size_t i = 0; i < division.ranks.size(); ++i) {
    if (division.ranks[i] >= parent.size())
      return wrong(Text("rankIds[", i, "] is ", division.ranks[i], ", the communicator has ", parent.size(),
                        " ranks"));
    if (i > 0 && division.ranks[i] <= division.ranks[i - 1])
      return wrong(Text("rankIds[", i, "] is ", division.ranks[i], ", the ranks must ascend"));
  }
  if (division.ranks[division.own] != parent.rank())
    return wrong(Text("rankIds[", division.own, "] is ", division.ranks[division.own], ", this rank is ",
                      parent.rank()));
  return HCCL_SUCCESS;
}

/// The same on all members, and another one when they make the communicator once more.
u64 KeyOf(const std::string& name, const Division& division, u64 generation) {
  u64 hash = 0xCBF29CE484222325ULL;
  const auto mix = [&](u64 number) { hash = (hash ^ number) * 0x100000001B3ULL; };
  for (const char letter : name)
    mix(static_cast<unsigned char>(letter));
  for (const uint32_t rank : division.ranks)
    mix(rank);
  mix(division.id);
  mix(generation);
  return hash | 1;
}

HcclResult Divide(const char* function, Communicator& parent, const Division& division,
                  const CommOptions& options, HcclComm* made) {
  if (const HcclResult checked = CheckRanks(function, division, parent); checked != HCCL_SUCCESS)
    return checked;
  const auto members = parent.membership();
  if (members == nullptr) return Fail(function, HCCL_E_PARA, "EI0003: comm was destroyed");
  Communicator::Facts facts{
      .name = options.name.empty() ? Text(parent.facts().name, "_sub_", division.id) : options.name,
      .rank = division.own,
      .size = static_cast<u32>(division.ranks.size()),
      .device = parent.facts().device,
      .options = options,
      .is_sub = true,
      .members = {division.ranks.begin(), division.ranks.end()}};
  NameReservation name(facts.name, facts.device, facts.rank);
  if (!name.is_held()) {
    return Fail(function, HCCL_E_PARA,
                Text("EI0003: device ", facts.device, " has a communicator '", facts.name, "' already"));
  }
  const u64 generation = parent.NextGeneration(KeyOf(facts.name, division, 0));
  facts.region_key = KeyOf(facts.name, division, generation);
  auto region = members->board()->SubRegion(facts.region_key, facts.size);
  if (!region.ok()) return Fail(function, HCCL_E_UNAVAIL, region.error().message);
  *made = TheRegistry().Add(std::make_shared<Communicator>(std::move(facts), members, *region));
  name.Keep();
  return HCCL_SUCCESS;
}

}  // namespace

HcclResult HcclCreateSubCommConfig(HcclComm* comm, uint32_t rankNum, uint32_t* rankIds, uint64_t subCommId,
                                   uint32_t subCommRankId, HcclCommConfig* config, HcclComm* subComm) {
  constexpr const char* kFunction = "HcclCreateSubCommConfig";
  return Guard(kFunction, [&]() -> HcclResult {
    const auto wrong = [&](const std::string& text) {
      return Fail(kFunction, HCCL_E_PARA, "EI0003: " + text);
    };
    if (subComm == nullptr) return Fail(kFunction, HCCL_E_PTR, "EI0003: subComm is NULL");
    if (rankIds == nullptr && subCommId == kNoSubCommunicator) return HCCL_SUCCESS;
    if (rankIds == nullptr) return wrong(Text("rankIds is NULL, and subCommId is ", subCommId));
    if (subCommId == kNoSubCommunicator) return wrong("subCommId is 0xFFFFFFFF, and there are rankIds");
    if (rankNum == 0) return wrong("rankNum is 0");
    if (subCommRankId >= rankNum)
      return wrong(Text("subCommRankId is ", subCommRankId, ", it must be less than rankNum ", rankNum));
    if (comm == nullptr) return Fail(kFunction, HCCL_E_PTR, "EI0003: comm is NULL");
    const auto parent = TheRegistry().Find(*comm);
    if (parent == nullptr)
      return wrong(Text("comm ", sampan::Hex(*comm), " is no communicator, or it was destroyed"));
    if (parent->facts().is_sub)
      return Fail(kFunction, HCCL_E_NOT_SUPPORT, Text(parent->Describe(), " is a sub-communicator itself"));
    CommOptions options = parent->facts().options;
    if (const HcclResult applied = ApplyConfig(kFunction, config, options); applied != HCCL_SUCCESS)
      return applied;
    return Divide(kFunction, *parent, {{rankIds, rankNum}, subCommId, subCommRankId}, options, subComm);
  });
}
