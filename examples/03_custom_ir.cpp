// A compiler's own IR, adapted from outside: the IR knows nothing of memsched and is not copied.
#include <deque>
#include <iostream>
#include <string>
#include <vector>

#include <memsched/schedule.hpp>

namespace acme {  // a def-use IR: nodes define values, and values are used by any number of nodes

struct value {
  std::string name;
  std::size_t elements;
  bool is_result = false;
};

struct node {
  std::string name;
  std::vector<const value*> uses, defs;
  std::size_t scratch = 0;
};

struct block {
  std::deque<value> values;
  std::deque<node> nodes;
  const value* define(std::string name, std::size_t elements) {
    return &values.emplace_back(value{std::move(name), elements});
  }
};

}  // namespace acme

// The one thing to write: which nodes there are, what each uses and defines, and how large a value is. Handles are
// whatever identifies a node or a value; here, addresses. The rest is optional.
template <>
struct memsched::graph_traits<acme::block> {
  static std::vector<const acme::node*> ops(const acme::block& b) {
    std::vector<const acme::node*> list;
    for (const acme::node& n : b.nodes) list.push_back(&n);
    return list;
  }
  static const auto& inputs(const acme::block&, const acme::node* n) { return n->uses; }
  static const auto& outputs(const acme::block&, const acme::node* n) { return n->defs; }
  static std::size_t size(const acme::block&, const acme::value* v) { return v->elements * sizeof(float); }
  static std::size_t workspace(const acme::block&, const acme::node* n) { return n->scratch; }
  static bool live_out(const acme::block&, const acme::value* v) { return v->is_result; }
};

// A misspelt optional hook would be silently ignored; this line notices.
static_assert(memsched::hooks<acme::block>.workspace && memsched::hooks<acme::block>.live_out);

int main() {
  acme::block b;
  const auto *x = b.define("x", 64), *top = b.define("top", 32), *bottom = b.define("bottom", 32);
  const auto *grown = b.define("grown", 256), *kept = b.define("kept", 16), *y = b.define("y", 48);
  b.values.back().is_result = true;
  b.nodes.push_back({"split", {x}, {top, bottom}});             // one node, two values
  b.nodes.push_back({"grow", {top}, {grown}});                  // `top` has two users
  b.nodes.push_back({"squeeze", {top, bottom}, {kept}, 1024});  // needs scratch memory while it runs
  b.nodes.push_back({"merge", {grown, kept}, {y}});

  const auto best = memsched::schedule(b).value();
  for (const acme::node* n : best.order) std::cout << n->name << ' ';
  std::cout << "\npeak " << best.peak << " bytes, " << to_string(best.verdict()) << '\n';
}
