// Runs JAX's pmap cookbook notebook on 8 devices: for each cell its code, as it stands in pmap_cookbook.hpp, and what
// it gives. Try `pmap_cookbook --help`. Where mpirun starts it, the devices are those of several processes, of which
// the first prints what all have: `PARALLAX_HOST_DEVICES=4 mpirun -n 2 pmap_cookbook`.
#include "pmap_cookbook.hpp"

#include "support/cookbook_options.hpp"
#include "support/run_in_processes.hpp"
#include "support/source_cells.hpp"

#include <parallax/distributed.hpp>
#include <parallax/parallax.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <span>
#include <string>
#include <string_view>

namespace plx = parallax;
using namespace examples;

namespace {

std::string shape_text(const auto& x) {
  std::string text;
  for (std::int64_t extent : x.shape()) text += (text.empty() ? "" : " x ") + std::to_string(extent);
  return text;
}

void show(std::string_view call, const auto& result) { std::cout << "\n> " << call << '\n' << result << '\n'; }
void show_rows(std::string_view call, const auto& own) { show(call, cookbook::all_rows(own)); }

/// Prints cells' code.
class cell_printer {
 public:
  void operator()(int number) const { std::cout << '\n' << std::string(80, '-') << '\n' << code[number] << '\n'; }

 private:
  source_cells code{std::string(cookbook::source)};
};

void run_first_maps(const cell_printer& cell) {
  cell(7);
  show_rows("squares()", cookbook::squares());

  if (plx::distributed::process_count() <= 3) { // each passes at least one of its three elements
    cell(9);
    const auto [by_vmap, by_pmap] = cookbook::additions();
    show("vmap", by_vmap);
    show_rows("pmap", by_pmap);
  }

  cell(11);
  const auto [program, program_of_vmap, program_of_pmap] = cookbook::programs();
  show("f", program);
  show("vmap(f)", program_of_vmap);
  show("pmap(f)", program_of_pmap);

  cell(12);
  show("one_element_too_many()", cookbook::one_element_too_many());

  cell(13);
  const auto [y, z] = cookbook::squares_and_halves();
  show_rows("y", y);
  show_rows("z", z);
  cell(14);
  show("plot(y)", cookbook::plot(cookbook::all_rows(y)));
  cell(18);
  show_rows("halves(y)", cookbook::halves(y));
  cell(19);
  show_rows("sines(y)", cookbook::sines(y));
}

/// Products of large matrices, with what they move and how long they take.
void run_products(const cell_printer& cell, const cookbook_options& options) {
  plx::reset_transfers();
  const auto start = std::chrono::steady_clock::now();
  cell(21);
  const auto matrices = cookbook::make_matrices(options.rows, options.columns);
  show("make_matrices(rows, columns)", shape_text(matrices));
  cell(22);
  const auto result = cookbook::products(matrices);
  show("products(matrices)", shape_text(result));
  cell(23);
  show_rows("means(result)", cookbook::means(result));
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  const auto moved = plx::transfers();
  std::cout << "\nmoved: " << moved.host_to_device << " bytes to the devices, " << moved.device_to_host
            << " from the devices, " << moved.device_to_device << " between them, in " << seconds.count() << " s\n";
}

void run_collectives(const cell_printer& cell) {
  cell(27);
  show_rows("normalized()", cookbook::normalized());
  cell(29);
  show_rows("normalize(arange(4))", cookbook::normalize(cookbook::own_rows(plx::arange<float>(4))));

  cell(31);
  const auto x = cookbook::four_by_two();
  const auto [by_rows, by_columns, by_both] = cookbook::normalize_nested(x);
  show_rows("by_rows", by_rows);
  show("sum(by_rows, axis<0>)", plx::array(plx::sum(cookbook::all_rows(by_rows), plx::axis<0>)));
  show_rows("by_columns", by_columns);
  show_rows("sum(by_columns, axis<1>)", plx::array(plx::sum(by_columns, plx::axis<1>)));
  show_rows("by_both", by_both);
  show("sum(by_both)", plx::array(plx::sum(cookbook::all_rows(by_both))));

  cell(33);
  std::string lines;
  for (const std::string& line : cookbook::rule_30(8, 20)) lines += (lines.empty() ? "" : "|\n") + line;
  show("rule_30(8, 20)", lines + '|');

  cell(36);
  show_rows("f(x)", cookbook::f(x));
  cell(37);
  show_rows("gradient_of_f(x)", cookbook::gradient_of_f(x));
}

void run(const cookbook_options& options) {
  const cell_printer cell{};
  run_first_maps(cell);
  run_products(cell, options);
  run_collectives(cell);
}

} // namespace

int main(int argc, char** argv) {
  return run_in_processes("pmap_cookbook", argc, argv, [](std::span<const char* const> arguments) {
    const auto options = parse_cookbook_options(arguments);
    if (options.help) std::cout << cookbook_help;
    else run(options);
  });
}
