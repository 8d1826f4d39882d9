/*
 * Runs modules through the engine alone, told by lines on standard input; answers are lines on standard output.
 *
 *   module FILE [ID:HEX ...]              builds with specialisation constants -> "module RESULT", then "log BYTES" and
 * the log fuzz FILE SEED COUNT                  builds COUNT mutations of it -> "fuzz BUILT REFUSED INVALID" kernel
 * NAME                           -> "kernel RESULT" and "info GROUP.. LOCAL SUBGROUP KIND:BYTES ..." buffer INDEX HEX
 * [OFFSET]             a pointer argument: memory with these bytes, and the address OFFSET into it null INDEX | value
 * INDEX HEX | local INDEX BYTES launch G G G  L L L [O O O]           -> "launch RESULT", after waiting repeat COUNT G
 * G G  L L L             that many launches, then one wait -> "repeat RESULT NANOSECONDS_EACH" read INDEX -> "read HEX"
 *   cycle FILE COUNT                      builds, launches "main" with the arguments set, and releases -> "cycle
 * RESULT" memory                                -> "memory RESIDENT_KIB"
 */
#define _GNU_SOURCE
#include "../src/engine.h"
#include "engine-mutate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MAX_ARGUMENTS = 64, MAX_CONSTANTS = 64 };

static struct {
    engine_program *program;
    engine_kernel *kernel;
    engine_stream *stream;
    unsigned char *memory[MAX_ARGUMENTS];
    size_t memory_bytes[MAX_ARGUMENTS];
    unsigned char value[MAX_ARGUMENTS][4096];
    uint32_t local_bytes[MAX_ARGUMENTS];
} now;

static void die(const char *what)
{
    fprintf(stderr, "engine-run: %s\n", what);
    exit(2);
}

static unsigned digit(char character)
{
    const char *digits = "0123456789abcdef", *place = character ? strchr(digits, character) : NULL;
    if (!place) die("not hexadecimal");
    return (unsigned)(place - digits);
}

static size_t from_hex(const char *hex, unsigned char *bytes)
{
    size_t count = strlen(hex) / 2;
    for (size_t at = 0; at < count; at++)
        bytes[at] = (unsigned char)(digit(hex[2 * at]) << 4 | digit(hex[2 * at + 1]));
    return count;
}

static unsigned char *read_whole(const char *path, size_t *bytes)
{
    FILE *file = fopen(path, "rb");
    if (!file) die(path);
    fseek(file, 0, SEEK_END);
    *bytes = (size_t)ftell(file);
    rewind(file);
    unsigned char *content = malloc(*bytes + 1);
    if (!content || fread(content, 1, *bytes, file) != *bytes) die("cannot read");
    fclose(file);
    return content;
}

static void forget(void)
{
    engine_release_kernel(now.kernel);
    engine_release_program(now.program);
    now.kernel = NULL;
    now.program = NULL;
    for (int at = 0; at < MAX_ARGUMENTS; at++) {
        free(now.memory[at]);
        now.memory[at] = NULL;
    }
}

static void build(char *arguments)
{
    static unsigned char values[MAX_CONSTANTS][8];
    static uint32_t ids[MAX_CONSTANTS];
    const void *pointers[MAX_CONSTANTS];
    ze_module_constants_t constants = {0, ids, pointers};
    char *path = strtok(arguments, " ");
    for (char *word; (word = strtok(NULL, " ")) && constants.numConstants < MAX_CONSTANTS; constants.numConstants++) {
        char *hex = strchr(word, ':');
        if (!hex) die("constant without a value");
        ids[constants.numConstants] = (uint32_t)strtoul(word, NULL, 10);
        from_hex(hex + 1, values[constants.numConstants]);
        pointers[constants.numConstants] = values[constants.numConstants];
    }
    forget();
    size_t bytes;
    unsigned char *spirv = read_whole(path, &bytes);
    char *log = NULL;
    ze_result_t result = engine_build(spirv, bytes, &constants, NULL, &now.program, &log);
    free(spirv);
    if (!log) die("no log");
    printf("module 0x%x\nlog %zu\n%s\n", result, strlen(log), log);
    free(log);
}

static void kernel(const char *name)
{
    engine_release_kernel(now.kernel);
    ze_result_t result =
        now.program ? engine_create_kernel(now.program, name, &now.kernel) : ZE_RESULT_ERROR_UNINITIALIZED;
    printf("kernel 0x%x\n", result);
    if (result != ZE_RESULT_SUCCESS) return;
    const engine_kernel_info *info = engine_info_of(now.kernel);
    printf("info %u %u %u %u %u", info->required_group[0], info->required_group[1], info->required_group[2],
           info->local_bytes, info->subgroup_size);
    for (uint32_t at = 0; at < info->argument_count; at++)
        printf(" %c:%u", "plv"[info->arguments[at].kind], info -> arguments[at].bytes);
    printf("\n");
}

static void buffer(unsigned index, const char *hex, size_t offset)
{
    free(now.memory[index]);
    now.memory_bytes[index] = strlen(hex) / 2;
    if (posix_memalign((void **)&now.memory[index], 64, now.memory_bytes[index] + 1) != 0) die("no memory");
    from_hex(hex, now.memory[index]);
    unsigned char *address = now.memory[index] + offset;
    memcpy(now.value[index], &address, sizeof address);
}

static engine_launch launch_of(const char *numbers)
{
    static const void *values[MAX_ARGUMENTS];
    engine_launch launch = {.kernel = now.kernel, .values = values, .local_bytes = now.local_bytes};
    for (int at = 0; at < MAX_ARGUMENTS; at++) values[at] = now.value[at];
    unsigned long o[3] = {0, 0, 0};
    int count =
        sscanf(numbers, "%u %u %u %u %u %u %lu %lu %lu", &launch.groups[0], &launch.groups[1], &launch.groups[2],
               &launch.group_size[0], &launch.group_size[1], &launch.group_size[2], &o[0], &o[1], &o[2]);
    if (count != 6 && count != 9) die("launch needs 6 or 9 numbers");
    for (int axis = 0; axis < 3; axis++) launch.offset[axis] = o[axis];
    return launch;
}

static void launch(const char *numbers)
{
    if (!now.kernel) {
        printf("launch none\n");
        return;
    }
    engine_launch one = launch_of(numbers);
    ze_result_t result = engine_enqueue(now.stream, &one);
    ze_result_t waited = engine_finish(now.stream);
    printf("launch 0x%x\n", result ? result : waited);
}

static void repeat(char *arguments)
{
    unsigned long count = strtoul(arguments, &arguments, 10);
    if (!now.kernel) die("no kernel to launch");
    engine_launch one = launch_of(arguments);
    ze_result_t result = ZE_RESULT_SUCCESS;
    struct timespec start, end;
    clock_gettime(CLOCK_MONOTONIC, &start);
    for (unsigned long at = 0; at < count && !result; at++) result = engine_enqueue(now.stream, &one);
    ze_result_t waited = engine_finish(now.stream);
    clock_gettime(CLOCK_MONOTONIC, &end);
    double nanoseconds = (double)(end.tv_sec - start.tv_sec) * 1e9 + (double)(end.tv_nsec - start.tv_nsec);
    printf("repeat 0x%x %.0f\n", result ? result : waited, nanoseconds / (double)count);
}

static ze_result_t build_launch_release(const unsigned char *spirv, size_t bytes)
{
    engine_program *program = NULL;
    engine_kernel *kernel = NULL;
    char *log = NULL;
    ze_result_t result = engine_build(spirv, bytes, NULL, NULL, &program, &log);
    if (!result) result = engine_create_kernel(program, "main", &kernel);
    if (!result) {
        engine_launch one = launch_of("1 1 1 1 1 1");
        one.kernel = kernel;
        result = engine_enqueue(now.stream, &one);
        if (!result) result = engine_finish(now.stream);
    }
    engine_release_kernel(kernel);
    engine_release_program(program);
    free(log);
    return result;
}

static void cycle(const char *path, unsigned long count)
{
    size_t bytes;
    unsigned char *spirv = read_whole(path, &bytes);
    ze_result_t result = ZE_RESULT_SUCCESS;
    for (unsigned long at = 0; at < count && !result; at++) result = build_launch_release(spirv, bytes);
    free(spirv);
    printf("cycle 0x%x\n", result);
}

static void fuzz(const char *path, uint64_t seed, unsigned long count)
{
    size_t bytes;
    unsigned long built = 0, refused = 0, invalid = 0;
    unsigned char *spirv = read_whole(path, &bytes);
    uint32_t *words = malloc(bytes);
    if (!words) die("no memory");
    for (unsigned long at = 0; at < count; at++) {
        engine_program *program;
        char *log;
        memcpy(words, spirv, bytes);
        size_t left = mutate(words, bytes / 4, &seed);
        if (getenv("ENGINE_RUN_KEEP")) {
            FILE *file = fopen(getenv("ENGINE_RUN_KEEP"), "wb");
            if (file) fwrite(words, 4, left, file), fclose(file);
        }
        ze_result_t result = engine_build(words, left * 4, NULL, NULL, &program, &log);
        if (!log || (result != ZE_RESULT_SUCCESS && !*log)) die("a failure without a word");
        built += result == ZE_RESULT_SUCCESS;
        refused += result == ZE_RESULT_ERROR_MODULE_BUILD_FAILURE;
        invalid += result == ZE_RESULT_ERROR_INVALID_NATIVE_BINARY;
        engine_release_program(program);
        free(log);
    }
    free(words);
    free(spirv);
    printf("fuzz %lu %lu %lu\n", built, refused, invalid);
}

static void memory(void)
{
    unsigned long total, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%lu %lu", &total, &resident) != 2) die("no statm");
    fclose(file);
    printf("memory %lu\n", resident * (unsigned long)sysconf(_SC_PAGESIZE) / 1024);
}

static void obey(char *line)
{
    char *rest = strchr(line, ' ');
    if (rest) *rest++ = 0;
    else rest = line + strlen(line);
    char *end;
    if (strcmp(line, "module") == 0) return build(rest);
    if (strcmp(line, "kernel") == 0) return kernel(rest);
    if (strcmp(line, "launch") == 0) return launch(rest);
    if (strcmp(line, "repeat") == 0) return repeat(rest);
    if (strcmp(line, "memory") == 0) return memory();
    if (strcmp(line, "cycle") == 0 || strcmp(line, "fuzz") == 0) {
        char *path = strtok(rest, " "), *first = strtok(NULL, " "), *second = strtok(NULL, " ");
        if (!first) die("too few words");
        if (second) return fuzz(path, strtoul(first, NULL, 10), strtoul(second, NULL, 10));
        return cycle(path, strtoul(first, NULL, 10));
    }
    unsigned long index = strtoul(rest, &end, 10);
    if (index >= MAX_ARGUMENTS) die("argument index");
    if (*end == ' ') end++;
    if (strcmp(line, "buffer") == 0) {
        char *hex = strtok(end, " "), *offset = strtok(NULL, " ");
        buffer((unsigned)index, hex ? hex : "", offset ? strtoul(offset, NULL, 10) : 0);
    } else if (strcmp(line, "null") == 0) memset(now.value[index], 0, 8);
    else if (strcmp(line, "value") == 0) from_hex(end, now.value[index]);
    else if (strcmp(line, "local") == 0) now.local_bytes[index] = (uint32_t)strtoul(end, NULL, 10);
    else if (strcmp(line, "read") == 0) {
        printf("read ");
        for (size_t at = 0; at < now.memory_bytes[index]; at++) printf("%02x", now.memory[index][at]);
        printf("\n");
    } else die(line);
}

int main(void)
{
    char reason[400] = "", *line = NULL;
    size_t room = 0;
    engine_info info;
    if (!engine_start(&info, reason, sizeof reason)) die(reason);
    if (engine_create_stream(&now.stream) != ZE_RESULT_SUCCESS) die("no stream");
    printf("device %s; %s; %u units\n", info.name, info.driver_version, info.compute_units);
    while (getline(&line, &room, stdin) > 0) {
        line[strcspn(line, "\n")] = 0;
        if (*line) obey(line);
        fflush(stdout);
    }
    forget();
    engine_release_stream(now.stream);
    free(line);
    return 0;
}
