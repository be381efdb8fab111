// The command line of the digits example.
#pragma once

#include "errors.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>

namespace examples {

/// What the digits example is asked to do.
struct digits_options {
  std::array<std::int64_t, 2> hidden{128, 64};
  std::size_t epochs = 40;
  std::size_t batch = 128;
  float rate = 0.25f;
  std::optional<std::size_t> devices; // all there are, unless given
  std::uint64_t seed = 0;
  std::optional<std::string> data; // the digits that come with the example, unless given
  std::optional<std::string> mnist;
  std::optional<std::string> save_parameters;
  bool help = false;
};

namespace detail {

/// One option: how it is written, how it is explained, and what its values do.
struct option {
  std::string_view name;
  std::string_view values; // as the help names them; as many as there are words
  std::string_view help;
  void (*set)(digits_options&, std::string_view name, std::span<const std::string_view> values);

  std::size_t arity() const {
    if (values.empty()) return 0;
    return values.find(' ') == std::string_view::npos ? 1 : 2;
  }
};

/// `text` as a number from `smallest` to `largest`. Throws `usage_error` naming `option`.
template <class T> T number(std::string_view option, std::string_view text, T smallest, T largest) {
  T value{};
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  bool valid = error == std::errc{} && end == text.data() + text.size() && value >= smallest && value <= largest;
  if (valid) return value;
  throw usage_error(std::string(option) + " expects a whole number from " + std::to_string(smallest) + " to " +
                    std::to_string(largest) + ", got " + printable(text));
}

inline float positive_number(std::string_view option, std::string_view text) {
  float value{};
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc{} && end == text.data() + text.size() && std::isfinite(value) && value > 0) return value;
  throw usage_error(std::string(option) + " expects a positive number, got " + printable(text));
}

inline std::string path(std::string_view option, std::string_view text) {
  if (text.empty()) throw usage_error(std::string(option) + " expects a path, got ''");
  return std::string(text);
}

using values = std::span<const std::string_view>;

inline constexpr std::array<option, 10> option_table{{
    {"--hidden", "W1 W2", "widths of the two hidden layers (128 64); also --hidden=W1,W2",
     [](digits_options& o, std::string_view name, values v) {
       for (std::size_t i = 0; i < 2; ++i) o.hidden[i] = number<std::int64_t>(name, v[i], 1, 65536);
     }},
    {"--epochs", "N", "passes over the training rows (40)",
     [](digits_options& o, std::string_view name, values v) {
       o.epochs = number<std::size_t>(name, v[0], 1, 1000000);
     }},
    {"--batch", "N", "rows per step, shared by all devices (128)",
     [](digits_options& o, std::string_view name, values v) { o.batch = number<std::size_t>(name, v[0], 1, 1000000); }},
    {"--rate", "X", "learning rate (0.25)",
     [](digits_options& o, std::string_view name, values v) { o.rate = positive_number(name, v[0]); }},
    {"--devices", "N", "devices to train on (all)",
     [](digits_options& o, std::string_view name, values v) { o.devices = number<std::size_t>(name, v[0], 1, 1024); }},
    {"--seed", "N", "seed of the first parameters and of the order of the rows (0)",
     [](digits_options& o, std::string_view name, values v) {
       o.seed = number<std::uint64_t>(name, v[0], 0, UINT32_MAX);
     }},
    {"--data", "FILE", "8x8 digits as CSV (those that come with the example)",
     [](digits_options& o, std::string_view name, values v) { o.data = path(name, v[0]); }},
    {"--mnist", "DIR", "train on the MNIST IDX files in DIR instead, plain or gzipped",
     [](digits_options& o, std::string_view name, values v) { o.mnist = path(name, v[0]); }},
    {"--save-parameters", "FILE", "write the trained parameters as text",
     [](digits_options& o, std::string_view name, values v) { o.save_parameters = path(name, v[0]); }},
    {"--help", "", "show this", [](digits_options& o, std::string_view, values) { o.help = true; }},
}};

inline const option& find_option(std::string_view name) {
  for (const auto& candidate : option_table)
    if (candidate.name == name) return candidate;
  if (name.starts_with("-")) throw usage_error("unknown option " + printable(name));
  throw usage_error("unexpected argument " + printable(name));
}

} // namespace detail

/// The text that `--help` shows.
inline std::string digits_help() {
  std::string text = "usage: digits [options]\n"
                     "Trains a network with two hidden layers to read handwritten digits, on one or more devices.\n\n";
  for (const auto& option : detail::option_table) {
    std::string line = "  " + std::string(option.name) + " " + std::string(option.values);
    line.resize(26, ' ');
    text += line + std::string(option.help) + "\n";
  }
  return text;
}

/// Reads the arguments (without the program's name): `--option value` or `--option=value`, the last of several wins.
/// Throws `usage_error` for anything else.
inline digits_options parse_digits_options(std::span<const char* const> arguments) {
  digits_options result;
  for (std::size_t i = 0; i < arguments.size();) {
    std::string_view argument = arguments[i++];
    auto equals = argument.starts_with("--") ? argument.find('=') : std::string_view::npos;
    const auto& option = detail::find_option(argument.substr(0, equals));

    std::array<std::string_view, 2> values{};
    if (equals != std::string_view::npos) {
      auto text = argument.substr(equals + 1);
      if (option.arity() == 0) throw usage_error(std::string(option.name) + " takes no value, got " + printable(text));
      auto comma = option.arity() == 2 ? text.find(',') : std::string_view::npos;
      values[0] = text.substr(0, comma);
      if (option.arity() == 2 && comma == std::string_view::npos)
        throw usage_error(std::string(option.name) + " expects two values, got " + printable(text));
      if (comma != std::string_view::npos) values[1] = text.substr(comma + 1);
    } else {
      if (arguments.size() - i < option.arity())
        throw usage_error(std::string(option.name) + " needs " + std::string(option.values) + " after it");
      for (std::size_t k = 0; k < option.arity(); ++k) values[k] = arguments[i++];
    }
    option.set(result, option.name, std::span(values).first(option.arity()));
  }
  if (result.data && result.mnist) throw usage_error("--data and --mnist cannot be given together");
  return result;
}

} // namespace examples
