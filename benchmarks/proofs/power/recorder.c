/* Records what a process does to the files of a folder, in the order in which it happens: preload it with LD_PRELOAD.
 *
 * RECORD_ROOT is the folder, RECORD_LOG the file of the record. Each record is: kind (1 byte), offset (8), bytes of the
 * path (4), bytes of the data (8), then path and data. Numbers are in the machine's own order.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int log_file = -2;
static const char *root;

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static void record(char kind, const char *path, uint64_t offset, const void *data, uint64_t size) {
    if (log_file == -2) {
        root = getenv("RECORD_ROOT");
        log_file = root ? (int)syscall(SYS_openat, AT_FDCWD, getenv("RECORD_LOG"), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
    }
    if (log_file < 0 || strncmp(path, root, strlen(root)) != 0) {
        return;
    }
    uint32_t length = (uint32_t)strlen(path);
    char head[21];
    head[0] = kind;
    memcpy(head + 1, &offset, 8);
    memcpy(head + 9, &length, 4);
    memcpy(head + 13, &size, 8);
    syscall(SYS_write, log_file, head, sizeof head);
    syscall(SYS_write, log_file, path, length);
    for (uint64_t done = 0; done < size;) {
        done += (uint64_t)syscall(SYS_write, log_file, (const char *)data + done, size - done);
    }
}

static const char *path_of(int file, char *path) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    const ssize_t length = readlink(link, path, PATH_MAX - 1);
    path[length < 0 ? 0 : length] = 0;
    return path;
}

static int opened(int file, const char *path, int flags, int existed) {
    char whole[PATH_MAX];
    if (file >= 0 && (flags & (O_CREAT | O_TRUNC))) {
        path_of(file, whole);
        if (!existed) {
            record('c', whole, 0, NULL, 0);
        } else if (flags & O_TRUNC) {
            record('t', whole, 0, NULL, 0);
        }
    }
    (void)path;
    return file;
}

static int exists(const char *path) {
    struct stat status;
    return fstatat(AT_FDCWD, path, &status, 0) == 0;
}

#define OPEN(name)                                                     \
    int name(const char *path, int flags, ...) {                       \
        va_list more;                                                  \
        va_start(more, flags);                                         \
        const mode_t mode = flags & O_CREAT ? va_arg(more, mode_t) : 0; \
        va_end(more);                                                  \
        pthread_mutex_lock(&lock);                                     \
        const int existed = exists(path);                              \
        const int file = opened(REAL(name)(path, flags, mode), path, flags, existed); \
        pthread_mutex_unlock(&lock);                                   \
        return file;                                                   \
    }
OPEN(open)
OPEN(open64)

#define PWRITE(name)                                                              \
    ssize_t name(int file, const void *data, size_t size, off_t offset) {         \
        char path[PATH_MAX];                                                      \
        pthread_mutex_lock(&lock);                                                \
        const ssize_t written = REAL(name)(file, data, size, offset);             \
        if (written > 0) {                                                        \
            record('w', path_of(file, path), (uint64_t)offset, data, (uint64_t)written); \
        }                                                                         \
        pthread_mutex_unlock(&lock);                                              \
        return written;                                                           \
    }
PWRITE(pwrite)
PWRITE(pwrite64)

ssize_t write(int file, const void *data, size_t size) {
    char path[PATH_MAX];
    struct stat status;
    if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) {
        return syscall(SYS_write, file, data, size);
    }
    pthread_mutex_lock(&lock);
    const off_t offset = lseek(file, 0, SEEK_CUR);
    const ssize_t written = syscall(SYS_write, file, data, size);
    if (written > 0) {
        record('w', path_of(file, path), (uint64_t)offset, data, (uint64_t)written);
    }
    pthread_mutex_unlock(&lock);
    return written;
}

#define TRUNCATE(name)                                                      \
    int name(int file, off_t size) {                                        \
        char path[PATH_MAX];                                                \
        pthread_mutex_lock(&lock);                                          \
        const int result = REAL(name)(file, size);                          \
        if (result == 0) {                                                  \
            record('t', path_of(file, path), (uint64_t)size, NULL, 0);      \
        }                                                                   \
        pthread_mutex_unlock(&lock);                                        \
        return result;                                                      \
    }
TRUNCATE(ftruncate)
TRUNCATE(ftruncate64)

#define SYNC(name)                                              \
    int name(int file) {                                        \
        char path[PATH_MAX];                                    \
        pthread_mutex_lock(&lock);                              \
        const int result = REAL(name)(file);                    \
        if (result == 0) {                                      \
            record('s', path_of(file, path), 0, NULL, 0);       \
        }                                                       \
        pthread_mutex_unlock(&lock);                            \
        return result;                                          \
    }
SYNC(fsync)
SYNC(fdatasync)

int rename(const char *from, const char *to) {
    char whole[PATH_MAX];
    pthread_mutex_lock(&lock);
    const char *path = realpath(from, whole);
    const int result = REAL(rename)(from, to);
    if (result == 0 && path != NULL) {
        record('r', path, 0, to, strlen(to));
    }
    pthread_mutex_unlock(&lock);
    return result;
}

int unlink(const char *path) {
    char whole[PATH_MAX];
    pthread_mutex_lock(&lock);
    const char *known = realpath(path, whole);
    const int result = REAL(unlink)(path);
    if (result == 0 && known != NULL) {
        record('u', known, 0, NULL, 0);
    }
    pthread_mutex_unlock(&lock);
    return result;
}
