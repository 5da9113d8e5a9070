import { BASE_URL } from '../endpoint/examples.ts';

export const TOOL_ID = '3f6d8b1a-9c2e-5f47-8a05-6b1d7e4c9f20';

export const techStackItem = {
  slug: 'arm-and-leg',
  name: 'Arm & Leg',
  category: 'A/B testing',
  website_url: 'https://arm-and-leg.example/',
  url: `${BASE_URL}/v1/tools/arm-and-leg`,
};

export const toolReference = { id: TOOL_ID, ...techStackItem };
export const toolSummary = { ...toolReference, brands: 412 };
