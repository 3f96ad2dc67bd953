// One query by a tile of lanes: from the newest word to the left, as far as the model
// has n-grams.
//
// A walk is a state machine that makes one round trip to memory per step. The tiles of a
// warp run each step together, though one may descend a large block of bigrams while
// another reads the entry of a trigram. So no tile waits for the longest walk of its warp;
// a tile whose walk ends takes the next word at once. Data that differs between lanes is
// kept by lane: lane `j` of a tile holds the context word `j + 1` to the left and the backoff
// of the context of `j + 1` words, so a tile needs as many lanes as the order less
// one, and every order runs the same code. All else is the same in all lanes of a
// tile.
//
// Every exchange between lanes is outside of branches, because all 32 lanes take part.
//
// Nothing is read outside of the sections, and every loop ends, whatever the bytes.
#pragma once

#include "model.cuh"

enum Stage : unsigned {
    ENDED,   // log10, length, kept and backoffs are final
    KEYS,    // node `node` of the block of `count` keys at `first`
    HEAD,    // its first node, and in the unit before it how many keys there are: many
    ENTRY,   // the unit `first`; of the highest order, its part `count`
    BUCKET,  // the bucket `node`; the search began in bucket `first`
};

// The orders that may be in buckets.
enum Hashed : int { NONE = 0, BIGRAMS = 2, ANY = 16 };

// Lanes of a search, keys of a node, the orders in buckets, and the order of the model, 0
// if it is known at run time only.
template <int TILE, int WIDTH, int HASHED, int ORDER>
struct Walk {
    // The number of loads by which a tile reads a line.
    static constexpr int LOADS = TILE >= 8 ? 1 : 8 / TILE;
    static constexpr int MOST_CONTEXT = ORDER ? ORDER - 1 : (TILE < 16 ? TILE : 15);
    static constexpr unsigned NODE_UNITS = WIDTH / 4;
    static_assert(ORDER <= TILE + 1, "a lane for each word of context");

    const Model& model;
    const unsigned lane;   // in the tile
    const unsigned shift;  // of the tile's lanes in a ballot

    unsigned context;  // by lane: a word
    unsigned usable;   // words of context that can take part: those of KenLM's state

    unsigned stage;
    unsigned sought;  // the word to find
    unsigned first, count, node;
    unsigned number;    // of the n-gram matched, if its children are hashed
    unsigned log10;     // of the n-gram matched, as bits
    unsigned length;    // its words, from 1
    unsigned kept;      // the number of them that the next word's context keeps
    unsigned backoffs;  // by lane: of the matched n-grams, as bits

    __device__ __forceinline__ explicit Walk(const Model& model)
        : model(model), lane(threadIdx.x % TILE), shift(threadIdx.x % 32 / TILE * TILE),
          context(0), usable(0), stage(ENDED), sought(0), first(0), count(0), node(0),
          number(0), log10(0), length(1), kept(0), backoffs(0) {}

    __device__ __forceinline__ unsigned order() const { return ORDER ? ORDER : model.order; }

    __device__ __forceinline__ unsigned ballot(bool yes) const {
        return __ballot_sync(ALL, yes) >> shift & ((1u << TILE) - 1);
    }

    __device__ __forceinline__ static unsigned of_lane(unsigned value, unsigned from) {
        return __shfl_sync(ALL, value, from, TILE);
    }

    // Returns an id of the model: <unk> for numbers that are not ids.
    __device__ __forceinline__ unsigned known(unsigned word) const {
        return word < model.words ? word : 0;
    }

    // Reads the entry of a word alone, which waits for the address only.
    __device__ __forceinline__ uint4 unigram(unsigned word) const {
        return __ldg(model.orders[0].units + known(word));
    }

    // Begins, if `now`, the walk of `word`, whose entry is `entry`.
    __device__ __forceinline__ void begin(bool now, unsigned word, const uint4& entry) {
        if (now) {
            length = 1;
            log10 = entry.x;
            kept = entry.y != NO_EXTENSION;
            if (HASHED) number = word;
        }
        extend<true>(now, entry, false);
    }

    // Records, if `now`, that the n-gram of `length` words has this entry, and goes on
    // to the n-grams that extend it. An entry from a bucket counts few children only;
    // then `number` is the number of its n-gram.
    template <bool WORD>
    __device__ __forceinline__ void extend(bool now, const uint4& entry, bool from_bucket) {
        const unsigned next = of_lane(context, length - 1);
        if (!now) return;
        if (lane == length - 1) backoffs = entry.y;
        stage = ENDED;
        sought = next;
        first = entry.z;
        count = entry.w;
        node = 0;
        if (length >= order() || length > usable) return;
        const bool hashed = HASHED == BIGRAMS ? WORD : HASHED == ANY && length < model.hashed;
        if (!WORD && !from_bucket && entry.x & SIGN) {
            if (count == next) {
                const bool inlined = length + 1 == order();
                stage = inlined ? ENDED : ENTRY;
                log10 = inlined ? first | SIGN : log10;
                length += inlined;
            }
        } else if (count != 0) {
            if (hashed) {
                const u64 key = static_cast<u64>(number) << 32 | next;
                node = home(key, static_cast<u64>(model.orders[length].last) + 1);
                first = node;
                stage = BUCKET;
            } else {
                const bool many = !WORD && from_bucket && count == MANY;
                first += many;
                stage = many ? HEAD : KEYS;
            }
        }
    }

    // Makes one round trip to memory. An ended walk does not change.
    __device__ __forceinline__ void step() {
        const bool longest = length + 1 == order();
        const bool bucket = HASHED && stage == BUCKET;
        const bool head = HASHED && stage == HEAD;
        const bool in_keys = stage == KEYS || head;
        const bool small = stage == KEYS && count <= WIDTH;

        // The units to read: the first one, their number, and the number of units of keys.
        const unsigned keys = small ? (count + 3) / 4 : in_keys ? NODE_UNITS : 0;
        const unsigned whole = keys + (longest ? keys : count);
        unsigned loaded = stage == ENTRY ? 1 : keys;
        if (small && whole <= LINE) loaded = whole;
        if (bucket) loaded = 4;
        const unsigned unit = bucket ? node : first + node * NODE_UNITS;
        const Order order = model.orders[stage == ENDED ? 0 : length];
        const unsigned room = bucket ? 3 : order.last - unit;  // after the first
        if (loaded > 0) loaded = unit > order.last ? 0 : (loaded <= room ? loaded : room + 1);
        const uint4* from = order.units + static_cast<u64>(unit) * (bucket ? 4 : 1);
        uint4 units[LOADS];
#pragma unroll
        for (int i = 0; i < LOADS; ++i) {
            const unsigned at = lane + i * TILE;
            units[i] = make_uint4(NO_WORD, NO_WORD, NO_WORD, NO_WORD);
            if (at < loaded) units[i] = __ldg(from + at);
        }
        unsigned many = 0;
        if (head && first - 1 <= order.last) many = __ldg(&order.units[first - 1].x);

        // The first unit of keys whose last key is not below the word, or the unit of a
        // bucket that has the key. A lane has two keys of a bucket, the last lane one.
        const unsigned last = longest ? 2 : 1;
        const bool low = lane <= last && units[0].x == sought && units[0].y == number;
        const bool high = lane < last && units[0].z == sought && units[0].w == number;
        unsigned hits = 0;
#pragma unroll
        for (int i = 0; i < LOADS; ++i) {
            bool hit = lane + i * TILE < keys && units[i].w >= sought;
            if (bucket) hit = i == 0 && (low || high);
            hits |= ballot(hit) << (i * TILE);
        }
        const unsigned at = hits ? __ffs(hits) - 1 : 0;
        const uint4 mine = LOADS > 1 && at >= TILE ? units[LOADS - 1] : units[0];
        const unsigned below = (mine.x < sought) + (mine.y < sought) + (mine.z < sought);
        const bool same =
            mine.x == sought || mine.y == sought || mine.z == sought || mine.w == sought;
        const unsigned told = of_lane(bucket ? !low : below | same << 2, at % TILE);

        bool found = stage == ENTRY || (bucket && hits);
        // The unit with the entry, among the units read; in the highest order also the
        // word of that unit which is log10 p.
        unsigned source = 0;
        unsigned in_unit = longest ? count & 3 : 0;
        const unsigned slot = 2 * at + told;  // of a bucket
        if (in_keys) {
            if (head) count = many;
            if (hits && told & 4) {
                const unsigned index = node * WIDTH + at * 4 + (told & 3);
                const unsigned all_keys = small ? keys : ((count - 1) / WIDTH + 1) * NODE_UNITS;
                source = all_keys + (longest ? index / 4 : index);
                in_unit = longest ? index & 3 : 0;
                found = small && source < loaded;
                if (!found) {
                    first += source;
                    count = in_unit;
                    node = 0;
                    stage = ENTRY;
                }
            } else {
                const unsigned child = hits ? at * 4 + (told & 3) : WIDTH;
                const u64 next = static_cast<u64>(node) * (WIDTH + 1) + child + 1;
                stage = small || next > (count - 1) / WIDTH ? ENDED : KEYS;
                node = static_cast<unsigned>(next);
            }
        }

        const uint4 pick = LOADS > 1 && source >= TILE ? units[LOADS - 1] : units[0];
        uint4 entry = pick;
        unsigned from_x = source, from_y = source, from_z = source;
        if (HASHED) {
            // The sixteen words of a bucket: keys, log10, backoffs, firsts, counts; of
            // one of the highest order: keys, log10, whether it overflows.
            const unsigned log10_at = (longest ? 10 : 6) + slot;
            in_unit = bucket ? log10_at : in_unit;
            from_x = bucket ? log10_at / 4 : source;
            from_y = bucket ? 2 : source;
            from_z = bucket ? 3 : source;
            if (bucket) {
                entry.y = slot == 0 ? pick.y : slot == 1 ? pick.z : pick.w;
                entry.z = slot == 0 ? pick.x : slot == 1 ? pick.y : pick.z;
            }
        }
        entry.x = of_lane(part(pick, in_unit), from_x % TILE);
        entry.y = of_lane(entry.y, from_y % TILE);
        entry.z = of_lane(entry.z, from_z % TILE);
        entry.w = of_lane(entry.w, from_z % TILE);

        if (bucket) {
            if (hits) {
                number = 3 * node + slot;
                entry.w = entry.w >> (8 * slot) & 0xFF;  // counts are bytes
            } else {
                // The flag is a byte in one kind of bucket, a word in the other.
                const bool overflows = longest ? entry.w != 0 : entry.w >> 24 != 0;
                node = node < order.last ? node + 1 : 0;
                if (!overflows || node == first) stage = ENDED;
            }
        }
        if (found) {
            length += 1;
            log10 = entry.x | SIGN;
            if (longest) stage = ENDED;
            if (!longest && entry.y != NO_EXTENSION) kept = length;
        }
        extend<false>(found && !longest, entry, bucket);
    }

    // Returns log10 p: that of the matched n-gram, plus the backoffs of the contexts
    // from its length up to `contexts` words, one after another, the shorter first.
    // Lane `from` of a tile of WITHIN lanes has the first of `charged`.
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
