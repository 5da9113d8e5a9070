import { z } from 'zod';
import { CHAT_TOOLS_NAMED, type ChatTool, chatToolOf } from '#contracts/values/chat-tools.ts';
import { SECOND_MS } from '#contracts/values/time.ts';
import type { AlertPayload } from '#contracts/webhooks/alert-payload.ts';
import type { Clock } from '../clock.ts';
import { isAllowedLoopback, type TargetRules } from '../egress/check-target-url.ts';
import type { Egress } from '../egress/http-client.ts';
import { chatMessageOf } from './chat-message.ts';
import { postOnce } from './http-post.ts';
import { RETRY_AFTER_MAX_MS, type SendOutcome, failedOutcome } from './send-outcome.ts';

/** RFC 6585, section 4. */
const TOO_MANY_REQUESTS = 429;

export const UNKNOWN_CHAT_TOOL = `This is not an incoming webhook of a supported chat tool: ${CHAT_TOOLS_NAMED}. Signed requests to other receivers go to \`webhook_url\`.`;

/**
 * `null` when alerts are not sent there. Where loopback is allowed, a receiver on this machine gets what Slack gets.
 */
export const chatToolAt = (address: string, rules: TargetRules): ChatTool | null => {
  const url = URL.parse(address);
  return url && (chatToolOf(url) ?? (isAllowedLoopback(url, rules) ? 'slack' : null));
};

/** Without the ending, Discord takes its own form for that of Slack, which would leave mentions alive. */
const addressOf = (tool: ChatTool, url: string): string =>
  tool === 'discord' ? url.replace(/\/slack\/?(?=\?|$)/, '') : url;

const RetryAnswer = z.object({ retry_after: z.number().nonnegative() });

/** Milliseconds that the JSON of a refusal asks to wait, as Discord does in seconds; otherwise 0. */
const askedWaitMs = (answer: Buffer | null): number => {
  try {
    const { retry_after } = RetryAnswer.parse(JSON.parse(answer?.toString('utf8') ?? ''));
    return Math.min(RETRY_AFTER_MAX_MS, Math.ceil(retry_after * SECOND_MS));
  } catch {
    return 0;
  }
};

export type ChatChannel = {
  /** Makes one attempt; the URL is a secret. Never rejects. An address of no supported tool is a blocked target. */
  sendOnce(target: { readonly url: string }, payload: AlertPayload): Promise<SendOutcome>;
};

export const openChatChannel = (egress: Egress, clock: Clock): ChatChannel => ({
  sendOnce: async ({ url }, payload) => {
    const tool = chatToolAt(url, egress.rules);
    if (tool === null) return failedOutcome('blocked_target', UNKNOWN_CHAT_TOOL, performance.now());
    const outcome = await postOnce(egress, clock, {
      url: addressOf(tool, url),
      headers: ['content-type', 'application/json', 'user-agent', 'ad-intelligence-chat/1'],
      body: Buffer.from(JSON.stringify(chatMessageOf(payload, tool)), 'utf8'),
    });
    if (outcome.status_code !== TOO_MANY_REQUESTS) return outcome;
    const waitMs = Math.max(outcome.retry_after_ms ?? 0, askedWaitMs(outcome.answer));
    return { ...outcome, retry_after_ms: waitMs === 0 ? outcome.retry_after_ms : waitMs };
  },
});
