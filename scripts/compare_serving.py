#!/usr/bin/env python3
"""Compare `miriam serve` with CTranslate2 behind FastAPI and uvicorn, or with its own aims.

    python3 -m venv venv
    venv/bin/pip install ctranslate2 fastapi 'uvicorn[standard]' numpy pyyaml
    venv/bin/python scripts/compare_serving.py race
    venv/bin/python scripts/compare_serving.py targets --ini moses.ini --text text.de

race: the model has random weights, for each program in its own format; 25 tokens in, exactly 25 out,
greedy, int8. The peer is a simple server, a page of code: requests wait 5 ms for others, and a
batch is translated on one thread. Both servers answer the same requests of `miriam bench serve`, in
turn, so that a busy machine slows both. The ratio of CPU times is the peer's CPU time for a request
divided by Miriam's. Then both get the same load at random times, 70 % of what the slower one can
answer.

targets: what the aims (docs/experiments.md, Serving) are about: throughput against the command
line, short requests to a language model (--lm), an open loop against an ideal queue, batches,
overload, reloads, cold start. --ini is a phrase-based system; --binary, if given, is measured in
its place: the same system with binary tables, which are mapped. The neural model is that of the
race.
"""

import argparse
import csv
import os
import re
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

sys.dont_write_bytecode = True
from random_nmt import Model, save_vocabulary, sentences, shape_of

LENGTH, WORDS, ENDLESS = 25, 32000, -1e4

PEER = '''
import asyncio, sys
import ctranslate2
from fastapi import FastAPI
from pydantic import BaseModel

class Asked(BaseModel):
    text: str

app = FastAPI()
translator = ctranslate2.Translator(%r, compute_type="int8", inter_threads=1, intra_threads=1)
waiting = []
arrived = None

def translate(batch):
    results = translator.translate_batch([tokens for tokens, _ in batch], max_batch_size=64,
                                         beam_size=1, min_decoding_length=%d, max_decoding_length=%d)
    return [" ".join(result.hypotheses[0]) for result in results]

async def work():
    loop = asyncio.get_running_loop()
    while True:
        await arrived.wait()
        await asyncio.sleep(0.005)
        batch, waiting[:] = waiting[:64], waiting[64:]
        if not waiting:
            arrived.clear()
        texts = await loop.run_in_executor(None, translate, batch)
        for (_, future), text in zip(batch, texts):
            if not future.cancelled():
                future.set_result(text)

@app.on_event("startup")
async def start():
    global arrived
    arrived = asyncio.Event()
    asyncio.create_task(work())

@app.post("/v1/translate")
async def answer(asked: Asked):
    future = asyncio.get_running_loop().create_future()
    waiting.append((asked.text.split(), future))
    arrived.set()
    return {"results": [{"translations": [{"text": await future}]}]}
'''


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


class Server:
    """A process that serves, until the end of the block."""

    def __init__(self, command, port, ready, **options):
        self.port, self.started = port, time.perf_counter()
        # A file, because a server that fills a pipe which nobody reads would wait.
        messages = tempfile.TemporaryFile()
        self.process = subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL,
                                        stderr=messages, **options)
        while True:
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}{ready}", timeout=5)
                break
            except Exception:
                if self.process.poll() is not None:
                    messages.seek(0)
                    sys.exit(messages.read().decode()[-2000:])
                time.sleep(0.002)
        self.start_seconds = time.perf_counter() - self.started

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()

    def metric(self, name):
        page = urllib.request.urlopen(f"http://127.0.0.1:{self.port}/metrics").read().decode()
        return float(re.search(rf"^{name} (\S+)$", page, re.M).group(1))


class Bench:
    """Puts loads on servers by `miriam bench serve`."""

    def __init__(self, miriam, folder):
        self.miriam, self.folder = miriam, folder

    def load(self, server, text, *options):
        """Runs a load, and returns its requests with the CPU seconds of the server."""
        output = self.folder / "load"
        command = [self.miriam, "bench", "serve", f"http://127.0.0.1:{server.port}", "-i", text,
                   "-o", output, "--pid", server.process.pid, *options]
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
        if done.returncode:
            sys.exit(done.stderr)
        with open(output / "requests.csv") as file:
            rows = [(float(row["intended_s"]), float(row["sent_s"]), float(row["done_s"]), row["outcome"])
                    for row in csv.DictReader(file)]
        cpu = float(re.search(r"server\s+([\d.]+) s of CPU time", done.stdout).group(1))
        return Load(rows, cpu)


class Load:
    def __init__(self, rows, cpu):
        self.rows, self.cpu = sorted(rows), cpu
        good = [row for row in rows if row[3] == "200"]
        self.rate = len(good) / max(row[2] for row in rows)
        self.cpu_each = cpu / len(rows)
        self.latencies = sorted(row[2] - row[0] for row in good)

    def percentile(self, percent):
        return 1e3 * self.latencies[min(len(self.latencies) - 1, int(percent / 100 * len(self.latencies)))]

    def outcomes(self):
        found = {}
        for row in self.rows:
            found[row[3]] = found.get(row[3], 0) + 1
        return found


def spread(values, digits=2):
    return f"{statistics.median(values):.{digits}f} ({min(values):.{digits}f} to {max(values):.{digits}f})"


def make_model(folder, shape):
    """Makes the random model in CTranslate2's format, and a text for it."""
    from compare_ctranslate2 import convert
    npz, vocabulary, model = folder / "model.npz", folder / "vocab.yml", folder / "ct2"
    Model("transformer", shape_of(shape), WORDS, end=ENDLESS).save_npz(npz)
    save_vocabulary(WORDS, vocabulary)
    convert(npz, vocabulary, model, quantization="int8")
    text = folder / "text"
    text.write_text("".join(" ".join(line) + "\n" for line in sentences(500, LENGTH - 1, WORDS)))
    return model, text


def convert_ours(a, folder, model):
    """Converts the model to a file of Miriam, which is mapped."""
    ours = folder / "model.miriam"
    seconds_of([a.miriam, "nmt", "convert", model, "--quiet", "--precision", "i8", "-o", ours])
    return ours


def neural_server(a, folder, model, more=""):
    port, config = free_port(), folder / "serve.toml"
    config.write_text(f'{more}\n[[model]]\nname = "m"\npath = "{model}"\nbeam = 1\nnormalize = 0.0\n'
                      f'max-length-factor = 1.0\nmini-batch = 64\nprecision = "i8"\n')
    return Server([a.miriam, "serve", "--config", config, "--threads", a.threads, "--no-tuner-file",
                   "--listen", f"127.0.0.1:{port}"], port, "/readyz")


def race(a, folder):
    bench = Bench(a.miriam, folder)
    model, text = make_model(folder, a.shape)
    ours = convert_ours(a, folder, model)
    port = free_port()
    (folder / "peer.py").write_text(PEER % (str(model), LENGTH, LENGTH))
    command = [sys.executable, "-m", "uvicorn", "peer:app", "--port", port, "--log-level", "error"]
    environment = dict(os.environ, OMP_NUM_THREADS="1")
    with neural_server(a, folder, ours) as ours, \
            Server(command, port, "/docs", cwd=folder, env=environment) as theirs:
        # Shows whether both do the same work.
        first = text.read_text().split("\n")[0]
        body = ('{"text": "%s"}' % first).encode()
        answers = []
        for server in (ours, theirs):
            request = urllib.request.Request(f"http://127.0.0.1:{server.port}/v1/translate", body,
                                             {"Content-Type": "application/json"})
            answers.append(len(urllib.request.urlopen(request).read().decode()
                               .split('"text":')[1].split('"')[1].split()))
        print(f"tokens of a translation: ours {answers[0]}, theirs {answers[1]}")
        saturation = []
        for clients in a.clients:
            ratios, cpu_ratios, rates = [], [], ([], [])
            for _ in range(a.n):
                loads = [bench.load(server, text, "--clients", clients, "--seconds", a.seconds)
                         for server in (ours, theirs)]
                ratios.append(loads[0].rate / loads[1].rate)
                cpu_ratios.append(loads[1].cpu_each / loads[0].cpu_each)
                for side, load in zip(rates, loads):
                    side.append(load.rate)
            print(f"{clients:>3} clients: ours {spread(rates[0], 0)} requests/s, theirs "
                  f"{spread(rates[1], 0)}; ratio {spread(ratios)}, of CPU time {spread(cpu_ratios)}",
                  flush=True)
            saturation.append(min(statistics.median(side) for side in rates))
        rate = 0.7 * max(saturation)
        tails = []
        for number in range(a.n):
            loads = [bench.load(server, text, "--rate", rate, "--seconds", a.seconds, "--seed", number)
                     for server in (ours, theirs)]
            tails.append([load.percentile(p) for load in loads for p in (50, 99)])
        for name, place in (("p50", 0), ("p99", 1)):
            ratios = [row[place] / row[place + 2] for row in tails]
            print(f"at {rate:.0f} requests/s, {name}: ours {spread([row[place] for row in tails])} ms, "
                  f"theirs {spread([row[place + 2] for row in tails])} ms; ours/theirs {spread(ratios)}")
        for name, server in (("ours", ours), ("theirs", theirs)):
            status = Path(f"/proc/{server.process.pid}/status").read_text()
            resident = int(re.search(r"VmRSS:\s+(\d+)", status).group(1)) / 1024
            print(f"memory, {name}: {resident:.0f} MiB")


def seconds_of(command):
    """Returns the CPU seconds and the wall seconds of a command."""
    started = time.perf_counter()
    process = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"status {process.returncode}: {' '.join(map(str, command))}")
    return usage.ru_utime + usage.ru_stime, time.perf_counter() - started


def cli_seconds_each(command, text, folder):
    """Returns the CPU seconds and the wall seconds that `command` takes for each line of a text:
    the slope between a short text and a long one."""
    lines = text.read_text().splitlines()
    lines = (lines * (1 + 800 // len(lines)))[:800]
    short, long = folder / "short", folder / "long"
    short.write_text("\n".join(lines[:200]) + "\n")
    long.write_text("\n".join(lines) + "\n")
    before, after = (seconds_of([*command, "-i", part]) for part in (short, long))
    return [(late - early) / 600 for early, late in zip(before, after)]


def against_cli(name, bench, server, text, command, a, *options):
    cpu_ratios, ratios = [], []
    for _ in range(a.n):
        before = cli_seconds_each(command, text, bench.folder)
        load = bench.load(server, text, "--clients", 64, "--seconds", a.seconds, *options)
        after = cli_seconds_each(command, text, bench.folder)
        cpu, seconds = ((early + late) / 2 for early, late in zip(before, after))
        cpu_ratios.append(cpu / load.cpu_each)
        ratios.append(seconds * load.rate)
    print(f"{name}, 64 clients: throughput is {spread(ratios)} of the command line's, per CPU "
          f"second {spread(cpu_ratios)}", flush=True)


def lindley(arrivals, services):
    """Returns the latencies of an ideal queue with one server, in ascending order."""
    free, latencies = 0.0, []
    for arrival, service in zip(arrivals, services):
        free = max(free, arrival) + service
        latencies.append(free - arrival)
    return sorted(latencies)


def against_ideal_queue(name, bench, server, text, a, *options):
    count = sum(1 for line in text.read_text().splitlines() if line.strip())
    alone = bench.load(server, text, "--clients", 1, "--seconds", 60, "--requests", 2 * count, *options)
    rows = sorted(alone.rows)
    # The second time round caches are warm, as they are under load.
    services = [row[2] - row[1] for row in rows[count:2 * count]] or [row[2] - row[1] for row in rows]
    rate = 0.7 / statistics.mean(services)
    ratios = ([], [])
    for number in range(a.n):
        load = bench.load(server, text, "--rate", rate, "--seconds", 2 * a.seconds, "--seed", number,
                          *options)
        arrivals = [row[0] for row in load.rows]
        ideal = lindley(arrivals, [services[k % len(services)] for k in range(len(arrivals))])
        for side, percent in zip(ratios, (50, 99)):
            side.append(load.percentile(percent) / (1e3 * ideal[int(percent / 100 * len(ideal))]))
    print(f"{name}, {rate:.0f} requests/s (70 % of the sequential rate): p50 "
          f"{spread(ratios[0])}, p99 {spread(ratios[1])} of an ideal queue's", flush=True)


def targets(a, folder):
    bench = Bench(a.miriam, folder)
    model, text = make_model(folder, a.shape)
    ours = convert_ours(a, folder, model)
    nmt = [a.miriam, "nmt", "translate", "--threads", 1, "--quiet", "--no-tuner-file", "--precision",
           "i8", "--beam-size", 1, "--normalize", 0, "--max-length-factor", 1, "-m", ours]
    search = ["-search-algorithm", "1", "-cube-pruning-pop-limit", str(a.pops), "-s", str(a.pops)]
    if a.only != "phrase":
        neural_targets(a, bench, ours, text, nmt)
    if a.ini and a.only != "neural":
        phrase_targets(a, bench, search)


def neural_targets(a, bench, ours, text, nmt):
    folder = bench.folder
    with neural_server(a, folder, ours) as server:
        # Lines in, lines out, as on the command line; /v1 also computes scores.
        against_cli("neural", bench, server, text, [*nmt, "--mini-batch", 64], a, "--api", "marian")
        gains = []
        for _ in range(a.n):
            of_cli = [cli_seconds_each([*nmt, "--mini-batch", batch], text, folder)[0]
                      for batch in (1, 32)]
            of_server = [bench.load(server, text, "--clients", clients, "--seconds", a.seconds).cpu_each
                         for clients in (1, 32)]
            gains.append((of_server[0] / of_server[1]) / (of_cli[0] / of_cli[1]))
        print(f"the gain of 32 clients over one is {spread(gains)} of the command line's gain of "
              f"batches of 32", flush=True)
        against_ideal_queue("neural", bench, server, text, a)
    # The queue holds as many sentences as are translated in about half a second; other requests are
    # rejected. A load generator on this machine cannot fill the default queue of a server.
    with neural_server(a, folder, ours, "[limits]\nqueued-words = 3000") as server:
        overload(bench, server, text, a)
    reloads(bench, ours, text, a)
    starts = []
    for _ in range(5):
        with neural_server(a, folder, ours) as server:
            starts.append(1e3 * server.start_seconds)
    print(f"cold start of the mapped neural model: {spread(starts, 0)} ms", flush=True)


def phrase_server(a, folder, ini, search):
    port, config = free_port(), folder / "phrase.toml"
    options = ", ".join(f'"{word}"' for word in search)
    config.write_text(f'[[model]]\nname = "m"\npath = "{ini}"\nraw = false\noptions = [{options}]\n'
                      f'[[model]]\nname = "lm"\npath = "{a.lm}"\nkind = "lm"\n' if a.lm else
                      f'[[model]]\nname = "m"\npath = "{ini}"\nraw = false\noptions = [{options}]\n')
    return Server([a.miriam, "serve", "--config", config, "--threads", a.threads, "--no-tuner-file",
                   "--listen", f"127.0.0.1:{port}"], port, "/readyz")


def phrase_targets(a, bench, search):
    ini = a.binary or a.ini
    cli = [a.miriam, "translate", "-quiet", "-threads", 1, "-f", ini, *search]
    with phrase_server(a, bench.folder, ini, search) as server:
        against_cli("phrase-based", bench, server, a.text, cli, a, "--api", "xmlrpc", "--model", "m")
        against_ideal_queue("phrase-based", bench, server, a.text, a, "--api", "xmlrpc", "--model", "m")
        if a.lm:
            each = [bench.load(server, a.text, "--api", "perplexity", "--clients", 8, "--seconds",
                               a.seconds) for _ in range(a.n)]
            print(f"requests that do next to nothing: {spread([1 / load.cpu_each for load in each], 0)} "
                  f"a CPU second of the server, {spread([load.rate for load in each], 0)} a second",
                  flush=True)
    if a.binary:
        starts = []
        for _ in range(5):
            with phrase_server(argparse.Namespace(**{**vars(a), "lm": None}), bench.folder, a.binary,
                               search) as server:
                starts.append(1e3 * server.start_seconds)
        print(f"cold start of the mapped phrase-based system: {spread(starts, 0)} ms", flush=True)


def overload(bench, server, text, a):
    saturation = bench.load(server, text, "--clients", 64, "--seconds", a.seconds)
    before = server.metric("process_resident_memory_bytes")
    load = bench.load(server, text, "--rate", 3 * saturation.rate, "--seconds", a.long)
    growth = (server.metric("process_resident_memory_bytes") - before) / 2**20
    accepted = sorted(row[2] - row[1] for row in load.rows if row[3] == "200")
    print(f"three times saturation ({saturation.rate:.0f} requests/s) for {a.long:.0f} s: "
          f"{load.outcomes()}, goodput {load.rate / saturation.rate:.2f} of saturation, p99 of those "
          f"accepted {accepted[int(0.99 * len(accepted))]:.2f} s, memory {growth:+.0f} MiB", flush=True)


def reloads(bench, model, text, a):
    """Replaces the model by a copy every two seconds, so that the server opens a new one."""
    import shutil
    import threading
    copy = bench.folder / "copy.miriam"
    shutil.copy(model, copy)
    with neural_server(a, bench.folder, copy) as server:
        rate = 0.5 * bench.load(server, text, "--clients", 8, "--seconds", a.seconds).rate
        quiet = bench.load(server, text, "--rate", rate, "--seconds", a.long)
        stop, mapped = threading.Event(), []

        def reload():
            while not stop.wait(2):
                new = bench.folder / "new.miriam"
                shutil.copy(model, new)
                new.rename(copy)
                server.process.send_signal(signal.SIGHUP)
                time.sleep(0.2)
                maps = Path(f"/proc/{server.process.pid}/maps").read_text()
                mapped.append(len({line.split()[4] for line in maps.splitlines() if "copy.miriam" in line}))

        thread = threading.Thread(target=reload)
        thread.start()
        load = bench.load(server, text, "--rate", rate, "--seconds", a.long)
        stop.set()
        thread.join()
        print(f"{server.metric('miriam_reloads_total'):.0f} reloads in {a.long:.0f} s at {rate:.0f} "
              f"requests/s: {load.outcomes()}, at most {max(mapped)} generations mapped, p99 "
              f"{load.percentile(99):.1f} ms, without reloads {quiet.percentile(99):.1f} ms", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["race", "targets"])
    parser.add_argument("--miriam", default="target/dist/miriam", type=lambda path: Path(path).resolve())
    parser.add_argument("--shape", default="tiny")
    parser.add_argument("--threads", default=1, type=int)
    parser.add_argument("--clients", default=[1, 8, 32], nargs="+", type=int)
    parser.add_argument("--seconds", default=5.0, type=float)
    parser.add_argument("--long", default=60.0, type=float, help="seconds of overload and reloads")
    parser.add_argument("-n", default=3, type=int, help="rounds")
    parser.add_argument("--only", choices=["neural", "phrase"],
                        help="only the aims of this kind of model")
    parser.add_argument("--ini", type=Path)
    parser.add_argument("--binary", type=Path, help="the moses.ini of the mapped system")
    parser.add_argument("--lm", type=Path)
    parser.add_argument("--text", type=Path)
    parser.add_argument("--pops", default=400, type=int)
    a = parser.parse_args()
    if not a.miriam.is_file():
        sys.exit(f"{a.miriam}: not there; build it (cargo build --profile dist) or give --miriam")
    with tempfile.TemporaryDirectory() as folder:
        globals()[a.what](a, Path(folder))


if __name__ == "__main__":
    main()
