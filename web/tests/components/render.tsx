import { QueryClientProvider, type QueryClient } from '@tanstack/react-query'
import type { ReactElement } from 'react'
import { MemoryRouter } from 'react-router'
import { render } from 'vitest-browser-react'
import type { Me } from '../../src/api/documents.ts'
import { createCache } from '../../src/data/cache.ts'
import { keys } from '../../src/data/keys.ts'
import { meWith } from '../documents/me.ts'

export const operator: Me = meWith(true)
export const viewer: Me = meWith(false)

/** Renders an element with what every page has around it. */
export function show(element: ReactElement, { me = operator, cache = createCache() }: { me?: Me; cache?: QueryClient } = {}) {
  cache.setQueryData(keys.me, me)
  return render(<QueryClientProvider client={cache}><MemoryRouter>{element}</MemoryRouter></QueryClientProvider>)
}
