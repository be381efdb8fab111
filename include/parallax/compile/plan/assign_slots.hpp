// Memory for the intermediate results of a section.
#pragma once

#include <parallax/compile/plan/find_in_place.hpp>
#include <parallax/compile/plan/start_early.hpp>
#include <parallax/core/support/growing_vector.hpp>
#include <parallax/core/support/ids.hpp>
#include <parallax/core/version.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace parallax::PARALLAX_INLINE_VERSION::detail {

/// Buffers that are not live at the same time share a slot; a slot is as large as the largest of them. If sizes are
/// known, a slot that holds a large buffer at one time holds several small ones side by side at another. The result of
/// an elementwise loop takes over the memory of an operand that the loop is the last to read, element by element. So
/// does the result of an all-reduce.
class slot_assigner {
 public:
  constexpr slot_assigner(const plan_builder& records, planned_section& of)
      : plan(records), section(of), owner(of.buffers.size(), buffer_id::none), in_place(records, of) {}

  constexpr void run() {
    find_lifetimes();
    find_owners();
    assign_all(false);
    assign_all(true); // in slots that may not be needed
    for_each(section.buffers.ids(), [&](buffer_id id) {
      if (owner[id] == buffer_id::none) return;
      record(id).number = record(owner[id]).number;
      record(id).offset = record(owner[id]).offset;
      record(id).output = record(owner[id]).output;
    });
    section.slot_count = count_of(slots);
  }

 private:
  /// A slot, with its first buffer's number of elements and their size. If sizes are known, no buffer of it is larger.
  struct slot {
    std::int64_t count = 0; ///< the word of an extent
    std::size_t element_size = 0;
    std::int64_t bytes = 0; ///< of the first buffer, if its size is known
    growing_vector<buffer_id> buffers{};
    bool has_known_sizes = true;
  };

  const plan_builder& plan;
  planned_section& section;
  table<buffer_id, buffer_id> owner; ///< by buffer of a slot: the first buffer in the same memory, perhaps itself
  growing_vector<buffer_id> owners;  ///< in the order in which they are needed
  in_place_finder in_place;
  growing_vector<std::uint64_t> live; ///< a member: nvcc may lose a list of a function that is called so deep
  growing_vector<slot> slots;
  /// `words_of_steps()` words for each slot: a bit for each step in which a buffer of the slot is live.
  growing_vector<std::uint64_t> live_steps;

  constexpr step_record step(int s) const { return section.steps[index_of(s)]; }
  constexpr int last_step() const { return count_of(section.steps) - 1; }
  constexpr bool is_exchange(int s) const { return step(s).kind == step_kind::exchange; }
  constexpr buffer_record& record(buffer_id id) { return section.buffers[id].record; }
  constexpr const buffer_record& record(buffer_id id) const { return section.buffers[id].record; }

  /// Exchanges that follow each other may run together, in any order unless one reads another's result. So their
  /// buffers are live in all of these steps.
  constexpr void find_lifetimes() {
    int begin = 0, end = -1; // the steps that may run together with this one
    for (int s = 0; s <= last_step(); ++s) {
      if (s > end) {
        begin = end = s;
        while (is_exchange(s) && end < last_step() && is_exchange(end + 1)) ++end;
      }
      visit_buffers(plan, step(s), [&](buffer_id id) {
        planned_buffer& b = section.buffers[id];
        if (b.first_step < 0) b.first_step = begin;
        b.last_step = std::max(b.last_step, end);
      });
      if (is_exchange(s)) keep_until_wanted(s);
    }
  }
  /// An exchange may run at any time until a step wants its result: until then its operand is live too.
  constexpr void keep_until_wanted(int s) {
    const exchange_step& exchange = plan.at<exchange_step>(step(s).index);
    int until = s + 1;
    while (until <= last_step() && !touches(plan, step(until), exchange.result)) ++until;
    int& last = section.buffers[exchange.source].last_step;
    last = std::max(last, std::min(until, last_step()));
  }

  /// Finds the buffers that take over another one's memory, the owner's, and extends the owner's lifetime to theirs.
  constexpr void find_owners() {
    growing_vector<growing_vector<buffer_id>> beginning(section.steps.size()); // by step: the buffers first used there
    for_each(section.buffers.ids(), [&](buffer_id id) {
      const planned_buffer& b = section.buffers[id];
      if (b.record.kind == buffer_kind::slot && b.first_step >= 0) beginning[index_of(b.first_step)].push_back(id);
    });
    id_set<buffer_id> taken(section.buffers.size());
    table<buffer_id, buffer_id> last(section.buffers.size(), buffer_id::none); // by owner: its memory's last buffer
    for (int s = 0; s <= last_step(); ++s)
      for_each(beginning[index_of(s)], [&](buffer_id id) {
        const buffer_id from = in_place.taken_by(id, s, [&](buffer_id operand) {
          return taken.contains(operand) || owner[operand] == buffer_id::none; // not placed yet
        });
        if (from == buffer_id::none) owners.push_back(id);
        else taken.insert(from);
        owner[id] = from == buffer_id::none ? id : owner[from];
        last[owner[id]] = id;
      });
    id_set<buffer_id> holding(section.buffers.size()); // outputs whose memory holds another buffer before
    for_each(owners, [&](buffer_id id) {
      const buffer_id output = in_place.output_behind(last[id]);
      if (output != buffer_id::none && !holding.contains(output)) {
        record(id).output = record(output).number;
        holding.insert(output);
      }
      section.buffers[id].last_step = section.buffers[last[id]].last_step;
    });
  }

  /// Assigns slots to the owners that may lie in an output's memory, or to all others: first to those of unknown sizes,
  /// then from large to small.
  constexpr void assign_all(bool may_lie_in_output) {
    growing_vector<buffer_id> known;
    for (std::size_t k = 0; k < owners.size(); ++k) {
      if ((record(owners[k]).output >= 0) != may_lie_in_output) continue;
      if (has_known_size(owners[k])) known.push_back(owners[k]);
      else assign(owners[k]);
    }
    for (std::int64_t bytes = largest_below(known, INT64_MAX); bytes >= 0; bytes = largest_below(known, bytes))
      for (std::size_t k = 0; k < known.size(); ++k)
        if (bytes_of(known[k]) == bytes) assign(known[k]);
  }
  constexpr bool has_known_size(buffer_id id) const { return is_static(record(id).count); }
  constexpr std::int64_t bytes_of(buffer_id id) const {
    return record(id).count.number() * static_cast<std::int64_t>(size_of(record(id).type));
  }
  /// The largest size of these that is below another; -1 for none.
  constexpr std::int64_t largest_below(const growing_vector<buffer_id>& of, std::int64_t bytes) const {
    std::int64_t largest = -1;
    for (std::size_t k = 0; k < of.size(); ++k)
      if (bytes_of(of[k]) < bytes) largest = std::max(largest, bytes_of(of[k]));
    return largest;
  }

  /// Takes a slot with room whose first buffer is as large, or the last slot with room: since larger buffers come
  /// first, that one fits best. The loop asks all slots about each buffer, so it calls little.
  constexpr void assign(buffer_id id) {
    const planned_buffer& b = section.buffers[id];
    const std::int64_t count = b.record.count.word();
    const std::size_t element_size = size_of(b.record.type);
    const bool has_known = has_known_size(id);
    const std::int64_t bytes = has_known ? bytes_of(id) : 0;
    find_lifetime(b);
    const std::uint64_t *const own_steps = live.data(), *const all_steps = live_steps.data();
    const int words = words_of_steps();
    const int first_word = b.first_step / 64, last_word = b.last_step / 64;
    const slot* const all = slots.data();
    const int none = count_of(slots);
    int chosen = none;
    std::int64_t offset = 0;
    for (int k = none; k-- > 0;) {
      const slot& in = all[k];
      const bool is_as_large = in.element_size == element_size && in.count == count;
      if (chosen < none && !is_as_large) continue;
      const std::uint64_t* const steps = all_steps + k * words;
      bool is_free = true;
      for (int word = first_word; word <= last_word; ++word) is_free = is_free && (steps[word] & own_steps[word]) == 0;
      std::int64_t room = 0;
      if (!is_free) {
        // a place beside another begins at a multiple of the alignment
        if (in.bytes <= slot_alignment || 2 * bytes > in.bytes || !in.has_known_sizes || !has_known) continue;
        room = room_beside(in, id);
        if (room < 0) continue;
      }
      chosen = k, offset = room;
      if (is_as_large) break;
    }
    if (chosen == none) {
      slots.push_back({count, element_size, bytes});
      live_steps.resize(live_steps.size() + live.size(), 0);
    }
    record(id).number = chosen;
    record(id).offset = offset;
    slot& in = slots[index_of(chosen)];
    in.buffers.push_back(id);
    in.has_known_sizes = in.has_known_sizes && has_known;
    for (int word = 0; word < words; ++word) live_steps.data()[chosen * words + word] |= live.data()[word];
  }
  constexpr int words_of_steps() const { return count_of(section.steps) / 64 + 1; }
  /// Sets `live` to one bit for each step in which a buffer is live.
  constexpr void find_lifetime(const planned_buffer& b) {
    live.assign(index_of(words_of_steps()), 0);
    std::uint64_t* const words = live.data();
    for (int s = b.first_step; s <= b.last_step; ++s) words[s / 64] |= std::uint64_t{1} << (s % 64);
  }
  /// The offset at which a buffer has room beside others that are live at the same time; -1 for none. Asked only if the
  /// sizes are known, and the buffer is at most half as large as the slot.
  constexpr std::int64_t room_beside(const slot& in, buffer_id id) const {
    std::int64_t offset = 0;
    for (buffer_id other = in_the_way(in, id, 0); other != buffer_id::none; other = in_the_way(in, id, offset)) {
      const std::int64_t end = record(other).offset + bytes_of(other);
      offset = (end + slot_alignment - 1) / slot_alignment * slot_alignment;
    }
    return offset + bytes_of(id) <= in.bytes ? offset : -1;
  }
  /// A buffer of the slot that is live at the same time as `id`, and overlaps `id` if that lies at `offset`; otherwise
  /// `none`.
  constexpr buffer_id in_the_way(const slot& in, buffer_id id, std::int64_t offset) const {
    for (std::size_t k = 0; k < in.buffers.size(); ++k) {
      const buffer_id other = in.buffers[k];
      const std::int64_t begin = record(other).offset, end = begin + bytes_of(other);
      if (meet(section.buffers[id], section.buffers[other]) && begin < offset + bytes_of(id) && offset < end)
        return other;
    }
    return buffer_id::none;
  }
  static constexpr bool meet(const planned_buffer& a, const planned_buffer& b) {
    return a.first_step <= b.last_step && b.first_step <= a.last_step;
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::detail
