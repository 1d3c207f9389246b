// The narrow door to Python: settings and forests, with numbers and contiguous arrays. Arguments have been checked in
// Python. Who waits for a forest, or holds it for long, does so without the interpreter's lock; and no Python object is made
// while a forest is held, since that may run anything.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <tuple>
#include <utility>

#include "arrays.hpp"
#include "elimination.hpp"
#include "forest.hpp"
#include "greedy.hpp"

namespace nb = nanobind;
using namespace nb::literals;
namespace bf = bandit_forest;

namespace {

using bf::as_array;
using bf::available_of;
using bf::Buffer;
using bf::contexts_of;
using bf::In;
using bf::InRows;
using bf::lock_without_blocking;
using bf::Out;
using bf::OutRows;
using bf::span_of;
using Arrays = nb::typed<nb::dict, nb::str, nb::any>;

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

// What a node knows of an action.
struct Known {
    double plays;
    double mean;  // of its rewards
};

Known known(const bf::Elimination& growth, bf::NodeId node, std::size_t action) {
    const bf::Tally& tally = growth.tallies(node)[action];
    return {static_cast<double>(tally.plays),
            tally.plays > 0 ? tally.gain / growth.denominator(node, action) : unknown};
}

// Nodes that have split know nothing.
Known known(const bf::GreedyTree& growth, bf::NodeId node, std::size_t action) {
    if (!growth.tree().is_leaf(node)) {
        return {0.0, unknown};
    }
    const bf::Slot slot = growth.tree().step(node).child;
    return {static_cast<double>(growth.leaves().count(slot, action)),
            static_cast<double>(growth.leaves().mean(slot, action))};
}

// The arrays of a tree's nodes: filled while the forest is held, made Python's afterwards.
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
            std::fill_n(mean_rewards_.data.get() + i * n_actions, n_actions, unknown);
        }
    }

    void set(std::size_t node, std::size_t action, Known known) {
        visits_.data[node] += static_cast<std::int64_t>(known.plays);
        plays_.data[node * n_actions_ + action] = static_cast<std::int64_t>(known.plays);
        mean_rewards_.data[node * n_actions_ + action] = known.mean;
    }

    Arrays release() {
        Arrays out;
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

struct EliminationArrays {
    NodeArrays nodes;
    Buffer<std::uint8_t> status;
    Buffer<double> tolerance;
    Buffer<std::uint8_t> remaining_actions;    // by node and action
    Buffer<std::uint8_t> remaining_variables;  // by node and variable

    Arrays release() {
        const std::size_t n = status.size;
        Arrays out = nodes.release();
        out["status"] = status.release<Out<std::uint8_t>>({n});
        out["tolerance"] = tolerance.release<Out<double>>({n});
        out["remaining_actions"] = remaining_actions.release<OutRows<std::uint8_t>>({n, remaining_actions.size / n});
        out["remaining_variables"] = remaining_variables.release<OutRows<std::uint8_t>>({n, remaining_variables.size / n});
        return out;
    }
};

EliminationArrays arrays_of(const bf::Elimination& growth, const bf::Settings& settings) {
    const std::size_t n = growth.tree().size();
    EliminationArrays out{NodeArrays(growth.tree(), settings.n_actions), Buffer<std::uint8_t>(n), Buffer<double>(n),
                          Buffer<std::uint8_t>(n * settings.n_actions), Buffer<std::uint8_t>(n * settings.n_variables)};
    for (std::size_t i = 0; i < n; ++i) {
        const auto node = static_cast<bf::NodeId>(i);
        out.status.data[i] = static_cast<std::uint8_t>(growth.state(node).status);
        out.tolerance.data[i] = growth.state(node).tolerance;
        for (std::size_t k = 0; k < settings.n_actions; ++k) {
            out.nodes.set(i, k, known(growth, node, k));
            out.remaining_actions.data[i * settings.n_actions + k] = bf::contains(growth.remaining_actions(node), k);
        }
        bf::for_each(growth.remaining_variables(node),
                     [&](std::size_t v) { out.remaining_variables.data[i * settings.n_variables + v] = 1; });
    }
    return out;
}

struct GreedyArrays {
    NodeArrays nodes;
    Buffer<double> gain;

    Arrays release() {
        Arrays out = nodes.release();
        out["gain"] = gain.release<Out<double>>({gain.size});
        return out;
    }
};

GreedyArrays arrays_of(const bf::GreedyTree& growth, const bf::Settings& settings) {
    const std::size_t n = growth.tree().size();
    GreedyArrays out{NodeArrays(growth.tree(), settings.n_actions), Buffer<double>(n)};
    for (std::size_t i = 0; i < n; ++i) {
        const auto node = static_cast<bf::NodeId>(i);
        out.gain.data[i] = growth.gain(node);
        for (std::size_t k = 0; k < settings.n_actions; ++k) {
            out.nodes.set(i, k, known(growth, node, k));
        }
    }
    return out;
}

// The available action that a leaf votes for; -1 while it has not settled on one.
std::int64_t vote(const bf::Elimination& growth, bf::NodeId leaf, bf::ConstWords available) {
    std::vector<std::uint64_t> open(available.begin(), available.end());
    for (std::size_t w = 0; w < open.size(); ++w) {
        open[w] &= growth.remaining_actions(leaf)[w];
    }
    return bf::is_single(open) ? static_cast<std::int64_t>(bf::first(open)) : -1;
}

std::int64_t vote(const bf::GreedyTree& growth, bf::NodeId leaf, bf::ConstWords available) {
    std::size_t best = bf::first(available);
    bf::for_each(available, [&](std::size_t action) {
        best = known(growth, leaf, action).mean > known(growth, leaf, best).mean ? action : best;
    });
    return static_cast<std::int64_t>(best);
}

// How a context is decided at one moment: the probabilities, and in each tree its path and the leaf where it ends.
class ExplanationArrays {
   public:
    template <class Growth>
    ExplanationArrays(const bf::Forest<Growth>& forest, std::span<const std::uint8_t> context, bf::ConstWords available)
        : n_trees_(forest.settings().n_trees),
          n_actions_(forest.settings().n_actions),
          lengths_(n_trees_),
          votes_(n_trees_),
          plays_(n_trees_ * n_actions_),
          leaf_means_(n_trees_ * n_actions_) {
        const Growth& growth = forest.growth();
        const std::vector<std::uint32_t> leaves = forest.leaves(context);
        plan_ = forest.plan(context, available);
        mean_rewards_ = growth.mean_rewards(leaves);
        std::vector<std::uint64_t> packed(bf::words_for(forest.settings().n_variables + 1));
        bf::pack(context, packed);
        for (std::size_t t = 0; t < n_trees_; ++t) {
            const std::size_t before = tests_.size();
            const bf::NodeId leaf = growth.tree(t).tree().descend(packed, tests_);
            lengths_.data[t] = static_cast<std::int64_t>(tests_.size() - before);
            votes_.data[t] = vote(growth.tree(t), leaf, available);
            for (std::size_t k = 0; k < n_actions_; ++k) {
                const Known action = known(growth.tree(t), leaf, k);
                plays_.data[t * n_actions_ + k] = static_cast<std::int64_t>(action.plays);
                leaf_means_.data[t * n_actions_ + k] = action.mean;
            }
        }
    }

    Arrays release() {
        Arrays out;
        out["propensities"] = as_array(plan_.probabilities);
        out["mean_rewards"] = as_array(mean_rewards_);
        out["tests"] = as_array(tests_);
        out["lengths"] = lengths_.release<Out<std::int64_t>>({n_trees_});
        out["votes"] = votes_.release<Out<std::int64_t>>({n_trees_});
        out["plays"] = plays_.release<OutRows<std::int64_t>>({n_trees_, n_actions_});
        out["leaf_means"] = leaf_means_.release<OutRows<double>>({n_trees_, n_actions_});
        return out;
    }

   private:
    std::size_t n_trees_;
    std::size_t n_actions_;
    bf::Plan plan_;
    std::vector<double> mean_rewards_;   // by action
    std::vector<std::uint32_t> tests_;   // variables, one path after the other
    Buffer<std::int64_t> lengths_;       // by tree: tests of its path
    Buffer<std::int64_t> votes_;         // by tree
    Buffer<std::int64_t> plays_;         // by tree and action
    Buffer<double> leaf_means_;          // by tree and action
};

// Adds the plays of a node and the sums of its rewards, by action; says whether it knows of any.
bool recall(const bf::Elimination& growth, bf::NodeId node, std::size_t n_actions, double* plays, double* rewards) {
    for (std::size_t k = 0; k < n_actions; ++k) {
        if (const Known own = known(growth, node, k); own.plays > 0.0) {
            plays[k] += own.plays;
            rewards[k] += own.plays * own.mean;
        }
    }
    return true;
}

bool recall(const bf::GreedyTree& growth, bf::NodeId node, std::size_t n_actions, double* plays, double* rewards) {
    if (!growth.tree().is_leaf(node)) {
        return false;
    }
    for (std::size_t k = 0; k < n_actions; ++k) {
        const Known own = known(growth, node, k);
        plays[k] += own.plays;
        rewards[k] += own.plays * own.mean;
    }
    return true;
}

void prefetch(const bf::Elimination& growth, bf::NodeId leaf) { growth.prefetch(leaf); }
void prefetch(const bf::GreedyTree& growth, bf::NodeId leaf) { growth.leaves().prefetch(growth.tree().step(leaf).child); }

template <class GrowingTree>
std::vector<double> explained_variance(const GrowingTree& growth, std::size_t n_actions) {
    const bf::Tree& tree = growth.tree();
    for (bf::NodeId node = 0; node < tree.size(); ++node) {  // in this order misses overlap
        if (tree.is_leaf(node)) {
            prefetch(growth, node);
        }
    }
    return bf::explained_variance(tree, n_actions, [&](bf::NodeId node, double* plays, double* rewards) {
        return recall(growth, node, n_actions, plays, rewards);
    });
}

// What read(growth) gives back, computed while nobody learns and without the interpreter's lock.
template <class Forest, class Read>
auto read(const Forest& forest, Read&& read_growth) {
    const nb::gil_scoped_release unlocked;
    const std::shared_lock lock(forest.mutex());
    return read_growth(forest.growth());
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
                const std::vector<std::uint64_t> set = available_of(forest.settings().n_actions, available);
                const auto lock = lock_without_blocking<std::shared_lock<std::shared_mutex>>(forest.mutex());
                const bf::Choice choice = forest.decide_one(span_of(context), set);
                return std::make_pair(choice.action, choice.propensity);
            },
            "context"_a, "available"_a)
        .def(
            "learn",
            [](Forest& forest, const In<std::uint8_t>& context, std::size_t action, double reward, double propensity) {
                const auto lock = lock_without_blocking<std::unique_lock<std::shared_mutex>>(forest.mutex());
                forest.learn_one(span_of(context), action, reward, propensity);
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
                const std::vector<std::uint64_t> set = available_of(forest.settings().n_actions, available);
                return as_array(read(forest, [&](const Growth&) {
                    return forest.plan(span_of(context), set).probabilities;
                }));
            },
            "context"_a, "available"_a)
        .def(
            "votes",
            [](const Forest& forest, const In<std::uint8_t>& context, const In<bool>& available) {
                const std::vector<std::uint64_t> set = available_of(forest.settings().n_actions, available);
                return as_array(read(forest, [&](const Growth& growth) {
                    return growth.votes(forest.leaves(span_of(context)), set);
                }));
            },
            "context"_a, "available"_a)
        .def(
            "mean_rewards",
            [](const Forest& forest, const In<std::uint8_t>& context) {
                return as_array(read(forest, [&](const Growth& growth) {
                    return growth.mean_rewards(forest.leaves(span_of(context)));
                }));
            },
            "context"_a)
        .def(
            "explain",
            [](const Forest& forest, const In<std::uint8_t>& context, const In<bool>& available) {
                const std::vector<std::uint64_t> set = available_of(forest.settings().n_actions, available);
                return read(forest, [&](const Growth&) {
                           return ExplanationArrays(forest, span_of(context), set);
                       }).release();
            },
            "context"_a, "available"_a)
        .def(
            "explained_variance",
            [](const Forest& forest, std::size_t tree) {
                return as_array(read(forest, [&](const Growth& growth) {
                    return explained_variance(growth.tree(tree), forest.settings().n_actions);
                }));
            },
            "tree"_a)
        .def(
            "nodes",
            [](const Forest& forest, std::size_t tree) {
                return read(forest, [&](const Growth& growth) {
                           return arrays_of(growth.tree(tree), forest.settings());
                       }).release();
            },
            "tree"_a)
        .def(
            "max_depth",
            [](const Forest& forest, std::size_t tree) {
                return read(forest, [&](const Growth& growth) { return growth.tree(tree).max_depth(); });
            },
            "tree"_a)
        .def_prop_ro("n_events",
                     [](const Forest& forest) {
                         return read(forest, [&](const Growth&) { return forest.n_events(); });
                     })
        .def_prop_ro("n_nodes",
                     [](const Forest& forest) {
                         return read(forest, [](const Growth& growth) {
                             std::size_t nodes = 0;
                             for (const bf::Tree* tree : growth.shapes()) {
                                 nodes += tree->size();
                             }
                             return nodes;
                         });
                     })
        .def_prop_ro("n_bytes", [](const Forest& forest) {
            return sizeof(Forest) + read(forest, [](const Growth& growth) { return growth.n_bytes(); });
        });
}

}  // namespace

NB_MODULE(_core, m) {
    nb::set_leak_warnings(false);  // threads that run until the interpreter exits keep their forests: no news to users
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
               std::uint64_t seed, std::size_t n_threads) {
                new (self) bf::Settings{n_variables,    n_actions, n_trees, min_max_depth, max_max_depth,
                                        variable_share, max_nodes, seed,    n_threads};
            },
            nb::kw_only(), "n_variables"_a, "n_actions"_a, "n_trees"_a, "min_max_depth"_a, "max_max_depth"_a,
            "variable_share"_a, "max_nodes"_a, "seed"_a, "n_threads"_a);
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
               double shrinkage, double learning_share, std::size_t log_capacity, std::uint64_t lifetime,
               double greed, double optimism) {
                new (self) bf::GreedySettings{settings,     min_events, min_gain, shrinkage, learning_share,
                                              log_capacity, lifetime,   greed,    optimism};
            },
            "settings"_a, nb::kw_only(), "min_events"_a, "min_gain"_a, "shrinkage"_a, "learning_share"_a,
            "log_capacity"_a, "lifetime"_a, "greed"_a, "optimism"_a);
    bind_forest<bf::EliminationGrowth>(m, "EliminationForest");
    bind_forest<bf::GreedyGrowth>(m, "GreedyForest");
    bind_baselines(m);
}
