import { loadCommands } from '#platform/command-line/command-groups.ts';
import { runCommandLine } from '#platform/command-line/run-command-line.ts';
import { COMMANDS, createProgram } from './program.ts';

await runCommandLine(createProgram(await loadCommands(COMMANDS, process.argv.slice(2))));
