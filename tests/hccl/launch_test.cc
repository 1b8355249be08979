// InitTask and LaunchTask: what is submitted between them runs together, and not before.
// Rules of docs/BEHAVIOUR.md: hccl-4, hccl-5, hccl-11.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "hccl/platform/local_notify.h"
#include "tests/hccl/dispatcher_fixture.h"
#include "tests/support/child_process.h"

namespace sampan::test::launch_test {
namespace {

using hccl::LocalNotify;

class LaunchTest : public DispatcherTest {
 protected:
  void TearDown() override {
    RegisterInitTaskCallBack(nullptr);
    RegisterLaunchTaskCallBack(nullptr);
    DispatcherTest::TearDown();
  }
  HcclResult Begin() { return InitTask(d(), stream(), false, ""); }
};

TEST_F(LaunchTest, NothingRunsBeforeTheLaunch) {
  GuardedBuffer dst(Place::kDevice, 64), src(Place::kDevice, 64);
  const Bytes contents = random().Fill(64);
  src.Write(contents);
  EXPECT_HCCL(HCCL_SUCCESS, Begin());
  EXPECT_HCCL(HCCL_SUCCESS, Copy(View(dst), View(src)));
  Synchronize();
  EXPECT_TRUE(dst.Untouched()) << "a program that forgets LaunchTask finds out";
  EXPECT_HCCL(HCCL_SUCCESS, LaunchTask(d(), stream()));
  Synchronize();
  EXPECT_TRUE(dst.Holds(contents));
  GuardedBuffer later(Place::kDevice, 64);
  EXPECT_HCCL(HCCL_SUCCESS, Copy(View(later), View(src)));
  Synchronize();
  EXPECT_TRUE(later.Holds(contents)) << "after the launch work is not held any more";
}

TEST_F(LaunchTest, ALaunchIsOneTaskOfTheMainStream) {
  hccl::Stream side(hccl::StreamType::STREAM_TYPE_ONLINE);
  GuardedBuffer a(Place::kDevice, 64), b(Place::kDevice, 64), c(Place::kDevice, 64), e(Place::kDevice, 64);
  const Bytes contents = random().Fill(64);
  GuardedBuffer source(Place::kDevice, 64);
  source.Write(contents);
  auto forward = std::make_shared<LocalNotify>();
  ASSERT_HCCL(HCCL_SUCCESS, forward->Init());
  Gate gate(stream().ptr());
  EXPECT_HCCL(HCCL_SUCCESS, Copy(View(a), View(source)));  // before: the side stream's work comes after it
  EXPECT_HCCL(HCCL_SUCCESS, Begin());
  hccl::DeviceMem to_b = View(b);
  EXPECT_HCCL(HCCL_SUCCESS, HcclD2DMemcpyAsync(d(), to_b, View(a), side));
  EXPECT_HCCL(HCCL_SUCCESS, LocalNotify::Wait(stream(), d(), forward));
  EXPECT_HCCL(HCCL_SUCCESS, LocalNotify::Post(side, d(), forward));
  EXPECT_HCCL(HCCL_SUCCESS, Copy(View(c), View(b)));
  hccl::DeviceMem to_e = View(e);
  EXPECT_HCCL(HCCL_SUCCESS, HcclD2DMemcpyAsync(d(), to_e, View(b), side));  // no task waits for this one
  std::vector<hccl::Stream> sides{side};
  EXPECT_HCCL(HCCL_SUCCESS, LaunchTaskExtend(d(), stream(), sides));
  gate.Open();
  Synchronize();  // the main stream alone
  EXPECT_TRUE(b.Holds(contents)) << "the side stream began after what the main stream had";
  EXPECT_TRUE(c.Holds(contents));
  EXPECT_TRUE(e.Holds(contents)) << "the main stream's launch ends when everything has";
}

TEST_F(LaunchTest, EmptyCopiesAreKeptAndLaunchingNothingIsFine) {
  GuardedBuffer buffer(Place::kDevice, 64);
  EXPECT_HCCL(HCCL_SUCCESS, LaunchTask(d(), stream()));
  EXPECT_HCCL(HCCL_SUCCESS, Begin());
  EXPECT_HCCL(HCCL_SUCCESS, LaunchTask(d(), stream()));
  EXPECT_HCCL(HCCL_SUCCESS, Begin());
  EXPECT_HCCL(HCCL_SUCCESS, Copy(View(buffer), View(buffer).range(0, 0)));
  EXPECT_HCCL(HCCL_SUCCESS, Copy(View(buffer), View(buffer)));
  EXPECT_HCCL(HCCL_E_PTR, Copy(View(buffer).range(0, 1), View(buffer)));
  EXPECT_EQ(records().size(), 2u) << "a copy of no bytes is a node of the launch";
  hccl::Stream no_stream{};
  EXPECT_HCCL(HCCL_E_PTR, LaunchTask(d(), no_stream));
  EXPECT_HCCL(HCCL_SUCCESS, LaunchTask(d(), stream()));
  Synchronize();
  EXPECT_TRUE(buffer.Untouched());
}

TEST_F(LaunchTest, RecordsAreGivenWhenTheTasksCome) {
  GuardedBuffer dst(Place::kDevice, 64), src(Place::kDevice, 64);
  src.Write(Bytes(64, std::byte{0}));
  HcclDispatcher handle = d();
  EXPECT_HCCL(HCCL_SUCCESS, Begin());
  EXPECT_HCCL(HCCL_SUCCESS, Copy(View(dst), View(src)));
  EXPECT_HCCL(HCCL_SUCCESS, ForceProfOn(handle, true));
  EXPECT_HCCL(HCCL_SUCCESS, HcclReduceAsync(d(), src.data(), 4, HCCL_DATA_TYPE_INT32, HCCL_REDUCE_SUM,
                                            stream(), dst.data(), 0, hccl::LinkType::LINK_ONCHIP, 1));
  EXPECT_HCCL(HCCL_SUCCESS, ForceProfOn(handle, false));
  ASSERT_EQ(records().size(), 3u);
  EXPECT_EQ(records()[0].profilerType, hccl::ProfilerType::TASK_EXCEPTION);
  EXPECT_TRUE(records()[0].isFftsDispatcher);
  EXPECT_EQ(records()[0].dma.ctxId, 0u);
  EXPECT_EQ(records()[1].profilerType, hccl::ProfilerType::TASK_PROFILING);
  EXPECT_EQ(records()[2].profilerType, hccl::ProfilerType::TASK_EXCEPTION);
  EXPECT_EQ(records()[2].reduce.ctxId, 1u);
  EXPECT_HCCL(HCCL_SUCCESS, LaunchTask(d(), stream()));
  ASSERT_EQ(records().size(), 4u);
  EXPECT_EQ(records()[3].type, hccl::TaskType::TASK_GRAPH_LAUNCH);
  EXPECT_EQ(records()[3].graphLaunch.ctxNum, 2u);
  Synchronize();
}

TEST_F(LaunchTest, TheRawCopyGoesPastTheLaunch) {
  GuardedBuffer dst(Place::kDevice, 64), src(Place::kDevice, 64);
  const Bytes contents = random().Fill(64);
  src.Write(contents);
  EXPECT_HCCL(HCCL_SUCCESS, Begin());
  EXPECT_HCCL(HCCL_SUCCESS, HcclMemcpyAsync(d(), dst.data(), 64, src.data(), 64,
                                            HcclRtMemcpyKind::HCCL_RT_MEMCPY_KIND_DEVICE_TO_DEVICE, stream(),
                                            0, hccl::LinkType::LINK_ONCHIP));
  Synchronize();
  EXPECT_TRUE(dst.Holds(contents));
  EXPECT_HCCL(HCCL_SUCCESS, SetNormalMode(d()));
}

TEST_F(LaunchTest, WhatIsNeverLaunchedIsSaid) {
  if (!InChild()) {
    const ChildResult child =
        RunInChild({{"ASCEND_GLOBAL_LOG_LEVEL", "2"}, {"ASCEND_SLOG_PRINT_TO_STDOUT", "0"}});
    EXPECT_TRUE(child.Passed()) << child;
    const std::string all = child.output + child.errors;
    for (const char* expected : {"1 tasks were submitted after InitTask and never launched: another InitTask",
                                 "2 tasks were submitted after InitTask and never launched: SetNormalMode",
                                 "1 tasks were submitted after InitTask and never launched: the dispatcher"})
      EXPECT_NE(all.find(expected), std::string::npos) << expected << child;
    return;
  }
  GuardedBuffer dst(Place::kDevice, 64), src(Place::kDevice, 64);
  EXPECT_HCCL(HCCL_SUCCESS, Begin());
  EXPECT_HCCL(HCCL_SUCCESS, Copy(View(dst), View(src)));
  EXPECT_HCCL(HCCL_SUCCESS, Begin());  // forgets the first
  EXPECT_HCCL(HCCL_SUCCESS, Copy(View(dst), View(src)));
  EXPECT_HCCL(HCCL_SUCCESS, Copy(View(dst), View(src)));
  EXPECT_HCCL(HCCL_SUCCESS, StreamSync(d(), stream()));
  EXPECT_HCCL(HCCL_SUCCESS, SetNormalMode(d()));  // forgets both
  EXPECT_HCCL(HCCL_SUCCESS, LaunchTask(d(), stream()));
  {
    OwnDispatcher forgotten;
    EXPECT_HCCL(HCCL_SUCCESS, InitTask(forgotten, stream(), true, "key"));
    hccl::DeviceMem to = View(dst);
    EXPECT_HCCL(HCCL_SUCCESS, HcclD2DMemcpyAsync(forgotten, to, View(src), stream()));
  }
  Synchronize();
  EXPECT_TRUE(dst.Untouched());
}

std::vector<std::string> g_calls;
HcclResult g_answer = HCCL_SUCCESS;

TEST_F(LaunchTest, CallbacksOfTheProcess) {
  GuardedBuffer dst(Place::kDevice, 64), src(Place::kDevice, 64);
  const Bytes contents = random().Fill(64);
  src.Write(contents);
  g_calls.clear();
  g_answer = HCCL_SUCCESS;
  RegisterInitTaskCallBack([](const HcclDispatcher&, hccl::Stream&) {
    g_calls.push_back("init");
    return g_answer;
  });
  RegisterLaunchTaskCallBack([](const HcclDispatcher&, hccl::Stream&) {
    g_calls.push_back("launch");
    return g_answer;
  });
  EXPECT_HCCL(HCCL_SUCCESS, Begin());
  EXPECT_HCCL(HCCL_SUCCESS, Copy(View(dst), View(src)));
  EXPECT_HCCL(HCCL_SUCCESS, HcclGetCallbackResult(d()));
  g_answer = HCCL_E_AGAIN;
  EXPECT_HCCL(HCCL_E_AGAIN, LaunchTask(d(), stream())) << "the callback comes first";
  EXPECT_HCCL(HCCL_E_AGAIN, HcclGetCallbackResult(d()));
  Synchronize();
  EXPECT_TRUE(dst.Untouched());
  g_answer = HCCL_SUCCESS;
  EXPECT_HCCL(HCCL_SUCCESS, LaunchTask(d(), stream())) << "what was held still is";
  Synchronize();
  EXPECT_TRUE(dst.Holds(contents));
  EXPECT_EQ(g_calls, (std::vector<std::string>{"init", "launch", "launch"}));
  EXPECT_HCCL(HCCL_SUCCESS, HcclGetCallbackResult(d()));
}

TEST_F(LaunchTest, ARefusalOfTheRuntimeComesWithTheLaunch) {
  GuardedBuffer dst(Place::kDevice, 64), src(Place::kDevice, 64);
  const Bytes contents = random().Fill(64);
  src.Write(contents);
  EXPECT_HCCL(HCCL_SUCCESS, Begin());
  EXPECT_HCCL(HCCL_SUCCESS, Copy(View(dst), View(src)));
  EXPECT_HCCL(HCCL_SUCCESS, Copy(hccl::DeviceMem(dst.data(), 1 << 20), hccl::DeviceMem(src.data(), 1 << 20)));
  EXPECT_HCCL(HCCL_E_RUNTIME, LaunchTask(d(), stream()));
  EXPECT_TRUE(MessageHas("task 1 of 2"));
  Synchronize();
  EXPECT_TRUE(dst.Holds(contents)) << "what came before stays queued";
  EXPECT_HCCL(HCCL_SUCCESS, LaunchTask(d(), stream()));
  aclrtGetLastError(ACL_RT_THREAD_LEVEL);
}

TEST_F(LaunchTest, ManyThreadsSubmitToOneLaunch) {
  constexpr int kThreads = 4, kCopies = 50;
  GuardedBuffer src(Place::kDevice, 64);
  const Bytes contents = random().Fill(64);
  src.Write(contents);
  std::vector<std::unique_ptr<GuardedBuffer>> dsts;
  for (int i = 0; i < kThreads * kCopies; ++i)
    dsts.push_back(std::make_unique<GuardedBuffer>(Place::kDevice, 64));
  EXPECT_HCCL(HCCL_SUCCESS, RegisterLoadTaskCallBack(d(), nullptr, nullptr));
  EXPECT_HCCL(HCCL_SUCCESS, Begin());
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      EXPECT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
      for (int i = 0; i < kCopies; ++i) {
        hccl::DeviceMem to = View(*dsts[static_cast<std::size_t>(t * kCopies + i)]);
        EXPECT_HCCL(HCCL_SUCCESS, HcclD2DMemcpyAsync(d(), to, View(src), stream()));
      }
    });
  }
  for (std::thread& thread : threads)
    thread.join();
  Synchronize();
  EXPECT_TRUE(dsts.front()->Untouched());
  EXPECT_HCCL(HCCL_SUCCESS, LaunchTask(d(), stream()));
  Synchronize();
  for (const auto& dst : dsts)
    EXPECT_TRUE(dst->Holds(contents));
}

}  // namespace
}  // namespace sampan::test::launch_test
