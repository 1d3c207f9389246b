#include "pairs/pair_line.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "util/cpu_dispatch.hpp"

namespace bandit_forest {

namespace {

constexpr double ridge = 1.0;
constexpr std::size_t most_exact = std::size_t{1} << 19U;  // products²: beyond, the regression is not exact

// to[i] += factor * from[i]
BANDIT_FOREST_CPU_DISPATCH
void add_multiple(double* __restrict to, const double* __restrict from, double factor, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) {
        to[i] += factor * from[i];
    }
}

// to[i] += factors[i] * from[i]
BANDIT_FOREST_CPU_DISPATCH
void add_products(double* __restrict to, const double* __restrict from, const double* __restrict factors, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) {
        to[i] += factors[i] * from[i];
    }
}

// The sum of rows times their factors. A factor of zero changes nothing, so it is left out.
void combine(std::span<const double> factors, const double* rows, std::size_t stride, std::span<double> out) {
    std::ranges::fill(out, 0.0);
    for (std::size_t row = 0; row < factors.size(); ++row) {
        if (factors[row] != 0.0) {
            add_multiple(out.data(), rows + row * stride, factors[row], out.size());
        }
    }
}

double dot(std::span<const double> a, std::span<const double> b, double start) {
    double sum = start;
    for (std::size_t i = 0; i < a.size(); ++i) {
        sum += a[i] * b[i];
    }
    return sum;
}

std::vector<std::uint16_t> levels_of(const PairSettings& settings, bool of_context) {
    const std::size_t n = of_context ? settings.n_context_variables : settings.n_variables - settings.n_context_variables;
    if (settings.levels.empty()) {
        return std::vector<std::uint16_t>(n, 2);
    }
    const auto first = of_context ? settings.levels.begin() : settings.levels.end() - static_cast<std::ptrdiff_t>(n);
    return {first, first + static_cast<std::ptrdiff_t>(n)};
}

}  // namespace

SideTerms::SideTerms(std::span<const std::uint16_t> levels) : n_terms_(levels.size() + 1) {
    for (const std::uint16_t n : levels) {
        starts_.push_back(values_.size());
        for (std::size_t code = 0; code < n; ++code) {
            const auto value = static_cast<double>(code);
            values_.push_back(n <= 2 ? value : 2.0 * value / static_cast<double>(n - 1) - 1.0);
        }
    }
}

void SideTerms::of(std::span<const std::uint8_t> codes, double* out, std::size_t stride) const {
    assert(codes.size() + 1 == n_terms_);
    for (std::size_t variable = 0; variable < codes.size(); ++variable) {
        out[variable * stride] = values_[starts_[variable] + codes[variable]];
    }
    out[codes.size() * stride] = 1.0;
}

PairLine::PairLine(const PairSettings& settings)
    : context_terms_(levels_of(settings, true)),
      action_terms_(levels_of(settings, false)),
      weights_(context_terms_.size() * action_terms_.size(), 0.0),
      products_(weights_.size()),
      direction_(weights_.size()) {
    const std::size_t n = weights_.size();
    is_exact_ = n * n <= most_exact;
    if (!is_exact_) {
        rates_.assign(n, ridge);
        return;
    }
    inverse_.assign(n * n, 0.0);
    for (std::size_t i = 0; i < n; ++i) {
        inverse_[i * n + i] = 1.0 / ridge;
    }
}

void PairLine::estimate(std::span<const double> context, std::span<const double> actions, std::span<double> means,
                        std::span<double> variances) const {
    thread_local std::vector<double> weights;  // by term of the action, in this context
    weights.resize(action_terms_.size());
    combine(context, weights_.data(), weights.size(), weights);
    std::ranges::fill(means, 0.0);
    for (std::size_t term = 0; term < weights.size(); ++term) {
        add_multiple(means.data(), actions.data() + term * means.size(), weights[term], means.size());
    }
    for (double& mean : means) {
        mean = std::clamp(mean, 0.0, 1.0);
    }
    std::ranges::fill(variances, 0.0);
    if (is_exact_) {
        add_variances(context, actions, variances);
    }
}

// zᵀ A⁻¹ z for the products z of each action: first by the context on both sides of the matrix, then by the actions.
void PairLine::add_variances(std::span<const double> context, std::span<const double> actions,
                             std::span<double> variances) const {
    thread_local std::vector<double> rows;    // by term of the action, then product
    thread_local std::vector<double> row;     // by term of the action
    thread_local std::vector<double> column;  // by offered action
    const std::size_t n = weights_.size();
    const std::size_t n_terms = action_terms_.size();
    const std::size_t n_offered = variances.size();
    rows.resize(n_terms * n);
    row.resize(n_terms);
    column.resize(n_offered);
    combine(context, inverse_.data(), n_terms * n, rows);
    for (std::size_t term = 0; term < n_terms; ++term) {
        combine(context, rows.data() + term * n, n_terms, row);
        std::ranges::fill(column, 0.0);
        for (std::size_t other = 0; other < n_terms; ++other) {
            add_multiple(column.data(), actions.data() + other * n_offered, row[other], n_offered);
        }
        add_products(variances.data(), column.data(), actions.data() + term * n_offered, n_offered);
    }
    for (double& variance : variances) {
        variance = std::max(variance, 0.0);
    }
}

double PairLine::raw_mean(std::span<const double> context, std::span<const double> action) const {
    thread_local std::vector<double> weights;  // by term of the action, in this context
    weights.resize(action.size());
    combine(context, weights_.data(), weights.size(), weights);
    return dot(action, weights, 0.0);
}

double PairLine::mean(std::span<const double> context, std::span<const double> action) const {
    return std::clamp(raw_mean(context, action), 0.0, 1.0);
}

void PairLine::learn(std::span<const double> context, std::span<const double> action, double reward) {
    const double error = reward - raw_mean(context, action);
    for (std::size_t i = 0; i < context.size(); ++i) {
        for (std::size_t j = 0; j < action.size(); ++j) {
            products_[i * action.size() + j] = context[i] * action[j];
        }
    }
    if (is_exact_) {
        learn_exactly(error);
    } else {
        descend(error);
    }
}

// Sherman and Morrison: (A + z zᵀ)⁻¹ = A⁻¹ - (A⁻¹ z)(A⁻¹ z)ᵀ / (1 + zᵀ A⁻¹ z).
void PairLine::learn_exactly(double error) {
    const std::size_t n = products_.size();
    combine(products_, inverse_.data(), n, direction_);
    const double scale = 1.0 + dot(direction_, products_, 0.0);
    for (std::size_t i = 0; i < n; ++i) {
        const double step = direction_[i] / scale;
        weights_[i] += step * error;
        add_multiple(inverse_.data() + i * n, direction_.data(), -step, n);
    }
}

void PairLine::descend(double error) {
    const std::size_t n = products_.size();
    for (std::size_t i = 0; i < n; ++i) {
        rates_[i] += products_[i] * products_[i];
        direction_[i] = products_[i] / std::sqrt(rates_[i]);
    }
    const double length = dot(products_, direction_, 1.0);
    for (std::size_t i = 0; i < n; ++i) {
        weights_[i] += error * direction_[i] / length;
    }
}

void PairLine::check() const {
    const std::size_t n = context_terms_.size() * action_terms_.size();
    require(weights_.size() == n && inverse_.size() == (is_exact_ ? n * n : 0) && rates_.size() == (is_exact_ ? 0 : n),
            "the linear part has not its length");
    for (const std::vector<double>* numbers : {&weights_, &inverse_, &rates_}) {
        require(std::ranges::all_of(*numbers, [](double number) { return std::isfinite(number); }),
                "the linear part has a number that is not finite");
    }
    require(std::ranges::all_of(rates_, [](double rate) { return rate >= ridge; }), "a rate is too small");
}

}  // namespace bandit_forest
