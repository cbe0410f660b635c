"""Attacks on the files that users write: well-formed mostly, with numbers, names and structure that cannot be."""

import gzip
import random
from pathlib import Path

from tests.fuzz.mutations import mutate_lines, mutate_numbers, mutate_xml
from tests.fuzz.running import first_fault

_ROOT = Path(__file__).resolve().parents[2]

ACTOR = """package demo;
actor Step(int FACTOR = 3, int N = 4) int(size=16) In ==> int(size=32) Out :
    List(type: int(size=16), size=N) table = [i * FACTOR + 1 : for int i in 0 .. N - 1];
    int(size=24) sum := 0x1F;
    uint(size=8) shifted = 1 << 5;
    f: action In:[a] repeat 2 ==> Out:[sum] do
        foreach int i in 0 .. 1 do sum := sum + a[i] * table[i] - 100; end
    end
end
"""
SOURCE = """package demo;
actor Source(int COUNT = 6) ==> int(size=16) Out :
    int n := 0;
    action ==> Out:[n * 7] guard n < COUNT do n := n + 1; end
end
"""
SINK = """package demo;
actor Sink() int(size=32) In ==> :
    action In:[v] ==> do println("v " + v); end
end
"""
NETWORK = """<?xml version="1.0" encoding="UTF-8"?>
<XDF name="demo">
    <Decl kind="Variable" name="k">
        <Type name="int"><Entry kind="Expr" name="size">
            <Expr kind="Literal" literal-kind="Integer" value="32"/></Entry></Type>
        <Expr kind="BinOpSeq"><Expr kind="Literal" literal-kind="Integer" value="3"/><Op name="+"/>
            <Expr kind="Literal" literal-kind="Integer" value="1"/></Expr>
    </Decl>
    <Instance id="source"><Class name="demo.Source"/>
        <Parameter name="COUNT"><Expr kind="Literal" literal-kind="Integer" value="6"/></Parameter></Instance>
    <Instance id="step"><Class name="demo.Step"/>
        <Parameter name="FACTOR"><Expr kind="Var" name="k"/></Parameter>
        <Parameter name="N"><Expr kind="Literal" literal-kind="Integer" value="4"/></Parameter></Instance>
    <Instance id="sink"><Class name="demo.Sink"/></Instance>
    <Connection src="source" src-port="Out" dst="step" dst-port="In"/>
    <Connection src="step" src-port="Out" dst="sink" dst-port="In">
        <Attribute kind="Value" name="bufferSize"><Expr kind="Literal" literal-kind="Integer" value="64"/></Attribute>
    </Connection>
</XDF>
"""
PLATFORM = """name: p
units:
  cpu: {kind: cpu, cores: 4, clock_mhz: {value: 2900, source: "sheet"}, power_watt: 65, memory_bytes: 8000000000,
        clock_range_mhz: [800, 3600], power_static_watt: 10, power_exponent: 3}
  little: {kind: cpu, cores: 2, clock_mhz: 1200, power_watt: 5, power_watt_at_mhz: {600: 2, 1200: 5}}
  gpu: {kind: gpu, clock_mhz: 1800, partition: PG, device: jetson-tk1}
links:
  pcie: {between: [cpu, gpu], latency_ns: 900, bandwidth_gb_s: 12, shared: true, directions: 1}
dynamic_network: false
gpu_capable: auto
"""
MAPPING = """<?xml version="1.0"?>
<Configuration xmlns:d="urn:dse:design-point:1" d:release="reading" d:transfers="sequential">
  <Partitioning>
    <Partition id="P0" scheduling="NON_PREEMPTIVE" d:cores="1" d:clock-mhz="1200"><Instance id="source"/></Partition>
    <Partition id="P1" scheduling="STATIC_ORDER" pe="1"><Instance id="step"/><Instance id="sink"/>
      <d:order><Instance id="step"/><Instance id="sink"/></d:order></Partition>
  </Partitioning>
  <connections><connection source="source" source-port="Out" target="step" target-port="In" size="64"/></connections>
</Configuration>
"""
SIZES = """<?xml version="1.0"?>
<bxdf network="demo" default-size="512">
  <connection source="source" source-port="Out" target="step" target-port="In" size="64"/>
  <connection source-actor="step" source-port="Out" target-actor="sink" target-port="In" size="4"/>
</bxdf>
"""
COMPUTE = """<?xml version="1.0"?>
<network name="demo" frequency-unit="MHz">
  <actor id="source" frequency="2900"><action id="action_0" clockcycles="10.5" clockcycles-min="1" clockcycles-max="20"
    clockcycles-var="3" firings="6"><block size="1" clockcycles="10"/>
    <block size="2" clockcycles="11"/></action></actor>
  <actor id="step" frequency="2900"><action id="f" clockcycles="33" frequency="1000"/></actor>
</network>
"""
SCHEDULING = """<?xml version="1.0"?>
<network name="demo">
  <actor id="step" frequency="2900"><scheduling source="" target="f" clockcycles="5" firings="2"/></actor>
</network>
"""
COMMUNICATION = """<?xml version="1.0"?>
<communication network="demo">
  <buffer source-actor="source" source-port="Out" target-actor="step" target-port="In">
    <memory level="1"><read type="hit" percentage="0.9" latency="4" frequency="2900"/>
      <read type="miss" percentage="0.1" latency="100" frequency="1000"/></memory>
    <write fifo="host" unit="cpu" latency="100" latency-per-token="2.5" latency-min="1" latency-max="200" count="3"/>
  </buffer>
</communication>
"""
KERNEL = """#define N 64
#define STEP (1 + 1)
void kernel(float a[N], float b[N][N], int n) {
  for (int i = 0; i < N; i++) {
    float s = 0.5f;
    for (int j = 0; j < N; j += 2) s += b[i][j] * 0x10 / (3 << 1);
    a[i] = s;
  }
}
"""
_WEIGHTS = {".exdf": COMPUTE, ".sxdf": SCHEDULING, ".cxdf": COMMUNICATION}


def write_demo(folder: Path) -> Path:
    """Write the network of the attacks and return its path."""
    (folder / "demo").mkdir(parents=True, exist_ok=True)
    for name, text in (("Step", ACTOR), ("Source", SOURCE), ("Sink", SINK)):
        (folder / "demo" / f"{name}.cal").write_text(text)
    network = folder / "demo.xdf"
    network.write_text(NETWORK)
    return network


def _written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8", errors="surrogateescape")
    return path


def _times(rng: random.Random) -> int:
    return rng.choice((1, 1, 1, 2, 4))


def platform(rng: random.Random, folder: Path) -> str | None:
    """Attack with a platform file."""
    network = write_demo(folder)
    change = rng.choice((mutate_numbers, mutate_lines))
    path = _written(folder / "p.yaml", change(rng, PLATFORM, _times(rng)))
    quiet = ["--platform", str(path), "--quiet"]
    return first_fault(
        [
            ["estimate", str(network), *quiet],
            [
                "explore",
                str(network),
                *quiet,
                "--budget",
                "4",
                "--out",
                str(folder / "out"),
                "--objectives",
                "makespan,energy",
            ],
            ["explore", str(network), *quiet, "--budget", "4", "--out", str(folder / "out2")],
        ]
    )


def device(rng: random.Random, folder: Path) -> str | None:
    """Attack with a device file."""
    name = rng.choice(("jetson-tk1", "gtx1660s"))
    text = next(_ROOT.glob(f"configs/platforms/devices/{name}.yaml")).read_text()
    change = rng.choice((mutate_numbers, mutate_numbers, mutate_lines))
    path = _written(folder / "d.yaml", change(rng, text, _times(rng)))
    kernel = _written(folder / "k.c", KERNEL)
    model = rng.choice((["--model", "cgpredict"], ["--model", "memory_pipeline"]))
    return first_fault(
        [
            ["gpu", "predict", str(kernel), "--device", str(path), *model],
            ["gpu", "choose", str(kernel), "--devices", str(path), "--with-host", "--json", *model],
        ]
    )


def kernel(rng: random.Random, folder: Path) -> str | None:
    """Attack with a C file."""
    path = _written(folder / "k.c", rng.choice((mutate_numbers, mutate_lines))(rng, KERNEL, _times(rng)))
    return first_fault([["gpu", "predict", str(path), "--trace-size", "4"]])


def weights(rng: random.Random, folder: Path) -> str | None:
    """Attack with one of the three weight files."""
    network = write_demo(folder)
    suffix = rng.choice(tuple(_WEIGHTS))
    text = _WEIGHTS[suffix]
    path = _written(folder / f"w{suffix}", rng.choice((mutate_numbers, mutate_xml))(rng, text, _times(rng)))
    given = ["--weights", str(path), "--missing-weights", rng.choice(("zero", "nominal", "error")), "--quiet"]
    return first_fault(
        [
            ["weights", "show", str(path)],
            ["weights", "convert", str(path), "-o", str(folder / f"again{suffix}")],
            ["estimate", str(network), *given],
            ["explore", str(network), *given, "--budget", "4", "--out", str(folder / "out")],
        ]
    )


def mapping(rng: random.Random, folder: Path) -> str | None:
    """Attack with a mapping file, or a file of buffer sizes."""
    network = write_demo(folder)
    change = rng.choice((mutate_numbers, mutate_xml))
    if rng.random() < 0.7:
        path = _written(folder / "m.xcf", change(rng, MAPPING, _times(rng)))
        return first_fault(
            [
                ["estimate", str(network), "--mapping", str(path), "--quiet", "--platform", "big-little"],
                ["buffers", str(network), "--mapping", str(path), "--quiet"],
            ]
        )
    path = _written(folder / "s.bxdf", change(rng, SIZES, _times(rng)))
    return first_fault([["estimate", str(network), "--buffers", str(path), "--quiet"]])


def turnus(rng: random.Random, folder: Path) -> str | None:
    """Attack with a trace of TURNUS or its network model."""
    case = _ROOT / "tests/golden/turnus/case_04"
    net, trace = (case / "top.net").read_text(), (case / "top.trace").read_text()
    if rng.random() < 0.5:
        net = mutate_xml(rng, net, _times(rng))
    else:
        trace = mutate_xml(rng, trace, _times(rng))
    _written(folder / "t.net", net)
    data = trace.encode(errors="surrogateescape")
    path = folder / "t.trace"
    if rng.random() < 0.3:
        path = folder / "t.tracez"
        data = gzip.compress(data)
        if rng.random() < 0.5:
            at = rng.randrange(len(data))
            data = data[:at] + bytes([rng.randrange(256)]) + data[at + 1 :]
    path.write_bytes(data)
    return first_fault(
        [
            ["trace", "--import", str(path), "-o", str(folder / "t.trc")],
            ["trace", str(folder / "t.trc"), "--export", str(folder / "again.trace")],
            ["estimate", str(path), "--missing-weights", "zero", "--quiet"],
        ]
        if rng.random() < 0.5
        else [["trace", "--import", str(path)], ["estimate", str(path), "--missing-weights", "zero", "--quiet"]]
    )


def network(rng: random.Random, folder: Path) -> str | None:
    """Attack with an XDF network."""
    path = write_demo(folder)
    _written(path, rng.choice((mutate_numbers, mutate_xml))(rng, NETWORK, _times(rng)))
    return first_fault(
        [
            ["check", str(path)],
            ["run", str(path), "--max-firings", "2000"],
            ["estimate", str(path), "--quiet"],
        ]
    )


def actor(rng: random.Random, folder: Path) -> str | None:
    """Attack with a CAL actor."""
    path = write_demo(folder)
    _written(folder / "demo" / "Step.cal", rng.choice((mutate_numbers, mutate_lines))(rng, ACTOR, _times(rng)))
    return first_fault([["check", str(path)], ["run", str(path), "--max-firings", "2000"]])
