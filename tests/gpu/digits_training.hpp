// The classifier of handwritten digits of the examples, trained on one device and on the host.
#pragma once

#include "check.hpp"
#include "stage.hpp"

#include "../../examples/digits_model.hpp"
#include "../../examples/support/batch.hpp"
#include "../../examples/support/dataset.hpp"
#include "../../examples/support/digits_csv.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <random>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace gpu::digits {

namespace plx = parallax;

inline constexpr std::size_t rows = 128; ///< of a batch
inline constexpr float rate = 0.25f;

/// A batch for the one device, as `examples::step` takes it.
using images_and_targets = std::pair<plx::array<float, 3>, plx::array<float, 3>>;
inline std::vector<images_and_targets> batches_of(const examples::dataset& data, std::size_t most, std::uint64_t seed) {
  std::mt19937_64 engine(seed);
  const std::vector<std::size_t> order = examples::permutation(data.size(), engine);
  std::vector<images_and_targets> result;
  for (std::size_t i = 0; i + rows <= order.size() && result.size() < most; i += rows) {
    const auto [images, targets] = examples::make_batch(data, std::span(order).subspan(i, rows));
    const auto count = static_cast<std::int64_t>(rows);
    result.emplace_back(
        plx::array<float, 3>({1, count, static_cast<std::int64_t>(data.features())}, std::span(images)),
        plx::array<float, 3>({1, count, static_cast<std::int64_t>(examples::classes)}, std::span(targets)));
  }
  return result;
}

inline auto random_layer(std::int64_t inputs, std::int64_t outputs, std::mt19937_64& engine) {
  auto weight = plx::array<float, 3>::uninitialised({1, inputs, outputs});
  const double scale = std::sqrt(3. / static_cast<double>(inputs)); // of numbers with a variance of 1 / inputs
  for (std::int64_t i = 0; i < weight.size(); ++i)
    weight.mutable_data()[i] = static_cast<float>(scale * (static_cast<double>(engine() >> 11) * 0x1p-52 - 1));
  return examples::layer{weight, plx::array<float, 2>::filled({1, outputs}, 0)};
}
inline auto random_parameters(std::size_t features) {
  std::mt19937_64 engine(1);
  return std::tuple{random_layer(static_cast<std::int64_t>(features), 128, engine), random_layer(128, 64, engine),
                    random_layer(64, static_cast<std::int64_t>(examples::classes), engine)};
}

/// The parameters after so many passes over the batches, and the last loss.
struct trained {
  std::vector<float> parameters;
  double loss = 0;
};
inline trained train(plx::backend where, std::size_t features, const std::vector<images_and_targets>& batches,
                     int passes) {
  const plx::use_backend here(where);
  const auto first = random_parameters(features);
  trained result;
  const auto keep = [&](const auto& params, const auto& losses) {
    result.loss = static_cast<double>(losses(0));
    plx::tree_for_each(
        [&](const auto& leaf) {
          const auto whole = leaf.gather();
          std::ranges::copy(whole.values(), std::back_inserter(result.parameters));
        },
        params);
  };
  auto [params, losses] = examples::step(first, batches[0].first, batches[0].second, rate);
  for (std::size_t i = 1; i < batches.size() * static_cast<std::size_t>(passes); ++i) {
    const auto& [images, targets] = batches[i % batches.size()];
    std::tie(params, losses) = examples::step(params, images, targets, rate);
  }
  keep(params, losses);
  return result;
}

/// Trains on data under a name: says whether both backends agree, and how many examples the device takes in a second,
/// of batches that come from the host and of those that have come. Returns how much failed.
inline int train_on(const std::string& name, const examples::dataset& data, std::size_t compared, int passes,
                    report& to) {
  const std::vector<images_and_targets> few = batches_of(data, compared, 1);
  require(!few.empty(), name + ": there are fewer pictures than a batch has");
  const trained ours = train(plx::backend::cuda, data.features(), few, passes),
                host = train(plx::backend::host, data.features(), few, passes);
  double farthest = 0;
  for (std::size_t i = 0; i < host.parameters.size(); ++i)
    farthest = std::max(farthest, static_cast<double>(std::abs(ours.parameters[i] - host.parameters[i])));
  const bool same = farthest <= 1e-4 && std::isfinite(ours.loss); // what is no number is not close
  const std::string outcome = same ? "passed" : "failed";
  char found[128];
  std::snprintf(found, sizeof found, "%.2e apart after %zu steps, loss %.4f, on the host %.4f", farthest,
                few.size() * static_cast<std::size_t>(passes), ours.loss, host.loss);
  std::printf("%-44s %s: %s\n", (name + ": the host's parameters").c_str(), outcome.c_str(), found);
  to.write(to.line().text("check", name + ": the host's parameters").text("outcome", outcome).text("message", found));

  const plx::use_backend here(plx::backend::cuda);
  const std::vector<images_and_targets> all = batches_of(data, data.size(), 2);
  auto params = examples::step(random_parameters(data.features()), few[0].first, few[0].second, rate).first;
  for (const char* from : {"from the host", "on the device"}) {
    const auto start = std::chrono::steady_clock::now();
    for (const auto& [images, targets] : all) params = examples::step(params, images, targets, rate).first;
    const auto last = std::get<2>(params).bias.gather(); // waits for what was asked for before
    require(std::isfinite(last.data()[0]), name + ": the parameters are numbers");
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    const double step = seconds / static_cast<double>(all.size());
    const std::string of = name + ", training, batches " + from;
    std::printf("%-44s %.0f examples/s\n", of.c_str(), static_cast<double>(rows) / step);
    to.write(to.line()
                 .text("case", of)
                 .text("who", "parallax")
                 .number("median_us", step * 1e6)
                 .number("samples", static_cast<double>(all.size()))
                 .text("unit", "examples/s")
                 .number("value", static_cast<double>(rows) / step));
  }
  return same ? 0 : 1;
}

/// The bytes of an IDX file behind its extents.
inline std::vector<unsigned char> idx_bytes(const std::string& path, std::size_t extents) {
  std::ifstream file(path, std::ios::binary);
  std::vector<unsigned char> bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  require(bytes.size() > 4 + 4 * extents && bytes[2] == 8 && bytes[3] == extents,
          path + " is no plain IDX file of bytes");
  bytes.erase(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(4 + 4 * extents));
  return bytes;
}
/// The pictures that MNIST's classifiers learn from, of the files as they are unpacked.
inline examples::dataset read_mnist(const std::string& folder) {
  examples::dataset data{28, 28, {}, {}};
  for (const unsigned char pixel : idx_bytes(folder + "/train-images-idx3-ubyte", 3))
    data.pixels.push_back(static_cast<float>(pixel) / 255.f);
  for (const unsigned char label : idx_bytes(folder + "/train-labels-idx1-ubyte", 1)) data.labels.push_back(label);
  require(data.pixels.size() == data.size() * data.features(), "MNIST has a label for each picture of 28 x 28");
  return data;
}

} // namespace gpu::digits
