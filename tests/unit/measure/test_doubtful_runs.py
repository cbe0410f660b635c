"""What is said of runs that were disturbed by themselves, or that are over at once."""

from dse.measure.doubtful_runs import RunFigures, doubts, run_figures


def figures(name: str, ms: float, stalls: float) -> RunFigures:
    return RunFigures(name=name, run_ns=ms * 1e6, stalls=stalls)


def test_threads_that_meet_at_a_lock_are_told() -> None:
    (said,) = doubts([figures("#1", 3.3, 117), figures("#2", 26.0, 1), figures("#3", 3.0, 85)])
    assert said.startswith(
        "#1 and 1 more: threads slept beside waiting for tokens, as at a lock, 117 times in 3.3 ms of #1"
    )
    assert said.endswith("put actors that share a file, a display or another native on one core")


def test_few_of_them_or_few_a_millisecond_are_no_doubt() -> None:
    assert not list(doubts([figures("a", 2.0, 10), figures("b", 20.0, 40)]))
    assert len(list(doubts([figures("a", 2.0, 11)]))) == 1
    assert len(list(doubts([figures("b", 20.0, 41)]))) == 1


def test_a_short_run_is_told_with_what_to_do() -> None:
    (said,) = doubts([figures("a", 0.999, 3), figures("b", 0.58, 2), figures("c", 1.0, 0)])
    assert said.startswith("a and 1 more: runs of 0.58 ms are too short to say much")
    assert said.endswith("repeat it with -l N where the network can")


def test_figures_are_medians_and_stalls_that_are_not_told_are_none() -> None:
    assert run_figures("a", [3.0, 1.0, 2.0], [5, None, 7]) == RunFigures(name="a", run_ns=2.0, stalls=6)
    assert run_figures("a", [3.0], [None]).stalls == 0.0
