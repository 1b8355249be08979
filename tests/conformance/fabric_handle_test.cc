// FABRIC handles inside one process: export, import, damage, devices, host memory.
// Rules of docs/BEHAVIOUR.md: map-6, share-9, share-10.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>

#include "acl/acl.h"
#include "tests/support/acl_expect.h"
#include "tests/support/device_fixture.h"
#include "tests/support/mapped_memory.h"
#include "tests/support/memory_buffer.h"
#include "tests/support/stream.h"

namespace sampan::test::fabric_handle_test {
namespace {

constexpr auto kFabric = ACL_MEM_SHARE_HANDLE_TYPE_FABRIC;
constexpr auto kNumber = ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT;
constexpr std::uint64_t kForAll = ACL_RT_VMM_EXPORT_FLAG_DISABLE_PID_VALIDATION;
// Parts of a handle.
constexpr std::size_t kChecksumAt = 8, kCheckedFrom = 16, kSecretAt = 48;

aclError Export(aclrtDrvMemHandle handle, aclrtMemFabricHandle& fabric, std::uint64_t flags = kForAll) {
  return aclrtMemExportToShareableHandleV2(handle, flags, kFabric, &fabric);
}
aclError Import(aclrtMemFabricHandle fabric, aclrtDrvMemHandle& handle) {
  return aclrtMemImportFromShareableHandleV2(&fabric, kFabric, 0, &handle);
}

/// A handle as its maker would write it, so that only its content can be wrong.
aclrtMemFabricHandle WithChecksum(aclrtMemFabricHandle fabric) {
  std::uint64_t sum = 0xcbf29ce484222325;
  for (std::size_t i = kCheckedFrom; i < sizeof(fabric.data); ++i)
    sum = (sum ^ fabric.data[i]) * 0x100000001b3;
  std::memcpy(fabric.data + kChecksumAt, &sum, sizeof(sum));
  return fabric;
}

/// Memory of a device, mapped and filled by its owner, and an import of it that is mapped too.
class FabricHandle : public DeviceTest {};

TEST_F(FabricHandle, NamesTheSameMemory) {
  const Physical physical;
  const Reserved range(2 * kPiece);
  const Mapped own(range.data(), kPiece, physical);
  aclrtMemFabricHandle fabric = {};
  ASSERT_ACL(ACL_SUCCESS, Export(physical, fabric));
  aclrtDrvMemHandle imported = nullptr;
  ASSERT_ACL(ACL_SUCCESS, Import(fabric, imported));
  {
    const Mapped other(range.at(kPiece), kPiece, imported);
    Random random;
    const Bytes first = random.Fill(kPiece), second = random.Fill(kPiece);
    WriteDevice(range.data(), first);
    EXPECT_EQ(ReadDevice(range.at(kPiece), kPiece), first);
    WriteDevice(range.at(kPiece), second);
    EXPECT_EQ(ReadDevice(range.data(), kPiece), second);
  }
  aclrtPhysicalMemProp prop = {};
  EXPECT_ACL(ACL_SUCCESS, aclrtMemGetAllocationPropertiesFromHandle(imported, &prop));
  EXPECT_EQ(prop.memAttr, ACL_HBM_MEM_HUGE);
  EXPECT_EQ(prop.location.type, ACL_MEM_LOCATION_TYPE_DEVICE);
  aclrtMemFabricHandle again = {};
  EXPECT_ACL(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, Export(imported, again));
  EXPECT_ACL(ACL_SUCCESS, aclrtFreePhysical(imported));
}

TEST_F(FabricHandle, Arguments) {
  const Physical physical;
  aclrtMemFabricHandle fabric = {};
  aclrtDrvMemHandle imported = nullptr;
  std::int32_t pid = 1;
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtMemExportToShareableHandleV2(nullptr, 0, kFabric, &fabric));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtMemExportToShareableHandleV2(physical, 0, kFabric, nullptr));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, Export(physical, fabric, 2));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, Import(fabric, imported));
  EXPECT_TRUE(MessageHas("no fabric handle"));
  ASSERT_ACL(ACL_SUCCESS, Export(physical, fabric));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtMemImportFromShareableHandleV2(&fabric, kFabric, 1, &imported));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtMemImportFromShareableHandleV2(&fabric, kNumber, 0, &imported));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtMemSetPidToShareableHandleV2(&fabric, kFabric, nullptr, 1));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtMemSetPidToShareableHandleV2(&fabric, kFabric, &pid, 0));
  EXPECT_ACL(ACL_SUCCESS, aclrtMemSetPidToShareableHandleV2(&fabric, kFabric, &pid, 1));
  fabric.data[kSecretAt] ^= 1;
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, [&] {
    aclrtMemFabricHandle wrong = WithChecksum(fabric);
    return aclrtMemSetPidToShareableHandleV2(&wrong, kFabric, &pid, 1);
  }());
}

TEST_F(FabricHandle, MemoryHasOneShareableHandle) {
  const Physical physical, other;
  const Reserved range(kPiece);
  const Mapped mapped(range.data(), kPiece, physical);
  aclrtMemFabricHandle fabric = {};
  ASSERT_ACL(ACL_SUCCESS, Export(physical, fabric));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, Export(physical, fabric));
  EXPECT_TRUE(MessageHas("one shareable handle"));
  aclrtDrvMemHandle retained = nullptr;
  ASSERT_ACL(ACL_SUCCESS, aclrtMemRetainAllocationHandle(range.data(), &retained));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, Export(retained, fabric));
  std::uint64_t number = 0;
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtMemExportToShareableHandleV2(physical, 0, kNumber, &number));
  // The other way round, where the number may be asked for again.
  ASSERT_ACL(ACL_SUCCESS, aclrtMemExportToShareableHandleV2(other, 0, kNumber, &number));
  std::uint64_t same = 0;
  ASSERT_ACL(ACL_SUCCESS, aclrtMemExportToShareableHandleV2(other, 0, kNumber, &same));
  EXPECT_EQ(same, number);
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, Export(other, fabric));
}

TEST_F(FabricHandle, EveryDamagedBitIsSeen) {
  const Physical physical;
  aclrtMemFabricHandle fabric = {};
  ASSERT_ACL(ACL_SUCCESS, Export(physical, fabric));
  aclrtDrvMemHandle imported = nullptr;
  for (std::size_t bit = 0; bit < 8 * sizeof(fabric.data); ++bit) {
    aclrtMemFabricHandle damaged = fabric;
    damaged.data[bit / 8] = static_cast<std::uint8_t>(damaged.data[bit / 8] ^ 1U << bit % 8);
    ASSERT_ACL(ACL_ERROR_RT_PARAM_INVALID, Import(damaged, imported)) << "bit " << bit;
    ASSERT_TRUE(MessageHas(bit / 8 < kChecksumAt ? "no fabric handle" : "damaged")) << "bit " << bit;
  }
  EXPECT_ACL(ACL_SUCCESS, Import(fabric, imported));
  EXPECT_ACL(ACL_SUCCESS, aclrtFreePhysical(imported));
}

TEST_F(FabricHandle, AForgedHandleIsRefused) {
  const Physical physical;
  aclrtMemFabricHandle fabric = {};
  ASSERT_ACL(ACL_SUCCESS, Export(physical, fabric));
  aclrtDrvMemHandle imported = nullptr;
  for (std::size_t bit = 0; bit < 128; ++bit) {  // each of the secret's bits matters
    aclrtMemFabricHandle forged = fabric;
    std::uint8_t& byte = forged.data[kSecretAt + bit / 8];
    byte = static_cast<std::uint8_t>(byte ^ 1U << bit % 8);
    ASSERT_ACL(ACL_ERROR_RT_PARAM_INVALID, Import(WithChecksum(forged), imported)) << "bit " << bit;
  }
  EXPECT_EQ(imported, nullptr);
}

TEST_F(FabricHandle, IsStaleWhenTheMemoryIsGone) {
  aclrtMemFabricHandle fabric = {};
  aclrtDrvMemHandle imported = nullptr, late = nullptr;
  {
    const Physical physical;
    ASSERT_ACL(ACL_SUCCESS, Export(physical, fabric));
    ASSERT_ACL(ACL_SUCCESS, Import(fabric, imported));
  }
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, Import(fabric, late));
  const Physical successor;  // may get the same place
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, Import(fabric, late));
  EXPECT_ACL(ACL_SUCCESS, aclrtFreePhysical(imported));
}

TEST_F(FabricHandle, AnotherDeviceCopiesWithoutPeerAccess) {
  const Physical physical(kPiece, DeviceProperties(1));
  aclrtMemFabricHandle fabric = {};
  ASSERT_ACL(ACL_SUCCESS, Export(physical, fabric));
  aclrtDrvMemHandle imported = nullptr;
  ASSERT_ACL(ACL_SUCCESS, Import(fabric, imported));
  {
    const Reserved range(2 * kPiece);
    const Mapped own(range.data(), kPiece, physical), other(range.at(kPiece), kPiece, imported);
    Random random;
    const Bytes contents = random.Fill(kPiece);
    DeviceBuffer local(kPiece);
    WriteDevice(local.data(), contents);
    Stream stream;
    const auto copy = [&](void* dst, const void* src) {
      return aclrtMemcpyAsync(dst, kPiece, src, kPiece, ACL_MEMCPY_DEVICE_TO_DEVICE, stream);
    };
    EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, copy(range.data(), local.data())) << "needs peer access";
    EXPECT_ACL(ACL_SUCCESS, copy(range.at(kPiece), local.data()));
    EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream));
    EXPECT_EQ(ReadDevice(range.data(), kPiece), contents);
    DeviceBuffer back(kPiece);
    EXPECT_ACL(ACL_SUCCESS, copy(back.data(), range.at(kPiece)));
    EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream));
    EXPECT_EQ(back.Read(0, kPiece), contents);
    aclrtMemAccessDesc none = {};
    none.location = {0, ACL_MEM_LOCATION_TYPE_DEVICE};
    EXPECT_ACL(ACL_SUCCESS, aclrtMemSetAccess(range.at(kPiece), kPiece, &none, 1));
    EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, copy(range.at(kPiece), local.data())) << "rights still count";
  }
  EXPECT_ACL(ACL_SUCCESS, aclrtFreePhysical(imported));
}

TEST_F(FabricHandle, HostMemoryIsSharedToo) {
  aclrtPhysicalMemProp prop = DeviceProperties();
  prop.memAttr = ACL_DDR_MEM_HUGE;
  prop.location.type = ACL_MEM_LOCATION_TYPE_HOST_NUMA;
  const Physical physical(kPiece, prop);
  aclrtMemFabricHandle fabric = {};
  ASSERT_ACL(ACL_SUCCESS, Export(physical, fabric));
  aclrtDrvMemHandle imported = nullptr;
  ASSERT_ACL(ACL_SUCCESS, Import(fabric, imported));
  EXPECT_ACL(ACL_SUCCESS, aclrtMemGetAllocationPropertiesFromHandle(imported, &prop));
  EXPECT_EQ(prop.location.type, ACL_MEM_LOCATION_TYPE_HOST_NUMA);
  {
    const Reserved range(2 * kPiece);
    const Mapped own(range.data(), kPiece, physical), other(range.at(kPiece), kPiece, imported);
    Random random;
    const Bytes contents = random.Fill(4096);
    DeviceBuffer device(4096);
    WriteDevice(device.data(), contents);
    Stream stream;
    EXPECT_ACL(ACL_SUCCESS, aclrtMemcpyAsync(range.at(kPiece), 4096, device.data(), 4096,
                                             ACL_MEMCPY_DEVICE_TO_HOST, stream));
    EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream));
    EXPECT_EQ(std::memcmp(range.data(), contents.data(), contents.size()), 0);
    aclrtPtrAttributes attributes = {};
    EXPECT_ACL(ACL_SUCCESS, aclrtPointerGetAttributes(range.at(kPiece), &attributes));
    EXPECT_EQ(attributes.location.type, ACL_MEM_LOCATION_TYPE_HOST);
  }
  EXPECT_ACL(ACL_SUCCESS, aclrtFreePhysical(imported));
}

}  // namespace
}  // namespace sampan::test::fabric_handle_test
