// libFuzzer target: bytes become the frames of an importer that was let in.
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <iterator>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "backend/fabric/gate/gate.h"
#include "backend/fabric/links/endpoint.h"
#include "backend/fabric/links/frames.h"
#include "backend/fabric/provider/library.h"
#include "backend/fabric/provider/port.h"
#include "tests/fuzz/fuzz_fabric.h"
#include "tests/fuzz/fuzz_input.h"

namespace sampan::fuzz {
namespace {

using fabric::FrameHeader;
using fabric::FrameKind;
using fabric::FramePiece;

constexpr std::size_t kMaxFrames = 64;
constexpr std::chrono::seconds kTimeout{20};

/// The connection of an importer that sends any messages.
class RawImporter final : public fabric::Endpoint::Owner {
 public:
  explicit RawImporter(const PeerName& name) {
    auto admission = fabric::AskForAdmission(name, kTimeout, "the owner");
    if (!admission.ok()) FailInput(admission.error().message.c_str());
    auto route = Port().Route(admission->fabric, admission->local);
    endpoint_ = std::move(*fabric::Endpoint::Make(Port(), **route, *this));
    const auto& ticket = admission->welcome.ticket;
    if (endpoint_->Connect(**route, std::as_bytes(std::span(&ticket, 1))) != 0) FailInput("no connection");
    WaitUntil([&] { return connected_ || broken_; });
    if (broken_) FailInput("an admitted importer is refused");
  }
  ~RawImporter() override {
    endpoint_->Close();
    Poll();
  }
  /// Sends a message and waits until it left.
  void Send(std::span<const std::byte> bytes) {
    sent_ = false;
    const iovec part = {const_cast<std::byte*>(bytes.data()), bytes.size()};
    if (endpoint_->SendBytes({&part, 1}) != 0) broken_ = true;
    WaitUntil([&] { return sent_ || broken_; });
  }
  /// Returns the answer's code, or nothing if the owner closed the connection.
  std::optional<Code> WaitForAnswer() {
    WaitUntil([&] { return answered_ || broken_; });
    if (!answered_) return std::nullopt;
    answered_ = false;
    return static_cast<Code>(answer_.code);
  }
  /// Bytes that follow in a message of their own.
  void Receive(std::size_t bytes) {
    received_ = false;
    local_.resize(bytes);
    const iovec part = {local_.data(), bytes};
    if (endpoint_->ReceiveBytes({&part, 1}) != 0) broken_ = true;
    WaitUntil([&] { return received_ || broken_; });
  }
  void ReceiveAnswer() {
    if (!broken_ && endpoint_->ReceiveFrame() != 0) broken_ = true;
  }
  const FrameHeader& answer() const { return answer_; }

 private:
  static fabric::Port& Port() {
    static fabric::Library library = *fabric::LoadLibrary();
    static fabric::Port& port = *fabric::Port::Open(library)->release();  // until the process exits
    return port;
  }
  template <typename Enough>
  void WaitUntil(Enough enough) {
    const Deadline end = Clock::now() + kTimeout;
    while (!enough()) {
      if (Clock::now() > end) FailInput("the owner neither answers nor closes the connection");
      Poll();
      std::this_thread::yield();
    }
  }
  void Poll() {
    for (fabric::ConnectionEvent event; Port().ReadEvent(event);)
      fabric::Endpoint::Tell(event);
    std::array<fabric::Completion, 8> completions;
    while (const std::size_t count = Port().ReadCompletions(completions)) {
      for (std::size_t i = 0; i < count; ++i)
        fabric::Endpoint::Complete(completions[i]);
    }
  }
  void OnFrame(std::span<const std::byte> frame) override {
    if (frame.size() < sizeof(answer_)) FailInput("an answer without a header");
    std::memcpy(&answer_, frame.data(), sizeof(answer_));
    answered_ = true;
  }
  void OnBytes(std::size_t) override { received_ = true; }
  void OnSent() override {}
  void OnBytesSent() override { sent_ = true; }
  void OnBroken(int) override { broken_ = true; }
  void OnConnected() override { connected_ = true; }
  void OnRefused(int) override { broken_ = true; }
  void OnShutDown() override { broken_ = true; }

  std::unique_ptr<fabric::Endpoint> endpoint_;
  bool connected_ = false, broken_ = false, sent_ = false, answered_ = false, received_ = false;
  FrameHeader answer_;
  std::vector<std::byte> local_;
};

std::uint64_t ChooseOffset(Input& input) {
  constexpr std::uint64_t kEnd = GuardedMemory::kBytes;
  constexpr std::uint64_t kChoices[] = {
      0, 1, 8, 4096, kEnd / 2, kEnd - 4096, kEnd - 1, kEnd, kEnd + 1, UINT64_MAX - 100, UINT64_MAX};
  const std::size_t choice = input.Below(std::size(kChoices) + 8);
  return choice < std::size(kChoices) ? kChoices[choice] : input.Short();
}

std::uint64_t ChooseSize(Input& input) {
  constexpr std::uint64_t kChoices[] = {
      1, 8, 100, 4096, 16383, 16384, 65536, 262144, 1 << 20, 0, GuardedMemory::kBytes, UINT64_MAX};
  const std::size_t choice = input.Below(std::size(kChoices) + 4);
  return choice < std::size(kChoices) ? kChoices[choice] : 1U + input.Byte();
}

/// Gives the pieces sizes that one frame may have.
void Shorten(std::vector<FramePiece>& pieces) {
  bool direct = pieces.size() <= fabric::kMaxDirectPieces;
  for (const FramePiece& piece : pieces)
    direct = direct && piece.bytes >= fabric::kMinDirectBytes;
  const std::uint64_t share = (direct ? fabric::kMaxDirectBytes : fabric::kMaxPayloadBytes) / pieces.size();
  for (FramePiece& piece : pieces)
    piece.bytes = std::clamp<std::uint64_t>(piece.bytes, 1, share);
}

/// A frame that mostly keeps to the rules, and breaks some of them otherwise.
std::vector<std::byte> MakeFrame(Input& input, std::uint64_t request) {
  constexpr FrameKind kRight[] = {FrameKind::kWrite, FrameKind::kWrite, FrameKind::kRead,
                                  FrameKind::kRead,  FrameKind::kFill,  FrameKind::kSignal};
  const bool breaks = input.Below(16) == 0;
  FrameHeader header;
  header.kind = kRight[input.Below(std::size(kRight))];
  if (breaks && input.Below(4) == 0) header.kind = static_cast<FrameKind>(input.Byte());
  header.request = breaks && input.Below(4) == 0 ? input.Long() : request;
  header.pattern = input.Short() * 65539U;
  std::vector<FramePiece> pieces(breaks && input.Below(4) == 0 ? input.Short() : 1 + input.Below(6));
  if (header.kind == FrameKind::kSignal && !breaks) pieces.clear();
  for (FramePiece& piece : pieces)
    piece =
        pieces.size() > 8 ? FramePiece{input.Byte(), 1} : FramePiece{ChooseOffset(input), ChooseSize(input)};
  if (!breaks && !pieces.empty()) Shorten(pieces);
  std::uint64_t bytes = 0;
  for (const FramePiece& piece : pieces)
    bytes += piece.bytes;
  header.pieces = static_cast<std::uint32_t>(pieces.size());
  header.payload_bytes = static_cast<std::uint32_t>(bytes);
  bool direct = pieces.size() <= fabric::kMaxDirectPieces;
  for (const FramePiece& piece : pieces)
    direct = direct && piece.bytes >= fabric::kMinDirectBytes;
  const bool carries = header.kind == FrameKind::kWrite && !direct && bytes <= fabric::kMaxFrameBytes;
  switch (breaks ? input.Below(6) : 6) {
    case 0:
      header.payload_bytes += 1 + input.Byte();
      break;
    case 1:
      header.pieces += 1 + input.Byte();
      break;
    default:
      break;
  }
  std::vector<std::byte> frame(sizeof(header) + pieces.size() * sizeof(FramePiece) + (carries ? bytes : 0),
                               static_cast<std::byte>(input.Byte()));
  std::memcpy(frame.data(), &header, sizeof(header));
  if (!pieces.empty())
    std::memcpy(frame.data() + sizeof(header), pieces.data(), pieces.size() * sizeof(FramePiece));
  switch (breaks ? input.Below(6) : 6) {
    case 0:
      frame.resize(1 + input.Short() % frame.size());
      break;
    case 1:
      frame.resize(frame.size() + 1 + input.Short());
      break;
    default:
      break;
  }
  return frame;
}

/// What the owner must answer to a request that keeps to the rules of frames.
Code CodeOf(const fabric::Request& request, bool read_only) {
  if (request.header.kind == FrameKind::kSignal) return Code::kParamInvalid;  // this is memory
  if (read_only && request.header.kind != FrameKind::kRead) return Code::kNoPermission;
  for (std::size_t i = 0; i < request.header.pieces; ++i) {
    const auto [offset, bytes] = request.piece(i);
    if (offset > GuardedMemory::kBytes || bytes > GuardedMemory::kBytes - offset) return Code::kParamInvalid;
  }
  return Code::kOk;
}

/// Does in the expected bytes what the request asks for.
void Apply(const fabric::Request& request, const std::byte* payload, GuardedMemory& memory) {
  for (std::size_t i = 0; i < request.header.pieces; ++i) {
    const auto [offset, bytes] = request.piece(i);
    if (request.header.kind == FrameKind::kWrite) {
      std::memcpy(memory.expected(offset), payload, bytes);
      payload += bytes;
    } else if (request.header.kind == FrameKind::kFill) {
      for (std::size_t k = 0; k < bytes; ++k)
        *memory.expected(offset + k) = static_cast<std::byte>(request.header.pattern >> (8 * (k % 4)));
    }
  }
}

/// Returns false when the connection has ended.
bool SendOne(RawImporter& importer, Input& input, std::uint64_t number, bool read_only,
             GuardedMemory& memory) {
  const std::vector<std::byte> frame = MakeFrame(input, number);
  fabric::Request request;
  const bool keeps = fabric::ReadRequest(frame, request) && request.header.request == number;
  importer.Send(frame);
  if (!keeps) {
    if (importer.WaitForAnswer()) FailInput("a frame that breaks the rules is answered");
    return false;
  }
  const Code expected = CodeOf(request, read_only);
  const bool reads = request.header.kind == FrameKind::kRead;
  std::vector<std::byte> bytes;
  if (request.direct && !reads) {
    bytes.assign(request.header.payload_bytes, static_cast<std::byte>(input.Byte()));
    importer.Send(bytes);
  }
  const auto code = importer.WaitForAnswer();
  if (code != expected) FailInput("another code than expected", code ? static_cast<int>(*code) : -1);
  if (expected == Code::kOk) Apply(request, request.direct ? bytes.data() : request.payload.data(), memory);
  if (reads && request.direct && expected == Code::kOk) importer.Receive(request.header.payload_bytes);
  importer.ReceiveAnswer();
  return true;
}

}  // namespace
}  // namespace sampan::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sampan;
  using namespace sampan::fuzz;
  fabric::Request request;
  if (fabric::ReadRequest(std::as_bytes(std::span(data, size)), request) &&
      request.table.size() != request.header.pieces * sizeof(fabric::FramePiece) &&
      request.header.kind != FrameKind::kSignal)
    FailInput("a table of another length");
  static FuzzedOwner& owner = *new FuzzedOwner;
  static std::uint64_t inputs = 0;
  Input input({data, size});
  const bool read_only = input.Below(4) == 0;
  GuardedMemory& memory = owner.memory(read_only);
  {
    RawImporter importer(owner.name(read_only));
    for (std::uint64_t number = 1; number <= kMaxFrames && !input.empty(); ++number) {
      if (!SendOne(importer, input, number, read_only, memory)) break;
    }
  }
  memory.Check();
  if (++inputs % 64 == 1) owner.UseHonestly();
  return 0;
}
