/*
 * A track that is judged by the exit code alone, as solvers of DIMACS formulas have it: 10 is sat, 20 is unsat, all
 * else is no answer. It shows what a plugin in C looks like; it needs no library but the standard one.
 *
 *     cc -std=c11 -O2 -fPIC -shared -I schemas -o libagon_exit_code.so plugins/exit-code/exit_code.c
 */

#include <stdlib.h>
#include <string.h>

#include "agon_plugin.h"

#define ID "exit-code"
#define VERSION "1.0.0"
#define VENDOR "Agon"

AGON_MANIFEST(ID, VERSION, VENDOR);

AGON_DESCRIPTION(
    "{\n"
    "  \"plugin\": \"" ID "\",\n"
    "  \"version\": \"" VERSION "\",\n"
    "  \"doc\": \"Answers by exit code: 10 is sat, 20 is unsat; the output is not looked at.\",\n"
    "  \"parameters\": {\n"
    "    \"sat-status\": {\n"
    "      \"type\": \"text\",\n"
    "      \"doc\": \"The word by which a benchmark's status says that it is satisfiable.\",\n"
    "      \"default\": \"sat\"\n"
    "    },\n"
    "    \"unsat-status\": {\n"
    "      \"type\": \"text\",\n"
    "      \"doc\": \"The word by which a benchmark's status says that it is unsatisfiable.\",\n"
    "      \"default\": \"unsat\"\n"
    "    }\n"
    "  },\n"
    "  \"fields\": {\n"
    "    \"answer\": {\n"
    "      \"type\": \"words\",\n"
    "      \"words\": [\n"
    "        \"sat\",\n"
    "        \"unsat\",\n"
    "        \"unknown\"\n"
    "      ],\n"
    "      \"doc\": \"What the solver answered; unknown if it gave no answer.\",\n"
    "      \"needs\": \"summary\"\n"
    "    },\n"
    "    \"status\": {\n"
    "      \"type\": \"words\",\n"
    "      \"words\": [\n"
    "        \"sat\",\n"
    "        \"unsat\",\n"
    "        \"unknown\"\n"
    "      ],\n"
    "      \"doc\": \"The benchmark's status, as known when the run is judged.\",\n"
    "      \"needs\": \"columns\"\n"
    "    },\n"
    "    \"exit_code\": {\n"
    "      \"type\": \"number\",\n"
    "      \"doc\": \"The exit code, if the run ended by itself.\",\n"
    "      \"optional\": true,\n"
    "      \"needs\": \"summary\"\n"
    "    }\n"
    "  },\n"
    "  \"answers\": [\n"
    "    \"sat\",\n"
    "    \"unsat\",\n"
    "    \"unknown\"\n"
    "  ]\n"
    "}\n");

/* A field of a table, or what stands for it if the table is null or too small to have it. */
#define GET(table, field, otherwise) ((table) != NULL && AGON_HAS(table, field) ? (table)->field : (otherwise))

enum { MOST = 64 };

struct word {
  uint8_t bytes[MOST];
  uint64_t len;
};

struct track {
  struct word sat;
  struct word unsat;
};

static const agon_str none = {NULL, 0};

static int is(const struct word *word, agon_str text) {
  return word->len == text.len && text.len > 0 && memcmp(word->bytes, text.ptr, (size_t)text.len) == 0;
}

static int equal(agon_str a, agon_str b) {
  return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, (size_t)a.len) == 0);
}

/* Says why a call failed, and is its status. */
static int32_t fail(const agon_sink *sink, int32_t status, uint32_t blame, agon_str message, agon_str pointer) {
  if (sink != NULL && AGON_HAS(sink, fail) && sink->fail != NULL) {
    sink->fail(sink->ctx, status, blame, message, pointer, none);
  }
  return status;
}

static int32_t describe(const agon_sink *sink) {
  const agon_bytes text = {(const uint8_t *)agon_description, sizeof agon_description - 1};
  if (sink == NULL || !AGON_HAS(sink, text) || sink->text == NULL) {
    return AGON_INVALID_ARGUMENT;
  }
  return sink->text(sink->ctx, text);
}

/* Sets a word from the parameter at `pointer`. */
static int32_t parameter(const agon_doc *doc, const agon_sink *sink, agon_str pointer, struct word *word) {
  agon_str value;
  if (doc->get_str(doc->ctx, pointer, &value) == 0) {
    return fail(sink, AGON_BAD_PARAMETER, AGON_BLAME_HOST, AGON_STR("a status is text"), pointer);
  }
  if (value.len == 0 || value.len > MOST) {
    return fail(sink, AGON_BAD_PARAMETER, AGON_BLAME_HOST, AGON_STR("a status has 1 to 64 bytes"), pointer);
  }
  memcpy(word->bytes, value.ptr, (size_t)value.len);
  word->len = value.len;
  return AGON_OK;
}

static int32_t parameters(const agon_doc *doc, const agon_sink *sink, struct track *track) {
  uint64_t n = 0;
  if (doc == NULL) {
    return AGON_OK;
  }
  if (!AGON_HAS(doc, get_key) || doc->get_str == NULL || doc->get_len == NULL || doc->get_key == NULL) {
    return fail(sink, AGON_INVALID_ARGUMENT, AGON_BLAME_HOST, AGON_STR("the parameters have no getters"), none);
  }
  if (doc->text.len == 0) {
    return AGON_OK;
  }
  if (doc->get_len(doc->ctx, none, &n) == 0) {
    return fail(sink, AGON_BAD_PARAMETER, AGON_BLAME_HOST, AGON_STR("the parameters are no object"), AGON_STR(""));
  }
  for (uint64_t i = 0; i < n; i++) {
    agon_str key;
    int32_t status = AGON_OK;
    if (doc->get_key(doc->ctx, none, i, &key) == 0) {
      return fail(sink, AGON_BAD_PARAMETER, AGON_BLAME_HOST, AGON_STR("the parameters are no object"), AGON_STR(""));
    }
    if (equal(key, AGON_STR("sat-status"))) {
      status = parameter(doc, sink, AGON_STR("/sat-status"), &track->sat);
    } else if (equal(key, AGON_STR("unsat-status"))) {
      status = parameter(doc, sink, AGON_STR("/unsat-status"), &track->unsat);
    } else {
      uint8_t pointer[1 + 2 * MOST] = {'/'};
      uint64_t len = 1;
      for (uint64_t k = 0; k < key.len && len + 2 <= sizeof pointer; k++) {
        const uint8_t byte = key.ptr[k];
        if (byte == '~' || byte == '/') {
          pointer[len++] = '~';
          pointer[len++] = byte == '~' ? '0' : '1';
        } else {
          pointer[len++] = byte;
        }
      }
      /* A pointer that was cut may end within a character: then it is left out. */
      const agon_str at = {pointer, len};
      return fail(sink, AGON_BAD_PARAMETER, AGON_BLAME_HOST, AGON_STR("there is no such parameter"),
                  key.len <= MOST ? at : none);
    }
    if (status != AGON_OK) {
      return status;
    }
  }
  return AGON_OK;
}

static int32_t open_track(const agon_host *host, const agon_doc *doc, const agon_sink *sink, void **out) {
  (void)host;
  if (out == NULL || sink == NULL) {
    return fail(sink, AGON_INVALID_ARGUMENT, AGON_BLAME_HOST, AGON_STR("there is no place for the track"), none);
  }
  struct track *track = calloc(1, sizeof *track);
  if (track == NULL) {
    return fail(sink, AGON_LIMIT, AGON_BLAME_HOST, AGON_STR("there is no memory"), none);
  }
  memcpy(track->sat.bytes, "sat", track->sat.len = 3);
  memcpy(track->unsat.bytes, "unsat", track->unsat.len = 5);
  const int32_t status = parameters(doc, sink, track);
  if (status != AGON_OK) {
    free(track);
    return status;
  }
  *out = track;
  return AGON_OK;
}

static void close_track(void *track) { free(track); }

static uint32_t condition_of(uint32_t limit, int32_t signal) {
  switch (limit) {
    case AGON_LIMIT_NONE:
      /* Where the harness says no more, SIGKILL and SIGTERM are how a run is ended. */
      return signal == AGON_NO_CODE             ? AGON_CONDITION_FINISHED
             : (signal == 9 || signal == 15) ? AGON_CONDITION_WALL_LIMIT
                                                : AGON_CONDITION_CRASHED;
    case AGON_LIMIT_WALL:
      return AGON_CONDITION_WALL_LIMIT;
    case AGON_LIMIT_CPU:
      return AGON_CONDITION_CPU_LIMIT;
    case AGON_LIMIT_MEMORY:
      return AGON_CONDITION_MEMORY_LIMIT;
    default:
      return AGON_CONDITION_CRASHED;
  }
}

static int32_t judge(void *self, const agon_job *job, const agon_observation *run, const agon_sink *sink) {
  const struct track *track = self;
  const agon_benchmark *benchmark = GET(job, benchmark, NULL);
  if (track == NULL || benchmark == NULL || run == NULL || sink == NULL || !AGON_HAS(sink, column_str)) {
    return fail(sink, AGON_INVALID_ARGUMENT, AGON_BLAME_HOST, AGON_STR("an argument is null"), none);
  }
  const int32_t exit_code = GET(run, exit, AGON_NO_CODE);
  const uint32_t condition = condition_of(GET(run, limit, AGON_LIMIT_NONE), GET(run, signal, AGON_NO_CODE));
  agon_str answer = AGON_STR("unknown");
  if (condition == AGON_CONDITION_FINISHED && exit_code == 10) {
    answer = AGON_STR("sat");
  } else if (condition == AGON_CONDITION_FINISHED && exit_code == 20) {
    answer = AGON_STR("unsat");
  }
  agon_str status = AGON_STR("unknown");
  const agon_str *statuses = GET(benchmark, statuses, NULL);
  if (statuses != NULL && GET(benchmark, n_statuses, 0) > 0) {
    if (is(&track->sat, statuses[0])) {
      status = AGON_STR("sat");
    } else if (is(&track->unsat, statuses[0])) {
      status = AGON_STR("unsat");
    }
  }
  uint32_t soundness = AGON_SOUNDNESS_NOT_APPLICABLE;
  if (!equal(answer, AGON_STR("unknown"))) {
    soundness = equal(status, AGON_STR("unknown")) ? AGON_SOUNDNESS_UNVERIFIED
                : equal(status, answer)            ? AGON_SOUNDNESS_AGREES
                                                   : AGON_SOUNDNESS_CONTRADICTS;
  }
  const uint32_t blame = condition == AGON_CONDITION_FINISHED ? AGON_BLAME_NONE : AGON_BLAME_ENTRANT;
  int32_t result = sink->verdict(sink->ctx, answer, soundness, condition, blame);
  if (result == AGON_OK) {
    result = sink->column_str(sink->ctx, AGON_STR("status"), status);
  }
  if (result == AGON_OK && exit_code != AGON_NO_CODE) {
    result = sink->column_i64(sink->ctx, AGON_STR("exit_code"), exit_code);
  }
  return result == AGON_OK ? AGON_OK
                           : fail(sink, AGON_CONTRACT, AGON_BLAME_PLUGIN, AGON_STR("the host refused an emit"), none);
}

/* What is null has the default that the header states. */
static const agon_track_table table = {
    .struct_size = sizeof(agon_track_table),
    .describe = describe,
    .open = open_track,
    .close = close_track,
    .judge = judge,
};

extern const agon_plugin agon_plugin_v1;

__attribute__((visibility("default"))) const agon_plugin agon_plugin_v1 = {
    .struct_size = sizeof(agon_plugin),
    .magic = AGON_MAGIC,
    .abi_major = AGON_ABI_MAJOR,
    .abi_minor = AGON_ABI_MINOR,
    .min_host_minor = 0,
    .caps_optional = AGON_CAP_PURE,
    .vendor = AGON_STR_INIT(VENDOR),
    .id = AGON_STR_INIT(ID),
    .version = AGON_STR_INIT(VERSION),
    .track = &table,
};
