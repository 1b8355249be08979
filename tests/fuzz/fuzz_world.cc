// Makes, chooses from and takes away what fuzzed calls work on.
#include "tests/fuzz/fuzz_world.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace sampan::fuzz {
namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kTableBytes = 1024;
constexpr std::size_t kBystanderBytes = 4096;
constexpr std::uint8_t kBystanderByte = 0xB7;
constexpr std::int32_t kLongMs = 30000;

void Require(aclError code, const char* what) {
  if (code != ACL_SUCCESS) Violation(what, code);
}

}  // namespace

void Violation(const char* what, long long value) {
  const char* const message = aclGetRecentErrMsg();
  std::fprintf(stderr, "violation: %s (%lld)\n%s\n", what, value, message != nullptr ? message : "");
  std::abort();
}

void Judge(aclError code) {
  if (code == ACL_SUCCESS) return;
  if (code < 100000 || code > 507999) Violation("a code of no family", code);
  if (aclGetRecentErrMsg() == nullptr) Violation("an error without a message", code);
}

World::World() : heap_(kLargestBuffer) {
  for (int device = kDevices - 1; device >= 0; --device)
    Require(aclrtSetDevice(device), "aclrtSetDevice");
  MakeBystander(bystanders_[0]);
  Require(aclrtMalloc(&table, kTableBytes, ACL_MEM_MALLOC_HUGE_FIRST), "aclrtMalloc");
  Require(aclrtMemset(table, kTableBytes, 0, kTableBytes), "aclrtMemset");
  Allocate(buffers[0], Memory::kDevice, 3000);
  Allocate(buffers[1], Memory::kPinned, 3000);
  Allocate(buffers[2], Memory::kPageable, 4096);
  Allocate(buffers[3], Memory::kDevice, 100);
  MakeBystander(bystanders_[1]);
  Require(aclrtCreateStream(&streams[0]), "aclrtCreateStream");
  Require(aclrtCreateEventExWithFlag(&events[0], ACL_EVENT_SYNC), "aclrtCreateEventExWithFlag");
  stream_live[0] = event_live[0] = true;
}

World::~World() {
  aclrtSetDevice(0);
  sharing.End();
  if (reset_devices) {
    for (int device = 0; device < kDevices; ++device)
      aclrtResetDeviceForce(device);
  }
  for (std::size_t i = 0; i < kHandles; ++i) {
    if (stream_live[i]) aclrtDestroyStreamForce(streams[i]);
    if (event_live[i]) aclrtDestroyEvent(events[i]);
  }
  for (void* const address : registered_)
    aclrtHostUnregister(address);
  for (Buffer& buffer : buffers) {
    if (buffer.state == Buffer::State::kLive) Free(buffer, false);
  }
  for (const Bystander& bystander : bystanders_) {
    aclrtFree(bystander.device);
    aclrtFreeHost(bystander.pinned);
  }
  aclrtFree(table);
  for (const Mapping& mapping : mappings_)
    munmap(mapping.base, mapping.bytes);
  while (aclrtResetDevice(0) == ACL_SUCCESS) {
  }
  while (aclrtResetDevice(1) == ACL_SUCCESS) {
  }
}

void World::MakeBystander(Bystander& bystander) {
  Require(aclrtMalloc(&bystander.device, kBystanderBytes, ACL_MEM_MALLOC_HUGE_FIRST), "aclrtMalloc");
  Require(aclrtMallocHost(&bystander.pinned, kBystanderBytes), "aclrtMallocHost");
  bystander.heap.assign(kBystanderBytes, kBystanderByte);
  std::copy(bystander.heap.begin(), bystander.heap.end(), static_cast<std::uint8_t*>(bystander.pinned));
  Require(aclrtMemset(bystander.device, kBystanderBytes, kBystanderByte, kBystanderBytes), "aclrtMemset");
}

void World::CheckBystander(const Bystander& bystander) {
  const auto intact = [](const std::uint8_t* bytes) {
    return std::all_of(bytes, bytes + kBystanderBytes,
                       [](std::uint8_t byte) { return byte == kBystanderByte; });
  };
  if (!intact(bystander.heap.data())) Violation("a bystander on the heap was touched");
  if (!intact(static_cast<const std::uint8_t*>(bystander.pinned)))
    Violation("a pinned bystander was touched");
  if (reset_devices) return;
  std::vector<std::uint8_t> seen(kBystanderBytes);
  Require(
      aclrtMemcpy(seen.data(), kBystanderBytes, bystander.device, kBystanderBytes, ACL_MEMCPY_DEVICE_TO_HOST),
      "aclrtMemcpy from a bystander");
  if (!intact(seen.data())) Violation("a bystander on the device was touched");
}

void World::Check() {
  for (int device = 0; device < kDevices; ++device) {
    Require(aclrtSetDevice(device), "aclrtSetDevice");
    aclrtGetLastError(ACL_RT_THREAD_LEVEL);
    if (aclrtSynchronizeStreamWithTimeout(nullptr, kLongMs) == ACL_ERROR_RT_STREAM_SYNC_TIMEOUT) {
      Violation("a default stream does not end");
    }
  }
  for (std::size_t i = 0; i < kHandles; ++i) {
    if (!stream_live[i]) continue;
    if (aclrtSynchronizeStreamWithTimeout(streams[i], kLongMs) == ACL_ERROR_RT_STREAM_SYNC_TIMEOUT) {
      Violation("a stream does not end", static_cast<long long>(i));
    }
  }
  Require(aclrtSetDevice(0), "aclrtSetDevice");
  for (const Bystander& bystander : bystanders_)
    CheckBystander(bystander);
}

void* World::MapBetweenGuards(std::size_t bytes, int protection) {
  const std::size_t inner = (bytes + kPage - 1) / kPage * kPage;
  void* const base =
      mmap(nullptr, inner + 2 * kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) Violation("mmap");
  mappings_.push_back({base, inner + 2 * kPage});
  auto* const begin = static_cast<std::uint8_t*>(base) + kPage;
  if (mprotect(begin, inner, protection) != 0) Violation("mprotect");
  return begin;
}

void World::Allocate(Buffer& buffer, Memory memory, std::size_t bytes) {
  if (buffer.state == Buffer::State::kLive) return;
  Buffer made;
  made.memory = memory;
  made.bytes = bytes;
  aclError code = ACL_SUCCESS;
  switch (memory) {
    case Memory::kDevice:
      code = aclrtMalloc(&made.address, bytes, ACL_MEM_MALLOC_HUGE_FIRST);
      break;
    case Memory::kPinned:
      code = aclrtMallocHost(&made.address, bytes);
      break;
    case Memory::kRegistered: {
      made.address = MapBetweenGuards(std::max<std::size_t>(bytes, 1), PROT_READ | PROT_WRITE);
      void* seen_by_device = nullptr;
      code = aclrtHostRegister(made.address, bytes, ACL_HOST_REGISTER_MAPPED, &seen_by_device);
      if (code == ACL_SUCCESS) registered_.push_back(made.address);
      break;
    }
    case Memory::kPageable:
    case Memory::kReadOnly:
      made.bytes = (bytes / kPage + 1) * kPage;
      made.address =
          MapBetweenGuards(made.bytes, memory == Memory::kPageable ? PROT_READ | PROT_WRITE : PROT_READ);
      break;
    case Memory::kHeap:
      made.address = heap_.data();
      made.bytes = heap_.size();
      break;
  }
  if (code == ACL_SUCCESS && made.address == nullptr) Violation("an allocation succeeded without an address");
  if (code != ACL_SUCCESS) return;
  made.state = Buffer::State::kLive;
  buffer = made;
}

void World::Free(Buffer& buffer, bool with_sync) {
  switch (buffer.memory) {
    case Memory::kDevice:
      with_sync ? aclrtFreeWithDevSync(buffer.address) : aclrtFree(buffer.address);
      break;
    case Memory::kPinned:
      with_sync ? aclrtFreeHostWithDevSync(buffer.address) : aclrtFreeHost(buffer.address);
      break;
    case Memory::kRegistered:
      // The pages stay until the input ends: a copy may be running on them.
      if (aclrtHostUnregister(buffer.address) == ACL_SUCCESS) std::erase(registered_, buffer.address);
      break;
    default:
      break;
  }
  if (buffer.state == Buffer::State::kLive) buffer.state = Buffer::State::kFreed;
}

Argument World::PickPointer(Input& input) {
  const std::size_t choice = input.Below(16);
  if (choice == 0) return {};
  if (choice == 1) {
    static constexpr std::uintptr_t kWild[] = {0x10, 0x1000, 0xDEAD000000000000, 0xFFFFFFFFFFFFF000,
                                               0x7FFFFFFFF000};
    return {reinterpret_cast<void*>(kWild[input.Below(std::size(kWild))])};
  }
  if (choice == 2) return {static_cast<std::uint8_t*>(table) + input.Below(4) * 64};
  if (choice == 3) return {sharing.PickAddress(input)};
  const Buffer& buffer = PickBuffer(input);
  if (buffer.state == Buffer::State::kNever) return {};
  // Up to the end of its last page: the memory behind it belongs to others.
  std::size_t offset = input.Short() % ((buffer.bytes + kPage - 1) / kPage * kPage);
  if (buffer.memory == Memory::kHeap) offset %= buffer.bytes;
  Argument argument{static_cast<std::uint8_t*>(buffer.address) + offset};
  if (buffer.memory == Memory::kHeap) argument.max_bytes = buffer.bytes - offset;
  return argument;
}

void* World::PickDevicePointer(Input& input) {
  for (std::size_t i = input.Below(kSlots), tries = 0; tries < kSlots; ++tries, i = (i + 1) % kSlots) {
    if (buffers[i].state == Buffer::State::kLive && buffers[i].memory == Memory::kDevice) {
      return static_cast<std::uint8_t*>(buffers[i].address) + input.Byte();
    }
  }
  return PickPointer(input).pointer;
}

std::size_t World::PickSize(Input& input, std::size_t max_bytes) {
  std::size_t size = 0;
  switch (input.Below(8)) {
    case 0:
      size = 0;
      break;
    case 1:
      size = static_cast<std::size_t>(input.Long());
      break;
    case 2:
      size = SIZE_MAX - input.Byte();
      break;
    case 3:
      size = input.Byte();
      break;
    default:
      size = input.Short() % 5000;
      break;
  }
  return std::min(size, max_bytes);
}

aclrtStream World::PickStream(Input& input) {
  const std::size_t choice = input.Below(8);
  if (choice == 0) return nullptr;
  if (choice == 1) return events[input.Below(kHandles)];
  if (choice == 2) return reinterpret_cast<aclrtStream>(input.Long());
  return streams[input.Below(kHandles)];
}

aclrtEvent World::PickEvent(Input& input) {
  const std::size_t choice = input.Below(8);
  if (choice == 0) return nullptr;
  if (choice == 1) return streams[input.Below(kHandles)];
  if (choice == 2) return reinterpret_cast<aclrtEvent>(input.Long());
  return events[input.Below(kHandles)];
}

}  // namespace sampan::fuzz
