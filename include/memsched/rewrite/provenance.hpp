// Origins of the elements in the images of a rewritten network, and operands of an operator: for the checker alone.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <memsched/network/network.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace detail {

/// a without b.
inline void subtract(std::vector<box>& a, const box& b) {
  std::vector<box> left;
  for (const box& x : a) {
    const box c = common(x, b);
    if (c.empty()) {
      left.push_back(x);
      continue;
    }
    const auto keep = [&](const box& rest) {
      if (!rest.empty()) left.push_back(rest);
    };
    keep({{x.rows.first, c.rows.first}, x.columns, x.channels});
    keep({{c.rows.last, x.rows.last}, x.columns, x.channels});
    keep({c.rows, {x.columns.first, c.columns.first}, x.channels});
    keep({c.rows, {c.columns.last, x.columns.last}, x.channels});
    keep({c.rows, c.columns, {x.channels.first, c.channels.first}});
    keep({c.rows, c.columns, {c.channels.last, x.channels.last}});
  }
  a = std::move(left);
}

inline box shifted(const box& b, coordinate r, coordinate c, coordinate k) {
  return {{b.rows.first + r, b.rows.last + r},
          {b.columns.first + c, b.columns.last + c},
          {b.channels.first + k, b.channels.last + k}};
}

/// Calls f(i) for each input coordinate, of n, that output coordinate y, of m, reads along rows (columns).
template <class F>
void each_read(const attributes& d, bool rows, coordinate y, coordinate n, coordinate m, F&& f) {
  const window& w = d.win;
  const std::int64_t kernel = rows ? w.kernel_rows : w.kernel_columns, stride = rows ? w.stride_rows : w.stride_columns,
                     dilation = rows ? w.dilation_rows : w.dilation_columns, pad = rows ? w.pad_rows : w.pad_columns;
  const auto inside = [&](coordinate i) {
    if (i >= 0 && i < n) f(i);
  };
  switch (d.what) {
    case op_kind::convolution:
    case op_kind::depthwise:
    case op_kind::max_pooling:
    case op_kind::average_pooling:
      for (std::int64_t k = 0; k < kernel; ++k) inside(stride * y + dilation * k - pad);
      return;
    case op_kind::transposed_convolution:
      for (std::int64_t k = 0; k < kernel; ++k)
        if (const coordinate at = y + pad - dilation * k; at >= 0 && at % stride == 0) inside(at / stride);
      return;
    case op_kind::pad: return inside(y - pad);
    case op_kind::depth_to_space: return inside(y / d.block);
    case op_kind::resize_nearest:
    case op_kind::resize_bilinear: {
      const double scale = static_cast<double>(n) / static_cast<double>(m);
      double at = static_cast<double>(y) * scale;
      if (d.coordinates == resize_coordinates::half_pixel)
        at = (static_cast<double>(y) + 0.5) * static_cast<double>(n) / static_cast<double>(m) - 0.5;
      if (d.coordinates == resize_coordinates::align_corners)
        at = m > 1 ? static_cast<double>(y) * static_cast<double>(n - 1) / static_cast<double>(m - 1) : 0;
      if (d.coordinates == resize_coordinates::asymmetric)
        at = static_cast<double>(y) * static_cast<double>(n) / static_cast<double>(m);
      const auto last = static_cast<double>(n - 1);
      if (d.what == op_kind::resize_bilinear) {
        at = std::min(std::max(at, 0.0), last);
        f(static_cast<coordinate>(std::floor(at)));
        return f(std::min<coordinate>(static_cast<coordinate>(std::floor(at)) + 1, n - 1));
      }
      if (d.rounding == resize_rounding::round_half_up) at += 0.5;
      if (d.rounding == resize_rounding::round_half_down) at -= 0.5;
      const bool up = d.rounding == resize_rounding::round_half_down || d.rounding == resize_rounding::ceil;
      return f(static_cast<coordinate>(std::min(std::max(up ? std::ceil(at) : std::floor(at), 0.0), last)));
    }
    case op_kind::mean:
    case op_kind::dense:
    case op_kind::reshape:
    case op_kind::opaque:
      for (coordinate i = 0; i < n; ++i) f(i);
      return;
    default: return inside(n == 1 ? 0 : y);
  }
}

/// The input channels that output channels `out` read.
inline interval channels_read(const operation& op, const operation& expected, const extents& n, const extents& m,
                              const interval& out) {
  const attributes& d = expected.does;
  const interval all{0, n.channels};
  switch (d.what) {
    case op_kind::convolution: {
      if (op.sum != summation::complete) return op.reduces;
      interval read;
      for (coordinate o = out.first; o < out.last; ++o) {
        const coordinate group = o * d.groups / m.channels, each = n.channels / d.groups;
        read = hull(read, {group * each, group * each + each});
      }
      return read;
    }
    case op_kind::transposed_convolution: return op.sum != summation::complete ? op.reduces : all;
    case op_kind::depthwise: {
      interval read;
      for (coordinate o = out.first; o < out.last; ++o)
        read = hull(read, {o * n.channels / m.channels, o * n.channels / m.channels + 1});
      return read;
    }
    case op_kind::pad: return common(all, {out.first - d.win.pad_channels, out.last - d.win.pad_channels});
    case op_kind::dense:
    case op_kind::reshape:
    case op_kind::opaque:
    case op_kind::softmax:
    case op_kind::depth_to_space: return all;
    default: return n.channels == 1 ? all : common(all, out);
  }
}

/// Elements of a tensor of `before` in an image: the element at x - shift stands at x, for x in `at`.
struct piece {
  tensor_id tensor;
  box at;
  coordinate row, column, channel;
  bool same(const piece& p) const {
    return tensor == p.tensor && row == p.row && column == p.column && channel == p.channel;
  }
};

class provenance {
 public:
  provenance(const network& before, const network& after)
      : before_(before), after_(after), writer_(before.tensors.size(), none) {
    for (op_id i = 0; i < before_.operations.size(); ++i)
      for (const image& x : before_.operations[i].writes)
        for (const placed& p : x.parts) writer_[p.tensor] = i;
  }

  /// The operator of `before` that writes a tensor; none for a graph input.
  op_id writer(tensor_id t) const { return writer_[t]; }

  /// The elements of `before` that its image has in a box.
  std::vector<piece> pieces_before(const image& x, const box& wanted) const {
    std::vector<piece> list;
    for (const placed& p : x.parts)
      resolve({p.tensor, common(wanted, box_of(before_, p)), p.row, p.column, p.channel}, list);
    return list;
  }
  /// The elements of `before` that an image of `after` has.
  std::vector<piece> pieces_after(const image& x) const {
    std::vector<piece> list;
    for (const placed& p : x.parts) {
      const typed_tensor& t = after_.tensors[p.tensor];
      if (t.role != tensor_role::value) continue;
      resolve({t.origin, box_of(after_, p), p.row - t.part.rows.first, p.column - t.part.columns.first,
               p.channel - t.part.channels.first},
              list);
    }
    return list;
  }

 private:
  /// The pieces that an image has in `wanted` of a tensor of `before`, of which element x - shift stands at x. Looks through
  /// plain concatenations.
  void resolve(const piece& p, std::vector<piece>& list) const {
    if (p.at.empty()) return;
    const op_id w = writer_[p.tensor];
    if (w == none || !is_plain(before_.operations[w], p.tensor)) return list.push_back(p);
    const operation& op = before_.operations[w];
    const placed& to = op.writes[0].parts[0];
    for (const placed& q : op.reads[0].parts) {
      const box b = shifted(box_of(before_, q), p.row - to.row, p.column - to.column, p.channel - to.channel);
      resolve({q.tensor, common(p.at, b), p.row - to.row + q.row, p.column - to.column + q.column,
               p.channel - to.channel + q.channel},
              list);
    }
  }
  bool is_plain(const operation& op, tensor_id t) const {
    if (op.does.what != op_kind::copy || op.does.act != activation::identity || op.writes.size() != 1 ||
        op.writes[0].parts.size() != 1)
      return false;
    const typed_tensor& y = before_.tensors[t];
    for (const placed& q : op.reads[0].parts) {
      const typed_tensor& x = before_.tensors[q.tensor];
      if (x.element != y.element || !(x.quant == y.quant)) return false;
    }
    return true;
  }

  const network &before_, &after_;
  std::vector<op_id> writer_;
};

}  // namespace detail
}  // namespace MEMSCHED_ABI
}  // namespace memsched
