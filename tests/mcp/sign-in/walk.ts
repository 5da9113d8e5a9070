import { randomUUID } from 'node:crypto';
import { readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BrowserContext, chromium, type Page } from 'playwright-core';
import { expect } from 'vitest';
import type { ConnectionEvent } from '#contracts/events/workspace/connection.ts';
import type { SignInEvent } from '#contracts/events/workspace/sign-in.ts';
import type { Role } from '#contracts/values/roles.ts';
import { openMemberVault } from '#application/vault/member-vault.ts';
import { freePort } from '#deploy/local/os/ports.ts';
import { addPerson } from '#services/ops/workspaces/members.ts';
import { type ApiStack, type Key, openApiStack, VAULT_KEY } from '../../operations/fixtures/stack.ts';
import { CHROMIUM_ARGUMENTS, findChromium } from '../../ops/fixtures/browser.ts';
import { type ServiceProcess, startProcess } from '../../stack/processes.ts';
import { press } from './app-with-browser.ts';

export const DESKTOP = { width: 1280, height: 860 };
/** Timeout of one browser step. */
const STEP_LIMIT_MS = 20_000;
const MAIN = join(import.meta.dirname, '../../../services/mcp/main.ts');

/** Path of Chromium; `null` when there is none, and tests with a browser are skipped. */
export const CHROMIUM = findChromium();
if (CHROMIUM === null) {
  console.warn('Sign-in tests skipped: Chromium not found. Install it or set CHROMIUM_PATH.');
}

/** A browser, a database with a workspace, and processes of the MCP server. */
export type Walk = AsyncDisposable & {
  readonly stack: ApiStack;
  readonly key: Key;
  readonly baseUrl: string;
  readonly operator: Parameters<typeof addPerson>[0] & {
    readonly pool: ApiStack['pool'];
    readonly mcpBaseUrl: string;
  };
  /** Starts a process on the port of `baseUrl`, or on another port behind the same address. */
  readonly start: (onPort?: number) => Promise<ServiceProcess>;
  readonly openBrowser: () => Promise<{ readonly context: BrowserContext; readonly page: Page }>;
  readonly addMember: (email: string | null, workspaceId?: string, role?: Role) => Promise<string>;
  /** Waits for another mail to an address and returns its code. Each mail is returned once. */
  readonly codeFor: (address: string) => Promise<string>;
  readonly requestCode: (page: Page, address: string) => Promise<void>;
  readonly signInByCode: (page: Page, address: string) => Promise<void>;
  readonly eventsOf: <E extends ConnectionEvent | SignInEvent>(stream: string) => Promise<readonly E[]>;
};

export const newAddress = (): string => `${randomUUID()}@shop.example`;

/** Waits for a page by its heading. */
export const heading = async (page: Page, name: string): Promise<void> => {
  try {
    await page.getByRole('heading', { name, level: 1 }).waitFor();
  } catch (cause) {
    throw new Error(`${page.url()} shows: ${await page.locator('body').innerText()}`, { cause });
  }
};

/** Number of times that a page is opened again, when the error page of a broken connection came between. */
const VISITS_MAX = 5;

/**
 * Opens an address after a broken connection. The browser may show its error page for that only now, which interrupts the
 * visit.
 */
export const visitAgain = async (page: Page, url: string): Promise<void> => {
  for (let visit = 1; ; visit += 1) {
    try {
      await page.goto(url);
      return;
    } catch (error) {
      const isInterrupted = /interrupted by another navigation/.test(String(error));
      if (!isInterrupted || visit === VISITS_MAX) throw error;
    }
  }
};

/** `settings`: environment of the processes in addition to the usual one. */
export const openWalk = async (settings: Readonly<Record<string, string>> = {}): Promise<Walk> => {
  const resources = new AsyncDisposableStack();
  const mailFolder = join(tmpdir(), `test-sign-in-mail-${randomUUID()}`);
  resources.defer(() => rm(mailFolder, { recursive: true, force: true }));
  const stack = resources.use(await openApiStack());
  const [port, key, memberVault, browser] = await Promise.all([
    freePort(),
    stack.key(),
    openMemberVault(stack.pool, VAULT_KEY),
    chromium.launch({ executablePath: CHROMIUM ?? '', args: CHROMIUM_ARGUMENTS }),
  ]);
  resources.defer(() => browser.close());
  const baseUrl = `http://127.0.0.1:${port}`;
  const operator = {
    ...stack,
    memberVault,
    mcpBaseUrl: baseUrl,
    actor: { kind: 'service', id: 'tests' },
  } as const;

  const readMails = new Set<string>();
  const codeFor = async (address: string): Promise<string> => {
    let code: string | undefined;
    const look = async (): Promise<string | undefined> => {
      const files = (await readdir(mailFolder).catch(() => [])).filter((file) => file.endsWith('.eml'));
      for (const file of files.filter((name) => !readMails.has(name))) {
        const mail = await readFile(join(mailFolder, file), 'utf8');
        if (!mail.includes(`To: ${address}`)) continue;
        readMails.add(file);
        code = /Your code is (\d{4} \d{4})\./.exec(mail)?.[1];
      }
      return code;
    };
    await expect.poll(look, { timeout: STEP_LIMIT_MS }).toBeDefined();
    return code ?? '';
  };
  const requestCode = async (page: Page, address: string): Promise<void> => {
    await page.getByLabel('E-mail address').fill(address);
    await press(page, 'Send a code');
    await heading(page, 'Enter the code');
  };
  return {
    stack,
    key,
    baseUrl,
    operator,
    start: async (onPort = port) => {
      const started = startProcess(MAIN, {
        ...stack.environment,
        MCP_PORT: String(onPort),
        MCP_BASE_URL: baseUrl,
        MCP_SECRET: 'a secret of 32 characters for tests',
        CURSOR_SECRET: 'a secret for tests only',
        MEMBER_VAULT_KEY: VAULT_KEY,
        MAIL_DIR: mailFolder,
        ...settings,
      });
      resources.defer(async () => void (await started.stop()));
      await started.says('listening');
      return started;
    },
    openBrowser: async () => {
      const context = await browser.newContext({ viewport: DESKTOP, colorScheme: 'light' });
      context.setDefaultTimeout(STEP_LIMIT_MS);
      resources.defer(() => context.close());
      return { context, page: await context.newPage() };
    },
    addMember: async (email, workspaceId = key.workspaceId, role = 'editor') =>
      (await addPerson(operator, workspaceId, { name: 'Ada', email }, role)).member_id,
    codeFor,
    requestCode,
    signInByCode: async (page, address) => {
      await requestCode(page, address);
      await page.getByLabel('Code').fill(await codeFor(address));
      await press(page, 'Sign in');
    },
    eventsOf: async <E extends ConnectionEvent | SignInEvent>(stream: string): Promise<readonly E[]> => {
      const events: E[] = [];
      for await (const event of stack.eventStore.read<E>(stream)) events.push(event);
      return events;
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
};
