import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { backoff } from '../../src/live/backoff.ts'
import { follow, type ServeLink } from '../../src/live/stream.ts'

/** An EventSource whose server is this test. */
class Source extends EventTarget {
  static opened: Source[] = []
  static readonly CLOSED = 2
  readyState = 1
  onerror: (() => void) | null = null
  constructor(readonly url: string) {
    super()
    Source.opened.push(this)
  }
  close() {
    this.readyState = 2
  }
  receive(type: string, data: unknown = {}) {
    this.dispatchEvent(new MessageEvent(type, { data: JSON.stringify(data) }))
  }
  fail(closed: boolean) {
    this.readyState = closed ? 2 : 0
    this.onerror?.()
  }
}

let links: ServeLink[]
let refused: number
let stop: () => void

beforeEach(() => {
  vi.useFakeTimers()
  vi.stubGlobal('EventSource', Source)
  Source.opened = []
  links = []
  refused = 0
  stop = follow('/events', { event: () => void 0, link: (link) => links.push(link), refused: () => refused++ })
})

afterEach(() => {
  stop()
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

const last = () => Source.opened[Source.opened.length - 1] as Source

test('a server that sends heartbeats stays live', () => {
  for (let i = 0; i < 12; i++) {
    last().receive('heartbeat')
    vi.advanceTimersByTime(5000)
  }
  expect(links).toEqual([{ state: 'live' }])
  expect(Source.opened).toHaveLength(1)
})

test('a frozen server is noticed within 12 s', () => {
  last().receive('hello')
  const silentSince = Date.now()
  vi.advanceTimersByTime(8_000)
  expect(links.at(-1)).toEqual({ state: 'live' })
  vi.advanceTimersByTime(2_000)
  expect(links.at(-1)).toEqual({ state: 'frozen', since: silentSince })
})

test('a server that accepts the connection and never answers is noticed, too', () => {
  vi.advanceTimersByTime(12_000)
  expect(links.at(-1)?.state).toBe('frozen')
})

test('a frozen connection is replaced, and the first event ends the freeze', () => {
  last().receive('hello')
  const first = last()
  vi.advanceTimersByTime(25_000)
  expect(first.readyState).toBe(2)
  expect(last()).not.toBe(first)
  last().receive('hello')
  expect(links.at(-1)).toEqual({ state: 'live' })
})

test('an event of a replaced connection does not end the freeze', () => {
  const first = last()
  first.receive('hello')
  vi.advanceTimersByTime(25_000)
  first.receive('heartbeat')
  expect(links.at(-1)?.state).toBe('frozen')
})

test('EventSource resumes a broken connection itself, with Last-Event-ID', () => {
  last().receive('hello')
  last().fail(false)
  expect(links.at(-1)?.state).toBe('lost')
  vi.advanceTimersByTime(5_000)
  expect(Source.opened).toHaveLength(1)
  expect(refused).toBe(0)
  last().receive('heartbeat')
  expect(links.at(-1)).toEqual({ state: 'live' })
})

test('a refused stream is opened again, less and less often', () => {
  last().fail(true)
  expect(refused).toBe(1)
  for (let i = 0; i < 60; i++) {
    vi.advanceTimersByTime(1000)
    if (last().readyState !== 2) last().fail(true)
  }
  expect(refused).toBeGreaterThan(5)
  expect(refused).toBeLessThan(16)
})

test('nothing happens after the end', () => {
  stop()
  vi.advanceTimersByTime(60_000)
  expect(Source.opened).toHaveLength(1)
  expect(links).toEqual([])
})

test('the backoff doubles up to a limit, and differs between pages', () => {
  expect([0, 1, 2, 3, 4, 99].map((attempt) => backoff(attempt, () => 1))).toEqual([500, 1000, 2000, 4000, 8000, 8000])
  expect(backoff(4, () => 0)).toBe(6400)
})
