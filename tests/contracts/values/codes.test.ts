import { expect, test } from 'vitest';
import { countryCode, languageCode, platformCode } from '#contracts/values/codes.ts';

test.each([
  ['FACEBOOK', 'facebook'],
  ['Audience Network', 'audience_network'],
  ['audience-network', 'audience_network'],
  ['Meta Audience Network', 'audience_network'],
  ['facebook;instagram', null],
  ['newspaper', null],
  ['', null],
])('the platform of %j is %j', (text, code) => {
  expect(platformCode(text)).toBe(code);
});

test.each([
  ['en', 'en'],
  ['DE', 'de'],
  ['en_US', 'en'],
  ['zh-Hans-CN', 'zh'],
  ['deu', 'de'],
  ['fil', 'fil'],
  ['English', 'en'],
  ['german', 'de'],
  // A code of the network for Cebuano, which ISO 639 does not have.
  ['cx', 'cx'],
  ['xx', null],
  ['zz', null],
  ['und', null],
  ['Klingonese', null],
  ['facebook', null],
  ['', null],
  ['1', null],
])('the language of %j is %j', (text, code) => {
  expect(languageCode(text)).toBe(code);
});

test.each([
  ['de', 'DE'],
  ['UK', 'GB'],
  ['USA', 'US'],
  ['NA', 'NA'],
  ['Germany', 'DE'],
  ['united states', 'US'],
  ['XX', null],
  ['ZZ', null],
  ['EU', null],
  // The Netherlands Antilles, which became several countries.
  ['AN', null],
  ['Atlantis', null],
  ['', null],
])('the country of %j is %j', (text, code) => {
  expect(countryCode(text)).toBe(code);
});
