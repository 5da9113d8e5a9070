import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { runVitest } from '../run-vitest.ts';

const FACTOR = 20;
/** Limit of one attack: the longest sends 100,000 requests. */
const ATTACK_LIMIT_MS = 3_600_000;
const SEED_MAX = 2 ** 31 - 1;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    factor: { type: 'string', default: String(FACTOR) },
    seed: { type: 'string', default: String(randomInt(1, SEED_MAX)) },
  },
});
const settings = { ATTACK_FACTOR: values.factor, PROPERTY_SEED: values.seed, PROPERTY_RUNS: values.factor };
console.log(
  Object.entries(settings)
    .map(([name, value]) => `${name}=${value}`)
    .join(' '),
);
const files =
  positionals.length > 0 ? positionals.map((name) => `tests/attacks/${name}`) : ['tests/attacks/'];
const { exitCode } = await runVitest(
  [
    '--reporter=tests/trials/reporter.ts',
    '--no-file-parallelism',
    `--testTimeout=${ATTACK_LIMIT_MS}`,
    ...files,
  ],
  settings,
);
process.exitCode = exitCode;
