"""Several replicas of the service behind one address on Ray Serve, each with its own engine.

    pip install 'intaglio[server,cluster]' 'ray[serve]'
    python examples/ray_serve.py                  # a trial: starts Ray locally, sends a request, stops
    serve run --app-dir examples ray_serve:app    # serves on the cluster of RAY_ADDRESS, or locally

Ray Serve routes each request to one replica, replaces replicas that die, and keeps between
COPIES and MOST of them, by the requests in flight. GPUS=1 gives every replica a GPU, MODEL is the
folder of its checkpoint.
"""

import os

from intaglio import Client
from intaglio.engine.api import EngineConfig, model_folder
from intaglio.service.config import ServiceConfig
from intaglio.service.http.app import Application, application
from ray import serve

COPIES = int(os.environ.get("COPIES", "2"))
MOST = int(os.environ.get("MOST", str(COPIES)))
TARGET = float(os.environ.get("TARGET", "128"))
GPUS = float(os.environ.get("GPUS", "0"))
PORT = int(os.environ.get("PORT", "8000"))
TEXT = "Parcel DE-4471 left Hamburg on 3 May 2026, weight 2.4 kg."
SCHEMA = {
    "type": "object",
    "properties": {"parcel_number": {"type": "string"}, "weight_kg": {"type": "number"}},
    "required": ["parcel_number", "weight_kg"],
    "additionalProperties": False,
}


def service() -> Application:
    """The service of one replica; called when the replica starts."""
    engine = EngineConfig.load({"model": str(model_folder(os.environ.get("MODEL")))})
    return application(engine, ServiceConfig.load())


@serve.ingress(service)
class Intaglio:
    """One replica."""


copies = serve.deployment(
    autoscaling_config={
        "min_replicas": COPIES,
        "max_replicas": MOST,
        "target_ongoing_requests": TARGET,
        "downscale_delay_s": 300,  # loading a model is expensive
    },
    max_ongoing_requests=512,
    graceful_shutdown_timeout_s=45,
    ray_actor_options={"num_cpus": 1, "num_gpus": GPUS},
)
app = copies(Intaglio).bind()

if __name__ == "__main__":
    serve.start(http_options={"port": PORT})
    serve.run(app)
    with Client(f"http://127.0.0.1:{PORT}") as client:
        client.wait_until_ready(120)
        answer = client.extract(SCHEMA, TEXT)
    print(f"valid: {answer.valid}; {answer.data}")
    serve.shutdown()
