// A device with the program's number, and the resources that its contexts share.
#include "core/objects/device.h"

#include <utility>

#include "base/error/text.h"

namespace sampan::core {

Result<std::shared_ptr<Stream>> Device::CreateStream(std::shared_ptr<StickyFailure> context_failure,
                                                     const StreamOptions& options) {
  auto device = Open();
  if (!device.ok()) return device.TakeStatus();
  auto id = streams_->Take();
  if (!id) return Error{Code::kNoStreamResource, Text("device ", id_, " has no stream left")};
  StreamOptions complete = options;
  complete.queue_depth = queue_depth_;
  complete.reports = &reports_;
  complete.roster = &roster_;
  complete.memory = &memory_;
  complete.device = static_cast<std::uint32_t>(id_);
  return Stream::Create(**device, std::move(context_failure), complete, std::move(*id));
}

}  // namespace sampan::core
