// The main program of the process tests: the tests, or, started with --peer, a process that they command.
#include <dirent.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <functional>
#include <iostream>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "acl/acl.h"
#include "tests/process/channel.h"
#include "tests/process/contents.h"
#include "tests/process/peer_rounds.h"
#include "tests/support/applicability.h"
#include "tests/support/random_bytes.h"

namespace sampan::test {
namespace {

/// What the process holds, by the numbers that commands use.
class Commands {
 public:
  Commands() {
    code_ = aclrtSetDevice(0);
    if (code_ == ACL_SUCCESS) code_ = aclrtCreateStream(&stream_);
    Add("ready", [this](std::istream&) { return code_; });
    Add("alloc", [this](std::istream& in) {
      const auto bytes = Read<std::size_t>(in);
      void* memory = nullptr;
      const aclError code = aclrtMalloc(&memory, bytes, ACL_MEM_MALLOC_HUGE_FIRST);
      return Give(code, memory, memory_);
    });
    Add("free", [this](std::istream& in) { return aclrtFree(Pick(memory_, in)); });
    Add("fill", [this](std::istream& in) {
      void* const memory = Pick(memory_, in);
      const auto bytes = Read<std::size_t>(in);
      const Bytes contents = Contents(Read<std::uint64_t>(in), bytes);
      return aclrtMemcpy(memory, bytes, contents.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE);
    });
    Add("fill_byte", [this](std::istream& in) {
      void* const memory = Pick(memory_, in);
      const auto bytes = Read<std::size_t>(in);
      return aclrtMemset(memory, bytes, Read<int>(in), bytes);
    });
    Add("check", [this](std::istream& in) {
      void* const memory = Pick(memory_, in);
      const auto bytes = Read<std::size_t>(in);
      const Bytes expected = Contents(Read<std::uint64_t>(in), bytes);
      Bytes found(bytes);
      const aclError code = aclrtMemcpy(found.data(), bytes, memory, bytes, ACL_MEMCPY_DEVICE_TO_HOST);
      out_ << (found == expected ? "same" : "different");
      return code;
    });
    Add("copy", [this](std::istream& in) {  // in the stream
      void* const dst = Pick(memory_, in);
      void* const src = Pick(memory_, in);
      const auto bytes = Read<std::size_t>(in);
      return aclrtMemcpyAsync(dst, bytes, src, bytes, ACL_MEMCPY_DEVICE_TO_DEVICE, stream_);
    });
    AddMemory();
    AddPhysical();
    AddSignals();
    AddProcess();
  }

  /// One command, one answer.
  std::string Run(const std::string& line) {
    std::istringstream in(line);
    std::string name;
    in >> name;
    out_.str("");
    const auto found = commands_.find(name);
    const int code = found == commands_.end() ? -2 : found->second(in);
    std::ostringstream answer;
    answer << code << ' ';
    if (code == ACL_SUCCESS) {
      answer << out_.str();
    } else if (const char* message = aclGetRecentErrMsg()) {
      const std::string text(message);
      answer << text.substr(0, text.find('\n'));
    }
    return answer.str();
  }

 private:
  using Command = std::function<int(std::istream&)>;

  template <typename T>
  static T Read(std::istream& in) {
    T value{};
    in >> value;
    return value;
  }
  template <typename T>
  int Give(aclError code, T object, std::vector<T>& list) {
    if (code == ACL_SUCCESS) {
      out_ << list.size();
      list.push_back(object);
    }
    return code;
  }
  /// A commanded number may name nothing: the process may be told to use what it failed to get.
  template <typename T>
  static T Pick(const std::vector<T>& list, std::istream& in) {
    const auto index = Read<std::size_t>(in);
    return index < list.size() ? list[index] : nullptr;
  }
  static aclrtMemFabricHandle ReadFabric(std::istream& in) {
    aclrtMemFabricHandle fabric = {};
    std::ifstream(Read<std::string>(in), std::ios::binary)
        .read(reinterpret_cast<char*>(fabric.data), sizeof(fabric.data));
    return fabric;
  }
  void Add(const std::string& name, Command command) { commands_[name] = std::move(command); }

  void AddMemory() {
    Add("export", [this](std::istream& in) {
      void* const memory = Pick(memory_, in);
      const auto bytes = Read<std::size_t>(in);
      char key[65] = {};
      const aclError code = aclrtIpcMemGetExportKey(memory, bytes, key, sizeof(key), Read<std::uint64_t>(in));
      out_ << key;
      return code;
    });
    Add("admit", [](std::istream& in) {
      const auto key = Read<std::string>(in);
      std::int32_t process = Read<std::int32_t>(in);
      return aclrtIpcMemSetImportPid(key.c_str(), &process, 1);
    });
    Add("admit_server", [](std::istream& in) {
      const auto key = Read<std::string>(in);
      const auto device = Read<std::uint32_t>(in);
      std::int32_t process = Read<std::int32_t>(in);
      aclrtServerPid server = {device, &process, 1};
      return aclrtIpcMemImportPidInterServer(key.c_str(), &server, 1);
    });
    Add("wait_word", [this](std::istream& in) {
      void* const word = Pick(memory_, in);
      return aclrtValueWait(word, Read<std::uint64_t>(in), ACL_STREAM_WAIT_VALUE_EQ, stream_);
    });
    Add("import", [this](std::istream& in) {
      const auto key = Read<std::string>(in);
      void* memory = nullptr;
      const aclError code = aclrtIpcMemImportByKey(&memory, key.c_str(), 0);
      return Give(code, memory, memory_);
    });
    Add("close", [](std::istream& in) { return aclrtIpcMemClose(Read<std::string>(in).c_str()); });
    Add("cycle", [](std::istream& in) {  // import, look, close, many times
      const auto key = Read<std::string>(in);
      const auto rounds = Read<int>(in);
      const auto value = Read<int>(in);
      for (int i = 0; i < rounds; ++i) {
        void* memory = nullptr;
        unsigned char byte = 0;
        if (const aclError code = aclrtIpcMemImportByKey(&memory, key.c_str(), 0); code != ACL_SUCCESS)
          return code;
        if (const aclError code = aclrtMemcpy(&byte, 1, memory, 1, ACL_MEMCPY_DEVICE_TO_HOST);
            code != ACL_SUCCESS)
          return code;
        if (byte != value) return -3;
        if (const aclError code = aclrtIpcMemClose(key.c_str()); code != ACL_SUCCESS) return code;
      }
      return 0;
    });
    Add("free_bytes", [this](std::istream&) {
      std::size_t free = 0, total = 0;
      const aclError code = aclrtGetMemInfo(ACL_HBM_MEM, &free, &total);
      out_ << free;
      return code;
    });
  }

  void AddPhysical() {
    Add("physical", [this](std::istream& in) {
      aclrtPhysicalMemProp prop = {};
      prop.memAttr = ACL_HBM_MEM_HUGE;
      prop.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
      aclrtDrvMemHandle handle = nullptr;
      const auto bytes = Read<std::size_t>(in);
      if (Read<std::string>(in) == "host") prop.location.type = ACL_MEM_LOCATION_TYPE_HOST_NUMA;
      const aclError code = aclrtMallocPhysical(&handle, bytes, &prop, 0);
      return Give(code, handle, physical_);
    });
    Add("free_physical", [this](std::istream& in) { return aclrtFreePhysical(Pick(physical_, in)); });
    Add("export_physical", [this](std::istream& in) {
      const aclrtDrvMemHandle handle = Pick(physical_, in);
      std::uint64_t number = 0;
      const aclError code = aclrtMemExportToShareableHandleV2(handle, Read<std::uint64_t>(in),
                                                              ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT, &number);
      out_ << number;
      return code;
    });
    Add("admit_physical", [](std::istream& in) {
      const auto number = Read<std::uint64_t>(in);
      std::int32_t process = Read<std::int32_t>(in);
      return aclrtMemSetPidToShareableHandle(number, &process, 1);
    });
    Add("import_physical", [this](std::istream& in) {
      aclrtDrvMemHandle handle = nullptr;
      const aclError code = aclrtMemImportFromShareableHandle(Read<std::uint64_t>(in), 0, &handle);
      return Give(code, handle, physical_);
    });
    Add("export_fabric", [this](std::istream& in) {
      const aclrtDrvMemHandle handle = Pick(physical_, in);
      const auto flags = Read<std::uint64_t>(in);
      aclrtMemFabricHandle fabric = {};
      const aclError code =
          aclrtMemExportToShareableHandleV2(handle, flags, ACL_MEM_SHARE_HANDLE_TYPE_FABRIC, &fabric);
      std::ofstream(Read<std::string>(in), std::ios::binary)
          .write(reinterpret_cast<const char*>(fabric.data), sizeof(fabric.data));
      return code;
    });
    Add("admit_fabric", [](std::istream& in) {
      aclrtMemFabricHandle fabric = ReadFabric(in);
      std::int32_t process = Read<std::int32_t>(in);
      return aclrtMemSetPidToShareableHandleV2(&fabric, ACL_MEM_SHARE_HANDLE_TYPE_FABRIC, &process, 1);
    });
    Add("import_fabric", [this](std::istream& in) {
      aclrtMemFabricHandle fabric = ReadFabric(in);
      aclrtDrvMemHandle handle = nullptr;
      const aclError code =
          aclrtMemImportFromShareableHandleV2(&fabric, ACL_MEM_SHARE_HANDLE_TYPE_FABRIC, 0, &handle);
      return Give(code, handle, physical_);
    });
    Add("map", [this](std::istream& in) {
      const aclrtDrvMemHandle handle = Pick(physical_, in);
      const auto bytes = Read<std::size_t>(in);
      void* address = nullptr;
      if (const aclError code = aclrtReserveMemAddress(&address, bytes, 0, nullptr, 0); code != ACL_SUCCESS)
        return code;
      return Give(aclrtMapMem(address, bytes, 0, handle, 0), address, memory_);
    });
    Add("unmap", [this](std::istream& in) {
      void* const address = Pick(memory_, in);
      if (const aclError code = aclrtUnmapMem(address); code != ACL_SUCCESS) return code;
      return aclrtReleaseMemAddress(address);
    });
  }

  void AddSignals() {
    Add("notify", [this](std::istream&) {
      aclrtNotify notify = nullptr;
      const aclError code = aclrtCreateNotify(&notify, 0);
      return Give(code, notify, notifies_);
    });
    Add("destroy_notify", [this](std::istream& in) { return aclrtDestroyNotify(Pick(notifies_, in)); });
    Add("notify_id", [this](std::istream& in) {
      std::uint32_t id = 0;
      const aclError code = aclrtGetNotifyId(Pick(notifies_, in), &id);
      out_ << id;
      return code;
    });
    Add("export_notify", [this](std::istream& in) {
      const aclrtNotify notify = Pick(notifies_, in);
      char key[65] = {};
      const aclError code = aclrtNotifyGetExportKey(notify, key, sizeof(key), Read<std::uint64_t>(in));
      out_ << key;
      return code;
    });
    Add("admit_notify", [this](std::istream& in) {
      const aclrtNotify notify = Pick(notifies_, in);
      std::int32_t process = Read<std::int32_t>(in);
      return aclrtNotifySetImportPid(notify, &process, 1);
    });
    Add("admit_notify_server", [this](std::istream& in) {
      const aclrtNotify notify = Pick(notifies_, in);
      const auto device = Read<std::uint32_t>(in);
      std::int32_t process = Read<std::int32_t>(in);
      aclrtServerPid server = {device, &process, 1};
      return aclrtNotifySetImportPidInterServer(notify, &server, 1);
    });
    Add("import_notify", [this](std::istream& in) {
      const auto key = Read<std::string>(in);
      aclrtNotify notify = nullptr;
      const aclError code = aclrtNotifyImportByKey(&notify, key.c_str(), 0);
      return Give(code, notify, notifies_);
    });
    Add("record", [this](std::istream& in) { return aclrtRecordNotify(Pick(notifies_, in), stream_); });
    Add("wait", [this](std::istream& in) {
      const aclrtNotify notify = Pick(notifies_, in);
      return aclrtWaitAndResetNotify(notify, stream_, Read<std::uint32_t>(in));
    });
    Add("sync", [this](std::istream&) { return aclrtSynchronizeStreamWithTimeout(stream_, 50000); });
    Add("abort", [this](std::istream&) { return aclrtStreamAbort(stream_); });
    Add("event", [this](std::istream&) {
      aclrtEvent event = nullptr;
      const aclError code = aclrtCreateEventExWithFlag(&event, ACL_EVENT_IPC);
      return Give(code, event, events_);
    });
    Add("export_event", [this](std::istream& in) {
      aclrtIpcEventHandle handle = {};
      const aclError code = aclrtIpcGetEventHandle(Pick(events_, in), &handle);
      out_ << std::string(handle.reserved, strnlen(handle.reserved, sizeof(handle.reserved)));
      return code;
    });
    Add("import_event", [this](std::istream& in) {
      const auto key = Read<std::string>(in);
      aclrtIpcEventHandle handle = {};
      std::memcpy(handle.reserved, key.data(), std::min(key.size(), sizeof(handle.reserved)));
      aclrtEvent event = nullptr;
      const aclError code = aclrtIpcOpenEventHandle(handle, &event);
      return Give(code, event, events_);
    });
    Add("record_event", [this](std::istream& in) { return aclrtRecordEvent(Pick(events_, in), stream_); });
    Add("wait_event", [this](std::istream& in) {
      const aclrtEvent event = Pick(events_, in);
      return aclrtStreamWaitEventWithTimeout(stream_, event, Read<std::int32_t>(in));
    });
    Add("sync_event",
        [this](std::istream& in) { return aclrtSynchronizeEventWithTimeout(Pick(events_, in), 20000); });
    Add("take_rounds", [this](std::istream& in) {
      void* const memory = Pick(memory_, in);
      const aclrtNotify full = Pick(notifies_, in);
      const aclrtNotify empty = Pick(notifies_, in);
      auto first = Read<std::uint64_t>(in);
      const int code = TakeRounds(memory, full, empty, first, Read<std::uint64_t>(in), stream_);
      if (code == -5) std::cerr << "round " << first << " has wrong bytes" << std::endl;
      return code;
    });
    Add("write_forever", [this](std::istream& in) {
      void* const memory = Pick(memory_, in);
      const auto bytes = Read<std::size_t>(in);
      return WriteForever(memory, bytes, Read<int>(in), stream_);
    });
    Add("query_event", [this](std::istream& in) {
      aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_NOT_READY;
      const aclError code = aclrtQueryEventStatus(Pick(events_, in), &status);
      out_ << (status == ACL_EVENT_RECORDED_STATUS_COMPLETE ? "complete" : "open");
      return code;
    });
    Add("event_rules", [this](std::istream& in) {  // what shared events have not
      const aclrtEvent event = Pick(events_, in);
      float ms = 0;
      std::uint64_t stamp = 0;
      aclrtEventWaitStatus waited = ACL_EVENT_WAIT_STATUS_RESERVED;
      out_ << aclrtEventElapsedTime(&ms, event, event) << ' ' << aclrtEventGetTimestamp(event, &stamp) << ' '
           << aclrtResetEvent(event, stream_) << ' ' << aclrtQueryEventWaitStatus(event, &waited);
      return 0;
    });
  }

  void AddProcess() {
    Add("device", [this](std::istream& in) {  // another current device, with a stream of its own
      const aclError code = aclrtSetDevice(Read<std::int32_t>(in));
      return code == ACL_SUCCESS ? aclrtCreateStream(&stream_) : code;
    });
    Add("leave_network", [](std::istream&) { return unshare(CLONE_NEWNET); });
    Add("enter_network", [](std::istream& in) {
      const int network = open(Read<std::string>(in).c_str(), O_RDONLY | O_CLOEXEC);
      const int failed = setns(network, CLONE_NEWNET);
      close(network);
      return failed;
    });
    Add("start_sleep", [](std::istream& in) {  // another program, which outlives this process
      const auto file = Read<std::string>(in);
      return std::system(("sleep 60 </dev/null >/dev/null 2>&1 & echo $! >" + file).c_str());
    });
    Add("descriptors", [this](std::istream&) {
      DIR* const folder = opendir("/proc/self/fd");
      int count = 0;
      while (readdir(folder) != nullptr)
        ++count;
      closedir(folder);
      out_ << count;
      return 0;
    });
    Add("mappings", [this](std::istream&) {
      std::ifstream maps("/proc/self/maps");
      out_ << std::count(std::istreambuf_iterator<char>(maps), {}, '\n');
      return 0;
    });
    Add("fork", [this](std::istream&) {  // a child that uses the runtime all the same
      int pipe_ends[2];
      if (pipe(pipe_ends) != 0) return -4;
      const pid_t child = fork();
      if (child == 0) {
        void* memory = nullptr;
        std::uint64_t other = 0;
        const int codes[] = {aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST),
                             aclrtSynchronizeStream(stream_), aclrtSetDevice(0),
                             aclrtMemcpy(&other, 8, &memory, 8, ACL_MEMCPY_HOST_TO_HOST)};
        std::ostringstream text;
        for (const int code : codes)
          text << code << ' ';
        const char* const message = aclGetRecentErrMsg();
        text << (message != nullptr && std::strstr(message, "forked") != nullptr ? "says why"
                                                                                 : "says nothing");
        const std::string all = text.str();
        [[maybe_unused]] const ssize_t written = write(pipe_ends[1], all.data(), all.size());
        exit(0);  // with what the library does at the end
      }
      close(pipe_ends[1]);
      char text[256] = {};
      [[maybe_unused]] const ssize_t length = read(pipe_ends[0], text, sizeof(text) - 1);
      close(pipe_ends[0]);
      int status = 0;
      waitpid(child, &status, 0);
      out_ << text << ' ' << (WIFEXITED(status) ? WEXITSTATUS(status) : -1);
      return 0;
    });
  }

  aclError code_ = ACL_SUCCESS;
  aclrtStream stream_ = nullptr;
  std::map<std::string, Command> commands_;
  std::vector<void*> memory_;
  std::vector<aclrtDrvMemHandle> physical_;
  std::vector<aclrtNotify> notifies_;
  std::vector<aclrtEvent> events_;
  std::ostringstream out_;
};

int RunPeer() {
  Channel channel(dup(STDIN_FILENO), dup(STDOUT_FILENO));
  Commands commands;
  while (const auto line = channel.Receive(std::chrono::minutes(10))) {
    if (line->starts_with("exit")) return 0;
    channel.Send(commands.Run(*line));
  }
  return 1;
}

}  // namespace
}  // namespace sampan::test

int main(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], "--peer") == 0) return sampan::test::RunPeer();
  ::testing::InitGoogleTest(&argc, argv);
  return sampan::test::RunTestsThatApply();
}
