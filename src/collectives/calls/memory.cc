// Memory of the program that it registers with communicators. Operators access all memory where it lies, so
// these calls check their arguments and remember, and no operator becomes faster.
#include <cstdint>
#include <optional>
#include <string>

#include "base/platform_bridge.h"
#include "collectives/calls/with_communicator.h"
#include "collectives/comm/user_memory.h"
#include "hccl/hccl_comm.h"

using namespace sampan::collectives;
using sampan::DeviceRange;
using sampan::Hex;
using sampan::Status;
using sampan::Text;
using sampan::hccl::Fail;
using sampan::hccl::Guard;

namespace {

HcclResult Wrong(const char* function, const std::string& text) {
  return Fail(function, HCCL_E_PARA, "EI0003: " + text);
}

HcclResult CodeOf(const char* function, const Status& status) {
  return status.ok() ? HCCL_SUCCESS : Wrong(function, status.error().message);
}

Extent ExtentOf(const void* address, std::uint64_t bytes) {
  return {reinterpret_cast<std::uintptr_t>(address), bytes};
}

/// Windows and ranges are a 910C's.
HcclResult CheckChip(const char* function, const char* what) {
  const std::string chip = sampanChipName();
  if (chip == "ascend910c") return HCCL_SUCCESS;
  return Fail(function, HCCL_E_NOT_SUPPORT, Text(chip, " has no ", what, ": set SAMPAN_PROFILE=ascend910c"));
}

HcclResult CheckValue(const char* function, const char* name, std::uint64_t value, std::uint64_t only) {
  return value == only ? HCCL_SUCCESS : Wrong(function, Text(name, " is ", value, ", it must be ", only));
}

HcclResult AddWindow(const char* function, const UserMemory::Window& window, const Communicator& communicator,
                     void** handle) {
  const auto* const address = reinterpret_cast<const void*>(window.extent.begin);
  DeviceRange range;
  if (window.extent.bytes == 0) return Wrong(function, "size is 0");
  const HcclResult found = FindBuffer(function, communicator, "addr", address, window.extent.bytes, range);
  if (found == HCCL_SUCCESS) *handle = TheUserMemory().AddWindow(window);
  return found;
}

/// The window of the handle, if it is one of this kind and, unless comm is NULL, of this communicator.
HcclResult FindWindow(const char* function, void* handle, HcclComm comm, bool is_symmetric) {
  const auto window = TheUserMemory().FindWindow(handle);
  if (window && window->is_symmetric == is_symmetric && (comm == nullptr || window->comm == comm))
    return HCCL_SUCCESS;
  return Wrong(function, Text(Hex(handle), " is no window, or it was deregistered"));
}

HcclResult RemoveWindow(const char* function, void* handle, HcclComm comm, bool is_symmetric) {
  const HcclResult found = FindWindow(function, handle, comm, is_symmetric);
  if (found == HCCL_SUCCESS) TheUserMemory().RemoveWindow(handle);
  return found;
}

/// Other processes cannot access memory that the program maps.
HcclResult CheckOneProcess(const char* function, const Communicator& communicator) {
  for (u32 rank = 0; rank < communicator.size(); ++rank) {
    if (!communicator.IsElsewhere(rank)) continue;
    return Fail(function, HCCL_E_NOT_SUPPORT,
                Text(communicator.NameRank(rank),
                     " is another process: it cannot access memory that this one maps, use "
                     "aclrtMalloc"));
  }
  return HCCL_SUCCESS;
}

}  // namespace

HcclResult HcclCommRegister(HcclComm comm, void* addr, uint64_t size, void** handle, uint32_t flag) {
  constexpr const char* kFunction = "HcclCommRegister";
  return WithCommunicator(kFunction, comm, {{"addr", addr}, {"handle", handle}}, [&](Communicator& found) {
    const HcclResult flags = CheckValue(kFunction, "flag", flag, 0);
    if (flags != HCCL_SUCCESS) return flags;
    return AddWindow(kFunction, {comm, ExtentOf(addr, size), false}, found, handle);
  });
}

HcclResult HcclCommDeregister(HcclComm comm, void* handle) {
  constexpr const char* kFunction = "HcclCommDeregister";
  return WithCommunicator(kFunction, comm, {{"handle", handle}},
                          [&](Communicator&) { return RemoveWindow(kFunction, handle, comm, false); });
}

HcclResult HcclCommExchangeMem(HcclComm comm, void* handle, uint32_t* peerRanks, uint32_t peerRankNum) {
  constexpr const char* kFunction = "HcclCommExchangeMem";
  return WithCommunicator(
      kFunction, comm, {{"handle", handle}, {"peerRanks", peerRanks}},
      [&](Communicator& found) -> HcclResult {
        if (const HcclResult window = FindWindow(kFunction, handle, comm, false); window != HCCL_SUCCESS)
          return window;
        if (peerRankNum == 0 || peerRankNum > found.size())
          return Wrong(kFunction, Text("peerRankNum is ", peerRankNum, ", it must be 1 to ", found.size()));
        HcclResult result = HCCL_SUCCESS;
        for (uint32_t i = 0; result == HCCL_SUCCESS && i < peerRankNum; ++i)
          result = CheckRank(kFunction, "an entry of peerRanks", peerRanks[i], found.size());
        return result;
      });
}

HcclResult HcclCommSymWinRegister(HcclComm comm, void* addr, uint64_t size, HcclCommSymWindow* winHandle,
                                  uint32_t flag) {
  constexpr const char* kFunction = "HcclCommSymWinRegister";
  return WithCommunicator(
      kFunction, comm, {{"addr", addr}, {"winHandle", winHandle}}, [&](Communicator& found) -> HcclResult {
        const std::uint64_t max_gb = found.facts().options.max_window_gb;
        HcclResult result = CheckChip(kFunction, "symmetric windows");
        if (result == HCCL_SUCCESS) result = CheckValue(kFunction, "flag", flag, 1);
        if (result != HCCL_SUCCESS) return result;
        if (size >> 30 >= max_gb && size != max_gb << 30)
          return Wrong(kFunction,
                       Text("size is ", size, ", hcclSymWinMaxMemSizePerRank allows ", max_gb, " GB"));
        return AddWindow(kFunction, {comm, ExtentOf(addr, size), true}, found, winHandle);
      });
}

HcclResult HcclCommSymWinDeregister(HcclCommSymWindow winHandle) {
  constexpr const char* kFunction = "HcclCommSymWinDeregister";
  return Guard(kFunction, [&] {
    const HcclResult pointer = CheckPointers(kFunction, {{"winHandle", winHandle}});
    return pointer == HCCL_SUCCESS ? RemoveWindow(kFunction, winHandle, nullptr, true) : pointer;
  });
}

HcclResult HcclCommSymWinGet(HcclComm comm, void* ptr, size_t size, HcclCommSymWindow* winHandle,
                             size_t* offset) {
  constexpr const char* kFunction = "HcclCommSymWinGet";
  return WithCommunicator(
      kFunction, comm, {{"ptr", ptr}, {"winHandle", winHandle}, {"offset", offset}},
      [&](Communicator&) -> HcclResult {
        if (const HcclResult chip = CheckChip(kFunction, "symmetric windows"); chip != HCCL_SUCCESS)
          return chip;
        if (size == 0) return Wrong(kFunction, "size is 0");
        const Extent part = ExtentOf(ptr, size);
        void* const handle = TheUserMemory().SymmetricWindowWith(comm, part);
        const auto window = TheUserMemory().FindWindow(handle);
        if (!window)
          return Fail(kFunction, HCCL_E_NOT_FOUND,
                      Text("no symmetric window of the communicator holds ", size, " bytes at ", Hex(ptr)));
        *winHandle = handle;
        *offset = part.begin - window->extent.begin;
        return HCCL_SUCCESS;
      });
}

HcclResult HcclSymWinGetPeerPointer(HcclCommSymWindow winHandle, size_t, uint32_t, void** ptr) {
  constexpr const char* kFunction = "HcclSymWinGetPeerPointer";
  return Guard(kFunction, [&] {
    const HcclResult pointers = CheckPointers(kFunction, {{"winHandle", winHandle}, {"ptr", ptr}});
    if (pointers != HCCL_SUCCESS) return pointers;
    return Fail(kFunction, HCCL_E_NOT_SUPPORT,
                "kernels on the device call it, and these devices run none: the host calls operators");
  });
}

HcclResult HcclCommSetMemoryRange(HcclComm comm, void* baseVirPtr, size_t size, size_t alignment,
                                  uint64_t flags) {
  constexpr const char* kFunction = "HcclCommSetMemoryRange";
  return WithCommunicator(kFunction, comm, {{"baseVirPtr", baseVirPtr}}, [&](Communicator&) -> HcclResult {
    HcclResult result = CheckChip(kFunction, "ranges of memory");
    if (result == HCCL_SUCCESS) result = CheckValue(kFunction, "alignment", alignment, 0);
    if (result == HCCL_SUCCESS) result = CheckValue(kFunction, "flags", flags, 0);
    if (result != HCCL_SUCCESS) return result;
    if (size == 0) return Wrong(kFunction, "size is 0");
    return CodeOf(kFunction, TheUserMemory().AddRange(ExtentOf(baseVirPtr, size)));
  });
}

HcclResult HcclCommUnsetMemoryRange(HcclComm comm, void* baseVirPtr) {
  constexpr const char* kFunction = "HcclCommUnsetMemoryRange";
  return WithCommunicator(kFunction, comm, {{"baseVirPtr", baseVirPtr}}, [&](Communicator&) {
    const HcclResult chip = CheckChip(kFunction, "ranges of memory");
    if (chip != HCCL_SUCCESS) return chip;
    return CodeOf(kFunction, TheUserMemory().RemoveRange(ExtentOf(baseVirPtr, 0).begin));
  });
}

HcclResult HcclCommActivateCommMemory(HcclComm comm, void* virPtr, size_t size, size_t offset,
                                      aclrtDrvMemHandle handle, uint64_t flags) {
  constexpr const char* kFunction = "HcclCommActivateCommMemory";
  return WithCommunicator(kFunction, comm, {{"virPtr", virPtr}, {"handle", handle}},
                          [&](Communicator& found) -> HcclResult {
                            HcclResult result = CheckChip(kFunction, "ranges of memory");
                            if (result == HCCL_SUCCESS) result = CheckValue(kFunction, "offset", offset, 0);
                            if (result == HCCL_SUCCESS) result = CheckValue(kFunction, "flags", flags, 0);
                            if (result == HCCL_SUCCESS) result = CheckOneProcess(kFunction, found);
                            if (result != HCCL_SUCCESS) return result;
                            if (size == 0) return Wrong(kFunction, "size is 0");
                            DeviceRange mapped;
                            result = FindBuffer(kFunction, found, "virPtr", virPtr, size, mapped);
                            if (result != HCCL_SUCCESS) return result;
                            return CodeOf(kFunction, TheUserMemory().Activate(ExtentOf(virPtr, size)));
                          });
}

HcclResult HcclCommDeactivateCommMemory(HcclComm comm, void* virPtr) {
  constexpr const char* kFunction = "HcclCommDeactivateCommMemory";
  return WithCommunicator(kFunction, comm, {{"virPtr", virPtr}}, [&](Communicator&) {
    const HcclResult chip = CheckChip(kFunction, "ranges of memory");
    if (chip != HCCL_SUCCESS) return chip;
    return CodeOf(kFunction, TheUserMemory().Deactivate(ExtentOf(virPtr, 0).begin));
  });
}
