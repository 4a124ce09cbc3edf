/*
 * The plugin ABI of Agon, version 1. Generated from core/abi; do not edit.
 *
 * A track plugin is a shared library that exports one constant, `agon_plugin_v1`, and holds a manifest with the same
 * facts in its section `.agon`:
 *
 *     AGON_MANIFEST("my-track", "1.0.0", "Me");
 *     const agon_plugin agon_plugin_v1 = { ... };
 *
 * The plugin decides, the host acts: a plugin starts no process and no thread that outlives a call, opens no file,
 * reads no clock and draws no randomness. What it emits is a function of what it is given.
 *
 * - Inputs are borrowed until the call returns; outputs are handed to the sink, which copies them. Nobody frees what the
 *   other has allocated.
 * - Every table begins with its size. Read only fields within it: AGON_HAS(table, field).
 * - Text is UTF-8 with a length; what a solver wrote is bytes.
 * - On any status but AGON_OK, call `fail` of the sink once. Never let a C++ exception or a longjmp leave a function.
 * - Functions are reentrant; in brackets stands from which thread they may be called:
 *   [any]         any thread, one call at a time on a given track
 *   [concurrent]  any thread, several calls at once on the same track
 *   [worker]      any thread of a worker process with limits on memory and time
 *   [call]        only by the plugin, during the call that it was handed to, on that call's thread
 */
