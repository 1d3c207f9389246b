#include "baselines/neural_bandit.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "util/cpu_dispatch.hpp"
#include "policy/exploration.hpp"
#include "policy/random.hpp"

namespace bandit_forest {

namespace {

using Indices = std::span<const std::uint32_t>;

// The rectified sum of the rows with these indices, four at a time: the sums are read and written less often.
BANDIT_FOREST_CPU_DISPATCH
void rectified_sum(const float* rows, std::size_t width, Indices indices, float* __restrict out) {
    std::fill_n(out, width, 0.0F);
    std::size_t i = 0;
    for (; i + 4 <= indices.size(); i += 4) {
        const float* const a = rows + indices[i] * width;
        const float* const b = rows + indices[i + 1] * width;
        const float* const c = rows + indices[i + 2] * width;
        const float* const d = rows + indices[i + 3] * width;
        for (std::size_t j = 0; j < width; ++j) {
            out[j] = (((out[j] + a[j]) + b[j]) + c[j]) + d[j];
        }
    }
    for (; i < indices.size(); ++i) {
        const float* const row = rows + indices[i] * width;
        for (std::size_t j = 0; j < width; ++j) {
            out[j] += row[j];
        }
    }
    for (std::size_t j = 0; j < width; ++j) {
        out[j] = out[j] > 0.0F ? out[j] : 0.0F;
    }
}

// Eight sums at a time, since each addition waits for the one before it.
BANDIT_FOREST_CPU_DISPATCH
float dot(const float* left, const float* right, std::size_t size) {
    constexpr std::size_t n_lanes = 8;
    float sums[n_lanes] = {};
    std::size_t i = 0;
    for (; i + n_lanes <= size; i += n_lanes) {
        for (std::size_t lane = 0; lane < n_lanes; ++lane) {
            sums[lane] += left[i + lane] * right[i + lane];
        }
    }
    for (std::size_t lane = 0; i < size; ++i, ++lane) {
        sums[lane] += left[i] * right[i];
    }
    return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

BANDIT_FOREST_CPU_DISPATCH
void subtract(float* __restrict from, const float* __restrict what, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) {
        from[i] -= what[i];
    }
}

// 1 / (1 + exp(-value)), without overflow.
float logistic(float value) { return 0.5F * std::tanh(0.5F * value) + 0.5F; }

// The available action of which a member expects most.
std::size_t best_action(std::span<const float> outputs, std::size_t member, std::size_t n_members, ConstWords available) {
    std::size_t best = first(available);
    float highest = -std::numeric_limits<float>::infinity();
    for_each(available, [&](std::size_t action) {
        const float output = outputs[action * n_members + member];
        if (output > highest) {
            highest = output;
            best = action;
        }
    });
    return best;
}

}  // namespace

Perceptrons::Perceptrons(std::size_t n_variables, std::size_t n_actions, const Members& members,
                         std::span<const float> weights, std::span<const float> output_weights)
    : sizes_(members.sizes.begin(), members.sizes.end()),
      learning_rates_(members.learning_rates.begin(), members.learning_rates.end()),
      weights_(weights.begin(), weights.end()),
      output_weights_(output_weights.begin(), output_weights.end()),
      output_biases_(n_actions * members.sizes.size(), 0.0F) {
    finish(n_variables, n_actions);
}

void Perceptrons::finish(std::size_t n_variables, std::size_t n_actions) {
    n_units_ = std::accumulate(sizes_.begin(), sizes_.end(), std::uint64_t{0});
    require(std::ranges::all_of(sizes_, [&](std::uint64_t size) { return size <= n_units_; }), "a network is too large");
    require(learning_rates_.size() == n_members() && weights_.size() == (n_variables + 1) * n_actions * n_units_ &&
                output_weights_.size() == n_actions * n_units_ && output_biases_.size() == n_actions * n_members(),
            "an array has the wrong length");
    inputs_ = Inputs(n_variables);
    hidden_.resize(output_weights_.size());
    outputs_.resize(output_biases_.size());
    changes_.resize(n_units_);
}

std::span<const float> Perceptrons::outputs(std::span<const std::uint8_t> context) {
    if (fresh_ && std::ranges::equal(context, context_)) {
        return outputs_;
    }
    rectified_sum(weights_.data(), hidden_.size(), inputs_.of(context), hidden_.data());
    std::size_t output = 0;
    std::size_t unit = 0;
    while (output < outputs_.size()) {
        for (const std::uint64_t size : sizes_) {
            outputs_[output] = dot(hidden_.data() + unit, output_weights_.data() + unit, size) + output_biases_[output];
            unit += size;
            ++output;
        }
    }
    context_.assign(context.begin(), context.end());
    fresh_ = true;
    return outputs_;
}

void Perceptrons::step(std::span<const std::uint8_t> context, std::size_t action, float reward) {
    const std::span<const float> predicted = outputs(context).subspan(action * n_members());
    const float* const hidden = hidden_.data() + action * n_units_;
    float* const output_weights = output_weights_.data() + action * n_units_;
    std::size_t unit = 0;
    for (std::size_t member = 0; member < n_members(); ++member) {
        const float step = learning_rates_[member] * (logistic(predicted[member]) - reward);
        output_biases_[action * n_members() + member] -= step;
        for (const std::size_t end = unit + sizes_[member]; unit < end; ++unit) {
            changes_[unit] = hidden[unit] > 0.0F ? step * output_weights[unit] : 0.0F;
            output_weights[unit] -= step * hidden[unit];
        }
    }
    for (const std::size_t input : inputs_.of(context)) {
        subtract(weights_.data() + input * hidden_.size() + action * n_units_, changes_.data(), n_units_);
    }
    fresh_ = false;
}

Exp3::Exp3(std::size_t n_members, double exploration)
    : exploration_(exploration),
      log_weights_(n_members, 0.0),
      probabilities_(n_members, 1.0 / static_cast<double>(n_members)) {}

void Exp3::learn(std::span<const double> rewards) {
    const double share = exploration_ / static_cast<double>(rewards.size());
    // A member that is followed with probability p has estimates of at most 1 / p <= 1 / share; those of foreign
    // propensities may be larger, and one of them must not decide for ever.
    for (std::size_t member = 0; member < rewards.size(); ++member) {
        log_weights_[member] += std::min(share * rewards[member], 1.0);
    }
    const double highest = *std::ranges::max_element(log_weights_);
    double total = 0.0;
    for (std::size_t member = 0; member < rewards.size(); ++member) {
        log_weights_[member] -= highest;
        probabilities_[member] = std::exp(log_weights_[member]);
        total += probabilities_[member];
    }
    for (double& probability : probabilities_) {
        probability = (1.0 - exploration_) / total * probability + share;
    }
}

NeuralBandit::NeuralBandit(const Settings& settings, Perceptrons perceptrons)
    : settings_(settings),
      perceptrons_(std::move(perceptrons)),
      committee_(perceptrons_.n_members(), settings.member_exploration) {
    make_room();
}

NeuralBandit::NeuralBandit(std::span<const char> saved) : settings_{} {
    Reader reader(saved);
    archive(reader);
    reader.finish();
    perceptrons_.finish(settings_.n_variables, settings_.n_actions);
    require(committee_.has(perceptrons_.n_members()), "an array has the wrong length");
    make_room();
}

void NeuralBandit::make_room() {
    all_.resize(words_for(settings_.n_actions));
    fill(all_, settings_.n_actions);
    probabilities_.resize(settings_.n_actions);
    rewards_.resize(perceptrons_.n_members());
}

Choice NeuralBandit::decide(std::span<const std::uint8_t> context, ConstWords available) {
    const std::span<const float> outputs = perceptrons_.outputs(context);
    const std::span<const double> followed = committee_.probabilities();
    std::ranges::fill(probabilities_, 0.0);
    for (std::size_t member = 0; member < followed.size(); ++member) {
        probabilities_[best_action(outputs, member, followed.size(), available)] +=
            (1.0 - settings_.exploration) * followed[member];
    }
    const double share = settings_.exploration / static_cast<double>(count(available));
    double total = 0.0;
    for_each(available, [&](std::size_t action) { total += probabilities_[action] += share; });
    const double number = draw(settings_.seed, Purpose::decision, n_decisions_++);
    const std::size_t action = pick(probabilities_, number * total);
    return {action, probabilities_[action] / total};
}

void NeuralBandit::learn(std::span<const std::uint8_t> context, std::size_t action, double reward, double propensity) {
    assert(action < settings_.n_actions);
    if (reward > 0.0) {
        const std::span<const float> outputs = perceptrons_.outputs(context);
        const double share = settings_.exploration / static_cast<double>(settings_.n_actions);
        for (std::size_t member = 0; member < rewards_.size(); ++member) {
            const bool agrees = best_action(outputs, member, rewards_.size(), all_) == action;
            const double plays = (agrees ? 1.0 - settings_.exploration : 0.0) + share;
            rewards_[member] = plays * (reward / propensity);
        }
        committee_.learn(rewards_);
    }
    perceptrons_.step(context, action, static_cast<float>(reward));
}

}  // namespace bandit_forest
