
/* Text from a string literal. */
#ifdef __cplusplus
#define AGON_STR(literal) (agon_str{(const uint8_t *)("" literal), sizeof(literal) - 1})
#else
#define AGON_STR(literal) ((agon_str){(const uint8_t *)("" literal), sizeof(literal) - 1})
#endif

/* The same in the initializer of a constant. */
#define AGON_STR_INIT(literal) {(const uint8_t *)("" literal), sizeof(literal) - 1}

/* Whether a table (a pointer that is not null) is large enough to have a field. */
#define AGON_HAS(table, field) \
  ((table)->struct_size >= (uint64_t)((const char *)&(table)->field - (const char *)(table)) + sizeof((table)->field))

/* The manifest: what the host reads before it loads the library. No quotes or backslashes in the texts. */
#define AGON_MANIFEST(id, version, vendor) \
  __attribute__((used, section(".agon"))) static const char agon_manifest[] = \
      "{\"agon-plugin\":1,\"id\":\"" id "\",\"version\":\"" version "\",\"vendor\":\"" vendor \
      "\",\"symbol\":\"agon_plugin_v1\",\"abi\":\"1.0\",\"min-host-minor\":0}"

/* What the plugin declares of itself, where the host reads it without loading the library; optional. The text is that of
 * `describe`, which then emits `agon_description` without its last byte. */
#define AGON_DESCRIPTION(text) \
  __attribute__((used, section(".agon.describe"))) static const char agon_description[] = text
