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
    def __init__(self, resource: _Optional[bytes] = ..., scope_items: _Optional[_Iterable[_Union[ScopeItems, _Mapping]]] = ..., schema_url: _Optional[bytes] = ...) -> None: ...

class ScopeItems(_message.Message):
    __slots__ = ("scope", "items", "schema_url")
    SCOPE_FIELD_NUMBER: _ClassVar[int]
    ITEMS_FIELD_NUMBER: _ClassVar[int]
    SCHEMA_URL_FIELD_NUMBER: _ClassVar[int]
    scope: bytes
    items: _containers.RepeatedScalarFieldContainer[bytes]
    schema_url: bytes
    def __init__(self, scope: _Optional[bytes] = ..., items: _Optional[_Iterable[bytes]] = ..., schema_url: _Optional[bytes] = ...) -> None: ...
