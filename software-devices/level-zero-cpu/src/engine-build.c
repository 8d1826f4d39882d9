/* From SPIR-V to a program of PoCL. */
#define _GNU_SOURCE
#include "engine-program.h"
#include "subgroups.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    const void *spirv;
    size_t bytes;
    const ze_module_constants_t *constants;
    engine_program *program;
    engine_log log;
    ze_result_t result;
} build;

static ze_result_t result_of(spirv_status status, ze_result_t bad)
{
    if (status == SPIRV_OK) return ZE_RESULT_SUCCESS;
    return status == SPIRV_NO_MEMORY ? ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY : bad;
}

static void say_what_pocl_said(cl_program program, engine_log *log)
{
    size_t bytes = 0;
    pocl.api->clGetProgramBuildInfo(program, pocl.device, CL_PROGRAM_BUILD_LOG, 0, NULL, &bytes);
    char *text = bytes > 1 ? malloc(bytes) : NULL;
    if (text &&
        pocl.api->clGetProgramBuildInfo(program, pocl.device, CL_PROGRAM_BUILD_LOG, bytes, text, NULL) == CL_SUCCESS)
        engine_say_text(log, text, strnlen(text, bytes));
    free(text);
}

static ze_result_t build_program(build *job, const unsigned char *bitcode, size_t bytes)
{
    cl_int status = CL_SUCCESS, loaded = CL_SUCCESS;
    cl_program program =
        pocl.api->clCreateProgramWithBinary(pocl.context, 1, &pocl.device, &bytes, &bitcode, &loaded, &status);
    if (status == CL_SUCCESS) {
        job->program->program = program;
        status = pocl.api->clBuildProgram(program, 1, &pocl.device, "-x spir -spir-std=1.2", NULL, NULL);
        say_what_pocl_said(program, &job->log);
    }
    if (status == CL_SUCCESS) return ZE_RESULT_SUCCESS;
    if (status == CL_OUT_OF_HOST_MEMORY) return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    engine_say(&job->log, "PoCL cannot build the module (OpenCL status %d)", status);
    return ZE_RESULT_ERROR_MODULE_BUILD_FAILURE;
}

static ze_result_t translate_and_build(build *job, const spirv_module *module)
{
    const char *translator = spirv_find_translator(pocl.llvm_major);
    if (!translator) {
        engine_say(&job->log, "no llvm-spirv of LLVM %u is installed (package llvm-spirv-%u)", pocl.llvm_major,
                   pocl.llvm_major);
        return ZE_RESULT_ERROR_MODULE_BUILD_FAILURE;
    }
    unsigned char *bitcode = NULL;
    size_t bytes = 0;
    spirv_status status = spirv_translate(module, translator, &bitcode, &bytes, &job->log);
    if (status != SPIRV_OK) return result_of(status, ZE_RESULT_ERROR_MODULE_BUILD_FAILURE);
    ze_result_t result = build_program(job, bitcode, bytes);
    free(bitcode);
    return result;
}

static bool finish_kernels(engine_program *program, const spirv_module *module, uint32_t subgroup_size)
{
    program->numbers = calloc(program->kernel_count + 1, sizeof *program->numbers);
    if (!program->numbers) return false;
    for (uint32_t at = 0; at < program->kernel_count; at++) {
        program->kernels[at].subgroup_size = subgroup_size;
        program->numbers[at] = spirv_kernel_number(module, at);
    }
    return true;
}

static ze_result_t build_module(build *job, spirv_module *module)
{
    char reason[300];
    spirv_status status = spirv_validate(module, &job->log);
    if (status != SPIRV_OK) return result_of(status, ZE_RESULT_ERROR_INVALID_NATIVE_BINARY);

    status = spirv_check(module, &job->log);
    if (status != SPIRV_OK) return result_of(status, ZE_RESULT_ERROR_MODULE_BUILD_FAILURE);
    spirv_warn(module, &job->log);
    spirv_specialize(module, job->constants);
    uint32_t subgroup_size;
    status = subgroups_emulate(module, &subgroup_size, &job->log);
    if (status != SPIRV_OK) return result_of(status, ZE_RESULT_ERROR_MODULE_BUILD_FAILURE);
    status = spirv_pass_locals(module, &job->log);
    if (status != SPIRV_OK) return result_of(status, ZE_RESULT_ERROR_MODULE_BUILD_FAILURE);
    status = spirv_reflect(module, &job->program->kernels, &job->program->kernel_count, reason, sizeof reason);
    if (status == SPIRV_BAD) engine_say(&job->log, "%s", reason);
    if (status != SPIRV_OK) return result_of(status, ZE_RESULT_ERROR_MODULE_BUILD_FAILURE);
    if (!finish_kernels(job->program, module, subgroup_size)) return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    status = spirv_adapt(module);
    if (status != SPIRV_OK) return result_of(status, ZE_RESULT_ERROR_MODULE_BUILD_FAILURE);
    return translate_and_build(job, module);
}

static void build_on_big_stack(void *argument)
{
    build *job = argument;
    char reason[300];
    spirv_module module;
    spirv_status status = spirv_read(&module, job->spirv, job->bytes, reason, sizeof reason);
    if (status == SPIRV_BAD) engine_say(&job->log, "%s", reason);
    job->result = result_of(status, ZE_RESULT_ERROR_INVALID_NATIVE_BINARY);
    if (status != SPIRV_OK) return;
    job->result = build_module(job, &module);
    spirv_free(&module);
}

ze_result_t engine_build(const void *spirv, size_t bytes, const ze_module_constants_t *constants, engine_program **program,
                         char **log)
{
    build job = {.spirv = spirv,
                 .bytes = bytes,
                 .constants = constants,
                 .program = calloc(1, sizeof(engine_program)),
                 .result = ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY};
    *program = NULL;
    if (job.program) engine_run_on_big_stack(build_on_big_stack, &job);
    if (job.result == ZE_RESULT_SUCCESS) *program = job.program;
    else engine_release_program(job.program);
    *log = engine_take_log(&job.log);
    return job.result;
}

void engine_release_program(engine_program *program)
{
    if (!program) return;
    if (program->program) pocl.api->clReleaseProgram(program->program);
    free(program->kernels);
    free(program->numbers);
    free(program);
}
