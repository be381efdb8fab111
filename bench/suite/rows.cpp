// Cases that are reductions of a matrix, and what is made of each of its rows.
#include "case.hpp"
#include "families.hpp"
#include "layernorm.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace bench {
namespace {

constexpr auto softmax_of_rows = [](auto x) { return plx::softmax(x, 1); };
/// The gradient of a sum that weighs the results of a function of rows.
template <auto Function>
constexpr auto weighed_gradient =
    plx::jit(plx::grad([](auto x, auto weight) { return plx::sum(Function(x) * weight); }));

#ifdef PARALLAX_BENCH_EIGEN
eigen_rows softmax_of(const Eigen::Map<const eigen_rows>& a) {
  eigen_rows result(a.rows(), a.cols());
  for (Eigen::Index i = 0; i < a.rows(); ++i) {
    result.row(i) = (a.row(i) - a.row(i).maxCoeff()).exp();
    result.row(i) *= 1 / result.row(i).sum();
  }
  return result;
}
Eigen::ArrayXf logsumexp_of(const Eigen::Map<const eigen_rows>& a) {
  Eigen::ArrayXf result(a.rows());
  for (Eigen::Index i = 0; i < a.rows(); ++i) {
    const float most = a.row(i).maxCoeff();
    result[i] = most + std::log((a.row(i) - most).exp().sum());
  }
  return result;
}
eigen_rows layernorm_of(const Eigen::Map<const eigen_rows>& a) {
  eigen_rows result(a.rows(), a.cols());
  for (Eigen::Index i = 0; i < a.rows(); ++i) {
    result.row(i) = a.row(i) - a.row(i).mean();
    result.row(i) *= 1 / std::sqrt(result.row(i).square().mean() + 1e-5f);
  }
  return result;
}
#endif

void add_of_size(std::int64_t rows, std::int64_t columns) {
  const std::string size = " " + std::to_string(rows) + "x" + std::to_string(columns);
  const double bytes = 4. * static_cast<double>(rows * columns);
  const auto x = waves<matrix>({rows, columns}, 0), weight = waves<matrix>({rows, columns}, 1);
  const work of_rows{.read = bytes, .written = 4. * static_cast<double>(rows)};
  const work of_columns{.read = bytes, .written = 4. * static_cast<double>(columns)};
  const work to_all{.read = bytes, .written = bytes};
  const work back{.read = 2 * bytes, .written = bytes};
  const suite_case sum_all("sum all" + size, {.read = bytes}), sum_rows("sum rows" + size, of_rows),
      sum_columns("sum columns" + size, of_columns), max_all("max all" + size, {.read = bytes}),
      max_rows("max rows" + size, of_rows), max_columns("max columns" + size, of_columns),
      argmax_rows("argmax rows" + size, of_rows), softmax("softmax" + size, to_all),
      logsumexp("logsumexp" + size, of_rows), normalised("layernorm" + size, to_all),
      softmax_gradient("softmax" + size + ", gradient", back),
      layernorm_gradient("layernorm" + size + ", gradient", back);
  using number = plx::array<float, 0>;
  sum_all.add("parallax", [=] { return number(plx::jit([](auto a) { return plx::sum(a); })(x)); });
  sum_rows.add("parallax", [=] { return vector(plx::jit([](auto a) { return plx::sum(a, 1); })(x)); });
  sum_columns.add("parallax", [=] { return vector(plx::jit([](auto a) { return plx::sum(a, 0); })(x)); });
  max_all.add("parallax", [=] { return number(plx::jit([](auto a) { return plx::max(a); })(x)); });
  max_rows.add("parallax", [=] { return vector(plx::jit([](auto a) { return plx::max(a, 1); })(x)); });
  max_columns.add("parallax", [=] { return vector(plx::jit([](auto a) { return plx::max(a, 0); })(x)); });
  argmax_rows.add("parallax",
                  [=] { return plx::array<std::int32_t, 1>(plx::jit([](auto a) { return plx::argmax(a, 1); })(x)); });
  softmax.add("parallax", [=] { return matrix(plx::jit(softmax_of_rows)(x)); });
  logsumexp.add("parallax", [=] { return vector(plx::jit([](auto a) { return plx::logsumexp(a, 1); })(x)); });
  normalised.add("parallax", [=] { return matrix(plx::jit(layernorm)(x)); });
  softmax_gradient.add("parallax", [=] { return matrix(weighed_gradient<softmax_of_rows>(x, weight)); });
  layernorm_gradient.add("parallax", [=] { return matrix(weighed_gradient<layernorm>(x, weight)); });
#ifdef PARALLAX_BENCH_EIGEN
  const auto mapped = [=] { return Eigen::Map<const eigen_rows>(x.data(), rows, columns); };
  using one = Eigen::Array<float, 1, 1>;
  sum_all.add("eigen", [=] { return one(mapped().sum()); });
  sum_rows.add("eigen", [=] { return Eigen::ArrayXf(mapped().rowwise().sum()); });
  sum_columns.add("eigen", [=] { return Eigen::ArrayXf(mapped().colwise().sum()); });
  max_all.add("eigen", [=] { return one(mapped().maxCoeff()); });
  max_rows.add("eigen", [=] { return Eigen::ArrayXf(mapped().rowwise().maxCoeff()); });
  max_columns.add("eigen", [=] { return Eigen::ArrayXf(mapped().colwise().maxCoeff()); });
  softmax.add("eigen", [=] { return softmax_of(mapped()); });
  logsumexp.add("eigen", [=] { return logsumexp_of(mapped()); });
  normalised.add("eigen", [=] { return layernorm_of(mapped()); });
#endif
}

} // namespace

void add_rows() {
  for (auto [rows, columns] : {std::pair{128, 128}, {4096, 1024}, {1 << 18, 64}}) add_of_size(rows, columns);
}

} // namespace bench
