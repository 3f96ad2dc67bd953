la casa roja está en el pueblo .
vivo en una casa roja .
la casa roja tiene una puerta blanca .
tengo un perro blanco .
el perro blanco duerme en la casa .
un gato blanco y un perro negro juegan en el jardín .
el libro interesante está aquí .
ella lee un libro interesante .
es un libro interesante y largo .
la mujer alta canta .
la mujer alta compra pan .
compramos manzanas rojas .
él vende manzanas rojas y verdes .
las manzanas rojas están en la mesa .
los caballos blancos son hermosos .
los caballos blancos corren cerca del puente .
ella no compra los zapatos caros .
los zapatos caros son nuevos .
no quiero zapatos caros .
tengo una bicicleta azul nueva .
la bicicleta azul es de mi hermana .
ana tiene una bicicleta nueva .
la niña pequeña duerme .
la niña pequeña canta en el jardín .
la niña canta canciones hermosas .
la niña canta una canción larga y hermosa .
hay flores amarillas en el campo .
las flores amarillas son hermosas .
tres flores amarillas y una flor roja .
la mesa redonda es nueva .
los libros están en la mesa redonda .
comemos en la mesa redonda .
viven en un pueblo tranquilo .
el pueblo tranquilo está cerca del río .
es un pueblo tranquilo y pequeño .
el puente viejo es hermoso .
la iglesia está cerca del puente viejo .
el buen maestro lee un libro .
el buen maestro está cansado .
es una historia larga .
ana escribe una historia larga .
una historia larga y hermosa .
ella bebe vino blanco .
el vino blanco está frío .
pan , agua fría y vino blanco .
el hombre viejo bebe agua .
el sombrero nuevo es negro .
la silla roja es vieja .
la silla vieja es barata .
un coche verde y una bicicleta verde .
la camisa roja está limpia .
el médico cansado duerme aquí .
la noche tranquila es hermosa .
la puerta roja está abierta .
el río es largo y frío .
una montaña blanca y fría .
el caballo viejo está cansado .
los niños pequeños duermen .
las niñas altas juegan en la calle .
las casas blancas son pequeñas .
