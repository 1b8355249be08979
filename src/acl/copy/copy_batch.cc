// aclrtMemcpyBatch and its asynchronous and V2 forms.
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "acl/acl_rt.h"
#include "acl/caller.h"
#include "acl/guard.h"
#include "base/containers/inline_vector.h"
#include "core/copy/batch_run.h"
#include "core/copy/copy_plan.h"

namespace sampan::acl {
namespace {

constexpr std::size_t kMaxBlockingEntries = 4096;

/// The C arguments that the four forms share.
struct BatchArguments {
  void** dsts;
  size_t* dst_maxs;
  void** srcs;
  size_t* sizes;
  size_t entries;
  aclrtMemcpyBatchAttr* attributes;
  size_t* attribute_starts;
  size_t attribute_count;
};

/// How the forms differ. `fail_index` is null in the V2 forms.
struct BatchForm {
  core::CopyForm form;
  bool has_fail_index;
  size_t* fail_index;
  aclrtStream stream = nullptr;
};

bool AllZero(const BatchArguments& arguments) {
  size_t i = 0;
  while (i < arguments.entries && arguments.sizes[i] == 0)
    ++i;
  return i == arguments.entries;
}

// Refusals take the arguments by value, so that those of other calls can stay in registers.

[[gnu::cold, gnu::noinline]] Status RefuseMissing(BatchArguments arguments, BatchForm form) {
  if (form.has_fail_index && form.fail_index == nullptr) return InvalidArgument("failIndex is NULL");
  if (arguments.sizes == nullptr) return InvalidArgument("sizes is NULL");
  return InvalidArgument("numBatches is 0");
}

[[gnu::cold, gnu::noinline]] Status RefuseMissingArray(BatchArguments arguments) {
  return RequireNonNull("dsts", arguments.dsts, "destMaxs", arguments.dst_maxs, "srcs", arguments.srcs,
                        "attrs", arguments.attributes, "attrsIndexes", arguments.attribute_starts);
}

/// What is wrong with the first entry that is longer than its limit, if there is one.
[[gnu::cold, gnu::noinline]] Status CheckLengths(BatchArguments arguments) {
  for (size_t i = 0; i < arguments.entries; ++i) {
    if (arguments.sizes[i] <= arguments.dst_maxs[i]) continue;
    return InvalidArgument(Text("entry ", i, ": sizes[", i, "] ", arguments.sizes[i],
                                " is more than destMaxs[", i, "] ", arguments.dst_maxs[i]));
  }
  return {};
}

bool ReservedIsZero(const aclrtMemcpyBatchAttr& attribute) {
  static constexpr uint8_t kZero[sizeof(attribute.rsv)] = {};
  return std::memcmp(attribute.rsv, kZero, sizeof(kZero)) == 0;
}

[[gnu::cold, gnu::noinline]] Status RefuseReserved(const aclrtMemcpyBatchAttr& attribute, size_t k) {
  const uint8_t* const wrong = std::find_if(std::begin(attribute.rsv), std::end(attribute.rsv),
                                            [](uint8_t byte) { return byte != 0; });
  return InvalidArgument(
      Text("attrs[", k, "].rsv[", wrong - attribute.rsv, "] is ", unsigned{*wrong}, ", it must be 0"));
}

Status CheckArrays(const BatchArguments& arguments) {
  const bool all_there = arguments.dsts != nullptr && arguments.dst_maxs != nullptr &&
                         arguments.srcs != nullptr && arguments.attributes != nullptr &&
                         arguments.attribute_starts != nullptr;
  if (!all_there) [[unlikely]]
    return RefuseMissingArray(arguments);
  if (!core::SizesFit({arguments.sizes, arguments.entries}, {arguments.dst_maxs, arguments.entries}))
      [[unlikely]] {
    if (Status fit = CheckLengths(arguments); !fit.ok()) return fit;
  }
  for (size_t k = 0; k < arguments.attribute_count; ++k) {
    if (!ReservedIsZero(arguments.attributes[k])) [[unlikely]]
      return RefuseReserved(arguments.attributes[k], k);
  }
  return {};
}

[[gnu::cold, gnu::noinline]] Status RefuseChip(const core::Profile& profile) {
  return CopyUnsupported(Text(profile.chip, " has no batch copies"));
}

[[gnu::cold, gnu::noinline]] Status RefuseMany(size_t entries) {
  return {Code::kParamInvalid, Text("numBatches ", entries, " is more than the ", kMaxBlockingEntries,
                                    " that the blocking call takes")};
}

core::ClaimedPlace ClaimOf(const aclrtMemLocation& location) {
  switch (location.type) {
    case ACL_MEM_LOCATION_TYPE_DEVICE:
      return {location.id};
    case ACL_MEM_LOCATION_TYPE_HOST:
    case ACL_MEM_LOCATION_TYPE_HOST_NUMA:
      return {};
    default:
      return {core::ClaimedPlace::kNowhere};
  }
}

core::BatchAttribute AttributeOf(const aclrtMemcpyBatchAttr& given, size_t first_entry) {
  return {ClaimOf(given.dstLoc), ClaimOf(given.srcLoc), first_entry};
}

/// The device of a batch for a thread without a context: the one in the first entry's attribute.
std::int32_t DeviceNamedBy(const core::BatchRequest& request, std::int32_t devices) {
  const auto copies = [](std::size_t bytes) { return bytes != 0; };
  const auto first = std::find_if(request.sizes.begin(), request.sizes.end(), copies) - request.sizes.begin();
  auto attribute = request.attributes.rbegin();
  while (attribute->first_entry > static_cast<std::size_t>(first))
    ++attribute;
  const core::ClaimedPlace& place = attribute->dst.on_device() ? attribute->dst : attribute->src;
  return place.on_device() && place.where < devices ? static_cast<std::int32_t>(place.where) : 0;
}

[[gnu::always_inline]] inline Status CopyBatch(BatchArguments arguments, BatchForm form) {
  const bool no_fail_index = form.has_fail_index && form.fail_index == nullptr;
  if (no_fail_index || arguments.sizes == nullptr || arguments.entries == 0) [[unlikely]]
    return RefuseMissing(arguments, form);
  const auto set_fail_index = [form](size_t entry) {
    if (form.has_fail_index) *form.fail_index = entry;
  };
  if (AllZero(arguments)) [[unlikely]] {
    set_fail_index(SIZE_MAX);
    return {};
  }
  if (Status checked = CheckArrays(arguments); !checked.ok()) return checked;
  auto caller = ThisCaller();
  if (!caller.ok()) return caller.TakeStatus();
  if (!caller->runtime.profile().batch) [[unlikely]]
    return RefuseChip(caller->runtime.profile());
  auto stream = FindStream(*caller, form.stream);
  if (!stream.ok()) return stream.TakeStatus();

  set_fail_index(SIZE_MAX);
  const bool blocking = form.form == core::CopyForm::kBlocking;
  if (blocking && arguments.entries > kMaxBlockingEntries) return RefuseMany(arguments.entries);
  if (Status checked = core::CheckAttributeCount(arguments.attribute_count, arguments.entries); !checked.ok())
    return checked;
  const InlineVector<core::BatchAttribute, 2> attributes(arguments.attribute_count, [&](size_t k) {
    return AttributeOf(arguments.attributes[k], arguments.attribute_starts[k]);
  });
  const core::BatchRequest request{{arguments.dsts, arguments.entries},
                                   {arguments.srcs, arguments.entries},
                                   {arguments.sizes, arguments.entries},
                                   {attributes.data(), attributes.size()},
                                   blocking};
  if (Status checked = CheckAttributeStarts(request.attributes, arguments.entries); !checked.ok())
    return checked;
  // The blocking forms need no context.
  Status with_context = RequireContext(*caller);
  if (!with_context.ok() && !blocking) [[unlikely]]
    return with_context;
  core::Runtime& runtime = caller->runtime;
  const std::int32_t id =
      with_context.ok() ? caller->device().id() : DeviceNamedBy(request, runtime.device_count());
  core::Plan plan;
  if (Status planned = PlanBatch(request, runtime.PlanContextOf(id), plan); !planned.ok()) [[unlikely]] {
    set_fail_index(planned.error().item);
    return planned;
  }
  if (!blocking) return SubmitPlan({caller->context, *stream}, std::move(plan));
  auto device = runtime.FindDevice(id);
  return device.ok() ? RunPlan(**device, std::move(plan)) : device.TakeStatus();
}

}  // namespace
}  // namespace sampan::acl

using namespace sampan;
using namespace sampan::acl;

aclError aclrtMemcpyBatch(void** dsts, size_t* destMaxs, void** srcs, size_t* sizes, size_t numBatches,
                          aclrtMemcpyBatchAttr* attrs, size_t* attrsIndexes, size_t numAttrs,
                          size_t* failIndex) {
  return Guard("aclrtMemcpyBatch", [&] {
    return CopyBatch({dsts, destMaxs, srcs, sizes, numBatches, attrs, attrsIndexes, numAttrs},
                     {core::CopyForm::kBlocking, true, failIndex});
  });
}

aclError aclrtMemcpyBatchV2(void** dsts, size_t* destMaxs, void** srcs, size_t* sizes, size_t numBatches,
                            aclrtMemcpyBatchAttr* attrs, size_t* attrsIndexes, size_t numAttrs) {
  return Guard("aclrtMemcpyBatchV2", [&] {
    return CopyBatch({dsts, destMaxs, srcs, sizes, numBatches, attrs, attrsIndexes, numAttrs},
                     {core::CopyForm::kBlocking, false, nullptr});
  });
}

// Flattened like aclrtMemcpyAsync, for batches of few short entries.
[[gnu::flatten]] aclError aclrtMemcpyBatchAsync(void** dsts, size_t* destMaxs, void** srcs, size_t* sizes,
                                                size_t numBatches, aclrtMemcpyBatchAttr* attrs,
                                                size_t* attrsIndexes, size_t numAttrs, size_t* failIndex,
                                                aclrtStream stream) {
  return Guard<ProtectsItself>("aclrtMemcpyBatchAsync", [&] {
    return CopyBatch({dsts, destMaxs, srcs, sizes, numBatches, attrs, attrsIndexes, numAttrs},
                     {core::CopyForm::kAsynchronous, true, failIndex, stream});
  });
}

aclError aclrtMemcpyBatchAsyncV2(void** dsts, size_t* destMaxs, void** srcs, size_t* sizes, size_t numBatches,
                                 aclrtMemcpyBatchAttr* attrs, size_t* attrsIndexes, size_t numAttrs,
                                 aclrtStream stream) {
  return Guard<ProtectsItself>("aclrtMemcpyBatchAsyncV2", [&] {
    return CopyBatch({dsts, destMaxs, srcs, sizes, numBatches, attrs, attrsIndexes, numAttrs},
                     {core::CopyForm::kAsynchronous, false, nullptr, stream});
  });
}
