import { parentPort, workerData } from 'node:worker_threads';
import type { DetectedTool } from '#contracts/observations/site-scan.ts';
import { slugOf } from '#domain/ids.ts';
import { matchTools, type ScannedPage } from './match-tools.ts';
import { loadToolRules } from './tool-rules.ts';

/** Runs foreign patterns in a thread, which the caller ends when one takes too long. */

export type WorkerMessage =
  | { readonly kind: 'ready'; readonly tools: number; readonly faults: readonly string[] }
  | { readonly kind: 'found'; readonly tools: readonly DetectedTool[] }
  /** `fault` is not `null` when the comparison ended early. */
  | { readonly kind: 'done'; readonly fault: string | null };

const port = parentPort;
if (port === null) throw new Error('This file runs as a worker thread.');
const send = (message: WorkerMessage): void => port.postMessage(message);

const { rules, faults } = loadToolRules((workerData as { readonly folder: string | null }).folder);
port.on('message', (page: ScannedPage) => {
  try {
    for (const found of matchTools(rules, page)) {
      const tools = found.map(({ name, category, website }) => ({
        slug: slugOf(name),
        name,
        category,
        website_url: website,
      }));
      send({ kind: 'found', tools });
    }
    send({ kind: 'done', fault: null });
  } catch (error) {
    // The page is nested too deeply for the element search.
    send({ kind: 'done', fault: (error as Error).message });
  }
});
send({ kind: 'ready', tools: rules.length, faults });
