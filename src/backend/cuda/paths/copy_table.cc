// The measured limits between the paths of copies: shipped tables, and tables from files.
#include "backend/cuda/paths/copy_table.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <optional>
#include <string>
#include <system_error>

#include "base/error/system_error.h"
#include "base/error/text.h"
#include "base/system/open_to_read.h"

namespace sampan::cuda {
namespace {

constexpr std::size_t kKiB = 1024;
/// A file with tables for all known GPUs has only a few KiB.
constexpr std::size_t kMaxTableBytes = std::size_t{1} << 20;
constexpr std::size_t kMaxBytes = kAny, kMaxBlocks = 1024, kMaxThreads = 64;

template <std::size_t PathLimits::*limit>
std::size_t& Limit(PathLimits& limits) {
  return limits.*limit;
}
template <RowLimits PathLimits::*rows, std::size_t RowLimits::*limit>
std::size_t& Limit(PathLimits& limits) {
  return limits.*rows.*limit;
}

constexpr std::array kFields = {
    LimitField{"linear_d2d_to", 0, kMaxBytes, Limit<&PathLimits::linear_d2d_to>},
    LimitField{"batch_kernel_below", 1, kMaxBytes, Limit<&PathLimits::batch_kernel_below>},
    LimitField{"batch_h2d_kernel_below", 1, kMaxBytes, Limit<&PathLimits::batch_h2d_kernel_below>},
    LimitField{"batch_d2h_kernel_below", 1, kMaxBytes, Limit<&PathLimits::batch_d2h_kernel_below>},
    LimitField{"dense_below", 0, kMaxBytes, Limit<&PathLimits::dense_below>},
    LimitField{"dense_from", 1, kMaxBytes, Limit<&PathLimits::dense_from>},
    LimitField{"batch_h2d_short_from", 1, kMaxBytes, Limit<&PathLimits::batch_h2d_short_from>},
    LimitField{"batch_h2d_from", 1, kMaxBytes, Limit<&PathLimits::batch_h2d_from>},
    LimitField{"batch_d2h_short_from", 1, kMaxBytes, Limit<&PathLimits::batch_d2h_short_from>},
    LimitField{"batch_d2h_from", 1, kMaxBytes, Limit<&PathLimits::batch_d2h_from>},
    LimitField{"batch_parts_from", 2, kMaxBytes, Limit<&PathLimits::batch_parts_from>},
    LimitField{"rows_h2d_vectors_dense_to", 0, kMaxBytes,
               Limit<&PathLimits::rows_h2d, &RowLimits::vectors_dense_to>},
    LimitField{"rows_h2d_vectors_to", 0, kMaxBytes, Limit<&PathLimits::rows_h2d, &RowLimits::vectors_to>},
    LimitField{"rows_h2d_even_to", 0, kMaxBytes, Limit<&PathLimits::rows_h2d, &RowLimits::even_to>},
    LimitField{"rows_h2d_odd_to", 0, kMaxBytes, Limit<&PathLimits::rows_h2d, &RowLimits::odd_to>},
    LimitField{"rows_h2d_odd_dense_to", 0, kMaxBytes, Limit<&PathLimits::rows_h2d, &RowLimits::odd_dense_to>},
    LimitField{"rows_d2h_vectors_dense_to", 0, kMaxBytes,
               Limit<&PathLimits::rows_d2h, &RowLimits::vectors_dense_to>},
    LimitField{"rows_d2h_vectors_to", 0, kMaxBytes, Limit<&PathLimits::rows_d2h, &RowLimits::vectors_to>},
    LimitField{"rows_d2h_even_to", 0, kMaxBytes, Limit<&PathLimits::rows_d2h, &RowLimits::even_to>},
    LimitField{"rows_d2h_odd_to", 0, kMaxBytes, Limit<&PathLimits::rows_d2h, &RowLimits::odd_to>},
    LimitField{"rows_d2h_odd_dense_to", 0, kMaxBytes, Limit<&PathLimits::rows_d2h, &RowLimits::odd_dense_to>},
    LimitField{"rows_d2d_vectors_dense_to", 0, kMaxBytes,
               Limit<&PathLimits::rows_d2d, &RowLimits::vectors_dense_to>},
    LimitField{"rows_d2d_vectors_to", 0, kMaxBytes, Limit<&PathLimits::rows_d2d, &RowLimits::vectors_to>},
    LimitField{"rows_d2d_even_to", 0, kMaxBytes, Limit<&PathLimits::rows_d2d, &RowLimits::even_to>},
    LimitField{"rows_d2d_odd_to", 0, kMaxBytes, Limit<&PathLimits::rows_d2d, &RowLimits::odd_to>},
    LimitField{"rows_d2d_odd_dense_to", 0, kMaxBytes, Limit<&PathLimits::rows_d2d, &RowLimits::odd_dense_to>},
    LimitField{"rows_pitch_to", 0, kMaxBytes, Limit<&PathLimits::rows_pitch_to>},
    LimitField{"link_h2d_blocks", 1, kMaxBlocks, Limit<&PathLimits::link_h2d_blocks>},
    LimitField{"link_d2h_blocks", 1, kMaxBlocks, Limit<&PathLimits::link_d2h_blocks>},
    LimitField{"speed_blocks", 1, kMaxBlocks, Limit<&PathLimits::speed_blocks>},
    LimitField{"gather_blocks", 1, kMaxBlocks, Limit<&PathLimits::gather_blocks>},
    LimitField{"memory_blocks", 1, kMaxBlocks, Limit<&PathLimits::memory_blocks>},
    LimitField{"packing_blocks", 1, kMaxBlocks, Limit<&PathLimits::packing_blocks>},
    LimitField{"bytes_per_block", 1, kMaxBytes, Limit<&PathLimits::bytes_per_block>},
    LimitField{"pageable_h2d_from", 0, kMaxBytes, Limit<&PathLimits::pageable_h2d_from>},
    LimitField{"pageable_d2h_from", 0, kMaxBytes, Limit<&PathLimits::pageable_d2h_from>},
    LimitField{"staging_several_from", 0, kMaxBytes, Limit<&PathLimits::staging_several_from>},
    LimitField{"staging_bytes_per_thread", 1, kMaxBytes, Limit<&PathLimits::staging_bytes_per_thread>},
    LimitField{"staging_threads", 1, kMaxThreads, Limit<&PathLimits::staging_threads>},
};

/// Limits of earlier versions, which old files contain. They have no effect.
constexpr std::array<std::string_view, 3> kFormerLimits = {"batch_halves_from", "batch_long_kernel_below",
                                                           "link_blocks"};

std::string_view Trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r";
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

std::optional<std::size_t> ParseLimit(std::string_view text, const LimitField& field) {
  if (text == "any") return field.max == kAny ? std::optional(kAny) : std::nullopt;
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number >= field.min && number <= field.max ? std::optional(number) : std::nullopt;
}

std::string Accepted(const LimitField& field) {
  if (field.max == kAny) return Text("a number from ", field.min, " on, or any");
  return Text("a number from ", field.min, " to ", field.max);
}

/// Parses a file line by line. Failures name the line.
class TableParser {
 public:
  explicit TableParser(std::string_view file) : file_(file) {}

  Status Take(std::string_view line) {
    ++line_;
    line = Trimmed(line.substr(0, line.find('#')));
    if (line.empty()) return {};
    const std::size_t space = line.find_first_of(" \t");
    const std::string_view name = line.substr(0, space);
    const std::string_view value = space == std::string_view::npos ? "" : Trimmed(line.substr(space));
    if (name == "gpu") return Begin(value);
    const auto field = std::find_if(kFields.begin(), kFields.end(),
                                    [&](const LimitField& each) { return each.name == name; });
    if (std::find(kFormerLimits.begin(), kFormerLimits.end(), name) != kFormerLimits.end()) return {};
    if (field == kFields.end()) return Wrong(Text("'", name, "' is not the name of a limit"));
    if (tables_.empty()) return Wrong(Text(name, " stands before the first 'gpu NAME'"));
    bool& given = given_[static_cast<std::size_t>(field - kFields.begin())];
    if (given) return Wrong(Text(name, " was given before"));
    given = true;
    const auto limit = ParseLimit(value, *field);
    if (!limit) return Wrong(Text(name, " is '", value, "', it must be ", Accepted(*field)));
    field->of(tables_.back()) = *limit;
    return {};
  }

  Result<std::vector<PathLimits>> Finish() {
    if (tables_.empty()) return Wrong("there is no table; one begins with 'gpu NAME'");
    return std::move(tables_);
  }

 private:
  Status Begin(std::string_view gpu) {
    if (gpu.empty()) return Wrong("gpu has no name behind it");
    tables_.push_back(FindTable({}, gpu));
    tables_.back().gpu = gpu;
    given_ = {};
    return {};
  }
  Status Wrong(std::string_view what) const {
    return {Code::kDeviceSetupError, Text(file_, ":", line_, ": ", what)};
  }

  const std::string_view file_;
  std::size_t line_ = 0;
  std::vector<PathLimits> tables_;
  std::array<bool, kFields.size()> given_{};
};

}  // namespace

std::span<const LimitField> limit_fields() {
  return kFields;
}

const std::vector<PathLimits>& ShippedTables() {
  static const std::vector<PathLimits> tables = {
      {.gpu = "H200",
       .linear_d2d_to = 16 * kKiB * kKiB,
       .batch_kernel_below = 384 * kKiB,
       .batch_h2d_kernel_below = 32 * kKiB,
       .batch_d2h_kernel_below = 32 * kKiB,
       .dense_below = 64 * kKiB,
       .dense_from = 8 * kKiB * kKiB,
       .batch_h2d_short_from = 2,
       .batch_h2d_from = 2,
       .batch_d2h_short_from = 2,
       .batch_d2h_from = 2,
       .batch_parts_from = 8,
       .rows_h2d = {.vectors_dense_to = 32, .vectors_to = 32, .even_to = 24, .odd_to = 0, .odd_dense_to = 24},
       .rows_d2h = {.vectors_dense_to = 64, .vectors_to = 16, .even_to = 0, .odd_to = 0, .odd_dense_to = 32},
       .rows_d2d = {.vectors_dense_to = kAny,
                    .vectors_to = kAny,
                    .even_to = kAny,
                    .odd_to = 400,
                    .odd_dense_to = kAny},
       .rows_pitch_to = 64 * kKiB,
       .link_h2d_blocks = 3,
       .link_d2h_blocks = 2,
       .speed_blocks = 16,
       .gather_blocks = 16,
       .memory_blocks = 2,
       .packing_blocks = 8,
       .bytes_per_block = 32 * kKiB},
      {.gpu = "",
       .linear_d2d_to = 0,
       .batch_kernel_below = 64 * kKiB,
       .batch_h2d_kernel_below = 32 * kKiB,
       .batch_d2h_kernel_below = 32 * kKiB,
       .dense_below = 64 * kKiB,
       .dense_from = 8 * kKiB * kKiB,
       .batch_h2d_short_from = 16,
       .batch_h2d_from = 16,
       .batch_d2h_short_from = 16,
       .batch_d2h_from = 16,
       .batch_parts_from = 8,
       .rows_h2d = {.vectors_dense_to = 32, .vectors_to = 32, .even_to = 24, .odd_to = 0, .odd_dense_to = 24},
       .rows_d2h = {.vectors_dense_to = 32, .vectors_to = 16, .even_to = 0, .odd_to = 0, .odd_dense_to = 32},
       .rows_d2d = {.vectors_dense_to = kAny,
                    .vectors_to = kAny,
                    .even_to = kAny,
                    .odd_to = 64,
                    .odd_dense_to = kAny},
       .rows_pitch_to = 64 * kKiB,
       .link_h2d_blocks = 3,
       .link_d2h_blocks = 2,
       .speed_blocks = 16,
       .gather_blocks = 16,
       .memory_blocks = 2,
       .packing_blocks = 8,
       .bytes_per_block = 32 * kKiB},
  };
  return tables;
}

const PathLimits& FindTable(std::span<const PathLimits> tables, std::string_view gpu_name) {
  const auto fits = [&](const PathLimits& table) {
    return gpu_name.find(table.gpu) != std::string_view::npos;
  };
  const auto found = std::find_if(tables.begin(), tables.end(), fits);
  if (found != tables.end()) return *found;
  return *std::find_if(ShippedTables().begin(), ShippedTables().end() - 1, fits);
}

Result<std::vector<PathLimits>> ParseCopyTables(std::string_view text, std::string_view file) {
  TableParser parser(file);
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (Status taken = parser.Take(text.substr(0, end)); !taken.ok()) return taken;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parser.Finish();
}

Result<std::vector<PathLimits>> ReadCopyTables(const std::string& file) {
  const auto opened = OpenToRead(file);
  if (!opened.ok()) return Error{Code::kDeviceSetupError, opened.error().message};
  std::string text;
  std::array<char, 4096> piece;
  ssize_t length = 1;
  while (length > 0 && text.size() <= kMaxTableBytes) {
    length = ::read(opened.value().get(), piece.data(), piece.size());
    if (length > 0) text.append(piece.data(), static_cast<std::size_t>(length));
  }
  if (length < 0) return Error{Code::kDeviceSetupError, Text(file, ": cannot be read: ", SystemError(errno))};
  if (text.size() > kMaxTableBytes) {
    return Error{Code::kDeviceSetupError, Text(file, ": is longer than ", kMaxTableBytes, " bytes")};
  }
  return ParseCopyTables(text, file);
}

}  // namespace sampan::cuda
