// What is wrong with a call whose extents do not fit, in words.
#pragma once

#include <parallax/core/support/ids.hpp>
#include <parallax/core/version.hpp>
#include <parallax/runtime/guards.hpp>
#include <parallax/runtime/resolve.hpp>
#include <parallax/transforms/maps/mapping.hpp>

#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace parallax::PARALLAX_INLINE_VERSION::runtime {

/// An abstract value of a program.
inline abstract_value value_of(const plan_view& plan, const value_record& record) {
  abstract_value value{.type = record.type, .weak = false, .shape = {}};
  for (dim extent : plan[record.shape]) value.shape.push_back(extent);
  return value;
}

/// The text of a guard that a call does not pass.
class guard_message {
 public:
  guard_message(const plan_view& all, const resolved_extents& resolved, const guard_record& failed)
      : plan(all), extents(resolved), g(failed), operation(plan[g.operation].data(), plan[g.operation].size()) {}

  std::string text() {
    switch (g.kind) {
    case guard_kind::equal_extents:
    case guard_kind::broadcast_extents: say_disagreement(); break;
    case guard_kind::same_size: say_size(" must be "); break;
    case guard_kind::divisible: say_size(" must be divisible by "); break;
    case guard_kind::at_least:
      out << operation << ": " << named(g.right) << " is beyond " << named(g.left) << " in " << typed(g.left_value);
      break;
    case guard_kind::not_negative:
      out << operation << ": " << named(g.left) << " is not an extent; give extents from 0 on";
      break;
    case guard_kind::index_within:
      out << operation << ": index " << extents[g.right] << " is outside the axis of size " << named(g.left)
          << "; give indices from 0 to " << extents[g.left] - 1;
      break;
    case guard_kind::index_from_end:
    case guard_kind::bound_from_end: say_from_end(); break;
    case guard_kind::within_32_bits:
      out << operation << ": " << named(g.left) << " is no int32 number; " << operation
          << "<std::int64_t> has numbers of 64 bits";
      break;
    case guard_kind::groups_cover:
      out << operation << ": axis_index_groups must cover all indices exactly once, but they have " << extents[g.right]
          << " for an axis of size " << named(g.left);
      break;
    case guard_kind::not_zero:
      out << operation << describe_extent(plan, g.left) << ", for " << typed(g.left_value);
      break;
    case guard_kind::readable:
      out << operation << ": an axis of extent 0" << describe_extent(plan, g.left) << " has no elements to read, in "
          << typed(g.left_value) << "; give an array with some";
      break;
    case guard_kind::mapped_sizes: say_mapped_sizes(); break;
    }
    return out.str();
  }

 private:
  const plan_view& plan;
  const resolved_extents& extents;
  const guard_record& g;
  std::string_view operation;
  std::ostringstream out;

  std::string named(dim extent) const { return std::to_string(extents[extent]) + describe_extent(plan, extent); }
  std::string typed(const abstract_value& value) const {
    std::string text = std::string(name_of(value.type)) + '[';
    for (int i = 0; i < value.rank(); ++i) {
      if (i > 0) text += ',';
      text += std::to_string(extents[value.shape[i]]);
    }
    return text + ']';
  }
  std::string typed(const value_record& value) const { return typed(value_of(plan, value)); }

  void say_disagreement() {
    out << operation << ": shapes " << typed(g.left_value) << " and " << typed(g.right_value)
        << " do not agree: " << named(g.left) << " is not " << named(g.right);
    if (g.kind == guard_kind::broadcast_extents && (extents[g.left] == 1 || extents[g.right] == 1))
      out << "; an extent of 1 is repeated only where it is known while compiling: give the array a static extent of "
             "1, expand_dims it, or reshape it inside of a function";
  }
  void say_from_end() {
    const bool is_index = g.kind == guard_kind::index_from_end;
    const std::int64_t size = extents[g.left];
    out << operation << (is_index ? ": index -" : ": bound -") << extents[g.right] << " is outside the axis of size "
        << named(g.left) << "; ";
    if (is_index && size == 0) out << "give an array with elements";
    else
      out << (is_index ? "give indices from -" : "give bounds from -") << size << " to "
          << (is_index ? size - 1 : size);
  }
  void say_size(const char* demand) {
    out << operation << " " << named(g.left) << " of " << typed(g.left_value) << demand << named(g.right);
  }
  void say_mapped_sizes() {
    std::vector<mapped_argument> mapped;
    for (const mapped_argument_record& a : plan[g.mapped_arguments])
      mapped.push_back({a.argument, a.axis, value_of(plan, a.value)});
    describe_mapped_sizes(
        out, operation, "\n  * ", mapped, [&](const mapped_argument& a) { return extents[a.value.shape[a.axis]]; },
        [&](std::ostream& text, const abstract_value& v) { text << typed(v); });
  }
};

/// Checks the conditions that only the call can decide. Throws `shape_error`.
inline void check_guards(const plan_view& plan, const resolved_extents& extents) {
  for (const guard_record& g : plan.all<guard_record>())
    if (!guard_holds(plan, extents, g)) throw shape_error(guard_message(plan, extents, g).text());
}

#if PARALLAX_DEFINES_RUNTIME
PARALLAX_RUNTIME_FUNCTION void throw_for_extents(const plan_view& plan, const std::int64_t* const* shapes) {
  check_guards(plan, resolved_extents(plan, [shapes](std::size_t leaf) { return shapes[leaf]; }));
  throw error("a call's extents were right when they were looked at again");
}
#endif

} // namespace parallax::PARALLAX_INLINE_VERSION::runtime
