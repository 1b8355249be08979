// Copies and fills of memory on other hosts.
#include "core/copy/peer_copy.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backend/api/task_memory.h"
#include "base/error/assert.h"
#include "base/error/text.h"
#include "base/reduce/reduce_kernels.h"
#include "core/memory/mapped/peer_mapping.h"
#include "core/memory/mapped/peer_transfer.h"

namespace sampan::core {
namespace {

/// A copy between two other hosts, and the source of a reduction, go through this many bytes here.
constexpr std::size_t kBounceBytes = std::size_t{4} << 20;
/// A thread that waits for a copy of at most this many bytes works on the network itself.
constexpr std::size_t kMaxHelpedBytes = std::size_t{64} << 10;

/// Memory of another host at the engines' addresses, where nothing is.
struct PeerRange {
  const std::byte* begin;
  std::size_t bytes;
  std::shared_ptr<PeerMemory> peer;
};

/// Finds the memory of other hosts among the uses of a task.
class PeerRanges {
 public:
  PeerRanges(const MemoryRegistry& registry, const Task& task) : registry_(registry) {
    const auto add = [this](const AllocationUse& use) {
      Add(use);
      return Status();
    };
    static_cast<void>(VisitUses(task, add));  // each succeeds
  }

  bool empty() const { return ranges_.empty(); }
  /// Text for messages: the first peer.
  std::string Describe() const { return first()->Describe(); }
  const std::shared_ptr<PeerMemory>& first() const { return ranges_.front().peer; }
  /// The range at the address, or null for memory of this host. Cuts `bytes` at the next border.
  const PeerRange* At(const std::byte* address, std::size_t& bytes) const {
    for (const PeerRange& range : ranges_) {
      if (address >= range.begin && address < range.begin + range.bytes) {
        bytes = std::min(bytes, static_cast<std::size_t>(range.begin + range.bytes - address));
        return &range;
      }
      if (address < range.begin) bytes = std::min(bytes, static_cast<std::size_t>(range.begin - address));
    }
    return nullptr;
  }

 private:
  void Add(const AllocationUse& use) {
    if (!use || !use->facts.open_to_peers) return;
    const std::byte* const begin = use->EngineView(use->facts.address);
    for (const PeerRange& range : ranges_) {
      if (range.begin == begin) return;  // a batch has a use for each of its entries
    }
    auto peer = PeerOf(registry_, *use.get());
    if (peer != nullptr) ranges_.push_back({begin, use->facts.bytes, std::move(peer)});
  }

  const MemoryRegistry& registry_;
  std::vector<PeerRange> ranges_;
};

std::size_t BytesOf(const Task& task) {
  if (const auto* copy = std::get_if<CopyTask>(&task)) return copy->segment.bytes;
  if (const auto* rows = std::get_if<RowsTask>(&task)) return rows->rows.width * rows->rows.height;
  if (const auto* batch = std::get_if<BatchTask>(&task)) return batch->bytes;
  if (const auto* fill = std::get_if<FillTask>(&task)) return fill->bytes;
  if (std::holds_alternative<WordTask>(task)) return sizeof(std::uint64_t);
  if (const auto* reduce = std::get_if<ReduceTask>(&task)) return reduce->segment.bytes;
  return BytesOf(std::get<MultiAllocationTask>(task).content->task);
}

/// What goes to or comes from one peer, in parallel to the others of its step.
struct PeerShare {
  std::shared_ptr<PeerMemory> peer;
  PeerTransfer transfer;
};
/// Local pieces are done when the step begins, the shares then, and the next step when all have ended.
struct Step {
  std::vector<Segment> local;
  const ReduceTask* reduction = nullptr;  // the local pieces are combined, not copied
  std::vector<PeerShare> shares;

  void Add(const PeerRange& range, PeerTransfer::Kind kind, const PeerPiece& piece,
           std::uint32_t pattern = 0) {
    auto share = std::find_if(shares.begin(), shares.end(), [&](const PeerShare& each) {
      return each.peer == range.peer && each.transfer.kind == kind && each.transfer.pattern == pattern;
    });
    if (share == shares.end()) share = shares.insert(shares.end(), {range.peer, {kind, {}, pattern}});
    share->transfer.pieces.push_back(piece);
  }
};

std::uint64_t OffsetIn(const PeerRange& range, const std::byte* address) {
  return static_cast<std::uint64_t>(address - range.begin);
}

/// The steps of a task.
class Steps {
 public:
  explicit Steps(const PeerRanges& ranges) : ranges_(ranges), steps_(1) {}

  void AddTask(const Task& task) {
    if (const auto* copy = std::get_if<CopyTask>(&task)) return Add(copy->segment);
    if (const auto* fill = std::get_if<FillTask>(&task)) return AddFill(*fill);
    if (const auto* word = std::get_if<WordTask>(&task)) return AddWord(*word);
    if (const auto* reduce = std::get_if<ReduceTask>(&task)) return AddReduction(*reduce);
    if (const auto* multi = std::get_if<MultiAllocationTask>(&task)) return AddTask(multi->content->task);
    if (const auto* batch = std::get_if<BatchTask>(&task)) {
      for (const Segment& segment : batch->segments.all())
        Add(segment);
    } else {
      const Rows& rows = std::get<RowsTask>(task).rows;
      for (std::size_t i = 0; i < rows.height; ++i)
        Add({rows.dst + i * rows.dst_pitch, rows.src + i * rows.src_pitch, rows.width});
    }
  }
  std::vector<Step> Take() && { return std::move(steps_); }
  std::unique_ptr<std::byte[]> TakeBounce() { return std::move(bounce_); }

 private:
  void Add(Segment segment) {
    while (segment.bytes != 0) {
      std::size_t bytes = segment.bytes;
      const PeerRange* const dst = ranges_.At(segment.dst, bytes);
      const PeerRange* const src = ranges_.At(segment.src, bytes);
      if (dst != nullptr && src != nullptr) bytes = std::min(bytes, kBounceBytes);
      AddPiece({segment.dst, segment.src, bytes}, dst, src);
      segment = {segment.dst + bytes, segment.src + bytes, segment.bytes - bytes};
    }
  }
  void AddPiece(const Segment& piece, const PeerRange* dst, const PeerRange* src) {
    using Kind = PeerTransfer::Kind;
    if (dst == nullptr && src == nullptr) return steps_.front().local.push_back(piece);
    if (src == nullptr) {
      auto* const local = const_cast<std::byte*>(piece.src);  // only read
      return steps_.front().Add(*dst, Kind::kWrite, {local, OffsetIn(*dst, piece.dst), piece.bytes});
    }
    if (dst == nullptr)
      return steps_.front().Add(*src, Kind::kRead, {piece.dst, OffsetIn(*src, piece.src), piece.bytes});
    std::byte* const bounce = Bounce();
    steps_.emplace_back().Add(*src, Kind::kRead, {bounce, OffsetIn(*src, piece.src), piece.bytes});
    steps_.emplace_back().Add(*dst, Kind::kWrite, {bounce, OffsetIn(*dst, piece.dst), piece.bytes});
  }
  std::byte* Bounce() {
    if (bounce_ == nullptr) bounce_ = std::make_unique_for_overwrite<std::byte[]>(kBounceBytes);
    return bounce_.get();
  }
  /// The word is sent from the task, which lives until the end.
  void AddWord(const WordTask& word) {
    auto* const value = reinterpret_cast<std::byte*>(const_cast<std::uint64_t*>(&word.value));
    Add({word.word, value, sizeof(word.value)});
  }
  /// The source is gathered here, then combined. Pieces end between elements.
  void AddReduction(const ReduceTask& reduce) {
    std::byte* const bounce = Bounce();
    for (std::size_t done = 0; done < reduce.segment.bytes;) {
      const std::size_t bytes = std::min(reduce.segment.bytes - done, kBounceBytes);
      steps_.emplace_back();
      for (std::size_t at = 0; at < bytes;) {
        std::size_t part = bytes - at;
        const std::byte* const from = reduce.segment.src + done + at;
        if (const PeerRange* const src = ranges_.At(from, part)) {
          steps_.back().Add(*src, PeerTransfer::Kind::kRead, {bounce + at, OffsetIn(*src, from), part});
        } else {
          steps_.back().local.push_back({bounce + at, from, part});
        }
        at += part;
      }
      Step& combination = steps_.emplace_back();
      combination.reduction = &reduce;
      combination.local.push_back({reduce.segment.dst + done, bounce, bytes});
      done += bytes;
    }
  }
  void AddFill(const FillTask& fill) {
    for (std::size_t done = 0; done < fill.bytes;) {
      std::size_t bytes = fill.bytes - done;
      // Borders of mappings are multiples of the pattern's length away from the first byte only if it is
      // aligned.
      const auto pattern = static_cast<std::uint32_t>(
          done % 4 == 0 ? fill.pattern
                        : fill.pattern >> (8 * (done % 4)) | fill.pattern << (32 - 8 * (done % 4)));
      if (const PeerRange* const range = ranges_.At(fill.dst + done, bytes)) {
        steps_.front().Add(*range, PeerTransfer::Kind::kFill,
                           {nullptr, OffsetIn(*range, fill.dst + done), bytes}, pattern);
      } else {
        for (std::size_t i = 0; i < bytes; ++i)
          fill.dst[done + i] = static_cast<std::byte>(pattern >> (8 * (i % 4)));
      }
      done += bytes;
    }
  }

  const PeerRanges& ranges_;
  std::vector<Step> steps_;
  std::unique_ptr<std::byte[]> bounce_;
};

/// Executes the steps one by one. Owns the task, whose uses keep all memory until the last transfer has
/// ended.
class PeerWork final : public HostWork, public std::enable_shared_from_this<PeerWork> {
 public:
  PeerWork(const MemoryRegistry& registry, Task task, const PeerRanges& ranges)
      : registry_(registry),
        task_(std::move(task)),
        peers_(ranges.Describe()),
        helped_by_(BytesOf(task_) <= kMaxHelpedBytes ? ranges.first() : nullptr) {}

  void Start(std::function<void(Status)> resume) noexcept override {
    resume_ = std::move(resume);
    try {
      Prepare();
    } catch (const std::exception& failure) {
      Fail({Code::kMemoryAllocation, Text("a copy to another host: ", std::string_view(failure.what()))});
      End();
    }
  }
  void Help(const std::function<bool()>& enough) noexcept override { helped_by_->Help(enough); }
  bool takes_help() const override { return helped_by_ != nullptr; }
  std::string Describe() const override { return Text("a copy with ", peers_); }
  bool accesses_memory() const override { return true; }
  const Task* device_task() const override { return &task_; }

 private:
  void Prepare() {
    const auto check = [](const AllocationUse& use) { return CheckLive(use); };
    if (Status live = VisitUses(task_, check); !live.ok()) {
      Fail(std::move(live));
      return End();
    }
    const PeerRanges ranges(registry_, task_);
    Steps steps(ranges);
    steps.AddTask(task_);
    bounce_ = steps.TakeBounce();
    steps_ = std::move(steps).Take();
    RunStep();
  }
  /// Starts the next step that has shares. Its last share calls this again.
  void RunStep() {
    for (; next_ < steps_.size() && !HasFailed(); ++next_) {
      DoLocal(steps_[next_]);
      if (steps_[next_].shares.empty()) continue;
      std::vector<PeerShare> shares = std::move(steps_[next_++].shares);
      shares_left_.store(shares.size());
      for (PeerShare& share : shares) {
        StartObserved(share.peer, std::move(share.transfer), [self = shared_from_this()](Status status) {
          if (!status.ok()) self->Fail(std::move(status));
          if (self->shares_left_.fetch_sub(1) == 1) self->RunStep();
        });
      }
      return;
    }
    End();
  }
  static void DoLocal(const Step& step) {
    for (const Segment& segment : step.local) {
      if (step.reduction == nullptr) {
        std::memmove(segment.dst, segment.src, segment.bytes);
      } else {
        const ReduceTask& how = *step.reduction;
        Reduce({segment.dst, segment.src, segment.bytes / ElementBytes(how.element)}, how.operation,
               how.element);
      }
    }
  }
  void Fail(Status failure) noexcept {
    const std::lock_guard lock(mutex_);
    if (failure_.ok()) failure_ = std::move(failure);
  }
  bool HasFailed() {
    const std::lock_guard lock(mutex_);
    return !failure_.ok();
  }
  void End() noexcept {
    task_.emplace<NoTask>();  // memory is let go before a waiter learns that the task is over
    std::exchange(resume_, nullptr)(std::move(failure_));
  }

  const MemoryRegistry& registry_;
  Task task_;
  const std::string peers_;
  const std::shared_ptr<PeerMemory> helped_by_;  // null for long copies
  std::function<void(Status)> resume_;
  std::unique_ptr<std::byte[]> bounce_;
  std::vector<Step> steps_;
  std::size_t next_ = 0;
  std::atomic<std::size_t> shares_left_{0};
  std::mutex mutex_;
  Status failure_;
};

}  // namespace

Status RouteToPeers(PlanContext context, Plan& plan) {
  if (plan.timing == Timing::kNothing) return {};
  const PeerRanges ranges(context.registry(), plan.task);
  if (ranges.empty()) return {};
  Task task = std::move(plan.task);
  auto work = std::make_shared<PeerWork>(context.registry(), std::move(task), ranges);
  plan.task.emplace<HostTask>(HostTask{std::move(work)});
  return {};
}

Status RunOutside(HostWork& work) {
  std::mutex mutex;
  std::condition_variable changed;
  std::optional<Status> outcome;
  std::atomic<bool> ended{false};
  work.Start([&](Status status) {
    const std::lock_guard lock(mutex);
    outcome.emplace(std::move(status));
    ended.store(true);
    changed.notify_all();
  });
  if (work.takes_help()) work.Help([&] { return ended.load(); });
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return outcome.has_value(); });
  return std::move(*outcome);
}

}  // namespace sampan::core
