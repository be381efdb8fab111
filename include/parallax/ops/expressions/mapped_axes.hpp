// Mapped axes by name, and groups of their instances: the participants of a collective.
#pragma once

#include <parallax/core/support/ids.hpp>
#include <parallax/core/version.hpp>
#include <parallax/ops/expressions/axes.hpp>
#include <parallax/primitives/arrays/collective.hpp>

#include <array>
#include <cstddef>
#include <type_traits>
#include <vector>

namespace parallax::PARALLAX_INLINE_VERSION {

/// Divides the instances of a mapped axis into groups, each of which has a collective of its own: `psum<"i">(x,
/// axis_index_groups{{0, 1}, {2, 3}})`. Every index is in exactly one group; a group's order is that of its list.
/// Computed groups are given as an array of arrays. JAX: the argument of that name
template <std::size_t Groups, std::size_t Indices> struct axis_index_groups {
  std::array<int, Groups> sizes{};
  std::array<int, Indices> indices{}; ///< group by group

  template <std::size_t... Sizes>
    requires(sizeof...(Sizes) == Groups && (Sizes + ... + 0) == Indices)
  constexpr axis_index_groups(const int (&... groups)[Sizes]) {
    std::size_t group = 0, at = 0;
    [[maybe_unused]] auto append = [&](const int* list, std::size_t size) {
      sizes[group++] = static_cast<int>(size);
      for (std::size_t i = 0; i < size; ++i) indices[at++] = list[i];
    };
    (append(groups, Sizes), ...);
  }
  template <std::size_t Size>
  constexpr explicit axis_index_groups(const std::array<std::array<int, Size>, Groups>& groups) {
    std::size_t at = 0;
    sizes.fill(static_cast<int>(Size));
    for (const std::array<int, Size>& group : groups)
      for (int index : group) indices[at++] = index;
  }
};
template <std::size_t... Sizes>
axis_index_groups(const int (&... groups)[Sizes]) -> axis_index_groups<sizeof...(Sizes), (Sizes + ... + 0)>;
template <std::size_t Size, std::size_t Groups>
axis_index_groups(const std::array<std::array<int, Size>, Groups>&) -> axis_index_groups<Groups, Size * Groups>;

namespace detail {

template <class T> inline constexpr bool is_axis_index_groups = false;
template <std::size_t Groups, std::size_t Indices>
inline constexpr bool is_axis_index_groups<axis_index_groups<Groups, Indices>> = true;

/// Groups of instances, or `none`: all together.
template <class T>
concept instance_groups = is_axis_index_groups<T> || std::same_as<T, none_t>;

/// Reports a name that no enclosing vmap or pmap binds.
constexpr void unbound_axis(context& trace, std::string_view operation, std::string_view name) {
  message text;
  text << operation << ": unbound axis name: " << name << "; ";
  bool any = false;
  for (axis_id bound : trace.bound_axes) {
    std::string_view known = trace.axes[bound].name;
    if (known.empty()) continue;
    text << (any ? ", " : "bound axis names are: ") << known;
    any = true;
  }
  if (!any)
    text << "no axis name is bound here: map the function with pmap<\"" << name << "\"> or vmap<\"" << name << "\">";
  trace.fail(text);
}

/// The participants of a collective: the instances along axes, all together or in groups.
struct participants {
  primitives::mapped_axes over; ///< without axes after an error
  dim size{1};                  ///< the number of instances in the first group, or of all
  bool equal_groups = true;
};

template <fixed_string... Names>
constexpr participants find_participants(context& trace, std::string_view operation, none_t = {}) {
  participants found;
  auto one = [&](std::string_view name) {
    axis_id axis = trace.find_axis(name);
    if (axis == axis_id::none) return unbound_axis(trace, operation, name);
    found.over.axes.push_back(axis);
    trace.axes[axis].is_counted = true;
    found.size = trace.extents.multiply(found.size, trace.axis_size(axis));
  };
  (one(Names.view()), ...);
  if (sizeof...(Names) == 0)
    trace.fail(message() << operation << ": no axis is named: name it as a template argument, plx::" << operation
                         << "<\"i\">(...)");
  return found;
}

/// Checks the axes of a collective that numbers instances. They are numbered row-major, as the mesh of devices is, so
/// the outermost axis has to come first.
constexpr bool check_outermost_first(context& trace, std::string_view operation, const participants& who) {
  for (int i = 1; i < who.over.axes.size() && !trace.failed; ++i)
    if (who.over.axes[i - 1] >= who.over.axes[i])
      trace.fail(message() << operation << ": name each axis once, the outermost first");
  return !trace.failed;
}

template <std::size_t Groups, std::size_t Indices>
constexpr message& operator<<(message& text, const axis_index_groups<Groups, Indices>& groups) {
  std::size_t at = 0;
  for (std::size_t group = 0; group < Groups; ++group) {
    text << (group == 0 ? "((" : "), (");
    for (int i = 0; i < groups.sizes[group]; ++i) text << (i == 0 ? "" : ", ") << groups.indices[at++];
  }
  return text << (Groups == 0 ? "()" : "))");
}

template <fixed_string... Names, std::size_t Groups, std::size_t Indices>
constexpr participants find_participants(context& trace, std::string_view operation,
                                         const axis_index_groups<Groups, Indices>& groups) {
  participants found = find_participants<Names...>(trace, operation);
  if (trace.failed || !check_outermost_first(trace, operation, found)) return found;
  std::array<bool, Indices> given{};
  bool once = Indices > 0;
  for (int index : groups.indices) {
    bool inside = index >= 0 && index < static_cast<int>(Indices);
    once = once && inside && !given[index_of(index)];
    if (once) given[index_of(index)] = true;
  }
  constexpr dim count{static_cast<std::int64_t>(Indices)};
  if (!once || (is_static(found.size) && !(found.size == count))) {
    message text;
    text << operation << ": axis_index_groups must cover all indices exactly once, got " << groups;
    if (is_static(found.size)) text << " for an axis of size " << found.size.number();
    trace.fail(text << "; name each index in one group");
    return found;
  }
  if (!is_static(found.size)) require(trace, guard_kind::groups_cover, operation, found.size, count, {});
  std::size_t at = 0;
  for (int size : groups.sizes) {
    found.over.groups.push_back({});
    for (int i = 0; i < size; ++i) found.over.groups.back().push_back(groups.indices[at++]);
    found.equal_groups = found.equal_groups && size == groups.sizes[0];
  }
  found.size = dim{groups.sizes[0]};
  return found;
}

/// The participants of a collective whose results are as large as its group, so that all groups must be equally large.
template <fixed_string... Names, instance_groups Groups>
constexpr participants find_equal_participants(context& trace, std::string_view operation, const Groups& groups) {
  participants found = find_participants<Names...>(trace, operation, groups);
  if constexpr (is_axis_index_groups<Groups>)
    if (!trace.failed && !found.equal_groups)
      trace.fail(message() << operation << ": Replica groups must be equally sized, got " << groups);
  if (!trace.failed) check_outermost_first(trace, operation, found);
  return found;
}

template <class Primitive> constexpr tracer emit_collective(tracer x, const typename Primitive::parameters& p) {
  return x.owner->failed ? x : emit<Primitive>({x}, p);
}

} // namespace detail
} // namespace parallax::PARALLAX_INLINE_VERSION
