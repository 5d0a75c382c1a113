// Certificates with something changed, which checkers are to notice.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include <memsched/proof/certificate.hpp>

#include "support/random_problem.hpp"

namespace support {

namespace detail {

template <class T>
std::size_t any(const std::vector<T>& list, random& r) {
  return r.below(static_cast<std::uint32_t>(list.size()));
}
template <class T>
void erase_any(std::vector<T>& list, random& r) {
  list.erase(list.begin() + static_cast<std::ptrdiff_t>(detail::any(list, r)));
}
template <class T>
void repeat_any(std::vector<T>& list, random& r) {
  const std::size_t i = detail::any(list, r);
  list.insert(list.begin() + static_cast<std::ptrdiff_t>(i), T(list[i]));
}

}  // namespace detail

/// A change of one field, or a lost or repeated step or arc: any of these breaks a certificate.
inline memsched::certificate broken(memsched::certificate c, random& r) {
  memsched::cut_step& s = c.steps[detail::any(c.steps, r)];
  const memsched::bytes change = 1 + r.below(5), sign = r.chance(50) ? 1 : static_cast<memsched::bytes>(-1);
  switch (r.below(8)) {
    case 0: c.bound += change * sign; break;
    case 1: s.level += change * sign; break;
    case 2:
      if (!s.flow.empty()) s.flow[detail::any(s.flow, r)].amount += static_cast<memsched::delta>(change * sign);
      break;
    case 3:
      if (!s.flow.empty()) detail::erase_any(s.flow, r);
      break;
    case 4:
      if (!s.flow.empty()) detail::repeat_any(s.flow, r);
      break;
    case 5:
      if (std::vector<memsched::reduction> lost = s.reductions; &s != &c.steps.back()) {
        auto& next = (&s)[1].reductions;
        next.insert(next.begin(), lost.begin(), lost.end());
      }
      c.steps.erase(c.steps.begin() + (&s - c.steps.data()));
      break;
    case 6: detail::repeat_any(c.steps, r); break;
    default:
      if (s.flow.size() > 1) std::swap(s.flow[0], s.flow[1 + r.below(static_cast<std::uint32_t>(s.flow.size() - 1))]);
  }
  return c;
}

/// A change of what the proof says, up to nonsense; with luck it is another proof.
inline memsched::certificate altered(memsched::certificate c, random& r, const memsched::schedule_graph& g) {
  memsched::cut_step& s = c.steps[detail::any(c.steps, r)];
  const auto any_node = [&] {
    return r.chance(5) ? memsched::none - r.below(2) : r.below(static_cast<std::uint32_t>(g.size() + 2));
  };
  switch (r.below(s.reductions.empty() ? 8 : 9)) {
    case 0: s.v = any_node(); break;
    case 1: s.other = any_node(); break;
    case 2: s.v_first = !s.v_first; break;
    case 3: std::swap(s.v, s.other); break;
    case 4: std::swap(s, c.steps[detail::any(c.steps, r)]); break;
    case 5:
      if (!s.flow.empty()) s.flow[detail::any(s.flow, r)].from = any_node();
      break;
    case 6:
      if (!s.flow.empty()) s.flow[detail::any(s.flow, r)].to = any_node();
      break;
    case 8:
      s.reductions[detail::any(s.reductions, r)] = {static_cast<memsched::reduction::rule>(r.below(4)), any_node(),
                                                    any_node()};
      break;
    default:
      s.flow.push_back({any_node(), any_node(), static_cast<memsched::delta>(r.chance(10) ? r.next() : r.below(9))});
      std::sort(s.flow.begin(), s.flow.end());
  }
  return c;
}

/// A change of the family that ends a proof.
inline memsched::certificate other_family(memsched::certificate c, random& r, const memsched::schedule_graph& g) {
  memsched::set_family& f = *c.family;
  const auto any_node = [&] { return r.below(static_cast<std::uint32_t>(g.size() + 1)); };
  if (f.sets.empty() || r.chance(20)) {
    ++f.level, ++c.bound;
    return c;
  }
  auto& s = f.sets[detail::any(f.sets, r)];
  switch (r.below(4)) {
    case 0: detail::erase_any(f.sets, r); break;
    case 1: s.by = any_node(); break;
    case 2: s.from = r.below(static_cast<std::uint32_t>(f.sets.size() + 1)); break;
    default: f.sets.push_back({static_cast<memsched::index_t>(detail::any(f.sets, r)), any_node()});
  }
  return c;
}

}  // namespace support
