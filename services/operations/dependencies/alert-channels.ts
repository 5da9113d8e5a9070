import { type ChatChannel, openChatChannel } from '#platform/channels/chat.ts';
import { type EmailChannel, type EmailSettings, openEmailChannel } from '#platform/channels/email.ts';
import { openWebhookChannel, type WebhookChannel } from '#platform/channels/webhook.ts';
import type { Clock } from '#platform/clock.ts';
import type { TargetRules } from '#platform/egress/check-target-url.ts';
import { type EgressOptions, openEgress } from '#platform/egress/http-client.ts';

/** Sends alert samples only; the process sends nothing else to customers. */
export type AlertChannels = AsyncDisposable & {
  readonly rules: TargetRules;
  readonly webhook: WebhookChannel;
  readonly chat: ChatChannel;
  readonly email: EmailChannel;
};

export const openAlertChannels = (
  options: EgressOptions,
  settings: EmailSettings,
  clock: Clock,
): AlertChannels => {
  const resources = new AsyncDisposableStack();
  const egress = resources.use(openEgress(options));
  const email = resources.use(openEmailChannel(settings, clock));
  return {
    rules: egress.rules,
    webhook: openWebhookChannel(egress, clock),
    chat: openChatChannel(egress, clock),
    email,
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
};
