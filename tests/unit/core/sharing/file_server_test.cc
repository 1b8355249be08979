// Memory that is handed from process to process: a descriptor over the server's socket.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "core/sharing/file_server.h"
#include "core/sharing/foreign_boards.h"
#include "core/sharing/share_board.h"

namespace sampan::core::file_server_test {
namespace {

/// A memory file instead of a GPU's memory; counts how often it was exported.
class FileHandle final : public MemoryHandle {
 public:
  explicit FileHandle(const std::string& text) : MemoryHandle(4096), file_(::memfd_create("handed over", 0)) {
    EXPECT_EQ(::write(file_.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  Result<Descriptor> Export() const override {
    ++exports;
    if (fails) return Error{Code::kFeatureNotSupport, "not shareable"};
    return Descriptor(::dup(file_.get()));
  }
  mutable int exports = 0;
  bool fails = false;

 private:
  const Descriptor file_;
};

/// Takes what it is given for a memory file; keeps what it read there.
class ReadingMemory final : public VirtualMemory {
 public:
  Result<AddressRange> Reserve(std::size_t, std::uintptr_t) override { return AddressRange{}; }
  void Release(const AddressRange&) noexcept override {}
  Status Map(const AddressRange&, const MemoryFile&, MapAccess) override { return {}; }
  void Unmap(const AddressRange&) noexcept override {}
  Result<AddressRange> MapAnywhere(const MemoryFile&) override { return AddressRange{}; }
  void UnmapAnywhere(const AddressRange&) noexcept override {}
  bool Owns(std::uintptr_t) const override { return false; }
  Result<std::shared_ptr<const MemoryHandle>> Import(const Descriptor& file, std::size_t) override {
    text = ReadAll(file);
    return std::shared_ptr<const MemoryHandle>(std::make_shared<FileHandle>(text));
  }
  static std::string ReadAll(const Descriptor& file) {
    std::string text(64, '\0');
    const ssize_t bytes = ::pread(file.get(), text.data(), text.size(), 0);
    text.resize(bytes > 0 ? static_cast<std::size_t>(bytes) : 0);
    return text;
  }
  std::string text;
};

class FileServerTest : public ::testing::Test {
 protected:
  FileServerTest() {
    auto started = FileServer::Start();
    EXPECT_TRUE(started.ok());
    server = std::move(*started);
  }
  std::unique_ptr<FileServer> server;
  const FileRequest request{.cell = 5, .secret = {11, 22}};
};

TEST_F(FileServerTest, SendsAnOfferedFileToAClientWithTheSecret) {
  server->Offer(request, std::make_shared<FileHandle>("some memory"));
  auto given = ReceiveFile(::getpid(), server->number(), request);
  ASSERT_TRUE(given.ok()) << given.error().message;
  EXPECT_EQ(ReadingMemory::ReadAll(*given), "some memory");
  for (const FileRequest& wrong :
       {FileRequest{.cell = 6, .secret = {11, 22}}, FileRequest{.cell = 5, .secret = {11, 23}},
        FileRequest{.cell = 5, .secret = {12, 22}}}) {
    EXPECT_EQ(ReceiveFile(::getpid(), server->number(), wrong).code(), Code::kParamInvalid);
  }
  EXPECT_EQ(ReceiveFile(::getpid(), server->number() + 2, request).code(), Code::kParamInvalid);
}

TEST_F(FileServerTest, RefusesWhatWasWithdrawnOrCannotBeExported) {
  const auto handle = std::make_shared<FileHandle>("some memory");
  server->Offer(request, handle);
  EXPECT_TRUE(ReceiveFile(::getpid(), server->number(), request).ok());
  server->Withdraw(request.cell);
  EXPECT_EQ(handle.use_count(), 1);
  EXPECT_EQ(ReceiveFile(::getpid(), server->number(), request).code(), Code::kParamInvalid);
  EXPECT_EQ(handle->exports, 1);
  handle->fails = true;
  server->Offer(request, handle);
  EXPECT_EQ(ReceiveFile(::getpid(), server->number(), request).code(), Code::kParamInvalid);
  server->Withdraw(99);
}

TEST_F(FileServerTest, ManyAskAtOnce) {
  constexpr std::uint32_t kCells = 8;
  for (std::uint32_t cell = 0; cell < kCells; ++cell)
    server->Offer({.cell = cell, .secret = {cell, 1}}, std::make_shared<FileHandle>(std::to_string(cell)));
  std::vector<std::thread> threads;
  for (std::uint32_t cell = 0; cell < kCells; ++cell) {
    threads.emplace_back([&, cell] {
      for (int i = 0; i < 50; ++i) {
        auto given = ReceiveFile(::getpid(), server->number(), {.cell = cell, .secret = {cell, 1}});
        ASSERT_TRUE(given.ok());
        EXPECT_EQ(ReadingMemory::ReadAll(*given), std::to_string(cell));
      }
    });
  }
  for (std::thread& thread : threads)
    thread.join();
}

TEST_F(FileServerTest, ASilentClientDoesNotDelayOthersForLong) {
  server->Offer(request, std::make_shared<FileHandle>("some memory"));
  // Two that connect and are silent, or talk nonsense.
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string name =
      Text("sampan files of ", ::getpid(), " ", Hex(static_cast<std::uintptr_t>(server->number())));
  std::memcpy(address.sun_path + 1, name.data(), name.size());
  const auto bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  const Descriptor silent(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  const Descriptor babbling(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  for (const Descriptor* each : {&silent, &babbling})
    ASSERT_EQ(::connect(each->get(), reinterpret_cast<const sockaddr*>(&address), bytes), 0);
  ASSERT_EQ(::send(babbling.get(), "hello", 5, MSG_NOSIGNAL), 5);
  EXPECT_TRUE(ReceiveFile(::getpid(), server->number(), request).ok());
}

TEST(SharedHandles, TravelThroughABoard) {
  ShareBoard board;
  auto own = board.Take(SharedKind::kPhysical, ShareBoard::FoundBy::kKey);
  ASSERT_TRUE(own.ok());
  const auto handle = std::make_shared<FileHandle>("memory of a GPU");
  MemoryFile file{.handle = handle, .offset = 512, .bytes = 1024, .device = 3};
  ASSERT_TRUE((*own)->SetExtent(file, {.offset = 512, .bytes = 1024}).ok());
  auto address = CellAddress::FromKey((*own)->Key(), SharedKind::kPhysical);
  ASSERT_TRUE(address.ok());
  ForeignBoards others;
  auto foreign = others.Import(*address, SharedKind::kPhysical);
  ASSERT_TRUE(foreign.ok()) << foreign.error().message;
  ReadingMemory views;
  auto extent = (*foreign)->Extent();
  ASSERT_TRUE(extent.ok());
  auto opened = (*foreign)->OpenMemory(views, *extent, 1);
  ASSERT_TRUE(opened.ok()) << opened.error().message;
  EXPECT_EQ(views.text, "memory of a GPU");
  EXPECT_EQ(opened->offset, 512u);
  EXPECT_EQ(opened->bytes, 1024u);
  EXPECT_EQ(opened->device, 1);
  EXPECT_FALSE(opened->host_visible);
  (*own)->Close();
  EXPECT_EQ((*foreign)->OpenMemory(views, *extent, 1).code(), Code::kParamInvalid) << "closed";
}

TEST(SharedHandles, MemoryThatCannotBeExportedIsRefusedAtOnce) {
  ShareBoard board;
  auto own = board.Take(SharedKind::kMemory, ShareBoard::FoundBy::kKey);
  ASSERT_TRUE(own.ok());
  const auto handle = std::make_shared<FileHandle>("");
  handle->fails = true;
  EXPECT_EQ((*own)->SetExtent({.handle = handle}, {}).code(), Code::kFeatureNotSupport);
}

}  // namespace
}  // namespace sampan::core::file_server_test
