/**
 * Takes the one-time code from the fragment of the address, and removes it there at once: neither the
 * history nor a copied address contains it.
 */
export function takeCode(location: Location, history: History): string | undefined {
  const code = new URLSearchParams(location.hash.slice(1)).get('code')
  if (code === null) return undefined
  history.replaceState(history.state, '', location.pathname + location.search)
  return code || undefined
}
