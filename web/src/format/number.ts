/** Writes 4997 as 4,997, as the CLI does in every locale. */
export function number(n: number): string {
  return String(n).replace(/\B(?=(\d{3})+$)/g, ',')
}
