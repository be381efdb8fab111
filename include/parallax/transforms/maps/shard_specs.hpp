// How the arguments and results of shard_map lie on a mesh: in_specs and out_specs.
#pragma once

#include <parallax/core/support/growing_vector.hpp>
#include <parallax/core/trace/context.hpp>
#include <parallax/core/version.hpp>
#include <parallax/transforms/maps/axis_spec.hpp>
#include <parallax/transforms/maps/mesh.hpp>

#include <cstddef>
#include <string_view>

namespace parallax::PARALLAX_INLINE_VERSION {

namespace detail {

template <class Mesh> struct read_partition {
  static constexpr std::string_view entry = "plx::spec<...>";
  template <class Spec> static constexpr bool add(growing_vector<partition>& all, const Spec& given) {
    constexpr bool is_spec = requires { Spec::entries; };
    if constexpr (is_spec) all.push_back(partition_of<Mesh>(given));
    else all.push_back({});
    return is_spec;
  }
};
/// A partition for every leaf of a tree.
template <class Mesh> using leaf_partitions = leaf_entries<partition, read_partition<Mesh>>;

} // namespace detail

/// How arguments lie on a mesh: one `spec` for all of them, or one for each, or `tree<...>` of specs for an argument's
/// children. JAX: the argument of that name
template <auto... Specs> struct in_specs_t {
  template <class Mesh, class... Args> static constexpr detail::leaf_partitions<Mesh> read() {
    detail::leaf_partitions<Mesh> result;
    detail::read_arguments<Args...>(result, Specs...);
    return result;
  }
};
template <auto... Specs> inline constexpr in_specs_t<Specs...> in_specs{};

/// How results lie on a mesh: one `spec` for all of a result, or one for each of its children. JAX: the argument of
/// that name
template <auto... Specs> struct out_specs_t {
  template <class Mesh, class Result> static constexpr detail::leaf_partitions<Mesh> read() {
    detail::leaf_partitions<Mesh> result;
    detail::read_result<Result>(result, Specs...);
    return result;
  }
};
template <auto... Specs> inline constexpr out_specs_t<Specs...> out_specs{};

namespace detail {

/// Reports a spec that does not fit an array of this rank; true if it fits.
template <class Mesh>
constexpr bool check_partition(context& trace, std::string_view what, std::size_t number, const partition& cut,
                               int rank) {
  message text;
  text << "shard_map: the spec of " << what << ' ' << static_cast<int>(number);
  switch (cut.wrong) {
  case partition::fault::no_fault: {
    if (cut.entries <= rank) return true;
    trace.fail(text << " has " << cut.entries << " entries for an array of dimension " << rank
                    << "; give one for each dimension at most");
    return false;
  }
  case partition::fault::no_such_axis: {
    text << " names an axis that the mesh does not have; it has ";
    for (int k = 0; k < Mesh::rank; ++k) text << (k == 0 ? "" : ", ") << Mesh::name(k);
    trace.fail(text);
    return false;
  }
  case partition::fault::axis_again:
    trace.fail(text << " names an axis of the mesh twice; cut one dimension along it");
    return false;
  case partition::fault::too_many_entries:
    trace.fail(text << " has more than " << max_rank << " entries");
    return false;
  }
  return false;
}

} // namespace detail
} // namespace parallax::PARALLAX_INLINE_VERSION
