// A loop of a program as a program of its own, told apart by its contents: equal loops of different programs are one
// type, which does not name a user's function.
#pragma once

#include <parallax/core/support/growing_vector.hpp>
#include <parallax/core/support/ids.hpp>
#include <parallax/core/support/plain_span.hpp>
#include <parallax/core/version.hpp>
#include <parallax/primitives/building/catalogue.hpp>
#include <parallax/program/carry_ring.hpp>
#include <parallax/program/plan.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION::compiled {

/// Copies a loop and all sections that it runs into a new plan. The loop is the only step of the new main section: its
/// operands are that section's values, and its results the outputs, in their order.
class loop_copy {
 public:
  plan_builder plan;
  growing_vector<primitive_id> primitives; ///< that the loop's kernels have, each once

  /// `Step` is a scan, whose count the caller knows, or a while loop.
  template <loop_step Step> constexpr loop_copy(const plan_view& whole, const Step& loop) : from(whole) {
    sections.push_back(section_id::main);
    Step copy = loop;
    if constexpr (std::is_same_v<Step, scan_step>) copy.count = dim{};
    copy.operands = {}, copy.results = {};
    (*this)(copy);
    name_places(copy, loop);
    for (int next = 1; next < count_of(sections); ++next) plan.add(copied(from.section(sections[index_of(next)])));
  }

  // Members of records: they get their numbers in the new plan.

  constexpr void operator()(section_id& section) { section = section_id{place_of(section, sections)}; }
  constexpr void operator()(kernel_id& kernel) {
    const int before = count_of(kernels), place = place_of(kernel, kernels);
    if (place == before) plan.add(copied(from.at<kernel_record>(static_cast<int>(kernel))));
    kernel = kernel_id{place};
  }
  constexpr void operator()(const primitive_id& primitive) {
    if (primitive != primitive_id::input) place_of(primitive, primitives);
  }
  constexpr void operator()(step_record& step) {
    step.index = visit_step(from, step, [&](const auto& record) { return plan.add(copied(record)); });
  }
  template <class T> constexpr void operator()(record_list<T>& list) {
    growing_vector<T> items;
    for (const T& item : from[list]) items.push_back(copied(item));
    list = plan.add_list(items);
  }
  template <class T> constexpr void operator()(T& member) {
    if constexpr (described<T, loop_copy>) T::describe(member, *this);
  }

 private:
  const plan_view& from;
  growing_vector<section_id> sections; ///< by their numbers here
  growing_vector<kernel_id> kernels;

  template <class T> constexpr T copied(T record) {
    if constexpr (std::is_same_v<T, section_record>) record.mesh = {}, record.outputs = {};
    (*this)(record);
    return record;
  }
  template <class Id> static constexpr int place_of(Id id, growing_vector<Id>& known) {
    int place = 0;
    while (place < count_of(known) && known[index_of(place)] != id) ++place;
    if (place == count_of(known)) known.push_back(id);
    return place;
  }
  /// Makes the main section, and the loop its step.
  template <class Step> constexpr void name_places(Step& loop, const Step& original) {
    growing_vector<buffer_record> buffers;
    growing_vector<scan_operand> operands;
    growing_vector<scan_result> results;
    int next = 0;
    for (scan_operand x : from[original.operands]) {
      x.buffer = buffer_id{next};
      operands.push_back(x);
      buffers.push_back({buffer_kind::bound, next++});
    }
    const int arguments = next;
    const plain_span<const scan_result> all = from[original.results];
    for (scan_result y : all) {
      const int own = next++, carry = static_cast<int>(carry_in(all, y.other));
      if (y.other != buffer_id::none) { // another carry's buffer, or a buffer of its own
        const bool is_carry = carry < count_of(all);
        y.other = buffer_id{is_carry ? arguments + carry : own + count_of(all)};
      }
      y.buffer = buffer_id{own};
      results.push_back(y);
      buffers.push_back({buffer_kind::output, own - arguments});
    }
    loop.operands = plan.add_list(operands);
    loop.results = plan.add_list(results);
    growing_vector<step_record> steps;
    steps.push_back({kind_of(loop), plan.add(loop)});
    plan.add(section_record{.argument_count = arguments,
                            .value_count = arguments,
                            .buffers = plan.add_list(buffers),
                            .steps = plan.add_list(steps)});
  }
  static constexpr step_kind kind_of(const scan_step&) { return step_kind::scan; }
  static constexpr step_kind kind_of(const while_step&) { return step_kind::while_loop; }
};

/// Words in as few bytes as their sizes need, eight of which are a number. The first word is how many there are.
class word_packer {
 public:
  constexpr void operator()(std::int64_t word) {
    // small numbers of either sign become small ones without
    std::uint64_t rest = static_cast<std::uint64_t>(word) << 1 ^ static_cast<std::uint64_t>(word >> 63);
    for (; rest >= 0x80; rest >>= 7) add_byte(rest | 0x80);
    add_byte(rest);
  }
  constexpr const growing_vector<std::uint64_t>& numbers() const { return packed; }

 private:
  growing_vector<std::uint64_t> packed;
  unsigned used = 8; ///< bytes of the last number

  constexpr void add_byte(std::uint64_t byte) {
    if (used == 8) {
      packed.push_back(0);
      used = 0;
    }
    packed[packed.size() - 1] |= (byte & 0xff) << 8 * used++;
  }
};
/// Reads the words that a `word_packer` packed, one by one.
class word_unpacker {
 public:
  constexpr explicit word_unpacker(const std::uint64_t* from) : packed(from) {}

  constexpr std::int64_t next() {
    std::uint64_t word = 0;
    for (int shift = 0;; shift += 7) {
      const std::uint64_t byte = packed[at / 8] >> 8 * (at % 8) & 0xff;
      ++at;
      word |= (byte & 0x7f) << shift;
      if (byte < 0x80) return static_cast<std::int64_t>(word >> 1 ^ (~(word & 1) + 1));
    }
  }

 private:
  const std::uint64_t* packed;
  std::size_t at = 0; ///< in bytes
};

/// A program whose plan is in its name. The plan names primitives by their ids; `Primitives` lists them as types, in
/// the order in which the plan meets them.
template <class Primitives, std::uint64_t... Packed> struct packed_program {
  static constexpr std::uint64_t packed[] = {Packed...};
  static constexpr std::size_t size = index_of(word_unpacker(packed).next());
  static constexpr auto words = [] {
    std::array<std::int64_t, size> all{};
    word_unpacker unpacker(packed);
    unpacker.next();
    for (std::int64_t& word : all) word = unpacker.next();
    return all;
  }();
  template <std::size_t... I> static constexpr auto read(std::index_sequence<I...>) {
    using data_type = record_arrays<record_types, static_cast<std::size_t>(words[I])...>;
    return data_type(word_reader(words.data() + sizeof...(I)));
  }
  static constexpr auto data = read(std::make_index_sequence<record_types::size>{});
  static constexpr plan_view plan = data.view();
};

/// Loop number `Index` among those of its kind, a `scan_step` or a `while_step`, of a program.
template <class Program, class Step, int Index> struct loop_program {
  static constexpr loop_copy copy() { return loop_copy(Program::plan, Program::plan.template at<Step>(Index)); }
  static constexpr auto numbers() {
    word_list all;
    copy().plan.write(all);
    word_packer packer;
    packer(std::ssize(all.words));
    for (std::int64_t word : all.words) packer(word);
    return packer;
  }
  static constexpr std::size_t count = numbers().numbers().size();
  static constexpr auto packed = [] {
    std::array<std::uint64_t, count> all{};
    const word_packer packer = numbers();
    for (std::size_t i = 0; i < count; ++i) all[i] = packer.numbers()[i];
    return all;
  }();
  static constexpr std::size_t primitive_count = copy().primitives.size();
  static constexpr auto used = [] {
    std::array<primitive_id, primitive_count> all{};
    std::size_t place = 0;
    for (const primitive_id each : copy().primitives) all[place++] = each;
    return all;
  }();
  template <std::size_t... P, std::size_t... I>
  static constexpr auto make(std::index_sequence<P...>, std::index_sequence<I...>) {
    return packed_program<primitives::list<typename primitives::entry<used[P]>::primitive...>, packed[I]...>{};
  }
  using type = decltype(make(std::make_index_sequence<primitive_count>{}, std::make_index_sequence<count>{}));
};

} // namespace parallax::PARALLAX_INLINE_VERSION::compiled
