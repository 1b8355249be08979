// The report as JSON, which the command makes of raw findings when the process ends.
#include "check/findings/report_file.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>
#include <system_error>

#include "base/error/text.h"
#include "base/system/environment.h"

namespace sampan::check {
namespace {

/// bin/sampan beside the folder of this library.
std::string CommandPath() {
  Dl_info library = {};
  if (::dladdr(reinterpret_cast<const void*>(&CommandPath), &library) == 0 || library.dli_fname == nullptr)
    return "sampan";
  std::error_code failure;
  const auto path = std::filesystem::canonical(library.dli_fname, failure);
  return failure ? "sampan" : (path.parent_path().parent_path() / "bin" / "sampan").string();
}

std::vector<std::string> OwnArguments() {
  std::ifstream input("/proc/self/cmdline", std::ios::binary);
  std::vector<std::string> words;
  for (std::string word; std::getline(input, word, '\0');)
    words.push_back(word);
  return words;
}

std::vector<char*> Pointers(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& word : words)
    pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

ReportFile::ReportFile(const std::string& name) {
  std::string file = name;
  if (const std::size_t at = file.find("%p"); at != file.npos)
    file.replace(at, 2, std::to_string(::getpid()));
  raw_ = file + ".raw";
  words_ = {CommandPath(), "check", "--read", raw_, "--json", file, "--"};
  failure_ = "Sampan: " + raw_ + " has the findings; 'sampan check --read " + raw_ + " --json " + file +
             " -- PROGRAM' makes the report\n";
  for (std::string& word : OwnArguments())
    words_.push_back(std::move(word));
  // The command is not checked itself.
  for (const auto& [variable, value] : EnvironmentWithPrefix("")) {
    if (!variable.starts_with("SAMPAN_") && variable != "LD_PRELOAD")
      variables_.push_back(Text(variable, "=", value));
  }
  arguments_ = Pointers(words_);
  environment_ = Pointers(variables_);
}

void ReportFile::Make() const noexcept {
  constexpr int kNoErrors = 0, kErrors = 99;
  // Not fork: its handlers take locks, which the interrupted thread may hold.
  const pid_t child = ::vfork();
  if (child == 0) {
    const int nothing = ::open("/dev/null", O_RDWR);
    for (const int output : {STDOUT_FILENO, STDERR_FILENO})
      ::dup2(nothing, output);
    ::execve(arguments_.front(), arguments_.data(), environment_.data());
    ::_exit(127);
  }
  int status = -1;
  while (child > 0 && ::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  const bool made =
      child > 0 && WIFEXITED(status) && (WEXITSTATUS(status) == kNoErrors || WEXITSTATUS(status) == kErrors);
  if (made) {
    ::unlink(raw_.c_str());
  } else {
    [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, failure_.data(), failure_.size());
  }
}

}  // namespace sampan::check
