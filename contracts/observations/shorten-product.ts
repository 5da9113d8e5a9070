import { cutText } from '../values/text.ts';

/** Maximum characters of each text of a product and its variants, other than the product's title. */
export const PRODUCT_TEXT_MAX_CHARACTERS = 255;
/** Maximum characters of a product's handle. A longer one is cut, and leads to no page of the shop any more. */
export const PRODUCT_HANDLE_MAX_CHARACTERS = 2_048;
const IMAGE_URL_MAX_CHARACTERS = 2_048;
/** Maximum variants of a product; shop systems accept no more. */
export const PRODUCT_VARIANTS_MAX = 2_048;
/**
 * Maximum bytes of one product as JSON. An event that holds the product before and after a change still fits into one
 * append. The ids and prices of `PRODUCT_VARIANTS_MAX` variants need fewer, so that no variant is left out for its size.
 */
export const PRODUCT_MAX_BYTES = 400_000;
/** A product whose JSON has fewer UTF-16 units need not be counted in bytes: a unit has at most 3. */
const SHORT_UNITS = PRODUCT_MAX_BYTES / 3;

type Text = string | null;
type Product = {
  readonly image_url: Text;
  readonly variants: readonly { readonly title: Text; readonly sku: Text }[];
};

const isWithinBytes = (product: object): boolean => {
  const json = JSON.stringify(product);
  return json.length <= SHORT_UNITS || new TextEncoder().encode(json).length <= PRODUCT_MAX_BYTES;
};

const cut = (text: Text, maxCharacters: number): Text => text && cutText(text, maxCharacters);

/**
 * Brings a product within the limits of the whole; its single texts are within theirs already. An image URL that is
 * too long becomes `null`, because a cut URL would lead elsewhere. Variants over their limit are left out. If the
 * product has more than `PRODUCT_MAX_BYTES`, the texts of its variants are cut to one length, which is halved until
 * the product fits. The result depends on the product alone, and shortening it again changes nothing. So an unchanged
 * product equals itself in the next scan.
 */
export const shortenProduct = <P extends Product>(product: P): P => {
  const { image_url: imageUrl, variants } = product;
  const isUrlLong = imageUrl !== null && imageUrl.length > IMAGE_URL_MAX_CHARACTERS;
  const counted: P = {
    ...product,
    image_url: isUrlLong ? null : imageUrl,
    variants: variants.slice(0, PRODUCT_VARIANTS_MAX),
  };
  let short = counted;
  for (let max = PRODUCT_TEXT_MAX_CHARACTERS >> 1; max > 0 && !isWithinBytes(short); max >>= 1) {
    short = {
      ...counted,
      variants: counted.variants.map((variant) => ({
        ...variant,
        title: cut(variant.title, max),
        sku: cut(variant.sku, max),
      })),
    };
  }
  return short;
};
