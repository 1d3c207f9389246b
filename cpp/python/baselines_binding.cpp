// The door to the baselines. Their arguments have been checked in Python. One caller at a time has a policy: who waits for
// it, or holds it for a batch, does so without the interpreter's lock.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>

#include <concepts>
#include <tuple>
#include <utility>

#include "python/arrays.hpp"
#include "python/binding.hpp"
#include "python/unlocked.hpp"
#include "baselines/lin_ucb.hpp"
#include "baselines/neural_bandit.hpp"

using namespace nanobind::literals;

namespace bandit_forest {

namespace {

using Lock = std::unique_lock<std::mutex>;

// A policy and the right to use it.
template <class Policy>
struct Guarded {
    template <class... Parts>
        requires std::constructible_from<Policy, Parts...>
    explicit Guarded(Parts&&... parts) : policy(std::forward<Parts>(parts)...) {}

    Policy policy;
    std::mutex mutex;
};

// What a batch of decisions gives back.
struct Batch {
    explicit Batch(std::size_t n_events) : actions(n_events), propensities(n_events), rewards(n_events) {}

    void set(std::size_t event, const Choice& choice) {
        actions.data[event] = static_cast<std::int64_t>(choice.action);
        propensities.data[event] = choice.propensity;
    }

    Buffer<std::int64_t> actions;
    Buffer<double> propensities;
    Buffer<double> rewards;  // earned, where they are known
};

template <class Policy>
nb::class_<Guarded<Policy>> bind_policy(nb::module_& m, const char* name) {
    using Self = Guarded<Policy>;
    return nb::class_<Self>(m, name)
        .def("__getstate__",
             [](Self& self) {
                 Writer writer;
                 {
                     const auto lock = lock_without_blocking<Lock>(self.mutex);
                     self.policy.archive(writer);
                 }
                 return nb::bytes(writer.bytes.data(), writer.bytes.size());
             })
        .def("__setstate__",
             [](Self& self, const nb::bytes& saved) { new (&self) Self(std::span<const char>(saved.c_str(), saved.size())); })
        .def(
            "decide",
            [](Self& self, const Row<std::uint8_t>& context, const Row<bool>& available) {
                const auto set = available_of(self.policy.settings().n_actions, available);
                const auto lock = lock_without_blocking<Lock>(self.mutex);
                const Choice choice = self.policy.decide(codes_of(context, self.policy.settings().n_variables), set);
                return std::make_pair(choice.action, choice.propensity);
            },
            "context"_a, "available"_a)
        .def(
            "learn",
            [](Self& self, const Row<std::uint8_t>& context, std::size_t action, double reward, double propensity) {
                const auto lock = lock_without_blocking<Lock>(self.mutex);
                self.policy.learn(codes_of(context, self.policy.settings().n_variables),
                                  action_of(action, self.policy.settings().n_actions), reward, propensity);
            },
            "context"_a, "action"_a, "reward"_a, "propensity"_a)
        .def(
            "decide_many",
            [](Self& self, const InRows<std::uint8_t>& rows, const Row<bool>& available) {
                const Contexts contexts = contexts_of(rows, self.policy.settings().n_variables);
                const auto set = available_of(self.policy.settings().n_actions, available);
                Batch batch(contexts.n_events);
                {
                    const Unlocked unlocked;
                    const Lock lock(self.mutex);
                    for (std::size_t event = 0; event < contexts.n_events; ++event) {
                        batch.set(event, self.policy.decide(contexts.row(event), set));
                    }
                }
                return std::make_tuple(batch.actions.template release<Out<std::int64_t>>({contexts.n_events}),
                                       batch.propensities.template release<Out<double>>({contexts.n_events}));
            },
            "contexts"_a, "available"_a)
        .def(
            "learn_many",
            [](Self& self, const InRows<std::uint8_t>& rows, const In<std::int64_t>& actions, const In<double>& rewards,
               const In<double>& propensities) {
                const Contexts contexts = contexts_of(rows, self.policy.settings().n_variables);
                const auto taken = actions_of(actions, contexts.n_events, self.policy.settings().n_actions);
                const auto earned = span_of(rewards, contexts.n_events);
                const auto probabilities = span_of(propensities, contexts.n_events);
                const Unlocked unlocked;
                const Lock lock(self.mutex);
                for (std::size_t event = 0; event < contexts.n_events; ++event) {
                    self.policy.learn(contexts.row(event), static_cast<std::size_t>(taken[event]), earned[event],
                                      probabilities[event]);
                }
            },
            "contexts"_a, "actions"_a, "rewards"_a, "propensities"_a)
        .def(
            "play",
            [](Self& self, const InRows<std::uint8_t>& rows, const InRows<double>& rewards) {
                const Contexts contexts = contexts_of(rows, self.policy.settings().n_variables);
                const std::size_t n_actions = self.policy.settings().n_actions;
                const auto all_rewards = span_of(rewards, contexts.n_events, n_actions);
                std::vector<std::uint64_t> all(words_for(n_actions));
                fill(all, n_actions);
                Batch batch(contexts.n_events);
                {
                    const Unlocked unlocked;
                    const Lock lock(self.mutex);
                    for (std::size_t event = 0; event < contexts.n_events; ++event) {
                        const Choice choice = self.policy.decide(contexts.row(event), all);
                        const double reward = all_rewards[event * n_actions + choice.action];
                        self.policy.learn(contexts.row(event), choice.action, reward, choice.propensity);
                        batch.set(event, choice);
                        batch.rewards.data[event] = reward;
                    }
                }
                return std::make_tuple(batch.actions.template release<Out<std::int64_t>>({contexts.n_events}),
                                       batch.propensities.template release<Out<double>>({contexts.n_events}),
                                       batch.rewards.template release<Out<double>>({contexts.n_events}));
            },
            "contexts"_a, "rewards"_a);
}

// A window on numbers of a policy, for tests; it keeps its policy alive.
template <class T>
OutRows<T> window(std::span<T> numbers, std::size_t n_rows) {
    return OutRows<T>(numbers.data(), {n_rows, numbers.size() / n_rows});
}

void bind_lin_ucb(nb::module_& m) {
    using Self = Guarded<LinUcb>;
    bind_policy<LinUcb>(m, "LinUcb")
        .def(
            "__init__",
            [](Self* self, std::size_t n_variables, std::size_t n_actions, double width, double ridge,
               std::uint64_t refresh_every) {
                new (self) Self(LinUcb::Settings{.n_variables = n_variables,
                                                 .n_actions = n_actions,
                                                 .width = width,
                                                 .ridge = ridge,
                                                 .refresh_every = refresh_every});
            },
            nb::kw_only(), "n_variables"_a, "n_actions"_a, "width"_a, "ridge"_a, "refresh_every"_a)
        .def_prop_ro("inverses", [](Self& self) { return window(self.policy.inverses(), self.policy.settings().n_actions); })
        .def_prop_ro("weights", [](Self& self) { return window(self.policy.weights(), self.policy.settings().n_actions); })
        .def_prop_ro("waiting", [](Self& self) { return window(self.policy.waiting(), self.policy.settings().n_actions); });
}

void bind_neural_bandit(nb::module_& m) {
    using Self = Guarded<NeuralBandit>;
    bind_policy<NeuralBandit>(m, "NeuralBandit")
        .def(
            "__init__",
            [](Self* self, std::size_t n_variables, std::size_t n_actions, const In<std::uint64_t>& sizes,
               const In<float>& learning_rates, double exploration, double member_exploration, std::uint64_t seed,
               const InRows<float>& weights, const InRows<float>& output_weights) {
                new (self) Self(NeuralBandit::Settings{.n_variables = n_variables,
                                                       .n_actions = n_actions,
                                                       .exploration = exploration,
                                                       .member_exploration = member_exploration,
                                                       .seed = seed},
                                Perceptrons(n_variables, n_actions,
                                            {.sizes = span_of(sizes, sizes.shape(0)),
                                             .learning_rates = span_of(learning_rates, sizes.shape(0))},
                                            {weights.data(), weights.size()},
                                            {output_weights.data(), output_weights.size()}));
            },
            nb::kw_only(), "n_variables"_a, "n_actions"_a, "sizes"_a, "learning_rates"_a, "exploration"_a,
            "member_exploration"_a, "seed"_a, "weights"_a, "output_weights"_a)
        .def_prop_ro("weights",
                     [](Self& self) {
                         const NeuralBandit::Settings& settings = self.policy.settings();
                         return window(self.policy.perceptrons().weights(), (settings.n_variables + 1) * settings.n_actions);
                     })
        .def_prop_ro("output_weights",
                     [](Self& self) {
                         return window(self.policy.perceptrons().output_weights(), self.policy.settings().n_actions);
                     })
        .def_prop_ro("output_biases",
                     [](Self& self) {
                         return window(self.policy.perceptrons().output_biases(), self.policy.settings().n_actions);
                     })
        .def_prop_ro("probabilities", [](Self& self) { return window(self.policy.committee().probabilities(), 1); });
}

}  // namespace

void bind_baselines(nb::module_& m) {
    bind_lin_ucb(m);
    bind_neural_bandit(m);
}

}  // namespace bandit_forest
