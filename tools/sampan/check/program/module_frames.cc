// Stands in for source_frames.cc where the command is built without libdw: a place is a module and an offset.
#include "tools/sampan/check/program/source_frames.h"

namespace sampan::tool {

class SourceFrames::Module {};

SourceFrames::SourceFrames() = default;
SourceFrames::~SourceFrames() = default;

Stack SourceFrames::At(const std::string& module, const std::string& /*build_id*/, std::uint64_t offset) {
  return {Frame{.module = module, .offset = offset}};
}

}  // namespace sampan::tool
