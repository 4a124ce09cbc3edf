/*
 * A plugin that keeps all rules, and with one of the macros below defined breaks one. The conformance test must find
 * each by the number of its rule.
 */

#define _GNU_SOURCE
#include <fenv.h>
#include <fcntl.h>
#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agon_plugin.h"

#ifdef MANIFEST_DIFFERS
AGON_MANIFEST("other", "1.0.0", "");
#elif !defined(NO_MANIFEST)
AGON_MANIFEST("broken", "1.0.0", "");
#endif

#define GET(table, field, otherwise) ((table) != NULL && AGON_HAS(table, field) ? (table)->field : (otherwise))

static const agon_str none = {NULL, 0};

static int32_t fail(const agon_sink *sink, int32_t status, agon_str message, agon_str pointer) {
  if (sink != NULL && AGON_HAS(sink, fail) && sink->fail != NULL) {
    sink->fail(sink->ctx, status, AGON_BLAME_HOST, message, pointer, none);
  }
  return status;
}

static const char head[] =
    "{\"plugin\":\"broken\",\"version\":\"1.0.0\",\"doc\":\"Breaks rules.\",\"parameters\":{\"word\":{\"type\":\"text\","
    "\"doc\":\"A word.\",\"default\":\"sat\"}},\"fields\":{\"answer\":{\"type\":\"words\",\"words\":[\"sat\",\"unknown\"],"
    "\"doc\":\"The answer.\"},\"size\":{\"type\":\"number\",\"doc\":\"A number.\",\"needs\":\"columns\"},\"note\":{\"type\":"
    "\"text\",\"doc\":\"A text.\",\"optional\":true}},\"answers\":[\"sat\",\"unknown\"],\"artifacts\":{\"model\":\"A model.\"}";

static int32_t describe(const agon_sink *sink) {
  char text[2048];
#ifdef DESCRIPTION_CHANGES
  static int calls = 0;
  const int n = snprintf(text, sizeof text, "%s,\"calls\":%d}", head, calls++);
#else
  const int n = snprintf(text, sizeof text, "%s}", head);
#endif
  const agon_bytes bytes = {(const uint8_t *)text, (uint64_t)n};
  if (sink == NULL) {
    return AGON_INVALID_ARGUMENT;
  }
  return sink->text(sink->ctx, bytes);
}

struct track {
  int dummy;
};

static int32_t open_track(const agon_host *host, const agon_doc *doc, const agon_sink *sink, void **out) {
  (void)host;
  uint64_t n = 0;
  if (out == NULL || sink == NULL) {
    return fail(sink, AGON_INVALID_ARGUMENT, AGON_STR("there is no place for the track"), none);
  }
#ifndef ACCEPTS_ALL_PARAMETERS
  if (doc != NULL && AGON_HAS(doc, get_key) && doc->get_len(doc->ctx, none, &n)) {
    for (uint64_t i = 0; i < n; i++) {
      agon_str key, value;
      if (!doc->get_key(doc->ctx, none, i, &key)) {
        continue;
      }
      if (key.len == 4 && memcmp(key.ptr, "word", 4) == 0) {
        if (!doc->get_str(doc->ctx, AGON_STR("/word"), &value)) {
#ifdef NO_POINTER
          return fail(sink, AGON_BAD_PARAMETER, AGON_STR("no text"), none);
#elif defined(FAILS_SILENTLY)
          return AGON_BAD_PARAMETER;
#elif defined(FAILS_TWICE)
          fail(sink, AGON_BAD_PARAMETER, AGON_STR("no text"), AGON_STR("/word"));
          return fail(sink, AGON_BAD_PARAMETER, AGON_STR("no text"), AGON_STR("/word"));
#else
          return fail(sink, AGON_BAD_PARAMETER, AGON_STR("no text"), AGON_STR("/word"));
#endif
        }
      } else {
        return fail(sink, AGON_BAD_PARAMETER, AGON_STR("unknown"), AGON_STR("/no-such~1parameter"));
      }
    }
  }
#else
  (void)doc;
  (void)n;
#endif
  *out = calloc(1, sizeof(struct track));
  return AGON_OK;
}

static void close_track(void *track) { free(track); }

#ifdef RECURSES
static int level(const agon_reader *reader, uint64_t at, volatile char *above) {
  volatile char here[64];
  uint8_t byte = 0;
  here[0] = above == NULL ? 0 : above[0];
  if (reader->read_at(reader->ctx, at, &byte, 1) != 1 || byte != '(') {
    return here[0];
  }
  return level(reader, at + 1, here) + 1;
}
#endif

#ifdef EMITS_LATER
static const agon_sink *kept_sink;
#endif
#ifdef EMITS_FROM_THREAD
static void *emit(void *data) {
  const agon_sink *sink = data;
  sink->column_i64(sink->ctx, AGON_STR("size"), 1);
  return NULL;
}
#endif
#ifdef LEAVES_A_THREAD
static void *rest(void *data) {
  (void)data;
  for (;;) {
    sleep(1);
  }
  return NULL;
}
#endif
#ifdef HANDLES_SIGNALS
static void handle(int signal) { (void)signal; }
#endif
#ifdef CRASHES_WHEN_LOADED
__attribute__((constructor)) static void crash(void) { abort(); }
#endif
#ifdef CHANGES_FOLDER_WHEN_LOADED
__attribute__((constructor)) static void go(void) {
  if (chdir("/") != 0) {
    abort();
  }
  if (setenv("AGON_BROKEN", "1", 1) != 0) {
    abort();
  }
}
#endif

static int32_t judge(void *track, const agon_job *job, const agon_observation *run, const agon_sink *sink) {
#ifndef TRUSTS_POINTERS
  if (track == NULL || job == NULL || run == NULL || sink == NULL) {
    return fail(sink, AGON_INVALID_ARGUMENT, AGON_STR("null"), none);
  }
#else
  ((struct track *)track)->dummy = 0;
#endif
  int64_t size = 1;
  uint8_t first = 0;
  agon_str answer = AGON_STR("unknown");
#ifdef TRUSTS_SIZES
  const agon_reader *out = run->out;
#else
  const agon_reader *out = GET(run, out, NULL);
#endif
  if (out != NULL && AGON_HAS(out, read_at) && out->read_at(out->ctx, 0, &first, 1) == 1 && first == 's') {
    answer = AGON_STR("sat");
  }
  const agon_benchmark *benchmark = GET(job, benchmark, NULL);
  (void)benchmark;

#ifdef KEEPS_A_POINTER
  static const uint8_t *kept;
  static uint64_t kept_len;
  if (kept != NULL && kept_len > 0 && kept[kept_len - 1] == '#') {
    size = 2;
  }
  kept = benchmark == NULL ? NULL : GET(benchmark, id, none).ptr;
  kept_len = benchmark == NULL ? 0 : GET(benchmark, id, none).len;
#endif
#ifdef LEAKS
  memset(malloc(2048), 1, 2048);
#endif
#ifdef OVERFLOWS
  uint8_t *buffer = malloc(1 << 16);
  if (out != NULL && AGON_HAS(out, read_at)) {
    uint64_t at = 0;
    int64_t n;
    while ((n = out->read_at(out->ctx, at, buffer + at, 4096)) > 0) {
      at += (uint64_t)n;
    }
  }
  free(buffer);
#endif
#ifdef TRUSTS_WHOLE
  if (out != NULL && AGON_HAS(out, whole)) {
    volatile uint8_t byte = out->whole.ptr[0];
    (void)byte;
  }
#endif
#ifdef EXITS
  if (first == 0xff) {
    exit(0);
  }
#endif
#ifdef ABORTS
  if (first == '"') {
    abort();
  }
#endif
#ifdef LOOPS
  while (first == '"') {
  }
#endif
#ifdef RECURSES
  if (out != NULL && AGON_HAS(out, read_at)) {
    size = level(out, 0, NULL) > 0 ? 1 : 1;
  }
#endif
#ifdef NOT_REENTRANT
  static volatile int64_t shared;
  for (int i = 0; i < 2000; i++) {
    shared = first;
  }
  size = shared == first ? 1 : 2;
  for (int i = 0; i < 2000; i++) {
    if (shared != first) {
      size = 2;
    }
  }
#endif
#ifdef LEAVES_A_THREAD
  static int started;
  if (!__atomic_exchange_n(&started, 1, __ATOMIC_SEQ_CST)) {
    pthread_t thread;
    pthread_create(&thread, NULL, rest, NULL);
  }
#endif
#ifdef EMITS_LATER
  if (kept_sink != NULL && kept_sink != sink) {
    kept_sink->column_i64(kept_sink->ctx, AGON_STR("size"), 1);
  }
  kept_sink = sink;
#endif
#ifdef EMITS_FROM_THREAD
  pthread_t thread;
  pthread_create(&thread, NULL, emit, (void *)(uintptr_t)sink);
  pthread_join(thread, NULL);
#endif
#ifdef CHANGES_FOLDER
  if (chdir("/usr") != 0) {
    return fail(sink, AGON_INTERNAL, AGON_STR("no folder"), none);
  }
#endif
#ifdef CHANGES_LOCALE
  setlocale(LC_ALL, "C.UTF-8");
#endif
#ifdef HANDLES_SIGNALS
  signal(SIGUSR1, handle);
#endif
#ifdef CHANGES_ENVIRONMENT
  setenv("TZ", "UTC", 1);
#endif
#ifdef CHANGES_ROUNDING
  fesetround(FE_TOWARDZERO);
#endif
#ifdef CHANGES_UMASK
  umask(0);
#endif
#ifdef LEAVES_A_DESCRIPTOR
  (void)!dup(1);
#endif
#ifdef OPENS_A_FILE
  FILE *file = fopen("/etc/passwd", "r");
  if (file != NULL) {
    fclose(file);
  }
#endif
#ifdef STARTS_A_PROCESS
  if (system("true") != 0) {
    size = 2;
  }
#endif
#ifdef OPENS_A_SOCKET
  close(socket(AF_INET, SOCK_STREAM, 0));
#endif
#ifdef COUNTS
  static int64_t calls;
  size = __atomic_add_fetch(&calls, 1, __ATOMIC_SEQ_CST);
#endif
#ifdef DEPENDS_ON_ADDRESSES
  size = (int64_t)((uintptr_t)&head >> 12);
#endif
#ifdef DEPENDS_ON_THE_TRACK
  size = (int64_t)(uintptr_t)track;
#endif
#ifdef IGNORES_CANCEL
  uint8_t part[4096];
  if (out != NULL && AGON_HAS(out, read_at)) {
    for (uint64_t at = 0; out->read_at(out->ctx, at, part, sizeof part) > 0; at += sizeof part) {
    }
  }
#endif
#ifdef PRINTS
  fputs("judging\n", stderr);
#endif
#ifdef UNKNOWN_STATUS
  return 77;
#endif
#ifdef FAILS_AND_SUCCEEDS
  fail(sink, AGON_LIMIT, AGON_STR("no"), none);
#endif
#ifdef WRONG_STATUS
  fail(sink, AGON_LIMIT, AGON_STR("no"), none);
  return AGON_UNSUPPORTED;
#endif
#ifdef UNDECLARED_COLUMN
  sink->column_i64(sink->ctx, AGON_STR("other"), 1);
#endif
#ifdef WRONG_TYPE
  sink->column_flag(sink->ctx, AGON_STR("size"), 1);
#endif
#ifdef WRONG_TEXT
  const agon_str wrong = {(const uint8_t *)"\xff\xfe", 2};
  sink->column_str(sink->ctx, AGON_STR("note"), wrong);
#endif
#ifdef INEXACT
  sink->column_ratio(sink->ctx, AGON_STR("size"), AGON_STR("1e-3"));
#endif
#ifdef UNDECLARED_ANSWER
  answer = AGON_STR("unsat");
#endif
#ifdef UNDECLARED_ARTIFACT
  sink->artifact_begin(sink->ctx, AGON_STR("core"), AGON_STR("x"));
  sink->artifact_end(sink->ctx);
#endif
#ifdef OPEN_ARTIFACT
  sink->artifact_begin(sink->ctx, AGON_STR("model"), AGON_STR("x"));
#endif
#ifdef PREPARES_IN_JUDGE
  sink->transform(sink->ctx, AGON_STR("scramble"), AGON_STR("x"), 0);
#endif
  if (!AGON_HAS(sink, column_i64)) {
    return AGON_INVALID_ARGUMENT;
  }
  int32_t status = AGON_OK;
#ifdef UNKNOWN_SOUNDNESS
  status = sink->verdict(sink->ctx, answer, 99, AGON_CONDITION_FINISHED, AGON_BLAME_NONE);
#elif !defined(NO_VERDICT)
  status = sink->verdict(sink->ctx, answer, AGON_SOUNDNESS_UNVERIFIED, AGON_CONDITION_FINISHED, AGON_BLAME_NONE);
#endif
#ifndef MISSING_COLUMN
  if (status == AGON_OK) {
    status = sink->column_i64(sink->ctx, AGON_STR("size"), size);
  }
#endif
  return status == AGON_OK ? AGON_OK : fail(sink, status, AGON_STR("refused"), none);
}

static const agon_track_table table = {
#ifdef SHORT_TABLE
    .struct_size = 32,
#else
    .struct_size = sizeof(agon_track_table),
#endif
    .describe = describe,
    .open = open_track,
    .close = close_track,
#ifndef NO_JUDGE
    .judge = judge,
#endif
};

extern const agon_plugin agon_plugin_v1;

const agon_plugin agon_plugin_v1 = {
#ifdef SHORT_DESCRIPTOR
    .struct_size = 80,
#else
    .struct_size = sizeof(agon_plugin),
#endif
#ifdef WRONG_MAGIC
    .magic = 1,
#else
    .magic = AGON_MAGIC,
#endif
#ifdef OTHER_MAJOR
    .abi_major = 2,
#else
    .abi_major = AGON_ABI_MAJOR,
#endif
#ifdef NEEDS_NEWER
    .min_host_minor = 9,
#endif
#ifdef RESERVED
    .reserved = 1,
#endif
#ifdef REQUIRES_UNKNOWN
    .caps_required = 1u << 30,
#endif
    /* Unknown bits here are ignored. */
    .caps_optional = AGON_CAP_PURE | 1u << 29,
    .id = AGON_STR_INIT("broken"),
    .version = AGON_STR_INIT("1.0.0"),
    .track = &table,
};

#ifdef UNUSED
static void unused(void) { (void)judge; }
#endif
