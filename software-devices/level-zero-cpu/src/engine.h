/*
 * The engine that runs kernels: SPIR-V in, work on the CPU out, through PoCL. Nothing of Level Zero in here but its result codes.
 *
 * Threads: every function may be called from any thread, also from one with a small stack; code that needs LLVM runs on
 * the engine's own threads. Launches of one stream run in call order.
 */
#ifndef ENGINE_H
#define ENGINE_H

#include <level_zero/ze_api.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Private memory of all work-items of a group is at most this: with more of it, PoCL would overrun its stacks. */
enum { ENGINE_SUBGROUP_SIZES = 3, ENGINE_MAX_PRIVATE_BYTES = 192 << 20 };

/* The findings of the engine, for the device's properties. Filled by `engine_start`. */
typedef struct {
    char name[200];              /* of the processor, such as "AMD EPYC 9454 48-Core Processor" */
    char driver_version[100];    /* such as "PoCL 3.1, LLVM 15.0.6" */
    uint32_t compute_units;      /* threads that run work-groups */
    uint32_t clock_mhz;
    uint32_t vector_floats;      /* native float vector width */
    uint64_t physical_bytes;     /* memory of the machine */
    uint32_t max_group_size;     /* at most 1024: work-items live on a worker's stack */
    uint32_t max_local_bytes;    /* of workgroup memory */
    uint32_t subgroup_sizes[ENGINE_SUBGROUP_SIZES]; /* of the emulation; the first where a kernel asks for none */
    bool has_f64;
    bool has_f16;                /* arithmetic on half, not only storage */
} engine_info;

/* Opens PoCL, once per process. False with one line for people in `reason` when it cannot. */
bool engine_start(engine_info *info, char *reason, size_t reason_bytes);

typedef struct engine_program engine_program;
typedef struct engine_kernel engine_kernel;

typedef enum { ENGINE_POINTER, ENGINE_VALUE } engine_argument_kind;

typedef struct {
    engine_argument_kind kind;   /* CrossWorkgroup or UniformConstant pointer; anything else */
    uint32_t bytes;              /* of the value; 8 for pointers */
} engine_argument;

typedef struct {
    const char *name;
    uint32_t argument_count;
    const engine_argument *arguments;
    uint32_t required_group[3];  /* LocalSize of the entry point, zeros without one */
    uint32_t local_bytes;        /* of its Workgroup variables */
    uint32_t private_bytes;      /* 0 where not known */
    uint32_t subgroup_size;      /* what it will run with */
} engine_kernel_info;

/*
 * Builds SPIR-V: validates it (a module that is not valid never reaches the translator), sets specialisation constants
 * (ids that the module does not have are ignored, as Level Zero says), translates, and hands it to PoCL.
 *
 * `log` is always set, to an empty string where there is nothing to say; the caller frees it. On success it may hold
 * warnings. ZE_RESULT_ERROR_INVALID_NATIVE_BINARY: not SPIR-V or not valid; ZE_RESULT_ERROR_MODULE_BUILD_FAILURE: valid
 * but cannot run here; ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY.
 */
ze_result_t engine_build(const void *spirv, size_t bytes, const ze_module_constants_t *constants, engine_program **program,
                         char **log);
void engine_release_program(engine_program *program);

/* A kernel object: one per ze_kernel_handle_t. The program must outlive it. */
ze_result_t engine_create_kernel(engine_program *program, const char *name, engine_kernel **kernel);
const engine_kernel_info *engine_info_of(const engine_kernel *kernel);
void engine_release_kernel(engine_kernel *kernel);

/* One order of work on the device. */
typedef struct engine_stream engine_stream;
ze_result_t engine_create_stream(engine_stream **stream);
void engine_release_stream(engine_stream *stream);

/* One launch: everything is a snapshot, nothing is read after the call returns except the memory the pointers mean. */
typedef struct {
    engine_kernel *kernel;
    uint32_t groups[3];
    uint32_t group_size[3];
    const void *const *values;    /* per argument: its bytes; the address for ENGINE_POINTER */
} engine_launch;

/* Enqueues; does not wait. No count is 0; the group and what it needs of memory are within the limits above. */
ze_result_t engine_enqueue(engine_stream *stream, const engine_launch *launch);
/* Waits until all that was enqueued on the stream is done. */
ze_result_t engine_finish(engine_stream *stream);

/* Text that grows: what a build says. */

/* Starts as {0}. Without memory lines are lost, never more. */
typedef struct {
    char *text;
    size_t length;
} engine_log;

/* Appends one line; the line break is added. */
void engine_say(engine_log *log, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Appends text as it is, up to `length` bytes, with a line break where it has none at its end. */
void engine_say_text(engine_log *log, const char *text, size_t length);

/* Gives the text away, for the receiver to free; NULL only without memory. */
char *engine_take_log(engine_log *log);

#endif
