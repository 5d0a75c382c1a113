// The parts of operands that a part of a result needs.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>

#include <memsched/network/network.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// An axis of an image.
enum class axis : unsigned char { rows, columns, channels };

inline interval along(const box& b, axis a) {
  return a == axis::rows ? b.rows : a == axis::columns ? b.columns : b.channels;
}
inline coordinate along(const extents& e, axis a) {
  return a == axis::rows ? e.rows : a == axis::columns ? e.columns : e.channels;
}

/// The point of `in` input rows at which a resize to `out` rows reads for row y.
inline double resize_point(coordinate y, coordinate in, coordinate out, resize_coordinates how) {
  const auto n = static_cast<double>(in), m = static_cast<double>(out), at = static_cast<double>(y);
  switch (how) {
    case resize_coordinates::half_pixel: return (at + 0.5) * n / m - 0.5;
    case resize_coordinates::align_corners: return out > 1 ? at * (n - 1) / (m - 1) : 0;
    case resize_coordinates::asymmetric: break;
  }
  return at * n / m;
}

/// The input row that a resize to the nearest one reads for output row y.
inline coordinate nearest_row(coordinate y, coordinate in, coordinate out, const attributes& a) {
  const double f = resize_point(y, in, out, a.coordinates);
  double rounded = std::floor(f);
  if (a.rounding == resize_rounding::round_half_up) rounded = std::floor(f + 0.5);
  if (a.rounding == resize_rounding::round_half_down) rounded = std::ceil(f - 0.5);
  if (a.rounding == resize_rounding::ceil) rounded = std::ceil(f);
  return std::clamp<coordinate>(static_cast<coordinate>(rounded), 0, in - 1);
}

/// The window of an operator along rows or columns.
struct window_line {
  std::int64_t kernel, stride, dilation, pad;
};
inline window_line line_of(const window& w, axis a) {
  return a == axis::rows ? window_line{w.kernel_rows, w.stride_rows, w.dilation_rows, w.pad_rows}
                         : window_line{w.kernel_columns, w.stride_columns, w.dilation_columns, w.pad_columns};
}

/// Whether a part of a result needs no more than a part of the operands along this axis: whether cutting there pays.
inline bool is_local(const operation& op, axis a) {
  switch (op.does.what) {
    case op_kind::convolution:
    case op_kind::transposed_convolution:
    case op_kind::softmax:
    case op_kind::depth_to_space: return a != axis::channels;
    case op_kind::mean: return a == axis::channels;
    case op_kind::dense:
    case op_kind::reshape:
    case op_kind::opaque: return false;
    default: return true;
  }
}

namespace detail {

inline coordinate floor_div(coordinate a, coordinate b) { return a / b - (a % b < 0 ? 1 : 0); }
inline coordinate ceil_div(coordinate a, coordinate b) { return -floor_div(-a, b); }

/// `n`: the operand's extent; `m`: the result's.
inline interval needed_line(const operation& op, interval out, coordinate n, coordinate m, axis a) {
  const auto [kernel, stride, dilation, pad] = line_of(op.does.win, a);
  const attributes& d = op.does;
  const interval all{0, n};
  const auto [first, last] = out;
  switch (d.what) {
    case op_kind::convolution:
    case op_kind::depthwise:
    case op_kind::max_pooling:
    case op_kind::average_pooling:
      return common(all, {first * stride - pad, (last - 1) * stride - pad + (kernel - 1) * dilation + 1});
    case op_kind::transposed_convolution:
      return common(all, {ceil_div(first + pad - (kernel - 1) * dilation, stride), floor_div(last - 1 + pad, stride) + 1});
    case op_kind::pad: return common(all, {first - pad, last - pad});
    case op_kind::depth_to_space: return common(all, {first / d.block, (last - 1) / d.block + 1});
    case op_kind::resize_nearest: return {nearest_row(first, n, m, d), nearest_row(last - 1, n, m, d) + 1};
    case op_kind::resize_bilinear: {
      const auto low = [&](coordinate y) {
        const auto f = static_cast<coordinate>(std::floor(resize_point(y, n, m, d.coordinates)));
        return std::clamp<coordinate>(f, 0, n - 1);
      };
      return common(all, {low(first), low(last - 1) + 2});
    }
    case op_kind::mean: return a == axis::rows && op.sum != summation::complete ? common(all, op.reduces) : all;
    case op_kind::dense:
    case op_kind::reshape:
    case op_kind::opaque: return all;
    default: return n == 1 && m > 1 ? all : common(all, out);
  }
}

inline interval needed_channels(const operation& op, interval out, coordinate n, coordinate m) {
  const interval all{0, n};
  const attributes& d = op.does;
  switch (d.what) {
    case op_kind::convolution: {
      if (op.sum != summation::complete) return common(all, op.reduces);
      const coordinate in_group = n / d.groups, out_group = std::max<coordinate>(1, m / d.groups);
      return common(all, {out.first / out_group * in_group, ((out.last - 1) / out_group + 1) * in_group});
    }
    case op_kind::transposed_convolution: return op.sum != summation::complete ? common(all, op.reduces) : all;
    case op_kind::depthwise: {
      const coordinate times = std::max<coordinate>(1, m / std::max<coordinate>(1, n));
      return common(all, {out.first / times, (out.last - 1) / times + 1});
    }
    case op_kind::pad: return common(all, {out.first - d.win.pad_channels, out.last - d.win.pad_channels});
    case op_kind::dense:
    case op_kind::reshape:
    case op_kind::opaque:
    case op_kind::softmax:
    case op_kind::depth_to_space: return all;
    default: return n == 1 && m > 1 ? all : common(all, out);
  }
}

}  // namespace detail

/// The smallest box of operand k that holds all elements that the operator reads of it to compute `out`, a box of its
/// `target`; empty if it reads nothing but pad. Half-open, inside the operand.
inline box needed(const operation& op, std::size_t k, const box& out) {
  const extents& n = op.reads[k].size;
  const extents& m = target(op).size;
  if (out.empty()) return {};
  if (k >= data_operands(op)) return common(whole(n), out);
  const box b{detail::needed_line(op, out.rows, n.rows, m.rows, axis::rows),
              detail::needed_line(op, out.columns, n.columns, m.columns, axis::columns),
              detail::needed_channels(op, out.channels, n.channels, m.channels)};
  return b.empty() ? box{} : b;
}

/// The part that an operator computes: the box of its `target` that its results, or its sum, hold.
inline box computes(const network& net, const operation& op) { return hull_of(net, target(op)); }

/// The box that the elements of an interval of an image, counted in this order, fill; empty if they fill none.
inline box box_of_elements(const extents& e, const interval& i, element_order order) {
  const bool by_rows = order == element_order::rows_columns_channels;
  const coordinate outer = by_rows ? e.rows : e.channels, middle = by_rows ? e.columns : e.rows,
                   inner = by_rows ? e.channels : e.columns, plane = middle * inner;
  interval a{0, outer}, b{0, middle}, c{0, inner};
  if (i.empty() || i.first < 0 || i.last > outer * plane) return {};
  if (i.first % plane == 0 && i.last % plane == 0) {
    a = {i.first / plane, i.last / plane};
  } else {
    a = {i.first / plane, i.first / plane + 1};
    const interval line{i.first - a.first * plane, i.last - a.first * plane};
    if (line.last > plane) return {};
    if (line.first % inner == 0 && line.last % inner == 0) {
      b = {line.first / inner, line.last / inner};
    } else {
      b = {line.first / inner, line.first / inner + 1};
      c = {line.first - b.first * inner, line.last - b.first * inner};
      if (c.last > inner) return {};
    }
  }
  return by_rows ? box{a, b, c} : box{b, c, a};
}

/// Multiply-accumulates of an operator: products of convolutions and dense layers, those with pad among them; one for each
/// element that a mean or an average adds up is not counted. Sums over all of its results.
inline std::uint64_t macs(const network& net, const operation& op) {
  const attributes& d = op.does;
  const auto kernel = static_cast<std::uint64_t>(d.win.kernel_rows * d.win.kernel_columns);
  std::uint64_t outputs = 0;
  for (const placed& p : target(op).parts) outputs += static_cast<std::uint64_t>(net.tensors[p.tensor].size.elements());
  switch (d.what) {
    case op_kind::depthwise: return outputs * kernel;
    case op_kind::convolution:
    case op_kind::transposed_convolution: {
      const coordinate inputs = op.sum == summation::complete ? op.reads[0].size.channels / d.groups : op.reduces.size();
      // A transposed convolution multiplies each element of its operand, so that a stride spares products.
      const auto spared =
          d.what == op_kind::convolution ? 1 : static_cast<std::uint64_t>(d.win.stride_rows * d.win.stride_columns);
      return outputs * kernel * static_cast<std::uint64_t>(inputs) / spared;
    }
    case op_kind::dense: {
      const coordinate inputs = op.sum == summation::complete ? op.reads[0].size.elements() : op.reduces.size();
      return outputs * static_cast<std::uint64_t>(inputs);
    }
    default: return 0;
  }
}
inline std::uint64_t macs(const network& net) {
  std::uint64_t sum = 0;
  for (const operation& op : net.operations) sum += macs(net, op);
  return sum;
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched
