// The command line, with CLI11.
#include "options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <map>

#include "bench/measure/sizes.h"
#include "bench/ranks/open_mpi.h"
#include "bench/ranks/plain_traffic.h"

namespace hccl_bench {
namespace {

constexpr u64 kMaxBytes = 16 * bench::kGiB, kMaxMpiBytes = bench::kGiB;
constexpr std::size_t kMaxSizes = 1000;

/// The options as given, before they are checked against each other.
struct Words {
  std::string name;
  std::string min_size = "8K", max_size = "64M", step;
  double factor = 2;
  std::string type = "fp32", operation = "sum", form = "threads";
  u32 ranks = 0, root = 0, timeout = 60;
  int check = 1;
  bool with_memcpy = false, with_mpi = false;
};

const std::map<std::string, HcclDataType>& Types() {
  static const std::map<std::string, HcclDataType> types = {
      {"int8", HCCL_DATA_TYPE_INT8},     {"int16", HCCL_DATA_TYPE_INT16},   {"int32", HCCL_DATA_TYPE_INT32},
      {"fp16", HCCL_DATA_TYPE_FP16},     {"fp32", HCCL_DATA_TYPE_FP32},     {"bfp16", HCCL_DATA_TYPE_BFP16},
      {"int64", HCCL_DATA_TYPE_INT64},   {"uint64", HCCL_DATA_TYPE_UINT64}, {"uint8", HCCL_DATA_TYPE_UINT8},
      {"uint16", HCCL_DATA_TYPE_UINT16}, {"uint32", HCCL_DATA_TYPE_UINT32}, {"fp64", HCCL_DATA_TYPE_FP64}};
  return types;
}
const std::map<std::string, HcclReduceOp>& Operations() {
  static const std::map<std::string, HcclReduceOp> operations = {{"sum", HCCL_REDUCE_SUM},
                                                                 {"prod", HCCL_REDUCE_PROD},
                                                                 {"max", HCCL_REDUCE_MAX},
                                                                 {"min", HCCL_REDUCE_MIN}};
  return operations;
}

std::map<std::string, bench::Operator> Operators() {
  std::map<std::string, bench::Operator> names;
  for (const bench::Operator each : bench::AllOperators())
    names[bench::NameOf(each)] = each;
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

void Understand(const Words& words, u32 mpirun_ranks, Options& options) {
  options.what = {.what = Operators().at(words.name),
                  .type = Types().at(words.type),
                  .operation = Operations().at(words.operation),
                  .root = words.root};
  options.under_mpirun = mpirun_ranks != 0;
  const u32 ranks = words.ranks != 0 ? words.ranks : options.under_mpirun ? mpirun_ranks : 2;
  options.launch = {ranks,
                    words.form == "threads" ? collectives::Form::kThreads : collectives::Form::kProcesses,
                    static_cast<s32>(words.timeout)};
  options.check = words.check != 0;
  options.sizes = SizesOf(words);
  options.other = words.with_mpi ? Other::kMpi : words.with_memcpy ? Other::kMemcpy : Other::kNothing;
  if (options.under_mpirun && ranks != mpirun_ranks)
    Refuse("-p: mpirun started " + std::to_string(mpirun_ranks) + " ranks, not " + std::to_string(ranks));
  if (words.root >= ranks)
    Refuse("-r: root " + std::to_string(words.root) + " is not one of " + std::to_string(ranks) +
           " ranks (-p)");
  if (!options.address.empty() && !options.under_mpirun)
    Refuse("--address: without mpirun all ranks run on this host");
  if (options.other == Other::kMemcpy && options.under_mpirun)
    Refuse("--memcpy: ranks of mpirun share no memory; without mpirun they do");
  if (options.other == Other::kMemcpy && !bench::HasPlainTraffic(options.what))
    Refuse("--memcpy: only fp32 sums and operators that copy can be measured so");
  if (options.other == Other::kMpi && !bench::OpenMpi::Has(options.what.type))
    Refuse("--mpi: Open MPI has no " + words.type);
  if (options.other == Other::kMpi && options.sizes.back() > kMaxMpiBytes)
    Refuse("--mpi: Open MPI counts up to 2147483647 elements; -e must be at most 1G");
}

}  // namespace

bool ParseOptions(int argc, char** argv, u32 mpirun_ranks, Options& options, int& status) {
  Words words;
  CLI::App app(
      "Measures operators of HCCL on ranks of this machine: how long each takes, and whether its result is "
      "right.\nUnder mpirun, each of its processes is a rank, on several hosts with --address.");
  app.footer(
      "Sizes may end with K, M or G. data_size is the larger one of a rank's input and output, alg_bandwidth "
      "that\n"
      "divided by the time. check_result is success, failed, or NULL without a check. Each rank's device has "
      "as many\n"
      "engines as there are cores for each rank, unless SAMPAN_ENGINES says otherwise.\n"
      "Exit status: 0 when everything ran and was right, 1 when not, 2 for a mistake in the command line.");
  app.add_option("operator", words.name, "What to run")->required()->check(CLI::IsMember(Names(Operators())));
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
  app.add_option("-r,--root", words.root, "Root of broadcast, reduce and scatter")->capture_default_str();
  app.add_option("-n,--iters", options.iterations, "Runs that are measured")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  app.add_option("-w,--warmup_iters", options.warm_up, "Runs before that")
      ->check(CLI::Range(0, 1'000'000))
      ->capture_default_str();
  app.add_option("-c,--check", words.check, "1: compare a result of each size, 0: do not")
      ->check(CLI::Range(0, 1))
      ->capture_default_str();
  app.add_option("-p,--ranks", words.ranks, "Number of ranks; 2, or as many as mpirun started")
      ->check(CLI::Range(1, 64));
  app.add_option("--form", words.form, "What the ranks are")
      ->check(CLI::IsMember({"threads", "processes"}))
      ->capture_default_str();
  app.add_option("--timeout", words.timeout, "Seconds that a rank waits for another one")
      ->check(CLI::Range(1, 86400))
      ->capture_default_str();
  auto* address =
      app.add_option("--address", options.address,
                     "Address of the host of rank 0, such as 10.0.0.1 or 10.0.0.1:60000: mpirun starts "
                     "ranks on several hosts");
  auto* token_file =
      app.add_option("--token-file", options.token_file,
                     "File with at least 16 characters, the same on all hosts, that only the user "
                     "can read");
  address->needs(token_file);
  token_file->needs(address);
  auto* with_memcpy =
      app.add_flag("--memcpy", words.with_memcpy,
                   "Measure the same traffic as plain memcpy between shared mappings too, in turn");
  app.add_flag("--mpi", words.with_mpi,
               "Measure the same operator of Open MPI on ordinary memory too, in turn, if it is installed")
      ->excludes(with_memcpy);
  try {
    app.parse(argc, argv);
    Understand(words, mpirun_ranks, options);
    return true;
  } catch (const CLI::CallForHelp& help) {
    status = app.exit(help);
  } catch (const CLI::ParseError& mistake) {
    std::cerr << "hccl_bench: " << mistake.what() << ". 'hccl_bench --help' shows how it is used.\n";
    status = kBadUsage;
  }
  return false;
}

bench::OperatorCase CaseOf(const Options& options, u64 size) {
  return bench::SizedCase(options.what, size, options.launch.size);
}

}  // namespace hccl_bench
