// Arenas: the networks of the papers, planner by planner; order and offsets together; off-chip traffic; a million buffers;
// and the instances of minimalloc, where their folder is given:
//   bench_arena [FOLDER of A.1048576.csv to K.1048576.csv [SECONDS for each minimum]]
// Times are of the processor, on this machine: others at work on it make little difference.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <memsched/formats/arena_proof.hpp>
#include <memsched/formats/buffers_csv.hpp>
#include <memsched/memsched.hpp>
#include <networks/networks.hpp>
#include <sstream>
#include <string>
#include <vector>

namespace {

using namespace memsched;
unsigned long long number(bytes b) { return b; }
/// Processor time of all threads, in seconds.
double now() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }
double ratio(bytes a, bytes b) { return static_cast<double>(a) / static_cast<double>(std::max<bytes>(b, 1)); }

/// The buffers of an order as TensorFlow Lite's first arena had them: aligned to 64, in place as lifetimes that touch.
std::vector<buffer> touching(const problem& p, std::span<const op_id> order, memory_model model) {
  auto merged = buffers_of(p, order, model).value();
  auto held = buffers_of(p, order, {model.default_firing, false}).value();
  for (op_id op : order)
    for (const problem::storage_reuse& r : p.reuses(op)) {
      if (!model.in_place || r.spared == 0) continue;
      const index_t a = held.of_tensor[r.input], b = held.of_tensor[r.output];
      if (merged.of_tensor[r.input] == merged.of_tensor[r.output]) held.buffers[a].upper = held.buffers[b].lower;
    }
  for (buffer& b : held.buffers) b.alignment = 64;
  return held.buffers;
}

/// The bytes of TensorFlow Lite's first arena, which both papers use, for an order: placed by birth, and 128 bytes more.
bytes lite_arena(const problem& p, std::span<const op_id> order, memory_model model) {
  return plan_offsets(touching(p, order, model), by_birth{}).size + 128;
}

struct totals {
  int orders = 0, perfect = 0, size = 0, birth = 0, valley = 0;
  double slowest = 0, worst_size = 1, worst_birth = 1, worst_valley = 1, mean_birth = 0;
};

/// Proofs that arenas are the smallest.
struct proof_totals {
  int claims = 0, complete = 0;
  std::size_t longest = 0, bytes = 0;  ///< of one: steps or refutations; of its JSON
  double wrote = 0, checked = 0;       ///< seconds for all

  /// `write` gives a proof, if there is one; `check` says what is wrong with it; `about` its length and its JSON.
  template <class Write, class Check, class About>
  void take(Write write, Check check, About about) {
    ++claims;
    double start = now();
    const auto proof = write();
    wrote += now() - start;
    if (!proof) return;
    start = now();
    const bool accepted = check(*proof).empty();
    checked += now() - start;
    complete += accepted ? 1 : 0;
    const auto [length, json] = about(*proof);
    longest = std::max(longest, length), bytes = std::max(bytes, json.dump().size());
  }
  void take_packing(std::span<const buffer> buffers, const arena_plan& plan) {
    if (plan.verdict() != verdict::optimal) return;
    search context({.time_limit = std::chrono::seconds(10)});
    take([&] { return certify_packing(buffers, plan.size, context); },
         [&](const packing_proof& p) { return check_packing(buffers, p); },
         [](const packing_proof& p) { return std::pair(p.steps.size(), write_packing_proof(p)); });
  }
  void print(const char* what) const {
    std::printf(
        "proofs, %s: %d of %d claims of a smallest arena; at most %zu steps, %zu bytes; all: %.3f s to write, %.3f to "
        "check\n",
        what, complete, claims, longest, bytes, wrote, checked);
  }
};

void plan_order(const std::string& name, const char* what, const problem& p, std::span<const op_id> order, const options& o,
                totals& sum, proof_totals& proofs) {
  const auto start = now();
  const auto held = buffers_of(p, order, o.model()).value();
  const auto best = plan_offsets(held.buffers, minimize{}, {.time_limit = std::chrono::seconds(10)});
  const double took = now() - start;
  proofs.take_packing(held.buffers, best);
  const bytes peak = evaluate(p, order, o.model())->peak;
  const double size = ratio(plan_offsets(held.buffers, by_size{}).size, peak);
  const double birth = ratio(plan_offsets(held.buffers, by_birth{}).size, peak);
  const double valley = ratio(plan_offsets(held.buffers, valley_fit{}).size, peak);
  const bytes lite = lite_arena(p, order, o.model());
  std::printf("%-18s %-7s %-3s %5zu %9llu %9llu %-8s %7.2f %7llu | %6.3f %6.3f %6.3f %10llu\n", name.c_str(), what,
              o.in_place ? "yes" : "no", held.buffers.size(), number(peak), number(best.size), to_string(best.verdict()),
              took * 1e3, number(best.stats.states), size, birth, valley, number(lite));
  ++sum.orders;
  sum.perfect += best.size == peak ? 1 : 0;
  sum.size += size == 1 ? 1 : 0, sum.birth += birth == 1 ? 1 : 0, sum.valley += valley == 1 ? 1 : 0;
  sum.slowest = std::max(sum.slowest, took);
  sum.worst_size = std::max(sum.worst_size, size), sum.worst_birth = std::max(sum.worst_birth, birth);
  sum.worst_valley = std::max(sum.worst_valley, valley), sum.mean_birth += birth;
}

void networks_table() {
  std::printf(
      "Orders of networks. Ratios of planners to the peak; lite: by birth at 64 bytes, in place as touching lifetimes, + "
      "128.\n"
      "%-18s %-7s %-3s %5s %9s %9s %-8s %7s %7s | %6s %6s %6s %10s\n",
      "", "order", "in", "bufs", "peak", "arena", "", "ms", "nodes", "size", "birth", "valley", "lite");
  totals best, rpo_totals;
  proof_totals of_orders, of_joint;
  double slowest_joint = 0;
  int joint_optimal = 0, joint_all = 0;
  for (const auto& about : networks::all()) {
    if (!about.optimum && !about.name.starts_with("randwire")) continue;
    const problem p = make_problem(networks::make(about.name).value()).value();
    for (const bool in_place : {true, false}) {
      options o;
      o.in_place = in_place;
      plan_order(about.name, "optimal", p, schedule(p, automatic, o).order, o, best, of_orders);
      plan_order(about.name, "rpo", p, schedule(p, rpo{}, o).order, o, rpo_totals, of_orders);
      const auto start = now();
      (void)schedule(p, automatic, o);
      const double alone = now() - start;
      const auto again = now();
      const auto joint = plan_order_and_offsets(p, automatic, minimize{}, o);
      slowest_joint = std::max(slowest_joint, now() - again - alone);
      joint_optimal += joint.plan.verdict() == verdict::optimal ? 1 : 0;
      ++joint_all;
      if (joint.plan.verdict() != verdict::optimal) continue;
      options limited = o;
      limited.time_limit = std::chrono::seconds(10);
      of_joint.take([&] { return certify_joint(p, joint.order, joint.plan.size, automatic, minimize{}, limited); },
                    [&](const joint_proof& j) { return check_joint(p, j, o.model()); },
                    [](const joint_proof& j) { return std::pair(j.refutations.size(), write_joint_proof(j)); });
    }
  }
  const auto line = [](const char* what, const totals& t) {
    std::printf(
        "%s: %d orders, %d perfect, slowest %.1f ms; perfect by size %d (worst %.3f), by birth %d (worst %.3f, mean %.3f), "
        "valley fit %d (worst %.3f)\n",
        what, t.orders, t.perfect, t.slowest * 1e3, t.size, t.worst_size, t.birth, t.worst_birth,
        t.mean_birth / std::max(t.orders, 1), t.valley, t.worst_valley);
  };
  line("optimal", best);
  line("rpo", rpo_totals);
  std::printf("order and offsets together: %d of %d proven jointly optimal; at most %.1f ms beside the order\n",
              joint_optimal, joint_all, slowest_joint * 1e3);
  of_orders.print("orders");
  of_joint.print("joint");
}

/// HMCOS's Table 1, column "arena size", and SERENITY's Figure 12.
void papers_table() {
  const auto mib = [](bytes b) { return static_cast<double>(b) / (1 << 20); };
  struct row {
    const char* name;
    double rpo, serenity, hmcos;  ///< published, MiB
  };
  const row rows[] = {{"nasnet-cifar", 2.50, 2.50, 2.06},       {"amoebanet-cifar", 1.85, 1.67, 1.27},
                      {"darts-cifar", 2.71, 1.95, 1.62},        {"nasnet-imagenet", 5.45, 4.79, 4.93},
                      {"amoebanet-imagenet", 5.30, 4.67, 4.88}, {"darts-imagenet", 5.29, 4.91, 4.53}};
  std::printf(
      "\nHMCOS, Table 1, arena size, MiB: orders by rpo, SERENITY and HMCOS in TensorFlow Lite's first arena. Published |\n"
      "ours, by the schedulers of these names | the joint plan, and its bound over all orders. Their figure for NASNet-A "
      "on\n"
      "CIFAR-10 by rpo is that of our order with nothing in place; other orders of equal peak give other arenas.\n"
      "%-20s %7s %8s %7s | %7s %8s %7s | %7s %7s\n",
      "", "rpo", "serenity", "hmcos", "rpo", "serenity", "hmcos", "joint", "bound");
  for (const row& r : rows) {
    const problem p = make_problem(networks::make(r.name).value()).value();
    const options seconds{.time_limit = std::chrono::seconds(5)};
    const auto lite = [&](const auto& s) { return mib(lite_arena(p, schedule(p, s, seconds).order, {})); };
    const auto joint = plan_jointly(p, automatic, minimize{});
    std::printf("%-20s %7.2f %8.2f %7.2f | %7.2f %8.2f %7.2f | %7.2f %7.2f %s\n", r.name, r.rpo, r.serenity, r.hmcos,
                lite(rpo{}), lite(serenity{}), lite(hmcos), mib(joint.arena.size), mib(joint.arena.lower_bound),
                to_string(joint.arena.verdict()));
  }

  const problem cell = make_problem(networks::make("swiftnet-cell-a").value()).value();
  options apart, between;
  apart.in_place = between.in_place = false;
  between.default_firing = firing::cbp;  // what lives between operators is what lives while they run without their inputs
  const auto kb = [](bytes b) { return static_cast<double>(b) / 1000; };
  const auto lite = [&](std::span<const op_id> order) { return kb(lite_arena(cell, order, apart.model())); };
  std::printf(
      "\nSERENITY, Figure 12, SwiftNet cell A, KB of 1,000 bytes         published     ours\n"
      "(a) with the allocator: TensorFlow Lite (ours: rpo)                551.0 %8.1f  their graph is not published whole\n"
      "(a) with the allocator: SERENITY (ours: joint plan)                250.9 %8.1f\n"
      "    an order of the smallest peak in TensorFlow Lite's first arena     - %8.1f\n"
      "(b) without: what lives between operators, at least                200.7 %8.1f\n",
      lite(schedule(cell, rpo{}, apart).order), kb(plan_jointly(cell, automatic, minimize{}, apart).arena.size),
      lite(schedule(cell, automatic, apart).order), kb(schedule(cell, automatic, between).peak));
}

/// SERENITY's Figure 11: how much less moves off chips of several sizes.
void figure_11() {
  std::printf(
      "\nSERENITY, Figure 11: off-chip traffic by Belady's rule, a drawing of ratios of TensorFlow Lite's order to theirs;\n"
      "the text gives 1.76 on average at 256 KB, and that some networks move nothing then. Ours: `paged` traffic, the\n"
      "file's order over that of the smallest peak; none: the order of the smallest peak moves nothing; -: neither does.\n"
      "%-22s",
      "");
  const bytes sizes[] = {32_KiB, 64_KiB, 128_KiB, 192_KiB, 256_KiB};
  for (const bytes c : sizes) std::printf(" %5llu KiB", number(c >> 10));
  std::printf("\n");
  const char* names[] = {"swiftnet-cell-a", "swiftnet-cell-b", "swiftnet-cell-c", "swiftnet", "darts-imagenet", "randwire"};
  for (const char* name : names) {
    const problem p = make_problem(networks::make(name).value()).value();
    const auto given = schedule(p, as_given{}).order;
    const auto best = schedule(p, options{.time_limit = std::chrono::seconds(5)}).order;
    std::printf("%-22s", name);
    for (const bytes c : sizes) {
      const bytes before = count_traffic(p, given, c)->total(), after = count_traffic(p, best, c)->total();
      if (after == 0) std::printf(" %9s", before == 0 ? "-" : "none");
      else std::printf(" %9.2f", ratio(before, after));
    }
    std::printf("\n");
  }
}

void traffic_table() {
  struct row {
    const char* name;
    bytes known[3][2];  ///< capacity by order: the file's, rpo; of least peak there are several
  };
  const row rows[] = {{"swiftnet-cell-a", {{1723904, 1711104}, {1117184, 877568}, {178176, 178176}}},
                      {"swiftnet-cells-abc", {{2391296, 2297280}, {1439616, 1136640}, {205824, 253440}}},
                      {"swiftnet", {{3414016, 3303360}, {1918848, 1685504}, {333824, 331264}}}};
  std::printf(
      "\nTraffic, paged, bytes; * meets its bound. Known: an earlier count by the same definition. Search: 2,000 tries from "
      "rpo.\n"
      "%-20s %7s %-8s %9s %9s %9s %9s %9s\n",
      "", "KiB", "order", "traffic", "known", "bound", "search", "bound");
  for (const row& r : rows) {
    const problem p = make_problem(networks::make(r.name).value()).value();
    const std::vector<op_id> orders[] = {schedule(p, as_given{}).order, schedule(p, rpo{}).order, schedule(p).order};
    for (std::size_t c = 0; c < 3; ++c)
      for (std::size_t k = 0; k < 3; ++k) {
        const bytes capacity = 64_KiB << c;
        const auto count = count_traffic(p, orders[k], capacity).value();
        const char* names[] = {"file", "rpo", "optimal"};
        const std::string known =
            k == 2 ? "-" : std::to_string(r.known[c][k]) + (count.total() == r.known[c][k] ? ' ' : '!');
        std::printf("%-20s %7llu %-8s %9llu%c %9s %9llu", r.name, number(capacity >> 10), names[k], number(count.total()),
                    count.total() == count.lower_bound ? '*' : ' ', known.c_str(), number(count.lower_bound));
        if (k == 2) std::printf(" %19s all orders: %llu", "", number(traffic_bound(p, capacity, automatic)));
        if (k == 1) {
          const options o;
          search context(o);
          const auto better = reduce_traffic(p, orders[k], capacity, traffic_model::paged, {}, context);
          const auto less = count_traffic(p, better, capacity).value();
          std::printf(" %9llu %9llu", number(less.total()), number(less.lower_bound));
        }
        std::printf("\n");
      }
  }
}

void spills_table() {
  std::printf(
      "\nTraffic, resident, bytes: whole tensors leave a chip with a part of the peak of the file's order. Belady's rule, the plan "
      "of spills, its bound.\n"
      "%-20s %5s %12s %12s %12s %8s %8s\n",
      "", "peak", "Belady", "spills", "bound", "above", "seconds");
  for (const char* name : {"swiftnet", "hrnet-w18-small-v2", "randwire-stack", "watts_strogatz:300", "layered:63:8",
                           "windowed:1000:30:1", "windowed:5000:100:1"}) {
    const problem p = make_problem(networks::make(name).value()).value();
    const auto given = schedule(p, as_given{});
    for (const bytes percent : {bytes{90}, bytes{70}, bytes{50}}) {
      const bytes capacity = given.peak * percent / 100;
      const auto belady = count_traffic(p, given.order, capacity, traffic_model::resident);
      if (!belady) continue;  // an operator does not fit
      const double start = now();
      const spill_plan plan = plan_spills(p, given.order, capacity).value();
      std::printf("%-20s %3llu %% %12llu %12llu %12llu %7.2f%% %8.2f\n", name, number(percent), number(belady->total()),
                  number(plan.count.total()), number(plan.count.lower_bound),
                  100 * (ratio(plan.count.total(), plan.count.lower_bound) - 1), now() - start);
    }
  }
}

void many_buffers() {
  std::printf(
      "\nMinimize on 1,000,000 buffers: 90%% live 1 to 20 steps, 9%% 20 to 500, 1%% 500 to the longest; sizes 1 to "
      "1,000.\n"
      "%10s %12s %12s %8s %8s\n",
      "longest", "load", "arena", "above", "seconds");
  for (const std::uint64_t longest : {500u, 5000u, 50000u}) {
    base::random_source r(longest);
    std::vector<buffer> buffers;
    for (int i = 0; i < 1'000'000; ++i) {
      const auto kind = r.below(100);
      const std::uint64_t life = kind < 90 ? 1 + r.below(20) : kind < 99 ? 20 + r.below(481) : 500 + r.below(longest - 499);
      const auto at = static_cast<std::int64_t>(r.below(500'000));
      buffers.push_back({.lower = at, .upper = at + static_cast<std::int64_t>(life), .size = 1 + r.below(1000)});
    }
    const auto start = now();
    const auto plan = plan_offsets(buffers);
    std::printf("%10llu %12llu %12llu %7.2f%% %8.1f\n", number(longest), number(plan.lower_bound), number(plan.size),
                100 * (ratio(plan.size, plan.lower_bound) - 1), now() - start);
  }
}

void minimalloc(const std::string& folder, double limit) {
  // Seconds that minimalloc needs, built -O3, on a two-core machine that was not this one.
  constexpr double known[] = {3.53, 2.44, 0.50, 1.78, 2.58, 4.00, 0.85, 1.22, 2.48, 0.65, 0.47};
  std::printf(
      "\nminimalloc's instances. Fit: into 1,048,576, beside minimalloc's seconds on another machine. Minimum: %.0f s at "
      "most.\n"
      "%-2s %5s %9s | %9s %8s %8s %10s | %9s %9s %6s %8s\n",
      limit, "", "bufs", "load", "arena", "nodes", "seconds", "minimalloc", "arena", "bound", "above", "seconds");
  proof_totals proofs;
  for (char name = 'A'; name <= 'K'; ++name) {
    std::ifstream in(folder + '/' + name + ".1048576.csv");
    std::ostringstream text;
    text << in.rdbuf();
    const auto table = read_buffers_csv(text.str());
    if (!in || !table) {
      std::printf("%c  %s\n", name, table ? "cannot be read" : table.error().message.c_str());
      continue;
    }
    auto start = now();
    const auto fit =
        plan_offsets(table->buffers, exact_fit{}, {.budget = 1'048'576, .time_limit = std::chrono::seconds(60)});
    const double fit_took = now() - start;
    start = now();
    const auto least =
        plan_offsets(table->buffers, minimize{}, {.time_limit = std::chrono::milliseconds(static_cast<long>(limit * 1e3))});
    std::printf("%c  %5zu %9llu | %9llu %8llu %8.3f %10.2f | %9llu %9llu %5.2f%% %8.2f\n", name, table->buffers.size(),
                number(load_of(table->buffers)), number(fit.size), number(fit.stats.states), fit_took, known[name - 'A'],
                number(least.size), number(least.lower_bound), 100 * (ratio(least.size, least.lower_bound) - 1),
                now() - start);
    std::fflush(stdout);
    proofs.take_packing(table->buffers, least);
  }
  proofs.print("minimalloc's instances");
}

}  // namespace

int main(int argc, char** argv) {
  networks_table();
  papers_table();
  figure_11();
  traffic_table();
  spills_table();
  many_buffers();
  if (argc > 1) minimalloc(argv[1], argc > 2 ? std::atof(argv[2]) : 3);
  else std::printf("\nNo folder given: minimalloc's instances are left out.\n");
}
