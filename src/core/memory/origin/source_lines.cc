// Names the source line of an instruction.
#include "core/memory/origin/source_lines.h"

#if defined(SAMPAN_HAS_LIBDWFL)

#include <cxxabi.h>
#include <dlfcn.h>
#include <elfutils/libdwfl.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <mutex>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/error/text.h"

namespace sampan::core {
namespace {

/// "f(int)" for "_Z1fi"; a name that is not mangled stays.
std::string Demangled(const char* name) {
  struct Free {
    void operator()(char* text) const { std::free(text); }
  };
  int state = 0;
  const std::unique_ptr<char, Free> readable(abi::__cxa_demangle(name, nullptr, nullptr, &state));
  return state == 0 && readable != nullptr ? readable.get() : name;
}

}  // namespace

class SourceLines::Reader {
 public:
  /// Returns null if libdw is missing.
  static std::unique_ptr<Reader> Create(std::int64_t process) {
    auto reader = std::make_unique<Reader>(static_cast<pid_t>(process));
    return reader->Begin() ? std::move(reader) : nullptr;
  }
  explicit Reader(pid_t process) : process_(process) {}
  ~Reader() {
    if (session_ != nullptr) libdw_.end(session_);
  }

  std::string Describe(std::uintptr_t instruction) {
    const std::lock_guard lock(mutex_);
    Dwfl_Module* const module = FindModule(instruction);
    if (module == nullptr) return {};
    const char* const function = libdw_.function_name(module, instruction);
    std::string text = function != nullptr ? Demangled(function) : std::string();
    Dwfl_Line* const line = libdw_.find_line(module, instruction);
    if (line == nullptr) return text;
    int number = 0;
    const char* const file = libdw_.line_info(line, nullptr, &number, nullptr, nullptr, nullptr);
    if (file == nullptr) return text;
    text += Text(text.empty() ? "" : " ", "at ", std::string_view(file), ":", number);
    return text;
  }

 private:
  /// The functions of libdw, loaded by name. So programs need the library neither to build nor to run, and we
  /// export none of its symbols.
  struct Libdw {
    decltype(&dwfl_begin) begin = nullptr;
    decltype(&dwfl_end) end = nullptr;
    decltype(&dwfl_report_begin) report_begin = nullptr;
    decltype(&dwfl_report_end) report_end = nullptr;
    decltype(&dwfl_linux_proc_report) report_process = nullptr;
    decltype(&dwfl_linux_proc_find_elf) find_elf = nullptr;
    decltype(&dwfl_build_id_find_debuginfo) find_debuginfo = nullptr;
    decltype(&dwfl_addrmodule) find_module = nullptr;
    decltype(&dwfl_module_addrname) function_name = nullptr;
    decltype(&dwfl_module_getsrc) find_line = nullptr;
    decltype(&dwfl_lineinfo) line_info = nullptr;

    /// Returns false if the library or one of the functions is missing.
    bool Load() {
      void* const library = ::dlopen("libdw.so.1", RTLD_NOW | RTLD_LOCAL);
      if (library == nullptr) return false;
      const auto load = [library](auto& function, const char* name) {
        function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(library, name));
        return function != nullptr;
      };
      return load(begin, "dwfl_begin") && load(end, "dwfl_end") && load(report_begin, "dwfl_report_begin") &&
             load(report_end, "dwfl_report_end") && load(report_process, "dwfl_linux_proc_report") &&
             load(find_elf, "dwfl_linux_proc_find_elf") &&
             load(find_debuginfo, "dwfl_build_id_find_debuginfo") && load(find_module, "dwfl_addrmodule") &&
             load(function_name, "dwfl_module_addrname") && load(find_line, "dwfl_module_getsrc") &&
             load(line_info, "dwfl_lineinfo");
    }
  };

  bool Begin() {
    if (!libdw_.Load()) return false;
    callbacks_.find_elf = libdw_.find_elf;
    // Local files only: dwfl_standard_find_debuginfo would also query servers.
    callbacks_.find_debuginfo = libdw_.find_debuginfo;
    session_ = libdw_.begin(&callbacks_);
    return session_ != nullptr;
  }
  Dwfl_Module* FindModule(std::uintptr_t instruction) {
    if (Dwfl_Module* const known = libdw_.find_module(session_, instruction)) return known;
    // The first call, or a library was loaded since the last one.
    libdw_.report_begin(session_);
    const bool reported = libdw_.report_process(session_, process_) == 0;
    libdw_.report_end(session_, nullptr, nullptr);
    return reported ? libdw_.find_module(session_, instruction) : nullptr;
  }

  const pid_t process_;
  std::mutex mutex_;
  Libdw libdw_;
  char* debuginfo_path_ = nullptr;  // libdw's default
  Dwfl_Callbacks callbacks_{.debuginfo_path = &debuginfo_path_};
  Dwfl* session_ = nullptr;
};

SourceLines::SourceLines() : SourceLines(::getpid()) {}
SourceLines::SourceLines(std::int64_t process) : reader_(Reader::Create(process)) {}
SourceLines::~SourceLines() = default;

std::string SourceLines::Describe(std::uintptr_t instruction) {
  return reader_ != nullptr ? reader_->Describe(instruction) : std::string();
}

}  // namespace sampan::core

#else

namespace sampan::core {

class SourceLines::Reader {};

SourceLines::SourceLines() = default;
SourceLines::SourceLines(std::int64_t) {}
SourceLines::~SourceLines() = default;

std::string SourceLines::Describe(std::uintptr_t) {
  return {};
}

}  // namespace sampan::core

#endif
