// All streams of a process, and what each of them waits for.
#include "core/streams/stream_roster.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <tuple>
#include <utility>
#include <variant>

#include "backend/api/task.h"
#include "base/error/assert.h"
#include "base/error/text.h"
#include "core/streams/stream.h"

namespace sampan::core {
namespace {

/// How often, and how far apart, a question tries to get the lock.
constexpr int kTries = 50;
constexpr std::chrono::milliseconds kBetweenTries{1};
/// A message names at most so many streams.
constexpr std::size_t kMaxNamed = 8;

/// What was seen of one stream while its queue stood still.
struct StreamView {
  /// A queued task that ends a wait of another stream.
  struct Signal {
    const void* target;
    std::uint64_t task;
    std::string what;
  };

  std::shared_ptr<Stream> stream;
  StreamStand stand = StreamStand::kWorks;
  std::uint64_t head = 0;
  Point awaited;                       // kEvent
  std::optional<std::uint32_t> event;  // none: the order is all that matters
  std::shared_ptr<Gate> gate;          // kGate
  std::shared_ptr<HostWork> work;
  std::vector<Signal> signals;
};

void TakeHead(const Task& task, StreamView& view) {
  if (const auto* wait = std::get_if<WaitTask>(&task)) {
    view.stand = StreamStand::kEvent;
    view.awaited = wait->point;
    if (wait->mark != nullptr) view.event = wait->event;
  } else if (const auto* gate = std::get_if<GateTask>(&task)) {
    view.stand = StreamStand::kGate;
    view.gate = gate->gate.get();
  } else if (const auto* host = std::get_if<HostTask>(&task)) {
    view.stand = StreamStand::kHostFunction;
    view.work = host->work;
  } else {
    view.stand = StreamStand::kDrops;
  }
}

/// True if the queue has yet to notice that it may go on: the thread that tells it is late.
bool IsWaitOver(const StreamView& view) {
  if (view.stand == StreamStand::kEvent) return view.awaited.timeline->completed() >= view.awaited.number;
  return view.stand == StreamStand::kGate && view.gate->Open();
}

StreamView ViewOf(std::shared_ptr<Stream> stream) {
  StreamView view{.stream = std::move(stream)};
  view.stream->Inspect([&](std::uint64_t number, const Task& task) {
    if (view.head == 0) {
      view.head = number;
      TakeHead(task, view);
    }
    if (const auto* effect = std::get_if<EffectTask>(&task); effect != nullptr) {
      if (effect->effect->target() != nullptr)
        view.signals.push_back({effect->effect->target(), number, "signals it"});
    } else if (const auto* word = std::get_if<WordTask>(&task)) {
      view.signals.push_back({word->word, number, Text("writes ", Hex(word->value), " there")});
    }
  });
  if (IsWaitOver(view)) view.stand = StreamStand::kWorks;
  return view;
}

std::string NameOf(const Stream& stream) {
  return Text("stream ", stream.id(), " of device ", stream.label().device);
}

/// The queued task that opens the gate which the stream stands before, and its stream; empty: there is none.
/// One that is queued behind the wait in the same stream counts only if there is no other.
std::string SignallerOf(const std::vector<StreamView>& views, std::size_t index,
                        std::optional<std::size_t>& behind) {
  std::string own;
  for (std::size_t other = 0; other < views.size(); ++other) {
    for (const StreamView::Signal& signal : views[other].signals) {
      if (signal.target != views[index].gate->target()) continue;
      std::string text = Text("task ", signal.task, " of ", NameOf(*views[other].stream), " ", signal.what);
      if (other != index) {
        behind = other;
        return text;
      }
      if (own.empty()) own = Text(text, ", behind the wait in the same stream");
    }
  }
  if (!own.empty()) behind = index;
  return own;
}

/// Fills in what the stream waits for, with all others known.
void Conclude(const std::vector<StreamView>& views, std::size_t index, StreamState& state) {
  const StreamView& view = views[index];
  const auto stands = [&](std::size_t other) {
    const StreamView& it = views[other];
    return it.head != 0 ? Text("; that stream stands at task ", it.head) : std::string();
  };
  switch (view.stand) {
    case StreamStand::kWorks:
    case StreamStand::kDrops:
      return;
    case StreamStand::kEvent: {
      state.wait = view.event ? Text("a wait for event ", *view.event) : "a wait for another stream";
      const auto recorder = std::find_if(views.begin(), views.end(), [&](const StreamView& each) {
        return each.stream->timeline() == view.awaited.timeline.get();
      });
      state.signaller = Text("task ", view.awaited.number, " of ", view.awaited.timeline->Describe(),
                             view.event ? " records it" : " has to complete");
      if (recorder == views.end()) return;
      state.behind = static_cast<std::size_t>(recorder - views.begin());
      state.signaller += stands(*state.behind);
      return;
    }
    case StreamStand::kGate:
      SAMPAN_ASSERT(view.gate != nullptr);
      state.wait = view.gate->Describe();
      state.signaller = SignallerOf(views, index, state.behind);
      if (state.behind && *state.behind != index) state.signaller += stands(*state.behind);
      if (state.signaller.empty()) state.signaller = view.gate->Signaller();
      return;
    case StreamStand::kHostFunction:
      SAMPAN_ASSERT(view.work != nullptr);
      state.wait = view.work->Describe();
      return;
  }
}

StreamState StateOf(const StreamView& view) {
  StreamState state{.device = view.stream->label().device,
                    .stream = view.stream->id(),
                    .queue = view.stream->label().number,
                    .timeline = view.stream->timeline(),
                    .gate = view.gate};
  // In this order: a task that completes meanwhile counts as work left, not as one task too many.
  state.completed = view.head != 0 ? view.head - 1 : view.stream->timeline()->completed();
  state.submitted = view.stream->submitted();
  SAMPAN_ASSERT(state.completed <= state.submitted);
  state.is_full = state.submitted - state.completed >= view.stream->queue_depth();
  state.stand = view.stand;
  return state;
}

}  // namespace

std::string Describe(const StreamState& state) {
  const std::string name = Text("stream ", state.stream, " of device ", state.device);
  const std::string full = state.is_full ? Text("; its queue is full (", state.submitted - state.completed,
                                                " tasks): calls that submit to it wait for this")
                                         : std::string();
  switch (state.stand) {
    case StreamStand::kWorks:
      return Text(name, " works: ", state.completed, " of ", state.submitted, " tasks are completed", full);
    case StreamStand::kDrops:
      return Text(name, " drops its work: ", state.completed, " of ", state.submitted,
                  " tasks are completed");
    case StreamStand::kEvent:
    case StreamStand::kGate:
    case StreamStand::kHostFunction:
      break;
  }
  return Text(name, " stands at task ", state.completed + 1, " of ", state.submitted, ": ", state.wait,
              state.signaller.empty() ? "" : "; ", state.signaller, full);
}

std::vector<std::size_t> FindCycle(const std::vector<StreamState>& states) {
  std::vector<std::size_t> seen(states.size(), SIZE_MAX);  // from which stream on
  for (std::size_t first = 0; first < states.size(); ++first) {
    std::vector<std::size_t> path;
    for (std::optional<std::size_t> at = first; at && seen[*at] >= first; at = states[*at].behind) {
      SAMPAN_ASSERT(!states[*at].behind || *states[*at].behind < states.size());
      if (seen[*at] == first) return {std::find(path.begin(), path.end(), *at), path.end()};
      seen[*at] = first;
      path.push_back(*at);
    }
  }
  return {};
}

void StreamRoster::Add(const std::shared_ptr<Stream>& stream) {
  const std::lock_guard lock(mutex_);
  streams_.emplace(stream.get(), stream);
}

void StreamRoster::Remove(const Stream& stream) noexcept {
  const std::lock_guard lock(mutex_);
  streams_.erase(&stream);
}

Result<std::vector<StreamState>> StreamRoster::Look() const {
  std::vector<std::shared_ptr<Stream>> streams;
  {
    std::unique_lock lock(mutex_, std::try_to_lock);
    for (int tries = 1; !lock.owns_lock() && tries < kTries; ++tries) {
      std::this_thread::sleep_for(kBetweenTries);
      static_cast<void>(lock.try_lock());
    }
    if (!lock.owns_lock())
      return Error{Code::kResourceAllocFail, "a thread that makes or ends a stream holds their list"};
    for (const auto& [key, stream] : streams_) {
      if (auto living = stream.lock()) streams.push_back(std::move(living));
    }
  }
  std::sort(streams.begin(), streams.end(), [](const auto& one, const auto& other) {
    return std::tuple(one->label().device, one->id()) < std::tuple(other->label().device, other->id());
  });
  std::vector<StreamView> views;
  for (auto& stream : streams) {
    if (stream->timeline()->completed() < stream->submitted()) views.push_back(ViewOf(std::move(stream)));
  }
  std::vector<StreamState> states;
  states.reserve(views.size());
  for (const StreamView& view : views)
    states.push_back(StateOf(view));
  for (std::size_t i = 0; i < views.size(); ++i)
    Conclude(views, i, states[i]);
  return states;
}

std::string StreamRoster::Explain(const Timeline& timeline) const {
  auto states = Look();
  if (!states.ok()) return {};
  const auto mine = std::find_if(states->begin(), states->end(),
                                 [&](const StreamState& state) { return state.timeline == &timeline; });
  std::string text;
  std::optional<std::size_t> at =
      mine == states->end() ? std::nullopt : std::optional(static_cast<std::size_t>(mine - states->begin()));
  std::vector<bool> named(states->size());
  for (; at && !named[*at]; at = (*states)[*at].behind) {
    named[*at] = true;
    text += Text(text.empty() ? "" : "; ", Describe((*states)[*at]));
  }
  if (at) text += "; these streams wait for one another";
  return text;
}

std::string StreamRoster::DescribeOthers(const Timeline& timeline) const {
  auto states = Look();
  if (!states.ok()) return {};
  std::string text;
  std::size_t named = 0;
  for (const StreamState& state : *states) {
    if (state.timeline == &timeline || state.stand == StreamStand::kWorks || named == kMaxNamed) continue;
    text += Text(named++ == 0 ? "; at that time " : "; ", Describe(state));
  }
  return text;
}

}  // namespace sampan::core
