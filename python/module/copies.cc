// The table of `acl.rt`: copies, fills, reductions. pyACL has no batches; these two are Sampan's own.
#include "tables.h"

namespace sampan::python {
namespace {

/// pyACL gives the descriptor back.
aclError SetMemcpyDesc(void* descriptor, aclrtMemcpyKind kind, void* source, void* destination, size_t count,
                       void* config, void** same) {
  *same = descriptor;
  return aclrtSetMemcpyDesc(descriptor, kind, source, destination, count, config);
}

using Addresses = std::vector<void*>;
using Sizes = std::vector<std::size_t>;
using BatchAttributes = std::vector<aclrtMemcpyBatchAttr>;

/// Lists of different lengths are no batch.
bool AreOneBatch(const char* function, const Addresses& dsts, const Sizes& dest_maxs, const Addresses& srcs,
                 const Sizes& sizes, const BatchAttributes& attributes, const Sizes& indexes) {
  const std::size_t count = dsts.size();
  const bool one = dest_maxs.size() == count && srcs.size() == count && sizes.size() == count &&
                   indexes.size() == attributes.size();
  if (!one) {
    aclAppLog(ACL_ERROR, function, "python", 0,
              "lists of different lengths: dsts %zu, dest_maxs %zu, srcs %zu, sizes %zu; attrs %zu, "
              "attr_indexes %zu",
              count, dest_maxs.size(), srcs.size(), sizes.size(), attributes.size(), indexes.size());
  }
  return one;
}

aclError BatchCopy(Addresses& dsts, Sizes& dest_maxs, Addresses& srcs, Sizes& sizes,
                   BatchAttributes& attributes, Sizes& indexes, std::size_t* fail_index) {
  *fail_index = SIZE_MAX;
  if (!AreOneBatch("memcpy_batch", dsts, dest_maxs, srcs, sizes, attributes, indexes))
    return ACL_ERROR_INVALID_PARAM;
  return aclrtMemcpyBatch(dsts.data(), dest_maxs.data(), srcs.data(), sizes.data(), dsts.size(),
                          attributes.data(), indexes.data(), attributes.size(), fail_index);
}

aclError BatchCopyAsync(Addresses& dsts, Sizes& dest_maxs, Addresses& srcs, Sizes& sizes,
                        BatchAttributes& attributes, Sizes& indexes, aclrtStream stream,
                        std::size_t* fail_index) {
  *fail_index = SIZE_MAX;
  if (!AreOneBatch("memcpy_batch_async", dsts, dest_maxs, srcs, sizes, attributes, indexes)) {
    return ACL_ERROR_INVALID_PARAM;
  }
  return aclrtMemcpyBatchAsync(dsts.data(), dest_maxs.data(), srcs.data(), sizes.data(), dsts.size(),
                               attributes.data(), indexes.data(), attributes.size(), fail_index, stream);
}

}  // namespace

Rows CopyRows() {
  return {
      Row<"memcpy", aclrtMemcpy, "dst dest_max src count kind">(),
      Row<"memcpy_async", aclrtMemcpyAsync, "dst dest_max src count kind stream">(),
      Row<"memcpy_async_with_condition", aclrtMemcpyAsyncWithCondition,
          "dst dest_max src count kind stream">(),
      Row<"memcpy2d", aclrtMemcpy2d, "dst dpitch src spitch width height kind">(),
      Row<"memcpy2d_async", aclrtMemcpy2dAsync, "dst dpitch src spitch width height kind stream">(),
      Query<"get_memcpy_desc_size", aclrtGetMemcpyDescSize, "kind">(),
      Row<"set_memcpy_desc", SetMemcpyDesc, "desc kind src dst count config">(),
      Row<"memcpy_async_with_desc", aclrtMemcpyAsyncWithDesc, "desc kind stream">(),
      Row<"memcpy_batch", BatchCopy, "dsts dest_maxs srcs sizes attrs attr_indexes">(),
      Row<"memcpy_batch_async", BatchCopyAsync, "dsts dest_maxs srcs sizes attrs attr_indexes stream">(),
      Row<"memset", aclrtMemset, "ptr max_count value count">(),
      Row<"memset_async", aclrtMemsetAsync, "ptr max_count value count stream">(),
      Row<"reduce_async", aclrtReduceAsync, "dst src count kind dtype stream reserve">(),
  };
}

}  // namespace sampan::python
