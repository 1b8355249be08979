// Registering host memory that the program already has.
// Rules of docs/BEHAVIOUR.md: memory-5, memory-6.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstdint>
#include <cstring>

#include "acl/acl.h"
#include "tests/support/acl_expect.h"
#include "tests/support/batch_request.h"
#include "tests/support/device_fixture.h"
#include "tests/support/memory_buffer.h"
#include "tests/support/stream.h"

namespace sampan::test::host_register_test {
namespace {

constexpr std::size_t kPage = 4096;

/// Pages of the program. Unregistered, so declare it before what uses it.
class Pages {
 public:
  explicit Pages(std::size_t count) : bytes_(count * kPage) {
    address_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT_NE(address_, MAP_FAILED);
  }
  ~Pages() { munmap(address_, bytes_); }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;

  char* at(std::size_t page) const { return static_cast<char*>(address_) + page * kPage; }

 private:
  std::size_t bytes_;
  void* address_;
};

aclError Register(void* memory, std::size_t bytes) {
  void* device = nullptr;
  return aclrtHostRegister(memory, bytes, ACL_HOST_REGISTER_MAPPED, &device);
}

aclrtMemLocationType LocationType(const void* pointer) {
  aclrtPtrAttributes attributes = {};
  EXPECT_ACL(ACL_SUCCESS, aclrtPointerGetAttributes(pointer, &attributes));
  return attributes.location.type;
}

class HostRegister : public DeviceTest {};

TEST_F(HostRegister, ArgumentsAreChecked) {
  const Pages pages(1);
  void* device = nullptr;
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtHostRegister(nullptr, kPage, ACL_HOST_REGISTER_MAPPED, &device));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtHostRegister(pages.at(0), 0, ACL_HOST_REGISTER_MAPPED, &device));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM,
             aclrtHostRegister(pages.at(0), kPage, ACL_HOST_REGISTER_MAPPED, nullptr));
  for (const int type : {1, 2, 0xF}) {
    EXPECT_ACL(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
               aclrtHostRegister(pages.at(0), kPage, static_cast<aclrtHostRegisterType>(type), &device))
        << "type " << type;
  }
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, Register(pages.at(0) + 64, kPage - 64)) << "not on a page";
}

TEST_F(HostRegister, FlagsOfTheSecondVersionAreChecked) {
  const Pages pages(1);
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtHostRegisterV2(nullptr, kPage, ACL_HOST_REG_MAPPED));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtHostRegisterV2(pages.at(0), 0, ACL_HOST_REG_MAPPED));
  for (const std::uint32_t flag : {0x0u, 0x1u, 0x3u, 0x10u, 0x80000000u}) {
    EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtHostRegisterV2(pages.at(0), kPage, flag)) << "flag " << flag;
  }
}

TEST_F(HostRegister, MakesTheMemoryPinned) {
  const Pages pages(2);
  EXPECT_EQ(LocationType(pages.at(0)), ACL_MEM_LOCATION_TYPE_UNREGISTERED);
  EXPECT_ACL(ACL_SUCCESS, Register(pages.at(0), 2 * kPage));
  EXPECT_EQ(LocationType(pages.at(0)), ACL_MEM_LOCATION_TYPE_HOST);
  EXPECT_EQ(LocationType(pages.at(1) + kPage - 1), ACL_MEM_LOCATION_TYPE_HOST);
  EXPECT_ACL(ACL_SUCCESS, aclrtHostUnregister(pages.at(0)));
  EXPECT_EQ(LocationType(pages.at(0)), ACL_MEM_LOCATION_TYPE_UNREGISTERED);
}

TEST_F(HostRegister, KeepsTheContent) {
  const Pages pages(1);
  std::strcpy(pages.at(0), "before");
  EXPECT_ACL(ACL_SUCCESS, Register(pages.at(0), kPage));
  EXPECT_STREQ(pages.at(0), "before");
  std::strcpy(pages.at(0), "during");
  EXPECT_ACL(ACL_SUCCESS, aclrtHostUnregister(pages.at(0)));
  EXPECT_STREQ(pages.at(0), "during");
}

TEST_F(HostRegister, EveryFlagOfTheSecondVersionWorks) {
  const Pages pages(1);
  for (const std::uint64_t flag :
       {ACL_HOST_REG_MAPPED, ACL_HOST_REG_PINNED, ACL_HOST_REG_MAPPED | ACL_HOST_REG_PINNED,
        ACL_HOST_REG_MAPPED | ACL_HOST_REG_READONLY}) {
    EXPECT_ACL(ACL_SUCCESS, aclrtHostRegisterV2(pages.at(0), kPage, static_cast<std::uint32_t>(flag)))
        << "flag " << flag;
    EXPECT_EQ(LocationType(pages.at(0)), ACL_MEM_LOCATION_TYPE_HOST);
    EXPECT_ACL(ACL_SUCCESS, aclrtHostUnregister(pages.at(0)));
  }
}

TEST_F(HostRegister, MakesCopiesAsynchronous) {
  const Pages pages(1);
  std::memset(pages.at(0), 0, kPage);
  EXPECT_ACL(ACL_SUCCESS, Register(pages.at(0), kPage));
  Stream stream;
  const DeviceBuffer device(kPage);
  device.Write(0, Bytes(kPage, std::byte{0x42}));
  {
    const Gate gate(stream);
    EXPECT_ACL(ACL_SUCCESS,
               aclrtMemcpyAsync(pages.at(0), kPage, device.data(), kPage, ACL_MEMCPY_DEVICE_TO_HOST, stream));
    EXPECT_EQ(pages.at(0)[kPage - 1], 0) << "the copy waits behind the held stream";
  }
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream));
  EXPECT_EQ(pages.at(0)[kPage - 1], 0x42);
  EXPECT_ACL(ACL_SUCCESS, aclrtHostUnregister(pages.at(0)));
}

// ---- overlaps ----

TEST_F(HostRegister, OverlapsAreRefused) {
  const Pages pages(8);
  EXPECT_ACL(ACL_SUCCESS, Register(pages.at(2), 3 * kPage));
  const struct {
    std::size_t page, count;
    const char* what;
  } cases[] = {{2, 3, "the same"},       {2, 1, "the front"},    {3, 1, "the middle"}, {4, 1, "the end"},
               {1, 2, "over the front"}, {4, 2, "over the end"}, {0, 8, "around it"},  {2, 5, "longer"}};
  for (const auto& [page, count, what] : cases) {
    EXPECT_ACL(ACL_ERROR_HOST_MEMORY_ALREADY_REGISTERED, Register(pages.at(page), count * kPage)) << what;
    EXPECT_ACL(ACL_ERROR_HOST_MEMORY_ALREADY_REGISTERED,
               aclrtHostRegisterV2(pages.at(page), count * kPage, ACL_HOST_REG_MAPPED))
        << what;
  }
  EXPECT_ACL(ACL_SUCCESS, aclrtHostUnregister(pages.at(2)));
}

TEST_F(HostRegister, NeighboursAreAllowed) {
  const Pages pages(6);
  EXPECT_ACL(ACL_SUCCESS, Register(pages.at(2), 2 * kPage));
  EXPECT_ACL(ACL_SUCCESS, Register(pages.at(0), 2 * kPage));
  EXPECT_ACL(ACL_SUCCESS, Register(pages.at(4), 2 * kPage));
  for (const std::size_t page : {0, 2, 4})
    EXPECT_ACL(ACL_SUCCESS, aclrtHostUnregister(pages.at(page)));
}

TEST_F(HostRegister, CanBeDoneAgainAfterUnregister) {
  const Pages pages(2);
  EXPECT_ACL(ACL_SUCCESS, Register(pages.at(0), kPage));
  EXPECT_ACL(ACL_SUCCESS, aclrtHostUnregister(pages.at(0)));
  EXPECT_ACL(ACL_SUCCESS, Register(pages.at(0), 2 * kPage));
  EXPECT_ACL(ACL_SUCCESS, aclrtHostUnregister(pages.at(0)));
}

TEST_F(HostRegister, UnregisterNeedsTheBase) {
  const Pages pages(2);
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtHostUnregister(nullptr));
  EXPECT_ACL(ACL_ERROR_HOST_MEMORY_NOT_REGISTERED, aclrtHostUnregister(pages.at(0)));
  EXPECT_ACL(ACL_SUCCESS, Register(pages.at(0), 2 * kPage));
  EXPECT_ACL(ACL_ERROR_HOST_MEMORY_NOT_REGISTERED, aclrtHostUnregister(pages.at(1)));
  EXPECT_ACL(ACL_ERROR_HOST_MEMORY_NOT_REGISTERED, aclrtHostUnregister(pages.at(0) + 1));
  EXPECT_ACL(ACL_SUCCESS, aclrtHostUnregister(pages.at(0)));
  EXPECT_ACL(ACL_ERROR_HOST_MEMORY_NOT_REGISTERED, aclrtHostUnregister(pages.at(0)));
}

// ---- copies that go on behind a registration ----

/// Pieces of host memory of which the first few are registered, each alone, with random contents.
class CopiesAcrossRegistrations : public HostRegister {
 protected:
  static constexpr std::size_t kPieces = 4, kPiece = 4 * kPage, kBytes = kPieces * kPiece;

  void RegisterFirst(std::size_t count) {
    std::memcpy(at(0), contents_.data(), kBytes);
    for (std::size_t piece = 0; piece < count; ++piece)
      ASSERT_ACL(ACL_SUCCESS, Register(at(piece), kPiece));
    registered_ = count;
  }
  void TearDown() override {
    for (std::size_t piece = 0; piece < registered_; ++piece)
      EXPECT_ACL(ACL_SUCCESS, aclrtHostUnregister(at(piece)));
    HostRegister::TearDown();
  }
  char* at(std::size_t piece) const { return pages_.at(piece * kPiece / kPage); }
  Bytes OnHost() const {
    const auto* const first = reinterpret_cast<const std::byte*>(at(0));
    return Bytes(first, first + kBytes);
  }
  Random& random() { return random_; }

  Random random_;
  const Pages pages_{kBytes / kPage};
  const Bytes contents_ = random_.Fill(kBytes);

 private:
  std::size_t registered_ = 0;
};

/// All of the blocking calls, between all of the pieces and a device. On a GPU they go as cuda-3 says.
class BlockingCopiesAcrossRegistrations : public CopiesAcrossRegistrations,
                                          public ::testing::WithParamInterface<std::size_t> {};
INSTANTIATE_TEST_SUITE_P(RegisteredPieces, BlockingCopiesAcrossRegistrations, ::testing::Values(1, 2, 4));

TEST_P(BlockingCopiesAcrossRegistrations, MoveAllBytes) {
  RegisterFirst(GetParam());
  const DeviceBuffer device(kBytes);
  char* const host = at(0);
  EXPECT_ACL(ACL_SUCCESS, aclrtMemcpy(device.data(), kBytes, host, kBytes, ACL_MEMCPY_HOST_TO_DEVICE));
  EXPECT_EQ(device.Read(0, kBytes), contents_);

  const Bytes second = random().Fill(kBytes);
  device.Write(0, second);
  EXPECT_ACL(ACL_SUCCESS, aclrtMemcpy(host, kBytes, device.data(), kBytes, ACL_MEMCPY_DEVICE_TO_HOST));
  EXPECT_EQ(OnHost(), second);

  Bytes elsewhere(kBytes);
  EXPECT_ACL(ACL_SUCCESS, aclrtMemcpy(elsewhere.data(), kBytes, host, kBytes, ACL_MEMCPY_HOST_TO_HOST));
  EXPECT_EQ(elsewhere, second);

  EXPECT_ACL(ACL_SUCCESS, aclrtMemset(host, kBytes, 0x2C, kBytes));
  EXPECT_EQ(OnHost(), Bytes(kBytes, std::byte{0x2C}));

  constexpr std::size_t kWidth = kPiece - 32;
  const Bytes third = random().Fill(kPieces * kWidth);
  device.Write(0, third);
  EXPECT_ACL(ACL_SUCCESS,
             aclrtMemcpy2d(host, kPiece, device.data(), kWidth, kWidth, kPieces, ACL_MEMCPY_DEVICE_TO_HOST));
  for (std::size_t row = 0; row < kPieces; ++row) {
    EXPECT_EQ(std::memcmp(at(row), third.data() + row * kWidth, kWidth), 0) << "row " << row;
    EXPECT_EQ(at(row)[kWidth], 0x2C) << "behind row " << row;
  }
}

TEST_P(BlockingCopiesAcrossRegistrations, MoveAllBytesInABatch) {
  RegisterFirst(GetParam());
  const DeviceBuffer device(kBytes);
  BatchRequest batch;
  batch.Add(device.at(0), at(0), 64);
  batch.Add(device.at(64), at(0) + 64, kBytes - 128);
  batch.Add(device.at(kBytes - 64), at(kPieces) - 64, 64);
  batch.UseAttr(HostToDevice());
  EXPECT_ACL(ACL_SUCCESS, batch.Submit(BatchForm::kSync, nullptr));
  EXPECT_EQ(batch.fail_index, SIZE_MAX);
  EXPECT_EQ(device.Read(0, kBytes), contents_);
}

TEST_F(CopiesAcrossRegistrations, StayAsynchronousWhereAllIsRegisteredEmulated) {
  RegisterFirst(kPieces);
  Stream stream;
  const DeviceBuffer device(kBytes);
  const Bytes second = random().Fill(kBytes);
  device.Write(0, second);
  {
    const Gate gate(stream);
    EXPECT_ACL(ACL_SUCCESS,
               aclrtMemcpyAsync(at(0), kBytes, device.data(), kBytes, ACL_MEMCPY_DEVICE_TO_HOST, stream));
    EXPECT_EQ(OnHost(), contents_) << "the copy waits behind the held stream";
  }
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream));
  EXPECT_EQ(OnHost(), second);
}

TEST_F(CopiesAcrossRegistrations, UseEveryRegistrationUntilTheyAreOverEmulated) {
  RegisterFirst(kPieces);
  Stream stream;
  const DeviceBuffer device(kBytes);
  {
    const Gate gate(stream);
    EXPECT_ACL(ACL_SUCCESS,
               aclrtMemcpyAsync(at(0), kBytes, device.data(), kBytes, ACL_MEMCPY_DEVICE_TO_HOST, stream));
    EXPECT_ACL(ACL_SUCCESS, aclrtHostUnregister(at(2)));
  }
  EXPECT_ACL(ACL_ERROR_RT_SYS_DMA, aclrtSynchronizeStream(stream));
  EXPECT_EQ(OnHost(), contents_);
  EXPECT_ACL(ACL_SUCCESS, Register(at(2), kPiece));
}

TEST_F(CopiesAcrossRegistrations, AreDoneBeforeTheCallReturnsWhereTheyLeaveThem) {
  RegisterFirst(2);
  Stream stream;
  const DeviceBuffer device(kBytes);
  EXPECT_ACL(ACL_SUCCESS,
             aclrtMemcpyAsync(device.data(), kBytes, at(0), kBytes, ACL_MEMCPY_HOST_TO_DEVICE, stream));
  EXPECT_EQ(device.Read(0, kBytes), contents_);
  const Bytes second = random().Fill(kBytes);
  device.Write(0, second);
  EXPECT_ACL(ACL_SUCCESS,
             aclrtMemcpyAsync(at(0), kBytes, device.data(), kBytes, ACL_MEMCPY_DEVICE_TO_HOST, stream));
  EXPECT_EQ(OnHost(), second);
}

// ---- the device's address ----

TEST_F(HostRegister, DevicePointerServesCopies) {
  const Pages pages(1);
  std::memset(pages.at(0), 0x18, kPage);
  void* seen_by_device = nullptr;
  ASSERT_ACL(ACL_SUCCESS, aclrtHostRegister(pages.at(0), kPage, ACL_HOST_REGISTER_MAPPED, &seen_by_device));
  void* asked_for = nullptr;
  EXPECT_ACL(ACL_SUCCESS, aclrtHostGetDevicePointer(pages.at(0), &asked_for, 0));
  EXPECT_EQ(asked_for, seen_by_device);
  const DeviceBuffer device(kPage);
  EXPECT_ACL(ACL_SUCCESS,
             aclrtMemcpy(device.data(), kPage, seen_by_device, kPage, ACL_MEMCPY_HOST_TO_DEVICE));
  EXPECT_EQ(device.Read(0, kPage), Bytes(kPage, std::byte{0x18}));
  EXPECT_ACL(ACL_SUCCESS, aclrtHostUnregister(pages.at(0)));
}

TEST_F(HostRegister, DevicePointerOfTheSecondVersion) {
  const Pages pages(1);
  ASSERT_ACL(ACL_SUCCESS, aclrtHostRegisterV2(pages.at(0), kPage, ACL_HOST_REG_MAPPED));
  void* seen_by_device = nullptr;
  EXPECT_ACL(ACL_SUCCESS, aclrtHostGetDevicePointer(pages.at(0), &seen_by_device, 0));
  EXPECT_NE(seen_by_device, nullptr);
  EXPECT_ACL(ACL_SUCCESS, aclrtHostUnregister(pages.at(0)));
}

TEST_F(HostRegister, DevicePointerChecksItsArguments) {
  const Pages pages(1);
  void* seen_by_device = nullptr;
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtHostGetDevicePointer(nullptr, &seen_by_device, 0));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtHostGetDevicePointer(pages.at(0), nullptr, 0));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtHostGetDevicePointer(pages.at(0), &seen_by_device, 0))
      << "not registered";
  EXPECT_ACL(ACL_SUCCESS, Register(pages.at(0), kPage));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtHostGetDevicePointer(pages.at(0), &seen_by_device, 1));
  EXPECT_ACL(ACL_SUCCESS, aclrtHostUnregister(pages.at(0)));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtHostGetDevicePointer(pages.at(0), &seen_by_device, 0))
      << "no longer registered";
}

}  // namespace
}  // namespace sampan::test::host_register_test
