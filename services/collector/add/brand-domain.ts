import { Refusal } from '#contracts/errors.ts';
import { ObservedDomain } from '#contracts/values/primitives.ts';

/** Throws `Refusal('invalid_input')`. */
export const brandDomain = (text: string): string => {
  const url = URL.parse(/^https?:\/\//i.test(text) ? text : `https://${text}`);
  const domain = url?.hostname.toLowerCase().replace(/^www\./, '');
  const parsed = ObservedDomain.safeParse(domain);
  if (parsed.success && url?.username === '') return parsed.data;
  throw new Refusal('invalid_input', `${text} is no domain of a brand. Write it as shop.example.`);
};
