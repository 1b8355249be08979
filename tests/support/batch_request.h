// The arguments of a batch copy, changed one at a time by the tests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <ostream>
#include <vector>

#include "acl/acl.h"

namespace sampan::test {

enum class BatchForm { kSync, kSyncV2, kAsync, kAsyncV2 };

inline std::ostream& operator<<(std::ostream& out, BatchForm form) {
  static constexpr const char* kNames[] = {"Batch", "BatchV2", "BatchAsync", "BatchAsyncV2"};
  return out << kNames[static_cast<int>(form)];
}

inline bool IsAsync(BatchForm form) {
  return form == BatchForm::kAsync || form == BatchForm::kAsyncV2;
}
inline bool HasFailIndex(BatchForm form) {
  return form == BatchForm::kSync || form == BatchForm::kAsync;
}

/// What an id of a HOST location may hold: nothing reads it.
inline constexpr std::uint32_t kGarbageId = 0xDEADBEEF;

inline aclrtMemcpyBatchAttr BatchAttr(aclrtMemLocation dst, aclrtMemLocation src) {
  return {dst, src, {}};
}
inline aclrtMemcpyBatchAttr HostToDevice(std::uint32_t device = 0) {
  return BatchAttr({device, ACL_MEM_LOCATION_TYPE_DEVICE}, {kGarbageId, ACL_MEM_LOCATION_TYPE_HOST});
}
inline aclrtMemcpyBatchAttr DeviceToHost(std::uint32_t device = 0) {
  return BatchAttr({kGarbageId, ACL_MEM_LOCATION_TYPE_HOST}, {device, ACL_MEM_LOCATION_TYPE_DEVICE});
}

struct BatchRequest {
  /// What failIndex holds before every call.
  static constexpr std::size_t kUnwritten = 0x5EED5EED;

  std::vector<void*> dsts, srcs;
  std::vector<std::size_t> dest_maxs, sizes;
  std::vector<aclrtMemcpyBatchAttr> attrs;
  std::vector<std::size_t> attrs_indexes;
  std::size_t fail_index = kUnwritten;
  // Replacements for what the vectors give.
  bool null_dsts = false, null_srcs = false, null_dest_maxs = false, null_sizes = false;
  bool null_attrs = false, null_attrs_indexes = false, null_fail_index = false;
  std::size_t num_attrs = SIZE_MAX, num_batches = SIZE_MAX;

  void Add(void* dst, const void* src, std::size_t bytes) {
    dsts.push_back(dst);
    srcs.push_back(const_cast<void*>(src));
    sizes.push_back(bytes);
    dest_maxs.push_back(bytes);
  }
  void UseAttr(const aclrtMemcpyBatchAttr& attr, std::size_t from_entry = 0) {
    attrs.push_back(attr);
    attrs_indexes.push_back(from_entry);
  }

  aclError Submit(BatchForm form, aclrtStream stream) {
    fail_index = kUnwritten;
    void** const to = null_dsts ? nullptr : dsts.data();
    void** const from = null_srcs ? nullptr : srcs.data();
    std::size_t* const maxs = null_dest_maxs ? nullptr : dest_maxs.data();
    std::size_t* const bytes = null_sizes ? nullptr : sizes.data();
    aclrtMemcpyBatchAttr* const places = null_attrs ? nullptr : attrs.data();
    std::size_t* const indexes = null_attrs_indexes ? nullptr : attrs_indexes.data();
    std::size_t* const failed = null_fail_index ? nullptr : &fail_index;
    const std::size_t entries = num_batches == SIZE_MAX ? sizes.size() : num_batches;
    const std::size_t runs = num_attrs == SIZE_MAX ? attrs.size() : num_attrs;
    switch (form) {
      case BatchForm::kSync:
        return aclrtMemcpyBatch(to, maxs, from, bytes, entries, places, indexes, runs, failed);
      case BatchForm::kSyncV2:
        return aclrtMemcpyBatchV2(to, maxs, from, bytes, entries, places, indexes, runs);
      case BatchForm::kAsync:
        return aclrtMemcpyBatchAsync(to, maxs, from, bytes, entries, places, indexes, runs, failed, stream);
      case BatchForm::kAsyncV2:
        return aclrtMemcpyBatchAsyncV2(to, maxs, from, bytes, entries, places, indexes, runs, stream);
    }
    return ACL_ERROR_INTERNAL_ERROR;
  }
};

}  // namespace sampan::test
