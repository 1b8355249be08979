// Facts about a program before it runs.
#include "tools/sampan/run/program_file.h"

#include <elf.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "tools/sampan/shared/command_line/failure.h"
#include "tools/sampan/shared/process/child_output.h"

namespace sampan::tool {
namespace {

namespace fs = std::filesystem;

fs::path Resolve(const std::string& name, const Environment& environment) {
  if (name.find('/') != std::string::npos) return name;
  const auto found = environment.find("PATH");
  std::istringstream folders(found == environment.end() ? "/usr/local/bin:/usr/bin:/bin" : found->second);
  fs::path not_executable;
  for (std::string folder; std::getline(folders, folder, ':');) {
    const fs::path candidate = fs::path(folder.empty() ? "." : folder) / name;
    if (!fs::is_regular_file(candidate)) continue;
    if (::access(candidate.c_str(), X_OK) == 0) return candidate;
    not_executable = candidate;
  }
  if (!not_executable.empty()) return not_executable;
  throw Failure(kNotFound, "there is no program '" + name + "' on the PATH; name its file, as in ./" + name);
}

template <typename T>
bool ReadAt(std::istream& file, std::uint64_t offset, T& value) {
  file.seekg(static_cast<std::streamoff>(offset));
  return static_cast<bool>(file.read(reinterpret_cast<char*>(&value), sizeof value));
}

/// Sets the kind and the loader of the file.
void ReadElf(ProgramFile& program) {
  std::ifstream file(program.path, std::ios::binary);
  Elf64_Ehdr header{};
  if (!ReadAt(file, 0, header) ||
      std::string_view(reinterpret_cast<char*>(header.e_ident), SELFMAG) != ELFMAG ||
      header.e_ident[EI_CLASS] != ELFCLASS64) {
    return;
  }
  program.kind = ProgramFile::Kind::kStatic;
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment{};
    if (!ReadAt(file, header.e_phoff + std::uint64_t{i} * header.e_phentsize, segment)) break;
    if (segment.p_type != PT_INTERP || segment.p_filesz == 0 || segment.p_filesz > 4096) continue;
    std::string loader(segment.p_filesz, '\0');
    file.seekg(static_cast<std::streamoff>(segment.p_offset));
    if (!file.read(loader.data(), static_cast<std::streamsize>(loader.size()))) break;
    program.loader = loader.c_str();  // up to the terminating zero
    program.kind = ProgramFile::Kind::kDynamic;
  }
}

bool GetsRights(const fs::path& path) {
  struct stat facts {};
  const bool changes_user = ::stat(path.c_str(), &facts) == 0 && (facts.st_mode & (S_ISUID | S_ISGID)) != 0;
  return changes_user || ::getxattr(path.c_str(), "security.capability", nullptr, 0) > 0;
}

}  // namespace

ProgramFile FindProgram(const std::string& name, const Environment& environment) {
  ProgramFile program{.path = Resolve(name, environment)};
  const std::string shown = program.path.string();
  std::error_code error;
  const fs::file_status status = fs::status(program.path, error);
  if (status.type() == fs::file_type::not_found)
    throw Failure(kNotFound, "there is no file " + shown + "; check its name");
  if (error) throw Failure(kNotExecutable, shown + ": " + error.message());
  if (status.type() == fs::file_type::directory)
    throw Failure(kNotExecutable, shown + " is a folder; name a program in it");
  if (::access(program.path.c_str(), X_OK) != 0) {
    throw Failure(kNotExecutable, shown + " may not be executed; 'chmod +x " + shown +
                                      "' allows it, or run it by its interpreter");
  }
  ReadElf(program);
  program.is_privileged = GetsRights(program.path);
  return program;
}

AclReferences FindAclReferences(const ProgramFile& program, const Installation& installation,
                                const Environment& environment) {
  if (program.kind != ProgramFile::Kind::kDynamic) return {};
  const ChildOutput list = OutputOfChild([&] {
    for (const auto& [name, value] : environment)
      ::setenv(name.c_str(), value.c_str(), 1);
    const std::string path = fs::absolute(program.path).string();
    ::execl(program.loader.c_str(), program.loader.c_str(), "--list", path.c_str(), nullptr);
    return 127;
  });
  AclReferences references;
  std::istringstream lines(list.text);
  // A line is: NAME => PATH (ADDRESS), or PATH (ADDRESS) for a library that is named by its path.
  for (std::string line; std::getline(lines, line);) {
    const auto first = line.find_first_not_of(" \t");
    const auto arrow = line.find(" => ");
    const auto last = line.rfind(" (");
    if (first == std::string::npos || last == std::string::npos) continue;
    const std::string name = line.substr(first, std::min(arrow, last) - first);
    const fs::path target = arrow == std::string::npos ? name : line.substr(arrow + 4, last - arrow - 4);
    for (const fs::path& ours : installation.acl_libraries()) {
      if (!fs::path(name).filename().string().starts_with(ours.filename().string())) continue;
      references.any = true;
      std::error_code missing;
      if (!fs::equivalent(target, ours, missing)) references.elsewhere = true;
    }
  }
  return references;
}

}  // namespace sampan::tool
