// Outputs that take the place of inputs: random models run byte by byte in one arena, as the written file places their
// tensors, and with a place for each tensor. An interpreter of its own reads and writes elements in the order in which the
// reference kernels of TensorFlow Lite Micro do; what an element becomes is a hash of what it depends on.
#include <memsched/formats/tflite_write.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <memsched/plan.hpp>
#include <memsched/schedule.hpp>

#include "support/seeds.hpp"
#include "tflite_checker.hpp"
#include "tflite_model.hpp"

using namespace memsched;
using tflite_model::subgraph;
using namespace tflite_model::codes;

namespace {

using tensor_shape = std::vector<std::int32_t>;

const std::vector<int> binary{0, 41, 18, 42, 55, 57, 54, 90, 95, 84, 86, 99}, row_wise{25, 50, 11},
    unary{87, 19, 21, 98, 111, 117, 14, 28, 47, 73, 66, 108, 75, 76, 92, 101, 59, 8, 104, 116},
    further_binary{78, 156, 160, 161}, further_unary{20, 152, 150, 158};  // kinds that TensorFlow Lite Micro lacks

bool among(const std::vector<int>& kinds, int kind) { return std::find(kinds.begin(), kinds.end(), kind) != kinds.end(); }
std::size_t width(int type) { return type == float32 ? 4 : type == int16 ? 2 : 1; }
std::size_t elements(const tensor_shape& s) {
  return static_cast<std::size_t>(std::accumulate(s.begin(), s.end(), 1, std::multiplies<>()));
}

/// The element of a tensor of shape `from` that element i of a result of shape `to` is made of.
std::size_t operand_element(const tensor_shape& from, const tensor_shape& to, std::size_t i) {
  std::size_t at = 0, step = 1;
  for (std::size_t d = to.size(); d-- > 0;) {
    const auto n = static_cast<std::size_t>(to[d]), place = i % n;
    i /= n;
    if (d + from.size() < to.size()) break;
    const auto own = static_cast<std::size_t>(from[d + from.size() - to.size()]);
    at += (own == 1 ? 0 : place) * step;
    step *= own;
  }
  return at;
}

/// Runs a model whose tensors lie at these offsets of an arena.
class interpreter {
 public:
  interpreter(const subgraph& g, std::vector<std::size_t> offsets) : g_(g), offsets_(std::move(offsets)) {
    for (std::size_t t = 0; t < g_.tensors.size(); ++t)
      arena_.resize(std::max(arena_.size(), offsets_[t] + 64 + elements(g_.tensors[t].shape) * 4));
  }

  /// The bytes of all outputs after the operators ran in this order.
  std::vector<std::uint8_t> run(const std::vector<std::size_t>& order) {
    for (const std::int32_t t : g_.inputs)
      for (std::size_t i = 0; i < count(t); ++i) store(t, i, mix(static_cast<std::uint64_t>(t) * 1000 + i));
    for (const std::size_t i : order) play(g_.ops[i]);
    std::vector<std::uint8_t> bytes;
    for (const std::int32_t t : g_.outputs) {
      const auto from = arena_.begin() + static_cast<std::ptrdiff_t>(offset(t));
      bytes.insert(bytes.end(), from, from + static_cast<std::ptrdiff_t>(count(t) * width(tensor(t).type)));
    }
    return bytes;
  }

 private:
  static std::uint64_t mix(std::uint64_t x) {
    x = (x ^ (x >> 31)) * 0x9e3779b97f4a7c15U;
    x = (x ^ (x >> 29)) * 0xbf58476d1ce4e5b9U;
    return x ^ (x >> 32);
  }
  const tflite_model::tensor& tensor(std::int32_t t) const { return g_.tensors[static_cast<std::size_t>(t)]; }
  std::size_t offset(std::int32_t t) const { return offsets_[static_cast<std::size_t>(t)]; }
  std::size_t count(std::int32_t t) const { return elements(tensor(t).shape); }
  std::uint64_t load(std::int32_t t, std::size_t i) const {
    std::uint64_t x = 0;
    const std::size_t w = width(tensor(t).type);
    std::memcpy(&x, arena_.data() + offset(t) + i * w, w);
    return x;
  }
  void store(std::int32_t t, std::size_t i, std::uint64_t x) {
    const std::size_t w = width(tensor(t).type);
    std::memcpy(arena_.data() + offset(t) + i * w, &x, w);
  }

  void play(const tflite_model::op& op) {
    const std::int32_t y = op.outputs[0], x = op.inputs[0];
    const auto kind = static_cast<std::uint64_t>(op.kind);
    if (op.kind == reshape || op.kind == squeeze || op.kind == expand_dims) {
      for (std::size_t i = 0; offset(x) != offset(y) && i < count(y); ++i) store(y, i, load(x, i));
    } else if (op.kind == dynamic_update_slice) {  // the operand, then the update over its first elements
      for (std::size_t i = 0; offset(x) != offset(y) && i < count(y); ++i) store(y, i, load(x, i));
      for (std::size_t i = 0; i < count(op.inputs[1]); ++i) store(y, i, load(op.inputs[1], i));
    } else if (among(row_wise, op.kind)) {
      const auto depth = static_cast<std::size_t>(tensor(y).shape.back());
      for (std::size_t row = 0; row < count(y); row += depth) {
        std::uint64_t all = kind;
        for (std::size_t c = 0; c < depth; ++c) all = mix(all + load(x, row + c));
        for (std::size_t c = 0; c < depth; ++c) store(y, row + c, mix(all + load(x, row + c)));
      }
    } else {
      for (std::size_t i = 0; i < count(y); ++i) {
        std::uint64_t made = kind;
        for (const std::int32_t t : op.inputs)
          if (op.kind != conv) made = mix(made + load(t, operand_element(tensor(t).shape, tensor(y).shape, i)));
          else
            for (std::size_t k = 0; k < count(t); ++k) made = mix(made + load(t, k));
        store(y, i, mix(made + (op.kind == conv ? i : 0)));
      }
    }
  }

  const subgraph& g_;
  std::vector<std::size_t> offsets_;
  std::vector<std::uint8_t> arena_;
};

/// Models of a few small tensors, of which operators of all kinds read some, also several times.
class model_maker {
 public:
  model_maker(std::uint32_t seed, bool micro) : random_(seed), micro_(micro) {}

  subgraph make() {
    for (int i = 0; i < 2; ++i) g_.inputs.push_back(add(some_shape(), some_type()));
    for (int i = 0; i < 12; ++i) add_operator();
    for (std::int32_t t = 0; t < static_cast<std::int32_t>(g_.tensors.size()); ++t)
      if (t == static_cast<std::int32_t>(g_.tensors.size()) - 1 || (under(8) == 0 && t > 1)) g_.outputs.push_back(t);
    return std::move(g_);
  }

 private:
  unsigned under(std::size_t n) { return static_cast<unsigned>(random_() % n); }
  int some_type() { return std::vector{int8, int8, int16, float32}[under(4)]; }
  tensor_shape some_shape() {
    tensor_shape s;
    for (unsigned d = 1 + under(4); d-- > 0;) s.push_back(static_cast<std::int32_t>(under(3) == 0 ? 1 : 1 + under(4)));
    return s;
  }
  std::int32_t add(tensor_shape s, int type) {
    const auto t = static_cast<std::int32_t>(g_.tensors.size());
    g_.tensors.push_back({.shape = std::move(s), .type = type, .name = "t" + std::to_string(t)});
    return t;
  }
  const tensor_shape& shape_of(std::int32_t t) const { return g_.tensors[static_cast<std::size_t>(t)].shape; }
  /// Mostly a late one.
  std::int32_t some_tensor() {
    const std::size_t n = g_.tensors.size();
    return static_cast<std::int32_t>(under(3) == 0 ? under(n) : n - 1 - under(std::min<std::size_t>(n, 4)));
  }
  /// A tensor that broadcasts to this shape: one that is there, or a new one from a layer.
  std::int32_t partner(const tensor_shape& to) {
    for (int tries = 0; tries < 20; ++tries)
      if (const std::int32_t t = some_tensor(); fits(shape_of(t), to)) return t;
    tensor_shape s = to;
    for (std::int32_t& d : s)
      if (under(3) == 0) d = 1;
    const std::int32_t from = some_tensor(), t = add(s, some_type());
    g_.ops.push_back({.kind = conv, .inputs = {from}, .outputs = {t}});
    return t;
  }
  static bool fits(const tensor_shape& from, const tensor_shape& to) {
    if (from.size() > to.size()) return false;
    for (std::size_t i = 0; i < from.size(); ++i)
      if (const std::int32_t d = from[from.size() - 1 - i]; d != 1 && d != to[to.size() - 1 - i]) return false;
    return true;
  }
  int same_type_mostly(std::int32_t as) {
    return under(3) == 0 ? some_type() : g_.tensors[static_cast<std::size_t>(as)].type;
  }
  void add_operator() {
    const std::int32_t x = some_tensor();
    const unsigned what = under(10);
    if (what < 4) {
      const auto& kinds = !micro_ && under(3) == 0 ? further_binary : binary;
      const std::int32_t other = partner(shape_of(x));
      std::vector<std::int32_t> inputs{x, other};
      if (under(2) == 0) std::swap(inputs[0], inputs[1]);
      finish(kinds[under(kinds.size())], inputs, shape_of(x), same_type_mostly(x));
    } else if (what < 6) {
      const auto& kinds = !micro_ && under(3) == 0 ? further_unary : unary;
      finish(kinds[under(kinds.size())], {x}, shape_of(x), same_type_mostly(x));
    } else if (what == 6) {
      finish(row_wise[under(row_wise.size())], {x}, shape_of(x), same_type_mostly(x));
    } else if (what == 7) {
      std::vector<std::int32_t> inputs{x};
      for (std::int32_t t = 0; t < static_cast<std::int32_t>(g_.tensors.size()); ++t)
        if (t != x && shape_of(t) == shape_of(x) && inputs.size() < 3) inputs.push_back(t);
      finish(add_n, inputs, shape_of(x), same_type_mostly(x));
    } else if (what == 8) {
      const int kind = std::vector{reshape, squeeze, expand_dims}[micro_ ? 0 : under(3)];
      finish(kind, {x}, {1, static_cast<std::int32_t>(elements(shape_of(x)))}, g_.tensors[static_cast<std::size_t>(x)].type);
    } else if (micro_) {
      finish(conv, {x}, some_shape(), some_type());
    } else {  // the update has the operand's type, or is as large as the result
      finish(dynamic_update_slice, {x, partner(shape_of(x))}, shape_of(x), g_.tensors[static_cast<std::size_t>(x)].type);
    }
  }
  void finish(int kind, std::vector<std::int32_t> inputs, tensor_shape s, int type) {
    const std::int32_t y = add(std::move(s), type);
    g_.ops.push_back({.kind = kind, .inputs = std::move(inputs), .outputs = {y}});
  }

  std::mt19937 random_;
  bool micro_;
  subgraph g_;
};

/// A place for each tensor, after all that a plan asks for.
std::vector<std::size_t> apart(const subgraph& g) {
  std::vector<std::size_t> offsets;
  for (std::size_t t = 0; t < g.tensors.size(); ++t) offsets.push_back(1024 * (t + 64));
  return offsets;
}
/// Whether a run in this order with these offsets gives what the model's own order with a place for each tensor does.
bool same_outputs(const subgraph& g, std::vector<std::size_t> offsets, const std::vector<std::size_t>& order) {
  std::vector<std::size_t> own(g.ops.size());
  std::iota(own.begin(), own.end(), std::size_t{0});
  return interpreter(g, std::move(offsets)).run(order) == interpreter(g, apart(g)).run(own);
}

}  // namespace

TEST_CASE("offsets in place in a written file change no byte of any output, whatever broadcasts and converts") {
  std::size_t less = 0;
  for (std::uint32_t seed = 1; seed <= support::seeds(3000); ++seed) {
    CAPTURE(seed);
    const subgraph g = model_maker(seed, true).make();
    const std::string file = tflite_model::write(g);
    auto graphs = read_tflite(file).value();
    as_micro(file, graphs, true);
    const auto order = schedule(make_problem(graphs[0].draft).value(), automatic, {.state_limit = 1000}).order;
    const std::string permuted = write_tflite(file, graphs, {order}).value();
    const auto planned = [&](bool in_place) {
      return plan_micro(permuted, {}, in_place, minimize{}, {.state_limit = 1000}).value();
    };
    const micro_plan plan = planned(true);
    less += plan.head < planned(false).head;
    const std::string written = write_tflite(file, graphs, {order}, plan.offsets).value();

    std::vector<std::size_t> listed;  // the writer of these models gives each operator a code of its own
    for (const auto& op : tflite_checker::read(written, 0).ops) listed.push_back(op.code);
    const std::string content = tflite_checker::metadata(written, "OfflineMemoryAllocation").at(0);
    const tflite_checker::reader words(content);
    std::vector<std::size_t> offsets;
    for (std::size_t t = 0; t < g.tensors.size(); ++t) offsets.push_back(words.u32(12 + 4 * t));
    REQUIRE(same_outputs(g, offsets, listed));
  }
  CHECK(less > support::seeds(1000));
}

TEST_CASE("what an imported operator may overwrite changes no byte of any output") {
  std::size_t in_place = 0;
  for (std::uint32_t seed = 1; seed <= support::seeds(3000); ++seed) {
    CAPTURE(seed);
    const subgraph g = model_maker(seed, false).make();
    const auto graphs = read_tflite(tflite_model::write(g)).value();
    const problem p = make_problem(graphs[0].draft).value();
    const auto placed = plan(p, schedule(p, automatic, {.state_limit = 1000}).order, by_size{}, {});
    REQUIRE(!placed.arena.error);
    std::vector<std::size_t> offsets = apart(g), order;  // a tensor without an offset is never live
    for (const auto& [t, at] : placed.offset) offsets[std::stoul(graphs[0].draft.tensor_names[t].substr(1))] = at;
    for (const op_id op : placed.order) order.push_back(graphs[0].positions[op]);
    for (const auto& op : graphs[0].draft.operators) in_place += op.overwrites != none;
    REQUIRE(same_outputs(g, offsets, order));
  }
  CHECK(in_place > support::seeds(3000));
}

TEST_CASE("the smallest cases: an operand that broadcasts, and a result of wider elements") {
  subgraph wider{{{.shape = {1, 2}, .type = int8}, {.shape = {1, 2}, .type = int8}, {.shape = {1, 2}, .type = int16}},
                 {{.kind = 19, .inputs = {0}, .outputs = {1}}, {.kind = 25, .inputs = {1}, .outputs = {2}}},
                 {0},
                 {2}};
  const auto offsets = [](const subgraph& g) { return plan_micro(tflite_model::write(g), {}, true).value().offsets; };
  CHECK(offsets(wider)[1] != offsets(wider)[2]);
  subgraph broadcast{{{.shape = {1, 2, 2, 4}, .type = int8},
                      {.shape = {1, 1, 1, 4}, .type = int8},
                      {.shape = {1, 2, 2, 4}, .type = int8},
                      {.shape = {1, 2, 2, 4}, .type = int8}},
                     {{.kind = 1, .inputs = {0}, .outputs = {1}},
                      {.kind = 0, .inputs = {0, 1}, .outputs = {2}},
                      {.kind = 0, .inputs = {2, 0}, .outputs = {3}}},
                     {0},
                     {3}};
  CHECK(offsets(broadcast)[1] != offsets(broadcast)[2]);
  CHECK(offsets(broadcast)[2] == offsets(broadcast)[3]);
  broadcast.outputs = {2, 3};  // what the last operator reads is wanted, too
  CHECK(offsets(broadcast)[2] != offsets(broadcast)[3]);
}

TEST_CASE("the random models have every kind that may write over an operand") {
  const auto played = [](int kind, bool micro) {
    const bool both = among(binary, kind) || among(unary, kind) || among(row_wise, kind) || kind == add_n;
    return both || (!micro && (among(further_binary, kind) || among(further_unary, kind) || kind == dynamic_update_slice));
  };
  for (const auto kind : detail::tflite::micro_in_place) CHECK(played(static_cast<int>(kind), true));
  for (const auto kind : detail::tflite::overwriting) CHECK(played(static_cast<int>(kind), false));
}
