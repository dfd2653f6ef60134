from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Request(_message.Message):
    __slots__ = ("resource_items",)
    RESOURCE_ITEMS_FIELD_NUMBER: _ClassVar[int]
    resource_items: _containers.RepeatedCompositeFieldContainer[ResourceItems]
    def __init__(self, resource_items: _Optional[_Iterable[_Union[ResourceItems, _Mapping]]] = ...) -> None: ...

class ResourceItems(_message.Message):
    __slots__ = ("resource", "scope_items", "schema_url")
    RESOURCE_FIELD_NUMBER: _ClassVar[int]
    SCOPE_ITEMS_FIELD_NUMBER: _ClassVar[int]
    SCHEMA_URL_FIELD_NUMBER: _ClassVar[int]
    resource: bytes
    scope_items: _containers.RepeatedCompositeFieldContainer[ScopeItems]
    schema_url: bytes
    def __init__(
        self,
        resource: _Optional[bytes] = ...,
        scope_items: _Optional[_Iterable[_Union[ScopeItems, _Mapping]]] = ...,
        schema_url: _Optional[bytes] = ...,
    ) -> None: ...

class ScopeItems(_message.Message):
    __slots__ = ("scope", "items", "schema_url")
    SCOPE_FIELD_NUMBER: _ClassVar[int]
    ITEMS_FIELD_NUMBER: _ClassVar[int]
    SCHEMA_URL_FIELD_NUMBER: _ClassVar[int]
    scope: bytes
    items: _containers.RepeatedScalarFieldContainer[bytes]
    schema_url: bytes
    def __init__(
        self,
        scope: _Optional[bytes] = ...,
        items: _Optional[_Iterable[bytes]] = ...,
        schema_url: _Optional[bytes] = ...,
    ) -> None: ...

class Framing(_message.Message):
    __slots__ = ("resources",)
    class Resource(_message.Message):
        __slots__ = ("scopes",)
        SCOPES_FIELD_NUMBER: _ClassVar[int]
        scopes: _containers.RepeatedCompositeFieldContainer[Framing.Scope]
        def __init__(self, scopes: _Optional[_Iterable[_Union[Framing.Scope, _Mapping]]] = ...) -> None: ...

    class Scope(_message.Message):
        __slots__ = ("items",)
        ITEMS_FIELD_NUMBER: _ClassVar[int]
        items: _containers.RepeatedCompositeFieldContainer[Framing.Item]
        def __init__(self, items: _Optional[_Iterable[_Union[Framing.Item, _Mapping]]] = ...) -> None: ...

    class Item(_message.Message):
        __slots__ = ()
        def __init__(self) -> None: ...

    RESOURCES_FIELD_NUMBER: _ClassVar[int]
    resources: _containers.RepeatedCompositeFieldContainer[Framing.Resource]
    def __init__(self, resources: _Optional[_Iterable[_Union[Framing.Resource, _Mapping]]] = ...) -> None: ...

class LogIds(_message.Message):
    __slots__ = ("resources",)
    class Resource(_message.Message):
        __slots__ = ("scopes",)
        SCOPES_FIELD_NUMBER: _ClassVar[int]
        scopes: _containers.RepeatedCompositeFieldContainer[LogIds.Scope]
        def __init__(self, scopes: _Optional[_Iterable[_Union[LogIds.Scope, _Mapping]]] = ...) -> None: ...

    class Scope(_message.Message):
        __slots__ = ("records",)
        RECORDS_FIELD_NUMBER: _ClassVar[int]
        records: _containers.RepeatedCompositeFieldContainer[LogIds.Record]
        def __init__(self, records: _Optional[_Iterable[_Union[LogIds.Record, _Mapping]]] = ...) -> None: ...

    class Record(_message.Message):
        __slots__ = ("trace_id", "span_id")
        TRACE_ID_FIELD_NUMBER: _ClassVar[int]
        SPAN_ID_FIELD_NUMBER: _ClassVar[int]
        trace_id: bytes
        span_id: bytes
        def __init__(self, trace_id: _Optional[bytes] = ..., span_id: _Optional[bytes] = ...) -> None: ...

    RESOURCES_FIELD_NUMBER: _ClassVar[int]
    resources: _containers.RepeatedCompositeFieldContainer[LogIds.Resource]
    def __init__(self, resources: _Optional[_Iterable[_Union[LogIds.Resource, _Mapping]]] = ...) -> None: ...

class SpanHeads(_message.Message):
    __slots__ = ("resources",)
    class Resource(_message.Message):
        __slots__ = ("scopes",)
        SCOPES_FIELD_NUMBER: _ClassVar[int]
        scopes: _containers.RepeatedCompositeFieldContainer[SpanHeads.Scope]
        def __init__(self, scopes: _Optional[_Iterable[_Union[SpanHeads.Scope, _Mapping]]] = ...) -> None: ...

    class Scope(_message.Message):
        __slots__ = ("heads",)
        HEADS_FIELD_NUMBER: _ClassVar[int]
        heads: _containers.RepeatedCompositeFieldContainer[SpanHeads.Head]
        def __init__(self, heads: _Optional[_Iterable[_Union[SpanHeads.Head, _Mapping]]] = ...) -> None: ...

    class Head(_message.Message):
        __slots__ = (
            "trace_id",
            "span_id",
            "parent_span_id",
            "name",
            "kind",
            "start_time_unix_nano",
            "end_time_unix_nano",
            "event",
            "flags",
        )
        TRACE_ID_FIELD_NUMBER: _ClassVar[int]
        SPAN_ID_FIELD_NUMBER: _ClassVar[int]
        PARENT_SPAN_ID_FIELD_NUMBER: _ClassVar[int]
        NAME_FIELD_NUMBER: _ClassVar[int]
        KIND_FIELD_NUMBER: _ClassVar[int]
        START_TIME_UNIX_NANO_FIELD_NUMBER: _ClassVar[int]
        END_TIME_UNIX_NANO_FIELD_NUMBER: _ClassVar[int]
        EVENT_FIELD_NUMBER: _ClassVar[int]
        FLAGS_FIELD_NUMBER: _ClassVar[int]
        trace_id: bytes
        span_id: bytes
        parent_span_id: bytes
        name: str
        kind: int
        start_time_unix_nano: int
        end_time_unix_nano: int
        event: bytes
        flags: int
        def __init__(
            self,
            trace_id: _Optional[bytes] = ...,
            span_id: _Optional[bytes] = ...,
            parent_span_id: _Optional[bytes] = ...,
            name: _Optional[str] = ...,
            kind: _Optional[int] = ...,
            start_time_unix_nano: _Optional[int] = ...,
            end_time_unix_nano: _Optional[int] = ...,
            event: _Optional[bytes] = ...,
            flags: _Optional[int] = ...,
        ) -> None: ...

    RESOURCES_FIELD_NUMBER: _ClassVar[int]
    resources: _containers.RepeatedCompositeFieldContainer[SpanHeads.Resource]
    def __init__(self, resources: _Optional[_Iterable[_Union[SpanHeads.Resource, _Mapping]]] = ...) -> None: ...
