// A bilinear estimate of the reward of a pair: terms of the context, terms of the action, and all their products.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "pairs/pair_settings.hpp"
#include "util/archive.hpp"

namespace bandit_forest {

// The terms of one side: 0 or 1 for a binary variable, in [-1, 1] for an ordered one; the last is the constant 1.
class SideTerms {
   public:
    explicit SideTerms(std::span<const std::uint16_t> levels);

    std::size_t size() const { return n_terms_; }
    // Term i goes to out[i * stride].
    void of(std::span<const std::uint8_t> codes, double* out, std::size_t stride) const;

   private:
    std::vector<double> values_;        // of the codes of all variables
    std::vector<std::size_t> starts_;   // by variable: where the values of its codes start
    std::size_t n_terms_;               // variables and the constant
};

// By ridge regression, exactly, while the products are few enough for that; then an estimate has a variance too. Beyond,
// by gradient descent with a rate for each product (AdaGrad: Duchi, Hazan and Singer 2011).
class PairLine {
   public:
    explicit PairLine(const PairSettings& settings);

    const SideTerms& context_terms() const { return context_terms_; }
    const SideTerms& action_terms() const { return action_terms_; }

    // Estimates of all offered actions in [0, 1], and their variances in units of the noise. `actions` has a row for each
    // term, with the values of all actions. The context is applied once for all of them.
    void estimate(std::span<const double> context, std::span<const double> actions, std::span<double> means,
                  std::span<double> variances) const;
    // The same of one action, without its variance.
    double mean(std::span<const double> context, std::span<const double> action) const;

    void learn(std::span<const double> context, std::span<const double> action, double reward);

    std::size_t n_bytes() const { return (weights_.capacity() + inverse_.capacity() + rates_.capacity()) * sizeof(double); }

    template <class Archive>
    void archive(Archive& io) {
        io(weights_);
        io(inverse_);
        io(rates_);
        if constexpr (Archive::loading) {
            check();
        }
    }

   private:
    double raw_mean(std::span<const double> context, std::span<const double> action) const;
    void add_variances(std::span<const double> context, std::span<const double> actions, std::span<double> variances) const;
    void learn_exactly(double error);
    void descend(double error);
    void check() const;

    SideTerms context_terms_;
    SideTerms action_terms_;
    bool is_exact_;                  // whether the regression is exact
    std::vector<double> weights_;    // by term of the context and term of the action
    std::vector<double> inverse_;    // of (products' products + ridge), a matrix over the products
    std::vector<double> rates_;      // by product, where it is not exact: sum of the squares of its values
    std::vector<double> products_;   // of the pair that is learned
    std::vector<double> direction_;  // of a learning step, by product
};

}  // namespace bandit_forest
