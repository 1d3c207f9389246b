#include "tree/tree.hpp"

#include <algorithm>

#include "policy/random.hpp"

namespace bandit_forest {

namespace {

inline void prefetch([[maybe_unused]] const void* address) {
#if defined(__GNUC__)
    __builtin_prefetch(address);
#endif
}

// Descents in step. When as many have been added as fit, they are made.
class Descents {
   public:
    explicit Descents(std::uint32_t leaf) : leaf_(leaf) {}

    void add(const Tree& tree, const std::uint8_t* values, std::uint32_t* label) {
        steps_[size_] = tree.steps();
        values_[size_] = values;
        labels_[size_] = label;
        nodes_[size_] = 0;
        moving_[size_] = static_cast<std::uint8_t>(size_);
        if (++size_ == most) {
            finish();
        }
    }

    void finish() {
        for (std::size_t n_moving = size_; n_moving > 0;) {
            std::size_t left = 0;
            for (std::size_t k = 0; k < n_moving; ++k) {
                const std::uint8_t i = moving_[k];
                const Step step = steps_[i][nodes_[i]];
                const std::uint32_t variable = step.test.variable();
                const bool inner = variable != leaf_;
                nodes_[i] = step.child + (values_[i][variable] >= step.test.threshold() ? 1U : 0U);  // of a leaf, its label
                prefetch(steps_[i] + (inner ? nodes_[i] : 0));
                moving_[left] = i;
                left += inner ? 1 : 0;
            }
            n_moving = left;
        }
        for (std::size_t i = 0; i < size_; ++i) {
            *labels_[i] = nodes_[i];
        }
        size_ = 0;
    }

   private:
    static constexpr std::size_t most = 128;  // more than the cache misses that fit into a core: when a descent is due, its step is there

    std::uint32_t leaf_;                // what a leaf tests: the spare zero behind the values
    std::size_t size_ = 0;              // descents that have been added
    std::uint8_t moving_[most];         // those that have not reached a leaf
    const Step* steps_[most];           // of their trees
    const std::uint8_t* values_[most];  // of their contexts
    std::uint32_t* labels_[most];       // where the labels of their leaves go
    NodeId nodes_[most];                // where they are; the label of the leaf when they have reached it
};

// Adds up, from the leaves to the root, what the nodes of a tree know.
class Explainer {
   public:
    Explainer(const Tree& tree, std::size_t n_actions, const Recall& recall)
        : variances(tree.n_variables(), 0.0),
          tree_(tree),
          n_actions_(n_actions),
          recall_(recall),
          totals_((tree.levels() + std::size_t{1}) * 2 * n_actions) {
        visit(0, totals_.data());
    }

    std::vector<double> variances;  // by variable

   private:
    struct Summary {
        double between;  // sum over the actions of rewards² / plays
        double chance;   // sum over the actions of the largest variance that rewards of such a mean can have
    };

    // Writes the plays, then the rewards of a node and all below it; those below use what follows.
    Summary visit(NodeId node, double* totals) {
        if (tree_.is_leaf(node)) {
            std::fill_n(totals, 2 * n_actions_, 0.0);
            recall_(node, totals, totals + n_actions_);
            return summary(totals);
        }
        const Step step = tree_.step(node);
        double* const below = totals + 2 * n_actions_;
        const Summary no = visit(step.child, totals);
        const Summary yes = visit(step.child + 1, below);
        for (std::size_t i = 0; i < 2 * n_actions_; ++i) {
            totals[i] += below[i];
        }
        const Summary both = summary(totals);
        variances[step.test.variable()] += std::max(no.between + yes.between - both.between - both.chance, 0.0);
        return recall_(node, totals, totals + n_actions_) ? summary(totals) : both;
    }

    Summary summary(const double* totals) const {
        Summary sums{0.0, 0.0};
        for (std::size_t action = 0; action < n_actions_; ++action) {
            const double rewards = totals[n_actions_ + action];
            const double mean = rewards / std::max(totals[action], 1.0);
            sums.between += rewards * mean;
            sums.chance += std::max(mean * (1.0 - mean), 0.0);
        }
        return sums;
    }

    const Tree& tree_;
    std::size_t n_actions_;
    const Recall& recall_;
    std::vector<double> totals_;  // by level
};

}  // namespace

Tree::Tree(std::size_t n_variables, std::uint64_t key)
    : n_variables_(n_variables),
      steps_{{Test(static_cast<std::uint32_t>(n_variables), 1), 0}},
      paths_{{key, 0, 0}} {}

NodeId Tree::split(NodeId leaf, Test test) {
    assert(is_leaf(leaf) && test.variable() < n_variables_);
    const auto child = static_cast<NodeId>(steps_.size());
    const Path path = paths_[leaf];
    steps_[leaf] = {test, child};
    for (std::uint32_t value = 0; value < 2; ++value) {
        steps_.push_back({Test(static_cast<std::uint32_t>(n_variables_), 1), child + value});
        paths_.push_back({child_key(path.key, test.bits(), value), leaf, path.depth + 1});
    }
    levels_ = std::max(levels_, path.depth + 1);
    return child;
}

NodeId Tree::descend(std::span<const std::uint8_t> context, std::vector<Test>& tests) const {
    NodeId node = 0;
    while (!is_leaf(node)) {
        const Step step = steps_[node];
        tests.push_back(step.test);
        node = step.child + (context[step.test.variable()] >= step.test.threshold() ? 1U : 0U);
    }
    return node;
}

std::vector<std::uint32_t> Tree::free_variables(NodeId node) const {
    std::vector<std::uint8_t> used(n_variables_, 0);
    while (node != 0) {
        node = paths_[node].parent;
        used[steps_[node].test.variable()] = 1;
    }
    std::vector<std::uint32_t> free;
    for (std::uint32_t variable = 0; variable < n_variables_; ++variable) {
        if (used[variable] == 0) {
            free.push_back(variable);
        }
    }
    return free;
}

std::size_t Tree::n_bytes() const { return steps_.capacity() * sizeof(Step) + paths_.capacity() * sizeof(Path); }

void Tree::check() {
    require(!steps_.empty() && steps_.size() == paths_.size(), "a tree's arrays differ in length");
    require(paths_[0].parent == 0 && paths_[0].depth == 0, "a tree's root is not a root");
    levels_ = 0;
    std::size_t next = 1;  // children are made in pairs: each pair must be claimed by one earlier split
    for (std::size_t node = 0; node < steps_.size(); ++node) {
        const Step& step = steps_[node];
        require(step.test.variable() <= n_variables_, "a node tests an unknown variable");
        if (is_leaf(static_cast<NodeId>(node))) {
            continue;
        }
        require(step.child > node && step.child % 2 == 1 && step.child + std::size_t{1} < steps_.size(),
                "a node leads outside its tree");
        for (std::size_t child = step.child; child < step.child + std::size_t{2}; ++child) {
            require(paths_[child].parent == node && paths_[child].depth == paths_[node].depth + 1,
                    "a node does not know its parent");
        }
        levels_ = std::max(levels_, paths_[node].depth + 1);
        next += 2;
    }
    require(next == steps_.size(), "a node belongs to no path");
}

void route(std::span<const Tree* const> trees, std::span<const std::uint8_t> contexts, std::uint32_t* labels,
           std::size_t stride) {
    if (trees.empty()) {  // there may be more threads than trees
        return;
    }
    const std::size_t length = trees.front()->n_variables() + 1;
    const std::size_t n_contexts = contexts.size() / length;
    assert(contexts.size() % length == 0 && trees.size() <= stride);
    Descents descents(static_cast<std::uint32_t>(length - 1));
    for (std::size_t tree = 0; tree < trees.size(); ++tree) {
        for (std::size_t context = 0; context < n_contexts; ++context) {
            descents.add(*trees[tree], contexts.data() + context * length, labels + context * stride + tree);
        }
    }
    descents.finish();
}

std::vector<double> explained_variance(const Tree& tree, std::size_t n_actions, const Recall& recall) {
    return Explainer(tree, n_actions, recall).variances;
}

}  // namespace bandit_forest
