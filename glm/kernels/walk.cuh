// One query by a tile of lanes: from the newest word to the left, as far as the model
// has n-grams.
//
// A walk is a machine that makes one round trip to memory a step. Tiles of a warp
// run the same step together though one may descend a large block of bigrams while
// another reads the entry of a trigram, so nobody waits for the longest walk of its
// warp; whoever ends takes the next word at once. What differs by lane is kept by
// lane: lane `j` of a tile holds the context word `j + 1` to the left and the backoff
// of the context of `j + 1` words, so a tile needs as many lanes as the order less
// one, and every order runs the same code. All else is the same in all lanes of a
// tile.
//
// Every exchange between lanes stands outside of branches: all 32 lanes meet there.
//
// Nothing is read outside of the sections, and every loop ends, whatever the bytes.
#pragma once

#include "model.cuh"

enum Stage : unsigned {
    ENDED,   // log10, length, kept and backoffs are what they will be
    KEYS,    // a node of the block at `first`: node `node` of a block of `count` keys
    ENTRY,   // the unit `first`; of the highest order, its part `node`
    HEAD,    // the unit `first`, which holds the number of children of a hashed n-gram
    BUCKET,  // the bucket `node`; the search began in bucket `first`
};

// Lanes of a search, keys of a node, whether any order may be hashed, and the order
// of the model, 0 where it is known at run time only.
template <int TILE, int WIDTH, bool HASHED, int ORDER>
struct Walk {
    // Each tile can take a line at once.
    static constexpr int LOADS = TILE >= 8 ? 1 : 8 / TILE;
    static constexpr int MOST_CONTEXT = ORDER ? ORDER - 1 : (TILE < 16 ? TILE : 15);
    static_assert(ORDER <= TILE + 1, "a lane for each word of context");

    const Model& model;
    const unsigned lane;   // in the tile
    const unsigned shift;  // of the tile's lanes in a ballot

    unsigned context;  // by lane: a word
    unsigned usable;   // words of context that can take part: those of KenLM's state

    unsigned stage;
    unsigned first, count, node;
    unsigned number;    // of the n-gram matched, where its children are hashed
    unsigned log10;     // of the n-gram matched, as bits
    unsigned length;    // its words
    unsigned kept;      // how many of them the next word's context keeps
    unsigned backoffs;  // by lane: of the matched n-grams, as bits

    __device__ __forceinline__ explicit Walk(const Model& model)
        : model(model), lane(threadIdx.x % TILE), shift(threadIdx.x % 32 / TILE * TILE),
          context(0), usable(0), stage(ENDED), first(0), count(0), node(0),
          number(0), log10(0), length(1), kept(0), backoffs(0) {}

    __device__ __forceinline__ unsigned order() const { return ORDER ? ORDER : model.order; }

    __device__ __forceinline__ unsigned ballot(bool yes) const {
        return __ballot_sync(ALL, yes) >> shift & ((1u << TILE) - 1);
    }

    __device__ __forceinline__ static unsigned of_lane(unsigned value, unsigned from) {
        return __shfl_sync(ALL, value, from, TILE);
    }

    // Whether n-grams of `words` words lie in buckets.
    __device__ __forceinline__ bool is_hashed(unsigned words) const {
        return HASHED && words <= model.hashed;
    }

    // An id of the model: what is none counts as <unk>.
    __device__ __forceinline__ unsigned known(unsigned word) const {
        return word < model.words ? word : 0;
    }

    // The entry of a word alone. The address is all that it waits for.
    __device__ __forceinline__ uint4 unigram(unsigned word) const {
        return __ldg(model.orders[0].units + known(word));
    }

    // Begins where `now` says: the walk of `word`, whose entry is `entry`.
    __device__ __forceinline__ void begin(bool now, unsigned word, const uint4& entry) {
        if (now) {
            length = 0;
            number = word;
        }
        take(now, entry, false);
    }

    // Goes on where `now` says: `entry` is that of the n-gram one word longer. In
    // `number` is its number if its children are hashed; `from_bucket`: the children's
    // number may stand in a head.
    __device__ __forceinline__ void take(bool now, const uint4& entry, bool from_bucket) {
        if (now) {
            length += 1;
            log10 = length == 1 ? entry.x : entry.x | SIGN;
            backoffs = lane == length - 1 ? entry.y : backoffs;
            kept = entry.y != NO_EXTENSION ? length : (length == 1 ? 0 : kept);
        }
        // The word to look for; `length` is at least 1 from the first walk on.
        const unsigned word = of_lane(context, length - 1);
        if (!now) return;
        const bool single = length > 1 && !from_bucket && entry.x & SIGN;
        stage = ENDED;
        if (length >= order() || length > usable || (entry.w == 0 && !single)) return;
        first = entry.z;
        count = entry.w;
        node = 0;
        if (is_hashed(length + 1)) {
            first = home(static_cast<u64>(number) << 32 | word, model.orders[length].count / 4);
            node = first;
            stage = BUCKET;
        } else if (!single) {
            stage = from_bucket && count == MANY ? HEAD : KEYS;
        } else if (count == word) {
            if (length + 1 == order()) {
                length += 1;
                log10 = first | SIGN;
            } else {
                stage = ENTRY;
            }
        }
    }

    // One round trip to memory. An ended walk stays as it is.
    __device__ __forceinline__ void step() {
        // The order of what is looked for, counted from 0.
        const unsigned order_at = stage == ENDED ? 0 : length;
        const bool longest = length + 1 == order();
        const unsigned word = of_lane(context, length - 1);

        const bool small = count <= WIDTH;
        unsigned keys = 0;    // units of keys in what is read
        unsigned loaded = 0;  // units that are read
        u64 unit = first;     // from here on
        if (stage == KEYS) {
            keys = small ? (count + 3) / 4 : WIDTH / 4;
            const unsigned entries = longest ? keys : count;
            loaded = small && keys + entries <= LINE ? keys + entries : keys;
            unit += static_cast<u64>(node) * (WIDTH / 4);
        } else if (HASHED && stage == BUCKET) {
            loaded = 4;
            unit = static_cast<u64>(node) * 4;
        } else if (stage != ENDED) {
            loaded = 1;
        }

        uint4 units[LOADS];
        {
            const Order order = model.orders[order_at];
#pragma unroll
            for (int i = 0; i < LOADS; ++i) {
                const unsigned at = lane + i * TILE;
                units[i] = make_uint4(NO_WORD, NO_WORD, NO_WORD, NO_WORD);
                if (at < loaded && unit + at < order.count) {
                    units[i] = __ldg(order.units + unit + at);
                }
            }
        }

        // The first unit of keys that does not end below the word.
        unsigned not_below = 0;
#pragma unroll
        for (int i = 0; i < LOADS; ++i) {
            const bool yes = lane + i * TILE < keys && units[i].w >= word;
            not_below |= ballot(yes) << (i * TILE);
        }
        const unsigned at = not_below ? __ffs(not_below) - 1 : 0;
        const uint4 mine = LOADS > 1 && at >= TILE ? units[LOADS - 1] : units[0];
        const unsigned below = (mine.x < word) + (mine.y < word) + (mine.z < word);
        const bool same = mine.x == word || mine.y == word || mine.z == word || mine.w == word;
        const unsigned told = of_lane(below | same << 2, at % TILE);
        const unsigned slot = not_below ? at * 4 + (told & 3) : keys * 4;
        const bool exact = not_below && told & 4;

        bool found = stage == ENTRY;
        bool ended = false;
        unsigned source = 0;        // among what was read: the unit of the entry
        unsigned in_unit = node & 3;  // of the highest order: which part of it
        if (stage == KEYS) {
            if (exact) {
                const unsigned index = node * WIDTH + slot;
                in_unit = index & 3;
                source = (small ? keys : ((count - 1) / WIDTH + 1) * (WIDTH / 4))
                    + (longest ? index / 4 : index);
                found = small && source < loaded;
                if (!found) {
                    first += source;
                    node = index;
                    source = 0;
                    stage = ENTRY;
                }
            } else {
                const u64 child = static_cast<u64>(node) * (WIDTH + 1) + slot + 1;
                ended = small || child > (count - 1) / WIDTH;
                node = static_cast<unsigned>(child);
            }
        }

        // Where the entry's parts are: unit and part.
        unsigned from_x = source, from_y = source, from_z = source, from_w = source;
        const uint4 pick = LOADS > 1 && source >= TILE ? units[LOADS - 1] : units[0];
        uint4 give = pick;
        const bool bucket = HASHED && stage == BUCKET;
        unsigned of_bucket = 0;
        if (HASHED) {
            // A lane has two keys, the last of them one.
            const unsigned last = longest ? 2 : 1;
            const bool low = bucket && lane <= last && pick.x == word && pick.y == number;
            const bool high = bucket && lane < last && pick.z == word && pick.w == number;
            const unsigned lows = ballot(low), highs = ballot(high);
            of_bucket = lows ? 2 * (__ffs(lows) - 1) : 2 * __ffs(highs) - 1;
            const bool there = lows | highs;
            if (bucket) {
                // As the sixteen words of a bucket stand.
                const unsigned log10_at = (longest ? 10 : 6) + (there ? of_bucket : 0);
                const unsigned backoff_at = 9 + (there ? of_bucket : 0);
                const unsigned first_at = 12 + (there ? of_bucket : 0);
                from_x = log10_at / 4;
                from_y = longest ? 0 : backoff_at / 4;
                from_z = longest ? 0 : first_at / 4;
                from_w = 3;
                give.x = part(pick, log10_at);
                give.y = part(pick, backoff_at);
                give.z = part(pick, first_at);
                found = there;
            }
        }
        uint4 entry;
        entry.x = of_lane(give.x, from_x % TILE);
        entry.y = of_lane(give.y, from_y % TILE);
        entry.z = of_lane(give.z, from_z % TILE);
        entry.w = of_lane(give.w, from_w % TILE);

        if (stage == HEAD) {
            count = entry.x;
            first += 1;
            node = 0;
            // A head is there for many only; none ends the walk.
            stage = count == 0 ? ENDED : KEYS;
        }
        if (bucket) {
            if (found) {
                number = 3 * node + of_bucket;
                // Counts are bytes.
                entry.w = entry.w >> (8 * of_bucket) & 0xFF;
            } else {
                // A byte of the one kind, a word of the other: not 0 in either.
                const bool overflows = longest ? entry.w != 0 : entry.w >> 24 != 0;
                const unsigned buckets = static_cast<unsigned>(model.orders[order_at].count / 4);
                node = node + 1 < buckets ? node + 1 : 0;
                ended = !overflows || node == first;
            }
        }
        if (ended) stage = ENDED;
        if (found && longest) {
            log10 = (bucket ? entry.x : part(entry, in_unit)) | SIGN;
            length += 1;
            stage = ENDED;
        }
        take(found && !longest, entry, bucket);
    }

    // log10 p: the matched n-gram's, and on it the backoffs of contexts of its length
    // up to `contexts` words, one after another, the shorter first. Lane `from` of a
    // tile of WITHIN lanes has the first of `charged`.
    template <int WITHIN>
    __device__ __forceinline__ float score(unsigned charged, unsigned contexts,
                                           unsigned from) const {
        float sum = __uint_as_float(log10);
#pragma unroll
        for (unsigned i = 0; i < MOST_CONTEXT; ++i) {
            const unsigned backoff = __shfl_sync(ALL, charged, from + i, WITHIN);
            if (i + 1 >= length && i < contexts) sum += __uint_as_float(backoff);
        }
        return sum;
    }
};
