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
