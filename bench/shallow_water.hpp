// The linear shallow-water equations on a grid that is cut into blocks of rows, one for each process: what a stencil
// code does, in Parallax and by hand with MPI. Heights are in the middle of cells, velocities on their sides (an
// Arakawa C grid), and a step goes forward for heights and backward for velocities; beyond the sea there is nothing.
#pragma once

#include <parallax/parallax.hpp>

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace shallow_water {

namespace plx = parallax;

/// In units of a cell and of the time that a wave takes for it.
inline constexpr float step_length = 0.3f, rotation = 0.01f;

/// A block of rows with a cell more on each side.
using field = plx::array<float, 2>;
struct state {
  field height, east, north;
};

/// What is `Rows` down and `Columns` to the right of each inner cell.
template <int Rows, int Columns> constexpr auto beside(auto x) {
  constexpr auto cut = []<int Shift>(auto y, int axis) {
    if constexpr (Shift == 1) return plx::slice_in_dim(y, 2, plx::none, 1, axis);
    else return plx::slice_in_dim(y, 1 + Shift, -1 + Shift, 1, axis);
  };
  return cut.template operator()<Columns>(cut.template operator()<Rows>(x, 0), 1);
}

/// What a formula of the cells beside each other says of a block, with what is around it: the neighbours' rows, and
/// nothing beyond the sea. The rows at its edges are computed once more, so that the block is written where it is to
/// be.
constexpr auto with_neighbours = [](auto formula, auto... fields) {
  auto first = formula(plx::slice_in_dim(fields, 0, 3)...), last = formula(plx::slice_in_dim(fields, -3, plx::none)...);
  auto row = [](auto x) { return plx::reshape(plx::pad(x, 0.f, {{0, 0, 0}, {1, 1, 0}}), {-1}); };
  return plx::pad(formula(fields...), 0.f, {{1, 1, 0}, {1, 1, 0}})
      .at(0)
      .set(plx::ppermute<"rows">(row(last), plx::shift{1}))
      .at(-1)
      .set(plx::ppermute<"rows">(row(first), plx::shift{-1}));
};

constexpr auto height_after = [](auto h, auto u, auto v) {
  return beside<0, 0>(h) - step_length * (beside<0, 0>(u) - beside<0, -1>(u) + beside<0, 0>(v) - beside<-1, 0>(v));
};
constexpr auto east_after = [](auto h, auto u, auto v) {
  auto around = 0.25f * (beside<0, 0>(v) + beside<-1, 0>(v) + beside<0, 1>(v) + beside<-1, 1>(v));
  return beside<0, 0>(u) + step_length * (rotation * around - (beside<0, 1>(h) - beside<0, 0>(h)));
};
constexpr auto north_after = [](auto h, auto u, auto v) {
  auto around = 0.25f * (beside<0, 0>(u) + beside<0, -1>(u) + beside<1, 0>(u) + beside<1, -1>(u));
  return beside<0, 0>(v) - step_length * (rotation * around + (beside<1, 0>(h) - beside<0, 0>(h)));
};

constexpr auto step = [](auto h, auto u, auto v) {
  auto height = with_neighbours(height_after, h, u, v);
  return std::tuple{height, with_neighbours(east_after, height, u, v), with_neighbours(north_after, height, u, v)};
};

/// So many steps of the blocks of this process.
constexpr auto advance = plx::pmap<"rows">(
    [](auto h, auto u, auto v, auto steps) {
      return plx::fori_loop(
          0, steps, [](auto, auto s) { return step(std::get<0>(s), std::get<1>(s), std::get<2>(s)); },
          std::tuple{h, u, v});
    },
    plx::in_axes<0, 0, 0, plx::none>);

/// The same by hand.
class by_hand {
 public:
  by_hand(MPI_Comm among, std::int64_t rows, std::int64_t columns, std::vector<float> heights)
      : all(among),
        n(rows),
        m(columns),
        h(std::move(heights)),
        u(h.size()),
        v(h.size()),
        next_u(h.size()),
        next_v(h.size()) {
    MPI_Comm_rank(all, &rank);
    MPI_Comm_size(all, &size);
  }

  void advance(int steps) {
    for (int k = 0; k < steps; ++k) {
      for (std::int64_t i = 1; i <= n; ++i) {
        float* __restrict here = row(h, i);
        const float *east = row(u, i), *north = row(v, i), *south = row(v, i - 1);
        for (std::int64_t j = 1; j <= m; ++j) here[j] -= step_length * (east[j] - east[j - 1] + north[j] - south[j]);
      }
      exchange(h);
      for (std::int64_t i = 1; i <= n; ++i) {
        const float *h0 = row(h, i), *h1 = row(h, i + 1), *u0 = row(u, i), *u1 = row(u, i + 1), *v0 = row(v, i),
                    *v1 = row(v, i - 1);
        float* __restrict to_u = row(next_u, i), * __restrict to_v = row(next_v, i);
        for (std::int64_t j = 1; j <= m; ++j) {
          const float v_around = 0.25f * (v0[j] + v1[j] + v0[j + 1] + v1[j + 1]);
          const float u_around = 0.25f * (u0[j] + u0[j - 1] + u1[j] + u1[j - 1]);
          to_u[j] = u0[j] + step_length * (rotation * v_around - (h0[j + 1] - h0[j]));
          to_v[j] = v0[j] - step_length * (rotation * u_around + (h1[j] - h0[j]));
        }
      }
      std::swap(u, next_u), std::swap(v, next_v);
      exchange(u), exchange(v);
    }
  }
  const std::vector<float>& heights() const { return h; }

 private:
  MPI_Comm all;
  int rank = 0, size = 1;
  std::int64_t n, m;
  std::vector<float> h, u, v, next_u, next_v;

  float* row(std::vector<float>& x, std::int64_t i) { return x.data() + i * (m + 2); }
  void exchange(std::vector<float>& x) {
    const int above = rank > 0 ? rank - 1 : MPI_PROC_NULL, below = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
    const int count = static_cast<int>(m + 2);
    MPI_Sendrecv(row(x, n), count, MPI_FLOAT, below, 0, row(x, 0), count, MPI_FLOAT, above, 0, all, MPI_STATUS_IGNORE);
    MPI_Sendrecv(row(x, 1), count, MPI_FLOAT, above, 1, row(x, n + 1), count, MPI_FLOAT, below, 1, all,
                 MPI_STATUS_IGNORE);
  }
};

} // namespace shallow_water
