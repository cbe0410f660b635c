"""The study file of a search: what identifies it, and what is written down with it."""

from dataclasses import dataclass, replace
from pathlib import Path

from dse.base.digests import text_digest
from dse.base.errors import OptionError
from dse.base.paths import is_file_there
from dse.explore.batch import BATCH
from dse.explore.evaluator import Budget
from dse.explore.objectives.front import MAKESPAN_ONLY
from dse.explore.space.space import Space
from dse.flows.clocks import clock_domains, domains_text
from dse.flows.deliver import RANKING, set_results_aside
from dse.flows.kept_weights import KeptWeights, kept_weights
from dse.flows.manifest import platform_digest, tool_manifest, trace_manifest, weights_digest
from dse.flows.measured import measuring
from dse.flows.options import ExploreOptions
from dse.flows.setting import Setting
from dse.flows.study_options import STUDY_FILE, is_study_file
from dse.formats.study_file import StudyStore, create_study, damaged, move_aside, read_study, resume_study
from dse.formats.study_place import put_beside

STORE_NAME = "study.sqlite"


_REFINED = "refined"
"""Under this key a study says how many rounds of refining its weights rest on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """The store of a study, in words what of an earlier one was ``moved`` aside for it, and ``options.refined``."""

    store: StudyStore
    moved: str
    refined: int


def open_store(out: Path, options: ExploreOptions, setting: Setting, space: Space) -> Opened:
    """Return the store of the study that a search begins or continues.

    What is continued behind a round of refining is the search with the new weights, though it had not begun yet.
    """
    path = out / STORE_NAME
    identity = _identity(options, setting, space)
    refined = _not_begun(path, identity, out, options) if options.resume else None
    if options.resume and refined is None:
        if is_file_there(path) and not path.stat().st_size and (out / RANKING).exists():
            raise damaged(path, f"it is empty, and a {RANKING} lies beside it")
        manifest = dict(search_manifest(options, setting, options.budget))
        store = resume_study(path, setting.trace.topology, identity, manifest)
        return Opened(store=store, moved="", refined=int(store.noted(_REFINED) or 0))
    of = options if refined is None else replace(options, refined=refined)
    store, moved = _begun(out, of, setting, identity)
    return Opened(store=store, moved=moved, refined=of.refined)


def refined_weights(out: Path, options: ExploreOptions) -> KeptWeights | None:
    """Return the set in a folder that a search was, or is to be, refined with; None where there is none."""
    kept = kept_weights(out) if measuring(options) is not None else None
    return kept if kept is not None and kept.rounds is not None else None


def _not_begun(path: Path, identity: dict[str, str], out: Path, options: ExploreOptions) -> int | None:
    """Return the number of rounds of a search that was to begin with refined weights; None where it has begun.

    Then the study in the folder is still the one before, or has been moved aside.
    Raises as ``read_study`` and ``kept_weights``.
    """
    kept = refined_weights(out, options)
    if kept is None or kept.rounds is None:
        return None
    if path.is_file() and path.stat().st_size:  # an empty one was killed before its first commit
        stored = dict(read_study(path).identity)
        others = {*stored, *identity} - {"weights", "platform"}
        if stored.get("weights") != kept.rounds.weights or any(stored.get(k) != identity.get(k) for k in others):
            return None
    return len(kept.rounds)


def _begun(out: Path, options: ExploreOptions, setting: Setting, identity: dict[str, str]) -> tuple[StudyStore, str]:
    """Return the store of a new study, and in words what of an earlier one was moved aside for it."""
    path = out / STORE_NAME
    manifest = dict(search_manifest(options, setting, options.budget))
    study = move_aside(path)
    store = create_study(path, setting.trace.topology, identity, manifest)
    try:
        results = set_results_aside(out, study)  # the folder is ours now: the study is locked
        _set_description_aside(out, study or results, options.study_file)
    except OptionError:
        store.close()
        raise
    moved = [f"an earlier study in the folder was moved to {study.name}"] if study else []
    if results:
        moved.append(f"its results to {results.name}" if study else f"earlier results were moved to {results.name}")
    return store, ", ".join(moved)


def _set_description_aside(out: Path, beside: Path | None, used: Path | None) -> None:
    """Rename the study file of an earlier search, or whatever has its name, unless it is the one that is ``used``.

    Raises ``OptionError`` where it cannot be renamed.
    """
    path = out / STUDY_FILE
    if is_study_file(path, used) or not (path.exists() or path.is_symlink()):
        return
    try:
        put_beside(path, beside)
    except OSError as cause:
        raise OptionError(
            f"cannot move the earlier '{path}' aside: {cause.strerror or cause}",
            expected="choose another folder with --out",
        ) from cause


def _identity(options: ExploreOptions, setting: Setting, space: Space) -> dict[str, str]:
    """Return what has to be equal for stored evaluations, and the order of their making, to hold.

    The budget is left out: more of it continues a study. So is the engine: all give the same integers.
    """
    objectives = {} if options.objectives == MAKESPAN_ONLY else {"objectives": ",".join(options.objectives)}
    batch = {} if options.batch == BATCH else {"batch": str(options.batch)}
    return {
        **objectives,
        **batch,
        **({} if options.screening else {"screening": "no"}),
        **({"policy of each partition": "yes"} if options.policy_per_partition else {}),
        **({"clocks": domains_text(space.options.clocks)} if options.clocks else {}),
        **({} if setting.problem.scaling is None else {"scaling": setting.problem.scaling.digest}),
        "trace": setting.trace.digest,
        "weights": weights_digest(setting.problem.weights),
        "missing weights": setting.problem.missing_weights,
        "platform": platform_digest(setting.platform),
        "partitions": f"{space.least}-{space.most}",
        "gpu-capable and pinned": text_digest(repr(space.allowed)),
        **({} if space.symmetry is None else {"identical actors": text_digest(repr(space.symmetry))}),
        "policies": ",".join(options.policies),
        "buffers": text_digest(repr(space.options.capacities)),
        "release": options.release,
        "transfers": options.transfers,
        "method": options.method,
        "seed": str(options.seed),
    }


def search_manifest(options: ExploreOptions, setting: Setting, budget: Budget | None) -> tuple[tuple[str, str], ...]:
    """Return where the results of a search came from: tools, inputs, options."""
    spent = "default" if budget is None else f"{budget.evaluations} evaluations, {budget.seconds} seconds"
    return (
        *tool_manifest(),
        *setting.manifest,
        *trace_manifest(setting.trace),
        ("engine", options.problem.engine),
        ("method", options.method),
        ("seed", str(options.seed)),
        ("budget", spent.replace("None", "unlimited")),
        ("policies", ",".join(options.policies)),
        ("release", options.release),
        ("transfers", options.transfers),
        *(((_REFINED, str(options.refined)),) if options.refined else ()),
        *((("clocks", domains_text(clock_domains(options.clocks, setting.platform))),) if options.clocks else ()),
        *(() if setting.problem.scaling is None else (("scaling", setting.problem.scaling.name),)),
    )
