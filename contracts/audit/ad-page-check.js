/* global checkProof, document, crypto, DOMParser, atob, renderAdPage, statementFaults, verdictOf */
// The end of the script of an ad's page. The functions that it calls come before it: those of this folder.
// It asks nothing of a network.

const bytesOf = (base64) => Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));

const isSigned = async (text, publicKey, signature) => {
  try {
    const key = await crypto.subtle.importKey('spki', bytesOf(publicKey), 'Ed25519', false, ['verify']);
    return await crypto.subtle.verify('Ed25519', key, bytesOf(signature), new TextEncoder().encode(text));
  } catch (error) {
    if (error?.name === 'NotSupportedError') throw error;
    return false;
  }
};

const ofKind = (kind) => (line) => {
  try {
    const read = JSON.parse(line);
    return read.kind === kind ? read : null;
  } catch {
    return null;
  }
};

const headerIn = (line) => {
  const header = ofKind('proof')(line);
  return header?.proof_version === 1 ? header : null;
};

const factsIn = (page) =>
  new Map([...page.querySelectorAll('[data-fact]')].map((one) => [one.dataset.fact, one.textContent]));

/** Shadow roots show content that is in no text of the page. */
const hasShadow = () => [...document.querySelectorAll('*')].some(({ shadowRoot }) => shadowRoot !== null);

/** Compares the page with the one that its bundle gives, and shows that one: a closed shadow root goes with its element. */
const pageDifferences = (bundle, picture) => {
  const script = document.scripts[document.scripts.length - 1]?.textContent ?? '';
  const html = renderAdPage({ bundle, picture, script });
  if (html === null) return ['The bundle of this page cannot be read.'];
  const expected = new DOMParser().parseFromString(html, 'text/html');
  const isSame = expected.documentElement.outerHTML === document.documentElement.outerHTML && !hasShadow();
  const shown = factsIn(document);
  document.body.replaceWith(document.importNode(expected.body, true));
  if (isSame) return [];
  const named = [...factsIn(expected)]
    .filter(([name, text]) => shown.get(name) !== text)
    .map(
      ([name, text]) => `${name}: the page shows “${shown.get(name) ?? ''}”, and the events say “${text}”.`,
    );
  return named.length > 0 ? named : ['The page shows other content than its events give.'];
};

const checkPage = async () => {
  const bundle = document.querySelector('#bundle')?.textContent ?? '';
  const picture = document.querySelector('#picture')?.getAttribute('src')?.split(';base64,')[1] ?? null;
  const differences = pageDifferences(bundle, picture);
  const reader = {
    header: headerIn,
    event: ofKind('event'),
    hidden: ofKind('hidden'),
    end: ofKind('end'),
    isSigned,
  };
  const check = await checkProof(bundle.trim().split('\n'), reader);
  return { check, faults: [...check.faults, ...statementFaults(bundle, picture), ...differences] };
};

const show = (name, text, faults) => {
  const status = document.querySelector('#status') ?? document.body.appendChild(document.createElement('p'));
  status.className = name;
  status.textContent = text;
  for (const fault of faults) {
    const item = document.createElement('li');
    item.textContent = fault;
    (document.querySelector('#faults') ?? document.body).append(item);
  }
};

const run = async () => {
  try {
    const { check, faults } = await checkPage();
    if (faults.length > 0) show('altered', 'Altered: this page does not hold.', faults);
    else show(check.isOpen || check.hidden > 0 ? 'part' : 'whole', verdictOf(check), []);
  } catch (error) {
    const isOld = error?.name === 'NotSupportedError';
    const words = isOld ? 'Not checked: this browser has no Ed25519.' : 'Altered: this page cannot be read.';
    show('altered', words, [String(error)]);
  }
};

document.addEventListener('DOMContentLoaded', () => void run());
