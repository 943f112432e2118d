// Lines of a river board, from the way down to the way up in shared memory.
//
// A block has PLAYERS threads and takes a piece: some lines of a board. What it reads and writes of
// the device's memory is on its way while it computes: the matrices (2 · GROUPS² bytes), the rows of
// its lines (8 · GROUPS bytes a line), and stored numbers (10 · GROUPS bytes for an action of either
// player). Reach and values have the same place: all products are in registers when the first row of
// values is written. So have the other's numbers and own averages, which are read later.

#define ONE 127           // of the matrices

#ifdef __CUDACC__
#define PHASE static __device__ __noinline__ void // what it needs is not kept in others' registers
#else
#define PHASE static void
#endif

struct alignas(16) Piece { // of a river board: some lines; its nodes, and its rows from 0
    int first_line, lines, rows, nodes, node_count, terms, tiles, zeros, zero_count;
    int early_stage, own_stage; // actions: room for the other's numbers or own averages, for regrets
    int runs, run_count;
    int unused[3];
};
struct alignas(16) Run { // nodes of a pot in a piece whose numbers stand one after the other
    int own, pot, slot, actions, stage;
    int unused[3];
};
struct alignas(16) Pot { // on the board of a block; POT_BYTES
    Long own, other; // where the numbers of its nodes begin
    Discounts now;
    int visited, averages; // whether own averages are read
};

// What a block has in shared memory.
struct Room {
    Pot *pots;
    Word *margin, *pairs;
    float *rows; // reach, and then values
    Short *early, *regrets; // stored numbers: the other's, and then own averages; own regrets
};

DEVICE const Piece &piece_here(const Boards *ONLY s) { return s->river_pieces[BLOCK % s->piece_count]; }
DEVICE int river_here(const Boards *ONLY s) { return s->first_board + BLOCK / s->piece_count; }

DEVICE Room room_of(const Boards *ONLY s, float *memory, const Piece &piece) {
    Room room;
    room.pots = (Pot *)memory;
    room.margin = (Word *)(room.pots + s->pots);
    room.pairs = room.margin + HALF_MATRIX;
    room.rows = (float *)(room.pairs + HALF_MATRIX);
    room.early = (Short *)(room.rows + piece.rows * LINE);
    room.regrets = room.early + piece.early_stage * GROUPS;
    return room;
}

#define OTHERS_NUMBERS 0
#define OWN_REGRETS 1
#define OWN_AVERAGE 2

// Stored numbers of a piece into shared memory, or back from there.
DEVICE void move_numbers(const Boards *ONLY s, const Piece &piece, const Pot *pots, int which,
                         bool back, Short *stage) {
    const int own = which != OTHERS_NUMBERS;
    Short *stored;
    if (which == OTHERS_NUMBERS)
        stored = (Short *)(s->mode == UPDATE ? (const void *)s->other_regrets
                                             : (const void *)s->other_average);
    else
        stored = which == OWN_REGRETS ? (Short *)s->own_regrets : (Short *)s->own_average;
    const Run *runs = s->runs + piece.runs;
    const int count = piece.run_count;
    for (int r = 0; r < count; r++) {
        const Run run = runs[r];
        const Pot &pot = pots[run.pot];
        if (run.own != own || !pot.visited || (which == OWN_AVERAGE && !pot.averages)) continue;
        Short *there = stored + (own ? pot.own : pot.other) + (Long)run.slot * GROUPS;
        Short *here = stage + run.stage * GROUPS;
        for (int each = 8 * THREAD; each < run.actions * GROUPS; each += 8 * THREADS) {
            if (back)
                put((float *)(there + each), four((const float *)(here + each)));
            else
                copy_soon(here + each, there + each);
        }
    }
}

// Where the numbers of a pot begin: every river board has GROUPS rows.
DEVICE Long river_numbers(const int *actions, int pots, int pot, Long board, Long first, Long last) {
    const Long before = actions[pot], mine = actions[pot + 1] - before;
    return GROUPS * (actions[pots] * first + before * (last - first) + mine * (board - first));
}

// Reach of the lines is on its way; the matrices are there, and what the pots are asked for.
PHASE come_in(const Boards *ONLY s) {
    SHARED(memory);
    const Piece &piece = piece_here(s);
    const Room room = room_of(s, memory, piece);
    const Long board = river_here(s), matrix = board * GROUPS * GROUPS;
    const float *lines = s->line_rows + (board * s->lines + piece.first_line) * GROUPS;
    const int *first_row = s->line_reach + piece.first_line, tasks = piece.lines * QUARTERS;
    for (int task = THREAD; task < tasks; task += THREADS) {
        const int line = task / QUARTERS, group = task % QUARTERS * 4, row = first_row[line];
        copy_soon(room.rows + row * LINE + group, lines + line * GROUPS + group);
    }
    const int flop = s->flop_of[board], pots = s->pots;
    const Long first = s->flop_first[flop], last = s->flop_first[flop + 1];
    const bool learns = s->mode == UPDATE, is_oop = s->player == 0;
    for (int pot = THREAD; pot < pots; pot += THREADS) {
        Pot found;
        found.own = river_numbers(s->own_actions, pots, pot, board, first, last);
        found.other = river_numbers(s->other_actions, pots, pot, board, first, last);
        found.now = now_of(s, flop, pot);
        found.visited = visited(s, flop, pot);
        found.averages = learns ? found.now.weight > 0.0f : s->mode != BEST_RESPONSE;
        room.pots[pot] = found;
    }
    take_matrix(s->margin + matrix, is_oop, room.margin);
    take_matrix(s->pairs + matrix, is_oop, room.pairs);
    SYNC();
}

// The other's numbers are there, own regrets are on their way.
PHASE take_seats(const Boards *ONLY s) {
    SHARED(memory);
    const Piece &piece = piece_here(s);
    const Room room = room_of(s, memory, piece);
    move_numbers(s, piece, room.pots, OTHERS_NUMBERS, false, room.early);
    COPIES_END();
    if (s->mode == UPDATE) move_numbers(s, piece, room.pots, OWN_REGRETS, false, room.regrets);
    COPIES_END();
    ALL_BUT_LAST_COPIED();
    SYNC();
}

// Reach, from lines to ends: a group on a line is a column of its own, and so it is on the way up.
// When it is there, own averages follow the other's numbers.
PHASE go_down(const Boards *ONLY s) {
    SHARED(memory);
    const Piece &piece = piece_here(s);
    const Room room = room_of(s, memory, piece);
    const bool learns = s->mode == UPDATE;
    for (int task = THREAD; task < piece.lines * GROUPS; task += THREADS) {
        const int line = piece.first_line + task / GROUPS, group = task % GROUPS;
        for (int n = s->line_nodes[line]; n < s->line_nodes[line + 1]; n++) {
            const Node node = s->nodes[n];
            if (node.own) continue;
            const Short *stored =
                room.early + node.stage * GROUPS + group / 16 * 16 * node.actions + group % 16;
            if (learns)
                split((const Regret *)stored, room.rows, LINE, node.reach, node.child, group,
                      node.actions);
            else
                split((const Fraction *)stored, room.rows, LINE, node.reach, node.child, group,
                      node.actions);
        }
    }
    SYNC();
    move_numbers(s, piece, room.pots, OWN_AVERAGE, false, room.early);
}

// Folds and showdowns: what they are worth takes the place of reach.
DEVICE void add_products(const Boards *ONLY s) {
    SHARED(memory);
    const Piece &piece = piece_here(s);
    const Room room = room_of(s, memory, piece);
    const Term *terms = s->products + piece.terms;
    const float one = 1.0f / ONE, sign = s->player == 0 ? 1.0f : -1.0f;
    OF_THREAD Sums sums[TASKS][SLOTS];
#pragma unroll
    for (int held = 0; held < TASKS; held++) {
        const int task = WARP + held * WARPS, tile = task / PARTS;
        if (tile < piece.tiles)
            sum_tile(room.rows, room.margin, room.pairs, terms + tile * ROWS_OF_TILE,
                     task % PARTS * COLUMNS, one, sign, sums[held]);
    }
    SYNC();
#pragma unroll
    for (int held = 0; held < TASKS; held++) {
        const int task = WARP + held * WARPS, tile = task / PARTS;
        if (tile < piece.tiles)
            write_tile(room.rows, terms + tile * ROWS_OF_TILE, task % PARTS * COLUMNS, sums[held]);
    }
    for (int task = THREAD; task < piece.zero_count * QUARTERS; task += THREADS) {
        const int row = s->zeros[piece.zeros + task / QUARTERS];
        put(room.rows + row * LINE + task % QUARTERS * 4, all(0.0f));
    }
    ALL_COPIED();
    SYNC();
}

// Values, from ends to lines, and what is learned.
PHASE go_up(const Boards *ONLY s) {
    SHARED(memory);
    const Piece &piece = piece_here(s);
    const Room room = room_of(s, memory, piece);
    const int mode = s->mode;
    for (int task = THREAD; task < piece.lines * GROUPS; task += THREADS) {
        const int line = piece.first_line + task / GROUPS, group = task % GROUPS;
        const Pot &pot = room.pots[s->line_pot[line]];
        if (!pot.visited) continue;
        const Discounts now = pot.now;
        const float wobble = wobble_of(now.phase, group);
        for (int n = s->line_nodes[line + 1] - 1; n >= s->line_nodes[line]; n--) {
            const Node node = s->nodes[n];
            if (!node.own) continue;
            const int base = node.stage * GROUPS + group / 16 * 16 * node.actions + group % 16;
            Regret *regrets = (Regret *)(room.regrets + base);
            Fraction *average = (Fraction *)(room.early + base);
            const float *values = room.rows + node.child * LINE + group;
            float value;
            if (mode == UPDATE)
                value = learn(regrets, average, values, LINE, now, wobble, false, node.actions);
            else if (mode == BEST_RESPONSE)
                value = best(values, LINE, node.actions);
            else
                value = play(average, values, LINE, node.actions);
            float *target = room.rows + node.value * LINE + group;
            *target = node.adds ? *target + value : value;
        }
    }
    SYNC();
}

// The lines' values, by the chance of the board, and what was learned go back to memory.
PHASE leave_seats(const Boards *ONLY s) {
    SHARED(memory);
    const Piece &piece = piece_here(s);
    const Room room = room_of(s, memory, piece);
    const Long board = river_here(s);
    const float chance = s->chance[board];
    float *lines = s->line_rows + (board * s->lines + piece.first_line) * GROUPS;
    for (int task = THREAD; task < piece.lines * QUARTERS; task += THREADS) {
        const int line = task / QUARTERS, group = task % QUARTERS * 4;
        const int row = s->line_value[piece.first_line + line];
        Four value = four(room.rows + row * LINE + group);
        EACH_LANE value.lane[i] *= chance;
        put(lines + line * GROUPS + group, value);
    }
    if (s->mode != UPDATE) return;
    move_numbers(s, piece, room.pots, OWN_REGRETS, true, room.regrets);
    move_numbers(s, piece, room.pots, OWN_AVERAGE, true, room.early);
}

SMALL_KERNEL(PLAYERS, TABLES) play_lines(const Boards *ONLY s) {
    SHARED(memory);
    come_in(s);
    bool some = false;
    for (int pot = 0; pot < s->pots; pot++) some |= ((const Pot *)memory)[pot].visited;
    if (!some) {
        ALL_COPIED(); // nothing is on its way to memory that another block gets
        return;
    }
    take_seats(s);
    go_down(s);
    add_products(s);
    go_up(s);
    leave_seats(s);
}
