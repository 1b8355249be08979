// A case of tests/check: what it has, how it is written, and the list of all of them.
//
//   CASE(block_is_read_back_early) {              a function with a wrong and a corrected form
//     H2D(block, fill, kBytes, a);                //! 1 race          the first place of the finding
//     if (right) After(b, a);                     what the wrong form leaves out
//     D2H(back, block, kBytes, b);                //! 2 race          the second one
//   }
//
// check_test.py reads the marks and compares them with what `sampan check` reports. A place whose finding has
// no accesses is marked "0". Of two findings of one kind in a case, one has a name: "1 race/second".
#pragma once

#include <acl/acl.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sampan::check_cases {

inline constexpr std::size_t kBytes = 4096;

/// Streams, events and memory of one case. Its end waits for all work and releases them, so that a case
/// leaves nothing for the next one.
class Scene {
 public:
  Scene();
  ~Scene();
  Scene(const Scene&) = delete;
  Scene& operator=(const Scene&) = delete;

  char* Device(std::size_t bytes = kBytes);      ///< device memory that was written
  char* Fresh(std::size_t bytes = kBytes);       ///< device memory that nothing wrote
  char* Pinned(std::size_t bytes = kBytes);      ///< of aclrtMallocHost
  char* Registered(std::size_t bytes = kBytes);  ///< of mmap, registered
  char* Pageable(std::size_t bytes = kBytes);    ///< of malloc
  std::uint64_t* Word();                         ///< in device memory, 0
  aclrtStream Stream();
  aclrtEvent Event();
  aclrtNotify Notify();
  void* Descriptor();  ///< device memory of the size and alignment of a descriptor

  /// The case releases it itself.
  void Forget(const void* memory);

 private:
  enum class Kind { kDevice, kPinned, kRegistered, kPageable, kStream, kEvent, kNotify };
  struct Thing {
    Kind kind;
    void* handle;
    std::size_t bytes;
  };
  static void Release(const Thing& thing);

  std::vector<Thing> things_;
};

/// Ends the program if a call that a case needs is refused.
void Expect(aclError code, const char* call);
#define OK(call) ::sampan::check_cases::Expect((call), #call)

#define H2D(dst, src, bytes, stream) \
  OK(aclrtMemcpyAsync(dst, bytes, src, bytes, ACL_MEMCPY_HOST_TO_DEVICE, stream))
#define D2H(dst, src, bytes, stream) \
  OK(aclrtMemcpyAsync(dst, bytes, src, bytes, ACL_MEMCPY_DEVICE_TO_HOST, stream))
#define D2D(dst, src, bytes, stream) \
  OK(aclrtMemcpyAsync(dst, bytes, src, bytes, ACL_MEMCPY_DEVICE_TO_DEVICE, stream))
#define SYNC(stream) OK(aclrtSynchronizeStream(stream))
/// The host itself reads or writes a byte, at the line of the case.
#define READ(address) static_cast<void>(*static_cast<const volatile char*>(address))
#define WRITE(address) (*static_cast<volatile char*>(address) = 1)

/// `later` waits for what is in `earlier` so far.
void After(aclrtStream later, aclrtStream earlier, aclrtEvent event);

using CaseFunction = void (*)(Scene& s, bool right);

/// Puts a case into the list of all of them.
struct ListedCase {
  const char* name;
  CaseFunction run;
  bool alone;
  const ListedCase* next;

  ListedCase(const char* of_name, CaseFunction of_run, bool is_alone);
};

#define CASE_IN_LIST(name, alone)                                                    \
  static void name(::sampan::check_cases::Scene& s, bool right);                     \
  static const ::sampan::check_cases::ListedCase name##_listed(#name, &name, alone); \
  static void name([[maybe_unused]] ::sampan::check_cases::Scene& s, [[maybe_unused]] bool right)
#define CASE(name) CASE_IN_LIST(name, false)
/// A case with a process of its own, because it ends the process or is found at its end. The process resets
/// no device.
#define CASE_ALONE(name) CASE_IN_LIST(name, true)

}  // namespace sampan::check_cases
