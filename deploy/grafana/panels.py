"""The few shapes of panel that the dashboards are made of. Each has a title, a description and a unit, or it is not made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from grafana_foundation_sdk.builders import bargauge, common, dashboard, heatmap, prometheus, stat, table, timeseries
from grafana_foundation_sdk.models import common as common_models
from grafana_foundation_sdk.models import dashboard as models
from grafana_foundation_sdk.models import prometheus as prometheus_models

DATASOURCE = models.DataSourceRef(type_val="prometheus", uid="${datasource}")
TARGET = (
    'otel_eval_target_service=~"$service", otel_eval_target_environment=~"$environment", gen_ai_agent_name=~"$agent"'
)
"""Whose Interactions: a label that is not there counts as empty, which "All" (.*) matches."""
EVALUATION = f'{TARGET}, gen_ai_evaluation_name=~"$evaluator"'
LIVE = f'{EVALUATION}, otel_eval_origin="live"'
OUTCOME_COLORS = {"passed": "green", "failed": "red", "inconclusive": "yellow", "error": "purple"}
Z = 1.6449


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """One expression. ``exemplars``: its points link to the judged traces (counters and histogram buckets only)."""

    expression: str
    legend: str = ""
    exemplars: bool = False
    instant: bool = False
    heatmap: bool = False
    name: str = ""

    def build(self, reference: str) -> prometheus.Dataquery:
        query = prometheus.Dataquery().datasource(DATASOURCE).expr(self.expression).ref_id(self.name or reference)
        query = query.legend_format(self.legend or "__auto")
        if self.instant:
            query = query.instant()
        else:
            query = query.range().exemplar(self.exemplars)
        if self.instant and self.name:
            query = query.format(prometheus_models.PromQueryFormat.TABLE)
        if self.heatmap:
            query = query.format(prometheus_models.PromQueryFormat.HEATMAP)
        return query


def lines(
    title: str, description: str, unit: str, *queries: Query, width: int = 12, stacked: bool = False
) -> timeseries.Panel:
    """Lines over time; stacked, bars."""
    panel = _of(timeseries.Panel(), title, description, unit, queries).span(width).height(8)
    panel = panel.legend(common.VizLegendOptions().show_legend(True).placement(common_models.LegendPlacement.BOTTOM))
    panel = panel.tooltip(common.VizTooltipOptions().mode(common_models.TooltipDisplayMode.MULTI))
    if stacked:
        panel = panel.draw_style(common_models.GraphDrawStyle.BARS).fill_opacity(70).line_width(0)
        panel = panel.stacking(common.StackingConfig().mode(common_models.StackingMode.NORMAL).group("A"))
    else:
        panel = panel.line_width(2).span_nulls(300_000)
    for outcome, color in OUTCOME_COLORS.items():
        panel = panel.override_by_name(outcome, [_value("color", {"mode": "fixed", "fixedColor": color})])
    return panel


def band(title: str, description: str, rate: str, conclusive: str, floor: str, *, width: int = 16) -> timeseries.Panel:
    """A pass rate between its Wilson bounds (95 % on each side), over its floor.

    ``rate`` and ``conclusive`` are expressions of one series each.
    """
    centre, spread = (
        f"({conclusive}) * ({rate}) + {Z * Z / 2:.4f}",
        f"{Z} * sqrt(clamp_min(({conclusive}) * ({rate}) * (1 - ({rate})), 0) + {Z * Z / 4:.4f})",
    )
    bound = f"/ (({conclusive}) + {Z * Z:.4f})"
    panel = lines(
        title,
        description,
        "percentunit",
        Query(expression=f"({centre} - {spread}) {bound}", legend="lower bound"),
        Query(expression=f"({centre} + {spread}) {bound}", legend="upper bound"),
        Query(expression=rate, legend="pass rate"),
        Query(expression=floor, legend="floor"),
        width=width,
    )
    edge = [_value("custom.lineWidth", 0), _value("color", {"mode": "fixed", "fixedColor": "blue"})]
    fill = [_value("custom.fillBelowTo", "lower bound"), _value("custom.fillOpacity", 20)]
    panel = panel.min(0).max(1).override_by_name("lower bound", edge).override_by_name("upper bound", edge + fill)
    panel = panel.override_by_name("pass rate", [_value("color", {"mode": "fixed", "fixedColor": "blue"})])
    dashes = _value("custom.lineStyle", {"fill": "dash", "dash": [8, 8]})
    return panel.override_by_name("floor", [dashes, _value("color", {"mode": "fixed", "fixedColor": "red"})])


def number(
    title: str, description: str, unit: str, expression: str, *, steps: Sequence[tuple[float | None, str]] = ()
) -> stat.Panel:
    """One number, coloured by steps where there are any."""
    panel = _of(stat.Panel(), title, description, unit, [Query(expression=expression, instant=True)]).span(4).height(4)
    panel = panel.graph_mode(common_models.BigValueGraphMode.NONE)
    thresholds = [models.Threshold(value=value, color=color) for value, color in steps or [(None, "text")]]
    return panel.thresholds(dashboard.ThresholdsConfig().mode(models.ThresholdsMode.ABSOLUTE).steps(thresholds))


def bars(title: str, description: str, unit: str, query: Query, *, width: int = 8) -> bargauge.Panel:
    """A bar for each series, now."""
    panel = _of(bargauge.Panel(), title, description, unit, [query]).span(width).height(8)
    panel = panel.orientation(common_models.VizOrientation.HORIZONTAL)
    return panel.display_mode(common_models.BarGaugeDisplayMode.BASIC)


def heat(title: str, description: str, unit: str, query: Query, *, width: int = 12) -> heatmap.Panel:
    """A histogram over time, with its exemplars."""
    panel = _of(heatmap.Panel(), title, description, unit, [query]).span(width).height(8)
    return panel.exemplars_color("rgba(255,0,255,0.7)").show_y_histogram()


def grid(
    title: str, description: str, queries: dict[str, tuple[str, str]], hidden: Sequence[str], *, width: int = 24
) -> table.Panel:
    """A table of instant queries, joined on their labels: column title to (expression, unit)."""
    named = [
        Query(expression=expression, instant=True, name=chr(ord("A") + index))
        for index, (expression, _) in enumerate(queries.values())
    ]
    panel = _of(table.Panel(), title, description, "short", named).span(width).height(10)
    titles = {f"Value #{query.name}": column for query, column in zip(named, queries, strict=True)}
    panel = panel.with_transformation(models.DataTransformerConfig(id_val="merge", options={}))
    panel = panel.with_transformation(
        models.DataTransformerConfig(
            id_val="organize",
            options={"excludeByName": dict.fromkeys(["Time", *hidden], True), "renameByName": titles},
        )
    )
    for column, (_, unit) in queries.items():
        panel = panel.override_by_name(column, [_value("unit", unit)])
    return panel


def link(panel: dashboard.Panel, title: str, url: str) -> dashboard.Panel:
    """The panel with a link on each of its points."""
    return panel.data_links([dashboard.DashboardLink(title).url(url)])


def framed(uid: str, title: str, description: str, *variables: object) -> dashboard.Dashboard:
    """An empty dashboard with what all of ours have: the data source, links to the others, the last six hours."""
    frame = dashboard.Dashboard(title).uid(uid).description(description).tags(["otel-eval"]).time("now-6h", "now")
    frame = frame.refresh("1m").tooltip(models.DashboardCursorSync.CROSSHAIR).timezone("browser").editable()
    others = dashboard.DashboardLink("otel-eval").type(models.DashboardLinkType.DASHBOARDS).tags(["otel-eval"])
    frame = frame.link(others.as_dropdown(False).include_vars(True).keep_time(True))
    source = dashboard.DatasourceVariable("datasource").label("Prometheus").type("prometheus")
    for variable in (source, *variables):
        frame = frame.with_variable(variable)
    return frame


def choice(name: str, label: str, description: str, values: str, *, many: bool = True) -> dashboard.QueryVariable:
    """A variable over the values of a label, all of them by default."""
    variable = dashboard.QueryVariable(name).label(label).description(description).datasource(DATASOURCE)
    variable = variable.query(values).refresh(models.VariableRefresh.ON_TIME_RANGE_CHANGED)
    variable = variable.sort(models.VariableSort.ALPHABETICAL_ASC)
    if not many:
        return variable
    return (
        variable.multi(True)
        .include_all(True)
        .all_value(".*")
        .current(models.VariableOption(selected=True, text="All", value="$__all"))
    )


def window() -> dashboard.CustomVariable:
    """Over which window pass rates are taken: those that recording rules exist for."""
    variable = dashboard.CustomVariable("window").label("Over").description("The window of pass rate and coverage.")
    return variable.values("5m,30m,1h,6h,1d,3d").current(models.VariableOption(selected=True, text="1h", value="1h"))


def whom() -> list[dashboard.QueryVariable]:
    """Service, environment and agent, each narrowed by the one before."""
    counted = "otel_eval_interactions_total"
    service = 'otel_eval_target_service=~"$service"'
    environment = 'otel_eval_target_environment=~"$environment"'
    return [
        choice(
            "service", "Service", "service.name of the agent.", f"label_values({counted}, otel_eval_target_service)"
        ),
        choice(
            "environment",
            "Environment",
            "deployment.environment.name of the agent.",
            f"label_values({counted}{{{service}}}, otel_eval_target_environment)",
        ),
        choice(
            "agent",
            "Agent",
            "gen_ai.agent.name.",
            f"label_values({counted}{{{service}, {environment}}}, gen_ai_agent_name)",
        ),
    ]


def _of(panel: dashboard.Panel, title: str, description: str, unit: str, queries: Sequence[Query]) -> dashboard.Panel:
    panel = panel.title(title).description(description).unit(unit).datasource(DATASOURCE)
    for index, query in enumerate(queries):
        panel = panel.with_target(query.build(chr(ord("A") + index)))
    return panel


def _value(identifier: str, value: object) -> models.DynamicConfigValue:
    return models.DynamicConfigValue(id_val=identifier, value=value)
