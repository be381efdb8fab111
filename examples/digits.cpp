// Learns to read handwritten digits on several devices at once: one program, many data (SPMD), as in JAX's
// spmd_mnist_classifier_fromscratch example. Try `digits --help`.
//
// Every device holds the same parameters and gets its own part of each batch. `update` is written for one device;
// `pmap` runs it on all of them, and the collective `pmean` inside it makes the gradients, and so the parameters, the
// same everywhere. Results of `pmap` stay on their devices and feed its next call from there. Where mpirun starts it,
// each process has its own devices, and its own part of each batch: `mpirun -n 2 digits`.
#include "digits_model.hpp"
#include "support/batch.hpp"
#include "support/digits_csv.hpp"
#include "support/digits_options.hpp"
#include "support/draw_digits.hpp"
#include "support/mnist.hpp"
#include "support/parameter_file.hpp"
#include "support/progress_bar.hpp"
#include "support/run_in_processes.hpp"

#include <parallax/distributed.hpp>
#include <parallax/parallax.hpp>

#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iomanip>
#include <iostream>
#include <optional>
#include <random>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

// Where the digits that come with the example lie; the build says where that is.
#ifndef PARALLAX_EXAMPLES_DATA
#define PARALLAX_EXAMPLES_DATA "examples/data"
#endif

namespace plx = parallax;
using namespace examples;

namespace {

// Puts one copy of the parameters on each device.
constexpr auto place = plx::pmap<"batch">([](auto params) { return params; });

// Which digit each picture shows, on one device.
constexpr auto classify = plx::jit([](auto params, auto images) { return plx::argmax(predict(params, images), 1); });

// ---- Parameters ---------------------------------------------------------------------------------

/// A layer for each device, all the same: normally distributed weights, scaled to keep the size of what passes through,
/// and zero biases.
auto random_layer(const auto& key, std::int64_t inputs, std::int64_t outputs, std::int64_t devices) {
  const float scale = 1.f / std::sqrt(static_cast<float>(inputs));
  plx::array<float, 3> weight =
      plx::zeros({devices, inputs, outputs}) + scale * plx::random::normal(key, {inputs, outputs});
  plx::array<float, 2> bias = plx::zeros({devices, outputs});
  return layer{weight, bias};
}

/// The first parameters, a copy on each device.
auto initial_parameters(const digits_options& options, std::int64_t features, std::int64_t devices) {
  const auto key = plx::random::key(options.seed);
  const auto [first, second] = options.hidden;
  const auto last = static_cast<std::int64_t>(classes);
  return place(std::tuple{random_layer(plx::random::fold_in(key, 0), features, first, devices),
                          random_layer(plx::random::fold_in(key, 1), first, second, devices),
                          random_layer(plx::random::fold_in(key, 2), second, last, devices)});
}

/// The copy of the first device: all are the same.
auto on_one_device(const auto& params) {
  return plx::tree_map([](const auto& leaf) { return leaf[0]; }, params);
}

void save(parameter_file& file, const auto& params) {
  const char* names[] = {"first.weight", "first.bias", "second.weight", "second.bias", "last.weight", "last.bias"};
  std::size_t leaf = 0;
  plx::tree_for_each([&](const auto& array) { file.write(names[leaf++], array.shape(), array.values()); }, params);
  file.finish();
}

// ---- The program --------------------------------------------------------------------------------

std::string fixed(double value, int digits) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(digits) << value;
  return text.str();
}

double percentage_right(std::span<const std::int32_t> answers, std::span<const int> labels) {
  std::size_t right = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) right += answers[i] == labels[i];
  return 100. * static_cast<double>(right) / static_cast<double>(labels.size());
}

/// Draws a line of held-out digits with the answers they got, and a line of digits that were misread.
void show_digits(const dataset& data, std::span<const std::int32_t> answers) {
  auto count = pictures_per_line(data.width, 80);
  auto draw = [&](bool misread_only) {
    std::vector<captioned_picture> pictures;
    for (std::size_t i = 0; i < data.size() && pictures.size() < count; ++i) {
      bool right = answers[i] == data.labels[i];
      if (right && misread_only) continue;
      auto caption = "reads " + std::to_string(answers[i]) + (right ? "" : ", is " + std::to_string(data.labels[i]));
      pictures.push_back({data.width, data.height, data.picture(i), caption});
    }
    if (pictures.empty()) return;
    std::cout << '\n' << (misread_only ? "Misread:" : "Held-out digits:") << '\n';
    draw_pictures(std::cout, pictures);
  };
  draw(false);
  draw(true);
}

/// How many devices there are of all processes, of which each has equally many.
std::size_t choose_devices(const digits_options& options) {
  auto available = static_cast<std::size_t>(plx::distributed::device_count());
  auto processes = static_cast<std::size_t>(plx::distributed::process_count());
  auto devices = options.devices.value_or(available);
  if (devices % processes != 0)
    throw usage_error("--devices asks for " + std::to_string(devices) + " devices of " + std::to_string(processes) +
                      " processes");
  if (devices > available)
    throw usage_error("--devices asks for " + std::to_string(devices) + " devices, there are " +
                      std::to_string(available));
  return devices;
}

/// Trains on all whole batches of `training` in the given order of its rows, of each on the part of this process, which
/// has so many devices. Returns the mean loss.
double train(auto& params, const dataset& training, std::span<const std::size_t> order, const digits_options& options,
             std::int64_t devices, progress_bar& bar) {
  const std::int64_t all_devices = devices * plx::distributed::process_count();
  const auto rows = static_cast<std::int64_t>(options.batch) / all_devices; // on each device
  const auto features = static_cast<std::int64_t>(training.features());
  const auto steps = order.size() / options.batch;
  const auto own_part = [&](const std::vector<float>& whole) {
    const std::size_t size = whole.size() / static_cast<std::size_t>(plx::distributed::process_count());
    return std::span(whole).subspan(static_cast<std::size_t>(plx::distributed::process_index()) * size, size);
  };
  double total_loss = 0;
  for (std::size_t i = 0; i < steps; ++i) {
    const auto [images, targets] = make_batch(training, order.subspan(i * options.batch, options.batch));
    auto [updated, losses] = step(params, plx::array<float, 3>({devices, rows, features}, own_part(images)),
                                  plx::array<float, 3>({devices, rows, classes}, own_part(targets)), options.rate);
    params = std::move(updated);
    total_loss += losses(0); // the same on every device
    bar.update(i + 1);
  }
  return total_loss / static_cast<double>(steps);
}

void run(const digits_options& options) {
  const std::string csv = options.data.value_or(PARALLAX_EXAMPLES_DATA "/digits.csv");
  if (options.save_parameters)
    refuse_to_replace(options.mnist ? mnist_paths(*options.mnist) : std::vector{csv}, "--save-parameters",
                      *options.save_parameters);
  const auto [training, held_out] = options.mnist ? load_mnist(*options.mnist) : divide(read_digits_csv(csv));
  const auto device_count = choose_devices(options);
  const auto steps = batches_per_epoch(training.size(), options.batch, device_count);
  std::optional<parameter_file> parameters_out;
  if (options.save_parameters && plx::distributed::process_index() == 0)
    parameters_out.emplace(*options.save_parameters);
  std::cout << training.size() << " digits of " << training.width << "x" << training.height << " to learn from, "
            << held_out.size() << " held out; batches of " << options.batch << " on " << device_count
            << (device_count == 1 ? " device" : " devices") << std::endl;

  const auto devices = static_cast<std::int64_t>(device_count) / plx::distributed::process_count();
  const auto features = static_cast<std::int64_t>(training.features());
  const plx::array<float, 2> held_out_images({static_cast<std::int64_t>(held_out.size()), features},
                                             std::span(held_out.pixels));
  auto params = initial_parameters(options, features, devices);
  std::mt19937_64 engine(options.seed);
  std::vector<std::int32_t> answers;
  plx::transfer_counts moved;
  for (std::size_t epoch = 1; epoch <= options.epochs; ++epoch) {
    const auto title = "epoch " + std::to_string(epoch) + "/" + std::to_string(options.epochs);
    const auto order = permutation(training.size(), engine);
    const auto start = std::chrono::steady_clock::now();
    std::optional<progress_bar> bar(std::in_place, std::cout, isatty(STDOUT_FILENO) != 0, title, steps);
    plx::reset_transfers();
    const auto mean_loss = train(params, training, order, options, devices, *bar);
    moved = plx::transfers();
    bar.reset();
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    if (!std::isfinite(mean_loss))
      throw std::runtime_error("the loss is no longer finite in epoch " + std::to_string(epoch) +
                               "; try a smaller --rate");

    const auto result = classify(on_one_device(params), held_out_images);
    answers.assign(result.values().begin(), result.values().end());
    std::cout << title << "  loss " << fixed(mean_loss, 4) << "  accuracy "
              << fixed(percentage_right(answers, held_out.labels), 2) << " %  "
              << fixed(static_cast<double>(steps * options.batch) / seconds.count(), 0) << " examples/s" << std::endl;
  }

  std::cout << "each step moved " << moved.host_to_device / steps << " bytes to the devices (batch and rate) and "
            << moved.device_to_host / steps << " back (the loss)" << std::endl;
  if (parameters_out) save(*parameters_out, on_one_device(params));
  show_digits(held_out, answers);
  std::cout << "\nheld-out accuracy " << fixed(percentage_right(answers, held_out.labels), 2) << " %" << std::endl;
}

} // namespace

int main(int argc, char** argv) {
  return run_in_processes("digits", argc, argv, [](std::span<const char* const> arguments) {
    const auto options = parse_digits_options(arguments);
    if (options.help) std::cout << digits_help();
    else run(options);
  });
}
