// Ids: numbers that cannot be taken for one another, and lists and sets that are indexed by them.
#pragma once

#include <parallax/core/support/growing_vector.hpp>
#include <parallax/core/version.hpp>

#include <concepts>
#include <cstddef>
#include <type_traits>
#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION::detail {

/// A number that names objects of one kind: a node, a graph, an axis.
template <class T>
concept id_type = std::is_enum_v<T> && std::same_as<std::underlying_type_t<T>, int> && !std::convertible_to<T, int>;

/// A number that is not negative, or an id, as an index of a standard container.
template <class T>
  requires std::integral<T> || id_type<T>
constexpr std::size_t index_of(T number) {
  return static_cast<std::size_t>(number);
}

/// The number of elements, as an int: elements are numbered with ints.
template <class List> constexpr int count_of(const List& list) { return static_cast<int>(list.size()); }

/// The ids from `first` on, `count` of them.
template <id_type Id> class id_range {
 public:
  template <int Step> class stepping {
   public:
    constexpr explicit stepping(int number) : at(number) {}
    constexpr Id operator*() const { return Id{at}; }
    constexpr stepping& operator++() {
      at += Step;
      return *this;
    }
    friend constexpr bool operator==(stepping, stepping) = default;

   private:
    int at;
  };
  using iterator = stepping<1>;
  struct reversed_range {
    int last, before_first;
    constexpr stepping<-1> begin() const { return stepping<-1>(last); }
    constexpr stepping<-1> end() const { return stepping<-1>(before_first); }
  };

  constexpr id_range(Id first, int count) : start(static_cast<int>(first)), length(count) {}
  constexpr iterator begin() const { return iterator(start); }
  constexpr iterator end() const { return iterator(start + length); }
  constexpr int size() const { return length; }
  constexpr Id operator[](int i) const { return Id{start + i}; }
  /// The same ids from the last one to the first.
  constexpr reversed_range reversed() const { return {start + length - 1, start - 1}; }

 private:
  int start, length;
};

/// Calls `body` with each element. Loops that may run often and whose body builds an object are written so: while nvcc
/// 13.0 evaluates a constant, it leaves out destructors in functions that a range-based `for` has called some hundred
/// times.
template <class List, class Body> constexpr void for_each(List&& list, const Body& body) {
  for (auto at = list.begin(), end = list.end(); at != end; ++at) body(*at);
}
/// The list of `function(element)` for each element.
template <class List, class Function> constexpr auto vector_of(const List& list, const Function& function) {
  growing_vector<std::remove_cvref_t<decltype(function(*list.begin()))>> results;
  results.reserve(static_cast<std::size_t>(list.size()));
  for_each(list, [&](const auto& element) { results.push_back(function(element)); });
  return results;
}

/// A list whose elements are named by ids, from 0 on.
template <id_type Id, class T> class table : growing_vector<T> {
  using items = growing_vector<T>;

 public:
  constexpr table() = default;
  constexpr explicit table(int number, const T& value = T()) : items(index_of(number), value) {}

  using items::back;
  using items::begin;
  using items::empty;
  using items::end;
  using items::first; ///< the elements, for what is asked a million times in a large program: each call costs
  constexpr T& operator[](Id id) { return this->first[static_cast<std::size_t>(id)]; }
  constexpr const T& operator[](Id id) const { return this->first[static_cast<std::size_t>(id)]; }

  /// Appends an element; returns its id.
  constexpr Id add(T value) {
    items::push_back(std::move(value));
    return Id{size() - 1};
  }
  constexpr int size() const { return static_cast<int>(this->count); }
  constexpr id_range<Id> ids() const { return {Id{0}, size()}; }
};

/// A set of ids, all below a number that is given first.
template <id_type Id> class id_set : growing_vector<char> { // by id; growing_vector<bool> is no constant everywhere
 public:
  constexpr id_set() = default;
  constexpr explicit id_set(int number) : growing_vector(index_of(number), 0) {}

  constexpr bool contains(Id id) const { return first[static_cast<std::size_t>(id)] != 0; }
  constexpr void insert(Id id) { first[static_cast<std::size_t>(id)] = 1; }
  constexpr void erase(Id id) { first[static_cast<std::size_t>(id)] = 0; }
  /// Inserts all ids of a list.
  template <class List> constexpr void insert(const List& ids) {
    for (Id id : ids) first[static_cast<std::size_t>(id)] = 1;
  }
  template <class List> constexpr void erase(const List& ids) {
    for (Id id : ids) first[static_cast<std::size_t>(id)] = 0;
  }
  /// How many ids there are, whether members or not.
  constexpr int size() const { return static_cast<int>(count); }
  constexpr id_range<Id> ids() const { return {Id{0}, size()}; }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::detail
