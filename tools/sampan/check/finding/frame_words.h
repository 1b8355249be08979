// How places in a program are named.
#pragma once

#include <string>
#include <string_view>

#include "tools/sampan/check/finding/finding.h"

namespace sampan::tool {

/// The part behind the last slash.
std::string_view BaseName(std::string_view path);

/// Returns true if the frame is code of the program, not of the C and C++ libraries that it uses.
bool IsProgramFrame(const Frame& frame);

/// The stack from the program's innermost frame to its outermost one, without frames of ours. If it has no
/// frame of the program, all others.
Stack ProgramPart(Stack stack);

/// The program's own frame; nullptr when the stack is empty.
const Frame* PlaceOf(const Stack& stack);

/// "Refill at app.cc:41", with the module and offset where files are unknown.
std::string DescribeFrame(const Frame& frame);

/// "line 41 of app.cc", for sentences.
std::string DescribePlace(const Stack& stack);

/// "app.cc:41", or the function and module where lines are unknown.
std::string ShortPlace(const Stack& stack);

/// "bytes 128 to 131" for [128, 132).
std::string DescribeBytes(std::uint64_t begin, std::uint64_t end);

/// "aclrtMemcpyAsync writes bytes 0 to 4095, entry 3, stream 3 of device 0, thread 1".
std::string DescribeAccess(const FoundAccess& access);

/// "pinned host memory: 4096 bytes at 0x7f0000000000, made by aclrtMallocHost".
std::string DescribeBuffer(const FoundBuffer& buffer);

}  // namespace sampan::tool
