// libFuzzer target: bytes become a file of tables of copy limits.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "backend/cuda/paths/copy_table.h"
#include "base/error/text.h"
#include "tests/fuzz/fuzz_failure.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sampan;
  static const int file = ::memfd_create("copy table", MFD_CLOEXEC);
  if (::ftruncate(file, 0) != 0 || ::pwrite(file, data, size, 0) != static_cast<ssize_t>(size))
    fuzz::FailInput("the file cannot be written", errno);
  const std::string path = Text("/proc/self/fd/", file);
  auto tables = cuda::ReadCopyTables(path);
  if (!tables.ok()) {
    // A refusal names the file and the line.
    if (!tables.error().message.starts_with(path + ":")) fuzz::FailInput("a refusal without a place");
    return 0;
  }
  if (tables->empty()) fuzz::FailInput("success without a table");
  for (cuda::PathLimits& table : *tables) {
    if (table.gpu.empty()) fuzz::FailInput("a table without a name");
    for (const cuda::LimitField& field : cuda::limit_fields()) {
      const std::size_t limit = field.of(table);
      if (limit < field.min || limit > field.max)
        fuzz::FailInput("a limit out of its range", static_cast<long long>(limit));
    }
    static_cast<void>(cuda::FindTable(*tables, table.gpu));
  }
  static_cast<void>(cuda::FindTable(*tables, "another GPU"));
  return 0;
}
