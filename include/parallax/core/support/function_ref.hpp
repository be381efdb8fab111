// A reference to something callable, for parameters that are called before the function returns.
#pragma once

#include <parallax/core/version.hpp>

#include <concepts>
#include <type_traits>
#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION::detail {

template <class Signature> class function_ref;

/// Refers to a callable object with the given signature, without owning or allocating: it must outlive the reference.
template <class Result, class... Args> class function_ref<Result(Args...)> {
 public:
  template <class F>
    requires(!std::same_as<std::remove_cvref_t<F>, function_ref> && std::is_object_v<std::remove_reference_t<F>> &&
             std::is_invocable_r_v<Result, F&, Args...>)
  function_ref(F&& callable) noexcept
      : target(const_cast<void*>(static_cast<const void*>(std::addressof(callable)))),
        invoke([](void* object, Args... args) -> Result {
          return static_cast<Result>((*static_cast<std::remove_reference_t<F>*>(object))(std::forward<Args>(args)...));
        }) {}

  Result operator()(Args... args) const { return invoke(target, std::forward<Args>(args)...); }

 private:
  void* target;
  Result (*invoke)(void*, Args...);
};

} // namespace parallax::PARALLAX_INLINE_VERSION::detail
