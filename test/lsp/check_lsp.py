"""Speaks with weft-lsp-server as an editor does: opens a program with a wrong layout, fixes it, asks for an op's type and for a definition.

    check_lsp.py WEFT_LSP_SERVER
"""

import json
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "exec"))
import patience

URI = "file:///dense.mlir"
TEXT = """#mesh = #weft.mesh<"data"=2>
module attributes {weft.mesh = #mesh} {
  func.func @f(%x: tensor<8x4xf32> {weft.layout = #weft.layout<#mesh, [{"model"}, {}]>}) -> tensor<8x4xf32> {
    %0 = weft.relu %x : tensor<8x4xf32>
    return %0 : tensor<8x4xf32>
  }
}
"""


class Server:
    """A server that is spoken to over stdin and stdout, in messages with their length in front."""

    def __init__(self, command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.number = 0

    def send(self, method, params, **more):
        body = json.dumps({"jsonrpc": "2.0", "method": method, "params": params} | more).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self.process.stdin.flush()

    def read(self):
        length = 0
        while (line := self.process.stdout.readline().strip()):
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
        assert length, "the server has ended"
        return json.loads(self.process.stdout.read(length))

    def ask(self, method, params):
        """The result of a request; notifications before it are dropped."""
        self.number += 1
        self.send(method, params, id=self.number)
        while (answer := self.read()).get("id") != self.number:
            pass
        return answer["result"]

    def diagnostics(self):
        """The next diagnostics of the document."""
        while (message := self.read()).get("method") != "textDocument/publishDiagnostics":
            pass
        assert message["params"]["uri"] == URI, message
        return message["params"]["diagnostics"]


def main():
    server = Server([sys.argv[1]])
    capabilities = server.ask("initialize", {"processId": None, "rootUri": None, "capabilities": {}})["capabilities"]
    assert capabilities["hoverProvider"] and capabilities["definitionProvider"], capabilities
    server.send("initialized", {})
    server.send("textDocument/didOpen", {"textDocument": {"uri": URI, "languageId": "mlir", "version": 1, "text": TEXT}})
    (wrong,) = server.diagnostics()
    print(f"line {wrong['range']['start']['line'] + 1}: {wrong['message']}")
    right = TEXT.replace('"model"', '"data"')
    server.send("textDocument/didChange", {"textDocument": {"uri": URI, "version": 2}, "contentChanges": [{"text": right}]})
    assert server.diagnostics() == []
    line = next(number for number, text in enumerate(right.splitlines()) if "relu" in text)
    place = {"textDocument": {"uri": URI}, "position": {"line": line, "character": right.splitlines()[line].index("relu")}}
    print("hover:", " ".join(server.ask("textDocument/hover", place)["contents"]["value"].split()))
    definition = server.ask("textDocument/definition", place | {"position": {"line": line, "character": 20}})
    print("defined in line", definition[0]["range"]["start"]["line"] + 1)
    # Text that would crash MLIR's parser, or take 64 GB.
    for number, wrong in enumerate((right.replace("%x :", "%x {a = array<index: 1>} :"), right.replace("return %0", "return %0#4000000000"))):
        server.send("textDocument/didChange", {"textDocument": {"uri": URI, "version": 3 + number}, "contentChanges": [{"text": wrong}]})
        (fault,) = server.diagnostics()
        print(f"line {fault['range']['start']['line'] + 1}: {fault['message']}")
    server.ask("shutdown", None)
    server.send("exit", None)
    print("ended with", server.process.wait(timeout=patience.HANG))


main()
