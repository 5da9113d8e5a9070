import { z } from 'zod';
import { Count, Timestamp } from '#contracts/values/primitives.ts';
import { BrandReference } from './brand.ts';

/** Events shown with a change. */
export const EVENTS_OF_CHANGE_MAX = 10;

export const RecordedEvent = z
  .strictObject({
    stream: z.string().meta({ description: 'Stream of the event in the log.' }),
    revision: Count.meta({ description: 'Place in the stream, from 0.' }),
    type: z.string().meta({ description: 'Type of the event, such as `AdRevised`.' }),
    recorded_at: Timestamp.meta({ description: 'Time at which it was recorded.' }),
    observed_at: Timestamp.nullable().meta({
      description: 'Time of the observation; null: the event reports none.',
    }),
  })
  .meta({ id: 'RecordedEvent', description: 'An event of the log, by its place.' });

const ChangeSubject = z.enum(['brand', 'day', 'ad']).meta({
  id: 'ChangeSubject',
  description: 'Record that differs: the brand, a day of its activity, or one of its ads.',
});

export const ChangeKind = z.enum(['added', 'removed', 'changed']).meta({
  id: 'ChangeKind',
  description: '`added` and `removed`: the whole record; `changed`: one field of it.',
});

export const BrandChange = z
  .strictObject({
    subject: ChangeSubject,
    id: z.string().meta({ description: 'Uuid of the brand, date of the day, or library id of the ad.' }),
    change: ChangeKind,
    field: z
      .string()
      .nullable()
      .meta({ description: 'Field of the record, such as `status`; null: the whole record.' }),
    before: z.unknown().meta({ description: 'Value as of `since`; null also for an added record.' }),
    after: z.unknown().meta({ description: 'Value as of `until`; null also for a removed record.' }),
    events: z
      .array(RecordedEvent)
      .max(EVENTS_OF_CHANGE_MAX)
      .meta({
        description: `Events about the record that were recorded between the two moments, newest first, at most ${EVENTS_OF_CHANGE_MAX}.`,
      }),
    events_total: Count.meta({ description: 'Number of such events.' }),
    url: z.url().meta({ description: 'Address of the record.' }),
  })
  .meta({ id: 'BrandChange', description: 'A difference between two past moments.' });

export const WorkspaceChange = z
  .strictObject({
    brand: BrandReference.meta({ description: 'The brand, as of `until`.' }),
    ...BrandChange.shape,
  })
  .meta({ id: 'WorkspaceChange', description: 'A difference between two past moments at a tracked brand.' });
