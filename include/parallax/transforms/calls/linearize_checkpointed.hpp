// The derivative of a scan in bounded memory: the way back computes rounds again from few carries that it keeps, by the
// binomial schedule (Griewank and Walther, "Algorithm 799: revolve", 2000).
#pragma once

#include <parallax/core/support/flags.hpp>
#include <parallax/core/support/growing_vector.hpp>
#include <parallax/core/support/ids.hpp>
#include <parallax/core/version.hpp>
#include <parallax/ops/indexing/indexing.hpp>
#include <parallax/transforms/calls/binomial_schedule.hpp>
#include <parallax/transforms/calls/custom_call.hpp>
#include <parallax/transforms/calls/scan_parameters.hpp>
#include <parallax/transforms/calls/while_call.hpp>
#include <parallax/transforms/passes/activity.hpp>
#include <parallax/transforms/passes/reverse.hpp>

#include <cstdint>

namespace parallax::PARALLAX_INLINE_VERSION::detail {

/// A while loop whose carries are a list. `goes_on(list)` is a truth value, `round(list)` the next list.
template <class Predicate, class Body>
constexpr growing_vector<tracer> loop_over(context& trace, const growing_vector<tracer>& init, const Predicate& goes_on,
                                           const Body& round) {
  primitives::while_call::parameters call;
  call.roles.assign(init.size(), scan_role::carry);
  const auto enter = [&] { return vector_of(init, [&](const tracer& x) { return new_input(trace, x.value()); }); };
  call.body = trace.open_graph();
  const growing_vector<tracer> next = round(enter());
  for_each(next, [&](const tracer& y) { add_output(trace, y); });
  trace.close_graph();
  call.predicate = trace.open_graph();
  add_output(trace, goes_on(enter()));
  trace.close_graph();
  growing_vector<tracer> operands = init;
  if (trace.failed) return operands;
  primitives::while_call::add_captures(trace, call, operands);
  return emit_call<primitives::while_call>(trace, operands, call);
}

/// The loop of the forward half is the scan itself, and keeps nothing. The way back is nested loops: each splits its
/// rounds, saves the carry at each split, then recurses from the last part to the first with the slots left, until each
/// round has one.
class checkpointed_linearization {
 public:
  constexpr checkpointed_linearization(const linearize_application& application, const scan_parameters& parameters)
      : trace(application.trace),
        operands(application.operands.begin(), application.operands.end()),
        p(parameters),
        carries(operands_of(parameters.roles, scan_role::carry)),
        wanted(application.wanted) {
    result_flags outputs;
    do outputs = active_outputs(trace, p.body, wanted);
    while (mark_carries(carries, wanted, [&](std::size_t c) { return outputs[c] != 0; }));
    for (std::size_t k = 0; k < operands.size(); ++k) wanted[k] = wanted[k] != 0 && has_derivatives(operands[k].type());
    for (std::size_t r = 0; r < outputs.size(); ++r) {
      const bool is_carry = r < carries.size();
      const bool counts = is_carry ? wanted[index_of(carries[r])] != 0 : outputs[r] != 0;
      if (counts && has_derivatives(trace.at(p.body).type(trace.at(p.body).outputs[r])))
        linear.differentiated_results.push_back(static_cast<int>(r));
    }
  }

  constexpr linearized_call run() {
    if (!is_static(p.length)) {
      trace.fail(
          message() << "checkpointed_scan: the call decides how many rounds there are; the schedule wants a number "
                       "that is known while compiling");
      return {};
    }
    linear.results = emit_call(trace, primitives::id_of<primitives::scan_call>, operands, encode(p));
    linear.operands = operands;
    linear.backward = primitives::id_of<primitives::custom_call>;
    linear.parameters = encode(primitives::custom_call::parameters{make_backward()});
    return linear;
  }

 private:
  using list = growing_vector<tracer>;

  context& trace;
  list operands; ///< in the backward graph: its inputs
  const scan_parameters& p;
  growing_vector<int> carries;
  operand_flags wanted; ///< a carry also if some round makes it depend on a wanted one
  linearized_call linear;
  list result_cotangents; ///< by result of the body; without an owner if there is none

  constexpr int slot_count() const { return p.slots[0]; }
  constexpr tracer number(std::int64_t value) const {
    return build::integer_literal(trace, element_type::int64, value);
  }
  constexpr graph_id make_backward() {
    const graph_id backward = trace.open_graph();
    operands = inputs_like(trace, linear.operands);
    result_cotangents.resize(linear.results.size());
    for_each(linear.differentiated_results,
             [&](int r) { result_cotangents[index_of(r)] = new_input(trace, linear.results[index_of(r)].value()); });
    list slots, work; // slots of all carries; work: the cotangents of wanted operands
    for_each(carries, [&](int k) { slots.push_back(with_slots(operands[index_of(k)])); });
    for (std::size_t k = 0; k < operands.size(); ++k) {
      if (wanted[k] == 0) continue;
      linear.differentiated_operands.push_back(static_cast<int>(k));
      work.push_back(first_cotangent(k));
    }
    const std::int64_t rounds = p.length.number();
    if (rounds > 0)
      work = go_back(checkpoint_repeats(rounds, slot_count()), number(0), number(slot_count() - 1), number(0),
                     number(rounds), slots, work);
    for (std::size_t k = 0; k < work.size() && !trace.failed; ++k) add_output(trace, work[k]);
    trace.close_graph();
    return backward;
  }
  /// An array of slots, the first of which has the carry.
  constexpr tracer with_slots(const tracer& carry) const {
    abstract_value value = strong(carry.value());
    value.shape.insert(0, dim{slot_count()});
    return build::zeros(trace, value).at(number(0)).set(carry);
  }
  /// The cotangent that the way back begins with: for a carry that of the loop's result, zeros for other operands.
  constexpr tracer first_cotangent(std::size_t operand) const {
    for (std::size_t c = 0; c < carries.size(); ++c)
      if (index_of(carries[c]) == operand && result_cotangents[c].owner) return result_cotangents[c];
    const abstract_value value = strong(operands[operand].value());
    // a constant's is a sum, and sums of 16 bits are float32
    return build::zeros(trace, p.roles[operand] == scan_role::constant ? build::widen(value) : value);
  }

  /// binomial(free + k, k), by the number of free slots.
  constexpr tracer reach(const tracer& free, int k) const {
    tracer rounds = number(1);
    for (int i = 1; i <= k; ++i) rounds = emit<primitives::divide>({rounds * (free + number(i)), number(i)});
    return rounds;
  }

  /// The slice that round number `t` reads.
  constexpr tracer slice_of(const tracer& t) const { return p.reverse ? number(p.length.number() - 1) - t : t; }
  /// The inputs of the body in round number `t`.
  constexpr list inputs_of(const list& carried, const tracer& t) const {
    list inputs;
    std::size_t c = 0;
    for (std::size_t k = 0; k < operands.size(); ++k) {
      switch (p.roles[k]) {
      case scan_role::constant: inputs.push_back(operands[k]); break;
      case scan_role::carry: inputs.push_back(carried[c++]); break;
      case scan_role::stacked: inputs.push_back(operands[k][slice_of(t)]); break;
      }
    }
    return inputs;
  }
  constexpr list next_of(const list& carried, const tracer& t) const {
    list outputs = replay_graph(trace, p.body, inputs_of(carried, t));
    outputs.resize(carries.size());
    return outputs;
  }
  constexpr list read(const list& slots, const tracer& slot) const {
    list carried;
    for (std::size_t c = 0; c < carries.size(); ++c) carried.push_back(slots[c][slot]);
    return carried;
  }
  constexpr void write(list& slots, const tracer& slot, const list& carried) const {
    for (std::size_t c = 0; c < carries.size(); ++c) slots[c] = slots[c].at(slot).set(carried[c]);
  }

  /// The carries `count` rounds later.
  constexpr list advance(const list& carried, const tracer& first, const tracer& count) const {
    list round = carried;
    round.push_back(number(0));
    list made = loop_over(
        trace, round, [&](const list& now) { return emit<primitives::less>({now.back(), count}); },
        [&](const list& now) {
          list state = now;
          state.resize(carries.size());
          list next = next_of(state, first + now.back());
          next.push_back(now.back() + number(1));
          return next;
        });
    made.resize(carries.size());
    return made;
  }

  /// The work after the way back through `length` rounds from number `first` on. The carry of round `first` is in slot
  /// `base`, and `free` slots follow that.
  constexpr list go_back(int repeats, const tracer& base, const tracer& free, const tracer& first, const tracer& length,
                         const list& slots, const list& work) const {
    if (trace.failed) return work;
    if (repeats == 1) return through_rounds(base, first, length, slots, work);
    return through_pieces(repeats, base, free, first, length, slots, work);
  }
  /// The way back if each round has a slot.
  constexpr list through_rounds(const tracer& base, const tracer& first, const tracer& length, const list& slots,
                                const list& work) const {
    list sweep = slots;
    sweep.push_back(number(1));
    sweep = loop_over(
        trace, sweep, [&](const list& now) { return emit<primitives::less>({now.back(), length}); },
        [&](const list& now) {
          list next = now;
          const tracer before = now.back() - number(1);
          write(next, base + now.back(), next_of(read(now, base + before), first + before));
          next.back() = now.back() + number(1);
          return next;
        });
    list back = work;
    back.push_back(length - number(1));
    back = loop_over(
        trace, back, [&](const list& now) { return emit<primitives::greater_equal>({now.back(), number(0)}); },
        [&](const list& now) {
          list next = pulled(read(sweep, base + now.back()), first + now.back(), now);
          next.back() = now.back() - number(1);
          return next;
        });
    back.resize(work.size());
    return back;
  }
  /// The way back in pieces. Piece number j has as many rounds as the slots behind its own one suffice for with one
  /// repeat less; the last piece has the rest.
  constexpr list through_pieces(int repeats, const tracer& base, const tracer& free, const tracer& first,
                                const tracer& length, const list& slots, const list& work) const {
    const auto piece = [&](const tracer& j) { return reach(free - j, repeats - 1); };
    list sweep = slots; // and the number of the piece, and where it begins
    sweep.push_back(number(0));
    sweep.push_back(number(0));
    const std::size_t number_of = slots.size(), begin_of = number_of + 1;
    sweep = loop_over(
        trace, sweep,
        [&](const list& now) { return emit<primitives::greater>({length - now[begin_of], piece(now[number_of])}); },
        [&](const list& now) {
          list next = now;
          const tracer count = piece(now[number_of]), after = now[number_of] + number(1);
          write(next, base + after, advance(read(now, base + now[number_of]), first + now[begin_of], count));
          next[number_of] = after;
          next[begin_of] = now[begin_of] + count;
          return next;
        });
    // slots behind a piece's own are free again: the loops inside work on copies of all slots
    list back = work; // and the number of the piece, where it begins, and how long it is
    back.push_back(sweep[number_of]);
    back.push_back(sweep[begin_of]);
    back.push_back(length - sweep[begin_of]);
    const std::size_t j = work.size(), begin = j + 1, rest = j + 2;
    sweep.resize(slots.size());
    back = loop_over(
        trace, back, [&](const list& now) { return emit<primitives::greater_equal>({now[j], number(0)}); },
        [&](const list& now) {
          list inside = now;
          inside.resize(work.size());
          list next = go_back(repeats - 1, base + now[j], free - now[j], first + now[begin], now[rest], sweep, inside);
          const tracer before = now[j] - number(1), count = piece(before);
          next.push_back(before);
          next.push_back(now[begin] - count);
          next.push_back(count);
          return next;
        });
    back.resize(work.size());
    return back;
  }

  /// The work after the derivative of round number `t`, which begins with these carries.
  constexpr list pulled(const list& carried, const tracer& t, const list& work) const {
    const list inputs = inputs_of(carried, t);
    reverse_pass pass(trace, p.body, inputs, wanted);
    const std::size_t results = result_cotangents.size();
    list cotangents(results);
    std::size_t place = 0;
    for (std::size_t k = 0, c = 0; k < operands.size(); ++k) {
      if (p.roles[k] == scan_role::carry) {
        if (wanted[k] != 0) cotangents[c] = work[place];
        ++c;
      }
      if (wanted[k] != 0) ++place;
    }
    for (std::size_t r = carries.size(); r < results; ++r)
      if (result_cotangents[r].owner) cotangents[r] = result_cotangents[r][slice_of(t)];
    const list gradients = pass.backward(cotangents);
    list next = work;
    place = 0;
    for (std::size_t k = 0; k < operands.size() && !trace.failed; ++k) {
      if (wanted[k] == 0) continue;
      tracer& own = next[place++];
      const tracer gradient = gradients[k].owner ? build::broadcast_to(gradients[k], inputs[k].extents())
                                                 : build::zeros(trace, strong(inputs[k].value()));
      switch (p.roles[k]) {
      case scan_role::constant: own = own + build::convert_unrounded(gradient, own.type()); break;
      case scan_role::carry: own = gradient; break;
      case scan_role::stacked: own = own.at(slice_of(t)).set(gradient); break;
      }
    }
    return next;
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::detail
