// The choice of the fastest of a library's algorithms: each is timed once for all products of a kind.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/cuda/kernels/copies/write_addresses.hpp>
#include <parallax/cuda/names.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION::cuda {

namespace detail {

/// Device memory for the results of a product while it is measured, aligned as its own results.
template <device_api Api, class Device> class scratch_results {
 public:
  explicit scratch_results(const Device& of) : on(of) {}
  scratch_results(const scratch_results&) = delete;
  scratch_results& operator=(const scratch_results&) = delete;
  ~scratch_results() {
    if (memory != nullptr) on.give_back(memory);
  }

  /// Takes the memory, and makes `p` write there.
  status redirect(matrix_product& p) {
    using enum product_activation;
    const std::size_t element = size_of(p.type), columns = index_of(p.columns), rows = index_of(p.rows);
    const bool keeps = p.epilogue.activation == relu || p.epilogue.activation == gelu;
    const std::size_t kept_row = p.epilogue.activation == relu ? (columns + 127) / 128 * 16 : columns * element;
    const std::int64_t matrix = (p.rows - 1) * p.result_pitch() + p.columns;
    const std::int64_t step =
        p.result_batch == 0 ? matrix : (matrix + p.result_batch - 1) / p.result_batch * p.result_batch;
    const std::int64_t distance = p.addresses == nullptr ? p.result_batch : step;
    place result{p.result, index_of((p.batch - 1) * distance + matrix) * element};
    place kept{keeps ? p.epilogue.auxiliary : nullptr, rows * kept_row};
    place sums{p.epilogue.bias_gradient, columns * element};
    const std::size_t address_bytes = p.addresses == nullptr ? 0 : index_of(3 * p.batch) * sizeof(void*);
    const std::size_t bytes = result.room() + kept.room() + sums.room() + address_bytes;
    if (const status taken = Api::allocate(memory, bytes, on.stream()); !taken.ok()) {
      memory = nullptr;
      return taken;
    }
    std::byte* next = static_cast<std::byte*>(memory);
    p.result = result.take(next);
    if (kept.original != nullptr) p.epilogue.auxiliary = kept.take(next);
    if (sums.original != nullptr) p.epilogue.bias_gradient = sums.take(next);
    if (p.addresses == nullptr) return {};
    return redirect_addresses(p, reinterpret_cast<void**>(next), distance);
  }

 private:
  struct place {
    void* original;
    std::size_t bytes;

    static constexpr std::size_t alignment = 256;
    std::size_t shift() const { return reinterpret_cast<std::uintptr_t>(original) % alignment; }
    std::size_t room() const {
      return original == nullptr ? 0 : (shift() + bytes + alignment - 1) / alignment * alignment;
    }
    void* take(std::byte*& next) const { return std::exchange(next, next + room()) + shift(); }
  };

  const Device& on;
  void* memory = nullptr;

  /// Writes the addresses of the operands, and of results that follow one another.
  status redirect_addresses(matrix_product& p, void** addresses, std::int64_t distance) {
    const std::int64_t none = 0;
    write_addresses::arguments a{};
    auto* const first = static_cast<std::byte*>(p.result);
    a.add(product_batches(1, &p.batch, &none, &none, &distance), static_cast<std::int64_t>(size_of(p.type)), first,
          first, first, addresses);
    if (const status written = Api::launch(write_addresses{}, write_addresses::shape(a, on.context()), on.stream(), a);
        !written.ok())
      return written;
    const std::size_t of_operands = index_of(2 * p.batch) * sizeof(void*);
    const void* const from = static_cast<const void*>(p.addresses);
    p.addresses = addresses;
    return Api::copy_between(addresses, on.physical, from, on.physical, of_operands, on.stream());
  }
};

} // namespace detail

/// Chooses the fastest algorithm for products like this one on the active device, unless that has been done: all are
/// timed on the product's operands, and write to other memory. If no such memory is left, nothing is chosen yet;
/// `not_ready` if the device does not end a measurement in time.
template <device_api Api, class Device> status measure_product(const Device& on, const matrix_product& product) {
  int count = 0;
  if (const status asked = Api::proposed_algorithms(count, product, on.physical); !asked.ok()) return asked;
  if (count == 0) return {};
  if (count == 1) return Api::choose_algorithm(0, product, on.physical); // so that nobody asks again
  detail::scratch_results<Api, Device> memory(on);
  matrix_product measured = product;
  if (const status redirected = memory.redirect(measured); !redirected.ok())
    return redirected.is == status::kind::out_of_memory ? status{} : redirected;
  int fastest = 0;
  double least = -1;
  for (int number = 0; number < count; ++number) {
    double seconds = 0;
    const status timed = Api::time_algorithm(seconds, number, measured, on.physical, on.stream());
    if (timed.is == status::kind::unsupported) continue;
    if (!timed.ok()) return timed;
    if (least >= 0 && seconds >= least) continue;
    fastest = number;
    least = seconds;
  }
  return Api::choose_algorithm(fastest, product, on.physical);
}

} // namespace parallax::PARALLAX_INLINE_VERSION::cuda
