#include "driver.h"
#include <stdlib.h>

typedef struct {
    object base;
    char *text;
} build_log;

static void release_log(object *released)
{
    free(((build_log *)released)->text);
}

/* Takes over `text`. */
static ze_result_t open_log(char *text, ze_module_build_log_handle_t *handle)
{
    build_log *made = text == NULL ? NULL : object_make(sizeof *made, KIND_BUILD_LOG, NULL, release_log);
    if (made == NULL) free(text);
    else made->text = text;
    return object_open(made, handle);
}

static void release_module(object *released)
{
    module *of = (module *)released;
    engine_release_program(of->program);
    free(of->spirv);
}

/* Takes over `program`. */
static ze_result_t open_module(context *in, const ze_module_desc_t *desc, engine_program *program,
                               ze_module_handle_t *handle)
{
    module *made = object_make(sizeof *made, KIND_MODULE, &in->base, release_module);
    if (made == NULL) {
        engine_release_program(program);
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    made->context = in;
    made->program = program;
    made->spirv = malloc(desc->inputSize);
    made->spirv_bytes = desc->inputSize;
    if (made->spirv == NULL) {
        object_drop(&made->base);
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    memcpy(made->spirv, desc->pInputModule, desc->inputSize);
    return object_open(made, handle);
}

static ze_result_t build(const ze_module_desc_t *desc, engine_program **program, char **log)
{
    if (desc->format == ZE_MODULE_FORMAT_NATIVE) {
        *log = strdup("this driver takes SPIR-V only, not native binaries");
        return ZE_RESULT_ERROR_INVALID_NATIVE_BINARY;
    }
    return engine_build(desc->pInputModule, desc->inputSize, desc->pConstants, program, log);
}

static ze_result_t check_desc(const ze_module_desc_t *desc)
{
    if (desc->pInputModule == NULL) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    if ((uint32_t)desc->format > ZE_MODULE_FORMAT_NATIVE) return ZE_RESULT_ERROR_INVALID_ENUMERATION;
    if (desc->inputSize == 0) return ZE_RESULT_ERROR_INVALID_SIZE;
    const ze_module_constants_t *constants = desc->pConstants;
    if (constants == NULL || constants->numConstants == 0) return ZE_RESULT_SUCCESS;
    if (constants->pConstantIds == NULL || constants->pConstantValues == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    for (uint32_t i = 0; i < constants->numConstants; i++)
        if (constants->pConstantValues[i] == NULL) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeModuleCreate(ze_context_handle_t hContext, ze_device_handle_t hDevice, const ze_module_desc_t *desc,
                           ze_module_handle_t *phModule, ze_module_build_log_handle_t *phBuildLog)
{
    HOLD(context, in, hContext, KIND_CONTEXT);
    HOLD(device, on, hDevice, KIND_DEVICE);
    if (desc == NULL || phModule == NULL) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    TRY(check_desc(desc));
    if (device_is_lost()) return ZE_RESULT_ERROR_DEVICE_LOST;
    engine_program *program = NULL;
    char *log = NULL;
    ze_result_t result = build(desc, &program, &log);
    if (result == ZE_RESULT_SUCCESS) result = open_module(in, desc, program, phModule);
    if (phBuildLog == NULL) {
        free(log);
        return result;
    }
    const ze_result_t logged = open_log(log, phBuildLog);
    if (logged == ZE_RESULT_SUCCESS) return result;
    if (result == ZE_RESULT_SUCCESS) zeModuleDestroy(*phModule);
    return logged;
}

ze_result_t zeModuleDestroy(ze_module_handle_t hModule)
{
    HOLD(module, destroyed, hModule, KIND_MODULE);
    TRY(may_be_destroyed(&destroyed->base));
    return object_close(&destroyed->base);
}

ze_result_t zeModuleBuildLogDestroy(ze_module_build_log_handle_t hModuleBuildLog)
{
    HOLD(build_log, destroyed, hModuleBuildLog, KIND_BUILD_LOG);
    return object_close(&destroyed->base);
}

/* Level Zero's way to hand out bytes: the size alone, or as many as there is room for, and how many there were. */
static void write_bytes(const void *bytes, size_t available, size_t *size, void *to)
{
    if (to != NULL) {
        const size_t written = *size < available ? *size : available;
        memcpy(to, bytes, written);
    }
    *size = available;
}

ze_result_t zeModuleBuildLogGetString(ze_module_build_log_handle_t hModuleBuildLog, size_t *pSize, char *pBuildLog)
{
    HOLD(build_log, log, hModuleBuildLog, KIND_BUILD_LOG);
    if (pSize == NULL) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    const size_t room = *pSize;
    const size_t bytes = strlen(log->text) + 1;
    write_bytes(log->text, bytes, pSize, pBuildLog);
    if (pBuildLog != NULL && room > 0 && room < bytes) pBuildLog[room - 1] = '\0';
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeModuleGetNativeBinary(ze_module_handle_t hModule, size_t *pSize, uint8_t *pModuleNativeBinary)
{
    HOLD(module, of, hModule, KIND_MODULE);
    if (pSize == NULL) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    write_bytes(of->spirv, of->spirv_bytes, pSize, pModuleNativeBinary);
    return ZE_RESULT_SUCCESS;
}
