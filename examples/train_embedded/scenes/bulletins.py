"""Scenes: parcels on their way, adverts of posts, programmes that change, alerts of a bank, tills, viewings, calls."""

from .scene import Scene

_FIELD = "comptabilité/menuiserie/petite enfance/logistique/pâtisserie/maintenance/accueil/radiologie/développement web"

SCENES = (
    Scene(
        "order",
        """
[#st=sent:[On its way|Left our warehouse this morning]|#st=partial:[The first half of your order is rolling|Not all fitted into one van]|#st=ready:[You can fetch it|Waiting for you at the counter]|#st=on_hold:[Stuck at customs|The carrier has put your goods aside]] – {no:code ######-#|@@####|##/#####}

[{day:today}|Sent on {day:today}]. [Dear|Hello] {who:person}, [what you bought|your order] on {od:earlier 2-30} [from|at] {shop:company}:

<parcels 1-4:[Parcel|Box] {pn:code @#|##/@|#@}: {what:list goods 1-3}[ – {w:measure 1-28 kg}|] – {car:words DHL/UPS/GLS/DPD/FedEx/PostNL/Correos/Evri}[, track it with {tr:code ##########|@@#########@@|####-####-##}|]>

[?st=sent?st=partial:[Expect it|It should arrive] [on {eta:later 1-6}[, between {w1:time 7-12} and {w2:time 13-20}|]|by {eta:later 2-9}[ (we had promised {prom:later 1-1})|]].|?st=ready:[Keep in mind: after {keep:later 7-14} it goes back.|We hold it until {keep:later 7-14}.] The code is {pick:code ####|@##@}.|?st=on_hold:[They still want {doc:words an invoice/a tax number/a copy of your passport/the duty of 12 per cent}.|Nobody can name a day yet.]]
[?st=partial:[Missing:|To follow:] {miss:of product}[, [probably|we hope] {later:later 12-40}|, no date yet].|]
[?st=sent?st=partial:[#safe=neighbour:[If nobody opens, {neigh:name} next door signs for it.|You allowed us to ring at {neigh:name}'s.]|#safe=safe_place:[The driver may put it {spot:words behind the shed/in the porch/under the stairs/by the bins/in the greenhouse}.|As wished, it is left {spot:words behind the shed/in the porch/under the stairs/in the greenhouse}.]|#safe=signature:[Somebody of age must sign.|Only handed over against a signature.]|] [To: {adr:address}|Goes to {adr:address}, as you asked].|?st=ready?st=on_hold:]
 [Shipping was {sc:money 3-30}[, the goods {goods:money 31-900}|].|Goods worth {goods:money 31-900}, postage {sc:money 3-30}.|] [Something wrong? {tel:phone}, reference {ref:code ###-@@@|S#####}.|]
""",
        """
status|shipping_status|state ; st=sent/shipped/in_transit,partial/partially_shipped,ready/ready_for_pickup,on_hold/exception
order_number|order_id ; no
notice_date|date|sent_on ; day
customer|recipient ; who
ordered_on|order_date ; od
shop|seller ; shop
parcels|packages|shipments ; parcels*
parcel_number|box ; parcels.pn
contents|items ; parcels.what
weight_kg ; parcels.w
carrier|courier ; parcels.car
tracking_number|tracking_code ; parcels.tr
expected_on|eta|delivery_date ; eta ; Not the day that was promised before
promised_date|originally_promised ; prom
window_start|earliest_time ; w1
window_end|latest_time ; w2
pickup_until|held_until ; keep
pickup_code ; pick
missing_document|customs_needs ; doc ; as written
missing_item|back_ordered|to_follow ; miss
missing_item_expected|backorder_date ; later
handover|if_absent|delivery_preference ; safe=neighbour/leave_with_neighbour,safe_place,signature/signature_required
neighbour ; neigh
safe_place|drop_off_spot ; spot
delivery_address|ship_to ; adr
shipping_cost|postage ; sc
goods_value ; goods
support_phone|phone ; tel
reference|case_reference ; ref
currency ; $
""",
        weight=1.5,
    ),
    Scene(
        "job",
        f"""
{{firme:company}} [cherche :|embauche :|agrandit son équipe :] {{poste:words comptable/cheffe de rang/menuisier/développeuse/cariste/éducatrice/technicien de maintenance/infirmière}} [(H/F)|(tous profils)|] [– réf. {{ref:code @@-###|####-##|RH###}}|]

[À {{ville:city}}|Basés à {{ville:city}}][, avec une autre équipe à {{:city}}|], [notre domaine :|secteur :] {{dom:words {_FIELD}}}. [#tele=sur_site:[Le poste s'exerce sur place.|Pas de travail à la maison, désolés.]|#tele=partiel:[Deux jours par semaine chez vous.|On se voit au bureau trois jours sur cinq.]|#tele=total:[Travaillez d'où vous voulez.|Nos bureaux ? Votre salon.]|]
[#ctr=cdi:[Engagement sans date de fin|Contrat durable]|#ctr=cdd:[Remplacement de {{mois:months}}|Mission de {{mois:months}}, prolongation non prévue]|#ctr=stage:[Pour valider vos études, {{mois:months}}|Convention avec votre école]|#ctr=alternance:[En alternance avec votre formation|Une semaine à l'école, trois chez nous]], {{h:number 17-39 1}} h[eures|] par semaine[, [à partir du|dès le] {{deb:later 20-120}}|, dès que possible]. [?ctr=cdi?ctr=cdd:[#niv=debutant:[Première expérience bienvenue.|On vous apprend tout.]|#niv=confirme:[Il faut {{exp:count 2-5}} ans de pratique.|{{exp:count 2-5}} années dans le métier au moins.]|#niv=senior:[Vous dirigez déjà une équipe[ de {{eq:count 3-20}} personnes|].|Plus de {{exp:count 8-15}} ans derrière vous.]|]|?ctr=stage?ctr=alternance:]
[Salaire|Rémunération] : [{{min:grand 22-38}} à {{max:grand 39-70}} par an|{{mens:money 1500-4200}} par mois][, {{prime:words treizième mois/tickets restaurant/mutuelle/voiture de service/prime d'été}} en plus|].
[Il vous faut|Nous attendons|Vous apportez] : {{d1:words le permis B/l'anglais courant/un CAP/Excel}}, {{d2:words de la patience/le goût du contact/le sens du détail}}[ et {{d3:words une bonne condition physique/un diplôme d'État/un casier vierge}}|].
[Écrire|CV] à {{rh:name}}, {{mail:email}}[, avant le {{lim:later 10-50}}|]. [Entretiens le {{ent:later 51-70}}.|] [Questions : {{tel:phone}}.|]
""",
        """
entreprise|employeur|company ; firme
poste|intitule|job_title ; poste
reference|ref_annonce ; ref
ville|lieu_de_travail|location ; ville ; Du poste
domaine|secteur ; dom
teletravail|remote ; tele=sur_site/onsite,partiel/hybride/hybrid,total/a_distance/remote
contrat|type_contrat|contract_type ; ctr=cdi/permanent,cdd/fixed_term,stage/internship,alternance/apprenticeship
duree_mois|duree_contrat ; mois
heures_par_semaine|temps_hebdomadaire ; h
date_debut|debut|start_date ; deb
niveau|seniority ; niv=debutant/junior,confirme/mid,senior/lead
annees_experience|experience_min ; exp
taille_equipe ; eq
salaire_min ; min ; Par an
salaire_max ; max ; Par an
salaire_mensuel ; mens
avantage|avantages ; prime
exigences|profil|criteres ; d1+d2+d3
contact|recruteur ; rh
email|courriel ; mail
candidature_avant|date_limite ; lim
entretiens_le ; ent
telephone ; tel
devise|currency ; $
""",
        language="fr",
        weight=1.5,
    ),
    Scene(
        "event",
        """
## [What is on – and what is not|Changes to our programme|Please correct your diaries]
*{house:place}, [as of|printed] {day:today}*

<events 2-5:[* |- |• ]**{what:of meeting}**[#s=moved:: [not on {old:later 2-20} but {when:later 21-60}|pushed from {old:later 2-20} to {when:later 21-60}]|#s=cancelled:, {when:later 2-40}: [will not take place|has been struck, the speaker is ill]|#s=sold_out:, {when:later 2-40}: [no seats left|every chair is taken[, {wait:count 2-30} people hope for one|]]|#s=as_planned:, {when:later 2-40}: [nothing changes|there is still room]|#s=new:, {when:later 2-40}: [added on request|a second evening, since the first was so popular]][ ({t:time 9-20})| from {t:time 9-20}|][, {where:room}|][, {p:money 3-60}|]>

[Money back|Refunds] [until {ref:later 10-30}|for four weeks] [at the box office|by mail to {mail:email}]. [Tickets already bought [stay valid|remain good].|] [[Members|Friends of the house] pay {mem:money 2-20}, under {age:age 6-18} it is free.|Reduced: {red:money 2-20} for students.] [Join the next trip to {trip:city}: sign up with {guide:name} before {su:later 5-25}.|] [House closed from {c1:later 60-70} to {c2:later 75-100}.|] [Box office {tel:phone}, {o1:time 9-12} to {o2:time 16-20}.|]
""",
        """
venue|house|organiser ; house
as_of|issue_date ; day
events|programme|dates ; events*
title|event|name ; events.what
status|change ; events.s=moved/postponed/rescheduled,cancelled/dropped,sold_out/full,as_planned/unchanged,new/additional
date|takes_place_on|current_date ; events.when ; The date that counts, for a dropped event the one it had
original_date|previous_date ; events.old
waiting_list|waiting ; events.wait
start_time|begins_at ; events.t
room ; events.where
price|ticket_price ; events.p
refund_until|refund_deadline ; ref
refund_email ; mail
member_price ; mem
student_price|reduced_price ; red
free_under_age ; age
trip_destination ; trip
trip_contact ; guide
trip_sign_up_by|trip_deadline ; su
closed_from ; c1
closed_until ; c2
box_office_phone|phone ; tel
opens_at ; o1
closes_at ; o2
currency ; $
""",
        weight=1.5,
    ),
    Scene(
        "bank",
        """
[{bank:words Northfield/Cassia/Tillbank/Ostara/Ridgeway/Kontor} [Bank|]|{bank:words Meridia/Halden/Pinnace/Lindbank}] [alerts|messages] [for|to] {who:name}[, {day:today}|]

<alerts 2-5:{t:time 6-22} [#k=card:[You spent {a:money 3-400} at {m:of merchant}|{m:of merchant} took {a:money 3-400} from your card]|#k=debit:[{m:company} has drawn {a:money 9-300}|{a:money 9-300} went out to {m:company}, mandate {:code M#####}]|#k=incoming:[{m:name} sent you {a:money 20-3000}|{a:money 20-3000} arrived from {m:name}]|#k=cash_withdrawal:[{a:money 20-500} in notes, {m:words Station Road/Market Square/Airport T2/Harbour Street}|You took out {a:money 20-500} at {m:words Station Road/Market Square/Airport T2}]][?k=card?k=cash_withdrawal:[ [with|on] card \\*{c:code ####}|]|?k=incoming?k=debit:]. [#ok=no?k=card?k=debit?k=cash_withdrawal:[We said no: {why:words wrong PIN/limit reached/card expired/unusual country/not enough money}.|Turned down ({why:words wrong PIN/limit reached/card expired/unusual country}).]|#ok=yes:[Gone through.|Done.|Left: {b:money 10-9000}.]]>

[#fraud=yes:[Was the last one really you? Reply N if not, or ring {tel:phone}.|The last payment looks odd to us: call {tel:phone}.]|#fraud=no:[All of it fits your habits.|Nothing unusual today.]|] [Your daily limit is now {lim:money 500-5000}[ instead of {ol:money 100-499}|], from {lf:later 1-5}.|] [Overdraft: {od:money 200-3000} at {rate:percent}.|] [#blocked=yes:[Until we hear from you the card stays shut.|Card frozen; a new one comes within {nw:days}.]|#blocked=no:Your card keeps working.|] [We never ask for your PIN.|]
""",
        """
bank|sender ; bank
account_holder|customer|recipient ; who
date|day ; day
alerts|transactions|messages ; alerts*
time|at ; alerts.t
type|kind ; alerts.k=card/card_payment/purchase,debit/direct_debit,incoming/credit_transfer,cash_withdrawal/withdrawal
amount ; alerts.a
counterparty|merchant_or_payer|other_side|place_or_party ; alerts.m
card_ending|card_last4 ; alerts.c
approved|successful|went_through ; alerts.ok?
decline_reason|reason_for_refusal ; alerts.why
balance_after|balance ; alerts.b
fraud_suspected|is_suspicious ; fraud?
fraud_phone|call_number ; tel
new_daily_limit|daily_limit ; lim
old_daily_limit|previous_limit ; ol
limit_valid_from ; lf
overdraft|overdraft_limit ; od
overdraft_rate|overdraft_interest_percent ; rate
card_blocked|is_card_blocked ; blocked?
new_card_in_days ; nw
currency ; $
""",
        weight=1.5,
    ),
    Scene(
        "receipt",
        """
  {cafe:of merchant}[
  {adr:address}|]
[Table|Tisch|Tab] {tab:count 1-40}[ / {g:count 1-9} guests|][   served by {srv:name}|]
{day:today}  {t:time 7-22}[   #{no:code ####|##-####|@###}|]
..............................
<lines 1-6:[{q:number 1-4 0}x |{q:number 1-4 0} ]{what:dish}[ ({opt:words oat milk/no onions/extra hot/to share/half portion/gluten-free})|]  {p:amount 2-28}>
..............................
[SUBTOTAL|Food and drink|Sum] {sub:total lines.p}[
[Tax|VAT|On top] {rate:vat}: {vat:share sub rate}|][
[Happy hour|Voucher|Staff meal] -{disc:share sub 5-20}|][
[Service|Cover] {svc:share sub 5-15}|]
[TO PAY|Amount due|TOTAL] {all:total sub vat svc -disc}
[#pay=cash:[[Back|Your change]: {chg:money 1-9} out of {cash:total all chg} in notes|Returned {chg:money 1-9}, handed over {cash:total all chg}]|#pay=card:[Tapped, Visa ..{c4:code ####}|Mastercard ending {c4:code ####}, PIN OK]|#pay=app:[QR scanned|Paid in our app]|#pay=room:[Goes on room {room:count 101-699}|Guest of the house, room {room:count 101-699}]][?pay=card?pay=app:[
[Tip|Gratuity|Something extra]: {tip:money 1-9}[ → charged {ch:total all tip}|]|]|?pay=cash?pay=room:]
[[Stamps|Points] today {pt:count 1-20}[, now {ptall:count 21-300} on your card|][; a free coffee at {goal:count 301-400}|].|] [Wifi: {wifi:code @@##@@##|####@@}.|] [#go=yes:[In our cups to carry|Wrapped up to take along]|#go=no:[Eaten here|Terrace]|] [Tax no. {tax:code ##/###/#####}|]
""",
        """
merchant|cafe|restaurant ; cafe
address ; adr
table|table_number ; tab
guests|covers ; g
served_by|waiter|server ; srv
date ; day
time|printed_at ; t
receipt_number|check_number ; no
items|lines ; lines*
quantity|qty ; lines.q
item|name|dish ; lines.what
option|request|note ; lines.opt
price|amount|line_total ; lines.p
subtotal ; sub
discount|deduction ; disc
service_charge ; svc
total|amount_due ; all ; Without the tip
vat_percent|vat_rate ; rate
vat_amount|tax ; vat
payment_method|paid_by ; pay=cash,card/card_payment,app/mobile,room/room_charge
cash_given|tendered ; cash
change|change_given ; chg
card_last4|card_ending ; c4
room_number ; room
tip|gratuity ; tip
charged|total_with_tip ; ch
points_earned|points_today ; pt
points_balance ; ptall
points_for_reward ; goal
wifi_password ; wifi
takeaway|to_go ; go?
tax_number ; tax
currency ; $
""",
        weight=1.5,
    ),
)
