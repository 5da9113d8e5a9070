import type { z } from 'zod';
import { AlertPayload } from '#contracts/webhooks/alert-payload.ts';
import { alertPayload } from '#operations/alerts/rules.ts';

type Json = { readonly [key: string]: unknown };

const HEADERS: Readonly<Record<string, string>> = {
  'x-service-timestamp': 'When this attempt was signed, in seconds since 1970. Refuse what is too old.',
  'x-service-signature':
    "`v1=` and the hexadecimal HMAC-SHA256 of the timestamp, a dot and the raw body, keyed with the workspace's signing secret as it was shown (UTF-8, `whsec_` included).",
  'webhook-id': 'The same in every attempt of a delivery; equal to `id` of the body.',
  'webhook-timestamp': 'The same as `x-service-timestamp`.',
  'webhook-signature':
    '`v1,` and the base64 HMAC-SHA256 of id, timestamp and raw body with dots between, keyed with the bytes that the secret after `whsec_` is the base64 of, as Standard Webhooks has it.',
};

const DESCRIPTION = `Posted to \`webhook_url\` of a rule, and signed. Any 2xx answer is success; redirects are not
followed. Anything else is tried again after 5 seconds, then 5 minutes, 30 minutes, and 2, 5, 10, 14, 20 and 24 hours,
and never earlier than \`retry-after\` asks; 410 ends it. A delivery may come twice, with the same \`webhook-id\`.`;

/** Source: specification, part "Events". */
export const openApiWebhooks = (lift: (schema: z.ZodType, io: 'output') => Json): Json => ({
  alert: {
    post: {
      operationId: 'receiveAlert',
      summary: 'A delivery of an alert rule',
      description: DESCRIPTION,
      tags: ['Alerts'],
      security: [],
      parameters: Object.entries(HEADERS).map(([name, description]) => ({
        name,
        in: 'header',
        required: true,
        description,
        schema: { type: 'string' },
      })),
      requestBody: {
        required: true,
        content: { 'application/json': { schema: lift(AlertPayload, 'output'), example: alertPayload } },
      },
      responses: {
        '2XX': { description: 'Received.' },
        410: { description: 'The receiver is gone for good; this delivery is not retried.' },
        default: { description: 'Tried again later.' },
      },
    },
  },
});
