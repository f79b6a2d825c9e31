import { expect, test } from 'vitest'
import { paused, running, stalled, succeeded } from '../documents/operation.ts'
import { refusalOf, verbsOf, type Situation } from '../../src/verbs/verbs.ts'
import { operator, viewer } from './render.tsx'

const situation = (change: Partial<Situation> = {}): Situation =>
  ({ operation: running(), serve: { state: 'live' }, apiReachable: true, signedOut: false, me: operator, ...change })

test('an operation can be paused or resumed, not both', () => {
  expect(verbsOf(running())).toEqual(['pause', 'retry', 'abort'])
  expect(verbsOf(paused())).toEqual(['resume', 'retry', 'abort'])
})

test('an operator may pause a running upgrade, and has nothing to retry', () => {
  expect(refusalOf('pause', situation())).toBeUndefined()
  expect(refusalOf('retry', situation())?.reason).toBe('nothingToRetry')
  expect(refusalOf('retry', situation({ operation: stalled() }))).toBeUndefined()
})

test('a viewer reads which permission is missing', () => {
  expect(refusalOf('pause', situation({ me: viewer }))).toEqual({ reason: 'permission', missing: 'patch clusterupgrades.refit.dev' })
})

test('a server without the route of a verb refuses it before the user tries', () => {
  expect(refusalOf('pause', situation({ me: { ...operator, permissions: [] } }))?.reason).toBe('unsupported')
})

test.each([
  ['ended', { operation: succeeded() }], ['aborting', { operation: { ...running(), aborted: true } }],
  ['session', { signedOut: true }], ['serve', { serve: { state: 'frozen', since: 0 } }], ['api', { apiReachable: false }],
] as const)('%s', (reason, change) => expect(refusalOf('abort', situation(change as Partial<Situation>))?.reason).toBe(reason))
