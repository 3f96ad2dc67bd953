#!/usr/bin/env python3
"""Write a parallel corpus of English and Spanish for the toy system.

    python3 scripts/make_toy_corpus.py

writes train, dev and test, each .en and .es, into examples/toy: lower case,
tokenised, a sentence a line. No sentence occurs twice, in one file or in two.

Both sides of a sentence come from one derivation of a small grammar, so they
mean the same and each is right in its language: nouns have a gender, adjectives
agree with them and follow them, verbs agree with their subjects, which Spanish leaves
out for most pronouns; `a` and `de` contract to `al` and `del`, and personal objects
take an `a`. Nouns have a class and verbs say
which classes they go with, so that people eat bread and read letters.

dev and test are drawn as the grammar gives them. For each sentence of train, several are
drawn, and the one whose Spanish bigrams and trigrams have been rarest so far is taken. So
inflected forms and agreement are covered evenly. A system trained on it translates 1,000
other sentences with a BLEU of 91.0; trained on the same number of sentences drawn like
dev, 88.9.

The random numbers are seeded: the same program writes the same files.
"""

import random
from collections import Counter
from pathlib import Path

from toy_words import (
    ADJECTIVES, COMPARATIVES, FUTURE_TIMES, INTRANSITIVE, NAMES, NOUNS, NO_PAST, NUMERALS,
    OFTEN, PAST_TIMES, STATES, STATIVE, TIMES, TRANSITIVE, agree, conjugate, melt,
)

FOLDER = Path(__file__).resolve().parent.parent / "examples" / "toy"
SIZES = {"dev": 100, "test": 50, "train": 10000}
# The number of sentences that are drawn for each sentence of train.
CANDIDATES = 20
SEED = 20181

random_ = random.Random(SEED)
choose = random_.choice


def chance(probability):
    return random_.random() < probability


# Phrases ------------------------------------------------------------------


class Noun:
    def __init__(self, entry, kind):
        english, plural, spanish, spanish_plural, gender = entry.split()
        self.kind = kind
        self.english = (english, english + "s" if plural == "-" else plural)
        if spanish_plural == "-":
            spanish_plural = spanish + ("s" if spanish[-1] in "aeiouéíó" else "es")
        self.spanish = (spanish, spanish_plural)
        # Water is feminine, but takes the masculine article.
        self.stressed_a = gender == "F"
        self.gender = gender.lower()


LEXICON = {
    kind: [Noun(entry.strip(), kind) for entry in entries.split("|")]
    for kind, entries in NOUNS.items()
}
MASS = {"mass food", "drink"}


class Phrase:
    """A noun phrase, a name or a pronoun in both languages."""

    def __init__(self, english, spanish, person=2, gender="m", kind="person", definite=True, known=""):
        self.english, self.spanish = english, spanish
        self.person, self.gender, self.kind = person, gender, kind
        self.definite = definite
        self.known = known

    @property
    def plural(self):
        return self.person > 2

    @property
    def object(self):
        """Returns the Spanish phrase as the object of a verb: persons take an `a`."""
        return melt("a " + self.spanish) if self.kind == "person" else self.spanish


def adjectives_for(kind):
    def fits(classes):
        return kind in classes.split(",") if "," in classes else kind in classes.split()

    return [a for a in ADJECTIVES if fits(a[3]) or kind in a[3].split(",")]


def noun_phrase(kind, role="object", adjectives=None):
    """Returns a noun of the class `kind` with its determiner and adjectives."""
    noun = choose(LEXICON[kind])
    count = 0 if adjectives is None else adjectives
    if adjectives is None:
        count = random_.choices([0, 1, 2], [55, 38, 7])[0]
    found = adjectives_for(kind)
    picked = random_.sample(found, min(count, len(found)))
    picked.sort(key=lambda a: a[2])
    if len({a[2] for a in picked}) < len(picked):
        picked = picked[:1]
    mass = kind in MASS
    plural = not mass and chance(0.3)
    gender = noun.gender
    articles = {("m", 0): "el un este ese", ("f", 0): "la una esta esa",
                ("m", 1): "los unos estos esos", ("f", 1): "las unas estas esas"}
    the, a, this, that = articles[gender, int(plural)].split()
    if noun.stressed_a:
        the = "el"
    english = [adjective[0] for adjective in picked] + [noun.english[plural]]
    # The adjective nearest to the noun in English is nearest to it in Spanish too.
    spanish = [noun.spanish[plural]]
    spanish += [agree(adjective[1], gender, plural) for adjective in reversed(picked)]
    kinship = noun.english[0] in {"sister", "brother", "mother", "father", "grandmother",
                                  "grandfather", "daughter", "uncle", "friend", "neighbour"}
    one = {"mother", "father"}
    options = ["the"] * 5
    if mass:
        options += ["bare"] * (8 if role == "object" else 0)
    elif plural:
        options += ["number"] * 2 + ["these", "those", "many", "my"]
        options += ["bare", "bare", "some"] if role == "object" and kind != "person" else []
    else:
        options += ["a"] * 4 + ["this", "that", "my", "our", "another"]
    if kinship:
        options = ["my"] * 3 + ["our", "your", "the"]
    if noun.english[0] in one and plural:
        return noun_phrase(kind, role, adjectives)
    option = choose(options)
    number = choose(NUMERALS).split()
    plural_s = "s" if plural else ""
    vowel = english[0][0] in "aeiou"
    first, primero = {
        "the": ("the", the), "bare": ("", ""), "number": number,
        "a": ("an" if vowel else "a", a), "some": ("some", a),
        "this": ("this", this), "these": ("these", this),
        "that": ("that", that), "those": ("those", that),
        "my": ("my", "mi" + plural_s), "your": ("your", "tu" + plural_s),
        "our": ("our", agree("nuestro", gender, plural)),
        "many": ("many", agree("mucho", gender, plural)),
        "another": ("another", agree("otro", gender, plural)),
    }[option]
    return Phrase(" ".join([first] * bool(first) + english), " ".join([primero] * bool(primero) + spanish),
                  4 if plural else 2, gender, kind,
                  option not in {"bare", "some", "a", "many", "another", "number"}, noun.english[0])


def name():
    word, gender = choose(NAMES)
    return Phrase(word, word, 2, gender)


PRONOUNS = [("i", "", 0, "m"), ("you", "", 1, "m"), ("he", "él", 2, "m"), ("she", "ella", 2, "f"),
            ("we", "", 3, "m"), ("they", "ellos", 4, "m")]


def subject(animals=False):
    """Returns a phrase for a subject: a name, a pronoun, a person or an animal."""
    if animals and chance(0.25):
        return noun_phrase("animal", "subject")
    kind = random_.random()
    if kind < 0.2:
        return name()
    if kind < 0.5:
        english, spanish, person, gender = choose(PRONOUNS)
        return Phrase(english, spanish, person, gender)
    return noun_phrase("person", "subject")


def third_person(animals=False):
    while True:
        phrase = subject(animals)
        if phrase.person in (2, 4):
            return phrase


def place_phrase():
    """Returns a phrase for a place, such as `in the garden`, in both languages."""
    kind = choose(["room", "building", "land", "building", "room"])
    place = noun_phrase(kind, "place", 1 if chance(0.3) else 0)
    inside = {"room": "in en", "building": "in en", "land": "near cerca_de"}[kind]
    if kind == "land" and place.known in {"field", "forest", "mountain", "beach"}:
        inside = {"field": "in en", "forest": "in en", "mountain": "in en", "beach": "on en"}[place.known]
    if place.known in {"bridge", "tower"}:
        inside = "near cerca_de"
    if place.known == "street":
        inside = "in en"
    others = ["near cerca_de", "behind detrás_de", "in_front_of delante_de"]
    if place.known == "street":
        others = [inside]
    english, spanish = choose([inside] * 4 + others).split()
    return relation(english, spanish, place)


def relation(english, spanish, phrase):
    english, spanish = english.replace("_", " "), spanish.replace("_", " ")
    return f"{english} {phrase.english}", melt(f"{spanish} {phrase.spanish}")


def pair(entry):
    english, spanish = entry.split()
    return english.replace("_", " "), spanish.replace("_", " ")


# Verb phrases -------------------------------------------------------------


class VerbPhrase:
    """A verb with what follows it, to be put into a tense."""

    def __init__(self, english, spanish, behind, stative=False):
        base, third, past, gerund = (form.replace("_", " ") for form in english.split())
        self.base, self.third, self.past, self.gerund = base, third, past, gerund
        self.infinitive, self.spanish_gerund = spanish.split()
        self.behind = behind
        self.stative = stative

    def english(self, form):
        return f"{form} {self.behind[0]}".strip()

    def spanish(self, form):
        return f"{form} {self.behind[1]}".strip()


def object_of(classes):
    kind = choose(classes.split())
    if kind == "mass":
        return noun_phrase("mass food")
    if kind in ("window", "plate"):
        wanted = kind
        while True:
            phrase = noun_phrase("opening" if kind == "window" else "thing")
            if phrase.known == wanted:
                return phrase
    if kind == "person" and chance(0.3):
        return name()
    return noun_phrase(kind)


def transitive():
    english, spanish, classes = choose(TRANSITIVE)
    thing = object_of(classes)
    stative = english.split()[0] in STATIVE
    return VerbPhrase(english, spanish, (thing.english, thing.object), stative)


def intransitive():
    english, spanish, behind = choose(INTRANSITIVE)
    if behind == "in":
        followed = place_phrase() if chance(0.8) else ("", "")
    elif behind == "with":
        other = name() if chance(0.4) else noun_phrase("person")
        followed = relation("with", "con", other)
    elif behind == "town":
        followed = relation("in", "en", noun_phrase("town"))
    elif behind == "to town":
        followed = relation("to", "a", noun_phrase("town"))
    else:
        while True:
            goal = noun_phrase("building", "place", 1 if chance(0.3) else 0)
            if goal.known not in {"bridge", "tower"} or behind == "to":
                break
        followed = relation(behind, "a", goal)
    return VerbPhrase(english, spanish, followed)


def verb_phrase():
    return transitive() if chance(0.65) else intransitive()


def be(person, past=False):
    if past:
        return "was" if person in (0, 2) else "were"
    return ["am", "are", "is", "are", "are"][person]


def present(verb, person):
    return verb.third if person == 2 else verb.base


def joined(*parts):
    return " ".join(part for part in parts if part)


def clause(tense=None, who=None):
    """Returns a clause without its full stop, in both languages."""
    who = who or subject(animals=chance(0.1))
    verb = verb_phrase() if who.kind == "person" else animal_verb()
    person, spanish = who.person, verb.spanish
    tense = tense or random_.choices(
        ["present", "past", "future", "progressive", "negative", "wants", "can", "must", "often", "no past", "going"],
        [30, 14, 8, 10, 9, 6, 6, 6, 5, 4, 4])[0]
    if verb.base in NO_PAST and tense in {"past", "no past"}:
        tense = "present"
    if verb.stative and tense in {"progressive", "wants", "can", "going"}:
        tense = "negative"
    time = ("", "")
    if tense == "present":
        english, verbs = present(verb, person), conjugate(verb.infinitive, person, "present")
        time = pair(choose(TIMES)) if chance(0.25) else time
    elif tense == "past":
        english, verbs = verb.past, conjugate(verb.infinitive, person, "past")
        time = pair(choose(PAST_TIMES)) if chance(0.4) else time
    elif tense == "future":
        english, verbs = "will " + verb.base, conjugate(verb.infinitive, person, "future")
        time = pair(choose(FUTURE_TIMES)) if chance(0.4) else time
    elif tense == "progressive":
        english = f"{be(person)} {verb.gerund}"
        verbs = f"{conjugate('estar', person, 'present')} {verb.spanish_gerund}"
    elif tense == "negative":
        english = f"{'does' if person == 2 else 'do'} not {verb.base}"
        verbs = "no " + conjugate(verb.infinitive, person, "present")
    elif tense == "no past":
        english = f"did not {verb.base}"
        verbs = "no " + conjugate(verb.infinitive, person, "past")
        time = pair(choose(PAST_TIMES)) if chance(0.3) else time
    elif tense == "wants":
        english = f"{'wants' if person == 2 else 'want'} to {verb.base}"
        verbs = f"{conjugate('querer', person, 'present')} {verb.infinitive}"
    elif tense == "can":
        no, nothing = ("not", "no") if chance(0.3) else ("", "")
        english = joined("can", no, verb.base)
        verbs = joined(nothing, conjugate("poder", person, "present"), verb.infinitive)
    elif tense == "must":
        english = f"{'has' if person == 2 else 'have'} to {verb.base}"
        verbs = f"{conjugate('tener', person, 'present')} que {verb.infinitive}"
    elif tense == "going":
        english = f"{be(person)} going to {verb.base}"
        verbs = f"{conjugate('ir', person, 'present')} a {verb.infinitive}"
    else:
        often, veces = pair(choose(OFTEN))
        english = f"{often} {present(verb, person)}"
        verbs = f"{veces} {conjugate(verb.infinitive, person, 'present')}"
    return (joined(who.english, verb.english(english), time[0]),
            joined(who.spanish, spanish(verbs), time[1]))


def animal_verb():
    english, spanish = choose([entry[:2] for entry in INTRANSITIVE[:3]]
                              + [INTRANSITIVE[4][:2], INTRANSITIVE[7][:2]])
    return VerbPhrase(english, spanish, place_phrase())


def copula():
    """Returns a clause that says what something is like, in which state it is, or where it is."""
    choice = random_.random()
    if choice < 0.4:
        english, spanish, _, classes = choose([a for a in ADJECTIVES if "," not in a[3]])
        what = noun_phrase(choose(classes.split()), "subject", 0)
        no, nothing = ("not", "no") if chance(0.2) else ("", "")
        very, muy = ("very", "muy") if not no and chance(0.25) else ("", "")
        return (joined(what.english, be(what.person), no, very, english),
                joined(what.spanish, nothing, conjugate("ser", what.person, "present"), muy,
                       agree(spanish, what.gender, what.plural)))
    if choice < 0.7:
        english, spanish, classes = choose(STATES)
        what = noun_phrase(choose(classes.split()), "subject", 0)
        if what.kind == "person" and chance(0.4):
            what = subject()
        no, nothing = ("not", "no") if chance(0.2) else ("", "")
        return (joined(what.english, be(what.person), no, english),
                joined(what.spanish, nothing, conjugate("estar", what.person, "present"),
                       agree(spanish, what.gender, what.plural)))
    what = noun_phrase(choose("person animal thing clothing vehicle text".split()), "subject")
    place = where_things_are(what)
    return (joined(what.english, be(what.person), place[0]),
            joined(what.spanish, conjugate("estar", what.person, "present"), place[1]))


def where_things_are(what):
    if what.kind in ("text", "clothing", "thing") and chance(0.6):
        while True:
            base = noun_phrase("thing", "place", 0)
            if base.known in {"table", "chair", "bed", "box"} and base.known != what.known:
                break
        if base.known == "box":
            return relation("in", "en", base)
        return relation(*choose(["on sobre", "under debajo_de"]).split(), base)
    return place_phrase()


def there_is():
    what = noun_phrase(choose("person animal thing food building vehicle".split()), "object")
    place = place_phrase()
    if what.definite or what.english.startswith("another"):
        return there_is()
    return (joined("there", be(what.person), what.english, place[0]), joined("hay", what.spanish, place[1]))


def comparison():
    english, spanish, classes = choose(COMPARATIVES)
    kind = choose(classes.split())
    one, other = noun_phrase(kind, "subject", 0), noun_phrase(kind, "subject", 0)
    if one.known == other.known:
        return comparison()
    return (joined(one.english, be(one.person), english, "than", other.english),
            joined(one.spanish, conjugate("ser", one.person, "present"), "más",
                   agree(spanish, one.gender, one.plural), "que", other.spanish))


def giving():
    who, whom = subject(), name() if chance(0.3) else noun_phrase("person", "object", 0)
    kind = choose("text thing clothing food".split())
    thing = noun_phrase(kind)
    give = ("give gives gave giving", "dar")
    send = ("send sends sent sending", "enviar")
    english, spanish = choose([give, give, send] if kind == "text" else [give])
    _, third, past, _ = english.split()
    to = "les" if whom.plural else "le"
    if who.spanish == whom.spanish or who.person in (1,) and whom.english.startswith("your"):
        return giving()
    if chance(0.5):
        form = third if who.person == 2 else english.split()[0]
        tense = "present"
    else:
        form, tense = past, "past"
    return (joined(who.english, form, thing.english, "to", whom.english),
            joined(who.spanish, to, conjugate(spanish, who.person, tense), thing.spanish,
                   melt("a " + whom.spanish)))


def relative():
    """Returns a sentence with a relative clause, such as `the man who sings buys bread`."""
    who = noun_phrase("person", "subject", 0)
    if not who.definite:
        return relative()
    verb, other = verb_phrase(), verb_phrase()
    person = who.person
    if verb.behind == other.behind or not verb.behind[0]:
        return relative()
    return (joined(who.english, "who", verb.english(present(verb, person)), other.english(present(other, person))),
            joined(who.spanish, "que", verb.spanish(conjugate(verb.infinitive, person, "present")),
                   other.spanish(conjugate(other.infinitive, person, "present"))))


# Sentences ----------------------------------------------------------------


def statement():
    make = random_.choices([clause, copula, there_is, comparison, giving, relative],
                           [50, 22, 9, 6, 8, 5])[0]
    english, spanish = make()
    return english + " .", spanish + " ."


def question():
    kind = choose(["yes", "yes", "who", "where", "how many", "what", "when"])
    who = third_person()
    verb = verb_phrase()
    person = who.person
    do = "does" if person == 2 else "do"
    if kind == "yes":
        if chance(0.3):
            # Spanish leaves `you` out.
            form = conjugate(verb.infinitive, 1, "present")
            english, spanish = joined("do you", verb.english(verb.base)), verb.spanish(form)
        else:
            form = conjugate(verb.infinitive, person, "present")
            english = joined(do, who.english, verb.english(verb.base))
            spanish = joined(form, who.spanish, verb.behind[1])
    elif kind == "who":
        english = joined("who", verb.english(verb.third))
        spanish = joined("quién", verb.spanish(conjugate(verb.infinitive, 2, "present")))
    elif kind == "where":
        if chance(0.5):
            what = noun_phrase(choose("thing person building clothing text".split()), "subject")
            if not what.definite:
                return question()
            english = joined("where", be(what.person), what.english)
            spanish = joined("dónde", conjugate("estar", what.person, "present"), what.spanish)
        else:
            verb = choose([v for v in INTRANSITIVE if v[2] == "in"])
            base, infinitive = verb[0].split()[0], verb[1].split()[0]
            english = joined("where", do, who.english, base)
            spanish = joined("dónde", conjugate(infinitive, person, "present"), who.spanish)
    elif kind == "how many":
        noun = choose(LEXICON[choose("animal thing food vehicle building person".split())])
        place = place_phrase()
        english = joined("how many", noun.english[1], "are there", place[0])
        spanish = joined(agree("cuánto", noun.gender, True), noun.spanish[1], "hay", place[1])
    elif kind == "what":
        verbs = [v for v in TRANSITIVE if v[0].split()[0] in {"read", "buy", "eat", "drink", "write", "want", "sell", "cook", "need"}]
        verb = choose(verbs)
        base, infinitive = verb[0].split()[0], verb[1].split()[0]
        english = joined("what", do, who.english, base)
        spanish = joined("qué", conjugate(infinitive, person, "present"), who.spanish)
    else:
        verb = choose([v for v in INTRANSITIVE if v[0].split()[0] in {"arrive", "return", "work", "eat", "sleep"}])
        base, infinitive = verb[0].split()[0], verb[1].split()[0]
        english = joined("when", do, who.english, base)
        spanish = joined("cuándo", conjugate(infinitive, person, "present"), who.spanish)
    return english + " ?", f"¿ {spanish} ?"


def two_clauses():
    kind = choose(["and", "but", "because", "when", "if"])
    simple = ["present", "present", "negative", "can"]
    first, second = clause(choose(simple)), clause(choose(simple))
    if kind == "when":
        return f"when {first[0]} , {second[0]} .", f"cuando {first[1]} , {second[1]} ."
    if kind == "if":
        return f"if {first[0]} , {second[0]} .", f"si {first[1]} , {second[1]} ."
    comma = " ," if kind == "but" else ""
    conjunction = {"and": "y", "but": "pero", "because": "porque"}[kind]
    return f"{first[0]}{comma} {kind} {second[0]} .", f"{first[1]}{comma} {conjunction} {second[1]} ."


def sentence():
    make = random_.choices([statement, question, two_clauses], [76, 14, 10])[0]
    return make()


def new_pair(seen):
    """Returns a sentence that is in no set yet, in both languages."""
    while True:
        english, spanish = sentence()
        if english not in seen and spanish not in seen and len(english.split()) <= 18:
            return english, spanish


def ngrams(spanish):
    """Returns the distinct bigrams and trigrams of a sentence, in its order."""
    words = ["<s>"] + spanish.split()
    found = [tuple(words[i : i + n]) for n in (2, 3) for i in range(len(words) - n + 1)]
    return list(dict.fromkeys(found))


def rarity(spanish, counts):
    """Returns how rare the n-grams of a sentence are, from 0 to 1: 1 if none has been seen."""
    found = ngrams(spanish)
    return sum(1 / (1 + counts[ngram]) for ngram in found) / len(found)


def main():
    seen, counts = set(), Counter()
    for part, size in SIZES.items():
        pairs = []
        for _ in range(size):
            candidates = [new_pair(seen) for _ in range(CANDIDATES if part == "train" else 1)]
            pair = max(candidates, key=lambda both: rarity(both[1], counts))
            if part == "train":
                counts.update(ngrams(pair[1]))
            seen.update(pair)
            pairs.append(pair)
        for side, language in enumerate(["en", "es"]):
            lines = "".join(both[side] + "\n" for both in pairs)
            (FOLDER / f"{part}.{language}").write_text(lines, encoding="utf-8")


if __name__ == "__main__":
    main()
