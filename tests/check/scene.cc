// What the cases of tests/check share.
#include "tests/check/scene.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace sampan::check_cases {

void Expect(aclError code, const char* call) {
  if (code == ACL_SUCCESS) return;
  std::fprintf(stderr, "%s answered %d: %s\n", call, code, aclGetRecentErrMsg());
  std::exit(3);
}

void After(aclrtStream later, aclrtStream earlier, aclrtEvent event) {
  OK(aclrtRecordEvent(event, earlier));
  OK(aclrtStreamWaitEvent(later, event));
}

Scene::Scene() {
  OK(aclrtSetDevice(0));
}

Scene::~Scene() {
  // A case may leave its streams failed.
  aclrtSynchronizeDevice();
  for (auto thing = things_.rbegin(); thing != things_.rend(); ++thing)
    Release(*thing);
}

void Scene::Release(const Thing& thing) {
  switch (thing.kind) {
    case Kind::kDevice:
      return OK(aclrtFree(thing.handle));
    case Kind::kPinned:
      return OK(aclrtFreeHost(thing.handle));
    case Kind::kRegistered:
      OK(aclrtHostUnregister(thing.handle));
      ::munmap(thing.handle, thing.bytes);
      return;
    case Kind::kPageable:
      return std::free(thing.handle);
    case Kind::kStream:
      return OK(aclrtDestroyStream(thing.handle));
    case Kind::kEvent:
      return OK(aclrtDestroyEvent(thing.handle));
    case Kind::kNotify:
      return OK(aclrtDestroyNotify(thing.handle));
  }
}

char* Scene::Fresh(std::size_t bytes) {
  void* memory = nullptr;
  OK(aclrtMalloc(&memory, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
  things_.push_back({Kind::kDevice, memory, bytes});
  return static_cast<char*>(memory);
}

char* Scene::Device(std::size_t bytes) {
  char* const memory = Fresh(bytes);
  OK(aclrtMemset(memory, bytes, 0x5a, bytes));
  return memory;
}

char* Scene::Pinned(std::size_t bytes) {
  void* memory = nullptr;
  OK(aclrtMallocHost(&memory, bytes));
  std::fill_n(static_cast<char*>(memory), bytes, '\x33');
  things_.push_back({Kind::kPinned, memory, bytes});
  return static_cast<char*>(memory);
}

char* Scene::Registered(std::size_t bytes) {
  void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) std::abort();
  std::fill_n(static_cast<char*>(memory), bytes, '\x44');
  void* seen_by_device = nullptr;
  OK(aclrtHostRegister(memory, bytes, ACL_HOST_REGISTER_MAPPED, &seen_by_device));
  things_.push_back({Kind::kRegistered, memory, bytes});
  return static_cast<char*>(memory);
}

char* Scene::Pageable(std::size_t bytes) {
  void* const memory = std::malloc(bytes);
  if (memory == nullptr) std::abort();
  std::fill_n(static_cast<char*>(memory), bytes, '\x55');
  things_.push_back({Kind::kPageable, memory, bytes});
  return static_cast<char*>(memory);
}

std::uint64_t* Scene::Word() {
  char* const word = Fresh(64);
  OK(aclrtMemset(word, 64, 0, 64));
  return reinterpret_cast<std::uint64_t*>(word);
}

void* Scene::Descriptor() {
  std::size_t bytes = 0;
  OK(aclrtGetMemcpyDescSize(ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, &bytes));
  return Fresh(bytes);
}

aclrtStream Scene::Stream() {
  aclrtStream stream = nullptr;
  OK(aclrtCreateStream(&stream));
  things_.push_back({Kind::kStream, stream, 0});
  return stream;
}

aclrtEvent Scene::Event() {
  aclrtEvent event = nullptr;
  OK(aclrtCreateEvent(&event));
  things_.push_back({Kind::kEvent, event, 0});
  return event;
}

aclrtNotify Scene::Notify() {
  aclrtNotify notify = nullptr;
  OK(aclrtCreateNotify(&notify, 0));
  things_.push_back({Kind::kNotify, notify, 0});
  return notify;
}

void Scene::Forget(const void* memory) {
  things_.erase(std::find_if(things_.begin(), things_.end(),
                             [&](const Thing& thing) { return thing.handle == memory; }));
}

namespace {
const ListedCase* first = nullptr;
}  // namespace

ListedCase::ListedCase(const char* of_name, CaseFunction of_run, bool is_alone)
    : name(of_name), run(of_run), alone(is_alone), next(first) {
  first = this;
}

const ListedCase* FirstCase() {
  return first;
}

}  // namespace sampan::check_cases
