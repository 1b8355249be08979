// FABRIC handles between processes of one host: through a file, by list, at every ending, and across
// networks. Rules of docs/BEHAVIOUR.md: share-2, share-5, share-9, share-10, share-11.
#include <gtest/gtest.h>

#include <string>

#include "acl/acl.h"
#include "tests/process/peer.h"
#include "tests/support/random_bytes.h"
#include "tests/support/temporary_folder.h"

namespace sampan::test::fabric_test {
namespace {

constexpr std::size_t kPiece = std::size_t{2} << 20;

Variables WithFabric() {
  return {{"SAMPAN_PROFILE", "ascend910c"}};
}

class Fabric : public ::testing::Test {
 protected:
  /// Memory of the exporter, mapped and filled, with its handle in the file.
  std::string Publish(Peer& exporter, std::uint64_t seed, int flags) {
    const std::string physical = exporter.Get("physical", kPiece);
    const std::string own = exporter.Get("map", physical, kPiece);
    exporter.Get("fill", own, kPiece, seed);
    exporter.Get("export_fabric", physical, flags, file());
    return own;
  }
  std::string file() const { return folder_.path() + "/handle"; }

 private:
  TemporaryFolder folder_;
};

TEST_F(Fabric, AHandleFromAFileNamesTheSameMemory) {
  Random random;
  const std::uint64_t first = random.Next() >> 1, second = random.Next() >> 1;
  Peer exporter(WithFabric()), importer(WithFabric());
  const std::string own = Publish(exporter, first, 1);
  const std::string mapped = importer.Get("map", importer.Get("import_fabric", file()), kPiece);
  EXPECT_EQ(importer.Get("check", mapped, kPiece, first), "same");
  importer.Get("fill", mapped, kPiece, second);
  EXPECT_EQ(exporter.Get("check", own, kPiece, second), "same");
}

TEST_F(Fabric, AnotherDeviceOfAnotherProcessNeedsNoPeerAccess) {
  Peer exporter(WithFabric()), importer(WithFabric());
  const std::string own = Publish(exporter, 3, 1);
  importer.Get("device", 1);
  const std::string mapped = importer.Get("map", importer.Get("import_fabric", file()), kPiece);
  const std::string local = importer.Get("alloc", kPiece);
  importer.Get("copy", local, mapped, kPiece);
  importer.Get("sync");
  EXPECT_EQ(importer.Get("check", local, kPiece, 3), "same");
  importer.Get("fill", local, kPiece, 4);
  importer.Get("copy", mapped, local, kPiece);
  importer.Get("sync");
  EXPECT_EQ(exporter.Get("check", own, kPiece, 4), "same");
}

TEST_F(Fabric, OnlyProcessesOnTheListMayImport) {
  Peer exporter(WithFabric()), friendly(WithFabric()), stranger(WithFabric());
  Publish(exporter, 5, 0);
  EXPECT_EQ(friendly.Do("import_fabric", file()).code, ACL_ERROR_RT_NO_PERMISSION) << "the list is empty";
  EXPECT_EQ(stranger.Do("admit_fabric", file(), stranger.process()).code, ACL_ERROR_RT_PARAM_INVALID);
  exporter.Get("admit_fabric", file(), friendly.process());
  EXPECT_EQ(friendly.Do("import_fabric", file()).code, ACL_SUCCESS);
  const Answer refused = stranger.Do("import_fabric", file());
  EXPECT_EQ(refused.code, ACL_ERROR_RT_NO_PERMISSION);
  EXPECT_NE(refused.text.find(std::to_string(stranger.process())), std::string::npos) << refused.text;
}

TEST_F(Fabric, MemoryOutlivesItsMakerWhereItIsMapped) {
  Peer importer(WithFabric());
  std::string mapped;
  {
    Peer exporter(WithFabric());
    Publish(exporter, 6, 1);
    mapped = importer.Get("map", importer.Get("import_fabric", file()), kPiece);
  }
  EXPECT_EQ(importer.Get("check", mapped, kPiece, 6), "same");
  EXPECT_EQ(importer.Do("import_fabric", file()).code, ACL_ERROR_RT_PARAM_INVALID) << "its maker is gone";
}

TEST_F(Fabric, AnotherChipRefusesTheHandle) {
  Peer exporter(WithFabric()), importer(Variables{{"SAMPAN_PROFILE", "ascend910b"}});
  Publish(exporter, 7, 1);
  const Answer refused = importer.Do("import_fabric", file());
  EXPECT_EQ(refused.code, ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  EXPECT_NE(refused.text.find("ascend910b"), std::string::npos) << refused.text;
}

TEST_F(Fabric, AnotherNetworkIsAnotherHost) {
  Peer exporter(WithFabric()), importer(WithFabric());
  if (importer.Do("leave_network").code != 0) GTEST_SKIP() << "this process may not make network namespaces";
  Publish(exporter, 8, 1);
  const Answer refused = importer.Do("import_fabric", file());
  // Nothing leads out of the new network: no connection, or not even an address to begin from.
  EXPECT_TRUE(refused.code == ACL_ERROR_RT_LOST_HEARTBEAT || refused.code == ACL_ERROR_RT_FEATURE_NOT_SUPPORT)
      << refused.code << refused.text;
}

}  // namespace
}  // namespace sampan::test::fabric_test
