una reina no lleva esta camisa .
mi abuela es más fuerte que mi abuelo .
maría le da el abrigo largo al médico .
¿ cuándo llegan mis tíos ?
el maestro no abre esas puertas .
no vamos a otro hospital azul porque ella no tiene una cama .
este cuadro es redondo .
trabajamos en mi oficina .
ella trabaja todos los días .
nuestro maestro pinta una puerta blanca .
carlos viajó a esta ciudad grande .
elena visita este país rico .
tu hermana famosa está bebiendo agua fría .
esa reina está cocinando queso .
hay una enfermera joven rica en las cocinas .
juan llama al vecino tranquilo .
ellos le dan las cartas nuevas largas al campesino .
nuestros hermanos pueden cortar la sopa fresca .
podemos vivir en los países pobres .
camino delante de las estaciones feas .
hablamos con ana .
estos poemas son famosos .
la camisa está en esta caja .
como en el parque , pero carlos visita veinte ciudades hermosas .
tenemos que ayudar a nuestro vecino .
los niños que tienen otro violín compran nuestra carta difícil .
las hermanas cierran esa puerta .
muchos maestros amables cantaron cerca de un árbol .
esos vestidos son más baratos que esos zapatos .
mis hijas amables están listas .
miguel corre .
lees este libro .
ana querrá nuestro tren .
trabajaste detrás de mi iglesia .
él le envía otro periódico nuevo a un maestro .
cuando la mujer famosa cierra mi puerta , mi cocinero rico va a la tienda .
escribiste el mensaje .
lucía a veces tiene los caballos .
ese reloj es feo .
un campesino está trabajando en un mercado amarillo .
otro tren no está sucio .
tocaremos nuestra guitarra .
cinco enfermeras famosas trabajaron en ese mercado feo ayer .
otra iglesia es muy amarilla .
le diste esa carta a elena .
nuestra madre rompe los platos los lunes .
esta pera es roja .
esperas a mi hija .
estas tiendas están abiertas .
el cocinero famoso quiere pintar un perro marrón .
si ana busca ovejas pequeñas , la hermana vieja puede vender un plato .
pedro puede cerrar otra ventana .
cantaste esta canción hermosa .
muchas oficinas están limpias .
lavamos unos barcos grandes .
tres espejos son pesados .
cuando los hermanos hermosos pueden visitar un país , pedro necesita un abrigo nuevo .
estoy enfadado .
mis abuelas fuertes les dieron unas cartas a los pintores .
¿ busca mi amigo fuerte el cuadro amarillo ?
elena les da esos libros cortos a nuestros vecinos .
estás contento .
ocho reinas van al hospital otra vez porque tu hermano fuerte busca el pez feo .
diez gatos son jóvenes .
mis amigos llevan este zapato amarillo y ella puede cortar arroz caliente .
ella come pan por la mañana .
hay un tren azul en muchas calles .
encontraré los gatos .
nuestro alumno joven famoso puede encontrar una caja y los alumnos famosos no leen un mensaje .
si nuestro padre hermoso vive en nuestro país tranquilo , cortamos pan .
cinco cocineros ayudan a las cantantes altas .
esperaré la bicicleta verde pronto .
quiero vender esta falda .
el alumno famoso no limpia una oficina grande porque ellos leen el libro largo .
nuestras hermanas pueden llegar al museo .
juan vendió una pera pequeña .
un pintor está esperando mis trenes negros .
doce campesinos tienen que querer esas tazas rojas baratas .
maría quiere beber café .
encuentro el conejo blanco viejo .
puedo comer en un hotel famoso .
comí en esa escuela amarilla esta mañana .
juego cerca del lago pequeño .
corremos .
las mujeres encontrarán una camisa azul la semana próxima .
leeremos poemas difíciles .
esta cantante llama a ese campesino joven los domingos .
él limpió las paredes grandes el año pasado .
muchos pintores viejos están en otra playa .
tendrás esa gallina hermosa esta noche .
mi vecino fuerte está vendiendo este gato fuerte .
mi niño pequeño famoso tiene que esperar los trenes nuevos .
mi tío que necesita el autobús ayuda a siete campesinos fuertes .
tu hija rica está llevando el sombrero caro .
la cantante le dio un periódico triste a maría .
cuando nuestro niño viejo toca guitarras viejas , no llego a una casa .
si tus amigos inteligentes leen otro libro , estos alumnos visitan a estas cantantes famosas .
ese pueblo no es pobre .
tienes que bailar .
¿ vende mi padre fuerte los conejos negros fuertes ?
tus hermanos jóvenes ricos están ayudando a pedro .
seis niños no cerraron mis ventanas blancas .
dos burros son más fuertes que las vacas .
volviste a un hospital anoche .
bebiste leche .
dos pintores fuertes no venden tomates rojos .
le doy un poema largo a este pintor .
les dimos una patata cara a mis reyes .
otra niña famosa no compra arroz y escribes unas historias largas tristes por la tarde .
estoy escribiendo nuestro poema .
hay cuatro trenes baratos en estas oficinas .
necesitas queso frío .
no cortamos un huevo , pero él llega a esas iglesias .
miguel bailó en nuestra cocina .
esa vaca es más pequeña que este conejo .
tus hermanas que pintan la puerta buscan las bolsas .
un zapato corto está detrás del hotel rojo .
una enfermera no vende el perro marrón y miguel lleva los abrigos cortos .
esas niñas ricas compran la carne .
otro niño alto corta el queso porque cantas esa canción nueva .
la reina no bebe el jugo y leo esas historias ahora .
nueve campesinos son altos .
a veces veo a juan .
diez museos están vacíos .
ana puede hablar con ana y ellos no pueden caminar en mis jardines tranquilos .
los médicos no están solos .
esperamos unos coches .
nuestros abuelos no ven una montaña .
cuando podemos abrir esta ventana roja , otro pintor amable no abre esta puerta azul .
¿ lava mi cantante inteligente un vestido feo ?
si carlos lee periódicos , este rey no necesita el arroz .
el campesino amable ve la gallina .
cuando el pintor famoso puede ir a dos tiendas feas , ella puede cantar una canción triste .
dibujas otro lago .
las historias viejas largas están debajo de doce mesas .
les doy la caja a esas cantantes .
hay siete hospitales en una cocina tranquila .
hablas con carlos .
¿ quién busca otra cama roja ?
cuando lucía no lleva el zapato , juan puede comer los huevos dulces .
dos campesinos no visitan esta escuela .
cuando ella llega a nuestra iglesia fea , corro en este campo .
maría tocó el violín barato .
pedro quiere lavar las faldas .
nuestra hermana tranquila puede visitar una ciudad rica .
no puedo pintar el caballo porque nuestras abuelas no duermen en la iglesia .
jugamos .
nuestro rey tranquilo no bailó cerca de nuestro río .
ese pintor famoso toca este piano porque lucía puede correr .
el hombre hermoso lee una carta .
ella les da nuestra camisa verde a tres reinas .
carlos limpia otro techo , pero ana toca pianos .
¿ toca lucía mi guitarra vieja ?
ella quiere dibujar tres torres .
las reinas hermosas tienen la mesa pequeña pesada .
estas niñas jóvenes famosas están viviendo en las ciudades interesantes .
un hombre pequeño lava un autobús .
rompes platos blancos .
¿ dónde está nuestro médico hermoso ?
él vende un coche , pero la niña no quiere un espejo viejo .
tu amigo lava los coches pequeños .
cuando juan no puede beber el té , no puedes cantar en otro jardín .
ana romperá ventanas negras .
los cocineros ricos viven en esos países .
si ella puede lavar el vestido blanco , puedes lavar otra falda marrón .
les di la manzana a esos niños .
los tíos tranquilos no llegan a una estación porque él trabaja cerca de la iglesia verde .
una historia está sobre una silla .
tu tío hermoso lee ese mensaje viejo y muchas niñas no quieren nueve tazas marrones .
miguel no cierra cinco ventanas verdes .
siete relojes no son marrones .
la madre que rompe nuestro plato compra el limón .
comí un tomate .
cortas otra manzana cara .
ellos cantan mi canción .
mi hermana que lleva la falda larga dibuja los bosques .
él toca doce violines hoy y las cantantes pueden ayudar a otra enfermera .
estas sillas nuevas están delante de estos jardines .
él puede volver a una tienda porque pinto un techo amarillo .
estamos llamando a miguel .
no esperas dos coches grandes porque pedro no compra estas bicicletas amarillas .
este alumno está comiendo .
puedes cerrar mi ventana .
el abuelo alto siempre abre la ventana negra .
mi madre viaja al país hermoso .
tu abuelo que lava coches encuentra mi caja negra .
¿ qué quiere ese rey inteligente ?
¿ cuántos burros hay en esa montaña tranquila ?
vivo en pueblos interesantes .
maría no limpia esta ventana verde porque no encuentro las camas viejas .
ellos pintan la puerta porque un rey fuerte vende mis burros viejos .
si los médicos fuertes cortan otra zanahoria , elena no visita a lucía .
vendo las camas y nuestro alumno rico no viaja a una aldea famosa .
esos alumnos leen una historia nueva larga .
buscas las cajas porque ellos pueden cantar .
¿ quiere miguel mis vestidos ?
cuando abres mi puerta amarilla , ellos beben jugo .
tenemos los violines nuevos hoy .
cuatro reyes ricos pueden abrir una puerta grande y el hermano visita la iglesia azul hoy .
cuatro ventanas están rotas .
los reyes famosos hablan con los campesinos .
esta mujer tranquila llama al niño , pero un cocinero fuerte no vuelve a esas estaciones .
lavo nuestro zapato y no toco un piano negro .
mi pintor que vende los gatos espera al maestro .
necesitaré mis abrigos .
¿ beben muchas enfermeras jóvenes jugo ?
nuestro hermano pequeño no juega en esos campos .
ella pinta nuestra pared blanca porque cocino sopa .
la enfermera les da esta historia a estos médicos .
los maestros ricos visitan las aldeas tranquilas .
ella a menudo come en estos mercados .
mis abuelos son muy amables .
carlos abrió las puertas azules .
cuatro cocineros pequeños hermosos están contentos .
ellos llevan nuestro vestido .
tu padre que encuentra una taza blanca habla con la enfermera .
ana está yendo a otro mercado .
encontramos pájaros .
veinte reinas no hablan con otra cantante .
una bicicleta está limpia .
limpiamos ese jardín pequeño .
vas a dormir .
escribí mensajes tristes .
mi hermano que dibuja mi bosque baila cerca del puente .
quieres bailar en la estación vieja .
nuestra enfermera alta bebe la leche fría .
hay seis perros en muchos museos .
estás buscando la silla .
necesitamos las camisas grandes baratas .
las niñas que comen el tomate rojo lavan mi coche .
la abuela rica abre unas ventanas porque estos cocineros no beben el agua .
muchas cartas viejas están sobre esta mesa .
si no buscas un gato joven , ana habla con miguel .
lucía habló con otro hombre inteligente .
nuestras hijas necesitan el pan fresco otra vez .
él busca este burro .
nueve cocineros quieren visitar el pueblo .
visito al alumno inteligente .
él rompe tres platos .
elena va a visitar esas casas rojas .
si el rey amable va a ese hospital , él puede dibujar otro puente feo .
leo los libros ahora .
juan les dio una bolsa a muchos cocineros .
el niño hermoso trabaja delante del jardín .
hay unos platos en dos montañas .
viajo al pueblo famoso ahora .
lavaste el barco caro .
nuestro museo está abierto .
hay muchos hombres famosos delante de esos lagos .
ese tren es más viejo que nuestra bicicleta .
ayudaste a otro alumno amable .
¿ cuántas torres hay delante de los puentes verdes ?
¿ tocan ellos una guitarra negra ?
viajas a esa ciudad hermosa .
si un médico pequeño puede visitar el museo hermoso , él no corre en tres campos .
estas cantantes que visitan un puente hermoso buscan nuestra llave .
este campesino inteligente quiere trabajar en un parque .
camino en nuestro hospital y puedes tocar la guitarra .
voy a visitar cuatro puentes amarillos .
esas enfermeras que quieren el autobús viejo leen la historia .
el médico no come la cebolla grande porque él puede bailar delante de otra estación .
esos maestros le dan una botella a una mujer .
leeré la historia corta .
mi mujer que corre cerca de esa casa come delante de nuestra estación famosa .
un niño amable lava ese vestido negro corto .
él corta las cebollas .
una falda está sucia .
otra flor está debajo de mis camas .
miguel quiere esperar a esa niña joven .
estas reinas vivirán en unas ciudades .
buscamos los peces feos .
tengo que hablar con mi madre .
cantaste unas canciones .
¿ habla pedro con diez maestros pequeños ?
¿ limpia miguel otra puerta nueva ?
lavas ese autobús azul .
esos pintores escribirán los poemas pronto .
el espejo barato está en esas bibliotecas .
las bibliotecas están cerradas .
veremos las bicicletas .
pedro va al hotel .
¿ juegan estos reyes ricos en doce campos ?
llevo otro sombrero .
¿ escriben tres reinas tranquilas el poema nuevo ?
le dimos nuestra cama al hombre .
mis alumnos son más jóvenes que mis hermanas .
nuestros tíos que esperan a lucía corren .
otro cocinero tranquilo va a viajar a mi ciudad .
¿ abre ella la ventana amarilla ?
nuestra abuela vieja les da mi huevo a muchas niñas .
mis reinas que juegan en la oficina pequeña comen detrás del mercado .
ellos cierran estas ventanas .
mis pintores que venden otro barco llegan a siete escuelas rojas .
mis niños fuertes llamaron a esas mujeres tranquilas la semana pasada .
si la cantante fuerte no puede leer el mensaje , maría canta las canciones cortas .
esa cantante que baila detrás del bosque corta peras .
¿ cierra miguel una ventana grande ?
este jardín está lleno .
cantas una canción porque no cocinamos sopa .
espero a mi tío .
los hospitales están llenos .
ana les envía un mensaje interesante a mis hermanos .
¿ visitas mi estación pequeña ?
muchas reinas están comiendo la fruta fría .
ana cierra veinte ventanas nuevas .
nuestra mujer inteligente está comiendo en nuestra calle .
¿ habla mi cantante alta hermosa con maría ?
rompemos el plato feo .
los zapatos están limpios .
si el pintor canta la canción corta famosa por la noche , tus abuelas cortan fruta .
no lavo esa bicicleta fea .
¿ comen ellos carne caliente ?
la enfermera pequeña visitó la ciudad tranquila anoche .
miguel busca a doce maestros .
hay veinte mujeres cerca de diez tiendas .
lees el mensaje porque el maestro no escribe unos libros .
mis campesinos que llaman a miguel abren una ventana azul grande .
ana tiene que necesitar seis flores blancas .
la hija que viaja a los pueblos pequeños corta la naranja .
esta calle está llena .
cuatro hombres no compran el tren y maría tiene cuatro relojes .
carlos está encontrando las botellas .
elena le dio unas bolsas blancas a otro rey .
dos alumnos están cortando mi patata fresca .
no corto mi zanahoria barata y nuestros amigos tranquilos trabajan en mi calle hoy .
maría compra esa taza .
siete jardines están sucios .
tus abuelos inteligentes le dan un periódico difícil a carlos .
no necesitas esa flor .
el padre que cierra nuestra puerta habla con cuatro niños ricos .
esas bolsas son redondas .
muchos libros son más largos que el periódico .
hablaste con un niño rico .
el gato no está cansado .
tocamos un piano .
una cantante es más alta que tus tíos .
si pedro busca un caballo , no queremos la cama .
como una cebolla .
¿ compras la botella nueva cara ?
esta enfermera tranquila quiere ayudar al hermano .
juan está comprando nuestra manzana .
cuando nuestras abuelas visitan el país los domingos , carlos no necesita los relojes .
cocino queso .
¿ pinta carlos el techo nuevo ?
lucía quiere tocar las guitarras caras .
ana no dibuja una torre roja .
estos campesinos están jugando .
leí estos libros anoche .
ese hombre quiere comer cinco manzanas frescas .
¿ viajan cinco cantantes ricas al pueblo pequeño tranquilo ?
nuestro padre puede dormir en la calle tranquila porque los burros no duermen cerca de mi puente .
muchos alumnos comen .
un alumno alto puede vender la fruta caliente .
¿ abren veinte cantantes esa puerta ?
¿ dibuja él el burro negro ?
cuando ellos trabajan , ella necesita las lámparas .
cuatro cantantes no quieren nuestra bicicleta porque puedes caminar cerca del campo .
él jugó en esta biblioteca .
ese alumno cantó en cuatro oficinas .
tocas otro piano barato .
no necesitamos tres autobuses y otro campesino trabaja .
otra canción es corta .
¿ visitan las enfermeras otro país ?
¿ vuelve la cantante amable a estas iglesias ?
¿ compra la niña la llave ?
veinte escuelas están vacías .
si muchos campesinos no pueden romper ventanas , esas reinas tranquilas no rompen los platos redondos .
seis periódicos son difíciles .
estamos viajando a diez pueblos ricos .
corté mi cebolla .
veinte reyes viejos caminarán .
él encuentra esas faldas porque esta niña alta lee un poema hoy .
pinto ese museo pequeño .
cuando él no puede llevar ese sombrero verde , rompes una ventana nueva .
tus hijas tienen que buscar el gato inteligente .
doce niñas pequeñas llevarán nuestro sombrero .
carlos dibujó unas casas pequeñas .
muchos reyes están caminando en mi hospital .
nuestra tienda está abierta .
querrás el té .
lucía está limpiando este techo .
nunca bebo jugo caliente .
ese barco es más barato que esta bicicleta .
miguel le da una naranja dulce al amigo .
doce alumnos viejos están dibujando mis árboles .
ese niño está listo .
estos coches son más grandes que nuestro barco .
quiero los barcos .
esas cocinas están sucias .
el amigo joven pequeño habla con el pintor y juan no encuentra estas botellas azules .
los campesinos hermosos le dieron muchos limones frescos al alumno .
una vaca está cansada .
mi médico puede comprar nuestro libro .
¿ llega maría a otra biblioteca hermosa ?
hay unas bicicletas blancas viejas cerca de una montaña hermosa .
siete médicos son inteligentes .
¿ juegas cerca de otro árbol ?
nuestra vaca caminará detrás de estas casas .
¿ ve una mujer inteligente el coche blanco ?
maría vivirá en la aldea grande pronto .
escribo los periódicos .
¿ necesita tu hermana mi camisa ?
¿ vuelves a seis puentes ?
el pájaro es más pequeño que muchos peces .
¿ llevas los sombreros ?
tu abuela inteligente tendrá el violín .
carlos nunca ve los autobuses .
los cuadros grandes están sobre las mesas .
si cortamos una patata , mis amigos no escriben un libro corto famoso .
una niña rica no cocina fruta .
¿ cierran diez cantantes altas las puertas nuevas ?
buscaré doce pájaros .
¿ quién cierra estas puertas verdes grandes ?
estas enfermeras están escribiendo este mensaje famoso .
no leo un libro nuevo .
necesito mi zapato .
ellos les dan la camisa a estas mujeres .
cerramos las ventanas .
ves nuestra torre azul .
duermo .
ocho barcos son caros .
el pastel es dulce .
viajamos a un pueblo pobre .
los caballos viejos comieron en los hoteles .
llevas muchos sombreros y miguel baila en este hotel otra vez .
elena está pintando este perro blanco .
ellos limpian otra pared .
podemos cortar siete pasteles rojos .
querré jugo pronto .
ese alumno que limpia muchos techos corta pan .
hay casas blancas cerca de este árbol grande .
si tu tío trabaja en mi mercado rojo , el niño no ve otra vaca joven .
irás al puente pronto .
dos cantantes están enfadadas .
nuestro cocinero está solo .
¿ baila el tío fuerte ?
¿ encuentra nuestra madre la taza verde ?
bebimos té ayer .
esta reina que ve estos campos compra los autobuses .
la mujer amable necesita mi mesa nueva .
esa cocina está vacía .
mi alumno pequeño quiere llevar zapatos viejos largos .
nunca tengo otro reloj marrón viejo .
esos cocineros tranquilos buscan nuestra taza nueva .
él comprará ocho periódicos pronto .
el mercado está vacío .
cuando mi hija pequeña encuentra esa taza grande , bailo .
mi abuela no canta y elena toca un violín negro .
mis vecinos altos venden seis coches azules , pero maría vive en el país pequeño .
hay tres puentes grandes en una calle grande .
esas ovejas no son fuertes .
un barco está limpio .
este niño alto fuerte viajará a la aldea .
llegamos a mis bibliotecas otra vez , pero la enfermera vieja no puede tocar unos pianos caros .
este cocinero amable tiene mi perro hermoso .
hay cinco bibliotecas pequeñas en ocho escuelas .
una reina fuerte quiere vender nuestro pastel .
esta aldea no es interesante .
¿ cocina el maestro rico la carne ?
¿ escriben ellos ese poema famoso ?
hay gatos en diez parques tranquilos .
le damos unos limones pequeños al cocinero .
el vecino rico está cantando cerca de ese río .
él está tocando seis pianos viejos .
hay botellas en estas estaciones pequeñas .
lucía escribió la carta famosa .
pintamos siete techos nuevos .
nuestras hijas que cierran la ventana azul buscan la taza barata .
¿ cortas mis pasteles frescos ?
¿ come ese rey famoso en este parque tranquilo ?
tu madre no está contenta .
esta llave roja redonda está sobre muchas sillas .
esos campesinos pequeños quieren buscar al pintor .
estos zapatos azules están sobre la mesa .
mis hermanos no pueden comer sopa caliente , pero ana dibuja vacas marrones grandes .
maría ve esos autobuses feos .
vamos a comprar un coche .
caminas en esta oficina grande hoy y los pájaros feos juegan en las oficinas .
esa camisa es más barata que los vestidos .
ella dibuja la oveja .
hay coches amarillos en una biblioteca azul .
maría está cortando la cebolla dulce .
puedo encontrar nuestra falda nueva grande y nuestro amigo viejo tranquilo visita unos pueblos .
nuestra reina que rompe esos platos verdes baratos habla con juan .
¿ va el alumno tranquilo a la torre amarilla ?
cocinamos la fruta fresca .
ellos esperaron muchos coches negros .
hablaré con nuestra reina .
tres niños cocinan el queso fresco .
cuando tu hermano busca nuestra oveja , otra reina puede viajar a un pueblo interesante .
elena pinta esas paredes .
llevas otro vestido marrón .
los hombres tranquilos pintaron este caballo .
ese maestro que canta en otro campo canta mis canciones .
esta guitarra es vieja .
la flor es redonda .
¿ limpian diez cocineros pequeños amables mis puertas ?
¿ duerme él en un campo ?
busco nuestra flor los lunes porque ocho cocineros tranquilos esperan a un cocinero .
nueve platos son redondos .
hay nueve enfermeras tranquilas en seis cocinas .
canto cinco canciones hermosas .
el vecino que duerme en las calles ve el río tranquilo .
ella está sola .
mis reyes buscaron mis ovejas tranquilas ayer .
cortamos carne fría .
mi niña que ve dos bibliotecas necesita la flor .
llegaste a los mercados ayer .
cantamos muchas canciones .
¿ ayudan estas enfermeras viejas a mi mujer joven alta ?
cantarás mañana .
cuando carlos toca una guitarra ahora , mi hermano abre la puerta nueva pequeña .
otra enfermera está enferma .
él siempre canta .
mis hombres dormirán en estos parques .
cuando dos hombres altos cierran otra ventana blanca , ella canta en el jardín otra vez .
si llamas a otra mujer , mi abuelo pequeño no tiene las ovejas jóvenes .
¿ venden ellos los perros viejos ?
comes esa naranja fresca .
si los vecinos altos ricos leen el mensaje ahora , miguel puede cocinar queso .
una niña alta pinta un techo y este pintor fuerte bebe agua .
llevaré un sombrero rojo .
camino detrás del puente hoy porque el abuelo puede buscar un burro negro fuerte .
quiero encontrar burros .
ocho historias son cortas .
¿ dibuja esa reina inteligente esas escuelas amarillas famosas ?
carlos come un pastel grande .
pedro ve un bosque pequeño hermoso .
bebo café caliente porque ana juega cerca de una torre .
¿ visita otro rey los hoteles viejos famosos ?
tres médicos están listos .
nuestro abuelo amable les da mis poemas a cuatro enfermeras .
estás comiendo un huevo .
muchos cocineros viejos necesitan esos coches amarillos .
si maría juega delante de la casa , dibujas los museos rojos .
pedro le dio otra cama amarilla fea a tu hermana .
¿ hablan los pintores con lucía ?
juan vende la bolsa .
cuando estos campesinos compran cuadros hoy , ese caballo inteligente corre en estos hospitales hoy .
carlos no lee nuestro periódico corto .
otra mujer hermosa está lista .
ellos van a leer estas historias .
¿ llamas al pintor ?
visitas esta casa .
ella buscó estas gallinas .
estoy limpiando nuestro techo pequeño .
¿ escribes mi historia ?
muchas enfermeras venden esos pasteles .
ella nunca rompe el plato azul .
elena canta cerca del hospital porque esas enfermeras famosas pueden romper un plato .
ellos tienen que visitar al rey viejo amable .
dibujaste las iglesias .
otro pez está enfermo .
corto una cebolla barata porque no juego .
ana quiere pintar otro hotel grande .
estos techos son grandes .
si necesitas esos trenes feos , mis hermanas fuertes quieren el café .
si una cantante fuerte lleva estos zapatos , maría no busca perros .
tus hijas pueden dibujar las escuelas famosas y mi madre alta no espera al rey .
vendemos sombreros porque muchos pintores cantan las canciones hermosas .
carlos tiene unos violines .
mis hermanas ricas nunca encuentran otro zapato .
ocho hombres están enfermos .
llevé nuestro abrigo .
queremos hablar con cuatro maestros hermosos .
¿ llegan ellos al mercado ?
miguel verá una tienda famosa pronto .
¿ corre ella en una casa ?
cierras la ventana porque doce mujeres hermosas no pueden abrir una puerta roja .
¿ tocas otra guitarra ?
estamos leyendo estos mensajes cortos .
tengo dos cuadros .
¿ trabaja nuestro tío delante del hotel ?
comemos un pastel dulce porque la reina puede tocar otro piano .
un cocinero encontrará ese pájaro .
¿ tiene un niño joven un reloj nuevo ?
las abuelas famosas bailan .
las aldeas son más pequeñas que dos ciudades .
cuando ese hombre puede tocar el piano caro , cinco maestros no llegan a mis tiendas .
las cantantes jóvenes tienen que cortar esa pera dulce .
¿ ven ellos a miguel ?
estos hoteles son más pequeños que estas bibliotecas .
corres .
¿ buscas mis sillas ?
¿ dónde comen mis mujeres ?
tu hija joven buscó siete caballos .
no pinto esa pared .
elena puede viajar a países y tus hijas altas no escriben las cartas .
¿ vendes veinte abrigos baratos ?
¿ leen estos maestros inteligentes muchos libros ?
mi amigo no ve muchos lagos pequeños .
cuando busco mis burros jóvenes , las mujeres pueden cerrar la ventana .
esperaste muchas bicicletas viejas .
veinte niñas famosas les dan estos vestidos a nuestras abuelas .
cocinas fruta porque los maestros visitan tres hoteles .
el caballo marrón está delante del parque .
carlos bebió jugo frío .
tienes que beber vino .
un médico tranquilo quiere correr delante de nueve mercados .
podemos dibujar ese mercado blanco , pero tocas cuatro violines nuevos .
cierras esa ventana negra , pero juan va a esos museos .
ocho mujeres fuertes le dieron esa silla roja a nuestra hija .
la hija alta rica a menudo pinta la pared nueva .
los pintores jóvenes fuertes viajaron a este país .
otro maestro nunca bebe el vino .
pedro beberá el vino frío .
ellos cortan las zanahorias .
él comerá nuestra naranja pequeña .
no tocas este violín .
¿ bebe lucía leche ?
jugaré .
esa ventana está rota .
lucía duerme en estas escuelas porque no quieres estos sombreros rojos .
encontramos mi falda .
él nunca toca el violín caro .
miguel necesita la lámpara .
¿ corta ella el arroz frío ?
bebes agua .
cortaste estos pasteles .
¿ juega mi hermano rico en muchas tiendas ?
esperé a mi reina rica .
tu vecino es muy rico .
cinco mujeres viejas no compran las naranjas rojas porque vemos ese hotel .
mi hija está pintando unos gatos tranquilos .
nunca busco mi llave azul .
vi mis ríos hermosos .
¿ canta este niño delante de mis casas ?
cociné sopa caliente .
él escribe los libros y mi madre escribe diez cartas .
doce tazas son verdes .
mi escuela está cerrada .
bailarás .
nuestros tíos quieren llevar nuestro abrigo blanco caro .
lucía les da diez flores caras a mis hijas .
los abuelos amables cocinaron pan .
mis niñas son más ricas que la hermana .
¿ comes un limón ?
elena nunca lleva unos abrigos nuevos .
él hablará con pedro .
si estas niñas amables tocan una guitarra barata , puedo encontrar las camisas .
¿ viaja tu vecino hermoso a las ciudades hermosas ?
mi maestro pequeño fuerte no necesita esta silla .
mi rey encuentra el sombrero y mi hermana limpia este espejo .
nuestro médico que llega al hospital ve otro bosque tranquilo .
el pez no duerme cerca de los jardines porque otro maestro rico encuentra el pez .
bailamos .
ana va a ir a veinte hospitales .
esas vacas están cansadas .
un gato está en otra escuela hermosa .
un rey lee cartas nuevas y ella no rompe otro plato .
diez médicos no tienen otra camisa roja .
¿ necesitas nuestro sombrero largo ?
¿ rompen nuestros abuelos hermosos esas ventanas ?
¿ busca ana mis bolsas feas ?
no leemos veinte poemas y muchos maestros lavan doce sombreros .
maría les envió el periódico corto a cuatro alumnos .
siete médicos altos no encontraron un cuadro .
encontrarás diez zapatos .
¿ encuentran esas mujeres inteligentes los sombreros marrones ?
muchas cantantes están contentas .
ocho tiendas son viejas .
¿ tienen nuestros tíos la oveja fea ?
si maría no vende ese reloj , esos reyes no comen otro limón pequeño .
dos pintores hermosos no vieron la biblioteca vieja .
¿ vive elena en nuestra ciudad ?
estos pintores altos quieren buscar otra bolsa .
si mi vecino no bebe agua fría , escribo mi carta .
lucía nunca visita seis torres .
una llave es verde .
cinco burros tranquilos comen en muchas iglesias grandes .
romperemos ese plato pesado .
el niño que come en estas calles pequeñas vive en estas aldeas ricas .
¿ pintas los perros ?
ellos tocarán guitarras .
hay dos huevos grandes delante de seis playas .
él come arroz porque mi enfermera famosa bebe café .
nuestra hija no corta una pera barata .
mi padre no jugó .
mis cartas tristes están sobre diez mesas .
jugaremos .
nuestro hombre que espera al hombre camina en veinte parques .
una gallina es más grande que un pez .
no jugaste .
hay muchas cajas nuevas en muchos mercados .
compraremos la caja redonda pequeña esta noche .
pedro visita doce mercados .
lucía no baila .
una lámpara es blanca .
encontrarás esa lámpara negra .
este maestro es alto .
tendré estos sombreros negros .
el tío viejo rico no pintó unas puertas pequeñas .
otro conejo es blanco .
¿ come mi amigo inteligente muchas manzanas rojas ?
juan lava dos zapatos nuevos .
las abuelas que ven ese coche compran tomates .
si no dibujas ese perro , esa niña alta baila .
carlos puede dibujar un lago grande .
¿ compra mi madre nuestro tren viejo ?
nuestro caballo está durmiendo en mis montañas .
tres maestros altos no comen los tomates .
vivimos en otro pueblo .
rompo estas ventanas blancas grandes y voy a las estaciones .
tres vacas negras jóvenes no caminan en las casas pequeñas .
¿ quiere él esta flor ?
esos niños que escriben esos poemas famosos duermen .
¿ escribe mi hermana rica un libro ?
miguel nunca come una zanahoria .
nueve reinas venderán unas cebollas .
lavaremos mis camisas .
estas torres están llenas .
mi enfermera tocó siete pianos negros .
elena limpia esas calles tranquilas .
esa bolsa es cara .
nuestra historia no es difícil .
mis tíos bailaron .
un maestro viejo necesita muchos zapatos rojos nuevos .
mi hija que habla con mis niños tiene estos autobuses verdes .
lucía necesita mis bicicletas hoy .
corriste .
corres en nueve montañas pequeñas .
cuando doce reinas ricas duermen en una oficina , otro médico no pinta ese hotel amarillo .
esa enfermera le envió otra carta famosa a un campesino .
elena venderá este limón .
abrirás dos ventanas .
ellos tocaron nuestro violín .
muchos niños cortan esta naranja pequeña .
juan dibujó una torre vieja grande .
carlos tocó cinco guitarras .
otra casa es más vieja que una tienda .
estoy llevando esos sombreros .
elena dibuja un burro porque un niño escribe una historia los domingos .
¿ caminas ?
pedro lavó un sombrero negro ayer .
nuestros abuelos están encontrando unos espejos .
un hospital está cerrado .
las botellas son pesadas .
bebemos agua hoy , pero ellos lavan estos autobuses .
abriré tres puertas pronto .
esas canciones son tristes .
nuestras abuelas pequeñas fuertes lavaron las camisas anoche .
cuando las hijas amables pueden llevar ese vestido , ella lava la bicicleta .
nunca vendes esta camisa cara .
hay peces hermosos delante de esta estación .
el hombre no compra bicicletas rojas y miguel dibuja ese campo .
¿ compran veinte enfermeras altas la falda verde ?
estamos enfadados .
cuando esta mujer no puede escribir el periódico nuevo , el padre espera veinte trenes .
esa oficina es tranquila .
nuestros tíos pueden llamar al campesino viejo tranquilo y podemos pintar una pared amarilla .
nuestro tío les dio mi cuadro a muchas mujeres .
ana abre otra puerta verde grande .
¿ limpia nuestro pintor alto hermoso cinco flores ?
nuestro amigo quiere jugar delante de muchas cocinas .
¿ cuántos limones hay en nuestra oficina ?
ana toca cuatro guitarras baratas .
esta bicicleta barata está detrás de una escuela pequeña .
rompo mi plato viejo .
los pintores que vuelven a mi museo verde cortan esas manzanas .
esa enfermera es más rica que tres pintores .
él visita seis hospitales rojos famosos .
los cocineros que cocinan carne quieren esta bicicleta blanca nueva .
llevaste estas faldas cortas .
¿ lleva juan un abrigo ?
¿ cocinas queso fresco ?
nuestro pintor fuerte trabajará detrás de tres bibliotecas .
veinte ovejas están enfermas .
ella verá las playas pequeñas .
mis enfermeras dibujan una oveja .
¿ corres detrás de esas oficinas ?
cortaré un limón grande .
mis médicos ricos trabajaron en los mercados rojos esta mañana .
puedo vender una pera .
estos alumnos dibujaron mi gallina joven .
veinte pintores no vendieron veinte peces .
elena tiene que trabajar .
otro abrigo es muy nuevo .
si este niño fuerte baila , encuentro el gato .
dormimos .
ocho maestros no leyeron ese periódico .
esos pianos son muy viejos .
toco ocho violines negros .
muchas cantantes quieren comer una manzana .
los mensajes son cortos .
mi vecino que visita un país pobre come queso .
seis niñas quieren té frío por la tarde .
hay ocho bibliotecas rojas en nuestra casa .
los cocineros inteligentes están comprando la mesa verde .
si él lava otro barco barato , hablamos con elena .
les diste esta botella a muchas cantantes .
ellos comieron las peras dulces .
tus vecinos hermosos siempre hablan con estos maestros .
dos reyes no cortaron el huevo .
elena quiere romper esos platos .
nuestra hermana le da muchas peras al padre .
tu amigo que escribe el libro tiene los pianos .
queremos cocinar sopa fría .
quieres un zapato caro y un conejo duerme en un campo hermoso .
¿ dibujan ellos la playa hermosa ?
si nuestra madre come sopa , esa enfermera joven limpia el parque .
tres pueblos son interesantes .
las reinas viejas tranquilas cerraron esta ventana .
cuando ese cocinero puede jugar en la montaña , ella visita cuatro tiendas .
ana ve la escuela blanca y nuestro vecino viejo no cierra otra puerta pequeña .
esas bicicletas son blancas .
ana tocó ese piano nuevo anoche .
estamos cansados .
¿ ayuda pedro a cuatro niños ?
lucía trabajó .
estas niñas que bailan cerca de cuatro lagos limpian nuestra ventana roja .
este rey corta la naranja porque no tenemos el gato viejo fuerte .
seis médicos hermosos no ven la playa , pero esta reina joven fuerte canta una canción .
una mujer vieja inteligente leyó el libro difícil .
esos médicos jóvenes inteligentes siempre lavan el tren feo .
¿ rompe un maestro famoso esos platos ?
dos mujeres están solas .
la cantante joven está limpiando los techos .
cuando un pintor necesita otro tren todos los días , podemos leer un mensaje difícil .
él encontró esta lámpara anoche .
la niña está enfadada .
cocinarás arroz .
¿ duermen los tíos pequeños detrás del hospital ?
jugaré en la cocina pequeña .
el alumno rico corta sopa porque ese médico rico abre otra ventana .
las torres son azules .
limpié la puerta negra .
ella va a buscar esos peces .
¿ lee la madre una carta ?
una caja blanca está sobre nuestra silla .
el rey famoso está volviendo a los puentes .
comprarás el arroz caliente pronto .
¿ qué quieren ellos ?
juan puede cantar otra canción famosa y no llevas un vestido .
¿ cuántos mercados hay cerca de estos ríos ?
cinco médicos cantaron las canciones .
necesitamos este abrigo y lucía puede dibujar la vaca fuerte .
hay doce autobuses rojos delante de siete bibliotecas .
rompiste los platos .
como las patatas .
elena visitó las tiendas .
ella corre delante de un jardín y no comemos mi naranja cara .
ana puede vender los conejos inteligentes y él no lleva ocho zapatos .
un alumno tiene que cerrar esas puertas amarillas .
nuestra niña que cocina fruta ayuda al abuelo tranquilo .
maría puede romper este plato amarillo y puedes llegar a ocho hoteles .
cuando espero a carlos , él dibuja el lago hermoso .
¿ visita ese médico la aldea rica ?
cuando nuestra abuela viaja a los pueblos famosos , no ves mi lago tranquilo .
mi niña hermosa no limpió otra calle .
ese campesino hermoso habló con este maestro anoche .
los vecinos tranquilos limpiaron nuestro techo blanco pequeño anoche .
¿ cuántas zanahorias hay detrás de muchos jardines ?
leo otra historia hoy .
tres trenes son más viejos que el barco .
¿ rompes un plato ?
cuatro niñas hermosas volvieron a la casa anoche .
llevamos una camisa otra vez y maría puede llevar otra camisa .
dos limones son muy dulces .
esa historia es más larga que otro libro .
pedro está visitando cuatro países interesantes .
ellos están corriendo cerca de las torres nuevas .
el reloj está sobre estas camas .
¿ ves cuatro montañas grandes ?
¿ escribe esta reina vieja este periódico ?
carlos busca al abuelo rico .
ellos quieren pintar mi pez .
tus tíos fueron a esta tienda ayer .
otro maestro alto quiere té .
tus vecinos que encuentran la falda amarilla trabajan cerca de siete torres famosas .
estás jugando en ocho casas .
un médico quiere cortar dos peras caras .
esas sillas son feas .
mi espejo es viejo .
los abuelos jóvenes siempre dibujan las montañas .
cantaremos mi canción corta .
cuando nuestra hija no toca esas guitarras caras , el pintor lee muchos poemas .
¿ quieres unos abrigos verdes ?
el puente es amarillo .
si no podemos dibujar doce ríos , él pinta mi burro inteligente .
¿ viven ellos en los pueblos ricos ?
maría come los limones .
¿ van mis amigos famosos a otra escuela vieja ?
las niñas viejas van a encontrar la llave pequeña cara .
otro pájaro está caminando detrás de la montaña .
¿ pintan ellos este techo ?
juan no llevó ese zapato blanco .
no pintas mi pared negra .
hay burros grandes feos en ese parque tranquilo .
¿ encuentras unas camas ?
ana a menudo corta naranjas pequeñas dulces .
¿ bebes té ?
esta enfermera que lee el libro quiere el zapato viejo .
¿ cantan los abuelos pequeños ?
¿ qué comen esas niñas tranquilas ?
hay una mesa redonda fea en veinte calles .
¿ ve nuestro pintor inteligente unos conejos ?
compramos el jugo .
dos faldas están en el bosque .
las bicicletas son más viejas que muchos trenes .
esas camisas son negras .
esa falda es muy verde .
elena cerró nueve puertas verdes .
¿ cuándo llega él ?
leemos la carta .
ella busca esos caballos .
mi campesino rico siempre ve la torre pequeña .
este hombre dibuja unos pájaros feos .
nuestro hermano amable come la zanahoria y miguel lee estas cartas difíciles .
esa niña tranquila escribe libros otra vez porque otro pájaro duerme delante de los parques tranquilos .
¿ espera este campesino esta bicicleta ?
¿ camina un alumno en esta calle ?
ellos cantaron en otro parque .
ella no come pan y este hombre viejo no lleva un vestido grande .
¿ pinta maría doce peces ?
hay flores azules en siete calles .
cuatro sombreros son muy largos .
ellos nunca pintan otro pájaro .
llevo vestidos .
queremos esas faldas amarillas .
¿ quién visita unas torres rojas viejas ?
nuestra cantante vendió otro caballo inteligente .
ana encuentra muchas lámparas .
el pintor que bebe vino abre cinco puertas .
este pintor que encuentra otro cuadro compra estos barcos .
juan siempre espera ese autobús .
él querrá este coche rojo mañana .
dibujamos gallinas viejas , pero las niñas no cierran mi ventana nueva .
él quiere vender muchas tazas .
hay mesas nuevas feas cerca de nueve puentes pequeños .
comí nuestro limón anoche .
doce reyes hablan con una mujer alta y esas enfermeras hermosas compran esta carta triste los lunes .
una reina rica encuentra muchos burros fuertes .
carlos les dio la naranja grande a seis alumnos .
mis cantantes les dieron mi limón caro a mis amigos .
encontramos ocho sombreros largos hoy .
caminas .
estos niños amables beben café frío .
mis cantantes le dieron las cebollas dulces a nuestro campesino .
estoy durmiendo .
miguel dibujó tiendas blancas .
ella comió los tomates caros .
lucía pintará mi casa vieja .
tu hermana que compra nuestro plato come otra patata .
diez alumnos fuertes venden mis sombreros .
nuestro piano es barato .
¿ lees la historia difícil ?
él tiene este pez .
si un alumno visita estos países , juan come carne .
los reyes inteligentes rompen ventanas amarillas .
mis abuelas viejas cortan el pastel rojo .
¿ necesitas siete autobuses negros nuevos ?
ellos encontrarán mi flor pesada .
mi reina famosa corta fruta .
a veces necesito mis cajas .
hay pájaros blancos inteligentes en nuestra playa .
¿ trabajas delante de otro río ?
pedro dibuja esos ríos pequeños .
diez lagos son pequeños .
hay perros tranquilos en mis playas .
¿ vende maría nuestro zapato azul ?
le di abrigos amarillos a elena .
¿ necesita una reina vieja alta doce autobuses ?
estos museos están abiertos .
mi oveja durmió en diez bosques .
lucía tiene que encontrar nuestra gallina .
¿ llega carlos a esa tienda ?
si puedo ir a tres torres , esta enfermera limpia diez tazas .
¿ llama ella a ana ?
nuestros amigos son más ricos que un alumno .
cocinaremos sopa .
mi hotel es rojo .
viviste en mi ciudad famosa .
no dibujas las iglesias feas .
no tienes otro gato .
encuentras el abrigo .
¿ quién toca estas guitarras negras ?
beberemos agua .
él duerme .
puedes llevar sombreros viejos .
¿ cortan las enfermeras el arroz ?
pedro caminó en una iglesia .
elena llevó los zapatos hermosos anoche .
los hombres viejos hermosos cerraron tres ventanas amarillas ayer .
no rompo la ventana blanca nueva y mi amigo puede buscar la caja .
¿ cuándo trabajan estas mujeres amables ?
siempre tocamos una guitarra .
este médico inteligente cocinó pan caliente .
un poema es más largo que mi mensaje .
ellos compran dos huevos rojos baratos .
cortamos las peras frescas .
el médico viejo inteligente va a cocinar carne .
abres esta puerta hoy .
no encontramos unas vacas tranquilas .
maría necesita esa cama .
¿ lavan seis médicos otro vestido corto ?
dibujo una vaca .
mi abuela que quiere jugo busca estos pájaros hermosos .
ella está llegando a dos escuelas blancas .
fuimos a estos hospitales .
las hermanas hermosas están buscando espejos blancos .
¿ cantas otra canción ?
mi poema es triste .
nueve mujeres no vendieron las bicicletas pequeñas .
ella hablará con nuestro abuelo mañana .
siete enfermeras son ricas .
los hermanos altos amables tienen que tener otro tren .
nuestro mensaje es corto .
cuando elena espera a lucía , nuestra madre no puede limpiar esta llave .
un maestro hermoso no busca ese gato y otro cocinero no escribe poemas famosos .
juan cantó esas canciones tristes .
no cortas mi pastel fresco .
cinco vacas inteligentes pueden dormir en esa calle .
ella siempre vive en siete ciudades grandes famosas .
si no puedo llevar esos sombreros , mis cocineros jóvenes ricos viajan al pueblo tranquilo .
el hermano no ayuda a doce cocineros porque juan no tiene mis conejos .
¿ bailas delante de muchos árboles ?
no quiero unos autobuses .
compraste carne fresca .
abriremos veinte puertas pronto .
ellos no tocan doce violines , pero otra enfermera inteligente escribe un poema difícil .
cuando no buscas nuestro perro , ellos no compran una flor .
los alumnos viejos compraron esas tazas verdes anoche .
les das una bolsa negra a muchas reinas .
esos relojes son baratos .
¿ esperan mis hijas jóvenes un barco ?
veinte médicos les dan doce espejos baratos a seis campesinos .
ellos abrieron otra ventana verde nueva ayer .
los campesinos famosos encontraron las mesas pesadas .
¿ dónde están las faldas blancas ?
¿ corren los pintores en cinco calles ?
cuando miguel no puede encontrar el perro , ellos llegan al hotel nuevo .
abrimos mis ventanas .
¿ cuándo duerme un hombre alto ?
¿ lee tu madre pequeña un mensaje ?
limpiaré la pared roja .
estamos pintando nuestro techo .
la mujer lava muchos barcos rojos .
no compraste el autobús anoche .
muchos niños jóvenes les dan nuestro pastel a esos hombres .
estás cocinando carne caliente .
vamos a llamar a cinco médicos .
nuestro pueblo es muy pobre .
ella le envió cuatro periódicos viejos a un hombre .
carlos encuentra nueve vacas viejas , pero ella escribe el poema triste .
si mis abuelos ven mi río , no cortas ese limón .
ella puede comer la pera porque necesitas las sillas .
ellos pueden tocar los violines negros y otra reina abre las puertas .
esas reinas jóvenes cantan en diez cocinas tranquilas .
nunca cerramos otra puerta .
el padre quiere cantar detrás de un museo .
si mi hermana pequeña dibuja muchas escuelas , necesitas el pan .
tu hija alta escribe diez poemas cortos interesantes porque dos hombres pueden hablar con el pintor .
ese techo es negro .
¿ visita pedro muchas ciudades ricas ?
dormirás .
estás bebiendo café .
abrimos ocho puertas .
pedro visita muchos países ricos y miguel come esas naranjas por la noche .
esta oveja es marrón .
si dibujamos mis perros , las reinas jóvenes no buscan cajas rojas .
trabajo cerca de nuestro parque ahora .
otra reina amable durmió en otra oficina tranquila .
el conejo corrió detrás de esa biblioteca .
cuando los niños ricos pueden buscar a mi padre rico , el cocinero lee los periódicos .
mis oficinas son tranquilas .
venderé una oveja inteligente .
estoy vendiendo la lámpara redonda .
una niña viajará a unas aldeas .
pintarás este museo .
no vendes ese barco .
muchas mesas son muy redondas .
encontraste un abrigo corto .
¿ necesitan mis hermanos queso ?
siempre bailas .
ella cerró las puertas negras ayer .
llamas a mis abuelos porque él no baila en doce parques grandes .
él no vio ese lago .
vendemos mi huevo rojo hoy .
¿ cuándo come esa mujer ?
el cocinero cocina el pan y siete hombres pueden cocinar arroz .
no canto delante de estas cocinas .
si él ve a maría , mis hermanos caminan cerca del parque grande .
pintaste la casa .
nueve alumnos quieren comprar leche .
hay platos rojos caros en las cocinas grandes .
si las niñas hermosas pueden escribir esos libros tristes , juan necesita las bicicletas viejas .
compro nuestro autobús hoy .
un vestido azul largo está debajo de cinco mesas .
seis reyes amables quieren encontrar otra llave .
juan tiene que dibujar este río .
juan quiere ir a muchos hoteles .
comiste una manzana grande .
¿ viajas a países tranquilos ?
mi hija tiene que leer mis mensajes largos difíciles .
los niños inteligentes no dibujaron los ríos tranquilos .
¿ vives en ese país ?
el abuelo que busca esas lámparas rojas lava las camisas .
otra cantante lava mi autobús y las hermanas viejas necesitan esa bicicleta .
no tengo muchos pianos nuevos .
vendí una vaca anoche .
los abuelos que compran queso caliente dibujan unas bibliotecas .
doce reinas pequeñas compraron la llave pequeña anoche .
estos cocineros no dibujan los conejos tranquilos .
tu tío no puede buscar muchos conejos y no puedo dormir .
él comió .
diez niñas pueden esperar los trenes .
mi vestido es muy marrón .
esta caja es fea .
maría rompe unas ventanas azules .
muchas cartas son largas .
mi vecino joven quiere vender nuestra falda grande hermosa .
muchos reyes inteligentes hablaron con la niña .
cuando mi hermana canta las canciones famosas , el abuelo no encuentra las gallinas jóvenes .
le doy cinco abrigos al niño .
las hijas quieren caminar .
mi tío puede abrir las ventanas grandes .
¿ dónde camina este rey pequeño amable ?
muchas mujeres viajan a nuestra aldea tranquila .
cuando ella cocina pan fresco , los médicos no necesitan esas camisas largas .
¿ quién lava cuatro vestidos largos ?
le das muchos pasteles a una niña .
quiero comprar bicicletas .
ellos pintaron los techos anoche .
estoy esperando el coche viejo .
dibujo esos conejos .
doce enfermeras a menudo encuentran mi caballo hermoso .
venderás nuestro burro .
esos reyes siempre duermen .
mi amigo que ve a tu hermano viejo espera veinte bicicletas verdes .
veré estas escuelas .
un pintor joven inteligente visita estos pueblos grandes interesantes .
carlos corta otro tomate dulce .
muchos puentes están cerrados .
mi tío tranquilo encuentra ocho gatos .
ellos no buscan a maría y comes cerca de esas tiendas .
nuestra zanahoria no es barata .
juan ve esas montañas hermosas .
puedo cocinar fruta .
¿ tiene él nueve peces viejos ?
¿ esperas mi tren ?
¿ bailan ellos en cinco playas ?
el pintor joven puede cerrar cinco ventanas rojas .
él toca la guitarra nueva , pero juan pinta ventanas .
nueve poemas son largos .
los amigos altos trabajan .
una cantante no compra jugo frío porque otro campesino viejo pequeño camina en un bosque .
nuestro médico joven les dio esos abrigos a cinco mujeres .
los pájaros marrones grandes caminaron cerca de seis parques .
cuando ana no necesita ese abrigo amarillo largo , lucía viaja a ocho aldeas .
compras esos cuadros verdes los domingos .
mi abuela amable vendió un reloj .
maría vio al alumno pequeño fuerte anoche .
vuelves a esa iglesia nueva .
puedes comprar otra bicicleta .
tus vecinos dibujan la torre blanca hoy .
ellos venden el coche .
les enviamos otra historia a tus abuelos .
mi hombre lleva ese vestido nuevo barato .
buscas el reloj .
ellos comen delante de nuestro bosque ahora .
¿ quién come mis limones grandes ?
mis abuelas que limpian nuestro cuadro caro esperan otro coche verde .
una cantante hermosa no visita la ciudad pobre , pero maría canta detrás de los árboles .
le enviamos unos libros a la cantante .
mi hombre que encuentra la camisa corta canta esa canción .
comeremos la pera pronto .
este hombre a veces lava una falda blanca cara .
¿ caminan estas cantantes tranquilas en este jardín ?
dos maestros son más altos que el médico .
tu hija pequeña famosa pinta unos peces .
dormiremos en los campos .
hay unos peces marrones delante de doce estaciones verdes .
miguel fue a ese puente famoso .
si puedo lavar el barco , un pintor pequeño lee ese libro famoso .
maría comió nuestra naranja el año pasado .
nunca necesitamos mis coches .
hablé con un médico .
bebes el jugo ahora .
no puedes caminar en muchos mercados feos porque seis niños pintan perros .
ellos ven un autobús blanco los domingos .
estás llevando un zapato marrón .
ocho faldas son muy largas .
mi hermano tranquilo no quiere leche fría y ellos necesitan una bolsa hoy .
ellos viajaron al país .
ana pintó muchas paredes pequeñas .
puedes limpiar nuestra oficina pequeña tranquila .
hay muchas bicicletas nuevas pequeñas detrás de muchos ríos .
jugarás pronto .
ellos buscan seis caballos hermosos .
ana no leyó cuatro poemas viejos la semana pasada .
cortaremos la cebolla .
este poema es largo .
¿ tienes la mesa ?
volví a esos mercados .
esos cocineros ricos lavan diez barcos nuevos .
la reina que tiene el sombrero grande camina .
mi campesino pequeño tiene diez lámparas negras baratas otra vez .
otro rey fuerte llevó un sombrero .
muchos niños famosos pueden beber la leche caliente .
siete cocineros comerán .
ella vuelve al hospital los lunes , pero nuestros abuelos beben el jugo los lunes .
pedro tiene que ir al hospital .
elena vende queso y ana no espera coches .
mi alumno pinta estas paredes rojas .
elena no vivió en países ricos .
no necesito una lámpara .
estos reyes buscan una oveja fea .
él visita esta ciudad , pero pedro no puede comer las manzanas caras .
si encuentro ese reloj viejo , juan no come limones .
¿ comen nuestras hermanas la pera ?
juan cortó muchos limones .
ana no habla con el amigo famoso porque las reinas no esperan el coche .
los maestros que lavan mi camisa vieja trabajan .
los reyes le dan el zapato hermoso al tío .
les enviaste estas cartas largas a mis maestros .
puedes trabajar en otra cocina .
el cocinero espera bicicletas blancas , pero no podemos llegar a una estación .
¿ cantan ellos tres canciones ?
elena lee otra historia interesante .
el padre joven alto tiene que comprar el vino .
el burro marrón camina delante de ocho cocinas porque nuestro niño puede comprar esas historias difíciles .
nueve historias son más largas que el poema .
¿ limpias nuestra caja ?
mi abuelo hermoso cierra las ventanas pequeñas .
¿ cuántos alumnos hay en este hospital grande ?
llevamos las camisas rojas .
ella dibujará este bosque pronto .
¿ compra nuestra enfermera hermosa veinte cuadros verdes ?
cinco campesinos no quieren zapatos feos .
tus amigos pequeños abren muchas ventanas porque un niño habla con mi tío joven tranquilo .
él tocó nueve violines caros .
buscaremos los peces grandes .
carlos pinta un caballo hermoso ahora porque pedro puede comprar nuestra taza vieja .
nuestro padre alto tranquilo siempre dibuja diez campos .
le enviaste mi libro famoso a la hija .
encuentro este abrigo viejo .
miguel está visitando la aldea hermosa .
lucía lee mi carta larga difícil .
pedro corta arroz caliente y muchas reinas famosas pueden dibujar los hospitales feos .
hay patatas en el mercado hermoso .
cuando tus hermanas vuelven a ocho tiendas , lucía no quiere ese cuadro negro .
el rey inteligente le dio los relojes grandes baratos a ana .
juan nunca compra otra manzana barata .
mis mujeres tienen otra silla pequeña cara .
mis vecinos inteligentes dibujarán esas gallinas .
comeré la fruta pronto .
carlos compró las tazas .
¿ abren mis abuelos amables ocho puertas ?
lucía puede llegar a siete iglesias verdes porque el tío joven no pinta las escuelas .
un pájaro blanco comió detrás del hospital .
cantarás cuatro canciones .
cuando el hermano famoso abre esa ventana , jugamos en los hospitales viejos .
¿ leen esos alumnos mi periódico ?
no viste un conejo negro .
cuando veinte médicos juegan en un parque , pedro busca muchas llaves nuevas .
estás escribiendo la historia vieja triste .
nuestra abuela tranquila tiene que buscar mi gallina grande .
cinco cartas interesantes están en muchas cajas .
¿ canta juan otra canción corta ?
miguel visitará cuatro iglesias azules .
ella llamará a miguel mañana .
ellos visitarán a juan pronto .
maría lee los mensajes nuevos largos .
estamos limpiando el espejo .
dibujamos mi torre grande .
cuando juan rompe un plato amarillo , no dibujo nuestro conejo .
cuando una gallina camina detrás de mi escuela , elena puede ayudar a una cantante .
un niño le da sillas a tu abuela .
si maría come , tu madre inteligente no dibuja peces tranquilos .
él lavó el barco viejo grande .
cuando lees nuestro mensaje , dos reyes hermosos encuentran otra taza pesada .
nuestra niña limpia un techo verde nuevo .
esa mujer que cocina la carne caliente ve esta torre .
¿ llegas a nuestra biblioteca verde ?
¿ cortan mis mujeres famosas estas peras ?
rompemos muchos platos .
carlos camina , pero elena puede esperar unos coches grandes .
¿ encuentran las hermanas amables mis camisas ?
doce enfermeras no rompen ese plato feo porque mis tíos no cocinan sopa fresca .
¿ ves los hoteles rojos feos ?
otro alumno a menudo tiene mi violín .
estoy corriendo en los museos blancos .
cuando pedro no viaja al pueblo , carlos no corta carne .
necesitarás el queso .
nuestro padre fuerte siempre corta esta manzana pequeña .
puedo ayudar a carlos , pero otro médico dibuja esa playa pequeña .
cinco hombres tranquilos le dieron la pera barata a este campesino .
una cantante vieja está escribiendo los periódicos largos .
puedo abrir las puertas porque tres peces pequeños pueden correr delante de las cocinas .
ana compra las cartas porque los hombres pueden romper ese plato negro barato .
carlos vende mis tomates pequeños .
mi hermana puede cantar estas canciones cortas y un alumno no ve los coches .
la abuela tranquila comerá detrás de muchas estaciones mañana .
ella no lee mensajes porque mi vecino puede cortar estos huevos frescos .
estas ciudades son pobres .
mi vaca negra inteligente está jugando cerca de un mercado .
ellos están vendiendo las naranjas .
nuestro vecino encontró una flor fea .
viajé a otro país famoso .
seis cantantes compran ese tomate porque ellos pueden beber café .
esos campesinos jóvenes tranquilos jugaron en nuestra oficina .
tus hermanas amables comen y veo ese mercado famoso .
mi abuela fuerte quiere cortar pan frío .
quieres cocinar pan .
¿ encuentra nuestro hermano viejo esos pájaros hermosos ?
otro cocinero baila y un cocinero hermoso no espera otro coche .
mi abuela escribe la carta larga triste y esa cantante vieja amable visita a mi maestro .
un campesino famoso bebe agua caliente , pero una cantante rica compra esta cebolla .
¿ cocinan ellos la fruta ?
¿ cuántas vacas hay cerca del museo ?
rompo ese plato marrón hoy .
mis hermanas altas amables escribirán el libro difícil mañana .
lavo el zapato .
otra niña amable canta esta canción hoy .
pedro juega , pero llevamos un zapato .
¿ ayuda un niño a elena ?
tenemos que lavar mi camisa .
hay dos tomates dulces delante de veinte puentes .
veinte mujeres tranquilas compran un libro .
él abrió mi puerta .
no cantamos canciones porque lucía toca mis violines .
lucía dibujó dos bosques .
cuando miguel puede leer una historia famosa , vivimos en esas aldeas grandes hermosas .
nuestra madre es alta .
el rey busca los perros grandes inteligentes .
la madre fuerte les dio dos sombreros rojos caros a mis tíos .
vemos los hospitales y bailas cerca de muchos puentes .
maría quiere encontrar muchas ovejas .
los hombres que rompen esa ventana encuentran mi bolsa .
el vecino bebe leche y cantas en una playa .
ellos venden las ovejas hermosas ahora .
romperás nuestra ventana negra grande .
corto nuestro tomate pequeño .
miguel dibuja veinte conejos negros fuertes porque elena dibuja un burro blanco joven .
¿ esperas nuestro coche ?
puedes esperar el barco pequeño .
vas a leer seis historias .
nuestro niño alto amable dibuja casas .
mi reina hermosa tiene que volver al puente .
ella escribe dos mensajes .
maría tiene que visitar muchos hospitales .
esa cantante pequeña necesita doce trenes .
ella pintó un perro ayer .
miguel limpió los techos ayer .
compré una pera grande .
lucía querrá el vino caliente mañana .
dormiremos .
ellos escriben muchas historias tristes .
tres mujeres amables no lavan un barco blanco porque ella ve la vaca los lunes .
puedo lavar esa bicicleta y miguel canta delante de una tienda amarilla otra vez .
mi madre pinta mi tienda azul nueva .
mi biblioteca es grande .
¿ quieren mis amigos altos agua ?
este cocinero que ayuda a otra niña vende unas cajas .
esos burros pequeños feos están en mis playas grandes .
¿ va este pintor al puente ?
nuestros hermanos altos están buscando el reloj redondo .
nuestro alumno fuerte le da la patata a mi amigo .
los tíos amables quieren cortar las zanahorias dulces .
dibujaré estaciones pronto .
viste a veinte alumnos esta mañana .
el perro feo come cerca del jardín pequeño porque no cantas en la calle pequeña .
juan escribe estas cartas hoy .
nuestra madre rica vuelve a una escuela fea porque nuestro campesino lleva el sombrero los domingos .
este burro grande comió en cinco hospitales .
nuestra escuela es nueva .
¿ qué compra una enfermera famosa ?
estamos rompiendo mi plato .
mis abuelas amables llaman a pedro y limpio una taza .
¿ toca ese alumno amable este violín viejo caro ?
el coche es azul .
este periódico es famoso .
hay siete caballos negros en tres playas .
¿ lavas un autobús ?
cuando corto la zanahoria pequeña los lunes , tu abuelo fuerte tiene las llaves .
mi hermana famosa puede vivir en mi país y no compramos queso .
tenemos una taza redonda pesada , pero miguel escribe otro poema nuevo .
los pintores pequeños escribirán veinte historias .
no buscaste tres gatos pequeños inteligentes .
visito una casa amarilla .
pedro les da esa llave a mis vecinos .
cuando vendo otro pez , corto sopa fresca .
doce libros largos están debajo de esas camas .
cuando encontramos la gallina blanca por la mañana , tus hermanas hermosas no quieren fruta .
ella tocará mis pianos .
¿ cuándo trabaja ese campesino alto rico ?
tengo el cuadro pesado .
elena necesita muchas faldas largas baratas .
estos médicos que venden mi zapato tocan mis violines .
¿ vende él esos tomates ?
vuelvo a cuatro estaciones los domingos y elena cierra nuestra ventana .
tres hombres no cierran nuestra puerta amarilla .
no visité el país anoche .
¿ lava ana barcos azules ?
esos alumnos tienen que limpiar ocho paredes nuevas .
jugaste .
juan limpia mi taza .
estamos encontrando mi vestido .
¿ abres una ventana ?
muchos poemas están sobre esa silla .
los médicos que rompen los platos nuevos tocan unos pianos .
ella limpiará nueve ventanas .
cantaré esta canción .
cuando ellos quieren las camisas baratas , otro campesino no vende ocho cebollas .
esos maestros fuertes pueden trabajar cerca del bosque .
elena toca las guitarras ahora .
les damos el vestido hermoso a los cocineros .
dibujé veinte ríos .
ayudo a carlos .
muchos médicos inteligentes tienen mi pájaro hoy .
¿ dibuja maría muchas escuelas ?
cuando tengo un barco feo , ana puede tocar otra guitarra .
no limpiamos un techo amarillo pequeño , pero ella puede comer cerca del árbol .
carlos cortará el pan pronto .
busco peces blancos .
pedro escribe este libro interesante hoy .
este maestro que come la sopa dibuja el río .
dibujas tres montañas , pero el pintor no puede cortar una pera .
nueve médicos famosos nunca beben vino .
diez puertas son pequeñas .
la hermana que pinta techos grandes lee una historia .
los reyes que cantan la canción triste escriben unos poemas .
no juegas en mi jardín grande porque ella baila en otra calle grande .
hay un conejo grande feo delante de este hospital amarillo .
cuando vivo en los pueblos pobres , trabajas en el jardín tranquilo .
pintas mis ventanas rojas porque mi padre tranquilo ve una tienda famosa .
nueve enfermeras ricas no quieren leche porque mi abuela trabaja en los parques .
miguel siempre come en nuestro campo .
ellos durmieron delante de mi parque ayer .
busco cuatro llaves .
cuando toco tres guitarras hoy , los médicos pequeños esperan una bicicleta .
¿ vendes otra falda ?
¿ corta pedro fruta ?
¿ toca ella muchos violines ?
él dibuja esas vacas pequeñas hoy .
los amigos ayudan a lucía hoy porque él come estos limones pequeños .
encuentras mis espejos feos y ella trabaja en doce escuelas pequeñas .
trabajamos .
pedro cantará esta canción mañana .
cerraré la puerta .
cuando él limpia mi cocina , otra cantante toca los violines .
si ellos quieren los trenes , quieres los zapatos amarillos hoy .
cuando pedro tiene el tren , nuestro gato hermoso come detrás de muchas escuelas verdes hoy .
estas flores son muy amarillas .
queremos jugar .
mi cocinero es más joven que un rey .
si mis vecinos tienen el plato redondo , nuestras hermanas jóvenes inteligentes no beben leche caliente .
muchos abrigos son viejos .
una ciudad es rica .
el pintor que va al puente amarillo pinta nueve paredes negras grandes .
cuando esa niña pequeña no tiene las mesas verdes , mi madre tranquila puede caminar .
él pinta muchas puertas .
¿ compran ellos otro barco rojo ?
nuestro tío no lava diez autobuses .
llevé un abrigo anoche .
ellos escribirán mis libros nuevos .
si ocho enfermeras compran un espejo , la reina alta rica no tiene esa caja fea .
tus tíos les dan el tomate a veinte niños .
las reinas que llevan los sombreros nuevos cortos buscan mi botella vieja .
caminamos .
mis vecinos están hablando con el maestro amable .
ellos rompen siete platos feos .
ella juega .
ella vende autobuses blancos caros porque no vamos al mercado .
cuando dibujo ese conejo blanco tranquilo , la hermana tiene los abrigos negros ahora .
ellos pueden lavar la camisa blanca y mi hermana no visita este hotel amarillo nuevo .
ana corta el arroz fresco y nuestros hermanos pequeños no ven otra gallina inteligente .
¿ vive mi abuela en estas ciudades ?
un niño fuerte duerme en la casa , pero ocho campesinos inteligentes necesitan coches verdes caros .
otro alumno viejo limpia la cocina .
muchos pueblos no son ricos .
ella tiene que comer tomates .
un hombre lava el abrigo , pero mi hermano fuerte dibuja un río todos los días .
no vivo en el pueblo y pedro no vende arroz .
esos hombres a veces cantan nuestra canción .
elena vende otra flor pequeña porque esos maestros vuelven a tres iglesias grandes .
él bebió leche .
no limpio tres flores caras , pero esa niña vieja no quiere la botella .
hay escuelas en esos parques .
él visita otra ciudad pequeña tranquila hoy .
ellos le dieron un abrigo barato a ese niño .
juan nunca dibuja los árboles pequeños tranquilos .
ellos cortaron los huevos pequeños .
¿ dibuja nuestra niña fuerte esta gallina ?
elena encuentra nuestro espejo hoy .
pedro encuentra esa llave pesada .
ana esperó a esos médicos .
hay camas en el museo azul .
¿ vuelve juan a nuestro mercado ?
pedro no habló con tu hermano .
muchos coches rojos están en tres cocinas pequeñas .
esos hombres quieren leer las cartas cortas interesantes .
una carta es larga .
tus hermanas no visitaron este puente nuevo .
si lucía escribe otro mensaje largo , carlos duerme .
¿ bebe pedro el café caliente ?
escribimos el poema largo .
nuestros vecinos querrán una camisa pronto .
siete campesinos le dieron este tomate a nuestro pintor .
estás cantando canciones nuevas famosas .
si los maestros altos buscan a ese hombre fuerte , un médico lee ese periódico .
esa enfermera que come fruta come esta naranja .
ese burro no es fuerte .
visitamos un pueblo hermoso .
carlos llama a doce niños viejos tranquilos .
¿ lleva este médico un sombrero ?
viajarás a nuestro pueblo .
¿ buscan ellos el conejo ?
mi amigo viejo cocina pan frío y mis abuelas viejas no pintan las paredes verdes .
¿ dibujan las niñas inteligentes ocho torres ?
lucía le dio tres sombreros a ana .
si lucía no puede escribir mi carta corta , vendes el espejo marrón .
tres camisas son más baratas que la falda .
si mi hermano rompe este plato blanco , buscas el gato hoy .
pedro come cebollas dulces ahora .
carlos quiere vender mis coches nuevos .
otro campesino limpió esa mesa redonda .
estos reyes altos hermosos les dieron zapatos a dos campesinos .
tres ovejas feas están detrás del árbol grande .
podemos jugar en los hoteles blancos porque nuestros tíos esperan un autobús pequeño .
corriste en estas montañas .
mi silla pesada está en una caja .
las hijas que escriben el periódico largo famoso lavan mi coche amarillo grande .
este alumno viejo esperará al cocinero viejo pronto .
mis hermanas buscan veinte gallinas hoy y un maestro amable quiere nuestro autobús .
toco estos pianos .
mi vecino busca muchos cuadros azules .
mis hermanas llevan mi abrigo corto porque mis tíos fuertes pueden limpiar la pared .
juan caminará .
canto diez canciones .
cuando ella vive en ciudades ricas , esos perros blancos tranquilos duermen en mi estación .
el campesino que quiere un coche viejo vende siete ovejas negras .
¿ leen cinco enfermeras tranquilas mis historias tristes ?
ella llevó mis sombreros baratos .
hay conejos negros inteligentes cerca de dos jardines grandes .
mi cantante venderá muchos espejos .
tus abuelos siempre tienen la oveja tranquila .
mis periódicos interesantes están sobre esas mesas .
si elena puede volver a muchas iglesias , maría camina en esos jardines .
él tocará esa guitarra .
no caminaste en el campo pequeño la semana pasada .
tu padre pinta el hospital rojo famoso .
buscamos el caballo blanco .
nueve camisas no son hermosas .
el hermano alto necesita muchas camisas baratas .
¿ limpias mis lámparas ?
él cocina carne ahora .
ella vivió en una aldea pobre .
lucía encontró estos perros pequeños .
si las mujeres caminan en dos hospitales amarillos , ellos viajan a mi país .
si ana espera esta bicicleta los domingos , no vendemos una llave .
vendo esas zanahorias rojas frescas otra vez .
¿ cierras las ventanas ?
leemos este poema interesante .
visitaremos un museo famoso .
ellos no lavan unos vestidos porque el alumno no encuentra nueve camisas nuevas .
otra cantante tranquila les dio el libro a tus hijas .
quieres cortar el queso caliente .
cuando estos alumnos duermen en muchas casas , ana no escribe esas cartas .
otro conejo fuerte está cerca de cinco lagos grandes .
¿ cocinas la carne fresca ?
cantamos una canción y los alumnos jóvenes tienen estas cajas .
muchas niñas a menudo llevan mis faldas .
un alumno hermoso les envió ese periódico a las niñas .
¿ dónde está esa silla negra redonda ?
ella visita al pintor tranquilo hoy .
a menudo quiero esta cama .
hablo con maría .
un perro es inteligente .
ana nunca lava abrigos .
él llegó a nuestra estación .
tus abuelos van a los mercados porque la madre vieja lee mis cartas tristes ahora .
¿ ayudas a maría ?
abro esta puerta verde .
ella cocinó queso anoche .
a veces vendo siete cajas pesadas .
juan a veces cierra una ventana pequeña .
miguel lava esos abrigos .
¿ viven cuatro niñas altas en esos países grandes ?
trabajas cerca de esos puentes blancos .
¿ ve tu hermano alto el tren rojo ?
ellos vendieron pan frío anoche .
viste el perro blanco ayer .
esos hombres que dibujan mi gato beben té caliente .
podemos vender nuestro reloj caro .
mis hermanas inteligentes llevaron unos sombreros azules .
quieres comer .
hay un huevo grande cerca de tres hospitales famosos .
¿ trabajan seis cantantes ?
esperas al hombre porque tu padre no puede cerrar una puerta .
los alumnos fuertes rompen nuestro plato feo , pero lucía busca esa botella .
el hombre tranquilo no llama a esa enfermera tranquila porque bebo vino caliente ahora .
hay conejos en mis parques pequeños .
cuando juan bebe vino , carlos lleva nuestro vestido hermoso .
¿ esperan estas mujeres mis bicicletas ?
estas lámparas marrones están en esa caja .
¿ compran los pintores fuertes la sopa fría ?
iremos a mi mercado verde .
carlos juega detrás de una oficina y podemos comer muchas patatas pequeñas .
ellos caminaron .
seis hombres inteligentes llaman a tu vecino .
mi árbol es tranquilo .
las abuelas tranquilas vendieron doce barcos blancos ayer .
¿ vende ana ese pájaro grande ?
la hermana que vende un abrigo marrón hermoso espera doce bicicletas .
nuestro rey rico no cortó los limones baratos .
mi hermana alta no cerró cuatro ventanas rojas anoche .
tres cocineros inteligentes van a tocar mi piano .
cuando tu vecino amable habla con la hija inteligente , carlos rompe estos platos .
hay bolsas en nuestro jardín grande .
las enfermeras no llevan un sombrero porque una cantante puede cortar fruta caliente .
cuando el médico famoso puede tocar muchas guitarras viejas , no trabajo en otra montaña .
si bebo té , vendo un tomate rojo por la mañana .
muchos hombres hermosos van a caminar .
cuando puedes leer el libro largo , estas mujeres no pintan el hospital feo .
juan encuentra cuatro sillas blancas .
si mi abuelo inteligente canta en veinte mercados , esta enfermera no quiere pan .
juan buscó las sillas .
juan jugará .
buscaste los caballos ayer .
el plato es caro .
carlos escribe nuestro poema viejo .
los alumnos tocan un piano viejo y puedes visitar diez museos .
mi hermana quiere fruta fresca los domingos porque el rey alto famoso no bebe jugo caliente .
¿ baila la niña famosa detrás de este mercado viejo ?
¿ lleva mi madre doce sombreros largos caros ?
estás viajando a aldeas famosas .
ana lleva unos sombreros amarillos .
diez espejos son muy azules .
los periódicos están sobre nueve camas .
mis hermanos que encuentran esa lámpara pequeña encuentran esa oveja .
mi madre que llega a estas casas espera un autobús negro nuevo .
elena busca nueve mesas redondas .
el cocinero pequeño siempre escribe los poemas cortos .
bailas .
¿ duermen las mujeres en nueve bosques ?
juan caminó .
llamo a mis abuelos viejos .
maría busca la cama verde , pero ves el autobús amarillo caro por la noche .
mis alumnos que escriben cuatro cartas interesantes vuelven a otra iglesia .
tu hermano es más rico que nuestros amigos .
cuando llego a la estación grande , mi abuela rompe ese plato viejo hoy .
el alumno compra este poema porque estas enfermeras encuentran los relojes blancos .
¿ quieren estos niños ricos una cama azul ?
los niños abren la puerta grande porque podemos lavar los coches azules pequeños .
las enfermeras pintaron unos techos .
mi niño cerrará la ventana mañana .
maría nunca rompe esas ventanas .
los vecinos jóvenes leen mi mensaje los lunes .
¿ qué necesita este niño famoso ?
hay cuatro camas marrones en mis escuelas .
maría limpió el techo .
¿ qué lee juan ?
quieres vender diez espejos .
¿ encuentras nuestra oveja ?
cuando cocino el pan caliente , escribes el periódico famoso .
esas cantantes limpiaron esos techos azules esta mañana .
cuando él visita nuestra aldea , muchos pintores ricos cierran unas ventanas .
las mesas están cerca del río hermoso .
hay llaves viejas en la oficina .
ocho cocineros famosos están viajando a otra aldea pequeña .
leíste historias esta mañana .
ese médico vio las bibliotecas ayer .
¿ pinta él esas iglesias verdes feas ?
mis vecinos fuertes nunca esperan los barcos viejos .
seis lagos son muy tranquilos .
un rey joven puede comprar los limones y miguel vende nueve vestidos .
cocinaré pan la semana próxima .
las mujeres necesitan veinte barcos .
mis enfermeras limpian las cajas .
nuestra mujer joven amable está pintando mis mercados .
estos hombres llaman a ana ahora , pero nuestro campesino inteligente espera este coche rojo .
estás bailando .
viajo a otro pueblo hoy .
les das otra naranja barata a las abuelas .
voy a comprar las llaves grandes .
él puede esperar un barco barato y estos alumnos viejos famosos corren .
él vende mis caballos feos ahora .
¿ compran esas niñas jóvenes el vestido ?
mi madre puede pintar el techo y la cantante fuerte corta queso .
ocho niños son más jóvenes que nuestras hermanas .
un cuadro barato está sobre mi cama .
ellos ayudaron a nueve médicos hermosos .
el médico puede pintar la tienda vieja y llevas la falda nueva .
¿ cuántos hermanos hay delante de esa escuela ?
miguel tiene que limpiar dos mesas negras .
si otro perro blanco come en esta cocina , una enfermera inteligente lava las faldas blancas .
ellos cocinarán carne .
ella cortó la carne fresca ayer .
nueve botellas son caras .
nueve niños no abren puertas porque mi hermano baila .
miguel cocinará sopa caliente esta noche .
otra enfermera alta quiere bailar .
¿ rompen ellos los platos rojos pesados ?
no pinté burros feos .
necesitas otro espejo .
nunca lavas cuatro abrigos .
miguel dibujará los lagos .
visitarás otro país .
estoy comiendo sopa .
un país no es rico .
no viajo a cuatro pueblos .
otro hombre buscó mis vacas feas .
estamos comprando nuestro zapato largo .
el vecino le dio esas cebollas baratas a mi abuelo .
nuestro gato marrón está delante de ese mercado .
esas patatas son dulces .
nuestro alumno famoso está dibujando veinte gallinas marrones tranquilas .
una pared es muy negra .
otro niño necesita esta silla y mi pájaro feo no camina cerca de dos árboles .
ayudamos al hombre .
siete historias son muy cortas .
mis tíos fuertes cortan este huevo pequeño fresco .
si podemos comer en el hotel , los niños jóvenes lavan nuestra camisa .
una mesa es pesada .
elena verá ese tren .
maría le dio estas tazas blancas nuevas a mi mujer .
esa cama es amarilla .
pedro comió carne fresca anoche .
maría siempre vuelve a esa biblioteca blanca .
¿ van las cantantes hermosas a esta iglesia ?
les dimos estos tomates frescos a los hombres .
ellos lavan trenes pequeños .
si tenemos un pez blanco , tus amigos cierran la puerta roja .
¿ leen mis hermanas unos periódicos cortos ?
no vendí esta cebolla barata .
nueve hombres están bailando .
nuestras abuelas jóvenes ricas no tienen un pez porque el campesino puede correr en esa oficina .
elena come zanahorias y ellos cantan .
carlos va a llevar un sombrero .
¿ corta tu vecino tres zanahorias ?
juan venderá la botella barata .
los maestros hermosos no comieron un limón caro ayer .
tu amigo tranquilo canta canciones .
hay tomates en ocho parques .
llamaré a mi hermano joven amable .
puedes cocinar la fruta caliente porque canto una canción .
correremos .
dos niños fuertes están yendo a las estaciones grandes .
compré mis zanahorias .
carlos vuelve a veinte torres .
nuestro tío dibujará una montaña pequeña tranquila mañana .
miguel visita mi tienda pequeña fea por la tarde .
ella visita un pueblo , pero muchos alumnos ven una playa tranquila los domingos .
maría no cantó detrás de mis estaciones .
nuestros vecinos famosos cerraron la ventana anoche .
mis amigos quieren dibujar un puente verde pequeño .
ocho cantantes comen en siete museos hermosos .
ana buscó el conejo feo .
limpiaste el parque .
tus abuelas quieren dormir .
carlos escribirá nuestra historia mañana .
él canta ocho canciones cortas .
estos alumnos no tienen mis guitarras .
comemos porque carlos no vende muchas bolsas baratas .
tocarás la guitarra mañana .
veinte enfermeras le dan ese plato blanco a otro médico .
hay nueve burros fuertes en cuatro museos feos .
esos burros negros comen cerca de muchas torres .
cuatro gatos blancos comen delante del lago .
elena vuelve a estos mercados otra vez y ellos visitan esas bibliotecas viejas grandes .
estás tocando dos guitarras viejas .
juan quiere lavar una bicicleta roja vieja .
estamos lavando el tren pequeño .
ella comerá este tomate .
la reina pequeña lleva estos abrigos grandes .
ese cocinero alto le dio la camisa marrón a mi amigo .
ella tendrá el pájaro .
ese alumno vende mi pera fresca .
podemos vender fruta , pero llevo el zapato rojo .
ana durmió .
¿ tocas mis pianos ?
no queremos dos bicicletas .
miguel volvió a seis estaciones azules .
ana le dio ese poema al tío .
tu tío que tiene nuestra gallina hermosa dibuja el perro joven feo .
tenemos veinte guitarras .
esta niña es amable .
beberás el café mañana .
dibujamos dos hospitales .
¿ quién lee ocho cartas ?
carlos visita diez pueblos .
¿ dibujas nuestro caballo blanco feo ?
mis niñas no corrieron en las iglesias amarillas .
¿ beben mis tíos café ?
lucía espera otra bicicleta vieja y él escribe la historia corta .
muchas vacas blancas comen delante del museo rojo los domingos .
le damos veinte faldas a tu hija .
esa flor cara está en mi playa .
un plato está sobre otra cama .
miguel abrió puertas .
nuestra abuela hermosa cierra doce ventanas .
¿ lee lucía este periódico corto triste ?
los pintores comerán esa patata dulce .
las enfermeras a veces limpian mi taza amarilla .
maría encuentra la lámpara porque encontramos mesas viejas .
ocho niños tranquilos lavan muchos autobuses .
elena vio veinte iglesias .
¿ cuántas llaves hay en nueve oficinas ?
bebí té .
maría viajará al país interesante .
estas cantantes fuertes llevaron el sombrero blanco .
lucía siempre necesita un barco .
¿ encuentra él nuestra gallina ?
ella comprará la falda vieja .
caminé en ese museo ayer .
fuiste a las torres .
cuando puedes romper mi plato , la cantante rica ve al amigo .
hay veinte pasteles en tres oficinas .
cinco niños pequeños esperan a maría .
dos vestidos marrones están debajo de ocho mesas .
la mujer fuerte necesita la cama blanca grande .
tus hijas hermosas pueden llevar la falda negra .
él llevó el sombrero anoche .
¿ tocan muchos alumnos cinco pianos viejos ?
¿ habla mi hombre pequeño inteligente con tus abuelas inteligentes ?
no comimos los huevos .
mi tío alto romperá dos platos .
hay autobuses amarillos en mis iglesias .
¿ corta mi madre las zanahorias grandes frescas ?
visitamos unas casas , pero las reinas cocinan arroz fresco los lunes .
nuestro hombre está contento .
estas niñas venderán este autobús pronto .
estamos listos .
mis hermanas tranquilas buscan otra lámpara .
muchas enfermeras llevarán doce zapatos baratos .
él ve nuestro campo y dibujas dos torres .
llevaremos vestidos mañana .
este alumno corta mi manzana pequeña dulce .
cuando ana quiere otro vestido feo , tus tíos hermosos cantan .
pedro espera los barcos feos .
ellos tendrán la llave blanca esta noche .
él lee otro mensaje triste .
¿ corren esas cantantes delante de doce casas verdes ?
¿ dónde baila pedro ?
¿ ayudan mis tíos a ocho niñas ?
¿ va elena al museo ?
tenemos que escribir nuestro mensaje viejo difícil .
hay nueve autobuses baratos detrás de esta cocina .
este hombre que vive en un pueblo grande dibuja unas montañas pequeñas hermosas .
estás cortando una cebolla .
si juan no limpia oficinas grandes , cierro la ventana roja .
los hombres le dan otro libro nuevo al abuelo .
dos puertas están abiertas .
esta niña quiere hablar con la cantante famosa .
doce médicos le dieron estas faldas a nuestro padre .
veinte hospitales son muy feos .
rompemos platos caros .
¿ compra ella mi huevo ?
si las enfermeras jóvenes quieren nuestro espejo negro viejo otra vez , no tengo pianos .
tengo los autobuses pequeños .
mis campesinos altos visitan doce aldeas .
tocaste las guitarras .
ese médico que abre estas puertas rojas corta esas cebollas frescas .
este sombrero es muy largo .
este autobús verde está en mis cocinas .
¿ cuándo vuelve ella ?
¿ llevas ocho camisas ?
dibujé estas bibliotecas anoche .
las mujeres pequeñas dibujarán estos ríos pronto .
si no cocino pan , duermes .
¿ buscan estos pintores tranquilos cuatro perros ?
no lavamos mi tren .
carlos nunca tiene ese violín .
podemos viajar a la aldea y mi madre alta corta el huevo grande ahora .
si doce reyes visitan mi iglesia vieja , no escribo cartas tristes .
corro .
nuestro médico es más alto que esas reinas .
carlos ayudará a esta reina inteligente .
elena ve el pez fuerte .
no pintamos otro techo blanco y llegamos al museo .
elena corta nuestro limón hoy .
llevamos el abrigo caro .
no ayudas al tío pequeño .
si ellos no encuentran los gatos , muchos reyes visitan mi museo viejo .
llamaste a esta niña rica anoche .
mis niños que abren mi ventana tienen otro pájaro negro .
las cantantes no pueden vender el tren negro .
ana visitó veinte mercados .
¿ necesita ella esta cama redonda ?
juan viajó a una ciudad pobre ayer .
mi madre joven alta escribe doce mensajes viejos .
estos campesinos comprarán el huevo barato .
¿ quieres las mesas ?
hay unos cuadros blancos cerca de muchos jardines pequeños .
nuestro padre pequeño le da mi tomate al alumno .
la niña amable dibujó diez iglesias .
¿ come juan el huevo fresco ?
compro unos cuadros .
abrimos muchas puertas grandes hoy .
¿ llama mi madre pequeña fuerte al médico joven ?
no hablas con los campesinos viejos pequeños .
si vendes la bicicleta vieja , ella tiene mi cama negra pesada .
miguel escribe estos periódicos interesantes .
canté en esos hoteles famosos .
cinco perros están durmiendo cerca de mis puentes hermosos .
las enfermeras van a escribir ese libro .
estos alumnos escribieron las historias .
pintaré el hotel pequeño .
si mis alumnos jóvenes no pueden encontrar el vestido , no visitamos ocho pueblos .
mis abuelas altas fuertes tienen ese conejo .
encontraremos muchos perros .
maría limpia los jardines .
ellos buscaron a nuestros amigos .
él cantó .
ellos no limpian esas mesas porque juegas en la escuela .
otro autobús está en nuestra montaña hermosa .
pedro llevará este zapato .
tus tíos famosos buscarán un cuadro blanco pronto .
¿ corre un niño ?
comemos en nuestra escuela azul .
¿ lavas barcos pequeños ?
esta manzana es pequeña .
esa torre está abierta .
otra reina rica quiere buscar muchos platos verdes redondos .
un médico alto llevará seis faldas rojas feas .
mi abuelo viejo está lavando la camisa .
¿ buscas esa llave marrón ?
no viví en estos países .
puedo correr .
ellos encuentran mis vacas .
tocamos el violín otra vez porque un médico come .
elena lava la camisa azul por la tarde porque tus amigos ricos no pueden tocar estos pianos .
nuestro vecino que busca las lámparas redondas pinta hoteles feos .
¿ pintas esa puerta blanca ?
tus hijas que encuentran estos zapatos quieren este vestido barato .
maría a menudo necesita espejos amarillos .
muchas gallinas jugarán en las tiendas .
nuestro niño quiere leer esos periódicos .
esperamos dos coches .
le diste las botellas al vecino .
miguel pinta ese conejo viejo .
cerré nuestra ventana esta mañana .
tocas muchos violines viejos .
llamamos a juan .
si ellos ven mi barco , tu hermana hermosa puede comer carne .
siempre hablas con la abuela .
un maestro va a encontrar tres botellas rojas .
toqué el violín nuevo anoche .
pintaremos otro hotel .
nuestro tío amable no bebió té .
cuatro reinas hablan con ana hoy .
ellos ayudarán a carlos pronto .
él verá nueve campos .
mis bibliotecas son amarillas .
pedro lavará un tren rojo .
correré pronto .
ana cocina sopa fría porque no llegas a una iglesia .
el amigo alto vendió el conejo anoche .
lucía visitará los mercados .
el rey que quiere sopa lleva una falda .
el campesino fuerte puede abrir la ventana negra nueva porque puedo comprar las faldas hermosas .
cuando siete alumnos pintan estos conejos marrones , los alumnos no pueden viajar a nuestra ciudad .
cinco niñas amables quieren abrir puertas .
siete reyes siempre ven los conejos .
este maestro fuerte quiere limpiar flores rojas redondas .
estas mujeres están en nuestro mercado azul .
ella visitará a lucía mañana .
cuando maría lleva un sombrero marrón , los campesinos jóvenes no beben café .
miguel a veces vive en las ciudades pequeñas pobres .
ellos encontraron este pájaro marrón hermoso .
las mujeres altas les dan peras dulces a siete alumnos .
si carlos compra té , una reina tranquila no dibuja mi puente viejo .
lucía llama a los maestros viejos amables .
hay seis tiendas grandes detrás de ese árbol .
cuando muchas mujeres jóvenes famosas no necesitan esas mesas , ella no encuentra camas verdes .
nueve techos son blancos .
muchos médicos quieren escribir poemas .
estamos yendo a este hospital hermoso .
siempre caminas cerca de seis escuelas .
ocho reinas altas famosas tocan los violines baratos .
nuestros abuelos que cierran siete ventanas rojas pintan mi techo .
si carlos puede abrir una ventana , este alumno viejo quiere cinco relojes .
carlos cortó un tomate caro .
no escribo el poema triste , pero vemos el pájaro .
tu abuelo está dibujando nuestra oveja blanca .
estoy pintando la pared pequeña .
un parque es pequeño .
hay diez cocineros amables en el bosque .
encuentras estos cuadros azules otra vez .
queremos pan hoy .
tu abuela vieja tranquila vio esa torre amarilla nueva .
mi padre pintó otra tienda .
¿ llaman los niños al maestro ?
¿ lavan los hermanos mi tren verde ?
elena quiere visitar a mi vecino .
¿ habla una niña con siete niños ?
ella abrirá una puerta pronto .
¿ tienes ocho caballos negros pequeños ?
¿ come lucía zanahorias rojas pequeñas ?
mis sombreros están debajo de estas mesas .
doce calles están llenas .
pedro le da otra lámpara azul a esta enfermera .
maría a veces lleva este zapato nuevo corto .
si dibujas esta montaña pequeña , mis hijas ayudan a pedro .
nuestros amigos famosos no rompen platos viejos .
¿ dónde bailan esos pintores ?
cortamos muchos pasteles rojos pequeños .
ocho ovejas son muy pequeñas .
comemos carne .
ana lava mis barcos amarillos .
mis hermanos comieron mis patatas .
cuatro pájaros están cansados .
¿ cuántas bicicletas hay en mis campos ?
el tío amable visita una aldea .
maría dibujó nuestro árbol .
llamé a miguel .
este conejo marrón grande está detrás de mi torre .
necesitaremos veinte llaves .
cuando puedo llevar ese sombrero grande caro , maría pinta una pared .
cuando tres cocineros cortan arroz caliente , no lavas la bicicleta .
lucía va a pintar la pared verde .
estos médicos a menudo comen queso .
ellos juegan los lunes y un campesino joven ve este perro pequeño .
mi hermano les da nueve sombreros feos a ocho cantantes .
veo un gato .
si juan visita a nuestro tío , tres alumnos viejos no cortan la sopa .
no vemos el río pequeño tranquilo .
lucía cocinó sopa .
mis abuelos ricos cantarán la canción .
comes .
estoy cortando pan .
nuestro amigo irá a nuestra casa amarilla mañana .
mi abuelo famoso está vendiendo mis huevos .
¿ abre este campesino pequeño esas puertas verdes ?
nuestra hermana alta limpia las paredes amarillas .
necesitas muchos coches caros .
no vendo los coches , pero corremos delante de las bibliotecas .
corto otra pera y dos maestros famosos no vuelven a estas estaciones pequeñas .
ellos están cantando .
llevamos unas faldas .
una botella está en las escuelas viejas .
el maestro tranquilo abrirá tres puertas blancas .
el abuelo que encuentra ese caballo lava los zapatos marrones .
nuestra cantante pequeña quiere nuestro cuadro .
vendes unas manzanas .
nuestra reina hermosa a veces quiere cuadros .
ese campesino les dio huevos grandes a siete niñas .
estoy buscando el perro tranquilo .
él llamó a ese médico fuerte .
¿ dónde están mis lámparas nuevas pesadas ?
necesitamos esos autobuses viejos .
él vio cinco caballos pequeños .
mi perro no es joven .
mi abuelo nunca necesita los espejos rojos .
miguel trabajará en doce iglesias famosas mañana .
llegaré al mercado .
¿ vive el niño en unas aldeas ?
mis hijas fuertes a veces tocan el piano .
elena corta diez patatas ahora .
a menudo compras el cuadro .
¿ quién limpia estas tazas ?
juan esperará otro tren amarillo .
quieres cantar muchas canciones .
¿ llama esa enfermera a un rey ?
este vestido está en diez cajas .
lavarás esa falda .
este médico lee la carta vieja todos los días porque muchas cantantes tranquilas escriben historias .
carlos no escribió ese mensaje nuevo triste .
esta reina que corta muchas patatas baratas duerme en muchas calles grandes .
estos burros están enfermos .
si el vecino toca el violín hoy , mi hija pequeña amable puede cocinar el queso .
tu madre bebe agua ahora .
miguel dormirá .
no cerramos la ventana azul porque no comes queso fresco .
encuentro una caja grande .
ella rompió las ventanas anoche .
cerramos esta puerta .
ayudaremos a lucía .
estás enfermo .
miguel vivirá en ciudades famosas .
¿ dibujas el pájaro tranquilo ?
cinco sillas no están limpias .
mis abuelos que pintan ese pájaro juegan detrás de las playas .
las cantantes son más altas que mi hermana .
el médico tranquilo está cortando nuestra patata grande .
quiero ir a una biblioteca famosa .
si ella come muchos pasteles , nuestra abuela vieja compra ese mensaje viejo .
él cocinará pan .
otro pintor amable busca camas redondas pequeñas ahora .
ella cantará nuestra canción nueva famosa .
le diste otra caja roja grande a maría .
la reina amable le da diez camisas marrones baratas al hermano .
mis mujeres ven cinco autobuses .
nunca visitas el mercado rojo .
nuestro plato es muy redondo .
¿ espera mi abuela dos barcos ?
¿ canta la mujer vieja estas canciones ?
lucía ve estas iglesias .
los niños altos encuentran la bolsa redonda cara .
mis hermanos buscan otra bolsa amarilla vieja hoy .
¿ qué cocina carlos ?
juego en dos calles grandes .
los pintores pueden tocar una guitarra y las enfermeras ven la oveja .
escribiremos un poema .
mis maestros le dan mi historia corta a mi rey .
si un alumno no dibuja muchos campos , mi vecino encuentra estos gatos marrones .
dibujaste otro museo anoche .
muchas paredes son muy verdes .
muchas flores amarillas están sobre la silla .
pedro leyó este periódico viejo famoso .
juan tendrá los coches nuevos .
¿ pinta miguel esta pared ?
busco a mi madre , pero mis tíos viven en otro país pequeño ahora .
ella rompe platos .
comprarás otra pera cara .
juan cocina arroz .
ellos no cantaron veinte canciones nuevas tristes .
buscas otra silla .
una mujer encuentra este perro grande feo .
él les envía esas cartas difíciles a mis hijas .
si dos pintores inteligentes encuentran mi espejo , él limpia una bolsa fea .
esos pájaros no son tranquilos .
mi abuela pequeña encuentra esos sombreros cortos caros .
maría dibujará este campo grande mañana .
carlos le envió los poemas interesantes a lucía .
mis vecinos que llevan esas camisas amarillas compran periódicos .
cantas .
no podemos visitar bibliotecas porque miguel llama a tu padre tranquilo por la tarde .
él compró arroz frío ayer .
mis tíos comen muchas naranjas .
lucía encontró esas gallinas ayer .
el hombre viejo le dio muchos zapatos a la madre .
elena cortó una patata ayer .
no ves a dos niños .
llegas a nuestro hotel .
escribes los libros largos difíciles .
llevo mi abrigo azul barato .
elena siempre espera muchos coches .
nuestro vecino abre la puerta y mi abuela pequeña vende otro perro viejo .
comerás detrás del campo tranquilo pronto .
camino cerca de un puente porque estas niñas tranquilas dibujan unas playas .
¿ venden mis tíos una botella roja ?
esas botellas están limpias .
la reina joven pequeña nunca quiere agua .
esa estación está vacía .
bebo el agua caliente .
¿ cuántos hospitales hay en esta playa ?
ellos llevarán mi abrigo .
pedro escribió esa historia nueva esta mañana .
volvimos a cinco bibliotecas .
las mujeres que cocinan fruta caliente caminan en otra biblioteca .
hay un pájaro joven en muchas montañas tranquilas .
cuando ella canta dos canciones , nuestras abuelas famosas no ven esas tiendas blancas .
si miguel llega a estas tiendas rojas , cocinas pan fresco todos los días .
no dibujo el árbol .
maría lavó la camisa cara ayer .
carlos necesitará muchos trenes amarillos esta noche .
¿ juegan mis hermanos fuertes cerca de otra oficina ?
cuatro gallinas son muy jóvenes .
diez enfermeras le dieron esta patata a esta niña .
seis cocineros famosos comieron mi manzana .
nuestro violín es muy caro .
esta mujer vieja rica lavará el zapato pronto .
¿ viaja ana a muchos países ?
miguel no tiene nuestro pájaro grande .
estamos trabajando .
mi vecino que necesita unos autobuses feos busca esta vaca marrón .
este perro duerme en esa oficina grande y carlos puede escribir mis poemas tristes .
la madre tranquila busca a ese pintor hermoso y no necesitamos un autobús verde .
escribes nuestro libro y él puede encontrar los conejos jóvenes .
él ayudó a la mujer pequeña .
diez paredes son nuevas .
jugué detrás del museo .
tengo estos burros hermosos .
les doy nuestro abrigo negro nuevo a muchos niños .
miguel abre ventanas hoy .
cuando pedro pinta otro conejo , leemos esos periódicos interesantes .
nuestro amigo corre en mi museo amarillo y esta niña tranquila no necesita las sillas azules .
tienes estas camisas .
ellos cocinan la sopa y no compro mi poema viejo .
juan vio otro conejo grande .
elena llega a mis casas viejas .
muchos médicos no llevaron un vestido anoche .
las niñas quieren siete mesas caras .
nueve cantantes compran sopa fría .
ese espejo está en cinco parques .
miguel limpia las cocinas y el niño inteligente rompe el plato .
pedro pintó mis mercados amarillos .
quieres limpiar mis techos negros .
nueve calles no están sucias .
¿ lava nuestro cocinero rico siete zapatos nuevos hermosos ?
nuestra niña espera mis bicicletas nuevas y no espero a los campesinos ricos .
dibujé un árbol pequeño .
¿ habla nuestro padre hermoso con mi abuelo ?
él compra la bolsa cara .
leímos mi historia ayer .
¿ necesitan ellos mi sombrero barato ?
él cortó pan caliente anoche .
elena visitará a los médicos viejos .
cuando ana no tiene cuatro caballos , ese médico tranquilo puede romper unos platos .
él dibujó dos campos .
¿ cuándo duermen mis amigos inteligentes ?
si juegas en ocho museos , él compra jugo .
ocho perros están detrás de esta escuela nueva .
carlos pintó la puerta ayer .
carlos comprará vino .
limpio unas paredes grandes .
mis amigos jóvenes hermosos ayudaron a tus amigos famosos anoche .
el tío come patatas rojas por la tarde y limpiamos los platos .
¿ busca mi hija alta tranquila la mesa blanca ?
¿ come nuestro hermano hermoso la sopa ?
lucía está buscando los cuadros .
estamos contentos .
los maestros que comen unas peras baratas llevan sombreros grandes .
canté .
toco mi guitarra cara hoy .
el vecino quiere escribir esta historia vieja famosa .
nuestro cocinero que vuelve a mis hoteles pinta las gallinas .
carlos rompió siete ventanas .
pedro ve mercados azules .
ana escribió el poema anoche .
ella necesita mi bicicleta azul otra vez .
lucía dibuja el campo grande hermoso .
ana comprará muchos tomates pequeños .
elena escribirá muchos mensajes .
cuando mi madre no trabaja , él quiere los vestidos viejos baratos .
vendes bicicletas .
tus hermanos viejos pintaron las paredes grandes ayer .
¿ quién tiene abrigos negros grandes ?
maría buscó estas botellas .
los vecinos no juegan .
dibujo estas ovejas blancas .
no estoy solo .
¿ juega él en esas cocinas ?
no podemos escribir los poemas porque mis hermanos inteligentes dibujan la playa .
las hijas pequeñas ricas pueden comer arroz .
ana quiere cantar esta canción famosa .
tus hijas viejas ricas están llamando a mis abuelos fuertes .
llevé mis sombreros marrones .
los platos caros están delante de cinco escuelas hermosas .
ellos esperan la bicicleta amarilla .
veinte burros tranquilos tienen que correr cerca de un puente amarillo .
mi pez tranquilo quiere caminar en otra oficina .
mi hombre amable comprará una bicicleta nueva fea .
ocho relojes son negros .
¿ corre nuestro vecino pequeño delante de diez parques ?
llevaremos ese vestido .
¿ qué necesitan muchas enfermeras ?
puedes tocar esos pianos baratos .
no escribí muchos mensajes nuevos .
esa enfermera que quiere mis zapatos largos vende otra pera .
queremos abrir esa puerta roja pequeña .
¿ quién espera los autobuses amarillos baratos ?
ana bebe té frío .
si esos hombres famosos no necesitan unas cajas , miguel come en la calle .
el autobús nuevo está cerca de las oficinas pequeñas .
diez mujeres buscan este cuadro marrón los domingos .
carlos dibuja el puente ahora .
siete perros negros están cerca de los jardines .
si los campesinos escriben otro periódico famoso , comes en una calle .
otra mesa está sucia .
¿ compras unos limones ?
una niña pequeña tiene otra llave grande .
él va a cerrar una ventana .
no dibujamos el río ayer .
cerrarás la puerta azul pequeña .
puedo romper nuestro plato nuevo pesado .
mi hija hermosa quiere comer otra naranja .
si lucía pinta mi biblioteca grande , otra mujer va al museo grande por la noche .
tu vecino fuerte cocinó queso caliente ayer .
nueve enfermeras viejas altas le dan las botellas azules al niño .
¿ quién rompe seis platos baratos ?
los tíos pueden encontrar nuestro caballo fuerte porque muchas cantantes altas tranquilas caminan .
lucía limpia la cocina y ellos abren puertas .
le dimos esta taza pesada al alumno .
nuestros vecinos pequeños llevaron siete camisas rojas .
siete canciones son muy tristes .
le das el limón a esa reina .
hay doce peras frescas cerca de este bosque hermoso .
no trabajo en los campos hermosos , pero no puedes viajar al pueblo .
no vendí mis conejos fuertes .
mi amigo viejo hermoso corta ese pastel .
tres cantantes ricas tienen que caminar .
las llaves son rojas .
hay cuadros pesados cerca de esa torre .
esperamos los barcos verdes .
él dibujará muchos mercados pronto .
las flores baratas están en mi caja .
un campesino puede leer nuestro poema , pero los niños altos cantan otra canción triste ahora .
ana busca un pájaro feo ahora .
tu hermana joven compra los periódicos tristes .
llevas ese zapato feo .
miguel bebe café caliente hoy .
mi libro es más largo que nuestro periódico .
mis reinas hermosas abren otra ventana porque nuestro hombre amable cocina la fruta .
miguel llevará un zapato nuevo la semana próxima .
nuestro hermano lavó diez autobuses pequeños anoche .
juegas en las casas amarillas hoy .
un cocinero inteligente tiene la falda roja .
una mujer amable compra una camisa hoy y visitas los mercados grandes .
ellos leyeron esos libros famosos .
nuestra hija tranquila rompe los platos y mi padre viejo no abre una puerta .
ella les da tres abrigos marrones a muchos reyes .
cortaremos carne .
cortas doce cebollas porque pedro canta .
esos niños pequeños fuertes tienen nueve coches .
hay veinte barcos en mis tiendas famosas .
estás ayudando a los tíos .
hay una bicicleta pequeña en esas escuelas .
el maestro escribió otra carta el año pasado .
tu abuela que baila en el jardín busca una gallina blanca .
lavamos nuestra camisa barata los domingos y miguel puede bailar cerca de un jardín .
esta gallina fea camina en un hospital .
la madre ve ese lago , pero los campesinos famosos abren unas puertas .
los amigos ricos van a dibujar veinte bosques hermosos .
nuestro vecino que corre detrás de otra torre roja ve una casa grande .
estás cansado .
estamos cerrando las ventanas .
¿ tienes un violín ?
doce mujeres van a romper una ventana .
pedro puede lavar unos zapatos .
doce platos no son redondos .
elena tocó este violín viejo barato ayer .
mis hombres tienen que comprar agua .
ana escribe los periódicos nuevos interesantes .
cuando como las naranjas frescas , mis mujeres leen los libros viejos hoy .
ella tiene el coche y la reina famosa no dibuja estos caballos jóvenes .
compraremos el sombrero .
estas cantantes caminan , pero tenemos mi violín .
podemos encontrar un sombrero feo .
si una niña tranquila juega en la calle , encontramos mis botellas feas .
hay cuatro escuelas hermosas detrás de cuatro campos .
mi campo es muy tranquilo .
¿ pinta mi pintor rico una vaca inteligente ?
llego a esas casas .
¿ hablan las enfermeras inteligentes con el padre ?
elena comprará el tomate .
¿ quién dibuja las tiendas viejas ?
un médico nunca corta otro huevo .
estas enfermeras jóvenes hermosas le dieron el tomate fresco a nuestra hija .
ellos tocan pianos .
cuando mis niñas fuertes lavan la falda , lucía puede limpiar nuestra ventana .
el maestro tranquilo no dibujó nuestra tienda verde vieja .
puedo cortar los pasteles .
la reina limpia cuatro paredes .
tus amigos van a limpiar el techo pequeño .
cuando esos cocineros amables escriben nueve mensajes , mi hermana alta no ve otro río grande .
¿ escribe él una historia ?
mis amigos ricos limpian esos espejos .
la oveja está en doce oficinas tranquilas .
mi padre llevó esta falda cara anoche .
no leo esa historia difícil y mis vecinos tranquilos pueden lavar las bicicletas pequeñas .
como seis manzanas frescas .
una torre es muy famosa .
cortaste veinte limones caros .
las reinas tienen una guitarra y mi tío rico limpia doce techos .
hay manzanas pequeñas frescas en una casa blanca .
el maestro joven corta fruta y ellos lavan nuestro abrigo .
mis niñas están tocando mi piano barato .
los tíos altos inteligentes tienen que comer mis pasteles .
mi campesino a veces duerme detrás de esos árboles .
juan le da las zanahorias frescas a un alumno .
¿ ven mis vecinos unas montañas ?
cuando ella encuentra camisas grandes , no corres .
mi gallina caminará en diez estaciones amarillas .
no llevo unas camisas , pero llevas la falda .
¿ cierra carlos otra ventana ?
podemos llevar estas faldas .
le envié ese mensaje a la enfermera .
no buscamos esa silla redonda .
mi padre famoso siempre toca esta guitarra .
el abuelo leerá la historia nueva mañana .
cuando compramos nuestro abrigo azul ahora , no lavamos nuestro autobús blanco .
cortarás un pastel esta noche .
este reloj azul está en la caja .
mis reinas llevan muchos vestidos viejos .
ocho médicos tranquilos compraron las bicicletas .
muchos parques no están limpios .
no abres la puerta pequeña porque maría toca mis violines negros .
lucía tendrá muchos zapatos blancos mañana .
¿ viaja carlos a mis países pobres ?
los alumnos pequeños amables tienen que vender seis cajas .
ana cortó los huevos caros ayer .
¿ dónde corre nuestra hija ?
esa niña no puede dibujar mis tiendas pequeñas famosas .
¿ espera esta enfermera este coche barato ?
ese maestro corta un huevo dulce .
maría trabajó en nuestro hotel verde esta mañana .
estos hombres son más ricos que nueve niñas .
lucía lavó este barco .
estoy listo .
las hijas juegan , pero queremos muchas tazas baratas .
los países son muy pobres .
otro pintor ve unos ríos .
elena puede vender siete sombreros caros .
¿ llega una cantante a las bibliotecas ?
le enviamos seis mensajes viejos tristes al rey .
¿ comen estos pintores jóvenes altos ?
podemos cantar mis canciones hermosas .
nuestras hijas pequeñas viajaron a las aldeas pobres ayer .
llegaste al museo nuevo .
ayudas a la hermana inteligente .
estoy cerrando nuestra puerta grande .
siete barcos son rojos .
esas cantantes famosas llevan un vestido corto , pero veinte pintores famosos tienen unos barcos .
¿ buscan nuestros amigos una cama ?
muchas peras son baratas .
tengo nuestra guitarra vieja .
ella viajó a mis ciudades anoche .
lavaste mis vestidos feos .
puedes encontrar muchos peces inteligentes .
ella limpia una pared roja y esos reyes escriben la carta famosa .
limpiaremos siete techos blancos .
lucía esperará un tren .
otro parque está vacío .
hay una torre nueva en esos bosques grandes .
¿ quién pinta los puentes amarillos ?
carlos necesita las camisas feas ahora .
estás vendiendo otro tomate .
si tienes nuestro violín barato , el hombre viaja a esas ciudades .
esos trenes están sucios .
mis abuelas bailarán en una estación pronto .
ella leyó ese periódico interesante ayer .
¿ vas a muchos hospitales ?
él tendrá camisas verdes nuevas esta noche .
lavamos nueve bicicletas verdes .
mi hija lee las historias interesantes .
¿ comes mi zanahoria ?
si lavamos ese tren , nuestro maestro viejo amable ve el barco verde .
tus hermanos inteligentes comieron .
los mercados son amarillos .
¿ cocina juan arroz ?
esa niña le da unas botellas pesadas a nuestro hombre .
él escribió una carta interesante .
otro rey come esa cebolla .
no encontraste la oveja marrón .
cuando bebemos el té caliente , una mujer rica puede cortar las patatas .
nuestra enfermera que canta canciones compra mi silla redonda .
maría cortará arroz caliente .
no visitas a mi madre joven porque ella lleva los vestidos rojos .
busco un burro joven .
miguel ve al hermano ahora y ella pinta mi techo nuevo .
lucía vendió bicicletas grandes .
tu abuela le da la camisa amarilla nueva a mi cocinero .
muchos autobuses son nuevos .
si bailas detrás de nuestro jardín , juan compra fruta .
ellos querrán un abrigo largo .
pedro limpia siete platos porque el cocinero ve esta vaca pequeña hoy .
ese pez corrió en cinco campos .
él quiere volver a estos museos amarillos .
¿ esperan diez campesinos a los alumnos ?
¿ cuántas tiendas hay detrás del parque pequeño ?
¿ duermes en un jardín ?
¿ qué come nuestra madre ?
los hermanos visitan el museo blanco .
les dimos cartas famosas a nueve hombres .
tres reinas visitan a elena porque mis hermanas pequeñas limpian mi ventana amarilla hoy .
cuando tres hombres ricos no leen las historias , pedro no necesita esta camisa grande .
siempre volvemos a esa estación .
ellos bebieron vino .
¿ encuentras siete zapatos ?
mis tíos jóvenes llaman a mis tíos y ellos pueden pintar tres paredes nuevas .
miguel cortó sopa .
¿ canta carlos en la biblioteca amarilla ?
juan les dio nuestro espejo feo a nuestras hijas .
ellos rompen muchos platos pequeños y pedro ve mi lago .
mis niñas altas comen ese tomate grande .
juan llama a estos reyes pequeños por la tarde porque pintamos nuestro caballo .
limpiaremos el plato pronto .
no juego en esa calle y ella dibuja los burros .
ellos buscaron gallinas anoche .
si leemos la carta , lavamos muchos coches verdes .
¿ cuándo vuelven nueve médicos ?
quiero comer un huevo .
él llamará a esa mujer alta .
nuestras hijas que llegan a las iglesias quieren esta falda barata .
bailaré pronto .
¿ limpian mis vecinos otra botella redonda ?
ellos visitaron el mercado famoso ayer .
diez reyes leen la historia triste .
miguel buscó mi vaca anoche .
pedro bailó .
cuando no volvemos a una estación , este pintor puede buscar mi botella grande .
si bebo leche fría , las abuelas lavan mis abrigos baratos .
las hijas ricas vivieron en esa aldea .
necesitamos un vestido verde barato hoy .
leerás mi mensaje triste la semana próxima .
siete alumnos ricos trabajan detrás del mercado famoso .
otro hombre compra doce peras .
la carta es famosa .
mi padre llega a un museo , pero cuatro maestros pequeños no limpian la mesa blanca .
tu madre fuerte no come porque este maestro viaja a nuestro pueblo interesante ahora .
tres pintores pequeños van a esta casa verde ahora .
carlos tiene otro caballo fuerte y el abuelo fuerte viaja a la ciudad .
elena caminó .
ana rompió muchos platos redondos ayer .
ellos visitan al campesino hoy .
si ocho enfermeras pequeñas tranquilas no cantan cerca de este lago , puedes escribir una carta .
él vendió esas tazas .
vendimos una manzana .
comí .
hay cuatro caballos fuertes en cinco estaciones .
juan comerá .
los cocineros están enfadados .
lees cuatro historias viejas ahora .
¿ quién necesita mis autobuses ?
¿ come elena mis manzanas ?
mi burro está corriendo detrás de muchas iglesias .
¿ vive miguel en esas ciudades pobres ?
comí pan ayer .
una aldea es hermosa .
cuando nuestro cocinero hermoso canta , no vas a la biblioteca pequeña .
¿ pinta juan la vaca fea ?
esos médicos altos no tocan el violín porque mi mujer famosa quiere vino caliente .
¿ llama miguel al hermano ?
queremos pintar nueve conejos inteligentes .
tu tío está leyendo esa carta nueva corta .
¿ dónde juegan esas reinas ?
veré un caballo .
miguel espera el tren grande .
cinco iglesias son muy famosas .
un rey inteligente les envía esta carta nueva a los amigos .
pedro quiere encontrar esas camisas azules .
cuando comes queso , cerramos esa ventana negra .
si los niños quieren el barco , un hombre lee este mensaje largo interesante .
¿ limpian los niños hermosos la bolsa pesada ?
¿ cocina tu abuela sopa ?
pedro siempre tiene un sombrero azul .
¿ limpia tu hija el espejo ?
estás rompiendo los platos pesados .
bebiste té anoche .
¿ cierra mi amigo pequeño mi puerta azul ?
buscas una vaca tranquila ahora .
a veces llevas esos vestidos azules .
caminaste cerca de ese lago tranquilo anoche .
si el niño encuentra unos zapatos , muchos cocineros no encuentran estos cuadros redondos .
pedro no espera el barco negro y mis campesinos viejos compran un pastel pequeño .
mi cantante que corta zanahorias rojas grandes ve el hospital .
estamos comiendo estos limones .
estoy enfermo .
¿ qué escriben tres hombres amables ?
él volverá a un puente .
los campesinos que tienen unas sillas cierran una puerta .
nuestro puente está abierto .
el campesino tranquilo puede romper los platos porque podemos buscar ocho peces .
juego , pero caminas en el hospital nuevo .
mis médicos llaman a mi abuela y no queremos un cuadro feo .
¿ toca elena mi guitarra vieja barata ?
ella tocó ese violín anoche .
el sombrero está sucio .
si esta enfermera pequeña limpia unos jardines pequeños ahora , mis niñas trabajan detrás de estas oficinas hoy .
ana habla con mi hija amable porque mis hombres cantan una canción .
lucía ve esos campos grandes .
cuando puedo cortar mis huevos pequeños dulces , nuestro padre alto vive en esa aldea .
miguel tocó esa guitarra cara ayer .
las niñas dibujan mi biblioteca fea ahora .
nunca juegas .
¿ lees mensajes ?
ella encontró ese perro .
no camino .
él vive en los países pequeños , pero este caballo pequeño puede caminar en los campos .
hay bicicletas rojas cerca de siete lagos .
veremos los gatos inteligentes .
ana cortará las zanahorias caras .
hay una zanahoria detrás de siete puentes azules .
nuestra hija que toca ocho guitarras baratas espera esos autobuses .
esos perros son más pequeños que seis gallinas .
nuestro abuelo pequeño rico le da un abrigo al médico .
juan bailará en esa playa la semana próxima .
hay cebollas rojas en muchas calles pequeñas .
no dibujo una torre pequeña y podemos buscar unas ovejas viejas tranquilas .
nuestro hermano rico encontró esa botella verde .
doce enfermeras viejas visitan casas amarillas porque nuestros hermanos rompen esas ventanas .
el cocinero famoso les da este espejo a diez hombres .
veinte estaciones no están vacías .
él habló con esas reinas viejas .
miguel compra mi llave .
¿ quién vende vestidos negros ?
¿ encuentra carlos unas camisas ?
ese campesino encuentra ese conejo inteligente .
ellos verán al hermano famoso .
un alumno necesita abrigos rojos .
mi hija puede encontrar mi conejo y tu madre escribe esas historias cortas interesantes .
él dibuja nueve caballos blancos .
él corrió .
busqué a ana .
tus hermanos hermosos no viven en este pueblo rico .
él está abriendo la ventana grande .
ella limpió unas cocinas grandes anoche .
cociné queso esta mañana .
dibujo mi gato .
ellos necesitarán camisas caras .
un médico encontrará los peces grandes inteligentes mañana .
él no encontró los vestidos cortos ayer .
llevas un vestido amarillo , pero visitas este pueblo interesante .
él cantará unas canciones nuevas mañana .
ellos limpiarán las ventanas verdes mañana .
encuentro flores .
ellos ayudan a cuatro pintores .
las cantantes necesitan el autobús rojo viejo .
muchas mujeres viejas buscan el espejo rojo .
miguel trabajó ayer .
juan no cocinó carne ayer .
ella quiere café frío ahora porque muchos pintores fuertes cocinan queso .
no llevas cinco faldas .
esa cantante hermosa irá a nuestro museo feo mañana .
tu tío es muy alto .
esa reina fuerte nunca toca cinco guitarras negras nuevas .
¿ limpia lucía los techos ?
hay tiendas cerca de nuestra iglesia hermosa .
mi hermana les da la flor marrón a las hermanas .
no llevamos estas camisas .
busqué este gato negro esta mañana .
carlos trabaja ahora .
limpias la cocina .
hay hospitales azules cerca de ocho ríos grandes .
estos alumnos que cortan un tomate venden mi flor .
ana ve un campo grande y ellos venden cinco cuadros redondos baratos .
juan cocinará queso fresco mañana .
nuestras hijas que limpian un jardín venden cinco sillas verdes .
un pintor rico tiene que pintar caballos fuertes .
querremos esa bicicleta barata .
no pinto este burro feo .
¿ hablan ellos con tus abuelos ?
veinte cocineros llegaron a los hoteles .
tu vecino dibujó nueve perros .
ellos buscarán otra vaca negra .
si veinte cocineros viejos no necesitan la fruta , mi amigo cocina carne fresca .
la mujer siempre quiere ese zapato nuevo grande .
ese pintor viejo puede dormir cerca de nuestra montaña y él no busca otra oveja .
no esperamos nuestro tren blanco .
él buscará diez cuadros azules mañana .
pedro bebe el agua y una niña puede comer en la iglesia .
mis mujeres compran esta lámpara roja cara .
podemos esperar esas bicicletas , pero él no puede dormir .
mi autobús es más viejo que nueve trenes .
mi país es muy pequeño .
no cantaste otra canción anoche .
tus abuelas jóvenes altas visitan los puentes y puedo correr .
las abuelas le dan unas mesas a otro pintor .
elena leyó mi libro anoche .
cuando nuestros tíos viejos viajan a la ciudad , veo montañas hermosas .
dormí .
trabajo .
estos niños que ayudan al médico quieren queso .
nuestra ventana no está cerrada .
esa cantante va a esperar otro autobús .
pintamos ese techo .
pedro necesita cuatro zapatos otra vez .
el lago no es hermoso .
podemos leer unos periódicos porque él lee un periódico difícil .
nuestro hermano tranquilo le dio otro periódico corto al hombre .
¿ viven las hijas en otra aldea ?
mis maestros que encuentran esta camisa hermosa leen nuestro periódico .
tenemos un perro joven .
una silla es muy vieja .
cuando cuatro mujeres dibujan ese árbol pequeño , los campesinos lavan la falda .
pedro a menudo encuentra nuestra bolsa redonda .
lucía viajó a doce pueblos ricos anoche .
tocaremos otro piano mañana .
una enfermera siempre viaja a esos pueblos tranquilos .
hay torres viejas en cinco casas .
cuando mi padre inteligente duerme , no llevamos unos zapatos negros .
abres esa puerta nueva .
nunca tocamos este piano nuevo .
miguel va a trabajar .
el hombre come esos huevos .
hay un mercado pequeño en muchas bibliotecas feas .
ella encuentra unas tazas .
no necesitamos el autobús grande barato .
ella siempre lava el vestido caro .
ayudamos a elena anoche .
elena vendió mi cebolla dulce anoche .
quiero correr .
otro campesino pinta vacas jóvenes .
un maestro inteligente encontrará el caballo mañana .
¿ quién compra unos pasteles dulces ?
miguel esperó los barcos ayer .
este mercado es muy azul .
él limpiará mis paredes amarillas grandes pronto .
lucía cerró una ventana verde pequeña .
si los maestros no tienen mis pianos , veinte hombres juegan en doce hoteles .
maría trabajará en esa estación pequeña .
elena lavó bicicletas .
muchos campesinos van a buscar unas sillas amarillas redondas .
otro hospital es muy hermoso .
no vendiste las bolsas feas esta mañana .
¿ cortas seis cebollas ?
nuestros amigos que necesitan el reloj verde tienen mi pájaro negro .
beberemos té .
cuando podemos visitar este pueblo hermoso , maría ayuda a estas reinas jóvenes .
pedro les dio estas patatas a tres cantantes .
mi tío que lava unos trenes viejos pequeños quiere ese abrigo feo .
quiero pintar los hoteles famosos .
si escribimos una carta larga , ella viaja a ciudades pobres .
necesitamos sopa .
juan rompió dos platos baratos .
les damos otra botella roja vieja a diez alumnos .
este niño tranquilo le envía nuestro poema a maría .
estás tocando unas guitarras .
seis niños altos pueden tocar esos violines baratos , pero encuentras la lámpara .
tus amigos que visitan muchos pueblos venden un vestido .
¿ dibuja esta cantante nuestro pez ?
otro médico baila en tres oficinas , pero ellos comen ese limón fresco .
carlos cerró cinco puertas .
una mujer verá nuestro autobús azul mañana .
nuestro campesino venderá nuestro autobús pequeño .
encontré unas flores marrones .
las niñas altas ricas dibujarán este hospital mañana .
esperaste a otra mujer ayer .
ella querrá mi coche amarillo caro .
nueve reinas dibujan cinco iglesias .
voy al museo los domingos , pero escribimos esta carta vieja larga los lunes .
tenemos mi bolsa barata .
lavarás el sombrero corto .
juan jugó .
nueve cebollas son caras .
cuando no corto arroz frío , lavo la falda .
nuestra abuela tocó estos pianos nuevos caros .
caminaré .
si bailas cerca de esos árboles tranquilos , nuestra enfermera fuerte puede leer mi libro corto triste .
juan cantará detrás de la biblioteca mañana .
cerraremos nuestra puerta verde .
no trabajé .
¿ canta pedro la canción ?
hay siete espejos en otro bosque .
cuando la cantante no quiere cinco espejos , las enfermeras cocinan fruta .
cuando mis vecinos amables no cantan , puedes llevar mi sombrero blanco .
tu tío comprará los coches amarillos feos .
le doy el limón rojo a una reina .
hay siete manzanas en esta casa azul .
hay unas casas azules hermosas en esta escuela .
estos maestros esperaron nuestro tren el año pasado .
veinte campesinos quieren tocar un piano barato .
hay mercados cerca de ocho montañas .
maría vende un espejo verde y cierras esas ventanas amarillas .
cocinaste fruta .
las cantantes que buscan otro burro grande venden una flor .
elena siempre come ese huevo caro .
este coche está en seis bosques tranquilos .
siempre lavas tres camisas .
puedes buscar sillas marrones .
cinco libros están sobre estas sillas .
¿ cantan tus hermanas ricas las canciones ?
buscas la cama hoy .
los hombres jóvenes quieren cantar en mis hoteles .
elena no compró esa carta anoche .
llevé esos sombreros verdes .
trabajaste en mi jardín .
¿ qué escribe mi madre hermosa ?
ellos no ven esta torre verde hermosa .
le di el vestido verde a mi médico .
quiero faldas caras .
estás encontrando un conejo .
estamos vendiendo el limón .
una cama pequeña está debajo de tres sillas .
una cantante alta vende seis autobuses los lunes porque las mujeres pequeñas rompen unas ventanas azules ahora .
él cocinó pan .
ellos caminarán pronto .
quiero una llave barata .
él necesita trenes .
estamos viviendo en unos países .
¿ trabaja elena cerca del lago hermoso ?
cocinamos arroz ayer .
mi madre abre mis ventanas ahora .
ella buscó otro pájaro negro tranquilo .
estas manzanas son baratas .
estoy visitando a mi alumno .
¿ cuántas madres hay en los jardines ?
buscarás una silla redonda .
estamos solos .
¿ duerme miguel en cuatro casas ?
nuestro padre que necesita pan fresco corta estos pasteles .
mis reyes jóvenes pequeños a veces visitan a pedro .
¿ tienen veinte hombres unas llaves amarillas ?
pintaré un burro inteligente .
¿ tocan nueve reinas un violín nuevo caro ?
quieres escribir nueve periódicos viejos .
¿ habla miguel con miguel ?
mi padre le da ocho patatas al campesino .
lucía venderá esta lámpara .
mis hermanos amables pueden leer la historia .
nuestras hermanas no escribieron los mensajes .
una ventana es negra .
ana necesitará los relojes azules esta noche .
miguel les dio tres vestidos a muchos maestros .
¿ llevan ellos mi zapato azul grande ?
hay museos viejos en el campo pequeño .
¿ ve maría otro pájaro ?
seis periódicos nuevos están en nueve cajas .
las cantantes comen la cebolla roja cara y mi vecino alto corta otra zanahoria pequeña .
pedro buscó el burro pequeño .
mi tomate es muy dulce .
¿ quién lleva las camisas viejas ?
¿ espera el amigo rico los coches ?
él baila delante de dos campos tranquilos .
estás lavando los zapatos .
mi maestro viejo habla con tu tío y ese maestro corre ahora .
¿ encuentran diez cantantes mi caballo pequeño ?
él lava nuestro vestido marrón y un campesino escribe seis periódicos hoy .
la ciudad es más pequeña que mi aldea .
necesitas la fruta hoy .
él a menudo vuelve a nuestro hospital .
¿ encuentra ana esta bolsa ?
corté el limón pequeño barato anoche .
los hombres no hablaron con nuestro hombre rico .
siete mujeres dibujan el árbol .
estás limpiando la taza .
cinco alumnos son amables .
ese maestro dibuja unos lagos grandes tranquilos los lunes .
carlos buscará esa botella .
nuestros hermanos les dieron los abrigos hermosos a mis abuelos .
hay muchos pájaros tranquilos en esos museos pequeños .
ocho pintores amables están durmiendo .
quieres esperar nuestro autobús .
miguel duerme , pero nuestra hija famosa quiere el vestido hoy .
¿ hablas con nuestros tíos famosos ?
tienes sombreros verdes hermosos .
tienes muchos platos marrones .
a menudo compramos la leche .
mi abuela alta necesita otro coche porque dibujas mis pájaros .
abro la ventana hoy .
podemos cerrar las ventanas azules porque otro campesino puede dibujar una iglesia .
lucía bailó anoche .
si mis abuelas bailan , un cocinero inteligente necesita fruta fresca ahora .
tenemos muchos conejos .
nuestras abuelas dibujaron una estación amarilla .
lucía siempre lava mi coche negro feo .
pedro está encontrando estas ovejas .
elena llamó a siete mujeres altas .
la niña inteligente no pinta nuestro puente .
ella no ve nuestra vaca vieja fea .
cinco reinas encontraron tres gallinas marrones .
juan trabaja .
las reinas inteligentes esperan esos barcos .
tu hermana alta famosa camina ahora .
necesito sopa .
ana no vende las cebollas pequeñas porque ellos ven este hotel hermoso .
si nueve cocineros ayudan a nuestro maestro , la madre no va a las torres feas .
¿ dónde come el alumno ?
un pintor rompe el plato rojo caro , pero no vemos un río .
una niña nunca vende esta flor .
compraremos cuatro poemas difíciles esta noche .
¿ tiene elena una lámpara ?
carlos está bailando en el hotel .
lucía cantó .
hay naranjas dulces detrás del jardín .
ellos leerán un mensaje .
¿ visitan nuestras abuelas amables a nuestro tío ?
ana leyó estas cartas .
mi tío hermoso les dio veinte libros nuevos a tus hermanos .
cuando lucía lleva el vestido viejo , mi tío hermoso puede bailar detrás del puente .
puedes pintar nuestra estación grande .
si la cantante amable limpia estas bolsas redondas , podemos ir a otra torre .
miguel querrá arroz .
¿ cuántos pasteles hay en la casa fea ?
muchos maestros ricos a veces venden un reloj .
llegué a doce estaciones .
¿ ve este pintor veinte autobuses ?
nuestros abuelos altos no llevaron seis vestidos baratos .
mi vecino quiere pintar siete mercados rojos pequeños .
ellos tienen seis caballos grandes hermosos .
¿ ves unos campos ?
las escuelas son muy feas .
ella bailará .
si una mujer juega cerca de las bibliotecas , este maestro puede vender esas llaves marrones .
encuentro nuestra flor .
mi hija rica necesita una llave amarilla barata .
el niño joven necesita una bolsa roja .
les diste nuestra flor pequeña a siete cocineros .
¿ dónde trabaja la hija joven tranquila ?
él verá un tren caro .
ellos buscan a mi alumno , pero nuestro tío alto no lee muchos periódicos nuevos .
¿ vende elena otro perro joven hermoso ?
ellos bailarán pronto .
estoy lavando ese sombrero caro .
duermes detrás de esas casas y ana canta muchas canciones .
nuestro médico inteligente compra nueve patatas frescas .
si tu madre tiene mi guitarra , mi vecino puede vender carne .
bebiste vino ayer .
el pez comerá en nuestro bosque esta noche .
lucía tiene que romper el plato negro redondo .
dormimos en estas calles .
estas llaves son muy viejas .
un cocinero quiere comer cuatro cebollas dulces .
lucía ayuda a un médico rico .
no dormiste .
vives en países grandes .
tres guitarras son muy baratas .
este alumno alto fuerte encontró este gato ayer .
bailas en tres parques los lunes .
si podemos llegar a los hospitales , nuestro abuelo joven encuentra el sombrero .
hay diez llaves blancas en un museo .
ellos a menudo cortan un pastel caro .
bailé .
maría visita los países interesantes , pero pintamos esta ventana .
¿ encuentra tu abuelo otro abrigo marrón viejo ?
cuando tu abuelo llega a otra escuela verde , una cantante hermosa rompe esa ventana azul .
mi amigo viejo tiene que llevar el vestido largo feo .
lucía no lavó nuestro tren ayer .
cuando vendes los gatos blancos , maría puede dibujar el mercado .
las mujeres que buscan las flores pequeñas cortan carne caliente .
él juega en esas escuelas grandes y carlos puede trabajar .
estoy dibujando esas escuelas famosas .
mis hermanas comen esa manzana dulce ahora .
ella quiere limpiar mis mesas amarillas .
él siempre quiere siete bolsas grandes .
juan volvió a esos hospitales verdes .
este tren está limpio .
la cantante que rompe estos platos redondos rompe mi plato caro .
mis abrigos están limpios .
podemos correr y lucía no puede esperar al maestro viejo .
pedro lleva mi camisa y puedo comer pan .
cortas la patata hoy .
nuestras hermanas le enviaron el mensaje viejo a miguel .
leímos el poema corto .
ana busca nuestro pez blanco hoy porque ella puede bailar .
ella a veces lleva veinte vestidos caros .
¿ qué cocinan las abuelas ?
no lavas un sombrero verde largo .
elena escribe muchos periódicos nuevos largos porque siete campesinos no buscan la vaca .
miguel vendió la gallina .
esas mujeres venden los pájaros viejos .
mi campesino fuerte espera cinco barcos grandes ahora .
esos conejos grandes corren delante de las escuelas porque el amigo encuentra muchas mesas .
mis tíos limpian muchas tazas pesadas .
¿ encuentran mis niñas famosas los relojes ?
ella vio muchos burros .
nuestro campesino famoso rompe otro plato y maría vive en cinco países pobres .
lucía comerá el pan .
tu hermano cantará .
la puerta es muy grande .
mi hermano está viajando al país famoso .
un alumno inteligente esperó ese coche .
estás enfadado .
diez mujeres no ven a mi niño porque dibujamos unos ríos .
trabajé en un jardín ayer .
carlos buscó la flor ayer .
mis tíos corren cerca del mercado grande porque puedes dormir en muchas cocinas .
doce alumnos ricos no cantan esa canción famosa y nuestro maestro compra un coche .
los pintores pueden esperar a la reina porque hablamos con estas reinas famosas por la mañana .
maría encontró el vestido .
estás comprando mis autobuses .
estás yendo a mi puente pequeño .
los reyes famosos van a cantar canciones .
llevo estos abrigos blancos .
este rey quiere lavar faldas .
puedo hablar con esta cantante .
hay iglesias famosas en otra casa blanca .
siete maestros hermosos están limpiando nuestra calle grande .
ella bebe jugo .
viajaremos a mis pueblos famosos .
¿ lava ella los barcos ?
¿ toca mi campesino hermoso mi piano ?
tocaste los pianos el año pasado .
diez gatos viejos hermosos comerán cerca de un lago .
si miguel encuentra un gato , no abro la puerta .
cinco maestros altos compraron el café frío .
nueve reyes tienen que vender nuestra oveja tranquila .
un maestro pequeño no quiere las sillas rojas .
maría vio otra iglesia roja esta mañana .
nuestro vecino que quiere el té frío necesita estas flores blancas viejas .
lucía visita la iglesia blanca .
juan corta doce patatas caras .
hablamos con las mujeres hermosas y él trabaja .
ana baila detrás de esa playa hoy .
carlos llega al hotel viejo .
venderás ese abrigo marrón .
los reyes fuertes van a lavar un abrigo rojo feo .
ana les da nuestro huevo a esas niñas .
si camino en muchas iglesias , doce niñas no llaman a un hombre .
ella está escribiendo muchos periódicos famosos .
pintaré nuestro perro .
visitaré nueve ciudades interesantes .
la reina visita doce ciudades ahora .
maría visita una escuela hermosa y los médicos hermosos ven cuatro playas tranquilas .
rompí el plato marrón .
estoy cantando cinco canciones cortas famosas .
seis burros son más grandes que estos pájaros .
bailaste .
esas reinas que pintan un techo cantan estas canciones famosas .
juan vende carne fresca y ellos tocan mi violín caro .
tienes mi abrigo porque el hombre necesita los espejos ahora .
dos médicos inteligentes limpiarán la cocina grande la semana próxima .
no abrimos una ventana amarilla .
los ríos son hermosos .
ese bosque no es grande .
mi cuadro es pesado .
cuando maría escribe la historia , mis hermanos pequeños pueden leer los libros viejos .
él abre nueve puertas nuevas .
¿ cuántas casas hay en ese parque ?
ella cerrará nuestra puerta .
limpiamos la oficina .
ana llevó esa camisa anoche .
compras los pasteles .
no duermes .
leo otro libro viejo .
no vendimos este reloj .
miguel trabaja en la casa nueva porque elena no cocina el arroz .
cuando esas niñas famosas trabajan en la calle , el hermano espera ese autobús barato .
pedro cierra siete ventanas nuevas pequeñas .
miguel comerá la carne mañana .
cantas canciones hoy .
ana dibujó un hospital azul pequeño .
le envías mensajes a juan .
necesitas arroz hoy .
cinco mujeres ricas limpiaron una pared .
si el campesino no juega , esa cantante no limpia nuestra lámpara .
cerraste ocho puertas .
ana espera nuestro autobús amarillo .
hay un barco caro en veinte museos famosos .
juan baila en esas estaciones nuevas .
jugaste ayer .
¿ tocan veinte niños mi piano caro ?
el hombre necesita nuestro barco rojo nuevo hoy .
nuestra cantante famosa vio al cocinero joven anoche .
ellos caminan hoy .
él vio unos conejos feos .
quieres hablar con esa enfermera .
tu abuelo puede comer nuestra pera y el vecino puede comprar estos barcos pequeños .
no necesitas mi coche feo .
¿ dibuja carlos un gato feo ?
pintas unos gatos jóvenes .
¿ necesita elena los barcos nuevos ?
juan toca el violín viejo porque elena vende una manzana grande los domingos .
veinte montañas son pequeñas .
¿ venden las niñas mis patatas frescas ?
un hombre inteligente puede cantar en esta iglesia , pero podemos volver a ese hotel .
necesito las llaves azules .
nueve pájaros son jóvenes .
ana bebió vino .
ellos siempre cocinan el pan frío .
necesitas esta llave cara .
no jugamos .
ana tocará un violín .
ese jardín no está lleno .
ana llegará a mis museos pronto .
¿ limpia mi vecino pequeño mis botellas ?
pedro irá al hotel blanco .
los peces jóvenes están comiendo cerca de mi árbol .
¿ lava lucía mis trenes ?
encontraremos mi gato pronto .
ella quiere unas flores ahora .
un niño trabaja porque voy a siete casas .
beberé café .
pedro romperá una ventana pequeña pronto .
dibujas muchas montañas y no leemos estos libros nuevos .
siempre cantamos las canciones nuevas .
los médicos ricos nunca dibujan ese museo .
ella tiene cinco gallinas ahora .
esos niños le envían el poema a carlos .
si no quiero otro coche caro , tu abuela joven puede cantar .
muchas gallinas duermen en estos jardines pequeños porque ellos abren ventanas blancas .
si elena no camina en nuestro parque , esta enfermera canta una canción hermosa ahora .
esas gallinas no están cansadas .
el niño que limpia esa calle toca nuestro piano .
cierro la ventana por la mañana , pero espero una bicicleta hoy .
limpiarás mi oficina .
mis ovejas blancas están en mi parque .
queremos comer esa naranja .
viviré en aldeas pequeñas pobres esta noche .
estamos bailando delante de siete árboles .
los pájaros pequeños corren detrás de otro campo por la mañana y miguel abre una ventana .
los maestros jóvenes ven trenes rojos otra vez porque como el pan ahora .
compramos té .
cuatro maestros tranquilos están cortando carne .
duermes .
¿ dónde juega lucía ?
tenemos muchas botellas , pero ese médico puede viajar al país .
un rey le envía siete mensajes cortos a juan .
comemos .
estás lavando ocho bicicletas .
leímos nuestra carta ayer .
encontrarás las flores pronto .
cinco niños jóvenes abren las ventanas hoy .
tus hermanos nunca cortan una patata .
las niñas abren nuestra puerta y lucía corta muchas peras baratas .
una taza nueva está sobre mis mesas .
¿ esperas estos coches blancos ?
miguel llevó este abrigo blanco .
¿ tienen los campesinos tranquilos esos coches ?
¿ visita él esa biblioteca pequeña hermosa ?
no limpié las ventanas rojas ayer .
muchos niños fuertes llevan el abrigo verde hoy .
escribo un libro triste otra vez y quieres mis sombreros .
ella compró nuestro espejo .
¿ lavan las enfermeras autobuses viejos ?
no corto esas naranjas porque los cocineros tranquilos no visitan un mercado azul .
el rey verá estos árboles tranquilos .
pintaste otra tienda pequeña famosa .
estamos comprando mi manzana roja fresca .
estas bibliotecas no están cerradas .
estoy hablando con veinte cantantes .
hay caballos delante del río .
miguel tendrá la caja redonda fea .
¿ tiene pedro una botella ?
¿ come él la zanahoria grande ?
¿ vuelve un maestro a una tienda verde ?
el alumno hermoso vendió otra caja .
ese caballo tranquilo está en estas playas .
cinco alumnos necesitan queso .
¿ vuelven los tíos ricos a esta casa amarilla ?
pedro nunca encuentra una llave fea .
él visitó un pueblo anoche .
este médico que bebe leche caliente lee cinco historias .
una enfermera tiene que querer un abrigo .
¿ visita nuestro padre amable a mi enfermera ?
ella durmió detrás de nuestro hospital ayer .
ellos pueden visitar mi ciudad y tocamos muchas guitarras .
mi falda está limpia .
no bailo .
nuestro hermano amable vio ocho mercados azules ayer .
esos peces están cansados .
¿ dónde canta el hermano ?
una cebolla es muy barata .
vemos estas bicicletas grandes otra vez .
tres llaves pesadas están sobre doce mesas .
nunca pintas las paredes .
¿ quiere maría fruta ?
le das nuestra zanahoria roja a una enfermera .
escribo historias nuevas .
ella abrió cuatro ventanas ayer .
lavé el autobús azul anoche .
juan no comió otro tomate rojo ayer .
vemos unos hoteles hoy .
querrás la taza mañana .
diez maestros jóvenes ricos encuentran una mesa verde y un alumno encuentra mi caja amarilla cara .
juan cocinó fruta ayer .
cinco reyes juegan cerca de doce torres hermosas los domingos y la madre hermosa no corre .
un rey le dio siete botellas feas a la mujer .
¿ qué beben esos maestros ?
pinto una oveja hermosa .
compras mi barco .
cocinaste sopa .
seis zapatos son feos .
limpio doce paredes por la noche .
cuatro cantantes van a vender doce sillas .
esos campesinos siempre tienen esa caja azul .
no lees los poemas .
nunca tocas el piano .
ese pintor rico dibujó muchos peces fuertes .
lavaré esta bicicleta .
lucía pinta las vacas los lunes y lavas abrigos por la noche .
cuando los alumnos viejos llevan una falda corta barata , la madre famosa tiene este tren .
muchos alumnos ricos buscarán los caballos tranquilos esta noche .
las cantantes ven la torre porque ellos compran nuestro tomate hoy .
estoy bailando en la montaña tranquila .
estos gatos quieren correr en una calle .
hay una manzana roja en siete oficinas .
escribes la carta porque puedo romper mi plato .
encontraste este gato tranquilo .
tu hermano le da doce sillas rojas a miguel .
maría escribirá los mensajes .
carlos duerme en estos jardines , pero nuestra abuela cierra la ventana nueva pequeña ahora .
la mujer que pinta esta torre quiere bicicletas .
lavo esos abrigos marrones .
juan limpiará techos verdes .
estos hombres que tocan otra guitarra negra comen en la playa .
cuando pedro compra la llave amarilla ahora , maría busca estas bolsas .
hay diez limones dulces en el hotel feo .
visito las casas nuevas .
los alumnos amables quieren seis camisas verdes ahora .
mis niños corrieron .
encuentras las camisas marrones y lucía no camina .
esos hoteles están abiertos .
ella vendió nuestra falda la semana pasada .
nuestro maestro inteligente abrió mis puertas amarillas grandes .
juan escribirá nuestro libro esta noche .
tu padre les da cuatro cartas a mis alumnos .
este rey ve el conejo porque ella toca la guitarra vieja barata .
no cerraste mi puerta .
cuando los pintores quieren unas faldas , no compro el café .
cuando una reina tiene esa taza , ella lleva el sombrero viejo .
si viajamos a unas aldeas pobres , elena vende carne fría .
maría encuentra sillas porque una mujer espera a las reinas altas .
pedro vio dos vacas .
quieres comprar fruta fría .
rompimos ventanas anoche .
ese campesino pequeño va a cortar otro limón grande .
elena vive en muchos países hoy .
no limpias ventanas .
mi vecino famoso no cortó fruta ayer .
pintamos un techo .
elena a veces corre .
compraste muchos tomates .
no tocamos una guitarra nueva barata .
estamos cocinando sopa fría .
pedro buscó esta oveja pequeña ayer .
hay ocho tomates grandes baratos detrás de otra playa grande .
bailaste cerca de veinte jardines tranquilos esta mañana .
el niño fuerte venderá estos espejos azules nuevos .
tu abuela que espera un barco cocina queso .
cuando la niña lleva esa falda roja los lunes , ana vuelve a otra torre .
cinco alumnos fuertes están lavando una camisa hermosa .
él corta un tomate grande fresco .
dos museos son verdes .
mis amigos que viajan al país leen unos periódicos .
cuando esperas el coche , nuestra hija hermosa no compra los abrigos .
nuestra abuela que pinta muchos puentes famosos vende cinco ovejas .
ocho alumnos no dibujan nuestro conejo .
¿ qué venden estas mujeres hermosas ?
cuando esos hombres altos famosos limpian un techo , tus vecinos no cantan una canción .
¿ vive ese cocinero pequeño en unos países ?
estás caminando .
si vendemos una bicicleta , el niño amable come queso .
doce cocineros cocinan carne .
corrí cerca de esta biblioteca .
un hombre joven rico no necesita sopa .
no hablaste con ese hombre inteligente anoche .
lucía busca ocho espejos .
espero el autobús ahora .
tu abuela necesita nuestra botella .
siete hombres ricos leerán el periódico difícil .
no visitas a tus vecinos jóvenes porque encontramos esta flor grande .
otra mujer encuentra mis tazas redondas .
siete cocineros pintan siete techos .
nuestra hermana espera la bicicleta roja .
un alumno dibujará esa tienda .
visito otra biblioteca verde .
diez niños jóvenes corren .
ella llevará un zapato grande .
tengo que comprar otro periódico largo famoso .
¿ buscas cinco bolsas verdes ?
le dimos esas lámparas a mi padre .
el hermano que lava un tren blanco tiene la taza fea .
los médicos famosos tienen que ver el museo pequeño feo .
¿ quién quiere mi coche ?
quiero cortar un tomate dulce .
un mensaje es muy difícil .
¿ dibujas ese burro viejo feo ?
maría llevó las camisas cortas .
ves un hotel amarillo .
lucía nunca toca mis pianos negros viejos .
la abuela famosa limpió una llave grande .
lucía no vende cuatro limones .
los burros quieren jugar en diez hospitales .
escribimos la carta .
cuando siete pintores comen la fruta fría , tu abuela tranquila puede cerrar muchas puertas .
estos médicos altos escriben doce cartas difíciles los domingos .
mis hospitales están cerrados .
lucía viajará a estos países pronto .
un conejo hermoso está detrás del bosque grande .
las abuelas fuertes quieren beber jugo frío .
tu vecino comió mis naranjas .
¿ dónde cantan dos cantantes ?
¿ compran mis hermanos tranquilos sopa ?
tres enfermeras son altas .
mi hija que necesita una lámpara pesada quiere las flores azules .
el espejo azul está sobre las camas .
nuestro hombre correrá .
vendiste mis sillas anoche .
miguel no espera a nuestra madre vieja y tu hermano rico puede lavar otro zapato blanco .
el abuelo está limpiando el techo rojo pequeño .
¿ llega mi abuelo al hotel ?
nuestros vecinos fuertes están cerrando puertas amarillas pequeñas .
este campesino quiere encontrar una gallina marrón .
¿ vende nuestro vecino inteligente la silla fea ?
¿ visitas la tienda ?
muchos reyes cortan pan frío ahora .
dibujaremos el burro .
nuestro maestro tiene que beber agua .
ellos ven doce coches porque nuestra abuela no vende las naranjas grandes .
él comprará las peras .
lucía bebe vino hoy .
ayudaremos al maestro amable .
¿ comes este tomate ?
lucía compró el autobús .
cortamos otra pera roja pequeña todos los días .
la reina fuerte vende esa gallina negra hoy .
él no limpia otra puerta y las enfermeras cierran puertas .
esos cocineros vuelven al puente verde .
estoy buscando a cuatro hombres fuertes .
juan ayudó al pintor pequeño anoche .
estamos abriendo estas ventanas .
abriste una ventana blanca .
la abuela no lee unas historias y un pintor tiene barcos .
ella no dibuja nuestra biblioteca roja y no escribes unos mensajes .
estoy viajando a ocho países hermosos .
nuestros hermanos ricos van a comer este huevo .
mis tomates son dulces .
¿ cierran tus hijas tres puertas azules pequeñas ?
no cierro mi ventana .
llegarás al museo mañana .
este alumno alto está dibujando un hotel .
mi abuela tranquila limpiará nuestro reloj feo .
nuestras abuelas no llaman a cinco pintores , pero nuestro hombre escribe muchas historias cortas .
esperé esos barcos viejos .
¿ bailan siete hombres famosos cerca de estos lagos grandes ?
carlos comió queso ayer .
encuentras una mesa .
¿ lleva ella el zapato verde ?
veo el caballo negro .
¿ lavas el tren amarillo pequeño ?
tu hija vieja necesita sombreros .
¿ bebe elena jugo ?
mi madre vieja alta dibuja doce playas pequeñas tranquilas porque un alumno quiere unos autobuses .
los vecinos que viven en aldeas grandes rompen un plato negro .
¿ toca él otro violín ?
hay tiendas en veinte campos .
lucía esperó un coche .
siete reinas quieren vender queso .
¿ duerme nuestra mujer hermosa cerca de veinte cocinas ?
los vecinos hermosos beben agua .
dos aldeas son muy interesantes .
esos maestros encontraron otra lámpara ayer .
esas enfermeras que venden mi conejo joven lavan el sombrero marrón .
queremos esta botella fea .
carlos lleva la falda ahora porque miguel puede pintar muchas puertas .
nuestra reina que visita los pueblos encuentra seis llaves .
la cantante come carne y puedes romper el plato grande .
otro pintor hermoso va a hablar con las enfermeras .
¿ vive la madre en siete aldeas ?
pedro visitó a carlos .
¿ necesitan los reyes inteligentes unas botellas ?
estas reinas fuertes querrán las bicicletas rojas .
escribimos un periódico nuevo ahora .
venderé la manzana grande .
lucía tocará muchos violines pronto .
él limpia ese parque grande tranquilo .
si bailo otra vez , cinco hombres no leen el periódico .
cortamos la pera .
cortas arroz .
hay trenes amarillos cerca de nueve playas .
ellos hablaron con nuestro campesino anoche .
estos niños jóvenes escriben los poemas largos .
el padre llevará nuestra camisa blanca .
¿ lleva ana la falda fea ?
un pintor visitará ese pueblo mañana .
tres mujeres tranquilas llevan nuestra falda .
nuestro amigo está enfadado .
caminamos detrás de ocho torres .
¿ necesita carlos pan ?
¿ quiere mi vecino amable estas faldas negras nuevas ?
ella camina y él no cierra mis ventanas .
quieres dibujar los gatos feos .
fuimos al mercado feo .
si nuestro rey compra el té frío , estos gatos pueden caminar cerca de cinco parques .
ellos leen esa historia ahora .
vamos a romper mis platos rojos .
los maestros tranquilos encuentran este abrigo .
ellos bailan .
cuando veo estas torres grandes feas , canto la canción hoy .
el médico limpia el techo blanco los lunes y no ayudo al maestro tranquilo .
miguel necesitará la bolsa .
lucía dormirá en muchos museos .
¿ buscan ellos muchos espejos caros ?
cuando el niño limpia una silla marrón ahora , no leemos otro periódico .
ella dibujará bosques grandes tranquilos mañana .
cuando elena vuelve a muchas torres , la abuela pinta puertas rojas .
¿ hablan mis cocineros con un pintor ?
¿ lava él las bicicletas rojas ?
juan bebe jugo , pero muchas cantantes no leen mi periódico .
maría ayudó a mi alumno joven ayer .
este espejo rojo está sobre cuatro mesas .
mi hija fuerte no cocina carne y esta reina vieja no rompe platos marrones .
los pintores tienen el autobús caro y no toco la guitarra barata .
una oficina está llena .
cuando no puedes encontrar faldas , el hombre alto compra estas camas viejas .
leo ese libro viejo .
vemos veinte árboles hermosos .
mis hermanos ricos ven el barco rojo barato los domingos .
no puedo encontrar un caballo feo porque lucía come .
mis tíos hermosos dibujaron las tiendas blancas hermosas el año pasado .
los médicos amables compran ocho sillas rojas .
nuestros amigos no jugaron en ocho jardines .
no encuentras un espejo marrón nuevo .
ana necesita carne .
ana lavó ese sombrero .
ella buscará al padre .
nuestros tíos altos quieren beber leche .
muchas bibliotecas son famosas .
seis poemas están en esas cajas .
esas enfermeras viejas cantan la canción ahora porque maría vende veinte zapatos .
mis pájaros durmieron detrás de la escuela ayer .
tu abuelo quiere dibujar nuestra biblioteca .
mi puerta está rota .
el pintor vio mis gatos negros la semana pasada .
volvemos a siete hoteles viejos .
necesitarás queso fresco pronto .
abrí la puerta amarilla .
ana les dio siete limones grandes a nuestros hermanos .
estos médicos pintaron muchos caballos jóvenes anoche .
pedro cocina queso y vives en mi ciudad otra vez .
¿ busca elena peces ?
estoy llevando la falda azul larga .
¿ abren nuestros abuelos viejos puertas rojas ?
él ayuda al pintor famoso .
mi alumno dibuja otro lago .
cuando cinco niñas tranquilas no leen muchos poemas interesantes , no cierras esta ventana .
mi rey pequeño está cantando en siete montañas pequeñas .
¿ cuántos abuelos hay en dos estaciones ?
quiero jugo .
estos campesinos altos inteligentes cantaron en nuestro parque anoche .
mi amigo amable está buscando la botella blanca .
otro hotel no está cerrado .
un cocinero siempre lleva diez zapatos feos .
comiste pan .
juan leyó diez historias interesantes ayer .
cortas queso .
quieres encontrar una taza marrón pesada .
cuatro niñas leyeron mis libros difíciles ayer .
maría toca el violín y puedo escribir historias famosas .
esta zanahoria es cara .
miguel va a limpiar mi silla cara .
ana espera el coche porque mi enfermera vieja rica vive en mi pueblo los lunes .
los amigos no pueden encontrar veinte faldas negras porque carlos dibuja mi gato blanco .
limpiamos ocho flores hoy .
lucía buscará las botellas .
veinte faldas verdes están sobre mi cama .
las ventanas son muy rojas .
los abrigos son muy hermosos .
si llevamos otro abrigo , ella ayuda a una enfermera famosa .
lucía cortará arroz mañana .
queremos limpiar estas paredes .
ocho campesinos jóvenes lavaron estos trenes .
tu abuela está leyendo el libro .
elena compra otro periódico nuevo , pero lees unas historias .
estoy rompiendo el plato .
podemos esperar a lucía porque ellos duermen detrás de mis estaciones .
miguel tiene que ver nueve ríos .
nuestro rey llama al alumno joven porque seis reinas abren las puertas .
diez mujeres altas inteligentes tocarán un violín viejo barato mañana .
los conejos caminan en muchos campos tranquilos hoy .
nuestra enfermera amable encontrará mi silla barata .
mis tíos inteligentes pintan muchos puentes rojos y un hombre visita otra estación .
las abuelas viejas nunca rompen la ventana amarilla .
¿ lavan muchos campesinos altos nuestro sombrero ?
hablas con pedro ahora .
ves al pintor viejo .
¿ tiene ella esa guitarra ?
cuando los campesinos amables no quieren una falda , ocho médicos pueden cantar esa canción triste .
ayudarás a mi rey pronto .
estos pintores famosos venderán muchos platos blancos .
¿ bebes café ?
¿ viaja otro alumno famoso a seis pueblos ?
nuestra historia interesante está en cinco cajas .
queremos cortar la manzana fresca .
necesitamos nuestro espejo barato ahora .
elena cierra puertas nuevas hoy .
un rey les da el mensaje a seis enfermeras .
miguel buscará ovejas .
tu amigo fuerte comió la zanahoria .
buscamos nuestra vaca .
pintaste el techo azul .
dos conejos son grandes .
ellos encuentran tres caballos inteligentes .
cocinarás fruta .
cuando quieres la carne , maría no dibuja una escuela famosa .
ana encontró un perro .
muchos huevos son dulces .
¿ cantas nuestra canción ?
mi pintor que busca esa bolsa azul fea canta .
dos caballos están cansados .
miguel les da estas camas blancas a siete cantantes .
¿ cuántos reyes hay en esta cocina ?
elena abrió mis ventanas nuevas anoche .
podemos ayudar a nuestros hermanos amables .
¿ quieren muchos niños la llave negra ?
juan limpiará las bolsas mañana .
nuestros abuelos que cortan limones baratos tienen la lámpara grande .
esa enfermera amable tiene que cortar nuestro tomate fresco .
¿ juegan los hermanos ?
la mujer que habla con mis abuelas ricas lleva otro sombrero hermoso .
nuestro abuelo alto vio estos conejos .
estoy encontrando una lámpara nueva .
nunca esperamos a nuestra cantante .
comimos sopa .
esos cuadros son muy pesados .
¿ baila juan delante de diez puentes ?
no estás listo .
tus hermanas altas siempre caminan cerca de las tiendas amarillas .
si vendemos un pastel , como detrás de cinco campos grandes .
carlos encontrará la silla vieja .
juan pinta los techos porque las enfermeras pueden trabajar .
estos hombres buscan esa botella hoy .
miguel llamará a maría pronto .
abriste una puerta negra anoche .
tus vecinos que cocinan arroz caliente venden faldas verdes baratas .
miguel camina .
él quiere dormir detrás de seis tiendas .
estás visitando el hotel .
si puedes visitar a juan , cocinamos pan .
pedro limpió un techo negro .
puedes buscar esos gatos , pero un maestro rico quiere carne .
miguel espera este autobús feo porque carlos bebe té .
ella escribió los periódicos cortos famosos .
las mujeres tranquilas limpiaron nuestra pared azul .
¿ encuentra ella mis faldas ?
un piano es nuevo .
vendo los vestidos negros .
tengo la llave .
necesitaré arroz .
si espero la bicicleta , no ayudo a elena .
¿ quiere este médico tranquilo ese espejo nuevo ?
cuando un rey inteligente cocina arroz , dibujamos los mercados feos los lunes .
comes esas cebollas ahora .
los abuelos famosos no jugaron delante de ese bosque ayer .
otra oveja está enferma .
la mujer no busca el pájaro , pero puedo viajar a estos pueblos .
¿ toca tu abuelo dos violines negros ?
elena llevará ese zapato .
cuando puedes vender la carne fría , mi maestro corre cerca del hotel hoy .
un libro es muy viejo .
dormiré en la calle mañana .
esa carta es muy larga .
compramos muchas bicicletas porque él no puede limpiar nuestro jardín .
¿ dónde están estos mensajes interesantes ?
compro el mensaje todos los días y no dibujas mis campos grandes .
mi hija lava diez bicicletas .
cantaste ayer .
hay bibliotecas rojas grandes delante del campo hermoso .
abrí doce puertas .
nuestra mesa roja barata está debajo de una silla .
mi madre tiene que escribir diez mensajes .
nuestros tíos pintarán las torres amarillas .
no encontré esa caja pequeña .
diez alumnos altos comen .
elena hablará con elena esta noche .
un campesino siempre juega .
tenemos que limpiar los techos rojos .
no llegamos a nuestro mercado porque estas reinas amables limpian otra cocina .
a veces lees doce mensajes .
mi amigo hermoso encuentra dos ovejas .
¿ dónde caminan ellos ?
escribo este poema .
tus hijas tranquilas le dan tres vestidos negros a miguel .
mis vecinos que beben jugo frío visitan mercados famosos .
necesitamos una cama blanca ahora .
cocinas sopa .
cocino arroz frío .
una reina lee mi historia nueva difícil ahora .
mis amigos viejos pequeños encuentran dos gatos pequeños .
¿ llama nuestro amigo a nuestros vecinos jóvenes ?
¿ quién escribe ese periódico difícil ?
si viajo a nueve países , él vuelve a las bibliotecas .
ellos dibujan otro río .
elena quiere cantar doce canciones .
visitarás a elena pronto .
maría pinta otra casa nueva .
cuando nuestra niña fuerte canta unas canciones , tienes la guitarra cara .
mi rey fuerte encontró estas gallinas fuertes esta mañana .
¿ cuántas mesas hay en doce jardines tranquilos ?
cuando mi alumno viejo puede escribir la historia , una niña corta otra manzana ahora .
puedo esperar una bicicleta .
carlos irá a mis torres viejas mañana .
ellos dibujaron un campo .
él corta esa patata grande cara .
tres calles están vacías .
él a veces vende cinco trenes .
limpiamos estos techos .
¿ ayuda lucía a juan ?
lavé otro vestido negro viejo .
nuestro perro está enfermo .
él caminó ayer .
el perro tiene que jugar en esta montaña .
¿ duermen esos campesinos tranquilos en diez escuelas ?
pintaremos una escuela .
mis campesinos famosos venden autobuses .
él caminará en el parque mañana .
cinco vestidos blancos están debajo de diez sillas .
los cocineros venderán diez pasteles .
la canción es muy corta .
lavas esa camisa .
estamos enfermos .
elena dibujará otro puente blanco .
mi tío comerá pan mañana .
esas cajas son muy rojas .
trabajas en mis bosques .
no podemos vender ocho perros inteligentes , pero nuestro cocinero lee una carta ahora .
él tendrá seis violines .
dos campesinos pueden comprar una caja blanca .
tu madre que necesita arroz rompe ventanas .
¿ buscan mis cantantes los pájaros fuertes ?
le damos una flor a nuestro hermano .
hay seis llaves en ese jardín .
nuestro padre venderá una botella mañana .
¿ caminan mis enfermeras ?
mis vecinos nunca visitan otra aldea .
si miguel no canta la canción corta hermosa , miguel limpia la botella pesada otra vez .
ellos corrieron .
mi padre joven no vendió ocho faldas baratas .
vendemos las manzanas grandes frescas .
querremos un cuadro nuevo .
esta reina joven está rompiendo un plato pesado .
tu vecino está buscando esa cama blanca pesada .
lucía caminó .
cuatro enfermeras fuertes no abrieron una ventana el año pasado .
ella cierra puertas , pero mi tío busca un conejo .
él leyó un periódico interesante .
él pintó esta estación .
las ovejas grandes no jugaron detrás de tres lagos el año pasado .
mi padre vendió las patatas grandes .
mi madre buscó una vaca grande .
llevarás nuestra falda esta noche .
estos médicos dibujaron mis caballos negros .
cuando llegamos a una biblioteca , ocho enfermeras no comen .
cuando esas reinas famosas hablan con carlos hoy , puedes visitar otra aldea .
mi abuela joven corre y no leo estos periódicos .
ella limpiará cinco techos amarillos pequeños mañana .
ella pintará nuestro techo grande .
verás la casa azul mañana .
necesitaremos bolsas .
maría va a pintar doce hoteles .
él bailará pronto .
lavamos vestidos cortos .
no puedo abrir la puerta grande , pero tus hermanos tranquilos compran un huevo fresco .
¿ abre maría estas puertas ?
lavaste este coche .
no tenemos ese zapato , pero un pintor alto puede dibujar una biblioteca roja famosa .
maría está esperando al padre amable .
¿ come tu tío fuerte las zanahorias pequeñas ?
tu vecino que tiene un coche azul come .
cuando comes nueve huevos , nuestro campesino rico espera ese coche .
juan llegará a estas escuelas pronto .
necesitas este cuadro pequeño caro .
¿ qué leen seis pintores altos ?
pedro viaja a mis aldeas .
ese rey hermoso irá a la tienda hermosa pronto .
doce hombres pequeños están bebiendo café frío .
los hermanos ayudaron al médico anoche .
maría ayudará a tu abuelo pronto .
estás escribiendo tres cartas .
no puedo pintar mi oveja blanca fea y elena cocina queso por la noche .
mis ciudades son ricas .
¿ qué bebe esa niña ?
esperarás el tren barato .
los autobuses azules están en ocho montañas grandes .
queremos cuadros hoy .
otro rey a menudo limpia otro cuadro azul .
nuestra cama no es redonda .
¿ pintas otro burro ?
limpio mis llaves .
ana cocinará el arroz pronto .
cantaremos .
mis vecinos viejos fuertes están caminando .
tocarás mi guitarra negra pronto .
la hermana que necesita la silla nueva escribe mis libros .
la cantante está buscando al pintor amable .
si miguel vende muchas faldas blancas , no cantas esta canción .
nueve flores son marrones .
mis abuelos altos fuertes comen pan .
miguel cerró estas ventanas .
juan lee la historia larga .
miguel cortará la zanahoria fresca .
veinte tazas son pesadas .
veremos los peces marrones pronto .
diez gallinas son más fuertes que ese burro .
el rey escribió siete historias ayer .
ella vende dos sillas pesadas .
¿ limpias una caja cara ?
mi madre amable espera las bicicletas negras .
ana come otro huevo .
corté esos pasteles esta mañana .
hay tazas negras cerca de mis árboles pequeños .
él cierra cuatro puertas nuevas .
mis cocineros hermosos tienen ese autobús ahora porque elena no vuelve a ocho tiendas .
¿ vuelven las niñas a nueve torres ?
¿ dibuja la mujer hermosa el pez marrón ?
¿ rompes el plato ?
estoy abriendo mis puertas nuevas .
si ellos necesitan un coche feo , pinto mi gallina los lunes .
¿ cocina él arroz caliente ?
el amigo que espera la bicicleta negra tiene nuestra flor redonda .
maría les dio las historias a tres maestros .
una enfermera pequeña cortará nuestra patata roja barata .
elena trabaja .
nuestra hermana vende muchos gatos .
bebimos el agua fría anoche .
queremos dormir en nuestra tienda .
miguel dibujó diez caballos .
estos violines son baratos .
el maestro fuerte dibujó el conejo fuerte .
miguel quiere arroz .
estoy leyendo un libro largo triste .
¿ lee miguel ocho libros ?
ellos están leyendo mi mensaje corto .
estamos dibujando un bosque .
esta falda está sobre cinco camas .
hay un coche grande barato en cuatro hospitales grandes .
el cocinero busca nueve pájaros inteligentes .
ana limpia esa mesa otra vez .
la hija amable no quiere faldas feas .
llamarás a lucía pronto .
lucía bebió el café .
ellos quieren esas sillas .
tus hermanas tranquilas bebieron el jugo anoche .
él compró muchos barcos .
las reinas volvieron al mercado ayer .
estás trabajando cerca de ese puente .
lucía buscó flores .
miguel llevó estos abrigos verdes .
cuatro cantantes inteligentes nunca caminan .
tocaré unos pianos .
carlos limpió el jardín grande anoche .
carlos bebe café y puedo caminar en una oficina pequeña .
pedro compró café frío .
¿ quién habla con muchas enfermeras amables ?
dos enfermeras hermosas comen fruta fresca .
busco la caja nueva .
ana visitó al vecino inteligente ayer .
leímos ese mensaje famoso esta mañana .
pedro toca la guitarra los lunes porque visitamos diez hoteles .
ese gato es más fuerte que dos caballos .
¿ qué vende carlos ?
un museo es más grande que nuestra torre .
elena lleva faldas .
si juan va a un mercado azul , mi pez puede dormir delante de ese jardín .
mi abuelo a menudo visita una torre fea .
mis hijas inteligentes esperan barcos negros nuevos .
una cocina es muy pequeña .
si esas cantantes pueden llegar a este hospital , un gato corre en mi cocina grande .
lees siete poemas .
lucía verá a pedro pronto .
¿ llega un campesino pequeño a mi hotel ?
esos reyes están pintando muchos techos .
cuando lucía puede hablar con lucía , muchas enfermeras famosas visitan una tienda ahora .
otro pintor pequeño les dio una cebolla fresca a tres reyes .
mi naranja es muy cara .
¿ quién canta seis canciones ?
ayudé al vecino pequeño .
las mujeres tranquilas esperan este tren otra vez , pero tus hermanas pueden llevar los sombreros .
siete coches están limpios .
este gato pequeño correrá en una iglesia pequeña pronto .
carlos siempre compra un sombrero .
ellos les dieron mi cama a tus hermanas .
miguel está cerrando la ventana .
buscamos una oveja , pero viajamos a una aldea .
ana verá el gato .
carlos ve las estaciones viejas .
los pintores le enviaron mensajes al cocinero .
un campesino rico está cortando otra cebolla .
carlos llegará a un mercado pronto .
si un pintor no limpia esta puerta , veinte reinas pueden beber café frío .
mis hijas no quieren sopa .
ella espera la bicicleta barata ahora .
no duermo en esa cocina .
si no encuentro el caballo , juegas detrás de nuestra montaña tranquila .
¿ trabajan los niños en la escuela ?
jugué .
mi reina que espera coches nuevos compra historias .
hay unos espejos detrás de muchos bosques .
mi hermana joven vio el barco blanco .
el reloj amarillo pesado está sobre veinte sillas .
veinte vacas dormirán en seis jardines .
maría dibujó unos burros .
si llegamos a esas casas nuevas , nueve reyes altos no ven el bosque hermoso .
no tocas los violines nuevos y la mujer hermosa duerme en el hospital ahora .
nueve campesinos esperaron a juan ayer .
si otra niña corre , las abuelas lavan ese autobús .
encuentro las ovejas , pero los cocineros pequeños pueden comer ese limón .
los campesinos altos limpian el cuadro ahora .
mi niña escribe esa carta hoy porque no escribes ocho historias largas .
el padre trabaja detrás de mi biblioteca ahora porque juan no busca una cama nueva .
el padre famoso le dio mi cuadro blanco a esa cantante .
¿ dibuja elena ocho escuelas ?
mis hermanas que cortan la carne pintan esa pared .
nunca bebes vino .
la madre joven tocó esa guitarra negra vieja anoche .
¿ cuántos huevos hay delante de ocho hospitales rojos ?
ellos rompieron la ventana ayer .
mis hermanos pueden cerrar estas puertas .
otra gallina pequeña está detrás del jardín tranquilo .
cuando no ayudamos a elena , elena escribe historias difíciles .
mi cocinero nunca visita cuatro casas feas .
tres niñas pintan otra ventana .
mis tíos amables le dan los poemas a tu tío .
una oveja va a comer en tres estaciones .
estamos limpiando esos techos .
viajamos al país esta mañana .
si cortamos carne , las cantantes viejas cierran diez puertas .
¿ dibujan tus abuelos altos el burro ?
¿ necesita miguel nuestro sombrero rojo ?
estás solo .
elena bailó delante de cuatro parques .
pintamos el caballo .
si ese conejo no duerme en mis calles , mi padre duerme .
pedro comió nueve patatas anoche .
el tío no lleva los sombreros feos , pero puedes ayudar a mi hermana .
los hombres que corren en cuatro escuelas llevan la camisa fea .
los abuelos tranquilos no esperan a carlos porque otra mujer corre en un campo .
él corre .
ellos cortarán peras .
él encuentra burros blancos hermosos .
nuestro alumno que corta pan frío busca seis lámparas caras .
quieres lavar un autobús feo .
siempre pinto hospitales .
dormimos en ese campo , pero doce cantantes amables pintan el techo verde .
cuando estas mujeres jóvenes altas van a las tiendas , mi vecino vende la carne los lunes .
si estos caballos no corren en la casa , necesitamos siete coches .
ellos rompieron nuestro plato marrón anoche .
diez pintores son más ricos que nuestra niña .
tendremos cinco cuadros mañana .
siempre dormimos en esa iglesia .
mis abuelos a veces tocan cinco violines .
no limpias unas camas .
ana cerrará las ventanas blancas .
pedro tocará mi piano mañana .
¿ ve carlos doce árboles ?
muchos sombreros están en veinte bosques .
mis amigos jóvenes pintarán esa iglesia roja mañana .
cuando este hombre hermoso cocina pan caliente , lucía tiene un coche .
¿ va lucía a la escuela famosa ?
viví en esa ciudad grande interesante .
un médico viaja a esa aldea interesante .
ana jugó delante del bosque pequeño .
rompimos esa ventana blanca anoche .
si rompo estos platos , no dibujas esas tiendas .
el rey fuerte buscará la gallina pronto .
si nuestros amigos tocan ese piano , los campesinos bailan en ese parque grande .
¿ visita elena nueve hospitales pequeños ?
no compras mis abrigos negros caros .
¿ leen ellos ocho cartas largas ?
quiero buscar unos peces .
cuando cinco reinas duermen , voy a esa casa .
¿ tocas guitarras ?
ana lee seis mensajes difíciles los domingos .
puedes ir a los museos .
doce reinas no viajan a ciudades .
¿ espera carlos a nueve cantantes fuertes ?
hay casas en mi casa hermosa .
si otro pintor vuelve a esa tienda hoy , doce pintores viejos compran tazas .
cuando podemos limpiar el techo , un niño come el arroz fresco .
les envío un periódico a las reinas .
pedro vendió una zanahoria barata anoche .
mis abuelas tranquilas cortan nuestra cebolla pequeña otra vez .
maría viaja a muchas aldeas .
miguel compró una zanahoria .
¿ compras mis pasteles ?
seis enfermeras ayudan a muchos médicos .
nuestras abuelas inteligentes visitan la aldea tranquila y encontramos un pez viejo .
estos pintores ricos están rompiendo muchos platos pequeños .
cinco cantantes viejas viajaron a un país .
puedes vivir en este país y no como .
beberé agua .
juan vuelve al mercado viejo porque tu amigo corta carne .
¿ cantas delante de una estación hermosa ?
llamaremos a ese niño hermoso .
juan dibuja estaciones .
estos autobuses están sucios .
estás esperando barcos negros .
no leí tres periódicos cortos .
visito a los maestros porque puedo trabajar .
él verá mi bicicleta grande barata .
lucía vende fruta caliente .
ana pinta la torre blanca .
corrimos .
ellos cerraron estas puertas negras .
encontré mi conejo hermoso .
¿ cocinan muchos maestros amables fruta fresca ?
vamos a esperar ocho trenes .
ella visitará doce ciudades .
hay barcos detrás de este jardín .
¿ canta tu amigo alto fuerte delante del río ?
las montañas son muy hermosas .
¿ buscan ellos seis vacas ?
mi médico les dio un zapato rojo a esos pintores .
esas reinas están corriendo .
no comes en ese hotel y nueve hombres pequeños venden la falda por la tarde .
si este médico puede volver a esa tienda , estos cocineros famosos pueden encontrar mis llaves redondas .
miguel corrió delante de nuestra cocina ayer .
lucía lava otro zapato barato .
juan cortará pan .
no dibujamos un árbol y cuatro cocineros famosos cortan los limones .
necesitaré sopa fría pronto .
ana llevará mis zapatos feos .
hay un tomate en nuestra iglesia famosa .
mi vecino viejo fuerte compra carne .
la patata no es pequeña .
¿ bebe ella el vino ?
hay puentes verdes feos cerca de nuestro río pequeño .
maría llevará los abrigos .
muchos niños quieren volver a esas torres verdes .
esos alumnos amables leen los poemas ahora .
trabajé anoche .
no corro detrás del museo y tu vecino rico encuentra los caballos .
limpiaré mi pared .
estos campesinos ricos cortarán este limón rojo .
¿ rompe otro alumno viejo el plato blanco pesado ?
cantamos .
estos campesinos famosos escribirán otra historia pronto .
si ves una tienda , mis abuelas pueden bailar en una calle .
mi cantante famosa les dio esta mesa redonda a los médicos .
¿ cuántas cajas hay en esas calles ?
estás corriendo .
buscaste a nuestro tío anoche .
estamos cantando nuestra canción .
otro maestro siempre lee el mensaje .
volveremos a mi tienda .
lucía tocó el piano viejo anoche .
miguel corta unas naranjas porque ella lava este barco .
una gallina vieja fuerte no durmió en las playas anoche .
los alumnos están vendiendo nuestro tomate barato .
un pez blanco está caminando delante de mis parques tranquilos .
hay huevos cerca de esos puentes feos .
¿ tiene lucía el pez viejo fuerte ?
doce niños tienen estos peces feos y mi mujer tranquila no encuentra unos platos .
ellos no buscaron doce burros .
no comiste cinco zanahorias .
la niña pinta otro puente grande .
mi hermana amable bailó .
puedes jugar en la casa grande y escribo el periódico nuevo .
si estas cantantes escriben una carta nueva , canto delante de cuatro jardines pequeños .
no visito a siete reyes porque elena escribe historias .
podemos encontrar nuestro pájaro porque mis cantantes trabajan .
trabajarás .
¿ va otro alumno al museo hermoso ?
llevaremos el sombrero mañana .
dormiste .
otro perro comerá delante de una cocina mañana .
ellos están cocinando arroz .
juan dibuja una montaña tranquila , pero dos reinas beben agua .
¿ juega carlos cerca de la torre ?
ellos comerán arroz .
no comes mis cebollas y el hombre viejo encuentra el caballo .
muchas niñas le dieron una naranja a pedro .
mi madre pequeña visita casas nuevas hermosas .
¿ encuentra maría vestidos ?
tus amigos viejos le dan unos huevos baratos a nuestro cocinero .
¿ ves la montaña ?
no estamos solos .
no compraste este cuadro .
cortaré queso .
ese hombre a menudo rompe la ventana verde .
¿ compra él la bolsa ?
juan a menudo escribe nuestro mensaje .
no cantamos las canciones porque esta cantante no vende estos coches .
carlos corta nuestra patata los domingos .
los maestros van a visitar el puente .
corto pasteles .
¿ quién visita mis iglesias blancas ?
¿ comen tus abuelos una naranja ?
él lleva unas camisas negras .
miguel comió .
ana le envía esa historia al médico .
visitaré este mercado esta noche .
¿ come pedro carne ?
escribirás otra historia .
muchos gatos son muy marrones .
tocas la guitarra y muchos médicos dibujan otro museo rojo .
carlos está comprando unos relojes .
quieres buscar al cocinero hermoso .
cuando puedes comprar este vestido , el campesino va a una estación blanca .
no comí delante del parque tranquilo ayer .
ellos lavarán otro tren mañana .
maría nunca quiere esta botella redonda cara .
¿ lava otra cantante los zapatos grandes ?
este cocinero cortó arroz .
estos maestros jóvenes famosos buscaron un perro inteligente .
muchas estaciones son más viejas que una biblioteca .
¿ quieres abrigos ?
lucía visita cinco aldeas y trabajamos delante de mis casas .
mi campesino joven amable leyó esos mensajes .
¿ quién tiene esas guitarras negras caras ?
estoy contento .
¿ quién ve unas escuelas ?
caminamos en las cocinas ayer .
ellos necesitan ese vestido rojo .
¿ cuándo comen siete cocineros hermosos ?
mi padre que va a nueve museos vende el barco .
juan pintará nuestra vaca .
¿ buscan veinte médicos fuertes bolsas ?
un caballo blanco quiere jugar cerca del mercado nuevo .
pedro dormirá .
una reina quiere tocar mis guitarras nuevas .
ves ese autobús verde grande .
muchos caballos negros grandes jugaron cerca de ese puente ayer .
el pintor alto va a volver a ocho casas amarillas .
mis médicos nunca pintan muchos mercados blancos .
lucía comprará nuestro coche mañana .
pedro vende unos trenes .
estas cantantes famosas leen unos mensajes cortos tristes .
ana necesita unos barcos ahora .
¿ visita miguel siete ciudades ?
mi hermana está viajando a una ciudad interesante .
siete pájaros corren delante de una oficina y él habla con ana .
nuestros abuelos jóvenes altos encuentran muchos peces pequeños .
maría cantará las canciones .
carlos corre .
vivimos en un país grande .
llevas mi falda larga .
él encuentra seis conejos , pero ese cocinero rico puede pintar cuatro ovejas .
¿ encuentran ellos mis sombreros ?
siempre encontramos ese cuadro .
limpiarás el techo rojo .
quieres comprar unas bicicletas .
pedro leerá una carta esta noche .
elena vendió arroz .
nuestro hermano pequeño rico les da dos llaves pequeñas a muchas enfermeras .
corres hoy .
quiero cerrar esta ventana .
hay lámparas blancas en otra tienda .
siempre vives en mis pueblos .
un periódico no es triste .
pedro lava una camisa .
lucía pintará un museo amarillo .
la aldea es más pequeña que cinco países .
si ella rompe seis ventanas , no visitas esos museos pequeños .
estos pintores que cocinan carne venden ocho huevos baratos .
muchas niñas famosas visitaron mi hospital blanco viejo esta mañana .
lucía escribe las cartas tristes .
veinte maestros ricos están cantando delante de ese hospital .
mis hijas que tienen muchos pianos encuentran otro burro .
ella encuentra siete conejos .
¿ busca el médico sillas amarillas caras ?
mi hija alta ayudó a pedro anoche .
¿ llegan los hombres inteligentes al hospital ?
nuestro abuelo tranquilo cierra seis puertas y no hablo con ana .
les diste un tomate a los vecinos .
él está encontrando un caballo viejo hermoso .
seis pájaros grandes caminarán detrás del puente pronto .
mi hermana inteligente encuentra otra camisa marrón .
este niño pequeño famoso vendió carne .
ellos dormirán .
hay seis gallinas inteligentes en esas oficinas .
las niñas esperarán una bicicleta amarilla pronto .
miguel busca las gallinas porque lavas mi barco .
si otro niño fuerte limpia las sillas , lavo mi abrigo amarillo grande otra vez .
tienes que necesitar ocho autobuses amarillos .
tus hermanos que van a muchas tiendas viajan a mis ciudades .
mis amigos amables están visitando nuestra aldea .
siete burros caminan delante del hospital .
lucía camina en la tienda blanca .
mi niño hermoso quiere romper doce ventanas .
dormí en las calles .
cuatro camisas negras están sobre una mesa .
encontraste nuestro zapato .
los cocineros altos no lavaron el coche amarillo .
carlos puede pintar nuestro pez porque dos cocineros jóvenes pueden jugar .
¿ buscan muchas cantantes jóvenes al padre ?
¿ lava un campesino tranquilo esos zapatos marrones ?
tocamos muchos violines viejos caros .
un médico está bebiendo leche .
una cantante vieja le da siete camas a tu madre .
¿ ven los amigos inteligentes el hotel ?
¿ comen muchos médicos viejos la naranja barata ?
ellos tocarán nueve guitarras viejas pronto .
mi niña joven busca otro plato , pero leo la historia .
trabajamos en otra calle y puedes cortar queso .
ellos pintarán ocho ventanas .
no como cerca de nuestro puente y elena quiere vino .
¿ lee esta niña vieja el periódico ?
no corto esos huevos porque elena limpia una lámpara fea .
las casas son más pequeñas que esa escuela .
le dimos estas zanahorias pequeñas caras a mi abuelo .
una reina tranquila nunca limpia un parque pequeño .
la bicicleta es más vieja que doce barcos .
los pintores compran cebollas caras .
seis libros no son difíciles .
un médico le dio tomates a ana .
un maestro está tocando diez violines .
¿ hablan los pintores viejos con nuestras hijas ?
tres alumnos inteligentes están cocinando queso .
ellos necesitan esa camisa y cantas mis canciones otra vez .
¿ cuántos tíos hay en las estaciones pequeñas ?
esos alumnos hermosos pueden escribir libros y llego a la escuela .
mis hijas pequeñas están esperando doce bicicletas .
¿ lees un poema ?
siete reyes tranquilos encontraron los conejos feos .
el niño abrirá cuatro puertas .
cinco peces blancos quieren jugar delante de la escuela roja .
pintas ese pez y mi abuela va a la torre .
no canto las canciones porque ese alumno famoso cierra la puerta ahora .
juan comió otra patata .
lucía corre .
si tus hermanas fuertes visitan las ciudades los domingos , vives en una aldea pequeña .
ellos necesitan fruta fría hoy .
miguel venderá el conejo pequeño .
tocamos ese violín viejo caro hoy .
no buscamos un pájaro anoche .
la niña hermosa llevó estas faldas blancas caras .
no cocinas arroz .
las hijas hablan con pedro , pero cinco maestros inteligentes beben el vino frío los domingos .
miguel cantó .
esa niña tiene la caja hoy .
esos parques están llenos .
si esperas un coche feo , carlos corre en esos hospitales famosos ahora .
maría corre cerca del árbol ahora .
¿ llevan doce enfermeras hermosas la falda ?
un rey viejo no llegó a mis hospitales .
no pintamos mi gallina fuerte .
él tocó las guitarras ayer .
espero este tren nuevo .
si mis niños pueden cantar mi canción , carlos no rompe la ventana negra pequeña .
mi amigo llevó mi sombrero amarillo ayer .
¿ baila tu hermana delante de mi estación ?
un abrigo está limpio .
otro hombre rico vende esos platos .
hay muchas lámparas en veinte tiendas pequeñas .
pedro limpiará unos techos azules .
quiero dibujar los ríos grandes .
mi hermano que llama a nueve cocineros viejos baila en mis campos .
nuestra abuela que lava mis faldas cierra esta puerta .
ana está cortando nueve limones .
no escribo cinco poemas .
el gato tiene que correr detrás de estos hoteles amarillos .
mi abuelo alto beberá té pronto .
lucía llega a otro museo hoy .
maría volvió al puente grande .
nuestro hombre que rompe mi plato negro pesado toca siete violines .
mis hermanas que lavan veinte camisas leen unos poemas nuevos .
este campesino le envía los periódicos a carlos .
como pan .
estás pintando las estaciones .
¿ espera nuestra hermana hermosa estos coches ?
el amigo que corta carne caliente corta un pastel barato .
un campesino inteligente está cortando el limón dulce .
nunca esperas tres bicicletas .
limpiarás la taza roja pequeña .
otro rey amable llevará la camisa larga cara esta noche .
estos pájaros están jugando en nuestra escuela .
pedro no esperó veinte autobuses baratos .
él juega cerca del río y él canta esas canciones todos los días .
el vecino fuerte compró muchas bolsas ayer .
le di dos periódicos al amigo .
¿ habla maría con elena ?
¿ viven dos reinas ricas en el pueblo ?
hay un pintor en cinco mercados viejos .
ana quiere comprar esta patata .
ellos vivirán en diez ciudades pronto .
busco la vaca , pero el alumno viejo corre cerca de esas torres rojas .
los alumnos que dibujan el gato blanco buscan otra taza .
mis amigos pueden encontrar una silla vieja cara .
¿ dónde baila otra reina ?
le di faldas rojas al alumno .
ellos correrán en las bibliotecas blancas esta noche .
otra oficina no está limpia .
tu padre rompe ventanas y bailamos en una biblioteca .
muchas mujeres no cortaron muchas peras rojas .
si él no come en siete bosques , la enfermera famosa vive en esta ciudad .
miguel rompió el plato redondo .
¿ cuántas bibliotecas hay en tres tiendas ?
siempre visitas ese pueblo grande .
esos niños jóvenes nunca necesitan muchos zapatos .
la gallina es muy joven .
la mujer hermosa compra pan porque cierro nuestra puerta .
nunca compro leche caliente .
¿ va mi abuela a los museos ?
no vives en el país grande y los campesinos no llevan faldas .
escribes cuatro historias .
él llega a una escuela porque muchos médicos pueden comprar la naranja pequeña .
¿ quién tiene unas botellas nuevas caras ?
tienes gallinas negras , pero ellos bailan detrás de nuestro bosque .
¿ dónde duermen los reyes ?
tocaré la guitarra pronto .
ella duerme .
tu tío que limpia un jardín quiere las lámparas pesadas .
los alumnos tranquilos tocaron guitarras .
cuatro alumnos le dan esta camisa marrón a nuestro abuelo .
ana limpió esta puerta .
lucía busca platos marrones y puedo buscar ese pez hermoso .
ellos les dieron una historia larga interesante a los reyes .
dos niños bebieron té caliente .
el rey limpió la pared roja nueva .
necesitaré mi barco grande .
¿ cortan ellos pan frío ?
carlos dibuja una oveja negra joven .
estamos escribiendo unas historias .
cuando veinte mujeres pueden pintar la gallina , el médico corta queso frío .
ana jugará .
tu hermano lleva una camisa corta .
ella vio ese gato marrón fuerte ayer .
juan buscará los espejos .
elena lavará los abrigos marrones .
tus amigos comieron una patata dulce .
juan tiene tres bicicletas ahora .
juan habló con dos pintores .
cantarás .
él leerá un mensaje pronto .
compraré el agua mañana .
dibujarás un perro feo .
hay pasteles grandes en otro jardín .
ellos leen un libro porque lucía juega en las oficinas grandes los lunes .
si tu vecino viejo pinta una pared , pintamos la pared verde .
las hijas van a abrir muchas puertas blancas .
esa puerta no está rota .
visitamos a carlos anoche .
¿ tocas esta guitarra nueva ?
¿ llaman diez médicos a mi abuela rica ?
mis historias están sobre otra mesa .
no vuelves a la tienda roja , pero puedo lavar la falda hermosa .
juan durmió cerca de esa montaña .
vivo en una ciudad y estas enfermeras viejas fuertes visitan la aldea .
miguel compra unas peras .
él buscará el cuadro rojo pronto .
cuando pedro lee tres libros viejos , pedro no cierra estas ventanas verdes .
carlos no toca ese piano negro , pero no encontramos estas lámparas .
los abuelos dibujan estos puentes .
otra cantante alta le dio esta taza pequeña al campesino .
llevas camisas .
hablaste con muchos médicos pequeños .
esas niñas que encuentran otro abrigo escriben esta historia .
ella beberá café frío pronto .
este caballo es tranquilo .
las cantantes dibujarán este lago pronto .
vives en doce países pequeños .
un alumno lee diez libros nuevos .
mi cocinero hermoso ve esa tienda y elena rompe seis ventanas .
si ayudamos a nuestros amigos pequeños tranquilos , cocinamos carne por la tarde .
leeremos las historias nuevas largas .
la mujer tranquila está lavando esa falda negra .
hay estaciones rojas detrás de esas casas azules .
mi padre inteligente come en la biblioteca porque cuatro enfermeras pueden llamar a un pintor .
mi tío quiere comprar coches .
ellos pintan este museo ahora .
cuando un niño famoso toca las guitarras nuevas , mis mujeres limpian una bolsa .
nuestro tío fuerte busca lámparas azules .
el rey joven no busca a nuestro abuelo joven y buscas esta botella .
vimos esas montañas .
ella necesitará el barco amarillo barato .
¿ comes esta manzana dulce ?
rompo ocho platos .
la mujer amable tocó un piano ayer .
¿ cuándo duermen nuestras hijas viejas pequeñas ?
cierras puertas .
maría comprará la bicicleta mañana .
una cantante amable visitará unas ciudades famosas pronto .
ellos jugaron anoche .
carlos lee libros .
tus hermanas quieren otra botella cara ahora .
tu hermana inteligente dibujará este árbol pronto .
pedro camina detrás de seis oficinas pequeñas porque cantamos mi canción hermosa .
toqué nuestro violín nuevo .
¿ necesita él mis barcos ?
otra reina joven a veces encuentra otro vestido grande .
mi madre joven hermosa está pintando estas vacas .
siete niñas fuertes compran la bolsa negra .
cerraste otra ventana anoche .
el alumno va a vivir en veinte países famosos .
¿ lava maría nueve camisas ?
¿ cocina mi vecino queso ?
los hombres no pintan el hotel azul , pero miguel no llega a diez hospitales .
ana cantará esa canción corta pronto .
ella lavó una bicicleta .
¿ compran nuestras abuelas las patatas ?
no quiero el zapato porque mis niños jóvenes pequeños leen las historias .
juan tocó otro piano .
muchos pintores escriben mi carta .
estoy visitando un pueblo .
un pez es muy inteligente .
mis reyes ricos abren otra puerta otra vez y dibujas mi mercado nuevo los domingos .
muchos cocineros ricos volvieron a mi mercado .
otro cocinero pequeño amable abrirá ventanas .
pedro le envía doce historias a mi niño .
un pintor les dio cuatro faldas azules a muchas cantantes .
llevamos veinte abrigos .
dos poemas no son interesantes .
si esta mujer vuelve a mi mercado otra vez , puedo cortar otra cebolla roja .
¿ viaja mi vecino a veinte ciudades ?
este niño viejo pequeño lee dos historias los lunes .
los maestros inteligentes pintaron el burro anoche .
queremos dibujar los lagos hermosos .
otra biblioteca es muy roja .
mi burro joven corre cerca de dos oficinas porque elena baila .
pintamos esa pared blanca .
¿ encuentras mesas rojas ?
maría trabaja .
escribimos mi periódico hoy porque la enfermera no come en nuestra biblioteca blanca .
mi vecino está llevando otro sombrero verde .
hay unos puentes detrás de esos ríos .
mis abuelos cerrarán esa ventana pronto .
él lavará ese barco barato .
juan compra una cebolla dulce y esta cantante dibuja museos verdes por la noche .
hay mesas pequeñas delante de doce cocinas .
¿ encuentra esa reina mis conejos jóvenes ?
¿ beben nuestros tíos pequeños tranquilos vino ?
el niño pequeño le dio esa lámpara a mi hermano .
¿ escribe elena esas cartas ?
nuestro maestro hermoso quiere muchos platos hoy .
nuestro rey hermoso dibuja nuestro burro los domingos .
dos niñas van a llegar a esta casa .
esa cantante inteligente puede limpiar las tazas marrones viejas .
mis hermanas famosas siempre esperan mi coche amarillo .
siete mensajes viejos difíciles están sobre nuestra cama .
si carlos canta mi canción famosa , la niña rica llama a una mujer .
pedro pintará las puertas rojas pronto .
no cierras ventanas grandes porque ellos llegan a las casas .
lucía trabaja .
visitas esas torres amarillas .
no dibujo esta tienda azul .
él cierra esta ventana y jugamos en una iglesia vieja .
pedro ayuda a nuestro maestro .
la niña leyó nuestra carta triste .
viste estos bosques hermosos .
maría baila en el parque y hablas con juan .
siempre lavo abrigos .
cuando la hija vieja no necesita nuestra camisa , visitas la casa famosa los domingos .
¿ cortan los alumnos una pera ?
visitaré esos pueblos .
no veo un barco viejo .
ellos lavaron unos autobuses ayer .
le envié este poema viejo al vecino .
cuando pedro ve seis caballos , muchas vacas no pueden correr cerca de una casa .
él les da unas naranjas dulces a cuatro cocineros .
este niño tiene que abrir siete puertas verdes .
no hablamos con maría .
cinco cantantes jóvenes amables les dan una naranja pequeña barata a los pintores .
¿ baila él detrás del lago tranquilo ?
mi abuelo le dio estos espejos a mi abuela .
no podemos dibujar mi árbol hermoso , pero él puede buscar las llaves verdes .
estoy tocando una guitarra .
siempre vuelvo a un hotel azul .
¿ juega nuestro cocinero viejo detrás de tres jardines ?
la hermana famosa escribió estos periódicos largos .
lucía necesita queso .
¿ pintan estas enfermeras altas otro caballo ?
encontraré bolsas nuevas mañana .
ellos bailaron .
los hermanos famosos pintaron una casa .
vamos a vender veinte platos .
hay cinco llaves caras en mi campo pequeño .
bebo agua .
ocho reyes pequeños no ven cuatro montañas .
trabajaré en los hospitales pronto .
vemos cinco autobuses grandes .
ocho enfermeras pequeñas duermen .
una mujer tiene que cocinar sopa .
¿ vende tu hija tranquila estas faldas marrones ?
cuando estos niños amables pueden pintar muchas paredes grandes , otra niña compra un pastel .
si carlos tiene los autobuses , encuentro mis camas marrones .
ella llegó al museo ayer .
carlos cocinará sopa .
cuatro alumnos llaman al médico alto famoso todos los días .
¿ duerme lucía en la playa pequeña ?
tus hermanos quieren limpiar un espejo nuevo .
juan leerá muchas cartas viejas tristes pronto .
¿ rompes siete platos ?
carlos trabajará pronto .
maría buscará los relojes .
ellos llevan otra falda hermosa los lunes .
un sombrero es muy amarillo .
esos cocineros inteligentes llevan esa camisa larga porque un cocinero toca una guitarra .
la reina busca dos gallinas y puedo vender nuestra gallina .
si puedes cortar fruta , vendemos los tomates dulces .
hay bicicletas azules baratas en ocho hospitales .
las cantantes beberán vino .
fui a la estación anoche .
llego a dos mercados rojos ahora .
juan tocará el piano .
¿ cocinan los maestros el arroz ?
¿ tienes las gallinas ?
mi hermano viejo cierra la puerta , pero bebemos vino .
¿ cuántas iglesias hay en veinte jardines pequeños ?
mi vecino cantará en ocho campos hermosos .
cuando juan no lee el poema interesante , el amigo famoso lleva dos camisas .
ana cantó la canción famosa .
carlos come las zanahorias y no puedes vender un pastel .
esa mujer trabajará .
maría lavará el barco mañana .
buscarás la lámpara redonda pronto .
hay una oveja joven detrás del hotel .
otro niño bebió agua ayer .
si visitamos el pueblo todos los días , pinto esas paredes .
cuando leo mi periódico , él tiene otro vestido .
nuestro huevo es dulce .
este niño lleva un abrigo porque otra niña amable no visita las ciudades tranquilas .
elena cantará cerca del jardín pronto .
si muchas mujeres viejas inteligentes no lavan otro autobús , miguel pinta esos gatos otra vez .
muchos hombres jóvenes quieren visitar veinte bibliotecas .
mi enfermera tranquila no visita el museo .
si ocho mujeres altas no comen el queso fresco , él vende la patata barata .
tienes esta oveja .
¿ qué quiere nuestra cantante ?
¿ cuántas cebollas hay delante de seis puentes rojos ?
bailo en mi cocina .
mis cantantes ricas buscaron la gallina fea .
estas reinas pueden cantar las canciones hermosas y vendo la patata .
tu hermano inteligente a veces lee otra carta .
este cocinero pequeño encuentra esos zapatos cortos .
tendré el pájaro inteligente .
lucía canta .
nuestros hermanos famosos quieren ir a mi biblioteca .
un campesino joven no lava tres camisas feas porque ellos comen en estas bibliotecas verdes .
estos reyes amables encuentran nuestra oveja marrón joven por la tarde .
él busca unos caballos .
tres alumnos ricos les dieron dos vestidos a diez pintores .
vendí otra bicicleta azul .
mis hombres inteligentes no tienen la guitarra porque canto .
cuando ellos no venden un burro , nuestra cantante come las naranjas grandes hoy .
tres ciudades son muy ricas .
¿ dónde trabajan cuatro reinas pequeñas ?
mi abuela tranquila no abre puertas porque comemos en nueve cocinas .
elena comió carne anoche .
ves otro barco .
¿ trabaja un cocinero en la oficina tranquila ?
les damos mi camisa vieja a nuestros abuelos .
limpio una flor ahora .
lucía quiere vivir en pueblos grandes pobres .
¿ tienen ellos un espejo ?
¿ necesitan las enfermeras esa botella negra ?
¿ duerme una reina tranquila en este mercado ?
las cocinas son tranquilas .
esta cantante que necesita otro zapato amarillo compra limones .
él espera al campesino porque diez reinas amables beben café por la noche .
volvimos a una torre amarilla ayer .
el gato tranquilo caminará en doce calles .
la enfermera lava los autobuses nuevos grandes .
ana visita esa estación fea y tu madre joven no puede romper las ventanas .
queremos llamar al hombre famoso .
cuando corto esas peras baratas , ana dibuja unos bosques pequeños .
compré el pastel rojo .
mi tío llevó esos sombreros ayer .
no cocino queso fresco y mis amigos hermosos cortan esta cebolla .
siete relojes están sobre muchas camas .
mis abuelos nunca necesitan unos platos feos .
¿ llama él al niño ?
carlos comió esta manzana ayer .
estás pintando nuestra pared grande .
¿ cuántas flores hay delante del mercado ?
tocas este violín , pero bebes jugo .
el pintor escribirá la carta mañana .
tus hijas famosas duermen en tres casas blancas .
ellos le dan otra silla azul cara a tu padre .
¿ bailas ?
no hablé con carlos .
hay siete tazas verdes en muchas oficinas pequeñas .
les doy diez tomates a las hermanas .
un niño escribe mis mensajes famosos por la tarde porque visitas nuestro hotel viejo .
pedro comprará un periódico viejo pronto .
si buscas a lucía , estos campesinos inteligentes cortan un pastel .
romperé platos grandes .
carlos vio el hotel amarillo famoso .
nuestra hermana buscó los perros inteligentes ayer .
muchas reinas a menudo limpian una pared verde .
pinté un perro .
cuando tu tío corta sopa fría , buscamos ocho caballos .
un alumno espera un autobús caro porque él necesita un autobús .
seis puentes son muy rojos .
las niñas fuertes venderán queso mañana .
si tu hermano puede comprar la pera , estas enfermeras no pueden volver a la escuela .
visitamos mi aldea rica .
mi madre le envió tres libros a ana .
mi niño joven corre porque el niño joven ve nueve hospitales .
mi tío le dio nuestra camisa nueva fea al pintor .
él llegará a mis mercados mañana .
dibujé la playa anoche .
tus tíos ven el pez grande .
esperamos al abuelo ayer .
carlos lavó el barco grande caro .
mi amigo que espera estos coches pequeños encuentra nueve tazas .
pedro abrió la ventana .
elena dibujó una vaca .
si vendes el limón , juan camina .
miguel llevará las faldas grandes .
¿ abren estos reyes las ventanas ?
carlos ayudó al niño famoso .
la historia es muy triste .
ellos a veces quieren arroz frío .
estas niñas están buscando doce conejos fuertes .
volveré a los puentes rojos .
doce médicos limpiaron el plato barato esta mañana .
nuestra hermana que rompe la ventana pequeña compra vino .
ellos compraron mis espejos amarillos feos ayer .
llevaste otro sombrero feo anoche .
pedro dibujó la tienda ayer .
queremos encontrar unos zapatos .
¿ qué compran muchos cocineros ?
maría busca a un maestro tranquilo , pero vendo pasteles .
él va a lavar seis coches .
mi amigo alto puede llevar unas camisas marrones porque los campesinos caminan cerca de estos lagos pequeños .
¿ venden estos pintores viejos amables mi gato ?
las cantantes famosas quieren cantar .
lucía le da cinco lámparas pequeñas a maría .
veinte flores son muy caras .
ese coche es amarillo .
maría comerá el huevo .
las enfermeras pintan ese puente azul .
¿ cuántos trenes hay en diez montañas ?
¿ espera ana el autobús ?
juan querrá la flor azul .
nuestra reina rica comió nuestra cebolla barata ayer .
¿ dibujas un árbol hermoso ?
encontramos veinte conejos .
hablaremos con mis abuelas .
esos pintores que llaman a esa enfermera rica encuentran el abrigo corto barato .
¿ llevan mis cocineros inteligentes mi falda ?
el niño vende un barco porque pedro corta sopa .
nuestro tío limpiará otra pared amarilla mañana .
esta cantante que trabaja delante de veinte oficinas rompe otra ventana .
trabajas .
hay siete huevos en una cocina .
la abuela no pintó las escuelas pequeñas anoche .
¿ limpia el médico amable esta pared pequeña ?
la llave verde está debajo de tres mesas .
visité nuestra aldea .
ellos quieren comprar mis flores .
nuestro vecino corta mi huevo pequeño y juan vuelve al mercado los domingos .
le damos la zanahoria a nuestra enfermera .
necesito dos camas .
esta mujer inteligente nunca lleva mi abrigo verde .
¿ trabaja él delante de los hoteles ?
mi taza es pesada .
muchas niñas no pintaron paredes blancas .
carlos trabajó .
el alumno espera muchos coches , pero nuestro niño canta nueve canciones .
esa mujer rica cerró la puerta anoche .
los perros inteligentes duermen en dos cocinas .
el vestido es muy corto .
tu vecino va a comprar los trenes caros .
pintaste techos verdes nuevos esta mañana .
otro cocinero necesitará pan caliente pronto .
mis hermanos pueden cerrar las puertas y nuestra madre necesita ese sombrero barato .
otra enfermera joven tranquila escribe mi libro , pero comemos los limones .
les envías mi carta vieja a siete hombres .
diez abrigos son muy cortos .
lucía dibujó tres museos .
ana puede esperar el coche nuevo .
ellos comprarán el pastel .
estas reinas tranquilas esperarán otra bicicleta pronto .
este techo es muy blanco .
esas puertas no están rotas .
no tengo abrigos amarillos .
un hombre no visitó esos países .
¿ corta ella cinco patatas baratas ?
muchas playas son pequeñas .
seis reinas pequeñas a veces rompen otra ventana blanca grande .
lucía jugó .
lucía baila porque no vendemos un barco grande .
cuando podemos leer siete periódicos largos , la reina ayuda a miguel por la noche .
¿ bebe miguel té frío ?
cortamos nuestra manzana .
juan limpió la lámpara grande .
lucía fue a las estaciones blancas .
mis amigos pueden comprar el poema triste porque no puedo escribir muchos libros .
escribiremos ocho poemas .
ocho pájaros son más fuertes que ocho conejos .
otra estación es más vieja que estas torres .
¿ venden nuestros abuelos ricos las cajas negras ?
¿ camina pedro en las oficinas ?
elena dibujó museos nuevos .
miguel lava estos abrigos hoy porque ella toca un piano caro .
la enfermera joven come otro pastel dulce .
mis abuelos que necesitan ese abrigo limpian mis flores amarillas .
el niño está lavando cinco coches negros feos .
elena viaja al país hoy porque nuestras abuelas pequeñas no llevan un zapato verde .
los amigos venden muchos sombreros negros grandes .
miguel abrirá esa ventana grande .
juan está rompiendo ese plato .
cuatro barcos están limpios .
tus hermanos pequeños tocan estos pianos viejos los lunes .
cuando ella dibuja árboles , mi abuela puede cortar limones .
hay bicicletas en estas tiendas .
la tienda es verde .
tus abuelas hermosas a menudo cantan en estas montañas .
toco esos pianos .
siempre trabajamos cerca de nuestra torre .
ellos viajan a un país porque buscas relojes azules .
ella le dio mis cuadros negros caros a mi reina .
¿ trabajas en dos parques ?
¿ ves mis peces ?
esta enfermera alta inteligente siempre visita la casa verde hermosa .
miguel leyó cartas .
pinto dos iglesias todos los días .
ellos rompen nueve platos .
visitamos al tío joven .
maría encontró esas ovejas hermosas anoche .
mi abuela hermosa necesita sopa ahora .
visitaste otra casa .
juan querrá las lámparas viejas grandes .
esos reyes que venden pan dibujan una casa roja .
estás dibujando un mercado verde feo .
¿ corre miguel detrás de una biblioteca ?
mis cantantes tranquilas rompieron las ventanas negras anoche .
mis abuelas les dieron esta llave vieja pesada a cinco pintores .
cerraste las ventanas amarillas .
los vecinos están buscando otro burro marrón .
lucía leerá esta carta famosa mañana .
ocho mujeres tienen que beber té .
carlos visitó el país .
ese campesino amable limpia unas paredes verdes todos los días .
mi rey que limpia unas oficinas lava trenes azules .
si esa mujer compra esos sombreros nuevos , el pintor hermoso puede comer cerca de mis lagos tranquilos .
estos médicos ricos quieren hablar con elena .
tres reinas necesitarán el pan esta noche .
elena duerme .
las vacas son más pequeñas que cinco pájaros .
esperas los trenes verdes .
diez sillas son muy blancas .
nunca lavamos un coche caro .
comemos tres limones .
elena le da mensajes a nuestro cocinero .
si pedro toca esos violines viejos , mi tío necesita este plato pequeño .
juan llevó las faldas .
ese médico alto les dio muchas flores a las enfermeras .
cuando tenemos los trenes blancos , elena baila en doce bosques .
lavé los zapatos viejos .
cuatro hoteles están vacíos .
otro médico alto rico puede buscar esas flores .
nueve pintores amables llamaron a mis vecinos viejos ricos .
mis abuelas amables ven esos trenes grandes , pero mi madre vieja puede encontrar un pez .
un médico hermoso tiene que tocar nuestro violín caro .
¿ escribes otro poema ?
carlos no baila delante de otro hotel azul porque busco mi burro fuerte .
el médico a menudo dibuja veinte ovejas feas .
el vecino no cantó las canciones cortas ayer .
cuando este cocinero no puede comer , los burros caminan en un bosque .
nuestra vaca corrió en mi iglesia grande .
maría jugó cerca de nuestro lago .
si mi padre puede llamar a esta reina , ana no encuentra unas vacas .
toco guitarras .
puedo dibujar cinco peces .
las abuelas están llevando ese sombrero largo .
esos mensajes son más largos que ese poema .
dibujarás este hotel grande mañana .
leeré este libro mañana .
ellos esperaron nueve trenes ayer .
¿ dónde duerme el amigo ?
dos trenes son nuevos .
las enfermeras hermosas cortan manzanas ahora .
¿ encuentra ella esos pájaros ?
nueve niñas tranquilas venden muchos espejos .
ella compró un reloj caro anoche .
una cantante dibujó cinco conejos marrones .
estos hombres que cantan doce canciones buscan las bolsas negras .
la mesa es muy blanca .
elena no buscó este cuadro anoche .
él llevará unos abrigos feos pronto .
el alumno visitó este hospital blanco .
si ayudas al cocinero pequeño , lucía pinta una ventana .
queremos trabajar .
¿ escribe otra mujer famosa estos mensajes ?
escribes ese mensaje .
mis lámparas son redondas .
visitarás el mercado azul .
lucía buscó las cajas marrones pesadas ayer .
cuando los caballos duermen delante de la torre , tocamos unos violines negros caros .
las ovejas feas comerán en cinco escuelas esta noche .
si compro muchas lámparas pequeñas , esas cantantes pueden encontrar los espejos .
no trabajamos , pero los médicos jóvenes esperan mi bicicleta .
la bolsa vieja está debajo de otra silla .
no hablas con elena y nuestra hija fuerte cierra esa puerta .
cerramos puertas azules grandes .
la biblioteca está vacía .
lucía juega en veinte jardines grandes y pintamos la vaca pequeña .
¿ necesitan cuatro reinas fuertes nuestra taza ?
tu amigo joven alto cantará esas canciones .
los hermanos ricos cerrarán la ventana blanca pronto .
mis cartas son muy difíciles .
nueve maestros son altos .
¿ cuántos gatos hay en mi bosque ?
elena habla con mi madre famosa hoy .
¿ lee un niño alto ese libro ?
carlos a menudo quiere una taza pequeña .
cuando nuestro tío duerme cerca de los ríos hermosos , camino .
un maestro fuerte a menudo tiene siete cuadros pequeños .
siempre corto tomates .
¿ ayudan nuestros amigos ricos a otra reina ?
miguel irá al hotel mañana .
hablamos con esos cocineros .
cortas una cebolla cara .
¿ juegan las hermanas en esta estación ?
los niños inteligentes nunca tienen esa falda hermosa .
él le da otro sombrero a pedro .
si tu abuelo rico bebe vino los lunes , ellos no beben la leche .
ella puede ir a esos puentes porque las enfermeras altas vuelven a nuestra casa hoy .
encontramos los cuadros porque no trabajamos en el parque grande .
el alumno pequeño siempre pinta unas torres .
les das este pastel dulce a estos reyes .
ella esperó un tren viejo caro .
compraremos cinco vestidos verdes la semana próxima .
mi pintor cortó muchos huevos rojos .
llevaremos nuestro sombrero azul .
ellos dibujarán un río .
¿ tienes unos pájaros tranquilos ?
el campesino que lee estos poemas largos limpia otra botella negra .
leeremos nuestro periódico nuevo difícil .
ellos vieron a la hermana alta esta mañana .
tu padre corta cinco patatas dulces .
muchas casas están cerradas .
veré nueve perros fuertes .
la silla verde está sobre esas camas .
pedro querrá agua .
seis campesinos pequeños jugaron en los campos pequeños .
queremos cerrar seis ventanas nuevas .
ella comerá pronto .
¿ pintan esas niñas viejas tranquilas nuestro techo ?
cuando miguel visita tres bibliotecas por la tarde , lees un poema corto .
elena está escribiendo un poema viejo triste .
estoy comprando este abrigo .
querremos café mañana .
¿ cuántas manzanas hay en otra biblioteca ?
llamaré al campesino fuerte .
vas a pintar esta pared .
seis vacas hermosas están en doce playas hermosas .
los tíos que trabajan en los bosques compran ese coche .
mi patata es barata .
caminé en las montañas tranquilas anoche .
tienes seis vestidos .
juan limpió mis puertas anoche .
él lee nuestro mensaje nuevo interesante .
¿ visita el maestro una aldea pobre ?
¿ busca ella al rey tranquilo ?
no escribes un periódico .
¿ abren estas cantantes la ventana ?
esos médicos leyeron el periódico ayer .
hay flores pesadas detrás de muchas oficinas .
ellos cortan otro pastel .
bebí jugo .
carlos limpiará una pared grande mañana .
el zapato es muy feo .
mi hermana no encontró seis sombreros .
abrirás muchas ventanas .
la niña cantará en seis bibliotecas .
este libro es muy interesante .
cuando encuentras las camisas , él puede esperar a tres médicos .
hay unos museos en una playa hermosa .
cuando no vuelvo al hotel , ana quiere queso .
¿ necesita el hombre rico mi lámpara pesada ?
él vendió este coche ayer .
nueve enfermeras les dan cuatro lámparas viejas a las reinas .
lavamos un sombrero blanco corto .
maría caminó cerca de este árbol ayer .
si ellos comen , estos médicos limpian esta pared .
estoy caminando cerca de veinte lagos .
bebemos la leche .
ana dibuja dos ríos .
dos médicos pequeños tienen la silla pesada .
la montaña es tranquila .
lucía vende muchos conejos hoy .
¿ tocan nuestros tíos inteligentes este violín caro ?
no llamamos al abuelo famoso y ella no cierra las ventanas .
estamos volviendo a ese mercado blanco .
¿ comen esos hombres pequeños fuertes peras baratas ?
lucía les dio el zapato a cuatro médicos .
siempre llevamos este zapato rojo .
maría cerró esta ventana anoche .
mi tío lee esta carta interesante .
mis médicos lavan los zapatos y el rey espera los barcos los domingos .
nuestra madre limpió ese techo anoche .
el campesino tiene que cantar canciones tristes .
¿ vende mi madre estas llaves ?
¿ cuándo trabaja mi abuela ?
si toco el piano , mi padre corre .
si ana no puede encontrar esta caja barata , ana busca el conejo .
juan ayudará a ana pronto .
mis gatos están enfermos .
una reina ve estaciones rojas .
un cocinero le dio manzanas a juan .
ellos llevarán mis zapatos amarillos .
nuestros hermanos tranquilos escriben estos periódicos hoy .
diez cantantes quieren cocinar queso .
¿ lleva nuestro vecino pequeño famoso el sombrero amarillo ?
juan correrá cerca de las tiendas hermosas mañana .
ella dibujó un campo .
estás llegando al hospital .
¿ llevas nuestro zapato ?
las guitarras no son viejas .
ana volvió al mercado verde .
encuentro otra taza blanca cara .
maría bailó en tres calles .
otro cocinero alto dibujó estos pájaros jóvenes .
el rey está rompiendo tres platos verdes .
hay tres cebollas en ocho oficinas .
bailo .
compramos seis autobuses blancos nuevos .
el niño vio la vaca .
no visité pueblos pequeños famosos .
cantamos en la biblioteca vieja y la niña rica tiene una camisa larga .
bailaremos en esos jardines esta noche .
pedro quiere abrir unas puertas .
estos peces negros corrieron en la cocina pequeña .
cuando necesitas el pan frío , mis cantantes viajan a esa ciudad .
las gallinas están cansadas .
mis peces están en esas playas .
les di las cebollas caras a doce reyes .
¿ cuándo duerme este cocinero ?
él visitará un pueblo pequeño .
tu tío viejo escribió nuestro mensaje largo .
hay siete autobuses en las escuelas azules .
elena dibujará dos montañas pequeñas tranquilas .
siete mercados están cerrados .
los alumnos lavaron la bicicleta pequeña .
llevaré el vestido .
maría espera a maría porque los amigos pueden llevar nuestro vestido nuevo .
el tren está en un hospital viejo .
mi abuela comerá un limón .
este pintor que pinta mis puertas baila .
¿ visita una mujer la casa pequeña ?
jugaste detrás de mis ríos ayer .
¿ limpias unos techos blancos ?
¿ visitan mis abuelas los pueblos ?
comimos el arroz anoche .
si estas reinas no visitan mi ciudad , no quiero mis abrigos azules hermosos .
cantaste las canciones ayer .
tu hermana llevará estos vestidos .
él buscó a esas enfermeras .
miguel canta en nueve bibliotecas porque maría compra un mensaje .
¿ lavan ellos el vestido rojo ?
miguel escribió un libro .
viajaste al país interesante .
juan viaja al país pequeño pobre .
¿ lleva maría una falda ?
¿ toca ana las guitarras ?
mi abuelo rico necesita esta caja verde .
ella come carne y los reyes buscan unos gatos inteligentes hoy .
ana vendió dos zapatos la semana pasada .
estos hombres trabajarán delante de nueve iglesias verdes esta noche .
puedo comer una cebolla y cantas esas canciones .
llegaremos a otro hotel rojo .
nuestro pintor que corta pan rompe los platos amarillos .
mis amigos que buscan mi vaca venden esta zanahoria .
ella visitó un puente .
otra llave no es amarilla .
él bailó en esa cocina grande ayer .
ellos quieren esperar mi bicicleta vieja .
visito esos hoteles hoy .
juan verá este tren .
un caballo no duerme detrás de mis campos hermosos porque cortas el pan .
mi amigo que lee dos libros compra agua caliente .
las enfermeras que llevan una camisa roja necesitan la botella azul .
el médico encuentra estas camisas viejas .
¿ espera ella nuestro autobús ?
nuestro cocinero tranquilo trabajó en una escuela ayer .
si miguel no ve estas playas , nuestro amigo tranquilo escribe el periódico largo .
las reinas le envían las cartas al maestro .
ellos hablarán con un maestro .
miguel come detrás del parque porque pedro lleva un zapato .
compras este plato .
puedo limpiar unas llaves .
veo estos ríos .
los reyes no buscan unos relojes feos y este perro corre en la calle ahora .
un perro grande corre en cuatro bibliotecas blancas .
hay espejos en una tienda .
no tengo mis sillas grandes .
mi mujer compra unas flores verdes .
nuestra hija famosa le dio el sombrero corto feo a miguel .
estos cocineros que leen las historias nuevas tocan la guitarra cara .
ellos escribieron historias .
¿ escribe ana una historia ?
pedro cortó pasteles dulces .
muchos cocineros inteligentes le dieron cajas amarillas al vecino .
no corremos .
¿ cortas diez patatas ?
¿ cortan cuatro campesinos la sopa fría ?
mi amigo hermoso no trabaja delante de esas cocinas y ese rey cocina arroz .
limpiaste una pared negra ayer .
rompiste estos platos anoche .
cinco pintores fuertes no cocinaron queso .
una tienda no es azul .
el pintor no espera nuestra bicicleta porque jugamos detrás de mis parques .
estás comiendo siete peras .
¿ cuántos barcos hay en esos mercados ?
¿ limpian ellos la llave barata ?
veinte camisas están limpias .
tus tíos quieren otro barco nuevo .
tu hija inteligente dibuja la casa vieja , pero no lees esa carta corta .
encontraré camisas .
mi botella es pesada .
diez vestidos no son rojos .
caminaremos pronto .
ellos visitan mi hotel porque no buscas sillas feas .
¿ tiene tu tío inteligente esa mesa pesada ?
le di muchas sillas baratas a la niña .
llevamos este abrigo grande .
esas reinas esperan al hermano inteligente .
la hermana cortó un huevo anoche .
no busco dos perros blancos tranquilos .
maría cocina el queso fresco ahora .
mi amigo les da un reloj a estos niños .
comes el pan los domingos .
cuando esos pintores pequeños visitan a ocho campesinos , esas cantantes pequeñas viven en nuestro país .
nunca encontramos la silla marrón .
tienes que leer otro poema .
rompes mis platos viejos porque maría trabaja en nuestra calle tranquila los domingos .
muchos campesinos pequeños limpian el parque porque maría duerme en este bosque los lunes .
ellos viajarán a las aldeas interesantes pronto .
espero mis bicicletas negras ahora .
¿ cuántos platos hay en mis bibliotecas ?
limpias otro techo blanco porque vemos a miguel otra vez .
¿ dónde corren los médicos inteligentes ?
ellos leen nuestro libro largo hoy .
¿ tiene pedro estas faldas viejas ?
los bosques son hermosos .
nuestro conejo está cansado .
si no quieres zapatos feos , ellos no leen mis historias viejas interesantes .
el pintor que tiene coches rojos baratos ve otro conejo .
estamos llevando sombreros .
viajas a esta aldea interesante .
miguel quiere cortar esos pasteles frescos .
los cocineros le dan siete llaves marrones pequeñas al campesino .
mi hermano no rompió esos platos azules .
una gallina joven correrá detrás de los lagos esta noche .
nuestro médico famoso abrirá mi ventana .
si mi maestro puede escribir veinte poemas interesantes , no trabajas .
juan escribe esos periódicos nuevos tristes hoy .
¿ cierras unas puertas ?
hay sillas feas detrás de este hospital .
estás dibujando siete hoteles pequeños .
¿ encuentran muchas niñas diez faldas feas ?
nuestro tío siempre limpia mis oficinas pequeñas .
puedo llamar a otro cocinero alto , pero vivo en mi ciudad ahora .
el alumno puede llevar nuestro sombrero y pedro lleva otra camisa por la mañana .
hay una vaca hermosa en cuatro calles .
¿ viaja el campesino viejo alto al pueblo ?
lucía corrió cerca del árbol tranquilo .
mi hermano amable llevó unos abrigos .
¿ escribe ella dos mensajes difíciles ?
¿ qué beben nueve reyes hermosos ?
cuando ese pintor rompe ventanas , la abuela alta no busca mi botella .
veinte maestros bailarán en estas iglesias nuevas .
mis hermanas llevaron esta camisa vieja .
elena juega .
el maestro les envía tres mensajes a las hijas .
ella quiere cortar cuatro patatas baratas .
otro espejo no es pesado .
ana necesita nuestra falda y este niño llama a ana todos los días .
¿ comen los niños altos famosos la manzana ?
tenemos nuestro pájaro .
ana vio los gatos marrones anoche .
ana no encontró la flor amarilla .
los vestidos están debajo de seis sillas .
nueve zapatos son marrones .
esperaremos a esos maestros .
mi pintor puede comer unas patatas y tu abuela tranquila vive en la ciudad los lunes .
juan no cocina queso , pero nuestras hermanas viejas no encuentran el sombrero .
ella necesita queso hoy .
cuando los pájaros caminan detrás del río , él encuentra diez vestidos .
ana necesita vestidos ahora .
beberemos café .
un lago es pequeño .
la cantante esperó bicicletas blancas baratas .
no busqué esas gallinas jóvenes hermosas .
la madre fuerte encontrará el espejo mañana .
un gato tranquilo corre en otra montaña grande .
mi hija pinta la torre , pero veo los hoteles grandes .
él tiene que limpiar diez calles grandes tranquilas .
¿ busca maría tres peces ?
diez perros no corrieron detrás de una estación .
un hombre rico le da esa zanahoria grande dulce al rey .
mis hermanas jóvenes le dan nuestra falda al tío .
tus hijas no compran estas sillas redondas y mi abuelo viaja a ese país .
una gallina marrón inteligente correrá en esa calle pequeña pronto .
él baila , pero tu vecino habla con este hombre .
mis hijas pueden esperar mis coches viejos .
el hotel está vacío .
tengo estas guitarras .
miguel no lleva vestidos .
encuentras la bolsa y mi pintor no baila en mi hotel famoso .
pedro cocinó carne .
miguel encontró un caballo .
ese niño famoso tocó seis pianos .
mis pintores compraron ese plato nuevo .
rompes tres ventanas .
un niño espera el autobús grande y las niñas venden una falda .
mi enfermera pequeña inteligente trabajó anoche .
ocho cantantes altas necesitarán siete platos .
ella corta este pastel .
nuestro abuelo toca otro violín .
los abuelos famosos le dan esas zanahorias a tu abuelo .
carlos cerrará ventanas nuevas pronto .
lucía llevará muchas camisas .
una niña les da peras grandes a las mujeres .
¿ escribe la enfermera hermosa las cartas difíciles ?
hay una casa vieja en cinco tiendas .
ellos pueden esperar el barco y nuestro rey alto espera las bicicletas blancas .
ellos llevaron nueve camisas feas anoche .
cuando ellos pueden comprar mi limón , tres niñas viajan al país pobre .
cuando no necesito la sopa , ella dibuja estas casas hermosas por la noche .
esta bolsa es negra .
mi campesino joven corta el huevo barato porque una mujer hermosa no quiere estos sombreros blancos .
¿ llaman esas mujeres a tu abuela ?
cuatro parques están vacíos .
mi tío viaja a seis ciudades grandes y cinco reyes viven en el país .
cuando corremos en estas cocinas pequeñas , juan no busca estas llaves .
lavas unas camisas .
¿ juegas ?
si ellos pueden comer en los mercados , nuestros hermanos cortan doce pasteles .
el hombre inteligente ayuda a maría ahora .
compramos esa caja nueva .
él escribió esos periódicos viejos ayer .
cuando otra mujer joven cierra una puerta negra , ana puede visitar a lucía .
él comió pan anoche .
esta camisa no está sucia .
mis vecinos que hablan con otra mujer alta encuentran nuestro espejo redondo barato .
¿ escriben ellos diez periódicos ?
doce alumnos fuertes rompieron el plato nuevo pequeño .
¿ cierran mis reyes pequeños una puerta pequeña ?
esta reina es muy rica .
le diste mi llave nueva a pedro .
mi vecino alto hermoso le dio seis cebollas al hombre .
los trenes son muy baratos .
nuestro amigo le envía este poema nuevo a lucía .
compramos mi llave vieja pesada .
necesitaré tres flores esta noche .
lucía jugará .
no quieres ocho sombreros grandes .
¿ ayuda nuestro rey al alumno famoso ?
abrimos esas puertas azules ahora y ana abre esta puerta azul .
mi amigo tranquilo nunca pinta un hotel .
dibujaste un perro esta mañana .
muchas gallinas caminan detrás de esos mercados verdes y miguel viaja a nuestro país .
si elena no lee un mensaje triste , pedro bebe leche .
no lavo ese barco y ese alumno necesita las faldas amarillas ahora .
ellos tocaron un piano anoche .
ellos llegaron a mi hospital .
estamos caminando .
mis estaciones están abiertas .
podemos lavar un autobús barato , pero la cantante famosa escribe ese periódico los domingos .
no dormimos .
mi hermano encontrará una gallina .
vendemos unas lámparas nuevas .
ella jugó en mis montañas .
el vecino joven pinta otro techo negro ahora .
nuestro hombre que canta cerca de estos museos tiene nueve burros marrones .
ana vivirá en cuatro pueblos mañana .
veinte cantantes viajarán a este pueblo .
el maestro que abre cuatro puertas lava barcos .
ella correrá .
¿ llevan los hermanos altos hermosos este zapato amarillo feo ?
él pinta una escuela nueva grande .
la niña alta está cocinando pan .
la enfermera fuerte quiere barcos blancos porque ana visita los países grandes .
mis reyes tienen que llevar las faldas largas .
mis enfermeras pequeñas no vieron al maestro ayer .
¿ necesitas los espejos redondos ?
ana siempre lleva dos zapatos hermosos .
pedro bebió té frío la semana pasada .
queremos buscar mis cuadros blancos .
cantamos esta canción ahora .
carlos pintó nuestro techo blanco grande .
carlos vendió tomates ayer .
cuando no vemos estas estaciones , las hermanas altas famosas lavan el coche .
vivirás en los pueblos pequeños pronto .
los abuelos altos le dan muchos platos nuevos a nuestra cantante .
limpio esta oficina .
cantas porque nueve campesinos no trabajan en esas estaciones nuevas .
le di seis tazas a elena .
quiero vender estos peces .
juan duerme .
los niños famosos lavaron faldas .
quieres agua y comemos el arroz .
buscas las camas nuevas .
maría cortará carne fría mañana .
ocho niñas limpian otro techo y los niños viejos corren en los jardines pequeños ahora .
¿ tiene una mujer esas camisas ?
tenemos esos burros inteligentes .
hay cajas cerca de un campo tranquilo .
pedro limpiará la caja pronto .
ana trabajó .
¿ cantan mis abuelos esta canción ?
diez vacas no son inteligentes .
él necesitará una falda larga .
estoy pintando el pájaro feo .
hay camas feas en muchos jardines .
el pueblo es muy famoso .
cuando tres cantantes pueden llamar a este rey , ella puede visitar los países .
no compramos vino .
ellos no ven las playas porque vendemos el sombrero nuevo .
necesito un autobús viejo .
dibujo el campo hermoso porque vendemos estas camisas largas .
mis camas son caras .
mis mujeres tranquilas pueden ir a las tiendas , pero esperamos las bicicletas .
ella ve bicicletas azules .
la enfermera tranquila comió mi naranja dulce .
¿ baila mi padre alto delante de este campo ?
pedro compra otro zapato y ves bicicletas .
comemos la cebolla hoy y duermo en un parque pequeño .
el pintor es muy amable .
los tíos inteligentes pueden comer queso .
mi hija inteligente puede llamar a un cocinero , pero no quieres esa bicicleta grande .
comprarás esas lámparas .
hay peces pequeños cerca de la estación azul .
doce museos no son famosos .
ana dibuja los lagos porque la madre no encuentra esas camas amarillas .
¿ abres nuestra puerta ?
pedro busca esta mesa vieja .
¿ buscas otro conejo ?
otro campesino hermoso limpió unos parques pequeños el año pasado .
él le envió unas historias famosas al hombre .
elena necesita las bolsas , pero juan necesita muchos autobuses .
la enfermera fuerte pinta diez casas .
esas ovejas tranquilas caminarán delante de un hotel pequeño pronto .
él correrá .
canté esta canción nueva triste .
él busca nueve lámparas .
él no abrió unas ventanas amarillas pequeñas anoche .
vimos un río pequeño .
carlos compra sopa .
pedro trabajó .
ocho campesinos visitan otro hospital y la cantante inteligente dibuja siete escuelas por la tarde .
no comemos , pero nuestra abuela puede jugar .
mi padre tiene este zapato corto caro .
¿ corta carlos los tomates ?
otra reina encuentra veinte abrigos azules .
vemos el árbol hoy porque nuestra hija vieja rica habla con mi tío ahora .
quiero tocar estos violines caros .
¿ lee mi cantante una historia triste ?
mis abuelas son muy altas .
¿ cierran esos médicos tranquilos las ventanas negras ?
ellos nunca escriben mi historia .
quieres llevar otro sombrero .
los vecinos compraron siete patatas caras ayer .
nuestra botella marrón cara está sobre mis sillas .
llevamos esa camisa negra .
no llevaste un zapato .
no rompemos mi ventana roja .
pedro tocó mi violín .
cuando mis hermanos viejos tranquilos no cocinan sopa , miguel puede lavar faldas .
quieres muchos trenes grandes .
¿ vuelven tus hermanos a ocho puentes blancos ?
visitaste el país .
vemos los lagos hermosos ahora .
esos techos son muy blancos .
las oficinas están sucias .
lucía no cocinó fruta anoche .
¿ comen tus amigos fuertes muchos huevos ?
tres cocinas están llenas .
estamos bebiendo jugo caliente .
hay una silla en estas estaciones famosas .
carlos le da esta mesa cara a nuestro amigo .
tenemos esa gallina y ella corta una patata pequeña dulce .
¿ busca ese cocinero otro perro ?
lucía lee muchas historias difíciles .
lucía vuelve a esos hospitales .
ese rey comió cerca de siete jardines .
¿ leen muchos médicos pequeños tranquilos mi periódico interesante ?
no abrí esas ventanas .
si hablo con elena , él duerme ahora .
nuestro maestro vuelve a nuestra iglesia y las abuelas buscan las botellas pesadas otra vez .
tienes unas bicicletas y mi médico no corre en esas oficinas .
mis cantantes pequeñas ricas comieron .
elena leyó un mensaje triste ayer .
comprarás vino mañana .
dos casas son feas .
juan vende pasteles rojos porque el alumno hermoso no duerme .
tu amigo no busca las flores , pero mi amigo amable toca mi guitarra .
no hablo con la mujer , pero ves dos trenes .
maría quiere romper esa ventana .
él quiere carne caliente porque ocho mujeres famosas cocinan pan frío .
¿ quiere una cantante mis tazas ?
elena compró bicicletas pequeñas anoche .
mis reyes tranquilos no trabajaron delante de la estación .
las mujeres ricas no beben leche , pero estas niñas inteligentes tienen unos violines .
juan llega a muchas casas .
ese maestro fuerte toca un piano ahora .
hay doce cajas rojas baratas en siete museos .
buscas nuestra silla roja .
nuestro niño famoso compra sopa caliente .
miguel juega .
ana compró ese periódico .
lucía cierra puertas .
pedro canta en nuestro museo .
mis jardines no están vacíos .
diez maestros cortarán peras rojas .
estás durmiendo delante de este puente .
¿ habla lucía con mi alumno joven ?
¿ abre ana esa ventana ?
ocho hombres dibujarán mi pez esta noche .
tocaremos ese piano .
los vecinos le dieron vestidos al amigo .
tu abuela fuerte compra la pera hoy .
ella puede cocinar sopa y quiero este sombrero .
le enviamos la carta al niño .
nueve niñas pequeñas están bebiendo jugo .
cuando maría necesita este barco grande , limpias ese techo rojo nuevo .
el abuelo joven cerró esas ventanas .
si los médicos famosos encuentran un conejo grande , él puede limpiar la mesa barata .
pintas el pájaro negro pequeño .
tus tíos amables jugarán .
esos niños pequeños beberán leche .
nuestra llave es vieja .
miguel llevará otro sombrero nuevo pronto .
siempre necesito pan .
¿ cierra ella las ventanas pequeñas ?
cuando esta mujer cierra la ventana , mis abuelos inteligentes cortan carne .
¿ quién ve veinte casas ?
el maestro famoso lavó esa falda .
cuando nuestro padre encuentra veinte camas otra vez , los alumnos no pueden vivir en ese pueblo grande .
no necesitas ese tren viejo .
¿ comen ellos mi pastel ?
hay un museo verde en veinte mercados pequeños .
pedro comió peras ayer .
él lee nuestra carta corta hoy porque elena viaja a esa ciudad rica .
un campesino no compró lámparas baratas .
no vimos una torre .
llevé el abrigo ayer .
otra niña rica va a correr en las calles pequeñas .
¿ tiene nuestra niña vieja esa camisa marrón barata ?
¿ qué escriben veinte campesinos amables ?
no encontraste cuatro burros anoche .
¿ cuántas hijas hay en diez casas hermosas ?
si maría puede vender las bolsas pesadas , miguel no dibuja mi pájaro blanco .
cuando maría lava el zapato corto , pedro vive en nuestra aldea interesante .
él les da esas historias tristes a los abuelos .
juan buscó esta botella ayer .
los hombres pequeños tranquilos quieren la botella ahora .
veo un puente azul viejo .
cortas carne hoy .
los pájaros negros quieren caminar delante del árbol .
¿ necesitas seis barcos viejos ?
¿ lava miguel unos vestidos ?
cuando lucía dibuja diez playas , ese cocinero amable abre mi ventana .
vendemos mis peras rojas grandes .
puedes cortar el huevo pequeño barato .
doce maestros pueden pintar nuestra ventana .
cuatro campesinos le dan otra caja azul redonda a elena .
leí un poema nuevo ayer .
ella le da ese vestido a mi hombre .
¿ necesita maría pan fresco ?
no escribimos los periódicos difíciles y mi hija dibuja este pez .
mi hermana compró leche .
no como peras , pero nuestro gato no puede caminar detrás de nuestra escuela .
lucía está visitando otra ciudad tranquila .
estos pintores viejos hermosos no comen esta zanahoria dulce porque juan no ve ese tren .
¿ lleva esa mujer una falda azul ?
cuando bailamos en la cocina , ella puede comprar esos vestidos verdes feos .
¿ cuántos autobuses hay en mis oficinas tranquilas ?
¿ cuántos maestros hay en cuatro playas pequeñas ?
estoy encontrando tres conejos .
mi tío a menudo canta .
carlos quiere escribir mi poema .
estás volviendo al hotel pequeño .
diez hombres fuertes le envían mi mensaje al amigo .
mi cocinero cerrará puertas mañana .
¿ tienen ellos esa bolsa nueva ?
la cantante está lavando doce camisas .
ella compra una silla verde .
ella romperá estos platos nuevos .
no cortaste las manzanas .
dos médicos encontraron mi mesa redonda pequeña .
cuando otro niño hermoso no puede volver a ocho hoteles viejos , elena encuentra mi burro .
cocinaré sopa mañana .
mi abuelo les da siete libros viejos a diez niñas .
los hombres siempre comen fruta .
otro cocinero hermoso necesita seis autobuses hoy .
la mujer va a dibujar los conejos blancos .
cantaremos una canción pronto .
una flor es muy redonda .
muchos pájaros grandes comieron en un museo el año pasado .
la reina alta habló con el hombre anoche .
le diste mis llaves verdes a elena .
siete países no son hermosos .
dibujas campos .
mi campesino tranquilo tocó la guitarra negra .
cuando el campesino joven visita a tu hermana , leo las historias .
maría puede buscar a dos maestros porque ayudas a juan hoy .
juan cerrará una ventana pronto .
si compras un autobús , un pintor rico ve mi barco ahora .
¿ quién encuentra la vaca ?
seis maestros fuertes pueden cortar nuestra naranja pequeña dulce , pero tu abuelo toca otra guitarra .
volverás a la escuela pequeña .
esta enfermera hermosa pintará los gatos mañana .
no cantaste la canción ayer .
otro hombre famoso pintó ventanas .
ellos le enviaron ese mensaje difícil a tu amigo .
cuando mis enfermeras tienen otro gato , ella abre una puerta por la mañana .
dos tazas están sucias .
leemos un libro por la tarde .
el padre inteligente no habla con juan y comemos pan .
ana puede cortar unas zanahorias grandes porque carlos va al mercado .
bebo la leche los lunes .
¿ bebe tu vecino té ?
mi padre amable bebe agua porque ella trabaja en muchas tiendas los domingos .
maría pinta el conejo y necesitamos los trenes .
ella volvió a nuestra estación esta mañana .
ellos no rompen mis platos porque compro un tomate barato .
estás encontrando otra vaca .
los cocineros pintarán otra escuela .
siempre busco mi gallina .
lucía cortó pan anoche .
ana volverá a esta tienda .
hay siete lámparas redondas pesadas detrás de mi montaña .
¿ encuentra lucía un cuadro ?
nueve campesinos ricos nunca viven en siete pueblos tranquilos .
él baila cerca de nuestro puente , pero esas mujeres pueden correr .
veinte manzanas no son dulces .
estoy buscando nuestra mesa .
llevo la falda vieja los domingos , pero limpias diez lámparas .
tus abuelos inteligentes están pintando veinte techos .
nuestras abuelas tranquilas quieren buscar este conejo .
las cantantes que comen carne caliente escriben nuestro poema largo famoso .
dibujas la playa grande y lavo la bicicleta grande .
¿ leen los hermanos amables la historia ?
¿ trabaja miguel delante del parque ?
mi abuelo viejo va a jugar .
dos platos pesados están debajo de esa mesa .
a menudo lavamos un barco azul .
los autobuses son más viejos que seis barcos .
mis alumnos están pintando ocho paredes negras .
escribimos unos libros .
juan no llama a mis mujeres fuertes y estos maestros pequeños quieren fruta fresca .
maría jugará mañana .
tres maestros están pintando esos techos azules .
abrirás estas ventanas azules .
mis abuelas que cortan queso compran muchos vestidos .
esperamos los trenes anoche .
si la oveja blanca juega detrás de las montañas , nuestra mujer alta dibuja las bibliotecas rojas .
mi espejo blanco feo está sobre mi mesa .
ana corta esa pera grande dulce .
buscamos al campesino amable .
ellos pueden vender esa falda negra porque el abuelo no visita otro país .
él nunca lleva camisas marrones caras .
cuando un cocinero pequeño puede ayudar al campesino , no tienes otro reloj .
quiero escribir este mensaje .
cuatro niños a menudo duermen .
ese rey rico nunca escribe una carta .
el alumno pequeño puede esperar muchos barcos azules feos .
mis reinas tienen que esperar ese barco verde caro .
carlos nunca corta patatas .
mis hombres venden esas patatas dulces .
un cocinero corta otro limón dulce por la noche y puedes tocar el violín .
cuando las enfermeras cierran una ventana amarilla , pintas nuestra pared .
cocinaste carne .
carlos encontró la cama fea .
miguel limpiará mis cocinas pequeñas pronto .
tus vecinos son muy altos .
venderemos la patata pronto .
trabajo hoy .
¿ come ella delante de tres hoteles azules ?
un hombre hermoso leerá muchas historias .
¿ tienen las mujeres un piano ?
ella ayudará a otra niña pronto .
estos cocineros viejos cortan el queso fresco porque el tío pinta la ventana los lunes .
elena irá a la iglesia pronto .
mi amigo joven pequeño lleva mis vestidos amarillos .
quieres visitar la ciudad .
esos pintores a menudo visitan las bibliotecas famosas .
le das nuestro abrigo barato al cocinero .
mis hombres quieren lavar la bicicleta nueva .
¿ limpia ella dos sillas viejas ?
¿ dibuja ella un lago ?
¿ quién trabaja ?
lucía comió las cebollas .
ana buscó a otro hombre pequeño .
no bebo el jugo .
las hijas no esperaron el tren .
las paredes no son negras .
el niño querrá mi autobús blanco nuevo .
¿ limpia maría esas calles grandes tranquilas ?
si llevamos la falda blanca , carlos canta en muchas playas hermosas .
los reyes que cortan arroz fresco cortan el huevo rojo .
leo este mensaje hoy .
los niños nunca llevan estos abrigos viejos .
mi zapato está sucio .
ellos comerán ocho limones .
no vemos nuestro gato .
otra niña alta llamó al niño amable anoche .
vendí un pájaro .
¿ vende nuestra hermana una vaca joven hermosa ?
él vivió en muchas ciudades pobres ayer .
vemos otro pez blanco ahora .
nuestro coche no es negro .
¿ ve la abuela inteligente caballos viejos ?
puedo cantar en la tienda porque siete niños ricos leen ese mensaje .
¿ dibujan tus tíos ese conejo negro ?
ellos no necesitan mi silla marrón , pero comemos delante de seis árboles grandes .
cuando comemos la manzana , corro .
el alumno rompió doce ventanas ayer .
¿ habla esta cantante con un alumno famoso ?
vendemos esos caballos ahora .
tendremos una camisa .
hay ovejas negras delante de nuestro lago hermoso .
lucía corta estos huevos caros .
¿ hablan las hijas ricas con muchos maestros ?
maría necesita nuestra flor verde barata .
llegas al museo pequeño .
las niñas que tocan esa guitarra barata esperan el barco grande feo .
dibujamos estas iglesias grandes y ellos no dibujan un pájaro .
¿ qué bebe mi vecino ?
ese pastel no es dulce .
mi maestro a veces corta zanahorias .
un maestro joven inteligente escribe estas historias hoy .
volvemos al hotel ahora .
juan fue a esa iglesia ayer .
las enfermeras famosas vivirán en otra ciudad pronto .
una enfermera esperó mis trenes grandes feos .
hay zanahorias en un parque .
el cocinero dibujará ocho playas grandes mañana .
mis abuelos leen tres libros , pero tus abuelas amables dibujan el pájaro .
si esos gatos juegan cerca del puente viejo , ellos visitan una aldea tranquila .
mi vecino no habla con esa cantante y tres niños escriben un poema interesante .
mis cocineros que comen esos tomates ven un hospital .
ella no esperó el coche negro anoche .
nuestro tío alto venderá una camisa verde mañana .
correrás .
una reina alta tendrá mi zapato grande esta noche .
mis pintores correrán .
juan bebió el agua fría ayer .
una falda cara está sobre tres camas .
visitamos mis aldeas ricas .
ana ayudará al médico viejo pronto .
nunca abrimos mi puerta .
maría limpia otro techo por la mañana porque compramos la patata cara .
miguel está visitando tres mercados verdes .
podemos abrir una puerta porque trabajas detrás de la playa .
ellos volverán a estas bibliotecas pequeñas .
¿ vendes otro vestido azul ?
mis tíos altos van a encontrar doce peces .
mis hermanas amables necesitan seis camas marrones por la tarde .
una mujer joven fuerte limpia un plato todos los días porque toco unas guitarras viejas hoy .
¿ venden esas cantantes hermosas seis vacas ?
cierro una ventana y los cocineros ven los coches feos .
ana leerá mi historia la semana próxima .
¿ dibuja pedro esas bibliotecas ?
hay un perro negro en mis mercados blancos .
carlos cocinó el queso ayer .
esa pared es muy nueva .
juan leyó esos periódicos cortos anoche .
como queso .
nuestro abuelo le dio ocho manzanas rojas dulces a ana .
otra reina encontró otra falda .
¿ corren tus tíos en las cocinas tranquilas ?
hay un rey cerca de cuatro ríos .
maría les da doce naranjas a cuatro maestros .
no caminas .
ellos llamarán a esta mujer tranquila esta noche .
vives en dos países y lucía abre esa puerta .
le doy los zapatos rojos a elena .
lucía escribirá mi mensaje viejo .
siete faldas son nuevas .
la mujer corta cinco naranjas .
miguel a veces limpia la cama roja .
mi hermana fuerte llevó la camisa negra el año pasado .
miguel volverá a esas bibliotecas mañana .
no esperamos veinte coches blancos .
la hija le envió mi poema triste a lucía .
un rey amable compra muchas cebollas baratas y un cocinero rico no llega al museo .
¿ lava pedro mis zapatos cortos ?
leeremos esos poemas pronto .
la cantante que encuentra flores blancas limpia mis llaves amarillas .
mi hija famosa puede dibujar un burro y leemos seis mensajes todos los días .
mi rey viajó al país pequeño esta mañana .
muchas enfermeras tocaron los violines .
un rey escribirá mensajes largos .
ocho niñas viejas llevan mi sombrero .
el médico dibuja perros jóvenes .
muchos hombres comen ahora .
otra historia es más larga que los libros .
el tío famoso está ayudando a carlos .
la mujer le dio esos cuadros a miguel .
¿ canta él ?
una mujer está sola .
ese campesino alto canta estas canciones .
le das mi falda negra a este cocinero .
los vecinos que pintan los gatos lavan los sombreros .
carlos querrá mesas esta noche .
la iglesia está abierta .
el hombre que dibuja bosques pequeños lee unos periódicos .
los reyes cantan diez canciones hermosas porque no puedes llegar a la tienda .
¿ lleva él nuestro vestido ?
cantaste en esta oficina anoche .
¿ quién duerme ?
trabajé .
el cocinero que busca la caja roja dibuja estos campos .
muchos pintores le dieron faldas amarillas a una niña .
los niños escriben otro mensaje interesante .
¿ dónde corre otro hombre ?
ana comprará el mensaje corto interesante .
ella caminó .
no comiste sopa ayer .
tu hermano que quiere esta mesa grande baila .
el abrigo es largo .
él encontró ovejas .
no tienes mesas negras .
pedro lee esos poemas y puedo visitar una casa .
carlos caminó en este museo feo .
este niño pequeño inteligente no quiere llaves feas .
mis gallinas no pueden caminar delante del jardín porque carlos limpia estos techos .
el espejo está sobre seis mesas .
puedo leer cuatro cartas viejas .
tu madre está visitando otro pueblo .
mi vecino tranquilo puede bailar porque tu hermana toca ese piano barato .
mi vecino hermoso quiere llevar muchos vestidos rojos cortos .
nuestros vecinos inteligentes corren cerca del puente los domingos porque lucía vive en el pueblo famoso .
cuando buscas a seis campesinos amables , el pájaro puede dormir cerca de otro árbol hermoso .
ella esperará ese autobús mañana .
como los huevos .
vendo ese autobús otra vez .
este techo no es blanco .
estamos durmiendo .
estas reinas que cierran las ventanas rojas hablan con el abuelo viejo .
ellos compran la botella y no encontramos nuestro zapato .
estos niños hermosos tienen que pintar otra pared .
cantamos la canción .
¿ lavan cuatro hombres tranquilos el sombrero corto ?
la cantante alta come pasteles baratos .
los alumnos altos le dieron los vestidos verdes baratos al rey .
ellos venderán otro burro blanco fuerte .
elena ve el conejo porque esa mujer vieja toca mi piano viejo .
estos campesinos no trabajan , pero tres cantantes amables leen otra carta .
elena bailará .
tus abuelas ricas siempre leen este poema .
mis pintores dibujarán estas torres esta noche .
¿ corre él en cinco cocinas ?
dibujamos muchas vacas feas porque mi reina habla con miguel .
le doy las llaves baratas a esa mujer .
ana no visita esta aldea grande tranquila .
el cocinero joven escribe un poema corto y mi abuelo no compra limones rojos pequeños .
este médico compra libros tristes .
cuando un rey rompe una ventana pequeña , cortamos sopa por la mañana .
cuando otra mujer lee este libro , la abuela limpia la silla ahora .
maría vendió sopa .
las niñas siempre comen mi patata .
un pintor puede beber la leche y miguel pinta el perro negro .
rompo otro plato amarillo feo .
siempre leo libros .
hay cinco llaves cerca de cuatro torres hermosas .
si mis hermanos amables no corren , mis abuelas pequeñas amables ven trenes .
no viviste en nuestro país interesante ayer .
maría esperará barcos esta noche .
seis cuadros son feos .
ese hospital no está cerrado .
nuestra abuela joven rica llamará al rey pronto .
cuando otro campesino llama a miguel , no veo estas bibliotecas .
leí libros .
no rompes un plato porque los conejos grandes pueden caminar en una oficina .
él rompió platos verdes .
estamos escribiendo veinte mensajes tristes .
¿ lees ocho periódicos ?
si cocino carne , no necesitamos esas bicicletas amarillas .
necesitamos cinco autobuses .
no espero ese barco rojo .
dibujamos el pájaro fuerte .
veinte naranjas son baratas .
ella cantó en diez calles .
nueve pintores venden la manzana hoy .
ellos tienen que lavar sombreros .
llevas faldas .
hay bolsas azules pesadas delante de un mercado nuevo .
elena escribió esta carta corta .
venderás el tren esta noche .
un maestro quiere visitar la biblioteca grande .
mi abuela tranquila le dio una camisa amarilla a mi tío .
esos barcos son muy caros .
llevas este abrigo negro .
¿ espera lucía otro tren nuevo ?
miguel puede vender pan , pero juan trabaja cerca del parque .
¿ llama lucía al hombre rico ?
busco al pintor porque nuestra hermana no necesita estas flores .
no bailaste .
juan come fruta fría porque tu abuela lava un autobús azul .
el niño pinta mi tienda fea .
bebí agua .
la hermana joven no ve unas iglesias .
quieres vender unos tomates .
rompo un plato verde y otro cocinero no cocina sopa caliente .
miguel no vende trenes rojos , pero puedes vender muchas vacas .
si cantamos en las montañas , mis abuelos escriben mis historias cortas los domingos .
¿ trabajan nuestras abuelas ?
si el hermano rico no tiene un conejo , el niño corta estas cebollas pequeñas .
tocamos las guitarras otra vez .
¿ dónde están estas tazas grandes ?
ellos cocinaron arroz caliente .
esos cocineros que encuentran este plato dibujan esta montaña .
los niños escribieron un periódico anoche .
visitamos las bibliotecas hoy .
nuestra camisa es muy hermosa .
compraré otra carta difícil .
siempre tienes estos violines nuevos .
carlos no tiene ese tren caro y puedes pintar este puente pequeño .
¿ abre carlos una ventana negra ?
carlos escribió los libros nuevos famosos .
mi tío fuerte va a tocar esta guitarra .
a veces encontramos una caja .
la niña lee cinco cartas .
ella bebió agua .
limpiamos el jardín pequeño tranquilo ayer .
los médicos jóvenes famosos están comprando queso .
él llama a mis cocineros altos y juan puede beber el té .
quiero beber leche .
esta carta corta está sobre veinte camas .
ana encontrará una lámpara marrón .
lucía dibujará esta montaña .
carlos quiere sombreros , pero miguel cierra esta ventana .
ella buscará una taza verde mañana .
muchos reyes jóvenes pequeños le dieron un vestido nuevo a mi campesino .
los cocineros que tienen el sombrero buscan ese pájaro hermoso .
¿ compras unas cajas ?
muchos hombres visitan ciudades interesantes .
vas a bailar .
ella rompió un plato marrón esta mañana .
ese cocinero les da sillas pesadas a tus hermanas .
no lavas otro abrigo nuevo y la niña vieja limpia esas cocinas pequeñas hoy .
miguel pinta doce paredes azules todos los días .
ellos pintan diez techos rojos .
nuestro abuelo pequeño trabaja y visitamos esa ciudad .
si nuestra hermana escribe muchas cartas tristes , ellos cocinan fruta fresca .
la enfermera amable limpiará los jardines .
ellos limpian unos platos ahora .
¿ ayudan los hermanos a este niño ?
la mujer pequeña tiene que tener la lámpara vieja .
tres mujeres le dieron siete abrigos azules a carlos .
miguel visita las aldeas grandes ricas , pero no queremos vino frío .
muchos árboles son tranquilos .
cierras una ventana hoy .
tus tíos tranquilos buscan los caballos grandes .
¿ canta nuestra hermana amable ?
les diste esos pasteles grandes a mis mujeres .
hay cuadros en nueve estaciones .
cuando el maestro lava estos vestidos rojos viejos , ella puede dibujar las escuelas amarillas .
las hermanas les enviaron otro mensaje corto a tus abuelas .
ana no juega , pero tus hijas jóvenes amables buscan esos caballos feos .
¿ toca miguel el piano ?
dos reyes están yendo al mercado .
los maestros pequeños leen nuestra carta nueva .
vendo el huevo grande caro , pero ese médico quiere ese plato redondo hoy .
nunca pinto la ventana .
tu abuelo rico pintará las ventanas mañana .
tienes que dibujar una estación roja .
mi hermano puede escribir unos poemas difíciles .
les di camas pequeñas a nuestras hermanas .
mis hombres altos les dieron nuestra taza a las niñas .
¿ cuántos cocineros hay cerca de otro puente ?
cantaste muchas canciones cortas anoche .
una enfermera hermosa espera autobuses porque la mujer ve la playa tranquila .
hay unas patatas rojas frescas en nuestra calle tranquila .
tu amigo famoso cocinará queso .
si no compras esa bicicleta , él dibuja nuestro caballo viejo .
otra mujer limpiará las tazas azules .
el vecino lleva nuestra falda amarilla .
¿ lava juan unas faldas ?
¿ cuántas ovejas hay en dos cocinas ?
otra lámpara está sobre siete mesas .
tu madre va a llegar a cinco museos blancos .
¿ espera esa cantante inteligente este tren ?
¿ cocina mi hija pequeña rica fruta fría ?
un cocinero viejo lleva faldas y esos maestros comen la naranja pequeña .
ese médico juega en siete tiendas .
elena querrá un reloj mañana .
¿ dibuja nuestro tío los hospitales ?
¿ corre el tío inteligente cerca de esta iglesia ?
maría limpiará el reloj barato .
diez ovejas están cansadas .
pedro durmió en una calle anoche .
juan compró queso fresco .
ana puede cortar queso porque nuestra abuela vieja tiene muchos vestidos verdes .
encuentras diez conejos los lunes .
tu hija fuerte llevará esta camisa .
otro mensaje no es difícil .
¿ vive este campesino en tres aldeas pequeñas ?
ella encontrará un zapato barato .
si pedro vende la pera pequeña cara , pedro lleva esos abrigos amarillos .
¿ lavan mis mujeres este barco ?
ana pintó una pared anoche .
ese maestro le dio ese sombrero feo al amigo .
cuatro mujeres encontraron el vestido caro .
ese perro no corrió en esos mercados esta mañana .
¿ cuándo vuelve nuestra hermana ?
lucía cantará la canción .
¿ bebe una enfermera leche ?
pedro llevó este sombrero .
no veo ese hospital verde .
hay gallinas negras en esos campos hermosos .
estos sombreros no son viejos .
¿ dibuja miguel esos conejos ?
¿ ayudan las cantantes a tres cocineros ?
¿ vendes mi cuadro ?
mi tío canta estas canciones y el hermano tiene vacas .
las mujeres que tocan guitarras tienen un cuadro .
corté arroz .
tus hermanos visitan una biblioteca , pero siete cantantes juegan .
cuando los hombres limpian una puerta , ese alumno trabaja en las playas .
cuando mis campesinos no cocinan arroz , puedo llevar una falda .
¿ cuántas peras hay en veinte oficinas ?
¿ vende ella faldas negras cortas ?
tu padre puede encontrar otro sombrero negro .
viajas a pueblos y bebo té caliente otra vez .
él esperará el autobús verde feo .
hay tres burros grandes cerca de los bosques tranquilos .
hay hoteles en dos cocinas pequeñas .
encuentras sombreros .
nunca vemos las bicicletas .
¿ rompe él mis ventanas ?
¿ canta un maestro las canciones famosas ?
si corres , el maestro famoso puede limpiar el jardín .
estas cajas nuevas están en diez cocinas grandes .
las abuelas famosas rompen nuestra ventana grande , pero una cantante corre .
¿ ve pedro los árboles ?
los violines no son negros .
nuestros amigos le enviaron una carta a carlos .
elena espera al padre viejo .
maría visitará a una cantante pequeña .
cuando una cantante rica no puede cerrar las puertas , ese campesino cocina pan .
ese campesino alto cerrará mis ventanas azules grandes .
¿ quién baila ?
¿ dibujan esos maestros tranquilos muchas bibliotecas nuevas grandes ?
les doy otro zapato marrón a diez reyes .
¿ come nuestra madre alta famosa tres peras pequeñas ?
nuestra mujer quiere encontrar la taza marrón vieja .
leerás los libros .
¿ cierra lucía siete puertas ?
¿ corres ?
¿ quiere tu vecino joven la llave vieja ?
el abuelo encontró las botellas amarillas anoche .
nunca cantamos nuestra canción .
¿ quiere juan una silla azul ?
corrí .
comerás arroz .
necesitas fruta ahora .
¿ beben tres niñas café ?
él ve un gato fuerte hoy .
ana no ve este pez joven .
esperaste nuestro tren .
ella escribirá historias .
mi hermano necesita esas bolsas baratas ahora .
hablarás con ocho pintores .
nunca trabajas en siete casas famosas .
nuestros tíos inteligentes les dan otro espejo pesado a los hombres .
la taza está detrás de una iglesia amarilla .
un pintor fuerte les da unos cuadros a estos pintores .
no bebiste el jugo caliente .
tienes que viajar a aldeas grandes ricas .
¿ dónde juegan esos reyes inteligentes ?
mi aldea es pobre .
no vivimos en el pueblo pequeño porque los pintores no trabajan .
mis médicos amables comerán la carne .
comí esas peras .
hay mercados blancos famosos detrás de esta oficina .
tu tío habló con muchas reinas anoche .
nuestra madre siempre visita mis aldeas pobres .
un hombre está comiendo mi tomate .
mi madre vendió otra naranja roja dulce .
carlos necesita cinco camisas .
veinte campesinos viejos famosos le dieron unos sombreros al maestro .
ella quiere vender una silla blanca vieja .
viajarás a seis países .
buscas mi lámpara amarilla .
mi hombre alto a menudo vive en mis pueblos pobres .
cuatro pintores están contentos .
seis caballos son más grandes que los pájaros .
como mi huevo caro .
mi hija joven no necesita mi barco viejo , pero maría cierra muchas puertas .
nuestro amigo que limpia esas tazas toca unas guitarras nuevas .
el padre a veces escribe nuestra carta .
mis pintores pequeños fuertes beben jugo caliente hoy .
lucía pintó muchos techos .
mi vecino tiene que visitar ocho museos .
si un hombre vive en siete países , mi tío tranquilo vuelve a doce tiendas todos los días .
¿ cuántas lámparas hay en otro mercado ?
una cantante inteligente pinta esta pared blanca ahora .
esa enfermera llevó mi falda verde ayer .
la reina le da esos sombreros azules largos al pintor .
otra lámpara está en dos hoteles hermosos .
caminaste .
ella le envía el libro viejo interesante a otro niño .
mi maestro alto fuerte espera a ese hombre porque ana pinta mis perros .
la reina tranquila no lava seis trenes .
no encuentro una lámpara cara y puedes limpiar las paredes .
nuestro vecino tiene que leer estos poemas viejos tristes .
estos cocineros escriben unos mensajes cortos , pero mis hermanas rompen esas ventanas pequeñas .
los pintores viejos buscaron las vacas marrones inteligentes anoche .
el hombre dibujará unas gallinas .
nunca abrimos nuestra ventana amarilla grande .
mi abuelo escribirá la historia interesante mañana .
cuando él no corta esta cebolla grande cara , nuestra hermana habla con mi abuela alta .
como .
ana cocinó el arroz frío anoche .
ellos encontrarán las llaves mañana .
nuestras hermanas que limpian nuestra pared comen manzanas rojas .
tu abuela es muy fuerte .
¿ van los alumnos fuertes al hospital verde ?
iré al hospital .
miguel beberá café caliente .
quiero abrir muchas ventanas rojas .
mis tíos no tienen cuatro vestidos blancos feos porque ella puede tocar mis pianos .
miguel quiere cerrar nuestra ventana azul pequeña .
este museo está lleno .
hay un maestro en nueve hoteles .
pedro lee otra historia difícil y pedro tiene una guitarra hoy .
¿ cortas unas cebollas dulces ?
esos campesinos leyeron este periódico nuevo interesante anoche .
maría está pintando los hospitales blancos .
carlos buscó los gatos marrones pequeños .
cuando llevamos el sombrero , juan tiene los vestidos los lunes .
seis techos son amarillos .
seis hombres bebieron la leche .
elena está comiendo fruta .
la niña pequeña abrirá unas ventanas verdes nuevas la semana próxima .
cocinamos queso hoy y nuestro campesino no pinta una estación verde .
¿ dónde está la caja ?
estos conejos no están cansados .
cinco reinas romperán un plato .
¿ vuelve el maestro a esta iglesia pequeña ?
nuestra abuela fuerte tiene que buscar esta bolsa marrón .
¿ buscan nueve enfermeras viejas mi oveja ?
esa mujer famosa dibuja un burro tranquilo .
el río es tranquilo .
cortamos huevos dulces .
nueve pintores viejos necesitan arroz .
miguel está esperando otro tren grande .
cuando ese rey amable no ve puentes , ellos pintan muchos conejos hermosos .
maría no llegó al hotel ayer .
ellos están abriendo una puerta amarilla .
mi campesino está llevando mis vestidos .
iré a otro museo mañana .
maría pintó el pez la semana pasada .
él leerá ese periódico mañana .
mis alumnos que vuelven al hotel dibujan puentes .
estás hablando con nuestro amigo fuerte .
¿ bebe juan vino ?
tres reyes verán esta oveja esta noche .
hay limones en seis cocinas .
él viajó a unos países ricos .
mi caballo joven corrió en cinco playas .
¿ lees mis poemas ?
¿ pintas un caballo tranquilo ?
leeremos el libro interesante la semana próxima .
esa reina verá el perro mañana .
la reina inteligente cierra las ventanas azules porque un pintor amable lee otro libro .
lucía llevó este zapato .
los cocineros visitan ese hotel los lunes .
visitaré muchas ciudades pequeñas mañana .
otra vaca marrón duerme en nuestra cocina .
¿ comes otra zanahoria fresca ?
muchas llaves negras caras están en la caja .
el campesino pequeño dibuja iglesias .
nuestra abuela está cantando otra canción corta triste .
esa mujer amable a menudo lava ese abrigo .
cinco hoteles están llenos .
otro pintor buscó muchas gallinas negras esta mañana .
estas mujeres pequeñas bailan detrás del jardín ahora .
ese cocinero fuerte ve esta gallina , pero no bebemos agua .
juan escribió nuestra historia .
la cama pesada está en siete iglesias .
¿ tiene mi hermana los gatos fuertes ?
las abuelas que duermen en las tiendas tienen nuestro piano .
lucía beberá jugo .
mi hija cantó canciones anoche .
los médicos le dan estos sombreros hermosos a este médico .
cuando miguel puede jugar cerca del jardín tranquilo , siete campesinos inteligentes no venden naranjas .
limpiaste la oficina grande .
¿ cuántos niños hay en una cocina ?
tengo este tren grande porque nueve alumnos viejos duermen en otra oficina .
tres iglesias están llenas .
cuando mi médico amable puede comer una pera dulce , tus abuelas ricas cantan la canción .
ella no caminó en mi calle tranquila ayer .
si ellos compran doce faldas , ellos hablan con nuestra hermana .
las reinas cantaron .
un alumno inteligente juega y una mujer puede vender el pastel .
¿ llegan nuestras hijas a tres iglesias pequeñas ?
ana duerme en cinco jardines grandes .
este abrigo no es marrón .
juan encontrará el perro .
mis abuelas comieron la zanahoria .
ella vende mi pájaro grande inteligente y mis cocineros llevan nuestro vestido azul ahora .
nuestro tío come unas cebollas pequeñas porque tu amigo viejo cierra una puerta .
¿ viajan ellos al país ?
¿ pintan los reyes nuestra puerta verde ?
el padre tranquilo quiere buscar veinte gallinas .
tres campesinos viejos quieren vender el cuadro blanco .
lavas muchas faldas porque él puede beber agua caliente .
¿ tiene carlos las bolsas pequeñas ?
hay doce trenes viejos cerca de mi playa hermosa .
¿ limpian nuestros abuelos fuertes seis ventanas ?
maría lava ocho sombreros marrones .
el caballo tranquilo no juega en ocho bosques .
tocamos un violín barato porque mi abuela alta puede encontrar la camisa larga .
corro ahora .
vendemos la manzana roja y compro un mensaje .
él encuentra un espejo nuevo feo .
tengo que viajar a unos pueblos hermosos .
nuestra hija va a llamar al hermano joven .
mi tío inteligente leerá el periódico corto mañana .
mi burro viejo jugará en los museos esta noche .
él trabajó delante de nuestro hospital nuevo anoche .
¿ lee maría unos mensajes viejos ?
si la oveja pequeña come en los hoteles amarillos , ese niño puede comprar una cama barata .
otro médico inteligente venderá nuestra bolsa pronto .
si la enfermera tranquila dibuja un mercado por la tarde , toco seis guitarras .
jugaremos cerca de otro lago mañana .
puedes cocinar carne fresca porque la reina vieja ayuda a una enfermera hoy .
cuando mis vecinos pueden limpiar tres oficinas , nuestro abuelo quiere abrigos .
no lavaste ese vestido .
necesito el sombrero largo hermoso .
esos médicos que visitan el pueblo rico viajan a las aldeas .
ella cortará unos pasteles pequeños .
juan corrió en esa playa ayer .
toco muchos pianos negros nuevos porque ellos no bailan .
si la madre corre , el perro pequeño juega en los bosques hoy .
estos alumnos pintarán veinte casas .
nuestro padre les dio vestidos amarillos a nuestros vecinos .
mi hermano que ve este bosque hermoso tiene ocho pianos .
maría buscará esta bolsa .
juan quiere cerrar mis puertas .
nuestros hermanos están cortando esta patata fresca .
esos maestros ricos no dibujan doce montañas .
muchas ventanas no son blancas .
muchos campesinos viejos tienen que hablar con mis alumnos famosos .
las hijas les dieron estos espejos feos a mis médicos .
¿ viajan muchos médicos a dos países tranquilos ?
maría leyó los mensajes cortos la semana pasada .
tu hija necesita esa botella amarilla .
hay mercados grandes hermosos en veinte oficinas .
los niños pequeños amables cantan unas canciones .
mi hija que lee historias busca la bolsa barata .
¿ cuántas botellas hay en ocho estaciones blancas ?
esas niñas famosas tienen que leer diez historias .
tres reyes amables le dieron ese libro a tu padre .
¿ cierra esa mujer hermosa la ventana ?
nuestro burro grande fuerte está corriendo en una casa fea .
encontraré ese pájaro tranquilo .
tu amigo es más alto que ese rey .
las hijas altas pueden escribir cinco mensajes .
busqué seis lámparas redondas .
limpié nuestra oficina .
mis tíos que compran unos tomates caros cocinan sopa caliente .
no dibujamos esta vaca fea porque pedro puede pintar mis techos amarillos pequeños .
estás abriendo puertas .
ana encuentra nuestra cama negra ahora .
él escribió nueve libros viejos tristes ayer .
¿ quién juega ?
un niño amable cierra esas puertas rojas porque mi abuelo amable puede cortar nuestra pera pequeña .
si estos maestros jóvenes pequeños pintan mi gallina inteligente , los alumnos compran fruta caliente .
¿ quién dibuja ovejas fuertes ?
una reina leerá un periódico largo mañana .
tus hermanas amables hablan con tu amigo porque un hombre compra poemas .
el hombre pequeño tiene que comer esta naranja grande .
ellos trabajaron anoche .
nunca encuentro esa gallina grande .
no esperas autobuses .
nuestro hombre es más rico que ocho enfermeras .
carlos escribirá este libro largo mañana .
cuando hablo con un pintor , buscas a dos cantantes hermosas otra vez .
pedro venderá mi sombrero .
cuando mi enfermera bebe jugo frío , nuestra mujer rompe estas ventanas pequeñas los domingos .
hay cuatro coches baratos delante de estas escuelas grandes .
querré vino caliente .
¿ duermen tres reyes en mis jardines ?
ellos lavaron otro abrigo azul ayer .
un limón es barato .
no bebí café ayer .
cantas la canción porque ellos pueden cortar una naranja .
pedro canta otra canción .
los médicos irán a mis casas feas mañana .
mis hombres hermosos pintan casas los lunes .
¿ camina juan en el mercado ?
otro alumno ayudará a este cocinero rico mañana .
¿ llama una mujer a nuestra reina pequeña ?
no corremos porque este alumno pinta otro techo .
mis abuelos encontraron cuatro cajas azules viejas .
tu hermano viejo hermoso lava mi zapato marrón ahora .
mi abuelo pintará los burros pronto .
esa casa está cerrada .
ocho canciones no son tristes .
un médico vuelve a cinco hoteles .
dibujas un río porque nuestra madre lee un poema .
maría compró nuestra manzana .
hay espejos verdes en estos hospitales .
veinte niños visitarán torres rojas .
doce niñas tienen que cerrar ventanas .
podemos romper un plato verde .
¿ tiene tu hija amable estos relojes ?
otro cocinero siempre cierra unas puertas rojas .
pedro jugó en esa iglesia blanca ayer .
juan escribió las historias anoche .
él trabajará .
nuestro amigo llevó muchos sombreros hermosos ayer .
nuestra enfermera inteligente tiene que llamar a tu hermana famosa .
elena romperá muchas ventanas pronto .
ella habla con nuestra enfermera hoy .
les damos esa mesa a los hombres .
tus abuelos ricos dibujarán nueve gallinas .
un pintor trabajará cerca de una playa mañana .
el cocinero lavó vestidos .
¿ qué quieren diez enfermeras ricas ?
¿ necesita carlos mi silla ?
veinte periódicos son tristes .
ella dibujó una biblioteca ayer .
nuestra madre que escribe las historias habla con ese alumno .
mi niña encontró esos abrigos .
vendes este tomate pequeño .
si esa reina tiene un tren , mi madre rica puede comprar camisas .
los maestros encuentran muchas tazas , pero esa enfermera inteligente no espera a miguel .
si tres campesinos pueden dibujar otro puente , nuestro cocinero busca cuatro caballos marrones .
¿ visitan los amigos inteligentes un pueblo ?
pinté los techos .
cuatro puertas están rotas .
encontraste camisas cortas anoche .
la abuela que vende una zanahoria roja fresca espera a lucía .
si nuestra abuela tiene la falda hoy , otro hombre dibuja muchos lagos grandes .
¿ llevan ellos esas faldas ?
nuestra hija es más rica que esas mujeres .
los campesinos inteligentes a menudo llaman al padre .
mi techo es muy rojo .
¿ cuántos cuadros hay detrás de siete tiendas amarillas ?
esperaste el coche azul .
quiero leche fría .
carlos está cortando cinco cebollas grandes .
cuatro pasteles son rojos .
cuando miguel compra muchas camas blancas , una mujer compra esos coches amarillos nuevos .
tu padre alto famoso cantará .
mi hermano pintó una vaca blanca .
diez botellas son pequeñas .
elena le da los libros interesantes al vecino .
ellos viven en la ciudad hoy , pero lavo el autobús .
cortarás otra cebolla .
ella dibuja el caballo otra vez porque otro rey viejo pequeño viaja a aldeas grandes .
encontramos otro pez pequeño el año pasado .
este plato es muy pesado .
este pintor que bebe vino encuentra vestidos marrones largos .
esa enfermera joven alta no necesita siete tazas azules y rompo un plato verde .
leímos la carta corta triste .
estos maestros trabajaron ayer .
¿ quién viaja a dos países ricos ?
¿ ves un hospital pequeño ?
mis relojes amarillos nuevos están sobre muchas camas .
hablaste con mi hermana anoche .
¿ qué venden doce campesinos ?
dibujaremos esa iglesia vieja .
¿ llevan las reinas una falda nueva cara ?
cuando un cocinero no corta muchos tomates baratos , ana no corta carne .
no caminamos .
nuestro maestro que vive en esos pueblos ricos compra muchas zanahorias pequeñas .
el tío tendrá mis gallinas pronto .
podemos llevar otra falda porque la hija visita este puente por la noche .
¿ comes siete cebollas pequeñas ?
pedro visita esos países ahora .
un médico famoso no volvió a la tienda amarilla anoche .
dos mujeres son muy inteligentes .
puedes dormir en las iglesias y leo el libro .
mi tío que juega en diez oficinas canta .
cuando los pintores no ayudan a una enfermera , esperamos el barco hoy .
si siete campesinos ayudan a mis hermanos , un maestro puede tocar estas guitarras .
pedro esperó los trenes esta mañana .
ana está comiendo un limón rojo barato .
no vemos esos barcos blancos .
siete pintores bailarán pronto .
muchas reinas les dan otro pastel a tus vecinos .
la hija fuerte visita mi casa .
cinco torres están vacías .
este cocinero lava los coches grandes caros .
otro maestro no tiene esta falda porque otra enfermera rompe esta ventana .
pedro lavó el abrigo amarillo anoche .
los maestros cierran esta puerta .
visité un país .
siete sillas negras están en estas cajas .
¿ llega este alumno a cuatro bibliotecas amarillas ?
ellos tendrán relojes nuevos mañana .
mi hermano pequeño abrirá la puerta .
dos niñas son muy fuertes .
juan dormirá en estos parques mañana .
abres puertas .
pedro lavará seis camisas .
¿ beben ellos café frío ?
mi cocinero inteligente puede cantar nuestra canción , pero limpiamos nuestro cuadro .
él viajará a doce ciudades pronto .
nuestras hijas que esperan nueve barcos llegan al museo .
muchas cebollas son muy grandes .
la cama es muy fea .
ella limpia unas llaves y tienes diez guitarras .
quiero dibujar unos perros .
lucía pinta seis pájaros y no puedes leer esa carta .
ellos corren otra vez .
mi abuela quiere vender las gallinas feas .
cuando mi abuelo joven canta mis canciones , ellos vuelven al hospital .
le dimos unas cajas a otro maestro .
pinté casas hermosas .
ana corrió .
un alumno compra los relojes baratos .
ella lavará un vestido negro mañana .
dormimos porque vives en muchas ciudades hoy .
nuestras abuelas compran dos botellas .
muchos abrigos no son largos .
los gatos caminaron delante de muchos árboles pequeños .
seis niños ricos lavarán un abrigo blanco mañana .
tres pájaros negros no durmieron cerca de nuestra oficina el año pasado .
no fuiste al puente .
corto tres limones .
quieres encontrar mis relojes grandes .
¿ dónde bailan muchos hombres ?
miguel le dio nuestro mensaje largo difícil al padre .
ella cocinará fruta esta noche .
¿ llevas cuatro camisas ?
juan cierra ventanas .
miguel jugará .
tus abuelos que necesitan veinte trenes lavan estos sombreros nuevos .
mis amigos encuentran estos perros .
¿ quién abre nuestra ventana ?
la cantante pequeña no quiere mis trenes porque no vendes sopa caliente .
un niño pequeño abrió cinco ventanas azules anoche .
nuestra gallina está cansada .
si quieres esta mesa , ellos abren la ventana roja por la noche .
cuando esos caballos marrones hermosos no comen en los bosques , corres .
estoy jugando .
nuestras abuelas a veces cortan esa manzana .
él comerá mi patata pequeña cara .
hay una cebolla cerca de estas torres blancas .
veinte cocineros jóvenes hermosos cocinaron carne .
rompes nuestra ventana blanca .
las canciones son cortas .
el rey hermoso viajó al pueblo interesante esta mañana .
si nuestro amigo amable no toca nuestra guitarra , ellos pueden dibujar nuestra biblioteca verde fea .
mis abuelas tranquilas hablan con ese alumno y nuestro médico camina en ese bosque .
lavo el tren blanco porque no dibujo la biblioteca blanca .
lavaremos el zapato .
¿ corre mi hermana joven famosa en mis estaciones ?
cuando tus abuelas pueden cortar limones , no necesito un plato verde .
nuestros hermanos cantaron .
beberás jugo .
cuando tengo las bicicletas nuevas , ayudas a esos alumnos los lunes .
espero a pedro porque ana habla con nueve cocineros amables .
tenemos las bolsas .
¿ necesita la reina hermosa fruta ?
nuestro hombre le da dos manzanas rojas a un niño .
él compra té hoy y cinco enfermeras fuertes pueden cantar en el campo tranquilo .
tu tío famoso compró mi autobús .
mi abuelo puede vender muchos abrigos .
¿ encuentra el padre siete zapatos feos ?
¿ pintas este caballo ?
mi canción no es corta .
dibujamos dos tiendas verdes pequeñas .
lucía encuentra sillas baratas .
escribiste los libros cortos anoche .
compramos una patata roja .
no leemos cuatro mensajes .
nunca lavo los coches .
ana le envió mis mensajes viejos a mi abuela .
comeremos carne mañana .
estamos llegando a nuestra casa famosa .
vemos una vaca hoy .
miguel lavó un abrigo la semana pasada .
carlos vende tres bicicletas viejas grandes hoy .
estos alumnos famosos quieren lavar doce abrigos .
lucía está pintando la oveja grande .
¿ encuentra mi abuelo estos zapatos caros ?
jugarás en este parque .
¿ llegan muchos alumnos pequeños ricos al museo hermoso ?
rompí tres platos pesados .
juan está dibujando otra vaca marrón joven .
¿ cuántos peces hay en un parque ?
él puede lavar muchas bicicletas caras .
lavas las camisas por la noche porque estos caballos hermosos juegan cerca del parque los lunes .
juan trabajará .
un pintor fuerte llama a mis abuelos y juan quiere otro zapato blanco largo hoy .
encontraste mi abrigo .
estoy trabajando en esa playa .
si otra niña tranquila no quiere esa silla , juan encuentra un conejo hermoso los domingos .
tres camas no son rojas .
¿ vendes siete cebollas frescas ?
mis bolsas nuevas están en nuestra caja .
hay muchas vacas en esta biblioteca nueva .
carlos quiere relojes caros .
¿ compra juan el reloj ?
el hombre que compra el cuadro pesado tiene esa flor .
nuestras abuelas nunca llevan esos vestidos amarillos .
otro limón no es rojo .
no bailamos .
tres pintores pueden cortar carne y podemos comprar muchas zanahorias pequeñas .
un alumno a veces vende esas bicicletas .
una cantante tranquila viajó al pueblo famoso anoche .
le diste el abrigo a maría .
ella verá otra casa nueva pronto .
no tienes el tren verde viejo .
¿ pintan mis amigos esa tienda famosa ?
mi hermana amable cortó cinco patatas rojas la semana pasada .
pintas la pared todos los días y lucía vende mis platos marrones .
mi tío inteligente abre puertas porque no visitas nuestra biblioteca .
tres gatos hermosos caminarán en una cocina tranquila .
llegaré a muchas iglesias pronto .
un rey tranquilo habla con lucía y el médico rico no abre las puertas .
¿ tiene ana una vaca ?
ellos siempre comen sopa .
¿ bebe ana café ?
ellos abrirán puertas .
muchos peces son viejos .
pedro no toca mis pianos y estas vacas inteligentes no caminan en veinte iglesias hermosas .
esa mujer no lava nuestra falda nueva hermosa .
el hermano abrió otra ventana pequeña anoche .
otro perro fuerte come cerca del museo los lunes , pero duermes cerca de otra biblioteca .
escribimos estas historias famosas hoy .
ella caminará mañana .
el médico cocinó sopa anoche .
mi enfermera es muy tranquila .
cierro las puertas amarillas , pero puedes comer cerca de un jardín .
tu hija famosa durmió anoche .
nunca rompemos dos ventanas rojas .
carlos abrió esta ventana amarilla ayer .
¿ encuentras dos zapatos ?
veo dos gatos .
él viaja a muchos pueblos pequeños .
la reina vieja corta las zanahorias baratas hoy .
ese hombre leerá esta historia corta mañana .
si caminas en la estación hoy , nuestros abuelos inteligentes no duermen en muchos parques .
nuestro hotel es más pequeño que mi museo .
mi vecino escribe mensajes nuevos difíciles .
el campesino rico cocinó la fruta .
nuestra cantante quiere tocar violines .
juan camina cerca de otro jardín y mi padre baila .
¿ limpias ocho lámparas ?
¿ dibujan los reyes muchos ríos pequeños ?
beberás leche fría .
mi niña inteligente vende nuestro huevo dulce y ana pinta los conejos todos los días .
¿ come la abuela hermosa la naranja ?
nuestra hija vieja tocará el violín pronto .
puedes encontrar esas gallinas pequeñas .
trabajas hoy .
esta enfermera inteligente viajó a pueblos .
el cuadro está en veinte cajas .
no veo a juan porque este maestro fuerte rompe cinco platos .
cuando una enfermera tiene un vestido , pedro puede jugar detrás de mis torres .
buscamos esta mesa esta mañana .
¿ escribe ana otra historia ?
mi hermano le dio veinte huevos pequeños frescos a nuestra madre .
puedes dibujar un conejo feo .
¿ lee ella otro mensaje largo ?
nuestra abuela siempre lava un zapato hermoso .
¿ cuántos conejos hay en otro museo ?
ellos están tocando diez pianos viejos .
juan ayuda al amigo alto los domingos .
si busco el reloj , ana visita a ana .
elena no ve mi campo porque nuestro vecino no ve el museo verde .
nuestro padre no cortó el pastel anoche .
los hombres fuertes limpiaron las puertas pequeñas ayer .
mis maestros cortaron pan frío esta mañana .
mis abuelos no cantaron cuatro canciones famosas .
estás leyendo estos libros .
siete niñas trabajaron en nuestra estación .
veinte niñas altas a veces vuelven a mis bibliotecas viejas .
ella dormirá .
mi hija vieja tiene relojes ahora .
pedro tocó pianos ayer .
carlos no cerró otra puerta esta mañana .
esas enfermeras famosas pueden buscar una flor cara y no cierro las ventanas .
nuestro tío viejo hablará con ese cocinero .
¿ corta nuestro hermano joven la cebolla pequeña ?
nuestra hija que ve la tienda dibuja mis museos verdes .
lucía cortará mi limón .
¿ duerme nuestro vecino tranquilo en veinte hospitales ?
¿ duermes ?
¿ limpian mis hermanas unas tazas redondas ?
mis vecinos quieren camisas blancas largas .
carlos visitará una ciudad pequeña famosa esta noche .
puedo visitar esos mercados feos .
doce alumnos inteligentes quieren bailar en cinco escuelas rojas .
cuando ella limpia cocinas , elena no tiene el perro fuerte .
seis reyes famosos a menudo encuentran abrigos negros .
la vaca marrón caminará cerca de nuestro mercado mañana .
¿ ayuda ana al cocinero ?
carlos dormirá mañana .
no volviste a diez iglesias rojas .
la mujer hermosa busca diez cuadros , pero este hombre llega a esa tienda .
si podemos comprar café frío , el rey amable trabaja en nuestro parque .
pedro cerró nuestra ventana roja .
ese niño que quiere unos cuadros corta estas manzanas frescas .
otro burro es fuerte .
no dormimos detrás del bosque porque el pintor bebe la leche .
la reina pintará ese techo amarillo .
el maestro viejo juega ahora .
lucía come un huevo porque elena no necesita otra llave .
lucía escribió dos mensajes viejos cortos .
este alumno no encuentra una silla amarilla y tu abuelo amable limpia mesas feas .
si él lleva esos vestidos otra vez , un campesino hermoso canta .
cuatro cocineros ricos cantan esta canción nueva por la mañana y cortamos diez pasteles por la noche .
mis hijas ricas esperan los trenes los lunes porque el cocinero come mi tomate fresco ahora .
estoy comiendo el pastel barato .
las hermanas altas hermosas quieren romper las ventanas .
mi alumno tranquilo no espera mi bicicleta cara .
siempre rompo el plato .
¿ llaman mis reinas ricas a una mujer vieja ?
juegas .
nuestra hermana vieja limpió cuatro techos rojos .
cuando comemos nuestra pera por la mañana , lucía va a esta estación hermosa .
le das las tazas negras a nuestra madre .
las mujeres famosas siempre buscan veinte camas .
¿ compran dos reinas hermosas limones ?
esos cocineros famosos le dieron mi sombrero rojo al alumno .
nuestra mujer fuerte quiere la sopa hoy .
¿ habla ella con lucía ?
ella está cortando esas patatas .
¿ compra maría unas historias ?
cinco alumnos les dieron un poema triste a tus tíos .
si esos niños no necesitan nuestro abrigo , las hermanas ricas comen .
cuando carlos lleva el abrigo , llevo doce vestidos marrones largos ahora .
elena dormirá .
esperaremos un tren pequeño .
los hombres van a cortar la pera .
si mis tíos bailan en esas playas hermosas , la reina hermosa llama a los hermanos .
él puede comprar unas manzanas baratas .
comes arroz .
¿ quiere elena otro autobús ?
¿ encuentra nuestra abuela pequeña una gallina inteligente ?
¿ quiere ana el agua ?
¿ abre él muchas ventanas grandes ?
compro nuestra lámpara redonda .
pedro está comiendo otra naranja .
cuando nuestra hija no puede bailar en seis parques , compras las manzanas pequeñas .
seis pintores están cantando canciones tristes .
ana trabaja .
¿ cierra un rey una ventana ?
muchas enfermeras viejas pueden tocar dos guitarras viejas .
ana vende este caballo blanco .
lucía compra los barcos amarillos nuevos .
una niña cocinará arroz .
mis hijas le dan muchas cebollas a elena .
juan juega .
los pianos no son baratos .
las reinas ricas esperaron el coche verde ayer .
ana lavará esa falda grande .
el rey tranquilo canta nuestra canción y la enfermera no escribe muchos poemas .
si veo otro caballo negro , ellos corren en otra calle otra vez .
estas niñas no tocaron violines baratos .
¿ cocina nuestra enfermera famosa la fruta ?
veinte relojes amarillos están en las cajas .
los médicos no limpiaron los parques pequeños tranquilos .
no llevo unos vestidos largos .
el hermano escribe cuatro periódicos por la mañana porque un campesino va a muchas bibliotecas hermosas .
¿ vende la hermana las sillas ?
mi hermana hermosa no rompe mi ventana porque busco a tu hermano amable .
esta cantante que baila detrás de doce bibliotecas pequeñas busca los platos feos .
¿ cuándo vuelven veinte alumnos ?
hay una patata cerca de tres ríos .
corté una manzana pequeña .
esos platos son blancos .
mis amigos necesitan muchas llaves azules .
juan siempre toca guitarras .
un pintor hermoso pinta el pez negro inteligente .
¿ rompe el tío ocho platos ?
cuando elena corta las manzanas , no cantamos .
nuestro cocinero pinta una oveja los domingos y nueve reyes altos venden unas ovejas ahora .
ocho médicos viejos limpian ese jardín .
nuestro abuelo fuerte cantará canciones .
tengo barcos .
el médico pequeño caminó en siete parques esta mañana .
mis campesinos jóvenes altos leyeron el poema largo anoche .
nueve maestros tocaron una guitarra nueva .
dos cocineros comen en una estación pequeña porque juan canta esa canción .
miguel pintó nuestro pez .
el cocinero que corta queso encuentra lámparas .
si quiero la caja , ella compra el vino caliente .
carlos cantará .
¿ bebe un rey jugo ?
puedes buscar el cuadro pequeño .
cuando busco esos espejos los lunes , juan busca la oveja inteligente .
pedro cantará mi canción triste pronto .
esa enfermera va a buscar las botellas pequeñas baratas .
el cocinero lavará mi tren amarillo .
viviremos en ocho aldeas tranquilas esta noche .
ellos limpiaron un reloj .
juan bailó .
juan siempre tiene los relojes blancos baratos .
a menudo esperamos estas bicicletas caras .
ana lavó mi zapato anoche .
las enfermeras escriben poemas .
lucía limpia los relojes verdes .
la mujer baila , pero el hermano come la patata barata .
¿ dibuja una mujer los lagos ?
puedo beber el vino y el campesino pequeño cierra las puertas pequeñas .
no toco un violín y un niño camina .
otro rey joven fue al hospital .
¿ come mi hermana el pan ?
elena rompió nuestra ventana azul esta mañana .
¿ rompe juan nueve platos feos ?
esos niños beben jugo porque canto cuatro canciones cortas .
las cantantes quieren buscar una silla negra nueva .
¿ lavas nuestro tren negro ?
¿ quién vive en aldeas hermosas ?
él toca estos pianos baratos los lunes .
bailaré .
lucía leyó la carta interesante ayer .
hay un barco negro grande en este parque .
ellos no tienen esos barcos caros .
las botellas viejas pesadas están cerca del lago pequeño .
muchos peces caminan delante de un jardín y lavo nuestro sombrero blanco ahora .
lavamos una falda amarilla barata .
mi pintor joven alto leyó libros ayer .
cuando trabajas , como unas peras dulces .
muchas niñas amables limpiaron seis parques .
mis ovejas son muy negras .
correré .
la taza no es fea .
vendiste nuestro cuadro ayer .
¿ dibujan estas niñas jóvenes muchas vacas ?
¿ busca juan una vaca joven fea ?
escribes periódicos .
mi vecino tocó mi piano esta mañana .
mis amigos viejos inteligentes vivirán en estos países famosos .
doce cantantes fuertes no tienen nuestro reloj marrón , pero limpiamos nuestra taza .
muchos niños a menudo necesitan mi espejo marrón .
si muchas cantantes tienen otro piano negro , cocino la fruta .
si pedro baila en nueve calles , elena puede cantar .
¿ ayuda mi hermana vieja a juan ?
¿ van veinte reyes amables a un hotel nuevo ?
¿ trabaja el campesino ?
¿ compra elena el queso ?
nuestra enfermera rica come el pan frío porque el médico corre los domingos .
quieres caminar .
siempre limpias las cocinas .
otra caja está sucia .
miguel escribirá otro periódico difícil pronto .
el hermano hermoso escribió un mensaje ayer .
la niña que encuentra doce faldas busca la silla blanca .
si no puedes escribir un poema largo , esos cocineros amables pueden buscar este gato .
nuestra niña quiere visitar los pueblos .
un niño está llamando al niño .
esperas estos autobuses feos porque ana puede romper esa ventana .
un perro pequeño corre en nueve casas .
mis vecinos altos dibujan estas ovejas otra vez .
cinco reyes vieron los árboles tranquilos .
ella puede trabajar delante de otra oficina , pero nuestro padre viejo vive en nuestra ciudad .
cuando dos hombres compran el café otra vez , los médicos cantan muchas canciones otra vez .
rompimos otro plato .
vemos un gato ahora y nuestra abuela quiere otro tren blanco .
no tocaste siete violines .
nuestra hija que encuentra un reloj rojo dibuja estos lagos .
hay una naranja fresca en doce hoteles nuevos .
el vecino a menudo vende pan fresco .
¿ lleva lucía esta camisa ?
si puedo caminar en un mercado , este rey pinta muchos techos hoy .
miguel comerá carne pronto .
muchas niñas hermosas irán a muchas torres .
carlos puede bailar en nuestra tienda blanca y ana llega a muchas escuelas los domingos .
esos pintores amables caminaron detrás de la oficina ayer .
los maestros altos tranquilos cortan mi tomate dulce y tienes estos trenes .
rompí una ventana ayer .
ayudaste a la madre anoche .
vemos unas bibliotecas .
si miguel quiere este coche feo ahora , esta niña famosa dibuja esa tienda .
abrimos la ventana ahora .
nuestros amigos cocinarán el queso frío .
¿ cocina miguel la carne ?
nuestra madre leerá este mensaje .
si canto esas canciones hermosas , el maestro va a muchas estaciones verdes .
miguel jugó ayer .
estos pintores viejos altos no corren , pero el padre vive en ciudades pobres ahora .
esta mujer escribió ese poema .
pedro bailará .
una niña vieja pinta veinte puertas .
el pintor nunca encuentra los peces hermosos .
leo historias tristes porque las niñas comen .
los maestros viejos compran veinte camisas cortas ahora .
cocinas pan .
esperas el coche porque cocinamos fruta fría .
¿ lavas los vestidos amarillos ?
mis vecinos jóvenes juegan ahora .
ella corta dos patatas .
¿ cocina nuestro amigo rico arroz ?
él no encuentra las vacas porque mis peces pequeños comen en ese museo .
nunca tenemos esta mesa .
si lucía canta en siete jardines , miguel lee mi carta .
jugaste en esta biblioteca fea .
mi padre que vende otra bolsa encuentra nuestro abrigo feo .
dibujaste los museos .
elena necesitará ese sombrero pronto .
mis niños van a llevar un vestido marrón caro .
mis hermanos encontraron ese sombrero rojo .
cuando el hombre limpia mis ventanas amarillas nuevas , estos reyes viejos pueden visitar el pueblo rico .
les dimos mis camisas a estas reinas .
nuestras hermanas viejas famosas pueden leer nuestra historia famosa .
él está leyendo nuestro poema nuevo famoso .
necesitaremos sopa fría mañana .
un cocinero tranquilo vendió un tren anoche .
pedro pinta nuestra pared roja ahora .
no bebemos leche .
un pájaro negro puede comer detrás de la oficina pequeña , pero encuentro siete gallinas .
mi campesino que lava el vestido visita a veinte mujeres viejas .
cuando tus hijas quieren café frío , estas enfermeras dibujan las tiendas azules .
mi padre volvió a otra casa hermosa ayer .
nuestro maestro dibujó las estaciones .
mis vecinos cortan mi pastel .
llevaré tres faldas .
ella escribe ocho libros .
¿ rompen tus vecinos viejos inteligentes ventanas ?
él rompió los platos viejos .
el hombre tranquilo les da una lámpara a esos reyes .
miguel está limpiando unas camas rojas .
hay unas naranjas en seis iglesias .
le envías siete libros al alumno .
estamos llevando unos vestidos .
¿ cuántos puentes hay en dos playas ?
juan vive en veinte países .
dormiste en doce hospitales ayer .
le di nuestra silla a nuestra hermana .
siete perros caminaron en mi tienda famosa esta mañana .
ana vivió en muchos pueblos esta mañana .
buscaremos los relojes baratos pronto .
¿ ayuda elena a lucía ?
esa estación no es famosa .
un hombre viejo rico come este huevo .
las mujeres fuertes encontrarán una falda negra mañana .
estos reyes a veces dibujan un hospital blanco famoso .
vendiste una bicicleta ayer .
estamos comiendo esta patata .
la reina esperó barcos anoche .
la cantante visitará el museo blanco esta noche .
mi bosque es hermoso .
siempre llevas esta falda amarilla .
tres historias están debajo de veinte mesas .
carlos llevará el vestido blanco mañana .
nunca corremos .
mi niño a menudo ve esa torre verde vieja .
el rey visitó nuestra aldea pobre ayer .
cortamos la patata anoche .
¿ quién corre ?
cocinas carne .
juan habla con mi madre porque dos alumnos dibujan otro museo .
elena nunca corre .
lucía lavará muchos sombreros .
si podemos trabajar en los parques , ese maestro vuelve al museo ahora .
le damos mis cajas verdes caras a mi hermano .
ese rey viejo amable necesitará este autobús .
puedo comer otro limón .
visitamos esta iglesia .
seis pasteles son muy pequeños .
miguel vio la gallina anoche .
hay museos nuevos delante de esa playa .
mis hijas están cocinando carne .
¿ cocinan mis niñas queso caliente ?
pedro trabaja , pero busco una gallina hermosa .
¿ dónde está mi reloj marrón pesado ?
ana visitó las casas viejas ayer .
ella quiere llegar a diez bibliotecas .
le envío el libro triste al cocinero .
cuando abrimos la puerta azul , mis maestros tranquilos pueden beber leche .
lucía limpiará esa oficina .
encontrarás estos zapatos .
diez ventanas no están abiertas .
hay peces jóvenes en mis calles .
no toqué otro violín negro esta mañana .
ana caminó delante de la torre anoche .
cuando esta reina fuerte ve ese árbol , mi hermana no puede comprar siete camas .
carlos tendrá una guitarra .
¿ escribe miguel un periódico ?
maría dormirá esta noche .
esas niñas que ven los ríos hermosos pintan una gallina tranquila .
elena buscará otro perro joven fuerte .
elena llama a muchos alumnos fuertes .
ana jugará delante de las torres mañana .
como sopa .
ellos no pueden limpiar una mesa porque no pintamos una pared .
¿ camina ana delante de esa montaña grande ?
mi reina esperará a juan mañana .
él viaja a unos países hermosos y vendemos el tomate barato otra vez .
los alumnos que rompen el plato comen en mis museos rojos .
no fui a las torres pequeñas .
nuestro niño que tiene cuatro camas pesadas baila en una oficina .
maría rompió estas ventanas .
venderás otro tren rojo .
¿ qué leen tus vecinos ?
hay muchos museos nuevos en veinte escuelas .
ella lee nueve cartas .
pedro abre diez ventanas .
¿ dibujan mis maestros ese hotel viejo pequeño ?
no llevé mis vestidos .
ese puente no está vacío .
estoy esperando un tren .
hay vacas hermosas delante del puente .
maría romperá un plato marrón .
siempre corro .
querré la sopa .
tocamos siete guitarras por la mañana .
no compro este periódico triste .
las niñas ricas no quieren la fruta y necesitas un sombrero grande .
los alumnos escribirán un periódico mañana .
carlos llevó la camisa esta mañana .
ella cocina arroz frío ahora .
¿ pintan mis reinas fuertes otro pájaro viejo ?
ellos beberán leche .
miguel cerrará las puertas mañana .
¿ escribe otro maestro hermoso estas cartas ?
hay limones delante de esos hospitales rojos .
elena llegará al museo .
los niños están lavando este barco .
maría siempre compra mis vestidos .
¿ vende miguel muchas cajas ?
tengo esa oveja hermosa .
ese alumno que quiere la sopa rompe doce platos caros .
¿ escribe juan nuestro libro ?
¿ tienen esas mujeres altas el piano nuevo ?
¿ vuelve una niña a esas casas ?
lees esos libros .
lavas esta bicicleta verde .
nuestra madre que ve los caballos feos tiene esos perros .
cerramos una puerta amarilla ahora .
pedro le da muchos vestidos marrones al maestro .
mi abuela vieja famosa toca un violín negro caro .
queremos sopa .
esa mujer ayuda al maestro rico .
puedes escribir esa historia famosa .
pedro duerme cerca de un lago hermoso y abro una puerta .
si ellos beben el té , el amigo pequeño pinta nuestra oveja joven .
quieres la lámpara barata .
pedro llama a un médico porque los campesinos ricos leen un libro famoso hoy .
una niña no visita un país y como en cinco casas hoy .
hay muchos trenes pequeños en cinco cocinas .
cuando los tíos ricos pueden cortar sopa fría , cocino carne .
¿ escriben muchas niñas un poema triste ?
cociné pan caliente .
vuelvo al mercado grande .
maría lleva mis camisas negras .
las niñas pequeñas le dan mis faldas a mi padre .
nuestro pez inteligente comió en una cocina .
muchas enfermeras ricas le dieron dos poemas al niño .
ana vendió la zanahoria ayer .
¿ vende este hombre una llave ?
mi madre está dibujando cuatro puentes viejos .
estas cocinas son muy tranquilas .
leemos poemas difíciles porque no llamamos a nuestro niño joven famoso .
el niño buscará un gato .
el alumno comió zanahorias .
vendiste el tomate esta mañana .
corté carne .
queremos esperar al campesino .
¿ limpian tus hermanos otra taza vieja ?
carlos está comprando esos limones .
llamas a mi hija , pero una cantante camina hoy .
nuestros tíos están cerrando esas ventanas .
no cortamos queso .
ellos tienen nuestra vaca inteligente .
ana nunca viaja a pueblos .
carlos cierra una ventana porque quiero la botella vieja .
estos reyes ricos necesitan sombreros .
si podemos escribir el poema viejo , no buscamos a maría .
esa reina que vende un conejo pequeño encuentra esas ovejas .
estas mujeres necesitarán zapatos cortos mañana .
otra falda no es larga .
mi niño amable toca guitarras y esos niños fuertes corren en este parque .
ana fue a dos escuelas .
llevarás faldas .
no compré muchas cajas .
le enviamos mi mensaje difícil a nuestro médico .
el vecino famoso pintará una iglesia roja .
escribí el periódico corto difícil anoche .
los hombres quieren comprar sombreros .
limpiaremos mi cocina mañana .
estás viajando a esa aldea grande rica .
podemos bailar .
llevamos ese vestido blanco feo .
abriremos una puerta grande .
la niña tranquila visita dos bibliotecas rojas .
ana querrá el queso pronto .
¿ qué cocinan mis hermanas ?
el hombre alto cantó en esta playa .
¿ limpias techos pequeños ?
¿ limpia ana los techos amarillos pequeños ?
un autobús es muy negro .
encontramos tres vestidos cortos .
juan vende diez espejos , pero muchos reyes pequeños famosos cierran una ventana .
ana comerá la cebolla cara .
¿ llegan las mujeres al hotel ?
pedro encontró otro vestido grande .
canto .
tengo mi caja fea .
nuestro hombre pequeño cantará una canción corta .
nuestras abuelas que vuelven a seis hoteles hermosos escriben una historia difícil .
lavas tres trenes blancos .
la reina que lee muchos libros tristes habla con una niña .
siete cantantes pequeñas bailaron en los jardines anoche .
este zapato no es barato .
¿ canta elena canciones ?
él lleva ocho abrigos .
el cocinero tranquilo lavará tres sombreros .
la mujer necesitará el reloj nuevo caro .
miguel tiene dos trenes baratos .
lavarás los sombreros .
el libro no es largo .
veinte aldeas son pobres .
estos alumnos inteligentes corrieron .
comimos las zanahorias .
ocho cocineros hermosos no juegan en la biblioteca famosa y él vende doce flores .
no corrí .
carlos cantó mis canciones famosas .
estas cantantes viejas ricas pueden leer otra carta .
¿ vuelven muchos hombres a un hospital ?
los reyes comen un tomate .
¿ abre tu abuelo inteligente ocho ventanas ?
mis hijas buscarán este espejo .
un médico lleva ese abrigo porque elena puede hablar con tu hermana .
tendré la vaca vieja .
¿ busca carlos ocho sillas ?
nuestras abuelas que cierran esas ventanas viven en esa ciudad pequeña .
esos cocineros cocinarán pan caliente .
si abres puertas , elena dibuja cuatro casas .
¿ ve pedro ese coche blanco nuevo ?
puedes bailar en las calles porque carlos ayuda a la abuela por la mañana .
compras sombreros hermosos .
miguel toca cuatro violines caros .
¿ rompe este cocinero fuerte este plato marrón ?
muchas torres son más pequeñas que nueve tiendas .
ana bebe el jugo caliente , pero elena necesita cuatro autobuses baratos hoy .
¿ lleva mi abuelo tranquilo esas faldas verdes viejas ?
miguel visitó a juan anoche .
si tu hermana dibuja cinco bosques tranquilos , puedo beber café frío .
tu amigo encuentra gatos feos ahora .
miguel tiene mis botellas verdes .
tus abuelos tranquilos abrieron las puertas anoche .
ella necesita camisas .
queremos comprar la cama vieja .
ella llegará a una tienda grande .
caminaré en mi jardín .
¿ encuentran los hombres tres caballos feos ?
una iglesia está llena .
les di mi pera a los alumnos .
beberemos la leche .
las mujeres no pueden buscar esa flor porque la hija famosa llega a mi hotel .
le doy platos a juan .
no pintamos paredes .
dos relojes están limpios .
mis zanahorias son dulces .
ellos rompen mi plato hoy .
los alumnos a menudo tocan mi violín negro .
mi cantante les dio cebollas grandes frescas a nuestros hermanos .
las abuelas altas hermosas cocinarán la fruta mañana .
¿ cortan ocho mujeres jóvenes fruta fría ?
mi madre no puede dormir y busco ese caballo joven .
nunca espero los autobuses grandes .
mis enfermeras buscaron veinte pájaros fuertes .
toco este violín caro y lucía cocina arroz frío .
dos hombres inteligentes rompen mi ventana verde , pero las vacas corren en nuestra tienda nueva .
¿ lleva pedro nuestro abrigo rojo ?
mi pared no es blanca .
cuando mi rey toca una guitarra cara , bebes café caliente .
¿ limpia juan otro espejo ?
el pintor viejo fuerte comprará carne fresca .
cuando las mujeres compran pan caliente por la tarde , no bebes té .
pintarás el pájaro negro .
no corriste .
la hija quiere trabajar cerca de ocho torres azules .
un rey está dibujando los hospitales hermosos .
otra cantante pequeña puede llevar mi vestido porque nuestra hermana fuerte lleva unas faldas blancas .
¿ lee carlos libros ?
carlos bailó .
queremos beber jugo .
la calle no está llena .
ellos tocan muchos pianos .
ellos irán a esta torre .
¿ quieren tus vecinos el queso ?
mi abuelo quiere visitar escuelas nuevas .
espero mi tren nuevo .
¿ compras tres cebollas grandes ?
hay diez perros cerca de dos parques tranquilos .
hay seis ovejas en este museo .
esos alumnos que esperan un coche cortan mis cebollas frescas .
ese pintor puede pintar mi casa amarilla y otro rey habla con pedro ahora .
si pintamos el burro marrón tranquilo , ella pinta esa ventana .
carlos correrá cerca de otra tienda roja .
las reinas pequeñas tocan nuestra guitarra cara los lunes y corto las peras rojas los lunes .
carlos pintará otro pájaro negro joven .
los amigos famosos tocaron las guitarras .
muchos niños viejos les envían el mensaje viejo a los maestros .
ana bailará en la casa azul pronto .
ese zapato es corto .
puedes esperar a tu abuelo porque podemos tocar un violín nuevo .
las enfermeras pintaron muchas gallinas viejas anoche .
¿ vive maría en mi aldea hermosa ?
¿ cuándo comen estas reinas ?
ellos compran diez sombreros , pero lucía no corta las naranjas rojas .
leeremos seis poemas viejos tristes mañana .
queremos bailar .
¿ quién busca veinte burros ?
ellos siempre escriben ese periódico .
las enfermeras encontrarán cinco burros .
nuestro pintor pequeño está esperando nuestro coche .
¿ busca lucía las cajas ?
miguel cocinó fruta fresca anoche .
la hermana rica pinta esos perros marrones .
no encontramos una mesa amarilla .
nuestros tíos jóvenes están esperando a lucía .
limpiaré ese techo pronto .
este reloj no es redondo .
¿ tienen cinco campesinos famosos las faldas verdes baratas ?
queremos sombreros .
les doy estas bolsas a mis pintores .
la enfermera tranquila ve el árbol porque muchos pintores inteligentes caminan .
mi hermana es muy alta .
el alumno que camina detrás del jardín vende el conejo marrón .
escribí la historia .
nuestra madre va a escribir nuestra historia triste .
¿ limpias esos relojes ?
lucía ayudará al padre tranquilo .
no podemos cantar la canción porque una mujer famosa puede abrir cuatro ventanas .
cuando carlos cocina fruta , dibujo las bibliotecas .
veinte sillas están sobre siete camas .
las hermanas que compran las faldas lavan la bicicleta .
esa niña rompe otro plato porque mi tío lava zapatos .
¿ quieren las abuelas el té caliente ?
estás leyendo los mensajes .
pedro lleva las faldas porque juan corre delante del hotel grande hoy .
maría cocinará carne mañana .
diez mujeres famosas necesitan platos baratos .
juan lleva una falda corta .
los hermanos viejos buscaron otra gallina ayer .
si este alumno no va a estos hospitales amarillos , necesito arroz .
¿ limpia él otra lámpara barata ?
los médicos amables no llevan nuestro sombrero viejo corto .
cuando buscamos a ana , una reina fuerte lee un periódico .
vendo autobuses azules .
pedro puede limpiar una caja pesada .
ella puede cocinar fruta , pero mi vecino corre en dos mercados blancos ahora .
miguel limpia muchas paredes .
mis abuelos le dieron esos tomates dulces a tu vecino .
carlos viajará al pueblo .
estos niños famosos están dibujando una iglesia fea .
los niños hermosos visitaron al hombre pequeño ayer .
él puede cortar la manzana porque puedes pintar esta torre fea .
una cantante tiene que vender la lámpara pequeña .
cuando un niño encuentra esta caja , compramos este vestido negro .
puedo escribir este mensaje corto porque esas enfermeras tranquilas cantan detrás de muchos jardines .
ocho alumnos les dan ese huevo grande dulce a mis hermanos .
mi campesino no come naranjas caras .
los amigos tienen que querer los vestidos verdes nuevos .
compras leche caliente y lucía no tiene unos espejos redondos .
llevo el abrigo hoy .
si mis amigos escriben mensajes largos , lucía dibuja el hospital los domingos .
pedro busca otro gato grande .
volviste al mercado amarillo anoche .
tu amigo no compró los cuadros marrones ayer .
ella comprará leche fría mañana .
un campesino lava el sombrero y el alumno alto tranquilo viaja a la aldea ahora .
elena está encontrando el espejo pesado .
si nuestras hermanas buscan esos conejos hermosos , un rey no visita escuelas grandes .
maría quiere cantar veinte canciones .
maría escribe seis cartas .
hay ocho ovejas blancas pequeñas en esos hospitales .
doce pintores buscan nuestra mesa y el campesino rompe una ventana .
¿ cuántas patatas hay en ese mercado amarillo ?
nuestro abuelo corrió .
otro rey es más joven que otra niña .
pinto gatos negros fuertes .
él romperá los platos verdes pronto .
el cocinero viejo no puede limpiar mis techos y mis abuelas cocinan arroz ahora .
ella siempre encuentra esa taza cara .
¿ pinta carlos unas paredes ?
no vendemos unas vacas .
mis tíos no cortan esta pera fresca porque no comemos en el jardín .
mis hijas leyeron un mensaje anoche .
el pintor hermoso dibuja ocho burros hermosos y tus abuelas pueden comer .
ellos pueden limpiar oficinas porque ana corta fruta .
mi tío encuentra otro pájaro fuerte .
¿ camina nuestra niña tranquila cerca de mis lagos ?
hay una flor marrón barata en mis oficinas .
hay muchas ovejas en estos hoteles verdes .
la hija puede comprar queso porque ella bebe té caliente .
un pez pequeño inteligente jugará en un museo .
tus hermanos esperarán a mis amigos mañana .
estas enfermeras que necesitan relojes quieren mis trenes viejos .
el mensaje triste está sobre esta mesa .
el hermano limpia doce camas pesadas .
dibujas este lago .
tres maestros escriben mis poemas .
carlos quiere otra flor grande fea otra vez , pero juan no pinta un puente rojo nuevo .
¿ pinta ana mi iglesia ?
miguel romperá los platos pequeños .
tu hija bailará en doce casas amarillas pronto .
pedro cortará esta zanahoria fresca .
el hombre canta hoy .
mi pájaro caminó cerca de los parques ayer .
no bebemos té caliente y ella rompe las ventanas ahora .
lavo un coche verde .
ana está vendiendo mi mesa .
¿ cuándo vuelven mis enfermeras altas ?
cuando cortamos queso caliente , puedo cocinar carne .
nuestros abuelos jóvenes tranquilos a menudo necesitan unos zapatos rojos .
mis amigos no cortan cinco huevos , pero nuestras abuelas leen los poemas cortos .
¿ cuántos pájaros hay en nuestra casa vieja ?
¿ quién corta mis huevos dulces ?
no volvimos a estos hoteles .
hay muchos médicos en mi escuela .
mis hijas viejas comieron fruta .
muchos alumnos jóvenes venden nuestro conejo , pero no compras un plato rojo .
mis reyes que venden el autobús barato pintan esos techos negros .
no leí cuatro poemas difíciles anoche .
diez países son interesantes .
él siempre duerme .
mis hermanos tienen cuatro pianos .
mi abuelo tranquilo pintó una iglesia azul hermosa ayer .
¿ dibuja tu abuelo joven los burros ?
¿ rompe nuestra cantante la ventana ?
nuestra hija vive en cuatro países porque juego detrás de mis museos por la mañana .
mi padre nunca juega .
quiero romper seis platos .
juan llevará una camisa marrón .
un cocinero encuentra sombreros largos .
estamos buscando el pájaro .
siempre necesitas nuestra camisa .
le enviamos esos libros interesantes a mi cantante .
los pintores a veces juegan .
¿ lee carlos muchos periódicos viejos ?
vendemos naranjas rojas .
ese vestido no es viejo .
doce hospitales no son amarillos .
tres cocineros cantarán otra canción la semana próxima .
nunca dibujas estas escuelas famosas .
juan busca relojes .
si un campesino famoso trabaja en las playas los lunes , quiero platos .
veinte campesinos escribirán muchos mensajes esta noche .
él no dibujó esos campos tranquilos anoche .
a veces canto cerca de otra estación nueva .
el conejo está en nueve hospitales amarillos .
no ayudé a elena .
¿ trabaja una enfermera en mi cocina ?
la mujer puede caminar porque carlos llega a nueve iglesias azules .
compro las naranjas caras .
¿ comes los limones ?
esa niña no vende estas zanahorias frescas .
el campesino tocó mis guitarras .
pedro no vendió unas ovejas .
nuestro campesino viejo romperá mi plato .
limpiaré unas paredes blancas nuevas .
¿ cuántos relojes hay en cinco hospitales ?
mis niñas hermosas llevan otra camisa amarilla .
¿ viajan muchas reinas inteligentes a un país ?
visitamos los hoteles .
maría cantó una canción .
puedo escribir muchas cartas porque las hermanas ven muchas bicicletas .
el amigo está leyendo esas historias viejas difíciles .
un caballo inteligente está en diez jardines .
los pintores inteligentes están vendiendo esa pera .
una reina amable tiene que bailar en seis montañas .
juan encontró mi perro joven .
un campesino fuerte llegó al hospital hermoso anoche .
diez alumnos inteligentes no bebieron agua caliente .
ellos dibujan mi casa porque carlos puede buscar estos peces negros .
¿ rompe ella un plato grande ?
otra cantante amable quiere ir a seis museos .
esta vaca no está enferma .
esperaré a una reina pronto .
tocaste el piano .
miguel esperará los barcos blancos esta noche .
mis hermanos altos a menudo hablan con lucía .
¿ habla el padre joven con nueve enfermeras ?
muchos campesinos quieren cortar esta manzana .
otro hombre tranquilo escribe periódicos .
las enfermeras visitarán un pueblo pronto .
no ayudamos a muchos campesinos inteligentes .
esta estación está cerrada .
nuestro hermano fuerte vio el árbol tranquilo .
miguel nunca lava veinte zapatos .
esas cantantes que rompen mis ventanas blancas tocan esta guitarra barata .
pedro ve este río y una reina corta unos limones caros .
esa vaca camina detrás de esa tienda porque no necesitas estas bicicletas .
carlos vivirá en cuatro ciudades .
juan no vende bolsas .
no cierras esta puerta y los médicos esperan nuestro barco .
cuando miguel no canta canciones , los hombres famosos escriben nuestra historia vieja los lunes .
los barcos están en siete cocinas .
ellos cerrarán muchas puertas pronto .
él venderá el barco barato .
hay un burro delante de ocho iglesias hermosas .
ella no puede cocinar el pan porque vivimos en mi país ahora .
mi hermano que corta sopa fresca dibuja el puente rojo grande .
necesitamos esta cama .
elena limpió una llave marrón fea .
tu amigo joven inteligente cantó cinco canciones .
mi tío hermoso lava nuestro coche blanco porque llevo abrigos .
mis hijas altas quieren viajar a las ciudades ricas .
si muchos cocineros venden muchos sombreros , él ve cuatro museos .
el niño inteligente ve ocho playas .
hay perros viejos feos en esa biblioteca .
mi madre dibujó árboles .
carlos lava autobuses rojos .
¿ duermen ellos en estas escuelas ?
él limpió otra ventana roja anoche .
nuestras hijas tranquilas a veces hablan con nuestros vecinos famosos .
ellos tocaron otro piano viejo barato .
fui al hotel .
cuando carlos cierra las ventanas negras los lunes , compro tres naranjas frescas .
juan lavó los barcos ayer .
nuestro pájaro feo está durmiendo en diez iglesias .
las reinas que esperan ese tren venden nuestra naranja .
veinte reinas encontraron nuestra caja .
tus hijas que cocinan fruta hablan con doce cocineros .
la hermana le envía mi historia interesante a mi abuelo .
lavarás un vestido mañana .
mis trenes negros están en esos hospitales pequeños .
¿ lava carlos un tren barato ?
el médico visitó los pueblos tranquilos anoche .
¿ pintan cuatro reinas famosas una tienda ?
trabajamos delante del bosque anoche .
tocamos violines y ellos juegan en la biblioteca hoy .
no ayudamos a pedro y ese hombre no quiere cajas blancas .
él esperó nuestra bicicleta .
esta niña que abre unas puertas pinta la pared .
juan abre nuestra puerta los lunes .
esa niña joven quiere comer estas cebollas rojas .
una mujer esperó una bicicleta anoche .
pedro cantará en esta montaña pronto .
cinco trenes son pequeños .
mis cocineros están leyendo libros .
mis reinas tocarán violines pronto .
veinte bibliotecas están cerradas .
ellos tendrán una taza redonda .
¿ llega miguel a esos mercados pequeños ?
¿ ayuda una cantante al médico fuerte ?
tus hermanos famosos limpiaron este techo la semana pasada .
cuando abres la puerta blanca otra vez , tengo el barco .
ellos no quieren un sombrero porque nuestro abuelo quiere otra bicicleta ahora .
¿ canta lucía esa canción ?
tu vecino joven duerme ahora porque mi tío amable encuentra ovejas .
tu vecino que vende una patata tiene unos autobuses blancos .
las ovejas negras jugarán en la oficina mañana .
este pintor escribe los mensajes famosos , pero bailo en una cocina .
estos perros no caminaron en esa casa .
¿ tienen estos niños inteligentes ese zapato ?
le das ese espejo barato al maestro .
¿ lava elena esos sombreros ?
elena duerme cerca de muchos hoteles y la abuela famosa visita los países interesantes hoy .
ella necesitará un cuadro barato pronto .
un campesino puede encontrar muchas bolsas porque buscamos la silla .
¿ busca tu madre a pedro ?
estás viviendo en una ciudad .
ana lee esas historias .
elena cocinará fruta .
un hombre amable tendrá veinte perros .
carlos le dio cajas redondas a mi hermana .
las cantantes escriben otra historia por la tarde porque visito un hospital .
buscarás a muchos campesinos viejos tranquilos mañana .
este maestro está cerrando muchas puertas .
lavo unos sombreros ahora .
él durmió en mi cocina anoche .
esta niña lava un vestido marrón porque seis alumnos pintan esta escuela .
una biblioteca no está vacía .
muchos pintores pequeños ricos están viviendo en muchos pueblos .
juegas porque no podemos vender el coche rojo .
ella quiere pintar puertas .
estos coches son muy nuevos .
jugaste en cuatro cocinas anoche .
ella lavó nuestra bicicleta negra .
elena bebe el agua fría ahora .
un libro está sobre dos camas .
cuando seis hombres hermosos encuentran ese cuadro , mi reina vieja alta cierra las puertas verdes ahora .
mi hija canta , pero la hija pequeña tranquila no escribe mensajes largos .
viajamos a pueblos famosos ayer .
estos reyes que lavan vestidos juegan delante de los árboles grandes .
los niños tocan los pianos hoy .
visitas las escuelas viejas .
mi torre no es nueva .
nuestro gato viejo está delante del hospital feo .
mi tío pintó mi ventana negra .
elena esperó mis coches anoche .
el tío tranquilo vive en un pueblo porque él toca violines los lunes .
abro esas puertas .
¿ qué necesitan nuestros amigos ?
abrimos otra ventana otra vez .
¿ camina miguel cerca de un puente pequeño ?
los abuelos ricos buscan las camas rojas ahora .
el rey que pinta nueve techos espera esos barcos .
esa reina puede leer veinte cartas .
vemos la iglesia amarilla famosa .
lucía puede cantar la canción y maría come el pastel caro los domingos .
no lees otra historia .
veinte médicos llamarán al maestro .
cinco espejos están limpios .
estoy encontrando la mesa negra .
ana cocinó queso fresco ayer .
si tienes una falda , las niñas tranquilas no duermen .
nuestros amigos están volviendo a un hotel .
mis abuelas están cortando sopa .
mi hombre leyó estos periódicos .
el alumno es alto .
mis hermanos que rompen diez platos blancos hablan con tu padre tranquilo .
la abuela escribió los mensajes tristes anoche .
¿ dibuja lucía el campo ?
las cantantes limpian techos negros , pero seis mujeres no venden pan .
juan visitará estas escuelas blancas mañana .
tu hermana tiene que tener diez coches .
canté esa canción .
miguel puede tocar un piano porque no abro esa puerta .
los abuelos que compran cuatro libros buscan nuestro plato .
estas mujeres que lavan el abrigo hermoso cantan canciones famosas .
los hombres ricos le envían la carta corta a maría .
él toca los violines nuevos porque dibujamos cuatro vacas .
dibujo otro bosque .
no dibujo las tiendas porque los hombres encuentran los cuadros azules .
cuando vendo sopa , muchos niños no escriben nuestro poema .
juan le dio diez zanahorias dulces a mi abuelo .
¿ vende maría seis sombreros ?
cinco reyes van a mi escuela hoy .
nuestros hermanos altos ricos escribieron mis cartas cortas ayer .
una reina juega hoy .
mis mesas no son pesadas .
visitamos seis pueblos .
mi médico que viaja al país vende fruta .
comí el queso anoche .
el médico alto volverá a una escuela pronto .
muchas cantantes lavarán ese zapato feo mañana .
él leerá los periódicos interesantes mañana .
encuentro un cuadro caro .
¿ esperas la bicicleta ?
maría corta una naranja barata .
él cerró la ventana .
¿ lee mi niño alto esa carta ?
mi médico siempre compra bicicletas .
¿ viven muchos alumnos en la aldea ?
mi amigo viejo duerme en siete mercados porque la cantante joven lleva otra falda negra cara .
no puedes visitar nuestro hotel porque el alumno joven espera un coche los lunes .
juan pintó los museos verdes el año pasado .
muchas reinas famosas cocinarán sopa .
cuando la niña necesita el abrigo rojo , un pintor viejo cocina queso .
esas niñas compraron otra falda nueva .
si ocho reinas no tienen mis perros jóvenes , nuestro tío corta pan .
miguel come tres pasteles frescos .
¿ quién encuentra mis relojes marrones baratos ?
tu hermana joven rompió otro plato anoche .
no encuentras los peces inteligentes .
necesito queso .
seis alumnos pequeños tienen que ir a estos puentes grandes .
mi pueblo es pobre .
llegaremos a doce casas pronto .
mi tío rico bebió café anoche .
maría no pinta pájaros .
encontraré burros mañana .
mi hija que vende este burro lava faldas marrones .
otra mujer tranquila puede cerrar ventanas azules porque otra mujer come .
elena bebió la leche fría ayer .
si queremos el queso caliente , no podemos buscar nuestra taza .
el hombre corta los huevos frescos .
este periódico está detrás de dos lagos .
¿ ve ana nuestra montaña ?
ana ayuda a ese niño fuerte .
¿ viaja elena a estas ciudades interesantes ?
los niños hermosos dibujan tres bosques .
el hombre buscará lámparas mañana .
¿ cuántos coches hay en estas cocinas ?
nueve pintores cantaron cerca de mi río hermoso ayer .
la mujer tiene las lámparas viejas y nuestras hijas encuentran una taza cara .
si toco el piano , tus abuelos tranquilos pueden dibujar el bosque .
nuestro vecino venderá otro pez blanco .
tu vecino famoso comerá el huevo mañana .
otro cocinero rico llevará un vestido largo .
ana no viaja a aldeas tranquilas y seis niños viejos visitan una estación .
ana dibujará otro perro marrón pronto .
mis tíos viejos tocaron el piano .
los amigos que abren esta puerta nueva viven en muchos pueblos grandes .
carlos encuentra los conejos viejos inteligentes .
como arroz .
no vas al hospital famoso .
¿ quién camina ?
ella bebió vino anoche .
un maestro quiere llevar los vestidos marrones viejos .
hay diez bicicletas delante de ocho lagos .
los techos no son pequeños .
el hermano va a visitar esta tienda pequeña .
siempre vendo los espejos caros .
¿ trabaja tu tío en las iglesias verdes ?
la enfermera alta va a volver al hotel .
¿ cuántos museos hay en esas montañas ?
el niño hermoso le da un cuadro verde redondo a mi hermano .
veo bicicletas blancas grandes por la mañana .
si carlos cocina fruta otra vez , ese hombre alto lleva la camisa corta .
¿ llama el hombre fuerte a tus amigos amables ?
tu hermano alto les envió un mensaje a seis niñas .
los cocineros que cantan canciones famosas cortan una pera roja grande .
maría vuelve a mis escuelas otra vez .
mi hija escribirá libros largos interesantes .
cuando el cocinero hermoso necesita muchos espejos , ellos esperan el autobús .
ana pinta unos mercados porque este pintor fuerte encuentra los vestidos largos .
un mercado no está abierto .
lavaste dos faldas verdes cortas .
estas reinas querrán el vestido .
un cocinero joven amable tiene un piano los lunes y ana compra diez trenes .
tu tío corre en nuestra iglesia porque esas reinas leen otro poema .
estamos corriendo .
mi hermano encontró los perros negros .
¿ rompes ventanas rojas nuevas ?
los maestros llamarán al hombre famoso pronto .
cuando maría no tiene el gato , llegas al hotel rojo ahora .
miguel encuentra mis tazas negras .
una cantante joven les dio ese plato rojo barato a mis campesinos .
¿ lleva carlos muchas camisas ?
si el alumno limpia la botella , esta oveja puede jugar cerca de muchos lagos .
tu amigo rico vuelve a nueve escuelas .
diez caballos están enfermos .
¿ llaman veinte cocineros amables a veinte campesinos ?
ellos cantan nuestra canción corta porque lucía baila .
tengo que querer este vestido .
vas a buscar los peces viejos .
esperaremos al cocinero mañana .
él lavó diez barcos ayer .
ella querrá espejos verdes .
juan no vende llaves baratas , pero ellos no ven otro barco amarillo .
cuando llamo al hermano , nuestra hija alta escribe un periódico .
ese rey le envió poemas largos a esta reina .
¿ va ana a doce torres ?
juan necesita espejos .
el cocinero amable corta mi cebolla ahora .
maría dibuja esa biblioteca azul .
viajaré a otro pueblo mañana .
maría corrió .
él está visitando mi tienda hermosa .
si nuestro vecino ayuda a juan , esas niñas llevan otro zapato negro .
no llevamos el zapato ayer .
ellos llevaron mi zapato largo la semana pasada .
¿ cuándo trabajan mis pintores tranquilos ?
mis hijas inteligentes nunca cantan .
mi alumno hermoso nunca corta la manzana .
si este rey alto hermoso ve los autobuses azules , mi mujer puede leer el poema .
caminaremos en ese parque .
jugamos cerca de este hospital ayer .
las reinas inteligentes pintan bibliotecas hoy y seis enfermeras no tocan ese piano .
¿ camina mi hermano en un bosque ?
¿ dibuja juan ocho estaciones ?
podemos llegar a doce museos porque buscas a juan .
los niños altos necesitan esos zapatos hoy .
comimos .
le diste la cebolla fresca al médico .
una caja es muy pesada .
mis hermanas les dan naranjas a esos cocineros .
lavo esta falda marrón .
lucía necesitará una taza vieja .
ana rompe tres platos amarillos , pero carlos escribe libros .
un rey joven siempre camina .
ellos leyeron nuestro mensaje ayer .
ana tocará pianos baratos la semana próxima .
mi hermana que bebe el vino busca una lámpara amarilla redonda .
él abre muchas puertas hoy .
mis hermanos inteligentes trabajan ahora y no pintamos ese conejo .
dibujamos unos árboles .
dos reinas jóvenes hermosas quieren lavar este autobús .
mi padre limpia mis sillas amarillas .
esperaremos estos autobuses rojos .
si otro cocinero lleva nuestra camisa marrón , esos alumnos tranquilos pintan mi tienda .
mis tíos a veces comen mi manzana pequeña barata .
nuestro hermano tocará muchos pianos mañana .
nuestras hijas altas no beben té frío porque mis abuelas hablan con juan .
tu vecino cortará mi pera la semana próxima .
puedo escribir nuestro mensaje porque ana no pinta paredes .
escribirás libros viejos famosos mañana .
¿ habla ana con la madre pequeña ?
cuando diez niños fuertes leen una historia por la mañana , vivimos en este país pequeño .
necesito esa bolsa amarilla .
tres campesinos inteligentes le envían unas historias cortas a maría .
no comí una manzana cara .
los reyes que compran cartas necesitan el vestido blanco .
el amigo viejo famoso quiere cerrar puertas negras grandes .
¿ lee tu hermano un mensaje corto ?
una mujer vieja pequeña dibuja doce ovejas .
mi hija joven nunca tiene bolsas .
le enviaste esos periódicos a miguel .
cuando tocas el violín viejo , mis enfermeras inteligentes ven mi casa roja .
las niñas no comen seis tomates baratos .
visitamos unas estaciones .
ana nunca compra las faldas feas .
¿ abren muchos cocineros muchas puertas grandes ?
¿ viajan los médicos al pueblo ?
maría bebe café caliente ahora , pero mi pintor tranquilo vende el tren verde .
pedro les dio este reloj pesado a siete campesinos .
mis amigos no visitan muchos países interesantes porque la hermana vieja rica come sopa .
ellos llevaron las faldas anoche .
no vi las iglesias .
nueve niños buscarán al tío tranquilo esta noche .
cinco cuadros están sobre esa mesa .
ese campesino compró periódicos ayer .
un pintor rico abrió una puerta azul anoche .
¿ escribes muchos poemas ?
doce gallinas son fuertes .
¿ corta ana sopa ?
esas cantantes viejas venderán la mesa pronto .
esas niñas que hablan con elena hablan con seis campesinos altos .
nuestras hijas que lavan ese abrigo azul lavan estas faldas nuevas .
le di siete faldas azules largas al rey .
los maestros famosos leerán nuestro libro .
los cocineros fuertes no limpian unas ventanas rojas .
la niña rica les envía mis periódicos interesantes a seis médicos .
juan no tocó siete guitarras .
el poema está en muchos jardines .
él lleva mis zapatos blancos .
nunca limpias el jardín .
tienes veinte faldas .
escribiré un poema .
él no quiere muchas camas nuevas caras .
si pedro vuelve a estos mercados los lunes , muchas cantantes hermosas encuentran el gato .
ellos lavarán el sombrero rojo pronto .
¿ ves esos pájaros jóvenes ?
ella va a buscar gatos .
maría está buscando relojes .
hay relojes cerca de doce estaciones .
quiero carne fría .
si los niños no encuentran otra mesa nueva , ellos pueden visitar nuestra ciudad tranquila .
ana limpia la silla porque trabajas ahora .
¿ qué escribe tu madre ?
cuatro reinas ricas van a comer unos huevos .
no ves esa iglesia porque los cocineros pueden llamar a nuestra abuela .
no necesitamos dos autobuses .
ellos beben té frío otra vez porque los campesinos fuertes cantan esta canción .
tu abuelo no visitó unas torres blancas .
ese campesino visitará diez escuelas pequeñas .
pedro comprará mi manzana pronto .
les dimos esas llaves amarillas feas a mis hermanos .
el tío rico canta .
esos niños están cocinando fruta .
tocas las guitarras negras .
no visitamos ciudades .
mi niño joven está cortando nuestro limón barato .
él vuelve al mercado hoy .
él trabaja en esta calle , pero ella camina cerca de otra montaña ahora .
queremos caminar en cinco mercados .
¿ vuelven nuestros amigos a otra iglesia ?
los tíos son muy famosos .
un cocinero dormirá cerca del puente pequeño mañana .
¿ habla él con las hermanas pequeñas ?
estos hombres tranquilos buscaron a los niños .
nuestro cocinero pequeño llevó una camisa .
mi médico alto escribirá el mensaje mañana .
un hombre alto puede cantar las canciones tristes y quieres el té los lunes .
cuando trabajo detrás de un lago pequeño , ese niño tranquilo no puede limpiar muchas paredes .
encuentro doce sombreros negros feos por la tarde .
mi tío que compra diez cartas vende carne .
¿ viajan las cantantes fuertes a dos ciudades ?
quiero llevar nueve sombreros amarillos .
nueve periódicos son más largos que estos poemas .
nuestros vecinos beberán leche mañana .
estas cantantes amables pintaron puertas esta mañana .
miguel cantará mis canciones mañana .
siempre visito una aldea .
otro campesino tiene que necesitar mis bolsas .
ana canta veinte canciones .
¿ ve maría esta bicicleta negra ?
llamas al alumno los domingos porque cierras una puerta roja pequeña .
¿ qué cocina elena ?
¿ lee pedro mis mensajes ?
¿ compra ana nuestra mesa ?
¿ escribe pedro este periódico triste ?
¿ tocan ocho alumnos los violines caros ?
mi vecino pequeño está escribiendo cinco periódicos largos .
buscas esa cama barata .
compro carne .
nuestro hermano que pinta una pared blanca tiene tazas marrones baratas .
una cantante joven rica está lavando doce zapatos caros .
mi niña vieja no bebió leche ayer .
nuestros hermanos jóvenes fuertes ven nueve coches , pero elena puede llevar muchos zapatos nuevos cortos .
diez cocineros son más altos que nueve reyes .
cuando no tengo un abrigo , miguel corta la patata grande fresca hoy .
ellos esperarán un autobús .
si lucía vende este autobús , comemos en muchas tiendas .
hay un espejo amarillo en mi iglesia azul .
mi amigo famoso llama al cocinero amable .
¿ abres otra puerta ?
los pintores lavarán barcos .
lucía vivió en aldeas .
esas mujeres que visitan diez ciudades cocinan el arroz fresco .
nuestro padre rico le dio estas sillas caras al vecino .
¿ rompen muchos cocineros el plato marrón viejo ?
cortamos el huevo porque veinte mujeres amables pueden abrir dos ventanas blancas .
los reyes no dibujaron este mercado .
estamos comiendo ese huevo .
queremos leer los poemas .
estás limpiando veinte tazas .
si una reina pequeña cocina carne , el maestro alto espera a esta enfermera .
hay ocho bolsas nuevas feas delante del lago .
carlos leyó los libros cortos .
¿ caminan ellos en cuatro calles tranquilas ?
quieres nuestra botella .
los hombres les enviaron la historia a los alumnos .
el vecino inteligente llamó a este rey amable .
encuentro nuestro sombrero .
él está dibujando las ovejas inteligentes .
pedro está limpiando mi pared .
el alumno comprará queso mañana .
¿ beben seis cantantes viejas jugo frío ?
un campesino rico vende queso frío hoy .
una cantante vieja pequeña verá las vacas viejas hermosas .
¿ vende este rey hermoso naranjas ?
las abuelas limpiaron estos parques .
juan limpia puertas .
ellos cortaron unos tomates el año pasado .
¿ espera él a muchas cantantes pequeñas amables ?
¿ lee él unas historias ?
elena abrió seis puertas rojas anoche .
encontraste una cama .
ella está hablando con otro alumno .
a menudo jugamos en tres jardines .
nueve ovejas nunca juegan cerca de los ríos .
cuando pedro habla con ana , puedes llamar a mis hermanas hermosas .
las mujeres lavan tres sombreros largos caros porque la oveja juega en una calle .
cuando mis abuelos pequeños no llevan estas faldas negras , el amigo tranquilo limpia la pared .
ellos pueden volver a esta escuela , pero diez médicos pueden lavar otro autobús .
ellos quieren buscar doce ovejas marrones hermosas .
mis cantantes no cortan estas naranjas frescas .
estas enfermeras que tienen las camisas llegan a ocho iglesias .
cuando ella come estas manzanas dulces , las niñas beben agua .
mi abuelo ve estos gatos .
nuestro alumno pequeño ve los museos feos hoy .
doce cantantes altas llevarán una falda roja .
los maestros que cantan en la estación ven el lago pequeño .
la abuela vieja volverá a seis iglesias feas .
mi abuelo dibujará los perros hermosos .
elena esperará los autobuses negros feos pronto .
busqué una botella .
la abuela visita esta casa y pedro vive en una ciudad .
mis hermanas pueden beber el café porque lucía corta nuestra pera barata los lunes .
la falda es blanca .
hay una iglesia azul famosa cerca de esos jardines tranquilos .
cortas nuestro tomate .
lucía vio una gallina el año pasado .
pedro tiene seis pianos .
¿ cuántas camas hay en nuestra cocina tranquila ?
jugamos cerca del lago y esos cocineros ricos visitan a nuestro alumno .
esta reina rica vendió el tomate caro .
le envié siete historias al alumno .
cuando visito esas aldeas , él no visita ese museo .
no corres en esta tienda .
juan espera el coche pequeño .
ana no canta cerca de los árboles porque camino en seis calles tranquilas los lunes .
los pintores tranquilos no quieren otra mesa azul vieja .
mi mujer alta tiene nuestro zapato amarillo .
esa cantante busca mis llaves caras .
ellos vendieron mi camisa .
¿ bailan mis abuelos detrás de muchos parques ?
juan compró doce libros .
leímos muchos mensajes famosos .
si ese cocinero encuentra el perro negro , las cantantes viejas fuertes pueden escribir esa historia triste .
cuando pedro puede dibujar los lagos tranquilos , doce mujeres amables cortan esas cebollas grandes .
¿ limpia pedro la calle ?
estas cantantes inteligentes escribieron la historia triste anoche .
las reinas jóvenes cortan esos limones dulces .
tu hija famosa nunca ve nuestro árbol .
hay ocho gallinas en ese campo .
una reina cantó cerca de muchas escuelas hermosas ayer .
esa niña limpia estos espejos hoy .
maría no viajó a mis países ayer .
¿ dibujas estos mercados ?
¿ habla un maestro pequeño con pedro ?
llamo a juan los domingos y compro la sopa .
mis enfermeras que venden dos barcos bailan en una montaña pequeña .
mi abuela nunca busca nuestro cuadro .
elena camina .
lucía correrá en las bibliotecas grandes .
nunca cierro la puerta negra .
ella encuentra esos burros jóvenes fuertes los domingos .
¿ pintas nuestro gato ?
maría lleva muchos abrigos blancos grandes .
no bebí agua anoche .
elena está jugando delante de cinco árboles .
llevarás la falda mañana .
mi padre encontrará veinte llaves .
los alumnos que necesitan estos coches ayudan a mi amigo viejo .
nuestros vecinos que van al hotel ven gallinas .
¿ cierran los pintores tranquilos nuestra puerta roja ?
maría lavó mis sombreros ayer .
juan esperó esas bicicletas ayer .
juan no puede limpiar una pared y siete médicos tranquilos leen muchos libros famosos .
veré nuestra iglesia nueva pronto .
nunca rompemos otro plato pequeño .
estos puentes son más viejos que otra casa .
dormimos cerca de los campos y cinco niños famosos quieren las bicicletas .
mis gallinas marrones hermosas corren detrás de otro parque y mi hija puede comer fruta .
miguel buscó una caja marrón .
mis abuelas venderán el vestido .
a menudo encontramos las flores amarillas viejas .
mis niñas visitarán a maría mañana .
ella está comiendo esa naranja barata .
mis reyes altos buscaron mi llave negra .
duermo en mi campo grande .
una niña vuelve a dos museos blancos .
ellos cortan carne y no tenemos otra vaca .
juan encontrará la mesa mañana .
carlos lleva cuatro faldas , pero ella no visita esas escuelas nuevas grandes .
corriste anoche .
comes porque llegamos al hospital .
los pintores altos hermosos escribieron la carta vieja larga .
mis hermanos llevarán un sombrero azul largo .
los libros son cortos .
maría encontrará los abrigos feos .
tus hermanos viajan a cuatro países hermosos hoy .
mi padre alto no esperó nuestro barco .
el maestro inteligente encuentra un cuadro marrón .
llevamos esos vestidos largos .
ellos vieron las gallinas marrones pequeñas .
el hermano joven pequeño esperará a lucía la semana próxima .
hablaré con esta mujer .
si estos reyes amables pueden vender un reloj amarillo , lucía escribe un mensaje corto .
mi hija comerá muchos limones .
hay tomates rojos frescos en mis cocinas .
juan cortó mis tomates .
pedro volvió a la iglesia anoche .
veinte caballos son muy negros .
puedo vivir en nuestro pueblo hermoso .
los tíos están dibujando cinco bosques grandes .
pinto los conejos .
elena lavó trenes .
¿ buscas unos espejos blancos ?
la silla no es roja .
maría va a dibujar diez burros .
mi abuelo que come estas patatas pequeñas duerme .
un alumno abre esa ventana grande y canto en mi hospital viejo .
ellos venden estas cajas viejas , pero no puedo volver a mi hotel .
si cantas en el museo , dibujo mi campo .
una cantante puede vender dos llaves porque lucía no abre mis puertas rojas .
¿ abre otra reina pequeña mi puerta roja ?
si duermo en el bosque pequeño , mis hijas famosas trabajan ahora .
maría lavará la bicicleta vieja pronto .
comemos muchas zanahorias .
las hijas le dan veinte cajas baratas a nuestra niña .
tenemos doce flores porque pedro escribe esos mensajes .
si una reina hermosa lava la bicicleta , compramos un vestido ahora .
una bolsa está sobre la cama .
bailo hoy .
otro maestro inteligente quiere llevar unos abrigos .
mis museos no están cerrados .
otro cocinero amable lavó esas faldas baratas .
el alumno alto hermoso corrió ayer .
no cerramos unas ventanas .
ella trabajó cerca de otra torre ayer .
carlos quiere buscar la cama cara .
dibujaste esta gallina inteligente anoche .
si los abuelos pueden comer el queso , él ve a mis abuelas hoy .
estamos visitando los países pobres .
doce reinas fuertes dibujan otro burro negro tranquilo porque el maestro hermoso visita estos hospitales .
un maestro alto hermoso no esperó este tren anoche .
¿ encuentra un pintor inteligente este sombrero rojo ?
ella toca guitarras los lunes .
mis abuelas no ven diez escuelas verdes .
hay una tienda en seis casas .
cerré muchas ventanas .
ana lava la falda cara hoy .
¿ llevan ellos faldas rojas ?
mis hermanos dibujarán otro campo hermoso .
esta enfermera limpia cinco cuadros verdes porque mi amigo quiere vestidos baratos los lunes .
nunca cantas .
nuestros tíos pequeños dibujarán tiendas .
nuestro tío que dibuja vacas jóvenes juega .
¿ lee juan las historias ?
lucía le envía estos libros difíciles a miguel .
ella escribe este mensaje porque tu hija hermosa ve esta bicicleta vieja por la tarde .
nuestras hermanas necesitan otro coche pequeño .
ana escribirá esta carta corta famosa .
¿ rompe carlos platos marrones viejos ?
leí una historia .
miguel dibujó mis ovejas .
otra mesa fea está delante de veinte estaciones .
¿ visita juan al amigo fuerte ?
estos alumnos caminan y nuestro pintor vive en la ciudad famosa .
estas cartas están sobre una cama .
tu hija no comió los pasteles dulces anoche .
diez reinas pintan una estación roja .
la cantante tranquila limpió el cuadro viejo .
juan escribe esa historia interesante porque los médicos lavan una bicicleta azul .
un niño viejo quiere viajar a nueve aldeas famosas .
¿ cuándo llega ella ?
¿ come miguel pasteles ?
ocho llaves están limpias .
el vecino llegará al hotel pronto .
la niña rompió platos .
toco cuatro guitarras viejas .
él vio un museo azul .
nuestro rey que espera nueve coches corre .
¿ cantan estos maestros ?
no quieres mi lámpara .
la reina les da nuestra bolsa cara a las cantantes .
mis cantantes famosas necesitarán sopa .
si no lavo bicicletas , pedro no quiere dos vestidos .
pedro viaja a unas ciudades tranquilas , pero mi vecino necesita nuestro autobús verde los domingos .
ella no compra mi huevo rojo porque los campesinos necesitan el barco todos los días .
nuestro amigo rico quiere pintar ese hospital azul .
nuestro tío compró siete trenes pequeños anoche .
elena vivió en el pueblo tranquilo .
hay ocho peras cerca de ese hotel grande .
veinte bicicletas no son amarillas .
llevo este sombrero azul hermoso .
tenemos que ver los bosques hermosos .
la guitarra no es negra .
diez reyes jóvenes no quieren esos coches feos .
mi mujer cerró una puerta amarilla pequeña .
ellos trabajarán en los parques .
lucía cortó carne .
el amigo inteligente no camina en doce hospitales porque cortas los huevos grandes .
ellos romperán la ventana mañana .
si llamamos al maestro inteligente , limpio nuestro espejo marrón .
dibujaré una vaca .
esos cocineros rompen platos porque vendes otra patata dulce .
¿ dónde juega ella ?
ella corrió esta mañana .
¿ visita este hombre joven muchos pueblos ?
un burro hermoso está en cuatro playas .
esas niñas inteligentes limpiarán unas paredes .
cuando las enfermeras pequeñas comen el arroz , los alumnos pueden cocinar el pan .
¿ compra miguel otra carta larga triste ?
nuestra hija a menudo come mi huevo .
las niñas que quieren una flor redonda bailan en esa calle .
canté anoche .
mi rey va a beber café .
nuestro pintor comió esa pera anoche .
¿ quiere una mujer seis botellas ?
él tiene otra oveja ahora .
miguel rompe un plato porque este pájaro puede correr en un bosque grande .
esos peces blancos viejos dormirán delante de la oficina .
nuestro tío pequeño necesita cajas .
una niña alta compra esas camas y puedes encontrar esos perros negros .
el médico llevó un zapato viejo grande .
comiste en este jardín ayer .
cortarás carne mañana .
esta mujer limpió esta calle ayer .
diez campesinos hermosos tocan mis pianos nuevos .
encuentras esa gallina vieja .
esa reina nunca come pan .
él caminó detrás del mercado anoche .
ella vivirá en mis ciudades .
¿ ven las mujeres pequeñas un tren ?
¿ cuántos campesinos hay cerca del árbol ?
visité el museo famoso .
elena tiene estas ovejas los lunes .
mi abuelo camina en una calle y miguel ve el lago tranquilo .
mi hermano quiere jugar .
maría vio a ana ayer .
nueve niños le dan nueve patatas caras a esa enfermera .
¿ cuándo llegan nueve pintores ?
ana rompió platos negros baratos esta mañana .
hablo con mi niña alta ahora .
hay cuatro zanahorias en nueve oficinas grandes .
ella llama a este alumno .
el campesino alto tendrá nueve guitarras .
hay tiendas amarillas hermosas cerca de esta torre vieja .
seis maestros bailaron en otro hospital .
juego .
diez maestros están llevando nuestra falda blanca .
corté queso .
¿ come la niña en doce bibliotecas amarillas ?
estas cantantes jóvenes escribieron mi historia .
tres pájaros blancos pequeños jugarán en las cocinas mañana .
tres alumnos famosos bailarán .
cuando duermes cerca de la escuela blanca , cinco reyes quieren mis trenes .
estos cuadros baratos están en este jardín .
otro alumno está comprando una mesa barata .
ella escribirá mis historias .
buscaré la silla pesada .
pedro visitó esa aldea hermosa anoche .
le doy dos huevos caros a la hermana .
el país es interesante .
mis hermanas corren y tu hermana lleva nuestro zapato .
elena a veces lava nueve vestidos blancos .
leo mis cartas .
¿ necesitas cuadros amarillos ?
tres perros son más pequeños que otro gato .
elena está comiendo cuatro huevos .
¿ vende pedro el sombrero ?
lucía cerrará esa puerta .
la abuela hermosa dibujó esa casa pequeña .
el amigo viejo tocó cinco guitarras anoche .
mi amigo cocinará el queso esta noche .
esos niños abrieron la puerta .
veinte campesinos fuertes tienen que cantar esas canciones nuevas .
puedo comprar el café , pero estas cantantes pequeñas no limpian techos amarillos .
esta caja no es verde .
elena venderá las lámparas mañana .
miguel espera los trenes feos porque miguel encuentra este vestido azul .
siempre compro vino .
el tío tranquilo limpió mi calle .
¿ viaja mi alumno fuerte a muchas ciudades pequeñas interesantes ?
seis mujeres pintaron esa ventana pequeña anoche .
¿ vive tu hermano pequeño en otro país ?
no abro ventanas .
les damos un huevo grande a mis niños .
él dibujará cinco montañas pequeñas hermosas .
no busqué unas camas .
pedro hablará con pedro .
veo otro árbol .
esos maestros tienen que dibujar la escuela grande .
cuando ocho campesinos tranquilos pueden limpiar esas paredes , mi padre llama a mis hijas hermosas .
¿ corren ellos ?
un cocinero tiene que encontrar flores negras .
lavaste un zapato anoche .
ana no lava los vestidos azules y esas reinas encuentran zapatos los lunes .
ellos encontrarán esos gatos hermosos .
pintaremos unas iglesias .
este cocinero hermoso esperará un barco pronto .
ana comió .
nuestro padre que lava esta camisa verde abre ventanas .
siete reinas están lavando muchas bicicletas amarillas .
mi niño dibuja tres peces .
estamos dibujando unas bibliotecas grandes .
el pintor limpió muchos parques anoche .
mis tíos cortaron sopa .
cantaste esas canciones .
la niña pequeña amable está comiendo arroz .
cinco enfermeras bailan .
una reina dibuja pájaros pequeños .
carlos toca violines .
¿ cocina la hermana amable arroz fresco ?
¿ pintan ellos muchas estaciones nuevas ?
ella limpiará dos techos mañana .
llevaremos abrigos .
quiero vivir en países .
ellos le dieron nueve abrigos viejos a lucía .
mi rey inteligente dibujó esta vaca tranquila .
una mujer puede lavar tres faldas cortas hermosas .
¿ vuelve mi hermana al puente ?
las enfermeras cortan muchas manzanas .
puedo llevar muchas faldas viejas .
romperemos muchas ventanas mañana .
el tío está leyendo doce periódicos .
tocamos los violines viejos y mi padre hermoso no dibuja cinco hoteles .
¿ quiere esta cantante bicicletas ?
leemos unos mensajes .
maría no leyó historias largas ayer .
comí sopa anoche .
seis reinas buscan los peces porque bebo té .
elena escribe una historia porque él llama a mi abuelo fuerte .
mis caballos hermosos están caminando en las montañas grandes .
veremos diez ríos .
un caballo camina en esta iglesia , pero tus amigos trabajan en estas casas nuevas .
no tienes otra bicicleta amarilla grande .
hay muchas escuelas delante de doce puentes .
tres médicos pueden dibujar muchos perros fuertes .
mi cocinero inteligente llevó veinte vestidos amarillos .
ana pinta muchas iglesias blancas ahora .
¿ cuándo trabaja esta reina alta amable ?
los campesinos cocinarán queso fresco esta noche .
un pintor venderá nuestra silla nueva .
los burros jóvenes comerán en doce montañas esta noche .
ayudamos a miguel y un maestro corta arroz .
los médicos escribieron cinco periódicos interesantes .
un alumno toca esa guitarra nueva cara .
el abuelo siempre compra leche .
¿ cocinan esos pintores pequeños la sopa ?
voy a encontrar mi oveja .
no veo mi hotel verde .
busco muchos perros grandes .
él buscó ese reloj blanco ayer .
¿ llevas una camisa ?
mi hermana tendrá nuestro coche .
juan escribirá el periódico triste mañana .
¿ necesitan muchos cocineros pan ?
ella ayudó a los hermanos ayer .
cuando llegas a tres escuelas , ves esa escuela nueva .
si ellos pueden hablar con mis médicos , ella camina en los museos nuevos hoy .
estamos comprando té .
volvemos a los hoteles ahora .
carlos encuentra peces .
cuando corro detrás de diez oficinas pequeñas , jugamos delante de estos hoteles grandes .
la cantante vieja pequeña a veces escribe ese libro triste .
limpio las llaves viejas .
mi abuela que cierra ventanas cocina sopa .
nueve puertas son muy nuevas .
el hombre venderá ese abrigo pronto .
si el rey necesita nuestra silla , esta mujer baila en cuatro calles .
si veo playas tranquilas , nuestro abuelo pequeño ve un autobús rojo caro los domingos .
juan visitará pueblos .
¿ corta lucía unas cebollas ?
¿ qué bebe este cocinero joven ?
ella dibujó los mercados nuevos .
visito la aldea rica ahora .
si el campesino busca ese plato , ayudamos a lucía .
un conejo camina en cuatro campos y nuestro abuelo ve esas ovejas fuertes .
cantarás una canción .
estos niños no dibujan hoteles blancos .
elena quiere abrir ventanas .
veinte niños pueden bailar en cuatro campos , pero las niñas pueden viajar a pueblos .
¿ ve mi padre viejo rico al hombre joven tranquilo ?
ese campesino inteligente ayudará a estas enfermeras .
¿ visitas una aldea ?
esos alumnos quieren comer el tomate .
los maestros vivieron en ciudades anoche .
tu vecino le da esa historia vieja larga a otro cocinero .
no corto estos huevos .
estas flores no son redondas .
si vemos a lucía , no leo ese periódico .
¿ quién llega a diez hoteles hermosos ?
ese hombre le dio otro cuadro al maestro .
veremos esos coches .
mi tío vende vacas porque otro burro fuerte come en una casa .
miguel leerá los periódicos mañana .
ana abrirá nuestra ventana pronto .
este médico rico pinta mi pez hermoso .
cuando mi tío alto hermoso encuentra mi conejo inteligente otra vez , corto fruta fresca otra vez .
buscas los caballos negros .
hay trenes en esos parques .
mi hermano a menudo bebe café .
juan hablará con lucía pronto .
vendí nuestro autobús ayer .
lucía rompe ese plato .
tu hija encontró nuestro plato feo .
cinco reyes inteligentes cocinaron el pan caliente ayer .
cuando no esperas un autobús nuevo , no escribes una historia .
¿ hablan dos reinas con una cantante ?
hay tres coches viejos en esta cocina .
rompo los platos nuevos pesados .
los pintores que leen libros limpian otra pared .
hay peras en muchos jardines grandes .
este niño viejo no espera muchos autobuses grandes feos , pero podemos dormir .
abriré una ventana mañana .
carlos volvió a mis puentes blancos .
ellos esperan los autobuses baratos , pero las mujeres inteligentes encuentran las faldas ahora .
muchas mujeres encontraron esas lámparas redondas baratas .
tres barcos son más baratos que el autobús .
miguel cantó esta canción esta mañana .
dos peces negros dormirán delante de los mercados .
¿ habla tu abuelo hermoso con otra enfermera hermosa ?
estoy visitando la torre hermosa .
miguel compró pan .
¿ quién vuelve a un puente blanco ?
esta playa no es hermosa .
otro maestro pequeño hermoso toca una guitarra vieja otra vez .
venderé el barco mañana .
¿ tienes los gatos ?
si elena lee los periódicos famosos , nuestra madre vende otro abrigo .
muchos reyes leen dos cartas .
ana trabajó detrás de otra escuela anoche .
el pintor amable busca a nuestro maestro porque corres cerca de la biblioteca .
cinco reyes hermosos esperarán los coches viejos pronto .
encontraré otro abrigo amarillo .
un pintor siempre lleva ese zapato azul .
carlos busca a maría porque pedro necesita autobuses .
encuentras esos zapatos .
abrí puertas .
pedro querrá esa mesa verde pronto .
juan jugó detrás de mis iglesias verdes ayer .
vendimos ese gato pequeño .
los hombres tocarán el violín esta noche .
estas calles son grandes .
¿ quiere tu abuela una bicicleta blanca grande ?
cuando llevas unas camisas largas , tu tío no rompe ventanas blancas pequeñas .
¿ van tus abuelas tranquilas a una escuela roja ?
tocamos esa guitarra nueva los lunes .
otra reina necesitará unos barcos mañana .
no buscas los peces blancos jóvenes .
si nueve pintores pequeños quieren carne caliente , llevo esta camisa blanca .
él canta en los bosques tranquilos porque miguel no lee esa historia .
compramos seis zanahorias .
tu hermana cortó mi manzana fresca esta mañana .
no rompiste nuestro plato negro .
juan esperó otro tren .
muchos pintores famosos no cantan detrás de esta torre y cuatro pintores buscan ese plato caro .
maría llega a las bibliotecas grandes y los hombres altos pintan el museo .
¿ cuántos espejos hay en la cocina ?
visitaste esas torres .
los alumnos encuentran la oveja negra y llamo a esa reina .
ese pintor ayudó a esos maestros ayer .
¿ dibujan muchos alumnos viejos un hotel azul ?
veo una estación fea .
bebemos café .
mis pintores hermosos compraron un vestido .
ellos cantarán las canciones .
un alumno siempre trabaja .
estoy cansado .
este alumno alto quiere comer dos zanahorias frescas .
¿ dibuja mi hermano esas gallinas marrones ?
nuestras hijas ricas nunca buscan una mesa negra .
¿ tienen esos pintores una bolsa negra pesada ?
los tíos jóvenes limpiaron mis parques grandes .
estos hombres altos están leyendo muchos periódicos .
¿ corta elena una zanahoria grande dulce ?
el alumno que tiene ovejas duerme .
¿ ve él el árbol pequeño ?
carlos pintará esta torre mañana .
elena visita estas ciudades pobres .
dos niñas fuertes cierran esta puerta grande porque la hermana limpia otra pared azul .
maría no buscó gatos .
ocho cocineros fuertes necesitan los platos .
juan visita al padre inteligente .
¿ visita mi hermana tranquila otro hotel ?
juan está jugando detrás de nueve bibliotecas .
mi amigo encuentra nuestro conejo negro grande .
elena puede buscar la caja blanca porque la niña pinta nuestro gato inteligente .
cuando tu hermana joven no compra un barco amarillo , podemos vender mi conejo .
estas faldas no son grandes .
mi hija inteligente llama a otro campesino famoso .
como la patata fresca .
siempre hablamos con lucía .
el amigo pintará esta puerta esta noche .
muchos campesinos no tienen esas flores y no llamamos a la reina .
tu padre fuerte le da estos huevos a pedro .
nueve caballos quieren caminar en mi oficina grande .
cinco hombres amables nunca necesitan un tren .
muchos reyes le dieron cuatro flores pesadas al médico .
corres cerca del hospital hoy .
mi campesino que rompe muchas ventanas grandes encuentra gallinas .
estás comprando siete sombreros .
¿ necesita ese niño esas bolsas ?
esta mujer que come pan encuentra vacas .
si no llevamos el zapato negro largo , él lee las cartas famosas .
ocho hombres pequeños les dan estas botellas a nuestros tíos .
¿ vendes nuestro tren ?
la enfermera está cortando siete naranjas .
pintamos una biblioteca ahora .
miguel siempre dibuja nuestro hospital .
él comió la manzana anoche .
un hombre tranquilo llegará a esta biblioteca pronto .
mi hermano cierra tres puertas y no busco esa gallina .
cerraremos ventanas amarillas mañana .
carlos baila .
siempre vemos el gato joven .
ellos tienen que escribir ocho poemas largos interesantes .
este hombre pinta los conejos jóvenes , pero la reina pinta un burro .
nuestro hermano compra las camisas largas , pero nuestras hijas inteligentes no llevan una camisa .
ellos están esperando ese autobús feo .
ana hablará con maría pronto .
quieres abrir esas ventanas .
le damos esas manzanas a ana .
ellos leerán mi poema nuevo pronto .
¿ encuentras una flor ?
mi rey visita estas escuelas verdes feas ahora y este alumno necesita un cuadro azul .
ese pintor va a otra torre porque lavamos un abrigo .
maría cortó una zanahoria .
cortamos arroz frío , pero no visitamos este mercado .
juego en nueve parques porque otra niña no corre en este mercado .
ellos duermen delante del parque grande porque mi padre juega en esta iglesia ahora .
el pez es más fuerte que siete vacas .
¿ trabaja la reina detrás de dos casas ?
él encontrará nuestra mesa azul esta noche .
¿ limpias los techos nuevos ?
¿ comes seis huevos ?
estamos leyendo una carta vieja .
él está limpiando cinco oficinas .
¿ cortas esa cebolla roja ?
viajaremos al pueblo la semana próxima .
maría puede cocinar la fruta fresca y la hermana amable ayuda a otro campesino pequeño .
los cocineros fuertes buscan caballos .
este niño no dibuja mercados grandes feos .
un niño romperá las ventanas esta noche .
maría beberá jugo frío .
estoy cantando .
las enfermeras compraron esta llave nueva .
mi reina famosa le da este pastel pequeño al médico .
ellos viajan a ciudades porque nuestro padre joven toca nueve guitarras .
miguel hablará con los reyes .
cantamos porque tu padre bebe vino frío .
la enfermera cantará una canción hermosa mañana .
ana va a ayudar al vecino viejo .
pedro quiere limpiar esa lámpara .
no limpio esas calles .
¿ dibujas una montaña ?
siete ríos no son tranquilos .
los vecinos cantarán en ocho calles grandes pronto .
una niña amable lleva siete zapatos marrones viejos por la noche .
pedro rompe las ventanas blancas otra vez .
otro museo no es feo .
busqué esa llave verde el año pasado .
si vuelves a ese mercado , dos alumnos pequeños hermosos no van a nuestro museo .
quiero esta camisa nueva porque mi tío encuentra esos gatos negros .
los reyes amables no compran vino .
no encontramos doce perros .
¿ quiere esa mujer un cuadro blanco ?
siempre lees las cartas .
las reinas beben café , pero compro mi huevo .
¿ ves estos trenes negros ?
los pintores dibujan este bosque tranquilo .
¿ quién toca tres pianos ?
no bailo porque tengo ese pájaro otra vez .
otro vestido es más barato que cinco sombreros .
cuando caminamos en estas cocinas , miguel va a mi iglesia .
nueve médicos están trabajando .
un pájaro corrió en muchos museos viejos anoche .
¿ compras muchas flores ?
llego al mercado .
el rey alto comerá los tomates baratos .
esa cantante que busca bolsas limpia dos botellas .
quiero hablar con el alumno .
compraste cartas .
estas niñas jóvenes tocaron ese violín anoche .
¿ llevas mis faldas verdes ?
él quiere llevar camisas .
espero ese autobús caro .
la mujer joven no necesita dos faldas caras .
pintas mi techo grande .
los reyes que limpian el jardín ayudan a muchos hombres ricos .
¿ encuentra elena mi gallina ?
un niño viejo comió anoche .
tu abuela cortó otro huevo .
hay un caballo fuerte en estos bosques .
mi hermano le da seis relojes blancos grandes a tu tío .
un cocinero lleva cinco sombreros rojos largos .
ana pintó otro techo ayer .
las enfermeras llevaron muchos abrigos ayer .
estas enfermeras llamarán a miguel pronto .
¿ ayuda tu madre tranquila a tu amigo ?
seis tazas están limpias .
miguel ayudará a mis abuelas hermosas .
maría compra mensajes porque podemos pintar la puerta nueva .
ellos trabajan .
siete reinas altas hermosas no están enfadadas .
¿ compran las reinas viejas amables el queso ?
abres puertas porque ella no busca los peces .
no necesitamos muchas camas caras .
¿ lava mi abuelo el tren amarillo barato ?
¿ quiere nuestra abuela inteligente mi cama cara ?
puedo visitar esta estación fea , pero comemos detrás de un parque .
mi cocinero puede leer los poemas , pero tus abuelos viejos famosos no pueden leer unos poemas .
si dibujas un gato , nuestra reina corre en las iglesias blancas .
ella venderá un perro hermoso .
tu padre pequeño quiere cortar muchas patatas .
estoy comiendo la patata pequeña fresca .
ana dibujará nueve hoteles .
compramos un periódico famoso ayer .
¿ bebe maría agua ?
mis tíos llegarán al mercado pequeño .
este pez jugó en nuestro campo .
puedes lavar el coche grande .
no puedes comer esa pera cara , pero pintamos mis ventanas verdes .
nuestro reloj está limpio .
¿ cierra el médico una puerta ?
leemos el libro nuevo hoy y siete mujeres no tocan un piano caro .
lucía está cortando las naranjas .
visitaré mis países famosos .
los tíos que limpian muchas ventanas quieren nuestro coche amarillo .
vendí el perro .
seis médicos compran los cuadros pesados .
si diez niños ricos no caminan en la oficina , esta cantante escribe el mensaje .
cuando vendemos mi bicicleta , elena cocina pan .
ellos pueden leer otra historia triste porque un maestro no lee mi poema .
nuestro padre a menudo compra ese libro .
el barco es muy barato .
dormirás detrás de la cocina tranquila .
dos cajas están debajo de la mesa .
carlos busca la taza hoy .
limpiamos mis lámparas .
queremos abrir puertas verdes pequeñas .
si seis niñas rompen este plato , una niña alta no puede volver a nuestra casa roja .
nuestro campesino pequeño esperó a las cantantes anoche .
los campesinos que viven en países esperan a mi campesino rico .
esos reyes pintaron la gallina .
mis abuelos lavarán la bicicleta esta noche .
nuestro maestro busca esta cama azul .
ella busca doce burros viejos hermosos .
compramos mis llaves .
nuestra falda larga está en ocho cajas .
compré diez abrigos feos .
cuando bebo vino , ana viaja a unos pueblos ahora .
maría verá esta iglesia .
otra niña quiere los sombreros caros .
cuando ese hombre canta , ocho maestros encuentran otra botella los lunes .
quieres trabajar detrás de mi bosque .
esas reinas altas dibujan un bosque y las mujeres jóvenes famosas encuentran mis tazas por la noche .
¿ lees mi libro interesante ?
veo nueve trenes rojos grandes .
ella corrió anoche .
el campesino viajó a unas aldeas anoche .
ana no ve un barco , pero esos alumnos comen arroz .
estás buscando mis lámparas negras .
mi abuela pequeña le dio la lámpara blanca a una niña .
hablo con miguel hoy .
¿ dibujan nuestros abuelos la iglesia fea ?
¿ necesitan tus abuelas una lámpara verde ?
un alumno puede correr detrás de las iglesias blancas porque siete pintores escriben las historias .
¿ ve pedro doce bicicletas baratas ?
esas mujeres jóvenes están tocando guitarras baratas .
nuestra niña hermosa visitará una aldea rica .
mi plato amarillo está sobre ocho sillas .
otro hombre corta ese pastel rojo fresco .
el hermano pequeño está vendiendo muchos limones .
mis tíos fuertes les dieron dos lámparas blancas a nueve alumnos .
estamos llevando las camisas nuevas .
otra mujer pequeña abrió las ventanas esta mañana .
ellos cocinarán fruta .
otro alumno tranquilo está leyendo otro mensaje nuevo .
ana está visitando ciudades .
ellos van a comprar ocho peras caras .
ana no esperó cinco barcos el año pasado .
¿ cierra elena estas ventanas blancas ?
mis países son ricos .
los perros feos tienen que dormir detrás de nuestra biblioteca pequeña .
¿ ve ella nueve escuelas viejas ?
miguel visitará mi pueblo .
el maestro buscará mi caballo .
muchos maestros viejos leen un periódico corto triste .
quieres leer esa historia .
rompimos las ventanas .
la cantante llamará al maestro hermoso pronto .
nuestra reina cortará sopa caliente mañana .
él puede tocar pianos baratos porque nuestros abuelos inteligentes tienen zapatos todos los días .
el vecino compra una falda porque nuestros vecinos compran arroz los domingos .
¿ cocinan estos cocineros arroz caliente ?
los maestros lavan un vestido los domingos .
esa reina no quiere siete flores .
ocho camisas son largas .
escribimos nuestro libro famoso anoche .
¿ leen esas niñas ese libro largo ?
limpiarás esas paredes mañana .
pintaremos las escuelas pequeñas .
cuando ves a un niño , un hombre visita esas aldeas .
el maestro inteligente visitará muchas ciudades esta noche .
¿ cantan tres cantantes pequeñas mi canción ?
tu padre llamará a la enfermera alta pronto .
ellos encuentran estas tazas blancas redondas .
volveremos al museo viejo mañana .
si esta mujer lee nuestro poema , no dibujamos unas ovejas pequeñas feas .
no vendo barcos caros .
esperamos a estas cantantes .
ellos vieron mi playa .
no tengo este vestido y mi hombre ve los lagos ahora .
leo dos periódicos .
lucía comprará esta falda .
lucía encontrará una mesa .
ese campesino cortará sopa pronto .
nuestro niño nunca encuentra gatos marrones jóvenes .
tus vecinos altos no necesitan esas bicicletas y elena ve un perro blanco .
mis médicos pintan un techo negro los domingos .
siete mujeres quieren ese sombrero marrón .
el niño hermoso pintó este puente .
estos maestros famosos visitan los pueblos ricos .
siete maestros jóvenes les enviaron un libro corto a estos hombres .
¿ cantas unas canciones tristes ?
¿ rompen nuestras abuelas mis platos ?
¿ cocina pedro arroz ?
maría viajó a mi pueblo .
ella comió el pan ayer .
carlos comerá fruta la semana próxima .
tu amigo está buscando el espejo amarillo .
las reinas vieron un bosque hermoso .
él busca mi botella por la mañana porque ellos llaman a estos niños pequeños fuertes .
pedro fue a otra estación grande .
ellos necesitarán otra flor .
ana quiere escribir esas historias .
mi tío espera a pedro , pero cortas la sopa fría por la tarde .
ellos siempre corren .
cocinamos carne .
un alumno tranquilo come .
veinte hombres hermosos quieren llamar al vecino inteligente .
nuestro médico vio siete mercados .
ellos siempre leen unas cartas .
nuestra hija joven está buscando ese reloj .
no puedo tocar unas guitarras viejas .
lucía necesitará mis trenes .
ellos limpiarán nuestro techo amarillo mañana .
las gallinas corren delante de nuestra tienda , pero podemos buscar tazas .
la niña ve a miguel ahora porque mi padre camina delante de otra cocina tranquila .
juan necesitará queso caliente mañana .
un médico alto comprará otra flor .
la gallina puede dormir delante del puente porque ella llama a pedro .
mis mujeres que rompen cuatro ventanas blancas grandes escriben muchos poemas famosos .
pintamos mis techos hoy .
estás cerrando la puerta .
escribes los mensajes famosos y ellos comen .
¿ cuántas hermanas hay en nuestro parque ?
maría ve el pájaro pequeño .
busqué veinte lámparas verdes .
¿ come tu hija mi limón ?
ese campesino viejo hermoso toca guitarras ahora porque carlos ve al rey alto por la noche .
¿ compran los médicos las historias cortas ?
las cantantes que ayudan al abuelo alto venden otra camisa .
los reyes que dibujan unos gatos negros esperan bicicletas .
ella viaja a mi pueblo pobre porque un pintor fuerte ve bosques .
tus amigos que compran esas manzanas dulces venden arroz .
buscamos muchas camas hoy .
estamos tocando la guitarra .
carlos tendrá unos pianos viejos .
nuestro tío hermoso escribirá las cartas mañana .
tus amigos inteligentes esperarán nuestro barco pronto .
él puede comer esas patatas grandes dulces .
la escuela no está abierta .
estamos pintando un techo grande .
¿ ven nuestras abuelas inteligentes el bosque ?
elena viajó a la ciudad ayer .
juan ve siete campos pequeños .
necesitamos mis abrigos marrones caros .
el hombre nunca visita esa biblioteca .
ese pintor pintó ese techo .
llevaremos un zapato feo .
tus abuelos pueden cortar carne y ellos ven una playa ahora .
él comerá estas zanahorias dulces pronto .
tocaste diez violines caros .
estamos pintando nueve tiendas .
no abrí veinte ventanas grandes .
¿ pintan tus hijas las puertas ?
vendemos el pez , pero esta reina vive en esas aldeas pequeñas interesantes .
trabajaré pronto .
cuando buscas ese gato blanco , mi padre lleva ese zapato .
cuando carlos pinta unos caballos blancos inteligentes hoy , otra niña no ve este árbol .
estoy llamando a las reinas fuertes .
si leo un poema , los campesinos visitan nuestra aldea .
leímos los mensajes ayer .
nuestro pintor inteligente compra este cuadro barato .
comes carne , pero mi maestro come .
¿ cuántas cantantes hay delante del mercado hermoso ?
cuando corto el huevo , no esperamos ese coche nuevo .
esos cocineros les dieron la cebolla a muchas mujeres .
cantamos otra canción ayer .
el alumno no cierra ventanas verdes nuevas porque una niña come delante del jardín .
las niñas pueden comer delante de nuestro jardín y juan lee unas historias nuevas difíciles .
compré trenes rojos .
los pintores ayudarán a nueve maestros mañana .
ellos pintarán mis vacas viejas .
veinte campesinos les dan el pastel a dos médicos .
lavamos un tren porque esta reina vuelve a cuatro estaciones amarillas .
este pintor hermoso comió un huevo .
no bailamos , pero vendo arroz fresco .
ellos compraron dos zapatos esta mañana .
a menudo necesitamos carne .
esta enfermera llega a muchos mercados verdes .
las mujeres le dieron diez manzanas a un rey .
los gatos grandes caminan en el jardín pequeño hoy .
si un niño puede vivir en esa ciudad tranquila , nuestro médico joven amable puede encontrar cuadros .
ella limpió cuatro cajas .
¿ necesita pedro la camisa barata ?
¿ llevan esos pintores siete faldas marrones ?
pedro dibujó mi museo .
mi vecino que lleva abrigos largos cocina fruta caliente .
este maestro viejo no buscó mis espejos .
ese campesino no encuentra esos espejos grandes .
una mujer tranquila les envió veinte historias tristes a tres hombres .
no puedo lavar mis bicicletas grandes porque dibujo un caballo feo los domingos .
¿ bebes leche ?
esas mujeres tranquilas quieren vivir en las aldeas tranquilas .
le di cinco poemas famosos a nuestra madre .
mis abuelas que rompen una ventana compran los zapatos .
ana puede pintar un hospital blanco y la niña joven encuentra un pez feo .
ana encontró una oveja pequeña .
si tus hermanas pequeñas van al puente otra vez , llegamos a dos bibliotecas feas .
si mi hija famosa no quiere estas bicicletas amarillas , limpio la cocina .
¿ juega una niña cerca de mi torre vieja ?
cantamos esas canciones cortas tristes .
si el caballo feo no duerme en esas bibliotecas , los cocineros corren ahora .
cinco campesinos altos inteligentes están lavando esos coches rojos .
el campesino que toca los pianos lee libros .
beberé leche caliente .
nuestras hijas le dan esa manzana al cocinero .
el niño les da mi llave a esas reinas .
escribiremos muchos poemas esta noche .
¿ bebe mi abuelo jugo ?
lucía rompió el plato blanco .
escribimos unos mensajes interesantes .
quieres viajar a los países ricos .
estas mujeres inteligentes viven en dos pueblos .
mis hermanas jóvenes cantarán .
ellos nunca quieren vino .
ellos dibujarán torres .
escribo la carta .
un niño ve ese coche barato .
nuestras hijas a menudo leen estas historias interesantes .
cocinas sopa porque nuestro hermano viejo abre la ventana nueva los domingos .
hay muchas botellas cerca de seis campos .
la playa es pequeña .
el perro feo quiere jugar en seis oficinas .
¿ cierras dos puertas ?
tus amigos a veces quieren jugo .
tu hija tranquila quiere vender las vacas fuertes .
nuestro abuelo inteligente comerá .
la cantante fuerte no tiene nuestra falda marrón larga y podemos esperar esa bicicleta .
el alumno quiere llamar a tres niñas .
caminé .
¿ dónde corren nueve cocineros ?
mi abuela encontró nuestra bolsa fea .
pedro a veces come .
mis vecinos hermosos buscan la silla barata .
abriste la puerta .
cerré una puerta la semana pasada .
la mujer está encontrando dos botellas caras .
él llevará esos abrigos rojos .
muchas niñas esperan al padre joven .
leíste una historia corta .
ellos escriben este periódico .
mi madre es más alta que otra mujer .
tu hermana está escribiendo mi libro nuevo difícil .
lucía tiene tres caballos tranquilos ahora .
veo la escuela amarilla .
mis abuelas llevaron los zapatos grandes anoche .
tocaremos la guitarra mañana .
¿ trabaja otra mujer ?
limpiamos nuestra taza negra ahora .
hay unas lámparas pesadas cerca de cuatro cocinas .
mis hijas son más altas que las reinas .
le damos este limón al hombre .
pedro visitará un museo mañana .
¿ escriben nuestras hermanas otra carta ?
nuestros tíos altos necesitan esas cajas hoy .
leíste el poema ayer .
no viajamos a otra ciudad .
juan canta en nuestra oficina ahora .
compramos las peras .
miguel no vende unos caballos porque ayudo a carlos .
hay unas cajas en la iglesia pequeña .
toco nuestro piano .
diez mujeres inteligentes viajan a una aldea rica hoy .
mi hija necesitará el reloj negro .
mis reyes altos siempre tocan tres violines caros .
escribí nuestro poema esta mañana .
quiero pan .
carlos beberá agua .
verás mi hospital .
leerás el libro difícil pronto .
¿ cuántas niñas hay en mis museos ?
lavaremos este sombrero negro corto .
estos maestros altos siempre llevan muchos sombreros .
nunca comes nuestra patata .
cortas esta cebolla roja , pero un hombre bebe té .
corriste delante de nueve oficinas .
la reina amable puede vender el coche amarillo porque lucía camina .
quiero llamar al médico famoso .
nuestros amigos buscaron esta lámpara .
encuentro nuestra flor , pero llevamos muchos vestidos grandes .
limpiamos estas puertas hoy porque este gato corre en muchas iglesias hoy .
él llevará esa camisa larga esta noche .
esos zapatos no son nuevos .
elena romperá ventanas negras mañana .
miguel vivió en cuatro ciudades .
nunca escribes un libro .
cinco reinas hermosas visitan las ciudades .
carlos está tocando estos violines .
esa mujer les dio la silla azul a mis cocineros .
ana vio cuatro barcos .
¿ ves bosques pequeños ?
él irá a otro museo grande .
limpiamos cinco mesas .
caminaste anoche .
estamos rompiendo muchas ventanas .
¿ qué comen cinco niñas viejas ?
cuatro oficinas no están llenas .
maría comerá mis limones esta noche .
podemos pintar estos gatos .
maría llama a lucía ahora .
si escribo los poemas nuevos difíciles , ana puede comer el pastel caro .
las hermanas que cortan una zanahoria juegan .
pedro corre .
miguel llega a esta casa famosa porque no viajo al país pequeño interesante .
vendes la falda larga fea .
¿ toca un niño el violín ?
el alumno viejo les da los pasteles pequeños frescos a estos cocineros .
cuando tu abuela visita ese pueblo pobre por la noche , lucía limpia un espejo feo .
dibujamos nuestro puente , pero ella lee doce poemas .
un maestro encuentra diez faldas .
visitaremos las ciudades .
la vaca negra está en nuestro hospital feo .
tu abuelo famoso encuentra estos vestidos feos .
el pintor vende diez gallinas viejas grandes .
cierras ventanas .
no pintaste otro hospital .
esas ovejas jóvenes están en dos oficinas .
mi pintor buscará esta vaca .
esos campesinos dibujarán la playa pronto .
juan está vendiendo diez coches negros pequeños .
otra oveja no es vieja .
cuando ella cierra ocho ventanas grandes ahora , carlos lava los vestidos .
él dibuja esa torre nueva ahora .
esos conejos pequeños comieron en esa calle grande anoche .
mis hermanos ricos pueden abrir esas puertas y nuestro hermano camina .
no bebiste café .
hay nueve vacas blancas tranquilas cerca de un árbol .
comerás sopa fresca .
cuatro vacas comieron detrás de las cocinas pequeñas .
elena encontrará estos vestidos .
cuando él llama al rey rico , el campesino vive en estos pueblos hoy .
nuestro padre esperará al pintor joven pronto .
los cocineros compraron seis autobuses .
nuestro hombre que viaja a un pueblo pequeño espera dos barcos .
mi abuelo tranquilo necesita esta llave marrón .
este niño que cierra cuatro puertas quiere el barco .
no limpiaste la pared nueva ayer .
las niñas que pintan otro techo tienen un burro pequeño .
los abuelos que escriben unas cartas lavan ese zapato largo .
mi madre amable escribe cuatro historias interesantes .
ella hablará con nueve niños inteligentes .
vendimos muchos trenes .
mis hermanos tienen esta guitarra negra los lunes .
si otro hombre puede encontrar esos vestidos , las enfermeras amables no tienen la botella nueva .
¿ lleva miguel faldas blancas ?
¿ buscas estas mesas azules ?
ellos abrieron mis puertas .
vendiste un zapato .
¿ tiene esta cantante el pájaro ?
dibujas diez montañas .
si estas enfermeras ricas no escriben la historia corta triste , ella pinta ese perro fuerte .
cuatro niños tendrán un perro negro pequeño .
¿ llevas el abrigo largo ?
ella está buscando un espejo .
puedes cortar cebollas .
las hijas inteligentes pueden cocinar la carne porque ella duerme .
no encuentro la falda corta fea y cortas una cebolla .
tu hija puede dormir porque abro nuestra puerta .
mi tío come la carne porque hablo con tres campesinos .
llevaré muchos abrigos cortos .
mi campesino lleva los abrigos largos porque ana no trabaja .
¿ ayuda otro rey al médico ?
lavamos otro zapato negro los lunes .
nuestros abuelos dibujaron esos gatos .
miguel está encontrando este cuadro amarillo .
ese pintor hermoso rompió mi plato ayer .
el tío quiere lavar autobuses .
¿ cuántas escuelas hay cerca de esta tienda ?
¿ espera nuestro alumno ese coche rojo ?
mis tíos dibujaron otro burro .
mi maestro viejo no compra siete bicicletas .
mis hermanas limpian veinte ventanas verdes pequeñas , pero carlos puede ayudar a maría .
necesitarás esos zapatos .
él vivirá en las aldeas mañana .
queremos tocar este violín barato .
¿ vendes diez camas ?
juan cerró mi puerta blanca .
nuestro médico no abre la puerta amarilla porque una niña joven puede leer este poema nuevo .
nunca quiero el autobús rojo .
lucía vio mis burros .
leíste un mensaje famoso .
¿ buscan los maestros ricos una oveja vieja ?
¿ comen ocho reyes viejos sopa caliente ?
esa mujer vio el campo .
le doy las mesas blancas feas a pedro .
mis hermanas beberán el jugo mañana .
ellos venden muchos coches ahora .
las cartas son más largas que mis poemas .
ella no limpia las flores redondas grandes .
¿ quieren los médicos cuatro sombreros marrones caros ?
una enfermera fuerte pintó unos techos .
cuando ana pinta doce gatos viejos hoy , ana va al mercado ahora .
bailo y este niño quiere un zapato .
mis enfermeras famosas están esperando este barco nuevo .
esa montaña no es tranquila .
nuestra hermana vendió esa bicicleta roja .
estás cortando esa patata .
él no esperó al rey joven esta mañana .
¿ limpian las cantantes la calle grande ?
los hoteles no están llenos .
la cantante hermosa compra seis botellas porque mi tío pequeño come en mi parque por la tarde .
tocas nuestra guitarra , pero un rey alto inteligente corta un limón .
vemos las vacas ahora .
rompí mi plato nuevo .
si ella ve al alumno , otro niño camina los lunes .
muchos hombres tocarán nuestro violín negro nuevo .
ocho reyes no cortan pan , pero puedo vender muchos zapatos amarillos .
los vecinos pequeños no dibujan estos museos .
el médico hermoso no encontró las camas blancas .
cuando mis hombres viejos no venden mi camisa , juan corta carne .
comemos sopa ahora y tu padre viejo ve el pez fuerte los domingos .
la abuela fuerte abre mi puerta ahora .
si caminamos , las mujeres no ven este tren viejo .
estoy comprando el barco azul .
¿ baila mi niña fuerte cerca del puente famoso ?
necesitaremos un abrigo feo pronto .
comí la sopa fresca anoche .
lucía dibujará el bosque pequeño esta noche .
estoy limpiando un techo .
¿ camina ese médico tranquilo en ocho calles ?
otro alumno tranquilo ayudará a seis cocineros viejos .
jugaré pronto .
el médico hablará con otro rey .
¿ qué compran nuestros hermanos ?
tus hermanos cocinan arroz fresco hoy .
¿ camina carlos ?
cuando no lavas los zapatos , seis mujeres ricas llevan ese abrigo .
las niñas altas están listas .
llego a las estaciones y los niños fuertes lavan una camisa .
ana puede limpiar cocinas .
los médicos beben café los domingos .
¿ canta una enfermera rica esta canción ?
ana vende las peras baratas y pedro escribe este periódico viejo .
lucía no ve perros , pero no bailas en muchas calles .
¿ qué leen nuestros vecinos ?
las vacas están enfermas .
diez peces pequeños corrieron en un bosque .
¿ viven los reyes altos en aldeas pequeñas ?
juan vivió en cuatro pueblos anoche .
¿ duerme maría en la montaña pequeña ?
dos pájaros son inteligentes .
tu hija les da la lámpara a mis reinas .
los médicos pintan otra torre blanca , pero el hombre rico necesita esa llave .
mis cocineros pequeños encontrarán el reloj nuevo .
tocas mi violín .
¿ vuelves al hospital pequeño ?
si mi hermano rico puede cantar cerca de un hospital famoso , limpio el jardín tranquilo ahora .
nuestro rey inteligente vio los caballos esta mañana .
¿ bebe la mujer té ?
el abuelo cantará delante de mis hospitales mañana .
¿ tienen diez niños una oveja ?
tocamos pianos .
bailé delante de siete jardines ayer .
el niño que encuentra ovejas lleva otra falda fea .
escribes historias interesantes otra vez .
muchos reyes ven otro campo ahora .
mi padre tendrá los abrigos amarillos pronto .
nuestra reina vieja jugará .
¿ escribe el hombre amable cinco cartas ?
pedro llamó a elena esta mañana .
las playas no son tranquilas .
dormiré .
mi amigo que abre la puerta rompe dos platos blancos redondos .
ellos nunca comen pan caliente .
mis médicos siempre leen libros .
mi campesino que come siete zanahorias pequeñas dibuja las playas pequeñas .
trabajaremos en esas casas grandes .
mis hermanas que beben leche fría buscan la flor marrón .
hay cinco gatos blancos tranquilos cerca de otro parque .
quiero mi flor .
el cocinero dibujó dos tiendas .
¿ cuántas tazas hay en el museo ?
hay dos mercados viejos hermosos en las iglesias viejas .
¿ vuelve pedro a otra estación ?
el alumno lleva un vestido largo caro porque elena abre una puerta .
mi alumno rico escribe doce historias .
mi abuelo famoso ayuda a mi abuelo los domingos y muchas cantantes pueden escribir nuestra carta vieja .
otra reina bebió café .
miguel llama a la hija porque esa enfermera busca otra caja ahora .
siempre abro muchas ventanas nuevas .
una mujer pinta unos hospitales rojos hoy .
hay barcos cerca del río tranquilo .
cuando miguel quiere queso , puedes comer sopa fría .
comes zanahorias .
seis pintores quieren pintar esos techos .
¿ limpias este reloj viejo ?
juan dibujará una montaña .
la cantante quiere cocinar queso frío .
mis hijas cortaron fruta .
¿ van muchos pintores hermosos a esos hospitales ?
mi cantante espera a ana , pero esta cantante hermosa canta .
¿ cuántas sillas hay en muchas cocinas ?
compraremos esos libros nuevos difíciles .
ocho conejos pueden correr detrás del hospital verde .
los campesinos ven nuestro pájaro fuerte los domingos .
el amigo que pinta esa pared roja vende el gato joven .
los cocineros inteligentes pueden tocar esas guitarras porque no puedo correr .
esta cantante encuentra la lámpara y otra enfermera tranquila escribe los mensajes ahora .
dibujamos este hotel rojo y miguel no quiere la botella amarilla .
tu hija viajó a diez aldeas .
él venderá lámparas .
una niña vieja alta lleva unos abrigos ahora .
¿ dónde está nuestra iglesia verde nueva ?
si no llamas al alumno amable , hablas con carlos .
rompiste la ventana .
¿ limpias nueve parques ?
esta mujer les da cartas largas a veinte niños .
elena quiere doce relojes .
le dimos camisas al campesino .
las tiendas no son azules .
vimos unas gallinas .
veinte alumnos jóvenes pequeños lavan este coche grande feo .
si el burro puede caminar en esas casas , los cocineros tocan las guitarras baratas .
llamamos a nuestros abuelos hoy .
el mensaje es más largo que cuatro periódicos .
cuando cantamos una canción nueva , ana trabaja en estos bosques .
estás vendiendo esta vaca hermosa .
ella lava vestidos .
lucía venderá un pájaro inteligente .
mis reinas jóvenes rompen muchas ventanas verdes porque tu vecino lava esta falda otra vez .
nunca corres delante del campo .
vas a muchas escuelas amarillas y los abuelos viejos juegan .
dos médicos venden un limón dulce y ella viaja a aldeas .
la hija está bebiendo té .
pedro duerme porque pedro va a nuestro hotel feo por la tarde .
tus vecinos ricos nunca abren mi ventana azul .
si elena no va al puente nuevo , no compras pan fresco .
siete cantantes viejas altas no compran mis zapatos hermosos y él pinta el techo blanco .
juan busca una taza azul .
la cantante trabaja hoy porque ese pintor busca a mis hermanos .
las hijas durmieron en mis bosques pequeños .
el vecino que lava los sombreros necesita la falda amarilla larga .
el médico no encuentra otra silla porque mis enfermeras pueden beber vino frío .
¿ comen cinco alumnos altos inteligentes tres peras ?
buscamos mesas .
¿ toca otro médico guitarras ?
nuestras hijas rompen estos platos .
mi padre dibuja pájaros y corto fruta .
cuando un cocinero come una manzana fresca , un médico tranquilo no corta la zanahoria cara .
el padre no lava el autobús porque pintamos otra torre verde vieja .
elena escribirá los mensajes pronto .
él comerá ocho peras .
vendiste nuestra cama .
¿ espera tu amigo las bicicletas verdes ?
otro médico abrió una puerta verde ayer .
ella trabajó detrás del lago grande .
mi amigo rico visita la torre roja ahora .
ana a veces necesita unas cajas .
un puente está lleno .
un árbol no es tranquilo .
si cinco cocineros altos quieren otra bicicleta nueva , un maestro canta .
si encuentras muchas vacas grandes , lucía llega a la estación .
él rompe esas ventanas nuevas , pero maría no compra las naranjas dulces .
diez enfermeras comen .
¿ necesita ella estos autobuses azules ?
¿ pinta lucía nuestra pared ?
nuestra cantante necesitará fruta .
puedo bailar .
cuando muchos niños jóvenes beben el café caliente , mi abuelo come .
juan visitó aldeas .
ana corre detrás de este lago porque buscas a doce pintores .
¿ limpia carlos las paredes ?
pedro espera trenes , pero mi hermana tranquila compra agua .
dormimos y llego al hospital .
elena buscó un pájaro joven inteligente .
si elena tiene una flor negra , no caminamos en ocho calles .
la enfermera no pinta unos perros porque elena pinta un pez grande .
mi hermana hermosa buscará caballos .
limpiamos un plato negro caro anoche .
¿ cierra nuestro abuelo esas puertas verdes ?
nuestra enfermera que necesita carne vende una llave amarilla .
ella esperará coches nuevos pronto .
hay muchas torres delante de los puentes nuevos .
una escuela es más pequeña que diez torres .
seis mujeres viejas encontraron el sombrero .
compras ese cuadro viejo todos los días .
si ese pintor pequeño espera a nuestra hija , corres en estos museos .
tu padre nunca compra botellas .
mi hermana que compra las bicicletas amarillas ve muchos trenes nuevos .
maría dormirá detrás del árbol esta noche .
si carlos no va a siete casas , diez enfermeras no leen esos mensajes famosos .
diez bicicletas rojas están detrás del museo grande .
hay muchos relojes pesados en muchas bibliotecas .
¿ limpian estas mujeres un reloj ?
el rey no juega porque la vaca duerme detrás de estos árboles .
ella siempre necesita mis botellas viejas .
¿ busca miguel nuestra vaca tranquila ?
no bailamos en ocho bibliotecas famosas .
veinte niñas cantan en siete campos ahora .
este pintor alto comprará jugo .
la reina pequeña beberá vino .
elena encontró mi conejo hermoso ayer .
si maría no rompe estos platos verdes caros , miguel bebe té todos los días .
¿ qué come este alumno joven rico ?
otro maestro lavó esta camisa la semana pasada .
otro maestro visita muchos hoteles blancos .
el abuelo tiene otro caballo ahora .
¿ corta él esa manzana ?
¿ lleva la madre inteligente muchos sombreros ?
nuestros hermanos que leen este libro difícil hablan con ana .
mi enfermera está tocando esta guitarra vieja .
cocino pan otra vez .
necesitaré mi llave pronto .
rompes ese plato los domingos .
una reina necesita nuestra llave y elena puede pintar el hotel .
lucía a veces lava unas bicicletas grandes caras .
no llamaste a diez maestros ayer .
la enfermera nunca dibuja diez pájaros .
ocho campesinos hermosos abren esa puerta amarilla .
¿ dónde camina una enfermera tranquila ?
ana leyó otro libro corto .
él pintará nuestra escuela .
elena toca dos guitarras .
nuestro amigo inteligente quiere tazas pequeñas .
mi abuela alta siempre baila .
el maestro cerrará otra ventana pronto .
un pintor joven quiere esperar seis trenes .
vendes autobuses viejos otra vez .
no pintas otro gato negro .
nuestro médico pequeño pintará dos hoteles azules .
esos campesinos que comen una patata hablan con el niño .
juan puede tocar diez pianos nuevos caros .
ana le dio espejos negros a ese alumno .
las cantantes altas limpiaron siete cajas .
mis hermanas que quieren muchos barcos azules lavan este coche blanco .
mis vecinos durmieron en nuestro jardín anoche .
las reinas que venden queso frío corren .
nuestra mujer amable cantó .
¿ vuelven ellos al hospital grande ?
cuando un burro viejo no camina detrás de nuestra playa , miguel cocina carne .
¿ cierra ana doce puertas ?
¿ pinta ella nuestro hospital azul ?
un maestro va a dos museos y compras esos autobuses caros hoy .
limpio mi lámpara azul .
no lavas ocho coches .
esa cantante rica cortó carne .
escribiremos un libro viejo difícil .
limpio cinco jardines .
los hombres rompen esos platos blancos .
mi vecino viejo pintará la torre .
¿ necesitas carne fría ?
¿ come nuestro amigo en otra casa ?
¿ leen estos pintores veinte cartas ?
¿ dónde caminan muchas cantantes ?
otra cantante lleva estas faldas .
las cantantes tranquilas tienen que llevar otro vestido largo .
mis abuelas llegaron a mis iglesias anoche .
¿ comes una zanahoria cara ?
muchas cantantes jóvenes altas viajan a muchas ciudades y miguel corre .
si duermes cerca de nuestro jardín tranquilo hoy , miguel come el tomate los lunes .
no cortas cinco pasteles pequeños .
pinto las iglesias .
¿ encuentras tres zapatos ?
¿ ayuda la mujer alta a elena ?
nuestro periódico está sobre esa cama .
si los médicos tocan la guitarra negra , no tenemos estos pianos nuevos baratos .
siete maestros cortaron mi limón .
mis abuelos famosos quieren agua .
muchos pintores ricos hablan con esas reinas hermosas , pero tengo el reloj otra vez .
nuestros hermanos viejos hermosos encontraron mi lámpara cara .
comemos esa naranja grande dulce .
los maestros dibujan un gato viejo tranquilo .
él vendió mi conejo tranquilo el año pasado .
miguel querrá cinco autobuses feos .
venderemos un barco .
hablé con juan ayer .
un médico abre las ventanas otra vez .
pedro lava el tren azul .
¿ cocinan seis maestros la carne fresca ?
lucía vivirá en nueve aldeas ricas pronto .
él cortará el arroz frío .
el campesino está viviendo en cinco pueblos hermosos .
lucía llegó a nueve casas feas .
necesito nuestra botella .
mi hospital es más pequeño que mis bibliotecas .
los campesinos pequeños pueden cantar porque podemos escribir seis cartas .
mi padre está comprando un zapato nuevo .
¿ necesita mi tío una bicicleta ?
nuestra hermana inteligente tocó ocho violines baratos .
ella escribió ocho mensajes la semana pasada .
¿ bebe él leche caliente ?
lucía limpió la calle .
mi padre rico pinta un techo blanco porque ellos necesitan trenes .
otro caballo va a caminar delante de los puentes pequeños .
irás a los hospitales rojos .
¿ corta una cantante unas zanahorias ?
lees las historias hoy .
hay ocho naranjas en el mercado viejo .
muchas sillas redondas están en una caja .
hay cuadros blancos delante de nueve jardines .
las hermanas famosas ayudan al amigo rico .
los hermanos están encontrando dos abrigos largos .
lucía no rompe cuatro platos .
no compramos jugo .
mis tíos siempre compran el poema .
ella dibujó esos bosques anoche .
la niña fuerte visita ciudades interesantes los domingos .
juan puede limpiar esas llaves .
él come otra cebolla y mi abuelo vuelve a estos hospitales famosos .
seis jardines están vacíos .
doce niños necesitan diez flores marrones .
mis hermanas amables durmieron .
ana buscará a miguel .
cuando él toca ese piano otra vez , tus vecinos no ven mis playas pequeñas .
una enfermera necesitará esos relojes .
un niño visitará las ciudades pequeñas .
mi abuela no compró flores anoche .
doce pueblos son hermosos .
no compramos cartas porque esos niños altos viven en la aldea hermosa .
estoy dibujando unos burros tranquilos .
abres las puertas azules y tu amigo quiere unas botellas amarillas .
miguel tocará la guitarra .
pedro buscará este perro marrón .
el alumno cocinará carne .
lucía limpia otro plato negro otra vez .
elena camina cerca del parque todos los días porque carlos no compra jugo .
les das un pastel grande caro a nueve reyes .
esta niña pintó un gato .
bebí café .
juan venderá nuestro pez pequeño .
una enfermera dibujará el lago .
pintarás la pared negra .
la gallina hermosa caminará en esta iglesia mañana .
otro niño quiere otra silla pesada hoy .
cortarás estas cebollas frescas .
hay un pez fuerte cerca de esa escuela fea .
los niños llevan los zapatos cortos .
él fue al hotel .
cuando no puedes limpiar una cocina , nuestros tíos amables pueden comprar vino frío .
cuando rompemos ventanas negras , caminamos delante de nueve jardines .
tres enfermeras le dieron veinte cartas cortas difíciles a elena .
los coches no son verdes .
¿ llegan tus hermanas jóvenes a las escuelas ?
no escribiste estas historias esta mañana .
nuestros hermanos jóvenes tranquilos pintaron un museo ayer .
¿ dónde está el cuadro verde grande ?
maría limpia techos negros otra vez .
ellos no pueden comprar un libro triste porque otro cocinero encuentra mi perro blanco hoy .
el maestro llama al abuelo y un médico hermoso cocina la sopa .
hay ocho cajas amarillas delante de veinte bibliotecas .
hay pasteles pequeños baratos en la cocina .
ella vende la mesa hoy .
mi maestro comprará el vestido feo .
mi rey que cierra dos ventanas blancas limpia veinte bolsas .
a menudo corto otra manzana fresca .
ana encontrará las flores feas pronto .
corro cerca de diez torres los domingos .
hay cuatro hoteles amarillos en esas tiendas rojas .
ellos lavaron muchas camisas grandes ayer .
el rey esperó trenes pequeños baratos .
él tocó guitarras .
seis guitarras son baratas .
el rey bebió jugo .
compraste los espejos baratos .
maría jugará en las calles mañana .
la hija vieja fuerte está comprando unas cebollas .
¿ llega tu tío a la estación ?
nuestros tíos ricos pueden ayudar a siete niñas porque juan abre la puerta blanca pequeña .
llego a un museo porque mi médico rico compra esos periódicos otra vez .
nuestro abuelo pequeño fuerte escribe un periódico , pero esta cantante quiere esa bolsa fea los domingos .
una mujer joven llama a cinco reyes porque limpio nuestro espejo verde redondo .
las reinas que abren otra puerta llevan camisas hermosas .
ana dormirá delante de la tienda la semana próxima .
un rey visita este pueblo ahora .
buscas ocho camas blancas por la noche y elena come huevos los domingos .
el cocinero joven está llevando ocho camisas blancas .
mi hermano hermoso encontró una cama redonda .
no vendo otra manzana porque nuestra reina tiene zapatos .
un rey dormirá detrás de siete lagos pronto .
mi madre compra muchos limones dulces , pero tu tío cierra muchas puertas amarillas los lunes .
seis cocineros no esperan mi bicicleta porque él encuentra esas faldas largas hermosas .
viajé a otra ciudad famosa ayer .
nuestros tíos hablan con mi padre porque una reina no necesita arroz caliente .
esa niña que limpia nueve cocinas va a cinco escuelas blancas .
el campesino cantará otra canción .
tengo una gallina hoy .
¿ escribe nuestro campesino pequeño muchas historias difíciles ?
siempre llevo las faldas amarillas largas .
¿ corre maría cerca del jardín pequeño ?
un hombre hermoso trabaja y no podemos lavar dos zapatos azules .
no lavamos ese sombrero , pero este maestro escribe mis cartas viejas .
¿ hablan muchos campesinos fuertes con mi rey fuerte ?
elena baila hoy .
no queremos unos coches amarillos .
carlos verá el árbol mañana .
muchas enfermeras pintarán doce ventanas esta noche .
tendrás esta llave pronto .
les dimos nueve camisas marrones a estos maestros .
otro alumno buscó dos perros blancos .
hay botellas detrás de veinte parques .
esas cantantes amables vivieron en las ciudades ricas anoche .
él buscará nuestra lámpara .
hay barcos baratos cerca de mis jardines .
él tendrá mis platos azules .
mis pintores no visitaron a mi hija fuerte .
dos enfermeras jóvenes compran mesas hoy .
hay un puente pequeño detrás de nueve montañas .
otra botella es marrón .
las faldas son más baratas que esos sombreros .
esas cantantes inteligentes siempre venden nuestra falda amarilla .
el cocinero siempre busca ese pez .
mi enfermera no puede escribir el periódico y esos campesinos cantan las canciones hermosas los lunes .
estoy durmiendo cerca de doce árboles hermosos .
mi pintor dibuja muchas casas famosas .
hay diez reinas jóvenes pequeñas cerca de mi tienda .
muchos médicos ricos les dan cinco flores a esos cocineros .
¿ visitan ellos aldeas grandes ?
no llevas las faldas negras cortas .
tus hermanas están contentas .
ocho alumnos viejos bailaron .
leíste estos poemas tristes .
ellos no necesitan carne y ella limpia esa bolsa blanca nueva .
¿ abre elena otra puerta grande ?
miguel pintará un techo .
mi abuela alta cortará tomates .
mis hermanas tocan cuatro pianos nuevos porque elena baila .
los médicos pequeños están llevando siete abrigos .
esa gallina está enferma .
miguel encontró botellas .
encuentras veinte platos nuevos baratos .
¿ encuentra otro alumno este vestido ?
otro barco es caro .
nuestro barco blanco caro está en ese jardín pequeño .
nuestro mercado es rojo .
esa cantante tranquila está buscando esas botellas redondas .
¿ cierran nueve niñas viejas una puerta ?
elena le dio cuatro flores viejas a juan .
este cocinero hermoso no rompió ese plato anoche .
mi abuela trabajó en otra estación ayer .
carlos venderá nuestro autobús barato pronto .
compro esa pera .
estoy buscando mi vaca .
pintaste doce bibliotecas .
hay veinte hoteles viejos detrás de los hospitales .
canto porque mis cantantes pueden llevar las faldas azules .
comeré delante del campo mañana .
mi amigo venderá ese barco negro esta noche .
miguel duerme , pero estos maestros no buscan mi silla azul fea .
ellos no llevan mis camisas rojas hermosas .
no lavé la bicicleta .
mi abuela alta esperó al padre alto anoche .
quiero tazas .
nuestro amigo limpia otra pared , pero vuelves a cinco hoteles .
tu hermano encuentra dos lámparas .
estas cantantes visitaron a elena la semana pasada .
hay cinco flores en muchos campos .
no vuelvo a muchas casas feas porque nueve médicos escriben esas historias difíciles .
hay cinco iglesias en esta calle .
¿ tocas ese piano ?
maría escribió muchas historias la semana pasada .
mis abuelos fuertes querrán el vino pronto .
cuando juegas en un parque , una reina hermosa compra huevos hoy .
ana juega .
el abuelo hermoso comprará el poema mañana .
¿ tocas un violín ?
mi hermana inteligente abrirá nueve ventanas .
no lavé unos vestidos nuevos anoche .
¿ quién visita muchas aldeas ?
quiero cocinar fruta .
nuestra hija vieja puede visitar muchas escuelas .
miguel llevó una falda anoche .
lucía quiere jugo hoy .
mis abuelos vivieron en diez aldeas pequeñas .
este maestro querrá pan pronto .
¿ busca otro rey famoso mi burro ?
elena habló con otra reina .
limpias un cuadro y mis vecinos ricos no necesitan un vestido grande .
¿ lava tu hermano estos trenes ?
visitaremos hospitales viejos esta noche .
si seis niños pequeños pueden cortar nuestro tomate , este cocinero puede romper doce platos .
la reina quiere vestidos hermosos .
elena limpiará otro jardín .
hay hoteles verdes famosos en cinco cocinas .
¿ compra ella las lámparas azules nuevas ?
elena corre porque ana puede cortar esa zanahoria barata .
queremos tres autobuses caros .
muchas cantantes inteligentes no pueden encontrar esa falda azul hermosa .
quieres vestidos .
mi vecino verá unas vacas pronto .
nuestra hija inteligente no tiene muchas sillas negras nuevas .
ese plato no es nuevo .
mi vecino joven fuerte cerrará doce puertas pronto .
hay limones pequeños delante del museo hermoso .
la mujer que tiene espejos limpia esas ventanas negras .
¿ ayuda el campesino tranquilo al campesino joven pequeño ?
nuestra hija limpiará unas paredes .
bailamos en mis tiendas nuevas .
mi abuelo joven tiene que llegar a esas tiendas .
las reinas necesitan un abrigo hermoso .
mi hija lleva mis abrigos blancos los lunes porque nuestros tíos pintan la escuela vieja fea ahora .
el tomate es grande .
mi padre joven amable vivirá en este pueblo rico pronto .
carlos corta una zanahoria hoy porque leemos los libros largos otra vez .
las mujeres a menudo juegan .
elena comerá sopa .
las niñas buscan al alumno hermoso y el maestro compra el sombrero caro todos los días .
tus hermanos fuertes visitarán mi torre esta noche .
ella canta tres canciones .
el alumno viejo dibujó otro puente el año pasado .
la abuela joven limpió muchos jardines el año pasado .
nuestros tíos jóvenes pintaron las ovejas marrones .
maría no encontró el caballo fuerte .
estoy ayudando a mi hermano famoso .
nuestro campo es hermoso .
miguel necesita barcos .
dos bolsas son amarillas .
esos pintores viejos cantaron una canción .
mis mujeres que compran un tren tienen unas camisas viejas .
si ella no escribe mi mensaje nuevo , ese niño tranquilo lee unos poemas hoy .
si los perros tranquilos juegan en una calle , nuestro amigo llama a tu hija hoy .
comeré un limón grande mañana .
esas playas son hermosas .
ellos están lavando mis autobuses nuevos .
canté estas canciones ayer .
duermo cerca de doce casas hoy y jugamos delante de los parques otra vez .
muchas reinas amables ayudan a esta cantante inteligente .
quiero un barco rojo .
¿ canta mi hermana otra canción famosa ?
le diste los zapatos al padre .
los médicos necesitan una lámpara negra barata .
los amigos tranquilos llevan la falda roja porque ana puede beber jugo .
ana verá doce casas .
estos reyes hermosos limpiarán las cajas verdes .
veré unas casas blancas .
mi hija tendrá dos coches amarillos .
no dormiste ayer .
¿ viaja maría a siete pueblos grandes ?
si nuestro vecino joven compra una mesa , abro otra puerta roja ahora .
ellos pintan dos torres nuevas .
ella caminó anoche .
esos niños a veces leen muchas historias .
mi abuela buscará una lámpara pronto .
mi hombre llama a nuestra reina y otro pintor necesita esa bicicleta por la tarde .
mi zanahoria es muy dulce .
carlos bailó ayer .
maría puede llamar a la mujer porque maría ve cuatro bosques .
otra cama está sucia .
vendí los peces anoche .
si corto carne fresca , esta mujer pinta otra pared negra los domingos .
carlos vive en aldeas hoy .
corrí anoche .
mi tienda es nueva .
pedro correrá mañana .
él ve campos grandes tranquilos y ana no corta arroz fresco .
no tengo otra gallina .
cantamos esa canción .
juan tocó unas guitarras .
veinte reinas pequeñas tranquilas están buscando una caja negra .
encontraremos un cuadro feo mañana .
¿ rompes este plato ?
pedro lavó unos zapatos grandes .
no visitas pueblos .
puedes cantar .
¿ juegan ellos cerca de una tienda nueva ?
maría come la naranja hoy porque muchos niños pueden caminar .
¿ corta juan esa manzana pequeña ?
¿ escriben siete hombres mi periódico ?
cuando ayudas a mi padre , mi abuelo pequeño amable llega a otro museo amarillo ahora .
los niños venden nueve flores .
lavaremos siete vestidos esta noche .
esas niñas pequeñas cocinaron carne fría ayer .
juegas ahora .
¿ necesitas otra bicicleta ?
juan comerá en una oficina pronto .
¿ esperan ellos otra bicicleta ?
nunca cortamos mi naranja barata .
¿ ve juan diez peces inteligentes ?
nuestras hermanas llevaron el abrigo marrón ayer .
veinte espejos son muy pesados .
juan tiene ocho sillas marrones porque él pinta mi techo .
pedro puede llegar a una escuela y siete ovejas caminan en nuestra oficina grande .
¿ hablan cuatro alumnos con lucía ?
nunca abro esa ventana .
ocho maestros quieren ayudar a otra niña .
estamos buscando un conejo tranquilo .
los hombres pueden buscar los relojes , pero él vende el abrigo rojo corto .
mi hija no leyó nueve libros .
ella quiere nueve botellas .
cuando mis pintores pintan los hoteles azules viejos , seis cantantes juegan .
miguel bailará .
la reina rica pintará otra pared blanca .
carlos puede cortar las manzanas y mis enfermeras altas cocinan sopa hoy .
estas lámparas son muy pesadas .
nuestro vecino alto famoso bailó .
cocino fruta fresca .
el niño rico busca mi burro .
las hermanas abrirán esas puertas .
¿ visitas otra ciudad ?
estas gallinas van a jugar cerca de los bosques .
nuestros hermanos vuelven a la tienda y viajas a nuestro país .
dibujas siete lagos tranquilos porque un gato come en una casa por la noche .
¿ visita maría al padre ?
un niño rico beberá leche esta noche .
esa niña hermosa bailó en la montaña anoche .
los pintores que necesitan bicicletas ven estos hospitales .
ella tiene mis violines baratos ahora .
mi abuelo que lee nueve mensajes interesantes pinta la puerta verde .
no cocinaste queso fresco .
un alumno no visita al hombre y los médicos altos bailan delante de estas cocinas .
pinté la pared azul pequeña .
mi padre espera otro tren negro y cocino arroz fresco por la mañana .
ana lava barcos amarillos ahora .
un rey hermoso bailó en las casas anoche .
el pintor inteligente llegará al hospital pronto .
le dimos la patata dulce a lucía .
maría nunca lleva cinco faldas negras .
¿ necesita juan dos bicicletas amarillas ?
tu abuelo tranquilo buscará al niño joven mañana .
elena cocina arroz y el amigo canta la canción .
ese pintor que lava muchas faldas lava mi tren .
nuestra hermana puede ir al hotel grande porque ellos pueden cortar mi patata .
mis niñas que dibujan estos perros jóvenes encuentran una silla roja .
tres naranjas son rojas .
nuestra hija rica le da esas camisas marrones a pedro .
dibujarás los gatos fuertes .
mis tíos famosos no esperan ese tren y maría cocina queso caliente .
cuando esa niña alta puede leer el periódico , esta reina pequeña lee cinco periódicos viejos .
necesitas la bolsa azul .
el vecino venderá los pájaros jóvenes .
mi tío puede correr delante de mis cocinas porque no lavo trenes .
mis conejos son jóvenes .
ese país es rico .
un médico joven habla con otro niño alto .
cuando miguel encuentra la camisa , necesitas autobuses verdes .
¿ va maría a nuestro puente ?
otro médico viejo les envía el periódico a veinte médicos .
la cantante venderá gatos viejos fuertes .
¿ quién quiere esos cuadros ?
no rompí un plato esta mañana .
no cocinamos la sopa ayer .
ese maestro rico no dibuja un puente y nuestras abuelas pequeñas necesitan mi zapato .
tendremos una silla grande .
nuestra enfermera encuentra unas llaves ahora .
mi vecino fuerte nunca encuentra las faldas cortas caras .
no vendes muchos conejos .
¿ limpias mi jardín tranquilo ?
esos hombres viejos están cocinando el arroz .
mis tíos les dieron el tomate grande a mis enfermeras .
¿ toca la mujer el violín negro ?
ana buscará unos caballos mañana .
si mis hijas trabajan en ese parque pequeño , mi hermano fuerte duerme en el museo otra vez .
leo mensajes .
ellos pintan la biblioteca y tus abuelas no tienen los pianos nuevos .
los maestros que ven a ocho pintores jóvenes ven el caballo .
a menudo ves mi gato .
hay seis bicicletas baratas en cinco hospitales .
otra mujer llevó esa falda .
los alumnos que ven playas tranquilas encuentran este perro marrón .
mis hermanas viejas beben té .
siempre leemos nuestra historia .
leo muchos libros cortos los lunes .
¿ escriben tus hijas fuertes siete periódicos ?
ayudé a ese pintor .
esos campesinos les dan unos libros difíciles a estas niñas .
tres reyes famosos cantaron muchas canciones tristes esta mañana .
si vendemos tomates rojos , tu abuela no rompe nueve platos feos .
¿ qué quieren tres hombres ?
estoy bebiendo vino .
hay platos rojos en nuestra escuela grande .
otra bolsa no es pesada .
las niñas le envían un poema corto difícil a pedro .
mis tíos pequeños tienen que ver esas vacas negras .
no tocaste un piano .
¿ tocan ellos unas guitarras ?
lucía habla con elena ahora .
diez libros son famosos .
¿ cuántas estaciones hay cerca de un río grande ?
ese campesino tranquilo viajó al pueblo ayer .
seis peces están cansados .
las reinas limpiaron nuestra caja verde la semana pasada .
si no bailas , escribo otro periódico difícil .
¿ cuántos amigos hay en otra iglesia ?
un campesino lee una historia vieja difícil .
mi niño puede cocinar la carne porque la abuela ayuda al niño ahora .
si juego , los médicos pueden esperar el tren nuevo .
si hablas con las niñas , ese cocinero no toca el piano negro caro .
la hermana alta le da peras a ese campesino .
no bebimos té .
nuestro gato está comiendo delante de mi jardín .
un pintor le da una falda a la cantante .
él encontrará la vaca negra tranquila .
este maestro tranquilo está escribiendo otro mensaje .
llevo un abrigo ahora .
carlos está escribiendo nueve periódicos viejos difíciles .
tienes nuestra bolsa .
puedo trabajar en el bosque tranquilo y la cantante puede cortar fruta .
siete maestros ven tres autobuses verdes .
un perro tranquilo a veces juega en nuestro mercado .
quiero romper nuestra ventana .
dibujaremos ese gato pequeño .
¿ corta el hombre nuestra pera ?
una vaca dormirá cerca de este jardín mañana .
vuelves al museo hoy .
el tío que lee estas historias largas difíciles compra una lámpara .
¿ compran esos campesinos el autobús negro ?
comes sopa y como patatas baratas ahora .
ana caminará .
¿ lleva este campesino otro zapato ?
los reyes les dan las camas a doce alumnos .
las hermanas pequeñas inteligentes escribieron cartas .
¿ compra tu abuela las faldas ?
ayudas al cocinero alto .
si tu padre famoso viaja a una aldea pobre , tu tío toca la guitarra hoy .
mi amigo limpió este techo negro .
tres techos son negros .
maría bebió café caliente .
este hombre le envió la historia a ese médico .
el pintor tranquilo cortó carne fría la semana pasada .
¿ tienes barcos rojos ?
este conejo es más pequeño que este pájaro .
abriremos esa puerta negra esta noche .
estamos cantando tres canciones tristes .
compras otro poema .
los vecinos amables pueden cocinar arroz , pero mi abuelo corta los tomates .
pedro encontrará un reloj feo esta noche .
siete niños quieren pintar esa pared .
tus abuelas siempre buscan esas lámparas feas .
cuando muchos alumnos ven a mi hija , el tío alto famoso pinta puertas amarillas los domingos .
cuando ana puede escribir mi mensaje interesante , los pintores jóvenes vuelven a los puentes famosos .
los pueblos son muy ricos .
si tus tíos rompen ventanas , tu vecino puede comer la pera .
¿ esperan las enfermeras los trenes ?
siempre comes queso .
cuatro mujeres escriben la carta triste y la cantante compra diez pasteles pequeños .
cuando estas cantantes famosas no bailan , no encuentro los burros .
dibujamos ese pez , pero como fruta todos los días .
estos pintores fuertes no tienen el violín porque cinco enfermeras tranquilas pueden llevar abrigos .
esos reyes que esperan un autobús buscan peces .
nuestra madre abre nuestra puerta hoy y nuestra madre pequeña fuerte necesita los coches .
¿ compra un rey el café ?
carlos cortó nueve naranjas .
ellos dibujan nuestra oveja fea porque los alumnos no cierran la puerta verde nueva .
el médico espera siete bicicletas .
necesitamos ese cuadro blanco .
muchos campesinos tranquilos comen los limones grandes .
¿ duerme ella cerca de estas playas grandes ?
ella compró el vestido verde .
la cantante famosa esperó a otra niña anoche .
mis hijas llevaron otra falda vieja .
ellos dibujaron esas iglesias rojas grandes esta mañana .
mis alumnos rompieron otro plato caro .
¿ cantan cinco campesinos una canción ?
siempre como .
no fuimos a la casa ayer .
mis reinas pequeñas dibujan el río tranquilo hoy .
mi abuelo vende mi taza blanca barata .
lucía vende las mesas redondas ahora .
miguel habló con miguel .
ella leyó esta carta ayer .
no tengo mi silla porque nuestra niña rica necesita nuestra mesa roja .
la niña necesita el vestido y vendo arroz .
los médicos viejos vieron esos barcos feos .
elena querrá los trenes pronto .
necesitamos vestidos .
la reina amable lee una historia difícil porque llevamos siete camisas amarillas .
la hija que trabaja cerca de nuestra torre fea llega a este hotel .
el cocinero viejo pequeño está encontrando diez abrigos .
mis maestros hermosos están llevando faldas verdes .
¿ corta mi hermano unas naranjas ?
si no necesito cinco faldas amarillas , corto los huevos frescos por la mañana .
¿ van muchas niñas al puente ?
la reina rica vende otro autobús feo .
¿ corre carlos en cuatro museos ?
elena cantó en los hospitales famosos anoche .
¿ visita carlos ocho torres ?
las abuelas amables rompieron seis platos blancos .
mis coches son caros .
mi hija pequeña lava las faldas rojas nuevas .
cerré esa puerta pequeña anoche .
no cantamos ocho canciones .
tus tíos fuertes están llevando los sombreros viejos .
doce campesinos ven la escuela vieja hoy .
¿ lava elena ese barco azul pequeño ?
esa reina pequeña les envía la historia famosa a mis abuelas .
él tocará un piano pronto .
muchos niños tranquilos cantarán canciones hermosas mañana .
el padre que lleva muchas faldas hermosas necesita un coche viejo .
¿ corre este alumno en una estación famosa ?
mi maestro famoso les dio nuestro abrigo a tus abuelos .
ella lava muchas bicicletas y mi vecino vive en otra ciudad rica .
la madre rica dibujó los caballos marrones jóvenes esta mañana .
el padre duerme en veinte playas hoy .
hay muchas tiendas feas en estas estaciones .
¿ dónde duerme juan ?
nunca compramos el poema .
tocaste nuestro violín anoche .
nuestro campesino come las peras caras porque la niña no limpia el jardín grande tranquilo .
estamos esperando a tus abuelas amables .
hay un museo feo en estas tiendas feas .
puedes visitar pueblos .
ella visitó a diez cocineros fuertes .
¿ dónde están los cuadros nuevos pequeños ?
quieres llegar al mercado azul .
mis niños lavarán abrigos viejos mañana .
ellos están comprando limones .
los abuelos ricos venderán los peces viejos mañana .
¿ visita la hija nuestra aldea pequeña ?
compras esa zanahoria .
miguel irá a los hoteles mañana .
las niñas ricas escribirán historias esta noche .
lees la carta hoy .
nueve pintores no comieron los limones dulces .
tenemos unos sombreros porque elena toca nuestro violín .
lavamos el vestido anoche .
una puerta es azul .
nuestra mujer no espera el autobús y ellos pueden escribir cartas .
siempre bailo .
hay un autobús en ocho cocinas tranquilas .
los pintores que dibujan ese río caminan .
vas a tocar este piano .
cuando necesito una falda , la abuela bebe agua ahora .
¿ busca lucía gallinas blancas ?
carlos lavó muchos barcos blancos pequeños .
tengo que visitar tres pueblos tranquilos .
los alumnos inteligentes llevarán tres abrigos nuevos .
tu padre jugó cerca del hotel rojo anoche .
hay una taza azul pesada delante de mis escuelas .
¿ ves unas gallinas jóvenes ?
ana comió nuestro huevo dulce .
si nuestros amigos altos necesitan el sombrero , el tío amable puede abrir mi ventana .
nuestro médico amable abrió esas puertas .
trabajaré .
¿ llevas abrigos ?
maría canta en mis parques hoy .
ella dibuja bosques pequeños y compramos mi flor amarilla .
si la niña amable puede vivir en aldeas , muchas niñas tranquilas llegan al mercado .
siete reyes limpian unos techos nuevos pequeños ahora .
¿ cuántas bolsas hay en mi playa ?
cuando mi hermano puede tocar cuatro violines , comes todos los días .
mi vecino que lava el coche quiere estas tazas caras .
lucía vio esa vaca .
el rey rico está leyendo muchas cartas .
los alumnos famosos jugaron .
una reina joven le envió este periódico famoso al cocinero .
esta mujer vieja dibujó los lagos anoche .
cuatro iglesias están vacías .
llevamos tres abrigos .
las cantantes inteligentes llamaron al hombre hermoso .
mi hija abre esas ventanas y ella lee un libro .
¿ qué lee elena ?
dibujamos unas vacas fuertes otra vez .
cuando nuestro tío trabaja delante de diez bibliotecas hermosas , nuestra hermana tranquila lava coches hoy .
compras la bicicleta blanca ahora .
¿ hablas con tu vecino ?
ocho flores están en esas cocinas .
nuestro abuelo viejo rico viaja a tres pueblos pequeños .
esas niñas buscan ovejas porque otra niña pequeña quiere esta caja barata .
cuatro peces hermosos quieren correr delante de nuestro campo tranquilo .
maría visitó este hotel hermoso esta mañana .
juan visita esa aldea y ese cocinero rico dibuja nuestra casa .
compraste mi autobús .
él dibuja otra playa porque lucía limpia cocinas pequeñas .
volví al museo ayer .
cinco maestros fuertes tocan mi piano .
¿ viaja juan a ese país rico ?
elena tocó mi guitarra esta mañana .
una cantante limpia tres calles pequeñas .
tendré los cuadros rojos pronto .
ese cocinero visita aldeas ricas .
hay doce autobuses blancos en doce cocinas .
tus hermanas tocaron el violín ayer .
vendo la bicicleta grande y no cerramos ventanas .
veinte violines son muy caros .
cocinaste el queso .
¿ vendes esa botella vieja ?
no corrimos en la oficina anoche .
ellos quieren trabajar .
¿ pinta el abuelo hermoso el hotel blanco pequeño ?
¿ vive ella en mis aldeas ?
limpiarás bolsas .
¿ trabajan estos maestros en la iglesia verde ?
cocino sopa fresca y miguel visita otro puente .
ana siempre va a esa estación .
mis niñas amables visitan un hotel hoy .
¿ dibujan los maestros fuertes las ovejas negras ?
estoy cocinando fruta caliente .
elena duerme en estas calles y nuestras abuelas ricas compran el pastel pequeño .
él dibujará estos perros grandes inteligentes la semana próxima .
ana pintará torres feas .
mi hermano vende bicicletas .
¿ quién dibuja seis ovejas hermosas ?
nuestra mujer no lleva otra falda blanca porque visitas un país hermoso ahora .
si carlos abre mis puertas verdes , podemos llevar un sombrero .
pedro compra el sombrero ahora .
ella no vive en cinco ciudades hermosas .
maría dibuja una casa verde .
ella viajará a la aldea pobre pronto .
nuestro alumno le da ese limón barato a mi médico .
escribiré cuatro mensajes mañana .
buscas el espejo grande .
si los hombres ricos encuentran mesas baratas , ella encuentra el abrigo caro .
las niñas que abren una ventana roja buscan doce relojes .
pedro dibuja perros los domingos .
los campesinos le enviaron mi periódico al hombre .
juan no pinta esos hospitales famosos porque escribo mi libro triste por la tarde .
él no llevó zapatos .
ellos cantan cuatro canciones los domingos .
siete caballos negros grandes dormirán detrás de nuestra cocina pronto .
lavas una falda los lunes .
¿ dibuja otra cantante la escuela ?
muchas ovejas son blancas .
mi abuelo alto lee el periódico viejo triste .
visito aldeas .
ella tendrá ese conejo mañana .
¿ lava la reina estos sombreros amarillos ?
corté las patatas .
carlos lee los poemas largos ahora y podemos trabajar .
tendremos el autobús negro .
las mujeres quieren leche hoy .
ellos no escribieron el poema difícil .
no viajas a ese pueblo .
esas niñas ricas pueden llegar a cuatro museos porque leemos las historias .
mi hermana amable siempre habla con esos campesinos .
elena tendrá muchas tazas nuevas la semana próxima .
comeré en estas bibliotecas .
mis amigos amables comerán queso .
un alumno joven escribió estas cartas famosas la semana pasada .
nuestro amigo hermoso lee estos mensajes .
cuando puedo romper ventanas azules , estos alumnos ricos pueden vivir en estos pueblos .
las enfermeras pequeñas inteligentes limpiaron una oficina tranquila .
un alumno puede llevar el zapato y lucía encuentra mi vestido viejo feo .
mi pez a menudo corre en nuestra montaña grande .
cuando muchos reyes ricos no necesitan otra bicicleta , nueve enfermeras fuertes no cantan .
ana quiere limpiar esta flor cara .
quieres pan .
esta reina limpia una mesa cara ahora .
esa llave está limpia .
un niño quiere lavar mis sombreros blancos feos .
nuestra abuela le envió una historia larga a carlos .
la enfermera puede escribir estas historias .
nuestro maestro rico está abriendo esta puerta pequeña .
pedro esperará a los alumnos inteligentes .
quiero llegar a siete bibliotecas .
tu amigo le da faldas negras al cocinero .
puedo comer sopa porque otra cantante ayuda a otro niño amable .
les das unas manzanas a los amigos .
viajaste a aldeas .
¿ cocinan cuatro cocineros la carne ?
estamos llevando abrigos hermosos .
ella habló con mi padre esta mañana .
estas cantantes que venden los trenes leen mi libro .
el padre alto baila los domingos .
ese rey canta .
cuando muchos cocineros no leen este poema nuevo , mi campesino encuentra estos burros .
otra vaca no comió delante de esa oficina grande ayer .
¿ limpia ella una silla ?
seis reinas tranquilas caminaron el año pasado .
¿ habla carlos con juan ?
tres niños famosos les dan diez cuadros viejos a las reinas .
mi amigo no pinta esos techos porque los hermanos cantan .
mis tíos cerraron las ventanas la semana pasada .
no dibujaste nueve hoteles verdes grandes .
cuando elena dibuja las casas , nueve campesinos dibujan la gallina blanca .
otro gato marrón pequeño correrá delante de una estación azul .
estos pintores leyeron veinte mensajes nuevos interesantes .
visitas mi hotel rojo .
una reina famosa corre .
mi alumno vio un campo ayer .
¿ lava lucía otro sombrero viejo largo ?
ellos pueden abrir unas puertas negras porque comes en una estación vieja ahora .
¿ limpia la enfermera esta calle pequeña ?
mi tío tranquilo compra la caja otra vez y pedro no duerme .
el médico que duerme delante de otro museo duerme .
queremos los abrigos los domingos .
muchos médicos inteligentes siempre limpian este techo .
carlos llamó a muchos hombres viejos .
cuatro alumnos jóvenes a menudo esperan un barco .
nuestra hermana no puede ayudar a maría , pero limpio esas puertas ahora .
estamos rompiendo esos platos .
él escribirá mis poemas difíciles esta noche .
mis tíos tienen este cuadro los lunes .
cuando nuestra madre puede comer la naranja , caminamos en los hoteles viejos hoy .
no escribí estos libros esta mañana .
¿ duermen muchas cantantes en mi iglesia ?
veinte campesinos venden fruta caliente los domingos .
esta enfermera cantó unas canciones cortas .
los médicos que cortan el arroz esperan autobuses .
cuando una cantante hermosa no lee una carta , ese hombre tranquilo pinta nuestro conejo feo .
¿ pintas estos peces ?
necesito ese abrigo porque una enfermera quiere la flor ahora .
diez poemas son cortos .
puedes viajar a este país famoso porque mis hermanos tranquilos pintan una vaca inteligente hoy .
toco violines .
nuestro maestro vio esta oveja .
mi amigo pequeño puede comprar esa caja amarilla .
ana comerá arroz esta noche .
llegaré a una biblioteca amarilla .
nuestro hermano está lavando un tren barato .
mi reloj no está sucio .
ella bailará en otra casa mañana .
¿ cocina ella sopa caliente ?
ellos escribieron unas cartas difíciles .
veo a este niño .
mi hermano compra abrigos viejos caros .
nuestro hermano que dibuja esta torre nueva grande tiene un tren amarillo .
esos pintores quieren romper estas ventanas .
¿ ayudas al vecino amable ?
este piano no es negro .
la mujer tranquila quiere leer tres poemas .
el padre le da flores al campesino .
nuestro médico dibujará ese campo pequeño .
vendemos la llave hoy .
tocamos nueve pianos .
carlos puede llevar esa camisa nueva y muchas mujeres hermosas pintan los techos grandes .
cortaste el arroz anoche .
ellos siempre necesitan un espejo .
nuestra abuela fuerte rompió cinco platos el año pasado .
¿ visitan mis amigos el mercado ?
juan lavará esa bicicleta vieja cara .
¿ cantan esos reyes ricos la canción nueva ?
no puedes encontrar ese pez blanco y otro alumno baila en este parque pequeño .
espero autobuses .
¿ cierran ellos esas puertas azules ?
seis coches están sucios .
llevé mi abrigo barato .
lucía romperá ese plato pesado .
nuestra abuela que rompe diez ventanas amarillas camina .
cuando no pintas esos techos , un cocinero tranquilo trabaja cerca de nuestra torre .
¿ pinta un alumno una pared ?
ellos llevan muchas camisas .
¿ cortan tus amigos jóvenes la sopa ?
¿ vende una cantante fuerte un abrigo azul viejo ?
los reyes visitan unos hospitales azules hoy .
¿ caminas en seis mercados ?
nunca canto .
lucía pinta burros .
¿ baila ella cerca de esas iglesias grandes ?
compramos seis vestidos blancos largos .
los vecinos tendrán las guitarras esta noche .
si tus tíos altos pueden escribir otro libro famoso , carlos puede comer arroz frío .
una enfermera rica puede llevar una camisa negra porque un rey compra mi manzana .
nuestro parque está lleno .
la abuela encuentra muchos gatos .
ayudarás a este maestro .
ellos vuelven a mis bibliotecas blancas hoy .
no encuentro seis abrigos .
los alumnos beberán agua fría .
mis tíos que quieren otra lámpara fea rompen otro plato .
las bolsas no son pesadas .
los hombres tienen que leer ocho historias .
los maestros no llevan nueve faldas negras y puedes llegar a tres hospitales .
estas bicicletas son más viejas que veinte coches .
lucía compró ese huevo barato ayer .
nuestra mujer rica encontró nuestro abrigo caro .
cuando ese alumno no escribe unas historias viejas , vas a las bibliotecas .
no escribiste nueve periódicos interesantes ayer .
si ellos ven al maestro amable , ocho pintores no van a mis hoteles pequeños .
una mujer compra veinte cebollas .
mi hermano no ayudó a maría anoche .
canto seis canciones ahora .
elena bailó detrás de tres parques .
si mi abuela vieja no puede vender camisas , lucía come cinco tomates .
¿ cuántos hoteles hay en esa montaña ?
la enfermera lleva sombreros .
¿ rompe lucía los platos azules ?
¿ ves campos ?
vendemos esos peces viejos feos .
juan comprará pan .
lavé cuatro zapatos .
juan llegó a seis hospitales .
nuestro abuelo joven puede comer nuestro limón .
cantaré en esta oficina .
ese maestro tocará ese piano .
cuatro bicicletas son muy feas .
ella pintará las paredes esta noche .
mi madre habla con los pintores ricos y elena necesita una bicicleta .
mis tíos que llegan a esta casa necesitan nuestro sombrero feo .
mis hijas venden esas cebollas otra vez .
hay patatas delante de nuestro árbol hermoso .
esas mujeres ricas están buscando esos conejos feos .
veinte libros son tristes .
leeré otra carta la semana próxima .
¿ corta un alumno ese pastel caro ?
si ana puede cerrar cuatro puertas negras , el alumno duerme hoy .
¿ quién va a ocho museos grandes ?
necesito otro sombrero .
estoy lavando nuestra camisa .
tu vecino visitó el pueblo esta mañana .
una mujer es alta .
este alumno rico cerró muchas puertas .
elena lee otro periódico interesante , pero mis amigos cortan esta zanahoria cara .
mis vecinos amables están encontrando los espejos rojos .
buscaremos ese perro marrón mañana .
¿ qué escriben nuestros hermanos fuertes ?
no visitaste a un campesino alto la semana pasada .
muchos reyes pueden limpiar otra silla .
este alumno rico corre porque no pinto mis paredes azules .
hay coches delante de muchas tiendas grandes .
nuestra niña dibuja esa oveja .
mis amigos viejos cerraron la ventana verde anoche .
él volvió a estas torres .
¿ compra tu hermana seis historias ?
¿ necesita nuestra hermana vieja amable mis coches ?
¿ quién ve cinco ovejas ?
un maestro rico caminará .
¿ quién espera barcos caros ?
¿ habla juan con miguel ?
tendremos las bicicletas pronto .
nuestros abuelos van a comprar mi vestido rojo corto .
ellos pueden buscar una gallina y ana quiere el reloj pequeño caro los lunes .
mi hombre fuerte está encontrando conejos .
la hermana rica venderá los vestidos pronto .
tres campesinos jóvenes vieron este burro hermoso .
mis reinas jóvenes van a lavar mis zapatos caros .
ese alumno limpió muchas oficinas .
mi médico viejo fuerte le dio abrigos verdes al médico .
una mujer le da tres patatas a juan .
¿ dónde corren nuestros vecinos viejos ?
llegaremos al hospital esta noche .
siete pintores jóvenes altos siempre encuentran seis zapatos marrones .
carlos les dio esa taza roja a nuestros tíos .
estos vestidos están en cuatro iglesias .
carlos llegó a muchas estaciones .
no cerré veinte ventanas blancas .
los alumnos leen tres historias viejas .
ana ve el pájaro blanco hermoso .
cerraré mi ventana verde .
veré la casa hermosa mañana .
¿ quién necesita ocho zapatos ?
a veces abres estas ventanas .
mis abuelos hermosos vendieron la camisa nueva anoche .
¿ come una mujer las manzanas ?
maría hablará con miguel mañana .
cerramos ocho puertas verdes todos los días porque nuestro maestro amable come en un hotel todos los días .
cantaré cerca de otra iglesia esta noche .
él pintó estos hospitales ayer .
mis tíos ricos vendieron sopa .
un médico no busca este pez viejo hermoso .
carlos caminará en las oficinas mañana .
las hijas altas pintaron estos techos la semana pasada .
¿ cuántos hombres hay en mi calle ?
mis abuelos venden la llave ahora .
trabajaremos mañana .
pedro beberá café .
pedro come el tomate pequeño dulce .
la cantante leyó este libro .
nuestra madre famosa viajó a nuestra ciudad esta mañana .
las enfermeras buscan mi bolsa nueva .
ocho cantantes amables cierran doce ventanas grandes .
este rey volverá al puente nuevo .
mis enfermeras hermosas vendieron otra flor blanca .
veinte niños famosos le dan una camisa grande hermosa a mi madre .
pedro siempre vende un plato amarillo .
compras limones .
¿ escribes unas cartas ?
una enfermera tranquila le da patatas frescas a carlos .
cuando carlos canta otra canción , ayudamos al abuelo .
si los cocineros caminan , la enfermera puede limpiar puertas .
llevé unos sombreros .
¿ dibuja él un burro feo ?
tocarás nuestro piano mañana .
cuando mi médico amable ayuda a miguel , esta mujer encuentra nueve camas azules redondas .
quiero ocho lámparas .
nuestro amigo pintó mis ovejas pequeñas .
quieres vivir en ciudades .
el niño pintará estas paredes amarillas nuevas mañana .
miguel ayuda a pedro .
tenemos unas tazas .
visitaste la escuela hermosa anoche .
leemos otra historia .
la enfermera inteligente está cantando .
los alumnos tienen mi gallina negra .
miguel bebe té y mis caballos duermen en estos mercados por la mañana .
no limpiaste mis puertas blancas el año pasado .
pedro necesitará ese autobús mañana .
puedo pintar una oveja porque cerramos la ventana .
tocamos la guitarra ayer .
otra reina les envió las cartas famosas a seis mujeres .
otro campesino joven fuerte corre .
la hija habló con tus amigos .
quieres romper la ventana .
juan pinta mis paredes rojas .
¿ venden tus hijas ricas los autobuses ?
juan espera cuatro bicicletas grandes y maría corre cerca del río .
ellos cocinan carne y nuestro hombre puede comer muchos huevos grandes .
ocho niños fuertes beben leche ahora .
¿ quiere ella esas camisas ?
¿ pinta maría estos burros viejos ?
ella les dio mi lámpara vieja a ocho enfermeras .
no cierro muchas ventanas amarillas .
no bebemos el jugo porque no queremos muchos espejos pesados .
limpio una pared pequeña y llevamos camisas verdes .
correrás en las cocinas pronto .
el cocinero rico cierra diez puertas grandes los domingos .
otro maestro hermoso siempre encuentra este zapato hermoso .
¿ qué vende ese médico joven alto ?
cortaremos las patatas frescas .
él quiere pintar unos museos verdes .
¿ cocinan ellos arroz ?
corto queso fresco .
¿ duerme elena cerca de muchas iglesias famosas ?
lucía visitó una aldea esta mañana .
maría quiere lavar otro vestido viejo .
cerraste la puerta .
otra enfermera rica dibuja esas bibliotecas los domingos .
dos periódicos tristes están debajo de las sillas .
dos pueblos son ricos .
les diste estos pasteles dulces a las mujeres .
ella dibujó seis campos pequeños .
encuentro otro espejo redondo .
¿ lavan esas niñas viejas tranquilas muchas faldas ?
este campesino viejo quiere esperar trenes pequeños .
cortas sopa todos los días , pero no comemos otra cebolla barata .
él buscó nuestra bolsa esta mañana .
este pájaro está cansado .
¿ escribes estos mensajes largos ?
elena está leyendo mis periódicos difíciles .
mis abuelas le dieron nuestro sombrero amarillo a mi hermano .
cuando tu abuelo vende una cama pequeña , cantamos esa canción todos los días .
mis abuelos que trabajan detrás del hospital amarillo pintan nuestra puerta .
veo la gallina grande fea .
lucía está abriendo estas puertas grandes .
mi tío viejo inteligente no visitó una tienda .
cuando esta oveja fuerte puede comer en una biblioteca , maría encuentra veinte faldas hoy .
miguel puede esperar barcos y miguel limpia paredes .
mi vecino vendió unas tazas .
lucía no limpió paredes .
¿ quieren ellos queso ?
les damos diez camas a nueve reyes .
¿ quién bebe vino caliente ?
visitaremos el puente .
estás vendiendo carne .
viajas al país .
¿ caminan las reinas ?
¿ cuántos caballos hay en nueve calles ?
tu amigo fuerte no quiere los sombreros azules baratos y ana limpia una calle los domingos .
le di pasteles caros al campesino .
las reinas pequeñas no compran la historia porque carlos tiene este violín viejo los domingos .
muchos médicos fuertes ven una biblioteca por la tarde , pero compro té .
¿ cuándo come ana ?
mis abuelos leen mensajes difíciles otra vez .
¿ trabaja ana en los campos tranquilos ?
estos reyes que comen la carne quieren mi barco grande barato .
lavas mi bicicleta barata .
si el tío puede comprar el arroz fresco , esos maestros viejos pueden buscar el pájaro .
le di una cebolla a lucía .
ellos hablaron con tu madre amable esta mañana .
diez tazas verdes redondas están sobre esa silla .
encontrarás seis pájaros inteligentes .
queremos este tren .
a veces escribo muchos mensajes .
un niño cortará las zanahorias mañana .
mis hermanas limpiarán nuestra taza grande .
a menudo bebemos leche caliente .
no limpiamos estas paredes blancas anoche .
mi vecino cocinó arroz .
un campesino vende nuestro pastel .
carlos jugó en un hotel ayer .
lucía encuentra ese sombrero marrón barato .
él está llamando a doce cantantes .
¿ limpian estos alumnos amables un parque ?
cuando el cocinero alto viaja a nuestra aldea , veo caballos inteligentes .
cinco huevos son baratos .
ella quiere las bolsas verdes .
esta silla está limpia .
la niña puede cortar estas peras baratas porque bebemos la leche caliente .
¿ lleva nuestra niña cuatro faldas ?
estoy cortando arroz caliente .
mis hermanos le dan nuestra lámpara a otro hombre .
siempre escribes otra carta .
ella vendió nuestro caballo .
los niños le dieron seis naranjas a nuestro tío .
las reinas que visitan la escuela verde encuentran el pájaro joven .
este maestro espera unos autobuses nuevos .
este hombre comió fruta .
¿ quieres este cuadro redondo ?
la madre está cerrando seis puertas .
nuestros amigos pequeños tendrán estos pájaros mañana .
tengo nuestro vestido hermoso ahora .
estoy tocando ese piano .
otro hombre hermoso no vive en ese pueblo pequeño y toco otro piano caro .
escribimos nuestra historia .
ana llevará un sombrero hermoso pronto .
rompo las ventanas blancas los domingos .
mi vecino no lee nuestra carta y el médico tiene unas guitarras por la noche .
¿ escribe juan mensajes cortos ?
¿ vendes cuatro autobuses ?
él encuentra esos peces fuertes y lucía puede dormir en el campo grande .
¿ escriben nuestros amigos unos mensajes ?
muchos relojes son pesados .
cuando mis hijas pequeñas pueden limpiar muchos techos amarillos , un conejo grande come cerca de cuatro puentes .
cantaremos ocho canciones .
ocho cocineros inteligentes no comen y nuestros vecinos pueden ayudar a tu hermana rica .
diez hoteles son verdes .
pedro juega en un mercado porque un perro no juega en nueve museos .
no hablo con elena porque los maestros venden este abrigo .
un rey limpia muchas flores redondas hoy .
él venderá el burro mañana .
comes esa cebolla fresca .
limpiaste muchos techos verdes .
quieres llamar a veinte reyes .
esos cocineros limpiarán otra botella roja .
cerramos nuestra ventana pequeña .
una niña lavará un sombrero mañana .
puedo llevar la falda azul corta .
él no ve tiendas .
elena abrirá otra puerta blanca .
carlos abrirá una ventana .
¿ venden mis vecinos pan caliente ?
ellos compraron muchos relojes marrones .
la cantante hermosa llevará nuestra falda verde .
muchos vestidos están debajo de nueve sillas .
lucía corta esa zanahoria cara porque él espera la bicicleta amarilla .
si muchos hombres dibujan bosques , ana juega en mi montaña otra vez .
¿ trabajan ellos detrás de cinco cocinas tranquilas ?
¿ vende carlos queso ?
cuando él pinta este burro , doce campesinos fuertes no pueden comprar la bicicleta verde .
mis médicos fuertes a menudo cocinan queso caliente .
no puedo leer mi poema famoso .
tu hija vende una camisa hermosa hoy .
visité otra escuela ayer .
no tocamos otro violín .
nuestro niño pequeño no ve a nuestro hermano , pero compras otra lámpara por la mañana .
los vecinos ven diez campos .
otro abrigo blanco está en dos cajas .
estos hombres hermosos viven en cuatro países .
puedes hablar con carlos y carlos limpia una puerta negra .
ella visitó aldeas famosas ayer .
¿ llega la enfermera amable al hospital ?
mis hijas viejas amables encuentran esos gatos .
siempre llegas al hospital .
leí mis poemas el año pasado .
quieres correr en otro jardín .
mis mercados están abiertos .
no llevo el sombrero y puedes cantar siete canciones .
estos alumnos buscaron nuestro pájaro esta mañana .
juan limpió unas paredes azules pequeñas .
hay un campesino en muchas estaciones hermosas .
¿ quiere la cantante jugo caliente ?
encontraré diez espejos pronto .
las niñas que visitan siete mercados nuevos comen .
¿ comen mis hermanos el pan ?
rompo nuestro plato .
los amigos pequeños no ayudan a nuestro vecino porque encuentras otro pez .
cortas fruta .
tu tío llega a cinco mercados hoy .
carlos verá la estación .
nuestro pintor famoso rompió esas ventanas negras .
tendrás el tren .
mi cantante le envía esos libros a una enfermera .
un médico lavó nuestro zapato corto anoche .
¿ dibuja el rey rico mis caballos blancos ?
encontré los burros esta mañana .
nuestros vecinos necesitan nueve sillas .
él canta y este maestro inteligente tiene otra botella nueva .
¿ viaja pedro al pueblo tranquilo ?
nuestros vecinos visitaron ciudades .
siete niños bailan en nuestra oficina hoy .
¿ visita pedro esos pueblos pequeños ?
si nuestros abuelos viejos pintan estos hoteles viejos , él camina delante del lago .
pintas techos .
mi abuela que duerme en una oficina compra muchos sombreros feos .
cuando el tío pequeño pinta unas tiendas , el rey tranquilo quiere vino frío .
la reina está encontrando esos relojes .
¿ rompe él los platos ?
doce enfermeras están vendiendo una gallina .
pinté estas tiendas .
compré queso .
las cantantes juegan delante del campo y mis amigos pequeños no pueden tocar unos violines .
quieres pintar muchas vacas pequeñas .
siempre viajo al país grande pobre .
mis abuelas jóvenes no ayudaron a nuestras hijas .
carlos espera veinte coches .
vimos la bicicleta verde nueva .
si carlos come cerca de nueve ríos ahora , tocamos nuestro violín por la noche .
carlos no come la fruta caliente y las mujeres altas hablan con cuatro niñas ahora .
los maestros que cortan seis peras grandes dibujan mi río .
ella siempre necesita zapatos .
llevarás el zapato marrón pronto .
hay puentes en dos casas .
¿ vuelven tres enfermeras a mi biblioteca ?
este alumno tranquilo tiene que vender peras .
los espejos no son blancos .
ayudaré a mi hermana .
esperé este barco feo ayer .
ella llegará a este museo pronto .
ellos jugarán .
¿ llevan tus hermanos amables estas camisas ?
hay ocho vacas delante de cinco hospitales .
¿ visitan esos campesinos las torres blancas ?
quiero encontrar unas llaves .
¿ cierran nuestros vecinos inteligentes ocho ventanas ?
cuando esas niñas inteligentes pueden pintar esa puerta , el médico abre puertas amarillas .
muchas reinas vivieron en países interesantes .
vendes un sombrero .
maría quiere comprar el reloj pesado .
elena escribe estas historias famosas porque ellos tienen el caballo blanco tranquilo .
él no vende otra mesa porque vamos a las iglesias .
maría necesitará siete barcos .
él beberá agua mañana .
muchas niñas altas fueron a mis torres viejas .
¿ corta nuestro hermano estas naranjas ?
quiero mesas verdes porque un pintor viejo escribe un poema .
a veces caminamos .
siete huevos son muy rojos .
esta cantante que canta otra canción encuentra conejos pequeños .
nuestra enfermera vieja lava la camisa amarilla cara .
leo periódicos interesantes y lucía abre unas puertas blancas nuevas .
un hombre les dio unos pasteles pequeños a nuestros tíos .
ana llamó a nuestro niño anoche .
encuentro estos perros .
cuatro médicos jóvenes ven un barco rojo porque ella quiere jugo frío .
los cocineros jóvenes bailan hoy .
¿ dónde come maría ?
este médico viejo pequeño quiere dibujar la estación verde .
carlos fue a nuestra tienda .
maría leerá otra historia pronto .
un niño joven busca muchas mesas porque el rey quiere estos vestidos .
si mi abuelo bebe la leche , esa niña toca otro violín .
rompes estos platos azules ahora .
ese perro es joven .
si seis cocineros tranquilos escriben muchos mensajes largos famosos , ella puede lavar otro tren .
si llevo un zapato , diez enfermeras esperan ese coche .
los hombres que venden diez ovejas limpian otra puerta .
mi hombre viejo cerró ventanas .
quiero trabajar .
hay doce flores nuevas en esas escuelas .
él venderá esta oveja negra .
si lucía puede tocar nuestra guitarra vieja , tocamos esa guitarra vieja .
carlos espera estos trenes baratos otra vez .
siempre dibujamos ese hospital .
mi vaca es inteligente .
carlos abrió unas puertas ayer .
seis campesinos tocan este violín nuevo .
diez hombres están llevando este sombrero .
elena pinta este caballo joven pequeño porque la mujer joven tranquila no canta .
esos reyes tranquilos están tocando doce violines nuevos caros .
ana venderá la bicicleta mañana .
si bailo en nuestra estación azul , este médico come el limón .
maría bailará en ese jardín tranquilo pronto .
ana le da otro reloj a otra cantante .
esos maestros ricos tienen que buscar estos platos feos .
diez lámparas están sobre esta silla .
juan abrió las ventanas anoche .
mis vecinos buscarán a lucía .
limpiamos nuestra silla hoy .
pedro encuentra nuestro reloj pesado los lunes .
quiero ayudar a ana .
veinte pintores pueden cerrar puertas .
esos cocineros que venden un coche ven siete burros pequeños fuertes .
cuatro cantantes ricas no pueden ir a esa escuela verde .
ellos escribirán esta historia esta noche .
esa cantante le da cuatro camisas a nuestra hermana .
ellos escribirán la carta pronto .
muchas reinas hermosas no volvieron a mi museo nuevo .
necesitamos la fruta porque mi enfermera amable bebe el jugo frío .
las reinas tranquilas cocinaron fruta .
ellos comprarán esas faldas .
pedro viajará a países famosos mañana .
¿ habla elena con mi hermano hermoso ?
¿ tiene ese maestro nuestra oveja vieja grande ?
¿ cuántos médicos hay en nuestro jardín ?
nuestro rey no comió sopa .
no llevo los vestidos rojos , pero una mujer no ve dos casas .
hay doce llaves redondas en los mercados .
le doy una botella blanca a la niña .
las tazas no son caras .
ocho médicos famosos pintaron otra ventana .
ana dibujará los caballos fuertes pronto .
¿ llevas muchas camisas marrones ?
otro huevo no es dulce .
elena siempre lee nuestra historia corta .
esas cantantes lavaron muchos trenes ayer .
elena volvió a esas estaciones la semana pasada .
tres pintores pequeños encontraron el burro tranquilo esta mañana .
tu tío inteligente compró esas bolsas blancas pequeñas ayer .
hay tres relojes verdes cerca del museo amarillo .
él pinta nueve puentes feos y una niña encuentra muchas bolsas .
mi madre inteligente corta este huevo porque tres campesinos comen sopa .
mi tío ve ocho ríos .
estamos lavando muchos coches feos .
doce conejos son fuertes .
las mujeres limpiaron la calle el año pasado .
mi tío tiene que buscar la llave .
nuestro vecino joven pequeño llevó nuestra falda el año pasado .
mi hombre está buscando esta mesa azul .
no lavamos la camisa negra .
queremos vivir en esta aldea .
mi iglesia es nueva .
¿ lleva carlos la falda blanca larga ?
tu hermana pequeña amable quiere comer esos limones .
ocho cocineros van a llevar cinco abrigos .
la hija hermosa ayuda al tío viejo , pero mis pintores no dibujan ovejas jóvenes .
mis abuelos tranquilos necesitan esta lámpara .
el maestro ayuda a tu abuela porque él escribe otro libro largo .
tus vecinos famosos cortarán pan caliente .
llegarás a la biblioteca nueva mañana .
mis hijas que pintan museos famosos encuentran una lámpara .
ella lavó otro barco nuevo caro el año pasado .
estás esperando bicicletas viejas .
los cocineros venden un sombrero hoy .
juan no esperó unas bicicletas baratas .
a menudo escribes cartas .
¿ leen los amigos los mensajes ?
quieres queso .
¿ esperas bicicletas negras ?
cierras mi ventana pequeña porque no abrimos esas ventanas .
cuatro platos son pesados .
no puedo bailar , pero ana no lee muchos poemas .
el hospital es famoso .
tengo que dibujar otra montaña hermosa .
un pintor ve montañas los lunes .
¿ duerme mi vecino en este museo famoso ?
nuestras hermanas pequeñas no limpiaron doce techos .
bailo detrás de muchas montañas .
esos alumnos cantarán .
el pintor que compra mi tomate pequeño vive en esta ciudad .
un médico les dio doce cajas a las niñas .
quiero esa camisa .
los hombres tranquilos lavaron esta camisa el año pasado .
esos campesinos inteligentes cantarán en un hotel mañana .
buscarás nuestra oveja .
mi tío corre en el parque , pero nuestros hermanos famosos pueden pintar una iglesia blanca famosa .
la mujer visitó tres países grandes .
un tren es más barato que mis barcos .
maría comió mi patata grande .
nuestro hermano viejo amable limpió otra pared verde .
compro los sombreros largos por la tarde .
un cocinero comprará fruta pronto .
esta enfermera que trabaja detrás de mi oficina escribe nuestra carta famosa .
las reinas que encuentran conejos llevan estas camisas .
cuando pintas mis hospitales , jugamos .
estoy bailando .
este hombre tranquilo venderá autobuses baratos pronto .
un pez marrón tiene que dormir en nuestro bosque grande .
corto la manzana cara , pero ellos pintan los pájaros .
esperamos un autobús ahora .
¿ busca pedro un caballo ?
doce alumnos tranquilos fueron a los mercados anoche .
tu amigo nunca dibuja unos mercados .
cuando ellos caminan en mis bibliotecas nuevas , maría no canta cinco canciones famosas .
un pintor cantó ayer .
mi hija inteligente quiere comprar cinco mesas grandes .
si trabajamos en ese parque , canto canciones por la tarde .
comerás una zanahoria cara mañana .
buscaré los espejos la semana próxima .
no lavamos un autobús porque mi abuela pequeña ve estas gallinas grandes .
si pedro pinta muchas puertas nuevas , no llegas a ese museo .
ella limpiará nuestra mesa redonda .
¿ bailan dos campesinos viejos ?
ella no lavó estas bicicletas viejas feas anoche .
lavarás otro zapato .
un rey rico a veces ve los bosques .
¿ esperan los reyes este barco ?
cuando los maestros buscan el pájaro hermoso , maría rompe este plato grande por la mañana .
un barco no es amarillo .
carlos bebió leche anoche .
tu hermano que busca mi gallina hermosa ve esas gallinas .
encontramos nuestra lámpara .
nunca duermo .
buscaré una oveja fuerte la semana próxima .
ellos escribieron poemas .
cuando estos pintores lavan esa camisa roja fea , el alumno pinta los caballos .
pedro llega a esos hoteles .
ella cortó esas peras dulces anoche .
cuando viajas al país , puedes lavar unos sombreros .
cinco hombres están listos .
ellos hablan con nuestro tío , pero la hija inteligente puede comer seis naranjas grandes .
los reyes jóvenes famosos hablaron con otro cocinero anoche .
mi hermana busca a la mujer hoy .
juan le dio las camas negras pequeñas a un alumno .
otro caballo a veces come en cuatro estaciones hermosas .
ellos no cocinan fruta porque mi tío dibuja el burro .
mis hermanos que viajan a cinco pueblos ayudan a carlos .
un alumno inteligente durmió ayer .
si tu hermano canta esta canción , no puedo ayudar a nuestras hermanas pequeñas ricas .
¿ escriben cinco pintores pequeños nuestra historia ?
¿ quiere un maestro leche fría ?
¿ llama la cantante a mi niña ?
trabajaste delante de muchos museos anoche .
mis hombres dibujan mis estaciones amarillas feas todos los días .
si no lavamos los abrigos , él limpia esa caja .
ella esperará bicicletas baratas pronto .
si cuatro médicos beben agua , ese niño joven pequeño no lava una camisa .
los abuelos pequeños ven una gallina fuerte .
muchos maestros comprarán mi patata esta noche .
tienes mi perro ahora y ellos pueden llegar al hotel .
ella llamó a nuestra abuela alta .
otro hombre tendrá violines .
mis médicos que pintan estos pájaros quieren los espejos .
nuestra hija está buscando otra cama vieja .
un cocinero abrió mi puerta roja ayer .
los hombres jóvenes tocan otro violín .
la lámpara es fea .
muchos pintores hermosos cocinan la carne hoy .
este campesino tocará otro piano .
cantas detrás de estos parques .
cuando no podemos limpiar esa cama grande , el cocinero come en esas iglesias .
ellos querrán vino mañana .
el abuelo cocina sopa los domingos .
ana camina cerca de nueve árboles hermosos .
ellos tienen este sombrero largo feo .
¿ quién toca dos pianos caros ?
doce mujeres les dan un abrigo negro a nuestras abuelas .
¿ juega elena detrás de dos iglesias ?
necesitamos queso .
¿ trabaja este maestro ?
tus amigos hermosos están llegando a un mercado .
una enfermera no necesita una mesa marrón porque ana abre estas puertas .
lucía no busca cinco platos y el rey puede visitar al cocinero joven tranquilo .
hay dos peces feos en muchas escuelas azules .
él no dibuja esta playa y miguel vive en muchos países hermosos .
veré el barco verde viejo .
ella baila .
comimos mi pera anoche .
¿ ven cinco enfermeras tranquilas campos ?
¿ visita ella mi ciudad interesante ?
ellos van a vender ese pez tranquilo .
lucía abrió nuestra puerta blanca esta mañana .
¿ cocina mi reina alta pan caliente ?
la niña lavará las camisas esta noche .
¿ venden cuatro mujeres ese perro ?
no lavamos esa falda ayer .
si diez enfermeras ricas pueden vender las vacas , tus abuelos no necesitan trenes .
otra reina tranquila siempre necesita las tazas verdes .
si ella busca esa vaca marrón otra vez , ellos duermen .
el padre viejo rompió veinte platos negros .
comerás el arroz fresco pronto .
mis amigos altos dibujaron dos conejos .
ellos volvieron a este hotel pequeño .
¿ qué beben ocho maestros altos ?
vendí carne .
mi hermana leyó la historia anoche .
si escribes nuestra carta , diez maestros viejos no venden la sopa caliente .
¿ vive nuestro alumno pequeño hermoso en dos países ?
ana bailó esta mañana .
si mi hermana puede romper el plato blanco pesado , elena puede cortar un huevo rojo dulce .
mis amigos tranquilos encuentran ovejas .
tu vecino les da los abrigos a dos reyes .
los conejos fuertes caminan cerca de veinte montañas .
llevas otra camisa hoy .
