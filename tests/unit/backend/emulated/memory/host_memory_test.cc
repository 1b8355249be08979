// What a host has to spare: its own figures, and control groups of both versions. Rules memory-1, memory-12.
#include "backend/emulated/memory/host_memory.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace sampan::emulated::host_memory_test {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20, kGiB = std::size_t{1} << 30;

/// A machine of files: 64 GiB, of which 48 GiB are available.
class HostMemoryTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "sampan-host-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    root_ = pattern;
    Write("proc/meminfo",
          "MemTotal:       67108864 kB\nMemFree:         1048576 kB\nMemAvailable:   50331648 kB\n");
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  void Write(const std::string& name, const std::string& text) {
    const std::filesystem::path path = root_ / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  /// A group of version 2 with a limit of 8 GiB. Of its usage, 7 GiB are page cache.
  void WriteFullCache(const std::string& folder) {
    Write(folder + "/memory.max", std::to_string(8 * kGiB));
    Write(folder + "/memory.current", std::to_string(79 * kGiB / 10));
    Write(folder + "/memory.stat", "anon 1024\nfile " + std::to_string(7 * kGiB + 5 * kMiB) +
                                       "\nshmem 5242880\ninactive_anon 0\nactive_anon 1024\ninactive_file " +
                                       std::to_string(4 * kGiB) + "\nactive_file " +
                                       std::to_string(3 * kGiB) + "\nunevictable 0\n");
  }
  HostMemory Host() const { return HostMemory(root_.string()); }

  std::filesystem::path root_;
};

TEST_F(HostMemoryTest, IsTheMachinesWithoutControlGroups) {
  EXPECT_EQ(Host().AllBytes(), 64 * kGiB);
  EXPECT_EQ(Host().AvailableBytes(), 48 * kGiB);
}

TEST_F(HostMemoryTest, KeepsAReserveForOtherPrograms) {
  EXPECT_EQ(Host().ReserveBytes(), kGiB) << "a part of all memory, at most 1 GiB";
  EXPECT_EQ(Host().SpareBytes(), 47 * kGiB);
  Write("proc/meminfo", "MemTotal: 2097152 kB\nMemAvailable: 32768 kB\n");
  EXPECT_EQ(Host().ReserveBytes(), 128 * kMiB);
  EXPECT_EQ(Host().SpareBytes(), 0U) << "less is available than the reserve";
}

TEST_F(HostMemoryTest, PageCacheOfAContainerIsAvailable) {
  Write("proc/self/cgroup", "0::/\n");
  WriteFullCache("sys/fs/cgroup");
  EXPECT_EQ(Host().AllBytes(), 8 * kGiB);
  EXPECT_EQ(Host().AvailableBytes(), 8 * kGiB - (79 * kGiB / 10 - 7 * kGiB)) << "8 GiB less 0.9 GiB";
}

TEST_F(HostMemoryTest, SharedMemoryOfAContainerIsUsed) {
  Write("proc/self/cgroup", "0::/\n");
  Write("sys/fs/cgroup/memory.max", std::to_string(8 * kGiB));
  Write("sys/fs/cgroup/memory.current", std::to_string(7 * kGiB));
  // Memory of emulated devices: of files, but on no list of files.
  Write("sys/fs/cgroup/memory.stat", "file " + std::to_string(7 * kGiB) + "\nshmem " +
                                         std::to_string(7 * kGiB) + "\ninactive_file 0\nactive_file 0\n");
  EXPECT_EQ(Host().AvailableBytes(), kGiB);
}

TEST_F(HostMemoryTest, EveryGroupAboveTheProcessCounts) {
  Write("proc/self/cgroup", "0::/user.slice/job.scope\n");
  Write("sys/fs/cgroup/user.slice/job.scope/memory.max", "max\n");
  WriteFullCache("sys/fs/cgroup/user.slice");
  EXPECT_EQ(Host().AllBytes(), 8 * kGiB);
  WriteFullCache("sys/fs/cgroup/other.slice");
  Write("sys/fs/cgroup/other.slice/memory.max", "4096");
  EXPECT_EQ(Host().AllBytes(), 8 * kGiB) << "another program's group";
}

TEST_F(HostMemoryTest, KnowsTheFirstVersionOfControlGroups) {
  Write("proc/self/cgroup", "9:name=systemd:/\n4:cpu,memory:/docker/4f5e\n0::/\n");
  const std::string folder = "sys/fs/cgroup/memory/";  // as in a container, which does not see /docker/4f5e
  Write(folder + "memory.limit_in_bytes", std::to_string(8 * kGiB));
  Write(folder + "memory.usage_in_bytes", std::to_string(79 * kGiB / 10));
  Write(folder + "memory.stat", "cache 1\ninactive_file 4096\nactive_file 4096\ntotal_inactive_file " +
                                    std::to_string(4 * kGiB) + "\ntotal_active_file " +
                                    std::to_string(3 * kGiB) + "\n");
  EXPECT_EQ(Host().AllBytes(), 8 * kGiB);
  EXPECT_EQ(Host().AvailableBytes(), 8 * kGiB - (79 * kGiB / 10 - 7 * kGiB));
  Write(folder + "memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(Host().AllBytes(), 64 * kGiB) << "the largest number stands for no limit";
  EXPECT_EQ(Host().AvailableBytes(), 48 * kGiB);
}

}  // namespace
}  // namespace sampan::emulated::host_memory_test
