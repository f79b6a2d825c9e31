import type { Heartbeat } from '../api/documents.ts'
import { createStore } from '../store.ts'
import type { ServeLink } from './stream.ts'

/** The connection between this page and the server. Its times are of the clock of the server. */
export const serveLink = createStore<ServeLink>({ state: 'connecting' })

/** The last heartbeat: how old the data is that the stream keeps up to date. */
export const heartbeat = createStore<Heartbeat | undefined>(undefined)
