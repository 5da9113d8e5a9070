import { AD_LIBRARY, adLibraryVersions } from './corpus/ad-library.ts';
import { ALERT_DELIVERY, alertDeliveryVersions } from './workspace/alert-delivery.ts';
import { ALERT_RULE, alertRuleVersions } from './workspace/alert-rule.ts';
import { BRAND, brandVersions } from './corpus/brand.ts';
import { BRAND_SLUG, brandSlugVersions } from './corpus/brand-slug.ts';
import { BRAND_REQUESTS, brandRequestVersions } from './workspace/brand-request.ts';
import { BRIEF, briefVersions } from './workspace/brief.ts';
import { CATEGORY, categoryVersions } from './corpus/category.ts';
import { COLLECTION, collectionVersions } from './workspace/collection.ts';
import { CONNECTION, connectionVersions } from './workspace/connection.ts';
import { CREATIVE, creativeVersions } from './corpus/creative.ts';
import { LANDING_PAGE, landingPageVersions } from './corpus/landing-page.ts';
import { LOG_DIGEST, logDigestVersions } from './log-digest.ts';
import { NOTE, noteVersions } from './workspace/note.ts';
import { OPERATOR, operatorVersions } from './corpus/operator.ts';
import { REPORT, reportVersions } from './workspace/report.ts';
import { SAVED, savedVersions } from './workspace/saved-items.ts';
import { SIGN_IN, signInVersions } from './workspace/sign-in.ts';
import { SITE, siteVersions } from './corpus/site.ts';
import { SOCIAL_PAGE, socialPageVersions } from './corpus/social-page.ts';
import { STOREFRONT, storefrontVersions } from './corpus/storefront.ts';
import { TRAFFIC, trafficVersions } from './corpus/traffic.ts';
import { WEBHOOK_SECRET, webhookSecretVersions } from './workspace/webhook-secret.ts';
import {
  API_KEYS,
  apiKeyVersions,
  TRACKING,
  trackingVersions,
  WORKSPACE,
  workspaceVersions,
} from './workspace/workspace.ts';
import { categoryOf, type RecordedEvent } from './event.ts';
import type { EventData, Upcaster } from './versions.ts';

export type SchemaRegistry = Readonly<Record<string, Readonly<Record<string, readonly Upcaster[]>>>>;

export const SCHEMA_REGISTRY: SchemaRegistry = {
  [AD_LIBRARY]: adLibraryVersions,
  [BRAND]: brandVersions,
  [BRAND_SLUG]: brandSlugVersions,
  [CATEGORY]: categoryVersions,
  [CREATIVE]: creativeVersions,
  [LANDING_PAGE]: landingPageVersions,
  [LOG_DIGEST]: logDigestVersions,
  [OPERATOR]: operatorVersions,
  [SITE]: siteVersions,
  [SOCIAL_PAGE]: socialPageVersions,
  [STOREFRONT]: storefrontVersions,
  [TRAFFIC]: trafficVersions,
  [ALERT_DELIVERY]: alertDeliveryVersions,
  [ALERT_RULE]: alertRuleVersions,
  [BRAND_REQUESTS]: brandRequestVersions,
  [BRIEF]: briefVersions,
  [COLLECTION]: collectionVersions,
  [NOTE]: noteVersions,
  [REPORT]: reportVersions,
  [SAVED]: savedVersions,
  [WEBHOOK_SECRET]: webhookSecretVersions,
  [WORKSPACE]: workspaceVersions,
  [TRACKING]: trackingVersions,
  [API_KEYS]: apiKeyVersions,
  [SIGN_IN]: signInVersions,
  [CONNECTION]: connectionVersions,
};

/** Events of the first release have no schema version. */
const FIRST_VERSION = 1;

const upcastersOf = (
  registry: SchemaRegistry,
  stream: string,
  type: string,
): readonly Upcaster[] | undefined => {
  const category = registry[categoryOf(stream)];
  // Only tests use categories that the registry lacks. Their events have one version.
  if (category === undefined) return [];
  return Object.hasOwn(category, type) ? category[type] : undefined;
};

/** Throws for a type that the category does not have. */
export const currentVersion = (stream: string, type: string, registry = SCHEMA_REGISTRY): number => {
  const upcasters = upcastersOf(registry, stream, type);
  if (upcasters === undefined) throw new Error(`${type} is not an event type of ${categoryOf(stream)}`);
  return FIRST_VERSION + upcasters.length;
};

/** True when this release knows the type and version. */
export const canRead = (
  { stream, type, version }: { readonly stream: string; readonly type: string; readonly version: number },
  registry = SCHEMA_REGISTRY,
): boolean => {
  const upcasters = upcastersOf(registry, stream, type);
  return (
    upcasters !== undefined &&
    Number.isInteger(version) &&
    version >= FIRST_VERSION &&
    version <= FIRST_VERSION + upcasters.length
  );
};

export const versionOf = ({ metadata }: Pick<RecordedEvent, 'metadata'>): number =>
  (metadata as { readonly schema_version?: number } | null)?.schema_version ?? FIRST_VERSION;

/** Marks an event of an unknown type or version with `unreadable`, and leaves its data as it is. */
export const upcast = <E extends RecordedEvent>(event: E, registry = SCHEMA_REGISTRY): E => {
  const { stream, type } = event;
  const version = versionOf(event);
  if (!canRead({ stream, type, version }, registry)) return { ...event, unreadable: version };
  const upcasters = upcastersOf(registry, stream, type) ?? [];
  if (version > upcasters.length) return event;
  const data = upcasters
    .slice(version - FIRST_VERSION)
    .reduce((older, step) => step(older), event.data as EventData);
  return { ...event, data };
};

/** Thrown where an event must be understood and its type or version is unknown. */
export class UnreadableEvent extends Error {
  readonly stream: string;
  readonly type: string;
  readonly version: number;

  constructor(event: RecordedEvent) {
    const version = versionOf(event);
    super(
      `${event.stream} holds ${event.type} in schema version ${version}, which this release cannot read. Deploy a release that can.`,
    );
    this.name = 'UnreadableEvent';
    this.stream = event.stream;
    this.type = event.type;
    this.version = version;
  }
}

export const requireReadable = <E extends RecordedEvent>(event: E): E => {
  if (event.unreadable !== undefined) throw new UnreadableEvent(event);
  return event;
};
