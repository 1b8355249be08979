// libFuzzer target: bytes become the file of aclInit.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <string_view>

#include "acl/init_config.h"
#include "base/error/text.h"
#include "tests/fuzz/fuzz_failure.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sampan;
  static const int file = ::memfd_create("init config", MFD_CLOEXEC);
  if (::ftruncate(file, 0) != 0 || ::pwrite(file, data, size, 0) != static_cast<ssize_t>(size))
    fuzz::FailInput("the file cannot be written", errno);
  const std::string path = Text("/proc/self/fd/", file);
  auto config = acl::ReadInitConfig(path.c_str());
  if (!config.ok()) {
    const Code code = config.error().code;
    if (code != Code::kParseFile && code != Code::kInvalidParam)
      fuzz::FailInput("a refusal with another code", static_cast<long long>(code));
    if (config.error().message.empty()) fuzz::FailInput("a refusal without a reason");
    return 0;
  }
  if (config->text != std::string_view(reinterpret_cast<const char*>(data), size))
    fuzz::FailInput("the text is not the file's");
  if (config->default_device.value_or(0) < 0) fuzz::FailInput("a negative device", *config->default_device);
  return 0;
}
