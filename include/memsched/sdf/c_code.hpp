// A looped schedule as a program in C.
#pragma once

#include <algorithm>
#include <cctype>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <memsched/sdf/graph.hpp>
#include <memsched/sdf/loops.hpp>
#include <memsched/sdf/replay.hpp>

namespace memsched::inline MEMSCHED_ABI::sdf {

/// Where the channels of a schedule lie in one block of memory.
struct layout {
  std::vector<bytes> offset;  ///< per channel
  bytes size = 0;
};

/// One channel behind the other, each with room for its largest fill.
inline layout separate_layout(const graph& g, const std::vector<bytes>& fills) {
  layout l;
  for (std::size_t i = 0; i < fills.size(); ++i) {
    l.offset.push_back(l.size);
    l.size += fills[i] * g.channels()[i].size;
  }
  return l;
}

namespace detail {

/// When a channel may hold tokens: places [begin, end) of the schedule's items. A channel that is empty at the start is
/// empty before and behind the items of the innermost list that has all its firings: each run of that list restores it.
struct lifetime {
  std::size_t begin, end;
};

inline std::vector<lifetime> lifetimes(const graph& g, const loops& schedule) {
  const auto& items = schedule.items();
  std::vector<lifetime> touched(g.channels().size(), {items.size(), 0});
  std::vector<std::vector<index_t>> around(g.actors());
  for (index_t i = 0; i < g.channels().size(); ++i) {
    around[g.channels()[i].from].push_back(i);
    around[g.channels()[i].to].push_back(i);
  }
  for (std::size_t at = 0; at < items.size(); ++at)
    if (items[at].actor != none)
      for (index_t i : around[items[at].actor])
        touched[i] = {std::min(touched[i].begin, at), std::max(touched[i].end, at)};
  for (index_t i = 0; i < touched.size(); ++i) {
    lifetime& t = touched[i];
    if (g.channels()[i].tokens > 0) {
      t = {0, items.size()};
      continue;
    }
    std::size_t first = 0;  // down to the list whose items hold both ends
    for (;;) {
      while (first + items[first].length <= t.begin) first += items[first].length;
      if (first == t.begin || t.end >= first + items[first].length) break;
      ++first;
    }
    std::size_t end = first;
    while (end <= t.end) end += items[end].length;
    t = {first, end};
  }
  return touched;
}

inline std::string c_name(const std::string& name, index_t a, std::set<std::string>& taken) {
  std::string c = "actor_";
  for (char x : name) c += std::isalnum(static_cast<unsigned char>(x)) != 0 ? x : '_';
  if (!taken.insert(c).second) taken.insert(c += "_" + std::to_string(a));
  return c;
}

}  // namespace detail

/// Channels that never hold tokens at the same time may lie in the same place: the largest first, each at the least offset
/// that is free while it may hold tokens. O(channels^2). At least the schedule's peak, and at most the separate size.
inline layout shared_layout(const graph& g, const loops& schedule, const std::vector<bytes>& fills) {
  const auto live = detail::lifetimes(g, schedule);
  const auto size = [&](index_t i) { return fills[i] * g.channels()[i].size; };
  std::vector<index_t> order(fills.size());
  std::iota(order.begin(), order.end(), index_t{0});
  std::stable_sort(order.begin(), order.end(), [&](index_t a, index_t b) { return size(a) > size(b); });
  layout l;
  l.offset.assign(fills.size(), 0);
  std::vector<index_t> placed;  // by offset
  for (index_t i : order) {
    bytes at = 0;
    for (index_t k : placed) {
      if (live[k].end <= live[i].begin || live[i].end <= live[k].begin) continue;
      if (l.offset[k] >= at + size(i)) break;
      at = std::max(at, l.offset[k] + size(k));
    }
    l.offset[i] = at;
    l.size = std::max(l.size, at + size(i));
    placed.insert(std::upper_bound(placed.begin(), placed.end(), at, [&](bytes o, index_t k) { return o < l.offset[k]; }),
                  i);
  }
  return l;
}

/// The schedule as C99: loops that call the actors, and ring buffers in one block of memory. Of an actor "fir" the caller
/// writes `void actor_fir(sdf_channel *const in[], sdf_channel *const out[])`, with the channels in the order of the graph
/// and a null pointer behind the last: `sdf_token(in[0], i)` is the i-th of the `consumed` tokens, and
/// `sdf_token(out[0], out[0]->tokens + i)` the place of the i-th of the `produced`. Channels with tokens of size 0 are left
/// out. `SDF_ACTORS(X)` lists the functions. `sdf_start` empties the channels and calls the caller's `sdf_initial` for each
/// initial token; `sdf_run` runs the schedule. Under `cbp` an actor reads its state before it writes it: both are in the
/// same place. `fills` are from `replay`.
inline std::string to_c(const graph& g, const loops& schedule, const std::vector<bytes>& fills, const layout& where) {
  const auto number = [](bytes n) { return std::to_string(n); };
  std::string c =
      "#include <stddef.h>\n\n"
      "typedef struct {\n"
      "  unsigned char *memory;\n"
      "  size_t size, capacity, produced, consumed; /* bytes of a token, tokens, tokens of a firing */\n"
      "  size_t first, tokens;\n"
      "} sdf_channel;\n\n";
  c += "static unsigned char sdf_memory[" + number(std::max<bytes>(where.size, 1)) + "];\n";
  std::vector<std::size_t> place(g.channels().size(), 0);
  std::size_t count = 0;
  std::string entries, start;
  bool initial = false;
  for (index_t i = 0; i < g.channels().size(); ++i) {
    const channel& e = g.channels()[i];
    if (e.size == 0) continue;
    place[i] = count++;
    entries += "  {sdf_memory + " + number(where.offset[i]) + ", " + number(e.size) + ", " + number(fills[i]) + ", " +
               number(e.produced) + ", " + number(e.consumed) + ", 0, 0}, /* " + std::to_string(place[i]) + " */\n";
    const std::string name = "sdf_channels[" + std::to_string(place[i]) + "]";
    start += "  " + name + ".first = 0;\n  " + name + ".tokens = " + number(e.tokens) + ";\n";
    if (e.tokens > 0) {
      initial = true;
      start += "  for (size_t i = 0; i < " + number(e.tokens) + "; ++i) sdf_initial(&" + name + ", i);\n";
    }
  }
  c += "static sdf_channel sdf_channels[" + std::to_string(std::max<std::size_t>(count, 1)) + "] = {\n" +
       (count == 0 ? "  {0}\n" : entries) + "};\n\n" +
       "/* The i-th token from the oldest on; behind the last there is room for those that a firing produces. */\n"
       "static inline void *sdf_token(sdf_channel *c, size_t i) {\n"
       "  return c->memory + (c->first + i) % c->capacity * c->size;\n"
       "}\n\n";
  if (initial)
    c += "/* Yours: writes the i-th initial token of a channel. */\nvoid sdf_initial(sdf_channel *channel, size_t i);\n\n";
  c += "/* Yours: one firing of each actor. */\n";
  std::set<std::string> taken;
  std::vector<std::string> names;
  std::string list, firings;
  for (index_t a = 0; a < g.actors(); ++a) {
    names.push_back(detail::c_name(g.actor_name(a), a, taken));
    c += "void " + names[a] + "(sdf_channel *const in[], sdf_channel *const out[]);\n";
    list += " X(" + names[a] + ")";
    std::string in, out, move;
    for (bool takes : {true, false})
      for (index_t i = 0; i < g.channels().size(); ++i) {
        const channel& e = g.channels()[i];
        if (e.size == 0 || (takes ? e.to : e.from) != a) continue;
        const std::string name = "sdf_channels[" + std::to_string(place[i]) + "]";
        (takes ? in : out) += "&" + name + ", ";
        move += takes ? "  " + name + ".first = (" + name + ".first + " + number(e.consumed) + ") % " + number(fills[i]) +
                            ";\n  " + name + ".tokens -= " + number(e.consumed) + ";\n"
                      : "  " + name + ".tokens += " + number(e.produced) + ";\n";
      }
    firings += "static void fire_" + std::to_string(a) + "(void) {\n  static sdf_channel *const in[] = {" + in +
               "NULL}, *const out[] = {" + out + "NULL};\n  " + names[a] + "(in, out);\n" + move + "}\n";
  }
  c += "\n#define SDF_ACTORS(X)" + list + "\n\n" + firings + "\nstatic void sdf_start(void) {\n" + start + "}\n\n" +
       "static void sdf_run(void) {\n";
  std::size_t depth = 0;
  const auto indent = [&] { return std::string(2 * depth + 2, ' '); };
  const auto loop = [&](bytes n) {
    const std::string i = "i" + std::to_string(depth);
    return "for (unsigned long long " + i + " = 0; " + i + " < " + number(n) + "; ++" + i + ") ";
  };
  schedule.walk(
      [&](const loops::item& i) {
        c += indent() + loop(i.count) + "{\n";
        ++depth;
      },
      [&](const loops::item& i) {
        c += indent() + (i.count > 1 ? loop(i.count) : "") + "fire_" + std::to_string(i.actor) + "();\n";
      },
      [&] {
        --depth;
        c += indent() + "}\n";
      });
  return c + "}\n";
}

}  // namespace memsched::sdf
