// Large arrays on huge pages: random access to hundreds of megabytes misses the address cache otherwise.
#pragma once

#include <algorithm>
#include <cstddef>
#include <new>
#include <vector>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace bandit_forest {

template <class T>
class HugePages {
   public:
    using value_type = T;

    HugePages() = default;
    template <class U>
    HugePages(const HugePages<U>&) {}  // NOLINT: allocators convert

    T* allocate(std::size_t n) {
        const std::size_t bytes = n * sizeof(T);
        void* const memory = ::operator new(bytes, alignment(bytes));
#if defined(__linux__)
        if (bytes >= page) {
            madvise(memory, bytes, MADV_HUGEPAGE);  // a wish: without huge pages all is the same but for speed
        }
#endif
        return static_cast<T*>(memory);
    }

    void deallocate(T* memory, std::size_t n) {
        ::operator delete(memory, alignment(n * sizeof(T)));
    }

    bool operator==(const HugePages&) const { return true; }

   private:
    static constexpr std::size_t page = std::size_t{1} << 21U;  // smaller arrays stay on ordinary pages

    static std::align_val_t alignment(std::size_t bytes) {
        return std::align_val_t(bytes >= page ? page : std::max<std::size_t>(64, alignof(T)));
    }
};

template <class T>
using LargeVector = std::vector<T, HugePages<T>>;

}  // namespace bandit_forest
