import { z } from 'zod';
import {
  AlertCadence,
  AlertChannel,
  AlertTrigger,
  EndpointChannel,
  FailureClass,
  QuietHours,
} from '#contracts/values/alerts.ts';
import { CHAT_TOOLS_NAMED } from '#contracts/values/chat-tools.ts';
import { Count, Timestamp, Uuid, WorkspaceId } from '#contracts/values/primitives.ts';
import { nameText } from '#contracts/values/text.ts';

export const ALERT_RULES_MAX = 200;
/** All rules of a workspace together. */
export const TEST_SENDS_PER_MINUTE = 30;
export const ALERT_BRANDS_MAX = 500;
export const ALERT_NAME_MAX_LENGTH = 100;
export const ALERT_URL_MAX_LENGTH = 2_048;

const NAME = { description: 'Title of the rule, shown in what it sends.' };
const name = nameText(ALERT_NAME_MAX_LENGTH).meta(NAME);
const AlertId = Uuid.meta({ description: 'Stable id of the rule, `{alertId}` in paths.' });
const brandIds = z.array(Uuid.toLowerCase()).min(1).max(ALERT_BRANDS_MAX);
const address = z.string().min(1).max(ALERT_URL_MAX_LENGTH);

const EMAIL = 'Whether it is mailed to the member who created the rule.';
const WEBHOOK = 'An https URL that signed requests are posted to.';
const WEBHOOK_SET = `${WEBHOOK} Null: none is set.`;
const CHAT = `The incoming webhook of a chat tool: ${CHAT_TOOLS_NAMED}. Each gets its own form; other addresses are refused. Such an address is a secret: it is kept encrypted and never answered; reads name its host as \`chat\`. Null removes it.`;

const RESUMES = 'An address, also the same one, ends the suspension of the channel.';

export const ALERT_THRESHOLD_MAX = 1_000;
export const ALERT_MAX_PER_DAY = 1_000;

const OWN = { 'x-beyond-contract': true };
const LIMITS = {
  threshold: z
    .int()
    .min(2)
    .max(ALERT_THRESHOLD_MAX)
    .meta({
      ...OWN,
      description:
        'Least number of items of a message: of one brand in one scan, or of a digest. Messages with fewer are not sent. A page link or a signal that is sent at once is one item.',
    }),
  quiet_hours: QuietHours.meta({ ...OWN, description: QuietHours.description }),
  max_per_day: z
    .int()
    .min(1)
    .max(ALERT_MAX_PER_DAY)
    .meta({
      ...OWN,
      description:
        'Most messages of an instant rule on a UTC day, on each channel. What is above is sent in one digest after the day, which is a message of the next day.',
    }),
};
const NO_LIMIT = 'Null: no limit.';
const limitsOf = () => ({
  threshold: LIMITS.threshold
    .nullable()
    .optional()
    .meta({ ...OWN, description: `${LIMITS.threshold.description} ${NO_LIMIT}` }),
  quiet_hours: LIMITS.quiet_hours
    .nullable()
    .optional()
    .meta({ ...OWN, description: `${QuietHours.description} Null: none.` }),
  max_per_day: LIMITS.max_per_day
    .nullable()
    .optional()
    .meta({ ...OWN, description: `${LIMITS.max_per_day.description} ${NO_LIMIT}` }),
});

export const CreateAlert = z
  .strictObject({
    name,
    trigger: AlertTrigger,
    brand_ids: brandIds.meta({ description: 'Brands that the workspace tracks.' }),
    cadence: AlertCadence.default('instant'),
    email: z.boolean().default(false).meta({ description: EMAIL }),
    webhook_url: address.nullable().default(null).meta({ description: WEBHOOK_SET }),
    chat_webhook_url: address.nullable().default(null).meta({ description: CHAT }),
    enabled: z.boolean().default(true).meta({ description: '`false`: the rule is kept and sends nothing.' }),
    ...limitsOf(),
  })
  .meta({ id: 'CreateAlert', description: 'At least one of the three channels is required.' });

export const ChangeAlert = z
  .strictObject({
    name: name.optional(),
    trigger: AlertTrigger.optional(),
    brand_ids: brandIds
      .optional()
      .meta({ description: 'Brands that the workspace tracks; replaces the existing list.' }),
    cadence: AlertCadence.optional(),
    email: z.boolean().optional().meta({ description: EMAIL }),
    webhook_url: address
      .nullable()
      .optional()
      .meta({ description: `${WEBHOOK} Null removes it. ${RESUMES}` }),
    chat_webhook_url: address
      .nullable()
      .optional()
      .meta({ description: `${CHAT} ${RESUMES}` }),
    enabled: z
      .boolean()
      .optional()
      .meta({ description: '`true` ends all suspensions, even when the rule is already enabled.' }),
    ...limitsOf(),
  })
  .refine(
    (change) => Object.values(change).some((value) => value !== undefined),
    'name at least one property to change',
  )
  .meta({ id: 'ChangeAlert', description: 'Properties that are absent stay unchanged.', minProperties: 1 });

const alertShape = {
  id: AlertId,
  name: z.string().meta(NAME),
  trigger: AlertTrigger,
  brand_ids: z.array(Uuid).meta({
    description: 'Brands that the rule watches. An untracked brand is ignored until it is tracked again.',
  }),
  cadence: AlertCadence,
  email: z.boolean().meta({ description: EMAIL }),
  webhook_url: z.string().nullable().meta({ description: WEBHOOK_SET }),
  chat: z
    .strictObject({ host: z.string().meta({ description: 'Such as `hooks.slack.com`.' }) })
    .nullable()
    .meta({
      description: "The chat tool's incoming webhook, whose address is never returned; null: none is set.",
    }),
  enabled: z
    .boolean()
    .meta({ description: 'Whether members switched the rule on; `sends_on` says what that amounts to.' }),
  sends_on: z.array(AlertChannel).max(AlertChannel.options.length).meta({
    description:
      'Channels that matches are sent on: those of the rule that are not suspended; none while the rule is disabled. Empty: nothing is sent.',
  }),
  suspended: z
    .array(
      z.strictObject({
        channel: EndpointChannel,
        failing_since: Timestamp.meta({ description: 'Start of the failures without a success since.' }),
        suspended_at: Timestamp.meta({ description: 'When sending on it ended.' }),
      }),
    )
    .max(EndpointChannel.options.length)
    .meta({
      description:
        'Suspended channels: all deliveries failed for five days, and nothing more is sent. Enabling the rule, or setting the address of the channel, ends a suspension. What was skipped meanwhile is not sent later.',
    }),
  threshold: LIMITS.threshold.optional(),
  quiet_hours: LIMITS.quiet_hours.optional(),
  max_per_day: LIMITS.max_per_day.optional(),
  created_by: z.string().meta({ description: 'Id of the member who created it and receives its e-mails.' }),
  created_at: Timestamp.meta({ description: 'When the rule was created.' }),
  updated_at: Timestamp.meta({
    description: 'When it was last changed, or one of its channels was suspended.',
  }),
} as const;

export const Alert = z
  .strictObject(alertShape)
  .meta({ id: 'Alert', description: 'A rule that tells of changes at tracked brands.' });
export type Alert = z.infer<typeof Alert>;

const WebhookSecret = z.string().regex(/^whsec_[A-Za-z0-9+/]{43}=$/);

export const WrittenAlert = z
  .strictObject({
    ...alertShape,
    webhook_secret: WebhookSecret.nullable().meta({
      description:
        'The signing secret, shown only in the reply that creates the first rule with a webhook in the workspace. Store it now. Otherwise null.',
    }),
  })
  .meta({ id: 'WrittenAlert', description: 'A rule as written, once with the signing secret.' });

export const DeleteAlert = z.strictObject({}).meta({ id: 'DeleteAlert', description: 'An empty object.' });

export const DeletedAlert = z
  .strictObject({
    alert_id: AlertId,
    workspace_id: WorkspaceId,
    removed: z.boolean().meta({ description: 'False when no such rule existed.' }),
  })
  .meta({ id: 'DeletedAlert', description: 'The result of deleting a rule with its deliveries.' });

export const IssueWebhookSecret = z
  .strictObject({})
  .meta({ id: 'IssueWebhookSecret', description: 'An empty object.' });

export const IssuedWebhookSecret = z
  .strictObject({
    workspace_id: WorkspaceId,
    webhook_secret: WebhookSecret.meta({
      description: 'The signing secret, shown only in this reply: store it now.',
    }),
    rotated: z
      .boolean()
      .meta({ description: 'True when it replaced another secret, which no longer signs.' }),
    created_at: Timestamp.meta({ description: 'When it was made; it signs from then on.' }),
  })
  .meta({ id: 'IssuedWebhookSecret', description: 'The new signing secret of the workspace.' });

export const TestAlert = z.strictObject({}).meta({ id: 'TestAlert', description: 'An empty object.' });

export const TestedAlert = z
  .strictObject({
    alert_id: AlertId,
    workspace_id: WorkspaceId,
    deliveries: z
      .array(
        z.strictObject({
          delivery_id: Uuid.meta({ description: 'Id of the delivery, as listed by the alert deliveries.' }),
          channel: AlertChannel,
          delivered: z.boolean().meta({ description: 'Whether the receiver accepted the sample.' }),
          failure: FailureClass.nullable().meta({
            description: 'The step that failed; null when delivered.',
          }),
          status_code: z
            .int()
            .nullable()
            .meta({ description: "The receiver's HTTP status or SMTP reply code; null without a reply." }),
          reason: z
            .string()
            .nullable()
            .meta({ description: 'Why it failed, as a sentence; null when delivered.' }),
          duration_ms: Count.meta({
            description: 'Milliseconds from sending to the answer, or to its failure.',
          }),
        }),
      )
      .meta({ description: 'One entry per channel of the rule, including suspended channels.' }),
  })
  .meta({ id: 'TestedAlert', description: 'What became of the sample on each channel.' });
export type TestedAlert = z.infer<typeof TestedAlert>;
