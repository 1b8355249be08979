// Names the place of an instruction, in this process or another one.
#include "core/memory/origin/code_place.h"

#include <fstream>
#include <sstream>
#include <string_view>

#include "base/error/text.h"
#include "core/memory/origin/source_lines.h"

namespace sampan::core {
namespace {

/// The file that is mapped there, and the offset in it.
std::string DescribeMapping(std::int64_t process, std::uintptr_t instruction) {
  std::ifstream maps(Text("/proc/", process, "/maps"));
  for (std::string line; std::getline(maps, line);) {
    // begin-end rights offset device inode path
    std::istringstream fields(line);
    std::uintptr_t begin = 0, end = 0, offset = 0;
    char dash = 0;
    std::string rights, device, inode, path;
    fields >> std::hex >> begin >> dash >> end >> rights >> offset >> device >> inode >> path;
    if (!fields || instruction < begin || instruction >= end) continue;
    return Text(path.substr(path.rfind('/') + 1), "+", Hex(instruction - begin + offset));
  }
  return {};
}

}  // namespace

std::string DescribeCode(std::int64_t process, std::uintptr_t instruction) {
  std::string text = SourceLines(process).Describe(instruction);
  return text.find(" at ") != std::string::npos ? text : DescribeMapping(process, instruction);
}

}  // namespace sampan::core
