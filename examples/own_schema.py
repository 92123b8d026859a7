"""A JSON Schema of your own: enums, patterns, bounds and nulls are enforced during generation.

Runs offline; with a service, the same call is a method of `Client`.
"""

import json

from intaglio import LLM

SCHEMA = {
    "title": "Delivery",
    "type": "object",
    "properties": {
        "parcel": {
            "type": "string",
            "pattern": "^[A-Z]{2}-[0-9]{6}$",
            "description": "Parcel number",
        },
        "status": {"enum": ["announced", "on the way", "delivered", "returned"]},
        "weight_kg": {
            "type": ["number", "null"],
            "minimum": 0,
            "description": "Weight in kilograms",
        },
        "signed_by": {"type": ["string", "null"], "description": "Who signed for it"},
    },
    "required": ["parcel", "status", "weight_kg", "signed_by"],
    "additionalProperties": False,
}

TEXTS = [
    "Parcel: GX-204417\nStatus: delivered\nWeight: 2.4 kg\nSigned by: A. Lindqvist",
    "Parcel: GX-204418\nStatus: on the way\nWeight: 0.8 kg",
]

with LLM() as llm:  # loaded once, for any number of documents
    for result in llm.extract_many(SCHEMA, TEXTS):
        print(json.dumps(result.data))
