"""Who we are in what we emit: ``OTEL_RESOURCE_ATTRIBUTES`` and ``OTEL_SERVICE_NAME``, else the service ``otel-eval``."""

from __future__ import annotations

import socket
import uuid

from opentelemetry.sdk.resources import OTELResourceDetector, Resource

_NAMESPACE = uuid.UUID("6f0ad2f2-55d5-4f0b-9a52-0c7a4d1c9f53")


def resource_of(version: str, *, instance: str = "") -> Resource:
    """Our resource. ``instance`` tells replicas on one machine apart (the storage directory, say).

    ``service.instance.id`` is the same after a restart (the SDK's own is random), so that spans exported again are the
    same and cumulative metrics go on in the series they had.
    """
    ours = {
        "service.name": "otel-eval",
        "service.version": version,
        "service.instance.id": str(uuid.uuid5(_NAMESPACE, f"{socket.gethostname()}\0{instance}")),
    }
    said = OTELResourceDetector().detect()
    return Resource.create().merge(Resource({key: value for key, value in ours.items() if value})).merge(said)
