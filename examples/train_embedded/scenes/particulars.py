"""Facts that are copied or normalised, each with sentences that say it: people in their roles, dates, sums, measures.

A line a fact: names ; description ; sort of `supplies` ; sentence | sentence. A sentence has `{}` for the value.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

_PARTICULARS = """
landlord|owner|let_by ; ; name ; {} owns the flat | the flat belongs to {} | we rent from {} | {}, our landlord, lives upstairs
tenant|rented_to|lessee ; ; name ; {} moved in last year | the tenant is called {} | let to {} | {} pays the rent
witness|seen_by ; Person who saw it ; name ; {} saw everything | as {} told us, who stood next to it | {} watched from the window
driver|driven_by ; ; name ; {} was at the wheel | {} drove | with {} behind the wheel
victim|injured_person ; ; name ; {} was hurt | {} had to go to hospital | an ambulance took {} away
buyer|purchaser|sold_to ; ; person ; {} bought it | it went to {} | sold to {}
seller|sold_by ; ; person ; {} sold it | I got it from {} | bought from {}
manager|boss|head ; ; name ; {} is in charge | {} runs the place | headed by {} | my boss, {}
deputy|second_in_command|stand_in ; ; name ; {} stands in during holidays | while the boss is away, ask {} | the deputy is {}
author|writer|written_by ; ; name ; {} wrote it | from the pen of {} | penned by {}
translator|translated_by ; ; name ; put into English by {} | {} translated it | translation: {}
editor|edited_by ; ; name ; edited by {} | {} put the volume together | editor: {}
speaker|presenter|lecturer ; ; person ; {} gives the talk | {} will speak | we will hear {}
chair|chaired_by|moderator ; ; name ; {} took the chair | {} led the discussion | in the chair: {}
treasurer|keeps_the_books ; ; name ; {} keeps the books | our treasurer {} | the money is looked after by {}
minute_taker|secretary ; ; name ; {} wrote the minutes | notes by {} | minutes: {}
successor|new_holder ; ; name ; {} takes over | {} will follow | the new one is {}
predecessor|former_holder ; ; name ; {} held the post before | formerly {} | until now it was {}
doctor|treated_by|physician ; ; person ; treated by {} | {} looked at it | under the care of {}
teacher|taught_by|trainer ; ; person ; {} teaches the course | lessons with {} | trained by {}
applicant|candidate ; ; name ; {} applied for it | the application of {} | {} would like the job
referee_contact|reference|recommended_by ; ; name ; {} can tell you more about me | recommended by {} | please ask {}
technician|repaired_by|fitter ; ; name ; {} repaired it | {} from the workshop fixed it | the fitter was {}
caller|phoned_by|rang ; ; name ; {} rang | on the phone: {} | a call came from {}
recipient|addressee|sent_to ; ; name ; to be handed to {} | it is meant for {} | for the attention of {}
sender|sent_by ; ; name ; it comes from {} | sent by {} | {} sent it
approved_by|approver|signed_off_by ; ; name ; {} gave the go-ahead | signed off by {} | OK from {}
complained_about|accused ; ; name ; the complaint is about {} | {} is said to have done it | {} is to blame, they say
organizer|organiser|organised_by ; ; company ; {} organises it | put on by {} | the organiser is {}
sponsor|paid_for_by ; ; company ; {} pays for it | with kind support of {} | sponsored by {}
manufacturer|made_by|maker ; ; company ; made by {} | {} builds it | it comes from the works of {}
supplier|supplied_by ; ; company ; {} supplies it | we get it from {} | supplier: {}
carrier|shipped_with ; ; company ; {} brings it | on its way with {} | handed over to {}
insurer|insured_with ; ; company ; insured with {} | the policy is from {} | {} is the insurer
employer|works_for ; ; company ; works for {} | on the payroll of {} | employed at {}
former_employer|previous_company ; ; company ; used to work for {} | came from {} | until last year at {}
competitor|rival ; ; company ; its rival {} | {} wants the same customers | competition comes from {}
birthplace|born_in|place_of_birth ; ; city ; born in {} | first saw the light of day in {} | a native of {}
residence|lives_in|home_town ; ; city ; lives in {} | has made a home in {} | resident of {}
destination|goes_to ; ; city ; bound for {} | on the way to {} | the journey ends in {}
origin|comes_from|departs_from ; ; city ; set off from {} | starting point: {} | coming from {}
headquarters|head_office|seat ; ; city ; with its head office in {} | run from {} | seat: {}
venue|held_at ; ; place ; it is held at {} | we meet at {} | the venue is {}
meeting_room|room ; ; room ; in {} | {} is booked | please come to {}
signed_on|date_of_signature ; ; date ; signed on {} | the signatures are of {} | dated {}
due_date|pay_by|deadline ; Last day ; date ; by {} at the latest | no later than {} | the last day is {} | until {}
received_on|date_received|arrived_on ; ; date ; it reached us on {} | came in on {} | received {}
sent_on|date_sent|posted_on ; ; date ; posted on {} | left us on {} | sent {}
born_on|date_of_birth|birthday ; ; date ; born {} | the date of birth is {} | came into the world on {}
hired_on|joined_on|start_of_employment ; ; date ; has been with us since {} | joined on {} | first day of work: {}
left_on|end_of_employment|last_working_day ; ; date ; left on {} | the last working day is {} | gone since {}
next_meeting|meets_again_on|next_date ; ; date ; we meet again on {} | next time: {} | the next date is {}
valid_until|expires_on|expiry_date ; ; date ; runs out on {} | valid until {} | good until {}
valid_from|effective_from|takes_effect_on ; ; date ; from {} on | takes effect on {} | in force as of {}
ordered_on|order_date ; ; date ; ordered on {} | we placed the order on {} | the order is of {}
delivery_date|delivered_on ; ; date ; brought on {} | handed over on {} | delivered {}
cancelled_on|cancellation_date ; ; date ; called off on {} | it was cancelled on {}
start_time|begins_at|from_time ; ; time ; we start at {} | beginning: {} | it begins at {}
end_time|ends_at|until_time ; ; time ; it is over at {} | until {} | ends at {}
opening_time|opens_at ; ; time ; doors open at {} | open from {} | we unlock at {}
closing_time|closes_at ; ; time ; we close at {} | shut at {} | last orders at {}
duration|length|lasts ; ; duration ; it takes {} | lasts {} | about {} long
total|total_cost|sum_total ; ; money ; {} in all | all together {} | the whole comes to {} | that makes {}
deposit|security|advance ; Paid in advance ; money ; {} down | a deposit of {} | {} was paid in advance
balance|remaining_amount|still_due ; What is still to be paid ; money ; {} is still open | the rest of {} | there remain {}
refund|refunded_amount|money_back ; ; money ; {} was paid back | you get {} back | a refund of {}
fee|charge|handling_fee ; ; money ; a fee of {} | we charge {} | it costs {} to handle
fine|penalty ; ; money ; a fine of {} | {} for being late | the penalty is {}
discount_amount|rebate|price_cut ; ; money ; {} off | we took {} off | a rebate of {}
salary|pay|wage ; ; money ; earns {} | the pay is {} | a salary of {}
rent|monthly_rent ; ; money ; the rent is {} | {} a month | {} for the flat each month
budget|money_available ; ; money ; {} may be spent | a budget of {} | we have {} for it
damage|loss|cost_of_damage ; ; money ; damage of {} | a loss of {} | the damage is put at {}
list_price|regular_price|normal_price ; ; money ; normally {} | the usual price is {} | elsewhere it costs {}
donation|donated_amount ; ; money ; gave {} | a gift of {} | donated {}
weight_kg|weight ; in kg ; number 0.2-90 1 ; weighs {} kg | {} kilos | {} kg on the scales
length_cm|length ; in cm ; number 3-400 0 ; {} cm long | measures {} cm | {} centimetres
distance_km|distance ; in km ; number 1-900 1 ; {} km away | a distance of {} km | {} kilometres
temperature_c|temperature ; in °C ; number 1-95 1 ; at {} °C | {} degrees | it showed {} °C
age|age_years ; in years ; age 18-95 ; aged {} | {} years old | {} years of age
people|participants|number_of_people ; ; count 2-400 ; {} people came | a crowd of {} | {} of us
pieces|quantity|units ; ; count 2-900 ; {} pieces | {} of them | {} units
children|number_of_children ; ; count 2-7 ; {} children | has {} kids | mother of {}
pages|number_of_pages ; ; count 2-900 ; {} pages long | runs to {} pages | {} pp.
copies|number_of_copies|print_run ; ; count 2-9000 ; {} copies were printed | in {} copies | a print run of {}
floor|storey ; ; count 1-40 ; on floor {} | {} flights up | storey {}
attempts|tries|number_of_attempts ; ; count 2-20 ; after {} attempts | I tried {} times | {} tries
votes_for|yes_votes|in_favour ; ; count 2-300 ; {} were in favour | {} hands went up for it | {} said yes
votes_against|no_votes ; ; count 2-300 ; {} were against | {} said no | {} opposed it
rooms|number_of_rooms ; ; count 2-30 ; {} rooms | with {} rooms | {} rooms to clean
discount_percent|percent_off ; ; percent ; {} off | reduced by {} | a discount of {}
interest_percent|interest_rate ; ; percent ; at {} interest | the rate is {} | bears {}
share_percent|stake ; ; percent ; holds {} of it | a stake of {} | {} belongs to them
invoice_number|bill_number ; ; code ; our bill {} | invoice {} | billed under {}
order_number|purchase_order ; ; code ; order {} | under the order {} | you ordered with number {}
customer_number|client_id ; ; code ; you are our customer {} | customer {} | client number {}
file_number|case_number|our_reference ; ; code ; our file {} | we keep it under {} | case {}
serial_number|serial ; ; code ; the plate says {} | serial no. {} | S/N {}
phone|telephone|call ; ; phone ; call {} | reach us on {} | ring {}
mobile|cell_phone ; Mobile number ; phone ; on the move: {} | mobile {} | my cell is {}
email|e_mail|mail ; ; email ; write to {} | mail {} | {} reaches me
website|url|page ; ; url ; see {} | more at {} | look at {}
product|article|item ; ; goods ; it is about the {} | the {} in question | one {}
second_product|accessory|extra ; What comes with it ; goods ; together with a {} | plus a {} | a {} comes with it
defect|fault|problem ; as written ; clause ; {} | trouble: {} | what's wrong: {}
next_step|task|to_do ; as written ; duty ; next: {} | somebody has to {} | don't forget: {}
meal|dish|food ; ; dish ; we ate {} | on the plate: {} | {} for lunch
subject|topic|theme ; ; subject ; the subject was "{}" | talk: {} | on the theme: {}
slogan|motto ; as written ; phrase ; under the motto "{}" | the poster says "{}"
position|job_title|role ; ; job ; works as {} | employed as {} | the position is {}
year_built|built|built_in ; ; year ; built in {} | dates from {} | it has stood since {}
year_founded|founded|founded_in ; ; year ; founded in {} | they began in {} | since {}
"""  # fmt: skip


@dataclass(frozen=True)
class Particular:
    """Names, a description, the sort of the value, and the sentences."""

    keys: str
    note: str
    sort: str
    says: str


@cache
def particulars() -> tuple[Particular, ...]:
    """All facts."""
    found = []
    for line in _PARTICULARS.strip().split("\n"):
        keys, note, sort, says = (part.strip() for part in line.split(" ;"))
        found.append(Particular(keys, note, sort, "|".join(each.strip() for each in says.split("|"))))
    return tuple(found)
