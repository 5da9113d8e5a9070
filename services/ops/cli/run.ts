import { loadCommands, runCommandLine } from '#platform/command-line.ts';
import { COMMANDS, createProgram } from './program.ts';

await runCommandLine(createProgram(await loadCommands(COMMANDS, process.argv.slice(2))));
