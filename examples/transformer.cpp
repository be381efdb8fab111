// Learns to write like a text, character by character, on several devices at once: a transformer with Adam, whose
// blocks are a scan, mapped over sequences by vmap and over devices by pmap. Try `transformer --help`.
#include "support/run_example.hpp"
#include "support/text_windows.hpp"
#include "transformer_model.hpp"

#include <parallax/parallax.hpp>

#include <charconv>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace plx = parallax;
using namespace examples;

namespace {

struct transformer_options {
  std::string text = licence_path;
  int steps = 800;
  bool help = false;
};

transformer_options read_options(std::span<const char* const> arguments) {
  transformer_options options;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view argument = arguments[i];
    if (argument == "--help") {
      options.help = true;
    } else if (argument == "--steps") {
      if (++i == arguments.size()) throw usage_error("--steps needs a number");
      const std::string_view number = arguments[i];
      const auto [end, failed] = std::from_chars(number.data(), number.data() + number.size(), options.steps);
      if (failed != std::errc() || end != number.data() + number.size() || options.steps < 1)
        throw usage_error("--steps needs a number from 1 on, not '" + std::string(number) + "'");
    } else if (argument.starts_with("-")) {
      throw usage_error("there is no option '" + std::string(argument) + "'");
    } else {
      options.text = argument;
    }
  }
  return options;
}

/// Writes on from the text's beginning, choosing each character with the probability that the model gives it.
std::string write_on(const auto& params, const std::vector<std::int32_t>& text, int count, std::mt19937_64& engine) {
  constexpr auto predict = plx::jit(predict_next);
  std::vector<std::int32_t> window(text.begin(), text.begin() + length);
  std::string written;
  for (int i = 0; i < count; ++i) {
    const auto logits = predict(params, plx::borrow(window));
    std::vector<double> weights;
    for (int c = 0; c < characters; ++c) weights.push_back(std::exp(static_cast<double>(logits(length - 1, c)) / 0.7));
    const auto next =
        static_cast<std::int32_t>(std::discrete_distribution<int>(weights.begin(), weights.end())(engine));
    window.erase(window.begin());
    window.push_back(next);
    written += character_of(next);
  }
  return written;
}

void run(const transformer_options& options) {
  if (options.help) {
    std::cout << "usage: transformer [--steps N] [FILE]\n"
                 "Learns to write like FILE, by default the project's licence, in N steps, 800 by default, on as many\n"
                 "devices as there are, and writes on from its beginning.\n";
    return;
  }
  const std::vector<std::int32_t> text = read_text(options.text, length);
  const std::int64_t devices = plx::device_count(), rows = 4; // on each
  std::cout << text.size() << " characters; batches of " << devices * rows << " times " << length << " on " << devices
            << (devices == 1 ? " device" : " devices") << std::endl;

  auto params = initial_on_devices(plx::broadcast_to(plx::random::key(0), {devices, 2}));
  auto state = state_on_devices(params);
  std::mt19937_64 engine(0);
  std::vector<std::int32_t> batch(static_cast<std::size_t>(devices * rows * length)), next(batch.size());
  const auto start = std::chrono::steady_clock::now();
  for (int step = 1; step <= options.steps; ++step) {
    draw_windows(text, length, engine, batch, next);
    auto [new_params, new_state, loss] = learn_on_devices(params, state, plx::borrow(batch, {devices, rows, length}),
                                                          plx::borrow(next, {devices, rows, length}));
    params = new_params, state = new_state; // stay where they are
    if (step % 100 == 0 || step == 1) std::cout << "step " << step << "  loss " << loss(0) << std::endl;
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  std::cout << static_cast<double>(options.steps * devices * rows * length) / seconds.count() << " characters/s\n\n";
  const auto on_one = plx::tree_map([](const auto& leaf) { return leaf[0]; }, params);
  std::cout << write_on(on_one, text, 300, engine) << std::endl;
}

} // namespace

int main(int argc, char** argv) {
  return run_example("transformer", argc, argv,
                     [](std::span<const char* const> arguments) { run(read_options(arguments)); });
}
