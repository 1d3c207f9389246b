// Large arrays on huge pages: random access to hundreds of megabytes misses the address cache otherwise.
#pragma once

#include <cstddef>
#include <cstdlib>
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
        const std::size_t alignment = bytes >= large ? page : alignof(T) < 64 ? 64 : alignof(T);
        void* const memory = ::operator new(bytes, std::align_val_t(alignment));
#if defined(__linux__)
        if (bytes >= large) {
            madvise(memory, bytes, MADV_HUGEPAGE);  // a wish: without huge pages all is the same but for speed
        }
#endif
        return static_cast<T*>(memory);
    }

    void deallocate(T* memory, std::size_t n) {
        const std::size_t alignment = n * sizeof(T) >= large ? page : alignof(T) < 64 ? 64 : alignof(T);
        ::operator delete(memory, std::align_val_t(alignment));
    }

    bool operator==(const HugePages&) const { return true; }

   private:
    static constexpr std::size_t page = std::size_t{1} << 21U;
    static constexpr std::size_t large = page;  // smaller arrays stay on ordinary pages
};

template <class T>
using LargeVector = std::vector<T, HugePages<T>>;

}  // namespace bandit_forest
