#include <chrono>
#include <filesystem>
#include <memsched/emit/emit_c.hpp>
#include <memsched/plan.hpp>

#include "emit.hpp"

namespace cli {

memsched::result<program_text> program_of(const memsched::network& net, const std::vector<memsched::op_id>& order) {
  const std::span<const memsched::op_id> span(order);
  const auto planned = memsched::plan(net, span, {.time_limit = std::chrono::seconds(10), .alignment = 4});
  if (planned.arena.error) return *planned.arena.error;
  memsched::emission e{order, std::vector<memsched::bytes>(net.tensors.size(), 0), planned.arena.size};
  for (const auto& [t, at] : planned.offset) e.offset[t] = at;
  auto text = memsched::emit_c(net, e);
  if (!text) return text.error();
  return program_text{std::move(*text), planned.arena.size};
}

}  // namespace cli
