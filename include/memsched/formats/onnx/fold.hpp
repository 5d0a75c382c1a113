// Constant folding of the small tensors with which an ONNX model computes its shapes.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <onnx/onnx_pb.h>

#include <memsched/formats/onnx/coordinates.hpp>
#include <memsched/formats/onnx/literal.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace onnx_detail {

/// Evaluates one operator on literals.
class folder {
 public:
  /// `inputs` has nullptr for an absent one; `shapes` are the inferred shapes of the outputs, if known.
  folder(const onnx::NodeProto& node, const std::vector<const literal*>& inputs,
         const std::vector<std::optional<dimensions>>& shapes)
      : node_(node), in_(inputs), shapes_(shapes) {}

  /// The outputs' values; empty if they are not followed.
  std::vector<literal> run() const {
    if (node_.op_type() == "Split") return split();
    auto one = first();
    std::vector<literal> all;
    if (one && node_.output_size() == 1) all.push_back(std::move(*one));
    return all;
  }

 private:
  using maybe = std::optional<literal>;

  bool given(std::size_t n) const {
    return in_.size() >= n && std::all_of(in_.begin(), in_.begin() + static_cast<std::ptrdiff_t>(n),
                                          [](const literal* l) { return l != nullptr; });
  }
  const literal* input(std::size_t i) const { return i < in_.size() ? in_[i] : nullptr; }

  maybe first() const {
    const std::string& op = node_.op_type();
    if (op == "Constant") return constant();
    if (!given(1)) return std::nullopt;
    if (op == "Identity") return *in_[0];
    if (op == "Cast") return element_wise(static_cast<int>(attribute(node_, "to", 0)), 1, [](auto v) { return v[0]; });
    if (op == "Reshape" || op == "Squeeze" || op == "Unsqueeze" || op == "Flatten") return reshaped();
    if (op == "ConstantOfShape") return constant_of_shape();
    if (op == "NonZero") return non_zero();
    if (op == "Transpose") return transpose();
    if (op == "Concat") return concat();
    if (op == "Slice") return slice();
    if (op == "Gather") return given(2) ? gather() : std::nullopt;
    if (op == "Expand") return expand();
    if (op == "Range") return in_.size() == 3 && given(3) ? range() : std::nullopt;
    if (op == "Where")
      return given(3) ? element_wise(in_[1]->type, 3, [](auto v) { return v[0] != 0 ? v[1] : v[2]; }) : std::nullopt;
    if (op.starts_with("Reduce")) return reduce();
    if (auto result = unary()) return result;
    return given(2) && in_.size() == 2 && !attribute(node_, "axis") ? binary() : std::nullopt;
  }

  maybe constant() const {
    const auto list = [](int type, const auto& values) {
      literal l{type, {static_cast<std::int64_t>(values.size())}, {}};
      for (auto v : values) l.values.push_back(static_cast<double>(v));
      return l;
    };
    if (const auto* a = attribute(node_, "value")) return read_literal(a->t());
    if (const auto* a = attribute(node_, "value_int")) return literal{onnx::TensorProto::INT64, {}, {from_integer(a->i())}};
    if (const auto* a = attribute(node_, "value_float")) return literal{onnx::TensorProto::FLOAT, {}, {double{a->f()}}};
    if (const auto* a = attribute(node_, "value_ints"); a && a->ints_size() <= max_literal) {
      literal l = list(onnx::TensorProto::INT64, a->ints());
      std::transform(a->ints().begin(), a->ints().end(), l.values.begin(), from_integer);
      return l;
    }
    if (const auto* a = attribute(node_, "value_floats"); a && a->floats_size() <= max_literal)
      return list(onnx::TensorProto::FLOAT, a->floats());
    return std::nullopt;
  }

  maybe reshaped() const {
    if (shapes_.empty() || !shapes_[0] || element_count(*shapes_[0], max_literal) != count(*in_[0])) return std::nullopt;
    return literal{in_[0]->type, *shapes_[0], in_[0]->values};
  }

  maybe transpose() const {
    const literal& x = *in_[0];
    const std::size_t rank = x.dims.size();
    std::vector<std::size_t> from(rank);  // the dimension of x that becomes each of the result
    for (std::size_t i = 0; i < rank; ++i) from[i] = rank - 1 - i;
    if (const auto* a = attribute(node_, "perm")) {
      std::vector<bool> seen(rank, false);
      if (a->ints_size() != static_cast<int>(rank)) return std::nullopt;
      for (std::size_t i = 0; i < rank; ++i) {
        const std::int64_t p = a->ints(static_cast<int>(i));
        if (p < 0 || p >= static_cast<std::int64_t>(rank) || seen[static_cast<std::size_t>(p)]) return std::nullopt;
        from[i] = static_cast<std::size_t>(p);
        seen[from[i]] = true;
      }
    }
    dimensions out(rank);
    for (std::size_t i = 0; i < rank; ++i) out[i] = x.dims[from[i]];
    return pick(x, out, [&](const dimensions& at) {
      dimensions of_x(rank);
      for (std::size_t i = 0; i < rank; ++i) of_x[from[i]] = at[i];
      return flat(of_x, x.dims);
    });
  }

  maybe constant_of_shape() const {
    literal value{onnx::TensorProto::FLOAT, {1}, {0}};
    if (const auto* a = attribute(node_, "value")) {
      const auto given_value = read_literal(a->t());
      if (!given_value || given_value->values.size() != 1) return std::nullopt;
      value = *given_value;
    }
    const dimensions dims = integers(*in_[0]);
    const auto n = element_count(dims, max_literal);
    if (!n || dims.size() > max_rank) return std::nullopt;
    return literal{value.type, dims, std::vector<double>(static_cast<std::size_t>(*n), value.values[0])};
  }

  /// Coordinates of the elements that are not zero, one column each.
  maybe non_zero() const {
    const literal& x = *in_[0];
    if (x.dims.empty()) return std::nullopt;
    std::vector<dimensions> found;
    dimensions at(x.dims.size(), 0);
    for (double v : x.values) {
      if (v != 0) found.push_back(at);
      advance(at, x.dims);
    }
    literal l{
        onnx::TensorProto::INT64, {static_cast<std::int64_t>(x.dims.size()), static_cast<std::int64_t>(found.size())}, {}};
    if (!element_count(l.dims, max_literal)) return std::nullopt;
    for (std::size_t axis = 0; axis < x.dims.size(); ++axis)
      for (const auto& f : found) l.values.push_back(static_cast<double>(f[axis]));
    return l;
  }

  maybe concat() const {
    if (!given(in_.size())) return std::nullopt;
    literal out = *in_[0];
    const auto axis = axis_of(attribute(node_, "axis", 0), out.dims.size());
    if (!axis) return std::nullopt;
    out.dims[*axis] = 0;
    for (const literal* l : in_) {
      if (l->dims.size() != out.dims.size() || l->type != out.type) return std::nullopt;
      for (std::size_t i = 0; i < out.dims.size(); ++i)
        if (i != *axis && l->dims[i] != out.dims[i]) return std::nullopt;
      out.dims[*axis] += l->dims[*axis];
    }
    if (!element_count(out.dims, max_literal)) return std::nullopt;
    out.values.clear();
    if (element_count(out.dims, max_literal) == 0) return out;
    const std::size_t blocks = product(out.dims, 0, *axis);
    for (std::size_t b = 0; b < blocks; ++b)
      for (const literal* l : in_) {
        const auto block = static_cast<std::ptrdiff_t>(l->values.size() / blocks);
        const auto from = l->values.begin() + static_cast<std::ptrdiff_t>(b) * block;
        out.values.insert(out.values.end(), from, from + block);
      }
    return out;
  }

  std::vector<literal> split() const {
    std::vector<literal> parts;
    if (!given(1) || in_[0]->dims.size() != 1 || shapes_.size() != static_cast<std::size_t>(node_.output_size())) return {};
    auto from = in_[0]->values.begin();
    for (const auto& shape : shapes_) {
      if (!shape || shape->size() != 1 || (*shape)[0] < 0 || (*shape)[0] > in_[0]->values.end() - from) return {};
      parts.push_back({in_[0]->type, *shape, {from, from + (*shape)[0]}});
      from += (*shape)[0];
    }
    return parts;
  }

  maybe slice() const {
    const literal& x = *in_[0];
    const std::size_t rank = x.dims.size();
    dimensions starts, ends, axes, steps;
    if (const auto* a = attribute(node_, "starts")) {  // until opset 9
      const auto* e = attribute(node_, "ends");
      if (!e) return std::nullopt;
      starts.assign(a->ints().begin(), a->ints().end());
      ends.assign(e->ints().begin(), e->ints().end());
      if (const auto* n = attribute(node_, "axes")) axes.assign(n->ints().begin(), n->ints().end());
    } else {
      if (!given(3) || unknown_input(3) || unknown_input(4)) return std::nullopt;
      starts = integers(*in_[1]);
      ends = integers(*in_[2]);
      if (input(3)) axes = integers(*in_[3]);
      if (input(4)) steps = integers(*in_[4]);
    }
    if (axes.empty()) {
      axes.resize(starts.size());
      std::iota(axes.begin(), axes.end(), 0);
    }
    if (steps.empty()) steps.assign(starts.size(), 1);
    if (ends.size() != starts.size() || axes.size() != starts.size() || steps.size() != starts.size()) return std::nullopt;
    dimensions first(rank, 0), step(rank, 1), out = x.dims;
    for (std::size_t i = 0; i < starts.size(); ++i) {
      const auto axis = axis_of(axes[i], rank);
      constexpr std::int64_t largest_step = std::int64_t{1} << 31;
      if (!axis || steps[i] == 0) return std::nullopt;
      const std::int64_t d = x.dims[*axis], s = std::clamp(steps[i], -largest_step, largest_step);
      if (d == 0) continue;
      const auto clamp = [d](std::int64_t v, std::int64_t low, std::int64_t high) {
        return std::clamp(v < 0 ? v + d : v, low, high);
      };
      first[*axis] = s > 0 ? clamp(starts[i], 0, d) : clamp(starts[i], 0, d - 1);
      const std::int64_t end = s > 0 ? clamp(ends[i], 0, d) : clamp(ends[i], -1, d - 1);
      const std::int64_t span = s > 0 ? end - first[*axis] : first[*axis] - end;
      out[*axis] = span <= 0 ? 0 : (span + std::abs(s) - 1) / std::abs(s);
      step[*axis] = s;
    }
    return pick(x, out, [&](const dimensions& at) {
      dimensions from(rank);
      for (std::size_t i = 0; i < rank; ++i) from[i] = first[i] + at[i] * step[i];
      return flat(from, x.dims);
    });
  }

  maybe gather() const {
    const literal &x = *in_[0], &where = *in_[1];
    const auto axis = axis_of(attribute(node_, "axis", 0), x.dims.size());
    if (!axis) return std::nullopt;
    const std::int64_t d = x.dims[*axis];
    const dimensions indices = integers(where);
    if (std::any_of(indices.begin(), indices.end(), [d](auto i) { return i < -d || i >= d; })) return std::nullopt;
    const auto cut = static_cast<std::ptrdiff_t>(*axis);
    const auto width = static_cast<std::ptrdiff_t>(where.dims.size());
    dimensions out(x.dims.begin(), x.dims.begin() + cut);
    out.insert(out.end(), where.dims.begin(), where.dims.end());
    out.insert(out.end(), x.dims.begin() + cut + 1, x.dims.end());
    return pick(x, out, [&](const dimensions& at) {
      const dimensions middle(at.begin() + cut, at.begin() + cut + width);
      const std::int64_t i = indices[flat(middle, where.dims)];
      dimensions from(at.begin(), at.begin() + cut);
      from.push_back(i < 0 ? i + d : i);
      from.insert(from.end(), at.begin() + cut + width, at.end());
      return flat(from, x.dims);
    });
  }

  maybe expand() const {
    if (shapes_.empty() || !shapes_[0]) return std::nullopt;
    const literal& x = *in_[0];
    if (broadcast(x.dims, *shapes_[0]) != shapes_[0]) return std::nullopt;
    return pick(x, *shapes_[0], [&](const dimensions& at) { return broadcast_flat(at, x.dims); });
  }

  maybe range() const {
    if (std::any_of(in_.begin(), in_.end(), [](const literal* l) { return l->values.size() != 1; })) return std::nullopt;
    const double start = in_[0]->values[0], limit = in_[1]->values[0], delta = in_[2]->values[0];
    const double n = std::max(0.0, std::ceil((limit - start) / delta));
    if (delta == 0 || !(n <= static_cast<double>(max_literal))) return std::nullopt;
    literal out{in_[0]->type, {static_cast<std::int64_t>(n)}, {}};
    for (double i = 0; i < n; ++i) {
      const auto v = fit(out.type, start + i * delta);
      if (!v) return std::nullopt;
      out.values.push_back(*v);
    }
    return out;
  }

  /// Reductions to a single element.
  maybe reduce() const {
    const literal& x = *in_[0];
    if (shapes_.empty() || !shapes_[0] || element_count(*shapes_[0], 1) != 1 || x.values.empty()) return std::nullopt;
    if (attribute(node_, "noop_with_empty_axes", 0) != 0 && x.values.size() != 1) return std::nullopt;
    const std::string& op = node_.op_type();
    double sum = op == "ReduceProd" ? 1 : op == "ReduceSum" ? 0 : x.values[0];
    for (double v : x.values) {
      if (op == "ReduceProd") sum *= v;
      else if (op == "ReduceSum") sum += v;
      else if (op == "ReduceMax") sum = std::max(sum, v);
      else if (op == "ReduceMin") sum = std::min(sum, v);
      else return std::nullopt;
    }
    const auto v = fit(x.type, sum);
    if (!v) return std::nullopt;
    return literal{x.type, *shapes_[0], {*v}};
  }

  maybe unary() const {
    static const std::unordered_map<std::string, double (*)(double)> table{
        {"Neg", [](double v) { return -v; }},
        {"Abs", [](double v) { return std::abs(v); }},
        {"Floor", [](double v) { return std::floor(v); }},
        {"Ceil", [](double v) { return std::ceil(v); }},
        {"Round", [](double v) { return std::nearbyint(v); }},
        {"Sqrt", [](double v) { return std::sqrt(v); }},
        {"Not", [](double v) { return v == 0 ? 1.0 : 0.0; }}};
    const auto found = table.find(node_.op_type());
    if (found == table.end()) return std::nullopt;
    return element_wise(in_[0]->type, 1, [f = found->second](auto v) { return f(v[0]); });
  }

  maybe binary() const {
    using function = double (*)(double, double);
    static const std::unordered_map<std::string, function> arithmetic{{"Add", [](double a, double b) { return a + b; }},
                                                                      {"Sub", [](double a, double b) { return a - b; }},
                                                                      {"Mul", [](double a, double b) { return a * b; }},
                                                                      {"Div", [](double a, double b) { return a / b; }},
                                                                      {"Pow", [](double a, double b) { return std::pow(a, b); }},
                                                                      {"Min", [](double a, double b) { return std::min(a, b); }},
                                                                      {"Max", [](double a, double b) { return std::max(a, b); }}};
    static const std::unordered_map<std::string, bool (*)(double, double)> comparison{
        {"Equal", [](double a, double b) { return a == b; }},
        {"Less", [](double a, double b) { return a < b; }},
        {"LessOrEqual", [](double a, double b) { return a <= b; }},
        {"Greater", [](double a, double b) { return a > b; }},
        {"GreaterOrEqual", [](double a, double b) { return a >= b; }},
        {"And", [](double a, double b) { return a != 0 && b != 0; }},
        {"Or", [](double a, double b) { return a != 0 || b != 0; }},
        {"Xor", [](double a, double b) { return (a != 0) != (b != 0); }}};
    if (const auto found = arithmetic.find(node_.op_type()); found != arithmetic.end())
      return element_wise(in_[0]->type, 2, [f = found->second](auto v) { return f(v[0], v[1]); });
    if (const auto found = comparison.find(node_.op_type()); found != comparison.end())
      return element_wise(onnx::TensorProto::BOOL, 2, [f = found->second](auto v) { return f(v[0], v[1]) ? 1.0 : 0.0; });
    if (node_.op_type() == "Mod" && !is_real(in_[0]->type) && attribute(node_, "fmod", 0) == 0)
      return element_wise(in_[0]->type, 2, [](auto v) { return v[0] - std::floor(v[0] / v[1]) * v[1]; });
    return std::nullopt;
  }

  /// f on the first n inputs, broadcast; none if an integer is not exact.
  template <class F>
  maybe element_wise(int type, std::size_t n, F f) const {
    dimensions dims;
    for (std::size_t i = 0; i < n; ++i) {
      const auto wider = broadcast(in_[i]->dims, dims);
      if (!wider) return std::nullopt;
      dims = *wider;
    }
    const auto elements = element_count(dims, max_literal);
    if (!elements) return std::nullopt;
    literal out{type, dims, {}};
    dimensions at(dims.size(), 0);
    for (std::int64_t e = 0; e < *elements; ++e) {
      double arguments[3] = {};
      for (std::size_t i = 0; i < n; ++i) {
        arguments[i] = in_[i]->values[broadcast_flat(at, in_[i]->dims)];
        if (!is_real(in_[i]->type) && std::abs(arguments[i]) > exact_integer) return std::nullopt;
      }
      const auto v = fit(type, f(arguments));
      if (!v) return std::nullopt;
      out.values.push_back(*v);
      advance(at, dims);
    }
    return out;
  }

  /// Whether an optional input is there, but its value unknown.
  bool unknown_input(std::size_t i) const {
    return node_.input_size() > static_cast<int>(i) && !node_.input(static_cast<int>(i)).empty() && !input(i);
  }

  static std::int64_t count(const literal& l) { return static_cast<std::int64_t>(l.values.size()); }

  static dimensions integers(const literal& l) {
    dimensions list(l.values.size());
    std::transform(l.values.begin(), l.values.end(), list.begin(), to_integer);
    return list;
  }

  const onnx::NodeProto& node_;
  const std::vector<const literal*>& in_;
  const std::vector<std::optional<dimensions>>& shapes_;
};

}  // namespace onnx_detail
}  // namespace MEMSCHED_ABI
}  // namespace memsched
