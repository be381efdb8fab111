// A few values for the time of one call.
#pragma once

#include <cstddef>
#include <memory>

namespace parallax::detail {

/// `size` uninitialised values of a plain type, in place where there are at most `Few`.
template <class T, std::size_t Few> class scratch_array {
 public:
  explicit scratch_array(std::size_t size) : size_(size) {
    if (size > Few) many_ = std::make_unique_for_overwrite<T[]>(size);
    data_ = size > Few ? many_.get() : few_;
  }
  scratch_array(const scratch_array&) = delete;
  scratch_array& operator=(const scratch_array&) = delete;

  std::size_t size() const { return size_; }
  T* data() { return data_; }
  const T* data() const { return data_; }
  T& operator[](std::size_t i) { return data_[i]; }
  const T& operator[](std::size_t i) const { return data_[i]; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }

 private:
  std::size_t size_;
  T* data_;
  std::unique_ptr<T[]> many_;
  T few_[Few];
};

} // namespace parallax::detail
