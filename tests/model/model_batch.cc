// The reference's batches: all entries are judged before a byte moves.
#include <algorithm>

#include "tests/model/model.h"

namespace sampan::model {
namespace {

Verdict Refused(aclError code, std::optional<std::size_t> fail_index) {
  Verdict verdict;
  verdict.admitted = true;
  verdict.code = code;
  verdict.fail_index = fail_index;
  return verdict;
}

/// A refusal that belongs to no entry.
Verdict WithIndex(Verdict verdict) {
  if (verdict.admitted) verdict.fail_index = SIZE_MAX;
  return verdict;
}

bool Matches(const aclrtMemLocation& said, bool on_device, int device) {
  if (on_device)
    return said.type == ACL_MEM_LOCATION_TYPE_DEVICE && said.id == static_cast<std::uint32_t>(device);
  return said.type == ACL_MEM_LOCATION_TYPE_HOST || said.type == ACL_MEM_LOCATION_TYPE_HOST_NUMA;
}

bool GoodIndexes(const Operation& op) {
  if (op.attributes.empty() || op.attributes.size() > op.entries.size() || op.attributes[0].first != 0)
    return false;
  for (std::size_t k = 1; k < op.attributes.size(); ++k) {
    if (op.attributes[k].first <= op.attributes[k - 1].first) return false;
  }
  return op.attributes.back().first < op.entries.size();
}

const Attribute& Of(const Operation& op, std::size_t entry) {
  std::size_t k = 0;
  while (k + 1 < op.attributes.size() && op.attributes[k + 1].first <= entry)
    ++k;
  return op.attributes[k];
}

bool Clash(const std::vector<Touch>& touches) {
  for (std::size_t i = 0; i < touches.size(); ++i) {
    for (std::size_t j = i + 1; j < touches.size(); ++j) {
      const Touch &a = touches[i], &b = touches[j];
      if (a.buffer == b.buffer && (a.write || b.write) && a.begin < b.end && b.begin < a.end) return true;
    }
  }
  return false;
}

}  // namespace

Verdict Model::Batch(const Operation& op, bool async) {
  const auto& entries = op.entries;
  if (entries.empty()) return Answer(ACL_ERROR_INVALID_PARAM);
  const bool all_empty =
      std::all_of(entries.begin(), entries.end(), [](const Entry& e) { return e.bytes == 0; });
  if (all_empty) return Refused(ACL_SUCCESS, SIZE_MAX);
  for (const Entry& entry : entries) {
    if (entry.dst_max < entry.bytes) return Answer(ACL_ERROR_INVALID_PARAM);
  }
  for (const Attribute& attribute : op.attributes) {
    if (attribute.dirty_reserve) return Answer(ACL_ERROR_INVALID_PARAM);
  }
  Verdict verdict;
  Stream* stream = &defaults_[context_];
  if (async) stream = FindStream(op.stream, verdict);
  if (stream == nullptr) return verdict;
  if (!GoodIndexes(op)) return Refused(ACL_ERROR_RT_PARAM_INVALID, SIZE_MAX);

  std::set<std::size_t> bad;
  std::vector<Touch> host_touches, queued_touches;
  bool drains = false;
  std::optional<bool> upwards;  // the direction of the first entry
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const Entry& entry = entries[i];
    const bool null = entry.dst.slot == kNull || entry.src.slot == kNull;
    if (null || (async && entry.bytes == 0)) {
      bad.insert(i);
      continue;
    }
    const Site dst = Locate(entry.dst, std::max<std::size_t>(entry.bytes, 1));
    const Site src = Locate(entry.src, std::max<std::size_t>(entry.bytes, 1));
    if (!dst.known || !src.known) return Undetermined();
    const Attribute& said = Of(op, i);
    const bool wrong = !dst.usable || !src.usable || dst.device_side == src.device_side ||
                       !Matches(said.dst, dst.device_side, dst.device) ||
                       !Matches(said.src, src.device_side, src.device) ||
                       (upwards && *upwards != dst.device_side);
    if (wrong && entry.bytes == 0) return Undetermined();
    if (wrong) bad.insert(i);
    if (!upwards) upwards = dst.device_side;
    const bool pageable = dst.pageable || src.pageable;
    drains = drains || pageable;
    if (dst.buffer == nullptr || src.buffer == nullptr) continue;
    if (!dst.buffer->all_rights() || !src.buffer->all_rights()) return Undetermined();
    auto& touches = async && !pageable ? queued_touches : host_touches;
    touches.push_back({dst.buffer, entry.dst.offset, entry.dst.offset + entry.bytes, true});
    touches.push_back({src.buffer, entry.src.offset, entry.src.offset + entry.bytes, false});
  }
  const bool foreign = async && Foreign(*stream);
  if (bad.size() > 1 || (!bad.empty() && foreign)) return Undetermined();
  if (async && drains && !MayDrain(*stream, verdict)) return verdict;
  if (!bad.empty()) return Refused(ACL_ERROR_RT_PARAM_INVALID, *bad.begin());
  if (foreign) return drains ? Undetermined() : Refused(ACL_ERROR_RT_STREAM_CONTEXT, SIZE_MAX);

  std::vector<Touch> all = host_touches;
  all.insert(all.end(), queued_touches.begin(), queued_touches.end());
  if (Clash(all)) return Undetermined();
  Clock known = host();
  if (async && drains) known.Join(Last(*stream));
  if (!Ordered(host_touches, known, verdict)) return verdict;
  if (!queued_touches.empty() && !MayQueue(*stream, queued_touches, verdict)) return WithIndex(verdict);
  host() = known;
  // Entries stay apart from each other, so those for the host can all come first.
  Effect by_host = Moves(entries, [&](const Entry& e) { return !async || Pageable(e); });
  Effect by_stream = Moves(entries, [&](const Entry& e) { return async && !Pageable(e); });
  if (!host_touches.empty()) DoNow(host_touches, std::move(by_host));
  if (!queued_touches.empty()) {
    Task task;
    task.effect = std::move(by_stream);
    Queue(*stream, queued_touches, std::move(task));
  }
  return Refused(ACL_SUCCESS, SIZE_MAX);
}

bool Model::Pageable(const Entry& entry) const {
  return !buffers_[entry.dst.slot].known_to_runtime() || !buffers_[entry.src.slot].known_to_runtime();
}

Effect Model::Moves(const std::vector<Entry>& entries, const std::function<bool(const Entry&)>& which) {
  std::vector<Effect> moves;
  for (const Entry& entry : entries) {
    if (entry.bytes != 0 && which(entry)) moves.push_back(Move(entry.dst, entry.src, entry.bytes));
  }
  return [moves](Image& image) {
    for (const Effect& move : moves)
      move(image);
  };
}

}  // namespace sampan::model
