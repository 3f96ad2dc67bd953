"""The words of the toy corpus and the forms that Spanish gives them (`make_toy_corpus.py`)."""

# Words --------------------------------------------------------------------

# class: "english plural? spanish plural? gender"; - forms the regular plural.
NOUNS = {
    "person": """man men hombre - m|woman women mujer - f|boy - niño - m|girl - niña - f
        |teacher - maestro - m|doctor - médico - m|friend - amigo - m|neighbour - vecino - m
        |sister - hermana - f|brother - hermano - m|mother - madre - f|father - padre - m
        |farmer - campesino - m|student - alumno - m|cook - cocinero - m|nurse - enfermera - f
        |grandmother - abuela - f|grandfather - abuelo - m|king - rey reyes m|queen - reina - f
        |daughter - hija - f|uncle - tío - m|painter - pintor - m|singer - cantante - f""",
    "animal": """dog - perro - m|cat - gato - m|horse - caballo - m|bird - pájaro - m
        |cow - vaca - f|sheep sheep oveja - f|fish fish pez peces m|chicken - gallina - f
        |rabbit - conejo - m|donkey - burro - m""",
    "food": """apple - manzana - f|orange - naranja - f|egg - huevo - m|cake - pastel - m
        |tomato tomatoes tomate - m|potato potatoes patata - f|lemon - limón limones m
        |pear - pera - f|carrot - zanahoria - f|onion - cebolla - f""",
    "mass food": "bread - pan - m|cheese - queso - m|meat - carne - f|rice - arroz - m|soup - sopa - f|fruit - fruta - f",
    "drink": "water - agua - F|wine - vino - m|milk - leche - f|coffee - café - m|tea - té - m|juice - jugo - m",
    "text": """book - libro - m|letter - carta - f|story stories historia - f|newspaper - periódico - m
        |poem - poema - m|message - mensaje - m""",
    "clothing": """shirt - camisa - f|hat - sombrero - m|coat - abrigo - m|dress dresses vestido - m
        |shoe - zapato - m|skirt - falda - f""",
    "thing": """table - mesa - f|chair - silla - f|box boxes caja - f|key - llave - f|clock - reloj relojes m
        |bag - bolsa - f|plate - plato - m|cup - taza - f|bottle - botella - f|lamp - lámpara - f
        |bed - cama - f|picture - cuadro - m|mirror - espejo - m|flower - flor flores f""",
    "vehicle": "car - coche - m|bicycle - bicicleta - f|boat - barco - m|bus buses autobús autobuses m|train - tren trenes m",
    "building": """house - casa - f|church churches iglesia - f|school - escuela - f|hotel - hotel hoteles m
        |shop - tienda - f|bridge - puente - m|tower - torre - f|museum - museo - m|station - estación estaciones f
        |hospital - hospital hospitales m|library libraries biblioteca - f|market - mercado - m""",
    "room": "kitchen - cocina - f|garden - jardín jardines m|street - calle - f|office - oficina - f|park - parque - m",
    "land": "river - río - m|lake - lago - m|mountain - montaña - f|field - campo - m|tree - árbol árboles m|beach beaches playa - f|forest - bosque - m",
    "town": "town - pueblo - m|city cities ciudad ciudades f|village - aldea - f|country countries país países m",
    "opening": "door - puerta - f|window - ventana - f",
    "part": "wall - pared paredes f|roof - techo - m",
    "music": "song - canción canciones f",
    "instrument": "guitar - guitarra - f|piano - piano - m|violin - violín violines m",
}

# english, spanish masculine, rank in English (opinion, size, age, colour), classes.
ADJECTIVES = [
    ("big", "grande", 1, "animal food thing vehicle building room land town part opening clothing"),
    ("small", "pequeño", 1, "person animal food thing vehicle building room land town part opening"),
    ("tall", "alto", 1, "person"),
    ("long", "largo", 1, "text clothing"),
    ("short", "corto", 1, "text clothing music"),
    ("old", "viejo", 2, "person animal text clothing thing vehicle building instrument"),
    ("young", "joven", 2, "person animal"),
    ("new", "nuevo", 2, "text clothing thing vehicle building part opening music instrument"),
    ("white", "blanco", 3, "animal clothing thing vehicle building part opening"),
    ("black", "negro", 3, "animal clothing thing vehicle part opening instrument"),
    ("red", "rojo", 3, "food clothing thing vehicle building part opening"),
    ("blue", "azul", 3, "clothing thing vehicle building part opening"),
    ("green", "verde", 3, "clothing thing vehicle building part opening"),
    ("yellow", "amarillo", 3, "clothing thing vehicle building part opening"),
    ("brown", "marrón", 3, "animal clothing thing"),
    ("beautiful", "hermoso", 0, "person animal building land town music clothing"),
    ("ugly", "feo", 0, "animal clothing thing vehicle building"),
    ("expensive", "caro", 0, "clothing thing vehicle instrument food"),
    ("cheap", "barato", 0, "clothing thing vehicle instrument food"),
    ("interesting", "interesante", 0, "text town"),
    ("famous", "famoso", 0, "person building town text music"),
    ("quiet", "tranquilo", 0, "person animal room town land"),
    ("sad", "triste", 0, "text music"),
    ("difficult", "difícil", 0, "text"),
    ("round", "redondo", 2, "thing"),
    ("heavy", "pesado", 0, "thing"),
    ("strong", "fuerte", 0, "person animal"),
    ("rich", "rico", 0, "person town"),
    ("poor", "pobre", 0, "town"),
    ("intelligent", "inteligente", 0, "person animal"),
    ("friendly", "amable", 0, "person"),
    ("cold", "frío", 0, "mass food,drink"),
    ("hot", "caliente", 0, "mass food,drink"),
    ("fresh", "fresco", 0, "mass food,food"),
    ("sweet", "dulce", 0, "food"),
]

# States, for which Spanish has another verb: estar.
STATES = [
    ("tired", "cansado", "person animal"), ("sick", "enfermo", "person animal"),
    ("happy", "contento", "person"), ("angry", "enfadado", "person"),
    ("open", "abierto", "opening building"), ("closed", "cerrado", "opening building"),
    ("clean", "limpio", "thing clothing vehicle room"), ("dirty", "sucio", "thing clothing vehicle room"),
    ("empty", "vacío", "room building"), ("full", "lleno", "room building"),
    ("broken", "roto", "opening"), ("alone", "solo", "person"), ("ready", "listo", "person"),
]

COMPARATIVES = [
    ("bigger", "grande", "animal building town vehicle"), ("smaller", "pequeño", "animal building town"),
    ("taller", "alto", "person"), ("older", "viejo", "building vehicle"),
    ("younger", "joven", "person"), ("stronger", "fuerte", "person animal"),
    ("cheaper", "barato", "clothing vehicle"), ("longer", "largo", "text"),
    ("richer", "rico", "person"),
]

NUMERALS = ["two dos", "three tres", "four cuatro", "five cinco", "six seis", "seven siete",
            "eight ocho", "nine nueve", "ten diez", "twelve doce", "twenty veinte"]

NAMES = [("ana", "f"), ("maría", "f"), ("elena", "f"), ("lucía", "f"),
         ("juan", "m"), ("pedro", "m"), ("carlos", "m"), ("miguel", "m")]

# english: base third past gerund | spanish: infinitive gerund | objects
TRANSITIVE = [
    ("read reads read reading", "leer leyendo", "text"),
    ("write writes wrote writing", "escribir escribiendo", "text"),
    ("buy buys bought buying", "comprar comprando", "food clothing thing vehicle text mass drink"),
    ("sell sells sold selling", "vender vendiendo", "food clothing thing vehicle animal mass"),
    ("eat eats ate eating", "comer comiendo", "food mass"),
    ("drink drinks drank drinking", "beber bebiendo", "drink"),
    ("see sees saw seeing", "ver viendo", "person animal building land vehicle"),
    ("have has had having", "tener teniendo", "animal thing vehicle clothing instrument"),
    ("open opens opened opening", "abrir abriendo", "opening"),
    ("close closes closed closing", "cerrar cerrando", "opening"),
    ("clean cleans cleaned cleaning", "limpiar limpiando", "room part opening thing"),
    ("wash washes washed washing", "lavar lavando", "clothing vehicle"),
    ("paint paints painted painting", "pintar pintando", "part opening building animal"),
    ("look_for looks_for looked_for looking_for", "buscar buscando", "animal person thing"),
    ("find finds found finding", "encontrar encontrando", "thing animal clothing"),
    ("wear wears wore wearing", "llevar llevando", "clothing"),
    ("cook cooks cooked cooking", "cocinar cocinando", "mass"),
    ("cut cuts cut cutting", "cortar cortando", "food mass"),
    ("visit visits visited visiting", "visitar visitando", "person town building"),
    ("help helps helped helping", "ayudar ayudando", "person"),
    ("call calls called calling", "llamar llamando", "person"),
    ("draw draws drew drawing", "dibujar dibujando", "animal building land"),
    ("break breaks broke breaking", "romper rompiendo", "window plate"),
    ("need needs needed needing", "necesitar necesitando", "clothing thing vehicle mass"),
    ("want wants wanted wanting", "querer queriendo", "clothing thing vehicle drink mass"),
    ("sing sings sang singing", "cantar cantando", "music"),
    ("play plays played playing", "tocar tocando", "instrument"),
    ("wait_for waits_for waited_for waiting_for", "esperar esperando", "person vehicle"),
]
STATIVE = {"see", "have", "need", "want"}
# Their past has another meaning in Spanish, or another tense is better.
NO_PAST = {"want", "have", "need"}

# english | spanish | what follows: a place to be in, a place to go to, a companion
INTRANSITIVE = [
    ("sleep sleeps slept sleeping", "dormir durmiendo", "in"),
    ("run runs ran running", "correr corriendo", "in"),
    ("play plays played playing", "jugar jugando", "in"),
    ("work works worked working", "trabajar trabajando", "in"),
    ("walk walks walked walking", "caminar caminando", "in"),
    ("dance dances danced dancing", "bailar bailando", "in"),
    ("sing sings sang singing", "cantar cantando", "in"),
    ("eat eats ate eating", "comer comiendo", "in"),
    ("live lives lived living", "vivir viviendo", "town"),
    ("go goes went going", "ir yendo", "to"),
    ("travel travels travelled travelling", "viajar viajando", "to town"),
    ("return returns returned returning", "volver volviendo", "to"),
    ("arrive arrives arrived arriving", "llegar llegando", "at"),
    ("talk talks talked talking", "hablar hablando", "with"),
]

# present: I, you, he, we, they; preterite: the same; future stem.
IRREGULAR = {
    "leer": (None, "leí leíste leyó leímos leyeron"),
    "ver": ("veo ves ve vemos ven", "vi viste vio vimos vieron"),
    "tener": ("tengo tienes tiene tenemos tienen", "tuve tuviste tuvo tuvimos tuvieron", "tendr"),
    "cerrar": ("cierro cierras cierra cerramos cierran", None),
    "buscar": (None, "busqué buscaste buscó buscamos buscaron"),
    "encontrar": ("encuentro encuentras encuentra encontramos encuentran", None),
    "querer": ("quiero quieres quiere queremos quieren", "quise quisiste quiso quisimos quisieron", "querr"),
    "tocar": (None, "toqué tocaste tocó tocamos tocaron"),
    "dormir": ("duermo duermes duerme dormimos duermen", "dormí dormiste durmió dormimos durmieron"),
    "jugar": ("juego juegas juega jugamos juegan", "jugué jugaste jugó jugamos jugaron"),
    "ir": ("voy vas va vamos van", "fui fuiste fue fuimos fueron"),
    "volver": ("vuelvo vuelves vuelve volvemos vuelven", None),
    "llegar": (None, "llegué llegaste llegó llegamos llegaron"),
    "ser": ("soy eres es somos son", "fui fuiste fue fuimos fueron"),
    "estar": ("estoy estás está estamos están", "estuve estuviste estuvo estuvimos estuvieron"),
    "poder": ("puedo puedes puede podemos pueden", "pude pudiste pudo pudimos pudieron", "podr"),
    "dar": ("doy das da damos dan", "di diste dio dimos dieron"),
    "enviar": ("envío envías envía enviamos envían", None),
}
ENDINGS = {
    "ar": ("o as a amos an", "é aste ó amos aron"),
    "er": ("o es e emos en", "í iste ió imos ieron"),
    "ir": ("o es e imos en", "í iste ió imos ieron"),
}
FUTURE = "é ás á emos án"

TIMES = ["today hoy", "now ahora", "every_day todos_los_días", "in_the_morning por_la_mañana",
         "in_the_afternoon por_la_tarde", "at_night por_la_noche", "on_mondays los_lunes",
         "on_sundays los_domingos", "again otra_vez"]
PAST_TIMES = ["yesterday ayer", "last_week la_semana_pasada", "last_year el_año_pasado",
              "this_morning esta_mañana", "last_night anoche"]
FUTURE_TIMES = ["tomorrow mañana", "next_week la_semana_próxima", "tonight esta_noche", "soon pronto"]
OFTEN = ["always siempre", "never nunca", "often a_menudo", "sometimes a_veces"]


# Spanish forms ------------------------------------------------------------


def conjugate(infinitive, person, tense):
    """Returns a form of a verb; person 0 to 4: I, you, he or she, we, they."""
    present, past, *future = IRREGULAR.get(infinitive, (None, None))
    if tense == "future":
        return (future[0] if future else infinitive) + FUTURE.split()[person]
    listed = present if tense == "present" else past
    if listed:
        return listed.split()[person]
    endings = ENDINGS[infinitive[-2:]][0 if tense == "present" else 1]
    return infinitive[:-2] + endings.split()[person]


def agree(adjective, gender, plural):
    """Returns a form of an adjective, which is given in the masculine singular."""
    if adjective.endswith("o") and gender == "f":
        adjective = adjective[:-1] + "a"
    if not plural:
        return adjective
    special = {"joven": "jóvenes", "marrón": "marrones"}
    if adjective in special:
        return special[adjective]
    return adjective + ("s" if adjective[-1] in "aeiou" else "es")


def melt(spanish):
    """Contracts `a el` and `de el`, as Spanish is written."""
    return f" {spanish} ".replace(" a el ", " al ").replace(" de el ", " del ").strip()
