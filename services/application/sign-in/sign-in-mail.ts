import type { EmailMessage, TextChannel } from '#platform/channels/email.ts';
import { pause } from '#platform/clock.ts';
import type { Log } from '#platform/logger.ts';
import { CODE_MINUTES } from './codes.ts';
import type { MemberDirectory } from './member-directory.ts';

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
