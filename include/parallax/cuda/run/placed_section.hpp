// Where the buffers of a section lie on each of its devices: values, outputs, slots, and the addresses of matrices.
#pragma once

#include <parallax/arrays/memory/scratch_array.hpp>
#include <parallax/core/support/function_ref.hpp>
#include <parallax/core/support/ids.hpp>
#include <parallax/core/support/plain_span.hpp>
#include <parallax/core/version.hpp>
#include <parallax/cuda/devices/allocation.hpp>
#include <parallax/cuda/devices/mesh.hpp>
#include <parallax/cuda/names.hpp>
#include <parallax/cuda/run/section_outputs.hpp>
#include <parallax/cuda/run/steps/batch_addresses.hpp>
#include <parallax/runtime/result_memory.hpp>
#include <parallax/runtime/section_plan.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace parallax::PARALLAX_INLINE_VERSION::cuda {

/// A section on its devices. Exchanges that have not run yet may still change what lies in its buffers.
template <device_api Api> class placed_section {
 public:
  /// Gives the first byte of the section's value `number` at a position, when it is used first.
  using value_function = function_ref<std::byte*(std::size_t number, int position)>;

  const section_plan section;
  const mesh<Api> all;
  recycled_vector<recycled_vector<buffer>> outputs; ///< by position, by output

  placed_section(const section_plan& run, mesh<Api> devices, value_function values, std::vector<std::byte*> slot_memory)
      : section(run),
        all(std::move(devices)),
        value_at(values),
        memory_of_slots(std::move(slot_memory)),
        pointers(section.buffers().size(), std::vector<std::byte*>(index_of(all.size()))),
        matrices(index_of(all.size())) {}

  /// Allocates memory for slots, which share one arena on each device, and for outputs that have none yet and that no
  /// memory here is lent for.
  void prepare(given_memory given = {}) {
    place_slots();
    outputs.resize(index_of(all.size()));
    for (int p = 0; p < all.size(); ++p) {
      auto& own_outputs = outputs[index_of(p)];
      take_outputs(section, *all.devices[index_of(p)], given, own_outputs);
      for (std::size_t i = 0; i < pointers.size(); ++i)
        if (const buffer_record& each = section.buffers()[i]; each.kind == buffer_kind::output)
          pointers[i][index_of(p)] = address_of<Api>(own_outputs[index_of(each.number)]);
    }
  }

  /// Sets the address of a buffer; for each buffer that is used, instead of `prepare`.
  void set_address(buffer_id id, int position, std::byte* address) {
    pointers[index_of(id)][index_of(position)] = address;
    matrices.forget(position);
  }
  /// Sets the memory for the addresses of matrices, as `batch_addresses` needs it.
  void set_addresses_of_matrices(int position, std::byte* memory) { matrices.lie_at(position, memory); }
  /// Writes the addresses of matrices for all work that is enqueued or captured from now on.
  void write_addresses_of_matrices(int position) {
    matrices.write(section, *all.devices[index_of(position)], position,
                   [&](buffer_id id) { return place_of(id, position); });
  }

  bool is_used(buffer_id id) const { return pointers[index_of(id)][0] != nullptr; }

  /// A buffer's first byte at a position, without waiting for exchanges.
  std::byte* place_of(buffer_id id, int position) {
    std::byte*& pointer = pointers[index_of(id)][index_of(position)];
    const buffer_record& buffer = section.buffer_at(id);
    if (pointer == nullptr && buffer.kind == buffer_kind::bound) pointer = value_at(index_of(buffer.number), position);
    return pointer;
  }
  /// A buffer's first bytes, by position: null if nobody has asked for a value.
  const std::vector<std::byte*>& addresses(buffer_id id) const { return pointers[index_of(id)]; }
  /// The addresses of a product's matrices, for one call; null if the library goes along strides.
  void* const* addresses_for(const product_step& step, buffer_id result, int p) {
    if (step.batch.count < 2) return nullptr;
    write_addresses_of_matrices(p);
    return matrices.of(step, result, p);
  }

  // Bodies of loops and branches

  std::vector<std::byte*> memory_of_bodies; ///< by position: memory for bodies' slots; empty if bodies allocate it
  void place_slots() {
    scratch_array<std::size_t, 32> slot_offsets(index_of(section.section.slot_count) + 1);
    section.plan_slots(slot_offsets);
    const std::size_t end = aligned(slot_offsets[slot_offsets.size() - 1]);
    for (int p = 0; p < all.size(); ++p) {
      std::byte* const first = arena(p, end + bytes_of_matrix_addresses(section));
      matrices.lie_at(p, first + end);
      for (std::size_t i = 0; i < pointers.size(); ++i)
        if (const buffer_record& buffer = section.buffers()[i]; buffer.kind == buffer_kind::slot)
          pointers[i][index_of(p)] = first + section.place_of(buffer, slot_offsets);
    }
  }
  /// Sets the addresses of the arguments and outputs of a loop's body.
  void place(plain_span<std::byte* const> arguments, plain_span<std::byte* const> results, int position) {
    int next = 0;
    for (const buffer_record& each : section.buffers()) {
      const buffer_id buffer{next++};
      const auto number = index_of(each.number);
      if (each.kind == buffer_kind::bound) set_address(buffer, position, arguments[number]);
      if (each.kind == buffer_kind::output) set_address(buffer, position, results[number]);
    }
  }
  /// How a body's operands move with the rounds that the device counts, at one position.
  struct movement {
    const std::int64_t* round = nullptr;
    std::vector<std::int64_t> bytes; ///< by buffer
  };
  /// Sets the bytes by which arguments and outputs of a body move with each round; the device counts the rounds at
  /// `round`.
  void move(const std::int64_t* round, plain_span<const std::int64_t> arguments, plain_span<const std::int64_t> results,
            int position) {
    movements.resize(index_of(all.size()));
    movement& own = movements[index_of(position)];
    own.round = round;
    for (const buffer_record& each : section.buffers()) {
      const auto number = index_of(each.number);
      switch (each.kind) {
      case buffer_kind::bound: own.bytes.push_back(arguments[number]); break;
      case buffer_kind::output: own.bytes.push_back(results[number]); break;
      case buffer_kind::slot: own.bytes.push_back(0); break;
      }
    }
  }
  /// Whether operands move; then, how they move at a position.
  bool moves() const { return !movements.empty(); }
  const movement& movement_at(int position) const { return movements[index_of(position)]; }

 private:
  value_function value_at;
  recycled_vector<buffer> arenas;
  std::vector<std::byte*> memory_of_slots;       ///< by position; allocated if empty
  std::vector<std::vector<std::byte*>> pointers; ///< by buffer, by position
  batch_addresses<Api> matrices;
  std::vector<movement> movements; ///< by position; empty if nothing moves

  /// Memory for the slots of one device: new memory, or, for a body, the memory that its loop has for it.
  std::byte* arena(int position, std::size_t bytes) {
    if (memory_of_slots.empty()) {
      arenas.push_back(allocate<Api>(*all.devices[index_of(position)], bytes));
      return address_of<Api>(arenas.back());
    }
    std::byte* const first = memory_of_slots[index_of(position)];
    memory_of_bodies.push_back(first + aligned(bytes));
    return first;
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::cuda
