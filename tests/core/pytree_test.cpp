// Pytrees: what is a node, the order of leaves, and the types of trees with other leaves.
#include "support/test.hpp"

#include <parallax/core/types/pytree.hpp>

#include <string>
#include <vector>

using parallax::detail::leaf_count, parallax::tree_map, parallax::detail::tree_node;

namespace {

template <class T> struct dense {
  T weights, bias;
};
template <class T> struct network {
  dense<T> hidden;
  std::array<dense<T>, 2> rest;
  T scale;
};
template <class W, class B> struct mixed {
  W weights;
  std::pair<B, B> bounds;
};
template <class T> struct plain_leaf {
  T value;
};
struct no_template {
  int a, b;
};

} // namespace

template <class T> inline constexpr bool parallax::detail::is_tree_leaf<plain_leaf<T>> = true;

namespace {

static_assert(tree_node<std::tuple<int>> && tree_node<std::pair<int, int>> && tree_node<std::array<int, 3>> &&
              tree_node<dense<int>> && tree_node<const dense<int>&>);
static_assert(!tree_node<int> && !tree_node<no_template> && !tree_node<plain_leaf<int>> && !tree_node<std::string>);

static_assert(leaf_count<int> == 1 && leaf_count<std::tuple<>> == 0 && leaf_count<dense<int>> == 2 &&
              leaf_count<network<int>> == 7 && leaf_count<std::tuple<int, std::pair<int, dense<int>>>> == 4 &&
              leaf_count<plain_leaf<int>> == 1);

// leaves come from left to right
static_assert([] {
  network<int> tree{{1, 2}, {{{3, 4}, {5, 6}}}, 7};
  int next = 1;
  bool in_order = true;
  parallax::tree_for_each([&](int leaf) { in_order = in_order && leaf == next++; }, tree);
  return in_order && next == 8;
}());

// leaves of another type make the same tree of that type
constexpr auto halves = tree_map([](int leaf) { return leaf / 2.0; }, network<int>{{1, 2}, {{{3, 4}, {5, 6}}}, 7});
static_assert(std::same_as<decltype(halves), const network<double>>);
static_assert(halves.hidden.bias == 1.0 && halves.rest[1].weights == 2.5 && halves.scale == 3.5);

constexpr auto names = tree_map([](auto leaf) { return sizeof(leaf); }, mixed<char, double>{'a', {1, 2}});
static_assert(std::same_as<decltype(names), const mixed<std::size_t, std::size_t>>);
static_assert(names.weights == 1 && names.bounds.second == sizeof(double));

constexpr auto typed = tree_map([](auto leaf) { return leaf; }, std::tuple{1, std::pair{2.f, 'c'}, std::array{4L, 5L}});
static_assert(std::same_as<decltype(typed), const std::tuple<int, std::pair<float, char>, std::array<long, 2>>>);

// several trees of one structure, whatever their nodes' types
constexpr auto sums = tree_map([](auto a, auto b) { return a + b; }, std::tuple{1, 2}, std::pair{10, 20});
static_assert(sums == std::tuple{11, 22});

// leaves are combined from left to right, in whichever type that gives
static_assert(parallax::tree_reduce([](int sum, int leaf) { return 10 * sum + leaf; },
                                    network<int>{{1, 2}, {{{3, 4}, {5, 6}}}, 7}, 0) == 1234567);
static_assert(parallax::tree_reduce([](auto sum, auto leaf) { return sum + leaf; }, std::tuple{1, 2.5, 4}, 0) == 7.5);
static_assert(parallax::tree_reduce([](int sum, int leaf) { return sum + leaf; }, std::array<int, 0>{}, 5) == 5);

// a function is called with the leaf's type and number
static_assert([] {
  auto number = []<class T, int Number>() { return Number * 10 + static_cast<int>(sizeof(T)); };
  auto tree = parallax::detail::tree_build<std::tuple<char, dense<int>>>(number);
  return std::get<0>(tree) == 1 && std::get<1>(tree).weights == 14 && std::get<1>(tree).bias == 24;
}());

} // namespace

TEST_CASE("leaves that are no literals", "[core]") {
  dense<std::string> tree{"w", "b"};
  dense<std::vector<int>> sizes = tree_map([](const std::string& s) { return std::vector<int>(s.size(), 1); }, tree);
  CHECK(sizes.weights == std::vector<int>{1});
  parallax::tree_for_each([](std::string& leaf) { leaf += "!"; }, tree);
  CHECK(tree.bias == "b!");
}
