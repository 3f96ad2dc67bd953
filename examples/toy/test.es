hay un museo viejo en un hotel .
¿ ayuda nuestro vecino alto a nuestro tío joven ?
esta historia es interesante .
él ayuda a mis enfermeras .
¿ lavas otro autobús ?
ella va a las tiendas .
mis reinas hermosas están leyendo el poema .
elena no comió cerca de un hotel .
una reina amable llevó un zapato .
la silla es muy pesada .
el médico está listo .
los alumnos que juegan cerca de un parque abren la puerta negra pequeña .
diez museos están vacíos .
los sombreros están detrás de nuestro campo grande .
el rey es más alto que mis hijas .
pedro pinta el mercado nuevo .
él está cantando en un jardín .
mi padre famoso escribe los libros .
las reinas fuertes le dan esta silla a la niña .
¿ cuántas cebollas hay en una biblioteca ?
la enfermera fuerte habla con lucía porque nuestro amigo lee una carta vieja interesante todos los días .
¿ dónde come mi madre ?
ana puede hablar con ana y ellos no pueden caminar en mis jardines tranquilos .
la montaña no es tranquila .
mi padre que vuelve al puente duerme en estas cocinas grandes .
hay una lámpara en una calle .
mis abuelas amables ayudan a ana ahora .
¿ cuántas cajas hay en las oficinas tranquilas ?
el campesino alto va al puente viejo por la tarde .
una niña lava unos coches baratos .
¿ viaja pedro a los países ?
¿ dónde cantan los médicos ?
el país es más grande que esta ciudad .
hay un coche caro en muchos jardines grandes .
juan puede ir a esos puentes .
la silla es pesada .
mis ventanas están rotas .
¿ camina otra reina ?
ana venderá las naranjas .
mi hermana joven les dio un zapato a los médicos .
mis vecinos están visitando a maría .
¿ cuándo trabaja ella ?
mi madre que juega en los jardines vive en mi pueblo famoso .
el periódico famoso está en tres cajas .
los médicos no están solos .
el gato es marrón .
ellos no viven en un pueblo , pero otro hombre puede correr .
pedro no visita a los vecinos y mis maestros tranquilos no leen los poemas largos interesantes .
¿ cuándo llega mi hermana inteligente ?
hay ovejas en las tiendas .
