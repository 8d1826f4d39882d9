/*
 * Several threads with small stacks build, launch and wait at the same time, each on its own stream, and one
 * kernel that they share. Arguments: module with a kernel "main" (in, out), whose out is in + 1. Prints how many
 * results were right.
 */
#define _GNU_SOURCE
#include "../src/engine.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 6, ROUNDS = 20, ITEMS = 64, STACK_BYTES = 128 << 10 };

static unsigned char *spirv;
static size_t spirv_bytes;
static engine_kernel *shared;

static int launch(engine_stream *stream, engine_kernel *kernel, int first)
{
    int in[ITEMS], right = 0;
    int *out = calloc(ITEMS, sizeof *out), *given = in;
    const void *values[] = {&given, &out};
    engine_launch one = {.kernel = kernel, .groups = {4, 1, 1}, .group_size = {ITEMS / 4, 1, 1}, .values = values};
    for (int at = 0; at < ITEMS; at++) in[at] = first + at;
    if (engine_enqueue(stream, &one) || engine_finish(stream)) return 0;
    for (int at = 0; at < ITEMS; at++) right += out[at] == in[at] + 1;
    free(out);
    return right == ITEMS;
}

static void *work(void *argument)
{
    int *right = argument;
    engine_program *program = NULL;
    engine_kernel *kernel = NULL;
    engine_stream *stream = NULL;
    char *log = NULL;
    if (engine_build(spirv, spirv_bytes, NULL, NULL, &program, &log) ||
        engine_create_kernel(program, "main", &kernel) || engine_create_stream(&stream))
        return NULL;
    for (int round = 0; round < ROUNDS; round++) *right += launch(stream, round % 2 ? shared : kernel, round * 1000);
    engine_release_stream(stream);
    engine_release_kernel(kernel);
    engine_release_program(program);
    free(log);
    return NULL;
}

static void read_module(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file) exit(2);
    fseek(file, 0, SEEK_END);
    spirv_bytes = (size_t)ftell(file);
    rewind(file);
    spirv = malloc(spirv_bytes);
    if (!spirv || fread(spirv, 1, spirv_bytes, file) != spirv_bytes) exit(2);
    fclose(file);
}

int main(int count, char **arguments)
{
    char reason[400] = "", *log = NULL;
    engine_info info;
    engine_program *program = NULL;
    pthread_t threads[THREADS];
    pthread_attr_t attributes;
    int right[THREADS] = {0}, total = 0;
    if (count < 2 || !engine_start(&info, reason, sizeof reason)) return 2;
    read_module(arguments[1]);
    if (engine_build(spirv, spirv_bytes, NULL, NULL, &program, &log) || engine_create_kernel(program, "main", &shared))
        return 2;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    for (int at = 0; at < THREADS; at++)
        if (pthread_create(&threads[at], &attributes, work, &right[at]) != 0) return 2;
    for (int at = 0; at < THREADS; at++) {
        pthread_join(threads[at], NULL);
        total += right[at];
    }
    engine_release_kernel(shared);
    engine_release_program(program);
    free(log);
    free(spirv);
    printf("right %d of %d\n", total, THREADS * ROUNDS);
    return 0;
}
