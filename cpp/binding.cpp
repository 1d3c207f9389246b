// The narrow door to Python: one class with numbers and contiguous arrays. Arguments have been checked in Python.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <tuple>
#include <utility>

#include "forest.hpp"

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

std::span<const std::uint8_t> context_of(const In<std::uint8_t>& row) { return {row.data(), row.shape(0)}; }

template <class T>
std::span<const T> span_of(const In<T>& array) {
    return {array.data(), array.shape(0)};
}

// The available actions as a set; a mask of no entries means all.
std::vector<std::uint64_t> available_of(const bf::Forest& forest, const In<bool>& mask) {
    const std::size_t n_actions = forest.settings().n_actions;
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

std::pair<std::int64_t, double> decide(bf::Forest& forest, const In<std::uint8_t>& context, const In<bool>& available) {
    std::int64_t action = 0;
    double propensity = 0.0;
    const std::vector<std::uint64_t> set = available_of(forest, available);
    const nb::gil_scoped_release unlocked;
    forest.decide({context.data(), 1, context.shape(0)}, set, {&action, 1}, {&propensity, 1});
    return {action, propensity};
}

void learn(bf::Forest& forest, const In<std::uint8_t>& context, std::int64_t action, double reward, double propensity) {
    const nb::gil_scoped_release unlocked;
    forest.learn({context.data(), 1, context.shape(0)}, {&action, 1}, {&reward, 1}, {&propensity, 1});
}

std::tuple<Out<std::int64_t>, Out<double>> decide_many(bf::Forest& forest, const InRows<std::uint8_t>& contexts, const In<bool>& available) {
    const std::size_t n = contexts.shape(0);
    Buffer<std::int64_t> actions(n);
    Buffer<double> propensities(n);
    const std::vector<std::uint64_t> set = available_of(forest, available);
    {
        const nb::gil_scoped_release unlocked;
        forest.decide(contexts_of(contexts), set, actions.span(), propensities.span());
    }
    return std::make_tuple(actions.release<Out<std::int64_t>>({n}), propensities.release<Out<double>>({n}));
}

void learn_many(bf::Forest& forest, const InRows<std::uint8_t>& contexts, const In<std::int64_t>& actions,
                const In<double>& rewards, const In<double>& propensities) {
    const nb::gil_scoped_release unlocked;
    forest.learn(contexts_of(contexts), span_of(actions), span_of(rewards), span_of(propensities));
}

std::tuple<Out<std::int64_t>, Out<double>, Out<double>> play(bf::Forest& forest, const InRows<std::uint8_t>& contexts, const InRows<double>& rewards) {
    const std::size_t n = contexts.shape(0);
    Buffer<std::int64_t> actions(n);
    Buffer<double> propensities(n);
    Buffer<double> earned(n);
    {
        const nb::gil_scoped_release unlocked;
        forest.play(contexts_of(contexts), {rewards.data(), rewards.shape(0) * rewards.shape(1)}, actions.span(),
                    propensities.span(), earned.span());
    }
    return std::make_tuple(actions.release<Out<std::int64_t>>({n}), propensities.release<Out<double>>({n}),
                          earned.release<Out<double>>({n}));
}

nb::dict nodes(const bf::Forest& forest, std::size_t number) {
    const std::size_t n_actions = forest.settings().n_actions;
    const std::size_t n_variables = forest.settings().n_variables;
    return forest.read_tree(number, [&](const bf::Elimination& growth) {
        const bf::Tree& tree = growth.tree();
        const std::size_t n = tree.size();
        Buffer<std::int64_t> parent(n), depth(n), variable(n), child(n), visits(n);
        Buffer<std::uint8_t> status(n), actions(n * n_actions), variables(n * n_variables);
        Buffer<double> tolerance(n), mean_rewards(n * n_actions);
        Buffer<std::int64_t> plays(n * n_actions);
        for (std::size_t i = 0; i < n; ++i) {
            const auto node = static_cast<bf::NodeId>(i);
            const bool leaf = tree.is_leaf(node);
            const bf::NodeState& state = growth.state(node);
            parent.data[i] = i == 0 ? -1 : static_cast<std::int64_t>(tree.path(node).parent);
            depth.data[i] = tree.path(node).depth;
            variable.data[i] = leaf ? -1 : static_cast<std::int64_t>(tree.step(node).variable);
            child.data[i] = leaf ? -1 : static_cast<std::int64_t>(tree.step(node).child);
            visits.data[i] = static_cast<std::int64_t>(state.visits);
            status.data[i] = static_cast<std::uint8_t>(state.status);
            tolerance.data[i] = state.tolerance;
            for (std::size_t k = 0; k < n_actions; ++k) {
                const bf::Tally& tally = growth.tallies(node)[k];
                plays.data[i * n_actions + k] = static_cast<std::int64_t>(tally.plays);
                mean_rewards.data[i * n_actions + k] =
                    tally.plays == 0 ? std::numeric_limits<double>::quiet_NaN()
                                     : tally.gain / growth.denominator(node, k);
                actions.data[i * n_actions + k] = bf::contains(growth.remaining_actions(node), k);
            }
            bf::for_each(growth.remaining_variables(node),
                         [&](std::size_t v) { variables.data[i * n_variables + v] = 1; });
        }
        nb::dict out;
        out["parent"] = parent.release<Out<std::int64_t>>({n});
        out["depth"] = depth.release<Out<std::int64_t>>({n});
        out["variable"] = variable.release<Out<std::int64_t>>({n});
        out["child"] = child.release<Out<std::int64_t>>({n});
        out["status"] = status.release<Out<std::uint8_t>>({n});
        out["visits"] = visits.release<Out<std::int64_t>>({n});
        out["tolerance"] = tolerance.release<Out<double>>({n});
        out["plays"] = plays.release<OutRows<std::int64_t>>({n, n_actions});
        out["mean_rewards"] = mean_rewards.release<OutRows<double>>({n, n_actions});
        out["remaining_actions"] = actions.release<OutRows<std::uint8_t>>({n, n_actions});
        out["remaining_variables"] = variables.release<OutRows<std::uint8_t>>({n, n_variables});
        return out;
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
               std::size_t min_max_depth, std::size_t max_max_depth, double delta, double min_tolerance,
               double max_tolerance, double variable_share, std::size_t test_interval, std::size_t max_nodes,
               std::uint64_t seed, double quorum, bf::Remaining remaining, bf::Estimate estimate,
               bf::Exploration exploration) {
                new (self) bf::Settings{n_variables,   n_actions,     n_trees,        min_max_depth, max_max_depth, delta,
                                        min_tolerance, max_tolerance, variable_share, test_interval, max_nodes,     seed,
                                        quorum,        remaining,     estimate,       exploration};
            },
            nb::kw_only(), "n_variables"_a, "n_actions"_a, "n_trees"_a, "min_max_depth"_a, "max_max_depth"_a, "delta"_a,
            "min_tolerance"_a, "max_tolerance"_a, "variable_share"_a, "test_interval"_a, "max_nodes"_a, "seed"_a,
            "quorum"_a, "remaining"_a, "estimate"_a, "exploration"_a);
    nb::class_<bf::Forest>(m, "Forest")
        .def(nb::init<const bf::Settings&>(), "settings"_a)
        .def(
            "__init__",
            [](bf::Forest* self, const bf::Settings& settings, const nb::bytes& saved) {
                new (self) bf::Forest(settings, std::span<const char>(saved.c_str(), saved.size()));
            },
            "settings"_a, "saved"_a)
        .def("save",
             [](const bf::Forest& forest) {
                 const std::string bytes = [&] {
                     const nb::gil_scoped_release unlocked;
                     return forest.save();
                 }();
                 return nb::bytes(bytes.data(), bytes.size());
             })
        .def("decide", &decide, "context"_a, "available"_a)
        .def("learn", &learn, "context"_a, "action"_a, "reward"_a, "propensity"_a)
        .def("decide_many", &decide_many, "contexts"_a, "available"_a)
        .def("learn_many", &learn_many, "contexts"_a, "actions"_a, "rewards"_a, "propensities"_a)
        .def("play", &play, "contexts"_a, "rewards"_a)
        .def(
            "propensities",
            [](const bf::Forest& forest, const In<std::uint8_t>& context, const In<bool>& available) {
                return as_array(forest.plan_for(context_of(context), available_of(forest, available)).probabilities);
            },
            "context"_a, "available"_a)
        .def(
            "votes",
            [](const bf::Forest& forest, const In<std::uint8_t>& context, const In<bool>& available) {
                return as_array(forest.plan_for(context_of(context), available_of(forest, available)).votes);
            },
            "context"_a, "available"_a)
        .def(
            "mean_rewards",
            [](const bf::Forest& forest, const In<std::uint8_t>& context) {
                return as_array(forest.mean_rewards(context_of(context)));
            },
            "context"_a)
        .def(
            "leaves",
            [](const bf::Forest& forest, const In<std::uint8_t>& context) {
                return as_array(forest.leaves(context_of(context)));
            },
            "context"_a)
        .def("nodes", &nodes, "tree"_a)
        .def("max_depth",
             [](const bf::Forest& forest, std::size_t tree) {
                 return forest.read_tree(tree, [](const bf::Elimination& growth) { return growth.max_depth(); });
             },
             "tree"_a)
        .def_prop_ro("n_events", &bf::Forest::n_events)
        .def_prop_ro("n_nodes", &bf::Forest::n_nodes)
        .def_prop_ro("n_bytes", &bf::Forest::n_bytes);
}
