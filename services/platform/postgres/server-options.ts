/** The server frees the locks of a client that is gone for 20 s. */
const KEEP_ALIVE = '-c tcp_keepalives_idle=5 -c tcp_keepalives_interval=5 -c tcp_keepalives_count=3';
/** Compiling with LLVM would take longer than these statements run: they find few rows by an index. */
const NO_COMPILING = '-c jit=off';

export const SERVER_OPTIONS = `${KEEP_ALIVE} ${NO_COMPILING}`;
