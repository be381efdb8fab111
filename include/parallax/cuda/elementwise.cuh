// Fused elementwise kernels on a CUDA device: one thread per element, any strides.
#pragma once

#include <parallax/compile/kernel.hpp>
#include <parallax/core/scalar_math.hpp>
#include <parallax/host/kernel_arguments.hpp>

#include <cuda_runtime.h>

#include <utility>

namespace parallax::cuda {

/// Operands and constants of a kernel, passed by value to the device.
template <int Operands, int Constants> struct elementwise_arguments {
  std::int64_t count = 0;
  int rank = 0;
  std::int64_t extents[max_rank] = {};
  struct {
    std::byte* data;
    std::int64_t start;
    std::int64_t strides[max_rank];
  } operands[Operands > 0 ? Operands : 1] = {};
  std::uint64_t constants[Constants > 0 ? Constants : 1] = {};
};

namespace detail {

template <int I, class T> struct numbered_value {
  T value;
};
template <class Indices, class... S> struct values;
template <std::size_t... I, class... S>
struct values<std::index_sequence<I...>, S...> : numbered_value<static_cast<int>(I), typename S::value_type>... {};

template <int I, class T> __device__ T& at(numbered_value<I, T>& v) { return v.value; }

template <class Arguments> __device__ std::int64_t offset_of(const Arguments& a, int operand, std::int64_t element) {
  std::int64_t offset = 0;
  for (int d = a.rank - 1; d >= 0; --d) {
    offset += element % a.extents[d] * a.operands[operand].strides[d];
    element /= a.extents[d];
  }
  return offset;
}

template <int Operation, element_type Type, std::int64_t Parameter, int... Operands, class Values, class Arguments>
__device__ element_t<Type> evaluate(statement<Operation, Type, Parameter, Operands...>, Values& v, const Arguments& a,
                                    std::int64_t element) {
  using T = element_t<Type>;
  if constexpr (Operation >= 0) {
    using P = parallax::detail::primitive_at<Operation>;
    if constexpr (requires { P::evaluate(at<Operands>(v)...); }) return P::evaluate(at<Operands>(v)...);
    else return P::template evaluate<Type, Parameter>(at<Operands>(v)...);
  } else {
    constexpr int k = [](int first, auto...) { return first; }(Operands...);
    if constexpr (Operation == parallax::detail::store_vector) {
      constexpr int operand[] = {Operands...};
      T value = at<operand[0]>(v);
      reinterpret_cast<T*>(a.operands[operand[1]].data)[offset_of(a, operand[1], element)] = value;
      return value;
    } else if constexpr (Operation == parallax::detail::load_constant) {
      T value;
      memcpy(&value, &a.constants[k], sizeof value);
      return value;
    } else if constexpr (Operation == parallax::detail::load_index) {
      return static_cast<T>(a.operands[k].start + offset_of(a, k, element));
    } else {
      return reinterpret_cast<const T*>(a.operands[k].data)[offset_of(a, k, element)];
    }
  }
}

template <std::size_t... I, class... S, class Arguments>
__device__ auto evaluate_all(std::index_sequence<I...>, const Arguments& a, std::int64_t element, S... statements) {
  values<std::index_sequence<I...>, S...> v;
  ((at<static_cast<int>(I)>(v) = evaluate(statements, v, a, element)), ...);
  return at<static_cast<int>(sizeof...(S)) - 1>(v);
}

template <class Arguments, class... S> __global__ void elementwise(Arguments a) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < a.count; i += step) {
    auto value = evaluate_all(std::index_sequence_for<S...>{}, a, i, S{}...);
    reinterpret_cast<decltype(value)*>(a.operands[0].data)[offset_of(a, 0, i)] = value;
  }
}

} // namespace detail

/// Launches a fused elementwise kernel on `stream`; operands lie in device memory. The kernel is deduced from a value,
/// because a launch may not spell a type that depends on the user's function. Returns the launch's status.
template <int Operands, int Constants, int Result, class... S>
cudaError_t launch_elementwise(kernel<Result, -1, S...>, const elementwise_arguments<Operands, Constants>& arguments,
                               cudaStream_t stream) {
  if (arguments.count == 0) return cudaSuccess;
  constexpr int threads = 256;
  const std::int64_t blocks = (arguments.count + threads - 1) / threads;
  const unsigned grid = static_cast<unsigned>(blocks < 65535 ? blocks : 65535);
  detail::elementwise<elementwise_arguments<Operands, Constants>, S...><<<grid, threads, 0, stream>>>(arguments);
  return cudaGetLastError();
}

} // namespace parallax::cuda
