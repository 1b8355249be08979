// aclrtMemcpyBatch and its asynchronous and V2 forms.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "acl/acl_rt.h"
#include "acl/caller.h"
#include "acl/guard.h"
#include "core/batch_run.h"
#include "core/copy_plan.h"
#include "core/express_copy.h"

namespace sampan::acl {
namespace {

constexpr std::size_t kMostBlockingEntries = 4096;

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
  CopyForm form;
  bool has_fail_index;
  size_t* fail_index;
  aclrtStream stream = nullptr;
};

bool AllZero(const BatchArguments& arguments) {
  return std::all_of(arguments.sizes, arguments.sizes + arguments.entries,
                     [](size_t bytes) { return bytes == 0; });
}

/// The first entry that is longer than its limit; the number of all where none is.
size_t FirstThatDoesNotFit(const BatchArguments& arguments) {
  size_t entry = 0;
  while (entry < arguments.entries && arguments.sizes[entry] <= arguments.dst_maxs[entry])
    ++entry;
  return entry;
}

bool AllThere(const BatchArguments& arguments) {
  return arguments.dsts != nullptr && arguments.dst_maxs != nullptr && arguments.srcs != nullptr &&
         arguments.sizes != nullptr && arguments.attributes != nullptr &&
         arguments.attribute_starts != nullptr;
}

/// The first reserved byte that is not 0; null where there is none.
const uint8_t* WrongReserved(const aclrtMemcpyBatchAttr& attribute) {
  static constexpr uint8_t kZero[sizeof(attribute.rsv)] = {};
  if (std::memcmp(attribute.rsv, kZero, sizeof(kZero)) == 0) return nullptr;
  return std::find_if(std::begin(attribute.rsv), std::end(attribute.rsv),
                      [](uint8_t byte) { return byte != 0; });
}

Status CheckArrays(const BatchArguments& arguments) {
  if (!AllThere(arguments)) {
    return RequireNonNull("dsts", arguments.dsts, "destMaxs", arguments.dst_maxs, "srcs", arguments.srcs,
                          "sizes", arguments.sizes, "attrs", arguments.attributes, "attrsIndexes",
                          arguments.attribute_starts);
  }
  if (!SurelyWithin({arguments.sizes, arguments.entries}, {arguments.dst_maxs, arguments.entries})) {
    const size_t i = FirstThatDoesNotFit(arguments);
    if (i < arguments.entries) {
      return InvalidArgument(Text("entry ", i, ": sizes[", i, "] ", arguments.sizes[i],
                                  " is more than destMaxs[", i, "] ", arguments.dst_maxs[i]));
    }
  }
  for (size_t k = 0; k < arguments.attribute_count; ++k) {
    if (const uint8_t* const wrong = WrongReserved(arguments.attributes[k])) {
      return InvalidArgument(Text("attrs[", k, "].rsv[", wrong - arguments.attributes[k].rsv, "] is ",
                                  unsigned{*wrong}, ", it must be 0"));
    }
  }
  return {};
}

ClaimedPlace ClaimOf(const aclrtMemLocation& location) {
  switch (location.type) {
    case ACL_MEM_LOCATION_TYPE_DEVICE:
      return {.on_device = true, .device = location.id};
    case ACL_MEM_LOCATION_TYPE_HOST:
    case ACL_MEM_LOCATION_TYPE_HOST_NUMA:
      return {};
    default:
      return {.known = false};
  }
}

BatchAttribute AttributeOf(const aclrtMemcpyBatchAttr& given, size_t first_entry) {
  return {ClaimOf(given.dstLoc), ClaimOf(given.srcLoc), first_entry};
}

/// Few entries, right in every respect, in a stream that takes them at once. Whoever is not so lucky goes
/// through all the checks below, in their order.
[[gnu::flatten, gnu::noinline]] bool TryExpress(const BatchArguments& arguments, const BatchForm& form) {
  if (form.form == CopyForm::kBlocking || (form.has_fail_index && form.fail_index == nullptr)) return false;
  if (arguments.entries == 0 || arguments.entries > express::kMostEntries) return false;
  if (arguments.attribute_count != 1 || !AllThere(arguments)) return false;
  if (FirstThatDoesNotFit(arguments) != arguments.entries) return false;
  if (WrongReserved(arguments.attributes[0]) != nullptr) return false;
  const auto call = FindUsualStreamCall(form.stream);
  if (!call) return false;
  const BatchAttribute attribute = AttributeOf(arguments.attributes[0], arguments.attribute_starts[0]);
  const BatchRequest request{{arguments.dsts, arguments.entries},
                             {arguments.srcs, arguments.entries},
                             {arguments.sizes, arguments.entries},
                             {&attribute, 1},
                             false};
  if (!TryExpressBatch(request, call->stream(), call->runtime.PlanContextOf(*call->target.context)))
    return false;
  if (form.fail_index != nullptr) *form.fail_index = SIZE_MAX;
  return true;
}

/// Where a thread without a context has a batch done: on the device that the first entry's attribute names.
std::int32_t DeviceNamedBy(const BatchRequest& request, std::int32_t devices) {
  const auto copies = [](std::size_t bytes) { return bytes != 0; };
  const auto first = std::find_if(request.sizes.begin(), request.sizes.end(), copies) - request.sizes.begin();
  auto attribute = request.attributes.rbegin();
  while (attribute->first_entry > static_cast<std::size_t>(first))
    ++attribute;
  const ClaimedPlace& place = attribute->dst.on_device ? attribute->dst : attribute->src;
  const bool there = place.on_device && place.device < static_cast<std::uint32_t>(devices);
  return there ? static_cast<std::int32_t>(place.device) : 0;
}

/// Needs no context.
Status RunBatch(const BatchRequest& request, Runtime& runtime, Result<Caller>& caller) {
  const std::int32_t id =
      caller.ok() ? caller->device().id() : DeviceNamedBy(request, runtime.device_count());
  auto plan = PlanBatch(request, runtime.PlanContextOf(id));
  if (!plan.ok()) return plan.TakeStatus();
  auto device = runtime.FindDevice(id);
  return device.ok() ? RunPlan(**device, std::move(plan)) : device.TakeStatus();
}

Status SubmitBatch(const BatchRequest& request, Stream* stream, Result<Caller>& caller) {
  if (!caller.ok()) return caller.TakeStatus();
  auto plan = PlanBatch(request, caller->runtime.PlanContextOf(*caller->context));
  return SubmitPlan({caller->context, stream}, std::move(plan));
}

Status CopyBatch(const BatchArguments& arguments, const BatchForm& form) {
  if (TryExpress(arguments, form)) return {};
  if (form.has_fail_index) {
    if (Status present = RequireNonNull("failIndex", form.fail_index); !present.ok()) return present;
  }
  if (Status present = RequireNonNull("sizes", arguments.sizes); !present.ok()) return present;
  if (arguments.entries == 0) return InvalidArgument("numBatches is 0");
  size_t unused_index = 0;
  size_t& fail_index = form.fail_index != nullptr ? *form.fail_index : unused_index;
  if (AllZero(arguments)) {
    fail_index = SIZE_MAX;
    return {};
  }
  if (Status checked = CheckArrays(arguments); !checked.ok()) return checked;
  auto maybe = CallerMaybeWithoutContext();
  if (!maybe.ok()) return maybe.TakeStatus();
  if (!maybe->runtime.profile().batch) {
    return CopyUnsupported(Text(maybe->runtime.profile().chip, " has no batch copies"));
  }
  auto stream = FindStream(maybe->runtime, form.stream);
  if (!stream.ok()) return stream.TakeStatus();

  fail_index = SIZE_MAX;
  const bool blocking = form.form == CopyForm::kBlocking;
  if (blocking && arguments.entries > kMostBlockingEntries) {
    return {Code::kParamInvalid, Text("numBatches ", arguments.entries, " is more than the ",
                                      kMostBlockingEntries, " that the blocking call takes")};
  }
  if (arguments.attribute_count > arguments.entries) {
    return {Code::kParamInvalid,
            Text("numAttrs ", arguments.attribute_count, " is more than numBatches ", arguments.entries)};
  }
  std::vector<BatchAttribute> attributes;
  attributes.reserve(arguments.attribute_count);
  for (size_t k = 0; k < arguments.attribute_count; ++k) {
    attributes.push_back(AttributeOf(arguments.attributes[k], arguments.attribute_starts[k]));
  }
  const BatchRequest request{{arguments.dsts, arguments.entries},
                             {arguments.srcs, arguments.entries},
                             {arguments.sizes, arguments.entries},
                             attributes,
                             blocking};
  if (Status checked = CheckBatchAttributes(request); !checked.ok()) return checked;
  auto caller = CallerWithContext();
  Status status =
      blocking ? RunBatch(request, maybe->runtime, caller) : SubmitBatch(request, *stream, caller);
  if (!status.ok()) fail_index = status.error().item;
  return status;
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
                     {CopyForm::kBlocking, true, failIndex});
  });
}

aclError aclrtMemcpyBatchV2(void** dsts, size_t* destMaxs, void** srcs, size_t* sizes, size_t numBatches,
                            aclrtMemcpyBatchAttr* attrs, size_t* attrsIndexes, size_t numAttrs) {
  return Guard("aclrtMemcpyBatchV2", [&] {
    return CopyBatch({dsts, destMaxs, srcs, sizes, numBatches, attrs, attrsIndexes, numAttrs},
                     {CopyForm::kBlocking, false, nullptr});
  });
}

aclError aclrtMemcpyBatchAsync(void** dsts, size_t* destMaxs, void** srcs, size_t* sizes, size_t numBatches,
                               aclrtMemcpyBatchAttr* attrs, size_t* attrsIndexes, size_t numAttrs,
                               size_t* failIndex, aclrtStream stream) {
  return Guard("aclrtMemcpyBatchAsync", [&] {
    return CopyBatch({dsts, destMaxs, srcs, sizes, numBatches, attrs, attrsIndexes, numAttrs},
                     {CopyForm::kAsynchronous, true, failIndex, stream});
  });
}

aclError aclrtMemcpyBatchAsyncV2(void** dsts, size_t* destMaxs, void** srcs, size_t* sizes, size_t numBatches,
                                 aclrtMemcpyBatchAttr* attrs, size_t* attrsIndexes, size_t numAttrs,
                                 aclrtStream stream) {
  return Guard("aclrtMemcpyBatchAsyncV2", [&] {
    return CopyBatch({dsts, destMaxs, srcs, sizes, numBatches, attrs, attrsIndexes, numAttrs},
                     {CopyForm::kAsynchronous, false, nullptr, stream});
  });
}
