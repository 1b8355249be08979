// Batches whose entries are adjacent on the host, in long runs or in part; the same on a full device.
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "acl/acl.h"
#include "tests/support/batch_request.h"
#include "tests/support/child_process.h"
#include "tests/support/copy_fixture.h"

namespace sampan::test::dense_batches_test {
namespace {

using DenseBatches = CopyTest;

/// 40 MiB: runs that are adjacent on the host, and as many bytes in long odd entries between them. In auto
/// mode the runs are gathered or scattered on the device, and a kernel copies the rest.
TEST_F(DenseBatches, RunsOfEntriesBetweenLongOddOnes) {
  constexpr std::size_t kShort = 4096, kShortOnes = 700, kOddOnes = 20, kGap = 77, kRounds = 8;
  for (const bool up : {true, false}) {
    std::vector<std::size_t> lengths;
    for (std::size_t round = 0; round < kRounds; ++round) {
      lengths.insert(lengths.end(), kShortOnes, kShort);
      for (std::size_t i = 0; i < kOddOnes; ++i)
        lengths.push_back(2 * random().Between(32'769, 65'000) + 1);
    }
    std::size_t on_host = 0, on_device = 0;
    std::vector<std::size_t> host_at, device_at(lengths.size());
    std::vector<std::size_t> order(lengths.size());
    for (std::size_t i = 0; i < lengths.size(); ++i) {
      host_at.push_back(on_host);
      on_host += lengths[i] + (lengths[i] % 2 == 1 ? kGap : 0);
      order[i] = i * 3571 % lengths.size();
    }
    for (const std::size_t i : order) {
      device_at[i] = on_device;
      on_device += lengths[i] + 3;
    }
    GuardedBuffer host(Place::kPinned, on_host), device(Place::kDevice, on_device);
    GuardedBuffer& src = up ? host : device;
    GuardedBuffer& dst = up ? device : host;
    for (int repeat = 0; repeat < 2; ++repeat) {
      const Bytes contents = random().Fill(src.bytes());
      src.Write(contents);
      BatchRequest request;
      Bytes expected(dst.bytes(), GuardedBuffer::kBackground);
      for (std::size_t i = 0; i < lengths.size(); ++i) {
        const std::size_t from = up ? host_at[i] : device_at[i], to = up ? device_at[i] : host_at[i];
        request.Add(dst.at(to), src.at(from), lengths[i]);
        std::memcpy(expected.data() + to, contents.data() + from, lengths[i]);
      }
      request.UseAttr(up ? HostToDevice() : DeviceToHost());
      EXPECT_ACL(ACL_SUCCESS, request.Submit(BatchForm::kAsync, stream()));
      Synchronize();
      EXPECT_TRUE(dst.Holds(expected)) << (up ? "in" : "out");
    }
  }
}

/// Streams that take turns at the buffers of dense copies: what one has copied, the other one copies on.
TEST_F(DenseBatches, DenseBatchesOfTwoStreams) {
  constexpr std::size_t kEntry = 8192, kEntries = 1500;
  constexpr std::size_t kBytes = kEntry * kEntries;
  const Stream other;
  GuardedBuffer first(Place::kDevice, kBytes), second(Place::kDevice, kBytes);
  PinnedBuffer host(kBytes), others_host(kBytes), back(kBytes), others_back(kBytes);
  const Bytes contents = random().Fill(kBytes), others_contents = random().Fill(kBytes);
  host.Write(0, contents);
  others_host.Write(0, others_contents);
  BatchRequest in, others_in, out, others_out;
  for (std::size_t i = 0; i < kEntries; ++i) {
    const std::size_t at = i * kEntry, elsewhere = i * 7919 % kEntries * kEntry;
    in.Add(first.at(elsewhere), host.at(at), kEntry);
    others_in.Add(second.at(elsewhere), others_host.at(at), kEntry);
    out.Add(back.at(at), first.at(elsewhere), kEntry);
    others_out.Add(others_back.at(at), second.at(elsewhere), kEntry);
  }
  for (BatchRequest* const request : {&in, &others_in})
    request->UseAttr(HostToDevice());
  for (BatchRequest* const request : {&out, &others_out})
    request->UseAttr(DeviceToHost());
  for (int round = 0; round < 5; ++round) {
    EXPECT_ACL(ACL_SUCCESS, in.Submit(BatchForm::kAsync, stream()));
    EXPECT_ACL(ACL_SUCCESS, others_in.Submit(BatchForm::kAsync, other));
    EXPECT_ACL(ACL_SUCCESS, out.Submit(BatchForm::kAsync, stream()));
    EXPECT_ACL(ACL_SUCCESS, others_out.Submit(BatchForm::kAsync, other));
  }
  Synchronize();
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(other));
  EXPECT_EQ(back.Read(0, kBytes), contents);
  EXPECT_EQ(others_back.Read(0, kBytes), others_contents);
}

/// Rule cuda-12. The device has just enough memory for the program. The log says what was done, not what was
/// wished.
TEST(DenseBatchPath, OnAFullDeviceIsTheKernel) {
  constexpr std::size_t kEntry = 8192, kEntries = 2048;
  if (!InChild()) {
    const ChildResult child = RunInChild({{"ASCEND_GLOBAL_LOG_LEVEL", "0"},
                                          {"ASCEND_LOG_PRINT_TO_STDOUT", "1"},
                                          {"SAMPAN_COPY_PATH", "auto"},
                                          {"SAMPAN_DEVICE_MEMORY", "96M"},
                                          {"SAMPAN_COPY_QUIET", "auto"}});
    EXPECT_TRUE(child.Passed()) << child;
    const std::string batch = "a batch of 2048 entries, 16777216 bytes, host to device: path ";
    const std::size_t first = child.output.find(batch + "kernel");
    EXPECT_NE(first, std::string::npos) << child;
    EXPECT_NE(child.output.find(batch + "dense", first), std::string::npos) << "there is room again\n"
                                                                            << child;
    EXPECT_LT(first, child.output.find(batch + "dense")) << child;
    return;
  }
  EXPECT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
  const Stream stream;
  const DeviceBuffer device(kEntry * kEntries);
  const PinnedBuffer host(kEntry * kEntries);
  const auto copy = [&] {
    BatchRequest request;
    for (std::size_t i = 0; i < kEntries; ++i)
      request.Add(device.at(i * 1531 % kEntries * kEntry), host.at(i * kEntry), kEntry);
    request.UseAttr(HostToDevice());
    EXPECT_ACL(ACL_SUCCESS, request.Submit(BatchForm::kAsync, stream));
    EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream));
  };
  {
    const DeviceBuffer rest(std::size_t{60} << 20);
    copy();
  }
  copy();
  std::size_t free = 0, total = 0;
  EXPECT_ACL(ACL_SUCCESS, aclrtGetMemInfo(ACL_HBM_MEM, &free, &total));
  EXPECT_GE(free, std::size_t{60} << 20) << "what the buffers take can be had";
  const DeviceBuffer again(std::size_t{60} << 20);  // the program's memory goes before the buffers
}

}  // namespace
}  // namespace sampan::test::dense_batches_test
