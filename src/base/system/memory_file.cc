// Anonymous memory files that processes of the same user can map.
#include "base/system/memory_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>

#include "base/error/system_error.h"
#include "base/error/text.h"
#include "base/system/file_size_signal.h"

namespace sampan {
namespace {

/// The system's text, and advice if there is any.
std::string ReasonOf(int error) {
  rlimit limit{};
  if (error != EFBIG || ::getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
    return SystemError(error);
  return Text("the limit on file sizes is ", limit.rlim_cur,
              " bytes: raise it (ulimit -f), or give devices less memory (SAMPAN_DEVICE_MEMORY)");
}

}  // namespace

Result<Descriptor> CreateMemoryFile(const std::string& name, std::uint64_t bytes, Code failure) {
  const auto refuse = [&](std::string_view what) {
    const int error = errno;
    return Error{failure,
                 Text("cannot set up ", name, ": ", what, " of ", bytes, " bytes: ", ReasonOf(error))};
  };
  Descriptor file(::memfd_create(name.c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (file.get() < 0) return refuse("a memory file");
  if (::fchmod(file.get(), S_IRUSR | S_IWUSR) != 0) return refuse("the rights of a memory file");
  const NoFileSizeSignal no_signal;
  if (::ftruncate(file.get(), static_cast<off_t>(bytes)) != 0) return refuse("a memory file");
  if (::fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
    return refuse("the seals of a memory file");
  return file;
}

std::size_t TakenBytes(int memory_file) {
  constexpr std::size_t kBlockBytes = 512;  // of st_blocks, whatever the file system
  struct stat facts = {};
  return ::fstat(memory_file, &facts) == 0 ? static_cast<std::size_t>(facts.st_blocks) * kBlockBytes : 0;
}

bool IsSafeToMap(int file, std::uint64_t min_bytes) {
  struct stat facts = {};
  if (file < 0 || ::fstat(file, &facts) != 0 || !S_ISREG(facts.st_mode)) return false;
  const int seals = ::fcntl(file, F_GET_SEALS);
  return facts.st_uid == ::geteuid() && static_cast<std::uint64_t>(facts.st_size) >= min_bytes &&
         seals >= 0 && (seals & F_SEAL_SHRINK) != 0;
}

}  // namespace sampan
