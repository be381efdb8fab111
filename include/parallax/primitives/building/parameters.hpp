// A primitive's parameters: a struct that lists its members once, with their names, in a static function `describe`.
// Encoding as a graph's words, decoding, printing and renaming all use it.  struct parameters { mapped_axes over; int
// dimension = 0; static constexpr void describe(auto& p, auto& member) { mapped_axes::describe(p.over, member);
// member("dimension", p.dimension); } };
#pragma once

#include <parallax/core/support/growing_vector.hpp>
#include <parallax/core/trace/context.hpp>
#include <parallax/core/trace/words.hpp>
#include <parallax/core/version.hpp>

#include <concepts>
#include <string_view>

namespace parallax::PARALLAX_INLINE_VERSION::detail {

/// A primitive that has parameters.
template <class P>
concept has_parameters = requires { typename P::parameters; };

/// Replaces the extents among parameters.
template <class Rename> class extent_renamer {
 public:
  constexpr explicit extent_renamer(Rename& by) : renamed(by) {}

  constexpr void operator()(std::string_view, auto& member) { change(member); }

 private:
  Rename& renamed;

  constexpr void change(dim& extent) { extent = renamed(extent); }
  constexpr void change(auto&) {}
  template <growing_list List> constexpr void change(List& list) {
    for (auto& item : list) change(item);
  }
};

/// Gathers the graphs among parameters.
class graph_finder {
 public:
  growing_vector<graph_id> found;

  constexpr void operator()(std::string_view, const auto& member) { add(member); }

 private:
  constexpr void add(graph_id graph) { found.push_back(graph); }
  constexpr void add(const auto&) {}
  template <growing_list List> constexpr void add(const List& list) {
    for (const auto& item : list) add(item);
  }
};

/// Writes parameters behind other words.
template <class Parameters> constexpr void append_words(word_list& list, const Parameters& parameters) {
  word_writer writer(list);
  Parameters::describe(parameters, writer);
}

/// The words of parameters.
template <class Parameters> constexpr growing_vector<std::int64_t> encode(const Parameters& parameters) {
  word_list list;
  append_words(list, parameters);
  return list.words;
}

/// The words of the next operation's parameters. The trace keeps them until that operation is appended.
template <class Parameters> constexpr parameter_words encode_next(context& trace, const Parameters& parameters) {
  trace.next.parameters.words.clear();
  append_words(trace.next.parameters, parameters);
  return trace.next.parameters.words;
}

/// The parameters that words encode.
template <class Parameters> constexpr Parameters decode(parameter_words words) {
  Parameters parameters;
  word_reader reader(words.data());
  Parameters::describe(parameters, reader);
  return parameters;
}

} // namespace parallax::PARALLAX_INLINE_VERSION::detail
