// A linear estimate of the reward of each action, learned one event at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "linear/terms.hpp"
#include "policy/settings.hpp"
#include "util/archive.hpp"

namespace bandit_forest {

// By ridge regression for each action, exactly, while terms and actions are few enough for that; then an estimate has a
// variance too. Beyond, by gradient descent with a rate for each term (AdaGrad: Duchi, Hazan and Singer 2011).
class Line {
   public:
    explicit Line(const GreedySettings& settings);

    const Terms& terms() const { return terms_; }
    bool is_exact() const { return is_exact_; }
    // The cost of learning an event.
    std::size_t multiplications() const { return is_exact_ ? terms_.size() * terms_.size() : terms_.size(); }

    // Estimates of all actions in [0, 1].
    void estimate_means(const TermValues& context, std::span<double> means) const;
    // That of one action.
    double mean(const TermValues& context, std::size_t action) const;
    // Its variance in units of the noise; 0 where it is not known. It takes far longer than the estimate.
    double variance(const TermValues& context, std::size_t action) const;

    void learn(const TermValues& context, std::size_t action, double reward);

    // The slope of the estimates of an action in each term.
    std::span<const double> weights() const { return weights_; }  // by term and action
    std::size_t n_bytes() const { return (weights_.capacity() + inverses_.capacity() + rates_.capacity()) * sizeof(double); }

    template <class Archive>
    void archive(Archive& io) {
        io(weights_);
        io(inverses_);
        io(rates_);
        if constexpr (Archive::loading) {
            check();
        }
    }

   private:
    double* inverse(std::size_t action) { return inverses_.data() + action * terms_.size() * terms_.size(); }
    const double* inverse(std::size_t action) const { return inverses_.data() + action * terms_.size() * terms_.size(); }
    double raw_mean(const TermValues& context, std::size_t action) const;
    void learn_exactly(const TermValues& context, std::size_t action, double error);
    void descend(const TermValues& context, std::size_t action, double error);
    void check() const;

    std::size_t n_actions_;
    Terms terms_;
    bool is_exact_;                 // whether the regression is exact
    std::vector<double> weights_;   // by term and action
    std::vector<double> inverses_;  // by action: the inverse of (contexts' products + ridge), a matrix over the terms
    std::vector<double> rates_;     // by term and action, where it is not exact: sum of the squares of the term's values
    std::vector<double> direction_;  // of a learning step, by term
};

}  // namespace bandit_forest
