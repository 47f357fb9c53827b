/* Prints the inputs, outputs and collectives of the program file argv[1]; with
 * a second argument it loads the program's code as well. */
#include "weft/runtime/abi/weft.h"

#include <stdio.h>
#include <string.h>

static int fail(weft_error *error) {
  printf("error: %s\n", weft_error_message(error));
  weft_error_free(error);
  return 1;
}

static void print(const char *direction, const weft_port *port) {
  printf("%s %s %s %s (", direction, port->name, weft_role_name(port->role),
         weft_dtype_name(port->dtype));
  for (size_t i = 0; i < port->rank; ++i)
    printf("%s%lld", i ? ", " : "", (long long)port->shape[i]);
  printf(") %s %llu bytes, %llu a device, donated %lld\n", port->layout,
         (unsigned long long)port->bytes,
         (unsigned long long)port->device_bytes, (long long)port->donated);
}

static int printPorts(const weft_program *program) {
  weft_port port;
  for (size_t i = 0; i < weft_program_input_count(program); ++i) {
    weft_error *error = weft_program_input(program, i, &port);
    if (error)
      return fail(error);
    print("input", &port);
  }
  for (size_t i = 0; i < weft_program_output_count(program); ++i) {
    weft_error *error = weft_program_output(program, i, &port);
    if (error)
      return fail(error);
    print("output", &port);
  }
  return 0;
}

static int printProgram(const weft_program *program) {
  weft_program_info info;
  weft_collective sent;
  weft_error *error = weft_program_describe(program, &info);
  if (error)
    return fail(error);
  printf("mesh %s, %lld devices, %zu kernels, %zu launches, inputs %llu, "
         "outputs %llu\n",
         info.mesh, (long long)info.device_count, info.kernel_count,
         info.launch_count, (unsigned long long)info.input_bytes,
         (unsigned long long)info.output_bytes);
  for (size_t i = 0; i < info.collective_count; ++i) {
    error = weft_program_collective(program, i, &sent);
    if (error)
      return fail(error);
    printf("%s %s of %lld: %llu bytes\n", sent.kind, sent.axes,
           (long long)sent.group, (unsigned long long)sent.bytes);
  }
  return printPorts(program);
}

/* Numbers that do not exist are errors, and so are null arguments. */
static int refuse(const weft_program *program) {
  weft_port port;
  weft_program_info info;
  weft_collective sent;
  weft_error *errors[] = {weft_program_input(program, 99, &port),
                          weft_program_output(program, 99, &port),
                          weft_program_collective(program, 99, &sent),
                          weft_program_input(NULL, 0, &port),
                          weft_program_describe(program, NULL),
                          weft_program_describe(NULL, &info),
                          weft_program_prepare(NULL)};
  for (size_t i = 0; i < sizeof errors / sizeof *errors; ++i) {
    if (!errors[i])
      return 1;
    printf("%s\n", weft_error_message(errors[i]));
    weft_error_free(errors[i]);
  }
  return weft_program_input_count(NULL) != 0 ||
         weft_dtype_name((weft_dtype)99) || weft_role_name((weft_role)99);
}

int main(int argc, char **argv) {
  weft_program *program = NULL;
  weft_error *error = weft_program_load(argv[1], &program);
  if (error)
    return fail(error);
  int status = printProgram(program);
  if (!status)
    status = refuse(program);
  if (!status && argc > 2) {
    error = weft_program_prepare(program);
    status = error ? fail(error) : 0;
  }
  weft_program_free(program);
  return status;
}
