// A device as programs number it, with its contexts' common resources.
#include "core/device.h"

#include <utility>

#include "base/text.h"

namespace sampan {

Result<std::shared_ptr<Stream>> Device::CreateStream(std::shared_ptr<StickyFailure> context_failure,
                                                     const StreamOptions& options) {
  auto device = Open();
  if (!device.ok()) return device.TakeStatus();
  auto id = streams_->Take();
  if (!id) return Error{Code::kNoStreamResource, Text("device ", id_, " has no stream left")};
  return Stream::Create(**device, std::move(context_failure), options, std::move(*id));
}

}  // namespace sampan
