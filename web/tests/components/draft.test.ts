import { expect, test } from 'vitest'
import type { ClusterUpgradeSpec } from '../../src/api/documents.ts'
import { commandOf } from '../../src/wizard/command.ts'
import { draftOf, labelsOf, newDraft, newPool, specOf, type Draft } from '../../src/wizard/draft.ts'
import { fieldErrorsOf } from '../../src/wizard/field-errors.ts'
import { idempotencyKey } from '../../src/wizard/start.ts'

const target = { release: 'kubernetes-v1.36.3' }
const draftWith = (change: Partial<Draft>): Draft => ({ ...newDraft(), release: target.release, ...change })

const full: ClusterUpgradeSpec = {
  target: { kubernetes: 'v1.36.3' }, scope: 'Workers', rollback: 'Manual', nodeSelector: { zone: 'a' }, backup: { store: 'offsite' },
  pools: [
    { name: 'gpu', nodeSelector: { 'example.com/pool': 'gpu' }, maxUnavailable: '25%', canary: { nodes: 2, soak: '1h30m' }, drain: { when: 'AllReleases', timeout: '4h', onBlocked: 'Skip' } },
    { name: 'default', maxUnavailable: 3, drain: { when: 'MinorReleases', timeout: '15m', onBlocked: 'Wait' } },
  ],
  waivers: [{ check: 'SwapOn', object: 'Node worker-1', reason: 'intended' }],
}

test('a draft with the defaults has no pools', () => {
  expect(specOf(draftWith({}))).toEqual({ target, scope: 'All' })
})

test('a spec survives the form, with what the form has no field for', () => {
  expect(specOf(draftOf(full))).toEqual(full)
})

test('the pool default is the last one, so that the server names the others as the form does', () => {
  const spec = specOf(draftOf({ target, pools: [{ name: 'default', maxUnavailable: 2 }, { name: 'gpu', nodeSelector: { a: 'b' } }] }))
  expect(spec.pools?.map(({ name }) => name)).toEqual(['gpu', 'default'])
})

test('durations of Go are read as people write them', () => {
  const draft = draftOf({ target, pools: [{ name: 'default', canary: { nodes: 1, soak: '10m0s' }, drain: { timeout: '1h0m0s' } }] })
  expect([draft.pools[0]?.soak, draft.pools[0]?.timeout]).toEqual(['10m', '1h'])
})

test('what is no number is sent as it is: the server refuses it at its field', () => {
  expect(specOf(draftWith({ pools: [{ ...newPool('default'), maxUnavailable: 'many' }] })).pools?.[0]?.maxUnavailable).toBe('many')
})

test('labels are read from a list', () => {
  expect(labelsOf(' a=b, c = d=e ,f,')).toEqual({ a: 'b', c: 'd=e', f: '' })
})

test.each([
  ['the defaults', { target, scope: 'All' }, 'refit upgrade --release kubernetes-v1.36.3'],
  ['a version, a scope and nodes at the same time', { target: { kubernetes: 'v1.36.3' }, scope: 'Workers', pools: [{ name: 'default', maxUnavailable: '10%' }] }, 'refit upgrade --to v1.36.3 --scope Workers --max-unavailable 10%'],
  ['a waiver', { target, waivers: [{ check: 'SwapOn', object: 'Node w', reason: "it's fine" }] }, String.raw`refit upgrade --release kubernetes-v1.36.3 --waive 'SwapOn/Node w=it'\''s fine'`],
  ['a pool of its own', full, 'refit upgrade -f upgrade.yaml'],
  ['a canary', { target, pools: [{ name: 'default', canary: { nodes: 1 } }] }, 'refit upgrade -f upgrade.yaml'],
] as [string, ClusterUpgradeSpec, string][])('the command for %s', (_, spec, command) => expect(commandOf('upgrade', spec)).toBe(command))

test('errors are found by field, wherever the spec is in the request', () => {
  const errors = fieldErrorsOf([{ pointer: '#/spec/pools/0/name', detail: 'is empty' }, { pointer: '#/pools/0/name', detail: 'is no name' }, { pointer: '#/', detail: 'whole' }])
  expect([...errors]).toEqual([['/pools/0/name', 'is empty; is no name'], ['/', 'whole']])
})

test('the key of a start is that of the check and the plan, so that it needs no memory', () => {
  const plan = `sha256:${'0123456789abcdef'.repeat(4)}`
  expect(idempotencyKey('c-1', plan)).toBe('web-c-1-0123456789abcdef')
  expect(idempotencyKey('c-1', plan)).not.toBe(idempotencyKey('c-2', plan))
})
