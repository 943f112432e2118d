// What all kernels share: how blocks and threads are counted, stored numbers, a decision's arithmetic.
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
#define ONLY __restrict__ // nothing else that is written lies there
#define OF_THREAD         // what a thread keeps in registers
#else
#include <cmath>
#include <cstring>
#define KERNEL extern "C" void
#define SMALL_KERNEL(threads, blocks) KERNEL
#define DEVICE static inline
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

#define EACH_LANE _Pragma("unroll") for (int i = 0; i < 4; i++)

DEVICE Four four(const float *place) { return *(const Four *)place; }
DEVICE void put(float *place, Four numbers) { *(Four *)place = numbers; }
DEVICE Four all(float number) { return {{number, number, number, number}}; }

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

// ---- stored numbers: float32, or halves for regrets and fractions of 32767 for averages

#ifdef HALVES
typedef Short Regret;
typedef short Fraction;
#define STEPS 32767.0f
DEVICE float widen(Regret bits) {
    float number;
#ifdef __CUDACC__
    asm("cvt.f32.f16 %0, %1;" : "=f"(number) : "h"(bits));
#else
    _Float16 half;
    memcpy(&half, &bits, 2);
    number = (float)half;
#endif
    return number;
}
DEVICE void narrow(Regret *place, float number) {
#ifdef __CUDACC__
    Short bits;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(number));
    *place = bits;
#else
    _Float16 half = (_Float16)number;
    memcpy(place, &half, 2);
#endif
}
DEVICE float widen(Fraction number) { return (float)number; }
DEVICE void keep_fraction(Fraction *place, float number, float wobble) {
    *place = (Fraction)rintf(number + wobble);
}
#else
typedef float Regret;
typedef float Fraction;
#define STEPS 1.0f
DEVICE float widen(float number) { return number; }
DEVICE void narrow(float *place, float number) { *place = number; }
DEVICE void keep_fraction(float *place, float number, float wobble) { *place = number; }
#endif

// ---- a decision of one hand; A actions, or `actions` of them where A is 0

struct Discounts { // `simd.iteration_weights.KernelWeights`
    float positive, negative, floor, average, weight, threshold, ahead, phase;
};

struct Shares {
    float factor, even; // max(number, 0) · factor + even
};

DEVICE float above(float number) { return number > 0.0f ? number : 0.0f; }

DEVICE Shares shares(float total, float whole, int actions) {
    Shares found;
    found.factor = total > TINY ? whole / total : 0.0f;
    found.even = total > TINY ? 0.0f : whole / actions;
    return found;
}

// What is added to a fraction before it is rounded: `kernels.dither`.
DEVICE float wobble_of(float phase, int hand) {
#ifdef HALVES
    float place = (float)(hand & 15) * 0.6180339887f;
    place = place - floorf(place) + phase;
    return ((place > 1.0f ? place - 1.0f : place) - 0.5f) * 0.992f;
#else
    return 0.0f;
#endif
}

// The other player's reach at a decision, shared out among its actions: rows [.., stride].
template <int A, typename Stored>
DEVICE void split_reach(const Stored *stored, float *rows, Long stride, int row, int child, int hand,
                        int run_time) {
    const int actions = A ? A : run_time;
    float numbers[A ? A : MOST_ACTIONS], total = 0.0f;
#pragma unroll
    for (int a = 0; a < actions; a++) {
        numbers[a] = above(widen(stored[16 * a]));
        total += numbers[a];
    }
    const Shares found = shares(total, rows[row * stride + hand], actions);
#pragma unroll
    for (int a = 0; a < actions; a++)
        rows[(child + a) * stride + hand] = numbers[a] * found.factor + found.even;
}

template <typename Stored>
DEVICE void split(const Stored *stored, float *rows, Long stride, int row, int child, int hand,
                  int actions) {
    switch (actions) { // known numbers stay in registers
    case 2: split_reach<2>(stored, rows, stride, row, child, hand, 2); break;
    case 3: split_reach<3>(stored, rows, stride, row, child, hand, 3); break;
    case 4: split_reach<4>(stored, rows, stride, row, child, hand, 4); break;
    default: split_reach<0>(stored, rows, stride, row, child, hand, actions);
    }
}

// The value of an own decision whose actions are worth values[a · stride]; regrets and mean move.
template <int A>
DEVICE float learn_actions(Regret *regrets, Fraction *average, const float *values, Long stride,
                           Discounts now, float wobble, bool locked, int run_time) {
    const int actions = A ? A : run_time;
    float stored[A ? A : MOST_ACTIONS], worth[A ? A : MOST_ACTIONS], total = 0.0f;
#pragma unroll
    for (int a = 0; a < actions; a++) {
        stored[a] = widen(regrets[16 * a]);
        worth[a] = values[a * stride];
        total += above(stored[a]);
    }
    const Shares played = shares(total, 1.0f, actions);
    float value = 0.0f, follow = 0.0f, gains = 0.0f;
#pragma unroll
    for (int a = 0; a < actions; a++)
        value += (above(stored[a]) * played.factor + played.even) * worth[a];
#pragma unroll
    for (int a = 0; a < actions; a++) {
        const float old = stored[a], gain = worth[a] - value;
        const float kept = old * (old > 0.0f ? now.positive : now.negative) + gain;
        const float updated = locked ? old : (kept > now.floor ? kept : now.floor);
        if (!locked) narrow(regrets + 16 * a, updated);
        follow += above(updated);
        gains += above(updated) * gain;
        if (now.weight > 0.0f) {
            const float chance = (above(old) * played.factor + played.even) * STEPS;
            const float mean = widen(average[16 * a]);
            keep_fraction(average + 16 * a, mean + now.weight * (chance - mean), wobble);
        }
    }
    return value + (follow > TINY ? gains * (now.ahead / follow) : 0.0f);
}

DEVICE float learn(Regret *regrets, Fraction *average, const float *values, Long stride,
                   Discounts now, float wobble, bool locked, int actions) {
    switch (actions) {
    case 2: return learn_actions<2>(regrets, average, values, stride, now, wobble, locked, 2);
    case 3: return learn_actions<3>(regrets, average, values, stride, now, wobble, locked, 3);
    case 4: return learn_actions<4>(regrets, average, values, stride, now, wobble, locked, 4);
    default: return learn_actions<0>(regrets, average, values, stride, now, wobble, locked, actions);
    }
}

// The value of an own decision under its average strategy.
DEVICE float play(const Fraction *average, const float *values, Long stride, int actions) {
    float total = 0.0f, value = 0.0f;
    for (int a = 0; a < actions; a++)
        total += above(widen(average[16 * a]));
    const Shares found = shares(total, 1.0f, actions);
    for (int a = 0; a < actions; a++)
        value += (above(widen(average[16 * a])) * found.factor + found.even) * values[a * stride];
    return value;
}

// The value of an own decision by its best action.
DEVICE float best(const float *values, Long stride, int actions) {
    float value = values[0];
    for (int a = 1; a < actions; a++)
        value = values[a * stride] > value ? values[a * stride] : value;
    return value;
}

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
