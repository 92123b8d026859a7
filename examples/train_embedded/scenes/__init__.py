"""Documents as people write them: templates with many alternatives, facts, classes and truths that a reader has to find.

`template` is their language, `scene` draws a document and its facts, `supplies` and `vocabulary` fill the holes; the other
modules are the scenes.
"""

from . import (
    abroad,
    appointments,
    banking,
    clinics,
    contacts,
    cooking,
    councils,
    desks,
    events,
    faults,
    gazettes,
    homes,
    invoices,
    jobs,
    letters,
    living,
    offices,
    orders,
    overseas,
    papers,
    posts,
    products,
    public,
    reports,
    slips,
    stories,
    tables,
    tickets,
    trading,
    wares,
    working,
)
from .scene import Scene, compose
from .statements import statements

SCENES: tuple[Scene, ...] = (
    *abroad.SCENES,
    *appointments.SCENES,
    *banking.SCENES,
    *clinics.SCENES,
    *contacts.SCENES,
    *cooking.SCENES,
    *councils.SCENES,
    *desks.SCENES,
    *events.SCENES,
    *faults.SCENES,
    *gazettes.SCENES,
    *homes.SCENES,
    *invoices.SCENES,
    *jobs.SCENES,
    *letters.SCENES,
    *living.SCENES,
    *offices.SCENES,
    *orders.SCENES,
    *overseas.SCENES,
    *papers.SCENES,
    *posts.SCENES,
    *products.SCENES,
    *public.SCENES,
    *reports.SCENES,
    *slips.SCENES,
    *stories.SCENES,
    *tables.SCENES,
    *tickets.SCENES,
    *trading.SCENES,
    *wares.SCENES,
    *working.SCENES,
)

__all__ = ["SCENES", "Scene", "compose", "statements"]
