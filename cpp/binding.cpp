// The narrow door to Python: settings and forests, with numbers and contiguous arrays. Arguments have been checked in
// Python. Whoever waits for a forest does so without the interpreter's lock.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <shared_mutex>
#include <tuple>
#include <utility>

#include "elimination.hpp"
#include "forest.hpp"
#include "greedy.hpp"

namespace nb = nanobind;
using namespace nb::literals;
namespace bf = bandit_forest;

namespace {

template <class T>
using In = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using InRows = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T>
using Out = nb::ndarray<nb::numpy, T, nb::ndim<1>>;
template <class T>
using OutRows = nb::ndarray<nb::numpy, T, nb::ndim<2>>;

template <class T>
struct Buffer {
    explicit Buffer(std::size_t size) : data(std::make_unique<T[]>(size)), size(size) {}

    std::span<T> span() { return {data.get(), size}; }

    // Gives the memory to a NumPy array.
    template <class Array>
    Array release(std::initializer_list<std::size_t> shape) {
        T* const raw = data.release();
        const nb::capsule owner(raw, [](void* p) noexcept { delete[] static_cast<T*>(p); });
        return Array(raw, shape, owner);
    }

    std::unique_ptr<T[]> data;  // handed to NumPy in the end
    std::size_t size;
};

template <class T>
Out<T> as_array(const std::vector<T>& values) {
    Buffer<T> buffer(values.size());
    std::ranges::copy(values, buffer.span().begin());
    return buffer.template release<Out<T>>({values.size()});
}

bf::Contexts contexts_of(const InRows<std::uint8_t>& rows) { return {rows.data(), rows.shape(0), rows.shape(1)}; }

template <class T>
std::span<const T> span_of(const In<T>& array) {
    return {array.data(), array.shape(0)};
}

// The available actions as a set; a mask of no entries means all.
std::vector<std::uint64_t> available_of(std::size_t n_actions, const In<bool>& mask) {
    std::vector<std::uint64_t> set(bf::words_for(n_actions), 0);
    if (mask.shape(0) == 0) {
        bf::fill(set, n_actions);
    }
    for (std::size_t action = 0; action < mask.shape(0); ++action) {
        if (mask.data()[action]) {
            bf::insert(set, action);
        }
    }
    return set;
}

// The arrays of a tree's nodes, as they go to Python.
class NodeArrays {
   public:
    NodeArrays(const bf::Tree& tree, std::size_t n_actions)
        : n_(tree.size()),
          n_actions_(n_actions),
          parent_(n_),
          depth_(n_),
          variable_(n_),
          child_(n_),
          visits_(n_),
          plays_(n_ * n_actions),
          mean_rewards_(n_ * n_actions) {
        for (std::size_t i = 0; i < n_; ++i) {
            const auto node = static_cast<bf::NodeId>(i);
            const bool leaf = tree.is_leaf(node);
            parent_.data[i] = i == 0 ? -1 : static_cast<std::int64_t>(tree.path(node).parent);
            depth_.data[i] = tree.path(node).depth;
            variable_.data[i] = leaf ? -1 : static_cast<std::int64_t>(tree.step(node).variable);
            child_.data[i] = leaf ? -1 : static_cast<std::int64_t>(tree.step(node).child);
            std::fill_n(mean_rewards_.data.get() + i * n_actions, n_actions, std::numeric_limits<double>::quiet_NaN());
        }
    }

    void set(std::size_t node, std::size_t action, double plays, double mean) {
        visits_.data[node] += static_cast<std::int64_t>(plays);
        plays_.data[node * n_actions_ + action] = static_cast<std::int64_t>(plays);
        mean_rewards_.data[node * n_actions_ + action] = mean;
    }

    nb::dict release() {
        nb::dict out;
        out["parent"] = parent_.release<Out<std::int64_t>>({n_});
        out["depth"] = depth_.release<Out<std::int64_t>>({n_});
        out["variable"] = variable_.release<Out<std::int64_t>>({n_});
        out["child"] = child_.release<Out<std::int64_t>>({n_});
        out["visits"] = visits_.release<Out<std::int64_t>>({n_});
        out["plays"] = plays_.release<OutRows<std::int64_t>>({n_, n_actions_});
        out["mean_rewards"] = mean_rewards_.release<OutRows<double>>({n_, n_actions_});
        return out;
    }

   private:
    std::size_t n_;          // nodes
    std::size_t n_actions_;  // columns of the matrices
    Buffer<std::int64_t> parent_, depth_, variable_, child_, visits_;
    Buffer<std::int64_t> plays_;
    Buffer<double> mean_rewards_;
};

using Arrays = nb::typed<nb::dict, nb::str, nb::any>;

Arrays nodes_of(const bf::Elimination& growth, const bf::Settings& settings) {
    const std::size_t n = growth.tree().size();
    NodeArrays arrays(growth.tree(), settings.n_actions);
    Buffer<std::uint8_t> status(n), actions(n * settings.n_actions), variables(n * settings.n_variables);
    Buffer<double> tolerance(n);
    for (std::size_t i = 0; i < n; ++i) {
        const auto node = static_cast<bf::NodeId>(i);
        status.data[i] = static_cast<std::uint8_t>(growth.state(node).status);
        tolerance.data[i] = growth.state(node).tolerance;
        for (std::size_t k = 0; k < settings.n_actions; ++k) {
            const bf::Tally& tally = growth.tallies(node)[k];
            if (tally.plays > 0) {
                arrays.set(i, k, static_cast<double>(tally.plays), tally.gain / growth.denominator(node, k));
            }
            actions.data[i * settings.n_actions + k] = bf::contains(growth.remaining_actions(node), k);
        }
        bf::for_each(growth.remaining_variables(node),
                     [&](std::size_t v) { variables.data[i * settings.n_variables + v] = 1; });
    }
    nb::dict out = arrays.release();
    out["status"] = status.release<Out<std::uint8_t>>({n});
    out["tolerance"] = tolerance.release<Out<double>>({n});
    out["remaining_actions"] = actions.release<OutRows<std::uint8_t>>({n, settings.n_actions});
    out["remaining_variables"] = variables.release<OutRows<std::uint8_t>>({n, settings.n_variables});
    return out;
}

Arrays nodes_of(const bf::GreedyTree& growth, const bf::Settings& settings) {
    const std::size_t n = growth.tree().size();
    NodeArrays arrays(growth.tree(), settings.n_actions);
    Buffer<double> gain(n);
    for (std::size_t i = 0; i < n; ++i) {
        const auto node = static_cast<bf::NodeId>(i);
        gain.data[i] = growth.gain(node);
        if (growth.tree().is_leaf(node)) {
            const bf::Slot slot = growth.tree().step(node).child;
            for (std::size_t k = 0; k < settings.n_actions; ++k) {
                arrays.set(i, k, static_cast<double>(growth.leaves().count(slot, k)),
                           static_cast<double>(growth.leaves().mean(slot, k)));
            }
        }
    }
    nb::dict out = arrays.release();
    out["gain"] = gain.release<Out<double>>({n});
    return out;
}

template <class Forest>
std::shared_lock<std::shared_mutex> lock_for_reading(const Forest& forest) {
    const nb::gil_scoped_release unlocked;
    return forest.lock_for_reading();
}

template <class Growth>
void bind_forest(nb::module_& m, const char* name) {
    using Forest = bf::Forest<Growth>;
    nb::class_<Forest>(m, name)
        .def(nb::init<const typename Forest::Settings&>(), "settings"_a)
        .def(
            "__init__",
            [](Forest* self, const typename Forest::Settings& settings, const nb::bytes& saved) {
                new (self) Forest(settings, std::span<const char>(saved.c_str(), saved.size()));
            },
            "settings"_a, "saved"_a)
        .def("save",
             [](Forest& forest) {
                 const std::string bytes = [&] {
                     const nb::gil_scoped_release unlocked;
                     return forest.save();
                 }();
                 return nb::bytes(bytes.data(), bytes.size());
             })
        .def(
            "decide",
            [](Forest& forest, const In<std::uint8_t>& context, const In<bool>& available) {
                std::pair<std::int64_t, double> decision;
                const std::vector<std::uint64_t> set = available_of(forest.settings().n_actions, available);
                const nb::gil_scoped_release unlocked;
                forest.decide({context.data(), 1, context.shape(0)}, set, {&decision.first, 1}, {&decision.second, 1});
                return decision;
            },
            "context"_a, "available"_a)
        .def(
            "learn",
            [](Forest& forest, const In<std::uint8_t>& context, std::int64_t action, double reward, double propensity) {
                const nb::gil_scoped_release unlocked;
                forest.learn({context.data(), 1, context.shape(0)}, {&action, 1}, {&reward, 1}, {&propensity, 1});
            },
            "context"_a, "action"_a, "reward"_a, "propensity"_a)
        .def(
            "decide_many",
            [](Forest& forest, const InRows<std::uint8_t>& contexts, const In<bool>& available) {
                const std::size_t n = contexts.shape(0);
                Buffer<std::int64_t> actions(n);
                Buffer<double> propensities(n);
                const std::vector<std::uint64_t> set = available_of(forest.settings().n_actions, available);
                {
                    const nb::gil_scoped_release unlocked;
                    forest.decide(contexts_of(contexts), set, actions.span(), propensities.span());
                }
                return std::make_tuple(actions.template release<Out<std::int64_t>>({n}),
                                       propensities.template release<Out<double>>({n}));
            },
            "contexts"_a, "available"_a)
        .def(
            "learn_many",
            [](Forest& forest, const InRows<std::uint8_t>& contexts, const In<std::int64_t>& actions,
               const In<double>& rewards, const In<double>& propensities) {
                const nb::gil_scoped_release unlocked;
                forest.learn(contexts_of(contexts), span_of(actions), span_of(rewards), span_of(propensities));
            },
            "contexts"_a, "actions"_a, "rewards"_a, "propensities"_a)
        .def(
            "play",
            [](Forest& forest, const InRows<std::uint8_t>& contexts, const InRows<double>& rewards) {
                const std::size_t n = contexts.shape(0);
                Buffer<std::int64_t> actions(n);
                Buffer<double> propensities(n);
                Buffer<double> earned(n);
                {
                    const nb::gil_scoped_release unlocked;
                    forest.play(contexts_of(contexts), {rewards.data(), rewards.shape(0) * rewards.shape(1)},
                                actions.span(), propensities.span(), earned.span());
                }
                return std::make_tuple(actions.template release<Out<std::int64_t>>({n}),
                                       propensities.template release<Out<double>>({n}),
                                       earned.template release<Out<double>>({n}));
            },
            "contexts"_a, "rewards"_a)
        .def(
            "propensities",
            [](const Forest& forest, const In<std::uint8_t>& context, const In<bool>& available) {
                const auto lock = lock_for_reading(forest);
                bf::Plan plan;
                forest.growth().plan(forest.leaves(span_of(context)),
                                     available_of(forest.settings().n_actions, available), plan);
                return as_array(plan.probabilities);
            },
            "context"_a, "available"_a)
        .def(
            "votes",
            [](const Forest& forest, const In<std::uint8_t>& context, const In<bool>& available) {
                const auto lock = lock_for_reading(forest);
                return as_array(forest.growth().votes(forest.leaves(span_of(context)),
                                                      available_of(forest.settings().n_actions, available)));
            },
            "context"_a, "available"_a)
        .def(
            "mean_rewards",
            [](const Forest& forest, const In<std::uint8_t>& context) {
                const auto lock = lock_for_reading(forest);
                return as_array(forest.growth().mean_rewards(forest.leaves(span_of(context))));
            },
            "context"_a)
        .def(
            "nodes",
            [](const Forest& forest, std::size_t tree) {
                const auto lock = lock_for_reading(forest);
                return nodes_of(forest.growth().tree(tree), forest.settings());
            },
            "tree"_a)
        .def(
            "max_depth",
            [](const Forest& forest, std::size_t tree) {
                const auto lock = lock_for_reading(forest);
                return forest.growth().tree(tree).max_depth();
            },
            "tree"_a)
        .def_prop_ro("n_events",
                     [](const Forest& forest) {
                         const auto lock = lock_for_reading(forest);
                         return forest.n_events();
                     })
        .def_prop_ro("n_nodes",
                     [](const Forest& forest) {
                         const auto lock = lock_for_reading(forest);
                         std::size_t nodes = 0;
                         for (const bf::Tree* tree : forest.growth().shapes()) {
                             nodes += tree->size();
                         }
                         return nodes;
                     })
        .def_prop_ro("n_bytes", [](const Forest& forest) {
            const auto lock = lock_for_reading(forest);
            return sizeof(Forest) + forest.growth().n_bytes();
        });
}

}  // namespace

NB_MODULE(_core, m) {
    m.doc() = "The compiled engine. Arguments are checked by bandit_forest.forest, not here.";
    nb::enum_<bf::Remaining>(m, "Remaining")
        .value("all", bf::Remaining::all)
        .value("path", bf::Remaining::path)
        .value("inherited", bf::Remaining::inherited);
    nb::enum_<bf::Estimate>(m, "Estimate")
        .value("plays", bf::Estimate::plays)
        .value("visits", bf::Estimate::visits)
        .value("scaled", bf::Estimate::scaled)
        .value("weights", bf::Estimate::weights);
    nb::enum_<bf::Exploration>(m, "Exploration")
        .value("round_robin", bf::Exploration::round_robin)
        .value("union_draw", bf::Exploration::union_draw)
        .value("tree_draw", bf::Exploration::tree_draw);
    nb::class_<bf::Settings>(m, "Settings")
        .def(
            "__init__",
            [](bf::Settings* self, std::size_t n_variables, std::size_t n_actions, std::size_t n_trees,
               std::size_t min_max_depth, std::size_t max_max_depth, double variable_share, std::size_t max_nodes,
               std::uint64_t seed) {
                new (self) bf::Settings{n_variables,   n_actions,      n_trees,   min_max_depth,
                                        max_max_depth, variable_share, max_nodes, seed};
            },
            nb::kw_only(), "n_variables"_a, "n_actions"_a, "n_trees"_a, "min_max_depth"_a, "max_max_depth"_a,
            "variable_share"_a, "max_nodes"_a, "seed"_a);
    nb::class_<bf::EliminationSettings, bf::Settings>(m, "EliminationSettings")
        .def(
            "__init__",
            [](bf::EliminationSettings* self, const bf::Settings& settings, double delta, double min_tolerance,
               double max_tolerance, std::size_t test_interval, double quorum, bf::Remaining remaining,
               bf::Estimate estimate, bf::Exploration exploration) {
                new (self) bf::EliminationSettings{settings,      delta,  min_tolerance, max_tolerance,
                                                   test_interval, quorum, remaining,     estimate,
                                                   exploration};
            },
            "settings"_a, nb::kw_only(), "delta"_a, "min_tolerance"_a, "max_tolerance"_a, "test_interval"_a, "quorum"_a,
            "remaining"_a, "estimate"_a, "exploration"_a);
    nb::class_<bf::GreedySettings, bf::Settings>(m, "GreedySettings")
        .def(
            "__init__",
            [](bf::GreedySettings* self, const bf::Settings& settings, std::size_t min_events, double min_gain,
               double shrinkage, double learning_share, std::size_t log_capacity, double greed) {
                new (self) bf::GreedySettings{settings,       min_events,   min_gain, shrinkage,
                                              learning_share, log_capacity, greed};
            },
            "settings"_a, nb::kw_only(), "min_events"_a, "min_gain"_a, "shrinkage"_a, "learning_share"_a,
            "log_capacity"_a, "greed"_a);
    bind_forest<bf::EliminationGrowth>(m, "EliminationForest");
    bind_forest<bf::GreedyGrowth>(m, "GreedyForest");
}
