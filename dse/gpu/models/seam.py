"""The seam of the kernel cost models: ``applies`` and ``predict`` from features and a device, nothing else."""

from typing import Protocol

from dse.base.errors import ModelNotApplicable
from dse.model.device import Device
from dse.model.kernel import KernelFeatures
from dse.model.kernel_cost import Applicability, KernelCost


class KernelCostModel(Protocol):
    """A kernel cost model."""

    @property
    def name(self) -> str:
        """The name in the registry."""
        ...

    @property
    def paper(self) -> str:
        """Where the equations stand."""
        ...

    @property
    def constants(self) -> tuple[str, ...]:
        """The fields of ``Device`` that it cannot do without."""
        ...

    def applies(self, features: KernelFeatures, device: Device) -> Applicability:
        """Return whether the model covers the kernel, with the reason when it does not."""
        ...

    def predict(self, features: KernelFeatures, device: Device) -> KernelCost:
        """Return the cost. Raises ``ModelNotApplicable`` when it does not apply, ``FormatError`` without a constant."""
        ...


def refuse(model: KernelCostModel, features: KernelFeatures, device: Device) -> None:
    """Raise ``ModelNotApplicable`` with the reason when the model does not cover the kernel."""
    answer = model.applies(features, device)
    if not answer.applies:
        raise ModelNotApplicable(
            f"{model.name} does not cover kernel '{features.kernel}' on {device.name}: {answer.reason}",
            span=features.span,
            expected="another model (--model), another kernel, or another device",
        )
