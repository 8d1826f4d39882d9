#define _GNU_SOURCE
#include "spirv.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TIME_LIMIT_MS = 60000, OLDEST_LLVM = 11, MAX_WORDS_OF_TRANSLATOR = 8000 };

extern char **environ;

const char *spirv_find_translator(unsigned llvm_major)
{
    static char path[200];
    const char *chosen = getenv("LEVEL_ZERO_CPU_LLVM_SPIRV");
    if (chosen) return chosen;
    /* LLVM reads the bitcode of older versions, not of newer ones. */
    for (unsigned version = llvm_major; version >= OLDEST_LLVM; version--) {
        snprintf(path, sizeof path, "/usr/bin/llvm-spirv-%u", version);
        if (access(path, X_OK) == 0) return path;
        snprintf(path, sizeof path, "/usr/lib/llvm-%u/bin/llvm-spirv", version);
        if (access(path, X_OK) == 0) return path;
    }
    return NULL;
}

/* The three standard streams of the translator: files in memory, so that nothing has to read while it writes. */
typedef struct {
    int input;
    int output;
    int errors;
} streams;

static int memory_file(const void *content, size_t bytes)
{
    int file = memfd_create("llvm-spirv", MFD_CLOEXEC);
    for (size_t done = 0; file >= 0 && done < bytes;) {
        ssize_t written = write(file, (const char *)content + done, bytes - done);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) {
            close(file);
            return -1;
        }
        done += (size_t)written;
    }
    if (file >= 0) lseek(file, 0, SEEK_SET);
    return file;
}

static void close_streams(const streams *files)
{
    if (files->input >= 0) close(files->input);
    if (files->output >= 0) close(files->output);
    if (files->errors >= 0) close(files->errors);
}

static int start(const char *translator, const streams *files, pid_t *process)
{
    char *const arguments[] = {(char *)translator, "-r", "-o", "-", "/dev/stdin", NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_adddup2(&actions, files->input, 0);
    posix_spawn_file_actions_adddup2(&actions, files->output, 1);
    posix_spawn_file_actions_adddup2(&actions, files->errors, 2);
    posix_spawn_file_actions_addclosefrom_np(&actions, 3);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    int status = posix_spawn(process, translator, &actions, &attributes, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    return status;
}

/* Waits for the process to end; kills it at the time limit. False then. */
static bool finish(pid_t process, int *status)
{
    int handle = pidfd_open(process, 0);
    struct pollfd waiting = {.fd = handle, .events = POLLIN};
    int ready = handle < 0 ? 1 : poll(&waiting, 1, TIME_LIMIT_MS);
    while (ready < 0 && errno == EINTR) ready = poll(&waiting, 1, TIME_LIMIT_MS);
    if (ready == 0) kill(process, SIGKILL);
    if (handle >= 0) close(handle);
    /* A program that ignores SIGCHLD leaves nothing to wait for; what was written tells then. */
    *status = 0;
    while (waitpid(process, status, 0) < 0 && errno == EINTR) continue;
    return ready != 0;
}

static unsigned char *read_file(int file, size_t limit, size_t *bytes)
{
    struct stat information;
    if (fstat(file, &information) != 0) return NULL;
    size_t size = (size_t)information.st_size < limit ? (size_t)information.st_size : limit;
    unsigned char *content = malloc(size + 1);
    *bytes = 0;
    while (content && *bytes < size) {
        ssize_t count = pread(file, content + *bytes, size - *bytes, (off_t)*bytes);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) break;
        *bytes += (size_t)count;
    }
    return content;
}

static void say_what_it_said(const streams *files, engine_log *log)
{
    size_t bytes = 0;
    unsigned char *words = read_file(files->errors, MAX_WORDS_OF_TRANSLATOR, &bytes);
    if (words) {
        words[bytes] = 0;
        /* LLVM follows a failed assertion with addresses of its own code, which are of no use. */
        char *stack = strstr((char *)words, "PLEASE submit a bug report");
        if (!stack) stack = strstr((char *)words, "Stack dump:");
        engine_say_text(log, (const char *)words, stack ? (size_t)(stack - (char *)words) : bytes);
    }
    free(words);
}

static spirv_status run(const char *translator, const streams *files, engine_log *log)
{
    pid_t process;
    int status = 0;
    int error = start(translator, files, &process);
    if (error != 0) {
        engine_say(log, "the translator %s cannot be started: %s", translator, strerror(error));
        return error == ENOMEM || error == EAGAIN ? SPIRV_NO_MEMORY : SPIRV_BAD;
    }
    bool in_time = finish(process, &status);
    say_what_it_said(files, log);
    if (!in_time) engine_say(log, "the translator to LLVM did not end within %d s", TIME_LIMIT_MS / 1000);
    else if (WIFSIGNALED(status)) engine_say(log, "the translator to LLVM crashed (%s)", strsignal(WTERMSIG(status)));
    else if (WEXITSTATUS(status) != 0)
        engine_say(log, "the translator to LLVM failed (exit status %d)", WEXITSTATUS(status));
    else return SPIRV_OK;
    return SPIRV_BAD;
}

spirv_status spirv_translate(const spirv_module *module, const char *translator, unsigned char **bitcode, size_t *bytes,
                             engine_log *log)
{
    streams files = {.input = memory_file(module->words, module->count * 4),
                     .output = memory_file(NULL, 0),
                     .errors = memory_file(NULL, 0)};
    spirv_status status = SPIRV_NO_MEMORY;
    if (files.input >= 0 && files.output >= 0 && files.errors >= 0) status = run(translator, &files, log);
    if (status == SPIRV_OK) {
        *bitcode = read_file(files.output, SIZE_MAX, bytes);
        if (!*bitcode) status = SPIRV_NO_MEMORY;
        else if (*bytes < 4) {
            engine_say(log, "the translator to LLVM wrote nothing");
            free(*bitcode);
            status = SPIRV_BAD;
        }
    }
    close_streams(&files);
    return status;
}
