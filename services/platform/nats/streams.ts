import {
  DiscardPolicy,
  type JetStreamManager,
  RetentionPolicy,
  StorageType,
  type StreamConfig,
  type StreamInfo,
} from 'nats';
import { z } from 'zod';
import {
  DEAD_LETTERS_STREAM,
  DEAD_LETTERS_SUBJECTS,
  OBSERVATION_BODIES_STREAM,
  OBSERVATION_BODIES_SUBJECTS,
  OBSERVATIONS_STREAM,
  OBSERVATIONS_SUBJECTS,
  SCRAPES_STREAM,
  SCRAPES_SUBJECTS,
} from '#contracts/messages/subjects.ts';

const GIB = 1024 ** 3;
const NANOS_PER_SECOND = 1_000_000_000;
const NANOS_PER_DAY = 86_400 * NANOS_PER_SECOND;
/** Producers must request expired work again. */
const WORK_KEPT_DAYS = 7;
const DEAD_LETTERS_KEPT_DAYS = 30;
const OBSERVATIONS_MAX_GB = 8;
const DEAD_LETTERS_MAX_BYTES = 8 * GIB;
/** Includes headers. An observation has at most 1,000,000 bytes. */
const OBSERVATION_MESSAGE_MAX_BYTES = 1024 ** 2;
/** Scan requests have a few hundred bytes each. */
const SMALL_MESSAGES_MAX_BYTES = GIB;
/** Repeated messages are dropped for this long. Collectors send a scan again for minutes. */
const OBSERVATIONS_DUPLICATE_SECONDS = 600;
const DUPLICATE_SECONDS = 120;
/** JetStream: the stream does not exist. */
const STREAM_NOT_FOUND = 10_059;
/** Several copies need a cluster, and enough nodes with storage. */
const NEEDS_CLUSTER = 10_074;
const NO_NODES = 10_005;
/** A server without a cluster has too little storage. */
const TOO_LITTLE_STORAGE = new Set([10_023, 10_047]);

/** Used when streams are missing. Give all processes the same. */
export const natsStreamSettings = {
  NATS_REPLICAS: z.coerce
    .number()
    .int()
    .min(1)
    .max(5)
    .default(1)
    .describe(
      'Copies of each NATS stream that is created: 1, or 3 in a cluster of three nodes. `npm run ops -- nats apply` changes existing streams.',
    ),
  OBSERVATIONS_MAX_GB: z.coerce
    .number()
    .min(0.1)
    .max(10_000)
    .default(OBSERVATIONS_MAX_GB)
    .describe(
      'Limit in GiB of the queue of observations, and of the stream of their large bodies, when the streams are created. A full one refuses further ones. A NATS node needs `max_file_store` of twice this and 9 GiB.',
    ),
} as const;

export type StreamSettings = { readonly NATS_REPLICAS: number; readonly OBSERVATIONS_MAX_GB: number };
export const DEFAULT_STREAM_SETTINGS: StreamSettings = { NATS_REPLICAS: 1, OBSERVATIONS_MAX_GB };

/** Operators may have chosen other values for these. */
const CHOSEN = [
  'subjects',
  'max_age',
  'max_bytes',
  'max_msg_size',
  'duplicate_window',
  'discard',
  'num_replicas',
  'allow_direct',
] as const;
type Wanted = Pick<StreamConfig, 'name' | 'retention' | 'storage' | (typeof CHOSEN)[number]>;

const workQueue = { retention: RetentionPolicy.Workqueue, discard: DiscardPolicy.New } as const;
const log = { retention: RetentionPolicy.Limits, discard: DiscardPolicy.Old } as const;
/** Ingest removes a body by name after it has recorded its observation. */
const store = { retention: RetentionPolicy.Limits, discard: DiscardPolicy.New } as const;

/** A full work queue refuses new messages and drops none; of other streams the oldest go. */
export const wantedStreams = ({
  NATS_REPLICAS: num_replicas,
  OBSERVATIONS_MAX_GB: observationsMaxGb,
}: StreamSettings): readonly Wanted[] => {
  const common = {
    storage: StorageType.File,
    num_replicas,
    max_age: WORK_KEPT_DAYS * NANOS_PER_DAY,
    max_msg_size: -1,
    duplicate_window: DUPLICATE_SECONDS * NANOS_PER_SECOND,
    allow_direct: false,
  };
  return [
    {
      ...common,
      ...workQueue,
      name: OBSERVATIONS_STREAM,
      subjects: [OBSERVATIONS_SUBJECTS],
      max_bytes: Math.round(observationsMaxGb * GIB),
      max_msg_size: OBSERVATION_MESSAGE_MAX_BYTES,
      duplicate_window: OBSERVATIONS_DUPLICATE_SECONDS * NANOS_PER_SECOND,
      // Ingest reads bodies of messages one by one; any replica may answer.
      allow_direct: true,
    },
    {
      ...common,
      ...store,
      name: OBSERVATION_BODIES_STREAM,
      subjects: [OBSERVATION_BODIES_SUBJECTS],
      max_bytes: Math.round(observationsMaxGb * GIB),
      max_msg_size: OBSERVATION_MESSAGE_MAX_BYTES,
      duplicate_window: OBSERVATIONS_DUPLICATE_SECONDS * NANOS_PER_SECOND,
      allow_direct: true,
    },
    {
      ...common,
      ...log,
      name: SCRAPES_STREAM,
      subjects: [SCRAPES_SUBJECTS],
      max_bytes: SMALL_MESSAGES_MAX_BYTES,
    },
    {
      ...common,
      ...log,
      name: DEAD_LETTERS_STREAM,
      subjects: [DEAD_LETTERS_SUBJECTS],
      max_age: DEAD_LETTERS_KEPT_DAYS * NANOS_PER_DAY,
      max_bytes: DEAD_LETTERS_MAX_BYTES,
    },
  ];
};

const codeOf = (error: unknown): number | undefined =>
  (error as { api_error?: { err_code?: number } }).api_error?.err_code;

const readStream = async (manager: JetStreamManager, name: string): Promise<StreamInfo | null> => {
  try {
    return await manager.streams.info(name);
  } catch (error) {
    if (codeOf(error) === STREAM_NOT_FOUND) return null;
    throw error;
  }
};

const addStream = async (manager: JetStreamManager, wanted: Wanted): Promise<void> => {
  const { name, num_replicas, max_bytes } = wanted;
  try {
    await manager.streams.add(wanted);
  } catch (cause) {
    if (codeOf(cause) === NEEDS_CLUSTER) {
      const todo = 'Start them, or set NATS_REPLICAS=1.';
      throw new Error(`NATS_REPLICAS=${num_replicas} needs a cluster of as many NATS nodes. ${todo}`, {
        cause,
      });
    }
    const code = codeOf(cause) ?? 0;
    if (code !== NO_NODES && !TOO_LITTLE_STORAGE.has(code)) throw cause;
    throw new Error(
      `The stream ${name} needs ${max_bytes} free bytes of file storage on as many NATS nodes as NATS_REPLICAS says ` +
        `(${num_replicas}). Start them, raise their \`max_file_store\`, or set a lower OBSERVATIONS_MAX_GB.`,
      { cause },
    );
  }
};

/**
 * Creates missing streams, and adds to existing ones only a subject and direct reads; an operator may have chosen the
 * rest. Also runs when the server restarted without its storage.
 */
export const ensureStreams = async ({
  manager,
  streamSettings,
}: {
  readonly manager: JetStreamManager;
  readonly streamSettings: StreamSettings;
}): Promise<void> => {
  for (const wanted of wantedStreams(streamSettings)) {
    const existing = await readStream(manager, wanted.name);
    if (existing === null) {
      // Another process that creates it at the same time with other settings was first.
      await addStream(manager, wanted).catch(async (error: unknown) => {
        if ((await readStream(manager, wanted.name)) === null) throw error;
      });
      continue;
    }
    const { config } = existing;
    const missing = wanted.subjects.filter((subject) => !config.subjects.includes(subject));
    const allow_direct = config.allow_direct || wanted.allow_direct;
    if (missing.length === 0 && allow_direct === config.allow_direct) continue;
    const subjects = [...config.subjects, ...missing];
    await manager.streams.update(wanted.name, { ...config, subjects, allow_direct });
  }
};

export type Difference = {
  readonly stream: string;
  readonly value: string;
  /** `null` when the stream is missing. */
  readonly is: unknown;
  readonly ours: unknown;
};

/** Values other than those that we would choose. */
export const compareStreams = async (
  manager: JetStreamManager,
  settings: StreamSettings,
): Promise<readonly Difference[]> => {
  const differences: Difference[] = [];
  for (const wanted of wantedStreams(settings)) {
    const existing = await readStream(manager, wanted.name);
    for (const value of ['retention', 'storage', ...CHOSEN] as const) {
      const [is, ours] = [existing?.config[value] ?? null, wanted[value]];
      if (JSON.stringify(is) !== JSON.stringify(ours))
        differences.push({ stream: wanted.name, value, is, ours });
    }
  }
  return differences;
};

/** Overwrites an operator's values. Throws when the server refuses, such as for another retention or storage. */
export const applyStreams = async (manager: JetStreamManager, settings: StreamSettings): Promise<void> => {
  for (const wanted of wantedStreams(settings)) {
    const existing = await readStream(manager, wanted.name);
    if (existing === null) await addStream(manager, wanted);
    else await manager.streams.update(wanted.name, { ...existing.config, ...wanted });
  }
};
