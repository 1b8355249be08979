// The command line, with CLI11.
#include "options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <map>

#include "bench/measure/sizes.h"
#include "bench/ranks/ranks_together.h"

namespace hccl_bench {
namespace {

constexpr u64 kMaxBytes = 16 * bench::kGiB;
constexpr std::size_t kMaxSizes = 1000;

/// The options as given, before they are checked against each other.
struct Words {
  std::string collective;
  std::string min_size = "8K", max_size = "64M", step;
  double factor = 2;
  std::string type = "fp32", operation = "sum", form = "threads";
  u32 ranks = 2, root = 0, timeout = 60;
  int check = 1;
};

const std::map<std::string, HcclDataType>& Types() {
  static const std::map<std::string, HcclDataType> types = {
      {"int8", HCCL_DATA_TYPE_INT8},     {"int16", HCCL_DATA_TYPE_INT16},   {"int32", HCCL_DATA_TYPE_INT32},
      {"fp16", HCCL_DATA_TYPE_FP16},     {"fp32", HCCL_DATA_TYPE_FP32},     {"bfp16", HCCL_DATA_TYPE_BFP16},
      {"int64", HCCL_DATA_TYPE_INT64},   {"uint64", HCCL_DATA_TYPE_UINT64}, {"uint8", HCCL_DATA_TYPE_UINT8},
      {"uint16", HCCL_DATA_TYPE_UINT16}, {"uint32", HCCL_DATA_TYPE_UINT32}, {"fp64", HCCL_DATA_TYPE_FP64}};
  return types;
}
bool CanBeReduced(HcclDataType type) {
  return type == HCCL_DATA_TYPE_INT8 || type == HCCL_DATA_TYPE_INT16 || type == HCCL_DATA_TYPE_INT32 ||
         type == HCCL_DATA_TYPE_FP16 || type == HCCL_DATA_TYPE_FP32 || type == HCCL_DATA_TYPE_BFP16;
}

const std::map<std::string, HcclReduceOp>& Operations() {
  static const std::map<std::string, HcclReduceOp> operations = {
      {"sum", HCCL_REDUCE_SUM}, {"max", HCCL_REDUCE_MAX}, {"min", HCCL_REDUCE_MIN}};
  return operations;
}

std::map<std::string, Collective> Collectives() {
  std::map<std::string, Collective> names;
  for (const Collective collective : collectives::AllCollectives())
    names[collectives::NameOf(collective)] = collective;
  return names;
}

template <typename T>
std::vector<std::string> Names(const std::map<std::string, T>& values) {
  std::vector<std::string> names;
  for (const auto& [name, value] : values)
    names.push_back(name);
  return names;
}

[[noreturn]] void Refuse(const std::string& why) {
  throw CLI::ValidationError(why);
}

/// Such as 512, 8K, 64M or 1G.
u64 ParseSize(const std::string& option, const std::string& text) {
  const auto bytes = bench::ParseBytes(text, kMaxBytes);
  if (!bytes) Refuse(option + ": '" + text + "' is not a size from 1 to 16G, such as 512, 8K or 64M");
  return *bytes;
}

std::vector<u64> SizesOf(const Words& words) {
  const u64 min_size = ParseSize("-b", words.min_size);
  const u64 max_size = ParseSize("-e", words.max_size);
  const u64 step = words.step.empty() ? 0 : ParseSize("-i", words.step);
  if (min_size > max_size)
    Refuse("-b: " + words.min_size + " is more than the last size, " + words.max_size + " (-e)");
  if (step == 0 && !(words.factor > 1)) Refuse("-f: the factor must be more than 1");
  std::vector<u64> sizes;
  for (u64 size = min_size; size <= max_size;) {
    if (sizes.size() == kMaxSizes) Refuse("that is more than 1000 sizes; a larger -f or -i makes fewer");
    sizes.push_back(size);
    size = step != 0 ? size + step
                     : std::max(size + 1, static_cast<u64>(static_cast<double>(size) * words.factor));
  }
  return sizes;
}

/// True if the collective copies only whole contiguous parts, so that plain memcpy can do the same.
bool OnlyMoves(Collective collective) {
  return !collectives::Reduces(collective) && collective != Collective::kAllToAllV;
}

void Understand(const Words& words, Options& options) {
  options.collective = Collectives().at(words.collective);
  options.reduction = {Types().at(words.type), Operations().at(words.operation)};
  options.launch = {words.ranks,
                    words.form == "threads" ? collectives::Form::kThreads : collectives::Form::kProcesses,
                    static_cast<s32>(words.timeout)};
  options.root = words.root;
  options.check = words.check != 0;
  options.sizes = SizesOf(words);
  if (words.root >= words.ranks)
    Refuse("-r: root " + std::to_string(words.root) + " is not one of " + std::to_string(words.ranks) +
           " ranks (-p)");
  if (collectives::Reduces(options.collective) && !CanBeReduced(options.reduction.type))
    Refuse("-d: " + words.type + " cannot be reduced: int8, int16, int32, fp16, fp32 and bfp16 can");
  if (options.compare_with_memcpy && !OnlyMoves(options.collective))
    Refuse("--memcpy: " + words.collective + " does more than copy");
}

}  // namespace

bool ParseOptions(int argc, char** argv, Options& options, int& status) {
  Words words;
  CLI::App app(
      "Measures collectives of ranks on this machine: how long each takes, and whether its result is right.");
  app.footer(
      "Sizes may end with K, M or G. data_size is the larger one of a rank's input and output, alg_bandwidth "
      "that\n"
      "divided by the time. check_result is success, failed, or NULL without a check. Each rank's device has "
      "as many\n"
      "engines as there are cores for each rank, unless SAMPAN_ENGINES says otherwise.\n"
      "Exit status: 0 when everything ran and was right, 1 when not, 2 for a mistake in the command line.");
  app.add_option("collective", words.collective, "What to run")
      ->required()
      ->check(CLI::IsMember(Names(Collectives())));
  app.add_option("-b,--minbytes", words.min_size, "First size")->capture_default_str();
  app.add_option("-e,--maxbytes", words.max_size, "Last size")->capture_default_str();
  auto* factor =
      app.add_option("-f,--stepfactor", words.factor, "Factor from size to size")->capture_default_str();
  app.add_option("-i,--stepbytes", words.step, "Distance from size to size, instead of a factor")
      ->excludes(factor);
  app.add_option("-d,--datatype", words.type, "Type of the elements")
      ->check(CLI::IsMember(Names(Types())))
      ->capture_default_str();
  app.add_option("-o,--op", words.operation, "Operation of reductions")
      ->check(CLI::IsMember(Names(Operations())))
      ->capture_default_str();
  app.add_option("-r,--root", words.root, "Root of broadcast and scatter")->capture_default_str();
  app.add_option("-n,--iters", options.iterations, "Runs that are measured")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  app.add_option("-w,--warmup_iters", options.warm_up, "Runs before that")
      ->check(CLI::Range(0, 1'000'000))
      ->capture_default_str();
  app.add_option("-c,--check", words.check, "1: compare a result of each size, 0: do not")
      ->check(CLI::Range(0, 1))
      ->capture_default_str();
  app.add_option("-p,--ranks", words.ranks, "Number of ranks")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  app.add_option("--form", words.form, "What the ranks are")
      ->check(CLI::IsMember({"threads", "processes"}))
      ->capture_default_str();
  app.add_option("--timeout", words.timeout, "Seconds that a rank waits for another one")
      ->check(CLI::Range(1, 86400))
      ->capture_default_str();
  app.add_flag("--memcpy", options.compare_with_memcpy,
               "Measure the same traffic as plain memcpy between shared mappings too, in turn");
  try {
    app.parse(argc, argv);
    Understand(words, options);
    return true;
  } catch (const CLI::CallForHelp& help) {
    status = app.exit(help);
  } catch (const CLI::ParseError& mistake) {
    std::cerr << "hccl_bench: " << mistake.what() << ". 'hccl_bench --help' shows how it is used.\n";
    status = kBadUsage;
  }
  return false;
}

collectives::Case CaseOf(const Options& options, u64 size) {
  collectives::Case what{options.collective, 1, options.reduction, options.root};
  return bench::SizedCase(what, size, options.launch.size);
}

}  // namespace hccl_bench
