// Operands of a rewritten network, put together from values of a file: shared by the writers of networks.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <memsched/network/check.hpp>
#include <memsched/network/windows.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace detail {

/// Maps each tensor of a network to the value of the file that holds it, and asks for slices and concatenations if an
/// operator reads a part, or several. `Value` names a value of the file; a default one stands for none, after a fault.
template <class Value>
class image_parts {
 public:
  virtual ~image_parts() = default;

 protected:
  explicit image_parts(const network& net) : net_(net), held_(net.tensors.size()) {}

  /// A value that has the part `b` of the box at `from`; they differ.
  virtual Value slice_of(const Value& x, const box& from, const box& b) = 0;
  /// A value that has the shape in which the file has images. Values are held in the shape that they are made in.
  virtual Value as_image(const Value& x, const extents&) { return x; }
  /// A value that has these, at least two, side by side along an axis.
  virtual Value joined(const std::vector<Value>& values, axis a) = 0;

  static constexpr axis axes[] = {axis::rows, axis::columns, axis::channels};
  static interval& along(box& b, axis a) { return a == axis::rows ? b.rows : a == axis::columns ? b.columns : b.channels; }
  static const interval& along(const box& b, axis a) { return along(const_cast<box&>(b), a); }

  /// A tensor is all of this value.
  void hold(tensor_id t, Value x) { held_[t] = {std::move(x), whole(net_.tensors[t].size)}; }
  /// A tensor is the part `b` of this value, whose first element stands at 0. It is cut out where it is read.
  void hold_part(tensor_id t, Value x, const extents& size, const box& b) {
    held_[t] = {std::move(x),
                {{-b.rows.first, size.rows - b.rows.first},
                 {-b.columns.first, size.columns - b.columns.first},
                 {-b.channels.first, size.channels - b.channels.first}}};
  }

  /// The part `b` of the box at `from`.
  Value cut(const Value& x, const box& from, const box& b) { return b == from ? x : slice_of(x, from, b); }

  /// The value that holds an image whole and alone, in its own shape; null if there is none.
  const Value* held_alone(const image& x) const {
    if (x.parts.size() != 1) return nullptr;
    const bool all = place_of(x.parts[0]) == whole(x.size) && box_of(net_, x.parts[0]) == whole(x.size);
    return all ? &held_[x.parts[0].tensor].value : nullptr;
  }

  /// The box `want` of an image as one value: slices of its parts, put together.
  Value assemble(const image& x, const box& want) {
    std::vector<piece> pieces;
    const placed* first = nullptr;
    bool one_value = true;
    for (const placed& p : x.parts) {
      const box shared = common(box_of(net_, p), want);
      if (net_.tensors[p.tensor].role == tensor_role::token || shared.empty()) continue;
      if (first == nullptr) first = &p;
      one_value = one_value && held_[p.tensor].value == held_[first->tensor].value && place_of(p) == place_of(*first);
    }
    if (first != nullptr && one_value && place_of(*first).contains(want))
      return cut(image_held(*first), place_of(*first), want);
    for (const placed& p : x.parts) {
      const box shared = common(box_of(net_, p), want);
      if (net_.tensors[p.tensor].role == tensor_role::token || shared.empty()) continue;
      const bool known = std::any_of(pieces.begin(), pieces.end(), [&](const piece& q) { return q.where.contains(shared); });
      if (!known) pieces.push_back({shared, cut(image_held(p), place_of(p), shared)});
    }
    return together(std::move(pieces), want);
  }
  /// The elements that the operator reads of operand k to compute `out`.
  Value operand(std::size_t k, const box& out) {
    const box b = needed(*op_, k, out);
    if (b.empty()) fault("reads nothing but pad");
    return failed() ? Value() : assemble(op_->reads[k], b);
  }

  /// The elements that a part of a dense layer's sum reads of its operand: whole rows, or whole channels, in the network's
  /// order.
  box dense_terms() const {
    const extents& n = op_->reads[0].size;
    box b = whole(n);
    const bool pixel = n.rows == 1 && n.columns == 1;
    const bool by_rows = net_.order == element_order::rows_columns_channels && !pixel;
    const coordinate each = pixel ? 1 : by_rows ? n.columns * n.channels : n.rows * n.columns;
    (by_rows ? b.rows : b.channels) = {op_->reduces.first / each, op_->reduces.last / each};
    return b;
  }

  bool failed() const { return !error_.message.empty(); }
  /// Keeps the first fault, of the operator at hand if there is one.
  void fault(const std::string& what) {
    if (failed()) return;
    const std::string who = op_ == nullptr ? std::string("the network ") : labelled("operator ", number_, op_->name) + " ";
    error_ = {error_code::bad_input, who + what, {}, {}};
  }

  const network& net_;
  const operation* op_ = nullptr;
  op_id number_ = 0;
  graph_error error_;

 private:
  struct holding {
    Value value{};
    box of{};  ///< the elements that the value covers, in the coordinates of the tensor
  };
  struct piece {
    box where;
    Value value;
  };

  Value image_held(const placed& p) { return as_image(held_[p.tensor].value, held_[p.tensor].of.size()); }
  /// Where in an image the value of a part lies.
  box place_of(const placed& p) const {
    const box& b = held_[p.tensor].of;
    return {{b.rows.first + p.row, b.rows.last + p.row},
            {b.columns.first + p.column, b.columns.last + p.column},
            {b.channels.first + p.channel, b.channels.last + p.channel}};
  }

  Value together(std::vector<piece> pieces, const box& want) {
    if (pieces.size() == 1 && pieces[0].where == want) return pieces[0].value;
    for (const axis a : axes) {
      std::set<coordinate> starts;
      for (const piece& p : pieces) starts.insert(along(p.where, a).first);
      for (const piece& p : pieces)  // a piece that reaches over a start spoils it
        for (coordinate c = along(p.where, a).first + 1; c < along(p.where, a).last; ++c) starts.erase(c);
      if (starts.size() < 2 || *starts.begin() != along(want, a).first) continue;
      std::vector<Value> values;
      for (auto at = starts.begin(); at != starts.end(); ++at) {
        box slab = want;
        along(slab, a) = {*at, std::next(at) == starts.end() ? along(want, a).last : *std::next(at)};
        std::vector<piece> inside;
        for (const piece& p : pieces)
          if (slab.contains(p.where)) inside.push_back(p);
        values.push_back(together(std::move(inside), slab));
        if (failed()) return {};
      }
      return joined(values, a);
    }
    fault("reads " + to_string(want) + ", which its parts do not hold side by side");
    return {};
  }

  std::vector<holding> held_;
};

}  // namespace detail
}  // namespace MEMSCHED_ABI
}  // namespace memsched
