"""Images, recordings and files in messages: named, never inlined, and what was said in a recording."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from otel_eval.conventions.reading.values import first_of, is_object
from otel_eval.interaction import Attachment, Part, TextPart

_MEDIA = ("image", "video", "audio", "document", "file", "media")


def with_transcript(part: Part | None, item: Any) -> tuple[Part, ...]:
    """The part, and what was said in it, where that is written beside a recording.

    Source: semantic-conventions-genai (``transcript`` of ``blob``, ``file`` and ``uri``); OpenAI's ``audio`` and ``input_audio``.
    """
    if part is None:
        return ()
    if not isinstance(part, Attachment) or not is_object(item):
        return (part,)
    item = item["message_content"] if is_object(item.get("message_content")) else item  # OpenInference
    said = next(
        (text for held in (item, _held(item)) if isinstance(text := held.get("transcript"), str) and text), None
    )
    return (part,) if said is None else (part, TextPart(text=said))


def _held(item: Mapping[str, Any]) -> Mapping[str, Any]:
    """What the item wraps; in OpenInference twice, ``message_content.image`` of ``image.url``."""
    held: Mapping[str, Any] = next((item[key] for key in _NESTED_MEDIA if is_object(item.get(key))), {})
    inner: Mapping[str, Any] = next((held[key] for key in _NESTED_MEDIA if is_object(held.get(key))), {})
    return {**held, **inner}


def attachment_of(item: Mapping[str, Any]) -> Part:
    """What the item stands for, in any of the shapes."""
    kind = str(item.get("type") or "")
    nested = _held(item)
    url = first_of(item, ("uri", "url", "image", "image_url", "file_url", "data")) if not nested else None
    both = {**item, **nested}
    mime = first_of(both, ("mime_type", "mimeType", "media_type", "mediaType"))
    data = first_of(both, ("content", "data", "bytes", "file_data", "url", "uri", "fileUri", "file_uri"))
    if data is None:
        data = url
    mime, size = (mime if isinstance(mime, str) else None), None
    if isinstance(data, str):
        if data.startswith("data:"):
            head, _, data = data.partition(",")
            mime = mime or head[5:].split(";")[0] or None
            size = len(data) * 3 // 4 - data[-2:].count("=")
        elif "://" not in data[:40] and len(data) > 64:
            size = len(data) * 3 // 4 - data[-2:].count("=")
    name = first_of(both, ("filename", "file_name", "name", "display_name", "file_id", "title"))
    if name is None and isinstance(data, str) and "://" in data[:40]:
        name = data[:200]
    modality = both.get("modality")
    if not isinstance(modality, str):
        modality = next((word for word in _MEDIA if word in kind), None) or (mime or "file").split("/")[0]
    return Attachment(modality=modality, mime_type=mime, name=name if isinstance(name, str) else None, size=size)


_NESTED_MEDIA = (
    "source",
    "image_url",
    "image",
    "inline_data",
    "inlineData",
    "file_data",
    "fileData",
    "input_audio",
    "file",
    "media",
    "document",
    "video",
    "audio",
    "blob",
)
