// The calls of a thread between HcclGroupStart and the outermost HcclGroupEnd: they take effect at the end.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "acl/acl.h"
#include "collectives/comm/joining.h"
#include "collectives/operators/submit.h"

namespace sampan::collectives {

/// Belongs to one thread. A group has one use: it makes and destroys communicators, or it has collective
/// operators, or messages.
class CallGroup {
 public:
  static CallGroup& OfThread();

  bool is_open() const { return depth_ != 0; }
  void Start() { ++depth_; }
  /// The outermost one carries out the calls, and returns the first failure.
  HcclResult End(const char* function);

  // Each call was checked before.
  HcclResult Join(const char* function, const JoinRequest& request, HcclComm* comm);
  HcclResult Destroy(const char* function, HcclComm comm);
  HcclResult Queue(const char* function, const std::shared_ptr<Communicator>& communicator,
                   CollectiveCall&& call, void* stream);
  HcclResult Queue(const char* function, const std::shared_ptr<Communicator>& communicator,
                   const CallFacts& facts, Parcel parcel, void* stream);

 private:
  enum class Use { kNone, kMaking, kCollectives, kMessages };
  struct Destruction {
    const char* function;
    HcclComm comm;
  };
  /// The messages of a group in one stream: none of them waits for another one.
  struct Messages {
    CallFacts facts;
    std::vector<Parcel> parcels;
  };
  struct Queued {
    const char* function;
    std::shared_ptr<Communicator> communicator;
    void* stream;
    aclrtContext context;
    std::variant<CollectiveCall, Messages> what;
  };

  HcclResult TakeUse(const char* function, Use use);
  static HcclResult Submit(Queued& queued);
  static HcclResult SubmitAll(std::vector<Queued> all);

  unsigned depth_ = 0;
  Use use_ = Use::kNone;
  std::vector<GroupJoin> joins_;
  std::vector<Destruction> destructions_;
  std::vector<Queued> queued_;
};

}  // namespace sampan::collectives
