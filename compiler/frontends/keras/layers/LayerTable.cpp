//===- LayerTable.cpp - the layers of Keras that are supported ------------===//

#include "weft/compiler/frontends/keras/layers/ActivationLayers.h"
#include "weft/compiler/frontends/keras/layers/Attention.h"
#include "weft/compiler/frontends/keras/layers/ConvLSTM.h"
#include "weft/compiler/frontends/keras/layers/Convolutions.h"
#include "weft/compiler/frontends/keras/layers/Dense.h"
#include "weft/compiler/frontends/keras/layers/Dropout.h"
#include "weft/compiler/frontends/keras/layers/Embedding.h"
#include "weft/compiler/frontends/keras/layers/Flatten.h"
#include "weft/compiler/frontends/keras/layers/InputLayer.h"
#include "weft/compiler/frontends/keras/layers/LayerScale.h"
#include "weft/compiler/frontends/keras/layers/Masking.h"
#include "weft/compiler/frontends/keras/layers/Merging.h"
#include "weft/compiler/frontends/keras/layers/MultiHeadAttention.h"
#include "weft/compiler/frontends/keras/layers/Noise.h"
#include "weft/compiler/frontends/keras/layers/Normalizations.h"
#include "weft/compiler/frontends/keras/layers/Pooling.h"
#include "weft/compiler/frontends/keras/layers/Preprocessing.h"
#include "weft/compiler/frontends/keras/layers/RandomFilters.h"
#include "weft/compiler/frontends/keras/layers/RandomHues.h"
#include "weft/compiler/frontends/keras/layers/RandomImages.h"
#include "weft/compiler/frontends/keras/layers/Recurrent.h"
#include "weft/compiler/frontends/keras/layers/Rescaling.h"
#include "weft/compiler/frontends/keras/layers/Reshaping.h"
#include "weft/compiler/frontends/keras/layers/Resizing.h"
#include "weft/compiler/frontends/keras/layers/Scaling.h"
#include "weft/compiler/frontends/keras/layers/Softmax.h"
#include "weft/compiler/frontends/keras/layers/SpectralNormalization.h"
#include "weft/compiler/frontends/keras/layers/Wrappers.h"

using namespace weft::keras;

static std::vector<TableRow> plainLayers() {
  return {row<ActivationLayer>("Activation"),
          row<ActivityRegularization>("ActivityRegularization"),
          row<Add>("Add"),
          row<AdditiveAttention>("AdditiveAttention"),
          row<AlphaDropout>("AlphaDropout"),
          row<Attention>("Attention"),
          row<Average>("Average"),
          row<BatchNormalization>("BatchNormalization"),
          row<CategoryEncoding>("CategoryEncoding"),
          row<CenterCrop>("CenterCrop"),
          row<Concatenate>("Concatenate"),
          row<Dense>("Dense"),
          row<Discretization>("Discretization"),
          row<Dot>("Dot"),
          row<Dropout>("Dropout"),
          row<ELU>("ELU"),
          row<EinsumDense>("EinsumDense"),
          row<Embedding>("Embedding"),
          row<Flatten>("Flatten"),
          row<GaussianDropout>("GaussianDropout"),
          row<GaussianNoise>("GaussianNoise"),
          row<GroupNormalization>("GroupNormalization"),
          row<GroupQueryAttention>("GroupQueryAttention"),
          row<Identity>("Identity"),
          row<InputLayer>("InputLayer"),
          row<LayerNormalization>("LayerNormalization"),
          row<LayerScale>("LayerScale"),
          row<LeakyReLU>("LeakyReLU"),
          row<Masking>("Masking"),
          row<Maximum>("Maximum"),
          row<Minimum>("Minimum"),
          row<MultiHeadAttention>("MultiHeadAttention"),
          row<Multiply>("Multiply"),
          row<Scaling>("Normalization"),
          row<Permute>("Permute"),
          row<PReLU>("PReLU"),
          row<ReLU>("ReLU"),
          row<RMSNormalization>("RMSNormalization"),
          row<RepeatVector>("RepeatVector"),
          row<ReversibleEmbedding>("ReversibleEmbedding"),
          row<Rescaling>("Rescaling"),
          row<Resizing>("Resizing"),
          row<Reshape>("Reshape"),
          row<Softmax>("Softmax"),
          row<SpectralNormalization>("SpectralNormalization"),
          row<Subtract>("Subtract"),
          row<UnitNormalization>("UnitNormalization")};
}

/// Layers of one, two or three spatial dimensions.
static std::vector<TableRow> spatialLayers() {
  return {row<AdaptivePooling<1, false>>("AdaptiveAveragePooling1D"),
          row<AdaptivePooling<2, false>>("AdaptiveAveragePooling2D"),
          row<AdaptivePooling<3, false>>("AdaptiveAveragePooling3D"),
          row<AdaptivePooling<1, true>>("AdaptiveMaxPooling1D"),
          row<AdaptivePooling<2, true>>("AdaptiveMaxPooling2D"),
          row<AdaptivePooling<3, true>>("AdaptiveMaxPooling3D"),
          row<Pooling<1, false>>("AveragePooling1D"),
          row<Pooling<2, false>>("AveragePooling2D"),
          row<Pooling<3, false>>("AveragePooling3D"),
          row<Conv<1>>("Conv1D"),
          row<ConvTranspose<1>>("Conv1DTranspose"),
          row<Conv<2>>("Conv2D"),
          row<ConvTranspose<2>>("Conv2DTranspose"),
          row<Conv<3>>("Conv3D"),
          row<ConvTranspose<3>>("Conv3DTranspose"),
          row<ConvLSTM<1>>("ConvLSTM1D"),
          row<ConvLSTM<2>>("ConvLSTM2D"),
          row<ConvLSTM<3>>("ConvLSTM3D"),
          row<Cropping<1>>("Cropping1D"),
          row<Cropping<2>>("Cropping2D"),
          row<Cropping<3>>("Cropping3D"),
          row<DepthwiseConv<1>>("DepthwiseConv1D"),
          row<DepthwiseConv<2>>("DepthwiseConv2D"),
          row<GlobalPooling<1, false>>("GlobalAveragePooling1D"),
          row<GlobalPooling<2, false>>("GlobalAveragePooling2D"),
          row<GlobalPooling<3, false>>("GlobalAveragePooling3D"),
          row<GlobalPooling<1, true>>("GlobalMaxPooling1D"),
          row<GlobalPooling<2, true>>("GlobalMaxPooling2D"),
          row<GlobalPooling<3, true>>("GlobalMaxPooling3D"),
          row<Pooling<1, true>>("MaxPooling1D"),
          row<Pooling<2, true>>("MaxPooling2D"),
          row<Pooling<3, true>>("MaxPooling3D"),
          row<SeparableConv<1>>("SeparableConv1D"),
          row<SeparableConv<2>>("SeparableConv2D"),
          row<SpatialDropout<1>>("SpatialDropout1D"),
          row<SpatialDropout<2>>("SpatialDropout2D"),
          row<SpatialDropout<3>>("SpatialDropout3D"),
          row<UpSampling<1>>("UpSampling1D"),
          row<UpSampling<2>>("UpSampling2D"),
          row<UpSampling<3>>("UpSampling3D"),
          row<ZeroPadding<1>>("ZeroPadding1D"),
          row<ZeroPadding<2>>("ZeroPadding2D"),
          row<ZeroPadding<3>>("ZeroPadding3D")};
}

/// Layers that change images while they train; AutoContrast does it always.
static std::vector<TableRow> randomLayers() {
  return {row<AutoContrast>("AutoContrast"),
          row<RandomBrightness>("RandomBrightness"),
          row<RandomColorDegeneration>("RandomColorDegeneration"),
          row<RandomColorJitter>("RandomColorJitter"),
          row<RandomContrast>("RandomContrast"),
          row<RandomCrop>("RandomCrop"),
          row<RandomErasing>("RandomErasing"),
          row<RandomFlip>("RandomFlip"),
          row<RandomGaussianBlur>("RandomGaussianBlur"),
          row<RandomGrayscale>("RandomGrayscale"),
          row<RandomHue>("RandomHue"),
          row<RandomInvert>("RandomInvert"),
          row<RandomPosterization>("RandomPosterization"),
          row<RandomRotation>("RandomRotation"),
          row<RandomSaturation>("RandomSaturation"),
          row<RandomSharpness>("RandomSharpness"),
          row<RandomShear>("RandomShear"),
          row<RandomTranslation>("RandomTranslation"),
          row<RandomZoom>("RandomZoom"),
          row<Solarization>("Solarization")};
}

/// Layers of sequences, and the cells that are their options.
static std::vector<TableRow> recurrentLayers() {
  return {row<Bidirectional>("Bidirectional"),
          row<GRU>("GRU"),
          row<GRUCell>("GRUCell"),
          row<LSTM>("LSTM"),
          row<LSTMCell>("LSTMCell"),
          row<RNN>("RNN"),
          row<SimpleRNN>("SimpleRNN"),
          row<SimpleRNNCell>("SimpleRNNCell"),
          row<StackedRNNCells>("StackedRNNCells"),
          row<TimeDistributed>("TimeDistributed")};
}

const Table<Layer> &weft::keras::layerTable() {
  static const Table<Layer> table = [] {
    std::vector<TableRow> rows = plainLayers();
    for (auto family : {spatialLayers, randomLayers, recurrentLayers})
      for (TableRow &row : family())
        rows.push_back(std::move(row));
    return Table<Layer>{{"layer class", "layers", std::move(rows)}};
  }();
  return table;
}
