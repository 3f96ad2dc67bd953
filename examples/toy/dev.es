la falda es más barata que un zapato .
él quiere leer la carta .
mi abuelo hermoso bebe vino por la mañana .
mi amigo hermoso ve mi mercado viejo , pero ella llega a un museo .
otra enfermera joven quiere comprar carne .
nuestra enfermera rica lava los abrigos cortos .
hay muchas cebollas rojas cerca de este árbol .
la vaca está cansada .
¿ qué quiere mi abuelo ?
elena quiere beber leche caliente .
llegaremos al museo nuevo la semana próxima .
muchos niños famosos quieren buscar a elena .
les doy este espejo viejo a las enfermeras .
diez alumnos rompen otra ventana .
hay unas gallinas en esas bibliotecas .
esas niñas ricas compran la carne .
¿ cortas arroz caliente ?
el alumno amable corta la sopa hoy .
el país es rico .
hay muchas escuelas amarillas detrás de la cocina .
si elena no puede cantar otra canción famosa , no corto la manzana fresca .
este gato está en un hospital azul .
un abrigo feo está en la cocina grande .
mi madre juega delante de la oficina tranquila y lavas otro vestido .
mi hermana no ve al maestro .
mis historias están en el mercado .
cuando miguel encuentra nuestra camisa fea por la tarde , un campesino viejo puede cocinar el pan .
otro niño alto corta el queso porque cantas esa canción nueva .
una carta es larga .
la cantante famosa no juega en el jardín .
elena busca a mis reinas .
mi cocinero no puede encontrar un espejo porque esos médicos visitan mis pueblos .
juan durmió .
los reyes hermosos van a cantar la canción .
el pintor rompe mi plato por la noche .
un pintor inteligente no canta mi canción .
el rey que abre otra ventana come en dos estaciones .
¿ qué quiere este hombre fuerte ?
mi abuelo le dio doce zapatos a juan .
esa reina corrió detrás de los jardines .
ella tiene que dibujar muchas iglesias .
un campesino fuerte llamará al amigo famoso .
¿ dónde caminan mis enfermeras ?
hay un barco cerca del árbol pequeño .
mis vecinos pequeños le dieron una pera cara a mi abuela .
este campesino está listo .
pedro va a comer .
los poemas difíciles están delante de las tiendas famosas .
¿ dibujas mis bosques grandes ?
otra carta es triste .
la reina no bebe el jugo y leo esas historias ahora .
mis alumnos escribirán cartas difíciles mañana .
una enfermera abre una puerta pequeña .
hablaste con ana la semana pasada .
lucía no corrió delante de nuestra cocina .
hay un pájaro cerca del hotel pequeño .
¿ cuántas escuelas hay en otra calle pequeña ?
la oveja puede comer en el jardín porque un alumno no quiere muchas sillas .
los niños no cierran esa puerta amarilla .
nuestro vecino tranquilo trabajó en un mercado ayer .
si las niñas esperan la bicicleta otra vez , mis hijas leen el mensaje .
¿ hablas con un niño amable ?
el alumno ayudó al maestro la semana pasada .
los cocineros famosos vendieron una cama .
hay un perro en nuestra casa .
¿ dónde está el mensaje difícil ?
hay trenes delante del bosque pequeño .
nuestra abuela vieja le envía el libro largo a la cantante .
el hermano hermoso le dio unos zapatos cortos a pedro .
¿ cuántos caballos hay en mi calle tranquila ?
el rey rico no rompe la ventana .
mis hijas cerrarán nuestra ventana .
mis cocineros tranquilos cantan las canciones .
¿ dónde camina lucía ?
cuando el campesino pequeño no cierra una ventana azul , ellos beben vino frío .
nuestro hombre que pinta una escuela fea limpia otra flor roja .
mis reinas no son altas .
¿ cuántas bicicletas hay detrás de nueve ríos ?
nueve campesinos son altos .
¿ cuántas reinas hay delante de esa playa pequeña ?
pedro le da los zapatos a mi padre .
los alumnos no encuentran el vestido caro .
ellos llegan a una biblioteca .
tienes que bailar cerca de esa torre .
¿ cuántos peces hay cerca de mi oficina ?
mi abuela irá a estas torres .
el pez juega detrás de ese jardín .
nueve campesinos ricos no cocinan la carne , pero otro pintor puede comprar nuestra carta .
¿ cuándo vuelve ese alumno rico ?
él escribe unas historias nuevas porque no trabajo en una playa grande .
mi vecino ayuda a otro alumno pequeño .
la llave es grande .
ella no toca estos violines porque quiero una silla barata .
un hombre viejo puede visitar los pueblos interesantes porque cantamos esta canción .
él va a romper la ventana amarilla .
a veces veo a juan .
mi falda está en la oficina .
las mujeres comen en el jardín .
mi madre tranquila le da el vestido azul nuevo a nuestro rey .
ellos están viajando a esos pueblos famosos .
