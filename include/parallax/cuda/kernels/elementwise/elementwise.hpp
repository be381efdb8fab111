// Fused elementwise kernels. Rows are cut into vectors, which a thread loads and stores as one, and single elements;
// loops that collapse to one dimension are one row.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/cuda/kernels/loop/evaluate.hpp>
#include <parallax/cuda/kernels/loop/launch_context.hpp>
#include <parallax/cuda/names.hpp>

namespace parallax::PARALLAX_INLINE_VERSION::cuda {

template <class Kernel> struct elementwise {
  using evaluate = evaluator<Kernel>;
  using T = typename evaluate::value_type;
  static constexpr bool barriers = false;
  static constexpr int max_threads = detail::elementwise_threads;

  struct arguments {
    typename evaluate::loop_type loop;
    cut_rows rows;
  };

  using place = place_of<typename evaluate::loop_type>;

  template <class Block> static PARALLAX_DEVICE PARALLAX_INLINE void run(const Block& block, const arguments& a) {
    if constexpr (evaluate::has_vectors) run_pieces<evaluate::width>(block, a, a.rows.vectors);
    run_pieces<1>(block, a, a.rows.singles);
  }

  /// Stores the results of the elements from `p` on.
  template <int Width, class Block, class Place>
  static PARALLAX_DEVICE PARALLAX_INLINE void write(const Block& block, const typename evaluate::loop_type& l,
                                                    const Place& p) {
    store(block, l, p, evaluate::template run<Width>(block, l, p));
  }

 private:
  template <int Width, class Block>
  static PARALLAX_DEVICE PARALLAX_INLINE void store(const Block& block, const typename evaluate::loop_type& l,
                                                    const place& p, const lanes<T, Width>& results) {
    std::int32_t row = row_offset(l, 0, p);
    if constexpr (Width > 1) {
      vector_of<T, Width> vector;
      PARALLAX_DEVICE_UNROLL
      for (int i = 0; i < Width; ++i) vector.values[i] = results.value[i];
      block.store(reinterpret_cast<vector_of<T, Width>*>(detail::address<T>(l, 0, row + p.inner)), vector);
    } else {
      std::int32_t stride = evaluate::result_is_vector ? 1 : l.operands[0].strides[innermost];
      block.store(detail::address<T>(l, 0, row + p.inner * stride), results.value[0]);
    }
  }
  template <int Width, class Block>
  static PARALLAX_DEVICE PARALLAX_INLINE void run_pieces(const Block& block, const arguments& a,
                                                         const row_pieces& pieces) {
    const std::uint32_t threads = threads_of(block);
    const std::uint32_t step = blocks_of(block) * threads;
    for (std::uint32_t i = block_of(block) * threads + thread_of(block); i < pieces.count; i += step) {
      unaligned_place<evaluate::loop_type::operand_count> p;
      pieces.move(a.loop, 0, a.loop.rank - 1, i, Width, p);
      if constexpr (evaluate::has_vectors) {
        if (a.rows.peeled) {
          const T* const row = detail::address<const T>(a.loop, 0, row_offset(a.loop, 0, p));
          a.rows.template peel<Width>(detail::steps_to_vector<evaluate::width>(row), p);
        }
      }
      const place& aligned = p;
      // if a result's vectors are aligned, an operand's may still not be
      const bool apart = Width > 1 && a.rows.peeled;
      typename evaluate::template state<Width> loaded;
      if (apart) evaluate::template load<Width>(block, a.loop, p, loaded);
      else evaluate::template load<Width>(block, a.loop, aligned, loaded);
      store(block, a.loop, p, evaluate::template compute<Width>(block, loaded));
      if (apart) evaluate::template store<Width>(block, a.loop, p, loaded);
      else evaluate::template store<Width>(block, a.loop, aligned, loaded);
    }
  }
};

namespace detail {

template <launch_api Api, class Kernel>
status launch_rows(const kernel_arguments& a, const launch_context<Api>& where) {
  using evaluate = evaluator<Kernel>;
  std::int64_t rows = 1, length = a.rank > 0 ? a.extents[a.rank - 1] : 1;
  for (int d = 0; d + 1 < a.rank; ++d) rows *= a.extents[d];
  const bool peeled = evaluate::has_vectors && !evaluate::is_aligned(a);
  typename elementwise<Kernel>::arguments arguments{typename evaluate::loop_type(a),
                                                    peeled ? cut_rows::peeled_of(rows, length, evaluate::width)
                                                           : cut_rows(rows, length, evaluate::vector_width(a))};
  std::int64_t pieces = std::max(arguments.rows.vectors.count, arguments.rows.singles.count);
  launch_shape shape{block_count(pieces, elementwise_threads, where), elementwise_threads};
  return Api::launch(elementwise<Kernel>{}, shape, where.stream, arguments);
}

} // namespace detail

} // namespace parallax::PARALLAX_INLINE_VERSION::cuda
