import { z } from 'zod';
import { serverSettings } from '#platform/settings.ts';
import { serviceSettings } from '#platform/process/run-process.ts';

export const ProjectorSettings = z.object({ ...serverSettings, ...serviceSettings }).omit({ NATS_URL: true });
