import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';

// Caches compiled code, since compilation took half the time of a short command. The cache is in the project's own
// folder, which no other user writes to. If the folder is not writable, commands run without the cache.
enableCompileCache(fileURLToPath(new URL('../../.cache/node', import.meta.url)));
await import('./cli/run.ts');
