import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';

// Half of a short command's time was compiling what it loads. In the project's own folder, where nobody else writes;
// where it cannot be written, commands run as they did.
enableCompileCache(fileURLToPath(new URL('../../.cache/node', import.meta.url)));
await import('./cli/program.ts');
