const kibibyte = 1 << 10
const mebibyte = 1 << 20

/** Writes the size of a file as 88 KiB or 3.2 MiB, as the CLI does. */
export function bytes(n: number): string {
  return n < mebibyte ? `${Math.ceil(n / kibibyte)} KiB` : `${(n / mebibyte).toFixed(1)} MiB`
}
