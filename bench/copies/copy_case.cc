// One copy that can be repeated and verified: its form, its memory, and the expected bytes.
#include "bench/copies/copy_case.h"

#include <algorithm>
#include <cstring>

#include "bench/measure/acl_call.h"

namespace bench {
namespace {

/// Bytes around the pieces that must not change.
constexpr std::size_t kMargin = 256;
constexpr int kFillValue = 0xA7;
constexpr aclrtMemcpyKind kIndirect = ACL_MEMCPY_INNER_DEVICE_TO_DEVICE;

bool IsRows(Form form) {
  return form == Form::kRows || form == Form::kRowsQueued;
}

bool IsFill(Form form) {
  return form == Form::kFill || form == Form::kFillQueued;
}

aclrtMemcpyKind KindOf(const CopyPlan& plan) {
  if (IsHost(plan.src)) return IsHost(plan.dst) ? ACL_MEMCPY_HOST_TO_HOST : ACL_MEMCPY_HOST_TO_DEVICE;
  return IsHost(plan.dst) ? ACL_MEMCPY_DEVICE_TO_HOST : ACL_MEMCPY_DEVICE_TO_DEVICE;
}

aclrtMemLocation LocationOf(Place place) {
  if (IsHost(place)) return {0, ACL_MEM_LOCATION_TYPE_HOST};
  return {place == Place::kPeer ? 1U : 0U, ACL_MEM_LOCATION_TYPE_DEVICE};
}

std::vector<Piece> PiecesOf(const CopyPlan& plan) {
  const Shape& shape = plan.shape;
  std::vector<Piece> pieces(shape.count);
  // Rows are in order. The pieces of a batch are shuffled so that none is adjacent to the one before it.
  const std::vector<std::size_t> slots =
      IsRows(plan.form) ? std::vector<std::size_t>() : ShuffledApart(shape.count, shape.count);
  const std::size_t pitch = IsRows(plan.form) ? shape.pitch : shape.bytes;
  for (std::size_t i = 0; i < shape.count; ++i)
    pieces[i] = {kMargin + i * shape.dst_step(), kMargin + (slots.empty() ? i : slots[i]) * pitch,
                 shape.bytes};
  return pieces;
}

}  // namespace

std::string_view CallOf(Form form) {
  switch (form) {
    case Form::kBlocking:
      return "aclrtMemcpy";
    case Form::kQueued:
      return "aclrtMemcpyAsync";
    case Form::kRows:
      return "aclrtMemcpy2d";
    case Form::kRowsQueued:
      return "aclrtMemcpy2dAsync";
    case Form::kBatch:
      return "aclrtMemcpyBatch";
    case Form::kBatchQueued:
      return "aclrtMemcpyBatchAsync";
    case Form::kDescriptor:
      return "aclrtMemcpyAsyncWithDesc";
    case Form::kOffset:
      return "aclrtMemcpyAsyncWithOffset";
    case Form::kFill:
      return "aclrtMemset";
    case Form::kFillQueued:
      return "aclrtMemsetAsync";
  }
  return "";
}

std::string PathName(const CopyPlan& plan) {
  if (IsFill(plan.form)) return std::string(NameOf(plan.dst));
  return std::string(NameOf(plan.src)) + " to " + std::string(NameOf(plan.dst));
}

struct CopyCase::Operands {
  std::vector<void*> dsts, srcs;
  std::vector<std::size_t> sizes;
  aclrtMemcpyBatchAttr attribute{};
  std::size_t attribute_start = 0;
  std::unique_ptr<Memory> cells;  ///< a descriptor, or the addresses of destination and source
};

CopyCase::CopyCase(const CopyPlan& plan)
    : plan_(plan),
      pieces_(PiecesOf(plan)),
      src_(plan.src, 2 * kMargin + plan.shape.count * std::max(plan.shape.bytes, plan.shape.pitch)),
      dst_(plan.dst, 2 * kMargin + plan.shape.count * plan.shape.dst_step()),
      cleared_(RandomBytes(dst_.bytes(), 1)),
      expected_(cleared_),
      operands_(std::make_unique<Operands>()) {
  const Bytes contents = RandomBytes(src_.bytes(), 2);
  src_.Write(contents);
  for (const Piece& piece : pieces_) {
    if (IsFill(plan.form))
      std::memset(&expected_[piece.dst], kFillValue, piece.bytes);
    else
      std::memcpy(&expected_[piece.dst], &contents[piece.src], piece.bytes);
    operands_->dsts.push_back(dst_.at(piece.dst));
    operands_->srcs.push_back(src_.at(piece.src));
    operands_->sizes.push_back(piece.bytes);
  }
  operands_->attribute.dstLoc = LocationOf(plan.dst);
  operands_->attribute.srcLoc = LocationOf(plan.src);
  Clear();
}

CopyCase::~CopyCase() = default;

void CopyCase::Clear() {
  dst_.Write(cleared_);
}

aclError CopyCase::Issue(aclrtStream stream) {
  const Shape& shape = plan_.shape;
  void* const dst = dst_.at(kMargin);
  const void* const src = src_.at(pieces_.front().src);
  const aclrtMemcpyKind kind = KindOf(plan_);
  switch (plan_.form) {
    case Form::kBlocking:
      return ::aclrtMemcpy(dst, shape.bytes, src, shape.bytes, kind);
    case Form::kQueued:
      return ::aclrtMemcpyAsync(dst, shape.bytes, src, shape.bytes, kind, stream);
    case Form::kRows:
      return ::aclrtMemcpy2d(dst, shape.dst_step(), src, shape.pitch, shape.bytes, shape.count, kind);
    case Form::kRowsQueued:
      return ::aclrtMemcpy2dAsync(dst, shape.dst_step(), src, shape.pitch, shape.bytes, shape.count, kind,
                                  stream);
    case Form::kBatch:
    case Form::kBatchQueued:
      return IssueBatch(stream);
    case Form::kDescriptor:
    case Form::kOffset:
      return IssueIndirect(stream);
    case Form::kFill:
      return ::aclrtMemset(dst, shape.bytes, kFillValue, shape.bytes);
    case Form::kFillQueued:
      return ::aclrtMemsetAsync(dst, shape.bytes, kFillValue, shape.bytes, stream);
  }
  return ACL_ERROR_INVALID_PARAM;
}

aclError CopyCase::IssueBatch(aclrtStream stream) {
  Operands& call = *operands_;
  std::size_t failed = 0;
  if (plan_.form == Form::kBatch) {
    return ::aclrtMemcpyBatch(call.dsts.data(), call.sizes.data(), call.srcs.data(), call.sizes.data(),
                              call.dsts.size(), &call.attribute, &call.attribute_start, 1, &failed);
  }
  return ::aclrtMemcpyBatchAsync(call.dsts.data(), call.sizes.data(), call.srcs.data(), call.sizes.data(),
                                 call.dsts.size(), &call.attribute, &call.attribute_start, 1, &failed,
                                 stream);
}

aclError CopyCase::IssueIndirect(aclrtStream stream) {
  void* const dst = dst_.at(kMargin);
  void* const src = src_.at(kMargin);
  std::unique_ptr<Memory>& cells = operands_->cells;
  if (plan_.form == Form::kDescriptor) {
    if (cells == nullptr) {
      std::size_t bytes = 0;
      if (const aclError code = ::aclrtGetMemcpyDescSize(kIndirect, &bytes); code != ACL_SUCCESS) return code;
      auto descriptor = std::make_unique<Memory>(Place::kDevice, bytes);
      const aclError code =
          ::aclrtSetMemcpyDesc(descriptor->at(0), kIndirect, src, dst, plan_.shape.bytes, nullptr);
      if (code != ACL_SUCCESS) return code;
      cells = std::move(descriptor);
    }
    return ::aclrtMemcpyAsyncWithDesc(cells->at(0), kIndirect, stream);
  }
  // The addresses are those of the blocks; the margin is the offset.
  constexpr std::size_t kSourceCell = 32;
  if (cells == nullptr) {
    Bytes addresses(2 * kSourceCell);
    const void* const blocks[] = {dst_.at(0), src_.at(0)};
    std::memcpy(addresses.data(), &blocks[0], sizeof(void*));
    std::memcpy(addresses.data() + kSourceCell, &blocks[1], sizeof(void*));
    cells = std::make_unique<Memory>(Place::kDevice, addresses.size());
    cells->Write(addresses);
  }
  return ::aclrtMemcpyAsyncWithOffset(
      reinterpret_cast<void**>(cells->at(0)), dst_.bytes(), kMargin,
      const_cast<const void**>(reinterpret_cast<void**>(cells->at(kSourceCell))), plan_.shape.bytes, kMargin,
      kIndirect, stream);
}

std::optional<std::string> CopyCase::FindFault() const {
  const Bytes arrived = dst_.Read();
  const auto wrong = FirstDifference(arrived, expected_);
  if (!wrong) return std::nullopt;
  const std::size_t end = arrived.size() - kMargin;
  return (*wrong < kMargin ? std::to_string(kMargin - *wrong) + " bytes before the destination "
          : *wrong >= end  ? std::to_string(*wrong - end) + " bytes behind the destination "
                           : "byte " + std::to_string(*wrong - kMargin) + " of the destination ") +
         DifferenceText(arrived[*wrong], expected_[*wrong]);
}

}  // namespace bench
