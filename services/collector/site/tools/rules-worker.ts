import { parentPort, workerData } from 'node:worker_threads';
import type { DetectedTool } from '#contracts/observations/site-scan.ts';
import { slugOf } from '#domain/ids.ts';
import { matchTools, type ScannedPage } from './match-tools.ts';
import { loadToolRules, type ToolRule } from './tool-rules.ts';

/** Runs foreign patterns in a thread, which the caller ends when one takes too long. */

export type RulesWorkerData = { readonly folder: string | null };
export type PageMessage = { readonly id: number; readonly page: ScannedPage };
export type WorkerMessage =
  | { readonly kind: 'ready'; readonly tools: number; readonly faults: readonly string[] }
  | { readonly kind: 'found'; readonly id: number; readonly tools: readonly DetectedTool[] }
  /** `fault` is not `null` when the comparison ended early. */
  | { readonly kind: 'done'; readonly id: number; readonly fault: string | null };

const port = parentPort;
if (port === null) throw new Error('This file runs as a worker thread.');
const send = (message: WorkerMessage): void => port.postMessage(message);

const detectedTool = ({ name, category, website }: ToolRule): DetectedTool => ({
  slug: slugOf(name),
  name,
  category,
  website_url: website,
});

const { rules, faults } = loadToolRules((workerData as RulesWorkerData).folder);
port.on('message', ({ id, page }: PageMessage) => {
  try {
    for (const found of matchTools(rules, page)) {
      send({ kind: 'found', id, tools: found.map(detectedTool) });
    }
    send({ kind: 'done', id, fault: null });
  } catch (error) {
    // The page is nested too deeply for the element search.
    send({ kind: 'done', id, fault: (error as Error).message });
  }
});
send({ kind: 'ready', tools: rules.length, faults });
