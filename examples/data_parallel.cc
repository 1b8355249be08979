// Workers of a training run, a process each: HCCL sums their gradients, and one of them shares its
// parameters.
#include <hccl/hccl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <vector>

#include "check.h"

#define CHECK_HCCL(call)                                                                                \
  do {                                                                                                  \
    const HcclResult code_ = (call);                                                                    \
    if (code_ != HCCL_SUCCESS) {                                                                        \
      const char* text_ = aclGetRecentErrMsg();                                                         \
      std::fprintf(stderr, "%s:%d: %s: %s\n%s\n", __FILE__, __LINE__, #call, HcclGetErrorString(code_), \
                   text_ != nullptr ? text_ : "(no message)");                                          \
      std::exit(1);                                                                                     \
    }                                                                                                   \
  } while (false)

namespace {

constexpr uint32_t kWorkers = 4;
constexpr int kSteps = 20;
constexpr std::size_t kValues = 100'003;  // not divisible by the number of workers
constexpr std::size_t kBytes = kValues * sizeof(std::int32_t);

/// The gradients of a worker in a step: all know them, so that each can tell what the sum must be.
std::vector<std::int32_t> Gradients(std::uint64_t seed, uint32_t worker, int step) {
  std::mt19937_64 random(seed + worker * 1000 + static_cast<std::uint64_t>(step));
  std::vector<std::int32_t> values(kValues);
  for (std::int32_t& value : values)
    value = static_cast<std::int32_t>(random() % 1000);
  return values;
}

/// One worker. Worker 0 writes the root info into the pipes of the others; they read theirs.
void Work(std::uint64_t seed, uint32_t worker, const std::vector<int>& pipes) {
  CHECK_ACL(aclrtSetDevice(static_cast<std::int32_t>(worker)));
  HcclRootInfo root;
  if (worker == 0) {
    CHECK_HCCL(HcclGetRootInfo(&root));
    for (const int pipe : pipes)
      CHECK_TRUE(::write(pipe, &root, sizeof root) == static_cast<ssize_t>(sizeof root));
  } else {
    CHECK_TRUE(::read(pipes[worker - 1], &root, sizeof root) == static_cast<ssize_t>(sizeof root));
  }
  HcclComm comm = nullptr;
  CHECK_HCCL(HcclCommInitRootInfo(kWorkers, &root, worker, &comm));
  aclrtStream stream = nullptr;
  CHECK_ACL(aclrtCreateStream(&stream));
  void* gradients = example::DeviceMemory(kBytes);
  void* parameters = example::DeviceMemory(kBytes);

  // All begin with the parameters of worker 0.
  const auto begin = Gradients(seed, 0, -1);
  if (worker == 0)
    CHECK_ACL(aclrtMemcpy(parameters, kBytes, begin.data(), kBytes, ACL_MEMCPY_HOST_TO_DEVICE));
  CHECK_HCCL(HcclBroadcast(parameters, kValues, HCCL_DATA_TYPE_INT32, 0, comm, stream));

  std::vector<std::int32_t> result(kValues), expected(kValues);
  for (int step = 0; step < kSteps; ++step) {
    const auto own = Gradients(seed, worker, step);
    CHECK_ACL(aclrtMemcpyAsync(gradients, kBytes, own.data(), kBytes, ACL_MEMCPY_HOST_TO_DEVICE, stream));
    // In place, in stream order: behind the copy to the device, before the copy back.
    CHECK_HCCL(
        HcclAllReduce(gradients, gradients, kValues, HCCL_DATA_TYPE_INT32, HCCL_REDUCE_SUM, comm, stream));
    CHECK_ACL(aclrtMemcpyAsync(result.data(), kBytes, gradients, kBytes, ACL_MEMCPY_DEVICE_TO_HOST, stream));
    CHECK_ACL(aclrtSynchronizeStream(stream));
    std::fill(expected.begin(), expected.end(), 0);
    for (uint32_t each = 0; each < kWorkers; ++each) {
      const auto part = Gradients(seed, each, step);
      for (std::size_t i = 0; i < kValues; ++i)
        expected[i] += part[i];
    }
    example::ExpectSameBytes(result.data(), expected.data(), kBytes, "the sum of the gradients");
  }
  CHECK_ACL(aclrtMemcpy(result.data(), kBytes, parameters, kBytes, ACL_MEMCPY_DEVICE_TO_HOST));
  example::ExpectSameBytes(result.data(), begin.data(), kBytes, "the parameters of worker 0");
  CHECK_HCCL(HcclCommDestroy(comm));
  CHECK_ACL(aclrtFree(gradients));
  CHECK_ACL(aclrtFree(parameters));
  CHECK_ACL(aclrtDestroyStream(stream));
  CHECK_ACL(aclrtResetDevice(static_cast<std::int32_t>(worker)));
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t seed = example::Seed(argc, argv);
  std::vector<int> readers, writers;
  for (uint32_t worker = 1; worker < kWorkers; ++worker) {
    int ends[2];
    CHECK_TRUE(::pipe(ends) == 0);
    readers.push_back(ends[0]);
    writers.push_back(ends[1]);
  }
  for (uint32_t worker = 1; worker < kWorkers; ++worker) {
    if (::fork() != 0) continue;
    Work(seed, worker, readers);
    std::exit(0);
  }
  Work(seed, 0, writers);
  for (uint32_t worker = 1; worker < kWorkers; ++worker) {
    int status = 0;
    CHECK_TRUE(::wait(&status) > 0 && status == 0);
  }
  example::verified_bytes *= kWorkers;
  return example::Done("gradients of four processes, summed by HcclAllReduce");
}
