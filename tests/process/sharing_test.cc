// Memory, physical memory and signals between processes: pairs, lists of processes, endings in every order.
// Rules of docs/BEHAVIOUR.md: share-1, share-2, share-3, share-5, share-6, share-7.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "acl/acl.h"
#include "tests/process/peer.h"
#include "tests/support/random_bytes.h"

namespace sampan::test::sharing_test {
namespace {

constexpr std::size_t kBytes = 300'000;
constexpr std::size_t kPiece = std::size_t{2} << 20;

std::string Changed(std::string key) {
  char& last = key.back();
  last = last == '0' ? '1' : '0';
  return key;
}

TEST(SharedMemory, TheImporterSeesTheExportersBytesAndTheOtherWayRound) {
  Peer exporter, importer;
  Random random;
  const std::uint64_t first = random.Next() >> 1, second = random.Next() >> 1;
  const std::string own = exporter.Get("alloc", kBytes);
  exporter.Get("fill", own, kBytes, first);
  const std::string key = exporter.Get("export", own, kBytes, 0);
  EXPECT_LE(key.size(), 64u);
  exporter.Get("admit", key, importer.process());
  const std::string theirs = importer.Get("import", key);
  EXPECT_EQ(importer.Get("check", theirs, kBytes, first), "same");
  importer.Get("fill", theirs, kBytes, second);
  EXPECT_EQ(exporter.Get("check", own, kBytes, second), "same") << "the bytes are shared, not copied";
  // Copies in a stream work on imported memory, with the same bounds.
  const std::string local = importer.Get("alloc", kBytes);
  importer.Get("copy", local, theirs, kBytes);
  importer.Get("sync");
  EXPECT_EQ(importer.Get("check", local, kBytes, second), "same");
  EXPECT_EQ(importer.Do("copy", local, theirs, kBytes + 1).code, ACL_ERROR_RT_PARAM_INVALID);
  importer.Get("close", key);
  EXPECT_EQ(importer.Do("check", theirs, kBytes, second).code, ACL_ERROR_RT_PARAM_INVALID);
  exporter.Get("close", key);
  exporter.Get("free", own);
  EXPECT_EQ(exporter.Exit(), 0);
  EXPECT_EQ(importer.Exit(), 0);
}

TEST(SharedMemory, OnlyProcessesOnTheListMayImport) {
  Peer exporter, friendly, stranger;
  const std::string own = exporter.Get("alloc", kBytes);
  const std::string key = exporter.Get("export", own, kBytes, 0);
  EXPECT_EQ(friendly.Do("import", key).code, ACL_ERROR_RT_NO_PERMISSION) << "the list is empty";
  exporter.Get("admit", key, friendly.process());
  EXPECT_EQ(friendly.Do("import", key).code, ACL_SUCCESS);
  const Answer refused = stranger.Do("import", key);
  EXPECT_EQ(refused.code, ACL_ERROR_RT_NO_PERMISSION);
  EXPECT_NE(refused.text.find(std::to_string(stranger.process())), std::string::npos) << refused.text;
  const std::string open_key = exporter.Get("export", own, kBytes, 1);
  EXPECT_NE(open_key, key);
  EXPECT_EQ(stranger.Do("import", open_key).code, ACL_SUCCESS);
  // A refused import holds nothing.
  exporter.Get("close", key);
  EXPECT_EQ(friendly.Do("import", key).code, ACL_ERROR_RT_PARAM_INVALID);
}

TEST(SharedMemory, TheFirstImporterCanExportToo) {
  Peer first, middle, last;
  const std::string own = first.Get("alloc", kBytes);
  middle.Get("import", first.Get("export", own, kBytes, 1));
  const std::string theirs = middle.Get("alloc", kBytes);
  middle.Get("fill", theirs, kBytes, 5);
  const std::string imported = last.Get("import", middle.Get("export", theirs, kBytes, 1));
  EXPECT_EQ(last.Get("check", imported, kBytes, 5), "same");
}

TEST(SharedMemory, StaleAndGuessedKeysAreRefused) {
  Peer importer;
  std::string key, physical_number;
  {
    Peer exporter;
    const std::string own = exporter.Get("alloc", kBytes);
    const std::string closed = exporter.Get("export", own, kBytes, 1);
    EXPECT_EQ(importer.Do("import", Changed(closed)).code, ACL_ERROR_RT_PARAM_INVALID);
    EXPECT_EQ(importer.Do("import", closed.substr(1)).code, ACL_ERROR_RT_PARAM_INVALID);
    EXPECT_EQ(importer.Do("import", closed + "0").code, ACL_ERROR_RT_PARAM_INVALID);
    EXPECT_EQ(importer.Do("import_notify", closed).code, ACL_ERROR_RT_PARAM_INVALID)
        << "a key of another kind";
    exporter.Get("close", closed);
    EXPECT_EQ(importer.Do("import", closed).code, ACL_ERROR_RT_PARAM_INVALID) << "closed";
    const std::string freed = exporter.Get("export", own, kBytes, 1);
    exporter.Get("free", own);
    EXPECT_EQ(importer.Do("import", freed).code, ACL_ERROR_RT_PARAM_INVALID) << "freed";
    EXPECT_EQ(exporter.Do("close", freed).code, ACL_ERROR_RT_PARAM_INVALID) << "closed with its memory";
    const std::string other = exporter.Get("alloc", kBytes);
    key = exporter.Get("export", other, kBytes, 1);
    EXPECT_EQ(importer.Do("import", key).code, ACL_SUCCESS);
    physical_number = exporter.Get("export_physical", exporter.Get("physical", kPiece), 1);
    EXPECT_EQ(importer.Do("import_physical", std::stoull(physical_number) ^ 1).code,
              ACL_ERROR_RT_PARAM_INVALID);
  }
  EXPECT_EQ(importer.Do("import", key).code, ACL_ERROR_RT_PARAM_INVALID) << "its process is gone";
  EXPECT_EQ(importer.Do("import_physical", physical_number).code, ACL_ERROR_RT_PARAM_INVALID);
}

/// How the exporter goes before the importer does.
enum class Ending { kFree, kExit, kKill };

class SharedMemoryEnding : public ::testing::TestWithParam<Ending> {};

TEST_P(SharedMemoryEnding, MemoryLivesUntilTheLastOneClosesIt) {
  Peer exporter, importer, second;
  const std::string own = exporter.Get("alloc", kPiece);
  exporter.Get("fill", own, kPiece, 7);
  const std::uint64_t free_with_it = std::stoull(exporter.Get("free_bytes"));
  const std::string key = exporter.Get("export", own, kPiece, 1);
  const std::string theirs = importer.Get("import", key), others = second.Get("import", key);
  switch (GetParam()) {
    case Ending::kFree:
      exporter.Get("free", own);
      EXPECT_EQ(std::stoull(exporter.Get("free_bytes")), free_with_it) << "others still have it";
      for (int i = 0; i < 4; ++i)  // new memory is not the old one's
        exporter.Get("fill", exporter.Get("alloc", kPiece), kPiece, 100 + i);
      break;
    case Ending::kExit:
      EXPECT_EQ(exporter.Exit(), 0);
      break;
    case Ending::kKill:
      exporter.Kill();
      break;
  }
  EXPECT_EQ(importer.Get("check", theirs, kPiece, 7), "same");
  importer.Get("fill", theirs, kPiece, 8);
  EXPECT_EQ(second.Get("check", others, kPiece, 8), "same") << "still one memory for both";
  importer.Get("close", key);
  EXPECT_EQ(second.Get("check", others, kPiece, 8), "same");
  second.Kill();  // lets go as well as closing does
  if (GetParam() != Ending::kFree) return;
  EXPECT_EQ(std::stoull(exporter.Get("free_bytes")), free_with_it + kPiece - 4 * kPiece);
}

INSTANTIATE_TEST_SUITE_P(All, SharedMemoryEnding,
                         ::testing::Values(Ending::kFree, Ending::kExit, Ending::kKill));

TEST(SharedPhysical, IsMappedByBothAndOutlivesItsMaker) {
  Peer exporter, importer;
  const std::string physical = exporter.Get("physical", kPiece);
  const std::string own = exporter.Get("map", physical, kPiece);
  exporter.Get("fill", own, kPiece, 11);
  const std::string number = exporter.Get("export_physical", physical, 0);
  EXPECT_EQ(importer.Do("import_physical", number).code, ACL_ERROR_RT_NO_PERMISSION);
  exporter.Get("admit_physical", number, importer.process());
  const std::string theirs = importer.Get("import_physical", number);
  const std::string mapped = importer.Get("map", theirs, kPiece);
  EXPECT_EQ(importer.Get("check", mapped, kPiece, 11), "same");
  importer.Get("fill", mapped, kPiece, 12);
  EXPECT_EQ(exporter.Get("check", own, kPiece, 12), "same");
  // The exporter lets go of everything; the memory is still counted, and still the importer's.
  exporter.Get("unmap", own);
  const std::uint64_t with_it = std::stoull(exporter.Get("free_bytes"));
  exporter.Get("free_physical", physical);
  EXPECT_EQ(std::stoull(exporter.Get("free_bytes")), with_it);
  exporter.Get("fill", exporter.Get("alloc", kPiece), kPiece, 13);
  EXPECT_EQ(importer.Get("check", mapped, kPiece, 12), "same");
  importer.Get("unmap", mapped);
  importer.Get("free_physical", theirs);
  EXPECT_EQ(std::stoull(exporter.Get("free_bytes")), with_it + kPiece - kPiece);
  EXPECT_EQ(importer.Do("import_physical", number).code, ACL_ERROR_RT_PARAM_INVALID) << "stale";
  exporter.Kill();
}

TEST(SharedPhysical, AnImportBeforeItsMakersDeathCanBeMappedAfterwards) {
  Peer exporter, importer;
  const std::string physical = exporter.Get("physical", kPiece);
  exporter.Get("fill", exporter.Get("map", physical, kPiece), kPiece, 21);
  const std::string theirs = importer.Get("import_physical", exporter.Get("export_physical", physical, 1));
  exporter.Kill();
  EXPECT_EQ(importer.Get("check", importer.Get("map", theirs, kPiece), kPiece, 21), "same");
}

TEST(SharedNotify, OrdersTheStreamsOfTwoProcesses) {
  Peer waiting, recording;
  const std::string notify = waiting.Get("notify");
  const std::string key = waiting.Get("export_notify", notify, 0);
  EXPECT_EQ(recording.Do("import_notify", key).code, ACL_ERROR_RT_NO_PERMISSION);
  waiting.Get("admit_notify", notify, recording.process());
  const std::string theirs = recording.Get("import_notify", key);
  EXPECT_EQ(recording.Get("notify_id", theirs), waiting.Get("notify_id", notify));
  for (int round = 0; round < 50; ++round) {
    waiting.Get("wait", notify, 0);
    waiting.Send("sync");
    recording.Get("record", theirs);
    EXPECT_EQ(waiting.Receive().code, ACL_SUCCESS);
  }
  // The other way round: the importer waits.
  recording.Get("wait", theirs, 0);
  recording.Send("sync");
  waiting.Get("record", notify);
  EXPECT_EQ(recording.Receive().code, ACL_SUCCESS);
}

TEST(SharedNotify, AProcessKilledBeforeItsRecordDoesNotHangTheOther) {
  Peer waiting;
  const std::string notify = waiting.Get("notify");
  const std::string id = waiting.Get("notify_id", notify);
  {
    Peer recording;
    recording.Get("import_notify", waiting.Get("export_notify", notify, 2));
    waiting.Get("wait", notify, 1);
    waiting.Send("sync");
  }
  const Answer answer = waiting.Receive(std::chrono::seconds(10));
  EXPECT_EQ(answer.code, ACL_ERROR_RT_TASK_TIMEOUT);
  EXPECT_NE(answer.text.find("notify " + id), std::string::npos) << answer.text;
}

TEST(SharedNotify, OutlivesItsMaker) {
  Peer first, second;
  auto maker = std::make_unique<Peer>();
  const std::string notify = maker->Get("notify");
  const std::string key = maker->Get("export_notify", notify, 2);
  const std::string one = first.Get("import_notify", key), two = second.Get("import_notify", key);
  maker->Kill();
  first.Get("wait", one, 0);
  first.Send("sync");
  second.Get("record", two);
  EXPECT_EQ(first.Receive().code, ACL_SUCCESS);
}

TEST(SharedEvent, WaitsBindToTheLatestRecording) {
  Peer recording, waiting;
  const std::string event = recording.Get("event");
  const std::string key = recording.Get("export_event", event);
  const std::string theirs = waiting.Get("import_event", key);
  EXPECT_EQ(waiting.Get("query_event", theirs), "complete") << "never recorded";
  waiting.Get("wait_event", theirs, 0);
  waiting.Get("sync");
  // A recording that stands behind a wait for a notify is open until that is recorded.
  const std::string notify = recording.Get("notify");
  const std::string opener = waiting.Get("import_notify", recording.Get("export_notify", notify, 2));
  recording.Get("wait", notify, 0);
  recording.Get("record_event", event);
  EXPECT_EQ(waiting.Get("query_event", theirs), "open");
  Peer third;
  const std::string also = third.Get("import_event", key);
  third.Get("wait_event", also, 0);
  third.Send("sync");
  waiting.Get("record", opener);
  waiting.Get("sync_event", theirs);
  EXPECT_EQ(waiting.Get("query_event", theirs), "complete");
  EXPECT_EQ(third.Receive().code, ACL_SUCCESS);
  // The importer records, the owner waits.
  waiting.Get("record_event", theirs);
  recording.Get("sync_event", event);
  EXPECT_EQ(recording.Get("event_rules", event), "207000 207000 207000 207000");
  EXPECT_EQ(waiting.Do("export_event", theirs).code, ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
}

TEST(SharedEvent, ARecordingProcessThatIsKilledFailsTheWait) {
  Peer waiting;
  std::string theirs;
  {
    Peer recording;
    const std::string event = recording.Get("event");
    theirs = waiting.Get("import_event", recording.Get("export_event", event));
    recording.Get("wait", recording.Get("notify"), 0);  // no stream records it
    recording.Get("record_event", event);
    waiting.Get("wait_event", theirs, 0);
    waiting.Send("sync");
  }
  EXPECT_EQ(waiting.Receive(std::chrono::seconds(10)).code, ACL_ERROR_RT_TASK_TIMEOUT);
  EXPECT_EQ(waiting.Do("sync_event", theirs).code, ACL_ERROR_RT_TASK_TIMEOUT);
}

// Rules share-8 and event-6: the chain goes through three processes.
TEST(SharedEvent, ADroppedRecordingFailsWhatDependsOnItInOtherProcesses) {
  Peer first, second, third;
  const std::string made = first.Get("event"), passed_on = second.Get("event");
  const std::string seen_by_second = second.Get("import_event", first.Get("export_event", made));
  const std::string seen_by_third = third.Get("import_event", second.Get("export_event", passed_on));
  first.Get("wait", first.Get("notify"), 0);  // no stream records it
  first.Get("record_event", made);
  second.Get("wait_event", seen_by_second, 0);
  second.Get("record_event", passed_on);
  third.Get("wait_event", seen_by_third, 0);
  third.Send("sync");
  first.Get("abort");
  EXPECT_EQ(third.Receive().code, ACL_ERROR_RT_STREAM_ABORT);
  EXPECT_EQ(third.Do("sync_event", seen_by_third).code, ACL_ERROR_RT_STREAM_ABORT);
  EXPECT_EQ(third.Get("query_event", seen_by_third), "complete");
  EXPECT_EQ(second.Do("sync").code, ACL_ERROR_RT_STREAM_ABORT);
  // The program was told: what is recorded from now on counts again.
  second.Get("record_event", passed_on);
  third.Get("wait_event", seen_by_third, 0);
  third.Get("sync");
}

TEST(Processes, AForkedChildIsToldThatItCannotGoOn) {
  Peer peer;
  peer.Get("ready");
  const std::string text = peer.Get("fork");
  EXPECT_EQ(text, "507033 507033 507033 507033 says why 0");
  peer.Get("alloc", 64);  // the parent is as it was
}

TEST(Processes, VisibleDevicesMayDiffer) {
  const auto seeing = [](const char* devices) { return Variables{{"ASCEND_RT_VISIBLE_DEVICES", devices}}; };
  Peer exporter(seeing("3")), importer(seeing("1,3")), blind(seeing("2"));
  const std::string own = exporter.Get("alloc", kBytes);
  exporter.Get("fill", own, kBytes, 31);
  const std::string key = exporter.Get("export", own, kBytes, 1);
  EXPECT_EQ(importer.Get("check", importer.Get("import", key), kBytes, 31), "same");
  EXPECT_EQ(blind.Get("check", blind.Get("import", key), kBytes, 31), "same");
}

}  // namespace
}  // namespace sampan::test::sharing_test
