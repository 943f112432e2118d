// Rows of reach times the two matrices of a river board, on tensor cores.
//
// A warp multiplies sixteen rows [16, BUCKETS] with COLUMNS · 8 columns of the matrices and keeps the
// sums in its registers. The matrices hold whole numbers up to 127, which bf16 holds as they are; a
// number of a row is the sum of three bf16, so products are those of single precision, and sums are.
// For every 16 numbers of its rows a warp issues 2 ldmatrix, 52 instructions that scale and split,
// and for 8 columns 1 LDS.64 and 3 mma: 103 in all for 16,384 multiply-adds with 64 columns.
//
// Compiled as C++, one thread is a warp: its 32 lanes follow each other, and `mma` does what that of
// a GPU does to their registers.

#define LINE (BUCKETS + 4) // rows stand apart: eight of them are in different banks
#define ROWS_OF_TILE 16
#define COLUMNS (BUCKETS / 8 / PARTS) // tiles of eight columns that a warp works on
#define HALF_MATRIX (BUCKETS * BUCKETS / 2) // words of a matrix: two bf16 each

#ifdef __CUDACC__
#define WARP (THREAD / 32)
#define WARPS (THREADS / 32)
#define SLOTS 1 // lanes whose registers a thread has
#define EACH_SLOT for (int slot = 0; slot < 1; slot++)
#define LANE_OF(slot) (THREAD % 32)
// Where a lane reads: eight lanes give the rows of a block of 8 × 4 numbers, and get one of each.
#define ROW_ASKED(lane) ((lane) % 8)
#define PLACE_ASKED(lane) (4 * ((lane) / 8))
#define TASKS HELD
#else
#define WARP THREAD
#define WARPS THREADS
#define SLOTS 32
#define EACH_SLOT for (int slot = 0; slot < 32; slot++)
#define LANE_OF(slot) (slot)
#define ROW_ASKED(lane) ((lane) / 4)
#define PLACE_ASKED(lane) ((lane) % 4)
#define TASKS (HELD * PLAYERS / 32)
#endif

#define SHOWS 1 // what a tile of terms has
#define FOLDS 2
#define RAKES 4

struct alignas(16) Term { // what a row of values is the sum of
    int value;            // −1: fills up a tile
    int show, fold, rake; // rows of reach: times the margins, and twice times the pairs
    float show_factor, fold_factor, rake_factor;
    int kinds; // of its tile
};

typedef unsigned Word;

DEVICE Word bits(float number) {
    Word found;
#ifdef __CUDACC__
    found = __float_as_uint(number);
#else
    memcpy(&found, &number, 4);
#endif
    return found;
}
DEVICE float number_of(Word bits) {
#ifdef __CUDACC__
    return __uint_as_float(bits);
#else
    float found;
    memcpy(&found, &bits, 4);
    return found;
#endif
}

// The first sixteen bits of two numbers: bf16 that are no larger, the first one below.
DEVICE Word pair_of(float first, float second) {
#ifdef __CUDACC__
    return __byte_perm(bits(first), bits(second), 0x7632);
#else
    return bits(first) >> 16 | (bits(second) & 0xffff0000u);
#endif
}
DEVICE float rest(float number) { return number - number_of(bits(number) & 0xffff0000u); }

struct Rows { // a lane's share of [16, 16] numbers: rows l / 4 and that + 8, places l % 4 + 0, 4, 8, 12
    float upper[4], lower[4];
};
struct Halves { // as bf16, two a word, as `mma` takes them
    Word word[4];
};
struct Sums { // of [16, 8 · COLUMNS]
    float at[COLUMNS][4];
};

DEVICE void read_four(const float *place, float *numbers) {
#ifdef __CUDACC__
    const unsigned from = (unsigned)__cvta_generic_to_shared(place);
    Word found[4];
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(found[0]), "=r"(found[1]), "=r"(found[2]), "=r"(found[3])
                 : "r"(from)
                 : "memory");
    EACH_LANE numbers[i] = number_of(found[i]);
#else
    EACH_LANE numbers[i] = place[4 * i];
#endif
}

// sums [16, 8] += rows [16, 16] · matrix [16, 8], for all lanes of a warp.
DEVICE void mma(Sums *sums, int column, const Halves *rows, const Word (*matrix)[2]) {
#ifdef __CUDACC__
    float *to = sums[0].at[column];
    const Word *a = rows[0].word, *b = matrix[0];
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(to[0]), "+f"(to[1]), "+f"(to[2]), "+f"(to[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#else
    float a[16][16], b[16][8], c[16][8]; // gathered from the lanes
    for (int lane = 0; lane < 32; lane++)
        for (int i = 0; i < 4; i++) {
            const int row = lane / 4 + i % 2 * 8, place = lane % 4 * 2 + i / 2 * 8;
            a[row][place] = number_of(rows[lane].word[i] << 16);
            a[row][place + 1] = number_of(rows[lane].word[i] & 0xffff0000u);
            c[lane / 4 + i / 2 * 8][lane % 4 * 2 + i % 2] = sums[lane].at[column][i];
            if (i >= 2) continue;
            b[lane % 4 * 2 + i * 8][lane / 4] = number_of(matrix[lane][i] << 16);
            b[lane % 4 * 2 + i * 8 + 1][lane / 4] = number_of(matrix[lane][i] & 0xffff0000u);
        }
    for (int row = 0; row < 16; row++)
        for (int k = 0; k < 16; k++)
            for (int mine = 0; mine < 8; mine++) c[row][mine] += a[row][k] * b[k][mine];
    for (int lane = 0; lane < 32; lane++)
        for (int i = 0; i < 4; i++)
            sums[lane].at[column][i] = c[lane / 4 + i / 2 * 8][lane % 4 * 2 + i % 2];
#endif
}

// Where the words of a lane stand in a matrix, for the 16 rows from 16 · step on and 8 columns.
// Columns that are written together go to different banks.
DEVICE int words_at(int step, int column, int lane) {
    return 2 * ((step * (BUCKETS / 8) + column) * 32 + (lane ^ column % 4 * 4));
}

// A board's matrix [OOP's bucket][IP's], as words by the opponent's bucket and then by the player's: a
// lane has its numbers of column l / 4 in rows l % 4 + 0, 4 and + 8, 12.
DEVICE void take_matrix(const signed char *stored, bool turned, Word *matrix) {
    if (turned) { // the player's buckets stand in rows
        for (int task = THREAD; task < BUCKETS / 16 * BUCKETS; task += THREADS) {
            const int mine = task % BUCKETS, step = task / BUCKETS;
            const Four bytes = four((const float *)(stored + mine * BUCKETS + 16 * step));
            Word found[8];
            EACH_LANE {
                const int shift = 8 * i;
                float number[4];
                for (int j = 0; j < 4; j++)
                    number[j] = (signed char)(bits(bytes.lane[j]) >> shift);
                found[2 * i] = pair_of(number[0], number[1]);
                found[2 * i + 1] = pair_of(number[2], number[3]);
            }
            float *to = (float *)(matrix + words_at(step, mine / 8, mine % 8 * 4));
            put(to, {number_of(found[0]), number_of(found[1]), number_of(found[2]),
                     number_of(found[3])});
            put(to + 4, {number_of(found[4]), number_of(found[5]), number_of(found[6]),
                         number_of(found[7])});
        }
        return;
    }
    for (int task = THREAD; task < BUCKETS / 4 * QUARTERS; task += THREADS) {
        const int mine = task % QUARTERS * 4, row = task / QUARTERS % 4, step = task / QUARTERS / 4;
        const signed char *from = stored + (16 * step + row) * BUCKETS + mine;
        Word bytes[4];
        EACH_LANE bytes[i] = *(const Word *)(from + 4 * i * BUCKETS);
        EACH_LANE {
            const int shift = 8 * i;
            float number[4];
            for (int j = 0; j < 4; j++) number[j] = (signed char)(bytes[j] >> shift);
            Word *to = matrix + words_at(step, (mine + i) / 8, (mine + i) % 8 * 4 + row);
            to[0] = pair_of(number[0], number[1]);
            to[1] = pair_of(number[2], number[3]);
        }
    }
}

// sums += rows of sixteen terms · a matrix. `second`: there are rows to be added to the first ones.
template <bool SECOND>
DEVICE void multiply(const float *rows, const Word *matrix, const int (*places)[4],
                     const float (*factors)[4], int first_column, Sums *sums) {
#pragma unroll 1
    for (int step = 0; step < BUCKETS / 16; step++) {
        Rows here[SLOTS];
        EACH_SLOT {
            const int from = 16 * step;
            read_four(rows + places[slot][0] + from, here[slot].upper);
            read_four(rows + places[slot][1] + from, here[slot].lower);
            EACH_LANE here[slot].upper[i] *= factors[slot][0];
            EACH_LANE here[slot].lower[i] *= factors[slot][1];
            if (SECOND) {
                Rows more;
                read_four(rows + places[slot][2] + from, more.upper);
                read_four(rows + places[slot][3] + from, more.lower);
                EACH_LANE here[slot].upper[i] += factors[slot][2] * more.upper[i];
                EACH_LANE here[slot].lower[i] += factors[slot][3] * more.lower[i];
            }
        }
        Halves halves[3][SLOTS];
        UNROLL for (int part = 0; part < 3; part++)
            EACH_SLOT {
                Rows &left = here[slot];
                Word *to = halves[part][slot].word;
                to[0] = pair_of(left.upper[0], left.upper[1]);
                to[1] = pair_of(left.lower[0], left.lower[1]);
                to[2] = pair_of(left.upper[2], left.upper[3]);
                to[3] = pair_of(left.lower[2], left.lower[3]);
                if (part == 2) continue;
                EACH_LANE left.upper[i] = rest(left.upper[i]);
                EACH_LANE left.lower[i] = rest(left.lower[i]);
            }
        UNROLL for (int column = 0; column < COLUMNS; column++) {
            Word words[SLOTS][2];
            EACH_SLOT {
                const Word *from = matrix + words_at(step, first_column + column, LANE_OF(slot));
                words[slot][0] = from[0];
                words[slot][1] = from[1];
            }
            UNROLL for (int part = 0; part < 3; part++) mma(sums, column, halves[part], words);
        }
    }
}

// Rows and factors of a tile's terms for the lanes of a warp.
DEVICE void ask(const Term *terms, int Term::*row, float Term::*factor, int which, float one,
                int (*places)[4], float (*factors)[4]) {
    EACH_SLOT
        for (int half = 0; half < 2; half++) {
            const int lane = LANE_OF(slot);
            const Term &asked = terms[8 * half + ROW_ASKED(lane)];
            places[slot][which + half] = asked.*row * LINE + PLACE_ASKED(lane);
            factors[slot][which + half] = one * (terms[8 * half + lane / 4].*factor);
        }
}

// What a tile's rows of values are, for some columns; `one` is the number that stands for 1.
DEVICE void sum_tile(const float *rows, const Word *margin, const Word *pairs, const Term *terms,
                     int first_column, float one, float sign, Sums *sums) {
    int places[SLOTS][4];
    float factors[SLOTS][4];
    const int kinds = terms[0].kinds;
    EACH_SLOT
        for (int column = 0; column < COLUMNS; column++)
            EACH_LANE sums[slot].at[column][i] = 0.0f;
    if (kinds & SHOWS) {
        ask(terms, &Term::show, &Term::show_factor, 0, sign * one, places, factors);
        multiply<false>(rows, margin, places, factors, first_column, sums);
    }
    if (kinds & FOLDS) {
        ask(terms, &Term::fold, &Term::fold_factor, 0, one, places, factors);
        if (kinds & RAKES) {
            ask(terms, &Term::rake, &Term::rake_factor, 2, one, places, factors);
            multiply<true>(rows, pairs, places, factors, first_column, sums);
        } else {
            multiply<false>(rows, pairs, places, factors, first_column, sums);
        }
    }
}

DEVICE void write_tile(float *values, const Term *terms, int first_column, const Sums *sums) {
    EACH_SLOT
        for (int half = 0; half < 2; half++) {
            const int lane = LANE_OF(slot), row = terms[8 * half + lane / 4].value;
            if (row < 0) continue;
            float *to = values + row * LINE + 8 * first_column + 2 * (lane % 4);
            UNROLL for (int column = 0; column < COLUMNS; column++) {
                const float *found = sums[slot].at[column] + 2 * half;
                *(Two *)(to + 8 * column) = {found[0], found[1]};
            }
        }
}
