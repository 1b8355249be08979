// The copy family under failing memory.
#include <gtest/gtest.h>

#include <cstring>

#include "tests/fault/api_call.h"

namespace sampan::fault {
namespace {

constexpr std::size_t kEntries = 64;
constexpr std::size_t kPiece = kBytes / kEntries;
constexpr auto kInner = ACL_MEMCPY_INNER_DEVICE_TO_DEVICE;

/// Sources are 0x5A everywhere, destinations 0.
void SetEnds(World& w) {
  w.Fill(w.device_a, 0);
  w.Fill(w.device_b, 0x5A);
  std::memset(w.pinned, 0x5A, kBytes);
  std::fill(w.pageable.begin(), w.pageable.end(), std::uint8_t{0x5A});
}
bool Arrived(World& w) {
  return w.Drained() && w.Holds(w.device_a, 0x5A);
}
bool Moved(World& w) {
  return !w.Drained() || !w.Holds(w.device_a, 0);
}

/// The arrays of a batch from pinned to device memory.
struct BatchArguments {
  void* dsts[kEntries];
  void* srcs[kEntries];
  std::size_t sizes[kEntries];
  aclrtMemcpyBatchAttr attribute = {{0, ACL_MEM_LOCATION_TYPE_DEVICE}, {0, ACL_MEM_LOCATION_TYPE_HOST}, {}};
  std::size_t first = 0;
  std::size_t failed = 0;

  explicit BatchArguments(World& w) {
    for (std::size_t i = 0; i < kEntries; ++i) {
      dsts[i] = static_cast<std::uint8_t*>(w.device_a) + i * kPiece;
      srcs[i] = static_cast<std::uint8_t*>(w.pinned) + i * kPiece;
      sizes[i] = kPiece;
    }
  }
};

void SetDescriptor(World& w) {
  SetEnds(w);
  EXPECT_EQ(aclrtSetMemcpyDesc(w.table, kInner, w.device_b, w.device_a, kBytes, nullptr), ACL_SUCCESS);
}
void SetCells(World& w) {
  SetEnds(w);
  void* cells[2] = {w.device_a, w.device_b};
  EXPECT_EQ(aclrtMemcpy(w.table, sizeof(cells), cells, sizeof(cells), ACL_MEMCPY_HOST_TO_DEVICE),
            ACL_SUCCESS);
}

}  // namespace

std::vector<ApiCall> CopyCalls() {
  return {
      {.name = "aclrtMemcpy",
       .call =
           [](World& w) {
             return aclrtMemcpy(w.device_a, kBytes, w.pageable.data(), kBytes, ACL_MEMCPY_HOST_TO_DEVICE);
           },
       .prepare = SetEnds,
       .right = Arrived,
       .claims = Moved},
      {.name = "aclrtMemcpyAsync",
       .call =
           [](World& w) {
             return aclrtMemcpyAsync(w.device_a, kBytes, w.pinned, kBytes, ACL_MEMCPY_HOST_TO_DEVICE,
                                     w.stream);
           },
       .prepare = SetEnds,
       .right = Arrived,
       .claims = Moved},
      {.name = "aclrtMemcpyAsync (pageable)",
       .call =
           [](World& w) {
             return aclrtMemcpyAsync(w.device_a, kBytes, w.pageable.data(), kBytes, ACL_MEMCPY_HOST_TO_DEVICE,
                                     w.stream);
           },
       .prepare = SetEnds,
       .right = Arrived,
       .claims = Moved},
      {.name = "aclrtMemcpyAsync (captured source)",
       .call =
           [](World& w) {
             return aclrtMemcpyAsync(w.device_a, kBytes, w.pageable.data(), kBytes,
                                     ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE, w.stream);
           },
       .prepare = SetEnds,
       .right = Arrived,
       .claims = Moved},
      {.name = "aclrtMemcpyAsync (within the device)",
       .call =
           [](World& w) {
             return aclrtMemcpyAsync(w.device_a, kBytes, w.device_b, kBytes, ACL_MEMCPY_DEVICE_TO_DEVICE,
                                     w.stream);
           },
       .prepare = SetEnds,
       .right = Arrived,
       .claims = Moved},
      {.name = "aclrtMemcpyAsyncWithCondition",
       .call =
           [](World& w) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
             return aclrtMemcpyAsyncWithCondition(w.device_a, kBytes, w.pinned, kBytes,
                                                  ACL_MEMCPY_HOST_TO_DEVICE, w.stream);
#pragma GCC diagnostic pop
           },
       .prepare = SetEnds,
       .right = Arrived,
       .claims = Moved},
      {.name = "aclrtMemcpy2d",
       .call =
           [](World& w) {
             return aclrtMemcpy2d(w.device_a, kPiece, w.pinned, kPiece, kPiece, kEntries,
                                  ACL_MEMCPY_HOST_TO_DEVICE);
           },
       .prepare = SetEnds,
       .right = Arrived,
       .claims = Moved},
      {.name = "aclrtMemcpy2dAsync",
       .call =
           [](World& w) {
             return aclrtMemcpy2dAsync(w.device_a, kPiece, w.pinned, kPiece, kPiece, kEntries,
                                       ACL_MEMCPY_HOST_TO_DEVICE, w.stream);
           },
       .prepare = SetEnds,
       .right = Arrived,
       .claims = Moved},
      {.name = "aclrtMemcpyBatch",
       .call =
           [](World& w) {
             BatchArguments b(w);
             return aclrtMemcpyBatch(b.dsts, b.sizes, b.srcs, b.sizes, kEntries, &b.attribute, &b.first, 1,
                                     &b.failed);
           },
       .prepare = SetEnds,
       .right = Arrived,
       .claims = Moved},
      {.name = "aclrtMemcpyBatchV2",
       .call =
           [](World& w) {
             BatchArguments b(w);
             return aclrtMemcpyBatchV2(b.dsts, b.sizes, b.srcs, b.sizes, kEntries, &b.attribute, &b.first, 1);
           },
       .prepare = SetEnds,
       .right = Arrived,
       .claims = Moved},
      {.name = "aclrtMemcpyBatchAsync",
       .call =
           [](World& w) {
             BatchArguments b(w);
             return aclrtMemcpyBatchAsync(b.dsts, b.sizes, b.srcs, b.sizes, kEntries, &b.attribute, &b.first,
                                          1, &b.failed, w.stream);
           },
       .prepare = SetEnds,
       .right = Arrived,
       .claims = Moved},
      {.name = "aclrtMemcpyBatchAsync (half pageable)",
       .call =
           [](World& w) {
             BatchArguments b(w);
             for (std::size_t i = 0; i < kEntries; i += 2)
               b.srcs[i] = w.pageable.data() + i * kPiece;
             return aclrtMemcpyBatchAsync(b.dsts, b.sizes, b.srcs, b.sizes, kEntries, &b.attribute, &b.first,
                                          1, &b.failed, w.stream);
           },
       .prepare = SetEnds,
       .right = Arrived,
       .claims = Moved},
      {.name = "aclrtMemcpyBatchAsyncV2",
       .call =
           [](World& w) {
             BatchArguments b(w);
             return aclrtMemcpyBatchAsyncV2(b.dsts, b.sizes, b.srcs, b.sizes, kEntries, &b.attribute,
                                            &b.first, 1, w.stream);
           },
       .prepare = SetEnds,
       .right = Arrived,
       .claims = Moved},
      {.name = "aclrtGetMemcpyDescSize",
       .call = [](World& w) { return aclrtGetMemcpyDescSize(kInner, &w.results.size); },
       .right = [](World& w) { return w.results.size == 32; },
       .claims = [](World& w) { return w.results.size != 0; }},
      {.name = "aclrtSetMemcpyDesc",
       .call =
           [](World& w) {
             return aclrtSetMemcpyDesc(w.table, kInner, w.device_b, w.device_a, kBytes, nullptr);
           },
       .prepare =
           [](World& w) {
             SetEnds(w);
             w.Fill(w.table, 0);
           },
       .right =
           [](World& w) {
             return aclrtMemcpyAsyncWithDesc(w.table, kInner, w.stream) == ACL_SUCCESS && Arrived(w);
           },
       .claims = [](World& w) { return !w.Holds(w.table, 0); }},
      {.name = "aclrtMemcpyAsyncWithDesc",
       .call = [](World& w) { return aclrtMemcpyAsyncWithDesc(w.table, kInner, w.stream); },
       .prepare = SetDescriptor,
       .right = Arrived,
       .claims = Moved},
      {.name = "aclrtMemcpyAsyncWithOffset",
       .call =
           [](World& w) {
             auto** cells = static_cast<void**>(w.table);
             return aclrtMemcpyAsyncWithOffset(cells, kBytes, 0, const_cast<const void**>(cells + 1), kBytes,
                                               0, kInner, w.stream);
           },
       .prepare = SetCells,
       .right = Arrived,
       .claims = Moved},
  };
}

}  // namespace sampan::fault
