// Overlap: chunks go to the device, are copied there and return; on one stream, then on two with events.
//
// The copy on the device stands for the work of a real program. Uploading chunk n+1 needs nothing from chunk
// n, so a second stream can take it over; events keep the order that matters. Emulated copy engines share the
// host's cores and memory, and one long copy may use all of them: expect the picture of a device's overlap
// here, not its gain.
#include "check.h"

#include <algorithm>
#include <string>
#include <vector>

namespace {

constexpr std::size_t kChunks = 12;
constexpr std::size_t kChunkBytes = 8 << 20;
constexpr std::size_t kBytes = kChunks * kChunkBytes;
constexpr std::size_t kSlots = 3;  // chunks that fit on the device at a time
constexpr std::size_t kColumns = 72;

/// A copy between two recorded points of a stream.
struct Span {
  aclrtEvent begin = nullptr;
  aclrtEvent end = nullptr;
};

/// The three copies of a chunk.
struct Chunk {
  Span up, work, down;
};

std::uint64_t MicrosecondsOf(aclrtEvent event) {
  std::uint64_t time = 0;
  CHECK_ACL(aclrtEventGetTimestamp(event, &time));
  return time;
}

struct Pipeline {
  const void* source;  // pinned host memory
  void* result;        // pinned host memory
  void* arrived[kSlots];
  void* worked[kSlots];
  std::vector<Chunk> chunks;
};

/// Queues everything, waits once, and returns the device time from the first begin to the last end.
double RunMilliseconds(Pipeline& pipeline, aclrtStream upload, aclrtStream download) {
  for (std::size_t i = 0; i < kChunks; ++i) {
    const std::size_t slot = i % kSlots;
    Chunk& chunk = pipeline.chunks[i];
    const void* source = example::At(pipeline.source, i * kChunkBytes);
    void* result = example::At(pipeline.result, i * kChunkBytes);

    // The slot is free again when the work on its previous chunk is done.
    if (i >= kSlots) CHECK_ACL(aclrtStreamWaitEvent(upload, pipeline.chunks[i - kSlots].work.end));
    CHECK_ACL(aclrtRecordEvent(chunk.up.begin, upload));
    CHECK_ACL(aclrtMemcpyAsync(pipeline.arrived[slot], kChunkBytes, source, kChunkBytes,
                               ACL_MEMCPY_HOST_TO_DEVICE, upload));
    CHECK_ACL(aclrtRecordEvent(chunk.up.end, upload));

    // The other stream must not start before the chunk has arrived.
    CHECK_ACL(aclrtStreamWaitEvent(download, chunk.up.end));
    CHECK_ACL(aclrtRecordEvent(chunk.work.begin, download));
    CHECK_ACL(aclrtMemcpyAsync(pipeline.worked[slot], kChunkBytes, pipeline.arrived[slot], kChunkBytes,
                               ACL_MEMCPY_DEVICE_TO_DEVICE, download));
    CHECK_ACL(aclrtRecordEvent(chunk.work.end, download));
    CHECK_ACL(aclrtRecordEvent(chunk.down.begin, download));
    CHECK_ACL(aclrtMemcpyAsync(result, kChunkBytes, pipeline.worked[slot], kChunkBytes,
                               ACL_MEMCPY_DEVICE_TO_HOST, download));
    CHECK_ACL(aclrtRecordEvent(chunk.down.end, download));
  }
  CHECK_ACL(aclrtSynchronizeStream(upload));
  CHECK_ACL(aclrtSynchronizeStream(download));
  float milliseconds = 0;
  CHECK_ACL(aclrtEventElapsedTime(&milliseconds, pipeline.chunks.front().up.begin,
                                  pipeline.chunks.back().down.end));
  return static_cast<double>(milliseconds);
}

/// Order that the rules promise: a chunk is worked on after it has arrived, and leaves after that.
void CheckOrder(const std::vector<Chunk>& chunks) {
  for (std::size_t i = 0; i < kChunks; ++i) {
    CHECK_TRUE(MicrosecondsOf(chunks[i].up.end) <= MicrosecondsOf(chunks[i].work.begin));
    CHECK_TRUE(MicrosecondsOf(chunks[i].work.end) <= MicrosecondsOf(chunks[i].down.begin));
    if (i >= kSlots) {
      CHECK_TRUE(MicrosecondsOf(chunks[i - kSlots].work.end) <= MicrosecondsOf(chunks[i].up.begin));
    }
  }
}

/// One row of text a stage; a letter for each chunk, where it was under way.
void PrintTimeline(const char* title, const std::vector<Chunk>& chunks) {
  const std::uint64_t first = MicrosecondsOf(chunks.front().up.begin);
  const std::uint64_t total = std::max<std::uint64_t>(MicrosecondsOf(chunks.back().down.end) - first, 1);
  std::printf("%s, %.1f ms\n", title, static_cast<double>(total) / 1e3);
  const struct {
    const char* name;
    Span Chunk::*span;
  } stages[] = {{"to device", &Chunk::up}, {"on device", &Chunk::work}, {"to host", &Chunk::down}};
  for (const auto& stage : stages) {
    std::string row(kColumns, '.');
    for (std::size_t i = 0; i < kChunks; ++i) {
      const Span& span = chunks[i].*stage.span;
      const std::size_t begin = (MicrosecondsOf(span.begin) - first) * kColumns / total;
      const std::size_t end = (MicrosecondsOf(span.end) - first) * kColumns / total;
      for (std::size_t column = begin; column < std::max(end, begin + 1) && column < kColumns; ++column) {
        row[column] = static_cast<char>('A' + i);
      }
    }
    std::printf("  %-9s |%s|\n", stage.name, row.c_str());
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::mt19937_64 random(example::Seed(argc, argv));
  const int runs = example::Runs(argc, argv);
  CHECK_ACL(aclInit(nullptr));
  CHECK_ACL(aclrtSetDevice(0));
  aclrtStream first = nullptr;
  aclrtStream second = nullptr;
  CHECK_ACL(aclrtCreateStream(&first));
  CHECK_ACL(aclrtCreateStream(&second));

  Pipeline pipeline{};
  void* source = example::PinnedMemory(kBytes);
  example::FillRandom(source, kBytes, random);
  pipeline.source = source;
  pipeline.result = example::PinnedMemory(kBytes);
  for (std::size_t slot = 0; slot < kSlots; ++slot) {
    pipeline.arrived[slot] = example::DeviceMemory(kChunkBytes);
    pipeline.worked[slot] = example::DeviceMemory(kChunkBytes);
  }
  pipeline.chunks.resize(kChunks);
  std::vector<aclrtEvent> events;
  for (Chunk& chunk : pipeline.chunks) {
    for (Span* span : {&chunk.up, &chunk.work, &chunk.down}) {
      for (aclrtEvent* event : {&span->begin, &span->end}) {
        CHECK_ACL(aclrtCreateEventExWithFlag(event, ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE));
        events.push_back(*event);
      }
    }
  }

  std::printf("%zu chunks of %zu MiB, medians of %d runs; one letter a chunk\n", kChunks, kChunkBytes >> 20,
              runs);
  double medians[2] = {};
  for (const bool two_streams : {false, true}) {
    std::vector<double> times;
    for (int run = 0; run < runs; ++run) {
      std::memset(pipeline.result, 0, kBytes);
      times.push_back(RunMilliseconds(pipeline, first, two_streams ? second : first));
      CheckOrder(pipeline.chunks);
      example::ExpectSameBytes(pipeline.result, source, kBytes, "the chunks that came back");
    }
    PrintTimeline(two_streams ? "two streams (last run)" : "one stream (last run)", pipeline.chunks);
    std::sort(times.begin(), times.end());
    medians[two_streams] = times[times.size() / 2];
  }
  std::printf("median: one stream %.1f ms, two streams %.1f ms, %.2fx\n", medians[0], medians[1],
              medians[0] / medians[1]);

  for (aclrtEvent event : events)
    CHECK_ACL(aclrtDestroyEvent(event));
  for (std::size_t slot = 0; slot < kSlots; ++slot) {
    CHECK_ACL(aclrtFree(pipeline.arrived[slot]));
    CHECK_ACL(aclrtFree(pipeline.worked[slot]));
  }
  CHECK_ACL(aclrtFreeHost(source));
  CHECK_ACL(aclrtFreeHost(pipeline.result));
  CHECK_ACL(aclrtDestroyStream(first));
  CHECK_ACL(aclrtDestroyStream(second));
  CHECK_ACL(aclrtResetDevice(0));
  CHECK_ACL(aclFinalize());
  char shown[120];
  std::snprintf(shown, sizeof shown, "a pipeline on two streams in order; %.1f ms, on one stream %.1f ms",
                medians[1], medians[0]);
  return example::Done(shown);
}
