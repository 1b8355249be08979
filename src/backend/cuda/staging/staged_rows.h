// Rows of pageable memory as parts: packed in a buffer, so many rows at a time.
#pragma once

#include "backend/cuda/paths/copy_path.h"
#include "backend/cuda/staging/staged_parts.h"

namespace sampan::cuda {

/// Rows that are no wider than a part.
class RowParts final : public StagedParts {
 public:
  /// `path`: kEngine or kKernel, as ChooseRows gave it for packed rows on the host's side.
  RowParts(const Rows& rows, Direction direction, CopyPath path, std::size_t part_bytes)
      : rows_(rows), direction_(direction), path_(path), rows_each_(part_bytes / rows.width) {}

  /// The same rows as the GPU sees them: packed in a buffer on the host's side.
  static Rows Packed(const Rows& rows, Direction direction, std::byte* buffer);

  std::size_t count() const override { return DivideUp(rows_.height, rows_each_); }
  void CopyOnHost(std::size_t part, const StagingBuffer& buffer) const override;
  Status Launch(std::size_t part, const StagingBuffer& buffer, StagingStream& stream) const override;

 private:
  Rows At(std::size_t part) const;

  const Rows rows_;
  const Direction direction_;
  const CopyPath path_;
  const std::size_t rows_each_;
};

}  // namespace sampan::cuda
