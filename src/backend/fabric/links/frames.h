// The frames of a connection: a header, a table of pieces, the bytes of the pieces. A few long pieces follow
// in a message of their own, so that their bytes go from memory to memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace sampan::fabric {

enum class FrameKind : std::uint32_t {
  kWrite = 1,  ///< table and bytes; answered by kDone when the bytes are in place
  kRead,       ///< table; answered by kData, or by kDone with a code
  kFill,       ///< table; answered by kDone
  kDone,       ///< header
  kData,       ///< header and the bytes that were read
  kSignal,     ///< header; answered by kDone when the signal is set
};

struct FrameHeader {
  FrameKind kind{};
  std::uint32_t pieces = 0;
  std::uint64_t request = 0;  ///< numbers of a connection's requests grow by 1
  std::uint32_t payload_bytes = 0;
  std::int32_t code = 0;      ///< of kDone
  std::uint32_t pattern = 0;  ///< of kFill
  std::uint32_t reserved = 0;
};

struct FramePiece {
  std::uint64_t offset = 0, bytes = 0;
};

/// Bytes of pieces in a frame. Half as much costs batches of 4 KiB 5 % more time, twice as much saves nothing
/// (bench_hosts).
inline constexpr std::size_t kMaxPayloadBytes = std::size_t{512} << 10;
inline constexpr std::size_t kMaxPieces = 1024;
inline constexpr std::size_t kMaxFrameBytes =
    sizeof(FrameHeader) + kMaxPieces * sizeof(FramePiece) + kMaxPayloadBytes;
/// Up to four pieces, each of at least 16 KiB, travel direct: shorter ones are gathered, which costs less
/// than their system calls.
inline constexpr std::uint64_t kMinDirectBytes = 16384;
inline constexpr std::size_t kMaxDirectPieces = 4;
inline constexpr std::size_t kMaxDirectBytes = std::size_t{4} << 20;
/// A fill sends no bytes. Its frames are bounded so that other requests get their turn.
inline constexpr std::uint64_t kMaxFillBytes = std::uint64_t{4} << 20;

/// A request as it arrived: parts of the frame's bytes.
struct Request {
  FrameHeader header;
  std::span<const std::byte> table, payload;
  bool direct = false;  ///< its bytes, or those of its answer, travel in a message of their own

  FramePiece piece(std::size_t index) const;
};

/// Checks all lengths of a request's frame. Returns false if a frame of ours cannot look like this.
bool ReadRequest(std::span<const std::byte> frame, Request& request);

}  // namespace sampan::fabric
