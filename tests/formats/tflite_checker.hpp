// Judges written TensorFlow Lite files: shares nothing with what reads or writes them in the library.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

namespace tflite_checker {

/// Plain reads of a flatbuffer that is known to be sound.
class reader {
 public:
  explicit reader(const std::string& bytes) : b_(bytes) {}
  std::size_t root() const { return u32(0); }
  std::uint32_t u32(std::size_t at) const { return u16(at) | static_cast<std::uint32_t>(u16(at + 2)) << 16; }
  std::uint16_t u16(std::size_t at) const { return static_cast<std::uint16_t>(byte(at) | byte(at + 1) << 8); }
  unsigned byte(std::size_t at) const { return static_cast<unsigned char>(b_.at(at)); }
  /// Where field i of a table stands; 0 for none.
  std::size_t field(std::size_t table, std::size_t i) const {
    const auto back = static_cast<std::int32_t>(u32(table));
    const auto vtable = static_cast<std::size_t>(static_cast<std::int64_t>(table) - back);
    const std::size_t slot = 4 + 2 * i;
    const std::size_t within = slot + 2 <= u16(vtable) ? u16(vtable + slot) : 0;
    return within == 0 ? 0 : table + within;
  }
  std::size_t follow(std::size_t at) const { return at == 0 ? 0 : at + u32(at); }
  std::size_t list(std::size_t table, std::size_t i) const { return follow(field(table, i)); }
  std::size_t count(std::size_t list) const { return list == 0 ? 0 : u32(list); }
  std::size_t entry(std::size_t list, std::size_t i) const { return follow(list + 4 + 4 * i); }
  std::vector<int> numbers(std::size_t table, std::size_t i) const {
    const std::size_t l = list(table, i);
    std::vector<int> found;
    for (std::size_t k = 0; k < count(l); ++k) found.push_back(static_cast<int>(u32(l + 4 + 4 * k)));
    return found;
  }
  std::string text(std::size_t table, std::size_t i) const {
    const std::size_t l = list(table, i);
    return l == 0 ? std::string() : b_.substr(l + 4, count(l));
  }

 private:
  const std::string& b_;
};

struct op {
  unsigned code = 0;
  std::vector<int> inputs, outputs;
  bool operator==(const op&) const = default;
  bool operator<(const op& o) const { return std::tie(code, inputs, outputs) < std::tie(o.code, o.inputs, o.outputs); }
};

/// Subgraph s of a file.
struct subgraph {
  std::vector<op> ops;
  std::vector<std::vector<int>> shapes;
  std::vector<unsigned> types;
  std::vector<bool> constant;
  std::vector<int> inputs, outputs;
};

inline subgraph read(const std::string& bytes, std::size_t s) {
  const reader r(bytes);
  const std::size_t g = r.entry(r.list(r.root(), 2), s), tensors = r.list(g, 0), ops = r.list(g, 3),
                    buffers = r.list(r.root(), 4);
  subgraph made{{}, {}, {}, {}, r.numbers(g, 1), r.numbers(g, 2)};
  for (std::size_t i = 0; i < r.count(ops); ++i) {
    const std::size_t o = r.entry(ops, i), code = r.field(o, 0);
    made.ops.push_back({code == 0 ? 0 : r.u32(code), r.numbers(o, 1), r.numbers(o, 2)});
  }
  for (std::size_t i = 0; i < r.count(tensors); ++i) {
    const std::size_t t = r.entry(tensors, i), type = r.field(t, 1), buffer = r.field(t, 2);
    made.shapes.push_back(r.numbers(t, 0));
    made.types.push_back(type == 0 ? 0 : r.byte(type));
    const std::size_t b = buffer == 0 ? 0 : r.u32(buffer);
    made.constant.push_back(b != 0 && r.count(r.list(r.entry(buffers, b), 0)) > 0);
  }
  return made;
}

/// The contents of metadata of a name, in order of the list.
inline std::vector<std::string> metadata(const std::string& bytes, const std::string& name) {
  const reader r(bytes);
  const std::size_t list = r.list(r.root(), 6), buffers = r.list(r.root(), 4);
  std::vector<std::string> found;
  for (std::size_t i = 0; i < r.count(list); ++i) {
    const std::size_t m = r.entry(list, i), index_t = r.field(m, 1);
    if (r.text(m, 0) == name) found.push_back(r.text(r.entry(buffers, index_t == 0 ? 0 : r.u32(index_t)), 0));
  }
  return found;
}

/// The bytes of the head that the plan in a file of one subgraph asks for, each tensor of one byte an element; -1 where
/// an offset is missing, not a multiple of 16, or two tensors meet that are there at one time. `shared` counts pairs at
/// one offset of which one ends where the other begins.
inline std::int64_t head(const std::string& bytes, std::size_t& shared) {
  const subgraph g = read(bytes, 0);
  const auto plans = metadata(bytes, "OfflineMemoryAllocation");
  if (plans.size() != 1 || plans[0].size() != 12 + 4 * g.shapes.size()) return -1;
  const reader plan(plans[0]);
  struct life {
    int from = -1, to = -1;
    std::int64_t offset = -1, size = 1;
  };
  std::vector<life> tensors(g.shapes.size());
  for (std::size_t t = 0; t < tensors.size(); ++t) {
    tensors[t].offset = static_cast<std::int32_t>(plan.u32(12 + 4 * t));
    for (const int d : g.shapes[t]) tensors[t].size *= d;
  }
  const auto born = [&](int t, int at) { tensors[static_cast<std::size_t>(t)].from = at; };
  const auto used = [&](int t, int at) { tensors[static_cast<std::size_t>(t)].to = at; };
  for (const int t : g.inputs) born(t, 0);
  for (std::size_t i = 0; i < g.ops.size(); ++i) {
    for (const int t : g.ops[i].inputs)
      if (t >= 0) used(t, static_cast<int>(i) + 1);
    for (const int t : g.ops[i].outputs) {
      born(t, static_cast<int>(i) + 1);
      used(t, static_cast<int>(i) + 1);
    }
  }
  for (const int t : g.outputs) used(t, static_cast<int>(g.ops.size()) + 1);
  std::int64_t most = 0;
  shared = 0;
  for (std::size_t a = 0; a < tensors.size(); ++a) {
    const life& x = tensors[a];
    if (g.constant[a] != (x.offset == -1)) return -1;
    if (g.constant[a]) continue;
    if (x.offset < 0 || x.offset % 16 != 0) return -1;
    most = std::max(most, x.offset + (x.size + 15) / 16 * 16);
    for (std::size_t b = 0; b < tensors.size(); ++b) {
      const life& y = tensors[b];
      if (a == b || g.constant[b] || x.from > y.from) continue;
      const bool meet_in_time = y.from <= x.to && x.from <= y.to;
      const bool meet = x.offset < y.offset + y.size && y.offset < x.offset + x.size;
      if (!meet_in_time || !meet) continue;
      if (x.offset != y.offset || x.size != y.size || x.to != y.from) return -1;
      ++shared;
    }
  }
  return most;
}

}  // namespace tflite_checker
