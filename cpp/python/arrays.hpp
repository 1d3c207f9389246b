// Arrays and locks at the door to Python, for all that is bound.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "python/unlocked.hpp"
#include "util/bits.hpp"
#include "policy/contexts.hpp"

namespace bandit_forest {

namespace nb = nanobind;

template <class T>
using In = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using InRows = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T>
using Out = nb::ndarray<nb::numpy, T, nb::ndim<1>>;
template <class T>
using OutRows = nb::ndarray<nb::numpy, T, nb::ndim<2>>;

// A row of codes (of std::uint8_t) or a mask (of bool): an array, or bytes, which are there at once.
template <class T>
struct Row {
    std::span<const std::uint8_t> values;
    std::optional<In<T>> array;  // whose values they are; none where they are those of bytes
};

template <class T>
struct Buffer {
    explicit Buffer(std::size_t n) : data(std::make_unique<T[]>(n)), size(n) {}

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

// What Python hands over has been checked; the following functions are the last door before the memory of the core.
inline void refuse_unless(bool fits, const char* reason) {
    if (!fits) {
        throw std::invalid_argument(reason);
    }
}

// The codes of one context.
inline std::span<const std::uint8_t> codes_of(const Row<std::uint8_t>& row, std::size_t n_variables) {
    refuse_unless(row.values.size() == n_variables, "a context has another number of variables");
    return row.values;
}

inline Contexts contexts_of(const InRows<std::uint8_t>& rows, std::size_t n_variables) {
    refuse_unless(rows.shape(1) == n_variables, "contexts have another number of variables");
    return {rows.data(), rows.shape(0), n_variables};
}

// The numbers of an array, which must be so many.
template <class T>
std::span<const T> span_of(const In<T>& array, std::size_t size) {
    refuse_unless(array.shape(0) == size, "an array has another length");
    return {array.data(), size};
}

// The same; nothing where there is no array.
template <class T>
std::span<const T> span_of(const std::optional<In<T>>& array, std::size_t size) {
    return array ? span_of(*array, size) : std::span<const T>();
}

// The numbers of all rows, one row after the other.
template <class T>
std::span<const T> span_of(const InRows<T>& rows, std::size_t n_rows, std::size_t n_columns) {
    refuse_unless(rows.shape(0) == n_rows && rows.shape(1) == n_columns, "an array has another shape");
    return {rows.data(), n_rows * n_columns};
}

inline std::size_t action_of(std::size_t action, std::size_t n_actions) {
    refuse_unless(action < n_actions, "there is no such action");
    return action;
}

// The actions of a batch, one for each event.
inline std::span<const std::int64_t> actions_of(const In<std::int64_t>& array, std::size_t n_events,
                                                std::size_t n_actions) {
    const std::span<const std::int64_t> actions = span_of(array, n_events);
    for (const std::int64_t action : actions) {
        action_of(static_cast<std::size_t>(action), n_actions);  // one below zero becomes a large one
    }
    return actions;
}

// The available actions as sets: one for all events, or one for each; a mask of no entries means all actions.
inline std::vector<std::uint64_t> available_of(std::size_t n_actions, const Row<bool>& mask, std::size_t n_events = 1) {
    const std::size_t n_entries = mask.values.size();
    refuse_unless(n_entries == 0 || n_entries == n_actions || n_entries == n_events * n_actions,
                  "a mask has another number of events or actions");
    const std::size_t words = words_for(n_actions);
    const std::size_t n_sets = n_entries == 0 ? 1 : n_entries / n_actions;
    std::vector<std::uint64_t> sets(n_sets * words, 0);
    if (n_entries == 0) {
        fill(sets, n_actions);
        return sets;
    }
    for (std::size_t event = 0; event < n_sets; ++event) {
        const Words set = Words(sets).subspan(event * words, words);
        const std::span<const std::uint8_t> entries = mask.values.subspan(event * n_actions, n_actions);
        bool any = false;
        for (std::size_t action = 0; action < n_actions; ++action) {
            if (entries[action] != 0) {
                insert(set, action);
                any = true;
            }
        }
        refuse_unless(any, "an event has no available action");
    }
    return sets;
}

// Takes the lock at once, or waits for it without the interpreter's lock. It is held with the interpreter's lock only, so
// that a fork never finds it held.
template <class Lock, class Mutex>
Lock lock_without_blocking(Mutex& mutex) {
    Lock lock(mutex, std::try_to_lock);
    while (!lock.owns_lock()) {
        {
            const Unlocked unlocked;
            const Lock waited(mutex);
        }
        lock.try_lock();
    }
    return lock;
}

}  // namespace bandit_forest

template <class T>
struct nanobind::detail::type_caster<bandit_forest::Row<T>> {
    using Array = make_caster<bandit_forest::In<T>>;
    NB_TYPE_CASTER(bandit_forest::Row<T>, Array::Name + const_name(" | bytes"))

    bool from_python(handle source, std::uint8_t flags, cleanup_list* cleanup) noexcept {
        const auto bytes_of = [](const void* data) { return static_cast<const std::uint8_t*>(data); };
        if (PyBytes_CheckExact(source.ptr())) {
            const auto size = static_cast<std::size_t>(PyBytes_Size(source.ptr()));
            value.values = {bytes_of(PyBytes_AsString(source.ptr())), size};
            return true;
        }
        Array array;
        if (!array.from_python(source, flags, cleanup)) {
            return false;
        }
        value.array = std::move(array.value);
        value.values = {bytes_of(value.array->data()), value.array->shape(0)};
        return true;
    }
};
