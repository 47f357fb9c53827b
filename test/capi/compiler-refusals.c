/* Prints calls that the compiler's C interface refuses, with their messages. */
#include "weft/compiler/capi/WeftC.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static weft_compiler *compiler;
static unsigned reported;

static void count(void *user, const weft_diagnostic *diagnostic) {
  if (diagnostic->severity == WEFT_SEVERITY_ERROR)
    ++*(unsigned *)user;
}

/* Prints the message of a call, which must fail and report an error. */
static void refused(const char *call, int failed) {
  const char *message = weft_compiler_message(compiler);
  if (!failed || reported == 0 || !*message)
    exit(printf("%s: accepted, %u reported: %s\n", call, reported, message));
  printf("%s: %s", call, message);
  reported = 0;
}

static weft_module *parsed(const char *text) {
  weft_source source = {text, strlen(text), "refused.mlir", NULL, 0};
  weft_module *module = NULL;
  if (weft_module_parse(compiler, &source, &module))
    exit(printf("unexpected: %s", weft_compiler_message(compiler)));
  return module;
}

static void refuse_text(const char *call, const char *text, size_t size) {
  weft_source source = {text, size, "refused.mlir", NULL, 0};
  weft_module *module = NULL;
  refused(call, weft_module_parse(compiler, &source, &module));
  if (module)
    exit(printf("%s: a module beside an error\n", call));
}

static void refuse_texts(const char *program) {
  char deep[2001];
  memset(deep, '(', sizeof deep - 1);
  deep[sizeof deep - 1] = 0;
  refuse_text("syntax", "module {\n  func.func @f(\n", 25);
  refuse_text("op", "\"weft.none\"() : () -> ()", 24);
  refuse_text("deep", deep, sizeof deep - 1);
  const char array[] = "module attributes {x = array<index: 1>} {}";
  refuse_text("array", array, sizeof array - 1);
  const char number[] =
      "func.func @f(%a: i1) -> i1 {\n  return %a#4000000000 : i1 }";
  refuse_text("number", number, sizeof number - 1);
  refuse_text("bytecode", "ML\xefR\x01", 5);
  refuse_text("stablehlo", "func.func @f() { stablehlo.none }", 33);
  refused("null", weft_module_parse(compiler, NULL, NULL));
  /* Each prefix of a text gives an error or a module, and no crash. */
  unsigned modules = 0;
  for (size_t size = 0; size <= strlen(program); ++size) {
    weft_source source = {program, size, "cut.mlir", NULL, 0};
    weft_module *module = NULL;
    if (weft_module_parse(compiler, &source, &module) == 0) {
      weft_text text = {NULL, 0};
      if (weft_module_compile(module, NULL, &text) == 0)
        ++modules;
      weft_text_free(&text);
    }
    weft_module_free(module);
  }
  reported = 0;
  printf("cut: %u of the texts compile\n", modules);
}

static void refuse_stages(weft_module *module) {
  weft_text text = {NULL, 0};
  weft_compile_options options = {0};
  const char *budgets[] = {"all_reduce=0"};
  refused("stage", weft_module_reach(module, "planned", NULL));
  options.target = "cpu:pdp11";
  refused("target", weft_module_compile(module, &options, &text));
  options.target = NULL;
  options.matmul_precision = "f12";
  refused("precision", weft_module_compile(module, &options, &text));
  options.matmul_precision = NULL;
  options.memory = -1;
  refused("memory", weft_module_compile(module, &options, &text));
  options.memory = 0;
  options.expect = budgets;
  options.expect_count = 1;
  refused("budget", weft_module_compile(module, &options, &text));
  if (text.data || strcmp(weft_module_stage(module), "imported"))
    exit(printf("a refused program left something behind\n"));
  if (weft_module_reach(module, "plan", NULL))
    exit(printf("plan: %s", weft_compiler_message(compiler)));
  refused("order", weft_module_reach(module, "sharded", NULL));
  refused("why-late", weft_module_why(module, "x", &text));
  refused("annotate-late", weft_module_set_layout(module, "x", "[-]"));
}

static void refuse_passes(weft_module *module) {
  refused("pass", weft_module_run_passes(module, "builtin.module(weft-none)"));
  refused("anchor", weft_module_run_passes(module, "func.func(cse)"));
  refused("pipeline", weft_module_run_passes(module, "builtin.module("));
  refused("early",
          weft_module_run_passes(
              module, "builtin.module(weft-pipeline{from=sharded to=plan})"));
  refused("name", weft_module_set_stage(module, "shard"));
  weft_module_set_stage(module, "sharded");
  refused("claimed", weft_module_reach(module, "plan", NULL));
  weft_module_set_stage(module, "imported");
}

static void refuse_annotations(weft_module *module) {
  weft_text text = {NULL, 0};
  refused("port", weft_module_set_layout(module, "z", "[-,-]"));
  refused("axis", weft_module_set_layout(module, "x", "[data,-]"));
  refused("rank", weft_module_set_layout(module, "x", "[m]"));
  refused("mesh", weft_module_set_mesh(module, "m=4"));
  refused("mesh-text", weft_module_set_mesh(module, "m="));
  refused("why", weft_module_why(module, "xx", &text));
  refused("plugin", weft_compiler_load_plugin(compiler, "/none.so"));
  refused("no-plugin", weft_compiler_load_plugin(compiler, "libc.so.6"));
}

int main(int argc, char **argv) {
  char program[4096] = {0};
  FILE *file = fopen(argv[argc - 1], "rb");
  if (!file || fread(program, 1, sizeof program - 1, file) == 0)
    return 2;
  fclose(file);
  compiler = weft_compiler_create();
  weft_compiler_on_diagnostic(compiler, count, &reported);
  refuse_texts(program);
  weft_module *module = parsed(program), *copy = NULL;
  refuse_annotations(module);
  refuse_passes(module);
  weft_module_clone(module, &copy);
  refuse_stages(copy);
  weft_module_free(copy);
  weft_module_free(module);
  weft_compiler_free(compiler);
  return 0;
}
