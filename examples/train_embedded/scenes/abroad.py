"""Scenes in German, French and Spanish."""

from .scene import Scene

SCENES = (
    Scene(
        "invoice",
        """
[{seller:company}|{seller:company} · {:street} · {:city}]

[Herrn {buyer:name}|Frau {buyer:name}|{buyer:company}|An {buyer:company}]
[{road:street}
{town:city}|{addr:address}]

[Rechnung|RECHNUNG|Rechnung Nr.] {no:code 20##/####|R-#####|######|@@-####}
[Rechnungsdatum[:|] {day:today}|Datum: {day:today}|vom {day:today}][ · Lieferdatum {deliv:earlier 1-14}| · Leistungszeitraum {:earlier 20-40} bis {:earlier 1-10}|][ · Kundennr. {cust:code #####|K####}|]

[Für {:words die Reparatur Ihres Daches/die gelieferte Ware/unsere Leistungen/den Einbau der Heizung} berechnen wir[ Ihnen|]:|Wir erlauben uns zu berechnen:|]
[<lines 1-4:{q:count 1-20} x {what:title}   {price:money 10-900}>|<lines 1-4:{what:title}, {q:count 1-20} Stück à {each:money 2-90}: {price:money 10-900}>|<lines 1-4:{pos:count 1-9} {what:title} {price:money 10-900}>]
[Zwischensumme[ netto|]|Nettobetrag|Summe netto] {net:money 50-4000}
[zzgl. {rate:percent} [Umsatzsteuer|MwSt.|USt.] {tax:money 10-700}|Mehrwertsteuer {rate:percent}: {tax:money 10-700}|Gemäß § 19 UStG wird keine Umsatzsteuer berechnet.]
[Rechnungsbetrag|Gesamtbetrag|Zu zahlen|Endsumme|Summe] {total:money 60-4700}

[Zahlbar [innerhalb von|binnen] {terms:count 7-30} Tagen[ ohne Abzug|, also bis {due:later 7-30}|].|Bitte überweisen Sie bis {due:later 7-40}.|Der Betrag ist sofort fällig.|Fällig am {due:later 7-40}.] [{skonto:percent} Skonto bei Zahlung innerhalb von {:count 5-10} Tagen.|]
[#pay=transfer:IBAN {iban:iban}|#pay=debit:Wir buchen den Betrag von Ihrem Konto ab.|#pay=cash:Betrag dankend bar erhalten.|] [Im Angebot vom {:earlier 20-90} waren {:money 100-4000} veranschlagt.|Steuernummer {:code ##/###/#####}|USt-IdNr. {vatid:code DE#########}|]
""",
        """
rechnungsnummer|invoice_number|rechnungsnr|nummer ; no
rechnungsdatum|invoice_date|datum|issue_date ; day
lieferdatum|delivery_date ; deliv
faellig_am|due_date|zahlbar_bis ; due ; null, wenn kein Datum genannt ist|null if no due date is given
zahlungsziel_tage|payment_terms_days ; terms
verkaeufer|aussteller|seller|vendor|lieferant ; seller
kunde|kaeufer|customer|empfaenger ; buyer
ort|city|town ; town
strasse|street ; road
kundennummer|customer_number ; cust
netto|nettobetrag|net_total ; net
steuersatz|mwst_satz|tax_rate ; rate
steuer|mwst|tax_total ; tax
brutto|gesamtbetrag|total|gross_total ; total
skonto_prozent|discount_percent ; skonto
zahlungsart|payment_method ; pay=transfer/ueberweisung,debit/lastschrift,cash/bar
iban ; iban
waehrung|currency ; $
ust_id|vat_id ; vatid
positionen|items|lines ; lines* ; in der Reihenfolge des Textes|in order
bezeichnung|description|artikel|name ; lines.what
menge|quantity|anzahl ; lines.q
betrag|amount|preis ; lines.price
""",
        "de",
    ),
    Scene(
        "order",
        """
[Guten Tag {who:person},|Hallo {who.given},|Sehr geehrte Kundin, sehr geehrter Kunde,|Liebe/r {who:name},]

[#status=confirmed:vielen Dank für Ihre Bestellung {id:code ######|@@-####}. [Wir machen uns gleich an die Arbeit.|Sie wird gerade gepackt.]|#status=shipped:Ihre Bestellung {id:code ######|@@-####} [ist unterwegs|hat unser Lager verlassen|wurde heute verschickt].|#status=delayed:leider [verspätet sich|dauert es mit] Ihre Bestellung {id:code ######|@@-####}: [der Lieferant lässt uns warten|das Teil fehlt noch].|#status=cancelled:wie gewünscht haben wir die Bestellung {id:code ######|@@-####} storniert.]
<items 1-4:[{qty:count 1-9} x {thing:title}|{qty:count 1-9} Stück {thing:title}|{thing:title}] [{price:money 2-200}|]>
[Summe {total:money 20-700}[ inkl. {ship:money 3-9} Versand|].|Gesamt: {total:money 20-700}|]
[[Lieferung|Sie kommt] [bis [spätestens|]|voraussichtlich am|etwa am] {eta:later 1-30}.|Ein Termin steht noch nicht fest.|] [Mit {carrier:words DHL/DPD/GLS/Hermes/der Post/UPS}[, Sendungsnummer {track:code ############|@@#########@@}|].|]
[#pay=invoice:Sie zahlen auf Rechnung.|#pay=card:Bezahlt mit Kreditkarte.|#pay=debit:Wir ziehen den Betrag von Ihrem Konto ein.|#pay=prepaid:Bitte überweisen Sie vorab.|] [Adresse: {addr:address}|]
[Viele Grüße|Mit freundlichen Grüßen|Ihr Team von]
{seller:company}
""",
        """
bestellnummer|order_number|order_id ; id
kunde|customer|besteller ; who ; ohne Titel|without title
status|bestellstatus ; status=confirmed/bestaetigt,shipped/versandt,delayed/verspaetet,cancelled/storniert
summe|total|gesamtbetrag ; total
versandkosten|shipping_cost ; ship
lieferung_bis|eta|liefertermin|expected_delivery ; eta ; spätester Termin|null if unknown
zusteller|carrier|paketdienst ; carrier
sendungsnummer|tracking_number ; track
zahlungsart|payment_method ; pay=invoice/rechnung,card/kreditkarte,debit/lastschrift,prepaid/vorkasse
lieferadresse|delivery_address ; addr
haendler|seller|shop ; seller
waehrung|currency ; $
artikel|items|positionen ; items*
bezeichnung|name|artikel ; items.thing ; wie geschrieben
menge|anzahl|quantity ; items.qty
preis|price ; items.price
""",
        "de",
    ),
    Scene(
        "appointment",
        """
[Guten Tag {who:person},|Sehr geehrte Frau {who:name},|Sehr geehrter Herr {who:name},|Hallo {who.given},]

[wir bestätigen Ihren Termin|Ihr Termin steht|hiermit bestätige ich unseren Termin] [bei|mit] {doc:person} am {day:date} um {at:time}. [Er dauert etwa {len:duration}.|Planen Sie {len:duration} ein.|] [#art=video:Wir sehen uns per Video, der Link kommt per Mail.|#art=telefon:Wir rufen Sie unter {tel:phone} an.|#art=vor_ort:Sie finden uns in der {:street}, {ort:city}.|#art=vor_ort:Bitte kommen Sie in die Filiale {filiale:city}.] [Thema: {thema:title}.|Es geht um {thema:title}.|]
[Bitte bringen Sie {bring:list title 1-3} mit.|Mitzubringen: {bring:list title 1-3}|] [#nuechtern=yes:Bitte kommen Sie nüchtern.|#nuechtern=no:Essen dürfen Sie vorher.|]
[Der Termin am {:date} entfällt.|Absagen bitte bis {absage:earlier 1-5}.|Bei Fragen: {frage:phone}|]
[Mit freundlichen Grüßen|Viele Grüße]
{firma:company}
""",
        """
kunde|patient|name|customer ; who ; ohne Titel
ansprechpartner|arzt|berater|provider ; doc
datum|termin_datum|date ; day
uhrzeit|termin_uhrzeit|time ; at
dauer|duration ; len
art|form|mode ; art=video,telefon/phone,vor_ort/on_site ; Wie der Termin stattfindet
ort|stadt|city ; ort
filiale|branch ; filiale
thema|anlass|topic ; thema
unterlagen|mitbringen|bring ; bring
absage_bis|cancel_by ; absage
telefon|phone ; frage
firma|praxis|company ; firma
""",
        "de",
    ),
    Scene(
        "realestate",
        """
[Zu vermieten: |Nachmieter gesucht! |Zu verkaufen: |]{rooms:number 1-6 1}[-Zimmer-Wohnung| Zimmer] in {ort:city}[, {lage:title}|]
{qm:number 20-180 1} [m²|qm|Quadratmeter][, |; ][#etage=eg:Erdgeschoss|im {stock:count 1-8}. Stock|{stock:count 1-8}. OG][, Baujahr {bj:year}|]
[Kaltmiete|Miete|Kosten: kalt] {kalt:money 300-1900}[, Nebenkosten {nk:money 40-300}| plus {nk:money 40-300} NK|][, Heizung {hz:money 20-150}|] [Kaution {kaution:money 500-4000}.|Kaution: {kaution:money 500-4000}.|Drei Monatsmieten Kaution.|]
[Frei ab {frei:date}.|Bezug zum {frei:date} möglich.|Sofort frei.] [#tier=yes:Ihr Hund darf mit einziehen.|#tier=yes:Haustiere sind willkommen.|#tier=no:Bitte keine Tiere.|] [#moebel=yes:Möbliert.|#moebel=yes:Alle Möbel bleiben stehen.|#moebel=no:Die Wohnung ist leer.|] [#lift=yes:Mit Aufzug.|#lift=no:Leider kein Aufzug.|]
[Energieausweis: {kwh:number 30-250 0} kWh.|Ausweis liegt vor, {kwh:number 30-250 0} kWh/(m²a).|] [Besichtigung {bes:date} um {besat:time}.|Besichtigung nach Absprache.|] [Anrufen: {tel:phone}|Kontakt: {wer:name}, {mail:email}|Makler {makler:company}]
""",
        """
zimmer|rooms|zimmerzahl ; rooms
ort|stadt|city ; ort
lage|stadtteil ; lage
wohnflaeche_qm|flaeche|area_sqm ; qm
stockwerk|etage|floor ; stock ; 0 = Erdgeschoss
baujahr|year_built ; bj
kaltmiete|miete|rent ; kalt
nebenkosten|utilities ; nk
heizkosten ; hz
kaution|deposit ; kaution
frei_ab|available_from ; frei ; null, wenn sofort frei
haustiere|pets_allowed ; tier? ; Sind Tiere erlaubt
moebliert ; moebel?
aufzug ; lift?
energie_kwh|energieausweis_kwh ; kwh
besichtigung|viewing ; bes
telefon|phone ; tel
kontakt|ansprechpartner ; wer
email ; mail
makler ; makler
waehrung|currency ; $
""",
        "de",
    ),
    Scene(
        "support",
        """
[Hallo|Guten Tag|Sehr geehrte Damen und Herren], [mein Name ist {who:name}|hier {who:name}], [Kundennummer|Kd.-Nr.|Vertrag] {cust:code ########|K-#####}. [Seit {since:date}|Seit dem {since:date}] [#what=internet:komme ich nicht mehr ins Netz|#what=internet:bleibt der Router rot|#what=telefon:ist die Leitung tot, kein Freizeichen|#what=telefon:kann mich niemand mehr anrufen|#what=rechnung:buchen Sie {:money 10-90} zu viel ab|#what=rechnung:stimmt die Abrechnung nicht|#what=lieferung:warte ich auf mein Paket|#what=lieferung:ist das {:title} nicht angekommen]. [Ich habe schon {calls:count 2-9} Mal angerufen.|{calls:count 2-9} Anrufe, kein Ergebnis.|]
[#wunsch=kuendigung:Hiermit kündige ich.|#wunsch=kuendigung:Ich möchte den Vertrag beenden.|#wunsch=techniker:Bitte schicken Sie jemanden vorbei.|#wunsch=techniker:Ein Monteur soll kommen.|#wunsch=erstattung:Ich will mein Geld zurück.|#wunsch=auskunft:Was soll ich tun?] [Erreichbar unter {tel:phone}|Meine Nummer: {tel:phone}|Schreiben Sie an {mail:email}][ ab {ab:time}|].
[Ticket {id:code INC-#####|######}, angelegt am {day:date}, Bearbeiter {agent:name}.|Vorgang {id:code ######}|]
""",
        """
kunde|name|customer ; who
kundennummer|customer_number|vertragsnummer ; cust
problem_art|category|thema ; what=internet,telefon/phone,rechnung/billing,lieferung/delivery ; Worum es geht
seit|since|beginn ; since
anrufe|number_of_calls ; calls
anliegen|wunsch|request ; wunsch=kuendigung/cancellation,techniker/technician,erstattung/refund,auskunft/information ; Was der Kunde will
telefon|phone ; tel
email ; mail
erreichbar_ab ; ab
ticket|vorgang|case_id ; id
angelegt_am|created ; day
bearbeiter|agent ; agent
""",
        "de",
    ),
    Scene(
        "event",
        """
[Vous êtes invités !|À l'affiche|Agenda|]
[{what:title}|« {what:title} »]
[#genre=concert:[Concert de|Avec] {art:list name 1-3}|#genre=expo:Exposition de {art2:name}, vernissage le {:date}|#genre=conference:{orateur:name} parlera de {:title}|#genre=atelier:Atelier animé par {orateur:name}, {max:count 5-20} places]
[Le |]{day:date}[, | à | - ]{at:time}[, ouverture des portes {doors:time}|]
{lieu:words Salle des fêtes/Théâtre municipal/Médiathèque/Maison des associations/Chapelle Saint-Jean/Halle aux grains}, {commune:city}
[#gratuit=yes:Entrée libre.|#gratuit=yes:C'est gratuit.|#gratuit=no:Plein tarif {prix:money 5-60}[, réduit {reduit:money 3-30}|]|#gratuit=no:Entrée : {prix:money 5-60}] [#complet=yes:Complet !|#complet=yes:Il n'y a plus de places.|#complet=no:Il reste des places.|#complet=no:Billets encore disponibles.]
[Réservation avant le {avant:earlier 1-20} au {tel:phone}|Inscriptions : {mail:email}|Renseignements {tel:phone}|] [La date du {:date} est annulée.|Organisé par {org:company}|]
""",
        """
titre|title|evenement|event ; what
genre|type|categorie ; genre=concert,expo/exposition,conference,atelier/workshop
artistes|artists ; art ; dans l'ordre|in order
intervenant|speaker|orateur ; orateur
places|capacite|max_attendees ; max
date|jour ; day
heure|debut|start_time ; at
ouverture|portes|doors ; doors
lieu|salle|venue ; lieu
commune|ville|city ; commune
plein_tarif|tarif_plein|prix|price ; prix
tarif_reduit|reduced_price ; reduit
gratuit|entree_libre ; gratuit?
complet|sold_out ; complet? ; oui s'il n'y a plus de places
reservation_avant|register_by ; avant
telephone|phone ; tel
courriel|email ; mail
organisateur|organizer ; org
devise|currency ; $
""",
        "fr",
    ),
    Scene(
        "invoice",
        """
{emetteur:company}
[{:street}, {:city}|SIRET {siret:code ### ### ### #####}|]
[FACTURE|Facture] [n° |N° |]{no:code F-####|20##-###|######}[ du {day:today}|
Date : {day:today}|
{:city}, le {day:today}]
[Client : |À l'attention de |]{client:name}[, {ville:city}|]
<lignes 1-4:{q:count 1-20} {what:title}[ à {each:money 3-90}|] : {prix:money 5-800}>
[Total HT|Montant hors taxes] : {ht:money 50-3000}
[TVA {taux:percent} : {tva:money 5-500}|TVA non applicable, art. 293 B du CGI]
[Total TTC|Net à payer|À payer] : {ttc:money 60-3500}
[Acompte versé : {acompte:money 10-300}. |][[À régler|Payable] [avant le|au plus tard le] {due:later 7-60}.|Échéance : {due:later 7-60}|Paiement à réception.] [#mode=virement:Par virement : {iban:iban}|#mode=cheque:Par chèque à l'ordre de {emetteur}|#mode=especes:Réglé en espèces.|#mode=carte:Payé par carte bancaire.|]
[Le devis du {:earlier 20-90} ({:money 100-3000}) est caduc.|]
""",
        """
numero_facture|numero|invoice_number ; no
emetteur|vendeur|seller|fournisseur ; emetteur
siret ; siret
client|destinataire|customer ; client
ville|city ; ville
date|date_emission|invoice_date ; day
total_ht|montant_ht|net_total ; ht
taux_tva|tva_pourcent|tax_rate ; taux
tva|montant_tva|tax_total ; tva
total_ttc|montant_ttc|net_a_payer|total ; ttc
acompte|acompte_verse|deposit ; acompte
echeance|date_limite|due_date ; due ; null si aucune date
mode_paiement|reglement|payment_method ; mode=virement,cheque,especes,carte
iban ; iban
devise|currency ; $
lignes|lines|articles ; lignes*
designation|description|article ; lignes.what
quantite|quantity ; lignes.q
montant|prix|amount ; lignes.prix
""",
        "fr",
    ),
    Scene(
        "support",
        """
[Buenos días|Hola|Estimados señores|Buenas tardes]: [soy|me llamo|les escribe] {who:name}[, cliente {cust:code ######|C-####}|]. [Desde el {since:date}|El {since:date}] [#tema=internet:no funciona la conexión a internet|#tema=internet:el router no se enciende|#tema=factura:me cobran {:money 10-90} de más|#tema=factura:la factura está mal|#tema=envio:no ha llegado el paquete|#tema=averia:la lavadora hace ruido y pierde agua|#tema=averia:el aparato se apaga solo]. [He llamado {calls:count 2-9} veces.|]
[#pide=baja:Quiero darme de baja.|#pide=baja:Cancelen el contrato, por favor.|#pide=tecnico:Manden a alguien a repararlo.|#pide=tecnico:Necesito que venga un técnico.|#pide=reembolso:Quiero que me devuelvan el dinero.|#pide=informacion:¿Qué debo hacer?] [Pueden localizarme en el {tel:phone}.|Mi correo es {mail:email}.|Estoy en casa a partir de las {:time}.]
[Incidencia {id:code ######|INC####}, abierta el {day:date}[ por {agent:name}|].|]
[Un saludo,|Atentamente,] [{who.given}|{who:name}]
""",
        """
cliente|nombre|titular|customer ; who
numero_cliente|customer_number ; cust
tema|categoria|topic ; tema=internet,factura/facturacion,envio/entrega,averia/reparacion
desde|fecha_averia|fecha|since ; since
llamadas|intentos ; calls
solicita|peticion|request ; pide=baja/cancelacion,tecnico,reembolso,informacion ; Qué pide el cliente
telefono|phone ; tel
correo|email ; mail
incidencia|numero_incidencia|ticket ; id
abierta_el|created ; day
agente|agent ; agent
""",
        "es",
    ),
    Scene(
        "news",
        """
[{head:title}|{head:phrase}]
{:city}, {day:today}. [#que=incendio:Un incendio [arrasó|quemó] {ha:count 20-4000} hectáreas cerca de {lugar:city}|#que=incendio:El fuego declarado en {lugar:city} ha quemado {ha:count 20-4000} hectáreas|#que=accidente:Dos camiones chocaron en {lugar:city}|#que=accidente:Un autobús se salió de la carretera en {lugar:city}|#que=inundacion:El río se desbordó en {lugar:city}] [el|este] {ev:earlier 1-4}. [{ev2:count 20-900} vecinos fueron evacuados.|{her:count 2-40} personas resultaron heridas.|] [#ctrl=yes:La situación está controlada.|#ctrl=no:Los bomberos siguen trabajando.|#ctrl=no:Sigue sin control.|] [La causa fue {causa:words un rayo/una colilla/un fallo eléctrico/la lluvia/el hielo/un descuido}.|Se desconoce la causa.|] [“{cita:phrase}”, dijo {voz:name}, {cargo:words alcaldesa/portavoz de la policía/jefe de bomberos/concejal}.|Según {voz:name}, {cargo:words alcalde/portavoz/jefa de bomberos}, lo peor ha pasado.]
[En {:year} hubo un caso parecido con {:count 10-300} evacuados.|Los daños ascienden a {danos:money 5000-90000}.|]
""",
        """
titular|headline|titulo ; head
fecha|published ; day
tipo|suceso|event_type ; que=incendio/fire,accidente/accident,inundacion/flood
lugar|place|municipio ; lugar
fecha_suceso|event_date ; ev
hectareas|superficie_hectareas ; ha
evacuados|evacuated ; ev2
heridos|injured ; her
controlado|under_control ; ctrl?
causa|cause ; causa ; null si se desconoce
portavoz|speaker|quoted_person ; voz
cargo|role ; cargo
cita|quote ; cita
danos|damage ; danos
""",
        "es",
    ),
)
