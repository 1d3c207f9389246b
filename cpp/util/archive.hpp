// Saving and loading as one list of fields: each part has archive(Archive&), which names its vectors once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace bandit_forest {

class Writer {
   public:
    static constexpr bool loading = false;

    template <class T>
    void operator()(const T& value) {
        static_assert(std::is_trivially_copyable_v<T>);
        append(&value, sizeof(T));
    }

    // The length is written in units of `unit` values.
    template <class T, class Allocator>
    void operator()(const std::vector<T, Allocator>& values, std::size_t unit = 1) {
        static_assert(std::is_trivially_copyable_v<T>);
        (*this)(static_cast<std::uint64_t>(values.size() / unit));
        append(values.data(), values.size() * sizeof(T));
    }

    void array(const double* values, std::size_t n) { append(values, n * sizeof(double)); }

    std::string bytes;  // everything written so far

   private:
    void append(const void* from, std::size_t size) {
        if (size != 0) {
            bytes.append(static_cast<const char*>(from), size);
        }
    }
};

class Reader {
   public:
    static constexpr bool loading = true;

    explicit Reader(std::span<const char> bytes) : rest_(bytes) {}

    template <class T>
    void operator()(T& value) {
        static_assert(std::is_trivially_copyable_v<T>);
        take(&value, 1, sizeof(T));
    }

    template <class T, class Allocator>
    void operator()(std::vector<T, Allocator>& values, std::size_t unit = 1) {
        static_assert(std::is_trivially_copyable_v<T>);
        std::uint64_t size = 0;
        (*this)(size);
        if (size > rest_.size() / (sizeof(T) * unit)) {
            throw std::invalid_argument("an array is longer than the file");
        }
        values.resize(size * unit);
        take(values.data(), values.size(), sizeof(T));
    }

    void array(double* values, std::size_t n) { take(values, n, sizeof(double)); }

    void finish() const {
        if (!rest_.empty()) {
            throw std::invalid_argument("there are bytes after the last array");
        }
    }

   private:
    void take(void* to, std::size_t n, std::size_t size) {
        if (rest_.size() / size < n) {
            throw std::invalid_argument("the arrays end too early");
        }
        if (n != 0) {
            std::memcpy(to, rest_.data(), n * size);
            rest_ = rest_.subspan(n * size);
        }
    }

    std::span<const char> rest_;  // what has not been read yet
};

// Refuses a loaded state that the engine could not have written.
inline void require(bool holds, const char* what) {
    if (!holds) {
        throw std::invalid_argument(what);
    }
}

}  // namespace bandit_forest
