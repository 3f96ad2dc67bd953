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
