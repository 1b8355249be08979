// Rank tables: which rank is which device of which server.
#include "collectives/comm/rank_table.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <initializer_list>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "base/system/open_to_read.h"
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

const Json& Member(const Json& object, std::string_view place, const char* name) {
  if (!object.is_object() || !object.contains(name)) throw WrongValue(Text(place, " has no ", name));
  return object.at(name);
}

std::string TextMember(const Json& object, std::string_view place, const char* name) {
  const Json& value = Member(object, place, name);
  if (!value.is_string()) throw WrongValue(Text(place, ".", name, " is no string"));
  return value.get<std::string>();
}

/// Numbers are strings in these files.
u32 NumberMember(const Json& object, std::string_view place, const char* name) {
  const std::string text = TextMember(object, place, name);
  u32 number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size())
    throw WrongValue(Text(place, ".", name, " is '", text, "', it must be a number"));
  return number;
}

/// An optional member: a number in this range.
void CheckPort(const Json& object, std::string_view place, const char* name) {
  constexpr u32 kMaxPort = 65535;
  if (!object.contains(name)) return;
  const u32 port = NumberMember(object, place, name);
  if (port < 1 || port > kMaxPort)
    throw WrongValue(Text(place, ".", name, " is ", port, ", it must be 1 to ", kMaxPort));
}

/// An optional member: an address of one of these families.
void CheckAddress(const Json& object, std::string_view place, const char* name,
                  std::initializer_list<int> families) {
  if (!object.contains(name)) return;
  const std::string text = TextMember(object, place, name);
  std::array<unsigned char, sizeof(in6_addr)> address{};
  for (const int family : families) {
    if (::inet_pton(family, text.c_str(), address.data()) == 1) return;
  }
  throw WrongValue(Text(place, ".", name, " is '", text, "', it must be an address"));
}

const Json& ListMember(const Json& object, std::string_view place, const char* name) {
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
    CheckAddress(server, place, "host_ip", {AF_INET});
    std::set<u32> devices;
    const Json& list = ListMember(server, place, "device");
    for (std::size_t i = 0; i < list.size(); ++i) {
      const std::string device_place = Text(place, ".device[", i, "]");
      const u32 device = NumberMember(list[i], device_place, "device_id");
      const u32 rank = NumberMember(list[i], device_place, "rank_id");
      if (!devices.insert(device).second)
        throw WrongValue(Text(device_place, ".device_id is ", device, ", as another one of this server"));
      CheckNetwork(list[i], device_place);
      CheckSuperDevice(list[i], device_place);
      if (!ranks_.emplace(rank, TableRank{index, device}).second)
        throw WrongValue(Text(device_place, ".rank_id is ", rank, ", as another one"));
    }
  }

  /// Every server is in one super pod.
  void ReadSuperPods(const Json& pods) {
    std::set<std::string> pod_ids, members;
    for (std::size_t i = 0; i < pods.size(); ++i) {
      const std::string place = Text("super_pod_list[", i, "]");
      const std::string pod = TextMember(pods[i], place, "super_pod_id");
      if (!pod_ids.insert(pod).second)
        throw WrongValue(Text(place, ".super_pod_id is '", pod, "', as another one"));
      const Json& servers = ListMember(pods[i], place, "server_list");
      for (std::size_t k = 0; k < servers.size(); ++k) {
        const std::string server_place = Text(place, ".server_list[", k, "]");
        const std::string server = TextMember(servers[k], server_place, "server_id");
        if (server_ids_.count(server) == 0 || !members.insert(server).second)
          throw WrongValue(
              Text(server_place, ".server_id is '", server, "', it must be a server, in one super pod"));
      }
    }
    if (members.size() != server_ids_.size()) throw WrongValue("super_pod_list does not have all servers");
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
  void CheckNetwork(const Json& device, std::string_view place) {
    for (const char* port : {"device_port", "host_port", "backup_device_port", "device_vnic_port"})
      CheckPort(device, place, port);
    for (const char* address : {"device_ip", "backup_device_ip"})
      CheckAddress(device, place, address, {AF_INET, AF_INET6});
    if (!device.contains("device_ip")) return;
    const std::string address = TextMember(device, place, "device_ip");
    if (!addresses_.insert(address).second)
      throw WrongValue(Text(place, ".device_ip is '", address, "', as another one"));
  }
  void CheckSuperDevice(const Json& device, std::string_view place) {
    if (!device.contains("super_device_id")) return;
    const std::string id = TextMember(device, place, "super_device_id");
    if (!super_devices_.insert(id).second)
      throw WrongValue(Text(place, ".super_device_id is '", id, "', as another one"));
  }

  std::set<std::string> server_ids_, super_devices_, addresses_;
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
  const char* const address = servers[0].contains("host_ip") ? "host_ip" : "server_id";
  table.address = TextMember(servers[0], "server_list[0]", address);
  if (table.version == "1.2" && json.contains("super_pod_list"))
    reader.ReadSuperPods(ListMember(json, "the table", "super_pod_list"));
  table.ranks = reader.Take();
  return table;
}

Result<std::string> ReadText(const std::string& path) {
  auto file = OpenToRead(path);
  if (!file.ok()) return file.TakeStatus();
  struct stat facts {};
  const auto fail = [&](const std::string& why) {
    return Error{Code::kInvalidFile, Text(path, ": cannot be read: ", why)};
  };
  if (::fstat(file->get(), &facts) != 0 || !S_ISREG(facts.st_mode)) return fail("it is no regular file");
  if (facts.st_size <= 0 || static_cast<std::size_t>(facts.st_size) > kMaxFileBytes)
    return fail(Text("it has ", facts.st_size, " bytes, the limit is ", kMaxFileBytes));
  std::string text(static_cast<std::size_t>(facts.st_size), '\0');
  std::size_t done = 0;
  for (ssize_t bytes = 1; bytes > 0 && done < text.size(); done += static_cast<std::size_t>(bytes)) {
    bytes = ::read(file->get(), text.data() + done, text.size() - done);
    if (bytes < 0) return fail(SystemError(errno));
  }
  text.resize(done);
  return text;
}

}  // namespace

HcclResult ReadRankTable(const char* function, const char* path, RankTable& table) {
  const std::string_view shown(path, ::strnlen(path, kMaxPathBytes));
  if (shown.size() >= kMaxPathBytes)
    return Fail(function, HCCL_E_PARA, Text("EI0004: the path has more than ", kMaxPathBytes - 1, " bytes"));
  auto text = ReadText(path);
  if (!text.ok()) return Fail(function, HCCL_E_PARA, Text("EI0004: the rank table ", text.error().message));
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
