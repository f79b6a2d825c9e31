import { expect, test } from 'vitest'
import { page } from 'vitest/browser'
import type { Operation } from '../../src/api/documents.ts'
import { UpgradeView } from '../../src/pages/upgrade/upgrade-view.tsx'
import { heartbeat, serveLink } from '../../src/live/links.ts'
import { createCache } from '../../src/data/cache.ts'
import { keys } from '../../src/data/keys.ts'
import { expectedOutage, stateOf } from '../documents/cluster.ts'
import { rowsOf } from '../documents/nodes.ts'
import { awaitingApproval, drainBlocked, large, paused, planHash, running, stalled, succeeded } from '../documents/operation.ts'
import { ago } from '../documents/time.ts'
import { operator, show, viewer } from './render.tsx'

async function showUpgrade(operation: Operation, { me = operator, change = (state: ReturnType<typeof stateOf>) => state } = {}) {
  const cache = createCache()
  const rows = rowsOf(operation)
  cache.setQueryData(keys.nodes(operation.name, { states: [], text: '', after: '' }), {
    source: 'api', observedAt: ago(0), operation: operation.name, total: rows.length, nodes: rows.slice(0, 50),
  })
  const state = change(stateOf(operation))
  return show(<UpgradeView answer={{ source: state.source, observedAt: state.observedAt, operation }} state={state} />, { me, cache })
}

const positionOf = (element: Element) => element.getBoundingClientRect().top

test('a failure comes before everything else, with its remedy and the command', async () => {
  await showUpgrade(stalled())
  await expect.element(page.getByText('Stalled, action required').first()).toBeVisible()
  const failure = page.getByRole('heading', { name: /worker-1 failed at swap-kubelet/ })
  await expect.element(failure).toBeVisible()
  await expect.element(page.getByText(/Remove the flag from/)).toBeVisible()
  await expect.element(page.getByRole('button', { name: 'Copy the command refit explain worker-1' })).toBeVisible()
  const stages = page.getByRole('heading', { name: 'Stages' })
  expect(positionOf(failure.element())).toBeLessThan(positionOf(stages.element()))
})

test('the cause of a stall appears once', async () => {
  await showUpgrade(stalled())
  expect(page.getByText(/the kubelet does not become healthy: unknown flag/).elements()).toHaveLength(1)
  expect(page.getByText(/worker-1 failed at swap-kubelet and was rolled back/).elements()).toHaveLength(0)
})

test('the pods that block a drain are named, each with its PodDisruptionBudget', async () => {
  await showUpgrade(drainBlocked())
  const active = page.getByRole('region', { name: 'Active nodes' })
  await expect.element(active.getByText('2 pods block the drain')).toBeVisible()
  await expect.element(active.getByText('shop/payment-postgresql-primary-0')).toBeVisible()
  await expect.element(active.getByText('PodDisruptionBudget shop/payment-postgresql-primary allows 0 more disruptions')).toBeVisible()
  await expect.element(page.getByText(/worker-2 waits until worker-1 is ready again/)).toBeVisible()
})

test('stages are bars with their counts', async () => {
  await showUpgrade(running())
  const bar = page.getByRole('progressbar', { name: 'Control plane v1.36.3' })
  await expect.element(bar).toHaveAttribute('aria-valuetext', '1 of 3')
  await expect.element(page.getByText('about 7 min left')).toBeVisible()
})

test('of 40 active nodes 12 are listed, and no more than 50 rows of 5,000 are rendered', async () => {
  await showUpgrade(large())
  await expect.element(page.getByText('and 28 more active')).toBeVisible()
  expect(document.querySelectorAll('.refit-active > li')).toHaveLength(12)
  await expect.element(page.getByText('5,000 nodes', { exact: true })).toBeVisible()
  expect(document.querySelectorAll('tbody tr').length).toBeLessThanOrEqual(50)
})

test('a viewer cannot press the buttons, and reads why', async () => {
  await showUpgrade(running(), { me: viewer })
  for (const name of ['Pause', 'Retry', 'Abort']) {
    await expect.element(page.getByRole('button', { name, exact: true })).toHaveAttribute('aria-disabled', 'true')
  }
  await expect.element(page.getByText('You do not have the permission: patch clusterupgrades.refit.dev.')).toBeVisible()
  await expect.element(page.getByText('refit pause to-v1-36-3')).toBeVisible()
})

test('an abort requires the name of the operation', async () => {
  await showUpgrade(running())
  await page.getByRole('button', { name: 'Abort', exact: true }).click()
  const confirm = page.getByRole('button', { name: 'Abort the upgrade' })
  await expect.element(confirm).toBeDisabled()
  await page.getByRole('textbox', { name: /Type to-v1-36-3/ }).fill('to-v1-36')
  await expect.element(confirm).toBeDisabled()
  await page.getByRole('textbox', { name: /Type to-v1-36-3/ }).fill('to-v1-36-3')
  await expect.element(confirm).toBeEnabled()
})

test('a paused upgrade offers to resume', async () => {
  await showUpgrade(paused())
  await expect.element(page.getByRole('button', { name: 'Resume', exact: true })).toBeVisible()
  expect(page.getByRole('button', { name: 'Pause', exact: true }).elements()).toHaveLength(0)
})

test('a plan that waits for approval shows the command with its hash', async () => {
  await showUpgrade(awaitingApproval())
  await expect.element(page.getByText(`refit approve to-v1-36-3 --plan ${planHash}`)).toBeVisible()
})

test('an upgrade that has ended offers nothing', async () => {
  await showUpgrade(succeeded())
  await expect.element(page.getByText('The upgrade is complete.')).toBeVisible()
  expect(page.getByRole('button', { name: 'Abort', exact: true }).elements()).toHaveLength(0)
  await expect.element(page.getByText('Nothing is left to do.')).toBeVisible()
})

test('during an outage every panel shows the age of its data, and the clocks stop', async () => {
  const outage = expectedOutage(stateOf())
  heartbeat.set({ now: ago(0), source: 'last-known', observedAt: outage.observedAt, apiReachable: false })
  await showUpgrade(running(), { change: expectedOutage })
  await expect.element(page.getByRole('region', { name: /Stages/ }).getByText(/last known, 1\d s ago/)).toBeVisible()
  await expect.element(page.getByRole('region', { name: /Actions/ }).getByText('The API server is unreachable. Changes are possible once it answers.')).toBeVisible()
  const clock = document.querySelector('.refit-active time')?.textContent
  const age = () => document.querySelector('.refit-age')?.textContent
  const before = age()
  await expect.poll(age, { timeout: 30_000 }).not.toBe(before) // the time of the page has advanced
  expect(document.querySelector('.refit-active time')?.textContent).toBe(clock)
})

test('while the server is frozen the page shows the age of its data, and changes are impossible', async () => {
  serveLink.set({ state: 'frozen', since: Date.now() - 11_000 })
  await showUpgrade(running())
  await expect.element(page.getByRole('region', { name: /Actions/ }).getByText('The server does not answer.')).toBeVisible()
  await expect.element(page.getByText(/not updated for \d+ s/).first()).toBeVisible()
})
