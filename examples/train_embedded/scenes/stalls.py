"""Scenes: goods: plants, second-hand adverts, price lists, returns, deliveries that differ, labels, subscriptions."""

from .scene import Scene

_PLANT = "Lavender 'Hidcote'/Japanese maple/Rose 'Fairy Tale'/Blueberry 'Duke'/Dwarf pine/Peony/Hornbeam/Olive tree/Sage/Hydrangea/Fig 'Brown Turkey'/Clematis"
_MONTH = "January/February/March/April/May/June/July/August/September/October/November"

SCENES = (
    Scene(
        "product",
        f"""
[{{name:words {_PLANT}}}| ** {{name:words {_PLANT}}} ** ][ ({{lat:words Acer palmatum/Salvia off./Ficus carica/Paeonia lact./Carpinus bet./Rosa sp.}})|]
[{{art:code ####-##|#####|@#-###}}, |][pot [of |]{{pot:number 1-25 0}} l|in a {{pot:number 1-25 0}}-litre pot], [{{h1:number 10-60 0}} to {{h2:number 61-200 0}} cm|{{h1:number 10-60 0}}–{{h2:number 61-200 0}} cm high][ when sold, [later|grown up] {{hh:number 2-9 1}} m|]
[Flowers|In bloom]: {{f1:words {_MONTH}}} [to|–] {{f2:words {_MONTH}}}[, {{col:words white/violet/pink/yellow/scarlet}}|]. [#sun=full:[Wants all the sun it can get|Place in full sun]|#sun=half:[Morning sun is enough|Half shade]|#sun=shade:[Dark corners are fine|Never in the sun]]; [down to|hardy to|bears] -{{min:count 5-30}} °C. [Water every {{wat:count 2-14}} days.|] [#ed=yes:[Leaves or fruit may be eaten.|Good for the kitchen.]|#ed=no:[Poisonous.|Not for eating.]|] [#bee=yes:[Bees love it.|Full of bumblebees all summer.]|#bee=no:[Sterile, of no use to insects.]|]
{{p:money 4-90}}[ each|][; from {{bq:number 3-20 0}} pieces {{bp:money 2-60}}|][; [was|before] {{:money 5-120}}|]. [{{st:count 2-90}} left|{{st:count 2-90}} in stock|Sold out[, again in {{ag:words {_MONTH}}}|]]. [Next to it we like {{mate:words grasses/roses/thyme/box/ferns}}.|]
""",
        """
name|plant|product ; name
latin_name|botanical_name ; lat
article_number|sku ; art
container_litres|container_volume ; pot
{ grown|as_sold
low|shortest_cm ; h1
high|tallest_cm ; h2
}
final_height_m|max_height_m ; hh
first_month_of_bloom|bloom_start ; f1
last_month_of_bloom|bloom_end ; f2
colour|flower_colour ; col
light|location|exposure ; sun=full/full_sun/sunny,half/half_shade/partial_shade,shade/shady
hardy_to_minus|frost_hardiness ; min ; Degrees below zero
watering_days|water_every_days ; wat
edible|is_edible ; ed?
bee_friendly|good_for_insects ; bee?
price|unit_price ; p ; For one
{ several|quantity_discount
least_pieces|pieces ; bq
price ; bp
}
stock|in_stock|available ; st
available_again ; ag
companion|goes_with ; mate
currency ; $
""",
        weight=1.5,
    ),
    Scene(
        "product",
        """
[FOR SALE|Selling|Zu verkaufen|Must go]: {what:of product}[, {br:brand}|]
[Bought|New] [in |]{yr:year}[ for {np:money 60-2900}|], [used|ridden|worn] {use:words twice/every day/one winter/hardly ever/by two children/on weekends}. [#c=good:[Like new|Not a scratch|Spotless]|#c=fair:[Some marks|Signs of use at the bottom|One corner is chipped]|#c=bad:[For hobbyists: the {def:words motor/screen/hinge/lid/left wheel} is broken|Does not start any more]]. [Weighs {kg:measure 1-90 kg}.|] [Size {cm:code ##x## cm|###x## cm|### cm}.|] [With {acc:list goods 1-3}.|No extras.|]
[I want|Price|Asking] {p:money 15-1900}[, [#neg=yes:[we can talk|make me an offer|VB]|#neg=no:[and not a cent less|firm|no haggling please]]|]. [#ship=yes:[I can send it for {sc:money 4-40}.|Postage {sc:money 4-40}.]|#ship=no:[To be fetched in {town:city}.|Collection only, {town:city}.]] [#pet=yes:[Dog in the house.|We have two cats.]|#pet=no:[From a home without smokers and animals.]|] [Would swap for {swap:of product}.|] [Ring {tel:phone}[ after {after:time 15-20}|]|Write to {mail:email}][, ask for {who:name}|]. [Private sale, no return.|Invoice available.|Receipt from {:year} lost.]
""",
        """
item|article|what ; what ; as written
brand|make ; br
bought_in|year_of_purchase|purchase_year ; yr
new_price|original_price ; np
usage ; use ; as written
condition|state ; c=good/like_new/excellent,fair/used,bad/defective/broken/for_parts
defect|broken_part ; def
weight_kg ; kg
size|dimensions ; cm
accessories|includes|extras ; acc
price|asking_price ; p
negotiable|price_negotiable ; neg?
shipping_possible|ships ; ship?
shipping_cost|postage ; sc
pickup_city|collection_in|location ; town
pets_in_home ; pet?
swap_for|would_swap_for ; swap
phone ; tel
call_after ; after
email ; mail
contact|seller ; who
currency ; $
""",
        weight=1.5,
    ),
    Scene(
        "order",
        """
[Return|Goods returned|Rücksendung] [note |][no. |]{no:code R######|RMA-####|##-####}[ for order {ord:code ######|@#####|##/#####}|]
[{who:person}[, {adr:address}|][, customer {cust:code #####|K-###}|]]
[ordered|delivered] {od:earlier 8-60}, [sent back|returned] {rd:earlier 0-6}[ by {car:words DHL/UPS/Evri/GLS/bpost/the shop counter}[ ({tr:code ##########|@@#########@@})|]|]

<i 1-4:[{q:number 1-6 0} x |{q:number 1-6 0} |]{what:of product}[ ([size|colour] {var:words M/XL/42/blue/oak})|] – [#w=defect:[arrived broken|switch is dead|torn seam]|#w=wrong:[I had chosen another one|not what I ordered|somebody else's parcel]|#w=fit:[too tight|doesn't fit through the door|shorter than shown]|#w=mind:[don't need it after all|found it cheaper]|#w=late:[came after the birthday|three weeks late]][; {p:amount 5-290}|]>

[#want=refund:[Please send the money back[ to {iban:iban}|].|I'd like my money.]|#want=exchange:[Send me the right one instead.|Please exchange for {new:of product}.]|#want=voucher:[A voucher will do.|Put it on my customer account.]|#want=repair:[Please mend it.|Can it be repaired?]]
[[We deduct|less] {fee:money 2-15} for [the parcel|handling].|Free of charge for you.|] [Refunded|To be paid back|Credit]: {ref:money 8-600}[, within {days:days}|].
[#ok=yes:[Goods checked, all complete.|Back in stock.]|#ok=no:[The {miss:words cable/manual/box/second shoe} is missing.|Came without the {miss:words cable/manual/box/charger}.]|]
""",
        """
return_number|rma|return_note ; no
order_number|order_id ; ord
customer|name ; who
address ; adr
customer_number ; cust
order_date|delivered_on|ordered_on ; od
return_date|returned_on|sent_back_on ; rd
carrier|shipped_with ; car
tracking_number ; tr
customer_wants|wish|asked_for ; want=refund/money_back,exchange/replacement,voucher/store_credit,repair
refund_account|iban ; iban
exchange_for ; new
handling_fee|return_cost ; fee ; null if it is free
refund_amount|refunded|credit ; ref
refund_days ; days
complete|goods_complete ; ok?
missing_part|missing ; miss
items|articles|returned_items ; i*
article|product|name ; i.what
quantity|qty ; i.q ; null where no number is written
variant ; i.var
why_returned|reason ; i.w=defect/defective/damaged,wrong/wrong_item,fit/does_not_fit/wrong_size,mind/changed_mind/no_longer_needed,late/too_late
price|amount ; i.p
currency ; $
""",
        weight=1.5,
    ),
    Scene(
        "product",
        """
[LABEL PROOF {v:count 1-9}|Artwork text|Back label] – {name:words Rhubarb chutney/Oat drink barista/Fig mustard/Smoked almonds/Elderflower syrup/Chickpea pasta/Dark rye crisps/Goat cheese spread}[, {var:words mild/hot/organic/no sugar added/lemon}|]
[Net [weight|content]|Contents] {net:count 80-900} [g|ml][ ([drained|dry] {dry:count 40-79} g)|]
[Ingredients: |]<z 3-6, :{zut:words water/oats/rhubarb/cane sugar/onions/raisins/almonds/rapeseed oil/cider vinegar/mustard seed/ginger/goat's milk/chickpeas/salt/citric acid/figs/rye}[ ({zp:number 1-60 1} %)|]>. [May contain|Traces of]: {al:words nuts/sesame/gluten/milk/soya/celery}.
per 100 [g|ml]: [energy |]{kcal:number 20-650 0} kcal, fat {fat:number 0-50 1}, [of which saturates {sat:number 0-9 1}, |]sugar {sug:number 0-60 1}, protein {pro:number 0-26 1}, salt {salt:number 0-3 2}
[#vegan=yes:[Made from plants alone.|Nothing from animals.]|#vegan=no:[Contains honey.|With milk.|Gelatine of beef.]|] [Keep {keep:words cool/dry/below 7 °C/away from light}.|] [Once opened,|After opening] use within {open:days}. [Best before: {bb:later 100-600}|Keeps {shelf:months} from filling]. [Lot|L]{lot:code ####@|######}. [Made|Filled|Packed] [for|by] {firm:company}, {town:city}. [EAN {ean:code #############}|]
[Price {p:money 2-9} ([that is |]{bp:money 6-40} [per|a] {per:words kg/litre/100 g}).|{p:money 2-9}, {bp:money 6-40}/{per:words kg/l}]
""",
        """
product|name ; name
variety|flavour ; var
proof_version|version ; v
net_content|net_weight|content ; net
drained_weight_g ; dry
allergen_traces|may_contain ; al
energy_kcal|kcal ; kcal ; Per 100 g or ml
fat_g|fat ; fat
saturates_g ; sat
sugar_g|sugars ; sug
protein_g|protein ; pro
salt_g|salt ; salt
vegan|is_vegan ; vegan?
storage|keep ; keep
use_within_days|days_after_opening ; open
best_before ; bb
shelf_life_months ; shelf
lot|batch ; lot
producer|made_by|company ; firm
city|town ; town
ean|barcode ; ean
price ; p
comparison_price|unit_price ; bp
comparison_unit ; per
ingredients ; z* ; In order
ingredient|name ; z.zut
percent ; z.zp ; null unless it is printed
currency ; $
""",
    ),
    Scene(
        "invoice",
        """
[Your subscription|Abo|Membership statement] – [statement|renewal|bill] no. {no:code ######|##-#####|S####}
[Hello {who:name},|Member {mem:code ####|######}: {who:name}]
[your|The] {plan:words Basic/Family/Student/Pro/Night/Weekend} plan[ (before: {:words Basic/Family/Pro})|] [runs|is renewed] from {a:later 1-20} to {b:later 60-380}. [Monthly|Per month] {m:money 4-60}, {n:count 1-12} months[, less {disc:percent} [for paying at once|as a member since {since:year}]|]. [Extras: <x 1-3, :{xn:words locker/second card/paper bills/guest pass/insurance/4K} {xp:amount 1-20}>.|]
[VAT|incl. tax] {rate:vat}: {tax:amount 1-60}. [To be paid|Total|We debit] {sum:money 10-600} [on|by] {due:later 3-30}[ from [your account|card] …{last:code ####}|]. [#auto=yes:[It goes on by itself unless you tell us {nd:days} before.|Renews automatically; notice: {nd:days}.]|#auto=no:[It ends then; nothing renews by itself.|No automatic renewal.]]
[[Next change of price|From {nx:later 60-300} the month costs] {np:money 5-80}.|] [#late=yes:[The last bill of {open:money 5-90} is still open.|{open:money 5-90} from before are missing.]|#late=no:[Nothing is outstanding.|All earlier bills are settled.]|]
""",
        """
statement_number|invoice_number ; no
customer|member ; who
member_number ; mem
plan|subscription|tier ; plan ; The present one
period_start|from ; a
period_end|to|until ; b
monthly_price|price_per_month ; m
months|number_of_months ; n
discount_percent ; disc
member_since ; since
vat_rate|tax_rate ; rate
vat|tax ; tax
total|amount_due ; sum
due_date|debit_date|pay_by ; due
account_last4|card_last4 ; last
auto_renew|renews_automatically ; auto?
notice_days|cancel_days_before ; nd
new_price_from ; nx
new_price ; np
outstanding|has_outstanding_bill ; late?
outstanding_amount|open_amount ; open
extras|add_ons ; x*
name|extra ; x.xn
price ; x.xp
currency ; $
""",
    ),
)
