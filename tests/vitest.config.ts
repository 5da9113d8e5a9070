import { configDefaults, defineConfig } from 'vitest/config';
import { LongestFirst } from './longest-first.ts';
import { NO_LOCAL_STACK } from './no-local-stack.ts';

/**
 * Twice the processors of a small machine. Integration tests wait for half of their time: for leases, timeouts, processes
 * that start, servers and browsers. `longest-first.ts` keeps the files that compute apart from each other.
 */
const WORKERS = 4;
/** On a quiet machine no unit test takes more than three seconds. On a busy one it may take ten times longer. */
const UNIT_TIMEOUT_MS = 60_000;
/** Each wait in an integration test has its own limit. This timeout covers a wait without one, also on a busy machine. */
const INTEGRATION_TIMEOUT_MS = 240_000;
const HOOK_TIMEOUT_MS = 300_000;
/** Limit of an `expect.poll` without its own. Vitest gives one second, in which a busy machine may not answer once. */
const POLL_TIMEOUT_MS = 60_000;

/** Tests that need a server: Postgres, NATS, an event store or a process of the service. */
const INTEGRATION = 'tests/**/*.integration.test.ts';

/**
 * Off, because loading the code again for each file would take 90 seconds more. Tests keep no state in shared modules;
 * only `dsl/projections.ts` keeps empty databases.
 */
const isolate = false;

/**
 * Tests that draw pictures from SVG. The decoder of observed images turns that loader off for its whole process, so these
 * files have a process each.
 */
const OWN_PROCESS = ['tests/local/demo/pictures.test.ts', 'tests/local/demo/media-world.test.ts'];

/**
 * Node loads the code itself, as it does in the processes of the service, with the same compile cache. Vite would transform
 * each file first. No test mocks a module.
 */
const NATIVE_IMPORTS = { viteModuleRunner: false, nodeLoader: false };

export default defineConfig({
  test: {
    pool: 'forks',
    experimental: NATIVE_IMPORTS,
    maxWorkers: WORKERS,
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        test: {
          name: 'unit',
          isolate,
          env: NO_LOCAL_STACK,
          setupFiles: ['tests/property-seed.ts'],
          include: ['tests/**/*.test.ts'],
          exclude: [...configDefaults.exclude, INTEGRATION, ...OWN_PROCESS],
          testTimeout: UNIT_TIMEOUT_MS,
          hookTimeout: UNIT_TIMEOUT_MS,
          expect: { poll: { timeout: POLL_TIMEOUT_MS } },
        },
      },
      {
        test: {
          name: 'unit-own-process',
          isolate: true,
          env: NO_LOCAL_STACK,
          setupFiles: ['tests/property-seed.ts'],
          include: OWN_PROCESS,
          testTimeout: UNIT_TIMEOUT_MS,
          hookTimeout: UNIT_TIMEOUT_MS,
          expect: { poll: { timeout: POLL_TIMEOUT_MS } },
        },
      },
      {
        test: {
          name: 'integration',
          isolate,
          env: NO_LOCAL_STACK,
          setupFiles: ['tests/property-seed.ts'],
          include: [INTEGRATION],
          globalSetup: ['tests/stack/global-setup.ts'],
          testTimeout: INTEGRATION_TIMEOUT_MS,
          hookTimeout: HOOK_TIMEOUT_MS,
          expect: { poll: { timeout: POLL_TIMEOUT_MS } },
        },
      },
    ],
  },
});
