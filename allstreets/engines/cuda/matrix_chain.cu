// One half-iteration of matrix games whose hands change between streets: all pots on all flops.
// `matrix_chain.py` says in which order:
//
//     multiply   rows times a matrix of their flop: hands of a stage into those of the next and back,
//                and showdowns
//     forward    the opponent's reach at the lines of a stage, to everywhere below them
//     sum_folds  that reach by combos, all hands together
//     backward   the player's values, from the terminals of a stage to its lines
//
// Rows are in the device's memory. At decisions hands do not meet: a thread walks through all of a
// line with four of them. Players hold no cards there that the opponent could miss, so that a fold is
// worth combos · (combos · reach).

#include "matrix.cuh"

#define TASKS 128    // (line, flop, four hands) of a block
#define SEGMENTS 16  // of the hands of a row, summed side by side
#define FOLDS 8      // rows that a block sums
#define ROWS 64      // rows and columns of a product that a block works on
#define COLUMNS 64
#define DEPTH 16     // hands that are multiplied at once
#define GAP (DEPTH + 4)
#define TILE (ROWS * GAP + DEPTH * COLUMNS) // three of them are in shared memory
#define SHARES (ROWS / TALL * (COLUMNS / 4))

#ifdef __CUDACC__
#define TEAM SHARES // threads of a block that multiplies
#elif defined(HOST_TEAM)
#define TEAM HOST_TEAM
#else
#define TEAM 1
#endif

enum { DECISION, SHOWDOWN, FOLD, EXIT };

struct Line {
    int pot, reach, value; // row of reach, and of what its value is the sum of
    int forward, forward_end, backward, backward_end;
};
struct Source { // of a value
    int kind, row;
    float factor;
};
struct Factor { // of a product
    int from, to, pot;
};

struct Stage : Request {
    Long mode;
    Long hands; // H, padded
    // Betting, the same on every flop; rows of all pots.
    Long lines;
    const Line *line;
    const Node *forward;     // the opponent's decisions, parents first
    const Node *backward;    // the player's, children first
    const int *source_first; // by value row: what it is the sum of
    const Source *sources;
    Long fold_count;
    const int *fold_row; // rows of reach
    // Cards and stored numbers.
    const float *combos; // [F][H]
    const Store *stores; // [P]
    // Rows, by place.
    float *least; // [places][P]: reach with which every hand counts in the average
    float *reach; // [places][reach_rows][H]
    Long reach_rows;
    float *folds;       // [places][fold_count]: combos · reach
    const float *shows; // [places][show_rows][H]: reach · margins
    Long show_rows;
    const float *exits; // [places][exit_rows][H]: values of the next stage's lines
    Long exit_rows;
    float *decisions; // [places][decision_rows][H]: the player's values
    Long decision_rows;
    float *line_values; // [places][lines][H]
};
struct Product : Request { // rows times a matrix of their flop
    Long count;
    const Factor *terms; // by pot
    const float *inputs; // [places][input_rows][input_hands]
    Long input_rows;     // 0: the same rows at every place
    Long input_hands;
    float *outputs; // [places][output_rows][output_hands]
    Long output_rows, output_hands;
    const float *matrix; // [F][input_hands][output_hands]
};
struct Leaving : Request { // values of classes that leave a pass
    Long hands;          // without padding
    Long length;
    const float *rows; // [places][P][length]
    float *out;        // [P][K][hands]: the player's values
};

struct Column { // four hands of a stage on a flop
    const Stage *s;
    int place, hand;
    const float *combos;

    METHOD Long row(Long rows, int number) const {
        return ((Long)place * rows + number) * s->hands + hand;
    }
    METHOD Four at(const Source &source) const {
        Four value;
        if (source.kind == FOLD) {
            const float met = source.factor * s->folds[place * s->fold_count + source.row];
            value = four(combos + hand);
            EACH_LANE value.lane[i] *= met;
        } else if (source.kind == SHOWDOWN) {
            value = four(s->shows + row(s->show_rows, source.row));
            EACH_LANE value.lane[i] *= source.factor;
        } else if (source.kind == EXIT) {
            value = four(s->exits + row(s->exit_rows, source.row));
        } else {
            value = four(s->decisions + row(s->decision_rows, source.row));
        }
        return value;
    }
    METHOD Four value(int number) const {
        Four total = all(0.0f);
        const int last = s->source_first[number + 1];
#pragma unroll 1
        for (int each = s->source_first[number]; each < last; each++)
            total = total + at(s->sources[each]);
        return total;
    }
};

struct Worth { // of the actions of a player's decision
    const Column &column;
    int child;
    METHOD Four operator()(int a) const { return column.value(child + a); }
};

// The share of a block: lines of all places, four hands each; −1 where there is none left.
struct Task {
    int line, place, hand;
};

DEVICE Task task_of(const Stage *ONLY s, int number) {
    const int quarters = (int)s->hands / 4, places = places_of(s);
    const Long whole = (Long)BLOCK * TASKS + number, rest = whole / quarters;
    Task task;
    task.hand = (int)(whole % quarters) * 4;
    task.place = (int)(rest % places);
    task.line = rest / places < s->lines ? (int)(rest / places) : -1;
    return task;
}

SMALL_KERNEL(TASKS, 4) forward(const Stage *ONLY s) {
    for (int number = THREAD; number < TASKS; number += THREADS) {
        const Task task = task_of(s, number);
        if (task.line < 0) return;
        const Line line = s->line[task.line];
        const Where at = where(s, task.place);
        if (!visited(s, at, line.pot)) continue;
        const Store store = s->stores[line.pot];
        const Long start = at.flop * store.opponent_size;
        const Weights weights = weights_at(s, at);
        const bool learns = s->mode == UPDATE, gathers = learns && weights.weight > 0.0f;
        const float least = s->least[task.place * s->pots + line.pot];
        float *rows = s->reach + (Long)task.place * s->reach_rows * s->hands + task.hand;
        for (int each = line.forward; each < line.forward_end; each++) {
            const Node node = s->forward[each];
            const Long place = start + stored_at(node.slot, node.actions, task.hand, s->hands);
            const float *stored = learns ? store.opponent_regrets : store.opponent_average;
            split_actions<5>(node.actions, Neighbours(), stored + place, store.opponent_average + place,
                          rows + node.row * s->hands, rows + node.child * s->hands, s->hands,
                          weights, least, gathers);
        }
    }
}

SMALL_KERNEL(TASKS, 4) backward(const Stage *ONLY s) {
    for (int number = THREAD; number < TASKS; number += THREADS) {
        const Task task = task_of(s, number);
        if (task.line < 0) return;
        const Line line = s->line[task.line];
        const Where at = where(s, task.place);
        if (!visited(s, at, line.pot)) continue;
        const Store store = s->stores[line.pot];
        float *numbers = (s->mode == UPDATE ? store.player_regrets : store.player_average) +
                     at.flop * store.player_size;
        const Weights weights = weights_at(s, at);
        const Column column = {s, task.place, task.hand, s->combos + at.flop * s->hands};
        for (int each = line.backward; each < line.backward_end; each++) {
            const Node node = s->backward[each];
            float *stored = numbers + stored_at(node.slot, node.actions, task.hand, s->hands);
            const Worth worth = {column, node.child};
            put(s->decisions + column.row(s->decision_rows, node.row),
                learn_node<5>(node, s->mode, Neighbours(), stored, worth, weights));
        }
        put(s->line_values + column.row(s->lines, task.line), column.value(line.value));
    }
}

// The reach with which every hand counts in the average, by that of the first stage's lines.
KERNEL find_least(const Stage *ONLY s) {
    for (int number = THREAD; number < TASKS; number += THREADS) {
        const Long whole = (Long)BLOCK * TASKS + number;
        if (whole >= places_of(s) * s->pots) return;
        const Long place = whole / s->pots;
        const int line = s->line[whole % s->pots].reach; // each pot has one
        const float *row = s->reach + (place * s->reach_rows + line) * s->hands;
        float most = 0.0f;
        for (int hand = 0; hand < s->hands; hand++) most = row[hand] > most ? row[hand] : most;
        const float least = 0.01f * most; // `matrix.kernels.passes.SMALL_SHARE`, and `LEAST_SHARE`
        s->least[whole] = least > 1e-9f ? least : 1e-9f;
    }
}

KERNEL sum_folds(const Stage *ONLY s) {
    SHARED(sums); // [FOLDS][SEGMENTS]
    const int tiles = ((int)s->fold_count + FOLDS - 1) / FOLDS;
    const Where at = where(s, BLOCK / tiles);
    const int first = BLOCK % tiles * FOLDS, left = (int)s->fold_count - first;
    const int count = left < FOLDS ? left : FOLDS;
    const float *combos = s->combos + at.flop * s->hands;
    for (int task = THREAD; task < count * SEGMENTS; task += THREADS) {
        const int row = s->fold_row[first + task / SEGMENTS];
        const float *reach = s->reach + ((Long)at.place * s->reach_rows + row) * s->hands;
        float total = 0.0f;
        for (int hand = task % SEGMENTS; hand < s->hands; hand += SEGMENTS)
            total += combos[hand] * reach[hand];
        sums[task] = total;
    }
    SYNC();
    for (int fold = THREAD; fold < count; fold += THREADS) {
        float total = 0.0f;
        for (int segment = 0; segment < SEGMENTS; segment++)
            total += sums[fold * SEGMENTS + segment];
        s->folds[at.place * s->fold_count + first + fold] = total;
    }
}

// ---- products

// Hands `depth` … of the rows and of the matrix, into one of three tiles.
DEVICE void copy_tile(const Product *ONLY s, const Where &at, int first, int column, int depth,
                      float *tile) {
    if (depth < s->input_hands) {
        const int left = (int)s->count - first, count = left < ROWS ? left : ROWS;
        for (int each = THREAD; each < ROWS * (DEPTH / 4); each += THREADS) {
            const int row = each / (DEPTH / 4), k = each % (DEPTH / 4) * 4;
            if (row >= count) continue;
            const Long from = (Long)at.place * s->input_rows + s->terms[first + row].from;
            copy_soon(tile + row * GAP + k, s->inputs + from * s->input_hands + depth + k);
        }
        const float *matrix = s->matrix + (Long)at.flop * s->input_hands * s->output_hands;
        for (int each = THREAD; each < DEPTH * (COLUMNS / 4); each += THREADS) {
            const int k = each / (COLUMNS / 4), wide = each % (COLUMNS / 4) * 4;
            if (column + wide >= s->output_hands) continue;
            copy_soon(tile + ROWS * GAP + k * COLUMNS + wide,
                      matrix + (depth + k) * s->output_hands + column + wide);
        }
    }
    COPIES_END();
}

SMALL_KERNEL(SHARES, 4) multiply(const Product *ONLY s) {
    SHARED(tiles);
    const int across = ((int)s->output_hands + COLUMNS - 1) / COLUMNS;
    const int blocks = ((int)s->count + ROWS - 1) / ROWS * across;
    const Where at = where(s, BLOCK / blocks);
    const int first = BLOCK % blocks / across * ROWS, column = BLOCK % across * COLUMNS;
    const int left = (int)s->count - first, count = left < ROWS ? left : ROWS;
    bool some = false;
    for (int pot = s->terms[first].pot; pot <= s->terms[first + count - 1].pot; pot++)
        some = some || visited(s, at, pot);
    if (!some) return;
    Four sums[SHARES / TEAM][TALL]; // by share of a thread
    UNROLL for (int share = 0; share < SHARES / TEAM; share++)
        UNROLL for (int r = 0; r < TALL; r++) sums[share][r] = all(0.0f);
    copy_tile(s, at, first, column, 0, tiles);
    copy_tile(s, at, first, column, DEPTH, tiles + TILE);
    for (int number = 0; number * DEPTH < s->input_hands; number++) {
        ALL_BUT_LAST_COPIED();
        SYNC(); // the tile is there, and nobody reads the one that the next copy goes to
        copy_tile(s, at, first, column, (number + 2) * DEPTH, tiles + (number + 2) % 3 * TILE);
        const float *tile = tiles + number % 3 * TILE;
        UNROLL for (int share = 0; share < SHARES / TEAM; share++) {
            const int mine = share * TEAM + THREAD;
            const float *rows = tile + mine / (COLUMNS / 4) * TALL * GAP;
            const float *matrix = tile + ROWS * GAP + mine % (COLUMNS / 4) * 4;
            add_product<DEPTH, COLUMNS>(sums[share], [&](int r) { return rows + r * GAP; }, matrix);
        }
    }
    UNROLL for (int share = 0; share < SHARES / TEAM; share++) {
        const int mine = share * TEAM + THREAD;
        const int wide = column + mine % (COLUMNS / 4) * 4;
        if (wide >= s->output_hands) continue;
        UNROLL for (int r = 0; r < TALL; r++) {
            const int row = mine / (COLUMNS / 4) * TALL + r;
            if (row >= count) continue;
            const Long to = (Long)at.place * s->output_rows + s->terms[first + row].to;
            put(s->outputs + to * s->output_hands + wide, sums[share][r]);
        }
    }
}

// Values of classes go to where they are asked for; 0 where nothing was visited.
KERNEL leave(const Leaving *ONLY s) {
    const int pot = modulo(BLOCK, s->pots);
    const Where at = where(s, quotient(BLOCK, s->pots));
    const bool seen = visited(s, at, pot);
    const float *row = s->rows + (at.place * s->pots + pot) * s->length;
    float *out = s->out + (pot * (Long)s->call[2] + at.whole) * s->hands;
    for (int hand = THREAD; hand < s->hands; hand += THREADS) out[hand] = seen ? row[hand] : 0.0f;
}
