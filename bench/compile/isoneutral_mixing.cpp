// Isoneutral mixing of an ocean model, as pyhpc-benchmarks has it: 19 updates of parts of fields, 7 results.
#include <parallax/parallax.hpp>

#include <tuple>

namespace plx = parallax;

using field = plx::array<double, 3>;
using tensor = plx::array<double, 5>;

/// The inner points of a field, moved by a, b and c.
constexpr auto cut = [](auto x, int a, int b, int c) {
  const auto n = x.shape(0), m = x.shape(1), k = x.shape(2);
  return plx::slice(x, {1 + a, 1 + b, c}, {n - 1 + a, m - 1 + b, k - 1 + c}, {1, 1, 1});
};
constexpr auto step = [](auto temp, auto salt, auto drdt, auto drds, auto masku, auto maskw, auto dz, auto ai) {
  auto k11 = temp * 0., k22 = k11, k33 = k11;
  auto ez = ai, nz = ai, bx = ai, by = ai;
  auto taper = [](auto s) { return 0.5 * (1. + plx::tanh((0.02 - plx::abs(s)) / 0.001)); };
  auto put = [](auto x, auto value, int kr, int ip) { // x[1:-1, 1:-1, kr:..., ip, kr] = value
    return plx::dynamic_update_slice(x, plx::expand_dims(plx::expand_dims(value, 3), 4), std::tuple{1, 1, kr, ip, kr});
  };
  auto east = cut(k11, 0, 0, 0) * 0., north = east, bottom = east;
  for (int kr = 0; kr < 2; ++kr)
    for (int ip = 0; ip < 2; ++ip) {
      const auto drodxe = cut(drdt, ip, 0, kr) * (cut(temp, 1, 0, kr) - cut(temp, 0, 0, kr)) +
                          cut(drds, ip, 0, kr) * (cut(salt, 1, 0, kr) - cut(salt, 0, 0, kr));
      const auto drodze = cut(drdt, ip, 0, kr) * (cut(temp, ip, 0, 1) - cut(temp, ip, 0, 0)) +
                          cut(drds, ip, 0, kr) * (cut(salt, ip, 0, 1) - cut(salt, ip, 0, 0));
      const auto sxe = -drodxe / (plx::minimum(0., drodze) - 1e-18);
      const auto te = taper(sxe);
      east = east + cut(dz, 0, 0, kr) * cut(masku, 0, 0, kr) * plx::maximum(50., 1000. * te);
      ez = put(ez, te * sxe * cut(masku, 0, 0, kr), kr, ip);
      const auto drodyn = cut(drdt, 0, ip, kr) * (cut(temp, 0, 1, kr) - cut(temp, 0, 0, kr)) +
                          cut(drds, 0, ip, kr) * (cut(salt, 0, 1, kr) - cut(salt, 0, 0, kr));
      const auto drodzn = cut(drdt, 0, ip, kr) * (cut(temp, 0, ip, 1) - cut(temp, 0, ip, 0)) +
                          cut(drds, 0, ip, kr) * (cut(salt, 0, ip, 1) - cut(salt, 0, ip, 0));
      const auto syn = -drodyn / (plx::minimum(0., drodzn) - 1e-18);
      const auto tn = taper(syn);
      north = north + cut(dz, 0, 0, kr) * cut(masku, 0, 0, kr) * plx::maximum(50., 1000. * tn);
      nz = put(nz, tn * syn * cut(masku, 0, 0, kr), kr, ip);
    }
  k11 = plx::dynamic_update_slice(k11, east / (4. * cut(dz, 0, 0, 0)), std::tuple{1, 1, 0});
  k22 = plx::dynamic_update_slice(k22, north / (4. * cut(dz, 0, 0, 0)), std::tuple{1, 1, 0});
  for (int ip = 0; ip < 2; ++ip)
    for (int kr = 0; kr < 2; ++kr) {
      const auto drodzb = cut(drdt, 0, 0, kr) * (cut(temp, 0, 0, 1) - cut(temp, 0, 0, 0)) +
                          cut(drds, 0, 0, kr) * (cut(salt, 0, 0, 1) - cut(salt, 0, 0, 0));
      const auto drodxb = cut(drdt, 0, 0, kr) * (cut(temp, ip, 0, kr) - cut(temp, ip - 1, 0, kr)) +
                          cut(drds, 0, 0, kr) * (cut(salt, ip, 0, kr) - cut(salt, ip - 1, 0, kr));
      const auto sxb = -drodxb / (plx::minimum(0., drodzb) - 1e-18);
      const auto tx = taper(sxb);
      bottom = bottom + cut(dz, 0, 0, 0) * plx::maximum(0., 1000. * tx) * sxb * sxb * cut(maskw, 0, 0, 0);
      bx = put(bx, tx * sxb * cut(maskw, 0, 0, 0), kr, ip);
      const auto drodyb = cut(drdt, 0, 0, kr) * (cut(temp, 0, ip, kr) - cut(temp, 0, ip - 1, kr)) +
                          cut(drds, 0, 0, kr) * (cut(salt, 0, ip, kr) - cut(salt, 0, ip - 1, kr));
      const auto syb = -drodyb / (plx::minimum(0., drodzb) - 1e-18);
      const auto ty = taper(syb);
      bottom = bottom + cut(dz, 0, 0, 0) * plx::maximum(0., 1000. * ty) * syb * syb * cut(maskw, 0, 0, 0);
      by = put(by, ty * syb * cut(maskw, 0, 0, 0), kr, ip);
    }
  k33 = plx::dynamic_update_slice(k33, bottom / (4. * cut(dz, 0, 0, 0)), std::tuple{1, 1, 0});
  return std::tuple{k11, k22, k33, ez, nz, bx, by};
};
auto mix(const field& temp, const field& salt, const field& drdt, const field& drds, const field& masku,
         const field& maskw, const field& dz, const tensor& ai) {
  return plx::jit(step)(temp, salt, drdt, drds, masku, maskw, dz, ai);
}
