// Dense batches with a driver of the test's own: what it is asked to do on which stream, and in which order.
#include "backend/cuda/paths/dense_copies.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "backend/api/segment_pool.h"
#include "backend/cuda/paths/batch_copies.h"
#include "backend/cuda/paths/copy_ends.h"
#include "tests/unit/backend/cuda/driver_of_tests.h"

namespace sampan::cuda::dense_copies_test {
namespace {

constexpr Direction kIn = Direction::kHostToDevice, kOut = Direction::kDeviceToHost;
constexpr std::size_t kMiB = std::size_t{1} << 20, kEntry = kMiB / 4;
constexpr CuResult kRefused = 1;

/// The driver's calls as words: what, then the event, then the stream.
struct Calls {
  std::vector<std::string> words;
  std::map<CuEvent, int> events;  ///< in the order of their first use
  std::uintptr_t streams = 0, made_events = 0;
  std::vector<PieceArgument> kernel;  ///< pieces of the last kernel of a stream with words
  bool copies_fail = false;
  std::function<void()> on_kernel = [] {};

  void Add(const char* what, CuStream stream) {
    words.push_back(std::string(what) + " s" + NumberOf(stream));
  }
  void Add(const char* what, CuEvent event, CuStream stream) {
    const auto number = events.emplace(event, static_cast<int>(events.size()) + 1).first->second;
    Add((std::string(what) + " e" + std::to_string(number)).c_str(), stream);
  }
  CuResult Copy(CuStream stream) {
    Add("copy", stream);
    return copies_fail ? kRefused : cu::kSuccess;
  }
  static std::string NumberOf(CuStream stream) {
    return std::to_string(reinterpret_cast<std::uintptr_t>(stream) / 16);
  }
};
Calls* calls = nullptr;

Driver RecordingDriver() {
  Driver driver = DriverOfTests();
  driver.StreamCreate = [](CuStream* stream, unsigned, int) {
    *stream = reinterpret_cast<CuStream>(++calls->streams * 16);
    return cu::kSuccess;
  };
  driver.StreamSynchronize = [](CuStream stream) { return calls->Add("wait", stream), cu::kSuccess; };
  driver.StreamWaitEvent = [](CuStream stream, CuEvent event, unsigned) {
    return calls->Add("await", event, stream), cu::kSuccess;
  };
  driver.EventCreate = [](CuEvent* event, unsigned) {
    *event = reinterpret_cast<CuEvent>(++calls->made_events * 16);
    return cu::kSuccess;
  };
  driver.EventDestroy = [](CuEvent) { return cu::kSuccess; };
  driver.EventSynchronize = [](CuEvent) { return cu::kSuccess; };
  driver.EventRecord = [](CuEvent event, CuStream stream) {
    return calls->Add("record", event, stream), cu::kSuccess;
  };
  driver.GraphCreate = [](CuGraph*, unsigned) { return kRefused; };
  driver.LaunchKernel = [](CuFunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                           CuStream stream, void** arguments, void**) {
    const auto* const pieces = reinterpret_cast<const PieceArgument*>(*static_cast<CuAddress*>(arguments[0]));
    const unsigned count = *static_cast<unsigned*>(arguments[1]);
    if (static_cast<CompletionArgument*>(arguments[5])->words != 0)
      calls->kernel.assign(pieces, pieces + count);
    calls->on_kernel();
    calls->Add(("kernel of " + std::to_string(count)).c_str(), stream);
    return cu::kSuccess;
  };
  driver.CopyHostToDevice = [](CuAddress, const void*, std::size_t, CuStream stream) {
    return calls->Copy(stream);
  };
  driver.CopyDeviceToHost = [](void*, CuAddress, std::size_t, CuStream stream) {
    return calls->Copy(stream);
  };
  return driver;
}

/// A GPU that may be full. No test touches its memory.
struct Room {
  int asked = 0;
  bool full = false;
};
class CountedBacking final : public Backing {
 public:
  explicit CountedBacking(Room& room) : room_(room) {}
  Status Commit(std::uintptr_t, std::size_t) override {
    ++room_.asked;
    return room_.full ? Status(Code::kMemoryAllocation, "the GPU is full") : Status();
  }
  void Decommit(std::uintptr_t, std::size_t) noexcept override {}

 private:
  Room& room_;
};

class DenseCopiesTest : public ::testing::Test {
 protected:
  static constexpr std::size_t kPinnedBytes = 8 * ReservedMemory::kUnitBytes;

  DenseCopiesTest() {
    calls = &calls_;
    auto opened = Gpu::Open(driver_, 0);
    EXPECT_TRUE(opened.ok());
    gpu_ = std::move(*opened);
    dense_ = std::make_unique<DenseCopies>(*gpu_, memory_, paths_);
  }
  std::unique_ptr<CudaStream> MakeStream() { return MakeStream(paths_); }
  std::unique_ptr<CudaStream> MakeStream(const CopyPaths& paths) {
    auto made = CudaStream::Create({*gpu_, memory_, pinned_, paths, dense_.get()});
    EXPECT_TRUE(made.ok());
    return std::move(*made);
  }

  /// Entries that are apart on the device. On the host, an odd length is followed by a gap.
  std::unique_ptr<BatchTask> Batch(const std::vector<std::size_t>& lengths, Direction direction) {
    auto batch = std::make_unique<BatchTask>(store_);
    EXPECT_TRUE(batch->segments.Reserve(lengths.size()).ok());
    std::size_t host = std::size_t{1} << 40, device = std::size_t{2} << 40;
    for (const std::size_t bytes : lengths) {
      auto* const on_host = reinterpret_cast<std::byte*>(host);
      auto* const on_device = reinterpret_cast<std::byte*>(device);
      if (direction == kIn) {
        batch->segments.Append({on_device, on_host, bytes});
      } else {
        batch->segments.Append({on_host, on_device, bytes});
      }
      host += bytes + (bytes % 2 == 1 ? 65 : 0);
      device += 2 * bytes;
      batch->bytes += bytes;
      batch->longest = std::max(batch->longest, bytes);
    }
    batch->direction = direction;
    return batch;
  }
  std::unique_ptr<BatchTask> Batch(std::size_t entries, Direction direction) {
    return Batch(std::vector<std::size_t>(entries, kEntry), direction);
  }
  Status Launch(CudaStream& stream, const BatchTask& batch) {
    return BatchCopies(stream).Launch(batch, ++sequence_);
  }
  std::size_t FreeBytes() const { return memory_.Info().free_bytes; }
  static std::unique_ptr<std::byte, decltype(&std::free)> HostMemory() {
    return {static_cast<std::byte*>(std::aligned_alloc(ReservedMemory::kUnitBytes, kPinnedBytes)),
            &std::free};
  }
  ReservedMemoryOptions Options(const char* name, std::uintptr_t base, std::size_t bytes) {
    return {.name = name,
            .base = base,
            .reserved_bytes = bytes,
            .capacity_bytes = bytes,
            .host_visible = true,
            .faults = &faults_};
  }

  using Words = std::vector<std::string>;
  Calls calls_;
  const Driver driver_ = RecordingDriver();
  FaultPlan faults_;
  Room room_, pinned_room_;
  const std::unique_ptr<std::byte, decltype(&std::free)> host_ = HostMemory();
  ReservedMemory memory_{Options("device memory", std::uintptr_t{3} << 40, 2 * 2 * DenseCopies::kBufferBytes),
                         std::make_unique<CountedBacking>(room_)};
  ReservedMemory pinned_{
      Options("pinned memory", reinterpret_cast<std::uintptr_t>(host_.get()), kPinnedBytes),
      std::make_unique<CountedBacking>(pinned_room_)};
  const CopyPaths paths_{"", 100, {.path = CopyPath::kDense}}, automatic_{"", 100, {}};
  HeapSegmentPool store_;
  std::unique_ptr<Gpu> gpu_;
  std::unique_ptr<DenseCopies> dense_;
  std::uint64_t sequence_ = 0;
};

/// Parts of 1, 4 and 1 MiB; the third one reuses the first buffer.
TEST_F(DenseCopiesTest, FromTheDeviceAreGatheredAndThenCopied) {
  const auto stream = MakeStream();
  const auto batch = Batch(24, kOut);
  ASSERT_TRUE(Launch(*stream, *batch).ok());
  EXPECT_EQ(calls_.words,
            (Words{"record e1 s1", "await e1 s2",                                                //
                   "kernel of 4 s2", "record e2 s2", "await e2 s1", "copy s1", "record e3 s1",   //
                   "kernel of 16 s2", "record e4 s2", "await e4 s1", "copy s1", "record e5 s1",  //
                   "await e3 s2", "kernel of 4 s2", "record e2 s2", "await e2 s1", "copy s1",
                   "record e3 s1",  //
                   "record e6 s1"}));
}

TEST_F(DenseCopiesTest, ToTheDeviceAreCopiedAndThenScattered) {
  const auto stream = MakeStream();
  const auto batch = Batch(24, kIn);
  ASSERT_TRUE(Launch(*stream, *batch).ok());
  EXPECT_EQ(calls_.words,
            (Words{"record e1 s1", "await e1 s2",                                                      //
                   "copy s1",      "record e2 s1", "await e2 s2",  "kernel of 4 s2",  "record e3 s2",  //
                   "copy s1",      "record e4 s1", "await e4 s2",  "kernel of 16 s2", "record e5 s2",  //
                   "await e3 s1",  "copy s1",      "record e2 s1", "await e2 s2",     "kernel of 4 s2",
                   "record e3 s2",  //
                   "await e3 s1",  "record e6 s1"}));
}

TEST_F(DenseCopiesTest, OfTwoStreamsUseTheBuffersOneAfterTheOther) {
  const auto first = MakeStream();
  const auto second = MakeStream();
  const auto batch = Batch(16, kOut);
  ASSERT_TRUE(Launch(*first, *batch).ok());
  const std::size_t free_bytes = FreeBytes();
  ASSERT_EQ(calls_.words.back(), "record e6 s1");
  calls_.words.clear();
  ASSERT_TRUE(Launch(*second, *batch).ok());
  ASSERT_GE(calls_.words.size(), 3U);
  EXPECT_EQ(calls_.words[0], "await e6 s2") << "the copies of the other stream have left the buffers";
  EXPECT_EQ(calls_.words[1], "record e1 s2");
  EXPECT_EQ(calls_.words[2], "await e1 s3");
  EXPECT_EQ(FreeBytes(), free_bytes) << "both use the same buffers";
  calls_.words.clear();
  ASSERT_TRUE(Launch(*second, *batch).ok());
  EXPECT_EQ(calls_.words[0], "record e1 s2") << "a stream is in order";
}

TEST_F(DenseCopiesTest, TakeTheirBuffersFromTheDevicesMemoryAndGiveThemBack) {
  const auto stream = MakeStream();
  const std::size_t before = FreeBytes();
  ASSERT_TRUE(Launch(*stream, *Batch(16, kOut)).ok());
  EXPECT_EQ(FreeBytes(), before - 2 * DenseCopies::kBufferBytes);
  ASSERT_TRUE(Launch(*stream, *Batch(16, kIn)).ok());
  EXPECT_EQ(FreeBytes(), before - 4 * DenseCopies::kBufferBytes) << "the other direction has its own";
  EXPECT_EQ(dense_->held_bytes(), 4 * DenseCopies::kBufferBytes);
  std::vector<ReservedMemory::Range> ranges;
  memory_.CopyRanges(ranges);
  EXPECT_TRUE(ranges.empty()) << "a descriptor could name them";
  dense_->DropIdle();
  EXPECT_EQ(FreeBytes(), before);
  EXPECT_EQ(dense_->held_bytes(), 0U);
}

/// A full GPU costs each batch nothing.
TEST_F(DenseCopiesTest, WithoutMemoryGoByKernelAndDoNotAskAgain) {
  room_.full = true;
  const auto stream = MakeStream();
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(Launch(*stream, *Batch(40, kOut)).ok());
    EXPECT_EQ(calls_.words, (Words{"kernel of 280 s1"})) << "pieces of 40 KiB";
    EXPECT_EQ(room_.asked, 1);
    calls_.words.clear();
  }
  room_.full = false;
  auto block = memory_.Allocate(64, Pages::kBySize);
  ASSERT_TRUE(block.ok());
  ASSERT_TRUE(Launch(*stream, *Batch(40, kOut)).ok());
  EXPECT_EQ(calls_.words.front(), "record e1 s1") << "there is memory again";
}

TEST_F(DenseCopiesTest, ThatFailLeaveNothingBehind) {
  const auto stream = MakeStream();
  calls_.copies_fail = true;
  EXPECT_FALSE(Launch(*stream, *Batch(24, kOut)).ok());
  // The copy is tried again with its context. Then the caller waits until the second stream is idle.
  EXPECT_EQ(calls_.words, (Words{"record e1 s1", "await e1 s2", "kernel of 4 s2", "record e2 s2",
                                 "await e2 s1", "copy s1", "copy s1", "wait s2", "record e3 s1"}));
}

/// The ranges between the runs, however many, are one kernel.
TEST_F(DenseCopiesTest, CopyAllOtherEntriesByOneKernel) {
  constexpr std::size_t kShort = 4096, kOdd = 70'001, kPiece = 4096;
  std::vector<std::size_t> lengths;
  for (int i = 0; i < 3; ++i) {
    lengths.insert(lengths.end(), 1024, kShort);
    lengths.insert(lengths.end(), {kOdd, kOdd});  // the first one continues the run, the second one is alone
  }
  const auto stream = MakeStream(automatic_);
  const auto batch = Batch(lengths, kIn);
  ASSERT_TRUE(Launch(*stream, *batch).ok());
  std::vector<PieceArgument> expected;
  for (std::size_t i = 1025; i < lengths.size(); i += 1026) {
    const Segment& odd = batch->segments.all()[i];
    for (std::size_t done = 0; done < kOdd; done += kPiece)
      expected.push_back(
          {AddressOf(odd.dst) + done, AddressOf(odd.src) + done, std::min(kPiece, kOdd - done)});
  }
  EXPECT_EQ(calls_.words.front(), "kernel of " + std::to_string(expected.size()) + " s1");
  EXPECT_EQ(std::count_if(
                calls_.words.begin(), calls_.words.end(),
                [](const std::string& word) { return word.starts_with("kernel") && word.ends_with("s1"); }),
            1);
  ASSERT_EQ(calls_.kernel.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(calls_.kernel[i].dst, expected[i].dst);
    EXPECT_EQ(calls_.kernel[i].src, expected[i].src);
    EXPECT_EQ(calls_.kernel[i].bytes, expected[i].bytes);
  }
}

/// Another thread's allocation takes the buffers between the choice and the copy.
TEST_F(DenseCopiesTest, WhoseBuffersAreTakenGoByKernel) {
  const auto stream = MakeStream(automatic_);
  std::vector<std::size_t> lengths(2048, 4096);
  lengths.push_back(101);  // it continues the run
  lengths.push_back(103);
  calls_.on_kernel = [this] {
    dense_->DropIdle();
    room_.full = true;
  };
  ASSERT_TRUE(Launch(*stream, *Batch(lengths, kOut)).ok());
  EXPECT_EQ(calls_.words, (Words{"wait s2", "kernel of 1 s1", "kernel of 2049 s1"}));
}

}  // namespace
}  // namespace sampan::cuda::dense_copies_test
