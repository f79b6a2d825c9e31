import { expect, test } from 'vitest'
import { freshnessOf } from '../../src/live/freshness.ts'

const now = Date.parse('2026-11-15T12:00:00Z')
const at = (secondsAgo: number) => new Date(now - secondsAgo * 1000).toISOString()
const beat = (source: 'api' | 'last-known', secondsAgo: number) => ({ now: at(secondsAgo), source, observedAt: at(secondsAgo), apiReachable: source === 'api' })

test('heartbeats confirm an old answer while the stream is live', () => {
  const fresh = freshnessOf({ source: 'api', observedAt: at(3600) }, beat('api', 2), { state: 'live' }, now)
  expect(fresh).toMatchObject({ source: 'api', stale: false, asOf: now })
})

test('data is stale while the API server is unreachable, and clocks stop', () => {
  const stale = freshnessOf({ source: 'api', observedAt: at(3600) }, beat('last-known', 30), { state: 'live' }, now)
  expect(stale).toMatchObject({ source: 'last-known', stale: true, asOf: now - 30_000 })
})

test.each(['frozen', 'lost'] as const)('data is stale while the server is %s', (state) => {
  expect(freshnessOf({ source: 'api', observedAt: at(1) }, beat('api', 1), { state, since: now }, now).stale).toBe(true)
})

test('data is stale at once when the session ends', () => {
  expect(freshnessOf({ source: 'api', observedAt: at(1) }, beat('api', 1), { state: 'signedOut' }, now).stale).toBe(true)
})

test('data is stale without heartbeats, whatever the link reports', () => {
  expect(freshnessOf({ source: 'api', observedAt: at(13) }, undefined, { state: 'live' }, now).stale).toBe(true)
})

test('a heartbeat about the API server does not confirm what the agent reported', () => {
  const agent = freshnessOf({ source: 'agent', observedAt: at(5) }, beat('last-known', 1), { state: 'live' }, now)
  expect(agent).toMatchObject({ source: 'agent', observedAt: now - 5000, stale: false })
})
