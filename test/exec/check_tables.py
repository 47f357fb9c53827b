"""Columns of texts in a table are the numbers of a vocabulary, which is sorted, printed and kept beside the weights.

    check_tables.py WEFT SCRATCH

The same columns as numbers of an .npz must train and predict the same bits.
"""

import array
import json
import pathlib
import shutil
import subprocess
import sys

import npz_values
import patience

ROWS = [("Rome", "1.5", "warm", "3"), ("Berlin", "2", "cold", "1"), ("Paris, 5e", "", "warm", "2"), ("Berlin", "0.5", "", "0"),
        ("Rome", "4", "cold", "1"), ("Ülm", "3", "warm", "2")]
CITIES = ["Berlin", "Paris, 5e", "Rome", "Ülm"]
HEADER = 'id,city,"size, m2",weather,price'


def table(rows):
    quoted = [[f'"{field}"' if "," in field else field for field in row] for row in rows]
    return HEADER + "\n" + "".join(f"{i},{','.join(row)}\n" for i, row in enumerate(quoted))


class Check:
    def __init__(self, weft, scratch):
        self.weft, self.scratch = weft, scratch
        shutil.rmtree(scratch, ignore_errors=True)
        scratch.mkdir(parents=True)
        layers = [{"class_name": "Dense", "config": {"name": "a", "units": 4}}, {"class_name": "Dense", "config": {"name": "b", "units": 1}}]
        (scratch / "m.json").write_text(json.dumps({
            "class_name": "Sequential", "config": {"name": "m", "build_input_shape": [None, 3], "layers": layers},
            "compile_config": {"optimizer": "sgd", "loss": "mse"}}))
        self.table = self.write("t.csv", table(ROWS))
        weather = ["?", "cold", "warm"]
        x = [number for city, size, sky, _ in ROWS
             for number in (CITIES.index(city), float(size or -1), weather.index(sky or "?"))]
        npz_values.write(scratch / "n.npz", {"x": ((6, 3), array.array("d", x)), "y": ((6, 1), array.array("d", [float(r[3]) for r in ROWS]))})
        self.columns = ["--inputs", 'city,"size, m2",weather', "--missing", '"size, m2"=-1', "--missing", "weather=?"]

    def write(self, name, text):
        (self.scratch / name).write_text(text, encoding="utf-8")
        return self.scratch / name

    def run(self, *words, status=0):
        done = subprocess.run([str(word) for word in (self.weft, *words)], capture_output=True, text=True, timeout=patience.HANG,
                              cwd=self.scratch)
        if done.returncode != status:
            sys.exit(f"{words}: status {done.returncode}: {done.stderr}")
        return done.stdout + done.stderr

    def says(self, text, *words, status=1):
        said = self.run(*words, status=status)
        if text not in said:
            sys.exit(f"{words}: {text!r} is not in {said!r}")

    def trains(self):
        fit = ["fit", "m.json", "--seed", 1, "--batch-size", 4, "--epochs", 2]
        said = self.run(*fit, "--data", self.table, *self.columns, "--targets", "price", "--save", "table.keras", "--save-weights", "w.npz")
        for line in ('t.csv: column "city": 0 Berlin, 1 Paris, 5e, 2 Rome, 3 Ülm\n', 't.csv: column "weather": 0 ?, 1 cold, 2 warm\n',
                     "t.csv: id: not read\n"):
            if line not in said:
                sys.exit(f"{line!r} is not in {said!r}")
        self.run(*fit, "--data", "n.npz", "--save-weights", "n-w.npz")
        if (self.scratch / "w.npz").read_bytes() != (self.scratch / "n-w.npz").read_bytes():
            sys.exit("a table trains other weights than its numbers")
        for name in ("table.keras", "w.npz"):
            kept = json.loads((self.scratch / f"{name}.vocabulary.json").read_text(encoding="utf-8"))
            if kept != {"city": CITIES, "weather": ["?", "cold", "warm"]}:
                sys.exit(f"{name}: {kept}")

    def predicts(self):
        """Other rows have the numbers of the training data, whose texts they may lack."""
        part = self.write("part.csv", table([ROWS[4], ROWS[0]]))
        self.run("predict", "table.keras", "--data", part, *self.columns, "--out", "p.npy")
        self.run("predict", "table.keras", "--x", "n.npz:x", "--out", "all.npy")
        part_values, values = (array.array("f", (self.scratch / name).read_bytes()[128:]) for name in ("p.npy", "all.npy"))
        if list(part_values) != [values[4], values[0]]:
            sys.exit(f"{part_values} of {values}")
        new = self.write("new.csv", table([("Oslo", "1", "cold", "1")]))
        predict = ["--data", new, *self.columns, "--seed", 1, "--out", "p.npy"]
        self.says('new.csv: line 2: column "city": "Oslo" is none of the texts of the training data (0 Berlin, 1 Paris, 5e, 2 Rome, 3 Ülm)',
                  "predict", "table.keras", *predict)
        self.says("there is no m.json.vocabulary.json, where weft fit writes the numbers of texts", "predict", "m.json", *predict)
        validated = ["fit", "m.json", "--seed", 1, "--data", self.table, *self.columns, "--targets", "price"]
        self.says('"Oslo" is none of the texts', *validated, "--validation-data", new)

    def refuses(self):
        fit = ["fit", "m.json", "--seed", 1, "--targets", "price"]
        three = ["--inputs", 'city,"size, m2",weather']
        self.says('line 4: column "size, m2": is empty; fill it in, leave the line out, or say what it means with --missing "size, m2"=VALUE',
                  *fit, "--data", self.table, *three)
        mixed = self.write("mixed.csv", HEADER + "\n0,Rome,1,warm,1\n1,Rome,two,warm,1\n")
        self.says('line 3: column "size, m2": "two" is no number, as the first field of the column is', *fit, "--data", mixed, *three)
        number = self.write("number.csv", HEADER + "\n0,Rome,1,warm,1\n1,,1,warm,1\n")
        self.says('column "city": is empty', *fit, "--data", number, *three)
        self.says("has no column \"size\"; ", *fit, "--data", self.table, "--inputs", "size, m2")
        quoted = self.write("quoted.csv", '"""a"" b",price\n0,1\n')
        self.says('--inputs """a"" b" --targets price', "fit", "m.json", "--seed", 1, "--data", quoted)
        self.says('did you mean """a"" b"?', *fit, "--data", quoted, "--inputs", '"a"" b"')
        self.says("--missing 3=4: ", *fit, "--data", self.table, *three, "--missing", "3=4")
        self.says('the column "id" is neither an input nor a target', *fit, "--data", self.table, *three, "--missing", "id=4")
        self.says("is no number, and", *fit, "--data", self.table, *three, "--missing", "none")


def main():
    check = Check(sys.argv[1], pathlib.Path(sys.argv[2]).resolve())
    check.trains()
    check.predicts()
    check.refuses()
    print("texts are the numbers of their vocabulary")


if __name__ == "__main__":
    main()
