// Programs of every kind of step, on both backends, so that all that goes over steps, statements and types is
// instantiated.
#include "support/simulator/compiled_backend.hpp"

#include <parallax/cuda/kernels/products/strided_product.hpp>
#include <parallax/io/save.hpp>
#include <parallax/parallax.hpp>

#include <tuple>
#include <utility>

namespace plx = parallax;

using vector = plx::array<float, 1>;
using matrix = plx::array<float, 2>;

constexpr auto model = [](auto w, auto x) {
  const auto h = plx::relu(plx::dot(x, w) + plx::sum(x, 0));
  const auto [c, ys] = plx::scan([](auto a, auto v) { return std::pair{a + v, a * v}; }, h[0], h);
  const auto either = plx::cond(plx::sum(x) > 0.f, [](auto a) { return a; }, [](auto a) { return -a; }, h * c);
  const auto order = plx::argsort(either);
  return plx::sum(plx::cumsum(either)[order]) + plx::sum(plx::zeros_like(either).at(order).add(either)) +
         plx::sum(plx::softmax(ys));
};
constexpr auto on_devices = plx::pmap<"i">(
    [](auto w, auto x) {
      const auto [loss, g] = plx::value_and_grad(model)(w, x);
      return std::tuple(plx::psum<"i">(loss), w - 0.1f * plx::pmean<"i">(g));
    },
    plx::in_axes<plx::none, 0>);

auto run(const matrix& w, const plx::array<float, 3>& x) { return on_devices(w, x); }
auto run(matrix w, const matrix& x) { return plx::jit(plx::grad(model), plx::donate<0>)(std::move(w), x); }
auto product(const plx::cuda::matrix_product& p) { return plx::cuda::multiply_strided<simulator::api>(p, {}); }
void keep(const vector& x) { plx::save("x.npz", x); }
auto cooled(const vector& x) {
  return plx::jit([](auto a) {
    return plx::while_loop([](auto b) { return plx::sum(b) > 1.f; }, [](auto b) { return b * 0.5f; }, a);
  })(x);
}
