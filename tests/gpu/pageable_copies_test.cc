// Copies between pageable memory and a GPU in every shape, of every size that is staged differently: by the
// driver, by the calling thread, by several threads. Run with every SAMPAN_COPY_PATH.
#include <gtest/gtest.h>

#include <cstring>
#include <thread>
#include <vector>

#include "acl/acl.h"
#include "tests/support/batch_request.h"
#include "tests/support/copy_fixture.h"
#include "tests/support/logged_path.h"

namespace sampan::test::pageable_copies_test {
namespace {

constexpr std::size_t kKiB = 1024, kMiB = 1024 * kKiB;
constexpr std::size_t kBuffer = kMiB;  // what a staging buffer holds

struct Way {
  Place from, to;
};
constexpr Way kWays[] = {{Place::kPageable, Place::kDevice}, {Place::kDevice, Place::kPageable}};

aclrtMemcpyKind KindOf(const Way& way) {
  return way.to == Place::kDevice ? ACL_MEMCPY_HOST_TO_DEVICE : ACL_MEMCPY_DEVICE_TO_HOST;
}
aclrtMemcpyBatchAttr AttributeOf(const Way& way) {
  return way.to == Place::kDevice ? HostToDevice() : DeviceToHost();
}

/// A source with random contents, a destination with canaries, and what the latter has to hold in the end.
struct Ends {
  Ends(const Way& way, std::size_t src_bytes, std::size_t dst_bytes, Random& random)
      : src(way.from, src_bytes),
        dst(way.to, dst_bytes),
        contents(random.Fill(src_bytes)),
        expected(dst_bytes, GuardedBuffer::kBackground) {
    src.Write(contents);
  }
  void Expect(std::size_t dst_at, std::size_t src_at, std::size_t bytes) {
    std::memcpy(expected.data() + dst_at, contents.data() + src_at, bytes);
  }

  GuardedBuffer src, dst;
  const Bytes contents;
  Bytes expected;
};

class PageableCopies : public CopyTest {
 protected:
  /// The device's side is written and read through pinned memory, which is not staged.
  void CopyLinear(const Way& way, std::size_t bytes, std::size_t src_at, std::size_t dst_at) {
    Ends ends(way, bytes + src_at, bytes + dst_at, random());
    ends.Expect(dst_at, src_at, bytes);
    const PinnedBuffer pinned(bytes + src_at + dst_at);
    pinned.Write(0, ends.contents);
    if (way.from == Place::kDevice) {
      EXPECT_ACL(ACL_SUCCESS, aclrtMemcpy(ends.src.data(), ends.src.bytes(), pinned.data(), ends.src.bytes(),
                                          ACL_MEMCPY_HOST_TO_DEVICE));
    }
    EXPECT_ACL(ACL_SUCCESS, aclrtMemcpy(ends.dst.at(dst_at), bytes, ends.src.at(src_at), bytes, KindOf(way)));
    if (way.to == Place::kDevice) {
      EXPECT_ACL(ACL_SUCCESS, aclrtMemcpy(pinned.data(), ends.dst.bytes(), ends.dst.data(), ends.dst.bytes(),
                                          ACL_MEMCPY_DEVICE_TO_HOST));
      EXPECT_TRUE(SameBytes(ends.expected, pinned.Read(0, ends.dst.bytes())));
    }
    EXPECT_TRUE(ends.dst.Holds(ends.expected)) << bytes << " bytes from " << src_at << " to " << dst_at;
  }

  /// Entries of random lengths at random alignments; those at the destination do not touch.
  void CopyBatch(const Way& way, std::size_t entries, std::size_t min_bytes, std::size_t max_bytes,
                 BatchForm form = BatchForm::kAsync) {
    const std::size_t stride = max_bytes + 40;
    Ends ends(way, stride * entries, stride * entries, random());
    BatchRequest request;
    for (std::size_t i = 0; i < entries; ++i) {
      const std::size_t bytes = random().Between(min_bytes, max_bytes);
      const std::size_t source = random().Between(0, stride * entries - bytes);
      const std::size_t target = i * stride + random().Between(0, 39);
      request.Add(ends.dst.at(target), ends.src.at(source), bytes);
      ends.Expect(target, source, bytes);
    }
    request.UseAttr(AttributeOf(way));
    EXPECT_ACL(ACL_SUCCESS, request.Submit(form, stream()));
    EXPECT_TRUE(ends.dst.Holds(ends.expected))
        << form << ": " << entries << " entries of " << min_bytes << " to " << max_bytes << " bytes";
  }

  struct Shape {
    std::size_t width, height, src_pitch, dst_pitch, src_at, dst_at;
  };
  void CopyRows(const Way& way, const Shape& shape) {
    const auto [width, height, src_pitch, dst_pitch, src_at, dst_at] = shape;
    Ends ends(way, src_at + src_pitch * height, dst_at + dst_pitch * height, random());
    for (std::size_t row = 0; row < height; ++row)
      ends.Expect(dst_at + row * dst_pitch, src_at + row * src_pitch, width);
    EXPECT_ACL(ACL_SUCCESS, aclrtMemcpy2d(ends.dst.at(dst_at), dst_pitch, ends.src.at(src_at), src_pitch,
                                          width, height, KindOf(way)));
    EXPECT_TRUE(ends.dst.Holds(ends.expected))
        << height << " rows of " << width << ", pitches " << src_pitch << " and " << dst_pitch;
  }
};

TEST_F(PageableCopies, LinearOfAnySizeAndAlignment) {
  for (const Way& way : kWays) {
    for (const std::size_t bytes :
         {std::size_t{1}, 4 * kKiB, 32 * kKiB - 1, 32 * kKiB, 200 * kKiB + 3, kBuffer - 1, kBuffer + 1,
          2 * kMiB - 1, 2 * kMiB, 3 * kMiB, 5 * kMiB + 4097, 16 * kMiB + 11, 40 * kMiB - 1}) {
      CopyLinear(way, bytes, 0, 0);
      CopyLinear(way, bytes, 3, 17);
    }
  }
}

TEST_F(PageableCopies, BatchesOfAnyLengthAndAlignment) {
  for (const Way& way : kWays) {
    for (const std::size_t entries : {1, 2, 7, 100, 5000}) {
      for (const std::size_t max_bytes : {1, 15, 40, 600, 9000})
        CopyBatch(way, entries, 1, max_bytes);
    }
    CopyBatch(way, 60'000, 1, 8);
    for (const std::size_t entries : {2, 9, 40})
      CopyBatch(way, entries, kBuffer - 20, kBuffer + 20);
    CopyBatch(way, 6, 2 * kMiB, 5 * kMiB);
    for (const BatchForm form : {BatchForm::kSync, BatchForm::kSyncV2, BatchForm::kAsyncV2})
      CopyBatch(way, 300, 1, 3000, form);
  }
}

/// As in a cache of blocks: dense on the device, anywhere on the host.
TEST_F(PageableCopies, BatchesThatAreDenseOnTheDevice) {
  constexpr std::size_t kBytes = 1003, kEntries = 9000;
  for (const Way& way : kWays) {
    Ends ends(way, kBytes * kEntries, kBytes * kEntries, random());
    BatchRequest request;
    for (std::size_t i = 0; i < kEntries; ++i) {
      const std::size_t device = i * kBytes, host = (i * 7919 % kEntries) * kBytes;
      const auto [dst, src] = way.to == Place::kDevice ? std::pair{device, host} : std::pair{host, device};
      request.Add(ends.dst.at(dst), ends.src.at(src), kBytes);
      ends.Expect(dst, src, kBytes);
    }
    request.UseAttr(AttributeOf(way));
    EXPECT_ACL(ACL_SUCCESS, request.Submit(BatchForm::kAsync, stream()));
    EXPECT_TRUE(ends.dst.Holds(ends.expected));
  }
}

TEST_F(PageableCopies, BatchesOfPinnedAndPageableMemoryWithEmptyEntries) {
  constexpr std::size_t kBytes = 700, kEntries = 1200;
  GuardedBuffer device(Place::kDevice, kBytes * kEntries);
  PinnedBuffer pinned(kBytes * kEntries);
  PageableBuffer pageable(kBytes * kEntries);
  const Bytes contents = random().Fill(kBytes * kEntries);
  pinned.Write(0, contents);
  pageable.Write(0, contents);
  Bytes expected = contents;
  BatchRequest request;
  for (std::size_t i = 0; i < kEntries; ++i) {
    const Buffer& host = i % 3 == 0 ? static_cast<const Buffer&>(pinned) : pageable;
    const std::size_t bytes = i % 7 == 0 ? 0 : kBytes - i % 5;
    request.Add(device.at(i * kBytes), host.at(i * kBytes), bytes);
    std::memset(expected.data() + i * kBytes + bytes, static_cast<int>(GuardedBuffer::kBackground),
                kBytes - bytes);
  }
  request.UseAttr(HostToDevice());
  EXPECT_ACL(ACL_SUCCESS, request.Submit(BatchForm::kSyncV2, stream()));
  EXPECT_TRUE(device.Holds(expected));
}

TEST_F(PageableCopies, RowsOfAnyWidthPitchAndAlignment) {
  for (const Way& way : kWays) {
    for (const std::size_t width : {1, 4, 16, 20, 100, 333, 4096, 20'000}) {
      for (const std::size_t height :
           {std::size_t{1}, std::size_t{3}, width < 1000 ? 9001 : 6 * kMiB / width}) {
        CopyRows(way, {width, height, 2 * width, width, 0, 0});
        CopyRows(way, {width, height, width, width + 48, 0, 16});
        CopyRows(way, {width, height, width + 3, width + 1, 5, 2});
        CopyRows(way, {width, height, width, width, 1, 3});
      }
    }
    for (const std::size_t width : {kBuffer - 1, kBuffer, kBuffer + 1, 2 * kMiB + 77}) {
      CopyRows(way, {width, 1, width, width, 0, 0});
      CopyRows(way, {width, 7, width + 33, width + 5, 0, 3});
    }
  }
}

/// The stream's work before it is over, and what was copied is there for the stream's work behind it.
TEST_F(PageableCopies, WaitForTheirStream) {
  constexpr std::size_t kEntries = 3000, kBytes = 2000;
  DeviceBuffer device(kEntries * kBytes);
  PageableBuffer host(kEntries * kBytes);
  for (int round = 0; round < 5; ++round) {
    BatchRequest request;
    for (std::size_t i = 0; i < kEntries; ++i)
      request.Add(host.at(i * kBytes), device.at((i * 7 % kEntries) * kBytes), kBytes - 1);
    request.UseAttr(DeviceToHost());
    EXPECT_ACL(ACL_SUCCESS, aclrtMemsetAsync(device.data(), device.bytes(), round, device.bytes(), stream()));
    EXPECT_ACL(ACL_SUCCESS, request.Submit(BatchForm::kAsync, stream()));
    for (const std::size_t i : {std::size_t{0}, kEntries / 2, kEntries - 1})
      EXPECT_EQ(*host.at(i * kBytes), std::byte(round));
  }
}

TEST_F(PageableCopies, FromSeveralThreadsAtOnce) {
  constexpr int kThreads = 6;
  std::vector<std::thread> threads;
  for (int number = 0; number < kThreads; ++number) {
    threads.emplace_back([number] {
      ASSERT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
      const Stream stream;
      Random random;
      for (std::size_t round = 0; round < 12; ++round) {
        // Short ones by each thread itself, long ones by the threads that all of them share.
        const std::size_t bytes = round % 4 == 0 ? 6 * kMiB : 70 * kKiB + 5 * round;
        const std::size_t entries = 1 + round * 40;
        const std::size_t each = bytes / entries;
        DeviceBuffer device(bytes);
        PageableBuffer host(bytes), back(bytes);
        const Bytes contents = random.Fill(bytes);
        host.Write(0, contents);
        std::memset(back.data(), 0, bytes);
        BatchRequest in;
        for (std::size_t i = 0; i < entries; ++i)
          in.Add(device.at(i * each), host.at(i * each), i + 1 == entries ? bytes - i * each : each);
        in.UseAttr(HostToDevice());
        ASSERT_ACL(ACL_SUCCESS, in.Submit(BatchForm::kAsync, stream)) << "thread " << number;
        if (round % 2 == 0) {
          ASSERT_ACL(ACL_SUCCESS,
                     aclrtMemcpy(back.data(), bytes, device.data(), bytes, ACL_MEMCPY_DEVICE_TO_HOST));
          EXPECT_EQ(std::memcmp(back.data(), contents.data(), bytes), 0) << "thread " << number;
        } else {
          ASSERT_ACL(ACL_SUCCESS, aclrtMemcpy2d(back.data(), each, device.data(), each, each, entries,
                                                ACL_MEMCPY_DEVICE_TO_HOST));
          EXPECT_EQ(std::memcmp(back.data(), contents.data(), each * entries), 0) << "thread " << number;
        }
      }
    });
  }
  for (std::thread& thread : threads)
    thread.join();
}

/// More threads than buffers are kept for: the others' copies are the driver's.
TEST_F(PageableCopies, ManyThreadsAtOnce) {
  constexpr std::size_t kThreads = 60, kEach = 5000, kRounds = 20;
  const DeviceBuffer device(kThreads * kEach);
  std::vector<std::thread> threads;
  for (std::size_t number = 0; number < kThreads; ++number) {
    threads.emplace_back([&, number] {
      ASSERT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
      Random random;
      for (std::size_t i = 0; i < number; ++i)  // other bytes than the other threads'
        random.Next();
      Bytes back(kEach);
      for (std::size_t round = 0; round < kRounds; ++round) {
        const Bytes contents = random.Fill(kEach);
        std::byte* const own = device.at(number * kEach);
        ASSERT_ACL(ACL_SUCCESS, aclrtMemcpy(own, kEach, contents.data(), kEach, ACL_MEMCPY_HOST_TO_DEVICE));
        ASSERT_ACL(ACL_SUCCESS, aclrtMemcpy(back.data(), kEach, own, kEach, ACL_MEMCPY_DEVICE_TO_HOST));
        ASSERT_TRUE(back == contents) << "thread " << number << ", round " << round;
      }
    });
  }
  for (std::thread& thread : threads)
    thread.join();
}

TEST(PageablePath, IsNamedInTheDebugLog) {
  if (!InChild()) {
    ExpectLogged(
        "auto",
        {"a batch of 2 entries, 128 bytes, host to device: path staged, because pageable memory: through "
         "pinned buffers, by the calling thread",
         "3 rows of 40 bytes, device to host: path staged, because pageable memory: through pinned buffers, "
         "by the calling thread",
         "67108864 bytes, host to device: path staged, because much pageable memory: through pinned "
         "buffers, by several threads",
         "100 bytes, device to host: path staged, because pageable memory: through pinned buffers, by the "
         "calling thread"});
    return;
  }
  constexpr std::size_t kBytes = 64 * kMiB;
  EXPECT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
  const Stream stream;
  const DeviceBuffer device(kBytes);
  const PageableBuffer host(kBytes);
  BatchRequest request;
  request.Add(device.at(0), host.at(128), 64);
  request.Add(device.at(128), host.at(0), 64);
  request.UseAttr(HostToDevice());
  EXPECT_ACL(ACL_SUCCESS, request.Submit(BatchForm::kAsync, stream));
  EXPECT_ACL(ACL_SUCCESS,
             aclrtMemcpy2d(host.data(), 50, device.data(), 60, 40, 3, ACL_MEMCPY_DEVICE_TO_HOST));
  EXPECT_ACL(ACL_SUCCESS, aclrtMemcpy(device.data(), kBytes, host.data(), kBytes, ACL_MEMCPY_HOST_TO_DEVICE));
  EXPECT_ACL(ACL_SUCCESS, aclrtMemcpy(host.data(), 100, device.data(), 100, ACL_MEMCPY_DEVICE_TO_HOST));
}

TEST(PageablePath, CanBeChosen) {
  if (!InChild()) {
    ExpectLogged("staged", {"100 bytes, host to device: path staged, because SAMPAN_COPY_PATH says so"});
    ExpectLogged("blocking",
                 {"4194304 bytes, host to device: path blocking, because SAMPAN_COPY_PATH says so"});
    return;
  }
  constexpr std::size_t kBytes = 4 * kMiB;
  EXPECT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
  const DeviceBuffer device(kBytes);
  const PageableBuffer host(kBytes);
  for (const std::size_t bytes : {std::size_t{100}, kBytes})
    EXPECT_ACL(ACL_SUCCESS, aclrtMemcpy(device.data(), bytes, host.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE));
}

}  // namespace
}  // namespace sampan::test::pageable_copies_test
