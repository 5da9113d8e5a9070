import { randomInt, randomUUID } from 'node:crypto';
import type { Database } from '#platform/postgres/pool.ts';
import type { EmailMessage, TextChannel } from '#platform/channels/email.ts';
import { pause } from '#platform/clock.ts';
import type { Log } from '#platform/logger.ts';
import type { AddressIndex } from '../vault/address-index.ts';
import type { MemberDirectory } from './member-directory.ts';

export type SendLimit = { readonly perHour: number; readonly perDay: number };

/** Nothing is appended at a limit. Times older than a day are dropped. */
const TAKE = `
  insert into sign_in.send (subject, sent_at) values ($1, array[now()])
  on conflict (subject) do update set sent_at = array(
      select at from unnest(send.sent_at) as at where at > now() - interval '1 day' order by at) || now()
  where (select count(*) < $3 and count(*) filter (where at > now() - interval '1 hour') < $2
    from unnest(send.sent_at) as at where at > now() - interval '1 day')`;

/**
 * False, with nothing counted, at a limit. The statement locks the subject's row, so concurrent requests count one by
 * one.
 */
export const takeSend = async (
  pool: Database,
  subject: string,
  { perHour, perDay }: SendLimit,
): Promise<boolean> => (await pool.query(TAKE, [subject, perHour, perDay])).rowCount === 1;

export const CODE_MINUTES = 10;
/** After this number of wrong codes a new one must be requested. */
export const CODE_TRIES_MAX = 5;
const CODE_DIGITS = 8;

/** Requests of codes per address. */
const OF_ADDRESS: SendLimit = { perHour: 5, perDay: 10 };
/** Requests of codes per IP address. An office shares one. */
const OF_IP: SendLimit = { perHour: 20, perDay: 480 };

export type CodeRequest = {
  /** Cookie of the only browser that can use the code. */
  readonly browserHash: string;
  readonly address: string;
  readonly ip: string;
};
export type CodeSent =
  | {
      readonly outcome: 'issued';
      readonly accountId: string;
      readonly code: string;
      readonly attemptId: string;
    }
  | { readonly outcome: 'limited' };
export type CodeChecked =
  | { readonly outcome: 'right'; readonly accountId: string }
  | { readonly outcome: 'wrong'; readonly triesLeft: number }
  /** The last try was wrong: the code is withdrawn. */
  | { readonly outcome: 'blocked'; readonly accountId: string; readonly attemptId: string }
  /** No code, or one that was used or has expired. */
  | { readonly outcome: 'none' };

export type Codes = {
  /** Issues a code for any address; only the directory tells whether it is known. */
  issue(request: CodeRequest): Promise<CodeSent>;
  /** Costs a try. The right code is accepted once, also by two requests at once. */
  check(browserHash: string, code: string): Promise<CodeChecked>;
};

const ISSUE = `
  insert into sign_in.code (browser_hash, account_id, code_hash, attempt_id, expires_at)
  values ($1, $2, $3, $4, now() + interval '${CODE_MINUTES} minutes')
  on conflict (browser_hash) do update set account_id = excluded.account_id, code_hash = excluded.code_hash,
    attempt_id = excluded.attempt_id, tries = 0, spent = false, expires_at = excluded.expires_at`;
/** Locks the row, so two checks at once count as two. */
const CHECK = `
  update sign_in.code set tries = tries + 1, spent = code_hash = $2
  where browser_hash = $1 and not spent and tries < ${CODE_TRIES_MAX} and expires_at > now()
  returning account_id, attempt_id, tries, spent`;

export const createCodes = (pool: Database, index: AddressIndex): Codes => {
  const codeHash = (browserHash: string, code: string): string =>
    index.hashOf('code', `${browserHash} ${code}`);
  return {
    issue: async ({ browserHash, address, ip }) => {
      const accountId = index.accountIdOf(address);
      const isAllowed =
        (await takeSend(pool, `ip ${index.hashOf('ip', ip)}`, OF_IP)) &&
        (await takeSend(pool, `address ${accountId}`, OF_ADDRESS));
      if (!isAllowed) return { outcome: 'limited' };
      const code = String(randomInt(10 ** CODE_DIGITS)).padStart(CODE_DIGITS, '0');
      const attemptId = randomUUID();
      await pool.query(ISSUE, [browserHash, accountId, codeHash(browserHash, code), attemptId]);
      return { outcome: 'issued', accountId, code, attemptId };
    },
    check: async (browserHash, entered) => {
      // People copy codes with the space of the mail, or with dashes.
      const code = entered.replaceAll(/[\s-]/g, '');
      type Row = {
        readonly account_id: string;
        readonly attempt_id: string;
        readonly tries: number;
        readonly spent: boolean;
      };
      const [row] = (await pool.query<Row>(CHECK, [browserHash, codeHash(browserHash, code)])).rows;
      if (!row) return { outcome: 'none' };
      const { account_id: accountId, attempt_id: attemptId, tries, spent } = row;
      if (spent) return { outcome: 'right', accountId };
      const triesLeft = CODE_TRIES_MAX - tries;
      return triesLeft > 0 ? { outcome: 'wrong', triesLeft } : { outcome: 'blocked', accountId, attemptId };
    },
  };
};

/** Before the second and third attempt. A person waits for the mail and can request another code. */
const RETRY_AFTER_MS = [2_000, 10_000];
/** Further mails are dropped, so that a slow mail server cannot fill the memory. */
const SENDING_AT_ONCE_MAX = 1_000;

/** Sent to the stored address of the account. */
type CodeMail = { readonly accountId: string; readonly code: string; readonly attemptId: string };

export type SignInMail = AsyncDisposable & {
  /** Returns at once and looks the account up afterwards, so that the reply does not tell whether it exists. */
  send(mail: CodeMail): void;
};

export const codeMessageOf = (code: string): EmailMessage => ({
  subject: 'Your sign-in code',
  text: [
    `Your code is ${code.slice(0, 4)} ${code.slice(4)}.`,
    '',
    `Enter it in the browser in which you asked for it. It works once, for ${CODE_MINUTES} minutes.`,
    '',
    'If you did not ask for it, somebody else typed your address. Do nothing: without this code, nobody can sign in.',
    'Nobody of this service will ever ask you for the code.',
    '',
  ].join('\n'),
});

/** Disposal ends it after the present attempts. */
export const createSignInMail = (
  channel: Pick<TextChannel, 'sendMessage'>,
  directory: MemberDirectory,
  log: Log,
): SignInMail => {
  const ending = new AbortController();
  const sending = new Set<Promise<void>>();
  /** Returns whether another attempt may help. */
  const trySend = async ({ accountId, code, attemptId }: CodeMail): Promise<boolean> => {
    try {
      const to = (await directory.find(accountId))?.email ?? null;
      if (to === null) return false;
      const outcome = await channel.sendMessage({ to, deliveryId: `code-${attemptId}` }, codeMessageOf(code));
      if (outcome.delivered) return false;
      log.warn({ attempt_id: attemptId, reason: outcome.reason }, 'sign-in mail not sent');
      return !outcome.terminal;
    } catch (error) {
      // Postgres did not answer. The reply has said that a code is on its way.
      log.error({ err: error, attempt_id: attemptId }, 'sign-in mail not sent');
      return true;
    }
  };
  const attempt = async (mail: CodeMail): Promise<void> => {
    for (const waitMs of [0, ...RETRY_AFTER_MS]) {
      await pause(waitMs, ending.signal);
      if (!(await trySend(mail)) || ending.signal.aborted) return;
    }
  };
  return {
    send: (mail) => {
      if (sending.size >= SENDING_AT_ONCE_MAX) {
        log.error({ attempt_id: mail.attemptId }, 'sign-in mail dropped: the mail server is too slow');
        return;
      }
      const sent = attempt(mail).finally(() => sending.delete(sent));
      sending.add(sent);
    },
    [Symbol.asyncDispose]: async () => {
      ending.abort();
      await Promise.all(sending);
    },
  };
};
