// Rewriting: published and expected figures beside ours. Models on the command line are cut and fitted, too.
// usage: bench_rewrite [MODEL.tflite...]
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include <memsched/formats/tflite/network.hpp>
#include <memsched/network/disagreement.hpp>
#include <memsched/rewrite/check_rewrite.hpp>
#include <memsched/rewrite/fit.hpp>
#include <memsched/rewrite/fold_pads.hpp>
#include <memsched/rewrite/gather.hpp>
#include <memsched/rewrite/kernel_wise.hpp>
#include <memsched/rewrite/split_sums.hpp>
#include <memsched/rewrite/stream_inputs.hpp>
#include <memsched/rewrite/waves.hpp>
#include <memsched/schedule.hpp>
#include <networks/typed.hpp>

using namespace memsched;

namespace {

using clock_type = std::chrono::steady_clock;
constexpr std::chrono::seconds longest(10);  // of one run of the scheduler

struct run_of {
  bytes during = 0, between = 0, bound = 0;
  double seconds = 0;
};

/// The default scheduler on a network; `between` is the largest level between operators of its order.
run_of measure(const network& net, bool in_place = true) {
  options o;
  o.time_limit = longest;
  o.in_place = in_place;
  const auto start = clock_type::now();
  const auto r = schedule(net, automatic, o).value();
  run_of m{r.peak, 0, r.lower_bound, std::chrono::duration<double>(clock_type::now() - start).count()};
  const auto e = evaluate(lower(net).value().problem, r.order, o.model()).value();
  for (const bytes b : e.after) m.between = std::max(m.between, b);
  return m;
}

const char* mark(const run_of& r) { return r.during == r.bound ? "proved" : ""; }

network split_all(network net, sum_form form) {
  for (op_id i = 0; i < net.operations.size(); ++i)
    if (may_split_sum(net, i)) net = split_sum(net, i, form);
  return net;
}

void serenity_table() {
  std::puts(
      "SERENITY's identity rewriting: cell A of SwiftNet and the convolution after it, one byte an element and partial "
      "sum");
  std::puts(
      "(float32, all sizes divided by four). Published: 250.9 kB before, 225.8 kB after. Trial: the same, to the byte.\n");
  std::printf("%-52s %9s %9s %9s\n", "form", "operators", "peak", "expected");
  const network net = networks::swiftnet_cell_a_typed(), parts = gather_all(net);
  struct row {
    const char* form;
    network made;
    bool in_place;
    bytes expected;
  };
  const std::vector<row> rows{
      {"as given", net, false, 250'880},
      {"partial convolutions and one addition (published)", split_all(parts, sum_form::together), false, 225'792},
      {"partial convolutions and binary additions", split_all(parts, sum_form::in_pairs), false, 200'704},
      {"the same, additions in place", split_all(parts, sum_form::in_pairs), true, 175'616},
      {"gather: the convolution reads the parts", parts, false, 175'616},
      {"accumulators, any order", split_all(parts, sum_form::any_order), true, 163'072}};
  for (const row& r : rows) {
    const run_of m = measure(r.made, r.in_place);
    std::printf("%-52s %9zu %9llu %9llu %s%s\n", r.form, r.made.operations.size(),
                static_cast<unsigned long long>(m.during / 4), static_cast<unsigned long long>(r.expected), mark(m),
                check_rewrite(net, r.made).empty() ? "" : ", WRONG");
  }
  // Between operators: under `cbp` nothing that an operator frees counts while it runs.
  const auto between = [](const network& made) {
    options o;
    o.default_firing = firing::cbp;
    o.in_place = false;
    o.time_limit = longest;
    return schedule(made, automatic, o).value();
  };
  network mixed = parts;
  for (op_id i = 0; i < mixed.operations.size(); ++i)
    if (may_split_sum(mixed, i))
      mixed = split_sum(mixed, i, mixed.operations[i].reads[0].parts.size() == 4 ? sum_form::chain : sum_form::together);
  std::printf("\n%-52s %9s %9s %9s\n", "between operators", "operators", "level", "published");
  for (const auto& [form, made, published] :
       {std::tuple<const char*, network, bytes>{"as given", net, 200'700},
        {"partial convolutions and one addition", split_all(parts, sum_form::together), 0},
        {"the same, with chains for the two four-way ones", mixed, 188'200}}) {
    const auto r = between(made);
    std::printf("%-52s %9zu %9llu %9s %s%s\n", form, made.operations.size(), static_cast<unsigned long long>(r.peak / 4),
                published == 0 ? "" : std::to_string(published).c_str(), r.peak == r.lower_bound ? "proved" : "",
                check_rewrite(net, made).empty() ? "" : ", WRONG");
  }
  const network eight = networks::swiftnet_cell_a_typed(element::int8), eight_parts = gather_all(eight);
  std::puts("\nint8 with exact sums of 32 bits, bytes:");
  for (const auto& [form, made] :
       {std::pair<const char*, network>{"one addition", split_all(eight_parts, sum_form::together)},
        {"accumulators, any order", split_all(eight_parts, sum_form::any_order)},
        {"gather", eight_parts}}) {
    const run_of m = measure(made);
    std::printf("%-52s %9zu %9llu %9s %s\n", form, made.operations.size(), static_cast<unsigned long long>(m.during), "",
                mark(m));
  }
}

/// Identity rewriting everywhere, as published, and where `fit` keeps it.
void cells_table() {
  std::puts(
      "\nNetworks of cells: concatenations taken apart everywhere, and by `fit` where the peak falls (whole tensors "
      "only)\n");
  std::printf("%-24s %9s %9s %9s %9s %9s\n", "network", "operators", "given", "one add", "in pairs", "fit");
  for (const char* name : {"nasnet-cifar-typed", "amoebanet-cifar-typed"})
    for (const auto& n : networks::typed_networks()) {
      if (std::string(name) != n.name) continue;
      const network net = n.make();
      network parts = net;
      for (op_id i = 0; i < parts.operations.size();)
        if (may_split_readers(parts, uses(parts), i)) parts = split_readers(std::move(parts), i);
        else if (may_gather(parts, uses(parts), i)) parts = gather(std::move(parts), i);
        else ++i;
      const auto everywhere = [&](sum_form form) {
        network made = parts;
        for (op_id i = 0; i < made.operations.size(); ++i)
          if (made.operations[i].does.what == op_kind::convolution && may_split_sum(made, i))
            made = split_sum(made, i, form);
        return measure(made);
      };
      options o;
      o.time_limit = std::chrono::seconds(40);
      const run_of given = measure(net), one = everywhere(sum_form::together), pairs = everywhere(sum_form::in_pairs);
      const fitted found = fit(net, automatic, {.exact = exactness::reals, .most_blocks = 1}, o);
      std::printf("%-24s %9zu %9llu %9llu %9llu %9llu %s\n", n.name, net.operations.size(),
                  static_cast<unsigned long long>(given.during), static_cast<unsigned long long>(one.during),
                  static_cast<unsigned long long>(pairs.during), static_cast<unsigned long long>(found.after.peak),
                  found.after.peak == found.after.lower_bound ? "proved" : "");
      std::fflush(stdout);
    }
}

constexpr coordinate single = 100'000, pairs = -2;

struct chain_row {
  coordinate blocks;
  bytes expected;  // 0 for none
};

void chain_table(const network& net, const char* published, const std::vector<chain_row>& rows) {
  std::printf("\n%s: %zu layers, %llu multiply-accumulates, input streamed\nmsf-CNN (Huang and Baccelli) states %s\n\n",
              net.name.c_str(), net.operations.size(), static_cast<unsigned long long>(macs(net)), published);
  std::printf("%-14s %9s %9s %9s %9s %7s %8s\n", "row blocks", "operators", "peak", "bound", "expected", "macs", "seconds");
  for (const chain_row& r : rows) {
    std::vector<cut_points> cuts = row_cuts(net, r.blocks == pairs ? single : r.blocks);
    for (cut_points& c : cuts)
      if (r.blocks == pairs) std::erase_if(c.rows, [](coordinate row) { return row % 2 != 0; });
    const network parts = stream_inputs(cut(net, cuts).value());
    const run_of m = measure(parts);
    std::printf("%-14s %9zu %9llu %9llu %9s %+6.1f%% %8.2f %s%s\n",
                r.blocks == single  ? "single rows"
                : r.blocks == pairs ? "pairs of rows"
                                    : std::to_string(r.blocks).c_str(),
                parts.operations.size(), static_cast<unsigned long long>(m.during), static_cast<unsigned long long>(m.bound),
                r.expected == 0 ? "" : std::to_string(r.expected).c_str(),
                100 * (static_cast<double>(macs(parts)) / static_cast<double>(macs(net)) - 1), m.seconds, mark(m),
                check_rewrite(net, parts).empty() ? "" : ", WRONG");
    std::fflush(stdout);
  }
}

/// The least peak that standard operators reach, for more and more multiply-accumulates; expected ones where there are some.
void whole_table(const network& net, const std::vector<bytes>& expected) {
  std::printf("%-14s %9s %11s %11s %11s %9s %8s\n", "whole, at most", "operators", "peak", "bound", "expected", "macs",
              "seconds");
  std::size_t row = 0;
  for (const unsigned percent : {1U, 5U, 10U, 40U}) {
    options o;
    o.time_limit = std::chrono::seconds(40);
    const auto start = clock_type::now();
    const fit_options f{.max_extra_macs = macs(net) * percent / 100, .profile = runtime::whole};
    const fitted r = fit(net, automatic, f, o);
    if (r.error) return std::puts(r.error->message.c_str()), void();
    std::printf("%13u%% %9zu %11llu %11llu %11s %+8.1f%% %8.2f%s\n", percent, r.after.operators,
                static_cast<unsigned long long>(r.after.peak), static_cast<unsigned long long>(r.after.lower_bound),
                row < expected.size() ? std::to_string(expected[row]).c_str() : "",
                100 * (static_cast<double>(r.after.macs) / static_cast<double>(r.before.macs) - 1),
                std::chrono::duration<double>(clock_type::now() - start).count(),
                !check_rewrite(net, r.net).empty() || !disagreement(net, r.net).empty() ? ", WRONG" : "");
    std::fflush(stdout);
    ++row;
  }
}

void budget_table(const network& net, bool streamed, const std::vector<bytes>& budgets) {
  std::printf("\n%s within a budget: operators of the network found (%zu given)\n\n%10s %10s %10s %9s %8s\n",
              net.name.c_str(), net.operations.size(), "budget", "peak", "operators", "macs", "seconds");
  for (const bytes budget : budgets) {
    options o;
    o.time_limit = std::chrono::seconds(40);
    const auto start = clock_type::now();
    const fitted r = fit(net, automatic, {.budget = budget, .streamed_input = streamed}, o);
    if (r.error) return std::puts(r.error->message.c_str()), void();
    std::printf("%10llu %10llu %10zu %+8.1f%% %8.2f %s\n", static_cast<unsigned long long>(budget),
                static_cast<unsigned long long>(r.after.peak), r.after.operators,
                100 * (static_cast<double>(r.after.macs) / static_cast<double>(r.before.macs) - 1),
                std::chrono::duration<double>(clock_type::now() - start).count(),
                !check_rewrite(net, r.net).empty() || !disagreement(net, r.net).empty() ? "WRONG"
                : r.after.peak <= budget                                                ? ""
                                                                                        : "missed");
    std::fflush(stdout);
  }
}

/// Expected figures of models of the @mediapipe packages (float32).
struct real_row {
  const char* name;
  bytes now, identity, blocks_16;
  bool proved_16;
  bytes single_rows;
  std::vector<bytes> whole{};  ///< at most +1, +5, +10 % multiply-accumulates, standard operators
};
const real_row real_rows[] = {
    {"face_detection_short_range", 1'310'720, 1'245'184, 339'968, true, 236'032, {933'888, 661'504, 516'096}},
    {"face_landmark", 1'769'472, 1'769'472, 589'824, true, 474'624},
    {"hand_landmark_lite", 4'214'784, 4'214'784, 1'311'744, true, 829'696, {2'408'448, 1'505'280, 1'505'280}},
    {"hand_landmark_full", 4'014'080, 4'014'080, 1'261'568, true, 1'137'920},
    {"palm_detection_full", 3'538'944, 3'538'944, 1'253'376, true, 853'248},
    {"face_detection_full_range", 2'654'208, 2'654'208, 884'736, true, 761'856},
    {"pose_landmark_lite", 6'816'996, 6'816'996, 1'967'332, true, 1'660'416},
    {"pose_detection", 6'538'240, 4'014'080, 1'098'496, true, 1'222'144, {2'257'920, 1'748'992, 1'630'720}},
    {"pose_landmark_heavy", 13'305'344, 8'388'608, 4'199'424, false, 3'753'472},
    {"selfie_segmentation", 3'145'792, 3'145'792, 2'162'752, true, 2'105'408},
};

void real_model(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  const auto net = read_tflite_network(std::string(std::istreambuf_iterator<char>(in), {}));
  if (!net) return std::printf("%s: %s\n", path.c_str(), net.error().message.c_str()), void();
  std::string name = path.substr(path.rfind('/') + 1);
  name = name.substr(0, name.rfind('.'));
  const real_row* known = nullptr;
  for (const real_row& r : real_rows)
    if (name == r.name) known = &r;
  std::printf("\n%s: %zu operators, %llu multiply-accumulates\n", name.c_str(), net->operations.size(),
              static_cast<unsigned long long>(macs(*net)));
  const network identity = gather_all(fold_pads(*net));
  const auto rows = [&](coordinate n) {
    return split_reductions(cut(identity, row_cuts(identity, n)).value(), sum_form::chain);
  };
  const auto line = [&](const char* what, const network& made, bytes expected, bool runs) {
    const run_of m = measure(made);
    std::printf("%-14s %9zu %11llu %11llu %11s %8.2f %s%s%s\n", what, made.operations.size(),
                static_cast<unsigned long long>(m.during), static_cast<unsigned long long>(m.bound),
                expected == 0 ? "" : std::to_string(expected).c_str(), m.seconds, mark(m),
                check_rewrite(*net, made).empty() ? "" : ", WRONG",
                !runs || disagreement(*net, made).empty() ? "" : ", DIFFERS");
    std::fflush(stdout);
  };
  std::printf("%-14s %9s %11s %11s %11s %8s\n", "", "operators", "peak", "bound", "expected", "seconds");
  line("as given", *net, known != nullptr ? known->now : 0, false);
  line("pads, concats", identity, known != nullptr ? known->identity : 0, true);
  line("16 blocks", rows(16), known != nullptr ? known->blocks_16 : 0, true);
  const network single_rows = rows(100'000);
  line("single rows", single_rows, known != nullptr ? known->single_rows : 0, true);
  // From an order in waves, as `fit` starts: the orders tried take no more than some seconds.
  const auto low = lower(single_rows).value();
  wave_delays delays;
  const auto start = clock_type::now();
  const wave_order waves = order_in_waves(single_rows, low.problem, {}, delays, 5'000);
  std::printf("%-14s %9zu %11llu %11s %11s %8.2f\n", "  in waves", single_rows.operations.size(),
              static_cast<unsigned long long>(waves.peak), "", "",
              std::chrono::duration<double>(clock_type::now() - start).count());
  line("  from these", reordered(single_rows, waves.order), known != nullptr ? known->single_rows : 0, true);
  whole_table(*net, known != nullptr ? known->whole : std::vector<bytes>{});
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) {
    for (int i = 1; i < argc; ++i) real_model(argv[i]);
    return 0;
  }
  serenity_table();
  cells_table();
  chain_table(networks::mobilenet_v2_chain(), "67,905 bytes at +9.7 %, 21,288 at +29.8 %, 15,340 at +38.2 %",
              {{1, 194'400}, {4, 100'440}, {8, 63'720}, {18, 36'720}, {pairs, 27'216}, {single, 18'792}});
  chain_table(networks::mcunet_v2_chain(), "13,376 bytes at +34.5 %, 12,000 at +95.7 %",
              {{1, 96'000}, {4, 49'600}, {8, 31'520}, {18, 18'240}, {pairs, 20'480}, {single, 13'440}});
  budget_table(networks::mobilenet_v2_chain(), true, {131'072, 65'536, 32'768, 24'576});
  budget_table(networks::mcunet_v2_chain(), true, {65'536, 32'768, 16'384});
  std::puts("\nStandard operators only (slices and concatenations copy), input there from the start: mobilenet, mcunet\n");
  whole_table(networks::mobilenet_v2_chain(), {});
  whole_table(networks::mcunet_v2_chain(), {});
}
