// Functions of the C library that read more bytes than they were asked for.
#include "check/host/string_functions.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstddef>

namespace sampan::check {
namespace {

struct StringFunction {
  std::uintptr_t begin = 0;
  bool looks_for_end = false;
};

constexpr std::array kLookForEnd = {
    "strlen",    "strnlen", "strchr",  "strrchr", "strchrnul",   "strcmp",        "strncmp", "strcasecmp",
    "strcpy",    "strncpy", "stpcpy",  "stpncpy", "strncasecmp", "strcasecmp_l",  "strcat",  "strncat",
    "strspn",    "strcspn", "strpbrk", "strstr",  "strcasestr",  "strncasecmp_l", "memchr",  "memrchr",
    "rawmemchr", "wcslen",  "wcsnlen", "wcschr",  "wcsrchr",     "wcscmp",        "wcsncmp", "wmemchr"};
/// These read exactly what they are asked for. Their code lies between that of the others.
constexpr std::array kReadExactly = {"memcpy",       "memmove",       "mempcpy",      "memset",  "memcmp",
                                     "__memcpy_chk", "__memmove_chk", "__memset_chk", "wmemset", "wmemcmp"};
/// No function is longer.
constexpr std::uintptr_t kMaxFunctionBytes = 8192;

constinit std::array<StringFunction, kLookForEnd.size() + kReadExactly.size()>
    string_functions{};  // by address

}  // namespace

void FindStringFunctions() noexcept {
  // The processor decides which of several functions has the name: dlsym gives the address of that one.
  std::size_t count = 0;
  const auto add = [&](const char* name, bool looks_for_end) {
    string_functions[count++] = {reinterpret_cast<std::uintptr_t>(::dlsym(RTLD_DEFAULT, name)),
                                 looks_for_end};
  };
  for (const char* const name : kLookForEnd)
    add(name, true);
  for (const char* const name : kReadExactly)
    add(name, false);
  std::sort(string_functions.begin(), string_functions.end(),
            [](const StringFunction& one, const StringFunction& other) { return one.begin < other.begin; });
}

bool MayReadTooMuch(std::uintptr_t instruction) noexcept {
  const auto behind = std::upper_bound(
      string_functions.begin(), string_functions.end(), instruction,
      [](std::uintptr_t address, const StringFunction& function) { return address < function.begin; });
  if (behind == string_functions.begin()) return false;
  const StringFunction& function = *(behind - 1);
  return function.looks_for_end && instruction - function.begin < kMaxFunctionBytes;
}

Range VectorsAround(std::uintptr_t address, std::uint64_t bytes) noexcept {
  constexpr std::uint64_t kMoreVectors = 3;  // that a loop of the C library reads beside one
  return {address - kMoreVectors * bytes, address + (1 + kMoreVectors) * bytes};
}

}  // namespace sampan::check
