// Less memory than any order of a network: the network is cut into row blocks, and computes the same.
#include <iostream>

#include <memsched/network/builder.hpp>
#include <memsched/network/disagreement.hpp>
#include <memsched/rewrite/check_rewrite.hpp>
#include <memsched/rewrite/fit.hpp>
#include <memsched/schedule.hpp>

int main() {
  using memsched::activation;
  memsched::network_builder b("camera", memsched::element::int8, {0.05F, 0});
  auto x = b.input({96, 96, 3});
  x = b.convolution(x, {.channels = 16, .kernel = 3, .stride = 2, .act = activation::relu6});
  for (int block = 0; block < 3; ++block) {  // expand, filter, project, add
    auto y = b.convolution(x, {.channels = 64, .act = activation::relu6});
    y = b.depthwise(y, {.kernel = 3, .act = activation::relu6});
    x = b.add(x, b.convolution(y, {.channels = 16}));
  }
  b.output(b.dense(b.mean(x), 10));
  const memsched::network net = b.build().value();

  const auto best = memsched::schedule(net).value();
  std::cout << "best order of the network: " << best.peak << " bytes, no order takes less than " << best.lower_bound << '\n';

  memsched::options limits;
  limits.state_limit = 20'000;  // for each network that is tried
  const auto fitted = memsched::fit(net, memsched::automatic, {.budget = 98'304}, limits);
  if (fitted.error) return std::cerr << fitted.error->message << '\n', 1;
  std::cout << "rewritten: " << fitted.after.peak << " bytes with " << fitted.after.operators << " operators instead of "
            << fitted.before.operators << ", " << fitted.after.macs - fitted.before.macs << " more multiply-accumulates\n";

  // Two proofs that share no code with the rules: where each value comes from, and runs with random numbers.
  const std::string fault = memsched::check_rewrite(net, fitted.net), difference = memsched::disagreement(net, fitted.net);
  std::cout << "by provenance: " << (fault.empty() ? "the same" : fault) << '\n';
  std::cout << "over a finite field and in integers: " << (difference.empty() ? "the same" : difference) << '\n';
}
