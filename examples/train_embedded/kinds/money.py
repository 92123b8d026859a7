"""Bank alerts and loan notices, contracts, insurance claims."""

from __future__ import annotations

from ..draft import Column, Draft, Fact, Kind, Rows
from ..draw import Draw
from ..entities import address, city, company, person, phone
from ..moments import date, time
from ..values import Value, choice, count, currency, currency_value, flag, money, percent, several, text
from ..wording import code, digits, phrase


def bank_alert(draw: Draw) -> Draft:
    unit = currency(draw)
    facts = (
        Fact("bank|institution|issuer|bank_name", company(draw), "Bank|From|Institution", "{} informs you.|A message from {}.|Your bank, {}, wrote this.", "Name of the bank", bare=0.6),
        Fact("account|account_number|account_no|loan_no|konto", text(digits(draw, draw.pick("****####|##-######|...####|xx####|######-##|## ### ###"))), "Account|Account no.|A/c|Loan|Konto", "It concerns account {}.|Your account {} has moved.", "Account as printed"),
        Fact("card_last4|card|card_ending", text(digits(draw, "####"), "last four digits"), "Card ending|Card **|Card", "Your card ending in {} was used."),
        Fact("amount|transaction_amount|booked|betrag|instalment", money(draw, None, unit), "Amount|Transaction|Booked|Debit|Betrag", "{} was charged.|A payment of {} was made.|We booked {}.", "Amount of the transaction", must=True),
        Fact("currency", currency_value(draw, unit), "Currency", implied=True),
        Fact("merchant|payee|counterparty|where|recipient", company(draw), "Merchant|At|Payee|To|Counterparty", "The money went to {}.|It was used at {}.|The merchant is {}.", "Where the money went"),
        Fact("date|booking_date|transaction_date|value_date|due", date(draw), "Date|Booked on|Value date|Datum", "It was booked on {}.|On {}.", "Day of the transaction"),
        Fact("time|transaction_time", time(draw), "Time|At", "The time was {}.", "Time of the transaction"),
        Fact("balance|available_balance|balance_after|outstanding|new_balance", money(draw, None, unit), "Balance|Available balance|New balance|Left", "Your balance is now {}.|That leaves {}.", "Balance after the transaction"),
        Fact("direction|type|transaction_type", choice(draw, {"debit": "withdrawn|debit|charged|paid out", "credit": "credited|credit|received|paid in"}), "Type|Direction", "The amount was {}.", "Did money come or go"),
        Fact("suspicious|fraud_alert|flagged", flag(draw, "yes, please check|unusual|suspicious", "no|nothing unusual|regular"), "Unusual|Flagged", "Our check says: {}.", "Does the bank suspect fraud"),
        Fact("hotline|phone|contact_phone", phone(draw), "Hotline|Call|Not you? Call", "If this was not you, call {}.", "Number to call"),
        Fact("reference|transaction_id|ref", code(draw), "Reference|Ref|Transaction ID", "The reference is {}."),
        Fact("rate_percent|interest_rate|rate", percent(draw), "Rate|Interest rate", "The rate is {}.", "Nominal rate"),
        Fact("fee|charges|fees", money(draw, None, unit), "Fee|Charges", "A fee of {} was taken.", "Fee for the transaction"),
    )
    return Draft(facts, "Account alert|Transaction alert|Security notice|Loan notice|Kontobewegung", (), "Your limit is {money}.|Pending: {money} at {company}.|A refused payment of {money} was not booked.|The last login was on {date} at {time}.|Statement of {date} is ready.", "there was a movement on your account.", "We never ask for your PIN.")


def contract(draw: Draw) -> Draft:
    unit = currency(draw)
    parties = [company(draw).written if draw.chance(0.6) else person(draw).forms[0].gold for _ in range(2)]
    payments = tuple((date(draw), money(draw, None, unit)) for _ in range(draw.rng.randint(0, 4)))
    table = Rows("repayments|instalments|payments|schedule", (Column("date|due|on|day", "Date|Due"), Column("amount|sum|payment", "Amount|Sum")), payments, "{1} on {0}|{0}: {1}|on {0} {1}|{0}   {1}|by {0} the sum of {1}", "Payments|Instalments|Schedule", "Payments in order")
    facts = (
        Fact("party_a|landlord|lender|seller|provider|licensor|first_party|employer", text(str(parties[0])), "between|Lender|Seller|Provider|First party|Landlord", "{} is the first party.|{}, hereinafter the Provider, agrees as follows.|This agreement is made by {}.", "First party", bare=0.1, group="parties|between"),
        Fact("party_b|tenant|borrower|buyer|client|licensee|second_party|employee", text(str(parties[1])), "and|Borrower|Buyer|Client|Second party|Tenant", "{} is the other party.|{}, hereinafter the Client, accepts.|The contract is with {}.", "Second party", group="parties|between"),
        Fact("contract_number|agreement_no|contract_id|reference|aktenzeichen", code(draw), "Contract no.|Agreement|Ref.|Contract", "This is contract {}.|It is filed under {}."),
        Fact("effective_date|start_date|begins_on|commencement|valid_from", date(draw), "Effective|Start|Commencement|In force from", "It takes effect on {}.|The term begins on {}.|It is in force from {}.", "When the contract begins"),
        Fact("end_date|expires_on|termination_date|valid_until|expiry", date(draw), "End|Expires|Valid until|Ends", "It ends on {}.|It runs until {}.|The term expires on {}.", "When the contract ends"),
        Fact("signed_on|signing_date|date_signed|executed_on", date(draw), "Signed|Date of signing|Signed on", "Signed on {}.|The parties signed on {}.", "When it was signed"),
        Fact("signed_in|place|place_of_signing", city(draw), "Place|Signed at|Done at", "Done at {}.|Signed in {}.", "Where it was signed"),
        Fact("fee|rent|price|principal|monthly_fee|contract_value|salary", money(draw, None, unit), "Fee|Price|Rent|Sum|Consideration", "The fee is {}.|The Client pays {}.|The agreed price is {}.", "Agreed price", must=True),
        Fact("deposit|security_deposit|kaution|collateral", money(draw, None, unit), "Deposit|Security", "A deposit of {} is due at signing.|As security {} is paid.", "Deposit"),
        Fact("penalty|late_fee|contractual_penalty", money(draw, None, unit), "Penalty|Late fee", "Every breach costs {}.", "Penalty for a breach"),
        Fact("notice_period_days|notice_days|notice_period", count(7, 180, "days")(draw), "Notice period|Notice", "Either side may leave with {} notice.|The notice period is {}.", "Notice period in days"),
        Fact("governing_law|law|jurisdiction", text(draw.pick("Delaware|England and Wales|Germany|France|Spain|Scotland|Switzerland|Austria|Ontario|New York|Sweden|Ireland")), "Governing law|Jurisdiction|Law", "The law of {} applies.|It is governed by the laws of {}.", "Law that applies, as written"),
        Fact("auto_renewal|renews_automatically|automatic_renewal", flag(draw, "renews automatically|automatic|yes, by one year", "does not renew|no renewal|ends without notice"), "Renewal", "As for renewal: {}.", "Does it renew itself"),
        Fact("interest_percent|interest|rate", percent(draw), "Interest|Rate", "The loan bears {} interest.|Interest is {} a year.", "Annual interest"),
        Fact("witnesses|witnessed_by", several(draw, person_plain, 0, 2), "Witnesses|Witnessed by", "In the presence of {}.", "Names of the witnesses"),
        Fact("subject|purpose|object", phrase(draw), "Subject|Purpose|Concerning", "It concerns {}.|Subject: {}.", "What it is about, as written"),
    )
    return Draft(facts, "Agreement|CONTRACT|Service agreement|Lease|Loan note|Vertrag", (table,), "The earlier agreement of {date} is void.|{person} of {company} advised the parties.|Changes need written form.|The first draft named {money}.|Notices go to {email}.", "the parties agree as follows.", "Signatures follow.")


def person_plain(draw: Draw) -> Value:
    return text(str(person(draw).forms[0].gold))


def claim(draw: Draw) -> Draft:
    unit = currency(draw)
    facts = (
        Fact("policy_number|policy_no|policy|contract_no", code(draw), "Policy|Policy no.|Policy number", "My policy is {}.|It is insured under {}.", "Number of the policy"),
        Fact("claim_number|claim_id|claim|case", code(draw), "Claim|Claim no.|Case", "The claim has number {}.|Claim {} was opened."),
        Fact("claimant|insured|policyholder|reported_by", person(draw), "Claimant|Insured|Policyholder", "{} reported it.|The insured is {}.", "Who is insured"),
        Fact("incident_date|date_of_loss|damage_date|happened_on", date(draw), "Date of loss|Incident date|Happened", "It happened on {}.|The damage occurred on {}.", "When it happened"),
        Fact("reported_on|report_date|notified_on", date(draw), "Reported|Notified", "It was reported on {}.", "When it was reported"),
        Fact("incident_type|cause|damage_type|peril", choice(draw, {"water": "burst pipe|water damage|flooding|leak", "fire": "fire|smoke and flames|it burned", "theft": "stolen|burglary|theft", "collision": "rear-end collision|car crash|hit another car", "storm": "storm|hail|wind tore off tiles"}), "Cause|Type of loss|What happened", "What happened: {}.|The cause was {}.", "Kind of damage"),
        Fact("estimated_damage|amount|loss|claimed_amount", money(draw, None, unit), "Estimated damage|Loss|Claimed", "We estimate the damage at {}.|The loss is about {}.|They claim {}.", "Estimated damage"),
        Fact("deductible|excess|own_share", money(draw, None, unit), "Deductible|Excess|Own share", "The deductible is {}.", "What the insured pays"),
        Fact("location|place|where", address(draw), "Place|Location|Where", "It happened at {}.", "Where it happened"),
        Fact("vehicle|licence_plate|plate", text(digits(draw, draw.pick("@@-@@ ####|@@## @@@|@@@ ####|@ ## @@"))), "Plate|Vehicle|Registration", "The car has plate {}.", "Licence plate as written"),
        Fact("police_report|police_reference", code(draw), "Police ref.|Police report", "The police report is {}."),
        Fact("injuries|people_hurt|injured", count(0, 6)(draw), "Injured|People hurt", "Number of people hurt: {}.", "Number of people hurt"),
        Fact("adjuster|handler|case_handler", person(draw), "Adjuster|Handled by|Your contact", "{} handles the case.", "Who handles the claim"),
    )
    return Draft(facts, "Claim report|Notice of loss|Damage report|Schadenmeldung", (), "Photos were taken on {date}.|A neighbour, {person}, saw it.|An offer of {company} says {money}.|A prior claim, {code}, is closed.", "I want to report a loss.", "")


KINDS = (Kind("bankalert", bank_alert), Kind("contract", contract), Kind("claim", claim, weight=0.7))
