// What all kernels share: how blocks and threads are counted, copies, unrolling, sums of regrets.
//
// A kernel takes one pointer, to a structure of numbers and addresses. It is written in loops that
// any number of threads may share (THREAD, THREADS), with SYNC between the phases of a block. One
// thread is such a number: compiled as plain C++, the same file runs on a processor, block after
// block, and tests need no GPU. So are the HOST_TEAM threads of a processor.

#ifdef __CUDACC__
#define KERNEL extern "C" __global__ void
// The same with so many threads at most, of which so many blocks share a multiprocessor.
#define SMALL_KERNEL(threads, blocks) KERNEL __launch_bounds__(threads, blocks)
#define DEVICE __device__ __forceinline__
#define THREAD ((int)threadIdx.x)
#define THREADS ((int)blockDim.x)
#define BLOCK ((int)blockIdx.x)
#define SYNC() __syncthreads()
#define SHARED(name) extern __shared__ float name[]
#define METHOD __device__ __forceinline__
#define PHASE static __device__ __noinline__ void // keeps its registers to itself
#define ONLY __restrict__ // nothing else that is written lies there
#define OF_THREAD         // what a thread keeps in registers
#else
#include <cmath>
#include <cstring>
#define KERNEL extern "C" void
#define SMALL_KERNEL(threads, blocks) KERNEL
#define DEVICE static inline
#define METHOD inline
#define PHASE static void
#ifdef HOST_TEAM // so many threads of a processor are those of a block: SYNC is put to the test
#include <atomic>
#include <thread>
static std::atomic<int> arrived, phase;
static void meet() {
    const int now = phase;
    if (++arrived == HOST_TEAM) {
        arrived = 0;
        phase++;
    } else {
        while (phase == now) std::this_thread::yield();
    }
}
static thread_local int thread_number;
#define THREAD thread_number
#define THREADS HOST_TEAM
#define SYNC() meet()
#define OF_BLOCK static
#else
#define THREAD 0
#define THREADS 1
#define SYNC()
#define OF_BLOCK static thread_local
#endif
OF_BLOCK int BLOCK;
alignas(16) OF_BLOCK float shared_memory[1 << 16];
#define SHARED(name) float *name = shared_memory
#define ONLY
#define OF_THREAD static thread_local // may be large
#endif

typedef unsigned char Byte;
typedef unsigned short Short;
typedef long long Long;

struct alignas(16) Four { // numbers side by side, read and written at once
    float lane[4];
};
struct alignas(8) Two {
    float lane[2];
};
DEVICE Four operator+(Four a, Four b) {
    return {a.lane[0] + b.lane[0], a.lane[1] + b.lane[1], a.lane[2] + b.lane[2],
            a.lane[3] + b.lane[3]};
}
DEVICE Four operator-(Four a, Four b) {
    return {a.lane[0] - b.lane[0], a.lane[1] - b.lane[1], a.lane[2] - b.lane[2],
            a.lane[3] - b.lane[3]};
}

#define UNROLL _Pragma("unroll")
#define EACH_LANE UNROLL for (int i = 0; i < 4; i++)

DEVICE Four four(const float *place) { return *(const Four *)place; }
DEVICE void put(float *place, Four numbers) { *(Four *)place = numbers; }
DEVICE Four all(float number) { return {{number, number, number, number}}; }

// Quotient and remainder, in 32 bits: a division of 64 takes a GPU several times as long.
DEVICE int quotient(int number, Long by) { return (int)((unsigned)number / (unsigned)by); }
DEVICE int modulo(int number, Long by) { return (int)((unsigned)number % (unsigned)by); }

DEVICE int hands_on(const int *start, int board) { return start[board + 1] - start[board]; }

// Copies into shared memory that go on while a block computes, of sixteen bytes or of one number.
DEVICE void copy_soon(void *to, const void *from) {
#ifdef __CUDACC__
    const unsigned place = (unsigned)__cvta_generic_to_shared(to);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(place), "l"(from) : "memory");
#else
    memcpy(to, from, 16);
#endif
}
DEVICE void copy_number_soon(float *to, const float *from) {
#ifdef __CUDACC__
    const unsigned place = (unsigned)__cvta_generic_to_shared(to);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(place), "l"(from) : "memory");
#else
    *to = *from;
#endif
}
#ifdef __CUDACC__
#define COPIES_END() asm volatile("cp.async.commit_group;" ::: "memory")
#define ALL_BUT_LAST_COPIED() asm volatile("cp.async.wait_group 1;" ::: "memory")
#define ALL_COPIED() asm volatile("cp.async.wait_all;" ::: "memory")
#else
#define COPIES_END()
#define ALL_BUT_LAST_COPIED()
#define ALL_COPIED()
#endif

#define TINY 1e-30f         // sums of positive numbers that are no larger count as 0
#define MOST_ACTIONS 12

// What a pass is for: `exact.kernels.layout`.
#define UPDATE 0
#define BEST_RESPONSE 1
#define EVALUATE 2

// Work for a number of actions that the compiler knows if it is small: known numbers stay in
// registers. `count` is 0 where it does not.
template <int COUNT> struct Known {
    static constexpr int count = COUNT;
};
template <int MOST, typename Work> DEVICE auto by_actions(int actions, const Work &work) {
    switch (actions) {
    case 2: return work(Known<2>());
    case 3: return work(Known<3>());
    case 4: return work(Known<MOST < 4 ? 0 : 4>());
    case 5: return work(Known<MOST < 5 ? 0 : 5>());
    default: return work(Known<0>());
    }
}

DEVICE float above(float number) { return number > 0.0f ? number : 0.0f; }

// ---- regrets that are positive: their sum and the largest one of a block's, into to[0] and to[1];
// twelve bytes of shared memory a thread

struct PositiveRegrets {
    double total;
    float largest;
};

DEVICE void note(PositiveRegrets &found, float regret) {
    found.total += above(regret);
    found.largest = regret > found.largest ? regret : found.largest;
}

DEVICE void add_up(PositiveRegrets found, double *to) {
    SHARED(partial);
    double *totals = (double *)partial;
    float *largest = partial + 2 * THREADS;
    totals[THREAD] = found.total;
    largest[THREAD] = found.largest;
    SYNC();
    if (THREAD != 0) return;
    for (int other = 1; other < THREADS; other++) {
        found.total += totals[other];
        found.largest = largest[other] > found.largest ? largest[other] : found.largest;
    }
    to[0] = found.total;
    to[1] = found.largest;
}
