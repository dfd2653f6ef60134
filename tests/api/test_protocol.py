"""The protocol as it is written: generated code that is its own, names as buf wants them, and words at everything."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from google.protobuf import descriptor_pb2
from google.protobuf.descriptor import FileDescriptor
from grpc_tools import protoc

from otel_eval.api.server import CALLS, SERVICE
from otel_eval.receive import otlp_lean_pb2
from otel_eval.v1 import evaluations_pb2

ROOT = Path(__file__).parents[2]


def compiled(tmp_path: Path, include: str, file: str, *options: str) -> descriptor_pb2.FileDescriptorProto:
    """What protoc makes of the file now."""
    out = tmp_path / "set.pb"
    well_known = Path(protoc.__file__).parent / "_proto"
    assert (
        protoc.main(["protoc", f"-I{include}", f"-I{well_known}", f"--descriptor_set_out={out}", *options, file]) == 0
    )
    (file,) = descriptor_pb2.FileDescriptorSet.FromString(out.read_bytes()).file
    _forget_json_names(file.message_type)
    return file


def _forget_json_names(messages: Iterable[descriptor_pb2.DescriptorProto]) -> None:
    """They follow from the names, and generated code does without them."""
    for message in messages:
        for field in message.field:
            field.ClearField("json_name")
        _forget_json_names(message.nested_type)


@pytest.mark.parametrize(
    ("include", "file", "generated"),
    [
        (f"{ROOT}/proto", "otel_eval/v1/evaluations.proto", evaluations_pb2.DESCRIPTOR),
        (
            f"otel_eval/receive={ROOT}/proto/otel_eval/lean/v1",
            "otel_eval/receive/otlp_lean.proto",
            otlp_lean_pb2.DESCRIPTOR,
        ),
    ],
    ids=["evaluations", "otlp_lean"],
)
def test_the_generated_code_is_that_of_the_protocol(
    tmp_path: Path, include: str, file: str, generated: FileDescriptor
) -> None:
    """Run the command at the top of the .proto after a change of it."""
    committed = descriptor_pb2.FileDescriptorProto()
    generated.CopyToProto(committed)
    assert compiled(tmp_path, include, file) == committed


def test_every_call_has_a_scope() -> None:
    """One that is added to the protocol is not served by accident, nor forgotten."""
    assert set(CALLS) == {method.name for method in SERVICE.methods}


def test_names_are_as_buf_wants_them() -> None:
    """Requests and responses of their own, and enum values that say their enum, the first of them unspecified."""
    for method in SERVICE.methods:
        assert (method.input_type.name, method.output_type.name) == (f"{method.name}Request", f"{method.name}Response")
    for enum in evaluations_pb2.DESCRIPTOR.enum_types_by_name.values():
        prefix = re.sub(r"(?<!^)(?=[A-Z])", "_", enum.name).upper()
        assert enum.values[0].name == f"{prefix}_UNSPECIFIED"
        assert all(value.name.startswith(f"{prefix}_") for value in enum.values)
    for message in evaluations_pb2.DESCRIPTOR.message_types_by_name.values():
        assert all(re.fullmatch(r"[a-z][a-z0-9_]*", field.name) for field in message.fields)


def test_everything_in_it_is_described(tmp_path: Path) -> None:
    """Calls, messages and enums have words beside them; fields where the name does not say it all."""
    file = compiled(tmp_path, f"{ROOT}/proto", "otel_eval/v1/evaluations.proto", "--include_source_info")
    described = {tuple(place.path) for place in file.source_code_info.location if place.leading_comments.strip()}

    def silent() -> Iterator[str]:
        for number, method in enumerate(file.service[0].method):
            if (6, 0, 2, number) not in described:
                yield method.name
        for number, message in enumerate(file.message_type):
            if (4, number) not in described and not message.name.endswith(("Request", "Response")):
                yield message.name
        for number, enum in enumerate(file.enum_type):
            if (5, number) not in described:
                yield enum.name

    assert list(silent()) == []
