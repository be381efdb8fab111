// The operands of a collective's members, copied to one of them, to be combined in the host's order.
#pragma once

#include <parallax/core/support/ids.hpp>
#include <parallax/core/version.hpp>
#include <parallax/cuda/devices/allocation.hpp>
#include <parallax/cuda/kernels/copies/exchange.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace parallax::PARALLAX_INLINE_VERSION::cuda {

template <device_api Api> class gathered_operands {
 public:
  gathered_operands() = default;
  /// Memory on a device for the operands of `of` members, each of `bytes` bytes.
  gathered_operands(device<Api>& on, std::size_t of, std::size_t bytes)
      : home(&on), members(of), operand_bytes(bytes), memory(allocate<Api>(on, of * bytes)) {}

  std::byte* operand(std::size_t member) const { return address_of<Api>(memory) + member * operand_bytes; }

  /// Enqueues their combination: 64 at once, and then the results of 64 each, which are whole subtrees of one tree.
  void combine(reduction_kind how, element_type type, std::byte* result) const {
    std::vector<const void*> inputs;
    for (std::size_t member = 0; member < members; ++member) inputs.push_back(operand(member));
    const combined_slices whole{1, 1, static_cast<std::int64_t>(operand_bytes / size_of(type)), 0};
    std::vector<buffer> parts;
    while (inputs.size() > std::size_t{most_members}) {
      std::vector<const void*> next;
      for (std::size_t first = 0; first < inputs.size(); first += std::size_t{most_members}) {
        const std::size_t count = std::min(inputs.size() - first, std::size_t{most_members});
        parts.push_back(allocate<Api>(*home, operand_bytes));
        launch({inputs.data() + first, count}, how, type, address_of<Api>(parts.back()), whole);
        next.push_back(address_of<Api>(parts.back()));
      }
      inputs = std::move(next);
    }
    launch(inputs, how, type, result, whole);
  }

 private:
  device<Api>* home = nullptr;
  std::size_t members = 0, operand_bytes = 0;
  buffer memory;

  void launch(plain_span<const void* const> inputs, reduction_kind how, element_type type, std::byte* result,
              const combined_slices& whole) const {
    home->activate();
    check(launch_combine<launches_of<Api>>(home->context(), how, type, inputs, result, whole), home->number);
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::cuda
