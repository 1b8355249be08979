// A producer and a consumer in two processes: blocks go through shared device memory, notifies say when.
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cinttypes>
#include <vector>

#include "check.h"

namespace {

constexpr std::size_t kBlockBytes = std::size_t{1} << 20;
constexpr int kSlots = 4;
constexpr int kBlocks = 200;

/// What the two tell each other through a pipe: keys, and nothing else.
struct Keys {
  char memory[65];
  char filled[kSlots][65];
  char emptied[kSlots][65];
};

void Send(int pipe, const void* data, std::size_t bytes) {
  CHECK_TRUE(::write(pipe, data, bytes) == static_cast<ssize_t>(bytes));
}
void Receive(int pipe, void* data, std::size_t bytes) {
  CHECK_TRUE(::read(pipe, data, bytes) == static_cast<ssize_t>(bytes));
}

/// The bytes of block i: both sides know them, so that the consumer can tell whether they arrived.
void MakeBlock(std::uint64_t seed, int block, void* memory) {
  std::mt19937_64 random(seed + static_cast<std::uint64_t>(block));
  example::FillRandom(memory, kBlockBytes, random);
}

/// Owns the ring of slots; puts blocks in as the consumer empties them.
void Produce(std::uint64_t seed, pid_t consumer, int to_consumer) {
  CHECK_ACL(aclrtSetDevice(0));
  aclrtStream stream = nullptr;
  CHECK_ACL(aclrtCreateStream(&stream));
  void* ring = example::DeviceMemory(kSlots * kBlockBytes);
  void* host = example::PinnedMemory(kSlots * kBlockBytes);
  aclrtNotify filled[kSlots], emptied[kSlots];
  Keys keys = {};
  std::int32_t process = consumer;
  CHECK_ACL(aclrtIpcMemGetExportKey(ring, kSlots * kBlockBytes, keys.memory, sizeof(keys.memory), 0));
  CHECK_ACL(aclrtIpcMemSetImportPid(keys.memory, &process, 1));
  for (int i = 0; i < kSlots; ++i) {
    for (auto& [notify, key] :
         {std::pair{&filled[i], keys.filled[i]}, std::pair{&emptied[i], keys.emptied[i]}}) {
      CHECK_ACL(aclrtCreateNotify(notify, ACL_NOTIFY_DEFAULT));
      CHECK_ACL(aclrtNotifySetImportPid(*notify, &process, 1));
      CHECK_ACL(aclrtNotifyGetExportKey(*notify, key, 65, ACL_RT_NOTIFY_EXPORT_FLAG_DEFAULT));
    }
  }
  Send(to_consumer, &keys, sizeof(keys));
  for (int block = 0; block < kBlocks; ++block) {
    const int slot = block % kSlots;
    if (block >= kSlots) {
      // The staging memory of the slot is free when its last copy is over; the slot itself when it is
      // emptied.
      CHECK_ACL(aclrtWaitAndResetNotify(emptied[slot], stream, 60));
      CHECK_ACL(aclrtSynchronizeStream(stream));
    }
    void* const staged = example::At(host, static_cast<std::size_t>(slot) * kBlockBytes);
    MakeBlock(seed, block, staged);
    CHECK_ACL(aclrtMemcpyAsync(example::At(ring, static_cast<std::size_t>(slot) * kBlockBytes), kBlockBytes,
                               staged, kBlockBytes, ACL_MEMCPY_HOST_TO_DEVICE, stream));
    CHECK_ACL(aclrtRecordNotify(filled[slot], stream));
  }
  CHECK_ACL(aclrtSynchronizeStream(stream));
  // The producer ends here. What the consumer has imported stays until the consumer closes it.
}

std::size_t Consume(std::uint64_t seed, int from_producer) {
  CHECK_ACL(aclrtSetDevice(0));
  aclrtStream stream = nullptr;
  CHECK_ACL(aclrtCreateStream(&stream));
  Keys keys = {};
  Receive(from_producer, &keys, sizeof(keys));
  void* ring = nullptr;
  CHECK_ACL(aclrtIpcMemImportByKey(&ring, keys.memory, 0));
  aclrtNotify filled[kSlots], emptied[kSlots];
  for (int i = 0; i < kSlots; ++i) {
    CHECK_ACL(aclrtNotifyImportByKey(&filled[i], keys.filled[i], 0));
    CHECK_ACL(aclrtNotifyImportByKey(&emptied[i], keys.emptied[i], 0));
  }
  void* host = example::PinnedMemory(kBlockBytes);
  std::vector<unsigned char> expected(kBlockBytes);
  for (int block = 0; block < kBlocks; ++block) {
    const int slot = block % kSlots;
    CHECK_ACL(aclrtWaitAndResetNotify(filled[slot], stream, 60));
    CHECK_ACL(aclrtMemcpyAsync(host, kBlockBytes,
                               example::At(ring, static_cast<std::size_t>(slot) * kBlockBytes), kBlockBytes,
                               ACL_MEMCPY_DEVICE_TO_HOST, stream));
    CHECK_ACL(aclrtRecordNotify(emptied[slot], stream));
    CHECK_ACL(aclrtSynchronizeStream(stream));
    MakeBlock(seed, block, expected.data());
    example::ExpectSameBytes(host, expected.data(), kBlockBytes, "a block");
  }
  CHECK_ACL(aclrtIpcMemClose(keys.memory));
  return example::verified_bytes;
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t seed = example::Seed(argc, argv);
  int keys[2], start[2];
  CHECK_TRUE(::pipe(keys) == 0 && ::pipe(start) == 0);
  // Before the first call of the runtime: each process has one of its own.
  const pid_t producer = ::fork();
  if (producer == 0) {
    pid_t consumer = 0;
    Receive(start[0], &consumer, sizeof(consumer));
    Produce(seed, consumer, keys[1]);
    std::_Exit(0);
  }
  const pid_t self = ::getpid();
  Send(start[1], &self, sizeof(self));
  const auto begin = std::chrono::steady_clock::now();
  const std::size_t bytes = Consume(seed, keys[0]);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  int status = -1;
  ::waitpid(producer, &status, 0);
  CHECK_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  std::printf("  %d blocks of %zu KiB from process %d to process %d in %.0f ms\n", kBlocks, kBlockBytes >> 10,
              static_cast<int>(producer), static_cast<int>(self), seconds * 1e3);
  CHECK_TRUE(bytes == kBlocks * kBlockBytes);
  return example::Done("two processes streamed blocks through shared device memory, in order");
}
