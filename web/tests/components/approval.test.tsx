import { beforeEach, expect, test } from 'vitest'
import { page } from 'vitest/browser'
import { differences, outlineOf } from '../../src/approval/outline.ts'
import { keepReviewed, reviewedPlan } from '../../src/approval/reviewed-plans.ts'
import { unreadParts } from '../../src/approval/unread-parts.ts'
import { checkedSpec } from '../../src/approval/use-review.ts'
import { Remedy } from '../../src/components/remedy.tsx'
import { addCommand } from '../../src/pages/cluster/add-command.ts'
import type { Plan } from '../../src/api/documents.ts'
import { reports } from '../documents/checks.ts'
import { show } from './render.tsx'

beforeEach(() => localStorage.clear())

function plan(change: (plan: Plan) => void = () => undefined): Plan {
  const copy = structuredClone(reports.plan.plan)
  if (!copy) throw new Error('the report has no plan')
  change(copy)
  return copy
}

test('a plan that was reviewed here is found by its hash, and no other', () => {
  keepReviewed(plan())
  expect(reviewedPlan(plan().hash)?.nodes).toHaveLength(8)
  expect(reviewedPlan('sha256:other')).toBeUndefined()
  expect(reviewedPlan(undefined)).toBeUndefined()
})

test('only the last plans are kept, and none of thousands of nodes', () => {
  for (let i = 0; i < 10; i++) keepReviewed(plan((one) => { one.hash = `sha256:${i}` }))
  expect(reviewedPlan('sha256:9')).toBeDefined()
  expect(reviewedPlan('sha256:0')).toBeUndefined()
  keepReviewed(plan((one) => {
    one.hash = 'sha256:large'
    one.stages = [{ name: 'Workers', hop: 0, kubernetes: 'v1.36.3', estimate: one.estimate, nodes: Array.from({ length: 2001 }, (_, i) => ({ name: `worker-${i}` })) }]
  }))
  expect(reviewedPlan('sha256:large')).toBeUndefined()
})

test.each(['{', '{}', '[{"hash":"sha256:1"}]', 'null'])('the storage of another version is ignored: %s', (value) => {
  localStorage.setItem('refit-plans', value)
  expect(reviewedPlan('sha256:1')).toBeUndefined()
})

test('another target, ClusterRelease or component is a difference', () => {
  const after = plan((one) => {
    one.to = 'v1.36.4'
    one.hops.forEach(({ release }) => { if (release) release.digest = 'sha256:2' })
    one.stages.push({ name: 'Components', hop: 0, kubernetes: 'v1.36.3', estimate: one.estimate, components: [{ name: 'kueue', action: 'Upgrade' }] as NonNullable<Plan['stages'][number]['components']> })
  })
  expect(differences(outlineOf(plan()), outlineOf(after))).toEqual({
    added: [], removed: [], seconds: 0, target: { before: 'v1.36.3', after: 'v1.36.4' }, releases: true, components: true,
  })
})

test('the plan is made of the spec without what only an existing upgrade has', () => {
  const target = { release: 'kubernetes-v1.36.3' }
  expect(checkedSpec({ target, scope: 'All', approvedPlan: 'sha256:1', paused: true, aborted: false, retry: 2, abandonedNodes: ['a'] })).toEqual({ target, scope: 'All' })
})

test('a plan that the user may read only in part lists what is missing, and no more', () => {
  const report = structuredClone(reports.plan)
  const finding = { check: 'PartUnreadable', severity: 'Block', unknown: true, object: 'pods', message: 'forbidden' }
  expect(unreadParts({ ...report, findings: [] })).toEqual([])
  expect(unreadParts({ ...report, findings: [finding, { ...finding, severity: 'Warn', object: 'Helm releases' }, { ...finding, unknown: false }] })).toEqual(['pods'])
})

test('the commands of a remedy can be copied, and have no punctuation around them', async () => {
  await show(<Remedy remedy="Uncordon it (`kubectl uncordon a`), or waive it. Then run `refit retry`." />)
  await expect.element(page.getByRole('button', { name: 'Copy the command kubectl uncordon a' })).toBeVisible()
  expect(document.querySelector('.refit-remedy')?.textContent).toBe('Remedy Uncordon it kubectl uncordon a or waive it. Then run refit retry ')
})

test('the ClusterRelease to add is that of the next minor version', () => {
  expect(addCommand([{ kubelet: 'v1.35.4', nodes: 3 }, { kubelet: 'v1.36.1', nodes: 1 }])).toBe('refit release add v1.37 --online')
  expect(addCommand([])).toBe('refit release add VERSION --online')
})
