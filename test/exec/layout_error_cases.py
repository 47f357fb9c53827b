"""Cases of layouts and what they cost: sections annotations, reshard and budgets."""


class LayoutCases:
    def annotations(self):
        rows, whole = '#weft.layout<#mesh, [{"d"}, {}]>', "#weft.layout<#mesh, [{}, {}]>"
        kind = "tensor<4x6xf32>"

        def program(first, second="", inside="", mesh='"d"=2', other=kind):
            return ["compile", self.write("annotated.mlir", f"""#mesh = #weft.mesh<{mesh}>
                module attributes {{weft.mesh = #weft.mesh<"d"=2>}} {{
                func.func @main(%x: {kind} {{weft.name = "x", {first}}}, %y: {other} {{weft.name = "y" {second}}}) -> {kind} {{
                  %0 = weft.constrain %x to {rows} {{{inside}}} : {kind} -> {kind}
                  return %0 : {kind} }} }}"""), "--from", "imported", "--emit", "sharded"]
        yield "open", program("weft.open = array<i64: 2>")
        yield "open, inside", program("weft.priority = 0", inside="weft.open = array<i64: 2>")
        yield "type of open", program("weft.open = true")
        yield "priority", program("weft.priority = -1")
        yield "replicated", program('weft.replicated = ["e"]')
        yield "replicated and sharded", program(f'weft.layout = {rows}, weft.replicated = ["d"]')
        group = ', weft.group = "g"'
        yield "ranks", program(f"weft.layout = {rows}{group}", group, other="tensor<4xf32>")
        yield "layouts", program(f"weft.layout = {rows}{group}", f", weft.layout = {whole}{group}")
        yield "mesh", program(f"weft.layout = {rows}", mesh='"d"=4')
        yield "rank", program('weft.layout = #weft.layout<#mesh, [{"d"}]>')

    def reshard(self):
        def reshard(mesh="x=4,y=2", shape="16x16", source="[x,-]", target="[-,x]", *flags):
            return ["reshard", "--mesh", mesh, "--shape", shape, "--from", source, "--to", target, *flags]
        yield "axis", reshard(source="[z,-]")
        yield "axis twice", reshard(source="[x,x]")
        yield "rank", reshard(source="[x]")
        yield "bracket", reshard(source="[x,-")
        yield "mesh", reshard(mesh="x=4,y")
        yield "mesh twice", reshard(mesh="x=4,x=2")
        yield "shape", reshard(shape="16xq")
        yield "dtype", reshard("x=4,y=2", "16x16", "[x,-]", "[-,x]", "--dtype", "q8")

    def budgets(self):
        def explain(*flags):
            return ["explain", self.model_file, "--data-parallel", "--devices", "cpu:2", *flags]
        yield "too little memory", explain("--memory", "1e3")
        for budget in ("speed<=3", "bytes", "bytes<=few", "gap<=few"):
            yield budget, ["explain", self.write("budget.mlir", f"""module attributes {{weft.expect = "{budget}"}} {{
                func.func @main(%x: tensor<4xf32> {{weft.name = "x"}}) -> (tensor<4xf32> {{weft.name = "y"}}) {{ return %x : tensor<4xf32> }} }}""")]
        yield "broken", explain("--expect", "all_reduce<=0")
        yield "no conflict", explain("--expect", "gap<0")

        def priced(mesh, axis):
            rows, columns = (f"{{weft.layout = #weft.layout<#m, [{dims}]>}}" for dims in (f'{{"{axis}"}}, {{}}', f'{{}}, {{"{axis}"}}'))
            return self.write("priced.mlir", f"""#m = #weft.mesh<{mesh}>
                module attributes {{weft.mesh = #m, weft.expect = "gap<0"}} {{
                func.func @main(%a: tensor<4096x4096xf32> {rows[:-1]}, weft.name = "a"}}, %b: tensor<4096x4096xf32> {columns[:-1]}, weft.name = "b"}})
                    -> (tensor<4096x4096xf32> {rows[:-1]}, weft.name = "c"}}) {{
                  %s = weft.add %a, %b : tensor<4096x4096xf32>
                  %r = weft.relu %s : tensor<4096x4096xf32>
                  return %r : tensor<4096x4096xf32> }} }}""")
        yield "conflict", ["explain", priced('"d"=4', "d")]
        yield "too many devices", ["explain", priced('"d"=1024', "d")]
