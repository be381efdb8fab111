// The vector of constant evaluation does what std::vector does, and destroys what it holds once.
#include "support/test.hpp"

#include <parallax/core/support/growing_vector.hpp>

#include <string>
#include <utility>
#include <vector>

namespace growing_vector_test {

using parallax::detail::growing_vector;

namespace {

template <class T> bool same(const growing_vector<T>& own, const std::vector<T>& other) {
  return std::vector<T>(own.begin(), own.end()) == other && own.size() == other.size() && own.empty() == other.empty();
}

// while compiling nothing may leak, and nothing be read that is not there
static_assert([] {
  growing_vector<growing_vector<int>> rows;
  for (int i = 0; i < 9; ++i) rows.push_back(growing_vector<int>(3, i));
  growing_vector<growing_vector<int>> copy = rows, moved = std::move(rows);
  copy = moved;
  copy.resize(4);
  copy.erase(copy.begin() + 1);
  copy = std::move(moved);
  return copy.size() == 9 && copy[8] == growing_vector<int>{8, 8, 8};
}());
static_assert(growing_vector<int>{1, 2} == growing_vector<int>{1, 2});
static_assert(!(growing_vector<int>{1, 2} == growing_vector<int>{1, 3}));
static_assert(!(growing_vector<int>{1, 2} == growing_vector<int>{1}));

} // namespace

TEST_CASE("a growing vector holds what a std::vector would, through every operation") {
  const std::string text = "longer than what a string holds in place";
  growing_vector<std::string> own;
  std::vector<std::string> other;
  auto check = [&] { CHECK(same(own, other)); };
  check();
  for (int i = 0; i < 20; ++i) {
    own.push_back(text + std::to_string(i));
    other.push_back(text + std::to_string(i));
    check();
  }
  own.push_back(own[0]); // of its own elements
  other.push_back(other[0]);
  check();
  own.pop_back();
  other.pop_back();
  own.erase(own.begin() + 3);
  other.erase(other.begin() + 3);
  check();
  own.resize(30, "new");
  other.resize(30, "new");
  check();
  own.resize(2);
  other.resize(2);
  check();
  own.append(other.begin(), other.end());
  other.insert(other.end(), {other[0], other[1]});
  check();
  own.assign(5, own[1]);
  other.assign(5, std::string(other[1]));
  check();
  own.reserve(1000);
  check();
  growing_vector<std::string> taken = std::move(own);
  CHECK(same(taken, other));
  own = taken;
  check();
  own.clear();
  other.clear();
  check();
}

} // namespace growing_vector_test
