// A process that exports memory as FABRIC, and imports of that memory.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <memory>
#include <string>

#include "acl/acl.h"
#include "tests/process/contents.h"
#include "tests/process/peer.h"
#include "tests/support/acl_expect.h"
#include "tests/support/mapped_memory.h"
#include "tests/support/temporary_folder.h"

namespace sampan::test {

/// Changes which host a handle names, and corrects its checksum.
inline void NameAnotherHost(aclrtMemFabricHandle& fabric) {
  constexpr std::size_t kChecksumAt = 8, kCheckedFrom = 16, kNetworkAt = 32;
  fabric.data[kNetworkAt + 7] ^= 1;
  std::uint64_t sum = 0xcbf29ce484222325;
  for (std::size_t i = kCheckedFrom; i < sizeof(fabric.data); ++i)
    sum = (sum ^ fabric.data[i]) * 0x100000001b3;
  std::memcpy(fabric.data + kChecksumAt, &sum, sizeof(sum));
}

/// A process with memory that it exports: kPiece bytes of Contents(seed).
class FabricOwner {
 public:
  /// `path_of_network` is where it lives; empty: here, and its handle names another host.
  FabricOwner(const std::string& path_of_network, std::uint64_t seed, const std::string& place = "device",
              int flags = 1)
      : by_loopback_(path_of_network.empty()) {
    if (!by_loopback_) {
      EXPECT_EQ(peer.Do("enter_network", path_of_network).code, 0);
    }
    physical = peer.Get("physical", kPiece, place);
    mapped = peer.Get("map", physical, kPiece);
    peer.Get("fill", mapped, kPiece, seed);
    peer.Get("export_fabric", physical, flags, file());
  }
  std::string file() const { return folder_.path() + "/handle"; }
  /// As this host sees it.
  aclrtMemFabricHandle handle() const {
    aclrtMemFabricHandle fabric = {};
    std::ifstream(file(), std::ios::binary).read(reinterpret_cast<char*>(fabric.data), sizeof(fabric.data));
    if (by_loopback_) NameAnotherHost(fabric);
    return fabric;
  }
  aclError Import(aclrtDrvMemHandle& imported) const {
    aclrtMemFabricHandle fabric = handle();
    return aclrtMemImportFromShareableHandleV2(&fabric, ACL_MEM_SHARE_HANDLE_TYPE_FABRIC, 0, &imported);
  }
  bool Has(std::uint64_t seed) { return peer.Get("check", mapped, kPiece, seed) == "same"; }

  Peer peer;
  std::string physical, mapped;

 private:
  const bool by_loopback_;
  TemporaryFolder folder_;
};

/// An import of an owner's memory, mapped at an address.
class ImportedMemory {
 public:
  explicit ImportedMemory(const FabricOwner& owner) : range_(kPiece) {
    EXPECT_ACL(ACL_SUCCESS, owner.Import(handle_));
    mapped_ = std::make_unique<Mapped>(range_.data(), kPiece, handle_);
  }
  ~ImportedMemory() {
    mapped_.reset();
    EXPECT_ACL(ACL_SUCCESS, aclrtFreePhysical(handle_));
  }
  ImportedMemory(const ImportedMemory&) = delete;
  ImportedMemory& operator=(const ImportedMemory&) = delete;
  std::byte* at(std::size_t offset) const { return range_.at(offset); }
  aclrtDrvMemHandle handle() const { return handle_; }

 private:
  Reserved range_;
  aclrtDrvMemHandle handle_ = nullptr;
  std::unique_ptr<Mapped> mapped_;
};

}  // namespace sampan::test
