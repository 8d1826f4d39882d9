/* Faults on demand, and the consequences of real ones. */
#ifndef FAULTS_H
#define FAULTS_H

#include "api.h"

/* True if the device is lost. It stays so: waits end, new work is refused, objects can still be destroyed. */
bool device_is_lost(void);

/* Loses the device; waits return at once, also those for a kernel that goes on running. */
void lose_device(void);

/* From `LEVEL_ZERO_CPU_LOSE_AFTER`: the device is lost at this command, counted from 1; 0 for never. */
void lose_after(uint64_t commands);

/* The next command that is executed takes that much longer. */
void delay_next(uint64_t nanoseconds);

/* Before each command: counts it, loses the device where that was ordered, sleeps where that was. False when lost. */
bool begin_command(void);

#endif
