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

HcclResult ExportedMemory::Export(const ::hccl::DeviceMem& memory, s64 process) {
  std::array<char, kKeyBytes> key{};
  if (aclrtIpcMemGetExportKey(memory.ptr(), memory.size(), key.data(), key.size(), 0) != ACL_SUCCESS)
    return HCCL_E_RUNTIME;
  key_ = key.data();
  s32 importer = static_cast<s32>(process);
  return aclrtIpcMemSetImportPid(key_.c_str(), &importer, 1) == ACL_SUCCESS ? HCCL_SUCCESS : HCCL_E_RUNTIME;
}

}  // namespace sampan::hccl
