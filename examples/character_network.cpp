// A recurrent network learns to foretell the next character of a text: a scan over characters, mapped over sequences by
// vmap and over devices by pmap, and a gradient that goes back through all of it. Beside it, what counting gives.
#include "support/characters.hpp"
#include "support/claim.hpp"
#include "support/run_example.hpp"
#include "support/table_file.hpp"
#include "support/text_windows.hpp"

#include <parallax/parallax.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <map>
#include <random>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

namespace plx = parallax;
using namespace examples;

namespace {

constexpr int width = 96;  // of the state
constexpr int length = 48; // characters that are read in a row

// An aggregate templated on its members' types is a pytree: transformations look inside it.
template <class Embedding, class Matrix, class Vector, class Head, class Bias> struct network {
  Embedding embedding; // (characters, width)
  Matrix recurrence;   // (width, width)
  Vector offset;       // (width)
  Head head;           // (width, characters)
  Bias bias;           // (characters)
};

constexpr auto initial_network = [](auto key) {
  auto random = [&](int number, int rows, int columns) {
    constexpr float small = 0.1f; // 1 / sqrt(width)
    return small * plx::random::normal(plx::random::fold_in(key, number), {rows, columns});
  };
  return network{random(0, characters, width), random(1, width, width), plx::zeros({width}),
                 random(2, width, characters), plx::zeros({characters})};
};

// The mean cross-entropy of a text's next characters, in nats for each.
constexpr auto text_loss = [](const auto& params, auto text, auto next) {
  auto one_hot = [](auto number) { return plx::astype<float>(plx::equal(number, plx::arange(characters))); };
  auto read = [&](auto state, auto pair) {
    auto [here, following] = pair;
    auto input = plx::dot(one_hot(here), params.embedding) + params.offset;
    auto seen = plx::tanh(plx::dot(state, params.recurrence) + input);
    auto logits = plx::dot(seen, params.head) + params.bias;
    return std::pair{seen, plx::logsumexp(logits) - plx::dot(logits, one_hot(following))};
  };
  return plx::mean(plx::scan(read, plx::zeros({width}), std::pair{text, next}).second);
};
constexpr auto batch_loss = [](const auto& params, auto texts, auto next) {
  return plx::mean(plx::vmap(text_loss, plx::in_axes<plx::none, 0, 0>)(params, texts, next));
};

// A step of Adam as one device sees it: its own texts, and the mean of all devices' gradients.
constexpr auto optimiser = plx::optim::adam(3e-3, {.b2 = 0.99});
constexpr auto learn = [](auto params, auto state, auto texts, auto next) {
  auto [loss, local] = plx::value_and_grad(batch_loss)(params, texts, next);
  auto [updates, new_state] = optimiser.update(plx::pmean<"devices">(local), state, params);
  return std::tuple{plx::optim::apply_updates(params, updates), new_state, plx::pmean<"devices">(loss)};
};
constexpr auto learn_on_devices = plx::pmap<"devices">(learn);
constexpr auto initial_on_devices = plx::pmap(initial_network);
constexpr auto state_on_devices = plx::pmap([](auto params) { return optimiser.init(params); });

/// The mean of -log(how often / of how many) over all of a text, where `what` says of which kind a position is.
template <class Kind> double entropy(std::size_t size, const Kind& kind) {
  std::map<decltype(kind(0)), double> counts;
  for (std::size_t i = 0; i < size; ++i) ++counts[kind(i)];
  double sum = 0;
  for (const auto& [which, count] : counts) sum -= count * std::log(count / static_cast<double>(size));
  return sum / static_cast<double>(size);
}

void run(std::span<const char* const> arguments) {
  table_file table(arguments);
  const std::vector<std::int32_t> text = read_text(licence_path, length);
  const double by_letters = entropy(text.size(), [&](std::size_t i) { return text[i]; });
  const double by_pairs =
      entropy(text.size() - 1, [&](std::size_t i) { return std::pair{text[i], text[i + 1]}; }) - by_letters;

  const std::int64_t devices = plx::device_count(), rows = std::max<std::int64_t>(1, 32 / devices);
  std::cout << text.size() << " characters; batches of " << devices * rows << " times " << length << " on " << devices
            << (devices == 1 ? " device" : " devices") << std::endl;

  auto params = initial_on_devices(plx::broadcast_to(plx::random::key(0), {devices, 2}));
  auto state = state_on_devices(params);
  std::mt19937_64 engine(0);
  std::vector<std::int32_t> texts(static_cast<std::size_t>(devices * rows * length)), next(texts.size());
  constexpr int steps = 600, last_ones = 50;
  double last_losses = 0;
  const auto start = std::chrono::steady_clock::now();
  for (int step = 1; step <= steps; ++step) {
    draw_windows(text, length, engine, texts, next);
    auto [new_params, new_state, losses] = learn_on_devices(params, state, plx::borrow(texts, {devices, rows, length}),
                                                            plx::borrow(next, {devices, rows, length}));
    params = new_params, state = new_state; // stay where they are
    const float loss = losses(0);
    if (step % 100 == 0 || step == 1) std::cout << "step " << step << "  loss " << loss << std::endl;
    table.row(step, loss);
    if (step > steps - last_ones) last_losses += static_cast<double>(loss) / last_ones;
  }
  table.finish();
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  std::cout << static_cast<double>(steps * devices * rows * length) / seconds.count() << " characters/s\n"
            << "nats for a character: " << last_losses << " in the last steps; " << by_letters
            << " of the letters' frequencies, " << by_pairs << " of those behind each letter\n";
  claim(last_losses < 0.7 * by_letters, "the network knows far more than how often a letter comes");
  claim(last_losses < by_pairs, "the network knows more than which letter follows which");
}

} // namespace

int main(int argc, char** argv) {
  return run_example("character_network", argc, argv, [](std::span<const char* const> arguments) { run(arguments); });
}
