// libFuzzer target: bytes become a sequence of API calls, right ones and wrong ones.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <iterator>

#include "acl/acl.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/fuzz/fuzz_world.h"

namespace sampan::fuzz {
namespace {

constexpr int kMaxCalls = 120;
constexpr std::size_t kUntouched = 0x5EED;

aclrtMemcpyKind PickKind(Input& input) {
  return static_cast<aclrtMemcpyKind>(static_cast<int>(input.Below(11)) - 1);
}

/// The largest size that neither end's owner forbids.
std::size_t SizeFor(World& world, Input& input, const Argument& dst, const Argument& src) {
  return world.PickSize(input, std::min(dst.max_bytes, src.max_bytes));
}

void Copy(World& world, Input& input) {
  const Argument dst = world.PickPointer(input), src = world.PickPointer(input);
  const std::size_t bytes = SizeFor(world, input, dst, src);
  const std::size_t dst_max = input.Below(4) == 0 ? world.PickSize(input) : bytes;
  const aclrtMemcpyKind kind = PickKind(input);
  switch (input.Below(4)) {
    case 0:
      return Judge(aclrtMemcpy(dst.pointer, dst_max, src.pointer, bytes, kind));
    default:
      return Judge(aclrtMemcpyAsync(dst.pointer, dst_max, src.pointer, bytes, kind, world.PickStream(input)));
  }
}

void CopyRows(World& world, Input& input) {
  const Argument dst = world.PickPointer(input), src = world.PickPointer(input);
  // Heap blocks end where only the fuzzer knows: one row there.
  const bool bounded = dst.max_bytes != SIZE_MAX || src.max_bytes != SIZE_MAX;
  const std::size_t width = SizeFor(world, input, dst, src);
  const std::size_t dst_pitch = input.Below(2) == 0 ? width : world.PickSize(input);
  const std::size_t src_pitch = input.Below(2) == 0 ? width : world.PickSize(input);
  const std::size_t height = bounded ? 1 : world.PickSize(input);
  const aclrtMemcpyKind kind = PickKind(input);
  if (input.Below(2) == 0) {
    return Judge(aclrtMemcpy2d(dst.pointer, dst_pitch, src.pointer, src_pitch, width, height, kind));
  }
  Judge(aclrtMemcpy2dAsync(dst.pointer, dst_pitch, src.pointer, src_pitch, width, height, kind,
                           world.PickStream(input)));
}

void CopyBatch(World& world, Input& input) {
  constexpr std::size_t kMaxEntries = 12;
  void *dsts[kMaxEntries] = {}, *srcs[kMaxEntries] = {};
  std::size_t maxima[kMaxEntries] = {}, sizes[kMaxEntries] = {}, indexes[kMaxEntries] = {};
  aclrtMemcpyBatchAttr attributes[kMaxEntries] = {};
  const std::size_t count = input.Below(kMaxEntries + 1);
  const std::size_t attribute_count =
      input.Below(4) == 0 ? input.Below(kMaxEntries + 1) : std::min<std::size_t>(count, 1);
  for (std::size_t i = 0; i < count; ++i) {
    const Argument dst = world.PickPointer(input), src = world.PickPointer(input);
    dsts[i] = dst.pointer;
    srcs[i] = src.pointer;
    sizes[i] = SizeFor(world, input, dst, src);
    maxima[i] = input.Below(8) == 0 ? world.PickSize(input) : sizes[i];
  }
  for (std::size_t i = 0; i < attribute_count; ++i) {
    attributes[i].dstLoc = {static_cast<std::uint32_t>(input.Below(3)),
                            static_cast<aclrtMemLocationType>(input.Below(5))};
    attributes[i].srcLoc = {static_cast<std::uint32_t>(input.Below(3)),
                            static_cast<aclrtMemLocationType>(input.Below(5))};
    attributes[i].rsv[0] = input.Below(32) == 1 ? 1 : 0;
    indexes[i] = i == 0 ? input.Below(16) / 15 : input.Below(kMaxEntries);
  }
  std::size_t failed = kUntouched;
  aclError code = ACL_SUCCESS;
  switch (input.Below(4)) {
    case 0:
      code =
          aclrtMemcpyBatch(dsts, maxima, srcs, sizes, count, attributes, indexes, attribute_count, &failed);
      break;
    case 1:
      code = aclrtMemcpyBatchV2(dsts, maxima, srcs, sizes, count, attributes, indexes, attribute_count);
      break;
    case 2:
      code = aclrtMemcpyBatchAsyncV2(dsts, maxima, srcs, sizes, count, attributes, indexes, attribute_count,
                                     world.PickStream(input));
      break;
    default:
      code = aclrtMemcpyBatchAsync(dsts, maxima, srcs, sizes, count, attributes, indexes, attribute_count,
                                   &failed, world.PickStream(input));
  }
  Judge(code);
  if (failed != kUntouched && failed != SIZE_MAX && failed >= count) {
    Violation("failIndex names no entry", static_cast<long long>(failed));
  }
  if (code == ACL_SUCCESS && failed != kUntouched && failed != SIZE_MAX)
    Violation("success with a failIndex");
}

void Fill(World& world, Input& input) {
  const Argument dst = world.PickPointer(input);
  const std::size_t bytes = world.PickSize(input, dst.max_bytes);
  const std::size_t dst_max = input.Below(4) == 0 ? world.PickSize(input) : bytes;
  const std::size_t words = std::min(bytes, dst.max_bytes / 4);
  switch (input.Below(4)) {
    case 0:
      return Judge(aclrtMemset(dst.pointer, dst_max, input.Byte(), bytes));
    case 1:
      return Judge(aclrtMemsetAsync(dst.pointer, dst_max, input.Byte(), bytes, world.PickStream(input)));
    case 2:
      return Judge(aclrtMemsetD32(dst.pointer, bytes * 4, input.Byte() * 0x01020304U, words));
    default:
      return Judge(aclrtMemsetD32Async(dst.pointer, bytes * 4, input.Byte() * 0x01020304U, words,
                                       world.PickStream(input)));
  }
}

void CopyIndirectly(World& world, Input& input) {
  auto* const cell = static_cast<std::uint8_t*>(world.table) + input.Below(4) * 64;
  auto* const other = static_cast<std::uint8_t*>(world.table) + input.Below(4) * 64;
  const auto kind = input.Below(8) == 0 ? PickKind(input) : ACL_MEMCPY_INNER_DEVICE_TO_DEVICE;
  switch (input.Below(5)) {
    case 0:
      return Judge(aclrtSetMemcpyDesc(cell, kind, world.PickDevicePointer(input),
                                      world.PickDevicePointer(input), world.PickSize(input),
                                      input.Below(8) == 0 ? cell : nullptr));
    case 1: {
      void* const desc = input.Below(8) == 0 ? world.PickPointer(input).pointer : cell;
      return Judge(aclrtMemcpyAsyncWithDesc(desc, kind, world.PickStream(input)));
    }
    case 2: {
      // Operands of the program's own making: length, source, destination.
      std::uint8_t operands[20];
      const auto bytes = static_cast<std::uint32_t>(world.PickSize(input));
      void* const src = world.PickDevicePointer(input);
      void* const dst = world.PickDevicePointer(input);
      std::memcpy(operands, &bytes, 4);
      std::memcpy(operands + 4, &src, 8);
      std::memcpy(operands + 12, &dst, 8);
      return Judge(
          aclrtMemcpy(cell + 12, sizeof(operands), operands, sizeof(operands), ACL_MEMCPY_HOST_TO_DEVICE));
    }
    case 3: {
      void* const pointer = world.PickDevicePointer(input);
      return Judge(aclrtMemcpy(cell, sizeof(pointer), &pointer, sizeof(pointer), ACL_MEMCPY_HOST_TO_DEVICE));
    }
    default: {
      const std::size_t bytes = world.PickSize(input);
      return Judge(aclrtMemcpyAsyncWithOffset(reinterpret_cast<void**>(cell), world.PickSize(input),
                                              world.PickSize(input),
                                              const_cast<const void**>(reinterpret_cast<void**>(other)),
                                              bytes, world.PickSize(input), kind, world.PickStream(input)));
    }
  }
}

void UseMemory(World& world, Input& input) {
  Buffer& buffer = world.PickBuffer(input);
  switch (input.Below(5)) {
    case 0:
    case 1:
      return world.Allocate(buffer, static_cast<Memory>(input.Below(6)), input.Short() % kLargestBuffer);
    case 2:
      return world.Free(buffer, input.Below(2) == 0);
    case 3: {
      aclrtPtrAttributes attributes = {};
      return Judge(aclrtPointerGetAttributes(world.PickPointer(input).pointer, &attributes));
    }
    default: {
      if (buffer.state == Buffer::State::kNever) return;
      // Never a base address: those are the world's to free.
      auto* const inside = static_cast<std::uint8_t*>(buffer.address) + 1 + input.Byte();
      return Judge(input.Below(2) == 0 ? aclrtFree(inside) : aclrtFreeHost(inside));
    }
  }
}

void UseStream(World& world, Input& input) {
  const std::size_t slot = input.Below(kHandles);
  aclrtStreamStatus status;
  std::int32_t id = 0;
  switch (input.Below(9)) {
    case 0:
    case 1:
      if (world.stream_live[slot]) return;
      world.stream_live[slot] =
          aclrtCreateStreamWithConfig(&world.streams[slot], input.Byte(), input.Byte() & 3U) == ACL_SUCCESS;
      return;
    case 2: {
      const aclError code = input.Below(2) == 0 ? aclrtDestroyStream(world.streams[slot])
                                                : aclrtDestroyStreamForce(world.streams[slot]);
      if (code == ACL_SUCCESS) world.stream_live[slot] = false;
      return;
    }
    case 3:
      return Judge(aclrtSynchronizeStream(world.PickStream(input)));
    case 4:
      return Judge(aclrtSynchronizeStreamWithTimeout(world.PickStream(input), input.Byte() - 2));
    case 5:
      return Judge(aclrtStreamQuery(world.PickStream(input), &status));
    case 6:
      return Judge(aclrtStreamAbort(world.PickStream(input)));
    case 7:
      return Judge(aclrtStreamGetId(world.PickStream(input), &id));
    default: {
      static std::atomic<int> calls;
      const auto count = [](void* counter) { ++*static_cast<std::atomic<int>*>(counter); };
      return Judge(aclrtLaunchHostFunc(world.PickStream(input), count, &calls));
    }
  }
}

void UseEvent(World& world, Input& input) {
  const std::size_t slot = input.Below(kHandles);
  aclrtEventRecordedStatus status;
  float ms = 0;
  switch (input.Below(10)) {
    case 0: {
      if (world.event_live[slot]) return;
      const std::uint32_t flags = input.Byte();
      const aclError code = input.Below(2) == 0 ? aclrtCreateEventExWithFlag(&world.events[slot], flags)
                                                : aclrtCreateEventWithFlag(&world.events[slot], flags);
      world.event_live[slot] = code == ACL_SUCCESS;
      return Judge(code);
    }
    case 1:
      if (aclrtDestroyEvent(world.events[slot]) == ACL_SUCCESS) world.event_live[slot] = false;
      return;
    case 2:
    case 3:
      return Judge(aclrtRecordEvent(world.PickEvent(input), world.PickStream(input)));
    case 4:
    case 5:
      return Judge(aclrtStreamWaitEvent(world.PickStream(input), world.PickEvent(input)));
    case 6:
      return Judge(aclrtResetEvent(world.PickEvent(input), world.PickStream(input)));
    case 7:
      return Judge(aclrtSynchronizeEventWithTimeout(world.PickEvent(input), input.Byte() - 2));
    case 8:
      return Judge(aclrtQueryEventStatus(world.PickEvent(input), &status));
    default:
      return Judge(aclrtEventElapsedTime(&ms, world.PickEvent(input), world.PickEvent(input)));
  }
}

void UseDevice(World& world, Input& input) {
  const auto device = static_cast<std::int32_t>(input.Below(4)) - 1;
  switch (input.Below(8)) {
    case 0:
    case 1:
    case 2:
      return Judge(aclrtSetDevice(device));
    case 3:
      return Judge(aclrtDeviceEnablePeerAccess(device, static_cast<std::uint32_t>(input.Below(8) / 7)));
    case 4:
      return Judge(aclrtDeviceDisablePeerAccess(device));
    case 5:
      return Judge(aclrtSynchronizeDeviceWithTimeout(input.Byte() - 2));
    case 6:
      // Sticky by design: the devices are reset for the next input.
      world.reset_devices = true;
      return Judge(aclrtSetStreamFailureMode(world.PickStream(input), input.Byte()));
    default: {
      std::size_t free = 0, total = 0;
      return Judge(aclrtGetMemInfo(static_cast<aclrtMemAttr>(input.Below(20)), &free, &total));
    }
  }
}

void Share(World& world, Input& input) {
  switch (input.Below(8)) {
    case 0:
    case 1:
      return world.sharing.UsePool(world, input);
    case 2:
      return world.sharing.UseNotify(world, input);
    case 3:
      return world.sharing.UseWord(world, input);
    case 4:
    case 5:
      return world.sharing.UseAddresses(world, input);
    case 6:
      return world.sharing.UsePhysical(input);
    default:
      return world.sharing.UseKey(world, input);
  }
}

using Step = void (*)(World&, Input&);
constexpr Step kSteps[] = {Copy,     Copy,      Share,          CopyRows,       CopyBatch, Share,
                           Fill,     UseMemory, CopyIndirectly, CopyIndirectly, UseStream, UseStream,
                           UseEvent, UseEvent,  UseDevice,      Share};

}  // namespace
}  // namespace sampan::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sampan::fuzz;
  Input input({data, size});
  World world;
  for (int call = 0; call < kMaxCalls && !input.empty(); ++call) {
    kSteps[input.Below(std::size(kSteps))](world, input);
  }
  world.Check();
  return 0;
}
