// Names of functions as programmers write them.
#include "tools/sampan/check/program/function_name.h"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

namespace sampan::tool {
namespace {

struct FreeText {
  void operator()(char* text) const { std::free(text); }
};

bool IsOpening(char letter) {
  return letter == '(' || letter == '<' || letter == '{' || letter == '[';
}

bool IsClosing(char letter) {
  return letter == ')' || letter == '>' || letter == '}' || letter == ']';
}

/// Removes what follows the name: parameters, qualifiers, clones. They begin at the last open bracket that is
/// not inside of another one.
std::string_view WithoutParameters(std::string_view name) {
  constexpr std::string_view kCall = "operator()";
  int depth = 0;
  for (std::size_t at = name.size(); at > 0; --at) {
    const char letter = name[at - 1];
    if (IsClosing(letter)) ++depth;
    if (!IsOpening(letter)) continue;
    if (--depth > 0 || letter != '(') continue;
    const std::string_view before = name.substr(0, at - 1);
    if (before.ends_with("(anonymous namespace)") || before.empty()) return name;
    return before.ends_with("operator") ? name.substr(0, before.size() - 8 + kCall.size()) : before;
  }
  return name;
}

/// Removes the return type, which mangled names of templates have.
std::string_view WithoutReturnType(std::string_view name) {
  int depth = 0;
  for (std::size_t at = name.size(); at > 0; --at) {
    const char letter = name[at - 1];
    if (IsClosing(letter)) ++depth;
    if (IsOpening(letter)) --depth;
    if (letter == ' ' && depth == 0) return name.substr(at);
  }
  return name;
}

}  // namespace

std::string FunctionName(std::string_view symbol) {
  const std::string mangled(symbol.substr(0, symbol.find('.')));
  int state = 0;
  const std::unique_ptr<char, FreeText> readable(
      abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &state));
  if (!symbol.starts_with("_Z") || state != 0 || readable == nullptr) return std::string(symbol);
  const std::string_view name = WithoutParameters(readable.get());
  // An operator of a type has a blank in its name.
  return std::string(name.find("operator") == name.npos ? WithoutReturnType(name) : name);
}

}  // namespace sampan::tool
