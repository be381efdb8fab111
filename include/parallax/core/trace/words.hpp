// Plain structs as sequences of words, and back. A struct lists its members once, in a static function `describe`:
//
//   struct place {
//     int row = 0, column = 0;
//     static constexpr void describe(auto& p, auto& member) {
//       member(p.row);
//       member(p.column);
//     }
//   };
//
// A visitor that wants names as well is given them: member("row", p.row).
#pragma once

#include <parallax/core/support/growing_vector.hpp>
#include <parallax/core/trace/dims.hpp>
#include <parallax/core/version.hpp>

#include <cstdint>
#include <string_view>

namespace parallax::PARALLAX_INLINE_VERSION::detail {

/// A struct that lists its members by `describe`.
template <class T, class Visitor>
concept described = requires(T& value, Visitor& visitor) { std::remove_const_t<T>::describe(value, visitor); };

/// A list that can grow.
template <class T>
concept growing_list = requires(T& list) {
  list.push_back(*list.begin());
  list.size();
};

/// Appends words to a sink: numbers and choices are one each, lists begin with their length. `sink(word)` takes each.
template <class Sink> class word_writer {
 public:
  constexpr explicit word_writer(Sink& to) : sink(to) {}

  constexpr void operator()(const auto& member) { put(member); }
  constexpr void operator()(std::string_view, const auto& member) { put(member); }

 private:
  Sink& sink;

  constexpr void put(dim extent) { sink(extent.word()); }
  template <class T> constexpr void put(const T& value) {
    if constexpr (described<const T, word_writer>) {
      T::describe(value, *this);
    } else if constexpr (growing_list<T>) {
      sink(std::ssize(value));
      for (const auto& item : value) put(item);
    } else {
      sink(static_cast<std::int64_t>(value));
    }
  }
};

/// Reads what a `word_writer` wrote, into structs whose lists are empty.
class word_reader {
 public:
  constexpr explicit word_reader(const std::int64_t* from) : word(from) {}

  constexpr void operator()(auto& member) { get(member); }
  constexpr void operator()(std::string_view, auto& member) { get(member); }

 private:
  const std::int64_t* word;

  constexpr void get(dim& extent) { extent = dim::of_word(*word++); }
  template <class T> constexpr void get(T& value) {
    if constexpr (described<T, word_reader>) {
      T::describe(value, *this);
    } else if constexpr (growing_list<T>) {
      for (std::int64_t left = *word++; left > 0; --left) {
        typename T::value_type item{};
        get(item);
        value.push_back(item);
      }
    } else {
      value = static_cast<T>(*word++);
    }
  }
};

/// A sink that keeps the words.
struct word_list {
  growing_vector<std::int64_t> words;
  constexpr void operator()(std::int64_t word) { words.push_back(word); }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::detail
