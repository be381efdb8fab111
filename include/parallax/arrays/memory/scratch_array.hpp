// A few values for the time of one call.
#pragma once

#include <parallax/core/version.hpp>

#include <cstddef>
#include <memory>

namespace parallax::PARALLAX_INLINE_VERSION::runtime {

/// `size` uninitialised values of a plain type; in place if there are at most `Few`.
template <class T, std::size_t Few> class scratch_array {
 public:
  explicit scratch_array(std::size_t size) : count(size) {
    if (size > Few) allocated = std::make_unique_for_overwrite<T[]>(size);
    first = size > Few ? allocated.get() : in_place;
  }
  scratch_array(const scratch_array&) = delete;
  scratch_array& operator=(const scratch_array&) = delete;

  std::size_t size() const { return count; }
  T* data() { return first; }
  const T* data() const { return first; }
  T& operator[](std::size_t i) { return first[i]; }
  const T& operator[](std::size_t i) const { return first[i]; }
  T* begin() { return first; }
  T* end() { return first + count; }

 private:
  std::size_t count;
  T* first;
  std::unique_ptr<T[]> allocated;
  T in_place[Few];
};

} // namespace parallax::PARALLAX_INLINE_VERSION::runtime
