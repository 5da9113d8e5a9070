const escapeHtml = (text: string): string =>
  text.replaceAll(/[&<>"']/g, (character) => `&#${character.codePointAt(0)};`);

/** Makes the page for an error of an app's request that cannot be sent back to the app. */
export const errorPageOf = ({
  error,
  description,
}: {
  readonly error: string;
  readonly description: string;
}): string => `<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>This request cannot be answered</title>
<h1>This request cannot be answered</h1>
<p>The app sent a request that this service does not accept. Start again from the app.</p>
<p><code>${escapeHtml(error)}</code>: ${escapeHtml(description)}</p>
</html>
`;
