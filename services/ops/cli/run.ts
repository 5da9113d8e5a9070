import { runCommandLine } from '#platform/command-line/run-command-line.ts';
import { createProgram } from './program.ts';

await runCommandLine(createProgram());
