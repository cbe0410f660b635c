"""Optuna's default sampler, TPE (Akiba et al. 2019; Bergstra et al. 2011), with a categorical variable an actor."""

import optuna

from benchmarks.search.peers.peer import Peer
from dse.explore.methods.scripted import Script


class OptunaTpe(Peer):
    """One trial after the other."""

    def _script(self) -> Script:
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=self._seed()))
        values = self._variables.values
        while True:
            trial = study.ask()
            indices = [trial.suggest_categorical(f"a{a}", range(len(own))) for a, own in enumerate(values)]
            (cost,) = yield from self._costs([indices])
            study.tell(trial, cost)
