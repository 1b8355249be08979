// The file that aclInit reads.
#include "acl/init_config.h"

#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string_view>
#include <system_error>
#include <vector>

#include "acl/guard.h"

namespace sampan::acl {
namespace {

/// Picks the needed values while the file is parsed. Builds no tree, because destroying a tree may need
/// memory.
class ConfigReader {
 public:
  using number_integer_t = nlohmann::json::number_integer_t;
  using number_unsigned_t = nlohmann::json::number_unsigned_t;
  using number_float_t = nlohmann::json::number_float_t;
  using string_t = nlohmann::json::string_t;
  using binary_t = nlohmann::json::binary_t;

  bool null() { return Value("null"); }
  bool boolean(bool value) { return Value(value ? "true" : "false"); }
  bool number_integer(number_integer_t value) { return Value(Text(value)); }
  bool number_unsigned(number_unsigned_t value) { return Value(Text(value)); }
  bool number_float(number_float_t, const string_t& text) { return Value(text); }
  bool binary(binary_t&) { return Value("binary"); }
  bool string(string_t& value) {
    if (path_.empty()) return false;
    if (AtErrorMode()) {
      if (value != "0" && value != "1") return Refuse("err_msg_mode", value);
    } else if (AtDefaultDevice()) {
      return DeviceId(value);
    }
    return true;
  }
  bool start_object(std::size_t) { return (path_.empty() || Value("an object")) && Open(objects_); }
  bool end_object() { return Close(objects_); }
  bool start_array(std::size_t) { return Value("an array") && Open(arrays_); }
  bool end_array() { return Close(arrays_); }
  bool key(string_t& name) {
    path_.back() = name;
    sets_dump_ = sets_dump_ || (path_.size() == 2 && path_[0] == "dump");
    return true;
  }
  bool parse_error(std::size_t, const string_t&, const nlohmann::json::exception&) { return false; }

  const Status& refused() const { return refused_; }
  Status TakeRefused() { return std::move(refused_); }
  const std::optional<std::int32_t>& default_device() const { return default_device_; }
  bool sets_dump() const { return sets_dump_; }

 private:
  bool AtErrorMode() const { return path_.size() == 1 && path_[0] == "err_msg_mode"; }
  bool AtDefaultDevice() const {
    return path_.size() == 2 && path_[0] == "defaultDevice" && path_[1] == "default_device";
  }
  /// A value that is not a string.
  bool Value(std::string_view text) {
    if (path_.empty()) return false;  // the file must be an object
    if (AtErrorMode()) return Refuse("err_msg_mode", text);
    if (AtDefaultDevice()) return Refuse("defaultDevice.default_device", text);
    return true;
  }
  bool Refuse(std::string_view name, std::string_view value) {
    refused_ = InvalidArgument(Text(name, " is ", value, ": it must be ",
                                    name == "err_msg_mode" ? "\"0\" or \"1\"" : "a device id in quotes"));
    return false;
  }
  bool DeviceId(std::string_view text) {
    std::int32_t device = -1;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), device);
    if (error != std::errc() || end != text.data() + text.size() || device < 0) {
      return Refuse("defaultDevice.default_device", text);
    }
    default_device_ = device;
    return true;
  }
  /// Objects and arrays have separate counts.
  bool Open(int& levels) {
    path_.emplace_back();
    return ++levels <= kMaxNesting;
  }
  bool Close(int& levels) {
    path_.pop_back();
    --levels;
    return true;
  }

  std::vector<std::string> path_;  // the key at each level; empty inside arrays
  int objects_ = 0;
  int arrays_ = 0;
  std::optional<std::int32_t> default_device_;
  bool sets_dump_ = false;
  Status refused_;
};

}  // namespace

Result<std::string> ReadConfigText(const char* path) {
  // Check the type before opening: opening a FIFO blocks until it has a writer.
  std::error_code unknown;
  std::ifstream file;
  if (std::filesystem::is_regular_file(path, unknown)) file.open(path);
  if (!file.is_open()) {
    return Error{Code::kInvalidFile, Text("the file '", std::string_view(path), "' cannot be read")};
  }
  return std::string(std::istreambuf_iterator<char>(file), {});
}

Result<InitConfig> ReadInitConfig(const char* path) {
  InitConfig config;
  if (path == nullptr || *path == '\0') return config;
  auto text = ReadConfigText(path);
  if (!text.ok()) return text.TakeStatus();
  config.text = std::move(*text);
  ConfigReader reader;
  if (!nlohmann::json::sax_parse(config.text, &reader)) {
    if (!reader.refused().ok()) return reader.TakeRefused();
    return Error{Code::kParseFile, Text("the file '", std::string_view(path),
                                        "' is no JSON object of at most ", kMaxNesting, " levels")};
  }
  config.default_device = reader.default_device();
  config.sets_dump = reader.sets_dump();
  return config;
}

}  // namespace sampan::acl
