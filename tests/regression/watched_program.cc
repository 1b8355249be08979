// A program that is built with ThreadSanitizer: watched_program CASE [wrong]. With "wrong", the case lacks
// the one synchronisation that it needs. Without arguments it prints the cases.
#include <pthread.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "acl/acl.h"
#include "acl/acl_rt_memory_soma.h"
#include "hccl/platform/local_notify.h"

namespace {

void Check(int code, const char* call) {
  if (code == ACL_SUCCESS) return;
  std::fprintf(stderr, "%s answered %d\n", call, code);
  std::_Exit(3);
}
#define CHECK(call) Check(call, #call)

/// Executed inside the call by default, and handed to an engine.
constexpr std::size_t kShort = 4096, kLong = std::size_t{2} << 20;
constexpr std::size_t kPitch = 4096;
constexpr std::uint64_t kSeed = 0x9e3779b97f4a7c15;

/// Pinned memory with random bytes, device memory, and two streams.
struct Objects {
  explicit Objects(std::size_t size) : bytes(size) {
    CHECK(aclrtSetDevice(0));
    CHECK(aclrtMallocHost(reinterpret_cast<void**>(&in), bytes));
    CHECK(aclrtMallocHost(reinterpret_cast<void**>(&out), bytes));
    CHECK(aclrtMalloc(&device, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK(aclrtCreateStream(&one));
    CHECK(aclrtCreateStream(&two));
    CHECK(aclrtCreateEvent(&event));
    std::uint64_t random = kSeed;
    for (std::size_t i = 0; i < bytes; ++i) {
      random = random * 6364136223846793005 + 1442695040888963407;
      in[i] = static_cast<unsigned char>(random >> 56);
    }
  }
  /// All work is over. Otherwise it would end with the process, before a race with it could be seen.
  ~Objects() {
    CHECK(aclrtSynchronizeDevice());
    CHECK(aclrtDestroyEvent(event));
    CHECK(aclrtDestroyStream(two));
    CHECK(aclrtDestroyStream(one));
    CHECK(aclrtFree(device));
    CHECK(aclrtFreeHost(out));
    CHECK(aclrtFreeHost(in));
  }
  Objects(const Objects&) = delete;
  Objects& operator=(const Objects&) = delete;

  void Up(aclrtStream stream) const {
    CHECK(aclrtMemcpyAsync(device, bytes, in, bytes, ACL_MEMCPY_HOST_TO_DEVICE, stream));
  }
  void Down(aclrtStream stream) const {
    CHECK(aclrtMemcpyAsync(out, bytes, device, bytes, ACL_MEMCPY_DEVICE_TO_HOST, stream));
  }
  /// The second stream goes on behind the first.
  void JoinStreams() const {
    CHECK(aclrtRecordEvent(event, one));
    CHECK(aclrtStreamWaitEvent(two, event));
  }
  /// By the program's own instructions.
  void Compare() const {
    std::size_t differing = 0;
    for (std::size_t i = 0; i < bytes; ++i)
      differing += out[i] != in[i] ? 1 : 0;
    std::printf("%zu bytes differ\n", differing);
  }

  const std::size_t bytes;
  unsigned char *in = nullptr, *out = nullptr;
  void* device = nullptr;
  aclrtStream one = nullptr, two = nullptr;
  aclrtEvent event = nullptr;
  /// What host functions write. On the heap: compilers may not watch local variables.
  const std::unique_ptr<unsigned> sum = std::make_unique<unsigned>(0);
};

/// The host reads what a copy writes.
void Read(std::size_t bytes, bool wrong) {
  const Objects objects(bytes);
  objects.Up(objects.one);
  objects.Down(objects.one);
  if (!wrong) CHECK(aclrtSynchronizeStream(objects.one));
  objects.Compare();
}

/// The host changes what a copy reads.
void Write(std::size_t bytes, bool wrong) {
  const Objects objects(bytes);
  objects.Up(objects.one);
  if (!wrong) CHECK(aclrtSynchronizeStream(objects.one));
  objects.in[bytes / 2] = 1;
}

/// The same with memory of malloc that is registered.
void Registered(bool wrong) {
  const Objects objects(kShort);
  auto* const own = static_cast<unsigned char*>(std::aligned_alloc(4096, kShort));
  void* mapped = nullptr;
  std::memset(own, 0x5a, kShort);
  CHECK(aclrtHostRegister(own, kShort, ACL_HOST_REGISTER_MAPPED, &mapped));
  CHECK(aclrtMemcpyAsync(objects.device, kShort, own, kShort, ACL_MEMCPY_HOST_TO_DEVICE, objects.one));
  if (!wrong) CHECK(aclrtSynchronizeStream(objects.one));
  own[17] = 1;
  CHECK(aclrtSynchronizeStream(objects.one));
  CHECK(aclrtHostUnregister(own));
  std::free(own);
}

/// The host uses the gaps between rows, which it may, or the rows.
void Rows(bool wrong) {
  const Objects objects(64 * kPitch);
  CHECK(aclrtMemcpy2dAsync(objects.device, kPitch, objects.in, kPitch, 100, 64, ACL_MEMCPY_HOST_TO_DEVICE,
                           objects.one));
  CHECK(aclrtMemcpy2dAsync(objects.out, kPitch, objects.device, kPitch, 100, 64, ACL_MEMCPY_DEVICE_TO_HOST,
                           objects.one));
  for (std::size_t row = 0; row < 64; ++row)
    objects.out[row * kPitch + (wrong ? 64 : 128)] = 7;
}

/// Rows that are nearly as long as their pitch, again and again.
void WideRows(bool wrong) {
  constexpr std::size_t kWidth = 3000, kHeight = 100;
  const Objects objects(kPitch * kHeight);
  for (int round = 0; round < 20; ++round) {
    objects.in[0] = static_cast<unsigned char>(round);
    CHECK(aclrtMemcpy2dAsync(objects.device, kPitch, objects.in, kPitch, kWidth, kHeight,
                             ACL_MEMCPY_HOST_TO_DEVICE, objects.one));
    CHECK(aclrtMemcpy2dAsync(objects.out, kPitch, objects.device, kPitch, kWidth, kHeight,
                             ACL_MEMCPY_DEVICE_TO_HOST, objects.one));
    if (!wrong) CHECK(aclrtSynchronizeStream(objects.one));
    if (objects.out[0] != objects.in[0]) std::printf("round %d differs\n", round);
    objects.out[0] = 255;
  }
}

/// The host reads an entry of a batch.
void Batch(bool wrong) {
  constexpr std::size_t kEntries = 20, kEntry = 512;
  const Objects objects(kEntries * 4096);
  objects.Up(objects.one);
  std::vector<void*> dsts, srcs;
  std::vector<std::size_t> sizes(kEntries, kEntry);
  for (std::size_t i = 0; i < kEntries; ++i) {
    dsts.push_back(objects.out + i * 4096);
    srcs.push_back(static_cast<char*>(objects.device) + i * 4096);
  }
  aclrtMemcpyBatchAttr attribute = {{0, ACL_MEM_LOCATION_TYPE_HOST}, {0, ACL_MEM_LOCATION_TYPE_DEVICE}, {}};
  std::size_t first = 0, failed = 0;
  CHECK(aclrtMemcpyBatchAsync(dsts.data(), sizes.data(), srcs.data(), sizes.data(), kEntries, &attribute,
                              &first, 1, &failed, objects.one));
  objects.out[17 * 4096 + kEntry] = 1;  // between two entries
  if (!wrong) CHECK(aclrtSynchronizeStream(objects.one));
  std::printf("byte %d\n", objects.out[17 * 4096 + kEntry - 1]);
}

/// Two streams use the same device memory.
void TwoStreams(bool wrong, const std::function<void(const Objects&)>& second) {
  const Objects objects(kLong);
  objects.Up(objects.one);
  CHECK(aclrtRecordEvent(objects.event, objects.one));
  if (!wrong) CHECK(aclrtStreamWaitEvent(objects.two, objects.event));
  second(objects);
}
void Fill(const Objects& objects) {
  CHECK(aclrtMemsetAsync(objects.device, objects.bytes, 0x5a, objects.bytes, objects.two));
}
void Reduce(const Objects& objects) {
  CHECK(aclrtReduceAsync(objects.device, static_cast<char*>(objects.device) + objects.bytes / 2, 4096,
                         ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM, ACL_INT32, objects.two, nullptr));
}
void CopyByDescriptor(const Objects& objects) {
  std::size_t bytes = 0;
  void* descriptor = nullptr;
  CHECK(aclrtGetMemcpyDescSize(ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, &bytes));
  CHECK(aclrtMalloc(&descriptor, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
  CHECK(aclrtSetMemcpyDesc(descriptor, ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, objects.device,
                           static_cast<char*>(objects.device) + objects.bytes / 2, 4096, nullptr));
  CHECK(aclrtMemcpyAsyncWithDesc(descriptor, ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, objects.two));
  CHECK(aclrtSynchronizeStream(objects.two));
  CHECK(aclrtFree(descriptor));
}

/// The host waits for an event that is before the copy whose result it reads.
void EventTooEarly(bool wrong) {
  const Objects objects(kShort);
  objects.Up(objects.one);
  if (wrong) CHECK(aclrtRecordEvent(objects.event, objects.one));
  objects.Down(objects.one);
  if (!wrong) CHECK(aclrtRecordEvent(objects.event, objects.one));
  CHECK(aclrtSynchronizeEvent(objects.event));
  objects.Compare();
}

/// The same with so much work behind the event that the queue was full meanwhile.
void OldEvent(bool wrong) {
  const Objects objects(kShort);
  objects.Up(objects.one);
  if (!wrong) objects.Down(objects.one);
  CHECK(aclrtRecordEvent(objects.event, objects.one));
  if (wrong) objects.Down(objects.one);
  for (int i = 0; i < 2000; ++i)
    CHECK(aclrtMemsetAsync(objects.device, 32, 1, 32, objects.one));
  CHECK(aclrtSynchronizeEvent(objects.event));
  objects.Compare();
}

/// The host asks until the event is over, or until the stream is.
void Query(bool wrong) {
  const Objects objects(kShort);
  objects.Up(objects.one);
  objects.Down(objects.one);
  CHECK(aclrtRecordEvent(objects.event, objects.one));
  aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_NOT_READY;
  while (!wrong && status != ACL_EVENT_RECORDED_STATUS_COMPLETE)
    CHECK(aclrtQueryEventStatus(objects.event, &status));
  objects.Compare();
}

/// The host waits, but for the stream that did not copy.
void OtherStreamSynchronized(bool wrong) {
  const Objects objects(kShort);
  objects.Up(objects.one);
  objects.Down(objects.one);
  CHECK(aclrtMemsetAsync(objects.device, 0, 0, 0, objects.two));
  CHECK(aclrtRecordEvent(objects.event, objects.two));
  CHECK(aclrtSynchronizeStream(wrong ? objects.two : objects.one));
  objects.Compare();
}

/// A host function reads what a copy wrote and what its submitter wrote, and writes for a copy behind it.
void Sum(void* argument) {
  const Objects& objects = *static_cast<const Objects*>(argument);
  for (std::size_t i = 0; i < objects.bytes; ++i)
    *objects.sum += objects.out[i];
  objects.in[0] = static_cast<unsigned char>(*objects.sum);
}
void HostFunction(bool wrong) {
  const Objects objects(kShort);
  objects.Up(objects.one);
  objects.Down(objects.one);
  CHECK(aclrtLaunchHostFunc(wrong ? objects.two : objects.one, &Sum, const_cast<Objects*>(&objects)));
  objects.Up(objects.one);
  CHECK(aclrtSynchronizeDevice());
  std::printf("sum %u\n", *objects.sum);
}

/// The host reads what a host function writes.
void HostFunctionResult(bool wrong) {
  const Objects objects(kShort);
  CHECK(aclrtLaunchHostFunc(objects.one, &Sum, const_cast<Objects*>(&objects)));
  if (!wrong) CHECK(aclrtSynchronizeStream(objects.one));
  std::printf("sum %u\n", *objects.sum);
}

/// Functions of two streams use the same variable.
void TwoHostFunctions(bool wrong) {
  const Objects objects(kShort);
  for (int i = 0; i < 3; ++i) {
    CHECK(aclrtLaunchHostFunc(objects.one, &Sum, const_cast<Objects*>(&objects)));
    if (!wrong) objects.JoinStreams();
    CHECK(aclrtLaunchHostFunc(objects.two, &Sum, const_cast<Objects*>(&objects)));
    if (!wrong) CHECK(aclrtSynchronizeStream(objects.two));
  }
}

/// A thread of the program runs the callbacks of a stream. The stream waits for the first of them.
void Callback(bool wrong) {
  const Objects objects(kShort);
  std::thread thread([] {
    for (int i = 0; i < 2; ++i)
      CHECK(aclrtProcessReport(10'000));
  });
  const auto id = static_cast<std::uint64_t>(thread.native_handle());
  CHECK(aclrtSubscribeReport(id, objects.one));
  objects.Up(objects.one);
  objects.Down(wrong ? objects.two : objects.one);
  CHECK(aclrtLaunchCallback(&Sum, const_cast<Objects*>(&objects), ACL_CALLBACK_BLOCK, objects.one));
  objects.Up(objects.one);
  CHECK(aclrtSynchronizeStream(objects.one));
  std::printf("sum %u\n", *objects.sum);
  CHECK(aclrtLaunchCallback([](void*) {}, nullptr, ACL_CALLBACK_NO_BLOCK, objects.one));
  thread.join();
  CHECK(aclrtUnSubscribeReport(id, objects.one));
}

int told = 0;

/// A callback that is registered after aclInit runs at once. What it writes is the program's access.
void LateInitCallback(bool wrong) {
  CHECK(aclInit(nullptr));
  std::thread thread([] { ++told; });
  if (!wrong) thread.join();
  const auto tell = [](const char*, std::size_t, void*) -> aclError {
    ++told;
    return ACL_SUCCESS;
  };
  CHECK(aclInitCallbackRegister(ACL_REG_TYPE_OTHER, tell, nullptr));
  if (wrong) thread.join();
  std::printf("told %d\n", told);
}

/// Streams are ordered by a notify.
void Notify(bool wrong) {
  const Objects objects(kLong);
  aclrtNotify notify = nullptr;
  CHECK(aclrtCreateNotify(&notify, ACL_NOTIFY_DEFAULT));
  if (!wrong) CHECK(aclrtWaitAndResetNotify(notify, objects.two, 0));
  if (wrong) objects.Down(objects.two);
  objects.Up(objects.one);
  CHECK(aclrtRecordNotify(notify, objects.one));
  if (!wrong) objects.Down(objects.two);
  CHECK(aclrtSynchronizeStream(objects.two));
  objects.Compare();
  CHECK(aclrtSynchronizeStream(objects.one));
  CHECK(aclrtDestroyNotify(notify));
}

/// The same through HCCL's library, which has code of the runtime too.
void HcclNotify(bool wrong) {
  const Objects objects(kShort);
  hccl::Stream one(objects.one), two(objects.two);
  hccl::LocalNotify notify;
  CHECK(notify.Init());
  objects.Up(objects.one);
  CHECK(notify.Post(one));
  if (!wrong) CHECK(notify.Wait(two));
  objects.Down(objects.two);
  CHECK(aclrtSynchronizeStream(objects.two));
  objects.Compare();
  CHECK(aclrtSynchronizeStream(objects.one));
}

/// Streams are ordered by a word in device memory, which a value or a copy writes.
void Word(bool wrong) {
  const Objects objects(kLong);
  void* word = nullptr;
  CHECK(aclrtMalloc(&word, 64, ACL_MEM_MALLOC_HUGE_FIRST));
  CHECK(aclrtMemset(word, 64, 0, 64));
  std::uint64_t* flag = nullptr;
  CHECK(aclrtMallocHost(reinterpret_cast<void**>(&flag), sizeof(*flag)));
  *flag = 2;
  for (std::uint64_t value = 1; value <= 2; ++value) {
    objects.Up(objects.one);
    if (value == 1) {
      CHECK(aclrtValueWrite(word, value, 0, objects.one));
    } else {
      CHECK(aclrtMemcpyAsync(word, 8, flag, 8, ACL_MEMCPY_HOST_TO_DEVICE, objects.one));
    }
    if (!wrong) CHECK(aclrtValueWait(word, value, ACL_STREAM_WAIT_VALUE_GEQ, objects.two));
    objects.Down(objects.two);
    CHECK(aclrtSynchronizeStream(objects.two));
    objects.Compare();
  }
  CHECK(aclrtSynchronizeDevice());
  CHECK(aclrtFreeHost(flag));
  CHECK(aclrtFree(word));
}

/// A stream uses memory of a pool that another stream gave back. Wrong: the memory is used in the other
/// stream.
void Pool(bool wrong) {
  const Objects objects(kShort);
  aclrtMemPoolProps properties = {};
  properties.allocType = ACL_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
  aclrtMemPool pool = nullptr;
  CHECK(aclrtMemPoolCreate(&pool, &properties));
  aclrtStream streams[2] = {objects.one, objects.two};
  for (int round = 0; round < 20; ++round) {
    const aclrtStream stream = streams[round % 2];
    void* memory = nullptr;
    CHECK(aclrtMemPoolMallocAsync(&memory, kShort, pool, stream));
    CHECK(aclrtMemcpyAsync(memory, kShort, objects.in, kShort, ACL_MEMCPY_HOST_TO_DEVICE,
                           streams[(round + (wrong ? 1 : 0)) % 2]));
    CHECK(aclrtMemPoolFreeAsync(memory, stream));
    if (round % 5 == 4) CHECK(aclrtSynchronizeStream(stream));
  }
  CHECK(aclrtSynchronizeDevice());
  CHECK(aclrtMemPoolDestroy(pool));
}

/// Memory is freed that a copy uses.
void Free(bool wrong) {
  const Objects objects(kShort);
  void* memory = nullptr;
  CHECK(aclrtMallocHost(&memory, kLong));
  CHECK(aclrtMemcpyAsync(objects.device, kShort, memory, kShort, ACL_MEMCPY_HOST_TO_DEVICE, objects.one));
  if (wrong) {
    aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_NOT_READY;
    CHECK(aclrtRecordEvent(objects.event, objects.two));
    CHECK(aclrtSynchronizeEvent(objects.event));
    CHECK(aclrtQueryEventStatus(objects.event, &status));
  } else {
    CHECK(aclrtSynchronizeStream(objects.one));
  }
  CHECK(aclrtFreeHost(memory));
  static_cast<void>(aclrtSynchronizeStream(objects.one));  // if the free came first, the copy failed
}

/// A blocking copy does not wait for streams.
void BlockingCopy(bool wrong) {
  const Objects objects(kLong);
  objects.Up(objects.one);
  if (!wrong) CHECK(aclrtSynchronizeDevice());
  CHECK(aclrtMemcpy(objects.out, objects.bytes, objects.device, objects.bytes, ACL_MEMCPY_DEVICE_TO_HOST));
  std::printf("byte %d\n", objects.out[0]);  // so few accesses that the copy's stay in the history
}

/// Pageable memory: the call waits for its stream, but not for the other.
void Pageable(bool wrong) {
  const Objects objects(kShort);
  std::vector<unsigned char> own(kShort);
  objects.Up(objects.one);
  CHECK(aclrtMemcpyAsync(own.data(), kShort, objects.device, kShort, ACL_MEMCPY_DEVICE_TO_HOST,
                         wrong ? objects.two : objects.one));
  own[0] = objects.in[0];
}

/// A thread submits, another waits for the stream.
void TwoThreads(bool wrong) {
  const Objects objects(kShort);
  std::thread submitter([&] {
    CHECK(aclrtSetDevice(0));
    objects.in[5] = 5;
    objects.Up(objects.one);
    objects.Down(objects.one);
    if (!wrong) CHECK(aclrtSynchronizeStream(objects.one));
    CHECK(aclrtResetDevice(0));
  });
  submitter.join();
  objects.Compare();
}

/// Threads use a variable. Calls of the runtime do not order them.
void CallsOrderNothing(bool wrong) {
  const Objects objects(kShort);
  int shared[2] = {0, 0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&, i] {
      CHECK(aclrtSetDevice(0));
      for (int round = 0; round < 10; ++round) {
        shared[wrong ? 0 : i] += round;
        void* memory = nullptr;
        CHECK(aclrtMalloc(&memory, kShort << i, ACL_MEM_MALLOC_HUGE_FIRST));
        CHECK(aclrtMemsetAsync(memory, kShort, round, kShort, i == 0 ? objects.one : objects.two));
        CHECK(aclrtSynchronizeStream(i == 0 ? objects.one : objects.two));
        CHECK(aclrtFree(memory));
      }
      CHECK(aclrtResetDevice(0));
    });
  }
  for (std::thread& thread : threads)
    thread.join();
}

/// Threads take turns with memory of the same addresses, each with streams of its own.
void ManyThreads(bool wrong) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([wrong] {
      for (int round = 0; round < 10; ++round)
        Read(kShort, wrong);
    });
  }
  for (std::thread& thread : threads)
    thread.join();
}

using Case = std::function<void(bool)>;
const std::map<std::string, Case>& Cases() {
  static const std::map<std::string, Case> cases = {
      {"read_short", [](bool wrong) { Read(kShort, wrong); }},
      {"read_long", [](bool wrong) { Read(kLong, wrong); }},
      {"write_short", [](bool wrong) { Write(kShort, wrong); }},
      {"write_long", [](bool wrong) { Write(kLong, wrong); }},
      {"registered", Registered},
      {"rows", Rows},
      {"wide_rows", WideRows},
      {"batch", Batch},
      {"two_streams", [](bool wrong) { TwoStreams(wrong, [](auto& each) { each.Down(each.two); }); }},
      {"fill", [](bool wrong) { TwoStreams(wrong, Fill); }},
      {"reduce", [](bool wrong) { TwoStreams(wrong, Reduce); }},
      {"descriptor", [](bool wrong) { TwoStreams(wrong, CopyByDescriptor); }},
      {"event_too_early", EventTooEarly},
      {"old_event", OldEvent},
      {"query", Query},
      {"other_stream_synchronized", OtherStreamSynchronized},
      {"host_function", HostFunction},
      {"host_function_result", HostFunctionResult},
      {"two_host_functions", TwoHostFunctions},
      {"callback", Callback},
      {"late_init_callback", LateInitCallback},
      {"notify", Notify},
      {"hccl_notify", HcclNotify},
      {"word", Word},
      {"pool", Pool},
      {"free", Free},
      {"blocking_copy", BlockingCopy},
      {"pageable", Pageable},
      {"two_threads", TwoThreads},
      {"calls_order_nothing", CallsOrderNothing},
      {"many_threads", ManyThreads},
  };
  return cases;
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 2) {
    for (const auto& [name, run] : Cases())
      std::puts(name.c_str());
    return 0;
  }
  const auto found = Cases().find(arguments[1]);
  if (found == Cases().end()) return 2;
  found->second(count > 2 && std::strcmp(arguments[2], "wrong") == 0);
  return 0;
}
