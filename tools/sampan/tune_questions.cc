// Which limits `sampan tune` measures, by which copies, and what the times say.
#include "tune_questions.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>

#include "crossing.h"

namespace sampan::tool {
namespace {

constexpr std::size_t kKiB = 1024, kMiB = 1024 * kKiB;
/// Enough for the times to count more than the start, little enough to be verified soon.
constexpr std::size_t kLinkBytes = 8 * kMiB, kMemoryBytes = 32 * kMiB, kManyBytes = 128 * kMiB;
/// Kernels keep multiprocessors busy that a program may want: where the other way is nearly as fast, it is
/// taken.
constexpr double kKernelHandicap = 1.02;
constexpr std::size_t kMostRows = std::size_t{5} << 20;  // of one call

using Sizes = std::vector<std::size_t>;

struct Ends {
  Place src, dst;
};
constexpr Ends kIn{Place::kPinned, Place::kDevice}, kOut{Place::kDevice, Place::kPinned},
    kWithin{Place::kDevice, Place::kDevice}, kPageableIn{Place::kPageable, Place::kDevice},
    kPageableOut{Place::kDevice, Place::kPageable};

CopyPlan Batch(Ends ends, std::size_t bytes, std::size_t count) {
  return {Form::kBatchQueued, ends.src, ends.dst, {.bytes = bytes, .count = count}};
}

/// How the rows lie: at multiples of 16, anywhere with gaps, anywhere without.
enum class Layout { kEven, kOdd, kOddDense };

CopyPlan Rows(Ends ends, Layout layout, std::size_t width, std::size_t bytes) {
  Shape shape{.bytes = width, .count = std::min(bytes / width, kMostRows), .pitch = 2 * width};
  if (layout != Layout::kEven) shape.pitch += 3;
  if (layout == Layout::kOdd) shape.dst_pitch = width + 1;
  return {Form::kRowsQueued, ends.src, ends.dst, shape};
}

cuda::LimitField FieldOf(std::string_view name) {
  const auto fields = cuda::limit_fields();
  return *std::find_if(fields.begin(), fields.end(),
                       [&](const cuda::LimitField& field) { return field.name == name; });
}

/// The limit of what is the first way's: between the last point of its own and the next.
std::size_t UpTo(std::size_t crossing, const Sizes& points) {
  if (crossing == 0) return 0;
  return crossing == points.size() ? cuda::kAny : (points[crossing - 1] + points[crossing]) / 2;
}

/// Both ways at each of the points; then where to go over from the first to the second.
struct TwoWays {
  Variation first, second;
  Sizes points;
  std::vector<CopyPlan> plans;  ///< of the points, as often as there are kinds of copies that share the limit
};

Question AskCrossing(const TwoWays& ways,
                     std::function<void(std::size_t crossing, cuda::PathLimits& limits)> use) {
  Question question{.trials = {{ways.first, ways.second}, ways.plans}, .conclude = {}};
  const double first_handicap = ways.first.path == "kernel" ? kKernelHandicap : 1;
  const double second_handicap = ways.second.path == "kernel" ? kKernelHandicap : 1;
  question.conclude = [points = ways.points.size(), first_handicap, second_handicap, use = std::move(use)](
                          std::span<const double> times, cuda::PathLimits& limits) {
    // Kinds count alike: the product of their times.
    std::vector<double> first(points, 1), second(points, 1);
    for (std::size_t i = 0; i < times.size() / 2; ++i) {
      first[i % points] *= times[i] * first_handicap;
      second[i % points] *= times[times.size() / 2 + i] * second_handicap;
    }
    use(BestCrossing(first, second), limits);
  };
  return question;
}

CopyPlan Linear(Form form, Ends ends, std::size_t bytes) {
  return {form, ends.src, ends.dst, {.bytes = bytes}};
}

/// Linear copies of pageable memory by the second way from so many bytes on, in the directions that share the
/// limit.
Question AskPageable(std::string_view limit, const Sizes& points, std::initializer_list<Ends> directions) {
  TwoWays ways{{.limit = limit, .value = cuda::kAny}, {.limit = limit, .value = 0}, points, {}};
  for (const Ends ends : directions) {
    for (const std::size_t bytes : points)
      ways.plans.push_back(Linear(Form::kBlocking, ends, bytes));
  }
  return AskCrossing(ways, [limit, points](std::size_t crossing, cuda::PathLimits& limits) {
    FieldOf(limit).of(limits) = crossing < points.size() ? points[crossing] : cuda::kAny;
  });
}

/// A kernel from so many entries on.
Question AskCount(std::string_view limit, Ends ends, std::size_t entry_bytes) {
  TwoWays ways{{.path = "batch"}, {.path = "kernel"}, {2, 3, 4, 5, 6, 8, 12, 16, 24, 32}, {}};
  for (const std::size_t count : ways.points)
    ways.plans.push_back(Batch(ends, entry_bytes, count));
  return AskCrossing(ways, [limit, points = ways.points](std::size_t crossing, cuda::PathLimits& limits) {
    FieldOf(limit).of(limits) = crossing < points.size() ? points[crossing] : cuda::kAny;
  });
}

/// A kernel for entries below a length, in batches of some numbers of entries that depend on it.
Question AskLength(std::string_view limit,
                   std::initializer_list<std::size_t (*)(std::size_t entry_bytes)> counts) {
  TwoWays ways{{.path = "kernel"}, {.path = "batch"}, {}, {}};
  for (std::size_t bytes = 32 * kKiB; bytes <= kMiB; bytes *= 2) {
    ways.points.push_back(bytes);
    ways.points.push_back(bytes + bytes / 2);
  }
  for (const auto count : counts) {
    for (const Ends ends : {kIn, kOut}) {
      for (const std::size_t bytes : ways.points)
        ways.plans.push_back(Batch(ends, bytes, count(bytes)));
    }
  }
  return AskCrossing(ways, [limit, points = ways.points](std::size_t crossing, cuda::PathLimits& limits) {
    FieldOf(limit).of(limits) = crossing < points.size() ? points[crossing] : cuda::kAny;
  });
}

/// Batches that are not long. A kernel that is good at many entries is not always so at few.
Question AskEntryLength() {
  return AskLength("batch_kernel_below", {[](std::size_t) -> std::size_t { return 3; },
                                          [](std::size_t entry_bytes) {
                                            return std::min<std::size_t>(
                                                8, (cuda::kLongBatch - 1) / entry_bytes);
                                          }});
}
Question AskLongEntryLength() {
  return AskLength("batch_long_kernel_below",
                   {[](std::size_t entry_bytes) { return cuda::kLongBatch / entry_bytes + 1; },
                    [](std::size_t entry_bytes) { return 64 * kMiB / entry_bytes; }});
}

/// The driver's batch call in parts from so many entries on.
Question AskParts() {
  TwoWays ways{
      {"batch", "batch_parts_from", cuda::kAny}, {"batch", "batch_parts_from", 2}, {4, 6, 8, 12, 16, 32}, {}};
  for (const Ends ends : {kIn, kOut}) {
    for (const std::size_t count : ways.points)
      ways.plans.push_back(Batch(ends, 512 * kKiB, count));
  }
  return AskCrossing(ways, [points = ways.points](std::size_t crossing, cuda::PathLimits& limits) {
    limits.batch_parts_from = crossing < points.size() ? points[crossing] : cuda::kAny;
  });
}

/// A kernel for copies within the device up to a length.
Question AskWithin() {
  TwoWays ways{{.path = "kernel"}, {.path = "engine"}, {}, {}};
  for (std::size_t bytes = kKiB; bytes <= 64 * kMiB; bytes *= 4)
    ways.points.push_back(bytes);
  for (const std::size_t bytes : ways.points)
    ways.plans.push_back(Linear(Form::kQueued, kWithin, bytes));
  return AskCrossing(ways, [points = ways.points](std::size_t crossing, cuda::PathLimits& limits) {
    limits.linear_d2d_to = UpTo(crossing, points);
  });
}

/// A kernel for rows up to a width.
Question AskWidth(std::string_view limit, Ends ends, Layout layout) {
  TwoWays ways{{.path = "kernel"}, {.path = "engine"}, {16, 32, 48, 64, 96, 128, 256, 512, 1024, 4096}, {}};
  if (layout != Layout::kEven) ways.points = {5, 17, 33, 49, 65, 101, 129, 257, 333, 513, 1025, 4097};
  for (const std::size_t width : ways.points)
    ways.plans.push_back(Rows(ends, layout, width, ends.src == ends.dst ? kMemoryBytes : kLinkBytes));
  return AskCrossing(ways, [limit, points = ways.points](std::size_t crossing, cuda::PathLimits& limits) {
    FieldOf(limit).of(limits) = UpTo(crossing, points);
  });
}

/// The first value that is nearly as good as the best, over all of the copies.
Question AskAmount(std::string_view path, std::string_view limit, const Sizes& values,
                   const std::vector<CopyPlan>& plans) {
  Question question;
  for (const std::size_t value : values)
    question.trials.ways.push_back({path, limit, value});
  question.trials.plans = plans;
  question.conclude = [limit, values](std::span<const double> times, cuda::PathLimits& limits) {
    const std::size_t plans_each = times.size() / values.size();
    std::vector<double> means;
    for (std::size_t i = 0; i < times.size(); i += plans_each) {
      double logarithms = 0;
      for (const double time : times.subspan(i, plans_each))
        logarithms += std::log(time);
      means.push_back(std::exp(logarithms / static_cast<double>(plans_each)));
    }
    FieldOf(limit).of(limits) = values[FirstGoodEnough(means)];
  };
  return question;
}

}  // namespace

std::vector<Question> AllQuestions() {
  constexpr std::size_t kShort = 512, kLong = 8 * kKiB;
  // Up to where several threads stage: a driver that is the faster one below is not so there.
  Sizes staged_sizes;
  for (std::size_t bytes = 64; bytes <= 16 * kMiB; bytes *= 4)
    staged_sizes.push_back(bytes);
  return {
      AskWithin(),
      AskCount("batch_h2d_short_from", kIn, kShort),
      AskCount("batch_h2d_from", kIn, kLong),
      AskCount("batch_d2h_short_from", kOut, kShort),
      AskCount("batch_d2h_from", kOut, kLong),
      AskEntryLength(),
      AskLongEntryLength(),
      AskParts(),
      AskWidth("rows_h2d_even_to", kIn, Layout::kEven),
      AskWidth("rows_h2d_odd_to", kIn, Layout::kOdd),
      AskWidth("rows_h2d_odd_dense_to", kIn, Layout::kOddDense),
      AskWidth("rows_d2h_even_to", kOut, Layout::kEven),
      AskWidth("rows_d2h_odd_to", kOut, Layout::kOdd),
      AskWidth("rows_d2h_odd_dense_to", kOut, Layout::kOddDense),
      AskWidth("rows_d2d_even_to", kWithin, Layout::kEven),
      AskWidth("rows_d2d_odd_to", kWithin, Layout::kOdd),
      AskWidth("rows_d2d_odd_dense_to", kWithin, Layout::kOddDense),
      AskAmount("kernel", "link_blocks", {8, 16, 24, 32, 48, 64},
                {Batch(kIn, 256, 8192), Batch(kOut, 256, 8192), Batch(kIn, 4 * kKiB, 2048),
                 Batch(kOut, 4 * kKiB, 2048), Batch(kIn, 64 * kKiB, 256), Batch(kOut, 64 * kKiB, 256)}),
      AskAmount("kernel", "memory_blocks", {1, 2, 4, 8},
                {Rows(kWithin, Layout::kEven, 64, kManyBytes), Rows(kWithin, Layout::kEven, 1024, kManyBytes),
                 Rows(kWithin, Layout::kOdd, 333, kManyBytes)}),
      AskAmount("kernel", "packing_blocks", {2, 4, 8, 16},
                {Rows(kWithin, Layout::kOddDense, 333, kManyBytes)}),
      AskAmount("kernel", "bytes_per_block", {8 * kKiB, 16 * kKiB, 32 * kKiB, 64 * kKiB, 128 * kKiB},
                {Linear(Form::kDescriptor, kWithin, kManyBytes)}),
      AskPageable("pageable_h2d_from", staged_sizes, {kPageableIn}),
      AskPageable("pageable_d2h_from", staged_sizes, {kPageableOut}),
      AskPageable("staging_several_from", {256 * kKiB, 512 * kKiB, kMiB, 2 * kMiB, 4 * kMiB, 8 * kMiB},
                  {kPageableIn, kPageableOut}),
      // Few threads are as good as many where the link is the limit.
      AskAmount("auto", "staging_bytes_per_thread", {16 * kMiB, 8 * kMiB, 4 * kMiB},
                {Linear(Form::kBlocking, kPageableIn, 64 * kMiB),
                 Linear(Form::kBlocking, kPageableOut, 64 * kMiB)}),
      AskAmount("auto", "staging_threads", {1, 2, 4, 8, 16},
                {Linear(Form::kBlocking, kPageableIn, kManyBytes),
                 Linear(Form::kBlocking, kPageableOut, kManyBytes)}),
  };
}

}  // namespace sampan::tool
