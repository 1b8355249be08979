// Makes random programs whose outcome the rules determine.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tests/model/model.h"
#include "tests/model/operation.h"

namespace sampan::model {

/// Random numbers that are the same everywhere.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : state_(seed) {}
  std::uint64_t Next();
  /// 0 to limit - 1.
  int Below(int limit) { return static_cast<int>(Next() % static_cast<std::uint64_t>(limit)); }
  /// Both included.
  std::size_t Between(std::size_t min, std::size_t max) { return min + Next() % (max - min + 1); }
  bool Percent(int chance) { return Below(100) < chance; }

 private:
  std::uint64_t state_;
};

/// Whether the library can map memory at reserved addresses here.
bool MapsMemory();

/// Builds one program. If an operation would race with another one, it first orders it behind that one: by an
/// event, or by a wait of the host.
class Generator {
 public:
  explicit Generator(std::uint64_t seed) : dice_(seed) {}
  /// What a program has for sure, beside what chance gives.
  enum class Theme { kAny, kPools, kMappings, kFloods, kSections };
  Program Make(Theme theme = Theme::kAny);

 private:
  /// Adds the operation if it can be made determinate; says whether it was added.
  bool Emit(const Operation& op, int depth = 0);
  bool Order(const Operation& op, const Verdict& verdict, int depth);
  /// Sends the signal that a stream waits for.
  bool SendSignal(int depth);
  bool Enter(int context, int depth);
  /// Aborts a stream whose signal cannot be sent any more.
  void GiveUp(const Hold& hold);
  void Prologue();
  void Epilogue();

  // generator.cc
  void AddStep();
  void AddMemoryStep();
  void AddStreamStep();
  void AddEventStep();
  void AddSyncStep();
  // generator_scene.cc
  void AddAbortStep();
  void AddContextStep();
  void AddSignalStep();
  void AddWordStep();
  void AddPoolStep();
  void AddMapStep();
  void AddFlood();
  /// From here to its end two threads call.
  void AddSection(Theme theme);
  /// In a section: one thread holds a stream back, and aborts it or lets it go.
  void AddSectionAbort();
  /// Copies, and an event for other streams, behind a gate.
  void QueueBehindGate(int stream);
  // generator_copy.cc
  void AddCopy();
  void AddRows();
  void AddBatch();
  void AddFill();
  void AddDescriptorStep();
  void AddCellStep();
  /// Turns a good operation into one that must be refused, or leaves it.
  void Spoil(Operation& op);
  void SpoilBatch(Operation& op);

  Operation Make(Call call) const;
  int PickBuffer(bool on_device, bool any_device = false);
  int PickAnyBuffer();
  int PickFreeSlot();
  int PickMapped();
  int PickStream();
  int PickEvent(bool recorded);
  std::size_t PickSize();
  /// A range of at most `most` bytes of the buffer, some of them up to its very end.
  Address PickRange(int slot, std::size_t bytes);

  Dice dice_;
  Model model_;
  Program program_;
  int thread_ = 0;     ///< that calls next
  int focus_ = kNull;  ///< the stream that most operations use for a while
};

}  // namespace sampan::model
