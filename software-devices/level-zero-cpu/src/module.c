#include "module.h"
#include "device.h"
#include "faults.h"
#include <stdlib.h>

typedef struct {
    object base;
    char *text;
} build_log;

static void free_log(object *freed)
{
    build_log *log = (build_log *)freed;
    free(log->text);
    free(log);
}

/* Takes over `text`. */
static ze_result_t open_log(char *text, ze_module_build_log_handle_t *handle)
{
    build_log *made = calloc(1, sizeof *made);
    if (made != NULL) made->text = text;
    if (made == NULL || text == NULL || !object_open(&made->base, KIND_BUILD_LOG, free_log)) {
        free(made);
        free(text);
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    *handle = HANDLE_OF(ze_module_build_log_handle_t, made);
    return ZE_RESULT_SUCCESS;
}

static void free_module(object *freed)
{
    module *of = (module *)freed;
    engine_release_program(of->program);
    object_drop(&of->context->base);
    free(of->spirv);
    free(of);
}

/* Takes over `program`. */
static ze_result_t open_module(context *in, const ze_module_desc_t *desc, engine_program *program,
                               ze_module_handle_t *handle)
{
    module *made = calloc(1, sizeof *made);
    uint8_t *spirv = malloc(desc->inputSize);
    if (made != NULL && spirv != NULL) {
        *made = (module){.context = in, .program = program, .spirv = spirv, .spirv_bytes = desc->inputSize};
        memcpy(spirv, desc->pInputModule, desc->inputSize);
    }
    if (made == NULL || spirv == NULL || !object_open(&made->base, KIND_MODULE, free_module)) {
        free(made);
        free(spirv);
        engine_release_program(program);
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    adopt(&in->base);
    *handle = HANDLE_OF(ze_module_handle_t, made);
    return ZE_RESULT_SUCCESS;
}

static ze_result_t build(const ze_module_desc_t *desc, engine_program **program, char **log)
{
    if (desc->format == ZE_MODULE_FORMAT_NATIVE) {
        *log = strdup("this driver takes SPIR-V only, not native binaries");
        return ZE_RESULT_ERROR_INVALID_NATIVE_BINARY;
    }
    return engine_build(desc->pInputModule, desc->inputSize, desc->pConstants, desc->pBuildFlags, program, log);
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
    const ze_result_t checked = check_desc(desc);
    if (checked != ZE_RESULT_SUCCESS) return checked;
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
    const ze_result_t result = may_be_destroyed(&destroyed->base);
    if (result != ZE_RESULT_SUCCESS) return result;
    if (!object_close(&destroyed->base)) return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    disown(&destroyed->context->base);
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeModuleDynamicLink(uint32_t numModules, ze_module_handle_t *phModules,
                                ze_module_build_log_handle_t *phLinkLog)
{
    if (phModules == NULL) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    for (uint32_t i = 0; i < numModules; i++) {
        HOLD(module, of, phModules[i], KIND_MODULE);
    }
    const ze_result_t logged =
        phLinkLog == NULL ? ZE_RESULT_SUCCESS : open_log(strdup("this driver does not link modules"), phLinkLog);
    return logged == ZE_RESULT_SUCCESS ? ZE_RESULT_ERROR_MODULE_LINK_FAILURE : logged;
}

ze_result_t zeModuleBuildLogDestroy(ze_module_build_log_handle_t hModuleBuildLog)
{
    HOLD(build_log, destroyed, hModuleBuildLog, KIND_BUILD_LOG);
    return object_close(&destroyed->base) ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
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

ze_result_t zeModuleGetGlobalPointer(ze_module_handle_t hModule, const char *pGlobalName, size_t *pSize, void **pptr)
{
    HOLD(module, of, hModule, KIND_MODULE);
    (void)pSize;
    (void)pptr;
    return pGlobalName == NULL ? ZE_RESULT_ERROR_INVALID_NULL_POINTER : ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
}

ze_result_t zeModuleGetFunctionPointer(ze_module_handle_t hModule, const char *pFunctionName, void **pfnFunction)
{
    HOLD(module, of, hModule, KIND_MODULE);
    if (pFunctionName == NULL || pfnFunction == NULL) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
}

ze_result_t zeModuleGetKernelNames(ze_module_handle_t hModule, uint32_t *pCount, const char **pNames)
{
    HOLD(module, of, hModule, KIND_MODULE);
    if (pCount == NULL) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    uint32_t available = 0;
    while (engine_kernel_info_at(of->program, available) != NULL) available++;
    const uint32_t written = items_to_write(pCount, available, pNames);
    for (uint32_t i = 0; i < written; i++) pNames[i] = engine_kernel_info_at(of->program, i)->name;
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeModuleGetProperties(ze_module_handle_t hModule, ze_module_properties_t *pModuleProperties)
{
    HOLD(module, of, hModule, KIND_MODULE);
    if (pModuleProperties == NULL) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    pModuleProperties->flags = 0;
    return ZE_RESULT_SUCCESS;
}
