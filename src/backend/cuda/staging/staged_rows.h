// Divides rows of pageable memory into parts that are packed in a buffer.
#pragma once

#include "backend/cuda/paths/copy_path.h"
#include "backend/cuda/staging/staged_parts.h"

namespace sampan::cuda {

/// Rows that are no wider than a part.
class RowParts final : public StagedParts {
 public:
  /// `path`: kEngine or kKernel, the result of ChooseRows for packed rows on the host's side.
  RowParts(const Rows& rows, Direction direction, CopyPath path, std::size_t part_bytes)
      : rows_(rows), direction_(direction), path_(path), rows_each_(part_bytes / rows.width) {}

  /// The same rows for the GPU's half: packed in a buffer on the host's side.
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
