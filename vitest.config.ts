import { configDefaults, defineConfig } from 'vitest/config';

/** Both cores of a small machine; more would make the timings of the integration tests a matter of luck. */
const WORKERS = 2;
const UNIT_TIMEOUT_MS = 10_000;
/** Waits in integration tests are bounded on their own; this only catches one that is not. */
const INTEGRATION_TIMEOUT_MS = 60_000;
const HOOK_TIMEOUT_MS = 120_000;

/** Tests that need no server. Whatever lies elsewhere under `tests` is an integration test. */
const UNIT = ['tests/unit/**/*.test.ts', 'tests/domain/**/*.test.ts', 'tests/architecture/**/*.test.ts'];
const UNIT_OF_INGEST = 'tests/ingest/**/*.test.ts';
const INTEGRATION_OF_INGEST = 'tests/ingest/**/*.integration.test.ts';

/** Tests keep what they open to themselves; reading the code anew for each file would take a minute and a half more. */
const isolate = false;

export default defineConfig({
  test: {
    pool: 'forks',
    maxWorkers: WORKERS,
    projects: [
      {
        test: {
          name: 'unit',
          isolate,
          include: [...UNIT, UNIT_OF_INGEST],
          exclude: [...configDefaults.exclude, INTEGRATION_OF_INGEST],
          testTimeout: UNIT_TIMEOUT_MS,
        },
      },
      {
        test: {
          name: 'integration',
          isolate,
          include: ['tests/**/*.test.ts', INTEGRATION_OF_INGEST],
          // An exclude wins over an include, so the unit tests of ingest are excluded by what they are not named.
          exclude: [...configDefaults.exclude, ...UNIT, 'tests/ingest/**/!(*.integration).test.ts'],
          globalSetup: ['tests/stack/global-setup.ts'],
          testTimeout: INTEGRATION_TIMEOUT_MS,
          hookTimeout: HOOK_TIMEOUT_MS,
        },
      },
    ],
  },
});
