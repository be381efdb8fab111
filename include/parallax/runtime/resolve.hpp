// Symbolic extents and guards at a call.
#pragma once

#include <parallax/compile/encode.hpp>
#include <parallax/runtime/errors.hpp>
#include <parallax/runtime/scratch_array.hpp>

#include <span>
#include <sstream>
#include <string>
#include <vector>

namespace parallax::detail {

/// The values of a program's symbolic extents.
class resolved_extents {
 public:
  /// `shape_of` gives the extents of an argument by the number of its leaf.
  template <class F> resolved_extents(const std::int64_t* table, F shape_of) : entries(count_of(table)) {
    table_reader r(table + table[extents_at]);
    std::int64_t atom_count = r.next();
    const std::int64_t* atoms = r.skip(3 * atom_count);
    r.next();
    for (std::int64_t& entry : entries) {
      std::int64_t sum = 0;
      for (std::int64_t terms = r.next(); terms > 0; --terms) {
        std::int64_t product = r.next();
        for (std::int64_t n = r.next(); n > 0; --n) {
          const std::int64_t* atom = atoms + 3 * r.next();
          if (atom[0] == 0) product *= shape_of(static_cast<std::size_t>(atom[1]))[atom[2]];
          else product *= (*this)[atom[2]] == 0 ? 0 : (*this)[atom[1]] / (*this)[atom[2]];
        }
        sum += product;
      }
      entry = sum;
    }
  }
  std::int64_t operator[](dim extent) const {
    return is_static(extent) ? extent : entries[static_cast<std::size_t>(-extent - 1)];
  }
  /// All of them.
  std::span<const std::int64_t> values() const { return {entries.data(), entries.size()}; }

 private:
  scratch_array<std::int64_t, 32> entries;

  static std::size_t count_of(const std::int64_t* table) {
    table_reader r(table + table[extents_at]);
    r.skip(3 * r.next());
    return static_cast<std::size_t>(r.next());
  }
};

/// An abstract value read from a table.
inline abstract_value read_value(table_reader& r) {
  abstract_value value;
  value.type = static_cast<element_type>(r.next());
  for (std::int64_t n = r.next(); n > 0; --n) value.shape.push_back(r.next());
  return value;
}

inline void write_value(std::ostream& out, const abstract_value& value, const resolved_extents& extents) {
  out << name_of(value.type) << '[';
  for (int i = 0; i < value.rank(); ++i) out << (i > 0 ? "," : "") << extents[value.shape[i]];
  out << ']';
}

/// Names the argument axes that an extent is the product of; nothing where it is something else.
inline std::string describe_extent(const std::int64_t* table, dim extent) {
  if (is_static(extent)) return "";
  table_reader r(table + table[extents_at]);
  std::int64_t atom_count = r.next();
  const std::int64_t* atoms = r.skip(3 * atom_count);
  r.next();
  for (std::int64_t before = -extent - 1; before > 0; --before)
    for (std::int64_t terms = r.next(); terms > 0; --terms) {
      r.next();
      r.skip(r.next());
    }
  if (r.next() != 1 || r.next() != 1) return ""; // one term, taken once
  std::string factors;
  for (std::int64_t n = r.next(); n > 0; --n) {
    const std::int64_t* atom = atoms + 3 * r.next();
    if (atom[0] != 0) return "";
    factors += (factors.empty() ? " (axis " : " times axis ") + std::to_string(atom[2]) + " of argument " +
               std::to_string(atom[1]);
  }
  return factors + ")";
}

inline void skip_value(table_reader& r) {
  r.next();
  r.skip(r.next());
}

/// Whether the guard that the reader stands at holds; moves on to the next one.
inline bool guard_holds(table_reader& r, const resolved_extents& extents) {
  auto condition = static_cast<guard::kind>(r.next());
  r.skip(r.next()); // the operation's name
  dim left = r.next(), right = r.next();
  skip_value(r), skip_value(r);
  bool same_sizes = true;
  std::int64_t first_size = -1;
  for (std::int64_t n = r.next(); n > 0; --n) {
    r.next();
    std::int64_t axis = r.next();
    r.next();
    const std::int64_t* shape = r.skip(r.next());
    if (first_size < 0) first_size = extents[shape[axis]];
    same_sizes = same_sizes && extents[shape[axis]] == first_size;
  }
  switch (condition) {
  case guard::equal_extents:
  case guard::broadcast_extents:
  case guard::same_size:
  case guard::groups_cover: return extents[left] == extents[right];
  case guard::divisible: return extents[right] != 0 && extents[left] % extents[right] == 0;
  case guard::at_least: return extents[left] >= extents[right];
  case guard::index_within: return extents[right] < extents[left];
  case guard::not_zero: return extents[left] != 0;
  case guard::mapped_sizes: break;
  }
  return same_sizes;
}

/// Throws the error of the guard that the reader stands at.
[[noreturn]] inline void throw_guard(const std::int64_t* table, table_reader r, const resolved_extents& extents) {
  auto condition = static_cast<guard::kind>(r.next());
  std::string operation;
  for (std::int64_t n = r.next(); n > 0; --n) operation.push_back(static_cast<char>(r.next()));
  dim left = r.next(), right = r.next();
  abstract_value left_value = read_value(r), right_value = read_value(r);
  std::vector<mapped_argument> mapped;
  for (std::int64_t n = r.next(); n > 0; --n) {
    int argument = r.next_int(), axis = r.next_int();
    mapped.push_back({argument, axis, read_value(r)});
  }
  std::ostringstream text;
  auto put = [&](dim extent) -> std::ostream& { return text << extents[extent] << describe_extent(table, extent); };
  switch (condition) {
  case guard::equal_extents:
  case guard::broadcast_extents:
    text << operation << ": shapes ";
    write_value(text, left_value, extents);
    text << " and ";
    write_value(text, right_value, extents);
    text << " do not agree: ";
    put(left) << " is not ";
    put(right);
    if (condition == guard::broadcast_extents && (extents[left] == 1 || extents[right] == 1))
      text << "; an extent of 1 is repeated only where it is known while compiling: give the array a static extent of "
              "1, or reshape it to one";
    break;
  case guard::same_size:
  case guard::divisible:
    text << operation << " ";
    put(left) << " of ";
    write_value(text, left_value, extents);
    text << (condition == guard::divisible ? " must be divisible by " : " must be ");
    put(right);
    break;
  case guard::at_least:
    text << operation << ": ";
    put(right) << " is beyond ";
    put(left) << " in ";
    write_value(text, left_value, extents);
    break;
  case guard::index_within:
    text << operation << ": index " << extents[right] << " is outside the axis of size ";
    put(left) << "; give indices from 0 to " << extents[left] - 1;
    break;
  case guard::groups_cover:
    text << operation << ": axis_index_groups must cover all indices exactly once, but they have " << extents[right]
         << " for an axis of size ";
    put(left);
    break;
  case guard::not_zero:
    text << operation << describe_extent(table, left) << ", for ";
    write_value(text, left_value, extents);
    break;
  case guard::mapped_sizes:
    describe_mapped_sizes(
        text, operation, mapped, [&](const mapped_argument& a) { return extents[a.value.shape[a.axis]]; },
        [&](std::ostream& out, const abstract_value& v) { write_value(out, v, extents); });
  }
  throw shape_error(text.str());
}

/// Checks what only the call could decide. Throws `shape_error`.
inline void check_guards(const std::int64_t* table, const resolved_extents& extents) {
  table_reader r(table + table[guards_at]);
  for (std::int64_t count = r.next(); count > 0; --count) {
    table_reader start = r;
    if (!guard_holds(r, extents)) throw_guard(table, start, extents);
  }
}

} // namespace parallax::detail
