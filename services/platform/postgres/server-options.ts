/** Settings of every connection, for the server. */

/** The server ends a connection, and frees its locks, when the client is gone for 20 s. */
const KEEP_ALIVE = '-c tcp_keepalives_idle=5 -c tcp_keepalives_interval=5 -c tcp_keepalives_count=3';
/**
 * A server with LLVM would compile statements that it thinks expensive, for longer than they run: those of read models find
 * few rows by an index.
 */
const NO_COMPILING = '-c jit=off';

export const SERVER_OPTIONS = `${KEEP_ALIVE} ${NO_COMPILING}`;
