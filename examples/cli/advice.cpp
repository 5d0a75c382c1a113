#include "advice.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <memsched/schedule.hpp>
#include <string_view>
#include <tuple>
#include <utility>

#include "limits.hpp"

namespace cli {

namespace {

using memsched::bytes;
using memsched::fit_options;
using memsched::fit_point;
using memsched::fitted;
using memsched::network;

constexpr std::size_t most_picks = 8;

auto cost_of(const fit_point& p) { return std::tuple(p.peak, p.macs, p.operators); }

/// Whether a is no worse than b in all that counts.
bool beats(const fit_point& a, const fit_point& b) {
  return a.peak <= b.peak && a.macs <= b.macs && a.operators <= b.operators;
}

/// Adds a point to a front, and takes out those that it beats.
void add(std::vector<fit_point>& front, const fit_point& p) {
  if (std::any_of(front.begin(), front.end(), [&](const fit_point& other) { return beats(other, p); })) return;
  std::erase_if(front, [&](const fit_point& other) { return beats(p, other); });
  front.push_back(p);
}

fitted fit_to(const network& net, fit_options f, bytes budget, const memsched::options& limits) {
  f.budget = budget;
  return memsched::fit(net, memsched::automatic, f, limits);
}

/// The points of a front that tell the most: the best one stays, and, while there are more than `most`, the one goes whose
/// peak is nearest to that of the point before.
std::vector<fit_point> thinned(std::vector<fit_point> front, std::size_t most) {
  std::sort(front.begin(), front.end(), [](const fit_point& a, const fit_point& b) { return cost_of(a) > cost_of(b); });
  while (front.size() > most) {
    const auto step = [&](std::size_t i) {
      return static_cast<double>(front[i].peak) / static_cast<double>(std::max<bytes>(front[i - 1].peak, 1));
    };
    std::size_t least = 1;
    for (std::size_t i = 2; i + 1 < front.size(); ++i)
      if (step(i) > step(least)) least = i;
    front.erase(front.begin() + static_cast<std::ptrdiff_t>(least));
  }
  return front;
}

}  // namespace

std::string shell_word(const std::string& word) {
  const bool plain = std::all_of(word.begin(), word.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || std::string_view("._-/:+,@%=").find(static_cast<char>(c)) != std::string_view::npos;
  });
  if (plain && !word.empty()) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string size_word(bytes n) {
  constexpr bytes mebi = 1 << 20, kibi = 1 << 10;
  if (n != 0 && n % mebi == 0) return std::to_string(n / mebi) + 'M';
  return n != 0 && n % kibi == 0 ? std::to_string(n / kibi) + 'K' : std::to_string(n);
}

std::string command_of(const std::string& model, const pick& p) {
  return "memsched rewrite " + shell_word(model) + (p.budget == 0 ? "" : " --budget " + size_word(p.budget));
}

fitted fit_widely(const network& net, fit_options f, const memsched::options& limits, const see_network& see) {
  const memsched::options half = with_share(limits, 2);
  constexpr bytes out_of_reach = 1;  // so that cuts at the peak go on as long as they help
  fitted local = fit_to(net, f, out_of_reach, half);
  if (local.error) return local;
  if (see) see(local);
  fitted even = fit_to(net, f, 0, half);
  if (even.error) return even;
  if (see) see(even);
  fitted& best = cost_of(local.after) <= cost_of(even.after) ? local : even;
  fitted& other = &best == &local ? even : local;
  for (const fit_point& p : other.front) add(best.front, p);
  std::sort(best.front.begin(), best.front.end(),
            [](const fit_point& a, const fit_point& b) { return cost_of(a) < cost_of(b); });
  std::vector<memsched::fit_step> steps = std::move(local.steps);
  for (memsched::fit_step& s : even.steps)
    if (std::none_of(steps.begin(), steps.end(), [&](const memsched::fit_step& t) {
          return t.rule == s.rule && t.site == s.site && t.after == s.after;
        }))
      steps.push_back(std::move(s));
  best.steps = std::move(steps);
  if (best.stopped == memsched::stop_reason::finished) best.stopped = other.stopped;
  return std::move(best);
}

advice advise(const network& net, const fit_options& f, const memsched::options& limits, const see_network& see) {
  memsched::options most = with_share(limits, 3);
  if (most.has_time_limit()) most.time_limit *= 2;
  advice a{fit_widely(net, f, most, see), {}};
  if (a.found.error) return a;
  const bytes given = a.found.before.peak;
  std::vector<fit_point> front = a.found.front;
  std::erase_if(front, [&](const fit_point& p) { return p.peak >= given; });
  std::vector<bytes> budgets;
  if (f.budget != 0 && f.budget < given) budgets.push_back(f.budget);
  for (const fit_point& p : thinned(std::move(front), most_picks - budgets.size()))
    if (std::find(budgets.begin(), budgets.end(), p.peak) == budgets.end()) budgets.push_back(p.peak);
  const memsched::options little = with_share(limits, 3 * std::max<std::size_t>(budgets.size(), 1));
  for (const bytes budget : budgets) {
    if (limits.stop.stop_requested()) break;
    const fitted r = fit_to(net, f, budget, little);
    if (r.error || r.after.peak > budget) continue;
    if (see) see(r);
    for (const fit_point& p : r.front) add(a.found.front, p);
    a.picks.push_back({r.after, budget});
  }
  const bool smallest_is_there =
      std::any_of(a.picks.begin(), a.picks.end(), [&](const pick& p) { return beats(p.cost, a.found.after); });
  if (!smallest_is_there && a.found.after.peak < given) a.picks.push_back({a.found.after, 0});
  // One that another one beats is no choice, but for the one that was asked for.
  const std::vector<pick> all = a.picks;
  std::erase_if(a.picks, [&](const pick& p) {
    if (f.budget != 0 && p.budget == f.budget) return false;
    return std::any_of(all.begin(), all.end(),
                       [&](const pick& q) { return beats(q.cost, p.cost) && (!(q.cost == p.cost) || q.budget > p.budget); });
  });
  std::sort(a.picks.begin(), a.picks.end(), [](const pick& p, const pick& q) { return cost_of(p.cost) > cost_of(q.cost); });
  std::sort(a.found.front.begin(), a.found.front.end(),
            [](const fit_point& p, const fit_point& q) { return cost_of(p) < cost_of(q); });
  return a;
}

void search_cheaper(const network& net, fit_options f, const memsched::options& limits, const see_network& see) {
  constexpr int halvings = 4;
  for (int i = 0; i < halvings && f.max_extra_macs > 0 && !limits.stop.stop_requested(); ++i) {
    f.max_extra_macs /= 2;
    advise(net, f, limits, see);
  }
}

}  // namespace cli
