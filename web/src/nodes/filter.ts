import { useSearchParams } from 'react-router'
import type { NodeFilter } from '../data/keys.ts'

/** The filter of the table of nodes, which is in the address: a link shows the same rows. */
export function useNodeFilter() {
  const [params, setParams] = useSearchParams()
  const filter: NodeFilter = { states: params.getAll('state'), text: params.get('q') ?? '', after: params.get('after') ?? '' }
  // Replaced, so that typing does not fill the history.
  const setFilter = (next: { states?: string[]; text?: string }) => setParams((current) => {
    const { states = current.getAll('state'), text = current.get('q') ?? '' } = next
    const changed = new URLSearchParams(current)
    for (const name of ['state', 'q', 'after']) changed.delete(name)
    states.forEach((state) => changed.append('state', state))
    if (text !== '') changed.set('q', text)
    return changed
  }, { replace: true, preventScrollReset: true })
  const setPage = (after: string) => setParams((current) => {
    const changed = new URLSearchParams(current)
    if (after === '') changed.delete('after')
    else changed.set('after', after)
    return changed
  }, { preventScrollReset: true })
  return { filter, setFilter, setPage }
}
