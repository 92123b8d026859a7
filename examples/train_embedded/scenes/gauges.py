"""Scenes: readings of meters, machines and weather: values before and after, limits, alarms, parts that were changed."""

from .scene import Scene

_PART = "V-belt/air filter/shaft seal/bearing 6204/contactor K1/fuse 16 A/pressure switch/O-ring set/flow sensor/drive belt/PTC probe/non-return valve/brake pad/impeller/grease cartridge"
_FAULT = "E04/F-12/0x2A/ALM 207/W31/ERR-9/S7.3/T11"

SCENES = (
    Scene(
        "sensor",
        """
[Your reading card|Meter reading {yr:year}|Reading of the [gas|water|heat] meter]
[Customer|Contract|Account] [no. |]{acc:code ######|K-####-##|### ### ###}
[Meter|Counter] [no. |]{mno:code ########|#@@#######|## ### ###}[ ([cellar|hall cupboard|garage])|]
[last reading|previous state|old][: | ({pd:earlier 200-400}) ][ |]{old:number 1000-40000 0}[ {u:words m³/kWh/MWh}|]
[this reading|present state|new][: | ({day:today}) ][ |]{new:number 40001-79000 0}
[[Used|Consumption|Difference][: | ]{use:difference new old}[ (the year before: {:number 400-9000 0})|]
|][#how=customer:[Thank you for sending us the figure yourself.|Read off by you, via the app.|We took over what you wrote on the card.]|#how=estimated:[As we did not hear from you, the figure was worked out from last year.|Nobody opened, so we had to guess.|Calculated, not read.]|#how=company:[Our man {man:name} was in the house.|Taken on site by {man:name}.]|#how=remote:[Sent by the smart meter during the night.|Radio read-out, no visit.]]
""",
        """
account|contract_number|customer_number ; acc
meter_number|meter_id|meter ; mno
old_reading|reading_start|counter_before ; old
previous_reading_date|last_read_on ; pd
new_reading|reading_end|counter_now ; new
reading_date|read_on ; day
consumption|usage|used ; use
unit ; u
how_read|source_of_figure|taken_by ; how=customer/self_read/by_customer,estimated/estimate,company/on_site/technician,remote/smart
technician|reader ; man
year ; yr
""",
        weight=1.5,
    ),
    Scene(
        "sensor",
        f"""
[Shift log|SHIFT HANDOVER|Schichtbuch] [plant|line|hall] {{line:code #|@#|##}}, {{day:today}} [({{sh:words early/late/night}} shift)|/ {{sh:words early/late/night}}]
[out: {{from:name}} → in: {{to:name}}|handed over by {{from:name}} to {{to:name}}]

<ev 2-5:{{t:time 0-23}} {{sys:words Pump 3/Kiln/Press B/Compressor/Boiler 1/Conveyor 4/Mixer/Silo 2/Chiller}}[:| -] [{{w:words temperature/pressure/flow/level/vibration/current}} {{v:number 1-190 1}} {{un:words °C/bar/m³/h/%/mm/s/A}}[ (limit {{lim:number 20-200 0}})|]|{{code:words {_FAULT}}}, [reset|acknowledged]|{{code:words {_FAULT}}} [again|came up]][, [#al=yes:horn went off|#al=yes:siren|#al=yes:the panel screamed|#al=no:no alarm|#al=no:panel stayed quiet]|]>

[Down|Standstill|Stopped][: | for |: total ]{{down:count 3-240}} min[ ([because|as] {{why:reason}})|]. [Output|Made|Good pieces][: | ]{{out:number 100-9000 0}}[ [of|against] {{plan:number 100-9500 0}} planned|], [scrap|rejects][ | = ]{{bad:count 0-300}}.
[Replaced|Changed|New parts][: | ]<p 1-3, :{{q:number 1-8 0}}[x|×| ] {{part:words {_PART}}}[ ({{pn:code ##-####|@@####}})|]>[.
|]
[Counter at handover|Hours run][: | ]{{hrs:number 900-60000 0}}[ h|]. [Next [oil change|service] due at {{due:number 900-70000 0}} h.|]
[#safe=yes:[{{hurt:name}} cut a finger, bandaged, accident book p. {{pg:count 2-90}}.|Near miss at the gate, see book p. {{pg:count 2-90}}.]|#safe=no:[No accidents.|Nothing in the accident book.|All fingers still on.]|]
""",
        """
line|plant|hall ; line
date ; day
shift ; sh
handed_over_by|outgoing|previous_shift_lead ; from
handed_over_to|incoming|next_shift_lead ; to
downtime_minutes|standstill_min|minutes_stopped ; down
downtime_reason|cause ; why
output|pieces_made|produced ; out
planned_output|target ; plan
scrap|rejects ; bad
operating_hours|hours_run|counter ; hrs
next_service_at|service_due_hours ; due
accident|safety_incident|incident_recorded ; safe?
accident_book_page ; pg
events|entries|log ; ev* ; In order of the log
time ; ev.t
system|machine|equipment ; ev.sys
measured|quantity ; ev.w ; null for fault codes
value|reading ; ev.v
unit ; ev.un
limit ; ev.lim
fault_code|code|error ; ev.code
alarm|alarm_raised ; ev.al?
new_parts|spare_parts ; p*
quantity|qty|pieces ; p.q
part|name ; p.part
part_number ; p.pn
""",
    ),
    Scene(
        "sensor",
        """
[Station|Weather mast|WX] {st:words Hilltop/Harbour/Airfield/Ridge/Mill Pond/Lighthouse/Vineyard}[ ({alt:number 2-2400 0} m)|]: [yesterday|the day|daily summary], {day:earlier 1-2}
[Min|Lowest|Night] {lo:number 1-9 1} °C at {lot:time 2-7}[,|;] [max|highest|day] {hi:number 10-36 1} °C at {hit:time 12-17}[. Mean {mean:number 2-24 1}.|.]
[Rain|Precipitation][:|] [{rain:number 0.2-48 1} mm|{rain:number 0.2-48 1} l/m²][ in {rh:count 1-14} h|][ (month so far {month:number 49-180 1})|]
[Wind|Mean wind] {dir:words SW/NW/N/ESE/W/variable} {ws:number 2-30 0} km/h, [gusts [to |up to ]|strongest gust ]{gust:number 31-118 0}[ at {gt:time 0-23}|]
[Sun|Sunshine][:|] {sun:number 0-14 1} h[ [of|out of] {psun:number 14-17 1} possible|]
[Snow lying[:|] {snow:count 1-90} cm
|][#frost=yes:[Ground frost for {fh:count 1-11} hours.|The puddles were frozen.]|#frost=no:[No frost at ground level.|It stayed above freezing down to the grass.]|]
[Sensor note|Remark][:|] [#ok=no:[hygrometer stuck at 100 %|anemometer iced up until {fix:time 8-12}|rain gauge blocked by leaves, cleared {fix:time 8-18}|radio link lost for {gap:count 5-400} min]|#ok=yes:[all channels complete|nothing missing|checked, fine]].
""",
        """
station|location ; st
altitude_m|elevation ; alt
date ; day
temperature_min|min_temp_c|coldest ; lo
time_of_minimum ; lot
temperature_max|max_temp_c|warmest ; hi
time_of_maximum ; hit
temperature_mean|mean_temp_c ; mean
rain_mm|precipitation_mm|rainfall ; rain ; Of the day
rain_hours ; rh
rain_month_mm|month_total ; month
wind_direction ; dir
wind_mean_kmh|wind_speed ; ws ; Mean
strongest_gust|gust_speed ; gust
gust_time ; gt
sunshine_hours|sun ; sun
possible_sunshine ; psun
snow_depth_cm|snow ; snow
ground_frost|frost ; frost?
sensors_ok|data_complete ; ok?
data_gap_minutes ; gap
""",
    ),
    Scene(
        "sensor",
        f"""
[Wartungsprotokoll / service sheet|Annual check|Maintenance visit] {{no:code W-####|##/###|######}}
[Unit|Asset|Device][:|] {{dev:words heat pump/lift/ventilation unit/dialysis chair/forklift/UPS/ice machine/escalator}} [{{make:brand}}[, s/n {{sn:code @##-#####|########}}|]|s/n {{sn:code @##-#####|########}}]
[Place|At|Site][:|] {{site:company}}, {{city:city}}
{{day:today}}, [technician|done by] {{tech:name}} [from {{b:time 7-11}} to {{e:time 12-17}}|({{dur:duration}})]

<c 3-6:[\\[x\\]|-|*|·] {{what:words suction pressure/oil level/rope tension/door gap/insulation/noise at 1 m/exhaust temperature/battery capacity/water hardness/tyre pressure/charge}}: [before|found] {{was:number 1-90 1}}[,| →| /] [after|now|set to] {{is:number 1-90 1}} {{u:words bar/%/mm/dB/°C/kPa/V}}[#v=ok: (ok)|#v=ok: ✓|#v=bad: (out of range)|#v=bad: ✗|]>

[Used|Material|Parts][:|] <p 1-3, :{{q:count 1-6}} {{part:words {_PART}}}[ at {{pp:money 3-240}}|]>
[Labour|Hours][:|] {{h:number 0.5-7 1}} h[ at {{rate:money 55-120}}|]; [travel|km][:|] {{km:count 4-160}} km
[#run=yes:[Handed back running.|Unit is in operation again.|You may use it at once.]|#run=no:[Locked out until the part arrives.|Tagged "do not operate".|Must stay off for now.]] [Next visit|Again][:|] {{next:later 80-380}}[ (every {{iv:months}})|]. [Signed for the customer:|Seen:] {{cust:name}}
""",
        """
report_number|sheet_no|job_number ; no
device|asset|unit ; dev
make|manufacturer|brand ; make
serial_number|serial ; sn
customer|site|company ; site
city ; city
date|visited_on ; day
technician|engineer ; tech
started_at|from ; b
finished_at|until ; e
labour_hours|hours ; h
hourly_rate|rate ; rate
kilometres|travel_km ; km
in_operation|operational|released ; run? ; May the customer use it
next_visit|next_service ; next
interval_months ; iv
signed_by|customer_signature ; cust
checks|measurements|points ; c*
point|checked|name ; c.what
before|found|old_value ; c.was
after|now|new_value ; c.is
unit ; c.u
verdict|result ; c.v=ok/pass,bad/fail/out_of_range
parts|material ; p*
quantity ; p.q
part ; p.part
price|unit_price ; p.pp
""",
    ),
    Scene(
        "sensor",
        """
[node={node:code @##|n-##|###} site={site:words barn/roof/well/cellar/dock/mast}[ fw={fw:code #.#.#|#.##}|]
ts={day:today} {t:time 0-23}|# {node:code @##|n-##}, {site:words barn/roof/well/cellar/dock/mast}, {day:today}, {t:time 0-23}[, firmware {fw:code #.#.#}|]]
[batt={bat:number 2-4 2}V[ ({soc:count 3-99}%)|]|battery {bat:number 2-4 2} V[, {soc:count 3-99} %|]] [rssi=-{rssi:count 48-118}[dBm|]|signal -{rssi:count 48-118} dBm][ uptime={up:count 1-400}d|, up {up:count 1-400} days|]
<ch 2-6:[ch|CH|sensor ]{n:count 1-16}[ |=|: |,]{name:words soil/tank/door/air/CO2/lux/flow/pH/turbidity}[ |=|: |,]{v:number 0-900 1}[ |]{u:words %/cm/ppm/°C/lx/l/h/NTU}[ |,][#s=ok:ok|#s=ok:OK|#s=warn:WARN|#s=warn:!|#s=fail:ERR|#s=fail:--|]>
[sent={tx:count 10-999} lost={lost:count 0-40}|packets: {tx:count 10-999} sent, {lost:count 0-40} lost][ crc=ok| crc={crc:code @#@#}|]
[next={nx:count 5-90}min|next report in {nx:count 5-90} minutes|]
""",
        """
node|node_id|device ; node
site|location ; site
firmware|fw_version ; fw
date ; day
time ; t
battery_voltage|battery_v ; bat
battery_percent|state_of_charge ; soc
uptime_days ; up
packets_sent|sent ; tx
packets_lost|lost ; lost
checksum|crc ; crc ; null if it only says ok
next_report_minutes|report_interval_min ; nx
channels|sensors|readings ; ch* ; In the order printed
channel|number|index ; ch.n
name|quantity|kind ; ch.name
value ; ch.v
unit ; ch.u
status|state ; ch.s=ok,warn/warning,fail/error/failed ; null if not given
""",
    ),
    Scene(
        "sensor",
        """
[Batch|Sud|Gyle] {no:count 4-400}: {name:words Harvest Bock/Sailor's Stout/Rye Pale/Spelt Saison/Smoked Porter/Elderflower Wit}
[brewed {day:earlier 8-60}, {l:measure 18-1200 l}[ (aim {aim:number 20-1300 0})|]|{l:measure 18-1200 l} on {day:earlier 8-60}]
[Mash|Maische][:|] <m 1-3, then :{mt:count 44-78} °C for {mm:count 10-75} min>
[Boil|Kochen][:|] {boil:count 60-110} min; hops <h 1-3, :{hg:count 5-900} g {hn:words Cascade/Saaz/Tettnang/Citra/Fuggle/Mosaic} [at|@] {hm:count 0-60}[']>
OG {og:number 10-19 1} °P[, FG {fg:number 2-5 1} °P|][, [makes |so ]{abv:number 3-9 1} % [vol|ABV]|]. [Pitched|Yeast][:|] {y:words US-05/W-34/70/a Norwegian kveik/Belle Saison/own culture}[ at {pt:count 12-32} °C|].
[Fermented {fd:count 4-20} days at {ft:count 8-24} °C|{fd:count 4-20} d in the tank, {ft:count 8-24} degrees][, dry-hopped on day {dh:count 2-9}|].
[Taste|Verdict][:|] [#ok=yes:[clean, hoppy, ready to bottle|the best one so far|nothing to complain about, bottled]|#ok=no:[sour note, poured away|infected, drain|buttery, {who:name} refuses to sell it]].[ {bot:number 30-2400 0} bottles of {bs:words 0.33/0.5/0.75} l.|]
""",
        """
batch|batch_number ; no
beer|name|recipe ; name
brewed_on|brew_date ; day
volume_l|litres|batch_size ; l
target_volume_l ; aim
boil_minutes|boil_time ; boil
original_gravity|og_plato ; og
final_gravity|fg_plato ; fg
alcohol|abv|alcohol_percent ; abv
yeast ; y
pitching_temperature ; pt
fermentation_days ; fd
fermentation_temperature|ferment_temp_c ; ft
dry_hopped_on_day ; dh
good|accepted|passed ; ok? ; Was the beer kept
bottles ; bot
mash_steps|mash ; m*
temperature|temp_c ; m.mt
minutes|duration_min ; m.mm
hops|hop_additions ; h*
grams|amount_g ; h.hg
variety|hop ; h.hn
minute|at_minute ; h.hm
""",
    ),
)
