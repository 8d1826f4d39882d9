/*
 * Runs modules through the loader and the driver, told by the lines that engine-run.c understands: module, kernel,
 * buffer, null, value, local, launch, read and fuzz. Answers are the same lines.
 */
#include "engine-mutate.h"
#include "support.h"

enum { MAX_ARGUMENTS = 64, MAX_CONSTANTS = 64 };

static struct {
    ze_command_list_handle_t list;
    ze_module_handle_t module;
    ze_kernel_handle_t kernel;
    unsigned char *memory[MAX_ARGUMENTS];
    size_t memory_bytes[MAX_ARGUMENTS];
} session;

static size_t from_hex(const char *hex, unsigned char *bytes)
{
    size_t count = strlen(hex) / 2;
    for (size_t at = 0; at < count; at++) {
        unsigned byte = 0;
        EXPECT(sscanf(hex + 2 * at, "%2x", &byte) == 1);
        bytes[at] = (unsigned char)byte;
    }
    return count;
}

static void forget(void)
{
    if (session.kernel) OK(zeKernelDestroy(session.kernel));
    if (session.module) OK(zeModuleDestroy(session.module));
    session.kernel = NULL;
    session.module = NULL;
    for (int at = 0; at < MAX_ARGUMENTS; at++) {
        if (session.memory[at]) OK(zeMemFree(context, session.memory[at]));
        session.memory[at] = NULL;
    }
}

static char *build(const void *spirv, size_t bytes, const ze_module_constants_t *constants, ze_result_t *result)
{
    ze_module_desc_t description = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                                    .format = ZE_MODULE_FORMAT_IL_SPIRV,
                                    .inputSize = bytes,
                                    .pInputModule = spirv,
                                    .pConstants = constants};
    ze_module_build_log_handle_t log = NULL;
    size_t log_bytes = 0;
    *result = zeModuleCreate(context, device, &description, &session.module, &log);
    if (*result) session.module = NULL;
    if (log) OK(zeModuleBuildLogGetString(log, &log_bytes, NULL));
    char *text = calloc(1, log_bytes + 1);
    if (log) OK(zeModuleBuildLogGetString(log, &log_bytes, text));
    if (log) OK(zeModuleBuildLogDestroy(log));
    return text;
}

static void module_line(char *arguments)
{
    static unsigned char values[MAX_CONSTANTS][8];
    static uint32_t ids[MAX_CONSTANTS];
    const void *pointers[MAX_CONSTANTS];
    ze_module_constants_t constants = {0, ids, pointers};
    char *path = strtok(arguments, " ");
    for (char *word; (word = strtok(NULL, " ")) && constants.numConstants < MAX_CONSTANTS; constants.numConstants++) {
        char *hex = strchr(word, ':');
        EXPECT(hex != NULL);
        ids[constants.numConstants] = (uint32_t)strtoul(word, NULL, 10);
        from_hex(hex + 1, values[constants.numConstants]);
        pointers[constants.numConstants] = values[constants.numConstants];
    }
    forget();
    size_t bytes;
    uint8_t *spirv = read_file(path, &bytes);
    ze_result_t result;
    char *log = build(spirv, bytes, &constants, &result);
    printf("module 0x%x\nlog %zu\n%s\n", result, strlen(log), log);
    free(log);
    free(spirv);
}

static void kernel_line(const char *name)
{
    ze_kernel_desc_t description = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = name};
    ze_result_t result = ZE_RESULT_ERROR_UNINITIALIZED;
    if (session.module) result = zeKernelCreate(session.module, &description, &session.kernel);
    if (result) session.kernel = NULL;
    printf("kernel 0x%x\n", result);
}

static void buffer_line(uint32_t index, const char *hex, size_t offset)
{
    session.memory_bytes[index] = strlen(hex) / 2;
    session.memory[index] = make_shared(session.memory_bytes[index] + 1);
    from_hex(hex, session.memory[index]);
    void *address = session.memory[index] + offset;
    if (session.kernel) OK(zeKernelSetArgumentValue(session.kernel, index, sizeof address, &address));
}

static void launch_line(const char *numbers)
{
    uint32_t groups[3], size[3], offset[3] = {0, 0, 0};
    int count = sscanf(numbers, "%u %u %u %u %u %u %u %u %u", &groups[0], &groups[1], &groups[2], &size[0], &size[1],
                       &size[2], &offset[0], &offset[1], &offset[2]);
    EXPECT(count == 6 || count == 9);
    if (!session.kernel) {
        printf("launch none\n");
        return;
    }
    ze_group_count_t groups_of = {groups[0], groups[1], groups[2]};
    ze_result_t result = zeKernelSetGroupSize(session.kernel, size[0], size[1], size[2]);
    if (!result && count == 9) result = zeKernelSetGlobalOffsetExp(session.kernel, offset[0], offset[1], offset[2]);
    if (!result) result = zeCommandListAppendLaunchKernel(session.list, session.kernel, &groups_of, NULL, 0, NULL);
    printf("launch 0x%x\n", result);
}

static void fuzz_line(char *arguments)
{
    size_t bytes;
    unsigned long built = 0, refused = 0, invalid = 0;
    uint8_t *spirv = read_file(strtok(arguments, " "), &bytes);
    uint64_t seed = strtoul(strtok(NULL, " "), NULL, 10);
    unsigned long count = strtoul(strtok(NULL, " "), NULL, 10);
    uint32_t *words = malloc(bytes);
    EXPECT(words != NULL);
    for (unsigned long at = 0; at < count; at++) {
        forget();
        memcpy(words, spirv, bytes);
        ze_result_t result;
        char *log = build(words, mutate(words, bytes / 4, &seed) * 4, NULL, &result);
        /* A module of no bytes is refused before there is anything to build, or to say. */
        EXPECT(*log || result == ZE_RESULT_SUCCESS || result == ZE_RESULT_ERROR_INVALID_SIZE);
        built += result == ZE_RESULT_SUCCESS;
        refused += result == ZE_RESULT_ERROR_MODULE_BUILD_FAILURE;
        invalid += result != ZE_RESULT_SUCCESS && result != ZE_RESULT_ERROR_MODULE_BUILD_FAILURE;
        free(log);
    }
    free(words);
    free(spirv);
    printf("fuzz %lu %lu %lu\n", built, refused, invalid);
}

static void argument_line(const char *line, char *rest)
{
    unsigned char value[4096] = {0};
    char *end;
    uint32_t index = (uint32_t)strtoul(rest, &end, 10);
    EXPECT(index < MAX_ARGUMENTS);
    if (*end == ' ') end++;
    if (strcmp(line, "buffer") == 0) {
        char *hex = strtok(end, " "), *offset = strtok(NULL, " ");
        buffer_line(index, hex ? hex : "", offset ? strtoul(offset, NULL, 10) : 0);
    } else if (strcmp(line, "read") == 0) {
        printf("read ");
        for (size_t at = 0; at < session.memory_bytes[index]; at++) printf("%02x", session.memory[index][at]);
        printf("\n");
    } else if (session.kernel && strcmp(line, "null") == 0) {
        OK(zeKernelSetArgumentValue(session.kernel, index, sizeof(void *), NULL));
    } else if (session.kernel && strcmp(line, "local") == 0) {
        OK(zeKernelSetArgumentValue(session.kernel, index, strtoul(end, NULL, 10), NULL));
    } else if (session.kernel && strcmp(line, "value") == 0) {
        size_t bytes = from_hex(end, value);
        OK(zeKernelSetArgumentValue(session.kernel, index, bytes, value));
    }
}

int main(void)
{
    char *line = NULL;
    size_t room = 0;
    open_device();
    session.list = make_immediate(ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
    while (getline(&line, &room, stdin) > 0) {
        line[strcspn(line, "\n")] = 0;
        char *rest = line + strcspn(line, " ");
        if (*rest) *rest++ = 0;
        if (strcmp(line, "module") == 0) module_line(rest);
        else if (strcmp(line, "kernel") == 0) kernel_line(rest);
        else if (strcmp(line, "launch") == 0) launch_line(rest);
        else if (strcmp(line, "fuzz") == 0) fuzz_line(rest);
        else argument_line(line, rest);
        fflush(stdout);
    }
    forget();
    OK(zeCommandListDestroy(session.list));
    OK(zeContextDestroy(context));
    free(line);
    return 0;
}
