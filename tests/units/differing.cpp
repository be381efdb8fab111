// What scripts/check-shared-symbols is to find: a function and a constant that are not the same in both units.
#include <parallax/core/version.hpp>

namespace parallax::PARALLAX_INLINE_VERSION {

inline int first() { return 1; }
inline int second() { return 2; }
inline int both() { return first() + second(); }

#ifdef OTHER
inline int chosen() { return second(); }
inline constexpr int number = 2;
#else
inline int chosen() { return first(); }
inline constexpr int number = 1;
#endif

const int* use(int& result) {
  result = both() + chosen();
  return &number;
}

} // namespace parallax::PARALLAX_INLINE_VERSION
