import { z } from 'zod';
import { serverSettings } from '../config.ts';
import { serviceSettings } from '../process.ts';

export const ProjectorSettings = z.object({ ...serverSettings, ...serviceSettings }).omit({ NATS_URL: true });
