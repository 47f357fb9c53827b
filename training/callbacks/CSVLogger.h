//===- CSVLogger.h - a row of a table for each epoch ------------*- C++ -*-===//
//
//   epoch,accuracy,loss,val_accuracy,val_loss
//   0,0.421875,1.0718978643417358,0.25,1.4909553527832031
//
// The file is replaced as a whole with each row, so that a killed run leaves no
// partial row; a resumed run drops the rows after its checkpoint.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TRAINING_CALLBACKS_CSVLOGGER_H
#define WEFT_TRAINING_CALLBACKS_CSVLOGGER_H

#include "weft/training/callbacks/Callback.h"

namespace weft {

class CSVLogger : public Callback {
public:
  void options(keras::Options &o) override;
  Status trainBegin(TrainingRun &run) override;
  Status epochEnd(TrainingRun &run, Logs &logs) override;
  void save(Checkpoint &to) const override;
  Status resume(TrainingRun &run, const Checkpoint &from) override;

private:
  Status readOld();
  void addRow(const std::vector<std::string> &fields);

  std::string filename, separator = ",";
  bool appends = false;
  std::string text;
  std::vector<std::string> keys; ///< empty until the first epoch
};

} // namespace weft

#endif // WEFT_TRAINING_CALLBACKS_CSVLOGGER_H
