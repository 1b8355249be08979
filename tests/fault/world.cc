// Makes and takes away what the fault tests' calls work on.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tests/fault/api_call.h"
#include "tests/support/acl_expect.h"

namespace sampan::fault {
namespace {

/// A CANN installation with one package, for the version queries.
std::string MakeInstallation() {
  const std::string root = ::testing::TempDir() + "fault_installation";
  std::filesystem::create_directories(root + "/share/info/runtime");
  std::ofstream(root + "/share/info/runtime/version.info") << "Version=8.5.0\n";
  std::ofstream(root + "/config.json")
      << "{\"err_msg_mode\": \"0\", \"note\": \"long enough to need memory of its own\"}\n";
  return root;
}

}  // namespace

World::World() : pageable(kBytes) {
  static const std::string installation = MakeInstallation();
  setenv("ASCEND_HOME_PATH", installation.c_str(), 1);
  config_path = installation + "/config.json";
  EXPECT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
  EXPECT_ACL(ACL_SUCCESS, aclrtGetCurrentContext(&primary));
  EXPECT_ACL(ACL_SUCCESS, aclrtCreateStream(&stream));
  EXPECT_ACL(ACL_SUCCESS, aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE));
  EXPECT_ACL(ACL_SUCCESS, aclrtCreateEvent(&legacy_event));
  EXPECT_ACL(ACL_SUCCESS, aclrtRecordEvent(event, stream));
  EXPECT_ACL(ACL_SUCCESS, aclrtRecordEvent(legacy_event, stream));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream));
  EXPECT_ACL(ACL_SUCCESS, aclrtMalloc(&device_a, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  EXPECT_ACL(ACL_SUCCESS, aclrtMalloc(&device_b, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  EXPECT_ACL(ACL_SUCCESS, aclrtMalloc(&table, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  EXPECT_ACL(ACL_SUCCESS, aclrtMallocHost(&pinned, kBytes));
  pages = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

World::~World() {
  EXPECT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
  EXPECT_ACL(ACL_SUCCESS, aclrtDestroyStream(stream));
  EXPECT_ACL(ACL_SUCCESS, aclrtDestroyEvent(event));
  EXPECT_ACL(ACL_SUCCESS, aclrtDestroyEvent(legacy_event));
  EXPECT_ACL(ACL_SUCCESS, aclrtFree(device_a));
  EXPECT_ACL(ACL_SUCCESS, aclrtFree(device_b));
  EXPECT_ACL(ACL_SUCCESS, aclrtFree(table));
  EXPECT_ACL(ACL_SUCCESS, aclrtFreeHost(pinned));
  munmap(pages, kBytes);
}

void World::Fill(void* device, int value) const {
  EXPECT_ACL(ACL_SUCCESS, aclrtMemset(device, kBytes, value, kBytes));
}

bool World::Holds(const void* device, int value) const {
  std::vector<std::uint8_t> seen(kBytes);
  EXPECT_ACL(ACL_SUCCESS, aclrtMemcpy(seen.data(), kBytes, device, kBytes, ACL_MEMCPY_DEVICE_TO_HOST));
  return seen == std::vector<std::uint8_t>(kBytes, static_cast<std::uint8_t>(value));
}

void DropEvent(World& w) {
  EXPECT_ACL(ACL_SUCCESS, aclrtDestroyEvent(w.results.event));
}

bool PointerReturned(World& w) {
  return w.results.pointer != nullptr;
}

std::vector<ApiCall> AllCalls() {
  std::vector<ApiCall> all;
  for (const auto& calls : {InitCalls(), DeviceCalls(), StreamCalls(), EventCalls(), MemoryCalls(),
                            CopyCalls(), SharingCalls(), ServerCalls(), ComputeCalls()}) {
    all.insert(all.end(), calls.begin(), calls.end());
  }
  return all;
}

}  // namespace sampan::fault
