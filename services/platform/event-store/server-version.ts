import features from '@eventstore/db-client/generated/serverfeatures_pb.js';
import shared from '@eventstore/db-client/generated/shared_pb.js';
import { type ServiceError, status } from '@grpc/grpc-js';
import { toClearError } from './errors.ts';
import { connectToNode } from './node-connection.ts';

const SUPPORTED_METHODS = '/event_store.client.server_features.ServerFeatures/GetSupportedMethods';
const ANSWER_MS = 5_000;

/** KurrentDB is the name of EventStoreDB since 25.0. */
export const LEAST_VERSIONS = { 24: '24.10.5', 25: '25.0.1' } as const;

export class UnsupportedEventStore extends Error {
  constructor(found: string) {
    super(
      `The event store runs release ${found}. It must be EventStoreDB ${LEAST_VERSIONS[24]} or later, or KurrentDB ` +
        `${LEAST_VERSIONS[25]} or later: older ones send checkpoints that make readers skip events or stop. Upgrade it, ` +
        'then start this process again.',
    );
    this.name = 'UnsupportedEventStore';
  }
}

const partsOf = (version: string): readonly number[] | null => {
  const [, major, minor, patch] = /^v?(\d+)\.(\d+)(?:\.(\d+))?/.exec(version.trim()) ?? [];
  return major === undefined ? null : [Number(major), Number(minor), Number(patch ?? 0)];
};

const isBelow = (version: readonly number[], least: string): boolean => {
  const wanted = partsOf(least) ?? [];
  for (const [index, part] of version.entries()) {
    const other = wanted[index] ?? 0;
    if (part !== other) return part < other;
  }
  return false;
};

/** A release without a number counts as new. */
export const isTooOld = (version: string): boolean => {
  const parts = partsOf(version);
  if (!parts) return false;
  const [major = 0] = parts;
  return isBelow(parts, major < 25 ? LEAST_VERSIONS[24] : LEAST_VERSIONS[25]);
};

/** Throws when the server does not answer. */
export const readServerVersion = async (url: string): Promise<string> => {
  const { client, metadata } = await connectToNode(url);
  try {
    return await new Promise<string>((resolve, reject) => {
      client.makeUnaryRequest(
        SUPPORTED_METHODS,
        (message: shared.Empty) => Buffer.from(message.serializeBinary()),
        (bytes: Buffer) => features.SupportedMethods.deserializeBinary(bytes),
        new shared.Empty(),
        metadata,
        { deadline: Date.now() + ANSWER_MS },
        (error: ServiceError | null, answer?: features.SupportedMethods) => {
          if (error?.code === status.UNIMPLEMENTED) resolve('0.0.0 (without a list of its calls)');
          else if (error) reject(toClearError(error));
          else resolve(answer?.getEventStoreServerVersion() ?? '');
        },
      );
    });
  } finally {
    client.close();
  }
};

/** Throws `UnsupportedEventStore`, or the error of a call without an answer. */
export const requireSupportedServer = async (url: string): Promise<void> => {
  const version = await readServerVersion(url);
  if (isTooOld(version)) throw new UnsupportedEventStore(version);
};
