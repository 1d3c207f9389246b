#include "linear/line.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "util/cpu_dispatch.hpp"

namespace bandit_forest {

namespace {

constexpr double ridge = 1.0;
// Multiplications that an event costs at the most, about: actions * terms².
constexpr std::size_t most_for_ramps = std::size_t{1} << 18U;  // else there are fewer ramps
constexpr std::size_t most_exact = std::size_t{1} << 20U;      // else the regression is not exact
constexpr std::size_t most_ramps = 8;

std::size_t cost(const GreedySettings& settings, std::size_t ramps) {
    const std::size_t n = Terms(settings, ramps).size();
    return n > most_exact ? n : settings.n_actions * n * n;
}

std::size_t choose_ramps(const GreedySettings& settings) {
    std::size_t ramps = most_ramps;
    while (ramps > 1 && cost(settings, ramps) > most_for_ramps) {
        ramps /= 2;
    }
    return ramps;
}

// out = sum of value_i * row_i over the rows of a matrix of n columns whose value is not zero.
BANDIT_FOREST_CPU_DISPATCH
void add_rows(double* __restrict out, const double* __restrict matrix, const double* values,
              std::span<const std::uint32_t> nonzero, std::size_t n) {
    std::fill_n(out, n, 0.0);
    for (const std::uint32_t row : nonzero) {
        const double value = values[row];
        for (std::size_t i = 0; i < n; ++i) {
            out[i] += value * matrix[row * n + i];
        }
    }
}

// matrix -= direction directionᵀ / scale, of n rows and columns.
BANDIT_FOREST_CPU_DISPATCH
void subtract_square(double* __restrict matrix, const double* __restrict direction, double scale, std::size_t n) {
    for (std::size_t row = 0; row < n; ++row) {
        const double step = -(direction[row] / scale);
        for (std::size_t i = 0; i < n; ++i) {
            matrix[row * n + i] += step * direction[i];
        }
    }
}

// The sum of products, by index modulo four, then of these four. Zeros change nothing, so they may be left out.
BANDIT_FOREST_CPU_DISPATCH
double dense_dot(const double* a, const double* b, std::size_t n) {
    double sums[4] = {0.0, 0.0, 0.0, 0.0};
    const std::size_t whole = n / 4 * 4;
    for (std::size_t i = 0; i < whole; i += 4) {
        for (std::size_t lane = 0; lane < 4; ++lane) {
            sums[lane] += a[i + lane] * b[i + lane];
        }
    }
    for (std::size_t i = whole; i < n; ++i) {
        sums[i - whole] += a[i] * b[i];
    }
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

double sparse_dot(const double* a, const double* b, std::span<const std::uint32_t> nonzero) {
    double sums[4] = {0.0, 0.0, 0.0, 0.0};
    for (const std::uint32_t i : nonzero) {
        sums[i % 4] += a[i] * b[i];
    }
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

}  // namespace

Line::Line(const GreedySettings& settings)
    : n_actions_(settings.n_actions),
      terms_(settings, choose_ramps(settings)),
      is_exact_(cost(settings, choose_ramps(settings)) <= most_exact),
      weights_(terms_.size() * n_actions_, 0.0),
      direction_(terms_.size()) {
    const std::size_t n = terms_.size();
    if (!is_exact_) {
        rates_.assign(n * n_actions_, ridge);
        return;
    }
    inverses_.assign(n_actions_ * n * n, 0.0);
    for (std::size_t action = 0; action < n_actions_; ++action) {
        for (std::size_t i = 0; i < n; ++i) {
            inverse(action)[i * n + i] = 1.0 / ridge;
        }
    }
}

BANDIT_FOREST_CPU_DISPATCH
void Line::estimate_means(const TermValues& context, std::span<double> means) const {
    assert(means.size() == n_actions_);
    std::ranges::fill(means, 0.0);
    for (const std::uint32_t i : context.nonzero) {
        const double value = context.values[i];
        const double* const weights = weights_.data() + i * n_actions_;
        for (std::size_t action = 0; action < n_actions_; ++action) {
            means[action] += value * weights[action];
        }
    }
    for (double& mean : means) {
        mean = std::clamp(mean, 0.0, 1.0);
    }
}

double Line::raw_mean(const TermValues& context, std::size_t action) const {
    double mean = 0.0;
    for (const std::uint32_t i : context.nonzero) {
        mean += context.values[i] * weights_[i * n_actions_ + action];
    }
    return mean;
}

double Line::mean(const TermValues& context, std::size_t action) const {
    return std::clamp(raw_mean(context, action), 0.0, 1.0);
}

// xᵀ A⁻¹ x, by the lower half of the symmetric matrix.
double Line::variance(const TermValues& context, std::size_t action) const {
    if (!is_exact_) {
        return 0.0;
    }
    const double* const matrix = inverse(action);
    const double* const x = context.values.data();
    const std::span<const std::uint32_t> nonzero = context.nonzero;
    const bool is_sparse = nonzero.size() * 4 < terms_.size();
    double sum = 0.0;
    for (std::size_t k = 0; k < nonzero.size(); ++k) {
        const std::uint32_t i = nonzero[k];
        const double* const row = matrix + i * terms_.size();
        const double below = is_sparse ? sparse_dot(row, x, nonzero.first(k)) : dense_dot(row, x, i);
        sum += x[i] * (2.0 * below + row[i] * x[i]);
    }
    return std::max(sum, 0.0);
}

void Line::learn(const TermValues& context, std::size_t action, double reward) {
    const double error = reward - raw_mean(context, action);
    if (is_exact_) {
        learn_exactly(context, action, error);
    } else {
        descend(context, action, error);
    }
}

// Sherman and Morrison: (A + x xᵀ)⁻¹ = A⁻¹ - (A⁻¹ x)(A⁻¹ x)ᵀ / (1 + xᵀ A⁻¹ x).
void Line::learn_exactly(const TermValues& context, std::size_t action, double error) {
    const std::size_t n = terms_.size();
    double* const matrix = inverse(action);
    add_rows(direction_.data(), matrix, context.values.data(), context.nonzero, n);
    const double scale = 1.0 + dense_dot(direction_.data(), context.values.data(), n);
    for (std::size_t i = 0; i < n; ++i) {
        weights_[i * n_actions_ + action] += direction_[i] / scale * error;
    }
    subtract_square(matrix, direction_.data(), scale, n);
}

void Line::descend(const TermValues& context, std::size_t action, double error) {
    double length = 1.0;
    for (const std::uint32_t i : context.nonzero) {
        double& rate = rates_[i * n_actions_ + action];
        rate += context.values[i] * context.values[i];
        direction_[i] = context.values[i] / std::sqrt(rate);
        length += context.values[i] * direction_[i];
    }
    for (const std::uint32_t i : context.nonzero) {
        weights_[i * n_actions_ + action] += error * direction_[i] / length;
    }
}

void Line::check() const {
    const std::size_t n = terms_.size();
    require(weights_.size() == n * n_actions_ && inverses_.size() == (is_exact_ ? n * n * n_actions_ : 0) &&
                rates_.size() == (is_exact_ ? 0 : n * n_actions_),
            "the linear part has not its length");
    for (const std::vector<double>* numbers : {&weights_, &inverses_, &rates_}) {
        require(std::ranges::all_of(*numbers, [](double number) { return std::isfinite(number); }),
                "the linear part has a number that is not finite");
    }
    require(std::ranges::all_of(rates_, [](double rate) { return rate >= ridge; }), "a rate is too small");
}

}  // namespace bandit_forest
