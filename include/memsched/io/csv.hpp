// Tables as comma-separated values.
#pragma once

#include <iomanip>
#include <limits>
#include <ostream>
#include <span>

#include <memsched/measure/sample.hpp>
#include <memsched/search/statistics.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// One line for each sample: its number, its peak in bytes, and the logarithm of the number of orders it stands for.
inline void write_csv(std::ostream& out, std::span<const order_sample> samples) {
  const auto precision = out.precision(std::numeric_limits<double>::max_digits10);
  out << "sample,peak,log2_orders\n";
  for (std::size_t i = 0; i < samples.size(); ++i)
    out << i << ',' << samples[i].peak << ',' << samples[i].log2_orders << '\n';
  out.precision(precision);
}

/// One line for each step of `dp`.
inline void write_csv(std::ostream& out, std::span<const statistics::step> steps) {
  out << "run,step,states,moves,pruned,seconds\n";
  for (const statistics::step& s : steps)
    out << s.run << ',' << s.step << ',' << s.states << ',' << s.moves << ',' << s.pruned << ',' << s.seconds << '\n';
}

/// One line for each budget that `soft_budget` tried.
inline void write_csv(std::ostream& out, std::span<const statistics::trial> trials) {
  out << "budget,answer,step_states,states,seconds\n";
  for (const statistics::trial& t : trials)
    out << t.budget << ',' << to_string(t.answer) << ',' << t.step_states << ',' << t.states << ',' << t.seconds << '\n';
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched
