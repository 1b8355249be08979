// What was submitted, and the outcomes that the rules allow for it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "acl/acl.h"
#include "tests/model/clock.h"
#include "tests/model/image.h"
#include "tests/model/operation.h"

namespace sampan::model {

using Effect = std::function<void(Image&)>;

/// A use of bytes of an allocation.
struct Use {
  std::uint64_t serial;
  std::size_t begin, end;
  bool write;
};

/// One piece of work of a stream, or of the host.
struct Task {
  /// What an abort must know of it.
  enum class Kind : std::uint8_t {
    kPlain,
    kHostFunction,
    kManyCopies,
    kIndirect,
    kFree,
    kResetEvent,
    kSetSignal,
    kWaitSignal
  };

  Kind kind = Kind::kPlain;
  int stream = 0;  ///< its number; 0 for the host
  int track = 0;
  std::uint32_t tick = 0;
  Clock submitted;          ///< what its thread knew to be over
  std::vector<int> behind;  ///< tasks that it comes after: of its stream, and what it waits for
  std::vector<int> maybe;   ///< tasks that it may have to wait for: frees whose memory a pool hands on
  Clock clock;              ///< what is over for sure when it is, with itself
  Clock limits;             ///< all that it may have to wait for, with itself
  std::vector<Use> uses;
  Effect effect;
  aclError failure = ACL_SUCCESS;  ///< it fails with this code
  int recording = -1;              ///< what it waits for; it fails if that depends on dropped work
  int signal = -1;                 ///< of a notify or a word
  bool concurrent = false;         ///< another thread may have submitted to the stream at the same time
  bool severed = false;            ///< it may have been dropped: what it waited for is not implied by it
};

/// One way in which everything may have happened.
struct World {
  struct Failure {
    int stream;
    int task;
    aclError code;
  };
  std::vector<aclError> dropped;    ///< by task: its code if it was dropped
  std::vector<aclError> dependant;  ///< by task: the code of the dropped work that it depends on
  std::map<int, aclError> depends;  ///< by stream: the same for what it does until the program is told
  std::vector<Failure> failures;    ///< that the program has not been told of
  Clock over;                       ///< what is known to have happened in this world
  Image image;
  bool is_stale = false;   ///< the image shows tasks that were dropped
  std::size_t parent = 0;  ///< the world that it was before an abort

  /// The code with which waits for the task fail.
  aclError WaitCode(int task) const { return dropped[task] != ACL_SUCCESS ? dropped[task] : dependant[task]; }
  /// The program was told of the stream's failures, or aborted the stream.
  void ForgetFailures(int stream) {
    std::erase_if(failures, [&](const Failure& failure) { return failure.stream == stream; });
    depends.erase(stream);
  }
};

/// All tasks in the order of their submission, and all worlds that are possible. Not thread-safe. Tasks that
/// touch the same bytes are ordered like their submissions, so bytes follow from replaying them.
class History {
 public:
  History() : worlds_(1) {}

  /// Appends a task whose `clock` is complete. `dropped`: it is known to be dropped, with that code.
  int Add(Task task, aclError dropped = ACL_SUCCESS);
  /// The task turns out to fail: it moves no byte.
  void Fail(int task, aclError code);
  /// Replaces the worlds. Recomputes the images of those that are stale.
  void Branch(std::vector<World> worlds);
  /// The parents of all worlds, which become parents themselves.
  std::vector<std::size_t> TakeParents();
  /// Only the worlds for which `fits` holds were possible, by their index. False when none is left.
  bool Keep(const std::function<bool(std::size_t)>& fits);
  /// Forgets the failures of a stream, of which the program was told.
  void Told(int stream);

  /// The code of the stream's first failure in the world.
  aclError FirstFailure(const World& world, int stream) const;
  bool MayHaveFailed(int stream) const;

  /// The clocks of tasks, joined.
  Clock Behind(const std::vector<int>& tasks) const;
  Clock LimitsOf(const std::vector<int>& tasks) const;
  void RenewClock(Task& task) const;
  /// Computes all clocks again, after some tasks were severed.
  void RenewClocks();

  /// The tasks alone.
  History WithoutWorlds() const;
  void TakeTasks(History other) { tasks_ = std::move(other.tasks_); }

  const std::vector<Task>& tasks() const { return tasks_; }
  std::vector<Task>& tasks() { return tasks_; }
  const std::vector<World>& worlds() const { return worlds_; }

 private:
  void Replay(World& world) const;

  std::vector<Task> tasks_;
  std::vector<World> worlds_;
};

}  // namespace sampan::model
