// NeuralBandit (Allesiardo, Féraud and Bouneffouf 2014): a committee of perceptrons that predict the reward of each action,
// and Exp3 over its members.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "util/archive.hpp"
#include "util/bits.hpp"
#include "policy/contexts.hpp"
#include "baselines/inputs.hpp"
#include "util/memory.hpp"

namespace bandit_forest {

// Perceptrons with one hidden layer, one for each action and member of a committee, computed side by side. The hidden units
// are rectified, the output is a logistic function, the loss is the cross-entropy of the reward. Inputs are zeros and ones,
// so only the weights of set inputs are read and changed.
class Perceptrons {
   public:
    struct Members {
        std::span<const std::uint64_t> sizes;   // hidden units of each member
        std::span<const float> learning_rates;  // of each member
    };

    Perceptrons() = default;  // to be loaded
    Perceptrons(std::size_t n_variables, std::size_t n_actions, const Members& members, std::span<const float> weights,
                std::span<const float> output_weights);

    std::size_t n_members() const { return sizes_.size(); }

    // Returns the log-odds of the reward, by action and member, valid until the next call. Most rewards arrive right after
    // their decision: the last result is returned again for the same context, unless an event was learned since.
    std::span<const float> outputs(std::span<const std::uint8_t> context);
    // Moves the weights of an action one step down the gradient of the loss, each member at its own rate.
    void step(std::span<const std::uint8_t> context, std::size_t action, float reward);

    template <class Archive>
    void archive(Archive& io) {
        io(sizes_);
        io(learning_rates_);
        io(weights_);
        io(output_weights_);
        io(output_biases_);
    }
    // Checks the loaded state, and allocates memory.
    void finish(std::size_t n_variables, std::size_t n_actions);

    std::span<float> weights() { return weights_; }
    std::span<float> output_weights() { return output_weights_; }
    std::span<float> output_biases() { return output_biases_; }

   private:
    std::vector<std::uint64_t> sizes_;   // by member
    std::vector<float> learning_rates_;  // by member
    LargeVector<float> weights_;         // by input, action and unit: the weights of one input are adjacent
    std::vector<float> output_weights_;  // by action and unit
    std::vector<float> output_biases_;   // by action and member
    std::size_t n_units_ = 0;            // of all members
    Inputs inputs_{0};
    bool fresh_ = false;                 // whether the following values are of the present weights
    std::vector<std::uint8_t> context_;  // the last one
    std::vector<float> hidden_;          // values of its hidden units, by action and unit
    std::vector<float> outputs_;         // by action and member
    std::vector<float> changes_;         // room for one step, by unit
};

// Exponential weights over the members of a committee (Auer, Cesa-Bianchi, Freund and Schapire 2002).
class Exp3 {
   public:
    Exp3() = default;  // to be loaded
    Exp3(std::size_t n_members, double exploration);

    std::span<double> probabilities() { return probabilities_; }
    // Multiplies each weight by exp(γ / number of members * estimated reward).
    void learn(std::span<const double> rewards);

    template <class Archive>
    void archive(Archive& io) {
        io(exploration_);
        io(log_weights_);
        io(probabilities_);
    }
    bool has(std::size_t n_members) const { return log_weights_.size() == n_members && probabilities_.size() == n_members; }

   private:
    double exploration_ = 0.0;  // probability with which a member is drawn uniformly instead of by its weight, γ
    std::vector<double> log_weights_;
    std::vector<double> probabilities_;
};

class NeuralBandit {
   public:
    struct Settings {
        std::size_t n_variables;
        std::size_t n_actions;
        double exploration;         // probability with which a member draws any action instead of its best
        double member_exploration;  // probability with which any member is followed
        std::uint64_t seed;         // of the draws
    };

    NeuralBandit(const Settings& settings, Perceptrons perceptrons);
    explicit NeuralBandit(std::span<const char> saved);

    const Settings& settings() const { return settings_; }

    Choice decide(std::span<const std::uint8_t> context, ConstWords available);
    void learn(std::span<const std::uint8_t> context, std::size_t action, double reward, double propensity);

    template <class Archive>
    void archive(Archive& io) {
        io(settings_);
        perceptrons_.archive(io);
        committee_.archive(io);
        io(n_decisions_);
    }

    Perceptrons& perceptrons() { return perceptrons_; }
    Exp3& committee() { return committee_; }

   private:
    void make_room();

    Settings settings_;
    Perceptrons perceptrons_;
    Exp3 committee_;
    std::uint64_t n_decisions_ = 0;
    std::vector<std::uint64_t> all_;     // the set of all actions
    std::vector<double> probabilities_;  // room for one decision, by action
    std::vector<double> rewards_;        // room for one event: what each member would have earned
};

}  // namespace bandit_forest
