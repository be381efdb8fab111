// Compares the cells of examples/pmap_cookbook.hpp with what JAX gives, on 8 devices.
#include "pmap_cookbook.hpp"

#include "support/rule_30.hpp"
#include "support/test.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pmap_cookbook_test {

namespace plx = parallax;

namespace {

/// Both have the same shape, and their elements differ by 1e-5 of their size at most.
template <auto Shape>
void check_close(const plx::array<float, Shape>& found, const plx::array<float, Shape>& expected) {
  REQUIRE(found.shape() == expected.shape());
  for (std::size_t i = 0; i < expected.values().size(); ++i) {
    INFO("element " << i);
    CHECK(found.values()[i] == Approx(expected.values()[i]).epsilon(1e-5).margin(1e-6));
  }
}
void check_close(const auto& found, const auto& expected) { check_close(found.gather(), expected); }

/// The mean of x x^T for a row-major matrix x: over its columns, the squares of their sums.
double mean_of_product(std::span<const float> x, std::size_t rows, std::size_t columns) {
  double total = 0;
  for (std::size_t j = 0; j < columns; ++j) {
    double sum = 0;
    for (std::size_t i = 0; i < rows; ++i) sum += static_cast<double>(x[i * columns + j]);
    total += sum * sum;
  }
  return total / static_cast<double>(rows * rows);
}

} // namespace

TEST_CASE("cookbook 7: pmap maps over the devices") {
  auto squares = cookbook::squares();
  CHECK(squares.devices() == std::vector<int>{0, 1, 2, 3, 4, 5, 6});
  CHECK(array_equal(squares.gather(), plx::array<std::int32_t, 1>{0, 1, 4, 9, 16, 25, 36}));
}

TEST_CASE("cookbook 9: vmap and pmap give the same") {
  auto [by_vmap, by_pmap] = cookbook::additions();
  CHECK(array_equal(by_vmap, plx::array{3.f, 6.f, 9.f}));
  CHECK(array_equal(by_pmap.gather(), plx::array{3.f, 6.f, 9.f}));
  CHECK(by_pmap.devices().size() == 3);
}

TEST_CASE("cookbook 11: vmap makes one product of all, pmap keeps the function") {
  auto [program, program_of_vmap, program_of_pmap] = cookbook::programs();
  CHECK(program == "{ lambda a:float32[2,3] b:float32[3,4] . let\n"
                   "    c:float32[2,4] = dot_general[left_contract=(1) right_contract=(0)] a b\n"
                   "    d:float32[2,4] = tanh c\n"
                   "  in (d,) }");
  CHECK(program_of_vmap ==
        "{ lambda a:float32[8,2,3] b:float32[8,3,4] . let\n"
        "    c:float32[8,2,4] = dot_general[left_contract=(2) right_contract=(1) left_batch=(0) right_batch=(0)] a b\n"
        "    d:float32[8,2,4] = tanh c\n"
        "  in (d,) }");
  CHECK(program_of_pmap.find("= pmap[") != std::string_view::npos);
  CHECK(program_of_pmap.find("c:float32[2,4] = dot_general[left_contract=(1) right_contract=(0)] a b\n"
                             "        d:float32[2,4] = tanh c\n"
                             "      in (d,) }] a b\n") != std::string_view::npos);
}

TEST_CASE("cookbook 12: more elements than devices are refused") {
  CHECK(cookbook::one_element_too_many().starts_with(
      "compiling computation that requires 9 logical devices, but only 8 devices are available (num_replicas=9)"));
}

TEST_CASE("cookbook 13 to 19: a result on devices is one array to other operations, which fetch it") {
  auto [y, z] = cookbook::squares_and_halves();
  CHECK(y.devices().size() == 8);
  CHECK(array_equal(y.gather(), plx::array<std::int32_t, 1>{0, 1, 4, 9, 16, 25, 36, 49}));
  const plx::array halves{0.f, .5f, 2.f, 4.5f, 8.f, 12.5f, 18.f, 24.5f};
  CHECK(array_equal(z, halves));

  plx::reset_transfers();
  CHECK(array_equal(cookbook::halves(y), halves));
  CHECK(plx::transfers().device_to_host == 32);
  check_close(cookbook::sines(y), plx::array{0.f, .841470985f, -.756802495f, .412118485f, -.287903317f, -.132351750f,
                                             -.991778853f, -.953752653f});
  CHECK(cookbook::plot(plx::array<std::int32_t, 1>{0, 1, 4}) == "*\n *\n    *");
}

TEST_CASE("cookbook 21 to 23: matrices are made, multiplied and averaged where they lie") {
  constexpr std::int64_t rows = 70, columns = 90;
  plx::reset_transfers();
  auto matrices = cookbook::make_matrices(rows, columns);
  auto products = cookbook::products(matrices);
  const plx::array means = cookbook::means(products).gather();
  auto moved = plx::transfers();
  // a key each, from where they were made, and a mean each
  CHECK(moved.host_to_device + moved.device_to_device == 8 * 2 * 4);
  CHECK(moved.device_to_host == 8 * 4);

  CHECK(matrices.shape() == std::array<std::int64_t, 3>{8, rows, columns});
  CHECK(products.shape() == std::array<std::int64_t, 3>{8, rows, rows});
  const float first_numbers[] = {1.0040143f,  -2.4424558f, 1.2956359f, -.6219436f,
                                 -1.0208855f, .6373771f,   1.1634994f, -.0625905f};
  for (int device = 0; device < 8; ++device) {
    INFO("device " << device);
    auto matrix = matrices.shard_values(device);
    CHECK(matrix[0] == Approx(first_numbers[device]).epsilon(1e-5));
    CHECK(means(device) == Approx(mean_of_product(matrix, rows, columns)).epsilon(1e-5));
  }
}

TEST_CASE("cookbook 27 and 29: values are divided by their sum over the devices") {
  const plx::array expected{0.f, .16666667f, .33333334f, .5f};
  check_close(cookbook::normalized(), expected);
  check_close(cookbook::normalize(plx::arange<float>(4)), expected);
}

TEST_CASE("cookbook 31: nested maps name the axes they sum over") {
  auto [by_rows, by_columns, by_both] = cookbook::normalize_nested(cookbook::four_by_two());
  check_close(by_rows, plx::array<float, 2>{{0, .0625f}, {.1666667f, .1875f}, {.3333333f, .3125f}, {.5f, .4375f}});
  check_close(by_columns, plx::array<float, 2>{{0, 1}, {.4f, .6f}, {.4444444f, .5555556f}, {.4615385f, .5384615f}});
  check_close(by_both,
              plx::array<float, 2>{{0, 1.f / 28}, {2.f / 28, 3.f / 28}, {4.f / 28, 5.f / 28}, {6.f / 28, 7.f / 28}});
  CHECK(by_rows.devices().size() == 8);
}

TEST_CASE("cookbook 33: Rule 30 on any number of devices") {
  for (std::int64_t devices : {1, 2, 4, 5, 8}) {
    INFO(devices << " devices");
    auto lines = cookbook::rule_30(devices, 20);
    REQUIRE(lines.size() == golden::rule_30_lines.size());
    for (std::size_t i = 0; i < lines.size(); ++i) CHECK(lines[i] == golden::rule_30_lines[i]);
  }
}

TEST_CASE("cookbook 36 and 37: gradients inside of and through nested pmaps with closures") {
  auto x = cookbook::four_by_two();
  check_close(cookbook::f(x),
              plx::array<float, 2>{
                  {0, -.71708295f}, {-3.10852764f, -.4824334f}, {10.36649135f, 13.13510495f}, {.2216303f, -.5211169f}});
  check_close(cookbook::gradient_of_f(x), plx::array<float, 2>{{-3.23696496f, -1.63564421f},
                                                               {4.75718352f, 11.60709515f},
                                                               {-98.52310447f, 42.76511683f},
                                                               {-1.60070897f, -1.25683519f}});
}

} // namespace pmap_cookbook_test
