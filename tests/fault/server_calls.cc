// Lists of processes of other servers under failing memory: the test fault_servers has a chip with servers.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <numeric>

#include "tests/fault/api_call.h"

namespace sampan::fault {
namespace {

/// As many processes as one list takes. If a call that failed left one of them behind, the next call is
/// refused.
struct FullList {
  FullList() { std::iota(processes.begin(), processes.end(), 100); }
  std::array<std::int32_t, 64> processes;
  aclrtServerPid server = {/*sdid=*/5U << 10, processes.data(), processes.size()};
};

aclError AdmitToMemory(World& w) {
  FullList list;
  return aclrtIpcMemImportPidInterServer(w.results.text, &list.server, 1);
}
aclError AdmitToNotify(World& w) {
  FullList list;
  return aclrtNotifySetImportPidInterServer(w.results.notify, &list.server, 1);
}

}  // namespace

std::vector<ApiCall> ServerCalls() {
  return {
      {.name = "aclrtIpcMemImportPidInterServer",
       .call = AdmitToMemory,
       .prepare =
           [](World& w) {
             EXPECT_EQ(aclrtIpcMemGetExportKey(w.device_a, kBytes, w.results.text, 65, 0), ACL_SUCCESS);
           },
       .right = [](World& w) { return AdmitToMemory(w) == ACL_ERROR_RT_PARAM_INVALID; },  // it is full
       .undo = [](World& w) { EXPECT_EQ(aclrtIpcMemClose(w.results.text), ACL_SUCCESS); },
       .needs_servers = true},
      {.name = "aclrtNotifySetImportPidInterServer",
       .call = AdmitToNotify,
       .prepare = [](World& w) { EXPECT_EQ(aclrtCreateNotify(&w.results.notify, 0), ACL_SUCCESS); },
       .right = [](World& w) { return AdmitToNotify(w) == ACL_ERROR_RT_PARAM_INVALID; },
       .undo = [](World& w) { EXPECT_EQ(aclrtDestroyNotify(w.results.notify), ACL_SUCCESS); },
       .needs_servers = true},
  };
}

}  // namespace sampan::fault
