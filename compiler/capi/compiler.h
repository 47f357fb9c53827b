//===- compiler.h - the compiler's C interface ------------------*- C++ -*-===//
//
// Compiles the text of a program to a .weft, which weft/runtime/abi/weft.h
// runs. No MLIR header is needed, nothing is printed, and no error ends the
// process: a function that can fail returns 0, or else 1, and
// weft_compiler_message() returns the reason. A call that fails does not change
// its outputs.
//
//   #include "weft/compiler/capi/compiler.h"
//   #include <stdio.h>
//   #include <string.h>
//
//   /* Prints each value's layout: "x argument (16, 8) float32 [data,-]". */
//   int print_layouts(weft_module *module) {
//     weft_value value;
//     if (weft_module_reach(module, "sharded", NULL))
//       return 1;
//     for (size_t i = 0; weft_module_value(module, i, &value) == 0; ++i) {
//       printf("%s %s (", value.name, value.made_by);
//       for (size_t dim = 0; dim < value.rank; ++dim)
//         printf("%s%lld", dim ? ", " : "", (long long)value.shape[dim]);
//       printf(") %s %s\n", value.dtype, value.layout);
//     }
//     return 0;
//   }
//
//   /* Writes the .weft of a program's text to `out`, for this processor. */
//   int compile_text(const char *text, FILE *out) {
//     weft_compiler *compiler = weft_compiler_create();
//     weft_module *module = NULL;
//     weft_text costs = {NULL, 0}, program = {NULL, 0};
//     weft_source source = {text, strlen(text), "dense.mlir", NULL, 0};
//     int failed = weft_module_parse(compiler, &source, &module) ||
//                  weft_module_explain(module, NULL, &costs) ||
//                  print_layouts(module) ||
//                  weft_module_compile(module, NULL, &program);
//     if (failed)
//       fprintf(stderr, "%s", weft_compiler_message(compiler));
//     else
//       printf("%s\n", costs.data);
//     if (!failed)
//       failed = fwrite(program.data, 1, program.size, out) != program.size;
//     weft_text_free(&program);
//     weft_text_free(&costs);
//     weft_module_free(module);
//     weft_compiler_free(compiler);
//     return failed;
//   }
//
// A compiler and its modules are used by one thread at a time; two compilers
// are independent. Each function documents the lifetime of strings that it
// returns. WeftC.h converts them to objects of MLIR's C API.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_CAPI_COMPILER_H
#define WEFT_COMPILER_CAPI_COMPILER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// A compiler: dialects, plug-ins and the messages of the last call.
typedef struct weft_compiler weft_compiler;
weft_compiler *weft_compiler_create(void);
/// Frees a compiler. Its modules must be freed before.
void weft_compiler_free(weft_compiler *compiler);

/// The messages of the last call on the compiler or on one of its modules, with
/// the reason if it failed: a line for each error, warning, remark and note,
/// "dense.mlir:3:5: error: ...". Empty if there were none. Valid until the next
/// call.
const char *weft_compiler_message(const weft_compiler *compiler);

typedef enum weft_severity {
  WEFT_SEVERITY_NOTE,
  WEFT_SEVERITY_REMARK,
  WEFT_SEVERITY_WARNING,
  WEFT_SEVERITY_ERROR
} weft_severity;
typedef struct weft_diagnostic {
  weft_severity severity;
  const char *message;
  const char *place; ///< the file, or the name of an op or port; "" for none
  unsigned line, column; ///< from 1; 0 if unknown
} weft_diagnostic;
/// Called for each diagnostic at once; its arguments are valid until it
/// returns. It must not use the compiler.
typedef void (*weft_diagnostic_fn)(void *user,
                                   const weft_diagnostic *diagnostic);
/// Sets the function that is called for diagnostics; NULL removes it.
void weft_compiler_on_diagnostic(weft_compiler *compiler,
                                 weft_diagnostic_fn call, void *user);

/// Loads an MLIR plug-in: a shared library with dialects
/// (mlirGetDialectPluginInfo) or passes (mlirGetPassPluginInfo). It is linked
/// to weft::WeftPlugin (docs/embedding.md), its code runs in this process, and
/// it stays loaded. Texts that are parsed afterwards may use its ops.
int weft_compiler_load_plugin(weft_compiler *compiler, const char *path);

/// The name of a stage, in order: "imported", "differentiated", "sharded", ...
/// (docs/stages.md). NULL past the end.
const char *weft_stage_name(size_t stage);
/// The names of targets, "native, cpu:avx512, ..."; valid as long as the
/// process.
const char *weft_known_targets(void);

/// Bytes that a call returns; texts are followed by a zero byte.
typedef struct weft_text {
  char *data;
  size_t size;
} weft_text;
/// Frees the bytes and clears the struct; an empty one is left unchanged.
void weft_text_free(weft_text *text);

/// A program at a stage.
typedef struct weft_module weft_module;
typedef struct weft_source {
  const char *text; ///< Weft IR, or StableHLO as in JAX's lowered.as_text()
  size_t size;
  const char *name; ///< the file's name in messages; NULL: "program"
  /// The StableHLO function that is the program; NULL: the first step of a
  /// traced model, or else "main".
  const char *function;
  /// The number of devices of a StableHLO program whose shardings name no mesh;
  /// 0: one, or those of its mesh.
  int64_t devices;
} weft_source;
/// Parses a module, which is then at stage `imported`; the source is not kept.
/// MLIR's bytecode and portable artifacts are refused: MLIR's reader is not
/// safe on damaged ones (`weft compile` reads them in a process of its own).
int weft_module_parse(weft_compiler *compiler, const weft_source *source,
                      weft_module **out);
int weft_module_clone(weft_module *module, weft_module **out);
void weft_module_free(weft_module *module);

/// Options; NULL is the same as a zeroed struct.
typedef struct weft_compile_options {
  const char *target;           ///< one of weft_known_targets(); NULL: "native"
  const char *cache_folder;     ///< cached kernel objects; NULL: no cache
  const char *matmul_precision; ///< "f32", "tf32"; NULL: the module's
  int64_t memory;               ///< limit of a device's bytes; 0: the module's
  /// Budgets, "all_reduce=1, bytes<=4096", besides the module's own: a program
  /// that costs more is refused.
  const char *const *expect;
  size_t expect_count;
  int threads; ///< threads that generate machine code; 0: one a core
} weft_compile_options;

/// The name of the stage; valid as long as the process.
const char *weft_module_stage(const weft_module *module);
/// Sets the module's stage, if the parsed text is of a later stage than
/// `imported`, or after weft_module_run_passes. The stage's invariants are
/// checked when another stage is reached from it.
int weft_module_set_stage(weft_module *module, const char *stage);
/// Runs the passes up to that stage, in place. After an error the module is
/// unchanged.
int weft_module_reach(weft_module *module, const char *stage,
                      const weft_compile_options *options);
/// Runs passes in place: "builtin.module(weft-propagate-layouts)" (docs/
/// reference/passes.md). After an error the module is unchanged.
/// weft_module_set_stage sets the stage.
int weft_module_run_passes(weft_module *module, const char *pipeline);

/// Sets the mesh, "data=2,model=4", of a module at stage `imported` that has no
/// other mesh.
int weft_module_set_mesh(weft_module *module, const char *mesh);
/// Annotates each argument and result of that name with a layout, at stage
/// `imported`: "[data,-]" has an entry for each dimension, "(data,model)"
/// splits one over both axes. NULL removes the annotation. Requires a mesh.
int weft_module_set_layout(weft_module *module, const char *port,
                           const char *layout);

typedef struct weft_value {
  const char *name; ///< name of the port, layer or line; "" for none
  /// "argument", "result", or the op that makes the value: "weft.dot".
  const char *made_by;
  const char *dtype; ///< NumPy's name: "float32"
  size_t rank;
  const int64_t *shape; ///< the shape of the global value, `rank` sizes
  const char *layout;   ///< "[data,-]+sum(model)"; "" if none is chosen yet
} weft_value;
/// Returns one value: arguments, results, and then inner values with a layout
/// (stage `sharded`), in order; at stage `plan` without results that replace an
/// argument of their name and layout. Fails, without a message, past the
/// last. Strings are valid until the module is changed or freed.
int weft_module_value(weft_module *module, size_t value, weft_value *out);

/// Prints the module as text that weft_module_parse reads.
int weft_module_print(weft_module *module, weft_text *out);
/// Explains the bytes that the program sends and holds, with the cheapest
/// change of annotation for each collective: the JSON of `weft explain --json`.
/// The module may be at any stage; fixes are searched at stage `imported`.
int weft_module_explain(weft_module *module,
                        const weft_compile_options *options, weft_text *out);
/// Explains the layouts of the values of that name (d2/output) or line
/// (train.py:12): the JSON of `weft explain --why NAME --json`. The module is
/// at stage `imported` or `differentiated`.
int weft_module_why(weft_module *module, const char *name, weft_text *out);
/// Compiles to the bytes of a .weft file. The module stays at its stage.
int weft_module_compile(weft_module *module,
                        const weft_compile_options *options, weft_text *out);

#ifdef __cplusplus
}
#endif

#endif // WEFT_COMPILER_CAPI_COMPILER_H
