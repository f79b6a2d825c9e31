import { expect, test, vi } from 'vitest'
import type { NodePage, OperationAnswer, State } from '../../src/api/documents.ts'
import { createCache } from '../../src/data/cache.ts'
import { keys } from '../../src/data/keys.ts'
import { eventHandler } from '../../src/live/events.ts'
import { heartbeat } from '../../src/live/links.ts'
import { stateOf, unexpectedOutage } from '../documents/cluster.ts'
import { rowsOf } from '../documents/nodes.ts'
import { paused, running, stalled } from '../documents/operation.ts'

const filter = { states: [], text: '', after: '' }

function started() {
  const cache = createCache()
  const apply = eventHandler(cache)
  apply('state', stateOf(running()))
  return { cache, apply }
}

test('a state has the operation, which its page shows, too', () => {
  const { cache } = started()
  expect(cache.getQueryData<OperationAnswer>(keys.operation('to-v1-36-3'))?.operation.phase).toBe('Running')
})

test('a changed operation changes its page and the state', () => {
  const { cache, apply } = started()
  apply('operation', { source: 'api', observedAt: '', operation: paused() })
  expect(cache.getQueryData<OperationAnswer>(keys.operation('to-v1-36-3'))?.operation.phase).toBe('Paused')
  expect(cache.getQueryData<State>(keys.state)?.operation?.phase).toBe('Paused')
})

test('changed rows replace those of the page, and no others are added', () => {
  const { cache, apply } = started()
  const rows = rowsOf(running())
  cache.setQueryData<NodePage>(keys.nodes('to-v1-36-3', filter), { source: 'api', observedAt: '', operation: 'to-v1-36-3', total: 5, nodes: rows.slice(0, 2) })
  apply('nodes', { source: 'api', observedAt: '', operation: 'to-v1-36-3', changed: rows.map((row) => ({ ...row, state: 'Done' })), removed: [] })
  expect(cache.getQueryData<NodePage>(keys.nodes('to-v1-36-3', filter))?.nodes.map(({ node, state }) => [node, state])).toEqual([['cp-1', 'Done'], ['cp-2', 'Done']])
})

test('rows of another operation change nothing', () => {
  const { cache, apply } = started()
  const page: NodePage = { source: 'api', observedAt: '', operation: 'other', total: 5, nodes: rowsOf(running()) }
  cache.setQueryData(keys.nodes('other', filter), page)
  apply('nodes', { source: 'api', observedAt: '', operation: 'to-v1-36-3', changed: rowsOf(stalled()), removed: [] })
  expect(cache.getQueryData(keys.nodes('other', filter))).toBe(page)
})

test('the connection to the API server changes without the rest of the state', () => {
  const { cache, apply } = started()
  apply('api', unexpectedOutage(stateOf()).apiServer)
  const state = cache.getQueryData<State>(keys.state)
  expect(state?.apiServer.reachable).toBe(false)
  expect(state?.operation?.name).toBe('to-v1-36-3')
})

test('a stream that continues keeps the answers, one that starts again reads them again', () => {
  const { cache, apply } = started()
  const invalidate = vi.spyOn(cache, 'invalidateQueries')
  apply('hello', { boot: 'a', revision: 7, resumed: true, heartbeatSeconds: 5 })
  expect(invalidate).not.toHaveBeenCalled()
  apply('hello', { boot: 'b', revision: 1, resumed: false, heartbeatSeconds: 5 })
  expect(invalidate).toHaveBeenCalledOnce()
})

test('an outage makes everything old before the next heartbeat, and its end everything current', () => {
  const { apply } = started()
  apply('heartbeat', { now: new Date().toISOString(), source: 'api', observedAt: '2026-11-15T12:00:00Z', apiReachable: true })
  apply('api', unexpectedOutage(stateOf()).apiServer)
  expect(heartbeat.get()).toMatchObject({ source: 'last-known', observedAt: '2026-11-15T12:00:00Z' })
  apply('state', { ...stateOf(), observedAt: '2026-11-15T12:01:00Z' })
  expect(heartbeat.get()).toMatchObject({ source: 'api', observedAt: '2026-11-15T12:01:00Z' })
})

test('a heartbeat has the age of everything', () => {
  const { apply } = started()
  const beat = { now: new Date().toISOString(), source: 'last-known', observedAt: '2026-11-15T12:00:00Z', apiReachable: false }
  apply('heartbeat', beat)
  expect(heartbeat.get()).toEqual(beat)
})
