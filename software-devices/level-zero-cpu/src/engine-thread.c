#define _GNU_SOURCE
#include "engine-program.h"

#include <pthread.h>
#include <signal.h>
#include <stddef.h>

enum { STACK_BYTES = 64 << 20 };

typedef struct job {
    void (*run)(void *);
    void *argument;
    bool done;
    struct job *next;
} job;

static struct {
    pthread_mutex_t lock;
    pthread_cond_t added;
    pthread_cond_t finished;
    pthread_t thread;
    bool started;
    job *first;
} compiler = {
    .lock = PTHREAD_MUTEX_INITIALIZER, .added = PTHREAD_COND_INITIALIZER, .finished = PTHREAD_COND_INITIALIZER};

static void *work(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&compiler.lock);
    for (;;) {
        while (!compiler.first) pthread_cond_wait(&compiler.added, &compiler.lock);
        job *current = compiler.first;
        compiler.first = current->next;
        pthread_mutex_unlock(&compiler.lock);
        current->run(current->argument);
        pthread_mutex_lock(&compiler.lock);
        current->done = true;
        pthread_cond_broadcast(&compiler.finished);
    }
    return NULL;
}

static bool start(void)
{
    pthread_attr_t attributes;
    sigset_t all, before;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    /* Signals belong to the program's threads, but a fault on this thread or on PoCL's (which inherit the mask) has to
     * be seen. */
    sigfillset(&all);
    const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT};
    for (size_t at = 0; at < sizeof faults / sizeof *faults; at++) sigdelset(&all, faults[at]);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool ok = pthread_create(&compiler.thread, &attributes, work, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return ok;
}

bool engine_run_on_big_stack(void (*run)(void *), void *argument)
{
    job mine = {.run = run, .argument = argument};
    pthread_mutex_lock(&compiler.lock);
    if (!compiler.started) compiler.started = start();
    bool started = compiler.started;
    if (started) {
        job **last = &compiler.first;
        while (*last) last = &(*last)->next;
        *last = &mine;
        pthread_cond_signal(&compiler.added);
        while (!mine.done) pthread_cond_wait(&compiler.finished, &compiler.lock);
    }
    pthread_mutex_unlock(&compiler.lock);
    return started;
}
