// What every call of an operator checks, in the documented order.
#include "collectives/operators/call_checks.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/platform_bridge.h"
#include "collectives/comm/registry.h"
#include "hccl/report.h"

namespace sampan::collectives {

using hccl::Fail;

namespace {

/// The types of a chip, by operator.
struct ChipRow {
  std::string_view chip;
  std::initializer_list<HcclDataType> all, reduced, reduced_in_parts;
};

constexpr std::initializer_list<HcclDataType> kAll = {
    HCCL_DATA_TYPE_INT8,  HCCL_DATA_TYPE_UINT8,  HCCL_DATA_TYPE_INT16, HCCL_DATA_TYPE_UINT16,
    HCCL_DATA_TYPE_INT32, HCCL_DATA_TYPE_UINT32, HCCL_DATA_TYPE_INT64, HCCL_DATA_TYPE_UINT64,
    HCCL_DATA_TYPE_FP16,  HCCL_DATA_TYPE_FP32,   HCCL_DATA_TYPE_FP64,  HCCL_DATA_TYPE_BFP16};
constexpr std::initializer_list<HcclDataType> kReduced = {
    HCCL_DATA_TYPE_INT8, HCCL_DATA_TYPE_INT16, HCCL_DATA_TYPE_INT32, HCCL_DATA_TYPE_INT64,
    HCCL_DATA_TYPE_FP16, HCCL_DATA_TYPE_FP32,  HCCL_DATA_TYPE_BFP16};
constexpr std::initializer_list<HcclDataType> kReducedInParts = {HCCL_DATA_TYPE_INT8,  HCCL_DATA_TYPE_INT16,
                                                                 HCCL_DATA_TYPE_INT32, HCCL_DATA_TYPE_FP16,
                                                                 HCCL_DATA_TYPE_FP32,  HCCL_DATA_TYPE_BFP16};

constexpr std::array<ChipRow, 2> kChips = {{
    {"ascend910b", kAll, kReduced, kReducedInParts},
    {"ascend910c", kAll, kReduced, kReduced},
}};

const ChipRow* FindChip() {
  const std::string_view name = sampanChipName();
  const auto* const found =
      std::find_if(kChips.begin(), kChips.end(), [&](const ChipRow& row) { return row.chip == name; });
  return found == kChips.end() ? nullptr : found;
}
/// A communicator exists, so the chip has collectives.
const ChipRow& ThisChip() {
  static const ChipRow& chip = *FindChip();
  return chip;
}

const std::initializer_list<HcclDataType>& TypesOf(OperatorKind kind) {
  const ChipRow& chip = ThisChip();
  if (!RowOf(kind).reduces) return chip.all;
  return kind == OperatorKind::kReduceScatterV ? chip.reduced_in_parts : chip.reduced;
}

}  // namespace

bool ChipHasCollectives() {
  return FindChip() != nullptr;
}

HcclResult CheckPointers(const char* function, std::initializer_list<NamedPointer> pointers) {
  for (const auto& [name, pointer] : pointers) {
    if (pointer == nullptr) return Fail(function, HCCL_E_PTR, Text("EI0003: ", name, " is NULL"));
  }
  return HCCL_SUCCESS;
}

HcclResult FindCommunicator(const char* function, HcclComm handle, std::shared_ptr<Communicator>& found) {
  found = TheRegistry().Find(handle);
  if (found != nullptr) return HCCL_SUCCESS;
  return Fail(function, HCCL_E_PARA,
              Text("EI0003: comm ", Hex(handle), " is no communicator, or it was destroyed"));
}

HcclResult FindForOperator(const char* function, HcclComm handle, std::shared_ptr<Communicator>& found) {
  if (const HcclResult result = FindCommunicator(function, handle, found); result != HCCL_SUCCESS)
    return result;
  if (found->suspended().load()) {
    return Fail(function, HCCL_E_SUSPENDING,
                Text(found->Describe(), " is suspended: HcclCommResume continues it"));
  }
  std::string reason;
  if (const HcclResult broken = found->async_error(&reason); broken != HCCL_SUCCESS)
    return Fail(function, broken, Text(found->Describe(), " is broken: ", reason));
  return HCCL_SUCCESS;
}

HcclResult CheckCount(const char* function, const char* name, u64 count) {
  if (count <= kMaxCount) return HCCL_SUCCESS;
  return Fail(function, HCCL_E_PARA,
              Text("EI0003: ", name, " is ", count, ", it must be at most ", kMaxCount));
}

HcclResult CheckRank(const char* function, const char* name, u32 rank, u32 size) {
  if (rank < size) return HCCL_SUCCESS;
  return Fail(function, HCCL_E_PARA,
              Text("EI0003: ", name, " is ", rank, ", the communicator has ", size, " ranks"));
}

HcclResult CheckType(const char* function, OperatorKind kind, HcclDataType type) {
  const auto& types = TypesOf(kind);
  if (std::find(types.begin(), types.end(), type) != types.end()) return HCCL_SUCCESS;
  std::string known;
  for (const HcclDataType each : types)
    known += Text(known.empty() ? "" : ", ", TypeName(each));
  return Fail(
      function, HCCL_E_NOT_SUPPORT,
      Text("EI0003: the data type is ", TypeName(type), ", ", ThisChip().chip, " has for it: ", known));
}

HcclResult CheckOperation(const char* function, OperatorKind kind, HcclDataType type,
                          HcclReduceOp operation) {
  const auto refuse = [&](const std::string& what) {
    return Fail(function, HCCL_E_NOT_SUPPORT, "EI0003: " + what);
  };
  if (FindReduceRow(kReduceOperationRows, &ReduceOperationRow::hccl, operation) == nullptr)
    return refuse(Text("op is ", static_cast<u32>(operation), ", it must be 0 to 3"));
  if (operation != HCCL_REDUCE_PROD) return HCCL_SUCCESS;
  if (kind == OperatorKind::kReduceScatterV || type == HCCL_DATA_TYPE_INT16 || type == HCCL_DATA_TYPE_BFP16)
    return refuse(Text(ThisChip().chip, " has no products of ", TypeName(type), " in ", function));
  return HCCL_SUCCESS;
}

HcclResult FindBuffer(const char* function, const Communicator& communicator, const char* name,
                      const void* address, u64 bytes, DeviceRange& range) {
  if (bytes == 0) return HCCL_SUCCESS;
  const s32 device = communicator.facts().device;
  switch (sampanFindRange(function, name, address, bytes, range)) {
    case 0:
      if (!communicator.host_moves())  // the device moves by the program's addresses
        range.engine = static_cast<std::byte*>(const_cast<void*>(address));
      if (range.device == device) return HCCL_SUCCESS;
      return Fail(function, HCCL_E_PARA,
                  Text("EI0003: ", communicator.Describe(), " belongs to device ", device,
                       ", the current device is ", range.device));
    case static_cast<int>(Code::kContextNull):
      return HCCL_E_RUNTIME;
    default:
      return HCCL_E_PARA;  // the message is the runtime's
  }
}

}  // namespace sampan::collectives
