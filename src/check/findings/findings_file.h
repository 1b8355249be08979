// The raw findings of a program under check: the program writes them, `sampan check` reads them.
//
// A file of lines. Each is one JSON object and written with one write(2) in append mode. Child processes
// append to the same file. A reader ignores a last line without its newline, and fields and types that it
// does not know. Every line has "type" and "pid". The lines of one process, in this order:
//
//   {"type":"program","pid":7,"version":1,"argv":["./app","x"],"backend":"emulated"}
//       First, once for each process that makes a call.
//   {"type":"module","pid":7,"id":0,"path":"/home/me/app","build_id":"8d3f..","base":"0x55d0c0000000"}
//       Before the first stack that names it. build_id is lower-case hexadecimal, "" if there is none.
//   {"type":"finding","pid":7,"number":1,"kind":"host-read-before-sync","severity":"error",
//    "message":"the host reads in {1} what the copy of {0} writes","fix":"synchronize before {1}",
//    "buffer":{"what":"pinned host memory","device":null,"address":"0x7f..","bytes":4096,
//              "call":"aclrtMallocHost","stack":[[0,4518],[1,171850]]},
//    "overlap":{"begin":128,"end":132},
//    "accesses":[{"call":"aclrtMemcpyAsync","does":"write","device":0,"stream":3,"entry":null,
//                 "thread":1,"begin":0,"end":4096,"stack":[[0,4711]]}, ...]}
//       The fields of the report. buffer, overlap, device, stream, entry and call may be null. Numbers count
//       from 1 in the process, one for each kind and pair of places. A deadlock has an access for each member
//       of its cycle.
//   {"type":"count","pid":7,"number":1,"count":17}
//       How often the finding was made until now. The last line of a number counts; without one it is 1.
//   {"type":"held","pid":7,"number":1, and the other fields of a finding}
//       A leak, if the process ends without a word and counter 1 of its counters is not 0 then. Once for each
//       place that makes memory or streams, with their size.
//   {"type":"end","pid":7,"reason":"exit"}
//       Last. "deadlock" and "access" (a host access that cannot go on) end the program with kFindingStatus.
//       Missing: the process crashed, was killed, or called _exit.
//
// The counters of a process are in a file of their own. Its name is the name of this one, a point and the
// pid: kHeldCounters numbers of 64 bits, by the "number" of a "held" line, in the byte order of the machine.
// The process has a lock on the file while it runs.
//
// A stack is a list of [module id, offset] from the innermost frame on. It has no leading frames of our own
// libraries. A reader also drops our frames further out. The offset is an address of the module's file: the
// address minus the load bias. It is inside of the call or access, not behind it, so a lookup of its line
// needs no correction. Module id -1 is code outside every module, and its offset an address.
//
// "{0}" and "{1}" in a message or fix stand for the place of that access. "{buffer}" stands for the place of
// the buffer's call. The reader puts "line 41 of app.cc" there, or "app+0x1267" without debug information.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sampan::check {

/// Names the file, in the environment of the program. With it the program writes no report of its own.
inline constexpr std::string_view kFindingsVariable = "SAMPAN_CHECK_FINDINGS";
/// The exit status of a program that is ended by a finding.
inline constexpr int kFindingStatus = 99;
inline constexpr int kFindingsVersion = 1;

inline constexpr std::size_t kHeldCounters = 8192;
inline std::string HeldCountsPath(const std::string& findings, long long process) {
  return findings + "." + std::to_string(process);
}

}  // namespace sampan::check
