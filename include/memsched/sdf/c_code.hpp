// A looped schedule as a program in C.
#pragma once

#include <algorithm>
#include <cctype>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <memsched/base/linkage.hpp>
#include <memsched/sdf/layout.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace sdf {

namespace detail {

inline std::string c_name(const std::string& name, index_t a, std::set<std::string>& taken) {
  std::string c = "actor_";
  for (char x : name) c += std::isalnum(static_cast<unsigned char>(x)) != 0 ? x : '_';
  if (!taken.insert(c).second) taken.insert(c += "_" + std::to_string(a));
  return c;
}

}  // namespace detail

/// The schedule as C99: loops that call the actors, and ring buffers in one block of memory. Of an actor "fir" the caller
/// writes `void actor_fir(sdf_channel *const in[], sdf_channel *const out[])`, with the channels in the order of the graph
/// and a null pointer after the last: `sdf_token(in[0], i)` is the i-th of the `consumed` tokens, and
/// `sdf_token(out[0], out[0]->tokens + i)` the place of the i-th of the `produced`. Channels with tokens of size 0 are left
/// out. `SDF_ACTORS(X)` lists the functions. `sdf_start` empties the channels and calls the caller's `sdf_initial` for each
/// initial token; `sdf_run` runs the schedule. Under `cbp` an actor reads its state before it writes it: both are in the
/// same place. `fills` are from `replay`.
MEMSCHED_FUNCTION std::string to_c(const graph& g, const loops& schedule, const std::vector<bytes>& fills,
                                   const layout& where);

}  // namespace sdf
}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace sdf {

MEMSCHED_FUNCTION std::string to_c(const graph& g, const loops& schedule, const std::vector<bytes>& fills,
                                   const layout& where) {
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
       "/* The i-th token from the oldest on; after the last there is room for those that a firing produces. */\n"
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

}  // namespace sdf
}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
