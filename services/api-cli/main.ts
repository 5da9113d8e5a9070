import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';

// Caches compiled code, as the command line of operators does. An unwritable folder disables the cache.
enableCompileCache(fileURLToPath(new URL('../../.cache/node', import.meta.url)));
const { runCommandLine } = await import('#platform/command-line.ts');
const { createProgram } = await import('./program.ts');
await runCommandLine(createProgram());
