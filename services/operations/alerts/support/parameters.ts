import { z } from 'zod';
import { Uuid } from '#contracts/values/primitives.ts';
import { workspaceParams } from '#operations/endpoint/parameters.ts';

export const alertParams = z.strictObject({
  ...workspaceParams.shape,
  alertId: Uuid.toLowerCase().meta({ description: 'Id of an alert rule.' }),
});
