// Matrix products and random numbers on CUDA devices as on the host.
#include "same_as_host.hpp"

#include <tuple>

namespace gpu {
namespace {

constexpr auto products = plx::jit([](auto a, auto b) {
  return std::tuple{plx::dot(a, b), plx::matmul(plx::transpose(b), plx::transpose(a)),
                    plx::dot_general(b, a, {{0}, {1}, {}, {}}), plx::dot(a, plx::index_in_dim(b, 0, 1))};
});
constexpr auto fused = plx::jit([](auto a, auto b) { return plx::tanh(plx::dot(2.f * a, plx::exp(b))) + 1.f; });
constexpr auto batched = plx::jit(plx::vmap([](auto a, auto b) { return plx::dot(a, b); }));
constexpr auto one_matrix =
    plx::jit(plx::vmap([](auto a, auto b) { return plx::dot(b, a); }, plx::in_axes<plx::none, 0>));
constexpr auto exact = plx::jit(
    [](auto a, auto b) { return std::tuple{plx::dot(a, b), plx::matmul(plx::transpose(b), plx::transpose(a))}; });

template <class T> void check_of(double tolerance) {
  const std::int64_t sizes[][3] = {{1, 1, 1}, {3, 5, 7}, {64, 32, 48}, {33, 1, 65}, {130, 67, 129}};
  for (const auto& [rows, depth, columns] : sizes) {
    same_as_host("products", tolerance, products, samples<T, 2>({rows, depth}, 1),
                 samples<T, 2>({depth, columns}, 1, 2));
    same_as_host("a batch", tolerance, batched, samples<T, 3>({6, rows, depth}, 1),
                 samples<T, 3>({6, depth, columns}, 1, 2));
    same_as_host("one matrix", tolerance, one_matrix, samples<T, 2>({depth, columns}, 1),
                 samples<T, 2>({9, depth}, 1, 2));
  }
}
void check_float() {
  check_of<float>(1e-5);
  same_as_host("products between loops", 2e-5, fused, samples<float, 2>({20, 30}, 0.1),
               samples<float, 2>({30, 40}, 0.1));
}
void check_double() { check_of<double>(1e-12); }
void check_exact() {
  same_as_host("int32", 0, exact, samples<std::int32_t, 2>({20, 30}, 9), samples<std::int32_t, 2>({30, 17}, 9, 2));
  same_as_host("bool", 0, exact, samples<bool, 2>({20, 30}), samples<bool, 2>({30, 17}, 1, 2));
}

constexpr auto draws = plx::jit([](auto key) {
  auto [first, second] = std::pair{plx::random::fold_in(key, 7), plx::random::fold_in(key, 8)};
  return std::tuple{plx::random::split(key, 5),
                    plx::random::bits(first, {1001}),
                    plx::random::bits<std::uint8_t>(key, {77}),
                    plx::random::uniform(second, {13, 31}),
                    plx::random::bernoulli(first, 0.3f, {500}),
                    plx::random::randint(second, {300}, -5, 1000)};
});
constexpr auto normals = plx::jit([](auto key) { return plx::random::normal(key, {1003}); });

void check_random() {
  for (std::uint32_t seed : {0U, 1U, 123456789U}) {
    const plx::array<std::uint32_t, 1> key{0U, seed};
    same_as_host("draws", 0, draws, key);
    same_as_host("normal numbers", 5e-7, normals, key);
  }
}

constexpr check all[] = {{"programs: products, float", check_float},
                         {"programs: products, double", check_double},
                         {"programs: products, whole numbers", check_exact},
                         {"programs: random numbers", check_random}};

} // namespace

std::span<const check> product_programs() { return all; }

} // namespace gpu
