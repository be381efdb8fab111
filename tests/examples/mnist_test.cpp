// Tests of examples/support/mnist.hpp.
#include "support/mnist.hpp"

#include "idx_bytes.hpp"
#include "support/test.hpp"
#include "temporary_directory.hpp"
#include "thrown_message.hpp"

#include <filesystem>
#include <string>

namespace mnist_test {

using namespace examples;

namespace {

/// A directory with three training and two held-out pictures of 2 rows x 1 column.
struct small_mnist : temporary_directory {
  small_mnist() {
    write("train-images-idx3-ubyte", idx_bytes({3, 2, 1}, std::string("\x00\xff\x33\x66\x99\xcc", 6)));
    write("train-labels-idx1-ubyte", idx_bytes({3}, std::string("\x00\x09\x05", 3)));
    write("t10k-images-idx3-ubyte.gz", gzipped(idx_bytes({2, 2, 1}, "abcd"), path("scratch")));
    write("t10k-labels-idx1-ubyte.gz", gzipped(idx_bytes({2}, "\x01\x02"), path("scratch")));
  }

  std::string fault() const {
    return thrown_message<data_error>([&] { load_mnist(path("")); });
  }
};

} // namespace

TEST_CASE("MNIST is loaded with pixels from 0 to 1, gzipped or not") {
  small_mnist files;
  auto data = load_mnist(files.path(""));
  CHECK(data.training.width == 1);
  CHECK(data.training.height == 2);
  CHECK(data.training.labels == std::vector<int>{0, 9, 5});
  REQUIRE(data.training.pixels.size() == 6);
  CHECK(data.training.pixels[1] == 1.f);
  CHECK(data.training.pixels[2] == Approx(0.2f));
  CHECK(data.held_out.labels == std::vector<int>{1, 2});
  CHECK(data.held_out.picture(1)[1] == Approx(100 / 255.f));
}

TEST_CASE("MNIST files that do not fit together are refused") {
  small_mnist files;
  auto labels = files.path("train-labels-idx1-ubyte");

  files.write("train-labels-idx1-ubyte", idx_bytes({2}, "\x01\x02"));
  CHECK(files.fault() == labels + ": holds 2 labels for the 3 images of " + files.path("train-images-idx3-ubyte"));
  files.write("train-labels-idx1-ubyte", idx_bytes({3}, "\x01\x02\x0a"));
  CHECK(files.fault() == labels + ": label 2 is 10, expected 0 to 9");
  std::filesystem::remove(labels);
  CHECK(files.fault() == files.path("") + ": holds neither train-labels-idx1-ubyte nor train-labels-idx1-ubyte.gz");

  files.write("train-labels-idx1-ubyte", idx_bytes({3}, "\x01\x02\x03"));
  files.write("t10k-images-idx3-ubyte.gz", idx_bytes({2, 1, 2}, "abcd"));
  CHECK(files.fault() == files.path("") + ": the images of train and t10k differ in size");
}

TEST_CASE("a directory that is none is named") {
  temporary_directory directory;
  CHECK(thrown_message<data_error>([&] { load_mnist(directory.path("none")); }) ==
        directory.path("none") + ": is not a directory");
}

} // namespace mnist_test
