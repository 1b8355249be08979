// Two network namespaces joined by a cable: two hosts on one machine.
#pragma once

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <thread>

namespace sampan::test {

/// Makes the namespaces and removes them. The process that makes it lives on host b from then on, and so do
/// the processes that it starts. Not thread-safe; before the first call of the library.
class TwoHosts {
 public:
  TwoHosts() {
    made_ = Run("netns add " + a_) && Run("netns add " + b_) &&
            Run("-n " + a_ + " link add sam0 type veth peer name sam0 netns " + b_) &&
            Raise(a_, kAddressOfA) && Raise(b_, kAddressOfB) && Enter(b_);
  }
  ~TwoHosts() {
    Run("netns del " + a_);
    Run("netns del " + b_);
  }
  TwoHosts(const TwoHosts&) = delete;
  TwoHosts& operator=(const TwoHosts&) = delete;

  /// False if the system does not allow it.
  bool made() const { return made_; }
  std::string path_of_a() const { return "/var/run/netns/" + a_; }
  static constexpr const char* kAddressOfA = "10.213.0.1";
  static constexpr const char* kAddressOfB = "10.213.0.2";
  /// Runs something on host a, as a thread of this process; the processes that it starts live there.
  template <typename Body>
  void OnHostA(const Body& body) const {
    std::thread([&] {
      GoToHostA();
      body();
    }).join();
  }
  /// The calling thread lives on host a from then on.
  void GoToHostA() const { Enter(a_); }
  bool CutCable() const { return Run("-n " + a_ + " link set sam0 down"); }
  bool MendCable() const { return Run("-n " + a_ + " link set sam0 up"); }

 private:
  static bool Run(const std::string& command) {
    return std::system(("ip " + command + " >/dev/null 2>&1").c_str()) == 0;
  }
  static bool Raise(const std::string& name, const std::string& address) {
    return Run("-n " + name + " addr add " + address + "/24 dev sam0") &&
           Run("-n " + name + " link set sam0 up") && Run("-n " + name + " link set lo up");
  }
  static bool Enter(const std::string& name) {
    const int network = ::open(("/var/run/netns/" + name).c_str(), O_RDONLY | O_CLOEXEC);
    const bool entered = ::setns(network, CLONE_NEWNET) == 0;
    ::close(network);
    return entered;
  }

  const std::string a_ = "sampan-" + std::to_string(::getpid()) + "-a";
  const std::string b_ = "sampan-" + std::to_string(::getpid()) + "-b";
  bool made_ = false;
};

}  // namespace sampan::test
