/*
 * Runs modules through the loader and the driver, told by lines on standard input; answers are lines on standard output.
 *
 *   module FILE [ID:HEX ...]        builds with specialisation constants -> "module RESULT", then "log BYTES" and the log
 *   fuzz FILE SEED COUNT            builds COUNT mutations of it -> "fuzz COUNT"
 *   kernel NAME                     -> "kernel RESULT"
 *   buffer INDEX HEX [OFFSET]       a pointer argument: memory with these bytes, and the address OFFSET into it
 *   null INDEX | value INDEX HEX
 *   launch G G G  L L L             and a wait -> "launch RESULT"
 *   read INDEX                      -> "read HEX"
 */
#include "support.h"

enum { MAX_ARGUMENTS = 64, MAX_CONSTANTS = 64 };

static struct {
    ze_command_queue_handle_t queue;
    ze_command_list_handle_t list;
    ze_module_handle_t module;
    ze_kernel_handle_t kernel;
    unsigned char *memory[MAX_ARGUMENTS];
    size_t memory_bytes[MAX_ARGUMENTS];
} session;

static uint64_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

/* Flips, copies, swaps or changes up to three words, or cuts the module off. How many words are left. */
static size_t mutate(uint32_t *words, size_t count, uint64_t *state)
{
    for (uint64_t left = 1 + next_random(state) % 3; left > 0; left--) {
        size_t at = next_random(state) % count, other = next_random(state) % count;
        uint32_t kept = words[at];
        switch (next_random(state) % 6) {
        case 0: words[at] ^= 1u << next_random(state) % 32; break;
        case 1: words[at] = words[other]; break;
        case 2: words[at] = words[other], words[other] = kept; break;
        case 3: words[at] += next_random(state) % 5 - 2; break;
        case 4: words[at] = (uint32_t)(next_random(state) % 64); break;
        default:
            if (next_random(state) % 8 == 0) return at;
            break;
        }
    }
    return count;
}

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

static void forget_kernel(void)
{
    if (session.kernel) OK(zeKernelDestroy(session.kernel));
    session.kernel = NULL;
}

static void forget_memory(uint32_t index)
{
    if (session.memory[index]) OK(zeMemFree(context, session.memory[index]));
    session.memory[index] = NULL;
}

static void forget(void)
{
    forget_kernel();
    if (session.module) OK(zeModuleDestroy(session.module));
    session.module = NULL;
    for (uint32_t at = 0; at < MAX_ARGUMENTS; at++) forget_memory(at);
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
    forget_kernel();
    if (session.module) result = zeKernelCreate(session.module, &description, &session.kernel);
    if (result) session.kernel = NULL;
    printf("kernel 0x%x\n", result);
}

static void buffer_line(uint32_t index, const char *hex, size_t offset)
{
    forget_memory(index);
    session.memory_bytes[index] = strlen(hex) / 2;
    session.memory[index] = make_host(session.memory_bytes[index] + 1);
    from_hex(hex, session.memory[index]);
    void *address = session.memory[index] + offset;
    if (session.kernel) OK(zeKernelSetArgumentValue(session.kernel, index, sizeof address, &address));
}

static ze_result_t run_launch(const uint32_t groups[3], const uint32_t size[3])
{
    const ze_group_count_t groups_of = {groups[0], groups[1], groups[2]};
    const ze_result_t sized = zeKernelSetGroupSize(session.kernel, size[0], size[1], size[2]);
    if (sized) return sized;
    const ze_result_t appended =
        zeCommandListAppendLaunchKernel(session.list, session.kernel, &groups_of, NULL, 0, NULL);
    if (appended) return appended;
    run_list(session.queue, session.list);
    return ZE_RESULT_SUCCESS;
}

static void launch_line(const char *numbers)
{
    uint32_t groups[3], size[3];
    EXPECT(sscanf(numbers, "%u %u %u %u %u %u", &groups[0], &groups[1], &groups[2], &size[0], &size[1], &size[2]) == 6);
    if (session.kernel) printf("launch 0x%x\n", run_launch(groups, size));
    else printf("launch none\n");
}

static void fuzz_line(char *arguments)
{
    size_t bytes;
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
        free(log);
    }
    free(words);
    free(spirv);
    printf("fuzz %lu\n", count);
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
    session.queue = make_queue();
    session.list = make_list();
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
    OK(zeCommandQueueDestroy(session.queue));
    OK(zeContextDestroy(context));
    free(line);
    return 0;
}
