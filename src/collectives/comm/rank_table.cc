// Rank tables: which rank is which device of which server.
#include "collectives/comm/rank_table.h"

#include <charconv>
#include <cstring>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <stdexcept>
#include <utility>

#include "hccl/report.h"

namespace sampan::collectives {

using hccl::Fail;

namespace {

using Json = nlohmann::json;

constexpr std::size_t kMaxPathBytes = 4096;
constexpr std::size_t kMaxFileBytes = std::size_t{16} << 20;
constexpr std::size_t kMaxIdBytes = 64;

/// A wrong value of the table. what() names it.
class WrongValue : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

const Json& Member(const Json& object, const std::string& place, const char* name) {
  if (!object.is_object() || !object.contains(name)) throw WrongValue(Text(place, " has no ", name));
  return object.at(name);
}

std::string TextMember(const Json& object, const std::string& place, const char* name) {
  const Json& value = Member(object, place, name);
  if (!value.is_string()) throw WrongValue(Text(place, ".", name, " is no string"));
  return value.get<std::string>();
}

/// Numbers are strings in these files.
u32 NumberMember(const Json& object, const std::string& place, const char* name) {
  const std::string text = TextMember(object, place, name);
  u32 number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size())
    throw WrongValue(Text(place, ".", name, " is '", text, "', it must be a number"));
  return number;
}

const Json& ListMember(const Json& object, const std::string& place, const char* name) {
  const Json& value = Member(object, place, name);
  if (!value.is_array() || value.empty()) throw WrongValue(Text(place, ".", name, " is no list, or empty"));
  return value;
}

/// The ranks of all servers, by rank_id.
class RankReader {
 public:
  void ReadServer(const Json& server, u32 index) {
    const std::string place = Text("server_list[", index, "]");
    const std::string id = TextMember(server, place, "server_id");
    if (id.empty() || id.size() > kMaxIdBytes || !server_ids_.insert(id).second)
      throw WrongValue(
          Text(place, ".server_id is '", id, "', it must be unique, of 1 to ", kMaxIdBytes, " characters"));
    std::set<u32> devices;
    const Json& list = ListMember(server, place, "device");
    for (std::size_t i = 0; i < list.size(); ++i) {
      const std::string device_place = Text(place, ".device[", i, "]");
      const u32 device = NumberMember(list[i], device_place, "device_id");
      const u32 rank = NumberMember(list[i], device_place, "rank_id");
      if (!devices.insert(device).second)
        throw WrongValue(Text(device_place, ".device_id is ", device, ", as another one of this server"));
      CheckSuperDevice(list[i], device_place);
      if (!ranks_.emplace(rank, TableRank{index, device}).second)
        throw WrongValue(Text(device_place, ".rank_id is ", rank, ", as another one"));
    }
  }

  std::vector<TableRank> Take() {
    std::vector<TableRank> ranks;
    for (const auto& [rank, place] : ranks_) {
      if (rank != ranks.size()) throw WrongValue(Text("rank_id ", ranks.size(), " is missing"));
      if (!ranks.empty() && place.server < ranks.back().server)
        throw WrongValue(Text("the ranks of servers are mixed at rank_id ", rank));
      ranks.push_back(place);
    }
    return ranks;
  }

 private:
  void CheckSuperDevice(const Json& device, const std::string& place) {
    if (!device.contains("super_device_id")) return;
    const std::string id = TextMember(device, place, "super_device_id");
    if (!super_devices_.insert(id).second)
      throw WrongValue(Text(place, ".super_device_id is '", id, "', as another one"));
  }

  std::set<std::string> server_ids_, super_devices_;
  std::map<u32, TableRank> ranks_;
};

RankTable Parse(const Json& json) {
  RankTable table;
  table.version = TextMember(json, "the table", "version");
  if (table.version != "1.0" && table.version != "1.2")
    throw WrongValue(Text("version is '", table.version, "', it must be 1.0 or 1.2"));
  if (const std::string status = TextMember(json, "the table", "status"); status != "completed")
    throw WrongValue(Text("status is '", status, "', it must be 'completed'"));
  const Json& servers = ListMember(json, "the table", "server_list");
  table.servers = static_cast<u32>(servers.size());
  if (table.version == "1.0" || json.contains("server_count")) {
    const u32 count = NumberMember(json, "the table", "server_count");
    if (count != table.servers)
      throw WrongValue(Text("server_count is ", count, ", server_list has ", table.servers));
  }
  RankReader reader;
  for (u32 index = 0; index < table.servers; ++index)
    reader.ReadServer(servers[index], index);
  table.ranks = reader.Take();
  return table;
}

std::optional<std::string> ReadText(const char* path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::string text(kMaxFileBytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.empty() || text.size() > kMaxFileBytes) return std::nullopt;
  return text;
}

}  // namespace

HcclResult ReadRankTable(const char* function, const char* path, RankTable& table) {
  const std::string_view shown(path, ::strnlen(path, kMaxPathBytes));
  if (shown.size() >= kMaxPathBytes)
    return Fail(function, HCCL_E_PARA, Text("EI0004: the path has more than ", kMaxPathBytes - 1, " bytes"));
  const auto text = ReadText(path);
  if (!text) return Fail(function, HCCL_E_PARA, Text("EI0004: the rank table '", shown, "' cannot be read"));
  const Json json = Json::parse(*text, nullptr, false);
  if (json.is_discarded())
    return Fail(function, HCCL_E_PARA, Text("EI0004: the rank table '", shown, "' is no JSON"));
  try {
    table = Parse(json);
  } catch (const WrongValue& wrong) {
    return Fail(function, HCCL_E_PARA,
                Text("EI0014: the rank table '", shown, "': ", std::string_view(wrong.what())));
  }
  table.digest = 0xCBF29CE484222325ULL;
  for (const char letter : *text)
    table.digest = (table.digest ^ static_cast<unsigned char>(letter)) * 0x100000001B3ULL;
  return HCCL_SUCCESS;
}

}  // namespace sampan::collectives
