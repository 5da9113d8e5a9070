import { configDefaults, defineConfig } from 'vitest/config';

/** One worker per core of a small machine. More workers would make integration tests depend on scheduling. */
const WORKERS = 2;
const UNIT_TIMEOUT_MS = 10_000;
/** Each wait in an integration test has its own limit. This timeout covers a wait without one. */
const INTEGRATION_TIMEOUT_MS = 60_000;
const HOOK_TIMEOUT_MS = 120_000;

/** Tests that need a server: Postgres, NATS, an event store or a process of the service. */
const INTEGRATION = 'tests/**/*.integration.test.ts';

/**
 * Off, because tests keep no state in shared modules and loading the code again for each file would take 90 seconds
 * more.
 */
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
          setupFiles: ['tests/property-seed.ts'],
          include: ['tests/**/*.test.ts'],
          exclude: [...configDefaults.exclude, INTEGRATION],
          testTimeout: UNIT_TIMEOUT_MS,
        },
      },
      {
        test: {
          name: 'integration',
          isolate,
          setupFiles: ['tests/property-seed.ts'],
          include: [INTEGRATION],
          globalSetup: ['tests/stack/global-setup.ts'],
          testTimeout: INTEGRATION_TIMEOUT_MS,
          hookTimeout: HOOK_TIMEOUT_MS,
        },
      },
    ],
  },
});
