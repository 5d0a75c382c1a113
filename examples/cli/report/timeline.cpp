#include "timeline.hpp"

#include <algorithm>
#include <memsched/measure/evaluate.hpp>

namespace cli {

namespace {

using memsched::none;
using memsched::op_id;
using memsched::tensor_id;

/// Plays an order as the referee does, and knows the parts.
class replay {
 public:
  replay(const memsched::problem& p, memsched::memory_model model)
      : p_(p), model_(model), left_(p.tensors().size()), here_(p.tensors().size()) {
    for (const tensor_id t : p.tensors()) {
      left_[t] = p.readers(t).size();
      if (p.storage(t) == t && p.writer(t) == none && p.kept(t)) born(t);
    }
  }

  /// The parts of memory while `op` runs, which is next.
  std::vector<part> during(op_id op) {
    std::erase_if(order_, [&](tensor_id t) { return !here_[t]; });
    const bool early = p_.firing(op).value_or(model_.default_firing) == memsched::firing::cbp;
    const auto dies = [&](tensor_id t) { return left_[t] == 1 && !p_.stays(t); };
    std::vector<part> parts;
    const auto reads = p_.reads(op);
    for (const tensor_id t : order_)
      if (!early || !dies(t) || std::find(reads.begin(), reads.end(), t) == reads.end()) parts.push_back({t, p_.size(t)});
    for (const tensor_id t : p_.creates(op)) {
      const auto reuses = p_.reuses(op);
      const bool in_place = model_.in_place && !early && std::any_of(reuses.begin(), reuses.end(), [&](const auto& r) {
                              return r.output == t && dies(r.input);
                            });
      if (!in_place) parts.push_back({t, p_.size(t)});
    }
    if (p_.workspace(op) > 0) parts.push_back({none, p_.workspace(op)});
    std::erase_if(parts, [](const part& x) { return x.size == 0; });
    return parts;
  }

  void run(op_id op) {
    for (const tensor_id t : p_.reads(op))
      if (--left_[t] == 0 && !p_.stays(t)) here_[t] = false;
    for (const tensor_id t : p_.creates(op))
      if (p_.kept(t)) born(t);
  }

 private:
  void born(tensor_id t) {
    here_[t] = true;
    order_.push_back(t);
  }

  const memsched::problem& p_;
  memsched::memory_model model_;
  std::vector<std::size_t> left_;
  std::vector<bool> here_;
  std::vector<tensor_id> order_;  // as they came to be; some that have gone
};

std::vector<lifetime> lives_of(const memsched::problem& p, std::span<const op_id> order) {
  std::vector<lifetime> lives(p.tensors().size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    for (const tensor_id t : p.creates(order[i])) lives[t].first = lives[t].last = i;
    for (const tensor_id t : p.reads(order[i])) lives[t].last = i, lives[t].last_reader = order[i];
  }
  for (const tensor_id t : p.tensors())
    if (p.stays(t) && !order.empty()) lives[t].last = order.size() - 1;
  return lives;
}

/// Where moments end: `most` of about the same length or, where there are no more steps, each step; and each step within
/// `close` of the peak.
std::vector<std::size_t> ends_of_moments(std::size_t steps, std::size_t most, std::size_t peak_step, std::size_t close) {
  const std::size_t count = std::min(steps, most);
  std::vector<std::size_t> ends;
  for (std::size_t k = 0; k < count; ++k) ends.push_back(steps * (k + 1) / count);
  if (close > 0)
    for (std::size_t at = peak_step - std::min(peak_step, close); at < std::min(steps, peak_step + close + 1); ++at)
      ends.push_back(at + 1);
  std::sort(ends.begin(), ends.end());
  ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
  return ends;
}

}  // namespace

timeline make_timeline(const memsched::problem& p, std::span<const op_id> order, memsched::memory_model model,
                       std::size_t most, std::size_t close) {
  const memsched::evaluation e = memsched::evaluate(p, order, model).value();
  timeline t{{order.begin(), order.end()}, {}, lives_of(p, order), e.peak, e.peak_step};
  replay memory(p, model);
  std::size_t at = 0;
  for (const std::size_t end : ends_of_moments(order.size(), most, e.peak_step, close)) {
    const auto highest = std::max_element(e.during.begin() + static_cast<std::ptrdiff_t>(at),
                                          e.during.begin() + static_cast<std::ptrdiff_t>(end));
    moment m{at, end - at, static_cast<std::size_t>(highest - e.during.begin()), *highest};
    for (; at < end; ++at) {
      if (at == m.step) m.parts = memory.during(order[at]);
      memory.run(order[at]);
    }
    t.moments.push_back(std::move(m));
  }
  return t;
}

}  // namespace cli
