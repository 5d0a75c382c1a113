// Runs a network, operator by operator, in plain loops: correct, not fast.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <memsched/base/function_ref.hpp>
#include <memsched/graph/error.hpp>
#include <memsched/network/check.hpp>
#include <memsched/network/gathered.hpp>
#include <memsched/network/network.hpp>
#include <memsched/network/numbers.hpp>
#include <memsched/network/windows.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

namespace detail {

template <class A>
class network_run {
 public:
  using number = typename A::number;

  network_run(const network& net, const A& numbers, base::function_ref<bool()> go_on)
      : net_(net), a_(numbers), go_on_(go_on) {}

  result<std::vector<std::vector<number>>> run() {
    if (graph_error e = check_network(net_); !e.message.empty()) return e;
    values_.resize(net_.tensors.size());
    weights_.resize(net_.blobs.size());
    for (tensor_id t = 0; t < net_.tensors.size(); ++t)
      if (net_.tensors[t].input) make_input(t);
    for (const operation& op : net_.operations) {
      op_ = &op;
      play();
      if (!error_.message.empty()) return std::move(error_);
    }
    return std::move(values_);
  }

 private:
  void make_input(tensor_id t) {
    const typed_tensor& x = net_.tensors[t];
    const box b = x.origin == none ? whole(x.size) : x.part;
    values_[t].reserve(static_cast<std::size_t>(x.size.elements()));
    for (coordinate r = b.rows.first; r < b.rows.last; ++r)
      for (coordinate c = b.columns.first; c < b.columns.last; ++c)
        for (coordinate k = b.channels.first; k < b.channels.last; ++k)
          values_[t].push_back(a_.input(x.origin == none ? t : x.origin, x, r, c, k));
  }

  void play() {
    const operation& op = *op_;
    does_ = op.does;
    site_ = {.does = &does_};
    if (!op.reads.empty()) describe(op.reads.front(), site_.in, site_.from);
    if (op.reads.size() > 1) describe(op.reads[1], site_.other, site_.to);
    describe(op.writes.front(), site_.out, site_.to);
    if (op.weights) site_.weights = &net_.blobs[op.weights.of];
    const bool constant = op.reads.size() == 1 && facts_of(op.does.what).most_operands == 2 && !op.bias;
    if (constant && !site_.weights->scales.empty()) site_.other.scale = site_.weights->scales[0];
    box_ = computes(net_, op);
    for (const slice* s : {&op.weights, &op.bias})
      if (*s) load(s->of);
    operands_.clear();
    for (const image& x : op.reads) operands_.push_back(gathered<number>::of(net_, x, values_));
    if (!check_slices() || !check_reads()) return;
    if (op.sum == summation::into) return add_in_place();
    for (std::size_t i = 0; i < op.writes.size(); ++i)
      for (const placed& p : op.writes[i].parts) fill(i, p);
  }

  void describe(const image& x, quantization& q, element& e) const {
    if (x.parts.empty()) return;
    q = net_.tensors[x.parts.front().tensor].quant;
    e = net_.tensors[x.parts.front().tensor].element;
  }

  void load(index_t id) {
    const blob& b = net_.blobs[id];
    std::vector<number>& w = weights_[id];
    if (!w.empty()) return;
    for (std::int64_t o = 0; o < b.size.outputs; ++o)
      for (std::int64_t r = 0; r < b.size.rows; ++r)
        for (std::int64_t c = 0; c < b.size.columns; ++c)
          for (std::int64_t i = 0; i < b.size.inputs; ++i) w.push_back(a_.weight(id, b, o, r, c, i));
  }
  /// The place of the first of the weights at these places: those of further inputs follow.
  const number* weights(index_t id, std::int64_t o, std::int64_t r, std::int64_t c) const {
    const blob::axes& s = net_.blobs[id].size;
    return weights_[id].data() + ((o * s.rows + r) * s.columns + c) * s.inputs;
  }

  bool check_slices() {
    const operation& op = *op_;
    const bool by_channel = op.does.what == op_kind::convolution || op.does.what == op_kind::depthwise ||
                            op.does.what == op_kind::transposed_convolution || op.does.what == op_kind::dense ||
                            op.does.what == op_kind::finish || op.does.what == op_kind::begin;
    if (!by_channel) return true;
    for (const slice* s : {&op.weights, &op.bias})
      if (*s && s->outputs.size() != box_.channels.size())
        return fault("has weights for " + std::to_string(s->outputs.size()) + " channels and computes " +
                     std::to_string(box_.channels.size()));
    if (!op.weights || op.does.what == op_kind::finish) return true;
    coordinate inputs = op.does.what == op_kind::depthwise ? 1 : op.reads[0].size.channels / op.does.groups;
    if (op.does.what == op_kind::dense) inputs = op.reads[0].size.elements();
    if (op.sum != summation::complete && op.does.what != op_kind::depthwise) inputs = op.reduces.size();
    if (op.weights.inputs.size() != inputs)
      return fault("has weights for " + std::to_string(op.weights.inputs.size()) + " input channels and sums over " +
                   std::to_string(inputs));
    return true;
  }

  bool check_reads() {
    const operation& op = *op_;
    if (op.does.what == op_kind::opaque) return true;
    for (const image& to : op.sum == summation::into ? std::vector<image>{op.reads.back()} : op.writes)
      for (const placed& p : to.parts)
        for (std::size_t k = 0; k < op.reads.size(); ++k) {
          if (is_token(net_, op.reads[k])) continue;
          if (const box b = wanted(k, box_of(net_, p)); !b.empty() && !operands_[k].holds(b))
            return fault("reads " + to_string(b) + " of operand " + std::to_string(k) + ", which its parts do not hold");
        }
    return true;
  }
  box wanted(std::size_t k, const box& out) const {
    const operation& op = *op_;
    if (k == 0 && op.does.what == op_kind::dense && op.sum != summation::complete)
      if (const box b = box_of_elements(op.reads[0].size, op.reduces, net_.order); !b.empty()) return b;
    return needed(op, k, out);
  }

  /// Adds the operator's terms to the sum that its last operand is.
  void add_in_place() {
    for (const placed& p : op_->reads.back().parts) {
      std::vector<number>& sum = values_[p.tensor];
      std::size_t i = 0;
      each(box_of(net_, p), [&](coordinate r, coordinate c, coordinate k) {
        sum[i] = terms(op_->bias ? a_.plus(sum[i], bias(k)) : sum[i], r, c, k), ++i;
      });
    }
  }

  void fill(std::size_t which, const placed& p) {
    std::vector<number>& to = values_[p.tensor];
    if (net_.tensors[p.tensor].role == tensor_role::token) return;
    to.reserve(static_cast<std::size_t>(net_.tensors[p.tensor].size.elements()));
    if (op_->does.what == op_kind::opaque) {
      std::uint64_t h = mixed(detail::digest(op_->does.function), which);
      for (const gathered<number>& g : operands_)
        for (const number& x : g.values) h = mixed(h, a_.digest(x));
      each(box_of(net_, p),
           [&](coordinate r, coordinate c, coordinate k) { to.push_back(a_.from_hash(key(h, which, r, c, k))); });
      return;
    }
    each(box_of(net_, p), [&](coordinate r, coordinate c, coordinate k) { to.push_back(element_of(r, c, k, p.tensor)); });
  }
  template <class F>
  void each(const box& b, F&& f) {
    for (coordinate r = b.rows.first; r < b.rows.last; ++r) {
      if (!error_.message.empty()) return;
      if (go_on_ && !go_on_()) {
        fault("was stopped");
        return;
      }
      for (coordinate c = b.columns.first; c < b.columns.last; ++c)
        for (coordinate k = b.channels.first; k < b.channels.last; ++k) f(r, c, k);
    }
  }

  number element_of(coordinate r, coordinate c, coordinate k, tensor_id t) {
    const attributes& d = does_;
    switch (d.what) {
      case op_kind::convolution:
      case op_kind::depthwise:
      case op_kind::transposed_convolution:
      case op_kind::dense:
      case op_kind::mean: return summed(r, c, k);
      case op_kind::max_pooling:
      case op_kind::average_pooling: return pooled(r, c, k);
      case op_kind::add:
      case op_kind::subtract:
      case op_kind::multiply:
      case op_kind::divide:
      case op_kind::minimum:
      case op_kind::maximum: return binary(r, c, k);
      case op_kind::copy: return a_.convert(site_, get(0, r, c, k));
      case op_kind::pad: {
        const coordinate y = r - d.win.pad_rows, x = c - d.win.pad_columns, z = k - d.win.pad_channels;
        return whole(operands_[0].size).contains(box{{y, y + 1}, {x, x + 1}, {z, z + 1}}) ? get(0, y, x, z) : a_.pad(site_);
      }
      case op_kind::resize_bilinear: return bilinear(r, c, k);
      case op_kind::resize_nearest: {
        const extents& n = operands_[0].size;
        const extents& m = op_->writes[0].size;
        return get(0, nearest_row(r, n.rows, m.rows, d), nearest_row(c, n.columns, m.columns, d), k);
      }
      case op_kind::depth_to_space: {
        const coordinate q = d.block, dy = r % q, dx = c % q;
        const coordinate from = d.depth_first ? (dy * q + dx) * op_->writes[0].size.channels + k : (k * q + dy) * q + dx;
        return get(0, r / q, c / q, from);
      }
      case op_kind::reshape: return reshaped(r, c, k);
      case op_kind::unary: return a_.unary(site_, get(0, r, c, k));
      case op_kind::prelu: {
        const bool one = net_.blobs[op_->weights.of].size.outputs == 1;
        return a_.prelu(site_, get(0, r, c, k), *weights(op_->weights.of, one ? 0 : place(op_->weights, k), 0, 0));
      }
      case op_kind::softmax: {
        const gathered<number>& g = operands_[0];
        const std::span<const number> all(g.values.data() + g.at(r, c, 0), static_cast<std::size_t>(g.size.channels));
        return a_.softmax(site_, all, static_cast<std::size_t>(k));
      }
      case op_kind::add_sums: {
        number sum = get(0, r, c, k);
        for (std::size_t i = 1; i < operands_.size(); ++i) sum = a_.plus(sum, get(i, r, c, k));
        return sum;
      }
      case op_kind::begin: return bias(k);
      case op_kind::finish:
      case op_kind::finish_mean: {
        number sum = op_->bias ? bias(k) : number{};
        for (std::size_t i = 0; i < operands_.size(); ++i)
          if (!is_token(net_, op_->reads[i])) sum = i == 0 && !op_->bias ? get(i, r, c, k) : a_.plus(sum, get(i, r, c, k));
        if (d.what == op_kind::finish_mean) return a_.average(site_, sum, d.win.kernel_rows * d.win.kernel_columns);
        return a_.complete(site_, sum, op_->weights ? place(op_->weights, k) : k);
      }
      case op_kind::read: {
        const typed_tensor& x = net_.tensors[t];
        return a_.input(x.origin, x, r, c, k);
      }
      case op_kind::opaque: break;
    }
    return number{};
  }

  const number& get(std::size_t operand, coordinate r, coordinate c, coordinate k) const {
    const gathered<number>& g = operands_[operand];
    return g.values[g.at(r, c, k)];
  }
  /// The place in the blob of the weights for channel k.
  coordinate place(const slice& s, coordinate k) const { return s.outputs.first + k - box_.channels.first; }
  number bias(coordinate k) const { return op_->bias ? *weights(op_->bias.of, place(op_->bias, k), 0, 0) : number{}; }

  number summed(coordinate r, coordinate c, coordinate k) {
    number sum = bias(k);
    if (continues_sum(*op_)) {
      const number before = get(op_->reads.size() - 1, r, c, k);
      sum = op_->bias ? a_.plus(before, sum) : before;
    }
    sum = terms(sum, r, c, k);
    if (op_->sum != summation::complete && op_->sum != summation::last) return sum;
    const extents& n = operands_[0].size;
    if (does_.what == op_kind::mean) return a_.average(site_, sum, n.rows * n.columns);
    return a_.complete(site_, sum, op_->weights ? place(op_->weights, k) : k);
  }

  /// sum, and the terms of the element at (r, c, k) after it.
  number terms(number sum, coordinate r, coordinate c, coordinate k) const {
    const operation& op = *op_;
    const window& w = does_.win;
    const gathered<number>& x = operands_[0];
    const bool parts = op.sum != summation::complete;
    if (does_.what == op_kind::mean) {
      const interval rows = parts ? op.reduces : interval{0, x.size.rows};
      for (coordinate y = rows.first; y < rows.last; ++y)
        for (coordinate z = 0; z < x.size.columns; ++z) sum = a_.plus(sum, a_.bare(site_, get(0, y, z, k)));
      return sum;
    }
    const coordinate o = place(op.weights, k);
    if (does_.what == op_kind::dense) {
      const interval all = parts ? op.reduces : interval{0, x.size.elements()};
      const number* row = weights(op.weights.of, o, 0, 0) + op.weights.inputs.first;
      for (coordinate i = all.first; i < all.last; ++i) sum = a_.plus(sum, a_.product(site_, flat(i), row[i - all.first]));
      return sum;
    }
    interval inputs{0, x.size.channels};
    if (does_.what == op_kind::depthwise) {
      const coordinate from = k / std::max<coordinate>(1, target(op).size.channels / x.size.channels);
      inputs = {from, from + 1};
    } else if (parts) {
      inputs = op.reduces;
    } else if (does_.groups > 1) {
      const coordinate in_group = x.size.channels / does_.groups, group = k / (target(op).size.channels / does_.groups);
      inputs = {group * in_group, (group + 1) * in_group};
    }
    const auto tap = [&](coordinate y, coordinate z, std::int64_t ky, std::int64_t kx) {
      const number* from = x.values.data() + x.at(y, z, inputs.first);
      const number* times = weights(op.weights.of, o, ky, kx) + op.weights.inputs.first;
      for (coordinate i = 0; i < inputs.size(); ++i) sum = a_.plus(sum, a_.product(site_, from[i], times[i]));
    };
    const bool transposed = does_.what == op_kind::transposed_convolution;
    for (std::int64_t ky = 0; ky < w.kernel_rows; ++ky) {
      coordinate y = r * w.stride_rows - w.pad_rows + ky * w.dilation_rows;
      if (transposed && !from_transposed(r + w.pad_rows - ky * w.dilation_rows, w.stride_rows, y)) continue;
      if (y < 0 || y >= x.size.rows) continue;
      for (std::int64_t kx = 0; kx < w.kernel_columns; ++kx) {
        coordinate z = c * w.stride_columns - w.pad_columns + kx * w.dilation_columns;
        if (transposed && !from_transposed(c + w.pad_columns - kx * w.dilation_columns, w.stride_columns, z)) continue;
        if (z >= 0 && z < x.size.columns) tap(y, z, ky, kx);
      }
    }
    return sum;
  }
  static bool from_transposed(coordinate at, std::int64_t stride, coordinate& y) {
    y = at / stride;
    return at >= 0 && at % stride == 0;
  }

  number pooled(coordinate r, coordinate c, coordinate k) {
    const window& w = does_.win;
    const extents& n = operands_[0].size;
    cells_.clear(), inside_.clear();
    number sum{};
    coordinate count = 0;
    for (std::int64_t ky = 0; ky < w.kernel_rows; ++ky)
      for (std::int64_t kx = 0; kx < w.kernel_columns; ++kx) {
        const coordinate y = r * w.stride_rows - w.pad_rows + ky * w.dilation_rows;
        const coordinate z = c * w.stride_columns - w.pad_columns + kx * w.dilation_columns;
        const bool in = y >= 0 && y < n.rows && z >= 0 && z < n.columns;
        const number x = in ? get(0, y, z, k) : number{};
        cells_.push_back(x), inside_.push_back(in ? 1 : 0);
        if (in) sum = a_.plus(sum, a_.bare(site_, x)), ++count;
      }
    if (does_.what == op_kind::max_pooling) return a_.maximum(site_, cells_, inside_);
    return a_.average(site_, sum, does_.count_pad ? w.kernel_rows * w.kernel_columns : count);
  }

  number binary(coordinate r, coordinate c, coordinate k) {
    const auto operand = [&](std::size_t i) {
      const extents& n = operands_[i].size;
      return get(i, n.rows == 1 ? 0 : r, n.columns == 1 ? 0 : c, n.channels == 1 ? 0 : k);
    };
    if (op_->weights) {
      const blob::axes& s = net_.blobs[op_->weights.of].size;
      const coordinate channel = s.inputs == 1 ? 0 : op_->weights.inputs.first + k - box_.channels.first;
      const number w = *(weights(op_->weights.of, 0, s.rows == 1 ? 0 : r, s.columns == 1 ? 0 : c) + channel);
      if (!op_->bias) return a_.binary(site_, operand(0), w);
      return a_.scaled_and_shifted(site_, operand(0), w,
                                   *(weights(op_->bias.of, 0, 0, 0) + op_->bias.inputs.first + k - box_.channels.first));
    }
    const auto lacks = [&](std::size_t i) { return operands_[i].size.channels > 1 && k >= operands_[i].size.channels; };
    if (lacks(1)) return a_.unary(site_, operand(0));
    if (!lacks(0)) return a_.binary(site_, operand(0), operand(1));
    arithmetic_site second = site_;
    std::swap(second.in, second.other);
    return a_.unary(second, operand(1));
  }

  number bilinear(coordinate r, coordinate c, coordinate k) const {
    const extents& n = operands_[0].size;
    const extents& m = op_->writes[0].size;
    const auto line = [&](coordinate y, coordinate in, coordinate out) {
      const double f = std::clamp(resize_point(y, in, out, does_.coordinates), 0.0, static_cast<double>(in - 1));
      const auto low = static_cast<coordinate>(std::floor(f));
      return std::pair(low, f - static_cast<double>(low));
    };
    const auto [y, fy] = line(r, n.rows, m.rows);
    const auto [x, fx] = line(c, n.columns, m.columns);
    const coordinate below = std::min(y + 1, n.rows - 1), right = std::min(x + 1, n.columns - 1);
    // A fraction of 0 reads no second row: it may be in no part.
    const number top = a_.blend(site_, get(0, y, x, k), get(0, y, right, k), fx);
    return fy == 0 ? top : a_.blend(site_, top, a_.blend(site_, get(0, below, x, k), get(0, below, right, k), fx), fy);
  }

  /// Element number i of the operand, in the network's order.
  const number& flat(coordinate i) const {
    const extents& n = operands_[0].size;
    if (net_.order == element_order::rows_columns_channels)
      return get(0, i / (n.columns * n.channels), i / n.channels % n.columns, i % n.channels);
    return get(0, i / n.columns % n.rows, i % n.columns, i / (n.rows * n.columns));
  }
  const number& reshaped(coordinate r, coordinate c, coordinate k) const {
    const extents& m = op_->writes[0].size;
    if (net_.order == element_order::rows_columns_channels) return flat((r * m.columns + c) * m.channels + k);
    return flat((k * m.rows + r) * m.columns + c);
  }

  bool fault(const std::string& what) {
    const auto i = static_cast<op_id>(op_ - net_.operations.data());
    error_ = {error_code::bad_input, labelled("operator ", i, op_->name) + " " + what, {i}, {}};
    return false;
  }

  const network& net_;
  A a_;
  base::function_ref<bool()> go_on_;
  std::vector<std::vector<number>> values_, weights_;
  std::vector<gathered<number>> operands_;
  std::vector<number> cells_;
  std::vector<unsigned char> inside_;
  const operation* op_ = nullptr;
  attributes does_;
  arithmetic_site site_;
  box box_;
  graph_error error_;
};

}  // namespace detail

/// The elements of all tensors of a network over these numbers, rows, columns, channels; a token has none. Inputs are random
/// by the numbers' seed: element by element of their origin, so that a rewritten network has the inputs of the first. An
/// error names an operator that reads elements which its operands do not hold. Every tensor is kept: memory is their sum.
/// Asks `go_on`, if there is one, before each row that an operator computes; once that says no, the run ends with an error.
template <class Numbers>
result<std::vector<std::vector<typename Numbers::number>>> run(const network& net, const Numbers& numbers,
                                                               base::function_ref<bool()> go_on = {}) {
  return detail::network_run<Numbers>(net, numbers, go_on).run();
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched
