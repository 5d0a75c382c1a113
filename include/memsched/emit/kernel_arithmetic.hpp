// Scales and activations of kernels, as numbers in tables.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include <memsched/emit/kernel_row.hpp>
#include <memsched/network/integers.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace detail {

/// Fills in rows of kernels, and gathers the numbers that they refer to.
template <class A>
class kernel_arithmetic {
 public:
  static constexpr bool real = std::same_as<A, float_numbers>;

  /// `by_channel`: convolutions have one factor for each output channel, also if all are the same.
  kernel_arithmetic(const network& net, const A& numbers, bool by_channel)
      : net_(net), a_(numbers), by_channel_(by_channel) {}

  /// Scales, zero points and activation.
  void set(kernel_row& k, const operation& op, const arithmetic_site& s) {
    const attributes& d = *s.does;
    if constexpr (real) {
      k["act"] = static_cast<std::int64_t>(d.act);
      curved = curved || static_cast<int>(d.act) > static_cast<int>(activation::relu6);
      const double first = d.what == op_kind::pad ? static_cast<double>(a_.pad(s)) : static_cast<double>(d.alpha);
      k["real"] = place_of(reals, {first, static_cast<double>(d.beta)});
    } else {
      k["in_zero"] = s.in.zero_point, k["other_zero"] = s.other.zero_point, k["out_zero"] = s.out.zero_point;
      std::tie(k["least"], k["most"]) = A::range(s);
      k["same"] = s.in == s.out;
      const auto set = [&](const char* which, fixed_factor f) {
        const std::string name = which;
        k[name + "factor"] = f.value, k[name + "shift"] = f.shift;
      };
      const auto ratio = [&](const quantization& q) { return fixed(A::real(q) / A::real(s.out)); };
      if (d.what == op_kind::unary) k["table"] = table([&](number x) { return a_.unary(s, x); });
      else if (!A::clamps(d.act)) {
        arithmetic_site after = s;
        after.in = s.out, after.from = s.to;
        k["tabled"] = 1, tabled = true;
        k["table"] = table([&](number x) { return a_.unary(after, x); });
      }
      switch (d.what) {
        case op_kind::convolution:
        case op_kind::depthwise:
        case op_kind::transposed_convolution:
        case op_kind::dense:
        case op_kind::finish: set_factors(k, s); break;
        case op_kind::multiply:
          if (op.bias) set_factors(k, s);
          else set("", fixed(A::real(s.in) * A::real(s.other) / A::real(s.out)));
          break;
        case op_kind::add:
        case op_kind::subtract: {
          const auto f = A::sum_factors_of(s);
          set("first_", f.first), set("second_", f.second), set("", f.result);
          break;
        }
        case op_kind::minimum:
        case op_kind::maximum:
          k["same"] = s.in.scale == s.out.scale, k["other_same"] = s.other.scale == s.out.scale;
          set("first_", ratio(s.in)), set("second_", ratio(s.other));
          break;
        case op_kind::prelu: {
          const double by = s.weights->scales.empty() ? 1 : static_cast<double>(s.weights->scales[0]);
          k["same"] = s.in.scale == s.out.scale;
          set("first_", ratio(s.in)), set("", fixed(A::scales(s) * by));
          break;
        }
        case op_kind::softmax: {
          const auto f = fixed_softmax::of(static_cast<double>(d.alpha) * A::real(s.in));
          set("", f.scale), k["pad_value"] = f.least;
          break;
        }
        case op_kind::pad: k["pad_value"] = a_.pad(s); break;
        case op_kind::copy:
          if (s.from == element::float32) k["real"] = place_of(reals, {static_cast<float>(A::real(s.out))});
          if (s.to == element::float32) k["real"] = place_of(reals, {static_cast<float>(A::real(s.in))});
          set("", ratio(s.in));
          break;
        default: set("", ratio(s.in)); break;
      }
    }
  }

  std::vector<std::int64_t> factors{}, shifts{}, tables{};
  std::vector<std::conditional_t<real, double, float>> reals{};
  bool curved = false, tabled = false;  ///< activations beyond bounds: as functions, as tables

 private:
  using number = typename A::number;

  /// The place of some numbers in an array: where they stand already, else at its end.
  template <class T>
  std::int64_t place_of(std::vector<T>& all, const std::vector<T>& some) {
    const auto found = std::search(all.begin(), all.end(), some.begin(), some.end());
    if (found != all.end()) return found - all.begin();
    all.insert(all.end(), some.begin(), some.end());
    return static_cast<std::int64_t>(all.size() - some.size());
  }
  /// Of complete sums, by output channel.
  void set_factors(kernel_row& k, const arithmetic_site& s) {
    std::size_t count = s.weights == nullptr ? 1 : std::max<std::size_t>(1, s.weights->scales.size());
    if (by_channel_ && (s.does->what == op_kind::convolution || s.does->what == op_kind::depthwise))
      count = static_cast<std::size_t>(s.weights->size.outputs);
    std::vector<std::int64_t> both;
    for (std::size_t c = 0; c < count; ++c) {
      const fixed_factor f = A::factor(s, static_cast<coordinate>(c));
      both.push_back(f.value), both.push_back(f.shift);
    }
    const auto [at, is_new] = factors_at_.try_emplace(both, static_cast<std::int64_t>(factors.size()));
    for (std::size_t c = 0; is_new && c < count; ++c) factors.push_back(both[2 * c]), shifts.push_back(both[2 * c + 1]);
    k["factors"] = at->second, k["one_factor"] = count == 1;
  }
  /// A function of one stored integer.
  template <class F>
  std::int64_t table(F&& f) {
    std::vector<std::int64_t> all;
    const bool is_unsigned = std::any_of(net_.tensors.begin(), net_.tensors.end(), [](const typed_tensor& x) {
      return x.role == tensor_role::value && x.element == element::uint8;
    });
    for (number x = is_unsigned ? 0 : -128; x < (is_unsigned ? 256 : 128); ++x) all.push_back(f(x));
    return place_of(tables, all);
  }

  const network& net_;
  A a_;
  bool by_channel_;
  std::map<std::vector<std::int64_t>, std::int64_t> factors_at_;
};

}  // namespace detail
}  // namespace MEMSCHED_ABI
}  // namespace memsched
