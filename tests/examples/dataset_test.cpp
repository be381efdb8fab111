// Tests of examples/support/dataset.hpp.
#include "support/dataset.hpp"

#include "support/test.hpp"
#include "thrown_message.hpp"

#include <algorithm>
#include <random>
#include <vector>

namespace dataset_test {

using namespace examples;

namespace {

/// Pictures of 2x1 pixels that tell their row: (row, -row), labelled row % 10.
dataset numbered(std::size_t rows) {
  dataset data{2, 1, {}, {}};
  for (std::size_t i = 0; i < rows; ++i) {
    data.pixels.push_back(static_cast<float>(i));
    data.pixels.push_back(-static_cast<float>(i));
    data.labels.push_back(static_cast<int>(i % 10));
  }
  return data;
}

} // namespace

TEST_CASE("a permutation holds every number once and depends on the seed only") {
  std::mt19937_64 first(7), again(7), other(8);
  auto order = permutation(1000, first);
  CHECK(order == permutation(1000, again));
  CHECK(order != permutation(1000, other));
  CHECK(order != permutation(1000, first));

  auto sorted = order;
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t i = 0; i < sorted.size(); ++i) REQUIRE(sorted[i] == i);
  CHECK(sorted != order);
}

TEST_CASE("permutations of three are drawn about equally often") {
  std::mt19937_64 engine(0);
  std::vector<int> counts(9);
  for (int i = 0; i < 6000; ++i) {
    auto order = permutation(3, engine);
    ++counts[order[0] * 3 + order[1]];
  }
  for (std::size_t a = 0; a < 3; ++a)
    for (std::size_t b = 0; b < 3; ++b) {
      if (a == b) CHECK(counts[a * 3 + b] == 0);
      else CHECK(std::abs(counts[a * 3 + b] - 1000) < 150); // five standard deviations
    }
}

TEST_CASE("selected rows keep pixels and labels together") {
  std::vector<std::size_t> rows{12, 0, 12};
  auto chosen = select(numbered(20), rows);
  CHECK(chosen.pixels == std::vector<float>{12, -12, 0, 0, 12, -12});
  CHECK(chosen.labels == std::vector<int>{2, 0, 2});
  CHECK(chosen.picture(2)[1] == -12);
}

TEST_CASE("a dataset is divided without overlap, and always alike") {
  auto data = divide(numbered(1797));
  CHECK(data.held_out.size() == 359);
  CHECK(data.training.size() == 1438);
  CHECK(divide(numbered(1797)).held_out.pixels == data.held_out.pixels);

  std::vector<int> seen(1797);
  for (const auto* part : {&data.training, &data.held_out})
    for (std::size_t i = 0; i < part->size(); ++i) {
      auto row = static_cast<std::size_t>(part->picture(i)[0]);
      ++seen[row];
      CHECK(part->labels[i] == static_cast<int>(row % 10));
    }
  CHECK(std::count(seen.begin(), seen.end(), 1) == 1797);
}

TEST_CASE("too few rows cannot be divided") {
  CHECK(divide(numbered(5)).held_out.size() == 1);
  CHECK(thrown_message<data_error>([] { divide(numbered(4)); }) ==
        "at least 5 rows are needed to hold some out, got 4");
}

} // namespace dataset_test
