/*
 * Opens PoCL and asks it what the device is.
 *
 * Needs at link time (src/LINK): -lSPIRV-Tools -l:libstdc++.so.6 -lm -lpthread -ldl, in this order, after the sources.
 * Needs at run time: libpocl.so.2 and llvm-spirv of the same LLVM as PoCL's or an older one. Headers: level-zero,
 * opencl-headers, spirv-tools, spirv-headers.
 */
#define _GNU_SOURCE
#include "engine-program.h"
#include "subgroups.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

engine_pocl pocl;

enum { MAX_GROUP_SIZE = SUBGROUP_MAX_GROUP };

typedef struct {
    bool done;
    bool ok;
    char reason[300];
} opening;

static opening opened;
static pthread_mutex_t opening_lock = PTHREAD_MUTEX_INITIALIZER;

static cl_platform_id find_platform(void *library)
{
    typedef void *(*find_function)(const char *);
    find_function find = (find_function)dlsym(library, "clGetExtensionFunctionAddress");
    cl_api_clGetPlatformIDs list = find ? (cl_api_clGetPlatformIDs)find("clIcdGetPlatformIDsKHR") : NULL;
    cl_platform_id platform;
    cl_uint count = 0;
    if (!list || list(1, &platform, &count) != CL_SUCCESS || count == 0) return NULL;
    return platform;
}

static void set_worker_count(void)
{
    const char *threads = getenv("LEVEL_ZERO_CPU_THREADS");
    if (!threads || atoi(threads) < 1) return;
    /* The first is PoCL's name for it up to version 3, the second from version 4 on. */
    setenv("POCL_MAX_PTHREAD_COUNT", threads, 1);
    setenv("POCL_CPU_MAX_CU_COUNT", threads, 1);
}

static void read_processor(engine_info *info)
{
    FILE *file = fopen("/proc/cpuinfo", "r");
    char line[400];
    snprintf(info->name, sizeof info->name, "unknown processor");
    while (file && fgets(line, sizeof line, file)) {
        char *value = strncmp(line, "model name", 10) == 0 ? strchr(line, ':') : NULL;
        if (!value) continue;
        value += strspn(value, ": \t");
        value[strcspn(value, "\n")] = 0;
        snprintf(info->name, sizeof info->name, "%.*s", (int)sizeof info->name - 1, value);
        break;
    }
    if (file) fclose(file);
    info->physical_bytes = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void device_value(cl_device_info what, void *value, size_t bytes)
{
    pocl.api->clGetDeviceInfo(pocl.device, what, bytes, value, NULL);
}

static void read_device(engine_info *info)
{
    char version[200] = "";
    char extensions[4000] = "";
    size_t group = 0;
    cl_ulong local_bytes = 0;
    cl_uint floats = 0, doubles = 0;
    device_value(CL_DEVICE_MAX_COMPUTE_UNITS, &info->compute_units, sizeof info->compute_units);
    device_value(CL_DEVICE_MAX_CLOCK_FREQUENCY, &info->clock_mhz, sizeof info->clock_mhz);
    device_value(CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT, &floats, sizeof floats);
    device_value(CL_DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE, &doubles, sizeof doubles);
    device_value(CL_DEVICE_MAX_WORK_GROUP_SIZE, &group, sizeof group);
    device_value(CL_DEVICE_LOCAL_MEM_SIZE, &local_bytes, sizeof local_bytes);
    device_value(CL_DEVICE_EXTENSIONS, extensions, sizeof extensions - 1);
    info->vector_floats = floats ? floats : 4;
    info->max_group_size = group < MAX_GROUP_SIZE ? (uint32_t)group : MAX_GROUP_SIZE;
    info->max_local_bytes = local_bytes < UINT32_MAX ? (uint32_t)local_bytes : UINT32_MAX;
    info->has_f64 = doubles > 0;
    /* PoCL says no, but LLVM does + - * / on half through float; functions of half fail when the module is built. */
    info->has_f16 = true;
    memcpy(info->subgroup_sizes, subgroup_sizes, sizeof info->subgroup_sizes);

    pocl.api->clGetDeviceInfo(pocl.device, CL_DEVICE_PLATFORM, 0, NULL, NULL);
    cl_platform_id platform = NULL;
    device_value(CL_DEVICE_PLATFORM, &platform, sizeof platform);
    pocl.api->clGetPlatformInfo(platform, CL_PLATFORM_VERSION, sizeof version - 1, version, NULL);
    const char *name = strstr(version, "PoCL ");
    const char *llvm = strstr(version, "LLVM ");
    int pocl_length = name ? (int)strcspn(name, "+ ,") : 0;
    if (name) pocl_length = 5 + (int)strcspn(name + 5, "+ ,");
    int llvm_length = llvm ? 5 + (int)strcspn(llvm + 5, " ,") : 0;
    snprintf(info->driver_version, sizeof info->driver_version, "%.*s, %.*s", pocl_length, name ? name : "",
             llvm_length, llvm ? llvm : "");
    pocl.llvm_major = llvm ? (unsigned)atoi(llvm + 5) : 0;
}

static bool open_pocl(char *reason, size_t reason_bytes)
{
    set_worker_count();
    /* RTLD_LOCAL keeps the symbols of PoCL and of LLVM away from the program's own. */
    void *library = dlopen("libpocl.so.2", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        snprintf(reason, reason_bytes, "PoCL cannot be opened (install libpocl2): %s", dlerror());
        return false;
    }
    cl_platform_id platform = find_platform(library);
    if (!platform) {
        snprintf(reason, reason_bytes, "PoCL offers no OpenCL platform");
        return false;
    }
    pocl.api = *(const cl_icd_dispatch **)platform;

    cl_int status = pocl.api->clGetDeviceIDs(platform, CL_DEVICE_TYPE_CPU, 1, &pocl.device, NULL);
    if (status != CL_SUCCESS) {
        snprintf(reason, reason_bytes, "PoCL has no CPU device (OpenCL status %d)", status);
        return false;
    }
    pocl.context = pocl.api->clCreateContext(NULL, 1, &pocl.device, NULL, NULL, &status);
    if (status != CL_SUCCESS) {
        snprintf(reason, reason_bytes, "PoCL cannot make a context (OpenCL status %d)", status);
        return false;
    }
    read_processor(&pocl.info);
    read_device(&pocl.info);
    return true;
}

static void open_on_big_stack(void *unused)
{
    (void)unused;
    pthread_attr_t before, wide;
    pthread_getattr_default_np(&before);
    pthread_getattr_default_np(&wide);
    pthread_attr_setstacksize(&wide, ENGINE_WORKER_STACK_BYTES);
    /* PoCL starts its threads with default attributes while it opens; there is no other way to give them a bigger
     * stack. */
    pthread_setattr_default_np(&wide);
    opened.ok = open_pocl(opened.reason, sizeof opened.reason);
    pthread_setattr_default_np(&before);
    pthread_attr_destroy(&before);
    pthread_attr_destroy(&wide);
}

bool engine_start(engine_info *info, char *reason, size_t reason_bytes)
{
    pthread_mutex_lock(&opening_lock);
    if (!opened.done) {
        opened.done = true;
        if (!engine_run_on_big_stack(open_on_big_stack, NULL))
            snprintf(opened.reason, sizeof opened.reason, "the compiler thread cannot be started");
    }
    pthread_mutex_unlock(&opening_lock);
    if (opened.ok) *info = pocl.info;
    else snprintf(reason, reason_bytes, "%s", opened.reason);
    return opened.ok;
}

/* Compilers repeat themselves; what follows after this much is not read. */
enum { MAX_LOG_BYTES = 256 << 10 };

void engine_say_text(engine_log *log, const char *text, size_t length)
{
    while (length > 0 && (text[length - 1] == '\n' || text[length - 1] == 0)) length--;
    if (length == 0 || log->length + length > MAX_LOG_BYTES) return;
    char *longer = realloc(log->text, log->length + length + 2);
    if (!longer) return;
    log->text = longer;
    memcpy(longer + log->length, text, length);
    log->length += length;
    longer[log->length++] = '\n';
    longer[log->length] = 0;
}

void engine_say(engine_log *log, const char *format, ...)
{
    char line[1000];
    va_list values;
    va_start(values, format);
    int length = vsnprintf(line, sizeof line, format, values);
    va_end(values);
    if (length < 0) return;
    engine_say_text(log, line, (size_t)length < sizeof line ? (size_t)length : sizeof line - 1);
}

char *engine_take_log(engine_log *log)
{
    char *text = log->text ? log->text : calloc(1, 1);
    log->text = NULL;
    log->length = 0;
    return text;
}
