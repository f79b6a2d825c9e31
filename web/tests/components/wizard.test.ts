import { expect, test } from 'vitest'
import { offersOf } from '../../src/pages/welcome/hops.ts'
import { nameIn } from '../../src/pages/welcome/release-file.ts'
import { evictions, hasContent, outageOf } from '../../src/pages/plan/plan-facts.ts'
import { differences, outlineOf } from '../../src/approval/outline.ts'
import { findingsBySection } from '../../src/pages/preflight/sections.ts'
import { keyOf, millisecondsOf, patchOf, timeoutOf, unblocksOf } from '../../src/unblock/options.ts'
import { changedReport, reports } from '../documents/checks.ts'
import { manyHops, releases } from '../documents/cluster.ts'

const versions = [{ kubelet: 'v1.35.4', nodes: 5 }]

test('a version several minor versions ahead is reached in hops, and the missing ones are known', () => {
  const offers = offersOf([...manyHops, ...releases], versions)
  expect(offers.map(({ release, relation }) => [release.kubernetes, relation])).toEqual([
    ['v1.38.0', 'newer'], ['v1.36.3', 'newer'], ['v1.35.4', 'same'], ['v1.34.9', 'older'],
  ])
  expect(offers[0]?.hops).toEqual([{ version: 'v1.36.3', missing: false }, { version: 'v1.37', missing: true }, { version: 'v1.38.0', missing: false }])
})

test('a version that some nodes run can still be the target', () => {
  const mixed = [{ kubelet: 'v1.36.3', nodes: 3 }, { kubelet: 'v1.35.4', nodes: 2 }]
  expect(offersOf(releases, mixed).map(({ relation }) => relation)).toEqual(['partly', 'older'])
})

test.each([
  ['a manifest', 'apiVersion: refit.dev/v1alpha1\nkind: ClusterRelease\nmetadata:\n  labels:\n    a: b\n  name: kubernetes-v1.36.3\nspec: {}\n', 'kubernetes-v1.36.3'],
  ['JSON', '{"kind":"ClusterRelease","metadata":{"name":"kubernetes-v1.36.3"}}', 'kubernetes-v1.36.3'],
  ['an envelope alone', '{"payloadType":"x","payload":"e30=","signatures":[]}', ''],
])('the name in %s', (_, content, name) => expect(nameIn(content)).toBe(name))

test('findings that could not be checked are apart, and each finding appears once', () => {
  const sections = findingsBySection(reports.blocked.findings)
  expect(sections.map(([section, findings]) => [section, findings.length])).toEqual([['blocking', 4], ['unknown', 2], ['prerequisite', 1], ['note', 1]])
  const { blocked, waived } = { blocked: reports.blocked, waived: findingsBySection(reports.waived.findings) }
  expect(waived.flatMap(([, findings]) => findings)).toHaveLength(blocked.findings.length)
  expect(waived.find(([section]) => section === 'waived')?.[1][0]?.waived?.reason).toBe('the shop is closed at night')
})

test('one control plane node means an outage of the API server, three do not', () => {
  const of = (report: typeof reports.plan) => report.plan ? outageOf(report.plan, report) : undefined
  expect(of(reports.single)).toEqual({ kind: 'unreachable', seconds: 90 })
  expect(of(reports.plan)).toEqual({ kind: 'none' })
})

test('a plan counts its evictions, and leaves out stages that do nothing', () => {
  expect(reports.plan.plan && evictions(reports.plan.plan)).toBe(9)
  expect(reports.single.plan?.stages.filter(hasContent).map(({ name }) => name)).not.toContain('Workers')
})

test('a changed plan is compared with the reviewed one', () => {
  const [before, after] = [reports.plan.plan, changedReport().plan]
  expect(before && after && differences(outlineOf(before), outlineOf(after))).toEqual({ added: ['worker-6'], removed: [], seconds: 75, releases: false, components: false })
})

test('a pod that nothing recreates has a waiver; a PodDisruptionBudget has the policy of the pool', () => {
  const unmanaged = { pod: 'shop/debug', reason: 'has no controller, so nothing recreates it', waiver: 'UnmanagedPod', object: 'Pod shop/debug' }
  const data = { pod: 'shop/db-0', reason: 'its data in an emptyDir would be lost', waiver: 'LocalDataLost', object: 'StatefulSet shop/db' }
  const budget = { pod: 'shop/cart-1', reason: 'PodDisruptionBudget shop/cart allows 0 more disruptions' }
  expect(unblocksOf([unmanaged, data, { ...data, pod: 'shop/db-1' }, budget]).map(keyOf)).toEqual(['UnmanagedPod/Pod shop/debug', 'LocalDataLost/StatefulSet shop/db', 'Skip', 'Delete'])
})

test('a change of an upgrade keeps its other waivers and pools', () => {
  const waiver = { check: 'SwapOn', reason: 'known' }
  const spec = { target: {}, waivers: [waiver], pools: [{ name: 'gpu', nodeSelector: { a: 'b' }, drain: { timeout: '4h' } }] }
  const waive = { kind: 'waive', check: 'UnmanagedPod', object: 'Pod shop/debug', pod: 'shop/debug' } as const
  expect(patchOf({ unblock: waive, pool: 'default', reason: 'a test', timeout: '15m' }, spec)).toEqual({
    waivers: [waiver, { check: 'UnmanagedPod', object: 'Pod shop/debug', reason: 'a test' }],
  })
  const policy = (kind: 'Skip' | 'Delete', pool: string, timeout: string) => patchOf({ unblock: { kind }, pool, reason: '', timeout }, spec)
  expect(policy('Delete', 'gpu', '4h')).toEqual({ pools: [{ name: 'gpu', nodeSelector: { a: 'b' }, drain: { timeout: '4h', onBlocked: 'Delete' } }] })
  expect(policy('Delete', 'gpu', '1m')).toEqual({ pools: [{ name: 'gpu', nodeSelector: { a: 'b' }, drain: { timeout: '1m', onBlocked: 'Delete' } }] })
  expect(policy('Skip', 'default', '15m')).toEqual({ pools: [...spec.pools, { name: 'default', drain: { onBlocked: 'Skip' } }] })
})

test('the timeout of a drain is that of its pool', () => {
  const spec = { target: {}, pools: [{ name: 'gpu', drain: { timeout: '1h30m0s' } }] }
  expect([timeoutOf(spec, 'gpu'), timeoutOf(spec, 'default')]).toEqual(['1h30m', '15m'])
  expect(['1h30m', '90s', '1.5m', '500ms', '15', '', 'm', '1m x', '-1m'].map(millisecondsOf)).toEqual([5_400_000, 90_000, 90_000, 500, ...Array<undefined>(5).fill(undefined)])
})
