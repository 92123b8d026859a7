"""Scenes: comparisons, recalls, chats with recruiters, concerts and reminders that add up."""

from .scene import Scene

SCENES = (
    Scene(
        "product",
        """
[Which one should you buy?|Three on the bench|We tried them side by side]: {cat:of appliance}
[Tested by|Text:] {by:name}, {day:date}

<models 2-4:[- |* |]{br:brand} – {p:money 20-690}[ ([list price|was] {:money 691-900})|], {w:measure 1-19 kg}, {db:number 31-88 0} dB[, {watt:number 300-2400 0} W|]; [warranty {wa:months}|no word on a warranty]. [#f=good:[A joy to use|We would keep it]|#f=average:[Does the job, no more|Neither hot nor cold]|#f=poor:[Went back the same day|We gave up after an hour]][, though {con:of con}|][?f=good:: {st:stars 4-5}|?f=average:: {st:stars 3-3}|?f=poor:: {st:stars 1-2}|]>

[The race goes to|If we had to choose:] {win:words the first/the second/the cheapest one/the lightest one}[, because it {why:words is easy to clean/never overheats/makes the least noise/needs little room}|]. [Avoid {bad:words the last one/anything without a fuse/imports without a manual}.|] [#lent=no:All were [paid for|bought] by us, {sum:total models.p} together.|#lent=yes:The makers lent us all of them.|#lent=yes:Each was on loan and has been sent back.|#lent=no:We went to the shop like everybody else.] [Test took {dur:days}.|] [Next month: {next:of appliance}.|]
""",
        """
category|product_type|tested_products ; cat
tester|author ; by
published_on|date ; day
models|products|candidates ; models*
name|model ; models.br
price|street_price ; models.p ; What it costs now
weight_kg ; models.w
noise_db|noise_level ; models.db
power_w|watts ; models.watt
warranty_months|warranty ; models.wa
judgement|verdict ; models.f=good/recommended,average/acceptable,poor/not_recommended
drawback|weakness ; models.con
rating|stars ; models.st
winner|recommendation ; win
reason_for_choice ; why
avoid ; bad
total_spent|cost_of_all ; sum
products_on_loan|lent_by_makers ; lent?
test_days|test_duration ; dur
next_test ; next
currency ; $
""",
        weight=1.5,
    ),
    Scene(
        "product",
        """
[Rückruf|Vorsicht|Wichtiger Hinweis für Kunden]: {was:of ding} „{name:brand}“

{firma:company} [nimmt zurück|bittet um Rückgabe][, {tag:today}|]. [Grund|Warum]: [#g=brand:[Ein Kabel kann so heiß werden, dass es glimmt|Bei zwei Kunden kam Rauch aus dem Gehäuse]|#g=verletzung:[Eine Kante ist scharf wie ein Messer|Der Griff bricht und man stürzt]|#g=gift:[Der Lack enthält mehr Blei als erlaubt|Im Kunststoff steckt zu viel Weichmacher]|#g=strom:[Das Gehäuse kann unter Spannung stehen|Wer es anfasst, kann einen Schlag bekommen]].
[Betroffen|Es geht um]: [Charge|Los] {los:code L####|##-@@-##|@####}[ bis {los2:code L####|##-@@-##}|], verkauft [vom {v:earlier 60-300} bis {b:earlier 10-50}|seit {v:earlier 60-300}] [bei|in Filialen von] {laden:company}[, [rund|etwa] {anz:number 200-9000 0} Stück|]. [Nicht betroffen: Charge {:code L####|##-@@-##}.|] [Die Nummer steht {wo:words am Boden/auf dem Netzstecker/unter dem Etikett/an der Rückseite}.|]
[#n=yes:[Bis dahin dürfen Sie das Gerät weiter gebrauchen.|Wer vorsichtig ist, kann es noch nutzen.]|#n=no:[Sofort ausstecken!|Bitte rühren Sie es nicht mehr an.]] [#e=geld:[Sie bekommen {preis:money 9-290} zurück|Der Kaufpreis von {preis:money 9-290} wird überwiesen]|#e=tausch:[Sie erhalten ein neues Stück|Der Laden gibt Ihnen Ersatz]|#e=reparatur:[Wir bauen ein neues Teil ein|Ein Techniker bessert nach]]. [#bon=no:[Einen Kassenzettel brauchen Sie nicht.|Auch ohne Beleg.]|#bon=yes:[Bringen Sie den Kassenzettel mit.|Nur mit Beleg.]|]
[Bislang|Bisher] [kam niemand zu Schaden|gab es {fall:count 1-9} Verletzte]. [Frist: {frist:later 30-180}.|] Fragen: {tel:phone}[ ({t1:time 7-10} bis {t2:time 15-19})|][, {mail:email}|].
""",
        """
produkt|artikel ; was
modell|produktname|marke ; name
hersteller|firma ; firma
datum|rueckruf_vom ; tag
gefahr|grund|risiko ; g=brand/brandgefahr,verletzung/verletzungsgefahr,gift/schadstoffe,strom/stromschlag
charge|chargennummer|los ; los ; Die erste betroffene
letzte_charge|charge_bis ; los2
verkauft_ab|verkauft_seit ; v
verkauft_bis ; b
haendler|verkauft_bei ; laden
stueckzahl|anzahl ; anz
wo_steht_die_nummer|fundstelle ; wo
weiter_nutzbar|nutzung_erlaubt ; n?
entschaedigung|ersatz|massnahme ; e=geld/erstattung,tausch/umtausch,reparatur
erstattung|betrag ; preis
kassenzettel_noetig|beleg_noetig ; bon?
verletzte ; fall
frist|rueckgabe_bis ; frist
telefon|hotline ; tel
erreichbar_ab ; t1
erreichbar_bis ; t2
email ; mail
waehrung ; $
""",
        language="de",
        weight=1.5,
    ),
    Scene(
        "job",
        """
{day:today}
[{t:time 7-20} |]{rec:name}: [Hi|Hello|Hey] {who.given}, [I saw your profile|a friend of yours, {ref:name}, gave me your name]. [We|At {firm:company} we] [look for|need] someone: {role:of role}, {town:city}. [Interested?|Is that something for you?]
{who:name}: [Maybe|It depends]. [How much|What does it pay], and [from where|do I have to move]?
{rec.given}: [{lo:grand 32-58} to {hi:grand 59-120}|up to {hi:grand 59-120}] [a year|gross][, {bon:number 5-20 0} % bonus|][ – the advert with {:grand 20-31} is out of date|]. [#rem=remote:[Sit wherever you like.|Nobody has a desk here.]|#rem=hybrid:[Tuesdays and Thursdays with us, the rest as you please.|{od:count 1-4} days in {town}, otherwise your sofa.]|#rem=on_site:[Here, every day, it is lab work.|You would have to be in {town} all week.]]
{who.given}: [#con=permanent:[And after a year?|Will it last?] {rec.given}: [No end date.|It stays yours.]|#con=fixed_term:[How long?] {rec.given}: [{len:months}, then we see.|Cover for a colleague, {len:months}.]|#con=freelance:[Employed?] {rec.given}: [No, you send us a bill every month.|Day rate, your own company.]]
{who.given}: [Hours?] {rec.given}: {h:number 20-40 0} a week[, {hol:count 24-36} days off|]. [#lvl=junior:[Fresh from university is fine.|We teach you the rest.]|#lvl=senior:[You would be the one whom others ask.|{yrs:count 7-15} years, please.]|#lvl=lead:[A team of {team:count 3-25} would report to you.|You hire your own people, {team:count 3-25} so far.]] [Must have: <musts 2-4, :{m:of skill}>.|]
{who.given}: [#ans=yes:[Count me in|Sounds good, go on]|#ans=no:[Thanks, I am happy where I am|Too far, sorry]|#ans=later:[Ask me again in spring|Not before my project ends]][?ans=yes:. [Could start|Free from] {start:later 20-150}.|?ans=no:.|?ans=later:, {from:later 60-200} or so.]
{rec.given}: [OK|Noted]. [Send a CV to {mail:email} by {by:later 2-15}.|{tel:phone} if you want to talk.|]
""",
        """
recruiter|contact ; rec
chat_date|sent_on ; day
sent_at ; t
referred_by|referrer ; ref
company|employer ; firm
job_title|position|role ; role
location|city ; town
candidate|person_contacted ; who
salary_min|min_salary ; lo
salary_max|max_salary ; hi ; Not what the old advert says
bonus_percent|bonus ; bon
work_mode|workplace ; rem=remote/fully_remote,hybrid,on_site/office
office_days_per_week ; od
contract_type|employment_type ; con=permanent/open_ended,fixed_term/temporary,freelance/contractor
contract_months|contract_length ; len
weekly_hours|hours_per_week ; h
holidays|vacation_days ; hol
seniority|level ; lvl=junior/entry,senior,lead/manager
min_years|years_of_experience ; yrs
team_size ; team
requirements|must_haves ; musts*
requirement|skill ; musts.m
reply|candidate_interest ; ans=yes/interested,no/not_interested/declined,later/not_now
can_start_on|available_from ; start
ask_again_on|contact_again ; from
email|send_cv_to ; mail
apply_by|cv_deadline ; by
phone ; tel
currency ; $
""",
        weight=1.5,
    ),
    Scene(
        "event",
        """
[★ |]{banda:of band} [en concierto|en directo]
{sala:company}, {ciudad:city}
{d:later 10-90}[ (cambia del {dv:later 1-9})|] · puertas {hp:time 17-19}, [música|empieza] {h:time 20-23}

<zonas 2-4:{z:words Pista/Grada alta/Palco/Platea/Anfiteatro/Mesa con cena/Zona A/Zona B/Tribuna norte/Tribuna sur/Fila cero/Gallinero/Balcón/Foso}: {p:money 12-140}[ (quedan {q:number 4-60 0})| – agotado|]>
[Menores de {edad:age 6-16} años: gratis.|] [Socios: {des:number 5-40 0} % menos[ con el código {cod:code @@@##|@####}|].|] [Gastos de gestión: {gas:money 1-6}.|]
[#s=yes:[Todos tendrán silla.|Butacas numeradas.]|#s=no:[De pie.|Sin sillas, para bailar.]|] [#ed=todos:[Vengan con los niños.|Apto para toda la familia.]|#ed=adultos:[Solo con DNI de mayor de edad.|A partir de dieciocho.]|] [Abre la noche {tel:of band}.|] [#ll=techo:[Si llueve, nos vamos al pabellón.|Con lluvia, bajo techo.]|#ll=anula:[Si llueve, devolvemos el dinero.|Con tormenta no hay concierto.]|#ll=igual:[Llueva o no, tocan.|La lluvia no nos para.]|] [Venta hasta el {v:later 1-9} en {web:url}.|Reservas: {mail:email}, {tlf:phone}.] [Organiza {org:name}.|]
""",
        """
artista|grupo|banda ; banda
sala|lugar|recinto ; sala
ciudad ; ciudad
fecha|dia ; d ; La que vale
fecha_anterior ; dv
apertura_puertas|puertas ; hp
hora_inicio|comienzo ; h
zonas|entradas|precios ; zonas*
zona|categoria ; zonas.z
precio ; zonas.p
quedan|disponibles ; zonas.q
gratis_hasta_edad|gratis_menores_de ; edad
descuento_socios ; des
codigo_descuento ; cod
gastos_gestion ; gas
con_asiento|asientos ; s?
publico|edades ; ed=todos/familiar,adultos/mayores_de_edad
telonero|artista_invitado ; tel
si_llueve|plan_lluvia ; ll=techo/bajo_techo,anula/se_cancela,igual/se_mantiene
venta_hasta ; v
web|enlace ; web
correo|email ; mail
telefono ; tlf
organizador ; org
moneda ; $
""",
        language="es",
        weight=1.5,
    ),
    Scene(
        "invoice",
        """
[PAYMENT REMINDER|Still open|A word about your account][ ({lvl:words first/second/third/last} notice)|]
{cred:company} to {deb:company}[, attn. {att:name}|], {day:today}

<bills 1-4:{no:code ##-####|R#####|@@###} of {bd:earlier 40-120}, due {bdue:earlier 5-39}: {a:money 40-1900}>
[Together|That is] {sum:total bills.a}. [Your payment of {pp:share sum 10-60} [on {pd:earlier 1-4}|] [is taken off|has been counted].|] [[Late fee|Costs of this letter]: {fee:money 5-60}.|] [[Credit note|We owe you] {cn:code CN-###|C####}: {cr:share sum 3-15} [for {back:goods} returned|since a price was wrong].|]
[Now open|To be paid]: {open:total sum fee -pp -cr}, [by {due:later 5-20}|within ten days, by {due:later 10-10}], [to|account] {iban:iban}.
[#next=lawyer:[After that our solicitor takes over|Our patience ends there; the rest is for the court]|#next=stop:[Otherwise no more goods leave our yard for you|We hold back {hold:of product} until then]|#next=none:[If you have paid meanwhile, forget these lines|No hard feelings, these things happen]]. [#rate=yes:[Need time? We accept {rn:number 2-6 0} parts.|You may split it in {rn:number 2-6 0}.]|#rate=no:[Please in one go.|We cannot offer parts.]|] [{clerk:name}, {tel:phone}|{clerk:name}, {mail:email}]
""",
        """
creditor|issuer|vendor ; cred
debtor|customer ; deb
attention_of|contact_at_customer ; att
reminder_level|notice ; lvl
reminder_date|date ; day
invoices|open_invoices|bills ; bills*
invoice_number|number ; bills.no
invoice_date|date ; bills.bd
due_date|was_due_on ; bills.bdue
amount|invoice_amount ; bills.a
sum_of_invoices|original_total ; sum
partial_payment|already_paid ; pp
partial_payment_on ; pd
late_fee|reminder_fee ; fee
credit_note|credit_note_number ; cn
credit|credit_amount ; cr
returned_goods ; back
amount_due|open_amount|outstanding ; open ; After payments, credits and fees
pay_by|new_due_date|payment_deadline ; due
iban ; iban
consequence|next_step|if_unpaid ; next=lawyer/legal_action,stop/delivery_stop,none/no_action
withheld_goods ; hold
instalments_possible|can_pay_in_parts ; rate?
max_instalments|number_of_parts ; rn
clerk|contact ; clerk
phone ; tel
email ; mail
currency ; $
""",
        weight=1.5,
    ),
)
