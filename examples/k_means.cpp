// Finds the centres of clusters by k-means: points lie on several devices, which add up what they have in each round,
// and go round until no point changes its cluster. `k_means FILE` writes the centres, then the points with their
// clusters.
#include "support/claim.hpp"
#include "support/run_example.hpp"
#include "support/table_file.hpp"

#include <parallax/parallax.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <limits>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

namespace plx = parallax;

namespace {

constexpr int clusters = 8, dimensions = 3;
using centres_type = plx::array<float, plx::extents<clusters, dimensions>>;

// Rows of 0s with a 1 where a number says.
constexpr auto one_hot = [](auto numbers) {
  return plx::astype<float>(plx::equal(plx::expand_dims(numbers, plx::axis<1>), plx::arange(clusters)));
};

// The points of one device: as many around each of the true centres.
constexpr auto scatter = [](auto key, auto centres, auto count) {
  auto labels = plx::arange(count) % clusters;
  return plx::dot(one_hot(labels), centres) + plx::random::normal(key, {count, dimensions});
};

// (points, clusters): the squares of distances.
constexpr auto distances = [](auto points, auto centres) {
  return plx::sum(plx::square(plx::expand_dims(points, 1) - centres), 2);
};

// Centres to begin with: some point, then again and again the one that is farthest from all so far.
constexpr auto farthest_points = [](auto points) {
  auto choose = [&](auto number, auto centres) {
    auto nearest = plx::min(distances(points, centres), 1);
    auto own = plx::max(nearest), of_all = plx::pmax<"devices">(own);
    auto holds = plx::astype<float>(plx::equal(own, of_all)); // 1 on the device of that point
    auto here = plx::equal(plx::arange(points.shape(0)), plx::argmax(nearest, 0));
    auto point = plx::dot(plx::astype<float>(here), points);
    auto farthest = plx::psum<"devices">(holds * point) / plx::psum<"devices">(holds);
    return plx::where(plx::equal(plx::broadcasted_iota<std::int32_t, 0>({clusters, 1}), number), farthest, centres);
  };
  auto first = plx::pbroadcast<"devices">(plx::index_in_dim(points, 0), 0);
  return plx::fori_loop(1, clusters, choose, plx::broadcast_to(first, {clusters, dimensions}));
};

// (centres, clusters of this device's points, rounds).
constexpr auto k_means = [](auto points, auto most) {
  auto changing = [&](const auto& carry) {
    return plx::logical_and(std::get<2>(carry) > 0, std::get<3>(carry) < most);
  };
  auto round = [&](const auto& carry) {
    auto [centres, before, changed, rounds] = carry;
    auto nearest = plx::argmin(distances(points, centres), 1);
    auto members = one_hot(nearest);
    auto counts = plx::psum<"devices">(plx::sum(members, 0));
    auto sums = plx::psum<"devices">(plx::dot(plx::transpose(members), points));
    auto column = plx::expand_dims(counts, 1);
    auto means = plx::where(column > 0.f, sums / plx::maximum(column, 1.f), centres); // without points, it stays
    auto moved = plx::psum<"devices">(plx::sum(plx::astype<std::int32_t>(plx::not_equal(nearest, before))));
    return std::tuple{means, nearest, moved, rounds + 1};
  };
  auto nowhere = plx::full_like(plx::argmin(points, 1), -1);
  auto [centres, nearest, changed, rounds] =
      plx::while_loop(changing, round, std::tuple{farthest_points(points), nowhere, 1, 0});
  return std::tuple{centres, nearest, rounds};
};

constexpr auto scatter_on_devices = plx::pmap(scatter, plx::in_axes<0, plx::none, plx::none>);
constexpr auto k_means_on_devices = plx::pmap<"devices">(k_means, plx::in_axes<0, plx::none>);

double square_distance(const float* a, const float* b) {
  double sum = 0;
  for (int d = 0; d < dimensions; ++d) sum += std::pow(static_cast<double>(a[d]) - static_cast<double>(b[d]), 2);
  return sum;
}
/// Which of the centres is nearest, and the square of how far it is.
std::pair<std::int32_t, double> nearest_of(const float* point, const float* centres) {
  std::pair<std::int32_t, double> best{0, std::numeric_limits<double>::infinity()};
  for (std::int32_t c = 0; c < clusters; ++c) {
    const double square = square_distance(point, centres + c * dimensions);
    if (square < best.second) best = {c, square};
  }
  return best;
}

void run(std::span<const char* const> arguments) {
  examples::table_file table(arguments);
  const std::int64_t devices = plx::device_count(), count = 20000 / devices;
  const centres_type truth = 6.f * plx::random::normal(plx::random::key(1), {clusters, dimensions});
  const auto points = scatter_on_devices(plx::random::split(plx::random::key(2), devices), truth, plx::count(count));
  const auto [replicas, nearest, rounds] = k_means_on_devices(points, 100);
  std::cout << devices * count << " points on " << devices << (devices == 1 ? " device" : " devices") << ": "
            << rounds(0) << " rounds\n";
  examples::claim(rounds(0) > 1 && rounds(0) < 100, "clusters change, and cease to");

  // one more round by plain loops: nothing changes
  const plx::array<float, 3> all_points = points;
  const plx::array<float, 3> all_centres = replicas;
  const plx::array<std::int32_t, 2> found = nearest;
  std::vector<double> sums(clusters * dimensions), counts(clusters);
  std::int64_t other = 0;
  for (std::int64_t i = 0; i < devices * count; ++i) {
    const float* point = all_points.data() + i * dimensions;
    const std::int32_t c = nearest_of(point, all_centres.data()).first;
    other += c != found.data()[i];
    counts[static_cast<std::size_t>(c)] += 1;
    for (int d = 0; d < dimensions; ++d)
      sums[static_cast<std::size_t>(c * dimensions + d)] += static_cast<double>(point[d]);
  }
  double largest = 0;
  for (std::size_t k = 0; k < sums.size(); ++k)
    largest =
        std::max(largest, std::abs(sums[k] / counts[k / dimensions] - static_cast<double>(all_centres.data()[k])));
  std::cout << "by plain loops, " << other << " points are nearer to another centre; centres differ by " << largest
            << '\n';
  examples::claim(other == 0 && largest < 1e-3, "another round changes nothing");

  double farthest = 0;
  for (int c = 0; c < clusters; ++c)
    farthest = std::max(farthest, std::sqrt(nearest_of(truth.data() + c * dimensions, all_centres.data()).second));
  std::cout << "every true centre has one within " << farthest << " of it\n";
  examples::claim(farthest < 0.1, "the centres are found");

  for (std::size_t c = 0; c < clusters; ++c) table.row(c, all_centres.values().subspan(c * dimensions, dimensions));
  for (std::size_t i = 0; i < found.values().size(); ++i)
    table.row(found.values()[i], all_points.values().subspan(i * dimensions, dimensions));
  table.finish();
}

} // namespace

int main(int argc, char** argv) {
  return examples::run_example("k_means", argc, argv, [](std::span<const char* const> arguments) { run(arguments); });
}
