// The frames of a connection: a header, a table of pieces, the bytes of the pieces.
#include "backend/fabric/links/frames.h"

#include <cstring>

namespace sampan::fabric {

FramePiece Request::piece(std::size_t index) const {
  FramePiece piece;
  std::memcpy(&piece, table.data() + index * sizeof(piece), sizeof(piece));
  return piece;
}

bool ReadRequest(std::span<const std::byte> frame, Request& request) {
  FrameHeader& header = request.header;
  if (frame.size() < sizeof(header) || frame.size() > kMaxFrameBytes) return false;
  std::memcpy(&header, frame.data(), sizeof(header));
  if (header.kind == FrameKind::kSignal)
    return header.pieces == 0 && header.payload_bytes == 0 && frame.size() == sizeof(header);
  if (header.kind != FrameKind::kWrite && header.kind != FrameKind::kRead && header.kind != FrameKind::kFill)
    return false;
  if (header.pieces == 0 || header.pieces > kMaxPieces) return false;
  const std::size_t table_bytes = header.pieces * sizeof(FramePiece);
  const std::span<const std::byte> behind = frame.subspan(sizeof(header));
  if (behind.size() < table_bytes) return false;
  request.table = behind.first(table_bytes);
  request.payload = behind.subspan(table_bytes);
  request.direct = header.kind != FrameKind::kFill && header.pieces <= kMaxDirectPieces;
  for (std::size_t i = 0; i < header.pieces && request.direct; ++i)
    request.direct = request.piece(i).bytes >= kMinDirectBytes;
  const std::uint64_t max_bytes = header.kind == FrameKind::kFill ? kMaxFillBytes
                                  : request.direct                ? kMaxDirectBytes
                                                                  : kMaxPayloadBytes;
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < header.pieces; ++i) {
    const FramePiece piece = request.piece(i);
    if (piece.bytes == 0 || piece.bytes > max_bytes - bytes) return false;
    bytes += piece.bytes;
  }
  const std::uint64_t sent = header.kind == FrameKind::kWrite && !request.direct ? bytes : 0;
  return request.payload.size() == sent && header.payload_bytes == bytes;
}

}  // namespace sampan::fabric
