//===- Runtime.h - N virtual devices in one process -------------*- C++ -*-===//

#ifndef WEFT_RUNTIME_DEVICES_CPU_RUNTIME_H
#define WEFT_RUNTIME_DEVICES_CPU_RUNTIME_H

#include "weft/runtime/collectives/Provider.h"
#include "weft/runtime/devices/cpu/Executor.h"
#include "weft/runtime/devices/cpu/MemoryMeter.h"
#include "weft/runtime/devices/cpu/Workers.h"
#include "weft/runtime/program/Memory.h"
#include "weft/runtime/program/Program.h"

#include <mutex>

/// One logical array: a local buffer for each position of the mesh.
struct weft_buffer {
  std::shared_ptr<const weft::runtime::Program> program;
  const weft::runtime::PortInfo *port; ///< lives in `program`
  weft_runtime *runtime;
  uint64_t id;                               ///< never used twice by a runtime
  uint64_t lastRun;                          ///< the run that bound it last
  std::vector<weft::runtime::Memory> locals; ///< by position
  std::shared_ptr<weft::runtime::MemoryMeter> meter;
};

struct weft_runtime {
  weft_runtime(int64_t devices, int workers, weft_processes *others)
      : deviceCount(devices),
        processes(others ? others->processes.get() : nullptr), workers(workers),
        provider(weft::runtime::createInProcessProvider(&host)),
        arenas(size_t(devices)),
        meter(std::make_shared<weft::runtime::MemoryMeter>(devices)) {}

  /// The executor of a program, made at its first run.
  weft::runtime::Error
  executorFor(const std::shared_ptr<const weft::runtime::Program> &program,
              weft::runtime::Executor *&out);
  weft::runtime::Error growArenas(const weft::runtime::Plan &plan);

  /// An error for a program that needs a device that is not there. What is
  /// counted or kept by device may be indexed behind it.
  weft::runtime::Error checkDevices(const weft::runtime::Plan &plan) const;

  /// Who runs the devices of a mesh.
  weft::runtime::Ownership ownership(const weft::runtime::Mesh &mesh) const;

  const int64_t deviceCount;
  weft::runtime::Processes *const
      processes; ///< null: this one runs all devices
  weft::runtime::Staging staging;
  bool poison = false, isolate = false;
  weft::runtime::HostFunction host;
  std::mutex mutex; ///< one run at a time
  weft::runtime::Workers workers;
  std::unique_ptr<weft::runtime::CollectiveProvider> provider;
  std::vector<weft::runtime::Memory> arenas; ///< by device, shared by programs
  uint64_t arenaVersion = 0;
  std::shared_ptr<weft::runtime::MemoryMeter> meter;
  std::vector<std::unique_ptr<weft::runtime::Executor>> executors;
  uint64_t nextBuffer = 1, runs = 0;
  std::vector<weft_counter> counters; ///< of the last run
};

#endif // WEFT_RUNTIME_DEVICES_CPU_RUNTIME_H
