// Registered host memory without a GPU: the calls of the driver before there is a context, while the context
// is lost, and in the next one.
#include "backend/cuda/memory/host_registrations.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>

#include "tests/unit/backend/cuda/driver_of_tests.h"

namespace sampan::cuda::host_registrations_test {
namespace {

/// A driver that keeps account of what is registered.
struct Account {
  std::map<void*, std::size_t> registered;
  void* refused = nullptr;
  CuResult refusal = cu::kSuccess;
  CuContext current = nullptr;
  const Gpu* watched = nullptr;
  bool used_too_early = false;  // something was registered when others could use the GPU already
};
Account* account = nullptr;

Driver AccountingDriver() {
  Driver driver = DriverOfTests();
  driver.PrimaryContextReset = [](CuDevice) { return account->registered.clear(), cu::kSuccess; };
  driver.ContextGetCurrent = [](CuContext* context) { return *context = account->current, cu::kSuccess; };
  driver.ContextSetCurrent = [](CuContext context) { return account->current = context, cu::kSuccess; };
  driver.ContextPush = [](CuContext context) { return account->current = context, cu::kSuccess; };
  driver.ContextPop = [](CuContext* context) { return *context = account->current, cu::kSuccess; };
  driver.HostRegister = [](void* address, std::size_t bytes, unsigned) {
    if (address == account->refused) return account->refusal;
    if (account->watched != nullptr && !account->watched->lost()) account->used_too_early = true;
    return account->registered.emplace(address, bytes).second ? cu::kSuccess
                                                              : cu::kHostMemoryAlreadyRegistered;
  };
  driver.HostUnregister = [](void* address) {
    return account->registered.erase(address) == 1 ? cu::kSuccess : cu::kInvalidValue;
  };
  return driver;
}

class HostRegistrationsTest : public ::testing::Test {
 protected:
  HostRegistrationsTest() : driver_(AccountingDriver()) {
    account = &account_;
    auto opened = Gpu::Open(driver_, 0);
    EXPECT_TRUE(opened.ok());
    gpu_ = std::move(*opened);
  }

  static void* At(std::uintptr_t page) { return reinterpret_cast<void*>(page * 4096); }
  void Lose() {
    EXPECT_FALSE(gpu_->Check(cu::kIllegalAddress, "a test").ok());
    EXPECT_TRUE(gpu_->lost());
  }
  Status Revive() { return registrations_.Revive(*gpu_); }
  using Registered = std::map<void*, std::size_t>;

  Account account_;
  const Driver driver_;
  std::unique_ptr<Gpu> gpu_;
  HostRegistrations registrations_{[] {}};
};

TEST_F(HostRegistrationsTest, NewMemoryWaitsForAGpu) {
  EXPECT_TRUE(registrations_.RegisterNew(At(1), 4096).ok());
  EXPECT_TRUE(registrations_.RegisterNew(At(2), 4096).ok());
  registrations_.Unregister(At(2));
  EXPECT_EQ(registrations_.Register(At(5), 4096, false).code(), Code::kContextNull);
  EXPECT_EQ(account_.registered, Registered{});
  EXPECT_TRUE(registrations_.Use(*gpu_).ok());
  EXPECT_EQ(account_.registered, (Registered{{At(1), 4096}}));
  EXPECT_TRUE(registrations_.Register(At(5), 8192, false).ok());
  registrations_.Unregister(At(1));
  EXPECT_EQ(account_.registered, (Registered{{At(5), 8192}}));
}

TEST_F(HostRegistrationsTest, ThatAGpuRefusesLeaveItUnused) {
  EXPECT_TRUE(registrations_.RegisterNew(At(1), 4096).ok());
  account_.refused = At(1);
  account_.refusal = cu::kInvalidValue;
  EXPECT_FALSE(registrations_.Use(*gpu_).ok());
  EXPECT_EQ(registrations_.Register(At(5), 4096, false).code(), Code::kContextNull) << "it is not used";
  account_.refused = nullptr;
  EXPECT_TRUE(registrations_.Use(*gpu_).ok());
  EXPECT_EQ(account_.registered, (Registered{{At(1), 4096}}));
}

TEST_F(HostRegistrationsTest, AreMadeAgainBeforeTheNextContextIsUsed) {
  EXPECT_TRUE(registrations_.Use(*gpu_).ok());
  for (const std::uintptr_t page : {1, 2, 3})
    EXPECT_TRUE(registrations_.RegisterNew(At(page), 4096).ok());
  EXPECT_TRUE(registrations_.Register(At(9), 100, true).ok());
  Lose();
  EXPECT_EQ(registrations_.RegisterNew(At(4), 4096).code(), gpu_->LostStatus().code());
  registrations_.Unregister(At(2));
  EXPECT_EQ(account_.registered.size(), 4U) << "the driver is not asked while the GPU is lost";
  account_.watched = gpu_.get();
  EXPECT_TRUE(Revive().ok());
  EXPECT_FALSE(account_.used_too_early);
  EXPECT_FALSE(gpu_->lost());
  EXPECT_EQ(account_.registered, (Registered{{At(1), 4096}, {At(3), 4096}, {At(9), 100}}));
}

TEST_F(HostRegistrationsTest, ThatCannotBeMadeAgainLeaveTheGpuLost) {
  EXPECT_TRUE(registrations_.Use(*gpu_).ok());
  for (const std::uintptr_t page : {1, 2, 3})
    EXPECT_TRUE(registrations_.RegisterNew(At(page), 4096).ok());
  Lose();
  account_.refused = At(2);
  account_.refusal = cu::kOutOfMemory;
  EXPECT_EQ(Revive().code(), Code::kMemoryAllocation);
  EXPECT_TRUE(gpu_->lost());
  account_.refused = nullptr;
  EXPECT_TRUE(Revive().ok());
  EXPECT_EQ(account_.registered.size(), 3U);
}

TEST_F(HostRegistrationsTest, ThatAreRefusedAreMemoryThatIsNotThere) {
  EXPECT_TRUE(registrations_.Use(*gpu_).ok());
  account_.refused = At(1);
  for (const CuResult refusal : {cu::kOutOfMemory, cu::kInvalidValue, cu::kNotSupported}) {
    account_.refusal = refusal;
    const Status refused = registrations_.RegisterNew(At(1), 4096);
    EXPECT_EQ(refused.code(), Code::kMemoryAllocation) << refusal;
    EXPECT_NE(refused.error().message.find("0x1000"), std::string::npos) << refused.error().message;
  }
  account_.refused = nullptr;
  Lose();
  EXPECT_TRUE(Revive().ok());
  EXPECT_EQ(account_.registered, Registered{}) << "nothing was kept of it";
}

}  // namespace
}  // namespace sampan::cuda::host_registrations_test
