import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';

// Caches compiled code; an unwritable folder disables the cache.
enableCompileCache(fileURLToPath(new URL('../../.cache/node', import.meta.url)));
const { loadCommands, runCommandLine } = await import('#platform/command-line.ts');
const { COMMANDS, createProgram } = await import('./cli/program.ts');
await runCommandLine(createProgram(await loadCommands(COMMANDS, process.argv.slice(2))));
