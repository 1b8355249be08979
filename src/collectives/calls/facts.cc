// What is known about a communicator, and its settings.
#include <array>
#include <cstring>
#include <memory>

#include "acl/acl.h"
#include "base/platform_bridge.h"
#include "collectives/calls/with_communicator.h"
#include "collectives/comm/joining.h"
#include "hccl/hccl_comm.h"
#include "hccl/report.h"

using namespace sampan::collectives;
using sampan::Text;
using sampan::hccl::Fail;
using sampan::hccl::Guard;

namespace {

constexpr std::array<const char*, 25> kErrorTexts = {
    "no error",
    "parameter error",
    "empty pointer",
    "memory error",
    "internal error",
    "not supported",
    "resource not found",
    "resource unavailable",
    "system call failed",
    "timeout",
    "file cannot be opened",
    "tcp connection failed",
    "roce connection failed",
    "tcp transfer failed",
    "roce transfer failed",
    "runtime call failed",
    "driver call failed",
    "profiling call failed",
    "cce call failed",
    "network error",
    "try again",
    "remote error",
    "communicator suspended",
    "operator retry failed",
    "out of memory",
};

}  // namespace

HcclResult HcclGetRankId(HcclComm comm, uint32_t* rank) {
  return WithCommunicator("HcclGetRankId", comm, {{"rank", rank}}, [&](Communicator& found) {
    *rank = found.rank();
    return HCCL_SUCCESS;
  });
}

HcclResult HcclGetRankSize(HcclComm comm, uint32_t* rankSize) {
  return WithCommunicator("HcclGetRankSize", comm, {{"rankSize", rankSize}}, [&](Communicator& found) {
    *rankSize = found.size();
    return HCCL_SUCCESS;
  });
}

HcclResult HcclGetCommName(HcclComm comm, char* commName) {
  return WithCommunicator("HcclGetCommName", comm, {{"commName", commName}}, [&](Communicator& found) {
    const std::string& name = found.facts().name;
    commName[name.copy(commName, COMM_NAME_MAX_LENGTH - 1)] = '\0';
    return HCCL_SUCCESS;
  });
}

const char* HcclGetErrorString(HcclResult code) {
  const auto number = static_cast<std::uint32_t>(code);
  if (number < kErrorTexts.size()) return kErrorTexts[number];
  return number < HCCL_E_RESERVED ? "unknown err" : "unknown error";
}

HcclResult HcclGetCommAsyncError(HcclComm comm, HcclResult* asyncError) {
  return WithCommunicator("HcclGetCommAsyncError", comm, {{"asyncError", asyncError}},
                          [&](Communicator& found) {
                            *asyncError = found.async_error();
                            return HCCL_SUCCESS;
                          });
}

uint32_t HcclGetCommConfigCapability() {
  return HCCL_COMM_CONFIG_RESERVED;
}

HcclResult HcclSetConfig(HcclConfig config, union HcclConfigValue configValue) {
  constexpr const char* kFunction = "HcclSetConfig";
  return Guard(kFunction, [&]() -> HcclResult {
    s32 device = 0;
    if (const HcclResult result = CurrentDevice(kFunction, device); result != HCCL_SUCCESS) return result;
    if (config != HCCL_DETERMINISTIC) return HCCL_SUCCESS;
    const int32_t value = configValue.value;
    if (value < 0 || value > 2)
      return Fail(kFunction, HCCL_E_PARA, Text("EI0003: the value is ", value, ", it must be 0, 1 or 2"));
    if (value == 2 && std::strcmp(sampanChipName(), "ascend910b") != 0) {
      return Fail(kFunction, HCCL_E_NOT_SUPPORT,
                  Text("EI0003: ", std::string(sampanChipName()), " has no strict order, value 2"));
    }
    if (!EnvironmentSetsDeterminism()) TheRegistry().set_determinism(device, value);
    return HCCL_SUCCESS;
  });
}

HcclResult HcclGetConfig(HcclConfig config, union HcclConfigValue* configValue) {
  constexpr const char* kFunction = "HcclGetConfig";
  return Guard(kFunction, [&]() -> HcclResult {
    if (configValue == nullptr) return Fail(kFunction, HCCL_E_PTR, "EI0003: configValue is NULL");
    s32 device = 0;
    if (const HcclResult result = CurrentDevice(kFunction, device); result != HCCL_SUCCESS) return result;
    if (config != HCCL_DETERMINISTIC) return HCCL_SUCCESS;
    CommOptions options;
    if (const HcclResult result = ReadEnvironment(kFunction, options); result != HCCL_SUCCESS) return result;
    const s32 value = TheRegistry().determinism(device);
    configValue->value = value >= 0 ? value : static_cast<int32_t>(options.deterministic);
    return HCCL_SUCCESS;
  });
}

HcclResult HcclConfigGetInfo(HcclComm comm, HcclConfigType cfgType, uint32_t infoLen, void* info) {
  constexpr const char* kFunction = "HcclConfigGetInfo";
  return WithCommunicator(kFunction, comm, {{"info", info}}, [&](Communicator& found) -> HcclResult {
    if (cfgType != HCCL_CONFIG_TYPE_OP_EXPANSION_MODE)
      return Fail(kFunction, HCCL_E_PARA,
                  Text("EI0003: cfgType is ", static_cast<s32>(cfgType), ", it must be 0"));
    HcclConfigTypeOpExpansionMode mode = found.facts().options.expansion_mode;
    if (mode == HCCL_OP_EXPANSION_MODE_INVALID) {
      mode = std::strcmp(sampanChipName(), "ascend910c") == 0 ? HCCL_OP_EXPANSION_MODE_AI_CPU
                                                              : HCCL_OP_EXPANSION_MODE_HOST;
    }
    if (infoLen != sizeof(mode))
      return Fail(kFunction, HCCL_E_PARA,
                  Text("EI0003: infoLen is ", infoLen, ", it must be ", sizeof(mode)));
    std::memcpy(info, &mode, sizeof(mode));
    return HCCL_SUCCESS;
  });
}

HcclResult HcclCommWorkingDevNicSet(HcclComm comm, uint32_t* ranks, bool* useBackup, uint32_t nRanks) {
  constexpr const char* kFunction = "HcclCommWorkingDevNicSet";
  return WithCommunicator(kFunction, comm, {{"ranks", ranks}}, [&](Communicator& found) -> HcclResult {
    const auto wrong = [&](const std::string& text) {
      return Fail(kFunction, HCCL_E_PARA, "EI0003: " + text);
    };
    if (useBackup == nullptr) return Fail(kFunction, HCCL_E_PTR, "EI0003: useBackup is NULL");
    if (nRanks == 0 || nRanks > found.size())
      return wrong(Text("nRanks is ", nRanks, ", it must be 1 to ", found.size()));
    for (uint32_t i = 0; i < nRanks; ++i) {
      if (ranks[i] >= found.size())
        return wrong(Text("ranks[", i, "] is ", ranks[i], ", the communicator has ", found.size(), " ranks"));
    }
    sampan::hccl::LogWarning(Text(kFunction, ": ", found.Describe(), " uses no network devices"));
    return HCCL_SUCCESS;
  });
}
