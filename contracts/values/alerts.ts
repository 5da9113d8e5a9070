import { z } from 'zod';

/** The signals of `activity` are in `ACTIVITY_KINDS`. */
export const AlertTrigger = z
  .enum(['new_ads', 'stopped_ads', 'page_changes', 'new_partners', 'activity'])
  .meta({
    id: 'AlertTrigger',
    description:
      '`new_ads`: ads started; `stopped_ads`: ads confirmed inactive; `page_changes`: ads whose destination link changed, and pages newly linked; `new_partners`: pages of creators and partners, and pages not linked with the brand, that run its ads or are linked with it for the first time; `activity`: ramps, drops, launch bursts, sales and the like, as the signals have them.',
  });
export type AlertTrigger = z.infer<typeof AlertTrigger>;

export const AlertCadence = z.enum(['instant', 'daily', 'weekly']).meta({
  id: 'AlertCadence',
  description:
    '`instant`: as it is observed; `daily` and `weekly`: once a day or ISO week, in UTC, for all of it.',
});
export type AlertCadence = z.infer<typeof AlertCadence>;

export const AlertChannel = z.enum(['email', 'webhook', 'chat']).meta({
  id: 'AlertChannel',
  description: 'Way by which it is sent: mail to the creator of the rule, its webhook, or its chat tool.',
});
export type AlertChannel = z.infer<typeof AlertChannel>;

/** Channels to a member's own endpoint. The service's own server sends e-mail, which is never suspended. */
export const EndpointChannel = AlertChannel.extract(['webhook', 'chat']).meta({
  id: 'EndpointChannel',
  description: 'A channel to an address of the rule, which can be suspended.',
});
export type EndpointChannel = z.infer<typeof EndpointChannel>;

const ClockTime = z.string().regex(/^([01][0-9]|2[0-3]):[0-5][0-9]$/, 'a time such as 22:00');

const isTimeZone = (name: string): boolean => {
  try {
    return Boolean(new Intl.DateTimeFormat('en', { timeZone: name }));
  } catch {
    return false;
  }
};

export const QuietHours = z
  .strictObject({
    from: ClockTime.meta({ description: 'Their start, such as `22:00`, in the time zone.' }),
    to: ClockTime.meta({
      description: 'Their end, such as `07:00`: on the next day unless it is later than `from`.',
    }),
    time_zone: z
      .string()
      .max(64)
      .refine(isTimeZone, 'a time zone of the IANA database, such as Europe/Vienna')
      .meta({ description: 'Name in the IANA database, such as `Europe/Vienna`.' }),
  })
  .refine(({ from, to }) => from !== to, { path: ['to'], message: 'another time than `from`' })
  .meta({
    id: 'QuietHours',
    description: 'Hours in which instant alerts wait. They are sent one by one when the hours have ended.',
  });
export type QuietHours = z.infer<typeof QuietHours>;

export const DeliveryStatus = z.enum(['queued', 'retrying', 'delivered', 'failed', 'cancelled']).meta({
  id: 'DeliveryStatus',
  description:
    '`queued` before its first attempt, `retrying` while another is due, then `delivered`, `failed` or `cancelled`.',
});
export type DeliveryStatus = z.infer<typeof DeliveryStatus>;

export const FailureClass = z.enum(['timeout', 'connection', 'dns', 'tls', 'http', 'blocked_target']).meta({
  id: 'FailureClass',
  description:
    'The step that failed: `http` is a status other than 2xx, `blocked_target` an address that this service does not call.',
});
export type FailureClass = z.infer<typeof FailureClass>;

export const DeliveryKind = z.enum(['alert', 'digest', 'test', 'notice']).meta({
  id: 'DeliveryKind',
  description:
    '`alert`: a match; `digest`: all matches of a day or week; `test`: a requested sample; `notice`: a channel of the rule was suspended.',
});
export type DeliveryKind = z.infer<typeof DeliveryKind>;
