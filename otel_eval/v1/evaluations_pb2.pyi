import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Origin(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ORIGIN_UNSPECIFIED: _ClassVar[Origin]
    ORIGIN_LIVE: _ClassVar[Origin]
    ORIGIN_RERUN: _ClassVar[Origin]
    ORIGIN_OFFLINE: _ClassVar[Origin]
ORIGIN_UNSPECIFIED: Origin
ORIGIN_LIVE: Origin
ORIGIN_RERUN: Origin
ORIGIN_OFFLINE: Origin

class GetInteractionRequest(_message.Message):
    __slots__ = ("interaction_id",)
    INTERACTION_ID_FIELD_NUMBER: _ClassVar[int]
    interaction_id: str
    def __init__(self, interaction_id: _Optional[str] = ...) -> None: ...

class GetInteractionResponse(_message.Message):
    __slots__ = ("interaction", "revision")
    INTERACTION_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    interaction: Interaction
    revision: int
    def __init__(self, interaction: _Optional[_Union[Interaction, _Mapping]] = ..., revision: _Optional[int] = ...) -> None: ...

class InteractionFilter(_message.Message):
    __slots__ = ("agent", "session", "since", "until")
    AGENT_FIELD_NUMBER: _ClassVar[int]
    SESSION_FIELD_NUMBER: _ClassVar[int]
    SINCE_FIELD_NUMBER: _ClassVar[int]
    UNTIL_FIELD_NUMBER: _ClassVar[int]
    agent: str
    session: str
    since: _timestamp_pb2.Timestamp
    until: _timestamp_pb2.Timestamp
    def __init__(self, agent: _Optional[str] = ..., session: _Optional[str] = ..., since: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., until: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class ListInteractionsRequest(_message.Message):
    __slots__ = ("filter", "page_size", "page_token")
    FILTER_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    filter: InteractionFilter
    page_size: int
    page_token: str
    def __init__(self, filter: _Optional[_Union[InteractionFilter, _Mapping]] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListInteractionsResponse(_message.Message):
    __slots__ = ("interactions", "next_page_token")
    INTERACTIONS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    interactions: _containers.RepeatedCompositeFieldContainer[Interaction]
    next_page_token: str
    def __init__(self, interactions: _Optional[_Iterable[_Union[Interaction, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class GetEvaluationsRequest(_message.Message):
    __slots__ = ("evaluation_ids", "include_judge_calls")
    EVALUATION_IDS_FIELD_NUMBER: _ClassVar[int]
    INCLUDE_JUDGE_CALLS_FIELD_NUMBER: _ClassVar[int]
    evaluation_ids: _containers.RepeatedScalarFieldContainer[str]
    include_judge_calls: bool
    def __init__(self, evaluation_ids: _Optional[_Iterable[str]] = ..., include_judge_calls: _Optional[bool] = ...) -> None: ...

class GetEvaluationsResponse(_message.Message):
    __slots__ = ("evaluations", "waiting_ids", "unknown_ids")
    EVALUATIONS_FIELD_NUMBER: _ClassVar[int]
    WAITING_IDS_FIELD_NUMBER: _ClassVar[int]
    UNKNOWN_IDS_FIELD_NUMBER: _ClassVar[int]
    evaluations: _containers.RepeatedCompositeFieldContainer[Evaluation]
    waiting_ids: _containers.RepeatedScalarFieldContainer[str]
    unknown_ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, evaluations: _Optional[_Iterable[_Union[Evaluation, _Mapping]]] = ..., waiting_ids: _Optional[_Iterable[str]] = ..., unknown_ids: _Optional[_Iterable[str]] = ...) -> None: ...

class EvaluationFilter(_message.Message):
    __slots__ = ("interaction_id", "evaluator", "agent", "session", "origin")
    INTERACTION_ID_FIELD_NUMBER: _ClassVar[int]
    EVALUATOR_FIELD_NUMBER: _ClassVar[int]
    AGENT_FIELD_NUMBER: _ClassVar[int]
    SESSION_FIELD_NUMBER: _ClassVar[int]
    ORIGIN_FIELD_NUMBER: _ClassVar[int]
    interaction_id: str
    evaluator: str
    agent: str
    session: str
    origin: Origin
    def __init__(self, interaction_id: _Optional[str] = ..., evaluator: _Optional[str] = ..., agent: _Optional[str] = ..., session: _Optional[str] = ..., origin: _Optional[_Union[Origin, str]] = ...) -> None: ...

class ListEvaluationsRequest(_message.Message):
    __slots__ = ("filter", "since", "until", "current_only", "include_judge_calls", "page_size", "page_token")
    FILTER_FIELD_NUMBER: _ClassVar[int]
    SINCE_FIELD_NUMBER: _ClassVar[int]
    UNTIL_FIELD_NUMBER: _ClassVar[int]
    CURRENT_ONLY_FIELD_NUMBER: _ClassVar[int]
    INCLUDE_JUDGE_CALLS_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    filter: EvaluationFilter
    since: _timestamp_pb2.Timestamp
    until: _timestamp_pb2.Timestamp
    current_only: bool
    include_judge_calls: bool
    page_size: int
    page_token: str
    def __init__(self, filter: _Optional[_Union[EvaluationFilter, _Mapping]] = ..., since: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., until: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., current_only: _Optional[bool] = ..., include_judge_calls: _Optional[bool] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListEvaluationsResponse(_message.Message):
    __slots__ = ("evaluations", "next_page_token", "cursor")
    EVALUATIONS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    CURSOR_FIELD_NUMBER: _ClassVar[int]
    evaluations: _containers.RepeatedCompositeFieldContainer[Evaluation]
    next_page_token: str
    cursor: str
    def __init__(self, evaluations: _Optional[_Iterable[_Union[Evaluation, _Mapping]]] = ..., next_page_token: _Optional[str] = ..., cursor: _Optional[str] = ...) -> None: ...

class WatchEvaluationsRequest(_message.Message):
    __slots__ = ("filter", "cursor", "include_judge_calls")
    FILTER_FIELD_NUMBER: _ClassVar[int]
    CURSOR_FIELD_NUMBER: _ClassVar[int]
    INCLUDE_JUDGE_CALLS_FIELD_NUMBER: _ClassVar[int]
    filter: EvaluationFilter
    cursor: str
    include_judge_calls: bool
    def __init__(self, filter: _Optional[_Union[EvaluationFilter, _Mapping]] = ..., cursor: _Optional[str] = ..., include_judge_calls: _Optional[bool] = ...) -> None: ...

class WatchEvaluationsResponse(_message.Message):
    __slots__ = ("evaluation", "cursor")
    EVALUATION_FIELD_NUMBER: _ClassVar[int]
    CURSOR_FIELD_NUMBER: _ClassVar[int]
    evaluation: Evaluation
    cursor: str
    def __init__(self, evaluation: _Optional[_Union[Evaluation, _Mapping]] = ..., cursor: _Optional[str] = ...) -> None: ...

class StartEvaluationRequest(_message.Message):
    __slots__ = ("interaction_ids", "filter", "evaluators", "max_interactions")
    INTERACTION_IDS_FIELD_NUMBER: _ClassVar[int]
    FILTER_FIELD_NUMBER: _ClassVar[int]
    EVALUATORS_FIELD_NUMBER: _ClassVar[int]
    MAX_INTERACTIONS_FIELD_NUMBER: _ClassVar[int]
    interaction_ids: _containers.RepeatedScalarFieldContainer[str]
    filter: InteractionFilter
    evaluators: _containers.RepeatedScalarFieldContainer[str]
    max_interactions: int
    def __init__(self, interaction_ids: _Optional[_Iterable[str]] = ..., filter: _Optional[_Union[InteractionFilter, _Mapping]] = ..., evaluators: _Optional[_Iterable[str]] = ..., max_interactions: _Optional[int] = ...) -> None: ...

class StartEvaluationResponse(_message.Message):
    __slots__ = ("evaluations", "cursor")
    EVALUATIONS_FIELD_NUMBER: _ClassVar[int]
    CURSOR_FIELD_NUMBER: _ClassVar[int]
    evaluations: _containers.RepeatedCompositeFieldContainer[StartedEvaluation]
    cursor: str
    def __init__(self, evaluations: _Optional[_Iterable[_Union[StartedEvaluation, _Mapping]]] = ..., cursor: _Optional[str] = ...) -> None: ...

class StartedEvaluation(_message.Message):
    __slots__ = ("evaluation_id", "interaction_id", "evaluator", "revision", "attempt")
    EVALUATION_ID_FIELD_NUMBER: _ClassVar[int]
    INTERACTION_ID_FIELD_NUMBER: _ClassVar[int]
    EVALUATOR_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    evaluation_id: str
    interaction_id: str
    evaluator: str
    revision: int
    attempt: int
    def __init__(self, evaluation_id: _Optional[str] = ..., interaction_id: _Optional[str] = ..., evaluator: _Optional[str] = ..., revision: _Optional[int] = ..., attempt: _Optional[int] = ...) -> None: ...

class Evaluation(_message.Message):
    __slots__ = ("id", "interaction_id", "trace_id", "span_id", "agent", "session", "service", "environment", "evaluator", "evaluator_version", "check", "revision", "attempt", "origin", "threshold", "passed", "failed", "inconclusive", "error", "start_time", "end_time", "judge_calls")
    ID_FIELD_NUMBER: _ClassVar[int]
    INTERACTION_ID_FIELD_NUMBER: _ClassVar[int]
    TRACE_ID_FIELD_NUMBER: _ClassVar[int]
    SPAN_ID_FIELD_NUMBER: _ClassVar[int]
    AGENT_FIELD_NUMBER: _ClassVar[int]
    SESSION_FIELD_NUMBER: _ClassVar[int]
    SERVICE_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    EVALUATOR_FIELD_NUMBER: _ClassVar[int]
    EVALUATOR_VERSION_FIELD_NUMBER: _ClassVar[int]
    CHECK_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    ORIGIN_FIELD_NUMBER: _ClassVar[int]
    THRESHOLD_FIELD_NUMBER: _ClassVar[int]
    PASSED_FIELD_NUMBER: _ClassVar[int]
    FAILED_FIELD_NUMBER: _ClassVar[int]
    INCONCLUSIVE_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    START_TIME_FIELD_NUMBER: _ClassVar[int]
    END_TIME_FIELD_NUMBER: _ClassVar[int]
    JUDGE_CALLS_FIELD_NUMBER: _ClassVar[int]
    id: str
    interaction_id: str
    trace_id: str
    span_id: str
    agent: str
    session: str
    service: str
    environment: str
    evaluator: str
    evaluator_version: str
    check: str
    revision: int
    attempt: int
    origin: Origin
    threshold: float
    passed: Verdict
    failed: Verdict
    inconclusive: Inconclusive
    error: EvaluatorError
    start_time: _timestamp_pb2.Timestamp
    end_time: _timestamp_pb2.Timestamp
    judge_calls: _containers.RepeatedCompositeFieldContainer[JudgeCall]
    def __init__(self, id: _Optional[str] = ..., interaction_id: _Optional[str] = ..., trace_id: _Optional[str] = ..., span_id: _Optional[str] = ..., agent: _Optional[str] = ..., session: _Optional[str] = ..., service: _Optional[str] = ..., environment: _Optional[str] = ..., evaluator: _Optional[str] = ..., evaluator_version: _Optional[str] = ..., check: _Optional[str] = ..., revision: _Optional[int] = ..., attempt: _Optional[int] = ..., origin: _Optional[_Union[Origin, str]] = ..., threshold: _Optional[float] = ..., passed: _Optional[_Union[Verdict, _Mapping]] = ..., failed: _Optional[_Union[Verdict, _Mapping]] = ..., inconclusive: _Optional[_Union[Inconclusive, _Mapping]] = ..., error: _Optional[_Union[EvaluatorError, _Mapping]] = ..., start_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., end_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., judge_calls: _Optional[_Iterable[_Union[JudgeCall, _Mapping]]] = ...) -> None: ...

class Verdict(_message.Message):
    __slots__ = ("explanation", "score", "label", "attributes")
    class AttributesEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: AttributeValue
        def __init__(self, key: _Optional[str] = ..., value: _Optional[_Union[AttributeValue, _Mapping]] = ...) -> None: ...
    EXPLANATION_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    LABEL_FIELD_NUMBER: _ClassVar[int]
    ATTRIBUTES_FIELD_NUMBER: _ClassVar[int]
    explanation: str
    score: float
    label: str
    attributes: _containers.MessageMap[str, AttributeValue]
    def __init__(self, explanation: _Optional[str] = ..., score: _Optional[float] = ..., label: _Optional[str] = ..., attributes: _Optional[_Mapping[str, AttributeValue]] = ...) -> None: ...

class Inconclusive(_message.Message):
    __slots__ = ("reason", "cause")
    REASON_FIELD_NUMBER: _ClassVar[int]
    CAUSE_FIELD_NUMBER: _ClassVar[int]
    reason: str
    cause: str
    def __init__(self, reason: _Optional[str] = ..., cause: _Optional[str] = ...) -> None: ...

class EvaluatorError(_message.Message):
    __slots__ = ("reason", "cause", "type")
    REASON_FIELD_NUMBER: _ClassVar[int]
    CAUSE_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    reason: str
    cause: str
    type: str
    def __init__(self, reason: _Optional[str] = ..., cause: _Optional[str] = ..., type: _Optional[str] = ...) -> None: ...

class AttributeValue(_message.Message):
    __slots__ = ("string_value", "bool_value", "int_value", "double_value")
    STRING_VALUE_FIELD_NUMBER: _ClassVar[int]
    BOOL_VALUE_FIELD_NUMBER: _ClassVar[int]
    INT_VALUE_FIELD_NUMBER: _ClassVar[int]
    DOUBLE_VALUE_FIELD_NUMBER: _ClassVar[int]
    string_value: str
    bool_value: bool
    int_value: int
    double_value: float
    def __init__(self, string_value: _Optional[str] = ..., bool_value: _Optional[bool] = ..., int_value: _Optional[int] = ..., double_value: _Optional[float] = ...) -> None: ...

class JudgeCall(_message.Message):
    __slots__ = ("conversation_id", "requested_model", "answered_model", "response_id", "system_message", "user_message", "answer", "input_tokens", "output_tokens", "cost_usd", "error", "start_time", "end_time")
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    REQUESTED_MODEL_FIELD_NUMBER: _ClassVar[int]
    ANSWERED_MODEL_FIELD_NUMBER: _ClassVar[int]
    RESPONSE_ID_FIELD_NUMBER: _ClassVar[int]
    SYSTEM_MESSAGE_FIELD_NUMBER: _ClassVar[int]
    USER_MESSAGE_FIELD_NUMBER: _ClassVar[int]
    ANSWER_FIELD_NUMBER: _ClassVar[int]
    INPUT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    COST_USD_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    START_TIME_FIELD_NUMBER: _ClassVar[int]
    END_TIME_FIELD_NUMBER: _ClassVar[int]
    conversation_id: str
    requested_model: str
    answered_model: str
    response_id: str
    system_message: str
    user_message: str
    answer: str
    input_tokens: int
    output_tokens: int
    cost_usd: float
    error: str
    start_time: _timestamp_pb2.Timestamp
    end_time: _timestamp_pb2.Timestamp
    def __init__(self, conversation_id: _Optional[str] = ..., requested_model: _Optional[str] = ..., answered_model: _Optional[str] = ..., response_id: _Optional[str] = ..., system_message: _Optional[str] = ..., user_message: _Optional[str] = ..., answer: _Optional[str] = ..., input_tokens: _Optional[int] = ..., output_tokens: _Optional[int] = ..., cost_usd: _Optional[float] = ..., error: _Optional[str] = ..., start_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., end_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class Interaction(_message.Message):
    __slots__ = ("id", "trace_id", "span_id", "parent_id", "agent", "role", "session", "user_id", "asked", "reply", "tool_calls", "model_calls", "failure", "model", "usage", "totals", "system", "history", "attachments", "resource_json", "attributes_json", "links", "start_time", "end_time", "gaps", "conventions", "complete")
    ID_FIELD_NUMBER: _ClassVar[int]
    TRACE_ID_FIELD_NUMBER: _ClassVar[int]
    SPAN_ID_FIELD_NUMBER: _ClassVar[int]
    PARENT_ID_FIELD_NUMBER: _ClassVar[int]
    AGENT_FIELD_NUMBER: _ClassVar[int]
    ROLE_FIELD_NUMBER: _ClassVar[int]
    SESSION_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    ASKED_FIELD_NUMBER: _ClassVar[int]
    REPLY_FIELD_NUMBER: _ClassVar[int]
    TOOL_CALLS_FIELD_NUMBER: _ClassVar[int]
    MODEL_CALLS_FIELD_NUMBER: _ClassVar[int]
    FAILURE_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    USAGE_FIELD_NUMBER: _ClassVar[int]
    TOTALS_FIELD_NUMBER: _ClassVar[int]
    SYSTEM_FIELD_NUMBER: _ClassVar[int]
    HISTORY_FIELD_NUMBER: _ClassVar[int]
    ATTACHMENTS_FIELD_NUMBER: _ClassVar[int]
    RESOURCE_JSON_FIELD_NUMBER: _ClassVar[int]
    ATTRIBUTES_JSON_FIELD_NUMBER: _ClassVar[int]
    LINKS_FIELD_NUMBER: _ClassVar[int]
    START_TIME_FIELD_NUMBER: _ClassVar[int]
    END_TIME_FIELD_NUMBER: _ClassVar[int]
    GAPS_FIELD_NUMBER: _ClassVar[int]
    CONVENTIONS_FIELD_NUMBER: _ClassVar[int]
    COMPLETE_FIELD_NUMBER: _ClassVar[int]
    id: str
    trace_id: str
    span_id: str
    parent_id: str
    agent: str
    role: str
    session: str
    user_id: str
    asked: str
    reply: str
    tool_calls: _containers.RepeatedCompositeFieldContainer[ToolCall]
    model_calls: _containers.RepeatedCompositeFieldContainer[ModelCall]
    failure: Failure
    model: str
    usage: Usage
    totals: Totals
    system: str
    history: _containers.RepeatedCompositeFieldContainer[Message]
    attachments: _containers.RepeatedCompositeFieldContainer[Attachment]
    resource_json: str
    attributes_json: str
    links: _containers.RepeatedCompositeFieldContainer[SpanLink]
    start_time: _timestamp_pb2.Timestamp
    end_time: _timestamp_pb2.Timestamp
    gaps: _containers.RepeatedCompositeFieldContainer[Gap]
    conventions: _containers.RepeatedScalarFieldContainer[str]
    complete: bool
    def __init__(self, id: _Optional[str] = ..., trace_id: _Optional[str] = ..., span_id: _Optional[str] = ..., parent_id: _Optional[str] = ..., agent: _Optional[str] = ..., role: _Optional[str] = ..., session: _Optional[str] = ..., user_id: _Optional[str] = ..., asked: _Optional[str] = ..., reply: _Optional[str] = ..., tool_calls: _Optional[_Iterable[_Union[ToolCall, _Mapping]]] = ..., model_calls: _Optional[_Iterable[_Union[ModelCall, _Mapping]]] = ..., failure: _Optional[_Union[Failure, _Mapping]] = ..., model: _Optional[str] = ..., usage: _Optional[_Union[Usage, _Mapping]] = ..., totals: _Optional[_Union[Totals, _Mapping]] = ..., system: _Optional[str] = ..., history: _Optional[_Iterable[_Union[Message, _Mapping]]] = ..., attachments: _Optional[_Iterable[_Union[Attachment, _Mapping]]] = ..., resource_json: _Optional[str] = ..., attributes_json: _Optional[str] = ..., links: _Optional[_Iterable[_Union[SpanLink, _Mapping]]] = ..., start_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., end_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., gaps: _Optional[_Iterable[_Union[Gap, _Mapping]]] = ..., conventions: _Optional[_Iterable[str]] = ..., complete: _Optional[bool] = ...) -> None: ...

class ToolCall(_message.Message):
    __slots__ = ("name", "arguments_json", "result_json", "error", "call_id", "span_id", "start_time", "end_time", "gaps")
    NAME_FIELD_NUMBER: _ClassVar[int]
    ARGUMENTS_JSON_FIELD_NUMBER: _ClassVar[int]
    RESULT_JSON_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    CALL_ID_FIELD_NUMBER: _ClassVar[int]
    SPAN_ID_FIELD_NUMBER: _ClassVar[int]
    START_TIME_FIELD_NUMBER: _ClassVar[int]
    END_TIME_FIELD_NUMBER: _ClassVar[int]
    GAPS_FIELD_NUMBER: _ClassVar[int]
    name: str
    arguments_json: str
    result_json: str
    error: str
    call_id: str
    span_id: str
    start_time: _timestamp_pb2.Timestamp
    end_time: _timestamp_pb2.Timestamp
    gaps: _containers.RepeatedCompositeFieldContainer[Gap]
    def __init__(self, name: _Optional[str] = ..., arguments_json: _Optional[str] = ..., result_json: _Optional[str] = ..., error: _Optional[str] = ..., call_id: _Optional[str] = ..., span_id: _Optional[str] = ..., start_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., end_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., gaps: _Optional[_Iterable[_Union[Gap, _Mapping]]] = ...) -> None: ...

class ModelCall(_message.Message):
    __slots__ = ("span_id", "model", "response_id", "finish_reasons", "usage", "failure", "start_time", "end_time")
    SPAN_ID_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    RESPONSE_ID_FIELD_NUMBER: _ClassVar[int]
    FINISH_REASONS_FIELD_NUMBER: _ClassVar[int]
    USAGE_FIELD_NUMBER: _ClassVar[int]
    FAILURE_FIELD_NUMBER: _ClassVar[int]
    START_TIME_FIELD_NUMBER: _ClassVar[int]
    END_TIME_FIELD_NUMBER: _ClassVar[int]
    span_id: str
    model: str
    response_id: str
    finish_reasons: _containers.RepeatedScalarFieldContainer[str]
    usage: Usage
    failure: Failure
    start_time: _timestamp_pb2.Timestamp
    end_time: _timestamp_pb2.Timestamp
    def __init__(self, span_id: _Optional[str] = ..., model: _Optional[str] = ..., response_id: _Optional[str] = ..., finish_reasons: _Optional[_Iterable[str]] = ..., usage: _Optional[_Union[Usage, _Mapping]] = ..., failure: _Optional[_Union[Failure, _Mapping]] = ..., start_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., end_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class Usage(_message.Message):
    __slots__ = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "reasoning_tokens")
    INPUT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    CACHE_READ_TOKENS_FIELD_NUMBER: _ClassVar[int]
    CACHE_WRITE_TOKENS_FIELD_NUMBER: _ClassVar[int]
    REASONING_TOKENS_FIELD_NUMBER: _ClassVar[int]
    input_tokens: int
    output_tokens: int
    cache_read_tokens: int
    cache_write_tokens: int
    reasoning_tokens: int
    def __init__(self, input_tokens: _Optional[int] = ..., output_tokens: _Optional[int] = ..., cache_read_tokens: _Optional[int] = ..., cache_write_tokens: _Optional[int] = ..., reasoning_tokens: _Optional[int] = ...) -> None: ...

class Totals(_message.Message):
    __slots__ = ("tool_calls", "model_calls", "usage")
    TOOL_CALLS_FIELD_NUMBER: _ClassVar[int]
    MODEL_CALLS_FIELD_NUMBER: _ClassVar[int]
    USAGE_FIELD_NUMBER: _ClassVar[int]
    tool_calls: int
    model_calls: int
    usage: Usage
    def __init__(self, tool_calls: _Optional[int] = ..., model_calls: _Optional[int] = ..., usage: _Optional[_Union[Usage, _Mapping]] = ...) -> None: ...

class Failure(_message.Message):
    __slots__ = ("type", "message")
    TYPE_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    type: str
    message: str
    def __init__(self, type: _Optional[str] = ..., message: _Optional[str] = ...) -> None: ...

class Message(_message.Message):
    __slots__ = ("role", "parts")
    ROLE_FIELD_NUMBER: _ClassVar[int]
    PARTS_FIELD_NUMBER: _ClassVar[int]
    role: str
    parts: _containers.RepeatedCompositeFieldContainer[Part]
    def __init__(self, role: _Optional[str] = ..., parts: _Optional[_Iterable[_Union[Part, _Mapping]]] = ...) -> None: ...

class Part(_message.Message):
    __slots__ = ("text", "reasoning", "tool_call", "tool_result", "attachment")
    TEXT_FIELD_NUMBER: _ClassVar[int]
    REASONING_FIELD_NUMBER: _ClassVar[int]
    TOOL_CALL_FIELD_NUMBER: _ClassVar[int]
    TOOL_RESULT_FIELD_NUMBER: _ClassVar[int]
    ATTACHMENT_FIELD_NUMBER: _ClassVar[int]
    text: str
    reasoning: str
    tool_call: ToolCallPart
    tool_result: ToolResultPart
    attachment: Attachment
    def __init__(self, text: _Optional[str] = ..., reasoning: _Optional[str] = ..., tool_call: _Optional[_Union[ToolCallPart, _Mapping]] = ..., tool_result: _Optional[_Union[ToolResultPart, _Mapping]] = ..., attachment: _Optional[_Union[Attachment, _Mapping]] = ...) -> None: ...

class ToolCallPart(_message.Message):
    __slots__ = ("name", "arguments_json", "call_id")
    NAME_FIELD_NUMBER: _ClassVar[int]
    ARGUMENTS_JSON_FIELD_NUMBER: _ClassVar[int]
    CALL_ID_FIELD_NUMBER: _ClassVar[int]
    name: str
    arguments_json: str
    call_id: str
    def __init__(self, name: _Optional[str] = ..., arguments_json: _Optional[str] = ..., call_id: _Optional[str] = ...) -> None: ...

class ToolResultPart(_message.Message):
    __slots__ = ("call_id", "name", "result_json", "failed")
    CALL_ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    RESULT_JSON_FIELD_NUMBER: _ClassVar[int]
    FAILED_FIELD_NUMBER: _ClassVar[int]
    call_id: str
    name: str
    result_json: str
    failed: bool
    def __init__(self, call_id: _Optional[str] = ..., name: _Optional[str] = ..., result_json: _Optional[str] = ..., failed: _Optional[bool] = ...) -> None: ...

class Attachment(_message.Message):
    __slots__ = ("modality", "mime_type", "name", "size")
    MODALITY_FIELD_NUMBER: _ClassVar[int]
    MIME_TYPE_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    SIZE_FIELD_NUMBER: _ClassVar[int]
    modality: str
    mime_type: str
    name: str
    size: int
    def __init__(self, modality: _Optional[str] = ..., mime_type: _Optional[str] = ..., name: _Optional[str] = ..., size: _Optional[int] = ...) -> None: ...

class SpanLink(_message.Message):
    __slots__ = ("trace_id", "span_id")
    TRACE_ID_FIELD_NUMBER: _ClassVar[int]
    SPAN_ID_FIELD_NUMBER: _ClassVar[int]
    trace_id: str
    span_id: str
    def __init__(self, trace_id: _Optional[str] = ..., span_id: _Optional[str] = ...) -> None: ...

class Gap(_message.Message):
    __slots__ = ("field", "kind", "setting")
    FIELD_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    SETTING_FIELD_NUMBER: _ClassVar[int]
    field: str
    kind: str
    setting: str
    def __init__(self, field: _Optional[str] = ..., kind: _Optional[str] = ..., setting: _Optional[str] = ...) -> None: ...
