import { hash, randomUUID } from 'node:crypto';
import { type AdLibraryEvent, adLibraryStream } from '#contracts/events/corpus/ad-library.ts';
import { brandStream } from '#contracts/events/corpus/brand.ts';
import { creativeStream } from '#contracts/events/corpus/creative.ts';
import { storefrontStream } from '#contracts/events/corpus/storefront.ts';
import { reportStream } from '#contracts/events/workspace/report.ts';
import { trackingStream } from '#contracts/events/workspace/workspace.ts';
import { SCRAPE_REQUESTED, type ScrapeRequested, scrapeWanted } from '#contracts/messages/subjects.ts';
import { BLANK_AD } from '#contracts/observations/ad-library-scan.ts';
import { enqueue } from '#application/delivery-outbox/enqueue.ts';
import { wantMedia } from '#application/media-archive/want-media.ts';
import { openMemberVault } from '#application/vault/member-vault.ts';
import { brandIdOf } from '#domain/ids.ts';
import { inTransaction } from '#platform/postgres/pool.ts';
import { addPerson, issueCollectorKey } from '#services/ops/workspaces.ts';
import { scanEvents } from '#tests/alerts/stack.ts';
import { products, shopifyShop } from '#tests/collector/played-shop.ts';
import { METADATA, newDelivery } from '#tests/delivery/new-delivery.ts';
import { createWebhookRules } from '#tests/delivery/webhook-rules.ts';
import { NDJSON, profileOf } from '#tests/intake/stack.ts';
import { picture } from '#tests/media/media-stack.ts';
import { registered } from '#tests/operations/fixtures/corpus.ts';
import { VAULT_KEY } from '#tests/operations/fixtures/stack.ts';
import { untilPassed } from '#tests/stack/read-models.ts';
import { until } from '#tests/stack/wait-until.ts';
import { type Answer, createCaller, DONE_MS } from './caller.ts';
import { createMcpWork } from './mcp-work.ts';
import type { ProxiedService } from './proxied-service.ts';

/** Resolves when piece number `n` is done. Numbers are not used twice. */
export type Work = (n: number) => Promise<void>;

export type WorkName =
  | 'intake, ingest and projector'
  | 'intake of files'
  | 'alerts and delivery'
  | 'delivery of e-mails'
  | 'exports of reports'
  | 'requests for scans'
  | 'media'
  | 'collector'
  | 'tools of mcp'
  | 'pictures of mcp'
  | 'sign-in with a code';

export type AllWork = {
  readonly pieces: Readonly<Record<WorkName, Work>>;
  readonly answers: Answer[];
  /** A line for each piece lost or done twice. Call it when all pieces are done. */
  faults(): Promise<readonly string[]>;
};

const sha256Of = (bytes: Buffer): string => hash('sha256', bytes, 'hex');
const domainOf = (kind: string, n: number): string => `${kind}-${n}.example`;

export const createWork = async (service: ProxiedService): Promise<AllWork> => {
  const { stack, nats, mail, receivers, sites, key } = service;
  const { pool, eventStore } = stack;
  const answers: Answer[] = [];
  const done = (what: string, check: () => Promise<boolean> | boolean): Promise<void> =>
    until(what, DONE_MS, check).catch((error: unknown) => {
      throw new Error(`${(error as Error).message}\n${service.output()}`);
    });
  const typesIn = async (stream: string): Promise<readonly string[]> => {
    const types: string[] = [];
    for await (const { type } of eventStore.read(stream)) types.push(type);
    return types;
  };

  const send = createCaller(service, answers);

  // Requests of one key at once are limited, and a file may wait long.
  const { collector_key: lineKey } = await issueCollectorKey({ pool }, 'lines', null);
  const { collector_key: fileKey } = await issueCollectorKey({ pool }, 'files', null);
  const sendProfile = (n: number) =>
    send(
      'intake',
      `${service.intakeUrl}/intake/observations`,
      {
        method: 'POST',
        headers: { authorization: `Bearer ${lineKey}`, 'content-type': NDJSON },
        body: JSON.stringify(profileOf(domainOf('profile', n))),
      },
      ({ body }) => body.includes('"accepted":1'),
    );

  const sendFile = (bytes: Buffer) =>
    send('intake of files', `${service.intakeUrl}/intake/files/${sha256Of(bytes)}`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${fileKey}` },
      body: new Uint8Array(bytes),
    });

  const [rule] = await createWebhookRules(eventStore, pool, 'ws_faults', [`${receivers.url}/rule`]);
  const ruleBrand = rule?.brandId ?? '';
  let revision = -1n;
  let scans: Promise<void> = Promise.resolve();
  const appendScan = async (events: readonly AdLibraryEvent[]): Promise<void> => {
    const stream = adLibraryStream(ruleBrand);
    ({ revision } = await eventStore.append(stream, revision, events, METADATA, randomUUID()));
  };
  const webhooksOf = (adId: string): ReadonlySet<string | undefined> =>
    new Set(
      receivers
        .at('/rule')
        .filter(({ body }) => body.toString().includes(`"ad_id":"${adId}"`))
        .map(({ headers }) => headers['webhook-id']),
    );
  const alertedAds: string[] = [];

  const memberVault = await openMemberVault(pool, VAULT_KEY);
  const operator = { ...stack, actor: { kind: 'service', id: 'tests' } as const, memberVault };
  const person = { name: 'Ada', email: 'ada@shop.example' };
  const { member_id } = await addPerson(operator, key.workspaceId, person, 'editor');

  const reports: string[] = [];
  const requestReport = async (report_id: string): Promise<void> => {
    const today = new Date().toISOString();
    const data = {
      workspace_id: key.workspaceId,
      report_id,
      brand_ids: [brandIdOf('alpha.com')],
      all_tracked: false,
      types: ['ad_started'],
      from: today.slice(0, 10),
      to: today.slice(0, 10),
      requested_at: today,
    } as const;
    const stream = reportStream(key.workspaceId, report_id);
    await eventStore.append(stream, -1n, [{ type: 'ReportRequested', data }], METADATA, report_id);
  };

  const requested = new Set<unknown>();
  nats.connection.subscribe(SCRAPE_REQUESTED, {
    callback: (_error, message) => void requested.add(message.json<ScrapeRequested>().brand_id),
  });
  /** Tracks a brand that was never scanned, so that a scan of it is due. */
  const trackNew = async (n: number): Promise<string> => {
    const workspace_id = `ws_due_${n}`;
    const tracked_at = new Date().toISOString();
    const brand = registered(domainOf('due', n), tracked_at);
    const { brand_id } = brand.data;
    await eventStore.append(brandStream(brand_id), -1n, [brand], METADATA, randomUUID());
    const tracked = { type: 'BrandTracked', data: { workspace_id, brand_id, cadence: 'daily', tracked_at } };
    await eventStore.append(trackingStream(workspace_id), -1n, [tracked], METADATA, randomUUID());
    return brand_id;
  };

  const pictures: string[] = [];
  const want = (n: number, name: string): Promise<void> =>
    wantMedia(pool, 'images', {
      ads: [
        {
          ...BLANK_AD,
          ad_id: String(700_000_000 + n),
          media: [{ kind: 'image', url: `https://${domainOf('media', n)}/${name}`, poster_url: null }],
        },
      ],
      seenAt: new Date(),
      now: new Date(),
    });

  const mcp = await createMcpWork(service, send, done);

  return {
    answers,
    pieces: {
      'intake, ingest and projector': async (n) => {
        await sendProfile(n);
        const stream = brandStream(brandIdOf(domainOf('profile', n)));
        await done(`the event of ${domainOf('profile', n)}`, async () => (await typesIn(stream)).length > 0);
        await untilPassed(pool, await eventStore.head(), DONE_MS);
      },
      'intake of files': async (n) => void (await sendFile(await picture(n, 'jpeg'))),
      'alerts and delivery': async (n) => {
        const events = scanEvents(ruleBrand, new Date(Date.now() + n).toISOString(), 1);
        const adId = (events[0] as { data: { ad_id: string } }).data.ad_id;
        scans = scans.then(() => appendScan(events));
        await scans;
        alertedAds.push(adId);
        await done(`the alert of ad ${adId}`, () => webhooksOf(adId).size > 0);
      },
      'delivery of e-mails': async () => {
        const target = { channel: 'email', member_id } as const;
        const delivery = newDelivery(
          { workspaceId: key.workspaceId, alertId: randomUUID() },
          target,
          new Date(),
        );
        await inTransaction(pool, (client) => enqueue(client, [delivery]));
        await done('the e-mail', () => mail.mails.some((text) => text.includes(delivery.deliveryId)));
      },
      'exports of reports': async () => {
        const reportId = randomUUID();
        reports.push(reportId);
        await requestReport(reportId);
        const stream = reportStream(key.workspaceId, reportId);
        await done(`report ${reportId}`, async () => {
          const types = await typesIn(stream);
          if (types.includes('ReportFailed')) throw new Error(`report ${reportId}: ${types.join(', ')}`);
          return types.includes('ReportFinished');
        });
      },
      'requests for scans': async (n) => {
        const brandId = await trackNew(n);
        await done(`the request for a scan of ${domainOf('due', n)}`, () => requested.has(brandId));
      },
      media: async (n) => {
        const bytes = await picture(n);
        const sha256 = sha256Of(bytes);
        sites.set(domainOf('media', n), () => ({ headers: { 'content-type': 'image/png' }, body: bytes }));
        pictures.push(sha256);
        await want(n, 'picture.png');
        await done(`picture ${n}`, async () => (await typesIn(creativeStream(sha256))).length > 0);
      },
      collector: async (n) => {
        const domain = domainOf('shop', n);
        sites.set(domain, shopifyShop(products(2)).site);
        const requested_at = new Date().toISOString();
        const wish = { brand_domain: domain, cadence: 'daily', requested_at, reason: 'operator' };
        await nats.jetstream.publish(scrapeWanted('storefront'), JSON.stringify(wish), { msgID: domain });
        await done(`the scan of ${domain}`, async () =>
          (await typesIn(storefrontStream(domain))).includes('StorefrontScanRecorded'),
        );
      },
      'tools of mcp': mcp.useTools,
      'pictures of mcp': mcp.showPicture,
      'sign-in with a code': mcp.signIn,
    },
    faults: async () => {
      const faults: string[] = [];
      const expectOnce = (what: string, count: number): void => {
        if (count !== 1) faults.push(`${what}: ${count} times`);
      };
      for (const adId of alertedAds) expectOnce(`alert of ad ${adId}`, webhooksOf(adId).size);
      for (const reportId of reports) {
        const types = await typesIn(reportStream(key.workspaceId, reportId));
        expectOnce(`report ${reportId}`, types.filter((type) => type === 'ReportFinished').length);
      }
      for (const sha256 of pictures)
        expectOnce(`picture ${sha256}`, (await typesIn(creativeStream(sha256))).length);
      return faults;
    },
  };
};
