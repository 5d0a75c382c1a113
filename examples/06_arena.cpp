// A compiler's own IR gets an order and an offset for every tensor, in the smallest arena that there is.
#include <iostream>
#include <string>
#include <vector>

#include <memsched/plan.hpp>

struct layer {
  std::string name;
  std::vector<int> from, to;  // tensors by number
};

struct network {  // required: ops, inputs, outputs, size; optional: live_out
  std::vector<layer> layers;
  std::vector<std::size_t> bytes_of;
  auto ops() const {
    std::vector<const layer*> list;
    for (const layer& l : layers) list.push_back(&l);
    return list;
  }
  const auto& inputs(const layer* l) const { return l->from; }
  const auto& outputs(const layer* l) const { return l->to; }
  std::size_t size(int t) const { return bytes_of[static_cast<std::size_t>(t)]; }
  bool live_out(int t) const { return t == 6; }
};

int main() {
  using namespace memsched::literals;
  const network net{{{"stem", {0}, {1}},
                     {"left", {1}, {2}},
                     {"right", {1}, {3}},
                     {"shrink", {2}, {4}},
                     {"squeeze", {3}, {5}},
                     {"join", {4, 5}, {6}}},
                    {48_KiB, 64_KiB, 160_KiB, 96_KiB, 24_KiB, 16_KiB, 40_KiB}};

  // The order and the offsets together: no order of these layers has a smaller arena.
  const auto best = memsched::plan_jointly(net, {.alignment = 64}).value();
  for (const layer* l : best.order) std::cout << l->name << ' ';
  std::cout << "\narena " << best.arena.size << " bytes, " << to_string(best.arena.verdict()) << '\n';
  for (int t = 0; t <= 6; ++t) std::cout << "tensor " << t << " at " << best.offset.at(t) << '\n';

  // Offsets for an order of one's own, as a runtime would plan them.
  const auto own = memsched::plan(net, net.ops(), memsched::by_birth{}).value();
  std::cout << "as written, planned by birth: " << own.arena.size << " bytes\n";
}
