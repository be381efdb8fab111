// A drum's skin: the wave equation on a square that is cut into blocks over a mesh of devices. Thousands of steps are
// one call, and in each the devices exchange the edges of their blocks. Where mpirun starts it, the rows of the mesh
// lie in several processes: `mpirun -n 2 wave_equation`. `wave_equation FILE` lets a drop fall onto the skin, too, and
// writes the rows of the skin after some steps.
#include "support/claim.hpp"
#include "support/run_in_processes.hpp"
#include "support/table_file.hpp"

#include <parallax/distributed.hpp>
#include <parallax/parallax.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <numbers>
#include <span>
#include <string>
#include <tuple>

namespace plx = parallax;

namespace {

// (before, now) after so many steps, of a block whose neighbours' edges `around` tells: (above, below, left, right).
// The speed is in cells for each step.
constexpr auto advance = [](auto before, auto now, auto speed, auto steps, const auto& around) {
  auto step = [&](auto, auto state) {
    auto [last, u] = state;
    auto [above, below, left, right] = around(u);
    auto rows = plx::concatenate({above, u, below});
    auto columns = plx::concatenate({left, u, right}, 1);
    auto laplacian = plx::slice_in_dim(rows, 0, -2) + plx::slice_in_dim(rows, 2, plx::none) +
                     plx::slice_in_dim(columns, 0, -2, 1, 1) + plx::slice_in_dim(columns, 2, plx::none, 1, 1) - 4. * u;
    return std::tuple{u, 2. * u - last + speed * speed * laplacian};
  };
  return plx::fori_loop(0, steps, step, std::tuple{before, now});
};

// The whole square, which is 0 around.
constexpr auto advance_square = [](auto before, auto now, auto speed, auto steps) {
  auto around = [](auto u) {
    auto row = plx::zeros_like(plx::slice_in_dim(u, 0, 1)), column = plx::zeros_like(plx::slice_in_dim(u, 0, 1, 1, 1));
    return std::tuple{row, row, column, column};
  };
  return advance(before, now, speed, steps, around);
};

// One block of it. What is shifted beyond the end of the mesh is lost, and zeros come from there.
constexpr auto advance_block = [](auto before, auto now, auto speed, auto steps) {
  auto around = [](auto u) {
    return std::tuple{plx::ppermute<"rows">(plx::slice_in_dim(u, -1, plx::none), plx::shift{1}),
                      plx::ppermute<"rows">(plx::slice_in_dim(u, 0, 1), plx::shift{-1}),
                      plx::ppermute<"columns">(plx::slice_in_dim(u, -1, plx::none, 1, 1), plx::shift{1}),
                      plx::ppermute<"columns">(plx::slice_in_dim(u, 0, 1, 1, 1), plx::shift{-1})};
  };
  return advance(before, now, speed, steps, around);
};
// Arguments and results are (mesh rows, rows of a block, mesh columns, columns of a block).
constexpr auto advance_row_of_mesh =
    plx::pmap<"columns">(advance_block, plx::in_axes<1, 1, plx::none, plx::none>, plx::out_axes<1>);
constexpr auto advance_mesh = plx::pmap<"rows">(advance_row_of_mesh, plx::in_axes<0, 0, plx::none, plx::none>);

/// The mesh of at most so many devices that cuts n into equal parts: as many as possible, as near a square as possible.
struct mesh_shape {
  std::int64_t rows = 1, columns = 1;
};
mesh_shape mesh_of(std::int64_t devices, std::int64_t n) {
  mesh_shape best;
  for (std::int64_t rows = 1; rows * rows <= devices; ++rows) {
    std::int64_t columns = devices / rows;
    while (n % columns != 0) --columns;
    if (n % rows == 0 && rows * columns >= best.rows * best.columns) best = {rows, columns};
  }
  return best;
}

/// The largest difference between two arrays.
double difference(const plx::array<double, 2>& a, const plx::array<double, 2>& b) {
  return plx::array(plx::max(plx::abs(a - b))).item();
}

constexpr std::int64_t n = 120; // cells in each direction; around them the skin is held
constexpr std::int64_t steps = 2000;
constexpr double speed = 0.5;

/// A standing wave: what the scheme makes of it is known exactly, however large its cells and steps.
plx::array<double, 2> wave_at(std::int64_t step) {
  constexpr double pi = std::numbers::pi, across = 3 * pi / (n + 1), down = 2 * pi / (n + 1);
  const double curvature = 4 * (std::pow(std::sin(across / 2), 2) + std::pow(std::sin(down / 2), 2));
  const double frequency = 2 * std::asin(speed * std::sqrt(curvature) / 2);
  auto u = plx::array<double, 2>::uninitialised({n, n});
  double* values = u.mutable_data();
  for (std::int64_t i = 1; i <= n; ++i)
    for (std::int64_t j = 1; j <= n; ++j)
      *values++ = std::sin(down * static_cast<double>(i)) * std::sin(across * static_cast<double>(j)) *
                  std::cos(frequency * static_cast<double>(step));
  return u;
}
/// The skin where a drop has fallen.
plx::array<double, 2> drop() {
  auto u = plx::array<double, 2>::uninitialised({n, n});
  for (std::int64_t i = 0; i < n * n; ++i)
    u.mutable_data()[i] =
        std::exp(-(std::pow(static_cast<double>(i / n - 45), 2) + std::pow(static_cast<double>(i % n - 40), 2)) / 18);
  return u;
}

void run(std::span<const char* const> arguments) {
  const plx::array<double, 2> before = wave_at(-1), now = wave_at(0);

  using clock = std::chrono::steady_clock;
  auto report = [&](const std::string& where, clock::duration time, const plx::array<double, 2>& u) {
    const double error = difference(u, wave_at(steps));
    std::cout << where << steps << " steps of " << n << " x " << n << " cells in "
              << std::chrono::duration<double, std::milli>(time).count() << " ms, from the exact wave " << error
              << '\n';
    examples::claim(error < 1e-8, "the wave stands as it should");
  };
  auto start = clock::now();
  const auto [last, whole] = plx::jit(advance_square)(before, now, speed, plx::count(steps));
  report("one device: ", clock::now() - start, whole);

  const std::int64_t processes = plx::distributed::process_count();
  const auto [own_rows, columns] = mesh_of(plx::distributed::local_device_count(), n / processes);
  const std::int64_t rows = own_rows * processes, own_cells = n * n / processes;
  auto in_blocks = [&](const plx::array<double, 2>& u) { // those of this process
    const double* first = u.data() + plx::distributed::process_index() * own_cells;
    return plx::array<double, 4>({own_rows, n / rows, columns, n / columns},
                                 std::span(first, static_cast<std::size_t>(own_cells)));
  };
  auto on_mesh = [&](const plx::array<double, 2>& u, const plx::array<double, 2>& v, std::int64_t count) {
    const auto [last_blocks, blocks] = advance_mesh(in_blocks(u), in_blocks(v), speed, plx::count(count));
    auto joined = plx::array<double, 2>::uninitialised({n, n});
    double* next = joined.mutable_data();
    for (const plx::array<double, 4>& part : plx::distributed::gather(blocks.gather()))
      next = std::copy(part.data(), part.data() + part.size(), next);
    return joined;
  };
  start = clock::now();
  const plx::array<double, 2> joined = on_mesh(before, now, steps);
  report(std::to_string(rows) + " x " + std::to_string(columns) + " devices: ", clock::now() - start, joined);

  std::cout << "difference between them " << difference(joined, whole) << '\n';
  examples::claim(difference(joined, whole) < 1e-10, "blocks and the whole are the same but for rounding");

  if (arguments.empty()) return;
  const plx::array<double, 2> later = on_mesh(drop(), drop(), 110);
  if (plx::distributed::process_index() != 0) return;
  examples::table_file table(arguments);
  for (std::size_t i = 0; i < std::size_t{n}; ++i) table.row(later.values().subspan(i * n, n));
  table.finish();
}

} // namespace

int main(int argc, char** argv) {
  return examples::run_in_processes("wave_equation", argc, argv,
                                    [](std::span<const char* const> arguments) { run(arguments); });
}
