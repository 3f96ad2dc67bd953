la casa es blanca .
el coche es rojo .
el coche rojo es nuevo .
una manzana roja está en la mesa .
la casa grande tiene una puerta verde .
el perro pequeño duerme en el jardín .
el perro negro corre en la calle .
mi casa es pequeña .
mi hermana tiene una bicicleta roja .
la bicicleta azul es nueva .
tengo un perro .
tengo un coche azul .
tengo dos gatos y un perro .
tengo un libro nuevo .
el gato negro duerme en la silla .
un gato negro corre en el jardín .
el gato es negro .
el perro es blanco .
el coche blanco es caro .
quiero un sombrero blanco .
ella quiere una camisa blanca .
ella quiere un coche nuevo .
ella tiene un caballo blanco .
él tiene un caballo negro .
los caballos negros corren en el campo .
los caballos corren cerca del río .
los caballos son grandes .
el campo verde es grande .
los niños juegan en el campo verde .
los niños juegan en el jardín .
los niños son felices .
los niños felices cantan en la calle .
la niña canta una canción .
el niño canta una canción hermosa .
es una canción hermosa .
el niño pequeño come una manzana .
el niño pequeño juega con el perro .
la niña alta tiene una camisa azul .
la niña lee un libro .
la niña es alta .
ana lee una carta larga .
ana lee una historia interesante .
la historia es interesante .
el libro es interesante .
juan lee un libro viejo .
juan lee un libro en el jardín .
maría lee la carta .
maría escribe una carta larga .
maría escribe un libro .
pedro escribe una carta interesante .
pedro escribe una historia .
el maestro escribe una carta .
el maestro lee una historia interesante .
el maestro es bueno .
el buen médico está aquí .
él es un buen médico .
es un buen libro .
el buen niño come pan .
el médico es un hombre alto .
el hombre alto compra un periódico .
el hombre es alto .
la mujer vende flores .
la mujer vende manzanas en la calle .
la mujer vieja vende pan .
la mujer vieja compra flores rojas .
las flores rojas son hermosas .
las manzanas son rojas .
como manzanas verdes .
como una manzana .
comemos pan y manzanas .
el hombre viejo bebe vino tinto .
el hombre viejo duerme cerca de la ventana .
el hombre cansado duerme .
la mujer cansada bebe agua fría .
el perro bebe agua fría .
bebemos vino tinto y agua fría .
el vino es bueno .
el agua está fría .
bebo vino .
el hombre bebe vino y come pan .
la casa de la mujer es blanca .
veo a la mujer .
vemos al maestro .
vemos al hombre viejo .
veo un pájaro amarillo .
veo el río .
vemos la montaña .
vemos una montaña alta .
un pájaro amarillo canta en el árbol .
el pájaro canta .
el árbol alto está cerca de la casa .
el árbol es viejo .
el puente es largo .
el puente nuevo es largo .
el pueblo está cerca del río .
el pueblo está cerca del puente nuevo .
la casa está cerca del puente .
la casa está cerca del río tranquilo .
vivimos cerca del puente .
vivimos en una ciudad grande .
vivimos en una casa blanca .
vivo en un pueblo pequeño .
vivo en una calle tranquila .
viven en una casa pequeña .
viven en la ciudad .
viven cerca del río .
viven en un pueblo .
ella vive en una ciudad tranquila .
él vive cerca de la iglesia vieja .
la iglesia es vieja .
la iglesia vieja tiene una ventana redonda .
la ventana redonda está abierta .
la mesa es redonda .
el libro está en la mesa .
las flores están en la mesa .
hay dos flores en la mesa .
hay tres libros en la silla .
hay tres sillas amarillas en el jardín .
hay flores en el jardín .
hay un árbol cerca de la casa .
hay un perro negro en el jardín .
hay una iglesia pequeña en el pueblo .
las sillas amarillas son baratas .
las flores son amarillas .
tres pájaros cantan en el jardín .
los zapatos son caros .
los coches caros son nuevos .
ella quiere los zapatos negros .
ella no quiere el coche .
ella no quiere el sombrero viejo .
él no quiere el pan .
él no come manzanas .
no quiero el vino barato .
no tengo un coche .
no vivimos aquí .
el perro no duerme .
ana no bebe vino .
ella compra zapatos blancos .
los zapatos blancos son pequeños .
él compra zapatos baratos .
pedro compra un coche barato .
ana compra una bicicleta barata .
mi hermana compra una camisa azul nueva .
mi hermana es médica .
mi hermano tiene un coche rojo nuevo .
mi hermano tiene un perro negro grande .
mi bicicleta nueva es verde .
mi hermana canta y mi hermano juega .
tengo una silla verde grande .
la calle larga es tranquila .
la noche es larga y fría .
la noche es tranquila .
es una noche fría .
es una casa cara .
la camisa limpia está en la silla .
la camisa está limpia .
el coche limpio está en la calle .
la calle está limpia .
la niña hermosa tiene un gato blanco .
el jardín es hermoso .
la puerta de la casa es verde .
la ventana de la iglesia es pequeña .
la puerta verde está abierta .
el sombrero del hombre viejo es negro .
la ciudad es grande y hermosa .
la ciudad grande está cerca de la montaña .
