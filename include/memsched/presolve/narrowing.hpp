// Presolve under a cutoff: alternates probing, shaving, placing and compression, assuming a peak of at most B.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <memsched/bounds/placing.hpp>
#include <memsched/bounds/probing.hpp>
#include <memsched/bounds/shaving.hpp>
#include <memsched/presolve/compression.hpp>
#include <memsched/search/search.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace presolve {

/// Derives, for a peak B, a smaller graph that has an order with a peak of at most B if the given one has, or that there
/// is none. Probes, adds the edges and compresses, as often as that helps; if it does not, shaves and
/// places (see `prober`, `shaver`, `placer`). A value that shares its graphs with its copies. The given graph and the context
/// must outlive it.
class narrowing {
 public:
  using outcome = prober::outcome;

  narrowing(const schedule_graph& g, search& context) : given_(&g), context_(&context), probing_(g) {}

  /// Goes on until nothing more is found; `patience` is the shaver's, 0 for none. Tells `go_on` of each cut; if that
  /// returned false, or for more patience, another call goes on. Later calls must not raise b.
  outcome run(bytes b, unsigned patience, cut_counter go_on) {
    lower_to(b);
    const auto over = [&] { return context_->control().over(); };
    const helpers who{context_->control().team(), over};
    for (;;) {
      auto result = probing_.run(bound_, go_on, who);
      if (result == outcome::open && probing_.edges().empty() && patience > 0 && graph().size() <= max_shaved) {
        if (!shaving_) shaving_.emplace();
        result = shaving_->run(probing_, patience, go_on, who);
      }
      if (result == outcome::open && probing_.edges().empty()) {
        if (!placing_) placing_.emplace(probing_);
        result = placing_->run(probing_, go_on, who);
        next_ = std::min(next_, placing_->next());
      }
      if (result != outcome::open || probing_.edges().empty()) return result;
      compress_edges();
    }
  }

  /// After a refutation: no peak from b to below this is reached either. Bytes.
  bytes next() const { return std::min(next_, probing_.next()); }
  const schedule_graph& graph() const { return forms_.empty() ? *given_ : forms_.back()->graph; }
  /// The given graph's order from one of `graph()`.
  std::vector<node_id> expand(std::vector<node_id> order) const {
    for (std::size_t i = forms_.size(); i-- > 0;) order = forms_[i]->expand(order);
    return order;
  }
  /// Memory of probing, shaving and placing.
  std::uint64_t bytes_held() const {
    return probing_.bytes_held() + (shaving_ ? shaving_->bytes_held() : 0) + (placing_ ? placing_->bytes_held() : 0);
  }

 private:
  static constexpr std::size_t max_shaved = 2048;  // nodes, releases included: shaving weighs all pairs of them

  void lower_to(bytes b) {
    if (b == bound_) return;
    if (bound_ != unasked) next_ = std::min(next_, bound_ + 1);  // facts hold up to the old peak
    bound_ = b;
    shaving_.reset();
    placing_.reset();
  }
  void compress_edges() {
    next_ = next();
    forms_.push_back(std::make_shared<const compressed_graph>(compressed(with_edges(graph(), probing_.edges()), *context_)));
    probing_ = prober(graph());
    shaving_.reset();
    placing_.reset();
  }

  static constexpr bytes unasked = std::numeric_limits<bytes>::max();
  const schedule_graph* given_;
  search* context_;
  bytes bound_ = unasked, next_ = std::numeric_limits<bytes>::max();
  std::vector<std::shared_ptr<const compressed_graph>> forms_;  // each of the one before, the first of the given graph
  prober probing_;                                              // of the last
  std::optional<shaver> shaving_;
  std::optional<placer> placing_;
};

}  // namespace presolve

}  // namespace MEMSCHED_ABI
}  // namespace memsched
