// Tests of examples/support/batch.hpp.
#include "support/batch.hpp"

#include "support/test.hpp"
#include "thrown_message.hpp"

#include <vector>

namespace batch_test {

using namespace examples;

TEST_CASE("a batch holds the chosen rows and their one-hot labels") {
  dataset data{2, 1, {0, 1, 2, 3, 4, 5}, {3, 0, 9}};
  std::vector<std::size_t> rows{2, 0};
  auto [images, targets] = make_batch(data, rows);
  CHECK(images == std::vector<float>{4, 5, 0, 1});
  CHECK(targets == std::vector<float>{0, 0, 0, 0, 0, 0, 0, 0, 0, 1, /**/ 0, 0, 0, 1, 0, 0, 0, 0, 0, 0});
}

TEST_CASE("an epoch has as many batches as are full") {
  CHECK(batches_per_epoch(1438, 128, 8) == 11);
  CHECK(batches_per_epoch(256, 128, 1) == 2);
  CHECK(batches_per_epoch(128, 128, 128) == 1);
}

TEST_CASE("a batch that cannot be shared evenly or filled is refused") {
  CHECK(thrown_message<usage_error>([] { batches_per_epoch(1438, 100, 8); }) ==
        "batch size must be divisible by device count, got 100 and 8.");
  CHECK(thrown_message<usage_error>([] { batches_per_epoch(1438, 4, 8); }) ==
        "batch size must be divisible by device count, got 4 and 8.");
  CHECK(thrown_message<usage_error>([] { batches_per_epoch(1438, 1440, 8); }) ==
        "batch size must not exceed the number of training rows, got 1440 and 1438.");
}

} // namespace batch_test
