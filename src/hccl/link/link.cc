// The state of a transport: the peer's memory, the signals of both sides, and their group.
#include "hccl/link/link.h"

#include "acl/acl_rt.h"
#include "hccl/objects/notify_key.h"
#include "hccl/report.h"

namespace sampan::hccl {

void GroupSignal::Break(HcclResult code, const std::string& text) noexcept {
  try {
    health_->BreakHere(code, Text("rank ", rank_, ": ", text));
  } catch (const std::exception&) {
    health_->BreakHere(code, {});
  }
}

RemoteMemory::~RemoteMemory() {
  if (!key_.empty()) static_cast<void>(aclrtIpcMemClose(key_.c_str()));
}

HcclResult RemoteMemory::Import(const std::string& key, u64 bytes) {
  void* address = nullptr;
  if (aclrtIpcMemImportByKey(&address, key.c_str(), ACL_RT_IPC_MEM_IMPORT_FLAG_ENABLE_PEER_ACCESS) !=
      ACL_SUCCESS)
    return HCCL_E_RUNTIME;
  key_ = key;
  // What the peer says about its memory need not be so.
  std::size_t shared_bytes = 0;
  if (aclrtMemGetAddressRange(address, nullptr, &shared_bytes) != ACL_SUCCESS) return HCCL_E_RUNTIME;
  if (bytes > shared_bytes) {
    return Fail(
        "RankGroup::Connect", HCCL_E_PARA,
        Text("a peer offers ", bytes, " bytes of memory, and its key is of ", shared_bytes, " bytes"));
  }
  PointTo(address, bytes);
  return HCCL_SUCCESS;
}

ExportedMemory::~ExportedMemory() {
  if (!key_.empty()) static_cast<void>(aclrtIpcMemClose(key_.c_str()));
}

namespace {

HcclResult CodeOf(aclError code) {
  if (code == ACL_SUCCESS) return HCCL_SUCCESS;
  return code == ACL_ERROR_RT_FEATURE_NOT_SUPPORT ? HCCL_E_NOT_SUPPORT : HCCL_E_RUNTIME;
}

}  // namespace

HcclResult AdmitToNotify(HcclRtNotify notify, Importer importer) {
  if (!importer.server) return CodeOf(aclrtNotifySetImportPid(notify, &importer.process, 1));
  aclrtServerPid pair{*importer.server, &importer.process, 1};
  return CodeOf(aclrtNotifySetImportPidInterServer(notify, &pair, 1));
}

HcclResult ExportedMemory::Export(const ::hccl::DeviceMem& memory, Importer importer) {
  std::array<char, kKeyBytes> key{};
  if (aclrtIpcMemGetExportKey(memory.ptr(), memory.size(), key.data(), key.size(), 0) != ACL_SUCCESS)
    return HCCL_E_RUNTIME;
  key_ = key.data();
  if (!importer.server) return CodeOf(aclrtIpcMemSetImportPid(key_.c_str(), &importer.process, 1));
  aclrtServerPid pair{*importer.server, &importer.process, 1};
  return CodeOf(aclrtIpcMemImportPidInterServer(key_.c_str(), &pair, 1));
}

}  // namespace sampan::hccl
