// Copy kernels against a plain loop: every level, alignment, width and pitch, with guard bytes around what is
// written.
#include "backend/emulated/kernels/copy_kernels.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <ostream>
#include <random>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "backend/emulated/kernels/line_kernels.h"

namespace sampan::emulated {

void PrintTo(KernelLevel level, std::ostream* out) {
  *out << (level == KernelLevel::kPlain ? "Plain" : level == KernelLevel::kAvx2 ? "Avx2" : "Avx512");
}
void PrintTo(Caching caching, std::ostream* out) {
  *out << (caching == Caching::kKeep ? "Keep" : "Stream");
}

namespace {

constexpr std::size_t kGuardBytes = 192;
constexpr std::byte kGuard{0xA5};

std::vector<std::byte> RandomBytes(std::size_t bytes, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<std::byte> content(bytes + sizeof(std::uint32_t));
  for (std::size_t at = 0; at < bytes; at += sizeof(std::uint32_t)) {
    const auto value = static_cast<std::uint32_t>(random());
    std::memcpy(content.data() + at, &value, sizeof(value));
  }
  content.resize(bytes);
  return content;
}

// The destination that a test expects and the one that a kernel writes: equal at first, guards included.
// Both begin at the start of a line.
class Destination {
 public:
  explicit Destination(std::size_t bytes)
      : written_(bytes + 2 * kGuardBytes + kLineBytes, kGuard), expected_(written_) {}
  std::byte* written() { return written_.data() + LineStart(); }
  std::byte* expected() { return expected_.data() + LineStart(); }
  // Where the two first differ, counted from written(); SIZE_MAX: nowhere.
  std::size_t FirstDifference() const {
    if (std::memcmp(written_.data(), expected_.data(), written_.size()) == 0) return SIZE_MAX;
    const auto at = std::mismatch(written_.begin(), written_.end(), expected_.begin()).first;
    return static_cast<std::size_t>(at - written_.begin()) - LineStart();
  }

 private:
  std::size_t LineStart() const {
    return kGuardBytes + -reinterpret_cast<std::uintptr_t>(written_.data()) % kLineBytes;
  }

  std::vector<std::byte> written_;
  std::vector<std::byte> expected_;
};

class CopyKernels : public testing::TestWithParam<std::tuple<KernelLevel, Caching>> {
 protected:
  void SetUp() override {
    if (!UseKernelLevel(std::get<0>(GetParam()))) GTEST_SKIP() << "this processor has no such instructions";
  }
  void TearDown() override {
    UseKernelLevel(KernelLevel::kPlain);
    UseKernelLevel(KernelLevel::kAvx2);
    UseKernelLevel(KernelLevel::kAvx512);
  }
  Caching caching() const { return std::get<1>(GetParam()); }

  void ExpectCopiesBytes(std::size_t dst_offset, std::size_t src_offset, std::size_t bytes) {
    Destination dst(dst_offset + bytes);
    std::memcpy(dst.expected() + dst_offset, source_.data() + src_offset, bytes);
    CopyBytes(dst.written() + dst_offset, source_.data() + src_offset, bytes, caching());
    ASSERT_EQ(dst.FirstDifference(), SIZE_MAX)
        << bytes << " bytes, dst +" << dst_offset << ", src +" << src_offset;
  }

  void ExpectCopiesRows(std::size_t dst_offset, const Rows& shape) {
    Destination dst(dst_offset + shape.dst_pitch * shape.height + shape.width);
    ASSERT_LE(shape.src_pitch * shape.height + shape.width + 64, source_.size());
    Rows rows = shape;
    rows.dst = dst.written() + dst_offset;
    rows.src = source_.data() + dst_offset % 7;
    for (std::size_t i = 0; i < rows.height; ++i) {
      std::memcpy(dst.expected() + dst_offset + i * rows.dst_pitch, rows.src + i * rows.src_pitch,
                  rows.width);
    }
    CopyRows(rows, caching());
    ASSERT_EQ(dst.FirstDifference(), SIZE_MAX)
        << rows.height << " rows of " << rows.width << ", pitches " << rows.dst_pitch << " and "
        << rows.src_pitch << ", dst +" << dst_offset;
  }

  inline static const std::vector<std::byte> source_ = RandomBytes(std::size_t{3} << 20, 1);
};

INSTANTIATE_TEST_SUITE_P(EveryLevel, CopyKernels,
                         testing::Combine(testing::Values(KernelLevel::kPlain, KernelLevel::kAvx2,
                                                          KernelLevel::kAvx512),
                                          testing::Values(Caching::kKeep, Caching::kStream)),
                         [](const auto& test) {
                           return testing::PrintToString(std::get<0>(test.param)) +
                                  testing::PrintToString(std::get<1>(test.param));
                         });

TEST_P(CopyKernels, CopyEveryShortLength) {
  for (std::size_t bytes = 0; bytes <= 300; ++bytes) {
    for (const std::size_t offset : {0, 1, 13, 63})
      ExpectCopiesBytes(offset, bytes % 5, bytes);
  }
}

TEST_P(CopyKernels, CopyLongLengthsAtEveryAlignment) {
  for (std::size_t offset = 0; offset < 64; ++offset) {
    ExpectCopiesBytes(offset, (offset * 29) % 64, 4096 + offset * 7);
    ExpectCopiesBytes(0, offset, 8192);
  }
  for (const std::size_t bytes : {4095, 4096, 4097, 65536, 1 << 20, (1 << 20) + 1}) {
    ExpectCopiesBytes(0, 0, bytes);
    ExpectCopiesBytes(5, 3, bytes);
  }
}

TEST_P(CopyKernels, CopyBytesBehavesLikeMemmove) {
  constexpr std::size_t kBytes = 20000;
  for (const std::ptrdiff_t shift : {-9000, -4096, -64, -63, -1, 0, 1, 63, 64, 4096, 9000}) {
    std::vector<std::byte> actual = RandomBytes(kBytes + 20000, 7);
    std::vector<std::byte> expected = actual;
    std::memmove(expected.data() + 10000 + shift, expected.data() + 10000, kBytes);
    CopyBytes(actual.data() + 10000 + shift, actual.data() + 10000, kBytes, caching());
    EXPECT_TRUE(actual == expected) << "destination " << shift << " bytes after the source";
  }
}

TEST_P(CopyKernels, CopySegmentsOfManySizes) {
  std::mt19937 random(2);
  for (const std::size_t longest : {1, 40, 300, 5000, 70000}) {
    for (int round = 0; round < 6; ++round) {
      std::vector<Segment> segments(40);
      std::size_t end = 0;
      for (Segment& segment : segments) {
        segment.bytes = random() % (longest + 1);
        end += random() % 70;
        segment.dst = reinterpret_cast<std::byte*>(end);  // an offset until the destination exists
        end += segment.bytes;
        segment.src = source_.data() + random() % (source_.size() - segment.bytes);
      }
      Destination dst(end);
      for (Segment& segment : segments) {
        const auto offset = reinterpret_cast<std::uintptr_t>(segment.dst);
        segment.dst = dst.written() + offset;
        std::memcpy(dst.expected() + offset, segment.src, segment.bytes);
      }
      std::shuffle(segments.begin(), segments.end(), random);
      CopySegments(segments, caching());
      ASSERT_EQ(dst.FirstDifference(), SIZE_MAX) << "at most " << longest << " bytes each, round " << round;
    }
  }
  CopySegments({}, caching());
}

TEST_P(CopyKernels, CopyRowsOfEveryWidth) {
  for (std::size_t width = 0; width <= 300; ++width) {
    for (const std::size_t height : {0, 1, 2, 37}) {
      for (const std::size_t offset : {0, 1, 50}) {
        const std::size_t odd = width + 1 + width % 2;
        ExpectCopiesRows(offset, {nullptr, nullptr, width, width, width, height});      // linear
        ExpectCopiesRows(offset, {nullptr, nullptr, width, 2 * width, width, height});  // dense destination
        ExpectCopiesRows(offset, {nullptr, nullptr, width, odd, width, height});
        ExpectCopiesRows(offset, {nullptr, nullptr, odd, width, width, height});  // dense source
        ExpectCopiesRows(offset, {nullptr, nullptr, odd + 2, odd, width, height});
        ExpectCopiesRows(offset, {nullptr, nullptr, 512, 1024, width, height});
      }
    }
  }
}

TEST_P(CopyKernels, CopyRowsOfWideAndPagePitches) {
  for (const std::size_t width :
       {1, 16, 17, 64, 100, 128, 255, 256, 512, 1000, 1023, 1024, 1025, 1088, 4000, 4096}) {
    for (const std::size_t offset : {0, 1, 64}) {
      ExpectCopiesRows(offset, {nullptr, nullptr, width, 4096, width, 150});
      ExpectCopiesRows(offset, {nullptr, nullptr, 4096, 4096, width, 50});
      ExpectCopiesRows(offset, {nullptr, nullptr, 4096, width, width, 50});
      ExpectCopiesRows(offset, {nullptr, nullptr, 4099, 4101, width, 50});
      ExpectCopiesRows(offset, {nullptr, nullptr, width, 8192, width, 200});
    }
  }
}

TEST_P(CopyKernels, FillEveryLengthAndAlignment) {
  for (const std::uint32_t pattern : {0x00000000u, 0x5A5A5A5Au, 0x44332211u}) {
    for (std::size_t bytes = 0; bytes <= 300; ++bytes) {
      for (const std::size_t offset : {0, 1, 2, 3, 61}) {
        Destination dst(offset + bytes);
        for (std::size_t i = 0; i < bytes; ++i) {
          dst.expected()[offset + i] = static_cast<std::byte>(pattern >> (i % 4 * 8));
        }
        FillBytes(dst.written() + offset, pattern, bytes, caching());
        ASSERT_EQ(dst.FirstDifference(), SIZE_MAX) << bytes << " bytes of " << pattern << ", dst +" << offset;
      }
    }
    for (std::size_t offset = 0; offset < 64; ++offset) {
      const std::size_t bytes = 20000 + offset * 3;
      Destination dst(offset + bytes);
      for (std::size_t i = 0; i < bytes; ++i) {
        dst.expected()[offset + i] = static_cast<std::byte>(pattern >> (i % 4 * 8));
      }
      FillBytes(dst.written() + offset, pattern, bytes, caching());
      ASSERT_EQ(dst.FirstDifference(), SIZE_MAX) << bytes << " bytes of " << pattern << ", dst +" << offset;
    }
  }
}

// Two pages with nothing readable or writable around them: a byte too far is a fault.
class FencedPages {
 public:
  FencedPages() {
    base_ = static_cast<std::byte*>(
        mmap(nullptr, 4 * kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    mprotect(base_ + kPage, 2 * kPage, PROT_READ | PROT_WRITE);
    std::memset(begin(), 0x5A, 2 * kPage);
  }
  FencedPages(const FencedPages&) = delete;
  FencedPages& operator=(const FencedPages&) = delete;
  ~FencedPages() { munmap(base_, 4 * kPage); }
  std::byte* begin() { return base_ + kPage; }
  std::byte* end() { return base_ + 3 * kPage; }

 private:
  static constexpr std::size_t kPage = 4096;
  std::byte* base_;
};

TEST_P(CopyKernels, TouchNothingOutside) {
  FencedPages src, dst;
  for (std::size_t bytes = 0; bytes <= 8192; bytes += bytes < 300 ? 1 : 61) {
    CopyBytes(dst.begin(), src.begin(), bytes, caching());
    CopyBytes(dst.end() - bytes, src.end() - bytes, bytes, caching());
    const Segment ends[] = {{dst.begin(), src.end() - bytes, bytes}, {dst.end() - bytes, src.begin(), bytes}};
    CopySegments(std::span(ends).first(1), caching());
    CopySegments(std::span(ends).last(1), caching());
    FillBytes(dst.end() - bytes, 0x04030201, bytes, caching());
    FillBytes(dst.begin(), 0x04030201, bytes, caching());
  }
  for (std::size_t width = 1; width <= 1100; ++width) {
    for (const std::size_t height : {1, 2, 3, 7}) {
      const std::size_t pitch = width + 7;
      const std::size_t span = (height - 1) * pitch + width;
      if (span > 8192) continue;
      CopyRows({dst.end() - width * height, src.end() - span, width, pitch, width, height}, caching());
      CopyRows({dst.begin(), src.begin(), width, pitch, width, height}, caching());
      CopyRows({dst.end() - span, src.end() - span, pitch, pitch, width, height}, caching());
      CopyRows({dst.end() - span, src.end() - width * height, pitch, width, width, height}, caching());
    }
  }
}

TEST_P(CopyKernels, AcceptNullForNothing) {
  const Segment nothing{nullptr, nullptr, 0};
  CopyBytes(nullptr, nullptr, 0, caching());
  CopySegments(std::span(&nothing, 1), caching());
  CopyRows({nullptr, nullptr, 0, 0, 0, 0}, caching());
  FillBytes(nullptr, 0, 0, caching());
}

TEST(CachingForRequest, StreamsOnlyWhatTheCachesCannotHold) {
  EXPECT_EQ(CachingFor(0), Caching::kKeep);
  EXPECT_EQ(CachingFor(64 << 10), Caching::kKeep);
  EXPECT_EQ(CachingFor(std::size_t{64} << 20), Caching::kStream);
}

}  // namespace
}  // namespace sampan::emulated
