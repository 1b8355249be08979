// Many cycles, groups of processes, and processes killed at any moment.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "acl/acl.h"
#include "tests/process/peer.h"
#include "tests/support/random_bytes.h"

namespace sampan::test::endurance_test {
namespace {

constexpr std::size_t kBytes = 65'536;
constexpr std::size_t kPiece = std::size_t{2} << 20;

/// How often to do something. PROCESS_PART=n: an n-th of the times, where processes start slowly.
int Rounds(int usual) {
  const char* const part = std::getenv("PROCESS_PART");
  return std::max(usual / std::max(part != nullptr ? std::atoi(part) : 1, 1), 2);
}

/// Names in the folders where shared objects are left behind, if a process leaves any. Tests and commands
/// that run at the same time have files of their own there.
std::set<std::string> LeftBehind() {
  std::set<std::string> names;
  for (const char* folder : {"/dev/shm", "/tmp"}) {
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
      const std::string name = entry.path().filename();
      // Those of commands and of other tests, which run meanwhile.
      constexpr const char* kOfOthers[] = {"sampan_test.", "sampan-replay-", "sampan-run-", "sampan-check-",
                                           "sampan-tool-"};
      const bool of_another = std::any_of(std::begin(kOfOthers), std::end(kOfOthers),
                                          [&](const char* prefix) { return name.starts_with(prefix); });
      if (name.find("sampan") != std::string::npos && !of_another) names.insert(entry.path());
    }
  }
  return names;
}

TEST(Endurance, TenThousandImportsLeaveNothing) {
  Peer exporter, importer;
  const std::string own = exporter.Get("alloc", kBytes);
  exporter.Get("fill", own, kBytes, 1);
  std::string key = exporter.Get("export", own, 1, 1);
  const int value = [&] {  // the first byte of the contents
    std::uint64_t state = 1 * 0x9E3779B97F4A7C15ULL + 1;
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<int>(state >> 56);
  }();
  importer.Get("cycle", key, 100, value);
  const std::string descriptors = importer.Get("descriptors"), mappings = importer.Get("mappings");
  importer.Get("cycle", key, Rounds(5000), value);
  EXPECT_EQ(importer.Get("descriptors"), descriptors);
  EXPECT_NEAR(std::stoi(importer.Get("mappings")), std::stoi(mappings), 5);
  exporter.Get("close", key);
  const std::string exporter_descriptors = exporter.Get("descriptors");
  for (int round = 0; round < Rounds(5000); ++round) {  // a new key each time
    key = exporter.Get("export", own, kBytes, 1);
    importer.Get("cycle", key, 1, value);
    exporter.Get("close", key);
    if (HasFailure()) return;
  }
  EXPECT_EQ(exporter.Get("descriptors"), exporter_descriptors);
  EXPECT_EQ(importer.Get("descriptors"), descriptors);
}

TEST(Endurance, PhysicalMemoryGoesBackAndForth) {
  Peer exporter, importer;
  const std::string before = exporter.Get("free_bytes");
  const std::string descriptors = importer.Get("descriptors");
  std::string held;
  for (int round = 0; round < Rounds(300); ++round) {
    const std::string physical = exporter.Get("physical", kPiece);
    const std::string theirs = importer.Get("import_physical", exporter.Get("export_physical", physical, 1));
    const std::string mapped = importer.Get("map", theirs, kPiece);
    exporter.Get("free_physical", physical);
    importer.Get("fill", mapped, 64, round);
    importer.Get("unmap", mapped);
    importer.Get("free_physical", theirs);
    if (HasFailure()) return;
  }
  EXPECT_EQ(exporter.Get("free_bytes"), before);
  EXPECT_LE(std::stoi(importer.Get("descriptors")), std::stoi(descriptors) + 4);
}

/// Eight processes in a ring, each with a buffer and a notify that its neighbour writes and records.
TEST(Group, EightProcessesPassBytesRound) {
  constexpr std::size_t kProcesses = 8;
  std::vector<std::unique_ptr<Peer>> ring;
  std::vector<std::string> buffers, notifies, neighbour_buffers, neighbour_notifies;
  for (std::size_t i = 0; i < kProcesses; ++i) {
    ring.push_back(std::make_unique<Peer>());
    buffers.push_back(ring[i]->Get("alloc", kBytes));
    notifies.push_back(ring[i]->Get("notify"));
  }
  for (std::size_t i = 0; i < kProcesses; ++i) {
    Peer& self = *ring[i];
    const std::size_t next = (i + 1) % kProcesses;
    neighbour_buffers.push_back(self.Get("import", ring[next]->Get("export", buffers[next], kBytes, 1)));
    neighbour_notifies.push_back(
        self.Get("import_notify", ring[next]->Get("export_notify", notifies[next], 2)));
  }
  ring[0]->Get("fill", buffers[0], kBytes, 77);
  constexpr int kRounds = 20;
  for (int round = 0; round < kRounds; ++round) {
    for (std::size_t i = 0; i < kProcesses; ++i) {
      if (i != 0 || round > 0) ring[i]->Get("wait", notifies[i], 30);
      ring[i]->Get("copy", neighbour_buffers[i], buffers[i], kBytes);
      ring[i]->Get("record", neighbour_notifies[i]);
    }
  }
  ring[0]->Get("wait", notifies[0], 30);
  for (auto& each : ring)
    each->Get("sync");
  for (std::size_t i = 0; i < kProcesses; ++i)
    EXPECT_EQ(ring[i]->Get("check", buffers[i], kBytes, 77), "same") << i;
  for (auto& each : ring)
    EXPECT_EQ(each->Exit(), 0);
}

/// One of two processes is killed at a random moment of a conversation; the other must go on.
TEST(Group, KilledAtRandomMoments) {
  Random random;
  const std::set<std::string> before = LeftBehind();
  const int rounds = Rounds(200);
  auto survivor = std::make_unique<Peer>();
  std::string descriptors = survivor->Get("descriptors");
  for (int round = 0; round < rounds && !HasFailure(); ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    Peer victim;
    const bool exports = random.Between(0, 1) == 0;
    Peer& exporter = exports ? *survivor : victim;
    Peer& importer = exports ? victim : *survivor;
    const std::string own = exporter.Get("alloc", kBytes);
    exporter.Get("fill", own, kBytes, round);
    const std::string key = exporter.Get("export", own, kBytes, 1);
    const std::string notify = exporter.Get("notify");
    const std::string notify_key = exporter.Get("export_notify", notify, 2);
    const std::string event = exporter.Get("event");
    const std::string event_key = exporter.Get("export_event", event);
    std::string theirs, imported;
    if (!exports) {
      theirs = importer.Get("import", key);
      imported = importer.Get("import_notify", notify_key);
    }
    // The victim is busy with this when it is killed; what it was told last may or may not have happened.
    const std::vector<std::string> commands =
        exports ? std::vector<std::string>{"import " + key,
                                           "import_notify " + notify_key,
                                           "record 0",
                                           "wait 0 1",
                                           "import_event " + event_key,
                                           "record_event 0",
                                           "check 0 65536 " + std::to_string(round),
                                           "close " + key,
                                           "cycle " + key + " 50 0"}
                : std::vector<std::string>{"record 0",         "wait 0 1",    "record_event 0",
                                           "export 0 65536 1", "notify",      "free 0",
                                           "close " + key,     "alloc 65536", "destroy_notify 0"};
    const std::size_t count = random.Between(1, commands.size());
    for (std::size_t i = 0; i < count; ++i)
      victim.Send(commands[i]);
    std::this_thread::sleep_for(std::chrono::microseconds(random.Between(0, 3000)));
    victim.Kill();
    // The survivor's own things work, and its memory holds what it held.
    if (exports) {
      EXPECT_EQ(survivor->Get("check", own, kBytes, round), "same");
      survivor->Get("close", key);
      survivor->Get("free", own);
      survivor->Get("destroy_notify", notify);
    } else {
      EXPECT_EQ(survivor->Get("check", theirs, kBytes, round), "same");
      if (round % 8 == 0) {
        survivor->Get("wait", imported, 1);
        const int code = survivor->Do("sync").code;  // recorded before the death, or not
        EXPECT_TRUE(code == ACL_SUCCESS || code == ACL_ERROR_RT_TASK_TIMEOUT) << code;
      }
      survivor->Get("close", key);
      survivor->Get("destroy_notify", imported);
    }
  }
  EXPECT_LE(std::stoi(survivor->Get("descriptors")), std::stoi(descriptors) + 12)
      << "nothing is kept of the dead";
  EXPECT_EQ(LeftBehind(), before);
}

}  // namespace
}  // namespace sampan::test::endurance_test
