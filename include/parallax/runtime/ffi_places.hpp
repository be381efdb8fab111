// The arguments that a step passes to a user's own function.
#pragma once

#include <parallax/arrays/memory/recycled_vector.hpp>
#include <parallax/core/version.hpp>
#include <parallax/runtime/section_plan.hpp>
#include <parallax/transforms/calls/ffi_function.hpp>

#include <cstddef>
#include <cstdint>

namespace parallax::PARALLAX_INLINE_VERSION::runtime {

/// The addresses of a call's arrays, by `data(buffer)`, and their extents.
class ffi_places {
 public:
  template <class Data> ffi_places(const section_plan& section, const ffi_step& step, const Data& data) {
    for (const ffi_array& array : section.plan[step.arrays]) {
      places.push_back(data(array.buffer));
      for (const dim extent : section.plan[array.extents]) extents.push_back(section.extents[extent]);
    }
  }
  ffi_arguments arguments() const { return {places.data(), extents.data()}; }

 private:
  recycled_vector<std::byte*> places;
  recycled_vector<std::int64_t> extents;
};

} // namespace parallax::PARALLAX_INLINE_VERSION::runtime
