"""Scenes: viewings of homes, adverts of flats, calls across time zones, and what clinics write of visits."""

from .scene import Scene

SCENES = (
    Scene(
        "realestate",
        """
[voice memo, {day:today}|Notes after the viewing, {day:today}|{day:today} – seen with {mate:name}]

[ok so|right,] {adr:address}. [Agent|Shown by] {ag:name} from {firm:company}, [number|reach her on] {tel:phone}. [The advert said {:number 90-140 0} m² but|They claim] it is {m2:number 28-89 0} [square metres|sqm|m²], {rooms:number 1-6 0} rooms[ plus a {extra:words box room/pantry/study corner/hallway you could dance in}|], {fl:floor}[#lift=yes:, [the lift works|no climbing needed thanks to a lift]|#lift=no:, [carry everything yourself|stairs only]|]. [Built|House is] {yr:year}, [the meter says|the fuse box says] {:year}.

money: [{cold:money 400-1600} [bare|without anything]|they want {cold:money 400-1600} before heating], {util:money 60-290} [on top|for water, heat and bins], so [I'd pay|all in] {warm:total cold util}. [Parking {park:money 20-120} extra.|] Deposit [is {k:number 2-3 0} cold rents, {dep:times cold k}|{dep:money 800-5000}]. [The last people paid {:money 300-399}.|] [Agent's fee {fee:money 200-2500}.|Nothing for the agent.|]
[#pet=allowed:[Cat is no problem.|She has a dog herself, so ours may come.]|#pet=forbidden:[Forget the dog.|The owner is allergic, so no animals.]|#pet=on_request:[Animals? She has to ask the owner.|Cat: maybe, in writing.]|] [#kit=yes:[Stove and sink stay.|Kitchen is in and included.]|#kit=no:[Bring your own kitchen.|Bare pipes where a kitchen should be.]]
minus: {f1:words damp in the bathroom/stains on the ceiling/old fuses/draughty doors}[, {f2:words tram under the window/thin walls/a bar below/a view of bins}|][, {f3:words no daylight in the hall/north-facing bedroom/nowhere for the bikes/a smell of paint}|]
[free from {free:later 10-90}|we could move in on {free:later 10-90}], [they decide|the owner decides] by {dec:later 2-9}[, we are one of {riv:count 3-30}|]. [#like=positive:[I could live here.|Let's send the papers tonight.]|#like=negative:[Not for us.|Next one, please.]|#like=undecided:[I can't make up my mind.|Sleep on it.]]
""",
        """
viewed_on|viewing_date|date ; day
viewed_with|companion ; mate
address ; adr
agent|agent_name|shown_by ; ag
agency ; firm
agent_phone|phone ; tel
area_m2|living_area|size_sqm ; m2 ; Not the size in the advert
rooms|room_count ; rooms
extra_space ; extra
floor ; fl
has_lift|lift|elevator ; lift?
built_in|year_built|construction_year ; yr
cold_rent|net_rent|base_rent ; cold
utilities|service_charges|additional_costs ; util
warm_rent|total_rent|rent_including_utilities ; warm
parking_fee ; park
deposit|security_deposit ; dep
agent_fee|commission ; fee
pets|pets_allowed ; pet=allowed,forbidden/not_allowed,on_request
kitchen_included|has_kitchen ; kit?
flaws|drawbacks|disadvantages ; f1+f2+f3
available_from|move_in_date ; free
decision_by|owner_decides_by ; dec
applicants|rivals ; riv
verdict|impression ; like=positive/interested,negative/not_interested,undecided
currency ; $
""",
        weight=1.5,
    ),
    Scene(
        "realestate",
        """
[À LOUER|Location|Particulier loue] : {typ:words appartement/maison de ville/loft/duplex/pavillon/maison de village}[, {fl:floor}|], {ville:city}

{m2:number 14-140 1} m²[ (terrasse de {ter:number 3-30 0} m² non comprise)|], {pcs:count 3-6} pièces[ dont {ch:number 2-2 0} chambres|]. [#meu=yes:[Lit, table et armoire restent.|Vous n'apportez que vos valises.]|#meu=no:[Logement vide.|Sans un seul meuble.]] [#ani=yes:[Chats et chiens bienvenus.|Votre animal peut venir.]|#ani=no:[Pas de bêtes.|Animaux refusés.]|] [On ne fume pas à l'intérieur.|]
[Loyer|On demande] {lo:money 350-1700}, [plus|et] {chg:money 30-250} de charges, [donc|soit en tout] {tot:total lo chg}[ (l'an passé {:money 300-349})|]. [Dépôt|Garantie] : {dep:money 350-3400}. [#age=yes:[Agence : {hon:money 150-900}.|Honoraires à votre charge, {hon:money 150-900}.]|#age=no:[Sans intermédiaire.|Aucuns frais d'agence.]]
[DPE|Énergie] : {dpe:words A/B/C/D/E/F/G}. [Chauffage|On chauffe] : {chau:words gaz/pompe à chaleur/électrique/poêle à granulés/réseau urbain}. [Libre|Disponible] [le|à partir du] {d:later 5-80}[, bail de {bail:months}|]. [{metro:count 2-15} minutes à pied [du métro|de la gare].|]
[Visites|On peut voir] le {v:later 1-4} [à|dès] {h:time 9-19}. [Appeler|Demander] {qui:name}, {tel:phone}[ (pas {:phone}, c'est l'ancien numéro)|]. [Dossier : {p1:words trois fiches de paie/le contrat de travail/une attestation d'employeur}, {p2:words une pièce d'identité/un passeport/un titre de séjour}[, {p3:words le dernier avis d'impôt/l'acte du garant/une attestation d'assurance}|].|]
""",
        """
type_de_bien|type|bien ; typ
etage ; fl
ville|commune ; ville
surface_m2|surface ; m2 ; Sans la terrasse
terrasse_m2 ; ter
pieces|nombre_de_pieces ; pcs
chambres|nombre_de_chambres ; ch
meuble|est_meuble ; meu?
animaux_acceptes|animaux ; ani?
loyer_hors_charges|loyer|loyer_nu ; lo
charges|charges_mensuelles ; chg
loyer_charges_comprises|total_mensuel ; tot
depot_de_garantie|caution ; dep
frais_agence|par_agence ; age?
honoraires ; hon
classe_energie|dpe ; dpe
chauffage ; chau
disponible_le|libre_le ; d
duree_bail_mois|bail ; bail
minutes_transports ; metro
visite_le|date_visite ; v
heure_visite ; h
contact|proprietaire ; qui
telephone|numero_valable ; tel
dossier|pieces_a_fournir|documents ; p1+p2+p3
devise|currency ; $
""",
        language="fr",
        weight=1.5,
    ),
    Scene(
        "appointment",
        """
[Re: |Fwd: |]{top:words second interview/kick-off call/contract talk/demo/audit/portfolio review/reference call}

> [On {day:today}|{day:today},] {org:name} wrote:
> [could we talk|would you have time] on {old:later 1-4} at {:time 8-18} {:words CET/UTC/EST/JST}?

[That day I am on a plane|I am taken that day|Sadly, no]. [What about|I can do|Better:] {d:later 5-25}, {t:time 8-18} {tz:words CET/CEST/UTC/EST/PDT/JST/IST/BST} – [that is|in {c2:city} it will be] {t2:time 0-23} [at your end|your time][ ({tz2:words AEST/NZDT/CST/SGT/GST})|]. [If not, {alt:later 26-40} works as well.|] [It takes|Plan] {dur:duration}.

[#how=video:[Link: {url:url}|We see each other here: {url:url}][, passcode {pin:code ######|@@##}|]|#how=phone:[I ring you on {tel:phone}|Please be at {tel:phone}]|#how=on_site:[Come to us: {adr:address}|At our place, {adr:address}]]. [<people 1-3, :{pn:name} ({pr:words finance/legal/design/HR/sales/engineering})> [join|sit in].|] [Please [send|bring] {prep:of form}[ until {by:later 1-3}|].|] [#conf=yes:[The slot is yours, no answer needed.|It stands in both calendars.]|#conf=no:[Tell me if it suits you.|Pencilled in until you reply.]]

{me:name}
[{job:words recruiter/project lead/assistant to the board/account manager}|]
""",
        """
subject|topic|purpose ; top
first_mail_date|request_date ; day
requested_by|organiser ; org ; The first mail's writer
first_proposed_date|original_date ; old
date|new_date|proposed_date ; d ; The date that the answer proposes
time|start_time|new_start_time ; t ; In the writer's zone
time_zone|timezone ; tz ; Of the writer
local_time|recipient_time|your_time ; t2
recipient_time_zone ; tz2
recipient_city ; c2
alternative_date|fallback_date ; alt
duration ; dur
format|channel|meeting_type ; how=video/video_call/online,phone/telephone,on_site/in_person
meeting_url|link ; url
passcode ; pin
phone|call_number ; tel
address|place ; adr
participants|also_present ; people*
name ; people.pn
department|team ; people.pr
to_prepare|bring|please_send ; prep
send_by ; by
confirmed|is_confirmed ; conf?
writer|answered_by|sender ; me
writer_role ; job
""",
        weight=1.5,
    ),
    Scene(
        "appointment",
        """
[Clínica|Centro médico|Consulta] {cli:company}
[Aviso|Mensaje] del {hoy:today}

[Hola|Estimada/o] {pac:person}: [#e=confirmada:[su hora queda guardada|le esperamos]|#e=aplazada:[hemos tenido que cambiar su hora|la doctora está en un congreso y su visita se retrasa]|#e=anulada:[su visita no se hará|hemos borrado su hora porque usted lo pidió]|#e=recordatorio:[no olvide su visita|le recordamos que viene pronto]]. [?e=confirmada?e=recordatorio:[Venga|Día]: {d:later 2-30}, {h:time 8-19}.|?e=aplazada:[Era|Estaba] el {dv:later 2-9} a las {hv:time 8-19}; [ahora es|pasa] al {d:later 10-40}, {h:time 8-19}.|?e=anulada:[Era|Estaba] el {dv:later 2-9} a las {hv:time 8-19}.]
[Le atiende|Con] {med:name} ([{esp:words dermatología/pediatría/fisioterapia/odontología/oftalmología/cardiología/nutrición}]), [sala|puerta] {sala:code ##|#.##|@#}[, {fl:floor}|]. [Motivo|Para]: {mot:words revisión anual/análisis de sangre/primera visita/retirada de puntos/vacuna/segunda opinión}.
[#ay=yes:[No coma nada desde las {desde:time 20-23}.|Venga sin desayunar.]|#ay=no:[Puede comer antes.|Desayune con normalidad.]|] [Traiga [también |]{tr:words la tarjeta sanitaria/el informe anterior/sus gafas/la lista de medicinas/las radiografías}.|] [#pago=seguro:[Su mutua {mut:words Sanaris/Vitalia/Alba Salud/Norteseguro} lo cubre.|Cubierto por {mut:words Sanaris/Vitalia/Alba Salud}.]|#pago=particular:[Cuesta {pr:money 30-190}.|Son {pr:money 30-190} en recepción.]|] [Dura [unos|] {min:count 10-90} minutos; llegue {ant:count 5-9} antes.|]
[Para cambiar o anular|Si no puede venir]: {tel:phone}[ (urgencias: {urg:phone})|], [antes del {lim:later 1-1}|con {hor:count 12-48} horas de antelación], código {cod:code @@###|######|##-@@@}.
""",
        """
clinica|centro ; cli
fecha_mensaje|fecha_aviso ; hoy
paciente|nombre ; pac
estado|tipo_de_aviso ; e=confirmada,aplazada/cambiada,anulada/cancelada,recordatorio
fecha|fecha_cita|nueva_fecha ; d ; La que vale ahora
hora|hora_cita ; h ; La que vale ahora
fecha_anterior|fecha_original ; dv
hora_anterior ; hv
medico|doctor|profesional ; med
especialidad ; esp
sala|consulta ; sala
planta|piso ; fl
motivo ; mot
en_ayunas|ayuno ; ay?
ayuno_desde|sin_comer_desde ; desde
traer|documentos ; tr
forma_de_pago|pago ; pago=seguro/mutua,particular/privado
mutua|aseguradora ; mut
precio|coste ; pr
duracion_minutos|duracion ; min
llegar_minutos_antes ; ant
telefono ; tel ; Para cambiar o anular
telefono_urgencias ; urg
anular_antes_de ; lim
horas_de_antelacion ; hor
codigo|codigo_cita ; cod
moneda ; $
""",
        language="es",
        weight=1.5,
    ),
)
