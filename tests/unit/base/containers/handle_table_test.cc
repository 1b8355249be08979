// Checked handles: alive, dead, reused, forged, and under threads.
#include "base/containers/handle_table.h"

#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <thread>
#include <vector>

namespace sampan::handle_table_test {
namespace {

using Streams = HandleTable<int, HandleKind::kStream>;
using Events = HandleTable<int, HandleKind::kEvent>;

TEST(HandleTable, NamesItsObjectUntilRemoved) {
  Streams table;
  void* handle = table.Insert(std::make_shared<int>(7));
  ASSERT_NE(handle, nullptr);
  EXPECT_EQ(*table.Find(handle), 7);
  EXPECT_EQ(*table.Remove(handle), 7);
  EXPECT_EQ(table.Find(handle), nullptr);
  EXPECT_EQ(table.Remove(handle), nullptr);
}

TEST(HandleTable, AReusedSlotDoesNotReviveOldHandles) {
  Streams table;
  std::vector<void*> dead;
  for (int i = 0; i < 3000; ++i) {
    void* handle = table.Insert(std::make_shared<int>(i));
    EXPECT_EQ(*table.Find(handle), i);
    for (void* old : dead)
      ASSERT_NE(old, handle);
    table.Remove(handle);
    if (i % 100 == 0) dead.push_back(handle);
  }
  for (void* old : dead)
    EXPECT_EQ(table.Find(old), nullptr);
}

TEST(HandleTable, RefusesOtherKindsAndForgeries) {
  Streams streams;
  Events events;
  void* stream = streams.Insert(std::make_shared<int>(1));
  EXPECT_EQ(events.Find(stream), nullptr);
  int on_stack = 0;
  EXPECT_EQ(streams.Find(nullptr), nullptr);
  EXPECT_EQ(streams.Find(&on_stack), nullptr);
  std::mt19937_64 random(5);
  for (int i = 0; i < 100000; ++i) {
    void* forged = reinterpret_cast<void*>(random());
    if (forged != stream) {
      ASSERT_EQ(streams.Find(forged), nullptr) << forged;
    }
    // One wrong bit in a good one.
    void* changed = reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(stream) ^
                                            (std::uintptr_t{1} << (random() % 64)));
    ASSERT_EQ(streams.Find(changed), nullptr) << changed;
  }
}

TEST(HandleTable, KeepsObjectsAliveForTheirFinders) {
  Streams table;
  void* handle = table.Insert(std::make_shared<int>(9));
  const std::shared_ptr<int> found = table.Find(handle);
  table.Remove(handle);
  EXPECT_EQ(*found, 9);
}

TEST(HandleTable, ServesThreadsThatInsertFindAndRemove) {
  Streams table;
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 5000; ++i) {
        const int value = t * 100000 + i;
        void* handle = table.Insert(std::make_shared<int>(value));
        const auto found = table.Find(handle);
        if (found == nullptr || *found != value) ++wrong;
        const auto removed = table.Remove(handle);
        if (removed == nullptr || *removed != value || table.Find(handle) != nullptr) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads)
    thread.join();
  EXPECT_EQ(wrong.load(), 0);
}

}  // namespace
}  // namespace sampan::handle_table_test
