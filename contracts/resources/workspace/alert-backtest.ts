import { z } from 'zod';
import { AlertItem } from '#contracts/webhooks/alert-payload.ts';
import { DeliveryKind } from '#contracts/values/alerts.ts';
import { CalendarDate, Count, Timestamp } from '#contracts/values/primitives.ts';

/** Days that a backtest goes back. */
export const BACKTEST_DAYS = 90;
export const BACKTEST_EXAMPLES_MAX = 10;
export const BACKTEST_ITEMS_MAX = 3;

export const AlertBacktest = z
  .strictObject({
    from: Timestamp.meta({
      description: 'Start of the days that were tested, by the recording of the events.',
    }),
    to: Timestamp.meta({ description: 'Their end.' }),
    deliveries_total: Count.meta({
      description:
        'Deliveries in all, one for each channel of the rule. A digest is one; that of a day or week that has not ended is none.',
    }),
    days: z
      .array(
        z.strictObject({
          date: CalendarDate.meta({ description: 'The UTC day on which they would have been sent.' }),
          deliveries: Count.meta({ description: 'Deliveries of the day.' }),
          items: Count.meta({ description: 'Items that each channel would have got on that day.' }),
        }),
      )
      .max(BACKTEST_DAYS + 1)
      .meta({ description: 'Days with deliveries, oldest first.' }),
    examples: z
      .array(
        z.strictObject({
          kind: DeliveryKind.extract(['alert', 'digest']).meta({
            description: '`alert`: a match; `digest`: all matches of a day or week.',
          }),
          at: Timestamp.meta({ description: 'When it would have been queued.' }),
          items_total: Count.meta({ description: 'All items, including those left out here.' }),
          items: z
            .array(AlertItem)
            .max(BACKTEST_ITEMS_MAX)
            .meta({ description: `The first items, at most ${BACKTEST_ITEMS_MAX}.` }),
        }),
      )
      .max(BACKTEST_EXAMPLES_MAX)
      .meta({ description: `Messages, newest first; at most ${BACKTEST_EXAMPLES_MAX}.` }),
    events: z
      .strictObject({
        considered: Count.meta({
          description: 'Events recorded in these days about the brands and their ads.',
        }),
        older: Count.meta({
          description: 'Earlier events. They tell what was known at the start, and nothing is sent on them.',
        }),
        unread: Count.meta({
          description:
            'Events that a newer release wrote, and those after them in their streams; they are left out.',
        }),
      })
      .meta({ description: 'The events that the answer rests on.' }),
  })
  .meta({ id: 'AlertBacktest', description: 'Messages that a rule would have sent, had it existed.' });
export type AlertBacktest = z.infer<typeof AlertBacktest>;
