// Observers are told what a program's calls do, each of them the same, until they are detached.
#include "observe/observers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "acl/acl.h"
#include "base/error/text.h"
#include "tests/support/child_process.h"

namespace sampan::observers_test {
namespace {

constexpr std::size_t kShort = 64, kLong = std::size_t{4} << 20;

/// Writes each event down as a line, except those that depend on when engines run.
class Witness final : public observe::Observer {
 public:
  void OnThreadBegan(const observe::ThreadRole& role) noexcept override {
    if (role.kind != observe::ThreadRole::Kind::kEngine) return;
    engines_.fetch_add(1);
    engines_.notify_all();
  }
  void OnCallBegan(const char* name, const observe::Peer* peer) noexcept override {
    Add(peer == nullptr ? "call of " : "HCCL call of ", std::string_view(name));
  }
  void OnCallEnded(const char* name, std::int32_t code) noexcept override {
    Add("end of ", std::string_view(name), " with ", code);
  }
  void OnCallAwaits(const observe::AwaitedWork& awaited) noexcept override {
    Add("await ", static_cast<int>(awaited.kind), " task ", awaited.task);
  }
  void OnHostWaitBegan(const observe::HostWaitBegin& wait) noexcept override {
    Add("host wait ", static_cast<int>(wait.reason), " begins");
  }
  void OnHostWait(const observe::HostWaitEvent& wait) noexcept override {
    Add("host wait ", static_cast<int>(wait.reason));
  }
  void OnSubmitting(const observe::Submission& submission, const Task& task) noexcept override {
    const auto* const copy = std::get_if<CopyTask>(&task);
    Add("submitting ", copy == nullptr ? 0 : copy->segment.bytes,
        submission.blocking == nullptr ? "" : " blocking",
        submission.subject == nullptr ? "" : " with a subject");
  }
  void OnSubmitted(const observe::Submission& submission, std::uint64_t number,
                   const observe::Execution* execution) noexcept override {
    const bool in_time =
        execution != nullptr && execution->begin_ns != 0 && execution->begin_ns <= execution->end_ns;
    Add("submitted ", number, submission.queue.number == 0 ? " outside" : " in a queue",
        execution == nullptr ? ""
        : execution->at_once ? ", executed at once"
                             : ", executed",
        execution == nullptr || in_time ? "" : " at no time");
  }
  void OnExecuted(const observe::Execution& execution) noexcept override {
    Add("executed ", execution.task.number, execution.begin_ns <= execution.end_ns ? "" : " backwards",
        execution.task.type == observe::TaskType::kMemcpyAsync ? " copy" : "");
  }
  void OnHelped(const observe::TaskKey&, std::int64_t) noexcept override {}
  void OnMemory(const observe::MemoryEvent& event) noexcept override {
    Add(event.freed() ? "freed " : "made ", event.bytes, " by ", std::string_view(event.made_by));
  }
  void OnStream(const observe::StreamEvent& event) noexcept override {
    Add(event.destroyed    ? "destroyed stream"
        : event.of_context ? "default stream"
                           : "stream",
        event.queue.number != 0 ? "" : " without a number");
  }

  /// Engines begin when the system lets them.
  void AwaitEngine() const { engines_.wait(0); }
  /// What was told so far, and forgets it.
  std::vector<std::string> Take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(lines_, {});
  }

 private:
  template <typename... Parts>
  void Add(const Parts&... parts) noexcept {
    const std::lock_guard lock(mutex_);
    lines_.push_back(Text(parts...));
  }

  std::atomic<int> engines_{0};
  std::mutex mutex_;
  std::vector<std::string> lines_;
};

std::vector<std::string> Sorted(std::vector<std::string> lines) {
  std::sort(lines.begin(), lines.end());
  return lines;
}

/// Never destroyed, as observers are.
Witness& NewWitness() {
  static auto* const all = new std::vector<std::unique_ptr<Witness>>;
  return *all->emplace_back(std::make_unique<Witness>());
}

struct World {
  void* device = nullptr;
  void* pinned = nullptr;
  aclrtStream stream = nullptr;

  void Make() {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    ASSERT_EQ(aclrtMalloc(&device, kLong, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    ASSERT_EQ(aclrtMallocHost(&pinned, kLong), ACL_SUCCESS);
    ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
  }
  void CopyIn(std::size_t bytes) const {
    ASSERT_EQ(aclrtMemcpyAsync(device, bytes, pinned, bytes, ACL_MEMCPY_HOST_TO_DEVICE, stream), ACL_SUCCESS);
  }
};

TEST(Observers, AreToldOfEachStepOfACopy) {
  if (test::DoneInChild()) return;  // observers are a process's
  Witness& witness = NewWitness();
  ASSERT_TRUE(observe::Attach(witness));
  World world;
  ASSERT_NO_FATAL_FAILURE(world.Make());
  const std::vector<std::string> made = witness.Take();
  const auto told = [&](const std::string& line) { return std::count(made.begin(), made.end(), line); };
  EXPECT_EQ(told("default stream"), 1);
  EXPECT_EQ(told("stream"), 1);
  EXPECT_EQ(told(Text("made ", kLong, " by aclrtMalloc")), 1);
  EXPECT_EQ(told(Text("made ", kLong, " by aclrtMallocHost")), 1);
  witness.AwaitEngine();

  using Lines = std::vector<std::string>;
  ASSERT_NO_FATAL_FAILURE(world.CopyIn(kShort));
  EXPECT_EQ(witness.Take(),
            (Lines{"call of aclrtMemcpyAsync", "submitting 64", "submitted 1 in a queue, executed at once",
                   "end of aclrtMemcpyAsync with 0"}));

  ASSERT_NO_FATAL_FAILURE(world.CopyIn(kLong));
  ASSERT_EQ(aclrtSynchronizeStream(world.stream), ACL_SUCCESS);
  EXPECT_EQ(Sorted(witness.Take()),
            Sorted({"call of aclrtMemcpyAsync", Text("submitting ", kLong), "submitted 2 in a queue",
                    "end of aclrtMemcpyAsync with 0", "executed 2 copy", "call of aclrtSynchronizeStream",
                    "await 1 task 2", "end of aclrtSynchronizeStream with 0"}));

  ASSERT_EQ(aclrtMemcpy(world.device, kShort, world.pinned, kShort, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
  EXPECT_EQ(witness.Take(), (Lines{"call of aclrtMemcpy", "submitting 64 blocking",
                                   "submitted 0 outside, executed", "end of aclrtMemcpy with 0"}));

  const aclError refused =
      aclrtMemcpyAsync(nullptr, kShort, world.pinned, kShort, ACL_MEMCPY_HOST_TO_DEVICE, world.stream);
  EXPECT_EQ(witness.Take(),
            (Lines{"call of aclrtMemcpyAsync", Text("end of aclrtMemcpyAsync with ", refused)}));

  ASSERT_EQ(aclrtDestroyStream(world.stream), ACL_SUCCESS);
  ASSERT_EQ(aclrtFree(world.device), ACL_SUCCESS);
  EXPECT_EQ(witness.Take(), (Lines{"call of aclrtDestroyStream", "destroyed stream",
                                   "end of aclrtDestroyStream with 0", "call of aclrtFree",
                                   Text("freed ", kLong, " by aclrtMalloc"), "end of aclrtFree with 0"}));
}

TEST(Observers, AreToldTheSame) {
  if (test::DoneInChild()) return;
  Witness& one = NewWitness();
  Witness& other = NewWitness();
  ASSERT_TRUE(observe::Attach(one));
  ASSERT_TRUE(observe::Attach(other));
  EXPECT_FALSE(observe::Attach(NewWitness())) << "more than the list holds";
  World world;
  ASSERT_NO_FATAL_FAILURE(world.Make());
  for (const std::size_t bytes : {kShort, kLong, kShort})
    ASSERT_NO_FATAL_FAILURE(world.CopyIn(bytes));
  ASSERT_EQ(aclrtSynchronizeStream(world.stream), ACL_SUCCESS);
  const std::vector<std::string> told = Sorted(one.Take());
  EXPECT_GT(told.size(), 20U);
  EXPECT_EQ(told, Sorted(other.Take()));
}

TEST(Observers, AreToldNothingOnceDetached) {
  if (test::DoneInChild()) return;
  Witness& one = NewWitness();
  Witness& other = NewWitness();
  ASSERT_TRUE(observe::Attach(one));
  ASSERT_TRUE(observe::Attach(other));
  World world;
  ASSERT_NO_FATAL_FAILURE(world.Make());
  ASSERT_TRUE(observe::Detach(one));
  EXPECT_FALSE(observe::Detach(one));
  EXPECT_TRUE(observe::On()) << "the other is attached";
  one.Take();
  other.Take();
  ASSERT_NO_FATAL_FAILURE(world.CopyIn(kShort));
  EXPECT_EQ(one.Take().size(), 0U);
  EXPECT_EQ(other.Take().size(), 4U);
  ASSERT_TRUE(observe::Detach(other));
  EXPECT_FALSE(observe::On());
  ASSERT_NO_FATAL_FAILURE(world.CopyIn(kShort));
  EXPECT_EQ(other.Take().size(), 0U);
}

}  // namespace
}  // namespace sampan::observers_test
