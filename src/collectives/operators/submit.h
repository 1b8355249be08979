// The last step of a call: numbers the operator and puts it into the stream.
#pragma once

#include <memory>
#include <vector>

#include "collectives/operators/collective.h"
#include "collectives/operators/exchange.h"
#include "hccl/hccl_types.h"

namespace sampan::collectives {

HcclResult Submit(const char* function, const std::shared_ptr<Communicator>& communicator,
                  CollectiveCall&& call, void* stream);
/// The parcels get their numbers here.
HcclResult Submit(const char* function, const std::shared_ptr<Communicator>& communicator,
                  const CallFacts& facts, std::vector<Parcel> parcels, std::vector<OwnParcel> own,
                  void* stream);

}  // namespace sampan::collectives
