// Arrays as std::mdspan and back. The exit status is 0 where that is right.
#include <parallax/arrays/as_mdspan.hpp>
#include <parallax/arrays/borrow.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <mdspan>

int main() {
  namespace plx = parallax;
  const plx::array<float, plx::extents<plx::dyn, 3>> x{{1, 2, 3}, {4, 5, 6}};
  const auto view = plx::as_mdspan(x);
  static_assert(
      std::same_as<decltype(view), const std::mdspan<const float, std::extents<std::int64_t, std::dynamic_extent, 3>>>);
  const auto again = plx::borrow(view);
  static_assert(std::same_as<decltype(again), decltype(x)>);
  const bool right = view.extent(0) == 2 && view[1, 2] == 6 && again.data() == x.data() && again.shape() == x.shape();

  const float columns[6]{1, 4, 2, 5, 3, 6};
  const auto transposed = plx::borrow(std::mdspan<const float, std::dextents<int, 2>, std::layout_left>(columns, 2, 3));
  const auto& [memory, extents, strides] = transposed.operands;
  using neighbours_first = plx::detail::as_strided_operation<plx::detail::extents_of<2>, plx::strides_t<1, plx::dyn>>;
  static_assert(
      std::same_as<decltype(transposed),
                   const plx::lazy<neighbours_first, plx::array<float, 1>, plx::extent_list<2>, plx::extent_list<2>>>);
  const bool strided =
      memory.data() == columns && memory.size() == 6 && extents.values[1] == 3 && strides.values[1] == 2;
  return right && strided ? 0 : 1;
}
