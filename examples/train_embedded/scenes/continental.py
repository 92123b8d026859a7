"""Scenes: in German, French and Spanish: letters of offices, flats, invoices, fires, appointments, orders."""

from .scene import Scene

SCENES = (
    Scene(
        "realestate",
        """
[{zi:number 1-5 0}-Zimmer-Wohnung|Helle Wohnung, {zi:number 1-5 0} Zimmer,|Nachmieter gesucht: {zi:number 1-5 0} Zi.] in {town:city}[, {str:street}|][, {fl:floor}|]
[Wohnfläche|Größe] [ca. |]{qm:number 24-160 0} [m²|qm], [Baujahr|Bj.] {bj:year}[, [saniert|renoviert] {san:year}|]
Kaltmiete {kalt:money 250-1900}[ (bisher {:money 250-1900})|], Nebenkosten {nk:money 40-390}[, Heizung {hz:money 30-160}|], [zusammen|warm] {warm:total kalt nk hz}
Kaution [{kau:money 500-6000}|{km:words zwei/drei} Monatsmieten][, in {raten:count 2-3} Raten möglich|]
[Energieausweis: {kwh:number 30-290 0} kWh/(m²a), Klasse {kl:words A/B/C/D/E/F}|Verbrauch {kwh:number 30-290 0} kWh]
Ausstattung: <a 2-4, :{aus:words Balkon/Einbauküche/Aufzug/Keller/Stellplatz/Parkett/Gäste-WC/Fußbodenheizung/Garten}>
[#t=ja:[Katze kein Problem.|Ein Hund darf mit einziehen.]|#t=nein:[Bitte keine Tiere.|Ohne Haustiere.]|#t=abs:[Tiere nach Rücksprache.|Haustier? Fragen Sie uns.]|] [#wbs=ja:[Nur mit WBS.|Berechtigungsschein nötig.]|#wbs=nein:Kein WBS nötig.|] [Frei ab {frei:later 5-120}.|Bezug: {frei:later 5-120}.] [Besichtigung {bes:later 1-12}, {uhr:time 9-19}[, bitte mit {unt:words Schufa-Auskunft/Gehaltsnachweis/Selbstauskunft}|].|] [Von privat|{mk:company}], [Tel. {tel:phone}|{mail:email}]
""",
        """
zimmer|anzahl_zimmer|rooms ; zi
ort|stadt|city ; town
strasse|street ; str
etage|stockwerk ; fl
wohnflaeche|wohnflaeche_qm|area_m2 ; qm
baujahr ; bj
saniert|renovierungsjahr ; san
kaltmiete|nettomiete ; kalt ; Die neue Miete
nebenkosten ; nk
heizkosten ; hz
warmmiete|gesamtmiete ; warm
kaution ; kau ; Als Betrag
raten|kaution_raten ; raten
energieverbrauch|kennwert_kwh ; kwh
energieklasse ; kl
extras|merkmale ; a*
merkmal ; a.aus
haustiere|tiere_erlaubt ; t=ja/erlaubt,nein/verboten,abs/nach_absprache
wbs_noetig|wbs ; wbs=ja/erforderlich,nein/nicht_erforderlich
frei_ab|bezugsfrei|verfuegbar_ab ; frei
besichtigung|besichtigungstermin ; bes
besichtigung_uhrzeit ; uhr
unterlagen ; unt
makler|anbieter ; mk ; null bei privaten Anbietern
telefon ; tel
email ; mail
waehrung|currency ; $
""",
        language="de",
        weight=2.0,
    ),
    Scene(
        "order",
        """
[Guten Tag|Hallo zusammen|Sehr geehrte Damen und Herren],
[ich habe am {bd:earlier 3-30} [unter|mit der Nummer] {no:code ######|B-#####|##/####} bestellt|meine Bestellung {no:code ######|B-#####|##/####} vom {bd:earlier 3-30}]: <pos 1-4, :{m:number 1-9 0} x {was:goods}[ zu {p:money 5-190}|]>. [#st=nix:[Bis heute ist nichts da.|Das Paket ist nie angekommen.]|#st=falsch:[Gekommen ist etwas anderes.|Im Karton lag die falsche Ware.]|#st=kaputt:[Alles kam zerbrochen an.|Der Deckel ist gesprungen.]|#st=teil:[Es fehlt die Hälfte.|Nur ein Teil wurde geliefert.]] [Der Bote von {bote:words DHL/DPD/Hermes/GLS/UPS} will am {zd:earlier 1-3} [{zt:time 8-19} |]hier gewesen sein.|] [#za=karte:[Bezahlt habe ich {sum:money 20-600} mit Visa.|Meine Mastercard wurde mit {sum:money 20-600} belastet.]|#za=rech:[Überwiesen habe ich {sum:money 20-600} nach Erhalt des Schreibens.|Die {sum:money 20-600} sind erst in zwei Wochen fällig.]|#za=paypal:[{sum:money 20-600} gingen über PayPal.]|#za=last:[Sie haben {sum:money 20-600} von meinem Konto eingezogen.]|]
[#w=geld:[Bitte überweisen Sie das Geld zurück[ auf {iban:iban}|].|Ich möchte mein Geld wieder.]|#w=neu:[Schicken Sie mir die Sachen bitte noch einmal.|Bitte neu liefern[, bis spätestens {frist:later 3-20}|].]|#w=preis:[Mit einem Nachlass von {nl:percent} wäre ich einverstanden.|Ich behalte es, aber nicht zum vollen Preis.]] [Meine Kundennummer: {kd:code #####|K-####}.|] [Sie erreichen mich ab {ab:time 14-19} unter {tel:phone}.|]
[Mit freundlichen Grüßen|Viele Grüße|Freundliche Grüße]
{who:name}[, {adr:address}|]
""",
        """
bestellnummer|auftragsnummer|order_number ; no
bestelldatum|bestellt_am ; bd
problem|grund|art_der_beschwerde ; st=nix/nicht_geliefert,falsch/falsche_ware,kaputt/beschaedigt,teil/unvollstaendig
zusteller|paketdienst ; bote
zustellversuch|angeblich_zugestellt_am ; zd
zustellversuch_uhrzeit ; zt
bezahlt_betrag|summe ; sum
zahlungsart|bezahlt_mit ; za=karte/kreditkarte,rech/rechnung,paypal,last/lastschrift
wunsch|kundenwunsch|loesung ; w=geld/erstattung,neu/neulieferung/ersatz,preis/preisnachlass/rabatt
iban ; iban
frist|neulieferung_bis ; frist
nachlass_prozent ; nl
kundennummer ; kd
erreichbar_ab ; ab
telefon ; tel
name|absender|kunde ; who
anschrift|adresse ; adr
positionen|artikel ; pos* ; In der Reihenfolge des Textes
menge|anzahl ; pos.m
bezeichnung|artikel ; pos.was
preis|einzelpreis ; pos.p
waehrung ; $
""",
        language="de",
        weight=1.5,
    ),
    Scene(
        "event",
        """
[Fête|Concours|Atelier|Conférence] : {nom:words Les jardins ouverts/Nuit des lampions/Pain et levain/Mémoire du port/La forêt qui chante/Trois pianos}
[le {d:later 5-90} de {h1:time 9-14} à {h2:time 15-22}|{d:later 5-90}, {h1:time 9-19}][, {lieu:place}|], {ville:city}[ (et non {:place}, comme annoncé)|]
[Entrée|Tarif] {p:money 4-60}[, {r:money 2-3} pour les [étudiants|chômeurs|moins de {:count 12-26} ans]|][, gratuit jusqu'à {age:count 5-14} ans|]. [{pl:number 20-400 0} places[, il en reste {rest:count 2-19}|].|] [Inscription avant le {lim:later 1-4} [auprès de {qui:name}|]: [{tel:phone}|{mail:email}].|Sans inscription.]
[#ann=oui:[En cas de pluie, tout est annulé.|S'il pleut, rien n'aura lieu.]|#ann=non:[Par tous les temps.|La pluie ne nous arrête pas.]|#ann=rep:[En cas de pluie : {rd:later 91-110}.|S'il pleut, on se retrouve le {rd:later 91-110}.]] [Apportez {app:words une lampe/un tablier/un coussin/de bonnes chaussures/votre pique-nique}.|] [#acc=yes:[Accès de plain-pied.|Ascenseur dans le hall.]|#acc=no:[Trois étages sans ascenseur.|Escalier raide.]|] [Avec {art:name}[ ({inst:words violon/conte/accordéon/cuisine/photographie})|].|] [Organisé par {org:company}.|]
""",
        """
nom|titre|evenement|title ; nom
date|jour ; d
debut|heure_debut|start_time ; h1
fin|heure_fin ; h2
lieu|venue ; lieu
ville|city ; ville
prix|tarif|tarif_plein ; p
prix_pour_etudiants|prix_reduit ; r
gratuit_jusqu_a|age_gratuit ; age ; En années
places|capacite|max_participants ; pl
places_restantes ; rest
inscription_avant|date_limite ; lim
contact|inscription_aupres_de ; qui
telephone ; tel
courriel|email ; mail
en_cas_de_pluie|pluie ; ann=oui/annule,non/maintenu/par_tous_les_temps,rep/reporte
date_de_report ; rd
a_apporter ; app
accessible|acces_handicape ; acc?
artiste|intervenant ; art
discipline ; inst
organisateur ; org
devise|currency ; $
""",
        language="fr",
        weight=1.5,
    ),
    Scene(
        "news",
        """
[Incendio|Fuego] en {ciudad:city}: [arden|se queman] {ha:number 3-900 0} hectáreas
[{d:today}. |]El fuego empezó [el {f:earlier 1-4}|] [a las {h:time 1-20} |][cerca de|junto a] {lugar:place}[ y obligó a desalojar a {ev:number 12-900 0} vecinos|]. [Trabajan|Participan] {bom:number 12-190 0} bomberos[, {med:count 2-12} medios aéreos|][ y {veh:count 2-40} vehículos|]. [#c=rayo:[Un rayo fue la causa.|Empezó tras caer un rayo.]|#c=int:[Alguien lo prendió, cree la policía.|Hay un detenido de {edad:age 18-70} años.]|#c=neg:[Una chispa de una máquina lo provocó.|Todo empezó con una barbacoa.]|#c=des:[Se ignora el origen.|Aún no se sabe por qué.]] [#ctl=si:[Está controlado desde las {hc:time 5-22}.|Los equipos lo dominan.]|#ctl=no:[Sigue sin control.|El viento impide dominarlo.]] [{her:count 1-9} personas resultaron heridas.|No hubo heridos.|] [La carretera {car:words A-12/N-340/CV-35/EX-206} [sigue|está] cortada.|] [Los daños ascienden a {dan:money 900-90000}.|] [{qui:name}, {car2:words alcalde/jefa de bomberos/portavoz}: «Hemos tenido suerte».|]
""",
        """
ciudad|municipio|lugar ; ciudad
terreno_quemado_ha|area_quemada ; ha
fecha_noticia ; d
fecha|inicio ; f ; Del fuego
hora_inicio|hora ; h
cerca_de ; lugar
desalojados|vecinos_desalojados ; ev
bomberos ; bom
apoyo_desde_el_aire|helicopteros_y_aviones ; med
vehiculos ; veh
causa|origen ; c=rayo/natural,int/intencionado,neg/negligencia/accidente,des/desconocido
edad_detenido ; edad
controlado|estado ; ctl=si/controlado,no/activo
hora_control ; hc
heridos ; her
carretera_cortada|carretera ; car
danos|coste ; dan
persona_citada|declara ; qui
cargo ; car2
moneda ; $
""",
        language="es",
        weight=1.5,
    ),
    Scene(
        "appointment",
        """
[Terminbestätigung|Ihr Termin|Erinnerung] – {pr:words Zahnarztpraxis/Bürgeramt/Werkstatt/Kanzlei/Kinderarzt/Friseur} {wer:name}, {ort:city}
[Guten Tag {who:person}|Liebe Patientin, lieber Patient], [wir erwarten Sie|Ihr Termin ist] am {d:later 2-40} um {t:time 7-18}[ Uhr|] [(statt {d0:later 41-60})|(verschoben vom {d0:later 41-60})|]. [Dauer|Bitte rechnen Sie mit] {dur:count 10-120} Minuten. [Zimmer|Raum] {rm:code #.##|###}[, {fl:floor}|]. [Bringen Sie [bitte |]{br:words den Impfpass/den Personalausweis/die Versichertenkarte/ein Handtuch/den Fahrzeugschein} mit.|] [#n=ja:[Bitte nüchtern kommen.|Ab Mitternacht nichts mehr essen.]|#n=nein:[Sie dürfen vorher essen.|Frühstücken Sie ruhig.]|] [Gebühr: {geb:money 5-190}, [#za=bar:nur bar|#za=bar:in Scheinen und Münzen|#za=ec:nur mit Karte|#za=ec:kontaktlos|#za=re:Sie bekommen eine Rechnung].|] [Absagen bis {ab:later 1-2}, sonst {aus:money 20-90}.|Absage spätestens {std:count 12-48} Stunden vorher.] [Rückfragen: {tel:phone}[, Aktenzeichen {az:code ##/####|@@-###}|].|]
""",
        """
praxis|stelle|anbieter ; pr
inhaber|arzt|ansprechpartner ; wer
ort ; ort
name|kunde|patient ; who
datum|termin ; d ; Der gültige Termin
uhrzeit|beginn ; t
urspruenglicher_termin|alter_termin ; d0
dauer_minuten|dauer ; dur
zimmer|raum ; rm
stockwerk ; fl
mitbringen|bitte_mitbringen ; br
nuechtern|nuechtern_kommen ; n=ja,nein
gebuehr|kosten ; geb
zahlungsart|bezahlung ; za=bar/bargeld,ec/karte,re/rechnung
absagen_bis ; ab
ausfallgebuehr ; aus
absage_stunden ; std
telefon ; tel
aktenzeichen ; az
waehrung ; $
""",
        language="de",
        weight=1.5,
    ),
)
