#include "baselines/lin_ucb.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

#include "util/cpu_dispatch.hpp"

namespace bandit_forest {

namespace {

using Indices = std::span<const std::uint32_t>;

constexpr std::size_t start_of(std::size_t row) { return row * (row + 1) / 2; }

// Four sums at a time, since each addition waits for the one before it.
double sum_at(const double* values, Indices indices) {
    double sums[4] = {};
    std::size_t i = 0;
    for (; i + 4 <= indices.size(); i += 4) {
        for (std::size_t lane = 0; lane < 4; ++lane) {
            sums[lane] += values[indices[i + lane]];
        }
    }
    for (; i < indices.size(); ++i) {
        sums[0] += values[indices[i]];
    }
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

// The sum of a matrix over all pairs of indices: what xᵀ A x is for an x of zeros and ones.
double sum_of_pairs(const double* triangle, Indices indices) {
    double diagonal = 0.0;
    double below = 0.0;
    for (std::size_t i = 0; i < indices.size(); ++i) {
        const double* const row = triangle + start_of(indices[i]);
        below += sum_at(row, indices.first(i));
        diagonal += row[indices[i]];
    }
    return diagonal + 2.0 * below;
}

// The sum of the columns with these indices.
BANDIT_FOREST_CPU_DISPATCH
void sum_of_columns(const double* triangle, std::size_t size, Indices indices, double* __restrict out) {
    std::size_t before = 0;  // indices below the row
    for (std::size_t row = 0; row < size; ++row) {
        const double* const entries = triangle + start_of(row);
        out[row] = sum_at(entries, indices.first(before));
        if (before < indices.size() && indices[before] == row) {
            ++before;
            for (std::size_t column = 0; column <= row; ++column) {
                out[column] += entries[column];
            }
        }
    }
}

// Takes the product of a column and a row from a matrix; the product is symmetric.
BANDIT_FOREST_CPU_DISPATCH
void subtract_product(double* __restrict triangle, std::size_t size, const double* __restrict column,
                      const double* __restrict row) {
    for (std::size_t i = 0; i < size; ++i) {
        const double factor = column[i];
        double* const entries = triangle + start_of(i);
        for (std::size_t j = 0; j <= i; ++j) {
            entries[j] -= factor * row[j];
        }
    }
}

// Calls visit(i, entry) for the entries of a column, which are those of a row too.
template <class Visit>
void visit_column(double* triangle, std::size_t size, std::size_t column, Visit&& visit) {
    for (std::size_t i = 0; i < size; ++i) {
        visit(i, triangle[start_of(std::max(i, column)) + std::min(i, column)]);
    }
}

}  // namespace

LinUcb::LinUcb(const Settings& settings)
    : settings_(settings),
      inverses_(settings.n_actions * triangle(), 0.0),
      counts_(inverses_.size(), 0.0),
      weights_(settings.n_actions * size(), 0.0),
      reward_sums_(weights_.size(), 0.0),
      waiting_(settings.n_actions, 0),
      inputs_(settings.n_variables),
      direction_(size()),
      step_(size()) {
    for (std::size_t action = 0; action < settings.n_actions; ++action) {
        for (std::size_t i = 0; i < size(); ++i) {
            inverse(action)[start_of(i) + i] = 1.0 / settings.ridge;
        }
    }
}

LinUcb::LinUcb(std::span<const char> saved) : settings_{}, inputs_(0) {
    Reader reader(saved);
    archive(reader);
    reader.finish();
    const std::size_t n_actions = settings_.n_actions;
    require(inverses_.size() == n_actions * triangle() && counts_.size() == inverses_.size() &&
                weights_.size() == n_actions * size() && reward_sums_.size() == weights_.size() &&
                waiting_.size() == n_actions,
            "an array has the wrong length");
    inputs_ = Inputs(settings_.n_variables);
    direction_.resize(size());
    step_.resize(size());
}

Choice LinUcb::decide(std::span<const std::uint8_t> context, ConstWords available) {
    const Indices indices = inputs_.of(context);
    std::size_t best = first(available);
    double highest = -std::numeric_limits<double>::infinity();
    for_each(available, [&](std::size_t action) {
        const double variance = std::max(sum_of_pairs(inverse(action), indices), 0.0);
        const double mean = sum_at(weights_.data() + action * size(), indices);
        const double bound = mean + settings_.width * std::sqrt(variance);
        if (bound > highest) {
            highest = bound;
            best = action;
        }
    });
    return {best, 1.0};
}

// Sherman and Morrison: (A + x xᵀ)⁻¹ = A⁻¹ - (A⁻¹ x)(A⁻¹ x)ᵀ / (1 + xᵀ A⁻¹ x).
void LinUcb::learn(std::span<const std::uint8_t> context, std::size_t action, double reward, double /*propensity*/) {
    assert(action < settings_.n_actions);
    const Indices indices = inputs_.of(context);
    double* const counts = counts_.data() + action * triangle();
    double* const weights = weights_.data() + action * size();
    double* const reward_sums = reward_sums_.data() + action * size();
    for (std::size_t i = 0; i < indices.size(); ++i) {
        reward_sums[indices[i]] += reward;
        for (const std::uint32_t index : indices.first(i + 1)) {
            counts[start_of(indices[i]) + index] += 1.0;
        }
    }
    if (++waiting_[action] == settings_.refresh_every) {
        refresh(action);
        return;
    }
    sum_of_columns(inverse(action), size(), indices, direction_.data());
    const double scale = 1.0 + sum_at(direction_.data(), indices);
    const double error = reward - sum_at(weights, indices);
    for (std::size_t i = 0; i < size(); ++i) {
        step_[i] = direction_[i] / scale;
        weights[i] += step_[i] * error;
    }
    subtract_product(inverse(action), size(), step_.data(), direction_.data());
}

// The sweep operator (Beaton 1964; Goodnight 1979) on every row makes minus the inverse; a Gram matrix with a ridge is
// positive definite, so that any order of the rows will do.
void LinUcb::refresh(std::size_t action) {
    double* const matrix = inverse(action);
    std::copy_n(counts_.data() + action * triangle(), triangle(), matrix);
    for (std::size_t i = 0; i < size(); ++i) {
        matrix[start_of(i) + i] += settings_.ridge;
    }
    for (std::size_t k = 0; k < size(); ++k) {
        const double pivot = matrix[start_of(k) + k];
        visit_column(matrix, size(), k, [&](std::size_t i, double& entry) {
            direction_[i] = entry;
            step_[i] = entry / pivot;
        });
        subtract_product(matrix, size(), step_.data(), direction_.data());
        visit_column(matrix, size(), k, [&](std::size_t i, double& entry) { entry = i == k ? -1.0 / pivot : step_[i]; });
    }
    std::transform(matrix, matrix + triangle(), matrix, [](double entry) { return -entry; });
    for (std::size_t k = 0; k < size(); ++k) {
        double weight = 0.0;
        const double* const sums = reward_sums_.data() + action * size();
        visit_column(matrix, size(), k, [&](std::size_t i, double entry) { weight += entry * sums[i]; });
        weights_[action * size() + k] = weight;
    }
    waiting_[action] = 0;
}

}  // namespace bandit_forest
