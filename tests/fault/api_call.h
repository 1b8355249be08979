// A public function as the fault tests call it, and the things that the calls work on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "acl/acl.h"

namespace sampan::fault {

/// The size of the world's buffers.
inline constexpr std::size_t kBytes = 4096;

/// What calls work on: made once per test, on device 0, and used again for every attempt. One thread.
struct World {
  aclrtContext primary = nullptr;
  aclrtStream stream = nullptr;
  aclrtEvent event = nullptr;         ///< Ex, recorded and over
  aclrtEvent legacy_event = nullptr;  ///< recorded and over, with times
  void *device_a = nullptr, *device_b = nullptr, *pinned = nullptr, *table = nullptr;
  std::vector<std::uint8_t> pageable;
  void* pages = nullptr;    ///< page-aligned pageable memory
  std::string config_path;  ///< a file for aclInit

  /// What calls write to; cleared before each attempt.
  struct Results {
    void* pointer = nullptr;
    aclrtStream stream = nullptr;
    aclrtEvent event = nullptr;
    aclrtContext context = nullptr;
    aclDataBuffer* buffer = nullptr;
    aclrtNotify notify = nullptr;
    aclrtDrvMemHandle physical = nullptr;
    void* range = nullptr;
    void* pool = nullptr;
    std::size_t size = 0, other_size = 0;
    std::uint64_t number = 0;
    char text[512] = {};
  } results;
  int calls = 0;  ///< of functions that the library calls back

  World();
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  /// Device memory of kBytes, whole.
  void Fill(void* device, int value) const;
  bool Holds(const void* device, int value) const;
  bool Drained() const { return aclrtSynchronizeStream(stream) == ACL_SUCCESS; }
};

using Step = void (*)(World&);
using Check = bool (*)(World&);

struct ApiCall {
  const char* name = "";
  aclError (*call)(World&) = nullptr;
  Step prepare = nullptr;      ///< before each attempt
  Check right = nullptr;       ///< after a success: what was asked for was done
  Check claims = nullptr;      ///< after a failure: something was handed out or done all the same
  Step undo = nullptr;         ///< after a success
  bool needs_servers = false;  ///< runs on a chip with servers, by the test fault_servers
};

/// Steps and checks of more than one call.
void DropEvent(World& w);
bool PointerReturned(World& w);

/// Every public function that the library implements is in one of these.
std::vector<ApiCall> InitCalls();
std::vector<ApiCall> DeviceCalls();
std::vector<ApiCall> StreamCalls();
std::vector<ApiCall> EventCalls();
std::vector<ApiCall> MemoryCalls();
std::vector<ApiCall> CopyCalls();
std::vector<ApiCall> SharingCalls();
std::vector<ApiCall> ServerCalls();
std::vector<ApiCall> ComputeCalls();

std::vector<ApiCall> AllCalls();

}  // namespace sampan::fault
