import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type SignInEvent, signInStream } from '#contracts/events/workspace/sign-in.ts';
import { createBrowsers } from '#application/sign-in/browsers.ts';
import { type Codes, createCodes } from '#application/sign-in/codes.ts';
import { createSignInHistory } from '#application/sign-in/history.ts';
import { createInvitations, issueInvitation } from '#application/sign-in/invitations.ts';
import { createMemberDirectory, type MemberDirectory } from '#application/sign-in/member-directory.ts';
import { createBrowserSignInTables, deleteExpiredSignIns } from '#application/sign-in/tables.ts';
import { type AddressIndex, openAddressIndex } from '#application/vault/address-index.ts';
import { type MemberVault, openMemberVault } from '#application/vault/member-vault.ts';
import { systemClock } from '#platform/clock.ts';
import { silentLog } from '#platform/logger.ts';
import { openReadDatabase } from '#platform/postgres/read-database.ts';
import { addPerson, erasePerson } from '#services/ops/workspaces.ts';
import { type ApiStack, type Key, openApiStack, VAULT_KEY } from '../../operations/fixtures/stack.ts';

let stack: ApiStack;
let key: Key;
let vault: MemberVault;
let index: AddressIndex;
let codes: Codes;
let directory: MemberDirectory;
const resources = new AsyncDisposableStack();
const OPERATOR = { kind: 'service', id: 'tests' } as const;

beforeAll(async () => {
  stack = resources.use(await openApiStack());
  const { pool } = stack;
  vault = await openMemberVault(pool, VAULT_KEY);
  await createBrowserSignInTables(pool);
  index = await openAddressIndex(pool, VAULT_KEY);
  codes = createCodes(pool, index);
  const db = resources.use(openReadDatabase(stack.environment['DATABASE_URL'] ?? ''));
  directory = createMemberDirectory({ pool, db, memberVault: vault, log: silentLog() });
  key = await stack.key();
});
afterAll(() => resources.disposeAsync());

const newAddress = (): string => `${randomUUID()}@shop.example`;
const operator = () => ({ ...stack, memberVault: vault, actor: OPERATOR });
const addMember = async (email: string | null, workspaceId = key.workspaceId): Promise<string> =>
  (await addPerson(operator(), workspaceId, { name: 'Ada', email }, 'editor')).member_id;
const request = (change: Partial<Parameters<Codes['issue']>[0]> = {}) =>
  codes.issue({ browserHash: randomUUID(), address: newAddress(), ip: randomUUID(), ...change });
const issued = async (browserHash: string, address = newAddress()) => {
  const sent = await request({ browserHash, address });
  if (sent.outcome !== 'issued') throw new Error(sent.outcome);
  return sent;
};
const wrong = (code: string): string => `${code.startsWith('0') ? '1' : '0'}${code.slice(1)}`;
const signInEvents = async (workspaceId = key.workspaceId): Promise<readonly SignInEvent[]> => {
  const events: SignInEvent[] = [];
  for await (const event of stack.eventStore.read<SignInEvent>(signInStream(workspaceId))) events.push(event);
  return events;
};

describe('a code', () => {
  test('is right once, also for two requests at once, and only in its browser', async () => {
    const browser = randomUUID();
    const { code, accountId } = await issued(browser);
    expect(code).toMatch(/^\d{8}$/);
    expect(await codes.check(randomUUID(), code)).toEqual({ outcome: 'none' });
    const spaced = `${code.slice(0, 4)} ${code.slice(4)}`;
    const outcomes = await Promise.all([codes.check(browser, spaced), codes.check(browser, code)]);
    expect(outcomes.map(({ outcome }) => outcome).toSorted()).toEqual(['none', 'right']);
    expect(outcomes).toContainEqual({ outcome: 'right', accountId });
  });

  test('is withdrawn by the fifth wrong try, and the right one comes too late', async () => {
    const browser = randomUUID();
    const { code, accountId, attemptId } = await issued(browser);
    for (const triesLeft of [4, 3, 2, 1]) {
      expect(await codes.check(browser, wrong(code))).toEqual({ outcome: 'wrong', triesLeft });
    }
    expect(await codes.check(browser, wrong(code))).toEqual({ outcome: 'blocked', accountId, attemptId });
    expect(await codes.check(browser, code)).toEqual({ outcome: 'none' });
  });

  test('is not guessed by more than five tries at once', async () => {
    const browser = randomUUID();
    const { code } = await issued(browser);
    const outcomes = await Promise.all(Array.from({ length: 12 }, () => codes.check(browser, wrong(code))));
    expect(outcomes.filter(({ outcome }) => outcome !== 'none')).toHaveLength(5);
  });

  test('expires, and is replaced by the next one', async () => {
    const browser = randomUUID();
    const first = await issued(browser);
    const second = await issued(browser);
    if (first.code !== second.code) expect((await codes.check(browser, first.code)).outcome).toBe('wrong');
    await stack.pool.query(`update sign_in.code set expires_at = now() where browser_hash = $1`, [browser]);
    expect(await codes.check(browser, second.code)).toEqual({ outcome: 'none' });
    expect(await deleteExpiredSignIns(stack.pool)).toBeGreaterThan(0);
  });

  test('is in no table in plain text, nor is the address', async () => {
    const browser = randomUUID();
    const { code } = await issued(browser, 'plain@shop.example');
    const { rows } = await stack.pool.query<{ held: boolean }>(
      `select exists (select from sign_in.code where code::text ~ $1)
         or exists (select from sign_in.send where send::text ~ $1) as held`,
      [`${code}|plain`],
    );
    expect(rows[0]?.held).toBe(false);
  });
});

describe('requests of codes', () => {
  const age = (hours: number) =>
    stack.pool.query(
      `update sign_in.send set sent_at = array(select at - make_interval(hours => $1) from unnest(sent_at) as at)`,
      [hours],
    );

  test('are limited to five an hour and ten a day per address, however it is spelt', async () => {
    const address = newAddress();
    const five = await Promise.all(
      Array.from({ length: 8 }, (_, i) =>
        request({ address: i % 2 === 0 ? address : address.toUpperCase() }),
      ),
    );
    expect(five.filter(({ outcome }) => outcome === 'issued')).toHaveLength(5);
    await age(2);
    for (const outcome of ['issued', 'issued', 'issued', 'issued', 'issued', 'limited']) {
      expect((await request({ address })).outcome).toBe(outcome);
    }
    await age(2);
    expect((await request({ address })).outcome).toBe('limited');
    await age(24);
    expect((await request({ address })).outcome).toBe('issued');
  });

  test('are limited to twenty an hour per IP address', async () => {
    const ip = '192.0.2.1';
    for (let sent = 0; sent < 20; sent += 1) expect((await request({ ip })).outcome).toBe('issued');
    const address = newAddress();
    expect((await request({ ip, address })).outcome).toBe('limited');
    // A refused request does not use up what the address may still receive.
    for (let sent = 0; sent < 5; sent += 1) expect((await request({ address })).outcome).toBe('issued');
  });
});

describe('the directory', () => {
  test('finds a person in all workspaces by address, and an erased member no more', async () => {
    const other = await stack.key();
    const address = newAddress();
    const memberId = await addMember(address);
    const elsewhere = await addMember(address.toUpperCase(), other.workspaceId);
    await stack.projected(await stack.eventStore.head());
    const account = await directory.find(index.accountIdOf(` ${address} `));
    expect(account).toMatchObject({ name: 'Ada', email: expect.stringMatching(/shop\.example/i) });
    expect(account?.memberships.map((one) => one.memberId).toSorted()).toEqual(
      [memberId, elsewhere].toSorted(),
    );
    expect(account?.memberships.every(({ role }) => role === 'editor')).toBe(true);
    await erasePerson(operator(), key.workspaceId, memberId);
    const left = await directory.find(index.accountIdOf(address));
    expect(left?.memberships.map((one) => one.memberId)).toEqual([elsewhere]);
    expect(await directory.find(memberId)).toBeNull();
    const { rows } = await stack.pool.query('select from vault.member_address where member_id = $1', [
      memberId,
    ]);
    expect(rows).toEqual([]);
  });

  test('gives a member id this membership alone', async () => {
    const address = newAddress();
    const [memberId] = [await addMember(address), await addMember(address, (await stack.key()).workspaceId)];
    const account = await directory.find(memberId);
    expect(account?.memberships).toMatchObject([{ workspaceId: key.workspaceId, memberId }]);
    expect(await directory.find(index.accountIdOf(newAddress()))).toBeNull();
  });
});

describe('an invitation', () => {
  const invite = async (memberId: string) =>
    issueInvitation({ ...stack, clock: systemClock }, { workspaceId: key.workspaceId, memberId }, OPERATOR);

  test('is used by one of two browsers at once, and by no later one', async () => {
    const memberId = await addMember(null);
    const { token, invitationId } = await invite(memberId);
    const invitations = createInvitations(stack.pool);
    const whom = { workspaceId: key.workspaceId, memberId };
    // Looking does not use a token up, because mail scanners look, too.
    expect(await invitations.find(token, 'scanner')).toEqual(whom);
    const browsers = ['one', 'two'];
    const used = await Promise.all(browsers.map((browser) => invitations.use(token, browser)));
    expect(used.filter((one) => one !== null)).toEqual([whom]);
    const winner = browsers[used.findIndex((one) => one !== null)] ?? '';
    // The reply may be lost, so the same browser goes on for ten minutes.
    expect(await invitations.use(token, winner)).toEqual(whom);
    expect(await invitations.find(token, 'three')).toBeNull();
    await stack.pool.query(`update sign_in.invitation set used_at = used_at - interval '11 minutes'`);
    expect(await invitations.use(token, winner)).toBeNull();
    const event = (await signInEvents()).at(-1);
    expect(event).toMatchObject({
      type: 'MemberInvited',
      data: { member_id: memberId, invitation_id: invitationId },
    });
    expect(JSON.stringify(event?.data)).not.toContain(token);
  });

  test('expires, is refused for an erased member, and matches no other text', async () => {
    const invitations = createInvitations(stack.pool);
    const memberId = await addMember(null);
    const [first, second] = [await invite(memberId), await invite(memberId)];
    await stack.pool.query('update sign_in.invitation set expires_at = now() where invitation_id = $1', [
      first.invitationId,
    ]);
    expect(await invitations.use(first.token, 'browser')).toBeNull();
    await erasePerson(operator(), key.workspaceId, memberId);
    expect(await invitations.use(second.token, 'browser')).toBeNull();
    for (const text of ['', 'x', 'x'.repeat(10_000), `${second.token}'`]) {
      expect(await invitations.find(text, 'browser')).toBeNull();
    }
    await expect(invite('mem_unknown')).rejects.toMatchObject({ code: 'not_found' });
  });
});

describe('a signed-in browser', () => {
  test('ends when idle, after seven days, and for its own account only', async () => {
    const browsers = createBrowsers(stack.pool);
    const token = await browsers.open('acc_a', 'code');
    const found = await browsers.find(token);
    expect(found).toMatchObject({ accountId: 'acc_a', method: 'code' });
    const signInId = found?.signInId ?? '';
    await browsers.end('acc_b', signInId);
    expect(await browsers.list('acc_a')).toHaveLength(1);
    const set = (column: string, to: string) =>
      stack.pool.query(`update sign_in.browser set ${column} = now() + $1::interval where sign_in_id = $2`, [
        to,
        signInId,
      ]);
    await set('used_at', '-13 hours');
    expect(await browsers.find(token)).toBeNull();
    await set('used_at', '0');
    await set('expires_at', '0');
    expect(await browsers.find(token)).toBeNull();
    await set('expires_at', '1 day');
    expect(await browsers.find(token)).not.toBeNull();
    await browsers.end('acc_a', signInId);
    expect(await browsers.find(token)).toBeNull();
    expect(await browsers.find('unknown')).toBeNull();
  });

  test('is recorded once per workspace, with its end and with a block', async () => {
    const { workspaceId, memberId } = await stack.key();
    const browsers = createBrowsers(stack.pool);
    const browser = await browsers.find(await browsers.open(memberId, 'invitation'));
    if (!browser) throw new Error('not signed in');
    const history = createSignInHistory({ ...stack, clock: systemClock });
    const member = { workspaceId, memberId };
    await Promise.all([history.opened(member, browser), history.opened(member, browser)]);
    await history.closed([member], browser.signInId);
    await history.closed([member], browser.signInId);
    await history.blocked([member], 'attempt');
    const events = await signInEvents(workspaceId);
    expect(events.map(({ type }) => type)).toEqual(['MemberSignedIn', 'MemberSignedOut', 'SignInBlocked']);
    expect(events[0]?.data).toMatchObject({ method: 'invitation', member_id: memberId });
  });
});

test('the key of the index survives a new master key, and another one is refused', async () => {
  const { rotateMasterKey } = await import('#application/vault/rotate-master-key.ts');
  const { backUpVaults } = await import('#application/vault/backup.ts');
  const young = Buffer.alloc(32, 9).toString('base64');
  const account = index.accountIdOf('ada@shop.example');
  await vi.waitFor(() => rotateMasterKey(stack.pool, young, VAULT_KEY));
  expect((await openAddressIndex(stack.pool, young)).accountIdOf('ADA@shop.example')).toBe(account);
  await expect(openAddressIndex(stack.pool, VAULT_KEY)).rejects.toMatchObject({ code: 'invalid_input' });
  expect((await backUpVaults(stack.pool)).filter((line) => line.includes('index_key'))).toHaveLength(1);
});
