//===- Functions.h - the functions of the table, by family ------*- C++ -*-===//

#ifndef WEFT_TOOLS_PJRT_FUNCTIONS_H
#define WEFT_TOOLS_PJRT_FUNCTIONS_H

#include "weft/tools/pjrt/Arguments.h"

namespace weft::pjrt {

/// Puts a function of one struct into its slot.
template <typename Args>
void set(Function *table, Slot slot, PJRT_Error *(*function)(Args *)) {
  table[slot] = reinterpret_cast<Function>(function);
}

void setEventFunctions(Function *table);
void setClientFunctions(Function *table);
void setDeviceFunctions(Function *table);
void setBufferFunctions(Function *table);
void setTransferFunctions(Function *table);
void setAliasFunctions(Function *table);
void setHostTransferFunctions(Function *table);
void setLaunchFunctions(Function *table);
void setTopologyFunctions(Function *table);
void setExecutableFunctions(Function *table);
void setSerializeFunctions(Function *table);
/// The extension for layouts of memory (Layouts.cpp).
const LayoutsExtension *layoutsExtension();

/// Client_Compile and LoadedExecutable_Execute.
PJRT_Error *compile(Client_Compile_Args *args);
PJRT_Error *execute(LoadedExecutable_Execute_Args *args);

} // namespace weft::pjrt

#endif // WEFT_TOOLS_PJRT_FUNCTIONS_H
