import { expect, test } from 'vitest'
import { page } from 'vitest/browser'
import type { Explanation } from '../../src/api/documents.ts'
import { NodeView } from '../../src/pages/node/node-view.tsx'
import { activeNode, blockedNode, failedNode } from '../documents/nodes.ts'
import { ago } from '../documents/time.ts'
import { show } from './render.tsx'

const showNode = (explanation: Explanation, source: 'api' | 'agent' = 'api') => show(<NodeView answer={{ source, observedAt: ago(0), explanation }} />)

test('a failed node shows the cause, the remedy and the end of the log', async () => {
  await showNode(failedNode())
  await expect.element(page.getByRole('heading', { name: /The node failed at swap-kubelet/ })).toBeVisible()
  await expect.element(page.getByRole('region', { name: 'Log (its end)' })).toHaveTextContent(/unknown flag: --container-runtime/)
  await expect.element(page.getByText('KubeletUnhealthy, ManualIntervention, at')).toBeVisible()
})

test('steps have their durations, and the failed one is marked', async () => {
  await showNode(failedNode())
  const row = page.getByRole('row', { name: /swap-kubelet/ })
  await expect.element(row).toHaveTextContent(/failed.*1:20/)
})

test('each pod that blocks the drain is listed', async () => {
  await showNode(blockedNode())
  await expect.element(page.getByText('3 pods block the drain')).toBeVisible()
  expect(page.getByText('PodDisruptionBudget shop/cart allows 0 more disruptions').elements()).toHaveLength(3)
})

test('what the agent reports is marked as such', async () => {
  await showNode(activeNode(), 'agent')
  await expect.element(page.getByText(/from the agent, \d s ago/).first()).toBeVisible()
})

test('a log with markup is text', async () => {
  const failed = failedNode()
  if (failed.error) failed.error.logTail = '<img src=x onerror=alert(1)>'
  await showNode(failed)
  await expect.element(page.getByText('<img src=x onerror=alert(1)>')).toBeVisible()
  expect(document.querySelector('img')).toBeNull()
})
