elena puede jugar .
mi rey que compra una llave barata espera a un alumno joven tranquilo .
hay un pintor detrás del museo .
otra niña tiene que cerrar otra ventana .
un conejo corre en una biblioteca hermosa .
los campesinos viejos nunca rompen los platos .
nuestra mujer que canta delante del árbol espera a maría .
hay un limón caro en esas iglesias .
mis mujeres que tocan el piano lavan el zapato .
elena encontrará nuestra llave pesada pronto .
hay unas bicicletas cerca de estas playas .
él no pinta nuestro techo grande .
¿ cuándo come el niño alto fuerte ?
nuestro amigo joven no ve los campos .
un conejo es más fuerte que los burros .
él quiere hablar con nuestro alumno .
ese museo es muy feo .
ana puede comprar la leche fría porque la niña inteligente no bebe el agua .
juan puede cerrar muchas ventanas y mi rey no puede cantar en nuestra montaña hermosa .
nuestro amigo joven hablará con elena mañana .
mi maestro es más joven que doce hombres .
maría le da un huevo a mi abuelo .
mis escuelas están abiertas .
¿ qué lee otro cocinero joven ?
hay peras rojas en esta casa grande .
mi reloj blanco está cerca del jardín tranquilo .
los maestros altos están cerca de nuestro jardín grande .
hay seis cebollas cerca del puente .
tu madre joven le da la manzana a un hombre .
el sombrero no es amarillo .
las canciones son famosas .
hay un coche en una calle .
mi abuelo joven rico habló con mi madre la semana pasada .
la niña fuerte fue a esos hoteles la semana pasada .
un barco feo está cerca de otro árbol .
el médico que espera a nuestro maestro tranquilo cierra las ventanas rojas .
los alumnos pueden buscar una bolsa .
los maestros tocarán las guitarras baratas .
¿ qué leen estas reinas ?
¿ qué venden ellos ?
la oficina está llena .
juan está enfadado .
¿ cuántas mesas hay en mi jardín ?
las aldeas son más pequeñas que estos pueblos .
lucía está tocando el piano .
quieres romper otro plato .
ana no puede ir a una torre .
hay un limón en mis parques grandes .
el maestro rico no habló con un hombre rico .
¿ dónde está la silla roja ?
tu hermana joven pequeña puede visitar la ciudad y lucía llega a nuestra tienda .
una enfermera lleva mi vestido porque ellos no viven en unos países famosos .
él necesita el pan caliente .
¿ qué compra él ?
mi hermano que come delante de un árbol rompe mi ventana negra .
mi reina pequeña puede caminar delante de nuestra escuela .
¿ cuándo vuelve él ?
hay una caja verde en nuestra oficina .
nuestro hermano verá el caballo tranquilo esta noche .
¿ corta él los pasteles caros ?
los libros son muy viejos .
una calle es tranquila .
las zanahorias son caras .
un gato es viejo .
el perro es más fuerte que las ovejas .
¿ cierra un niño alto la puerta roja ?
quieres llamar a mi hija hermosa .
ella no viaja al país .
mi hermano amable tiene el coche pequeño otra vez .
mi abuelo que toca la guitarra barata baila detrás de muchos parques tranquilos .
¿ quién trabaja detrás de los lagos pequeños ?
mi vecino es rico .
¿ quién come en una cocina ?
carlos necesita otro barco caro .
la abuela está contenta .
esta cama es azul .
el maestro alto está vendiendo esas botellas blancas .
abrirás la puerta blanca .
¿ pintas mi hotel famoso ?
el pintor alto no lavó mi barco .
miguel nunca busca los relojes .
estamos lavando otro barco .
esta manzana es dulce .
pedro busca el espejo .
los niños están solos .
mis hermanos que limpian las cocinas tranquilas viajan a la aldea grande .
un abrigo está sobre esta cama .
la enfermera está contenta .
no escribimos un mensaje y ella trabaja en esta casa .
la ventana no está abierta .
¿ cuántos trenes hay en un bosque ?
esas lámparas son muy feas .
el autobús está detrás de las oficinas .
nuestra falda es más barata que el abrigo .
limpias la puerta los lunes .
no puedes hablar con nuestros abuelos .
¿ cuántas reinas hay cerca del bosque ?
¿ vendes los trenes baratos ?
otro violín no es negro .
hay un burro en una cocina grande .
hay dos escuelas famosas delante de otra oficina .
cuatro médicos son amables .
ellos siempre beben café frío .
a veces llevamos un zapato barato .
esta enfermera come .
¿ llamas a tu padre ?
los hombres van a comprar el libro .
¿ ayuda él al alumno joven ?
estas calles son tranquilas .
los caballos están enfermos .
maría pinta una puerta amarilla .
tu hermano no vive en una ciudad porque miguel no ayuda a la mujer .
carlos no ve un museo pequeño .
¿ cuándo trabaja juan ?
cuando mi madre joven ayuda a la enfermera , nuestro vecino puede ayudar a nuestros vecinos .
mis escuelas son más viejas que los hoteles .
esos pintores tranquilos están llegando a una iglesia nueva .
tu hija que rompe el plato busca un conejo tranquilo .
tu abuela puede lavar este tren , pero la enfermera no cocina la sopa caliente .
hay caballos cerca del puente pequeño .
este vestido está debajo de las sillas .
nuestro vecino famoso pinta los hospitales los domingos y ella puede escribir una carta interesante .
ellos no lavan la falda verde .
miguel no limpia esta caja y nuestra hermana vive en la ciudad .
lucía tiene las gallinas .
¿ abre la madre esta puerta azul ?
verás otra playa tranquila .
hay veinte manzanas caras cerca del museo feo .
¿ qué beben mis abuelos ?
carlos va a esta iglesia .
hay un hospital detrás del jardín tranquilo .
ella no toca mi guitarra , pero miguel no puede pintar nuestra pared pequeña .
él come detrás del hotel , pero la enfermera famosa puede cerrar una ventana pequeña .
hay un pastel barato detrás de la casa grande .
cierro esta ventana .
nuestro rey viejo tranquilo va a bailar .
¿ qué leen las enfermeras amables ?
maría cerró la puerta .
¿ busca la mujer fuerte a carlos ?
esa bolsa es redonda .
muchas vacas son más fuertes que un burro .
lucía tocó nuestra guitarra .
¿ tienes una falda ?
carlos visita a tu hermana los lunes , pero ana tiene nuestro perro tranquilo hoy .
la carta está delante del puente .
ana le da las peras a mi cantante .
la enfermera está lista .
carlos no rompió unos platos esta mañana .
un niño está cantando la canción corta .
viajamos al pueblo .
una reina no lleva esta camisa .
mi naranja es cara .
cantas canciones , pero mi hija juega .
mis reyes son más altos que nuestro tío .
mi mensaje es más largo que este poema .
hay patatas baratas detrás de la montaña .
él camina en un mercado otra vez .
un pintor es más joven que tu hermana .
vas a caminar detrás de la biblioteca .
cuando mis enfermeras tranquilas llaman a mis hermanas , juan baila delante de un árbol ahora .
hay muchos pasteles en mi campo .
otra niña trabajó detrás del lago pequeño el año pasado .
él encuentra esas bolsas .
una canción es hermosa .
si no rompo una ventana , mi hermana hermosa lleva doce abrigos .
carlos va a trabajar detrás de mi hotel rojo .
hay muchas lámparas negras delante del parque .
¿ dibujas nuestra escuela ?
puedes cantar .
quiero limpiar las lámparas .
mi abuela es más fuerte que mi abuelo .
él no llama a la abuela y caminas .
elena siempre camina cerca de la iglesia roja .
nuestro amigo que llega a un museo nuevo come el limón grande .
nuestro médico joven no puede llevar un zapato .
lucía pinta una estación .
hay unos mercados cerca del mercado .
hay dos escuelas en el parque .
hay muchos tomates frescos en las montañas pequeñas .
cuando pedro no llama al alumno , un médico inteligente encuentra la llave .
el cuadro es muy feo .
¿ quién quiere nuestra bicicleta ?
cantamos las canciones .
tus hijas que necesitan unos vestidos juegan cerca de los árboles grandes .
hay un tren nuevo en esas calles .
estoy trabajando en el parque tranquilo .
hay unos platos en la oficina .
cinco perros son más fuertes que las gallinas .
¿ quién pinta las ventanas ?
lucía está corriendo detrás del hospital .
maría le da el abrigo largo al médico .
un cocinero no bebió leche .
¿ quién ve la bicicleta negra ?
pedro camina en mis museos .
ella canta nuestra canción porque ella no lava mi autobús rojo caro .
tu abuela dibuja un hotel .
otro médico amable le da mis historias tristes a maría .
esta cantante joven escribirá dos cartas interesantes mañana .
si mi tío viejo puede abrir cuatro puertas , juan vive en la aldea pobre .
el hermano puede ayudar a carlos porque nuestra reina puede ir a ese mercado .
nuestro barco está en otro hospital .
la aldea no es interesante .
el perro no duerme detrás de otro puente .
nuestra abuela que trabaja en la iglesia come en los parques .
el pez va a jugar cerca de estas cocinas .
esperaste nueve coches .
mi periódico es más largo que el poema .
la madre le dio la pera fresca a juan .
tu vecino le dio esas naranjas a mi padre .
mis abuelos duermen cerca de una estación .
¿ cuándo llegan mis tíos ?
hay doce trenes cerca de un parque .
el pintor alto no vive en la aldea pequeña .
tu hija que corre delante de ese lago llega al hospital .
¿ quién vende el sombrero ?
los caballos son viejos .
mi abuelo inteligente juega en la oficina .
ella rompe esta ventana .
tu abuela tendrá esos pianos pronto .
la mujer es más alta que mi padre .
un rey caminará en esta calle la semana próxima .
¿ cuántas cebollas hay cerca de ese puente ?
¿ cuántas ovejas hay detrás del campo ?
otra oveja es fuerte .
un pez blanco está en la tienda .
un maestro fuerte no tiene un violín nuevo caro .
la ventana está abierta .
un jardín no está lleno .
mis alumnos famosos no trabajan cerca de ese árbol .
voy a abrir nuestra puerta .
¿ quién corre ?
el maestro no abre esas puertas .
mi rey amable está trabajando en los jardines pequeños .
esos perros están cerca del parque .
una carta vieja está sobre la silla .
maría puede volver a ocho torres feas .
tenemos que ayudar a mi abuelo .
lavas una falda y el pintor amable no puede cantar detrás de una cocina grande .
ana buscará a mis vecinos la semana próxima .
un cuadro está delante de mi puente verde .
¿ quién vende las faldas ?
tengo que beber té .
ella encontró nueve vestidos .
¿ cuántas madres hay delante del museo ?
mi tío vive en un pueblo rico y mi hermano famoso puede ayudar a maría .
las abuelas bailan delante de una oficina .
carlos necesita mi barco todos los días .
llevé unos zapatos blancos esta mañana .
nuestra cantante inteligente le da la historia a mi abuela .
el campesino que viaja a una ciudad tranquila va a los hospitales .
no vamos a otro hospital azul porque ella no tiene una cama .
la mujer que come la fruta fría tiene un sombrero verde corto .
los niños famosos ayudan a mi amigo inteligente .
nuestra reina es más alta que la enfermera .
nuestro pez es más grande que la gallina .
hay una torre cerca de muchos jardines .
¿ quién trabaja ?
lucía nunca baila cerca del árbol .
otro niño no tiene mis sombreros .
hay muchas bicicletas baratas en la casa .
¿ cuándo trabaja pedro ?
la niña tranquila caminó cerca de muchas escuelas .
ellos le dan mi abrigo feo a pedro .
la ciudad es más grande que el pueblo .
¿ dónde juegan muchas cantantes jóvenes ?
cuando vemos el perro , nuestra hermana puede cerrar otra ventana .
mi hermana puede hablar con pedro .
ellos no necesitan mis autobuses porque el cocinero puede vivir en esta ciudad hermosa .
tu hija escribirá las historias tristes la semana próxima .
trabajas detrás de esos árboles porque puedo leer nuestra carta larga .
tu madre es más fuerte que mi amigo .
este cuadro es redondo .
¿ dibuja ana la iglesia blanca vieja ?
los cocineros son amables .
estoy llegando a estos hospitales .
mi amigo está solo .
un pintor amable le dio muchas historias a mi amigo .
mi abuela hermosa le envía este poema al campesino .
otro hombre tiene el barco .
ana le dio el periódico interesante a juan .
ellos quieren la lámpara blanca los domingos .
las niñas ricas le dan otro abrigo a maría .
tu padre encontró un conejo el año pasado .
mis abuelos son más fuertes que muchos pintores .
los maestros son más jóvenes que un médico .
vuelvo a esa escuela .
nuestra enfermera tranquila no tiene un barco feo .
nuestras abuelas viven en mis aldeas pobres .
maría le da otra flor a lucía .
una niña alta amable va a cerrar una ventana amarilla .
no visitamos a los campesinos altos .
trabajamos en mi oficina .
hay veinte gallinas en el museo .
muchos perros son más fuertes que diez peces .
esta gallina marrón está delante de los jardines .
¿ qué quiere nuestra hija inteligente ?
no caminas detrás de la tienda pequeña .
nuestra reina le da el libro corto a carlos .
¿ necesita elena el pan frío ?
nuestro tío rico le da mi reloj caro a carlos .
ana puede trabajar en la montaña .
cuando un hombre rico viaja a mis ciudades famosas por la noche , puedes romper mi ventana .
mi hija limpia las puertas .
la falda es muy corta .
una escuela es nueva .
una enfermera no tiene muchos pájaros tranquilos y este rey cocina arroz por la noche .
no podemos viajar a un pueblo pequeño porque pedro no puede buscar a mi hermano .
mi pájaro hermoso puede caminar detrás de los parques , pero el rey inteligente cocina el queso .
maría tocará nuestra guitarra pronto .
ese campesino fuerte le dio el abrigo a mi hermano .
ella trabaja todos los días .
tenemos que leer un mensaje largo .
una iglesia está vacía .
él no llamó a carlos .
esos caballos son más fuertes que una vaca .
ella les dio la botella verde a cuatro médicos .
ana no escribe nuestro poema famoso , pero él no tiene seis llaves .
llevé un abrigo .
la mujer le envía una carta famosa a pedro .
mi abuelo va a dibujar mi biblioteca .
lucía abrió la ventana azul .
ellos están viajando a unos pueblos .
si un niño busca a tu madre , elena baila en un parque grande otra vez .
mi padre tiene que trabajar detrás de una iglesia famosa .
hay ocho flores amarillas feas en siete jardines .
lucía puede comer estos pasteles y la cantante hermosa no corre en otro parque .
hay una pera delante de la escuela .
¿ quién va a esta escuela ?
mi país es más pequeño que una aldea .
ana no vende mi pez , pero ana no ve coches .
el vecino famoso les da una manzana roja a mis hermanas .
este vestido es grande .
nuestros hermanos están en una oficina .
nuestro maestro pinta una puerta blanca .
¿ qué leen ellos ?
las abuelas pueden cocinar el pan .
carlos quiere visitar el pueblo .
hay seis cantantes hermosas delante de mis tiendas .
un pintor alto inteligente no leyó los libros anoche .
cuando ella no visita los pueblos , carlos cierra la ventana grande hoy .
no lavas una falda .
¿ encuentra maría el caballo ?
ese libro está delante de las bibliotecas .
ella quiere ir a un mercado .
¿ vuelves a nuestra iglesia ?
el alumno escribe mi poema .
el médico es muy amable .
¿ qué come un alumno tranquilo ?
ellos visitan otra ciudad .
una puerta no es verde .
carlos viajó a esta ciudad grande .
¿ come un maestro esa pera dulce ?
esta ventana es nueva .
mi hermana amable le da un vestido hermoso al vecino .
nuestra oveja vieja está cerca de mi torre .
este campesino no va a un puente porque mi madre pequeña dibuja un burro .
mi hija necesita un autobús .
los médicos altos fueron a esos hoteles viejos .
¿ quién canta en una calle ?
hay una cantante fuerte detrás de la oficina .
tu abuela tiene que cantar esta canción corta triste .
¿ corta tu padre arroz ?
pedro vende estas botellas porque dos campesinos tranquilos pueden cerrar esas puertas .
el cocinero joven está en una estación .
estas mesas están en el hospital viejo .
¿ qué vende lucía ?
cocinaste queso fresco .
llegamos a mi iglesia pequeña .
¿ dónde baila pedro ?
lucía quiere beber té .
elena visita este país rico .
no encuentras la lámpara negra pequeña y mi madre rompe muchas ventanas nuevas .
ellos no duermen en el hotel verde porque carlos no necesita sopa fresca .
ella tiene que escribir el periódico famoso .
miguel está cantando mis canciones .
hay un pájaro grande delante de una playa .
este zapato azul está debajo de una cama .
maría no vive en este pueblo .
una bicicleta no es cara .
nuestra cantante encontró otra mesa .
ella puede llevar la falda porque no puedo volver a las escuelas .
¿ limpias una flor ?
los campesinos viejos famosos pueden cerrar la puerta verde .
¿ trabaja él en la montaña ?
nuestro cocinero no ve una torre .
¿ cuándo llega el rey ?
una falda está sobre una mesa .
él está tocando la guitarra .
limpiaste el cuadro .
los cocineros que pintan este caballo lavan bicicletas .
tu hermana famosa está bebiendo agua fría .
ellos están comiendo delante de estos hospitales .
hay un tren en estos parques .
¿ ayuda maría a mis tíos hermosos ?
el hombre rompió esta ventana el año pasado .
¿ lee el maestro un mensaje corto ?
el campesino cocina arroz otra vez .
tus hermanas ricas no encuentran esa llave .
ellos siempre corren en el hotel nuevo .
este cocinero tranquilo quiere llegar a un hotel blanco .
¿ cuántos caballos hay cerca de este árbol pequeño ?
¿ dónde caminan ellos ?
¿ tienes las guitarras negras ?
vives en la ciudad .
ellos están contentos .
la hija amable come en las casas .
un hombre vive en nuestro país famoso por la noche .
maría a menudo va a ese puente .
este pintor que visita a nuestro abuelo tiene los burros blancos tranquilos .
voy a vender mi camisa .
el conejo inteligente está comiendo detrás de la iglesia .
esa reina está cocinando queso .
ella está durmiendo .
estoy dibujando el pez .
las lámparas están sobre la silla .
ana lee tres libros .
nuestra hija les dio esta taza cara a estos médicos .
estoy trabajando cerca del río hermoso .
juan tiene que volver a ocho museos pequeños .
nuestro abuelo no dibujó un puente anoche .
cuando carlos canta en una estación ahora , un maestro viejo va al hotel blanco .
¿ cuántos autobuses hay detrás de un jardín ?
mi hija no espera a elena y maría puede llegar a un hotel .
un hombre alto a veces vive en la aldea grande pobre .
le dimos una silla a mi hija .
mis pintores comen la naranja pequeña hoy .
estás hablando con mi abuelo amable .
hay muchos alumnos jóvenes detrás de un bosque .
¿ dónde está el mensaje largo ?
mis coches baratos están cerca de esta torre roja .
hay una enfermera joven rica en las cocinas .
una enfermera amable no toca nuestro violín nuevo .
el libro no es triste .
una pared es verde .
mis amigos visitan la ciudad .
¿ cuándo duerme ella ?
hay un perro feo cerca de las torres feas .
¿ ve mi padre hermoso otra playa ?
elena le dio una taza a nuestro tío .
ella corta mis tomates caros .
ellos le dan el periódico famoso al médico .
estos países son pobres .
¿ cuántos trenes hay en cuatro montañas hermosas ?
ellos cantan las canciones por la tarde .
la madre canta en los jardines .
elena come cerca de nuestro río .
mis vecinos viejos quieren llevar los sombreros .
ellos venden este zapato feo por la noche .
los médicos son inteligentes .
ocho maestros hermosos van a dormir en una casa verde .
nunca canto en mi oficina .
elena toca siete guitarras .
una niña encontró estos vestidos azules .
no llevas este abrigo .
no quiero sopa .
juan llama al vecino tranquilo .
juan va a limpiar mi pared pequeña .
vas a leer un periódico .
la bicicleta es más barata que otro barco .
mi padre encuentra un abrigo amarillo .
ese periódico es más largo que un mensaje .
la enfermera abre las ventanas rojas y mi padre hermoso encuentra muchos gatos pequeños .
mis abuelos jóvenes hermosos le dieron los huevos baratos a nuestra abuela .
nuestro amigo que ve otro burro corta ese huevo .
los médicos pueden comer delante de esta tienda .
¿ cuándo comen los campesinos fuertes ?
nuestro padre joven le da la patata grande a un rey .
si mi mujer escribe otro poema , ellos pueden vender la mesa .
hay siete autobuses cerca de mis ríos .
hay un burro pequeño cerca de una iglesia fea .
hay diez tiendas en un parque .
ellos le dan las cartas nuevas largas al campesino .
las faldas están detrás del puente .
mi padre que compra nuestra cama amarilla lleva el sombrero .
pedro no baila detrás de otra casa .
hay seis flores cerca de un río .
el maestro famoso quiere trabajar .
cuando juan no abre la ventana , una gallina grande no duerme en una cocina .
las tiendas son muy pequeñas .
¿ quién pinta una pared ?
las hijas hermosas no necesitan fruta fría .
estos reyes caminaron en esos parques esta mañana .
el padre alto come el limón .
el cuadro azul está en las cajas .
nuestra cama es verde .
el niño inteligente tendrá nuestra taza esta noche .
ese museo es pequeño .
nuestros vecinos cocinaron queso .
carlos no pintó puertas ayer .
los vestidos están limpios .
ella canta una canción famosa todos los días .
elena viaja a otro país pequeño .
nuestros hermanos pueden cortar la sopa fresca .
la mujer rica está sola .
hay pasteles cerca de una biblioteca .
el conejo no es marrón .
¿ cuántos conejos hay en un jardín ?
estas peras son muy baratas .
mi vecino puede dormir .
una mujer pinta mis pájaros jóvenes los domingos porque maría viaja a los pueblos hermosos .
¿ dónde juega elena ?
el perro está detrás de ocho museos pequeños .
esa canción es muy triste .
una mujer quiere esperar el autobús .
¿ quién tiene un vestido ?
otro país no es interesante .
estos médicos hermosos le dieron nuestra silla vieja a maría .
el pintor no quiere la silla .
¿ cuántos hoteles hay cerca de mi parque ?
él tiene que tocar un violín barato .
podemos vivir en los países pobres .
¿ limpian ocho cantantes esta cocina grande tranquila ?
mis hijas llegan a los mercados .
otro gato come en nuestro hospital por la tarde .
los gatos duermen detrás de una cocina .
una reina hermosa lava un vestido .
cuando maría ayuda a un rey amable , carlos come naranjas .
si ana puede visitar unas tiendas , una cantante joven no baila en muchas calles .
hay pasteles en los parques tranquilos .
las reinas comen .
cuando miguel puede correr detrás de nuestra casa , escribes el libro largo .
una cantante es alta .
la niña comerá carne fresca la semana próxima .
vas a ir a los museos rojos .
ella quiere leer un poema .
¿ ayuda pedro a nuestra reina ?
las historias son muy interesantes .
¿ cuándo duerme este maestro tranquilo ?
hay muchos peces en las cocinas .
estoy encontrando esos perros viejos .
camino delante de las estaciones feas .
pedro le da el cuadro a mi madre .
mis hijas no venden el pan , pero pedro no rompe otro plato .
hay una mesa vieja cerca de la torre hermosa .
¿ escribes esas cartas nuevas ?
él siempre quiere la fruta caliente .
mi hombre no abre la ventana amarilla .
¿ cuántas hijas hay delante de esos hospitales ?
mi padre quiere caminar en el parque .
él quiere cantar la canción .
quiero trabajar detrás de una cocina .
él llama a nuestro tío .
la enfermera puede beber el agua porque la reina joven escribe las cartas .
mis amigos caminan en el jardín grande los lunes .
¿ quién limpia otra mesa pequeña ?
este hombre no lava la falda fea .
él le envía el mensaje triste a nuestro campesino .
la hermana pequeña viaja a tres pueblos .
¿ qué vende él ?
encuentro la cama porque elena no corre .
hay unas bicicletas detrás de mi torre .
¿ dónde canta nuestro hermano ?
ella busca un plato rojo los domingos .
hablamos con ana .
ella dormirá en una estación esta noche .
una enfermera no leyó historias .
mi hermano que llama al padre encuentra otro caballo fuerte .
mi vecino famoso tiene la camisa .
las niñas son amables .
estos pintores hermosos pueden viajar a otro país .
hay una lámpara detrás de dos puentes verdes .
mi vecino no habla con mi vecino .
llevas una falda grande por la noche .
un periódico no es corto .
él no ve la montaña .
mi hermana que corre cerca del río ve esta montaña tranquila .
el niño no lleva otra falda larga .
la hija va a llamar a lucía .
el campesino alto bebe vino por la noche .
un barco es blanco .
hay trenes en una calle grande .
hay una oveja cerca de la oficina .
este vestido es feo .
estos poemas son famosos .
lucía no puede leer el mensaje corto y ellos no pueden correr en esa cocina .
los niños pequeños dibujan ese caballo .
los médicos altos no viajan a países .
nuestra enfermera que canta una canción quiere las mesas .
¿ cuántos espejos hay cerca de las cocinas ?
¿ cuándo llega ella ?
ellos dibujan mi burro .
¿ cuándo trabaja ana ?
el periódico es interesante .
un niño está enfadado .
cuando una cantante alta rica espera a la hermana joven , mi amigo viejo compra carne .
juan cantará una canción mañana .
los hombres altos no limpiaron otra pared .
juan les envía la carta nueva a las reinas .
el mensaje está en la caja .
¿ quién come en nuestra casa ?
el cocinero dibuja el árbol pequeño .
la camisa está en esta caja .
mis amigos ricos no caminaron en nuestra casa .
el mercado es más grande que una casa .
los hermanos le dieron la pera dulce a un maestro .
el niño fuerte va a visitar a este maestro .
mi hermano fuerte no está enfadado .
¿ qué vende ana ?
nuestra falda es muy nueva .
hay muchos caballos blancos detrás de una tienda .
el abrigo es azul .
¿ qué vende miguel ?
¿ cuándo trabaja el vecino ?
un pintor no puede romper el plato pesado .
elena está durmiendo en estas bibliotecas azules .
juan no necesita las lámparas .
los pintores no están cansados .
el rey vende un coche .
escribes este libro triste hoy .
¿ cuándo trabaja tu vecino ?
como en el parque , pero carlos visita veinte ciudades hermosas .
un parque está vacío .
una estación es más vieja que un puente .
hay vacas delante de nuestro árbol .
él quiere cortar la sopa .
nuestras abuelas hermosas cantan esta canción .
ella a menudo visita muchos museos .
muchas bicicletas están limpias .
nuestros hermanos le dan el mensaje a este médico .
las gallinas son tranquilas .
no puedo tocar el piano negro .
hay un tren detrás del parque pequeño .
llevas un zapato porque estas mujeres quieren autobuses caros .
nuestros hermanos a veces esperan a ana .
mi alumno corta un huevo dulce .
estoy pintando las puertas rojas .
cuatro canciones son muy tristes .
un médico le dio las cebollas frescas a juan .
corté un pastel pequeño .
esta falda está en las cajas .
tenemos que ayudar a nuestro vecino .
carlos dibuja las torres .
los cocineros hermosos hablan con mis hermanos jóvenes .
carlos duerme en la escuela fea hoy .
hay una mesa en otro jardín .
nuestra bicicleta está en muchos hospitales feos .
carlos le da faldas hermosas a esta cantante .
estoy escribiendo ese periódico .
¿ cocinas queso fresco ?
cuando mi tío inteligente no lava un tren viejo , elena no ve ese bosque .
mi vecino vuelve a un hospital los lunes y mi hija amable no pinta una escuela .
viajé a otro pueblo tranquilo .
ella camina .
el amigo va a cortar el queso .
mis hermanos buscan a la reina tranquila porque elena llega a otro mercado .
¿ qué escriben esas cantantes ?
mi hija es más alta que otro médico .
mi abuelo es más rico que nuestras hermanas .
la torre es más pequeña que esta casa .
nuestra hermana hermosa está llamando a otra cantante .
los niños que tienen otro violín compran nuestra carta difícil .
corrí en una iglesia la semana pasada .
¿ qué compra carlos ?
la niña visitó muchas aldeas ricas .
él cocinará sopa caliente .
la hija alta puede limpiar esa botella .
lucía tiene que comer detrás de la biblioteca grande .
hay un museo en una playa .
esas reinas tranquilas cortan mi pera .
¿ cuándo duerme la cantante fuerte ?
el niño cantó cerca de la tienda .
hay una escuela pequeña delante de otro parque .
limpiarás ese jardín grande mañana .
este niño que habla con pedro dibuja ese caballo grande .
esta mujer les da mis abrigos marrones a doce médicos .
pedro le envió el mensaje al cocinero .
un sombrero está debajo de una cama .
la madre quiere visitar nuestra aldea .
hay un puente en diez calles grandes .
¿ cuántos espejos hay en esta biblioteca famosa ?
las hermanas cierran esa puerta .
ellos le envían los libros a mi alumno .
cuando un hombre compra carne caliente todos los días , mi hermana no toca otro piano .
¿ llegas a una iglesia ?
¿ quieres las tazas verdes caras ?
¿ rompe este cocinero famoso otro plato ?
otra historia está detrás del hospital pequeño .
los poemas son más largos que esos libros .
tu amigo no puede volver a las estaciones porque lucía no encuentra mis gatos .
ella va a comer otro pastel dulce .
pedro llama a un rey , pero carlos bebe vino .
muchas estaciones son más viejas que otra iglesia .
mi abuelo inteligente está viviendo en un pueblo hermoso .
hay hoteles rojos en la estación .
el mensaje es más largo que mi historia .
ellos no necesitan cinco mesas pesadas .
esas ventanas están cerradas .
¿ cuántas iglesias hay cerca de un hospital ?
él puede leer los poemas interesantes .
una mesa está limpia .
muchos maestros amables cantaron cerca de un árbol .
el campesino viejo limpia otra taza los lunes .
la reina le dio un vestido a mi vecino .
el amigo que dibuja otro perro marrón compra una carta .
hay unos espejos detrás de nuestra escuela .
hay un pez cerca de los ríos tranquilos .
nuestro tío espera esos autobuses viejos feos , pero mi madre inteligente llega a la escuela .
hay un burro inteligente en nuestro bosque pequeño .
el vecino rico está llegando a una iglesia .
él limpia esta puerta .
hay una patata roja en las playas .
si muchos cocineros fuertes no tienen el caballo , un hombre vive en un país .
veinte cebollas son muy dulces .
mis abuelas fuertes tienen una caja barata .
pedro cerró nuestra puerta grande .
el puente está vacío .
trabajo en muchas oficinas .
ese niño fuerte lleva nuestra falda hoy y nuestro rey no va a otra tienda fea .
ella rompe el plato .
hay unos huevos delante de esas cocinas .
la escuela es famosa .
los pintores ricos están comiendo carne .
mi vecino hermoso comerá las zanahorias rojas .
¿ qué cocinan mis abuelas ?
esos vestidos son más baratos que esos zapatos .
mi tío que cierra esta puerta necesita la camisa .
diez hombres viejos caminaron la semana pasada .
elena bebe el agua .
mis vecinos fuertes van a hablar con nuestro tío famoso .
hay autobuses pequeños delante de mi lago hermoso .
¿ qué compra ese campesino pequeño ?
un tren feo está cerca del museo .
los libros son interesantes .
ella toca el piano negro barato porque un niño puede cortar mi cebolla .
cuando no podemos abrir la puerta , no puedes vender fruta .
hay un plato en estos campos .
si ellos no rompen mi plato , el padre cocina la fruta .
¿ hablan ellos con pedro ?
maría está limpiando muchas paredes negras .
vamos a hablar con esas cantantes .
hay muchos limones pequeños en los hoteles azules .
mis hijas amables están listas .
un campesino inteligente no vende mi bolsa .
esos burros viejos están detrás de la casa .
carlos puede correr , pero carlos ayuda a estos maestros .
el campesino le dio el mensaje a tu tío .
pedro quiere vivir en estos países .
hay doce relojes verdes delante de seis estaciones amarillas .
si esas enfermeras lavan una camisa grande , el niño joven camina .
¿ dibuja otra cantante famosa los caballos ?
un niño amable trabajó cerca de mi torre .
¿ rompes la ventana negra ?
él no corre en esos mercados .
¿ cuántos peces hay en el jardín grande ?
ellos están jugando en las calles .
ellos no abrieron una ventana anoche .
vamos a comprar té frío .
la niña está cansada .
¿ dónde juega juan ?
¿ quién lleva este zapato ?
si mi hermana viaja a una aldea , mi vaca fea corre delante de las cocinas .
mis hombres hermosos quieren cantar unas canciones .
mi hija que viaja a mi ciudad camina .
miguel corre .
nuestra madre alta puede abrir esa ventana .
ocho bolsas no son redondas .
hay una oveja en esta oficina .
él quiere cortar nuestra pera .
mi enfermera a veces compra la carne .
ellos trabajaron en ocho calles .
el maestro alto trabaja .
si lucía puede dormir cerca de la torre grande , no vuelves a la torre .
¿ lava ana un vestido caro ?
mi carta es interesante .
muchos gatos están cerca de una estación .
el gato es más fuerte que los conejos .
muchos conejos están enfermos .
los reyes tienen que vivir en aldeas .
les doy esos vestidos baratos a las mujeres .
otro techo no es blanco .
hay bolsas detrás de los árboles .
mis vecinos son más jóvenes que mi alumno .
¿ dónde duerme él ?
mis tíos tranquilos pueden caminar cerca de las oficinas , pero limpias ventanas .
el libro está sobre esa mesa .
no viajamos a un país .
el caballo marrón está cerca del río .
mi hija no está lista .
tres coches son más grandes que el barco .
miguel comió un limón dulce .
hay una llave roja detrás del puente .
lees este libro .
esas enfermeras que abren mis puertas ayudan a tu hermana alta .
el padre pequeño les dio esa camisa a las niñas .
elena come detrás de los parques .
les das la camisa a nuestras hijas .
le di una llave a mi amigo .
el pintor puede dormir cerca del árbol hermoso y la mujer camina en seis jardines pequeños otra vez .
¿ quién pinta unos gatos viejos ?
mi abuelo va a bailar delante de esta cocina tranquila .
ella no corta dos peras rojas caras .
este pintor quiere caminar en mis iglesias .
hay unos autobuses delante de esta escuela blanca .
mi amigo no cantó detrás de mis jardines grandes .
ana querrá nuestro tren .
mi tío joven hermoso le dio ese pastel fresco a mi hermano .
¿ qué lee ella ?
hay una botella redonda en el hotel .
mi hermano jugó detrás de esa torre .
la patata es dulce .
hay trenes verdes en el campo pequeño .
las enfermeras pequeñas escribieron los libros .
¿ qué quieren las mujeres ?
¿ abren mis hermanas famosas la ventana ?
¿ cuántas naranjas hay en los campos ?
ellos no bailan cerca de las cocinas pequeñas .
lucía le dio el periódico a carlos .
maría trabaja cerca de ese lago y el maestro puede leer una historia vieja .
no bebí el café caliente .
mis reyes quieren esperar el barco amarillo .
el maestro tiene que ayudar a juan .
hay un huevo en mi biblioteca .
tus abuelos pequeños van a las estaciones .
hay una vaca en otra cocina pequeña .
el barco está delante de mis parques tranquilos .
las canciones no son cortas .
la abuela le dio el libro a mi hermana .
¿ quién espera el barco ?
el abuelo puede comer detrás de otra estación .
un cocinero hermoso lee el poema difícil .
mis hijas fuertes visitan los hoteles otra vez .
¿ cuántos mercados hay en la estación ?
el rey le da una camisa nueva a miguel .
el campesino tranquilo quiere llegar a otra escuela roja .
nuestro rey cerró una ventana negra anoche .
hay un cocinero cerca de un lago .
juan no camina detrás del hotel y el alumno hermoso camina cerca del puente amarillo .
hay muchos tomates dulces cerca de este museo pequeño .
trabajaste detrás de mi iglesia .
tu abuela joven está detrás de muchas bibliotecas .
mis hijas compran una bolsa .
la cantante que quiere el agua busca el pájaro .
¿ encuentran los maestros famosos la silla roja ?
él le da los pasteles a mi padre .
¿ cantas detrás del lago ?
él le envía otro periódico nuevo a un maestro .
si ella vende el pan , no lees unos libros nuevos .
mi hija es más fuerte que un niño .
elena encontrará la camisa grande la semana próxima .
no compro el jugo caliente , pero él no tiene mi oveja .
hay una bolsa delante de la escuela nueva .
¿ cuándo trabaja la mujer ?
esta camisa es nueva .
no abro nuestra ventana negra porque el niño tranquilo vuelve a los hoteles .
él no vuelve a la escuela .
mi tío alto famoso quiere llamar a maría .
hay un tren en la calle .
lucía llega a la estación .
cuando maría no pinta caballos pequeños , pedro lava las faldas largas .
las camisas largas están debajo de la silla .
hay botellas en un parque .
cuando la mujer famosa cierra mi puerta , mi cocinero rico va a la tienda .
nuestra niña que llega a la estación habla con lucía .
la mujer es más alta que mi hermana .
volvemos al hotel feo .
nuestra abuela no encontró la camisa cara anoche .
hay muchas bibliotecas cerca de estas torres .
no limpio mi puerta grande .
hay un burro blanco viejo en nuestro bosque .
¿ cuándo come él ?
¿ cuántos gatos hay en las cocinas ?
tu hija que lava faldas habla con ana .
no estamos enfadados .
mi madre rica siempre come cerca de las cocinas .
¿ cuándo come miguel ?
¿ qué comen seis médicos ?
no puedes ayudar a una cantante y los cocineros caminan en nuestra biblioteca .
el campesino viejo pintará la puerta negra .
hay una llave en el hospital .
el espejo está limpio .
carlos visitó a nuestro maestro .
a menudo escribes el libro .
una canción es muy corta .
escribiste el mensaje .
miguel canta cerca del río tranquilo .
ana está abriendo la puerta roja .
los maestros llegan a doce museos blancos hoy porque no cocino la fruta fría .
mi abuela amable encuentra el zapato hermoso ahora .
un alumno hermoso llama a un campesino famoso .
hay una manzana cerca de un árbol .
si no podemos cantar cerca de una casa azul , él no limpia las paredes .
los pintores amables pueden viajar a la aldea grande .
mi mensaje está detrás de nuestro jardín .
esos maestros que tienen otra falda grande encuentran la bolsa .
el mercado es famoso .
otro maestro toca mi piano , pero visito la casa .
ella puede hablar con los campesinos famosos .
tres alumnos son más ricos que mi padre .
una cantante trabajará delante de mis hoteles la semana próxima .
este pintor viejo fuerte está cantando unas canciones hermosas .
mi abuelo quiere comer en el mercado .
los pájaros están cansados .
los burros son más pequeños que mi pez .
un vestido viejo está delante de la estación famosa .
ella irá a una estación amarilla esta noche .
ese burro es más fuerte que un pez .
nuestro alumno fuerte a veces lleva nuestro vestido .
ellos van a comer pan fresco .
¿ necesita mi vecino viejo alto queso ?
tu abuelo hermoso vive en nuestro pueblo y ana juega en mi oficina ahora .
esa falda es verde .
¿ lava el médico un tren ?
¿ ayudan los campesinos a nuestra hermana ?
este hombre es más alto que tus tíos .
él a menudo dibuja la tienda .
mi limón no es barato .
esos médicos comieron cerca de un árbol pequeño .
lucía a veces tiene los caballos .
miguel le da el zapato a elena .
elena camina en mi estación porque el campesino alto no puede lavar cuatro abrigos marrones caros .
ese reloj es feo .
la abuela vivirá en nuestro país .
canté detrás de la playa ayer .
si veinte cocineros tranquilos compran una zanahoria , juan no cocina sopa .
una biblioteca está vacía .
un médico no canta delante de este hotel .
las flores están sobre otra silla .
¿ duerme la niña inteligente en un museo ?
miguel comió detrás de una torre esta mañana .
mi vecino que canta en esta montaña hermosa rompe nuestra ventana .
si dibujo diez burros jóvenes los domingos , puedes comer una naranja .
seis niñas son más jóvenes que seis hombres .
¿ cuántas iglesias hay cerca de un lago ?
¿ quién baila en una casa ?
el sombrero es más barato que nuestro zapato .
¿ quién llama a otro niño hermoso ?
los campesinos no necesitan un zapato corto .
el niño hermoso come patatas .
las enfermeras pequeñas no lavan un zapato .
el lago es muy tranquilo .
el campesino amable a veces canta la canción hermosa .
mis abuelos les dieron el libro a nuestros hermanos .
una biblioteca no está vacía .
las hijas le dieron la naranja a una cantante .
un campesino está trabajando en un mercado amarillo .
nuestra hermana hermosa vende la falda negra los lunes .
ella puede dibujar los mercados porque no viajas a una ciudad .
miguel va a cerrar una puerta .
mi vecino le da poemas a pedro .
¿ come la reina inteligente esa patata pequeña ?
estamos comiendo en una calle tranquila .
esos reyes son más jóvenes que un campesino .
la mujer pequeña no está lista .
¿ dibuja carlos cinco puentes ?
miguel tiene la guitarra cara .
tu vecino cierra mi puerta pequeña .
hay una botella detrás de nueve tiendas amarillas .
mi hermana hermosa viajó a los países la semana pasada .
ella habla con carlos los lunes porque ana no habla con nuestra hermana .
ese mensaje está debajo de una cama .
cuando ella no puede vivir en ciudades , espero el barco grande barato .
un campesino fuerte habla con mi hija .
mi madre no está enfadada .
ellos venden la pera dulce .
otro tren no está sucio .
el libro es más largo que mi carta .
ella rompe el plato rojo .
¿ quién lee un periódico nuevo corto ?
juan le da un pastel dulce a la reina .
el niño está delante de la playa .
la mujer es alta .
¿ cuándo duermen esos niños ricos ?
ese reloj está en esas cajas .
¿ quién corta arroz frío ?
hay una enfermera en este campo tranquilo .
hay veinte cajas en los mercados viejos .
hay lámparas en cinco montañas .
él toca otro piano negro barato todos los días .
ana vive en una aldea por la tarde .
no pinto unos hoteles blancos .
maría caminará en una cocina .
¿ cuándo duermen mis tíos ?
las flores feas están sobre otra silla .
¿ come otro maestro tranquilo pan ?
los vecinos llaman a una enfermera amable .
tocaremos nuestra guitarra .
¿ va el hombre a estos mercados verdes ?
cuando podemos cerrar puertas negras , nuestra hija no cierra una ventana .
los conejos están en nuestra iglesia .
mi niño está listo .
hay una silla fea en doce campos .
ese alumno famoso camina , pero las niñas no visitan cinco torres .
pedro venderá fruta caliente .
una aldea es pobre .
él está listo .
la torre es más vieja que la estación .
una historia es interesante .
si la vaca camina detrás del lago grande , podemos tocar las guitarras .
este burro es inteligente .
el piano es barato .
cinco enfermeras famosas trabajaron en ese mercado feo ayer .
¿ dónde está el mensaje interesante ?
ana vio doce coches .
el niño no buscó una gallina blanca .
nuestro país es más pequeño que las ciudades .
los relojes son pesados .
juan quiere volver a una estación vieja .
hay veinte iglesias verdes cerca de los puentes .
el abuelo pequeño le envía un libro a mi abuela .
le das esas historias interesantes a mi hombre .
caminas .
el cocinero que viaja a mis pueblos pinta nueve puertas .
las ciudades son más grandes que el país .
esos campesinos amables dibujan un lago .
la silla es redonda .
muchos burros son más fuertes que el conejo .
otro rey no corta carne fresca , pero él trabaja detrás de esas tiendas .
¿ pintas las ventanas ?
hay un autobús detrás de una cocina .
mi mujer está enferma .
hay una gallina grande detrás de diez cocinas .
hay un autobús delante de un puente .
mi padre que compra café vive en esta ciudad hermosa .
mi tío jugó detrás de un parque .
hay trenes en un parque .
la cantante vive en el país tranquilo , pero los reyes limpian muchas lámparas .
mi falda es muy verde .
carlos no ve otra torre .
nuestra carta nueva está detrás de esas cocinas .
¿ cuántos hoteles hay delante del jardín ?
mis amigos famosos les dan este limón rojo pequeño a muchos hombres .
otro pájaro grande está cerca del puente blanco .
los puentes son viejos .
no trabajé en la cocina .
¿ cuántos conejos hay en este campo ?
el médico le da nueve sillas pequeñas a juan .
hay una patata en una estación amarilla .
ella va a llevar la falda .
otra iglesia es muy amarilla .
mis conejos blancos están en un campo .
hay un mercado delante de esta casa .
un barco está delante de mi hotel rojo .
¿ qué cocinan nuestros abuelos ?
ocho niños corrieron cerca de mi escuela .
le diste esa carta a elena .
el rey que necesita una falda negra come en este parque .
él le da una patata fresca a miguel .
doce escuelas son más viejas que mi casa .
ella le da poemas viejos a elena .
mi padre baila .
carlos juega cerca del mercado pequeño .
volví a muchas torres famosas .
los coches están limpios .
un zapato azul está en esos mercados .
este hombre pequeño no limpia la lámpara .
si los maestros rompen este plato los lunes , el hombre rico habla con mi rey inteligente .
mis tíos pueden buscar la gallina vieja fuerte .
nuestro gato es grande .
¿ ayuda la enfermera hermosa a un pintor inteligente ?
hay una flor en la cocina .
mis abuelas altas quieren esperar trenes .
el rey amable querrá la bicicleta pronto .
tu padre le dio mi carta a un maestro .
tienes el sombrero todos los días .
dormimos cerca de las oficinas grandes porque mi vecino viejo puede cantar en los hospitales .
el maestro que corta el pan visita a ana .
el amigo tranquilo pinta los techos , pero ellos no cortan otro limón barato .
¿ cuántos huevos hay cerca de esa playa ?
nuestra madre rompe los platos los lunes .
el rey le dio las cartas famosas a maría .
hay un autobús en el campo .
tu abuela canta .
si ellos no pueden buscar a pedro , esas reinas comen doce tomates frescos .
canté la canción famosa .
¿ dónde están los sombreros amarillos ?
si el alumno pequeño viaja al país , el niño no puede comer la sopa .
ellos no esperan a lucía y el médico limpia unas paredes blancas .
él le dio estos zapatos a un pintor .
el autobús es más viejo que un coche .
él le da un pastel dulce a tu hermana .
hay un autobús azul delante de esas estaciones rojas .
esta pera es roja .
ana vivió en un país esta mañana .
quiero escribir los mensajes nuevos .
nuestro campesino que pinta los techos azules cierra nuestra ventana .
otra casa está llena .
ana lee un poema .
¿ limpias otra taza azul redonda ?
nuestro vecino visitó otra tienda .
no ves hospitales azules y mi padre pequeño habla con las enfermeras los lunes .
el padre no va a muchas tiendas .
él está solo .
él fue a los museos nuevos .
hay manzanas cerca de las torres rojas .
los abuelos no limpian una puerta .
ese poema no es corto .
nuestro hombre es muy amable .
esta oveja caminará en los jardines esta noche .
cuando las hermanas buscan mi conejo , ese pintor come en mi parque ahora .
el abuelo que rompe un plato escribe ese periódico viejo corto .
juan visita mis pueblos .
nuestro cocinero es más fuerte que el médico .
pedro siempre corre delante de los lagos .
esperas a mi hija .
elena puede dormir porque puedo dormir .
¿ dónde cantan tus abuelas jóvenes ?
ella llega a esa casa otra vez .
mis amigos no quieren la bicicleta .
hay seis manzanas en el jardín .
hay un perro feo detrás de una oficina .
un burro está en una casa .
¿ corres detrás de mi hospital amarillo ?
visitas un pueblo , pero los reyes no visitan las ciudades pobres .
el hombre tranquilo encontrará la bolsa nueva grande la semana próxima .
¿ llegas a las iglesias ?
las reinas jóvenes les dieron una naranja a mis amigos .
esperé a mi madre .
los cocineros son más ricos que diez cantantes .
lucía bailó esta mañana .
¿ qué escribe este cocinero alto ?
nuestros abuelos que tienen una bolsa juegan .
mi tío puede caminar detrás de un bosque hermoso y los niños pueden cerrar la ventana verde .
¿ come ella mis limones frescos ?
elena limpia esta puerta pequeña .
¿ quién corta una manzana ?
el pájaro corrió en esta calle .
maría a veces dibuja el perro tranquilo .
hay un caballo marrón delante de una cocina .
las paredes son nuevas .
estas tiendas están abiertas .
hay cuatro manzanas dulces cerca de ese bosque hermoso .
una ventana no está rota .
la puerta está rota .
nueve campesinos fuertes quieren hablar con una mujer vieja tranquila .
el alumno está contento .
los burros no pueden correr en ocho oficinas .
siete niños viejos no pueden comer cerca del puente porque maría puede comprar los poemas .
las mujeres tocan un piano viejo y ellos llegan al hospital por la noche .
nuestras hijas hermosas tienen que llevar un vestido .
hay un hospital en esta casa verde .
hay ocho tomates cerca de ese puente .
el cocinero famoso quiere pintar un perro marrón .
estos hombres hermosos están listos .
los trenes son más viejos que una bicicleta .
esos pueblos no son interesantes .
la enfermera es más alta que mis hijas .
mis hijas le dieron nuestro poema a pedro .
nuestra lámpara está en las cajas .
nuestras abuelas pueden pintar mis casas porque compras un vestido todos los días .
maría quiere abrir la ventana .
mis abuelos no están listos .
una ventana está cerrada .
los techos no son amarillos .
el cocinero es más rico que un campesino .
mis pueblos son tranquilos .
él no buscó una flor redonda .
el pastel es muy rojo .
tu hermana nunca compra el tren .
nuestro campesino no tiene un coche .
si ana busca ovejas pequeñas , la hermana vieja puede vender un plato .
el mercado está vacío .
un rey es más rico que una enfermera .
el burro feo está delante de la torre .
una cantante no necesita pan .
no llevo los abrigos hermosos y elena duerme en una biblioteca .
estamos cantando una canción corta .
le diste los zapatos al niño .
otro rey ayudó al amigo el año pasado .
estas reinas le dieron la naranja a juan .
ella corre en las iglesias .
voy a los hoteles .
¿ llamas a las cantantes ?
mi padre que rompe seis ventanas habla con lucía .
cocino carne porque ellos pueden cantar .
mis abuelos están jugando .
¿ dónde está la taza ?
maría a menudo lava un coche .
hay cinco cuadros pesados en siete cocinas pequeñas .
hay una torre azul delante de un jardín .
mis tíos rompen nueve ventanas azules todos los días .
mis vecinos venden este autobús caro .
¿ cuándo trabaja maría ?
estos gatos son más pequeños que otra oveja .
esta lámpara es redonda .
las bicicletas son grandes .
trabajamos , pero él puede cerrar mi puerta .
cuando no bailas en esos museos grandes , ellos corren detrás de las cocinas pequeñas .
ese pueblo es interesante .
una gallina hermosa está detrás de cinco ríos .
él come en cuatro bibliotecas .
nuestra vaca es más pequeña que siete ovejas .
el padre alto le dio una camisa grande a un maestro .
pedro puede cerrar otra ventana .
muchos reyes no llegan a este mercado hermoso .
juan le envió el libro a carlos .
¿ cuántas lámparas hay en la iglesia ?
una carta está debajo de una mesa .
tus amigos están contentos .
juan baila en esa estación amarilla .
nuestro niño viejo famoso está cantando en una oficina .
siete reinas le dieron una falda roja a un alumno .
hay un tomate en la iglesia .
un pintor vuelve a los hospitales , pero una enfermera pequeña no rompe las ventanas .
mis amigos no tocan mi piano .
¿ lleva un niño fuerte este abrigo negro ?
pedro llama a mi madre fuerte .
ella cocinó queso caliente .
ana habla con pedro .
cuando no jugamos en un jardín , veinte enfermeras fuertes rompen las ventanas nuevas .
él le dio un plato caro a un médico .
las ovejas caminan delante de mis oficinas ahora .
la camisa grande está cerca del parque .
el abrigo es muy barato .
elena querrá muchas lámparas pronto .
cantaste esta canción hermosa .
quiero abrir la ventana .
nuestro perro está en el campo .
una oficina está limpia .
ese pájaro es fuerte .
muchas oficinas están limpias .
nuestro padre que quiere leche fría vuelve a estas estaciones .
mi carta vieja interesante está en esta caja .
lucía llega a un hotel .
ella va a ir al museo .
lucía puede trabajar en ese hotel pequeño , pero él no puede llamar a ana .
un hombre alto trabajó en esta calle .
estas cartas están en otro hotel .
hay gatos cerca de mi cocina .
¿ qué cocina miguel ?
¿ rompe él otra ventana ?
¿ habla él con pedro ?
¿ abres otra puerta ?
¿ espera ella esta bicicleta nueva ?
nuestro niño no abre una ventana .
¿ cuándo comen mis abuelas jóvenes ?
el pintor vivió en una aldea .
ellos están comprando la manzana fresca .
esos coches están delante de una cocina .
mis niñas no están listas .
ellos le dieron la pera pequeña al tío .
¿ quién ayuda a tu abuelo ?
una pared es muy roja .
mi hija quiere escribir los libros .
otro alumno viajará a un país .
una enfermera amable baila delante de la tienda .
hay un perro viejo delante de las escuelas .
una cantante inteligente no visitó a tu hermano .
lavamos unos barcos grandes .
este rey que busca a esa reina llama a mi hermano inteligente .
los conejos están enfermos .
¿ visita ella nuestra casa ?
nuestro amigo rico llama a nuestro hermano amable por la tarde .
la enfermera hermosa está rompiendo un plato .
estos pintores ricos a menudo rompen las ventanas .
hay un coche en las calles .
un barco viejo está en otro parque .
ellos van a un puente feo los domingos .
un cocinero es hermoso .
estás ayudando a mis amigos .
si tu hermana pequeña tranquila no lee las cartas , viajamos a un país .
miguel corre cerca de diez torres famosas y él dibuja otro bosque .
el hombre es más rico que un cocinero .
pedro no dibuja este árbol pequeño porque él puede romper nuestra ventana blanca .
mi gallina es más pequeña que ese conejo .
nuestro amigo que vende un perro pequeño ve nuestra torre .
¿ quién vuelve a la casa ?
este barco es más barato que el coche .
un mercado no está abierto .
¿ cuántos pájaros hay en el jardín grande ?
el niño amable tiene que ir a esta escuela .
lucía puede romper esta ventana blanca .
tres espejos son pesados .
cuando bailas en la casa , ellos no pueden cocinar fruta .
¿ dónde están los sombreros hermosos ?
el niño que necesita la lámpara va a tres estaciones .
el pueblo es muy hermoso .
el barco es más viejo que seis autobuses .
hay unas manzanas cerca del hospital .
¿ quién toca las guitarras ?
esa mujer limpió la oficina .
cuando los hermanos hermosos pueden visitar un país , pedro necesita un abrigo nuevo .
hay un alumno en tres cocinas grandes .
un barco está delante de esta playa .
no corrí en esas iglesias .
ella quiere volver a la biblioteca fea .
mi niña que come cerca del museo vuelve a nuestra escuela grande .
mi madre canta detrás de un parque ahora .
la hermana come en un jardín .
una puerta está cerrada .
miguel cierra una ventana .
el niño no quiere agua .
¿ dónde están mis amigos ?
¿ llegan los reyes tranquilos a nuestro hotel verde ?
¿ quién cierra una ventana amarilla ?
miguel le envió el mensaje corto triste a mi amigo .
tu abuelo está cansado .
él a veces encuentra unas cajas redondas .
mis tazas están en una biblioteca .
él no cantó cerca de esos lagos ayer .
ellos tienen que trabajar en nuestra calle .
mi escuela está cerrada .
la mujer le dio los zapatos a carlos .
nuestro hombre joven alto ve una biblioteca ahora .
un pez marrón está en otra montaña .
el maestro es amable .
estoy enfadado .
él les dio unas sillas pesadas a tus hijas .
las hermanas amables abren esa puerta y mis abuelas juegan en las casas blancas .
nuestros hermanos están viajando a esa ciudad .
les envías los libros viejos a los tíos .
¿ quién lee el mensaje ?
miguel no puede bailar en este mercado , pero miguel visita una ciudad tranquila .
¿ qué come este pintor tranquilo ?
si ves un campo , él juega cerca de un puente .
estoy lavando ese tren .
¿ corres delante del jardín ?
miguel ve el pájaro grande .
hay flores negras en ese hotel grande .
ella corrió cerca de seis ríos .
ese zapato no es largo .
¿ llega ella a una escuela grande ?
¿ compran tres alumnos pequeños el pan caliente ?
mis abuelas fuertes les dieron unas cartas a los pintores .
la reina le da zapatos feos a nuestra mujer .
una mujer fuerte bebe café frío por la noche .
este alumno famoso come cerca de nuestro lago .
el coche está en esas bibliotecas .
ese maestro caminará cerca de la torre pronto .
los alumnos viejos cantaron la canción hermosa .
pedro abre una ventana , pero queremos ese vestido .
el conejo está en el jardín .
un tren es más viejo que mis autobuses .
una niña famosa está lavando la bicicleta .
el médico llega a las iglesias .
una carta es difícil .
podemos jugar .
los puentes están vacíos .
mi padre que ayuda a una reina habla con la enfermera .
juan les envió mis historias famosas a doce pintores .
¿ quién trabaja cerca de los hoteles ?
el cocinero amable está leyendo el periódico interesante .
¿ busca mi amigo fuerte el cuadro amarillo ?
ayudaré al médico .
esos alumnos beben el café .
ella no tocó nuestro violín nuevo .
carlos va a jugar .
¿ cuándo llegan ellos ?
hay una cebolla en un museo .
mis hermanos tienen que visitar la escuela .
mi abuela joven tiene que tocar estos pianos .
pedro tiene que necesitar el barco amarillo .
otro hombre alto está detrás de nuestra cocina pequeña .
nuestro burro tranquilo quiere correr en los parques .
el barco es más barato que estos trenes .
nuestra hija está cansada .
mis mujeres llevan los vestidos los domingos .
cuando él lava un zapato otra vez , los hermanos jóvenes pueden vender zapatos .
lucía vende carne .
los hombres no son amables .
la hija es más alta que nueve pintores .
elena les da esos libros cortos a nuestros vecinos .
ellos necesitan la llave .
¿ lleva lucía el sombrero rojo ?
mi hermana rica espera ese coche feo .
¿ dónde está el museo ?
hay un conejo en el museo .
mi vecino le da el periódico a ana .
otro alumno lava el autobús porque las mujeres esperan a un pintor .
cuando nuestro amigo inteligente no puede ayudar a este médico , maría lleva una falda negra .
¿ quiere maría un barco ?
muchas reinas leen el poema .
el caballo es más fuerte que estos peces .
los alumnos comerán arroz frío pronto .
¿ qué escribe él ?
las cantantes rompen las ventanas grandes porque ana dibuja esta tienda .
hay patatas caras en la cocina .
¿ rompen ellos el plato ?
no vendes arroz .
carlos no vivió en este país hermoso .
un sombrero barato está en esas oficinas .
¿ dónde corre miguel ?
hay unos gatos en una cocina .
otro niño es más joven que mi abuela .
los hombres viejos no compraron agua .
estás contento .
¿ vive mi hermana en esa aldea ?
el alumno viejo llama a la niña amable .
hay una vaca pequeña cerca de esas oficinas .
tu padre está enfadado .
¿ qué comen muchas niñas ?
esa niña come en dos iglesias .
esa reina canta en la cocina .
siete cocineros cocinan sopa fría .
hay unos pájaros en la oficina .
¿ comes en los parques ?
nuestro sombrero no es viejo .
mis vecinos inteligentes volverán a esos hospitales .
este médico que cierra la puerta ayuda a nuestro abuelo amable .
limpiamos esta ventana blanca .
muchos autobuses están limpios .
lucía quiere vivir en un pueblo hermoso .
una historia es más larga que un periódico .
los maestros son más ricos que el alumno .
ellos les dieron mi naranja a los hombres .
cuando maría come otro limón caro por la noche , los hombres comen por la noche .
muchos autobuses verdes están cerca de nuestro jardín .
ocho reinas van al hospital otra vez porque tu hermano fuerte busca el pez feo .
lucía viaja a esa ciudad .
la mujer a veces lee el mensaje .
nuestro padre alto tiene esa guitarra cara por la noche .
ella encuentra los platos .
él tiene que leer el poema difícil .
él no lava el sombrero rojo .
un niño come en el hotel famoso los lunes .
ella no escribe tres historias cortas .
mis maestros corrieron .
él compra café frío los lunes y las niñas ricas leen los libros .
le dimos la mesa barata a una mujer .
mi abuela vieja ayuda a lucía todos los días .
muchas ovejas están cerca de mis lagos .
diez gatos son jóvenes .
hay un caballo detrás del hospital .
nuestro abuelo tranquilo ayuda a nuestro niño inteligente .
la cantante hermosa habló con una reina vieja tranquila .
quieres escribir ese poema .
¿ trabaja ese maestro delante de mi tienda grande ?
él no quiere la flor redonda y ella puede correr en nuestro mercado azul .
lucía quiere lavar un zapato rojo .
mis hermanas ven a nuestro amigo .
¿ quién rompe una ventana amarilla ?
carlos tiene que correr en los hoteles .
él puede tocar una guitarra .
hay unas tiendas nuevas en estos bosques hermosos .
¿ pinta la reina famosa siete ventanas pequeñas ?
el hotel es muy rojo .
mi pintor está enfermo .
hay bicicletas cerca de otro río .
hay un limón en un parque grande .
ella tiene que lavar una camisa corta .
¿ cuántos huevos hay cerca de ocho oficinas ?
hay un burro en las calles tranquilas .
esa bicicleta es fea .
elena les da la patata cara a las mujeres .
¿ dónde baila el vecino pequeño ?
jugamos delante de los museos .
un coche es más barato que nueve bicicletas .
mis cantantes no pueden romper las ventanas amarillas porque no abrimos nueve puertas .
mis amigos llevan este zapato amarillo y ella puede cortar arroz caliente .
pedro dibujó ese caballo tranquilo .
carlos no quiere una llave nueva porque elena no habla con mi campesino .
ella vive en nuestro país famoso .
lucía quiere cortar pan frío .
mi campesino come muchas manzanas rojas los lunes .
¿ cuándo come un maestro ?
él nunca habla con seis mujeres .
mi abuelo tiene que bailar cerca de otro bosque hermoso .
mi tío joven vive en un pueblo .
ana está trabajando delante de ese hotel .
una reina vieja le dio estos sombreros a otra mujer .
ella come pan por la mañana .
una bicicleta está en mis parques .
cuando ella puede cerrar esa ventana blanca nueva , vivo en nuestra ciudad .
¿ cierra el amigo rico una ventana pequeña ?
a menudo caminamos cerca de un árbol grande .
hay una patata en el bosque pequeño .
la cantante necesita ocho barcos viejos .
él corta carne , pero miguel puede caminar delante de ese campo .
¿ tiene carlos las gallinas ?
una enfermera no cierra nuestra puerta negra .
¿ necesitas ese coche ?
mis hijas fuertes pueden escribir mi libro .
nuestro vecino rico lleva esos sombreros cortos .
¿ cuándo duerme lucía ?
lucía está cantando cerca del río tranquilo .
¿ cuándo llega elena ?
elena a menudo encuentra la lámpara azul .
¿ qué come mi tío ?
¿ qué beben los hermanos ?
los cocineros fuertes están cerca de la cocina tranquila .
¿ qué quieren ellos ?
¿ compra una cantante el queso ?
nuestra cantante que abre esta puerta quiere una camisa .
nuestras abuelas amables necesitan queso .
un pez fuerte está en estos jardines .
maría corre delante de ese jardín pequeño .
una tienda está abierta .
tu padre es más rico que otro campesino .
ese alumno quiere leer diez mensajes .
miguel está enfermo .
tu madre famosa quiere el vino .
¿ quién va al museo ?
¿ cuándo duerme la reina ?
otro coche es más viejo que los trenes .
maría puede beber agua caliente .
él trabaja por la noche .
él le da esta lámpara roja a mi mujer .
hay un tren azul en muchas calles .
este hombre tranquilo come carne fría .
pedro tiene que ayudar a mi vecino .
¿ qué cocinan ellos ?
el médico amable no bebió vino esta mañana .
¿ cuándo vuelve mi hermana ?
el caballo puede correr en otro campo .
encontraré los gatos .
corres en los parques , pero mis hermanas jóvenes amables no abren la puerta nueva .
nuestra hermana inteligente camina hoy .
un autobús no está sucio .
nuestros abuelos tranquilos viven en muchos países .
los periódicos están en mi cocina .
hay pasteles cerca de esta oficina .
esos niños amables pueden volver al hospital amarillo y ellos no dibujan esta vaca negra .
nuestro campesino quiere correr .
hay una escuela verde en un hospital viejo .
¿ cuándo llega mi hermano pequeño ?
hay un conejo en nuestra tienda .
ellos están volviendo a la iglesia amarilla .
hay diez botellas detrás de dos bosques tranquilos .
¿ corres delante de un mercado ?
el hombre joven está en los hospitales .
nuestro alumno joven famoso puede encontrar una caja y los alumnos famosos no leen un mensaje .
maría abre otra puerta .
un poema está en estas cajas .
un alumno no encuentra nuestra bolsa .
tus hermanas cantan cerca de mi torre pequeña hoy .
otro tren está en una biblioteca .
carlos va a llevar estos zapatos .
él espera al hombre todos los días .
esos burros hermosos están en nuestro parque .
¿ cuándo duerme un hombre ?
mi burro quiere correr detrás de nuestro hospital viejo .
hay unos coches cerca de los ríos tranquilos .
¿ qué compra maría ?
el sombrero está en la cocina .
otra oveja está enferma .
quiero encontrar cinco espejos pesados .
si ana no puede escribir las historias cortas , él cierra una puerta .
el vecino que encuentra el cuadro cierra una puerta .
ana está cantando seis canciones .
ellos pintan doce gallinas grandes porque él quiere arroz frío ahora .
los hombres inteligentes no juegan .
carlos corta sopa caliente .
una reina está yendo a una tienda .
ellos no comen el pan .
miguel quiere vender la manzana .
nuestro maestro pequeño hermoso le da esta bolsa a una enfermera .
esos médicos que cocinan sopa caminan detrás de una torre .
juan tiene que caminar en doce tiendas blancas .
¿ ayudas a mis tíos amables ?
el tío que ve una casa blanca corre en el hospital .
elena vivió en la aldea anoche .
si nuestro padre hermoso vive en nuestro país tranquilo , cortamos pan .
el tío que come el arroz caliente ve a carlos .
un campesino no compra la bicicleta porque ellos llevan mi camisa azul otra vez .
hay un alumno joven en una cocina .
tu padre va a llegar a la iglesia .
tus abuelos que cierran cuatro ventanas compran el tomate grande .
el maestro está pintando la puerta .
ana corre cerca de las torres azules porque un médico pequeño no puede trabajar en otro parque .
camino delante de la casa .
¿ quién baila ?
la historia está sobre otra cama .
hay veinte bicicletas en mi montaña hermosa .
elena cantará una canción mañana .
hay cuadros cerca de mis hospitales .
cinco cocineros ayudan a las cantantes altas .
mi hija que canta una canción nueva camina .
ella canta una canción otra vez porque cierras las ventanas verdes por la noche .
el hospital no está lleno .
el libro es triste .
¿ cuántos huevos hay en una biblioteca azul ?
le diste doce relojes negros al hermano .
doce médicos ricos no cantan una canción hermosa , pero ella no trabaja .
un pájaro está enfermo .
ellos no lavaron la camisa azul .
nuestro cocinero quiere correr delante de estos parques .
maría no quiere barcos .
¿ quién bebe el café caliente ?
un autobús está limpio .
la niña que cocina la sopa rompe un plato marrón .
mi abuelo que compra una caja barata canta la canción triste .
¿ cocinas el arroz caliente ?
hay una taza detrás de mi museo .
esperaré la bicicleta verde pronto .
¿ dónde come él ?
pedro no baila detrás de los parques pequeños .
el campesino joven cantó el año pasado .
ellos quieren buscar las botellas feas .
no vendo autobuses y una cantante rica no toca esta guitarra .
los parques no están limpios .
si trabajamos en las bibliotecas pequeñas , un hombre rico no abre la puerta .
mi amigo es más fuerte que dos cantantes .
¿ quién rompe el plato ?
lucía nunca vuelve a las casas .
otra reina está cansada .
mi abuela es más rica que mis mujeres .
visitaremos el país .
mi madre está en mi parque tranquilo .
querrás un vestido grande .
dos ovejas no son feas .
nuestro coche es más viejo que un tren .
el abuelo leerá esta carta .
tenemos que llevar este sombrero .
mi padre tranquilo dibuja muchas escuelas y elena rompe las ventanas pequeñas .
¿ dónde está este sombrero verde ?
cuando lucía no habla con el niño , lucía vuelve a mi puente .
hay unas botellas cerca de la oficina .
una reina famosa cocina carne .
hay patatas en una escuela verde .
pedro tiene que visitar el hospital .
este cocinero pequeño no llega a una estación azul .
quiero vender esta falda .
la madre no tiene una vaca .
un niño habló con los reyes tranquilos esta mañana .
la historia larga está sobre la silla .
el sombrero es más barato que nueve zapatos .
¿ dónde está nuestro plato caro ?
nuestra hermana tocó seis violines la semana pasada .
¿ tocan doce cantantes ricas nuestro piano ?
estos maestros ricos dibujaron un hospital famoso la semana pasada .
una historia está en otro jardín grande .
él no lleva una falda marrón nueva .
correrás en los parques pronto .
elena limpió mi jardín grande .
un cocinero hermoso vive en esta aldea pequeña hoy .
esa bolsa pesada está delante de nuestro parque tranquilo .
tu hermano fuerte les da esas mesas blancas a estos campesinos .
si quiero las faldas nuevas , maría puede trabajar en esas oficinas .
tu hermano vive en una ciudad interesante .
cuando mi hermana come un huevo caro , él visita cuatro casas feas por la tarde .
un autobús es más viejo que un barco .
¿ cuándo duerme ana ?
mis hoteles son blancos .
la estación es azul .
¿ dibujas el pájaro ?
el alumno famoso no limpia una oficina grande porque ellos leen el libro largo .
mi reina leyó el periódico viejo .
tus hermanas viejas fuertes tienen que ver la gallina blanca .
hay muchas camas delante de nuestra torre vieja .
vamos a trabajar .
tus amigos que comen en el mercado duermen en una cocina pequeña .
esa historia vieja está sobre las sillas .
trabajamos en mi calle pequeña la semana pasada .
el campesino quiere limpiar este reloj .
maría no tiene una guitarra .
él canta una canción .
ella puede cortar este pastel porque lavas un coche .
nuestros hermanos ricos ven a lucía .
carlos no encuentra el sombrero .
mi hermana vende el autobús .
¿ dónde está la escuela fea ?
nuestras hermanas pueden llegar al museo .
nuestra madre toca esta guitarra barata y vendes el abrigo .
elena vive en nuestro país pequeño rico .
hay un barco amarillo en los jardines .
el padre a veces llega a los museos .
¿ cuántas bicicletas hay en el jardín ?
mi abuelo no lleva el zapato .
¿ dónde canta juan ?
hay un niño fuerte cerca de un árbol grande .
carlos le envió nuestro libro a elena .
la oveja es más pequeña que ese burro .
lucía esperó a ana .
los gatos son más pequeños que este burro .
nuestro autobús es más grande que el barco .
¿ dónde come el alumno amable ?
el vecino le da los tomates caros a pedro .
él le da zanahorias al pintor .
nuestro pájaro es joven .
¿ cuántas manzanas hay cerca de esas playas ?
hay unos barcos caros en las oficinas tranquilas .
hay un alumno pequeño delante de nuestro jardín .
hay una naranja barata delante de nuestro puente .
otro puente es más pequeño que los mercados .
juan vendió una pera pequeña .
hay una escuela delante de un bosque grande .
nuestra gallina grande está en la oficina tranquila .
mi abuela amable está cantando cerca de un jardín .
no veo la estación .
hay un caballo cerca de la playa pequeña .
un pintor está esperando mis trenes negros .
¿ busca elena este caballo joven ?
un niño es fuerte .
¿ qué lee el niño fuerte ?
ellos le dan mis abrigos a pedro .
una mujer quiere trabajar en un parque .
no vemos estas bibliotecas blancas .
no como un pastel .
ella tiene que comer cerca de otro árbol .
mi tío les da una lámpara vieja pesada a muchos médicos .
él está ayudando a los alumnos amables .
mi país es interesante .
hay diez flores marrones caras en las casas .
estás cerrando una puerta .
este maestro es más joven que mi abuela .
tu abuela que ve un autobús rompe el plato .
el abuelo es más rico que el hermano .
los hombres cantan una canción hermosa .
corremos cerca de estos árboles .
ana camina cerca de mi río hermoso .
le damos una bolsa vieja al hombre .
otra cantante les dio una naranja pequeña a los hermanos .
doce campesinos tienen que querer esas tazas rojas baratas .
miguel no necesita los trenes .
este violín es nuevo .
mi hermano que viaja al pueblo compra el coche verde .
ella está lista .
ana no encuentra cuatro botellas .
el cuadro es muy marrón .
pedro quiere encontrar el pez .
esos coches están en nuestro bosque .
pedro le da patatas a elena .
encuentras esos vestidos otra vez .
mis vecinos que cantan en la oficina corren en mis estaciones azules .
ella tendrá una gallina esta noche .
un médico hermoso cocina carne todos los días .
cuando maría necesita fruta , nuestra cantante inteligente quiere pan .
¿ come miguel en otra oficina grande ?
maría quiere beber café .
¿ qué necesita carlos ?
miguel no pinta la casa y mi cantante no escribe un mensaje difícil .
ella no tiene el gato .
¿ limpia mi hija pequeña los jardines tranquilos ?
una niña es más joven que el hombre .
elena está sola .
mi hermana amable va al puente los lunes .
este pez negro está en la calle tranquila .
¿ cuántas reinas hay detrás de nuestro árbol ?
mis hermanas pequeñas viven en las ciudades .
¿ habla mi hija con un pintor ?
cuando mi amigo joven juega cerca del bosque tranquilo , pedro vive en otra aldea .
esta oveja es negra .
una ciudad es más grande que esta aldea .
estas reinas están en un jardín tranquilo .
nuestra torre está vacía .
tu hermana está lavando esos zapatos .
pedro le da una flor a mi hermana .
muchas sillas son caras .
encuentro el conejo blanco viejo .
hay un pez marrón pequeño detrás de los jardines tranquilos .
lucía no cerró la puerta azul .
tu hermana famosa está trabajando en esta iglesia grande .
otra gallina es más fuerte que el pez .
si ellos no tocan nuestra guitarra , carlos puede esperar el barco .
carlos no lee las cartas .
mis hermanas no beben agua .
no corremos en las calles .
¿ quién lava los barcos pequeños ?
ella no llega a la escuela .
los niños viejos fuertes tocan una guitarra cara .
ella cortará pan fresco .
tu madre tiene que trabajar cerca de la cocina .
¿ dónde están los espejos verdes ?
hay doce puentes nuevos grandes cerca del lago .
¿ cuándo llega nuestra hija tranquila ?
pedro quiere visitar a elena .
esta cantante amable cocinará carne .
mi tío está enfermo .
puedo comer en un hotel famoso .
juan no canta esta canción triste .
estas niñas que comen carne ayudan a la reina .
este coche es más barato que ese tren .
el niño famoso limpia el jardín .
ella abrirá la puerta roja .
un país es más grande que la aldea .
no necesitas la carne fresca y muchas cantantes inteligentes venden una cama los lunes .
la hermana les dio la silla azul a esas enfermeras .
hay una flor cerca de esos jardines .
no necesitamos arroz .
nuestro coche es más barato que nuestro autobús .
¿ dónde juega carlos ?
pedro espera a maría .
el hermano hermoso le dio muchos periódicos a mi vecino .
hay unos puentes nuevos detrás de mi playa tranquila .
miguel le da el abrigo amarillo al cocinero .
tu padre bebe vino y tu vecino famoso viaja a un país .
el pintor tiene que necesitar el barco amarillo .
comí en esa escuela amarilla esta mañana .
¿ cuántas ovejas hay cerca de la torre ?
¿ qué compra tu abuelo ?
nuestro pintor viejo inteligente no tiene veinte gallinas .
las enfermeras le dan los sombreros a mi tío .
él espera a nuestro médico fuerte .
maría no vive en mi pueblo .
los autobuses están en este jardín .
ellos hablan con nuestro vecino fuerte .
las reinas son más jóvenes que nuestros hermanos .
miguel no necesita siete lámparas .
el médico tranquilo quiere dibujar esa escuela famosa .
ese caballo es más fuerte que el perro .
la niña tranquila cerró la ventana .
hay un coche barato cerca de mi estación .
hay una patata en la calle tranquila .
ellos quieren la caja .
¿ qué compra una reina inteligente ?
las mujeres le dieron un huevo rojo pequeño a miguel .
nuestros hermanos que visitan a mi madre rica compran esta zanahoria .
¿ cierran diez hombres muchas ventanas rojas ?
nuestro abrigo está debajo de las camas .
un pintor llega a esa biblioteca y ella duerme en los parques .
no lavaste nuestro vestido rojo .
pedro ayuda a juan .
diez cartas son más largas que el libro .
miguel le dio estas mesas a carlos .
juego cerca del lago pequeño .
él le da nuestro periódico corto a nuestra reina .
ella no bebe la leche fría .
mi tío está llevando una falda .
esos jardines están limpios .
muchos burros van a dormir cerca del hotel .
mi cantante quiere cocinar arroz caliente .
ella no ayuda a tres cocineros altos .
hay un pastel en esta cocina .
ellos no pueden esperar a nuestro padre fuerte , pero vamos a una escuela .
la cantante no es joven .
nuestros abuelos amables volvieron al hotel .
mi hermana es más rica que este rey .
ellos le dan ese tomate fresco a carlos .
los puentes no están llenos .
mis hermanas que tienen el coche ayudan al alumno hermoso .
no podemos cantar en la calle pequeña .
esa casa está abierta .
mi abuela tranquila irá a una tienda .
corremos .
podemos visitar los hoteles porque tres alumnos no viajan a los pueblos pobres .
el cocinero que busca la bolsa viaja a mi ciudad pequeña .
ese rey dibuja el bosque .
elena le dio el plato amarillo pesado a este alumno .
¿ viaja miguel a los países ?
hay una pera delante de mi escuela .
corremos en otra tienda .
maría tiene que beber la leche .
mi tío quiere comprar jugo frío .
cantas muchas canciones .
ana fue a los puentes .
hay una pera barata en muchos mercados nuevos .
la abuela no pinta seis casas feas .
si maría busca los cuadros , el maestro rico puede hablar con mi abuelo rico .
¿ limpia una reina vieja la oficina ?
las mujeres encontrarán una camisa azul la semana próxima .
cuando el pintor famoso compra nuestra bicicleta azul , él canta detrás de estos campos .
los mensajes son más largos que esta historia .
maría les envía la historia a las cantantes .
carlos no lee nuestra historia .
¿ dónde está el abuelo ?
la falda está debajo de una silla .
¿ cuántos médicos hay delante de un parque pequeño ?
mi vecino que cocina sopa vuelve a un museo .
él canta en los mercados , pero cantas una canción corta hoy .
mi madre está pintando ese burro .
esta enfermera está contenta .
las ovejas no son tranquilas .
un campo no es hermoso .
el pintor pequeño inteligente escribirá las cartas .
los barcos son más viejos que estos trenes .
mi hermana pinta la pared hoy .
él no toca los pianos negros viejos .
¿ quién canta esas canciones cortas ?
una cama está en las cajas .
esta tienda es más grande que veinte hospitales .
carlos les dio nueve historias a mis hijas .
un campesino está cortando limones dulces .
la cama no es blanca .
un tren está en otra calle .
él camina cerca de una cocina .
él le dio una camisa a carlos .
los campesinos que van a una biblioteca azul hablan con tu abuela .
cuando miguel puede hablar con elena , tu hermano corta el pan fresco ahora .
¿ qué vende mi hermano rico ?
un mensaje está sobre la cama .
ellos le dan otra cama a la niña .
¿ dónde juega el cocinero tranquilo ?
¿ trabajas ?
una vaca fuerte juega en el jardín .
leeremos poemas difíciles .
siete zapatos marrones están sobre una cama .
¿ quién cierra la puerta ?
vamos a limpiar una pared .
tu abuela a menudo duerme delante de muchas bibliotecas .
un niño pequeño lleva mis abrigos los lunes .
la vaca a menudo come en los parques .
carlos lleva los sombreros porque nuestros hermanos llaman a la niña hermosa .
hay gatos viejos en una playa .
los amigos viejos están en la oficina .
¿ lava ana un autobús feo ?
la puerta está abierta .
le damos el vestido largo a carlos .
cuando no visitamos a cinco mujeres , lucía encuentra mi cama .
estas tiendas están cerradas .
el médico está enfadado .
¿ llama juan a carlos ?
pedro visitará la casa .
¿ qué cocinan estos hombres ?
esta cantante llama a ese campesino joven los domingos .
él le da una naranja a pedro .
¿ dónde cantan estos maestros ?
¿ trabaja maría delante de un campo grande ?
cuando lucía llama a nuestra hermana tranquila por la tarde , elena canta en mis parques tranquilos .
él les da el vestido grande a tus tíos .
hay tres huevos frescos detrás de una cocina .
hay un coche barato detrás de mi puente .
pedro vive en un país grande .
¿ ayudan muchos reyes fuertes a los campesinos ?
mis cocineros que limpian las ventanas verdes comen pan .
la hermana que cocina queso caliente juega cerca de mi montaña .
ella le dio las camisas marrones al cocinero .
una gallina está cansada .
mi abuela joven no limpió ventanas la semana pasada .
el tren rojo está cerca de esas oficinas .
él limpió las paredes grandes el año pasado .
pedro compra una historia corta .
¿ qué quiere miguel ?
otro plato está limpio .
un abrigo es muy marrón .
un maestro puede comer en la calle .
un plato no es redondo .
el burro no está enfermo .
un conejo está delante de una playa .
otra historia es más larga que estas cartas .
pedro no necesita el arroz y tus tíos ricos vuelven a la casa .
un niño fuerte habla con elena porque ella puede hablar con mi hija vieja .
un coche está detrás de estos museos verdes .
muchos pintores viejos están en otra playa .
una oveja es muy tranquila .
los tíos quieren buscar a los vecinos .
la taza es marrón .
el pájaro es más pequeño que las vacas .
juan le da el reloj redondo a nuestro cocinero .
visité un país .
¿ dónde juega maría ?
juan tiene que encontrar las mesas .
ella va a cantar esta canción hermosa .
cuatro mujeres están listas .
¿ vive una reina famosa en muchas aldeas pobres ?
miguel no vuelve a una estación blanca y ellos corren en el bosque .
¿ dónde trabaja él ?
las puertas no son amarillas .
¿ dónde está la cama ?
los gatos están cerca de la oficina .
mi amigo es más alto que una enfermera .
ellos llevan las faldas hermosas , pero un hombre joven no cocina el arroz .
la abuela quiere llamar a miguel .
ella no camina en un mercado grande .
nuestro abuelo trabajará en cuatro calles pronto .
visitamos una escuela otra vez , pero ellos venden el vestido hoy .
hay una mesa cerca de dos lagos .
ella no trabajó el año pasado .
el hombre no viaja a tres países .
ana le dio el abrigo viejo a mi abuelo .
tendrás esa gallina hermosa esta noche .
nuestro abuelo tiene los gatos .
el médico pequeño puede llevar nuestro abrigo grande .
¿ cuántos conejos hay cerca del mercado verde ?
mis peces son más pequeños que los burros .
hay una oveja cerca de esta iglesia verde .
nuestra hija le dio esta llave a esta niña .
le dimos otra bolsa negra a ese cocinero .
nuestra niña está cortando nuestra naranja .
miguel canta cerca de esta iglesia por la tarde .
nuestro padre le dio esa bolsa marrón a nuestra cantante .
mi vecino fuerte está vendiendo este gato fuerte .
muchas ovejas comieron en un museo viejo anoche .
un periódico está debajo de la mesa .
cuando él bebe leche por la mañana , hablas con la reina por la noche .
una aldea no es interesante .
los cocineros tranquilos limpian esas lámparas amarillas los lunes .
el pueblo es pobre .
nuestra hermana amable no visitó a siete hombres .
la bolsa está en las cajas .
hay conejos en estas oficinas .
cuando lavo el barco negro , pedro pinta una tienda amarilla .
él les da la manzana a seis pintores .
las cajas están en los museos .
jugarás cerca de un puente viejo .
¿ cuándo duermen mis vecinos ?
tu abuela es más rica que el hombre .
esa historia está debajo de la cama .
tenemos que volver al hospital .
cuando no como en esta oficina , la hermana hermosa puede comprar muchas naranjas .
ese maestro está listo .
tu tío viajó al país grande .
elena no está sola .
hay muchas flores detrás de las iglesias amarillas .
carlos le envía las cartas tristes a tu amigo .
si la mujer busca otro gato , podemos vivir en nueve ciudades .
esta enfermera famosa no llevó el vestido grande .
mi niño pequeño famoso tiene que esperar los trenes nuevos .
tenemos que cocinar arroz .
hay un perro cerca de esa cocina .
mis amigos que viajan a la ciudad encuentran otra taza nueva .
ana le da mi periódico largo a este campesino .
hay un coche delante del hospital hermoso .
hay un huevo detrás de mis lagos tranquilos .
la enfermera va a estas tiendas todos los días .
mi abuela que rompe un plato azul cocina queso frío .
las hijas tranquilas esperaron el tren caro .
mi tío que necesita el autobús ayuda a siete campesinos fuertes .
el caballo es más fuerte que las gallinas .
tu tío volverá a una iglesia famosa .
el tren es azul .
mi amigo alto nunca baila en una cocina tranquila .
mi amigo que llama a ese médico juega cerca de nuestro lago .
hay un autobús barato en los hospitales .
estos hombres bebieron vino frío esta mañana .
la cantante hermosa bebe café hoy .
tenemos que vivir en una aldea pequeña .
¿ cocina elena la carne ?
el campesino famoso necesita fruta por la tarde .
¿ camina miguel en la estación hermosa ?
los niños famosos están delante de una cocina .
no visitamos una ciudad .
si mis hermanas no cantan las canciones , él limpia otro techo nuevo por la tarde .
mi padre no llega a los mercados grandes .
las niñas que comen un tomate rojo visitan a maría .
mi pintor espera una bicicleta todos los días .
tu amigo cocinó carne .
la carta está sobre otra cama .
si ellos escriben los libros los domingos , no veo unos gatos .
tu hija rica está llevando el sombrero caro .
el autobús no es caro .
mi alumno no vive en el pueblo .
ocho hoteles son más pequeños que la estación .
mi abuela está cerca de la cocina .
¿ canta ese pintor hermoso ?
miguel está cortando carne .
los reyes pueden jugar delante de la estación vieja .
queremos correr cerca de una estación roja .
carlos a veces vende estas bicicletas .
ella no tiene un barco .
la cantante va a los puentes y llevas el zapato negro .
ella le dio mi limón a ana .
mis enfermeras jóvenes le dieron doce tazas blancas a mi madre .
un pintor no cocina arroz y cierro la puerta .
ellos visitan una aldea rica .
el hombre no es amable .
cinco mujeres ricas le dan el espejo a elena .
el coche no está sucio .
caminamos en la playa hermosa .
visitas a mi cantante por la noche .
escribimos el poema famoso .
la cantante le dio un periódico triste a maría .
¿ dónde está la falda barata ?
una gallina comió cerca de esa cocina .
hay museos rojos cerca del árbol .
hay dos gatos tranquilos en cinco cocinas .
los abuelos tienen que abrir la puerta .
¿ quién lee mi carta difícil ?
nuestro periódico es más largo que un mensaje .
la abuela quiere buscar la llave grande .
ayudé a nuestro abuelo fuerte .
le doy doce abrigos a otro rey .
si otra mujer no escribe mi mensaje , el maestro duerme en otra montaña por la noche .
ellos pueden caminar detrás de un parque porque una cantante no puede esperar nuestro coche verde .
hay trenes nuevos en este hotel .
nuestro tío llama a un campesino y el conejo inteligente no puede caminar en nuestra tienda .
¿ quién necesita el sombrero ?
maría llama al alumno .
ellos le dan los tomates a miguel .
ese abrigo es rojo .
¿ necesitas la silla ?
¿ cuándo come mi hermana amable ?
un perro está jugando en este parque .
cuando nuestro niño viejo toca guitarras viejas , no llego a una casa .
hay unos trenes blancos delante de un jardín .
si este maestro hermoso lleva mi abrigo amarillo caro , nuestro vecino espera la bicicleta .
mis vecinos tranquilos le dan la historia a mi hija .
los alumnos inteligentes quieren el cuadro feo .
hay un mercado en muchos jardines grandes .
otro maestro compra un espejo por la mañana porque el cocinero no quiere los trenes .
nunca rompemos un plato .
la madre está jugando .
muchos burros jóvenes quieren comer detrás del parque .
elena lavó muchos autobuses baratos .
¿ cuántos coches hay delante de diez bosques hermosos ?
¿ qué quiere lucía ?
hay un alumno viejo delante de las tiendas .
hay veinte perros delante de un puente .
los reyes amables le dieron el poema corto a maría .
el poema está en esas cajas .
¿ qué come miguel ?
él puede limpiar una ventana azul porque podemos beber el vino .
caminamos en otro jardín pequeño .
las cantantes que tienen esa taza marrón abren las puertas azules grandes .
ella les da el huevo a los reyes .
podemos correr delante de un jardín .
ellos les dan el zapato a mis vecinos .
¿ cuándo comen esos pintores ?
ellos dibujan dos ovejas todos los días .
si tus amigos inteligentes leen otro libro , estos alumnos visitan a estas cantantes famosas .
el perro no es inteligente .
hay una vaca en otro mercado .
ellos comen en la calle .
mis amigos están enfadados .
ana no abre una ventana blanca nueva .
un periódico es difícil .
el campesino llega a una biblioteca , pero no corro en una calle .
esta enfermera visitó el hotel el año pasado .
ese pueblo no es pobre .
una falda es fea .
tu hija alta comerá cerca de los hospitales esta noche .
¿ cuándo trabaja el médico viejo ?
hay cinco pasteles caros en mi parque tranquilo .
una niña rica pinta torres .
no podemos volver a la estación .
muchas bolsas son redondas .
él encuentra unos sombreros hoy .
los vecinos tranquilos juegan detrás de muchos árboles tranquilos .
nuestro cocinero viejo le da esas faldas a tu madre .
él juega en el hotel viejo .
él está ayudando al maestro .
esta mujer que lava el autobús caro dibuja una vaca .
una falda es más barata que este sombrero .
una reina quiere dibujar los conejos .
¿ rompes un plato feo ?
¿ quién corta sopa ?
hay un barco verde grande delante de las montañas .
un barco está en esa tienda blanca .
ella ayuda a mi padre hermoso por la noche .
no tenemos un caballo negro .
hay un autobús amarillo cerca de las torres .
tienes que bailar .
los libros están en nuestra cocina .
mi madre no cocinó el pan frío .
ella no corre cerca de esta cocina y mi hermana tranquila no limpia una puerta .
elena llamó a mis vecinos el año pasado .
ella trabaja en esa oficina tranquila .
maría puede limpiar las puertas rojas .
mi enfermera canta en los jardines todos los días .
una camisa es azul .
mi amigo está enfermo .
hay un autobús detrás de esa oficina .
las reinas no ven una bicicleta .
hay un barco negro barato en mis casas verdes .
¿ vende juan el abrigo nuevo ?
hay un pastel barato delante de una cocina grande .
un gato joven está corriendo detrás de mis tiendas .
el médico tranquilo canta la canción .
esos niños siempre escriben otra historia .
maría puede hablar con nuestra niña .
¿ ve él una escuela ?
hay una enfermera en la estación verde .
ella come en un parque porque mi madre alta no necesita el queso caliente .
hay un barco en la calle pequeña .
mi niña joven hermosa le da un zapato rojo a mi amigo .
¿ vende mi padre fuerte los conejos negros fuertes ?
la madre está sola .
hay puentes en un campo .
un poema es más largo que siete libros .
¿ quién quiere un barco ?
ese cocinero viejo corta esos pasteles pequeños .
¿ cuándo trabaja la hermana ?
cociné la carne fría .
una cantante tranquila quiere dibujar muchos pájaros .
un niño alto amable está cerca de estos árboles pequeños .
esta carta es corta .
cuando un campesino visita a una cantante , no necesitas trenes verdes pequeños .
mi campesino le dio el plato blanco a elena .
los médicos fuertes buscan las cajas pequeñas .
hay doce peras baratas detrás de un mercado .
él no quiere el barco y mis campesinos altos trabajan delante de nuestra escuela .
ana vende otra flor .
este niño amable corta el limón grande los domingos .
esta cebolla es dulce .
no vas a esas bibliotecas .
mi padre inteligente le dio doce faldas amarillas viejas a tu amigo .
tus hermanos jóvenes ricos están ayudando a pedro .
un médico está enfermo .
mis hermanos le dieron el cuadro marrón a un pintor .
un cocinero no escribe las cartas y ayudamos al maestro .
nuestra niña que rompe mis ventanas nuevas quiere mi flor .
ella está dibujando una playa .
la reina que corre en el hospital hermoso ayuda al campesino .
¿ quién busca dos flores amarillas ?
hay una cama cerca de un árbol tranquilo .
este periódico es más largo que este poema .
ellos no esperan nueve coches y lucía vuelve a mis escuelas azules .
el tío viejo quiere leer este mensaje largo .
cuando juan busca a una enfermera , mi hermana puede llamar a nuestro amigo tranquilo .
¿ cuándo duermen las mujeres ?
una cantante alta fuerte cierra las puertas negras .
hay un huevo detrás de un parque .
ellos no cantan la canción porque encuentras cuadros otra vez .
mi pez feo duerme detrás de un río por la noche porque diez enfermeras vuelven al hotel verde .
elena le dio las tazas al abuelo .
seis niños no cerraron mis ventanas blancas .
si estos pintores hermosos no leen las historias largas , ella no puede pintar los pájaros .
hay un tren en este parque .
hay veinte autobuses verdes viejos en la cocina .
diez hoteles son más grandes que muchas torres .
mis tíos jóvenes a veces dibujan mi gallina .
los hombres fuertes quieren cortar la pera dulce .
ella quiere limpiar las ventanas .
mi amigo le envió otro mensaje largo a mi rey .
mis amigos esperaron el tren anoche .
la enfermera hermosa puede hablar con un alumno rico .
las cantantes hablan con maría por la tarde .
cuando tus vecinos necesitan el plato negro hoy , él corta carne .
lucía espera a un maestro amable otra vez .
dos burros son más fuertes que las vacas .
no queremos mis cuadros .
¿ quién habla con el maestro ?
los abuelos les dieron el reloj a las abuelas .
mi vecino hermoso puede pintar los burros hermosos y un campesino busca a esta mujer amable otra vez .
el maestro viejo va a pintar esta oveja .
si el alumno puede comprar dos sombreros , ella no puede escribir ese periódico .
ellos vivieron en mis ciudades pequeñas .
ese niño joven lava un coche por la tarde .
mi amigo pequeño puede escribir la historia famosa .
estos autobuses son más viejos que dos trenes .
un rey inteligente va a romper diez ventanas .
¿ quién limpia otra bolsa ?
hay un autobús viejo en las playas .
volviste a un hospital anoche .
tu hermana tiene un violín viejo .
mis abuelas son más jóvenes que el hombre .
lucía le da un zapato nuevo al campesino .
¿ dónde come la reina ?
mi vecino es tranquilo .
mi vecino no necesita el pan caliente .
mi hermano está solo .
¿ cantas cerca de esta montaña ?
estas llaves son muy pesadas .
si trabajas en un jardín grande todos los días , tu abuela no come .
el vecino pequeño busca a mi campesino joven los lunes .
ellos lavan el vestido blanco .
el niño no necesita los platos .
mi madre rica no tiene el tren , pero no llamas a nuestra cantante .
¿ dónde camina él ?
¿ cuándo llegan muchas enfermeras fuertes ?
él siempre vuelve a los museos .
cuando miguel necesita sopa , el niño amable no cierra una puerta .
ella va a dibujar un bosque .
nuestro hermano es inteligente .
el hombre beberá el té caliente .
el maestro tiene nuestro violín .
hay una cama negra cerca de otro río .
nuestra hermana pequeña rica no quiere la falda .
mi vecino alto vivirá en esta ciudad .
los maestros ricos le dan doce cartas a nuestra madre .
la oveja está en una calle .
los coches están detrás del árbol hermoso .
pedro tiene que dibujar un árbol .
bebiste leche .
las hermanas llevan los abrigos feos por la noche .
a menudo vivo en este pueblo .
ella no quiere trenes .
pedro llamará a ana esta noche .
hay una manzana grande dulce detrás de los hoteles .
maría puede comer delante de siete mercados .
carlos no cocina arroz fresco , pero puedo cantar mis canciones .
nuestro autobús está en las calles tranquilas .
mis abuelas son muy amables .
otra bicicleta está en otro jardín pequeño .
¿ quién ve los gatos ?
ana va a cantar en las bibliotecas .
él nunca quiere las bicicletas viejas .
mi tío es más rico que un niño .
mis gatos pequeños están en los museos .
lucía le dio el cuadro a miguel .
mis abuelos compran una bicicleta blanca ahora .
hay un conejo en la tienda .
la enfermera fuerte baila detrás de la torre .
dos pintores fuertes no venden tomates rojos .
hay una enfermera en el museo rojo .
¿ qué beben ellos ?
¿ juega pedro en estos hospitales hermosos ?
abrimos puertas .
¿ quién abre esta ventana blanca ?
ellos cocinan carne caliente .
si ella no duerme en cinco mercados verdes , mis cantantes juegan en el hospital .
mi madre joven fuerte baila delante de este río .
¿ cuándo llega la enfermera ?
mi hermana que vive en ocho pueblos baila cerca de mis árboles .
cuando mis vecinos esperan un coche blanco , pedro no toca el piano caro .
él cerrará una puerta pronto .
la gallina no camina en el jardín .
un barco amarillo está en una cocina .
las enfermeras no ven bibliotecas .
¿ quién bebe vino caliente ?
la oveja juega en una escuela .
¿ escribes siete cartas ?
mis hijas que lavan los zapatos azules rompen otra ventana pequeña .
¿ quién canta delante de la oficina pequeña ?
estoy cansado .
hay casas cerca de nuestra cocina .
mi cocinero les dio unos mensajes a doce niñas .
si dibujas los burros grandes tranquilos , carlos no come fruta fría .
esta tienda está abierta .
le doy un poema largo a este pintor .
¿ qué cocinan esos maestros ?
un pez está comiendo detrás de este hotel .
un médico siempre duerme delante del parque .
tu abuela que habla con juan espera ese coche .
la enfermera amable nunca necesita los trenes .
las calles están vacías .
otra vaca es blanca .
hay unas llaves cerca de una biblioteca .
mi pez tranquilo quiere correr en otro mercado .
viajamos a mi ciudad pobre .
les dimos una patata cara a mis reyes .
el campesino no ve el coche .
hablas con cuatro mujeres otra vez .
¿ qué bebe mi padre ?
él duerme cerca del campo .
las camisas están sucias .
¿ qué cocina mi tío fuerte ?
si una cantante baila , tu hija inteligente lava un tren amarillo .
visito a mis abuelas .
hay muchas bicicletas cerca de ese campo tranquilo .
los abuelos ven los autobuses azules .
ellos dibujaron otra casa grande esta mañana .
carlos juega detrás de las cocinas otra vez .
un pueblo es interesante .
otra niña famosa no compra arroz y escribes unas historias largas tristes por la tarde .
un zapato es más barato que esa camisa .
¿ quién vuelve a esos hoteles ?
los campesinos fuertes juegan cerca del río .
elena está ayudando a mi abuelo .
maría no pinta una pared azul .
carlos toca el violín negro los domingos .
un hombre rico vive en un país .
jugaremos delante de mi árbol mañana .
el campesino no tiene un piano caro .
él nunca limpia el parque pequeño .
esperas el barco .
necesitamos la bicicleta .
la cocina está llena .
él le dio un abrigo a otra mujer .
pedro no pinta esta vaca .
nuestro abuelo famoso le da un abrigo a pedro .
bailaré en mis hoteles esta noche .
mis abuelas que cortan la sopa caliente van a este mercado feo .
ellos bailarán .
mi cocinero va a hablar con lucía .
¿ quién dibuja las tiendas ?
maría tiene que bailar cerca del puente .
si mi hermano no duerme , elena ve a mi médico famoso .
¿ cuántos pintores hay en otra tienda ?
carlos duerme .
tu abuelo amable irá a la escuela .
estoy escribiendo nuestro poema .
hay doce bicicletas negras cerca de nuestro campo hermoso .
¿ ayuda ella a maría ?
¿ dónde está el abrigo nuevo ?
un vestido es largo .
ellos están bailando en el campo .
una enfermera tiene que buscar a una niña .
un campesino fuerte juega en esas estaciones .
mi pintor amable no vive en las ciudades .
esta aldea es hermosa .
este médico está detrás de mi cocina pequeña .
ese niño que vive en esta ciudad famosa escribe los mensajes nuevos interesantes .
el libro es largo .
otro gato es más grande que un caballo .
mi camisa blanca está en la caja .
mis abuelos están cerca de estas cocinas .
el médico pequeño llamará a esas reinas mañana .
¿ cuándo duermen tus hermanas ?
mi abuelo escribió esa historia triste esta mañana .
hay cuatro trenes baratos en estas oficinas .
hay ocho coches azules en el jardín .
mi alumno cantó la canción corta .
¿ va pedro a esas estaciones ?
un mensaje interesante está en una caja .
cuando elena ayuda a nuestra enfermera famosa ahora , ellos pueden buscar el pez tranquilo .
hay conejos grandes en una calle grande .
hay muchas ovejas cerca de la biblioteca .
el pueblo es muy pobre .
ella buscó mi conejo viejo .
elena está trabajando detrás de esa cocina pequeña .
¿ cuántas bicicletas hay detrás de una torre ?
hay un tren azul pequeño en otra cocina pequeña .
él leyó nueve poemas largos ayer .
otro pintor quiere correr en el jardín .
el pintor no ve nuestro tren .
¿ cuándo come nuestra reina ?
ellos abrirán nueve ventanas .
¿ cantas en muchos parques ?
nuestros amigos famosos rompen la ventana otra vez y ellos pueden vender arroz caliente .
mi tío cantó detrás de una oficina .
nuestro tío es más joven que tu hermano .
el poema difícil está sobre mi mesa .
mi vecino amable está caminando en nuestra calle tranquila .
tu abuela es más joven que el maestro .
hay un pez en mi parque .
¿ llega ella a esta iglesia ?
necesitas queso frío .
ese maestro es más rico que una reina .
otro barco azul está cerca de mi árbol hermoso .
cinco campesinos tienen que querer el jugo caliente .
cuando él corre en las iglesias todos los días , los pintores no comen fruta fresca .
otra reina tranquila llevará mis faldas rojas esta noche .
un alumno joven busca la caja pequeña .
la niña cierra esa ventana .
lucía no llega a los hospitales blancos .
¿ va mi vecino amable a una biblioteca ?
mi tío viejo cantó esta canción .
otro abrigo no está sucio .
el niño no cortó la carne caliente esta mañana .
estás pintando los techos .
juan no tiene una guitarra barata , pero él puede comer cerca de un río pequeño .
¿ cuándo vuelven los pintores ?
no cortamos un huevo , pero él llega a esas iglesias .
las enfermeras fuertes abrieron esta ventana .
ella a menudo limpia un jardín .
una silla está limpia .
maría duerme en el campo grande , pero miguel canta mi canción .
los médicos que cocinan arroz quieren el coche feo .
¿ camina lucía detrás del museo ?
mis vecinos comieron la sopa .
el médico famoso tiene el autobús pequeño los lunes .
la cantante inteligente está lavando los sombreros .
cuando la hija rica llega a nuestra iglesia fea , ese hombre va a diez escuelas .
miguel bailó en nuestra cocina .
una reina tranquila está hablando con mi padre .
¿ va nuestro médico a una iglesia ?
una cantante fuerte pinta los gatos marrones .
¿ limpias la calle ?
mi rey es alto .
¿ quién vuelve a una escuela ?
la casa no está abierta .
mis hermanos son más ricos que este rey .
hay doce cuadros en mis parques .
mi niño amable tiene que beber té .
los médicos ayudan a ana .
la enfermera no habló con el maestro .
si nuestra abuela puede cantar en la biblioteca , ellos ayudan a la reina .
estás leyendo poemas nuevos .
hay torres grandes detrás de estas montañas hermosas .
una calle está sucia .
ella dibujó mi pájaro .
¿ juega el rey en los mercados ?
mis camas son muy redondas .
elena tiene que escribir esos periódicos cortos tristes .
elena espera una bicicleta los domingos y como cerca de tres ríos ahora .
la cocina es tranquila .
estas cartas son más largas que un periódico .
hay una zanahoria dulce en la biblioteca nueva .
carlos no bailó delante de una cocina grande .
el rey alto romperá otro plato caro .
esa vaca es más pequeña que este conejo .
hay un perro negro detrás de otra estación .
les di la camisa a los hermanos .
lucía viaja al país pequeño .
la bicicleta es más barata que un autobús .
¿ quién busca un caballo ?
un alumno joven tranquilo no quiere un abrigo verde corto .
mis tazas no son pesadas .
mi padre amable va a comer en esas oficinas .
él cierra unas ventanas .
elena está rompiendo el plato .
¿ dibuja la reina un mercado ?
nuestra hija vive en otra aldea y ellos dibujan este río .
esa niña es más alta que un hombre .
doce cuadros están debajo de otra silla .
tus hermanas que pintan la puerta buscan las bolsas .
tienes que ayudar a un pintor .
¿ qué cocina mi cocinero amable ?
una enfermera es más joven que nuestro abuelo .
cinco pájaros están en un parque .
¿ cuántas peras hay cerca de la escuela ?
mi perro marrón puede caminar detrás de una oficina .
¿ quién encuentra esas botellas pesadas ?
ana va a vender el vestido .
carlos está contento .
si tu madre canta , esta enfermera joven escribe los mensajes .
camino en la casa hoy .
maría canta canciones famosas y necesitamos los sombreros blancos .
los reyes pueden llegar a los hospitales , pero llevo el sombrero rojo .
mi abuela alta no ve el burro , pero nuestro tío viejo pequeño corre .
no estoy solo .
cuando miguel duerme , pedro no va a los hospitales .
corté esta naranja pequeña .
él está cantando la canción triste .
el cocinero rico no come queso .
hay limones grandes dulces en una biblioteca .
maría tiene que buscar el gato grande .
un zapato corto está detrás del hotel rojo .
hay gatos marrones detrás de mi escuela .
carlos le dio las zanahorias al tío .
estás pintando doce paredes .
veo los trenes verdes , pero mis cantantes jóvenes llaman al maestro .
otra bicicleta es más grande que ese tren .
las tiendas son más grandes que la casa .
ellos rompen la ventana pequeña todos los días .
cuando nuestros hermanos hablan con ana , tu hermano alto puede dibujar una iglesia amarilla .
hay una vaca en esas escuelas .
les das otra naranja roja cara a esos alumnos .
nuestro tío que quiere el barco juega en una playa .
¿ quién corre cerca de ese jardín tranquilo ?
¿ cuándo llega un cocinero fuerte ?
¿ dónde caminan nuestros abuelos ?
ella tiene que pintar otra ventana .
tu abuela quiere nuestro barco .
¿ cuándo come mi hija amable ?
tu tío cierra la ventana .
mi reina hermosa corre detrás del jardín tranquilo otra vez , pero elena canta .
hay un puente cerca de los puentes .
una enfermera no vende el perro marrón y miguel lleva los abrigos cortos .
tu vecino está llegando a una estación .
las ventanas están cerradas .
miguel no durmió detrás de la playa .
ana comerá sopa fresca .
juan siempre viaja a la aldea tranquila .
cocinas el pan los domingos .
¿ quién espera este coche ?
un rey está listo .
¿ llama ella a juan ?
ana llega a mis escuelas los domingos .
mi ciudad no es famosa .
un periódico es más largo que el mensaje .
