// Loops and branches as one block runs them. All its threads run the same rounds together, and choose the same branch.
#pragma once

#include <parallax/core/config.hpp>
#include <parallax/core/support/ids.hpp>
#include <parallax/core/version.hpp>
#include <parallax/cuda/api/block.hpp>
#include <parallax/cuda/kernels/block/block_frame.hpp>
#include <parallax/cuda/kernels/block/block_loop_memory.hpp>
#include <parallax/cuda/names.hpp>
#include <parallax/program/static_carries.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION::cuda {

template <int Threads, class Frame> class block_steps;

namespace detail {

/// Copies `count` elements with all threads.
template <class T, class Block>
PARALLAX_DEVICE PARALLAX_INLINE void copy_by_all(const Block& block, std::byte* to, const std::byte* from, int count) {
  for (int i = block.thread(); i < count; i += block.threads())
    block.store(reinterpret_cast<T*>(to) + i, block.load(reinterpret_cast<const T*>(from) + i));
}

} // namespace detail

/// A loop of a section, run by `Threads` threads. `Step` is its record's type.
template <int Threads, class Outer, class Step, int Index> class block_loop_step {
  using program = typename Outer::program;
  using loop = static_carries<program, Step, Index>;
  using all_carries = std::make_index_sequence<loop::carry_count>;
  static constexpr Step step = loop::step;
  static constexpr std::size_t memory = Outer::memory_behind;
  static constexpr std::size_t answer_offset =
                                   memory + [] { return block_loop_memory(program::plan).answer_offset(step); }(),
                               bodies = memory + [] { return block_loop_memory(program::plan).beside_bodies(step); }();

  template <std::size_t K> struct operand {
    static constexpr scan_operand record = loop::operand(K);
    static constexpr std::size_t carry = loop::carry_of(K);
    static constexpr int buffer = static_cast<int>(record.buffer);
    static constexpr bool is_carry = record.role == scan_role::carry, is_stacked = record.role == scan_role::stacked;
    static constexpr std::int64_t slice_bytes = [] {
      for (const buffer_record& b : program::plan[loop::body.buffers])
        if (b.kind == buffer_kind::bound && index_of(b.number) == K)
          return record.slice.number() * static_cast<std::int64_t>(size_of(b.type));
      return std::int64_t{0};
    }();
  };
  template <std::size_t K> struct result {
    static constexpr scan_result record = loop::result(K);
    static constexpr bool is_carry = loop::is_carry(K), stays = loop::stays(K);
    static constexpr int buffer = static_cast<int>(record.buffer);
    static constexpr element_type type_id = loop::output(K).type;
    using type = element_t<type_id>;
    static constexpr std::int64_t slice_bytes = record.slice.number() * static_cast<std::int64_t>(size_of(type_id));
  };
  template <std::size_t C> struct carry {
    static constexpr std::size_t operand = loop::operand_of(C), offset = memory + [] {
      return block_loop_memory(program::plan).carry_offset(step, C);
    }();
    static constexpr std::size_t bytes = [] { return block_loop_memory(program::plan).carry_bytes(step, C); }();
    static constexpr carry_ring ring = [] { return loop::ring(C); }();
    static constexpr int count = static_cast<int>(loop::output(C).count.number());
  };

  /// The addresses that a round reads and writes.
  struct round_places {
    const Outer& outer;
    std::int64_t slice;
    std::int64_t round; ///< its number, by which carries are found

    template <std::size_t K> PARALLAX_DEVICE PARALLAX_INLINE std::byte* value() const {
      using x = operand<K>;
      if constexpr (x::is_carry) return carry_place<x::carry>(outer, round);
      else if constexpr (x::is_stacked) return outer.template address<x::buffer>() + slice * x::slice_bytes;
      else return outer.template address<x::buffer>();
    }
    template <std::size_t K> PARALLAX_DEVICE PARALLAX_INLINE std::byte* output() const {
      using y = result<K>;
      if constexpr (y::is_carry) return carry_place<K>(outer, round + 1);
      else return outer.template address<y::buffer>() + slice * y::slice_bytes;
    }
  };
  /// The addresses that a predicate reads and writes.
  struct question_places : round_places {
    template <std::size_t> PARALLAX_DEVICE PARALLAX_INLINE std::byte* output() const {
      return this->outer.shared + answer_offset;
    }
  };
  template <std::size_t C>
  static PARALLAX_DEVICE PARALLAX_INLINE std::byte* carry_place(const Outer& outer, std::int64_t rounds) {
    constexpr auto size = static_cast<std::uint64_t>(carry<C>::ring.size),
                   first = static_cast<std::uint64_t>(carry<C>::ring.first);
    return outer.shared + (carry<C>::offset + (static_cast<std::uint64_t>(rounds) + first) % size * carry<C>::bytes);
  }

 public:
  template <class Block>
  static PARALLAX_DEVICE PARALLAX_INLINE void run_scan(const Block& block, const Outer& outer, std::int64_t rounds) {
    constexpr bool reverse = step.reverse;
    load(block, outer, all_carries{});
    block.barrier();
    for (std::int64_t round = 0; round < rounds; ++round)
      run_body(block, round_places{outer, reverse ? rounds - 1 - round : round, round}, outer);
    store(block, outer, rounds, all_carries{});
  }
  template <class Block> static PARALLAX_DEVICE PARALLAX_INLINE void run_while(const Block& block, const Outer& outer) {
    load(block, outer, all_carries{});
    block.barrier();
    std::int64_t round = 0;
    for (; holds(block, question_places{{outer, 0, round}}, outer); ++round)
      run_body(block, round_places{outer, 0, round}, outer);
    store(block, outer, round, all_carries{});
  }

 private:
  template <class Block>
  static PARALLAX_DEVICE PARALLAX_INLINE void run_body(const Block& block, const round_places& places,
                                                       const Outer& outer) {
    using frame = section_frame<program, step.body, bodies, round_places>;
    block_steps<Threads, frame>::run(block, frame{places, outer.shared, outer.axis_indices});
  }
  template <class Block>
  static PARALLAX_DEVICE PARALLAX_INLINE bool holds(const Block& block, const question_places& places,
                                                    const Outer& outer) {
    using frame = section_frame<program, step.predicate, bodies, question_places>;
    block_steps<Threads, frame>::run(block, frame{places, outer.shared, outer.axis_indices});
    return block.load(reinterpret_cast<const bool*>(outer.shared + answer_offset));
  }
  template <class Block, std::size_t... C>
  static PARALLAX_DEVICE PARALLAX_INLINE void load(const Block& block, const Outer& outer, std::index_sequence<C...>) {
    (detail::copy_by_all<typename result<C>::type>(block, carry_place<C>(outer, 0),
                                                   outer.template address<operand<carry<C>::operand>::buffer>(),
                                                   carry<C>::count),
     ...);
  }
  template <class Block, std::size_t... C>
  static PARALLAX_DEVICE PARALLAX_INLINE void store(const Block& block, const Outer& outer,
                                                    [[maybe_unused]] std::int64_t rounds, std::index_sequence<C...>) {
    (detail::copy_by_all<typename result<C>::type>(block, outer.template address<result<C>::buffer>(),
                                                   carry_place<C>(outer, rounds), carry<C>::count),
     ...);
  }
};

/// Branches of a section, of which all threads run the same one.
template <int Threads, class Outer, int Index> class block_branches {
  using program = typename Outer::program;
  static constexpr cond_step step = program::plan.template at<cond_step>(Index);
  static constexpr int index = static_cast<int>(step.index);
  static constexpr std::size_t branch_count = index_of(step.branches.count);

  template <std::size_t K> static constexpr int operand = static_cast<int>(program::plan[step.operands][K]);
  template <std::size_t K> static constexpr int result = static_cast<int>(program::plan[step.results][K]);
  template <std::size_t B> static constexpr section_id branch = program::plan[step.branches][B];

  struct branch_places {
    const Outer& outer;
    template <std::size_t K> PARALLAX_DEVICE PARALLAX_INLINE std::byte* value() const {
      return outer.template address<operand<K>>();
    }
    template <std::size_t K> PARALLAX_DEVICE PARALLAX_INLINE std::byte* output() const {
      return outer.template address<result<K>>();
    }
  };

 public:
  template <class Block> static PARALLAX_DEVICE PARALLAX_INLINE void run(const Block& block, const Outer& outer) {
    const std::int32_t chosen = block.load(reinterpret_cast<const std::int32_t*>(outer.template address<index>()));
    run_chosen(block, outer, chosen, std::make_index_sequence<branch_count>{});
  }

 private:
  template <class Block, std::size_t... B>
  static PARALLAX_DEVICE PARALLAX_INLINE void run_chosen(const Block& block, const Outer& outer, std::int32_t chosen,
                                                         std::index_sequence<B...>) {
    ((chosen == std::int32_t{B} ? run_branch<B>(block, outer) : void()), ...);
  }
  template <std::size_t B, class Block>
  static PARALLAX_DEVICE PARALLAX_INLINE void run_branch(const Block& block, const Outer& outer) {
    const branch_places places{outer};
    using frame = section_frame<program, branch<B>, Outer::memory_behind, branch_places>;
    block_steps<Threads, frame>::run(block, frame{places, outer.shared, outer.axis_indices});
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::cuda
