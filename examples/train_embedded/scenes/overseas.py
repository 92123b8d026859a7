"""Scenes in German, French and Spanish: jobs, small ads, banks, orders, complaints, events, homes, reports."""

from .scene import Scene

SCENES = (
    Scene(
        "job",
        """
[Wir suchen|Gesucht|Verstärkung gesucht|Stellenangebot|Werde Teil unseres Teams|Komm zu uns][: | - ]{titel:words Elektroniker/Pflegefachkraft/Buchhalterin/Softwareentwickler/Koch/Lagerist/Erzieherin/Bauleiter/Vertriebsmitarbeiter/Friseurin/Fahrer/Zahnarzthelferin/Rezeptionist/Projektmanager/Gärtner/Sachbearbeiter/Tischler/Werkstudent IT/Hausmeister/Mechatroniker}[ (m/w/d)| (w/m/d)|]
[{firma:company}, {ort:city}|{firma:company} in {ort:city}|bei {firma:company}[, Standort {ort:city}|]]

[Deine Aufgaben|Ihre Aufgaben|Das erwartet Sie|Was du machst]
<aufgaben 2-5:[- |• |]{was:of aufgabe}>
[Das bringst du mit|Ihr Profil|Anforderungen|Was wir erwarten]
<profil 2-5:[- |• |]{was2:of anforderung}>

[#level=junior:[Gern auch direkt nach der Ausbildung.|Du musst noch nichts können, nur wollen.|Berufsanfänger sind willkommen.|Wir bringen dir alles bei.]|#level=erfahren:[Du hast {jahre:count 3-10} Jahre im Beruf hinter dir.|Man sollte das schon einige Jahre gemacht haben.|Mindestens {jahre:count 3-10} Jahre Praxis.|Kein Neuling, bitte.]|#level=leitung:[Sie führen {team:count 3-20} Leute.|{team:count 3-20} Kolleginnen und Kollegen berichten an Sie.|Sie verantworten den ganzen Bereich.]|] [#art=vollzeit:[40 Stunden die Woche.|{std:number 35-42 1} Wochenstunden.|Volle Stelle.]|#art=teilzeit:[{std:number 10-30 1} Stunden in der Woche.|Halbtags, nur vormittags.|Eine halbe Stelle.]|#art=minijob:[Auf 538-Euro-Basis.|Geringfügige Beschäftigung.|Als Minijobber.]|?level=junior#art=ausbildung:[Beginn der Lehre im {:words August/September}.|Wir bilden aus.|Drei Jahre Lehrzeit.]] [#ort_typ=homeoffice:[Du arbeitest, wo du willst.|Komplett von zu Hause.|Ein Büro haben wir nicht.]|#ort_typ=hybrid:[{ho:count 1-3} Tage pro Woche daheim möglich.|Teils bei uns, teils zu Hause.]|#ort_typ=vor_ort:[Immer vor Ort.|Das geht nur bei uns im Haus.|Arbeit von zu Hause ist leider nicht drin.]|] [#frist=befristet:[Befristet bis {ende:later 200-700}.|Zunächst für {dauer:months}.|Elternzeitvertretung bis {ende:later 200-700}.]|#frist=unbefristet:[Ein Vertrag ohne Ablaufdatum.|Unbefristet.|Auf Dauer.]|]
[Gehalt|Wir zahlen|Lohn|Vergütung][: | ][{von:grand 28-50} bis {bis:grand 51-90 bare} [im Jahr|p. a.|brutto jährlich]|{von:money 1800-3000} bis {bis:money 3001-5200} [im Monat|brutto monatlich]|{std_lohn:money 13-25} [die Stunde|pro Stunde]|nach Tarif, Entgeltgruppe {grp:code E #|#}|nach Absprache]. [{urlaub:count 24-32} Tage Urlaub.|Dazu {urlaub:count 24-32} Urlaubstage und {extra:words Jobticket/Dienstrad/Weihnachtsgeld/kostenlose Getränke/Firmenwagen/Zuschuss zur Kita}.|]
[Start|Eintritt|Beginn][: | ][{start:later 20-200}|ab sofort|nach Vereinbarung]. [Bewerbung bis {frist_bis:later 7-60} an {mail:email}|Unterlagen an {mail:email}[, {kontakt:name}|]|Einfach anrufen: {kontakt:name}, {tel:tel}|Bewerben Sie sich bei {kontakt:name}, {mail:email}][, Kennziffer {ref:code ##/####|@@-###}|]. [Die Anzeige vom {:earlier 20-90} gilt nicht mehr.|]
""",
        """
stellentitel|job_title|titel|position ; titel
unternehmen|firma|company|arbeitgeber ; firma
arbeitsort|ort|location|city ; ort
erfahrungsstufe|level|seniority ; level=junior/berufseinsteiger/entry,erfahren/experienced/senior,leitung/lead ; Ergibt sich aus dem Text|As it follows from the text
berufsjahre|years_of_experience ; jahre
teamgroesse|direct_reports ; team
beschaeftigungsart|employment_type|umfang ; art=vollzeit/full_time,teilzeit/part_time,minijob/mini_job,ausbildung/apprenticeship
wochenstunden|weekly_hours|stunden ; std
arbeitsmodell|remote|work_model ; ort_typ=homeoffice/remote,hybrid,vor_ort/onsite
homeoffice_tage|remote_days ; ho
befristung|contract_type ; frist=befristet/fixed_term,unbefristet/permanent
befristet_bis|contract_end ; ende
dauer|contract_months ; dauer
gehalt_min|salary_min|gehalt_von ; von
gehalt_max|salary_max|gehalt_bis ; bis
stundenlohn|hourly_wage ; std_lohn
entgeltgruppe|pay_grade ; grp
urlaubstage|vacation_days|urlaub ; urlaub
zusatzleistung|benefit ; extra
eintritt|start_date|beginn ; start ; null, wenn kein Datum genannt ist|null if no date is given
bewerbungsfrist|apply_by|deadline ; frist_bis
ansprechpartner|contact|kontakt ; kontakt
telefon|phone ; tel
email|apply_to ; mail
kennziffer|reference ; ref
waehrung|currency ; $
aufgaben|tasks|responsibilities ; aufgaben* ; in der Reihenfolge des Textes|in order
aufgabe|task|text ; aufgaben.was
anforderungen|requirements|profil ; profil* ; in der Reihenfolge des Textes|in order
anforderung|requirement|text ; profil.was2
""",
        "de",
        weight=1.2,
    ),
    Scene(
        "product",
        """
[Verkaufe|Biete|Zu verkaufen|Anzeige|Abzugeben][: | ]{ding:of ding}[ {marke:of line}|][, {farbe:words schwarz/weiß/rot/blau/grün/grau/braun/silber}|]
[{ort:city}[, {plz:code #####}|] · |][eingestellt am {datum:earlier 1-20}|{datum:earlier 1-20}|][, Anzeige {nr:code ##########|######}|]

[Gekauft|Angeschafft] [{jahr:year}|vor {alter:months}|letztes Jahr][ für {neu:money 40-900}|, Neupreis {neu:money 40-900}|]. [#zustand=neu:[Originalverpackt.|Noch nie benutzt.|Ungeöffnet, war ein Geschenk.|Mit Etikett.]|#zustand=sehr_gut:[Kaum benutzt, keine Kratzer.|Sieht aus wie am ersten Tag.|Nur zweimal gebraucht.]|#zustand=gebraucht:[Normale Gebrauchsspuren.|Man sieht ihm die Jahre an, tut aber, was es soll.|Ein paar Kratzer, sonst in Ordnung.]|#zustand=defekt:[Geht nicht mehr an.|Für Bastler.|Muss repariert werden.]] [Grund: {grund:words Umzug/Doppelkauf/kein Platz mehr/Haushaltsauflösung/Fehlkauf/die Kinder sind groß}.|] [Nichtraucherhaushalt.|Tierfreier Haushalt.|]
[#preis_art=fest:[{preis:money 5-500}, nicht verhandelbar.|Festpreis {preis:money 5-500}.|{preis:money 5-500}, Handeln zwecklos.]|#preis_art=vb:[{preis:money 5-500} VB|{preis:money 5-500} Verhandlungsbasis.|Ich dachte an {preis:money 5-500}, über den Preis kann man reden.]|#preis_art=verschenken:[Kostenlos, nur abholen.|Geschenkt.|Gegen eine Tafel Schokolade.]|#preis_art=tausch:[Ich tausche gegen {tausch:of ding}.|Nur Tausch: {tausch:of ding}.]]
[#versand=abholung:[Nur Selbstabholer.|Kein Versand.|Muss bei mir geholt werden.]|#versand=versand:[Versand {porto:money 4-20}.|Ich schicke es für {porto:money 4-20}.]|#versand=beides:[Abholen oder verschicken ({porto:money 4-20}), beides geht.|Versand möglich ({porto:money 4-20}), Abholung lieber.]|] [Barzahlung.|PayPal Freunde.|] [{name:name}, {tel:tel}|Tel. {tel:tel}[ ab {ab:time 16-20}|]|Bitte über das Portal schreiben.|] [Privatverkauf, keine Rücknahme.|Das {:of ding} ist schon weg.|Reserviert bis {res:later 1-5}.|]
""",
        """
titel|artikel|product|name ; ding
marke|brand ; marke
farbe|colour ; farbe
ort|city|standort ; ort
plz|postal_code ; plz
datum|eingestellt_am|posted_on ; datum
anzeigennummer|ad_id ; nr
kaufjahr|bought_in ; jahr
alter_monate|age_months|alter ; alter
neupreis|original_price ; neu
zustand|condition ; zustand=neu/new,sehr_gut/very_good,gebraucht/used,defekt/defective
verkaufsgrund|reason ; grund
preis|price ; preis ; null, wenn kein Geld verlangt wird|null if no money is asked
preisart|price_type ; preis_art=fest/fixed,vb/negotiable,verschenken/free,tausch/swap
tausch_gegen|swap_for ; tausch
versandart|shipping|uebergabe ; versand=abholung/pickup,versand/shipping,beides/both
versandkosten|shipping_cost|porto ; porto
verkaeufer|seller|kontakt ; name
telefon|phone ; tel
anruf_ab|call_after ; ab
reserviert_bis|reserved_until ; res
waehrung|currency ; $
""",
        "de",
    ),
    Scene(
        "bank",
        """
[{bank:company}|Ihre {bank:company}|{bank:company} Info]: [#art=kartenzahlung:[mit Ihrer Karte wurde bezahlt|Kartenumsatz|Einkauf] {betrag:money 2-500} bei {haendler:of merchant}|#art=ueberweisung:[Überwiesen|Auftrag ausgeführt|Geld ist unterwegs]: {betrag:money 10-3000} an {empf:name}[, Zweck: {zweck:words Miete/Rechnung 4711/Geschenk/Nebenkosten/Anzahlung/Taschengeld}|]|#art=gutschrift:[Geldeingang|Sie haben Geld bekommen|Eingang]: {betrag:money 10-3000} von {von:company}[, Zweck: {zweck:words Gehalt/Erstattung/Miete/Rückzahlung}|]|#art=lastschrift:[Abbuchung durch|Eingezogen hat] {glaeub:company}: {betrag:money 5-500}|#art=abhebung:[Bargeld|Am Automaten geholt]: {betrag:money 20-500}[, {ort:city}|]|#art=dauerauftrag:[Wie jeden Monat|Regelmäßige Zahlung]: {betrag:money 10-1500} an {empf:company}]
[am {datum:today}[ um {zeit:time}|]|{datum:today}[, {zeit:time}|]]. [?art=kartenzahlung?art=abhebung:[Karte *{karte:code ####}.|Karte endet auf {karte:code ####}.|]|?art=ueberweisung?art=gutschrift?art=lastschrift?art=dauerauftrag:[Konto ..{konto:code ####}.|]]
[#status=gebucht:[Bereits gebucht.|Erledigt.]|#status=vorgemerkt:[Noch nicht gebucht.|Wird in den nächsten Tagen gebucht.|Nur vorgemerkt.]|#status=abgelehnt:[Nicht ausgeführt: zu wenig Guthaben.|Die Zahlung kam nicht zustande.|Wurde zurückgewiesen.]|] [[Kontostand|Saldo|Verfügbar|Neuer Stand]: {saldo:money 10-9000}.|] [#verdacht=yes:[Das waren Sie nicht? Sofort {tel:tel} anrufen.|Kommt Ihnen das seltsam vor? Karte sperren: {tel:tel}.|Bitte prüfen Sie, ob Sie das waren.]|#verdacht=no:[Sie müssen nichts tun.|Nur zu Ihrer Information.]|] [Wir fragen nie nach Ihrer PIN.|Vorher: {:money 100-4000}.|]
""",
        """
bank|institut ; bank
art|transaction_type|umsatzart ; art=kartenzahlung/card_payment,ueberweisung/transfer_out,gutschrift/transfer_in,lastschrift/direct_debit,abhebung/withdrawal,dauerauftrag/standing_order
betrag|amount ; betrag
waehrung|currency ; $
haendler|merchant ; haendler
empfaenger|payee ; empf
auftraggeber|absender|payer ; von
glaeubiger|creditor ; glaeub
verwendungszweck|reference|zweck ; zweck
ort|city ; ort
datum|date|buchungstag ; datum
uhrzeit|time ; zeit
karte_endziffern|card_last_four ; karte
konto_endziffern|account_last_four ; konto
status ; status=gebucht/booked,vorgemerkt/pending,abgelehnt/declined
kontostand|balance|saldo ; saldo ; nach dem Umsatz|after the transaction
betrugswarnung|suspicious|verdacht ; verdacht? ; Fragt die Bank, ob es der Kunde war|Does the bank ask whether it was the customer
telefon|hotline ; tel
""",
        "de",
        weight=1.2,
    ),
    Scene(
        "order",
        """
[Bonjour,|Bonjour {a:name},|Madame, Monsieur,|Chère équipe,]

[je souhaite commander|merci de m'envoyer|veuillez noter la commande suivante|nous avons besoin de|je voudrais][ (commande {no:code C-####|######})|] :
<lignes 1-5:[- |• |]{q:count 2-30} x {quoi:of chose}[, réf. {ref:code ###-###|@####}|][ à {prix:money 5-300}[ pièce|]|]>

[#mode=livraison:[Livraison au {addr:address}|À livrer au {addr:address}|Merci de nous l'apporter au {addr:address}][, avant le {date:later 3-40}|, le {date:later 3-40}|].|#mode=retrait:[Je passerai le chercher le {date:later 2-20}[ vers {heure:time 9-18}|].|Nous viendrons le prendre le {date:later 2-20}.]|#mode=poste:[Un colis suffit.|Vous pouvez l'envoyer par la poste.|Par Chronopost, s'il vous plaît.]] [#paie=facture:[Je règle à réception de la facture.|Comme d'habitude, vous m'envoyez la note ensuite.]|#paie=carte:[Je vous donne mon numéro de Visa par téléphone.|Réglé avec ma Mastercard sur votre site.]|#paie=virement:[Le virement est fait.|Je vous ai envoyé l'argent de mon compte hier.]|] [#urgent=yes:[C'est très pressé !|Il nous le faut absolument.|Vite, s'il vous plaît.]|#urgent=no:[Rien ne presse.|Prenez votre temps.]|] [#cadeau=yes:[C'est pour offrir, pouvez-vous l'emballer ?|Merci de ne pas joindre les prix, c'est une surprise.]||]
[La dernière fois, il manquait {:count 2-9} pièces.|L'an dernier le prix était de {:money 5-200}.|Budget maximum : {max:money 100-2000}.|]
[Mon numéro : {tel:tel}.|Joignable au {tel:tel}[ après {apres:time 14-19}|].|]
[Merci d'avance|Cordialement|Bien à vous],
{client:name}[, {societe:company}|]
""",
        """
client|customer|commande_par ; client
societe|company|entreprise ; societe
numero_commande|order_number ; no
destinataire|recipient ; a
mode_livraison|delivery_method ; mode=livraison/delivery,retrait/pickup,poste/post
adresse_livraison|delivery_address ; addr
date_souhaitee|date|wanted_on ; date
heure|time ; heure
paiement|payment_method ; paie=facture/invoice,carte/card,virement/transfer
urgent|pressé|is_urgent ; urgent?
cadeau|is_gift ; cadeau?
budget_max|budget ; max
telephone|phone ; tel
joignable_apres|call_after ; apres
devise|currency ; $
articles|lignes|items ; lignes* ; dans l'ordre|in order
designation|article|name ; lignes.quoi
quantite|quantity ; lignes.q
reference|sku ; lignes.ref
prix_unitaire|price ; lignes.prix
""",
        "fr",
    ),
    Scene(
        "realestate",
        """
[À louer|À vendre|Location|Particulier loue|Vente][ : | ]{ville:city}[, {quartier:title}|]
[#type=appartement:[T{pieces:count 2-5}|appartement {pieces:count 2-5} pièces|bel appart. de {pieces:count 2-5} pièces]|#type=studio:[studio|une pièce avec coin cuisine]|#type=maison:[maison {pieces:count 4-8} pièces|pavillon de {pieces:count 4-8} pièces]] de {surface:number 15-180 0} m²[, {etage:floor}|][, {dpe:words cave/balcon/parking/jardin/terrasse/cheminée/cuisine équipée}[ et {dpe2:words cave/grenier/garage/véranda}|]|].
[#asc=yes:[Avec ascenseur.|Ascenseur dans l'immeuble.]|#asc=no:[Sans ascenseur.|On monte à pied.]|] [#meuble=yes:[Meublé.|Il ne manque que votre valise.]|#meuble=no:[Vide.|Non meublé.|Sans meubles.]|] [#animaux=yes:[Votre chat est le bienvenu.|Animaux acceptés.]|#animaux=no:[Pas d'animaux.|Les chiens ne sont pas admis.]|] [Classe énergie {classe:words A/B/C/D/E/F/G}.|DPE : {classe:words A/B/C/D/E/F/G}.|]
[Loyer|Prix|Loyer mensuel][ : | ]{prix:money 350-2500}[ hors charges, charges {charges:money 30-250}| + {charges:money 30-250} de charges| CC|]. [Dépôt de garantie : {depot:money 300-3000}.|Caution {depot:money 300-3000}.|] [Libre le {libre:later 5-120}.|Disponible à partir du {libre:later 5-120}.|Libre de suite.] [#agence=yes:[Honoraires {frais:money 100-1500}.|Frais d'agence : {frais:money 100-1500}.]|#agence=no:[Sans frais d'agence.|De particulier à particulier.]|] [Visite le {visite:later 1-4}[ à {heure:time 9-19}|].|Visites sur rendez-vous.|]
[{contact:name}, {tel:tel}|Tél. {tel:tel}|{mail:email}|Agence {ag:company}, {tel:tel}]. [L'ancien loyer était de {:money 300-1500}.|Le voisin loue aussi, {:money 300-1500}.|]
""",
        """
ville|city ; ville
quartier|district ; quartier
type_bien|property_type|type ; type=appartement/apartment,studio,maison/house
pieces|rooms|nombre_de_pieces ; pieces
surface|area_sqm ; surface
etage|floor ; etage
atouts|features ; dpe+dpe2 ; dans l'ordre|in order
ascenseur|lift ; asc?
meuble|furnished ; meuble?
animaux_acceptes|pets_allowed ; animaux?
classe_energie|energy_class ; classe
loyer|prix|price|rent ; prix
charges|utilities ; charges
depot_de_garantie|deposit|caution ; depot
disponible_le|available_from ; libre ; null si libre de suite|null if free at once
frais_agence|has_agency_fee ; agence? ; Faut-il payer une agence
montant_frais|agency_fee ; frais
date_visite|viewing_date ; visite
heure_visite|viewing_time ; heure
contact ; contact
agence|agency ; ag
telephone|phone ; tel
email ; mail
devise|currency ; $
""",
        "fr",
    ),
    Scene(
        "complaint",
        """
[Estimados señores:|Hola:|Buenos días:|A quien corresponda:]

[Les escribo por|Tengo un problema:|Se trata de lo siguiente:|El motivo de este correo es] {que:words el paquete que no ha llegado/la lavadora que pierde agua/la factura que no entiendo/el móvil con la pantalla rota/la reserva que desapareció/las botas que se despegan/la línea que se corta cada noche/el sofá manchado}[, pedido {ped:code ######|@@-####}|][, cliente {cli:code K-####|#######}|]. [Lo compré el {compra:earlier 5-120}[ por {precio:money 10-900}|][ en {tienda:city}|].|Pagué {precio:money 10-900}.|]
[#tono=enfadado:[¡Esto es una vergüenza!|Estoy harto de esperar.|Es la tercera vez que escribo.|Nunca me habían tratado así.]|#tono=amable:[Sé que hacen lo que pueden.|Siempre he estado contento con ustedes.|Perdonen la molestia.]|#tono=neutro:[Paso a explicar los hechos.|Les informo de lo siguiente.]|] [Ya he llamado {veces:count 2-9} veces.|Su compañera {agente:name} prometió llamarme.|]
[#quiere=reembolso:[Devuélvanme el dinero.|Quiero que me abonen lo pagado.|Espero el importe en mi cuenta.]|#quiere=cambio:[Mándenme otro, por favor.|Quiero uno nuevo.|Cámbienlo por uno que funcione.]|#quiere=reparacion:[Que venga un técnico.|Arréglenlo, por favor.|Díganme dónde lo reparan.]|#quiere=baja:[Doy de baja mi contrato[ el {fin:later 10-60}|].|Quiero dejar de ser cliente.]|#quiere=informacion:[¿Me lo pueden explicar?|¿Qué ha pasado?|¿Cómo debo proceder?]] [Espero su respuesta antes del {plazo:later 3-20}.|Tienen {dias:days}.|] [#abogado=yes:[Si no, hablaré con mi abogada.|De lo contrario iré a los tribunales.]||] [#urge=yes:[Lo necesito ya.|No puedo esperar más.]|#urge=no:[No corre prisa.|Sin prisas.]|]
[Un saludo|Atentamente|Saludos cordiales],
{quien:name}
[{tel:tel}|{mail:email}|{dir:address}|]
""",
        """
cliente|nombre|customer ; quien
problema|asunto|issue ; que ; como está escrito|as written
numero_pedido|order_number ; ped
numero_cliente|customer_number ; cli
fecha_compra|purchase_date ; compra
precio|price ; precio
tienda|ciudad_tienda|store_city ; tienda
tono|sentiment ; tono=enfadado/angry/negative,amable/friendly/positive,neutro/neutral ; Tono del cliente
llamadas|calls_made ; veces
agente|agent ; agente
solicita|requested_action|quiere ; quiere=reembolso/refund,cambio/replacement,reparacion/repair,baja/cancellation,informacion/information ; Lo que pide el cliente
fecha_baja|contract_end ; fin
plazo|deadline ; plazo
plazo_dias|days_given ; dias
amenaza_legal|legal_threat ; abogado?
urgente|is_urgent ; urge?
telefono|phone ; tel
email|correo ; mail
direccion|address ; dir
moneda|currency ; $
""",
        "es",
    ),
)
