import { z } from 'zod';
import { emailSettings } from '../channels/email.ts';
import { serverSettings } from '../config.ts';
import { egressSettings } from '../egress/open-egress.ts';
import { serviceSettings } from '../process.ts';
import { demandedVaultSettings } from '../vault-cipher.ts';

export const DeliverySettings = z.object({
  ...serverSettings,
  ...serviceSettings,
  ...egressSettings,
  ...emailSettings,
  ...demandedVaultSettings,
});
