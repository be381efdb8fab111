// Memory of a vector that ends with the statement.
// error: parallax: this memory ends with the statement: name the container, or move a std::vector into an array
// line: return plx::borrow\(three
#include <parallax/parallax.hpp>

#include <vector>

namespace plx = parallax;

std::vector<float> three() { return {1, 2, 3}; }

plx::array<float, 1> call() {
#ifdef PARALLAX_EXPECT_ERROR
  return plx::borrow(three());
#else
  const auto& named = three();
  return plx::borrow(named, {static_cast<int>(three().size())});
#endif
}
