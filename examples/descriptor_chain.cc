// Descriptors rewritten while queued: operands count when the copy runs, not when it is submitted.
#include "check.h"

#include <algorithm>
#include <future>
#include <vector>

namespace {

constexpr aclrtMemcpyKind kInner = ACL_MEMCPY_INNER_DEVICE_TO_DEVICE;  // the only kind that descriptors know
constexpr std::size_t kPieces = 200;
constexpr std::size_t kPieceBytes = 3001;  // odd on purpose
constexpr std::size_t kAlignment = 64;     // a descriptor's address must be a multiple of this
// A descriptor of 32 bytes begins with a header of 12, which the runtime writes when a copy is submitted. The
// operands follow: length, source, destination.
constexpr std::size_t kDescriptorBytes = 32;
constexpr std::size_t kHeaderBytes = 12;

/// Holds a stream: what is queued behind a closed gate waits until the gate opens. Stays alive until then.
class Gate {
 public:
  explicit Gate(aclrtStream stream) {
    CHECK_ACL(aclrtLaunchHostFunc(
        stream, [](void* gate) { static_cast<Gate*>(gate)->opened_.get_future().wait(); }, this));
  }
  void Open() { opened_.set_value(); }

 private:
  std::promise<void> opened_;
};

/// Reads device memory while work is still queued: a blocking copy does not wait for streams.
std::vector<unsigned char> ReadNow(const void* device, std::size_t bytes) {
  std::vector<unsigned char> read(bytes);
  CHECK_ACL(aclrtMemcpy(read.data(), bytes, device, bytes, ACL_MEMCPY_DEVICE_TO_HOST));
  return read;
}

}  // namespace

int main(int argc, char** argv) {
  std::mt19937_64 random(example::Seed(argc, argv));
  CHECK_ACL(aclInit(nullptr));
  CHECK_ACL(aclrtSetDevice(0));
  aclrtStream stream = nullptr;
  CHECK_ACL(aclrtCreateStream(&stream));

  std::size_t descriptor_bytes = 0;
  CHECK_ACL(aclrtGetMemcpyDescSize(kInner, &descriptor_bytes));
  CHECK_TRUE(descriptor_bytes == kDescriptorBytes);

  constexpr std::size_t kBytes = kPieces * kPieceBytes;
  std::vector<unsigned char> original(kBytes);
  example::FillRandom(original.data(), kBytes, random);
  const std::vector<unsigned char> zeros(kBytes, 0);
  void* source = example::DeviceMemory(kBytes);
  void* target = example::DeviceMemory(kBytes);
  CHECK_ACL(aclrtMemcpy(source, kBytes, original.data(), kBytes, ACL_MEMCPY_HOST_TO_DEVICE));

  // First, the chain. Images of 200 descriptors lie in device memory; only one descriptor is ever launched.
  // Between two launches a copy in the same stream puts the next image's operands into it. So piece i goes to
  // place[i].
  std::vector<std::size_t> place(kPieces);
  for (std::size_t i = 0; i < kPieces; ++i)
    place[i] = i;
  std::shuffle(place.begin(), place.end(), random);

  void* images = example::DeviceMemory(kPieces * kAlignment);
  void* descriptor = example::DeviceMemory(kDescriptorBytes);
  for (std::size_t i = 0; i < kPieces; ++i) {
    CHECK_ACL(aclrtSetMemcpyDesc(example::At(images, i * kAlignment), kInner,
                                 example::At(source, i * kPieceBytes),
                                 example::At(target, place[i] * kPieceBytes), kPieceBytes, nullptr));
  }
  CHECK_ACL(aclrtMemset(target, kBytes, 0, kBytes));
  CHECK_ACL(aclrtSetMemcpyDesc(descriptor, kInner, source, target, kPieceBytes, nullptr));

  Gate chain_gate(stream);
  for (std::size_t i = 0; i < kPieces; ++i) {
    CHECK_ACL(aclrtMemcpyAsync(example::At(descriptor, kHeaderBytes), kDescriptorBytes - kHeaderBytes,
                               example::At(images, i * kAlignment + kHeaderBytes),
                               kDescriptorBytes - kHeaderBytes, ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
    CHECK_ACL(aclrtMemcpyAsyncWithDesc(descriptor, kInner, stream));
  }
  // Everything is queued and nothing has moved.
  aclrtStreamStatus status = ACL_STREAM_STATUS_COMPLETE;
  CHECK_ACL(aclrtStreamQuery(stream, &status));
  CHECK_TRUE(status == ACL_STREAM_STATUS_NOT_READY);
  example::ExpectSameBytes(ReadNow(target, kBytes).data(), zeros.data(), kBytes,
                           "the target behind the closed gate");

  chain_gate.Open();
  CHECK_ACL(aclrtSynchronizeStream(stream));
  std::vector<unsigned char> expected(kBytes);
  for (std::size_t i = 0; i < kPieces; ++i) {
    std::memcpy(&expected[place[i] * kPieceBytes], &original[i * kPieceBytes], kPieceBytes);
  }
  example::ExpectSameBytes(ReadNow(target, kBytes).data(), expected.data(), kBytes,
                           "the pieces the chain moved");
  std::printf("chain: %zu launches of one descriptor moved %zu different pieces\n", kPieces, kPieces);

  // Second, the host changes its mind. The copy is submitted to bring piece 0 to place 0. Before the gate
  // opens, the descriptor is set again: now piece 1 goes to place 2. Only the second version happens.
  CHECK_ACL(aclrtMemset(target, kBytes, 0, kBytes));
  CHECK_ACL(aclrtSetMemcpyDesc(descriptor, kInner, source, target, kPieceBytes, nullptr));
  Gate rewrite_gate(stream);
  CHECK_ACL(aclrtMemcpyAsyncWithDesc(descriptor, kInner, stream));
  CHECK_ACL(aclrtSetMemcpyDesc(descriptor, kInner, example::At(source, kPieceBytes),
                               example::At(target, 2 * kPieceBytes), kPieceBytes, nullptr));
  rewrite_gate.Open();
  CHECK_ACL(aclrtSynchronizeStream(stream));
  expected = zeros;
  std::memcpy(&expected[2 * kPieceBytes], &original[kPieceBytes], kPieceBytes);
  example::ExpectSameBytes(ReadNow(target, kBytes).data(), expected.data(), kBytes,
                           "the piece of the second version");
  std::printf("rewrite: the operands set after submission are the ones that were used\n");

  for (void* memory : {source, target, images, descriptor})
    CHECK_ACL(aclrtFree(memory));
  CHECK_ACL(aclrtDestroyStream(stream));
  CHECK_ACL(aclrtResetDevice(0));
  CHECK_ACL(aclFinalize());
  return example::Done("one queued descriptor, rewritten in stream order, made 200 different copies");
}
