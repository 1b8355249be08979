// Prints operations as readable API calls.
#include <sstream>
#include <string_view>

#include "tests/model/operation.h"

namespace sampan::model {
namespace {

std::string Name(char letter, int slot) {
  if (slot == kNull) return "NULL";
  if (slot == kWild) return "wild";
  return letter + std::to_string(slot);
}
std::string StreamName(int slot) {
  return Name('s', slot);
}
std::string EventName(int slot) {
  return Name('e', slot);
}
std::string Where(const Address& address) {
  std::string text = Name('b', address.slot);
  if (address.offset != 0) text += "+" + std::to_string(address.offset);
  return text;
}

std::string Kind(int kind) {
  static constexpr const char* kNames[] = {"H2H",     "H2D",     "D2H",       "D2D",
                                           "DEFAULT", "H2BUF2D", "INNER_D2D", "INTER_D2D"};
  return kind >= 0 && kind < 8 ? kNames[kind] : std::to_string(kind);
}

std::string Location(const aclrtMemLocation& location) {
  switch (location.type) {
    case ACL_MEM_LOCATION_TYPE_DEVICE:
      return "device " + std::to_string(location.id);
    case ACL_MEM_LOCATION_TYPE_HOST:
      return "host";
    case ACL_MEM_LOCATION_TYPE_HOST_NUMA:
      return "host numa";
    default:
      return "location type " + std::to_string(static_cast<int>(location.type));
  }
}

std::string BatchArguments(const Operation& op) {
  std::ostringstream out;
  for (std::size_t i = 0; i < op.entries.size(); ++i) {
    const Entry& entry = op.entries[i];
    out << (i == 0 ? "{" : ", {") << Where(entry.dst) << ", " << entry.dst_max << ", " << Where(entry.src)
        << ", " << entry.bytes << "}";
  }
  out << "; attributes";
  for (const Attribute& attribute : op.attributes) {
    out << " {from " << attribute.first << ": " << Location(attribute.src) << " to "
        << Location(attribute.dst) << (attribute.dirty_reserve ? ", rsv not zero" : "") << "}";
  }
  return out.str();
}

std::string Allocation(const Operation& op) {
  const std::string bytes = std::to_string(op.bytes);
  switch (op.memory) {
    case Memory::kDevice:
      return "aclrtMalloc(&" + Name('b', op.slot) + ", " + bytes + ")";
    case Memory::kPinned:
      return "aclrtMallocHost(&" + Name('b', op.slot) + ", " + bytes + ")";
    case Memory::kRegistered:
      return Name('b', op.slot) + " = mmap(" + bytes + "); aclrtHostRegister(b" + std::to_string(op.slot) +
             ", " + bytes + ")";
    case Memory::kPool:
      return "aclrtMemPoolMallocAsync(&" + Name('b', op.slot) + ", " + bytes + ", pool, " +
             StreamName(op.stream) + "), filled in the order of the stream";
    case Memory::kMapped:
      return Name('b', op.slot) + " = reserved addresses with two pieces mapped, " + bytes +
             " bytes over the seam";
    case Memory::kPageable:
      break;
  }
  return Name('b', op.slot) + " = malloc(" + bytes + ")";
}

std::string FreeText(const Operation& op) {
  static constexpr const char* kNames[] = {"aclrtFree", "aclrtFreeHost",         "aclrtHostUnregister",
                                           "free",      "aclrtMemPoolFreeAsync", "aclrtUnmapMem"};
  const bool syncs = op.value != 0 && (op.memory == Memory::kDevice || op.memory == Memory::kPinned);
  if (op.memory == Memory::kPool) {
    return op.value != 0 ? "aclrtFree(" + Where(op.dst) + ")"
                         : "aclrtMemPoolFreeAsync(" + Where(op.dst) + ", " + StreamName(op.stream) + ")";
  }
  return kNames[static_cast<int>(op.memory)] + std::string(syncs ? "WithDevSync(" : "(") + Where(op.dst) +
         ")";
}

std::string CopyText(const Operation& op) {
  std::ostringstream out;
  const bool async = op.call == Call::kCopyAsync || op.call == Call::kCopyRowsAsync;
  if (op.call == Call::kCopy || op.call == Call::kCopyAsync) {
    out << (async ? "aclrtMemcpyAsync(" : "aclrtMemcpy(") << Where(op.dst) << ", " << op.dst_max << ", "
        << Where(op.src) << ", " << op.bytes << ", " << Kind(op.kind);
  } else {
    out << (async ? "aclrtMemcpy2dAsync(" : "aclrtMemcpy2d(") << Where(op.dst) << ", " << op.dst_pitch << ", "
        << Where(op.src) << ", " << op.src_pitch << ", " << op.bytes << ", " << op.height << ", "
        << Kind(op.kind);
  }
  if (async) out << ", " << StreamName(op.stream);
  out << ")";
  return out.str();
}

std::string FillText(const Operation& op) {
  const bool words = op.call == Call::kFillWords || op.call == Call::kFillWordsAsync;
  const bool async = op.call == Call::kFillAsync || op.call == Call::kFillWordsAsync;
  std::ostringstream out;
  out << "aclrtMemset" << (words ? "D32" : "") << (async ? "Async(" : "(") << Where(op.dst) << ", "
      << op.dst_max << ", " << op.value << ", " << op.bytes;
  if (async) out << ", " << StreamName(op.stream);
  out << ")";
  return out.str();
}

std::string IndirectText(const Operation& op) {
  std::ostringstream out;
  const std::string slot = std::to_string(op.slot);
  const std::string other = std::to_string(op.other_slot);
  switch (op.call) {
    case Call::kSetDescriptor:
      out << "aclrtSetMemcpyDesc(desc" << slot << ", " << Kind(op.kind) << ", src " << Where(op.src)
          << ", dst " << Where(op.dst) << ", " << op.bytes << ", NULL)";
      break;
    case Call::kRewriteDescriptor:
      out << "aclrtMemcpyAsync(&desc" << slot << ".length, 20, {" << op.bytes << ", src " << Where(op.src)
          << ", dst " << Where(op.dst) << "}, 20, H2D, " << StreamName(op.stream) << ")";
      break;
    case Call::kCopyDescriptor:
      out << "aclrtMemcpyAsync(&desc" << slot << ".length, 20, &desc" << other << ".length, 20, D2D, "
          << StreamName(op.stream) << ")";
      break;
    case Call::kLaunchDescriptor:
      out << "aclrtMemcpyAsyncWithDesc(desc" << slot << ", " << Kind(op.kind) << ", " << StreamName(op.stream)
          << ")";
      break;
    case Call::kSetCell:
      out << "aclrtMemcpy(cell" << slot << ", 8, {" << Where(op.dst) << "}, 8, H2D)";
      break;
    case Call::kRewriteCell:
      out << "aclrtMemcpyAsync(cell" << slot << ", 8, {" << Where(op.dst) << "}, 8, H2D, "
          << StreamName(op.stream) << ")";
      break;
    default:
      out << "aclrtMemcpyAsyncWithOffset(cell" << slot << ", " << op.dst_max << ", " << op.dst.offset
          << ", cell" << other << ", " << op.bytes << ", " << op.src.offset << ", " << Kind(op.kind) << ", "
          << StreamName(op.stream) << ")";
  }
  return out.str();
}

std::string EventText(const Operation& op) {
  const std::string event = EventName(op.event);
  switch (op.call) {
    case Call::kCreateEvent:
      switch (op.form) {
        case EventForm::kLegacy:
          return "aclrtCreateEvent(&" + event + ")";
        case EventForm::kLegacySync:
          return "aclrtCreateEventWithFlag(&" + event + ", ACL_EVENT_SYNC)";
        case EventForm::kEx:
          return "aclrtCreateEventExWithFlag(&" + event + ", ACL_EVENT_SYNC)";
        case EventForm::kTimeOnly:
          return "aclrtCreateEventWithFlag(&" + event + ", ACL_EVENT_TIME_LINE)";
      }
      return {};
    case Call::kDestroyEvent:
      return "aclrtDestroyEvent(" + event + ")";
    case Call::kRecord:
      return "aclrtRecordEvent(" + event + ", " + StreamName(op.stream) + ")";
    case Call::kWait:
      return "aclrtStreamWaitEvent(" + StreamName(op.stream) + ", " + event + ")";
    case Call::kResetEvent:
      return "aclrtResetEvent(" + event + ", " + StreamName(op.stream) + ")";
    case Call::kSyncEvent:
      return op.value == 0 ? "aclrtSynchronizeEvent(" + event + ")"
                           : "aclrtSynchronizeEventWithTimeout(" + event + ", 60000)";
    default:
      return "aclrtQueryEventStatus(" + event + ")";
  }
}

std::string SignalText(const Operation& op) {
  const std::string notify = Name('n', op.slot), word = "word" + std::to_string(op.slot);
  const std::string stream = StreamName(op.stream), value = std::to_string(op.value);
  switch (op.call) {
    case Call::kCreateNotify:
      return "aclrtCreateNotify(&" + notify + ")";
    case Call::kDestroyNotify:
      return "aclrtDestroyNotify(" + notify + ")";
    case Call::kRecordNotify:
      return "aclrtRecordNotify(" + notify + ", " + stream + ")";
    case Call::kWaitNotify:
      return "aclrtWaitAndResetNotify(" + notify + ", " + stream + ", 0)";
    case Call::kResetNotify:
      return "aclrtNotifyBatchReset({" + notify + "}, 1)";
    case Call::kWriteWord:
      return "aclrtValueWrite(" + word + ", " + value + ", 0, " + stream + ")";
    case Call::kWaitWord:
      return "aclrtValueWait(" + word + ", " + value +
             (op.kind == ACL_STREAM_WAIT_VALUE_EQ ? ", EQ, " : ", GEQ, ") + stream + ")";
    default:
      return "aclrtMemcpy(" + word + ", 8, {" + value + "}, 8, H2D)";
  }
}

std::string MappingText(const Operation& op) {
  static constexpr const char* kRights[] = {"NONE", "READ", "READWRITE"};
  const std::string buffer = Name('b', op.slot);
  if (op.call == Call::kUnmap) return "aclrtUnmapMem(both pieces of " + buffer + ")";
  if (op.call == Call::kMapAgain) return "aclrtMapMem(both pieces of " + buffer + " again)";
  return "aclrtMemSetAccess(" + buffer + ", device " + std::to_string(op.device) + ", " + kRights[op.value] +
         ")";
}

std::string CallText(const Operation& op) {
  const std::string stream = StreamName(op.stream);
  switch (op.call) {
    case Call::kUseDevice:
      return "aclrtSetDevice(" + std::to_string(op.device) + ")";
    case Call::kSetPeerAccess:
      return op.value != 0 ? "aclrtDeviceEnablePeerAccess(other, 0)" : "aclrtDeviceDisablePeerAccess(other)";
    case Call::kAllocate:
      return Allocation(op);
    case Call::kFree:
      return FreeText(op);
    case Call::kCreateStream:
      return "aclrtCreateStream(&" + Name('s', op.slot) + ")";
    case Call::kDestroyStream:
      return (op.value == 0 ? "aclrtDestroyStream(" : "aclrtDestroyStreamForce(") + stream + ")";
    case Call::kCreateContext:
      return "aclrtCreateContext(&own, " + std::to_string(op.device) + ")";
    case Call::kUseContext:
      return "aclrtSetCurrentContext(own)";
    case Call::kDestroyContext:
      return "aclrtDestroyContext(own)";
    case Call::kStopOnFailure:
      return "aclrtSetStreamFailureMode(" + stream + ", ACL_STOP_ON_FAILURE)";
    case Call::kAbortStream:
      return (op.value == 1 ? "aclrtStreamStop(" : "aclrtStreamAbort(") + stream + ")" +
             (op.value == kWhileSubmitting ? " while another thread records events there" : "");
    case Call::kAbortDevice:
      return "aclrtDeviceTaskAbort(" + std::to_string(op.device) + ", 0)";
    case Call::kUnmap:
    case Call::kMapAgain:
    case Call::kSetAccess:
      return MappingText(op);
    case Call::kCreateNotify:
    case Call::kDestroyNotify:
    case Call::kRecordNotify:
    case Call::kWaitNotify:
    case Call::kResetNotify:
    case Call::kWriteWord:
    case Call::kWaitWord:
    case Call::kSetWord:
      return SignalText(op);
    case Call::kFork:
      return "a second thread begins";
    case Call::kJoin:
      return "the second thread has ended";
    case Call::kFlood:
      return std::to_string(op.height) + " times aclrtMemcpyAsync(" + Where(op.dst) + ", " +
             std::to_string(op.bytes) + ", " + Where(op.src) + "++, " + std::to_string(op.bytes) +
             ", DEFAULT, " + stream + ")";
    case Call::kCreateEvent:
    case Call::kDestroyEvent:
    case Call::kRecord:
    case Call::kWait:
    case Call::kResetEvent:
    case Call::kSyncEvent:
    case Call::kQueryEvent:
      return EventText(op);
    case Call::kSyncStream:
      return op.value == 0 ? "aclrtSynchronizeStream(" + stream + ")"
                           : "aclrtSynchronizeStreamWithTimeout(" + stream + ", 60000)";
    case Call::kSyncDevice:
      return "aclrtSynchronizeDevice()";
    case Call::kQueryStream:
      return "aclrtStreamQuery(" + stream + ")";
    case Call::kCloseGate:
      return "aclrtLaunchHostFunc(" + stream + ", wait for the gate)";
    case Call::kOpenGate:
      return "open the gate";
    case Call::kHostFunction:
      return "aclrtLaunchHostFunc(" + stream + ", add " + std::to_string(op.value) + " to " +
             std::to_string(op.bytes) + " bytes at " + Where(op.dst) + ")";
    case Call::kCopy:
    case Call::kCopyAsync:
    case Call::kCopyRows:
    case Call::kCopyRowsAsync:
      return CopyText(op);
    case Call::kBatch:
      return std::string("aclrtMemcpyBatch") + (op.value == 0 ? "(" : "V2(") + BatchArguments(op) + ")";
    case Call::kBatchAsync:
      return std::string("aclrtMemcpyBatchAsync") + (op.value == 0 ? "(" : "V2(") + BatchArguments(op) +
             "; " + stream + ")";
    case Call::kFill:
    case Call::kFillAsync:
    case Call::kFillWords:
    case Call::kFillWordsAsync:
      return FillText(op);
    case Call::kSetDescriptor:
    case Call::kRewriteDescriptor:
    case Call::kCopyDescriptor:
    case Call::kLaunchDescriptor:
    case Call::kSetCell:
    case Call::kRewriteCell:
    case Call::kCopyThroughCells:
      return IndirectText(op);
    case Call::kVerify:
      return "compare " + Name('b', op.slot);
  }
  return {};
}

}  // namespace

std::string Text(const Operation& op) {
  return (op.thread == 0 ? "" : "thread 1: ") + CallText(op);
}

}  // namespace sampan::model
