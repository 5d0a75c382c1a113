// Any bytes as a TensorFlow Lite file, written again in another order: an error, or a file that holds the same graphs so.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>

#include <memsched/allocation/first_fit.hpp>
#include <memsched/formats/tflite_write.hpp>

#include "../formats/tflite_checker.hpp"
#include "orders.hpp"

namespace {

using fuzz::require;

/// Whether each operator of subgraph s of `out` is one of `file`, and, if it was ordered, stands after those that make
/// what it reads.
void judge(const std::string& file, const std::string& out, std::size_t s, bool ordered) {
  tflite_checker::subgraph before, after;
  try {
    before = tflite_checker::read(file, s);
    after = tflite_checker::read(out, s);
  } catch (const std::out_of_range&) {
    return;  // the checker follows what the library has no need of
  }
  require(before.shapes == after.shapes && before.types == after.types && before.inputs == after.inputs &&
          before.outputs == after.outputs);
  std::map<int, std::size_t> writer;
  for (std::size_t i = 0; i < after.ops.size(); ++i)
    for (const int t : after.ops[i].outputs) writer[t] = i;
  for (std::size_t i = 0; ordered && i < after.ops.size(); ++i)
    for (const int t : after.ops[i].inputs)
      if (const auto made = writer.find(t); made != writer.end()) require(made->second < i);
  std::sort(before.ops.begin(), before.ops.end());
  std::sort(after.ops.begin(), after.ops.end());
  require(before.ops == after.ops);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace memsched;
  const std::string file(reinterpret_cast<const char*>(data), size);
  const auto graphs = read_tflite(file);
  if (!graphs) {
    (void)write_tflite(file, {}, {}, {}, true);
    return 0;
  }
  const auto tail = micro_tail_of(file, pointer_width::bits_32), wide = micro_tail_of(file, pointer_width::bits_64);
  require(static_cast<bool>(tail) == static_cast<bool>(wide));
  if (tail) require(tail->size > 0 && tail->size <= wide->size);
  fuzz::numbers random(file);
  const auto orders = fuzz::orders_of(*graphs, random);
  const bool chain = random.below(2) == 0;
  auto out = write_tflite(file, *graphs, orders, {}, chain);
  if (!out) {
    require(!out.error().message.empty());
    return 0;
  }
  if (random.below(2) == 0) {  // with offsets for the order that is written
    const auto plan = plan_micro(*out, {}, random.below(2) == 0, by_birth{});
    if (plan) out = write_tflite(file, *graphs, orders, plan->offsets, chain);
    if (!out) {  // fields that only a new head must move are damaged
      require(!out.error().message.empty());
      return 0;
    }
    const auto arena = micro_arena_of(*out);
    require(!plan || (arena && arena->planned <= plan->head));
  }
  const auto again = read_tflite(*out);
  require(static_cast<bool>(again) && fuzz::permuted(*graphs, *again, orders));
  for (std::size_t g = 0; g < graphs->size(); ++g) judge(file, *out, (*graphs)[g].path[0], !orders[g].empty());
  return 0;
}
