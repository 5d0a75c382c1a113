// Weights and biases of generated C, in the program or in the model's file.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <memsched/network/integers.hpp>
#include <memsched/network/network.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace detail {

/// Numbers as a little-endian machine holds them in `Stored`.
template <class Stored, class Number>
std::string stored_bytes(const std::vector<Number>& numbers) {
  std::string s(numbers.size() * sizeof(Stored), '\0');
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const auto x = static_cast<Stored>(numbers[i]);
    std::memcpy(s.data() + i * sizeof x, &x, sizeof x);
  }
  return s;
}

/// Numbers of one kind: those that the model's file holds as they are, at a multiple of their size, and all others.
template <class Number>
class constants {
 public:
  /// `width`: bytes of one number in C.
  constants(std::string_view model, std::size_t width) : model_(model), width_(width) {}

  /// The place of some numbers: in the model, counted in numbers, or after its last one in `own`.
  std::int64_t add(const std::vector<Number>& some) {
    const std::string wanted = model_.empty() || some.empty() ? "" : bytes_of(some);
    std::size_t at = wanted.empty() ? model_.npos : model_.find(wanted);
    while (at != model_.npos && at % width_ != 0) at = model_.find(wanted, at + 1);
    if (at != model_.npos) {
      in_model_ += wanted.size();
      return static_cast<std::int64_t>(at / width_);
    }
    own.insert(own.end(), some.begin(), some.end());
    return limit() + static_cast<std::int64_t>(own.size() - some.size());
  }

  /// The macro NAME_at(l), a pointer to the numbers of a layer, at PLACE(l) in C.
  std::string macro(const std::string& name, const std::string& type, const std::string& place) const {
    const std::string there = "((const " + type + " *)(const void *)NAME_MODEL + " + place + "(l))";
    const std::string own_place = limit() > 0 ? "(" + place + "(l) - " + std::to_string(limit()) + ")" : place + "(l)";
    const std::string here = "(" + name + " + " + own_place + ")";
    const std::string both = "(" + place + "(l) < " + std::to_string(limit()) + " ? " + there + " : " + here + ")";
    return "#define " + name + "_at(l) " + (in_model_ == 0 ? here : own.empty() ? there : both) + "\n";
  }

  memsched::bytes in_model() const { return in_model_; }

  std::vector<Number> own{};

 private:
  /// Places from here on are those of `own`.
  std::int64_t limit() const { return static_cast<std::int64_t>(model_.size() / width_); }
  std::string bytes_of(const std::vector<Number>& some) const {
    if (width_ == 1) return stored_bytes<std::int8_t>(some);
    return width_ == 2 ? stored_bytes<std::int16_t>(some) : stored_bytes<Number>(some);
  }

  std::string_view model_;
  std::size_t width_;
  memsched::bytes in_model_ = 0;
};

/// The numbers of a blob in the order outputs, rows, columns, inputs.
template <class A>
std::vector<typename A::number> numbers_by_outputs(const A& numbers, index_t id, const blob& b) {
  std::vector<typename A::number> all;
  for (std::int64_t o = 0; o < b.size.outputs; ++o)
    for (std::int64_t r = 0; r < b.size.rows; ++r)
      for (std::int64_t c = 0; c < b.size.columns; ++c)
        for (std::int64_t i = 0; i < b.size.inputs; ++i) all.push_back(numbers.weight(id, b, o, r, c, i));
  return all;
}
/// The weights of a depthwise convolution in the order rows, columns, outputs.
template <class A>
std::vector<typename A::number> numbers_by_cells(const A& numbers, index_t id, const blob& b) {
  std::vector<typename A::number> all;
  for (std::int64_t r = 0; r < b.size.rows; ++r)
    for (std::int64_t c = 0; c < b.size.columns; ++c)
      for (std::int64_t o = 0; o < b.size.outputs; ++o) all.push_back(numbers.weight(id, b, o, r, c, 0));
  return all;
}

/// Bytes that each weight of a network takes: 4 of float32; of integers 1 or, if some do not fit, 2; 0 if some take more.
template <class A>
std::size_t width_of_weights(const network& net, const A& numbers) {
  if (std::same_as<A, float_numbers>) return 4;
  std::size_t each = 1;
  for (const operation& op : net.operations) {
    if (!op.weights || op.does.what == op_kind::finish) continue;
    for (const auto w : numbers_by_outputs(numbers, op.weights.of, net.blobs[op.weights.of])) {
      if (w < -32768 || w > 32767) return 0;
      if (w < -128 || w > 127) each = 2;
    }
  }
  return each;
}

/// All weights and biases of a network. `A` are the numbers of the executor.
template <class A>
class model_constants {
 public:
  using number = typename A::number;

  /// `model`: the bytes of the model's file, or nothing.
  model_constants(const network& net, const A& numbers, std::string_view model)
      : width(width_of_weights(net, numbers)),
        weights(model, std::max<std::size_t>(1, width)),
        biases(model, sizeof(number)),
        net_(net),
        a_(numbers) {}

  /// The place of the weights of a blob, by outputs or by cells.
  std::int64_t weights_at(index_t id, bool by_cells) {
    const auto [at, is_new] = weights_at_.try_emplace({id, by_cells}, 0);
    const blob& b = net_.blobs[id];
    if (is_new) at->second = weights.add(by_cells ? numbers_by_cells(a_, id, b) : numbers_by_outputs(a_, id, b));
    return at->second;
  }
  std::int64_t biases_at(index_t id) {
    const auto [at, is_new] = biases_at_.try_emplace(id, 0);
    if (is_new) at->second = biases.add(numbers_by_outputs(a_, id, net_.blobs[id]));
    return at->second;
  }

  std::string macros() const {
    return weights.macro("weights", "weight", "weights_of") + biases.macro("biases", "number", "bias_at_of");
  }
  bytes bytes_of_own() const { return weights.own.size() * width + biases.own.size() * sizeof(number); }
  bytes in_model() const { return weights.in_model() + biases.in_model(); }

  std::size_t width;  ///< of a weight, in bytes; 0: some fit no type
  constants<number> weights, biases;

 private:
  const network& net_;
  A a_;
  std::map<std::pair<index_t, bool>, std::int64_t> weights_at_;
  std::map<index_t, std::int64_t> biases_at_;
};

}  // namespace detail
}  // namespace MEMSCHED_ABI
}  // namespace memsched
