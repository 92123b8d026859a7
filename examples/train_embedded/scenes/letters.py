"""Scenes: signatures, requests, appointments and orders as people write them to each other."""

from .scene import Scene

SCENES = (
    Scene(
        "contact",
        """
[Hi {to.given},|Dear {to.given},|Hello,|{to.given},|Hi all,|Dear colleagues,|Good morning {to.given},]

[the {:goods} is attached|I have had a look at the {:goods}|thanks for your call yesterday|as discussed, here is the updated list|the {:subject} draft looks good to me]. [If you need help before {:later}, please ring the front desk ({:phone}) and not me, I am travelling.|Please copy {:name} ({:email}) next time.|I am out of the office until {:later}.|Can we talk on {:date} at {:time}?|{:clause}, so please be patient.]

[Best,|Kind regards,|Best wishes,|Thanks,|Cheers,|Yours sincerely,]
[{nick:words Jo/Sam/Kim/Toni/Max}|]
[--|]
[Dr. |Prof. ||||]{who:name}[, PhD|, M.Sc.||||]
[{role:job}
|][{dept:words Procurement/Sales/Research & Development/Legal/Marketing/Customer Service/Facilities/Human Resources/Logistics/Finance}
|]{firm:company}
[{addr:address}
|{road:street}
|]
[T: {tel:phone}|Tel. {tel:phone}|Phone {tel:phone} (direct)|office {tel:phone}|Desk: {tel:phone}|t {tel:phone}|]
[M: {cell:phone}|mobile {cell:phone}|Cell {cell:phone}|Mob. {cell:phone}|]
[Fax {fax:phone}|F: {fax:phone}||]
{mail:email}
[{web:url}|]
[Please consider the environment before printing.|Registered in England no. {:code ########}|VAT {:code GB ### #### ##}|This e-mail is confidential.|]
[
\\> From: {to.given} {to.family}
\\> Sent: {:today}
\\> Who do I call about the {:goods}? The number I have is {:phone}.|]
""",
        """
full_name|name|contact_name|person|sender_name ; who ; Name without academic titles|Name of the person who signs
job_title|title|role|position ; role ; Position as written
department|team|unit ; dept
company|organisation|organization|employer|firm ; firm ; Name of the company
email|email_address|mail ; mail ; Address in the signature
phone|landline|office_phone|telephone|desk_phone ; tel ; Desk or landline number, exactly as written
mobile|mobile_phone|cell|cell_phone ; cell ; Mobile number, exactly as written
fax|fax_number ; fax ; Fax number
website|url|homepage|web ; web
address|postal_address|office_address ; addr ; Postal address
street|street_address ; road
""",
    ),
    Scene(
        "contact",
        """
[{firm:company}
{line:words architecture & interiors/sound and light/legal advice/organic bakery/tax and audit/printing since 1921/garden design/physiotherapy/translations}|{firm:company}]

{who:name}
[{role:job}|Owner|Managing Partner]

[{road:street}, {town:city}|{addr:address}|{road:street}
{town:city}]

[phone|Tel|office|T|☎] [|: |. ]{tel:phone}
[[mobile|cell|M|Handy|gsm] {cell:phone}
|][[fax|F] {fax:phone}
|]
{mail:email}
[{other:words info/office/hello/studio}@{:words firm/mail/post/team}.example
|][www.{:words firm/studio/house/garden}.example|{web:url}|]
[Reg. no. {:code ########}|VAT {:code DE#########}|Open Mon-Fri 9-17|]
""",
        """
name|full_name|contact ; who
company|organisation|business|firm ; firm ; Company on the card
role|job_title|position ; role ; null if the card has none
phone|telephone|office ; tel ; as printed
mobile|cell ; cell ; Mobile number as printed
fax ; fax
email|mail ; mail ; First address on the card
city|town ; town
street|street_address ; road
website|url ; web
business_line|slogan|field ; line ; What the firm does, as written
""",
    ),
    Scene(
        "appointment",
        """
[Subject: {:words your appointment/reminder/visit/booking}

|]Dear {who:person},

[this is to confirm your appointment|we have booked you in|your [visit|session|consultation] has been [arranged|moved|rescheduled]] [with {doc:person}|with our colleague {doc:person}|] on {day:date} at {at:time}. [Please [come|arrive] {early:count 5-20} minutes early.|It will take about {len:duration}.|Please allow {len:duration}.|] [You find us at {where:address}.|The practice is in {room:room}.|We are at {where:address}, {room:room}.|]

[#moved=yes:(Your earlier date, {:date} at {:time}, has been cancelled.)|#moved=yes:The old slot on {:date} no longer stands.|#moved=no:|#moved=no:Nothing else has changed.] [#mode=video:We will see each other on screen; the link is {link:url}.|#mode=phone:You need not come in: we will ring you on {tel:phone}.|#mode=in_person:Please bring {bring:list goods 1-3}.|#mode=in_person:See you at the practice.] [#fasting=yes:Please do not eat or drink anything but water for eight hours before.|#fasting=no:You may eat normally beforehand.|]

[If you cannot make it, let us know by {cancel:earlier 1-5}[, otherwise we charge {fee:money 20-80}|]|To change it, call {desk:phone}|To cancel, write to {mail:email}].

[Kind regards,|With best wishes,]
{sign:name}
{firm:company}
""",
        """
patient|client|customer|attendee|name ; who ; Who the appointment is for, without title
practitioner|doctor|with|provider|consultant ; doc ; Who will be seen
date|day|appointment_date ; day ; Date of the appointment
time|start_time|starts_at ; at ; When it starts
duration|length ; len
arrive_early|minutes_early ; early ; Minutes to arrive before the start
address|location|where ; where
room ; room
rescheduled|is_rescheduled|moved|replaces_earlier ; moved? ; Was an earlier appointment replaced|true if this changes an earlier date
mode|type|format|kind ; mode=in_person/on_site,video/online,phone/telephone ; How it takes place
link|meeting_url|video_link ; link
fasting_required|fasting|must_fast ; fasting? ; Must the patient come without having eaten
cancel_by|cancellation_deadline ; cancel ; Last day to cancel
cancellation_fee|no_show_fee ; fee ; Charged for a late cancellation
bring|to_bring|please_bring ; bring ; What to bring, in order
organisation|practice|company ; firm
""",
    ),
    Scene(
        "appointment",
        """
[{a:name}|{a.given}]: [hey|hi|hello], can we [meet|talk|sit down] about {topic:subject} this week?
{b.given}: [sure|yes, gladly|ok], [tuesday|monday|i am free most days|any day but friday]?
{a.given}: [tuesday is bad, {:time} i have the dentist|that day i am in {:city}|hmm no]. what about {day:date}[?|, in the morning?|, early?]
{b.given}: {no:time} [is too early|doesn't work] for me, [rather|let's say] {at:time}?
{a.given}: [perfect|good|deal|works]. [#place=office:at the office|#place=video:on the usual video link|#place=phone:you call me|#place=cafe:in the café downstairs|#place=home:at my place]. [i'll book {len:duration}|we need {len:duration} at most|]
{b.given}: [should {c:name} join?|shall i ask {c:name} too?]
{a.given}: [#third=yes:yes please|#third=yes:absolutely|#third=no:no, just the two of us|#third=no:better not]. [and bring {bring:goods}|bring the {bring:goods} please|]
{b.given}: 👍 [{b:name}|]
""",
        """
topic|subject|about ; topic ; What they want to talk about
date|day|meeting_date ; day ; Agreed day
time|start_time ; at ; Agreed time
duration|length ; len
where|location|place|setting ; place=office,video/online/video_call,phone/phone_call,cafe,home/private_home ; Where they meet
third_person_joins|third_person_invited|guest_joins ; third? ; Will the third person that is mentioned take part
bring|to_bring ; bring ; What is to be brought
organizer|initiator|asked_by ; a ; Who proposes the meeting
""",
    ),
    Scene(
        "order",
        """
[Hello,|Hi {:name},|Dear customer,|Dear {who:person},|Good news, {who.given}!|Hi {who.given} -]

[#status=shipped:your order {id:code} [has left our warehouse|is on its way|went out today|was handed over to the carrier].|#status=delayed:I'm afraid order {id:code} [will take longer|can't be sent yet], because {why:reason}.|#status=delivered:order {id:code} [was handed over|arrived|has been left with a neighbour] on {got:earlier 1-5}.|#status=cancelled:as you wished, order {id:code} [has been called off|will not be carried out|is cancelled]; [nothing will be charged|your money is on its way back].|#status=confirmed:thank you! We have [received|noted] your order {id:code} and [are packing it|will get to work].|#status=returned:your return for order {id:code} has reached us.]

<items 1-5:[{qty:count 1-12} x {thing:goods}|{qty:count 1-12}x {thing:goods} ]  {price:money 2-300}>
[
Shipping {ship:money 3-15}
Total {total:money 20-900}|
Total: {total:money 20-900} (incl. {vat:percent} VAT)|
To pay: {total:money 20-900}|]

[[It travels|We send it|Sent] with {carrier:words DHL/UPS/Royal Mail/DPD/GLS/FedEx/Hermes/PostNord/our own van/La Poste/Chronopost}[, tracking {track:code @@#########@@|1Z##@@##########|##############}|].|]
[It should [be with you|arrive] by {eta:later}[ at the latest|].|Expected on {eta:later}.|Delivery between {:later 1-3} and {eta:later 4-20}.|We cannot give you a date yet.|]
[It goes to {addr:address}.|Delivery address: {addr:address}|]
[#paid=yes:[The amount has been charged to your card.|Payment received, thank you.|You paid by PayPal.]|#paid=no:[Please transfer the sum within {:count 7-30} days.|The invoice is still open.|You pay on delivery.]|]
[#gift=yes:As it is a present, we put no prices in the parcel.|#gift=yes:Your card "{:phrase}" goes on top of the wrapping.||]

[Best,|Kind regards,|Yours,]
{seller:company}
""",
        """
order_id|order_number|order_no|reference ; id ; Number of the order
customer|buyer|recipient ; who ; without title
status|order_status|state ; status=confirmed/received,shipped/in_transit,delivered,delayed/late,cancelled,returned ; Present state of the order
delay_reason|reason ; why ; Reason of the delay as written
carrier|shipped_with|courier ; carrier
tracking_number|tracking_code|tracking ; track
expected_delivery|eta|delivery_date|estimated_delivery ; eta ; Latest expected date
delivered_on|delivered_date ; got
shipping_cost|shipping|postage ; ship
total|total_amount|order_total|grand_total ; total ; Total to be paid
shipping_address|delivery_address|ship_to ; addr
paid|is_paid|payment_received ; paid? ; Has it been paid already
is_gift|gift ; gift? ; Is the order a present
seller|shop|merchant|vendor ; seller
currency ; $ ; ISO 4217
items|lines|articles|positions|products ; items* ; In order
name|item|product|article|description ; items.thing ; as written
quantity|qty|count|pieces ; items.qty
price|unit_price|amount ; items.price
""",
    ),
    Scene(
        "order",
        """
[hi|hello|Hi there|Good evening], [this is|here is|it's] {who:name}[ from {firm:company}|]. [we|I] [would like|want|need] to [order|reserve|get]:
[<items 1-4:{qty:count 2-40} {thing:goods}>|<items 1-4, and :{qty:count 2-40} {thing:goods}>]
[please not the {:goods} from last time.|last time it was {:money}, is that still right?|]
[#how=pickup:I'll come by and fetch [it|them] on {day:later} [around {at:time}|].|#how=pickup:We pick it up ourselves, {day:later}[, {at:time}|].|#how=delivery:Please bring it to {addr:address} [on {day:later}|by {day:later}][, before {at:time}|].|#how=post:You can put it in the post, no hurry. Address: {addr:address}.|#how=delivery:Can your driver drop it off at {addr:address}? {day:later} would be best.]
[#pay=invoice:As usual, send the bill afterwards.|#pay=cash:I'll have the money with me in notes.|#pay=card:Do you take Visa at the door?|#pay=transfer:I have already sent the money from my bank.|]
[#allergy=yes:Careful: one of us can't have nuts.|#urgent=yes:It's [really urgent|very pressing]!!|#urgent=no:Take your time.|]
[call me on {tel:phone} if something is missing|my number is {tel:phone}|{mail:email}|]
[thanks!|cheers|many thanks, {who.given}]
""",
        """
customer|name|ordered_by|contact ; who
company|organisation ; firm
items|order_lines|wanted|products ; items* ; in the order of the message
quantity|qty|amount ; items.qty
item|name|product|what ; items.thing ; as written
fulfilment|delivery_method|handover|shipping_method ; how=pickup/collection,delivery/courier,post/mail ; How the goods get to the customer
date|wanted_on|needed_by|day ; day
time|at ; at
address|delivery_address ; addr
payment|payment_method|pays_by ; pay=invoice/on_account,cash,card/credit_card,transfer/bank_transfer
urgent|is_urgent ; urgent? ; true if it is said to be urgent
phone|callback_number ; tel
email ; mail
""",
    ),
    Scene(
        "complaint",
        """
[{who:name}
{addr:address}

{day:today}

|]Dear [Sir or Madam|customer service|Ms {:name}|team],

[I am writing about|I want to complain about|this concerns] the {thing:goods} [that I bought|which I got|delivered] on {bought:earlier 5-120} [in your shop in {shop:city}|from your website|] for {price:money 10-900}[ (order {id:code})|, receipt no. {id:code}|]. [After only {:count 2-20} days|From the very first day|Since last week] [the|its] {fault:clause}. [Your colleague {agent:name} told me on the phone that {:reason}.|I called {:phone} twice without any luck.|I have already written to you on {:earlier 2-20}.|]

[#wants=refund:I do not want another one. Please pay me back the full price|#wants=refund:All I want is my money back|#wants=replacement:Please send me a new one instead|#wants=replacement:I expect you to exchange it|#wants=repair:Please have it mended at your expense|#wants=repair:Kindly tell me where to bring it so that it can be fixed|#wants=discount:I am willing to keep it if you take something off the price|#wants=apology:I do not need anything from you except that you say sorry] [by {until:later 5-30}|within {:count 7-21} days|]. [#lawyer=yes:Otherwise I shall hand the matter to my lawyer.|#lawyer=yes:If not, you will hear from my solicitor.|#lawyer=no:I trust that we can settle this between us.|]
[#photos=yes:Pictures of the damage are enclosed.|#photos=yes:I attach {:count 2-6} photos.||]

[Yours faithfully,|Yours,|Regards,]
{who:name}
[{tel:phone}|{mail:email}|]
""",
        """
complainant|customer|sender|from ; who
product|item|article ; thing ; What the complaint is about, as written
purchase_date|bought_on ; bought
store_city|shop_location ; shop
price|amount_paid ; price
order_number|receipt_number|reference ; id
problem|defect|fault ; fault ; The defect as written
contact_person|agent|spoke_to ; agent ; Member of staff that the customer spoke to
demand|wanted_remedy|requested_solution|wants ; wants=refund/money_back,replacement/exchange,repair,discount/price_reduction,apology ; What the customer asks for
deadline|answer_by ; until
legal_action_threatened|threatens_legal_action ; lawyer? ; Does the customer threaten with a lawyer
photos_attached|has_photos|evidence_attached ; photos? ; Are pictures enclosed
phone ; tel
email ; mail
""",
    ),
    Scene(
        "mail",
        """
From: {who:name} \\<{mail:email}>
[To: {box:email}
|To: {to:name} \\<{tomail:email}>
|]Date: {day:today}[, {at:time}| {at:time}|]
Subject: [Re: |]{subj:words Label printer/Your letter/Order/Question/Visit/Problem with the gate/Holiday cover/Change of address/Broken part/Appointment/Room} [{:subject}|{:clause}|]
[Cc: {cc:email}
|]
[Hello,|Hello {to.given},|Dear team,|Good morning,|Hi,]

[the {thing:goods} that I ordered from you in {:words January/spring/May/autumn} has stopped working|I am writing about the {thing:goods}|we need a new {thing:goods}|as discussed on the phone, here are the details of the {thing:goods}]. [It {:words rattles/smells/blinks/hums}, then the display shows [error |code |]{err:code E-###|F##|E####}.|The error is {err:code E-###|F##|####}.|] [{:clause}.|I have switched it off and on again, without success.|]
[#urg=yes:We need it badly, please hurry.|#urg=yes:This can't wait.|#urg=no:There is no hurry.|]

[Product: {prod:brand}
|Model {prod:brand}
|][Order number: {ord:code @@-######|######}
|Order {ord:code @@-####|#####}
|][Customer number {cust:code K-####|######}
|]
[#want=replacement:Could you please send a replacement?|#want=replacement:Please send me another one.|#want=repair:Can somebody come and repair it?|#want=refund:I would rather have my money back.|#want=info:Please tell me what it costs.|#want=info:When will it be ready?]

[Kind regards,|Best wishes,|Thanks,]
{who}
[{firm:company}
|][{tel:phone}|]
""",
        """
customer_name|sender|from_name|reported_by|name ; who ; Name of the person who writes
customer_email|sender_email|from_address|email ; mail ; E-mail address of that person
recipient|to_name ; to
recipient_email|to ; box
cc ; cc
reported_on|sent_on|date ; day ; Date of the mail
time|sent_at ; at
subject_word|keyword ; subj
product|model ; prod ; Product it is about
item|thing|article ; thing ; as written
error_code|error ; err ; null if none is given
order_number|order ; ord ; as written
customer_number ; cust
urgent|is_urgent ; urg?
request|wanted|desired_solution ; want=replacement/exchange,repair,refund/money_back,info/information ; What is asked for
company|organisation ; firm
phone ; tel
""",
        weight=1.6,
    ),
    Scene(
        "contact",
        """
[Hello {to.given},|Dear {to:name},|Hi,]

[it was a pleasure to meet you at the fair|thank you for the samples|please find the offer attached|I have sent the {:goods} to your office]. [If anything is missing, simply [call|ring] me.|The {:goods} should be with you by {:date}.|{:name} will write to you about {:subject}.|]

[Kind regards|Best regards,|Yours]

{who:name}
[{role:job}
|]{firm:company}
[{road:street}
{zip:code #####|#### @@|@@# #@@|0####} {town:city}
|{road:street}, {zip:code #####|0####} {town:city}
|][{land:words Germany/Ireland/Austria/Belgium/Denmark/Portugal}
|]
[Phone|Tel.|Office]: {tel:phone}
[[Mobile|Cell]: {cell:phone}
|][E-mail|Email|Mail]: {mail:email}
[Web: {web:url}
|]
[Please consider the environment before printing this e-mail.|This message is confidential.|]
""",
        """
full_name|name|contact|person ; who ; Name of the person, without academic titles
job_title|role|position ; role ; What the person does there
company|organisation ; firm ; Name of the company or organisation
email|e_mail ; mail ; E-mail address
phone|landline ; tel ; Office or landline number, as written
mobile|cell ; cell ; Mobile number, as written
website|web|url ; web
{ address|postal_address|office
street|street_line ; road ; Street and house number
postal_code|zip|postcode ; zip
city|town|locality ; town
country ; land
}
recipient|addressee ; to ; Name of the person written to
""",
        weight=1.5,
    ),
)
