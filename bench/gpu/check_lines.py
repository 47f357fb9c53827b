"""What a check says: a line of JSON for each measurement, as soon as it is made; and how it runs the commands that measure."""

import concurrent.futures
import json
import os
import pathlib
import queue
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
STATE = "clocks.sm,clocks.mem,power.draw,temperature.gpu"
QUIET = ("answers", "fixtures")  # only failures are printed, and how many there were
KEPT_S = 4  # for the summary


class Stop(Exception):
    """A signal ends the check."""


class Check:
    def __init__(self, out, minutes, tiny):
        out.mkdir(parents=True, exist_ok=True)
        self.begin = time.monotonic()
        self.end = self.begin + 60 * minutes
        self.file, self.log = open(out / "results.jsonl", "a"), open(out / "check.log", "a")
        self.tiny, self.lock, self.lines, self.running = tiny, threading.Lock(), [], set()
        self.scratch = pathlib.Path(tempfile.mkdtemp(prefix="weft-gpu-check-"))
        self.environment = {**os.environ, "PYTHONUNBUFFERED": "1", "PYTHONDONTWRITEBYTECODE": "1", "HOME": str(self.scratch),
                            "XDG_CACHE_HOME": str(self.scratch / "cache")}
        self.weft, self.compiles = None, False  # the command, and whether its compiler is there
        self.manifest = json.loads((HERE / "manifest.json").read_text())
        self.round, self.is_stopped, self.peers_on_cpu, self.wheel = 1, False, False, None

    def left(self):
        return self.end - KEPT_S - time.monotonic()

    def say(self, line):
        """Writes a line, and prints its short form."""
        with self.lock:
            line = {"t": round(time.monotonic() - self.begin, 1), **({"round": self.round} if self.round > 1 else {}), **line}
            self.lines.append(line)
            print(json.dumps(line), file=self.file, flush=True)
            if line["ok"] and (line["part"] in QUIET or self.round > 1):
                return
            print(f"{line['t']:6.1f} {line['part']:11} {line['item'][:40]:40} {'ok' if line['ok'] else 'FAILED'} {short(line)}"[:150],
                  flush=True)

    def note(self, text):
        with self.lock:
            print(text.rstrip()[-20_000:], file=self.log, flush=True)

    def start(self, command, environment, folder, **pipes):
        """A process in a group of its own, so that its children end with it."""
        process = subprocess.Popen([str(word) for word in command], text=True, errors="replace", cwd=folder or self.scratch,
                                   env={**self.environment, **(environment or {})}, process_group=0, **pipes)
        self.running.add(process)
        return process

    def kill(self, process):
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass

    def run(self, part, item, command, limit, environment=None, folder=None, expected=0):
        """Runs a command; returns (output, seconds), or None, after saying why, if it does not end as expected."""
        begin, limit = time.monotonic(), min(limit, self.left())
        if self.is_stopped:
            return None
        if limit <= 0.5:
            self.say({"part": part, "item": item, "ok": False, "why": "no time is left"})
            return None
        try:
            process = self.start(command, environment, folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        except OSError as error:
            self.say({"part": part, "item": item, "ok": False, "why": str(error)})
            return None
        try:
            output, errors = process.communicate(timeout=limit)
            why = None if process.returncode == expected else f"ended with {process.returncode}"
        except subprocess.TimeoutExpired:
            self.kill(process)
            output, errors = process.communicate()
            why = f"took longer than {limit:.0f} s"
        self.running.discard(process)
        seconds = round(time.monotonic() - begin, 2)
        self.note(f"--- {item}: {' '.join(map(str, command))} ({seconds} s)\n{output[-6000:]}{errors[-6000:]}")
        if why:
            self.say({"part": part, "item": item, "ok": False, "why": why, "seconds": seconds,
                      "end": (output + errors).strip()[-900:]})
            return None
        return output, seconds

    def lines_of(self, command, limit, idle, part, environment=None, **added):
        """Says each line of JSON that a command prints. If it ends or is silent too long amid an item, that item failed, and the
        command begins again behind it."""
        end, after = time.monotonic() + min(limit, self.left()), None
        while True:
            if end - time.monotonic() < 1:
                self.say({"part": part, "item": after or "all", "ok": False, "why": "no time is left", **added})
                return
            process = self.start([*command, *(["--after", after] if after else [])], environment, None, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE)
            said = queue.Queue()
            errors = []
            reader = threading.Thread(target=read_lines, args=(process.stdout, said), daemon=True)
            other = threading.Thread(target=lambda: errors.append(process.stderr.read()), daemon=True)
            reader.start()
            other.start()
            item, why, has_begun = None, None, False
            while True:
                wait = min(idle, end - time.monotonic())
                try:
                    line = said.get(timeout=max(0.1, wait))
                except queue.Empty:
                    why = f"silent for {idle} s" if wait == idle else "its step's time is over"
                    self.kill(process)
                    break
                if line is None:
                    break
                if "begin" in line:
                    item = after = line["begin"]
                    has_begun = True
                    continue
                self.say({**line, **added})
                if line["item"] == item and (not line["ok"] or line["part"] not in ("losses", "steps", "models")):
                    item = None
            status = process.wait()
            other.join(2)
            self.running.discard(process)
            if self.is_stopped:
                return
            self.note(f"--- {part}: {' '.join(map(str, command))} {added}\n{''.join(errors)[-6000:]}")
            if why is None and status == 0:
                return
            if item:
                end_of = "".join(errors).strip()[-600:]
                self.say({"part": part, "item": item, "ok": False, "why": why or f"ended with {status}", "end": end_of, **added})
            elif status != 3 or why:  # 3: it has said why
                self.say({"part": part, "item": after or "start", "ok": False, "why": why or f"ended with {status}",
                          "end": "".join(errors).strip()[-600:], **added})
            if not has_begun or "over" in (why or ""):
                return

    def own(self, *arguments, limit, idle=25, environment=None, **added):
        self.lines_of([sys.executable, HERE / "programs.py", *arguments], limit, idle, arguments[0], environment, **added)

    def peers(self, *arguments, limit, idle=60):
        """PyTorch and JAX; `--tiny` tries them only where --peers-on-cpu asks for it."""
        if not self.tiny or self.peers_on_cpu:
            more = ["--cpu"] if self.peers_on_cpu else []
            self.lines_of([sys.executable, HERE / "peers.py", *arguments, *more], limit, idle, arguments[0])

    def stop(self):
        self.is_stopped = True
        for process in list(self.running):
            self.kill(process)

    def state(self, behind):
        """The GPU's clocks, behind a step that measured times."""
        if smi := shutil.which("nvidia-smi"):
            found = self.run("state", behind, [smi, f"--query-gpu={STATE}", "--format=csv,noheader"], 10)
            if found:
                self.say({"part": "state", "item": behind, "ok": True, "query": STATE, "state": found[0].strip()})

    def together(self, *calls):
        """Steps that measure no time, four at once."""
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            for done in [pool.submit(call) for call in calls]:
                try:
                    done.result()
                except Stop:
                    self.stop()
                    raise
                except Exception as error:
                    self.say({"part": "check", "item": "together", "ok": False, "why": f"{type(error).__name__}: {error}"})


def read_lines(stream, said):
    for text in stream:
        try:
            line = json.loads(text)
            said.put(line if "begin" in line or "item" in line else {"part": "check", "item": "print", "ok": True, "text": text[:300]})
        except (json.JSONDecodeError, TypeError):
            continue
    said.put(None)


def short(line):
    """The figures of a line that a person reads."""
    if not line["ok"]:
        return str(line.get("why") or f"difference {line.get('difference')}")[:90]
    shown = [f"{line['losses'][0]:.6g} to {line['losses'][-1]:.6g}"] if line["part"] == "losses" else []
    for key, form in (("ms", "{:.4g} ms"), ("GBps", "{:.0f} GB/s"), ("TFLOPs", "{:.0f} TFLOP/s"), ("tokens_per_s", "{:.0f} tokens/s"),
                      ("kernels_ms", "kernels {:.4g} ms"), ("compile_s", "compiled in {} s"), ("difference", "difference {:.1e}"),
                      ("text", "{}"), ("state", "{}")):
        if line.get(key) is not None:
            shown.append(form.format(line[key]))
    return ", ".join(shown)
