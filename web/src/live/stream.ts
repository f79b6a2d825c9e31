import { backoff } from './backoff.ts'

/**
 * The server sends a heartbeat every 5 s. One that is missing, and a second one that is almost due,
 * mean that it hangs: a page must show that within 12 s, also on a slow machine.
 */
export const silenceLimit = 9_000

const eventTypes = ['hello', 'state', 'operation', 'nodes', 'api', 'heartbeat'] as const
export type EventType = (typeof eventTypes)[number]

/** The connection to the server as the page observes it. */
export type ServeLink =
  | { state: 'connecting' }
  /** There is no session, and so no connection. */
  | { state: 'signedOut' }
  | { state: 'live' }
  /** The connection is open, but nothing arrives. */
  | { state: 'frozen'; since: number }
  /** There is no connection. */
  | { state: 'lost'; since: number }
  /** The server answers, and the user has no permission to read what the page follows. */
  | { state: 'forbidden' }

export interface StreamHandlers {
  event(type: EventType, data: unknown): void
  link(link: ServeLink): void
  /** The server refused the stream. EventSource does not report why. */
  refused(): void
}

/**
 * Follows the events of the server until the returned function is called. EventSource resumes with
 * Last-Event-ID after a broken connection; a frozen one and a refused one start again.
 */
export function follow(url: string, handlers: StreamHandlers): () => void {
  let source: EventSource | undefined
  let retry: ReturnType<typeof setTimeout> | undefined
  let attempt = 0
  let lastEvent = Date.now()
  let link: ServeLink = { state: 'connecting' }

  const setLink = (next: ServeLink) => {
    if (next.state === link.state) return
    link = next
    handlers.link(next)
  }
  const reconnect = () => {
    source?.close()
    clearTimeout(retry)
    retry = setTimeout(connect, backoff(attempt++))
  }
  const connect = () => {
    const opened = new EventSource(url)
    source = opened
    for (const type of eventTypes) {
      opened.addEventListener(type, (message) => {
        if (opened !== source) return
        attempt = 0
        lastEvent = Date.now()
        setLink({ state: 'live' })
        handlers.event(type, JSON.parse(message.data))
      })
    }
    opened.onerror = () => {
      if (opened !== source) return
      setLink({ state: 'lost', since: lastEvent })
      if (opened.readyState !== EventSource.CLOSED) return // EventSource reconnects
      handlers.refused()
      reconnect()
    }
  }
  let lastTry = lastEvent
  const watchdog = setInterval(() => {
    const silent = Date.now() - lastEvent
    if (silent < silenceLimit) return
    if (link.state !== 'lost') setLink({ state: 'frozen', since: lastEvent })
    // A connection that hangs is given up; a new one may reach another server.
    if (source?.readyState !== EventSource.CLOSED && Date.now() - Math.max(lastTry, lastEvent) >= silenceLimit) {
      lastTry = Date.now()
      reconnect()
    }
  }, 500)

  connect()
  return () => {
    clearInterval(watchdog)
    clearTimeout(retry)
    source?.close()
    source = undefined
  }
}
