//===- serving.h - a model's predictions, from C ----------------*- C++ -*-===//
//
// libWeftServing.so: the predict steps of a .weft file, compiled for one or
// several batch sizes, with the model's weights. No compiler is loaded.
//
//   weft compile model.keras --step predict --batch-size 1,8,32 -o predict.weft
//
//   #include "weft/runtime/abi/serving.h"
//
//   static size_t row; /* values of y for a sample */
//
//   /* y = model(x): a model of one input and one output of float32. */
//   weft_error *predict(const char *steps, const char *weights, const float *x,
//                       int64_t samples, float *y) {
//     const void *inputs[] = {x};
//     void *outputs[] = {y};
//     weft_model *model = NULL;
//     weft_port port;
//     weft_error *error = weft_model_open(steps, weights, NULL, &model);
//     if (!error)
//       error = weft_model_output(model, 0, &port);
//     if (!error)
//       row = port.bytes / sizeof(float) / port.shape[0];
//     if (!error)
//       error = weft_model_predict(model, inputs, samples, outputs);
//     weft_model_free(model);
//     return error;
//   }
//
// Samples run in the largest available batch size that they fill, then the rest
// in the next smaller one. A rest below the smallest size is padded to it with
// copies of the last sample, whose results are dropped.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_ABI_SERVING_H
#define WEFT_RUNTIME_ABI_SERVING_H

#include "weft/runtime/abi/weft.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct weft_model weft_model;

/// Opens a model. `steps`: a .weft file. `weights`: .keras, .weights.h5,
/// .weights.json, .npz or .safetensors; NULL: the model's initial values.
/// `devices`: "cpu:8"; NULL: as many CPU devices as the steps need.
weft_error *weft_model_open(const char *steps, const char *weights,
                            const char *devices, weft_model **out);
/// Frees a model; NULL is allowed.
void weft_model_free(weft_model *model);

/// The batch sizes of the steps, in ascending order; returns their number.
size_t weft_model_batch_sizes(const weft_model *model, const int64_t **out);

/// Inputs and outputs of a prediction. The first size of a shape is the
/// smallest batch size; bytes are those of that batch. Strings and arrays are
/// valid as long as the model.
size_t weft_model_input_count(const weft_model *model);
size_t weft_model_output_count(const weft_model *model);
weft_error *weft_model_input(const weft_model *model, size_t input,
                             weft_port *out);
weft_error *weft_model_output(const weft_model *model, size_t output,
                              weft_port *out);

/// Predicts `samples` samples, at least one. inputs[i] is a dense, row-major
/// array of the input's dtype with a row for each sample; so is outputs[o],
/// which is completely written. Only one call at a time is allowed, and none in
/// a process that was forked after weft_model_open, which lacks its threads.
weft_error *weft_model_predict(weft_model *model, const void *const *inputs,
                               int64_t samples, void *const *outputs);

#ifdef __cplusplus
}
#endif

#endif // WEFT_RUNTIME_ABI_SERVING_H
